"""Changes of a file that nobody would make on purpose, and some that somebody would."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from random import Random
from typing import Any

NUMBERS = (
    b"0", b"-0", b"-1", b"1", b"2", b"1e308", b"-1e308", b"1e-320", b"1e999", b"NaN",
    b"9007199254740993", b"99999999999999999999999", b"0.1", b"1,5", b"1.000,5",
)  # fmt: skip
TEXTS = (
    b"", b"null", b"true", b'""', b"?", b"n/a", b"-", b"\xff\xfe", b"\x00", b"\r", b'"',
    b";", b"\t", b"{", b"]", b"=cmd|' /C calc'!A0", b"../../etc/passwd", b"__import__",
    "ä€\U0001d4b3".encode(), "\u202e".encode(), b"\xed\xa0\x80",
)  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(\.\d+)?(e-?\d+)?")
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**53, 10**19, 0.5, -0.0, 1e308, 5e-324, "",
    "x" * 10001, "NaN", "__class__", [], {}, [[]], [0], {"kind": "numbers"},
)  # fmt: skip
"""What stands for a value of a JSON file."""


def mutated(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """Change the bytes of a file in one to four places."""
    for _ in range(random.choice((1, 1, 2, 4))):
        content = random.choice(_CHANGES)(content, random, others)
    return content


def _place(content: bytes, random: Random) -> int:
    return random.randrange(len(content) + 1)


def _slice(content: bytes, random: Random) -> tuple[int, int]:
    begin = _place(content, random)
    return begin, min(len(content), begin + int(random.paretovariate(0.6)))


def _flip(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    if not content:
        return content
    at = random.randrange(len(content))
    return (
        content[:at]
        + bytes([content[at] ^ 1 << random.randrange(8)])
        + content[at + 1 :]
    )


def _cut(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    return content[: _place(content, random)]


def _drop(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    begin, end = _slice(content, random)
    return content[:begin] + content[end:]


def _repeat(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    begin, end = _slice(content, random)
    return content[:end] + content[begin:end] * random.choice((1, 3)) + content[end:]


def _insert(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    at = _place(content, random)
    return content[:at] + random.choice(TEXTS + NUMBERS) + content[at:]


def _renumber(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(content, _place(content, random)))[:1]
    if not found:
        return content
    (match,) = found
    return content[: match.start()] + random.choice(NUMBERS) + content[match.end() :]


def _splice(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    other = random.choice(others)
    return content[: _place(content, random)] + other[_place(other, random) :]


_CHANGES = (_flip, _cut, _drop, _repeat, _insert, _renumber, _renumber, _splice)


def changed_value(plain: Any, random: Random) -> Any:
    """Return plain values with one of them changed, at any depth."""
    plain = copy.deepcopy(plain)
    holder, key = somewhere(plain, random)
    if isinstance(holder, list) and random.random() < 0.3:
        random.choice((holder.pop, lambda k: holder.insert(k, holder[k])))(key)
    elif isinstance(holder, dict) and random.random() < 0.1:
        del holder[key]
    else:
        holder[key] = _another(holder[key], random)
    return plain


def somewhere(plain: Any, random: Random) -> tuple[Any, Any]:
    """Walk down from the whole to a value that is in a list or an object."""
    while True:
        key = random.choice(
            list(plain) if isinstance(plain, dict) else range(len(plain))
        )
        inner = plain[key]
        if not isinstance(inner, (dict, list)) or not inner or random.random() < 0.15:
            return plain, key
        plain = inner


def _another(value: Any, random: Random) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and random.random() < 0.6:
        return random.choice(
            (value + 1, -value, value * (1 + 1e-9), value / 3, 2 * value)
        )
    return random.choice(VALUES)
