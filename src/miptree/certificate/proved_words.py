"""What is proved of a tree called optimal: by how much another may be better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miptree.objective.tolerance import LAST_DIGITS, percent, relative_gap

if TYPE_CHECKING:
    from miptree.certificate.certificate import Certificate

_PARTS = (
    (1e-12, "a trillionth"),
    (1e-9, "a billionth"),
    (1e-6, "a millionth"),
    (1e-3, "a thousandth"),
)


def by_more(certificate: Certificate) -> str:
    """Say by how much no tree is better, to go after words such as "costs less".

    Nothing is said where the bound is the objective itself, but for the last digits of
    floats. Costs of points trees may be rounded to units; other objectives are real
    numbers, whose proofs end a little below them.
    """
    if certificate.cost_rounding > 0:
        return f" by more than {2 * certificate.cost_rounding:.2g}"
    if certificate.is_of_points:
        return ""
    left = _relative(certificate)
    if left <= LAST_DIGITS:
        return ""
    words = next((words for part, words in _PARTS if left <= part), percent(left))
    return f" by more than {words}"


def left_to_prove(certificate: Certificate) -> str:
    """Write what is left between objective and bound in percent, however little."""
    left = _relative(certificate)
    return percent(left if left > LAST_DIGITS else 0.0)


def _relative(certificate: Certificate) -> float:
    return relative_gap(certificate.objective, certificate.objective_bound)
