"""The digest of a model file: SHA-256 of all that it says, but for the digest."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from miptree.export._json_values import MalformedError, a_text

ENTRY = "digest"


class ChangedError(MalformedError):
    """The content of a file does not fit the digest that was written with it."""


def content_digest(plain: dict[str, Any]) -> str:
    """Return the SHA-256 of the entries of a file other than its digest.

    They are written as JSON with sorted keys, without spaces and in ASCII, so that
    neither the order of keys nor white space matters. Numbers are written as Python
    writes them: the shortest decimal that is read back to the last bit.
    """
    content = {name: value for name, value in plain.items() if name != ENTRY}
    try:
        text = json.dumps(
            content, sort_keys=True, separators=(",", ":"), allow_nan=False
        )
    except ValueError:  # "1e999" is read as a number that is none
        raise MalformedError("a number in it is not a finite number") from None
    except RecursionError:
        raise MalformedError("its values are nested too deeply") from None
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def check_digest(plain: dict[str, Any]) -> str:
    """Return the digest of a file, or refuse a file that was changed."""
    if ENTRY not in plain:
        raise ChangedError("its digest is missing, by which changes are noticed")
    digest = a_text(plain[ENTRY], ENTRY)
    if digest != content_digest(plain):
        raise ChangedError(
            "its content does not fit the digest that was written with it"
        )
    return digest
