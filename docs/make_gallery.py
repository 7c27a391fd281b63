"""Run the worked examples and write their pages. Run: python docs/make_gallery.py.

An example is a script in cells, as Jupyter and editors read it: ``# %% [markdown]``
begins text, ``# %%`` code. Its page shows each cell with what it prints; a cell that
leaves ``axes`` has a picture.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
NAMES = ("credit", "health", "engineering")
_CELL = re.compile(r"^# %%( \[markdown\])?\n", flags=re.MULTILINE)


def page_of(name: str, pictures: Path) -> str:
    """Run an example, save its pictures in a folder, and return its page."""
    space: dict[str, Any] = {}
    parts = []
    for is_text, cell in cells_of((EXAMPLES / f"{name}.py").read_text()):
        if is_text:
            parts.append(re.sub(r"^# ?", "", cell, flags=re.MULTILINE))
            continue
        parts.append(f"```python\n{cell}\n```")
        with redirect_stdout(StringIO()) as printed:
            exec(compile(cell, f"{name}.py", "exec"), space)
        if lines := printed.getvalue():
            parts.append(f"```text\n{without_trailing_blanks(lines)}\n```")
        if axes := space.pop("axes", None):
            # Versions of programs, which change, are left out of the file.
            file = pictures / f"gallery_{name}.png"
            axes.figure.savefig(file, dpi=100, metadata={"Software": None})
            parts.append(f"![The tree as a picture](../images/{file.name})")
    title, *rest = parts
    address = f"`python examples/{name}.py` runs this page."
    return "\n\n".join([title, address, *rest]) + "\n"


def cells_of(source: str) -> Iterator[tuple[bool, str]]:
    """Yield whether a cell is text, and what it holds."""
    _, *parts = _CELL.split(source)
    for kind, cell in zip(parts[::2], parts[1::2], strict=True):
        yield kind is not None, cell.strip("\n")


def without_trailing_blanks(lines: str) -> str:
    """Return what was printed as editors would save it."""
    return "\n".join(line.rstrip() for line in lines.strip("\n").split("\n"))


def main() -> None:
    """Write all pages."""
    (HERE / "gallery").mkdir(exist_ok=True)
    for name in NAMES:
        page = page_of(name, HERE / "images")
        (HERE / "gallery" / f"{name}.md").write_text(page)


if __name__ == "__main__":
    main()
