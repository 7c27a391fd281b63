"""Test what users install: the built wheel in an environment of its own.

Builds sdist and wheel (or takes a wheel that is built), makes an empty environment and
installs the wheel with the extra ``test-light``. There it runs the demo, the first five
minutes of a new user and a light subset of the tests; the sources of this folder cannot
be imported meanwhile. ``--oldest`` installs the oldest versions of the dependencies
that ``pyproject.toml`` allows, instead of the newest.

Needs Python alone, and ``build`` where no wheel is given:

    python .ci/test_wheel.py [--wheel dist/miptree-*.whl] [--oldest]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIGHT = (
    "test_tree.py",
    "test_problem.py",
    "test_rounding.py",
    "test_files.py",
    "test_golden.py",
    "test_certify.py",
    "test_json.py",
    "test_checker.py",
    "test_estimator_checks.py",
    "test_points_certificate.py",
)
"""Tests that need no file of the repository and nothing beyond ``test-light``."""


def main() -> None:
    """Build, install and test; raise at the first command that fails."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--wheel", type=Path, help="a wheel that is built already")
    parser.add_argument(
        "--oldest", action="store_true", help="install the oldest dependencies allowed"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="miptree-wheel-") as name:
        folder = Path(name)
        wheel = options.wheel.resolve() if options.wheel else build(folder / "dist")
        python = install(wheel, folder, options.oldest)
        try_it(python, folder)


def build(folder: Path) -> Path:
    """Build the sdist, of it the wheel, and return the wheel."""
    call(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path, oldest: bool) -> Path:
    """Install a wheel into an empty environment and return the Python of it."""
    home = folder / "environment"
    venv.create(home, with_pip=True)
    windows = os.name == "nt"
    python = home / ("Scripts/python.exe" if windows else "bin/python")
    command: list[object] = [python, "-m", "pip", "install", "--quiet"]
    if oldest:
        constraints = folder / "oldest.txt"
        constraints.write_text("\n".join(oldest_versions(wheel)) + "\n")
        command += ["--constraint", constraints]
    call(*command, f"{wheel}[test-light]", cwd=folder)
    return python


def oldest_versions(wheel: Path) -> Iterator[str]:
    """Give the least version of each dependency of the command line, pinned."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("dist-info/METADATA"))
        metadata = archive.read(name).decode()
    for line in re.findall(r"^Requires-Dist: (.*)$", metadata, flags=re.MULTILINE):
        found = re.fullmatch(r"([\w.-]+)>=([\d.]+)(?:; extra == 'cli')?", line)
        if found:
            yield f"{found[1]}=={found[2]}"


def try_it(python: Path, folder: Path) -> None:
    """Run the demo, the first five minutes and the light tests, away from here."""
    work = folder / "work"
    shutil.copytree(ROOT / "tests", work / "tests")
    shutil.copy(ROOT / "pyproject.toml", work)  # the options of pytest
    where = "import miptree, sys; print(miptree.__file__, sys.version, flush=True)"
    call(python, "-c", where, cwd=work)
    source = "import miptree; assert 'site-packages' in miptree.__file__"
    call(python, "-c", source, cwd=work)
    program = python.with_name("miptree.exe" if os.name == "nt" else "miptree")
    call(program, "demo", "--time-limit", "10", cwd=work)
    five_minutes = ROOT / "examples" / "first_five_minutes.sh"
    if shutil.which("bash") and os.name != "nt":
        path = os.pathsep.join([str(python.parent), os.environ.get("PATH", "")])
        call("bash", five_minutes, work / "five", cwd=work, env={"PATH": path})
    tests = [f"tests/{name}" for name in LIGHT]
    call(python, "-m", "pytest", "-q", *tests, cwd=work)


def call(*command: object, cwd: Path, env: dict[str, str] | None = None) -> None:
    """Run a command that sees no sources of ours; raise if it fails."""
    words = [str(word) for word in command]
    print("+", *words, flush=True)
    outer = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    # A console without UTF-8 shall not decide whether a test passes.
    # Nor shall anything compile on in a folder that is removed at the end.
    outer |= {"PYTHONUTF8": "1", "MIPTREE_KEEP_COMPILING": "0", **(env or {})}
    subprocess.run(words, cwd=cwd, env=outer, check=True)


if __name__ == "__main__":
    main()
