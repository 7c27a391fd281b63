"""Text in C source: string literals and comments."""

from __future__ import annotations

from miptree.data import Value


def c_text(value: str) -> str:
    """Write a string literal; three octal digits cannot run into what follows."""
    if "\0" in value:
        raise ValueError(f"A C string cannot hold the NUL character of {value!r}.")
    plain = set(range(32, 127)) - set(b'"\\?')
    text = "".join(chr(b) if b in plain else f"\\{b:03o}" for b in value.encode())
    return f'"{text}"'


def c_comment(text: Value) -> str:
    """Make text such that it cannot end its comment."""
    plain = str(text).encode("ascii", "backslashreplace").decode()
    plain = "".join(c if c.isprintable() else " " for c in plain)
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")
