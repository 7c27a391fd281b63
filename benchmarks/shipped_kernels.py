"""What compiled kernels would do that come with a wheel: numba's cache, or `pycc`.

One small kernel is compiled in a folder, packed into a wheel with its cache, installed
by pip into another folder, and called there; and it is compiled ahead of time.

    python benchmarks/shipped_kernels.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from shutil import copytree

KERNEL = """
from numba import njit

@njit(cache=True)
def weighted_sum(x, weight):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total += x[i] * weight[i]
    return total
"""
BUILD = """
import warnings
warnings.simplefilter("ignore")
from numba.pycc import CC
from kernel import weighted_sum
compiler = CC("kernel_ahead")
compiler.export("weighted_sum", "f8(f8[::1], f8[::1])")(weighted_sum.py_func)
compiler.compile()
"""
CALL = """
import time
import numpy as np
x = np.random.default_rng(0).normal(size=1_000_000)
began = time.perf_counter()
from MODULE import weighted_sum
imported = time.perf_counter()
weighted_sum(x, x)
called = time.perf_counter()
again = []
for _ in range(50):
    again.append(-time.perf_counter())
    weighted_sum(x, x)
    again[-1] += time.perf_counter()
stats = getattr(weighted_sum, "stats", None)
how = "no numba" if stats is None else "loaded" if stats.cache_hits else "compiled"
print(f"{how}: import {imported - began:.2f} s, first call {called - imported:.2f} s, "
      f"later calls {1000 * min(again):.1f} ms")
"""
WHEEL = {
    "METADATA": "Metadata-Version: 2.1\nName: kernel\nVersion: 1\n",
    "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "RECORD": "",
}


def run(source: str, folder: Path, **environment: str) -> str:
    """Run a program in a folder and return what it prints."""
    command = [sys.executable, "-c", source]
    environ = {**os.environ, **environment}
    return subprocess.run(
        command, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()


def installed(built: Path, site: Path) -> None:
    """Pack a folder with its cache into a wheel, and let pip install it."""
    wheel = site.with_name("kernel-1-py3-none-any.whl")
    with zipfile.ZipFile(wheel, "w") as file:
        for path in built.rglob("*.*"):
            file.write(path, path.relative_to(built))
        for name, content in WHEEL.items():
            file.writestr(f"kernel-1.dist-info/{name}", content)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index"]
    subprocess.run([*pip, "--target", str(site), str(wheel)], check=True)


def main() -> None:
    """Measure both, and print a line for each way to call the kernel."""
    call = CALL.replace("MODULE", "kernel")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built, site = folder / "built", folder / "site"
        built.mkdir()
        (built / "kernel.py").write_text(KERNEL)
        lines = {"first of all": run(call, built), "then": run(call, built)}
        installed(built, site)
        elsewhere = Path(copytree(site, folder / "elsewhere"))
        lines["from a wheel with its cache"] = run(call, site)
        other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
        lines["the same, for another processor"] = run(call, elsewhere, **other)
        run(BUILD, built)
        ahead = call.replace("kernel", "kernel_ahead")
        lines["by numba.pycc"] = run(ahead, built)
        (size,) = (path.stat().st_size for path in built.glob("kernel_ahead*"))
    lines["size of the last"] = f"{size / 1e6:.1f} MB"
    for what, found in lines.items():
        sys.stdout.write(f"{what}: {found}\n")


if __name__ == "__main__":
    main()
