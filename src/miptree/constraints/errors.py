"""Why a fit under constraints ends without a tree, or cannot begin."""

from __future__ import annotations


class ImpossibleConstraintsError(ValueError):
    """It is proved that no tree keeps the constraints."""

    @classmethod
    def proved(cls, why: str) -> ImpossibleConstraintsError:
        """Return the error where counting proves it, and why."""
        return cls(f"Proved: no such tree exists. {why}")


class NoTreeFoundError(ValueError):
    """No tree that keeps the constraints was found; there may be one."""


class NotOnTheseRowsError(ValueError):
    """A constraint is about what these rows lack: a group, a column, rows of a class.

    Of a fit it says that the constraint cannot be asked. A part of the rows, such as a
    fold, may lack what all rows have.
    """
