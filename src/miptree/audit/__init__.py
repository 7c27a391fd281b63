"""Audits: all that a model says, computed again from its training rows."""

from __future__ import annotations

from miptree.audit.audit import verify_model

__all__ = ["verify_model"]
