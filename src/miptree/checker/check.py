"""Check a proof of any kind: read the files, and leave no question unanswered."""

from __future__ import annotations

import os
import time

from .data import read_rows
from .errors import errors_outcome, is_about_errors, read_errors_proof
from .outcome import Outcome
from .points_check import points_outcome
from .points_file import read_points_proof
from .proof_file import POINTS, open_proof
from .routes import read_routes_proof, routes_outcome
from .values import BadCall, Refused, TooMuch

UNEXPECTED: tuple[type[Exception], ...] = (
    ArithmeticError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a hostile file may still lead to; tests let these pass, so that they show."""


def check_proof(
    proof: str | os.PathLike[str],
    data: str | os.PathLike[str],
    target: str | None = None,
    minutes: float = 10.0,
) -> Outcome:
    """Check a proof file against the data that it is about.

    Parameters
    ----------
    proof : path
        Proof file, for example of ``fit(X, y, proof_log=path)``.
    data : path
        CSV file of the training rows in their order, may be gzipped.
    target : str, optional
        Column of the labels, by default the one that the proof file names; without
        one the labels of the proof file are taken, and that is said.
    minutes : float, default=10
        When to give up.

    Returns
    -------
    Outcome
        One sentence, and an exit code.
    """
    deadline = time.monotonic() + 60 * minutes
    try:
        document = open_proof(proof, deadline)
        if document.version == POINTS:
            points = read_points_proof(document)
            return points_outcome(points, read_rows(data, points, target), deadline)
        if is_about_errors(document):
            errors = read_errors_proof(document)
            return errors_outcome(errors, read_rows(data, errors, target), deadline)
        routes = read_routes_proof(document)
        return routes_outcome(routes, read_rows(data, routes, target), deadline)
    except (TooMuch, BadCall) as error:
        return Outcome(f"Not checked: {error}", 2)
    except Refused as error:
        return Outcome(f"Not checked: {error}", 1)
    except MemoryError:
        return Outcome("Not checked: the proof needs more memory than there is.", 2)
    except UNEXPECTED as error:
        kind = type(error).__name__
        text = f"the files hold something that this program cannot read ({kind})."
        return Outcome(f"Not checked: {text}", 1)
