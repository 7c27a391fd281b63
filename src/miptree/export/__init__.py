"""The tree in other forms."""

from __future__ import annotations

from miptree.export.c import export_c
from miptree.export.dot import export_dot
from miptree.export.json import load_json, save_json
from miptree.export.onnx import export_onnx
from miptree.export.python import export_python
from miptree.export.sentences import export_rules
from miptree.export.sql import export_sql
from miptree.export.text import export_text

__all__ = [
    "export_c",
    "export_dot",
    "export_onnx",
    "export_python",
    "export_rules",
    "export_sql",
    "export_text",
    "load_json",
    "save_json",
]
