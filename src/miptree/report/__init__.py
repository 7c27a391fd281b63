"""A page about a model, one HTML file that needs no network."""

from __future__ import annotations

from miptree.report.page import report_html

__all__ = ["report_html"]
