"""Parquet and Feather files, by pyarrow, which is imported only when they are met."""

from __future__ import annotations

import io

import pandas as pd


def require_pyarrow() -> None:
    """Import pyarrow, or say how to install it."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(
            "Parquet and Feather files need pyarrow. Run: pip install 'miptree[cli]'"
        ) from None


def read_arrow(data: bytes, kind: str) -> pd.DataFrame:
    """Read a table of either kind; its columns keep their types."""
    require_pyarrow()
    read = pd.read_parquet if kind == "parquet" else pd.read_feather
    try:
        return read(io.BytesIO(data))
    except Exception as error:  # pyarrow's own kinds, which are many
        raise ValueError(
            f"is not a {kind.capitalize()} file that can be read: {error}"
        ) from None


def arrow_content(table: pd.DataFrame, kind: str) -> bytes:
    """Return a file of either kind."""
    require_pyarrow()
    buffer = io.BytesIO()
    if kind == "parquet":
        table.to_parquet(buffer, index=False)
    else:
        table.to_feather(buffer)
    return buffer.getvalue()
