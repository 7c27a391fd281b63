"""The machine and the versions that a figure was measured with."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "highspy", "pandas")
PEERS = ("pystreed", "pycontree", "treeple", "ydf")


def environment() -> dict[str, Any]:
    """Return versions, commit and machine, as fields of a record."""
    from miptree._version import __version__

    versions = {"python": platform.python_version(), "miptree": __version__}
    for name in (*PACKAGES, *PEERS):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "versions": versions,
        "commit": _commit(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def _commit() -> str:
    """Return the commit that runs, with "+" if the package was changed since."""
    package = Path(__file__).resolve().parents[1]
    if not (package.parents[1] / ".git").exists():
        return ""
    try:
        commit = _git(package, "rev-parse", "--short=12", "HEAD")
        return commit + ("+" if _git(package, "status", "--porcelain", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(folder: Path, *words: str) -> str:
    answer = subprocess.run(
        ["git", *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        timeout=20,
    )
    return answer.stdout.strip()
