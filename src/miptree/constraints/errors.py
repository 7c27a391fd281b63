"""Why a fit under constraints ends without a tree: proved, or not found."""

from __future__ import annotations


class ImpossibleConstraintsError(ValueError):
    """It is proved that no tree keeps the constraints."""


class NoTreeFoundError(ValueError):
    """No tree that keeps the constraints was found; there may be one."""
