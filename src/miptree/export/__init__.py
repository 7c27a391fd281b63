"""Step 8: the tree in other forms."""

from __future__ import annotations

from miptree.export.json import load_json, save_json
from miptree.export.text import export_text

__all__ = ["export_text", "load_json", "save_json"]
