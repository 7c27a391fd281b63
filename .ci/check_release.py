"""Tell whether a tag may be published, and if not, every reason why.

    python .ci/check_release.py v0.1.0

docs/releases.md says what a release is. Needs Python alone.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACEHOLDER = "example.invalid"
"""Stands in [project.urls] as long as the repository has no public address."""
RELEASE = r"\d+\.\d+\.\d+(?:rc\d+)?"
HEADINGS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def reasons_against(root: Path, tag: str) -> list[str]:
    """Return why a tag on the files of a folder is no release; none if it is one."""
    version = written_version(root)
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    reasons = []
    if not re.fullmatch(RELEASE, version):
        reasons.append(
            f"The version {version!r} is no release: write X.Y.Z or X.Y.ZrcN into "
            "src/miptree/_version.py."
        )
    if tag != f"v{version}":
        reasons.append(f"The tag {tag!r} should be 'v{version}', as the version says.")
    final = re.sub(r"rc\d+$", "", version)
    dated = rf"^## {re.escape(final)} - \d{{4}}-\d\d-\d\d$"
    if not re.search(dated, changelog, flags=re.MULTILINE):
        reasons.append(f"CHANGELOG.md has no heading '## {final} - YYYY-MM-DD'.")
    if PLACEHOLDER in (root / "pyproject.toml").read_text(encoding="utf-8"):
        reasons.append(
            f"pyproject.toml has {PLACEHOLDER!r} in [project.urls]: write the address "
            "of the repository."
        )
    readme = (root / "README.md").read_text(encoding="utf-8")
    relative = re.findall(r"\]\((?!https?://|#)([^)]+)\)", readme)
    if relative:
        reasons.append(
            f"README.md links to {relative[0]!r}, which PyPI, where it is shown as "
            "well, cannot follow: write the address of the repository before it and "
            f"{len(relative) - 1} others."
        )
    return reasons + faults_of_changelog(changelog)


def written_version(root: Path) -> str:
    """Return the version that the package says it has."""
    source = (root / "src" / "miptree" / "_version.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, flags=re.MULTILINE)
    if found is None:
        raise SystemExit('src/miptree/_version.py has no line __version__ = "...".')
    return found[1]


def faults_of_changelog(text: str) -> list[str]:
    """Return what in a changelog is not in the form of Keep a Changelog."""
    faults = []
    titles = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    if titles[:1] != ["Unreleased"]:
        faults.append("CHANGELOG.md must begin with the heading '## Unreleased'.")
    for title in titles[1:]:
        if not re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", title):
            faults.append(f"CHANGELOG.md: {title!r} is not 'X.Y.Z - YYYY-MM-DD'.")
    numbers = [tuple(map(int, re.findall(r"\d+", title)[:3])) for title in titles[1:]]
    if numbers != sorted(set(numbers), reverse=True):
        faults.append("CHANGELOG.md: the newest version must come first, each once.")
    for part in re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.*)$", part, flags=re.MULTILINE)
        for kind in kinds:
            if kind not in HEADINGS:
                faults.append(f"CHANGELOG.md: {kind!r} is none of {HEADINGS}.")
        if len(set(kinds)) < len(kinds):
            faults.append(f"CHANGELOG.md has a heading twice in one version: {kinds}.")
    return faults


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(f"Usage: {sys.argv[0]} TAG")
    found = reasons_against(ROOT, sys.argv[1])
    raise SystemExit("\n".join(found) or None)
