"""Why a fit under constraints ends without a tree: proved, or not found."""

from __future__ import annotations


class ImpossibleConstraintsError(ValueError):
    """It is proved that no tree keeps the constraints."""

    @classmethod
    def proved(cls, why: str) -> ImpossibleConstraintsError:
        """Return the error where counting proves it, and why."""
        return cls(f"Proved: no such tree exists. {why}")


class NoTreeFoundError(ValueError):
    """No tree that keeps the constraints was found; there may be one."""
