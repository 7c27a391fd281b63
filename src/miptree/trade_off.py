"""What a rule costs: one fit for each of several bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from miptree.constraints.constraint import CountingConstraint
from miptree.constraints.errors import ImpossibleConstraintsError, NoTreeFoundError
from miptree.constraints.parity import Parity
from miptree.constraints.rates import MaxCost, MinRate
from miptree.estimator import OptimalTreeClassifier
from miptree.evaluate import LabelledRows, evaluate

__all__ = ["TradeOff", "TradeOffPoint", "trade_off"]


@dataclass(frozen=True)
class TradeOffPoint:
    """One fit: a bound and what became of it.

    Attributes
    ----------
    bound : float
        The bound of the rule.
    errors : int
        Misclassified training rows.
    accuracy, test_accuracy : float
        Shares of rows predicted rightly, in training and on the test rows.
    value, test_value : float
        What the bound is about, counted there: a difference of rates, or a rate.
    price : float
        Objective of the tree less that of the best tree known without rules, of all
        these fits.
    model : OptimalTreeClassifier
        The fitted one.
    """

    bound: float
    errors: int
    accuracy: float
    value: float
    price: float
    model: OptimalTreeClassifier
    test_accuracy: float | None = None
    test_value: float | None = None


@dataclass(frozen=True)
class TradeOff:
    """Fits for several bounds of one rule, the tightest first.

    Attributes
    ----------
    rule : str
        Name of the rule's class.
    what : str
        What its bound is about: "difference", "rate" or "cost".
    points : tuple of TradeOffPoint
        The fits that found a tree.
    failed : dict
        What a fit said that found none, by its bound.
    """

    rule: str
    what: str
    points: tuple[TradeOffPoint, ...]
    failed: dict[float, str]

    @property
    def is_tested(self) -> bool:
        """Whether there were test rows."""
        return any(point.test_value is not None for point in self.points)

    def table(self) -> list[dict[str, float]]:
        """Return a row of numbers for each fit, as a data frame takes them."""
        names = ["bound", "errors", "accuracy", "value", "price"]
        names += ["test_accuracy", "test_value"] if self.is_tested else []
        return [{name: getattr(p, name) for name in names} for p in self.points]


def trade_off(
    clf: OptimalTreeClassifier,
    X: Any,
    y: ArrayLike,
    bounds: Sequence[float],
    sample_weight: ArrayLike | None = None,
    *,
    rule: int | None = None,
    sensitive_features: Any = None,
    control_features: Any = None,
    test: Sequence[Any] | None = None,
) -> TradeOff:
    """Fit an estimator once for each bound of one of its constraints.

    A tree that keeps a bound keeps all looser ones. So where a fit with a looser bound
    ends with a worse tree, the better one is shown for both.

    Parameters
    ----------
    clf : OptimalTreeClassifier
        With constraints; it is cloned, not fitted.
    X, y
        As for its ``fit``.
    bounds : sequence of float
        Bounds of the rule.
    sample_weight : array-like, optional
        As for its ``fit``.
    rule : int, optional
        Place of the rule in ``clf.constraints``; by default the only one with a bound.
    sensitive_features, control_features : array-like, Series or data frame, optional
        As for its ``fit``.
    test : sequence, optional
        X and y of other rows and, where the rules need them, their sensitive and
        control features and their weights.

    Returns
    -------
    TradeOff
        Its ``table()`` gives the numbers; :func:`miptree.plot.plot_trade_off` draws it.
    """
    place = _place(clf, rule)
    rule_given: Any = (clf.constraints or ())[place]
    rows = LabelledRows(X, y, sensitive_features, control_features, sample_weight)
    other = None if test is None else LabelledRows(*test)
    is_least = isinstance(rule_given, MinRate)
    ordered = sorted(set(map(float, bounds)), reverse=is_least)
    points: list[TradeOffPoint] = []
    failed: dict[float, str] = {}
    best: OptimalTreeClassifier | None = None
    for bound in ordered:
        try:
            model = _fitted(clf, place, bound, rows)
        except (NoTreeFoundError, ImpossibleConstraintsError) as error:
            if best is None:
                failed[bound] = str(error)
                continue
            model = best
        if best is None or model.objective_ < best.objective_:
            best = model
        points.append(_point(best, place, bound, rows, other))
    what = {Parity: "difference", MaxCost: "cost"}
    named = next((w for k, w in what.items() if isinstance(rule_given, k)), "rate")
    return TradeOff(type(rule_given).__name__, named, _priced(points), failed)


def _priced(points: Sequence[TradeOffPoint]) -> tuple[TradeOffPoint, ...]:
    """Compare all trees with the best one known that need not keep the rules."""
    if not points:
        return ()
    free = min(float(p.model.certificate_.free_objective or 0.0) for p in points)
    return tuple(replace(p, price=p.model.objective_ - free) for p in points)


def _place(clf: OptimalTreeClassifier, rule: int | None) -> int:
    """Return which of the constraints has the bound."""
    given = list(clf.constraints or ())
    places = [k for k, c in enumerate(given) if _bound_name(c) is not None]
    if rule is None and len(places) == 1:
        return places[0]
    if rule is not None and rule in places:
        return rule
    listed = ", ".join(f"{k} ({type(given[k]).__name__})" for k in places)
    if rule is None and not places:
        raise ValueError(
            "trade_off needs a constraint with a bound, but there is none."
        )
    raise ValueError(
        f"rule must say which constraint gets the bounds, one of {listed or 'none'}; "
        f"got {rule!r}."
    )


def _bound_name(constraint: Any) -> str | None:
    """Return the name of the field that is a constraint's bound."""
    names = [n for n in ("difference_bound", "bound") if hasattr(constraint, n)]
    return names[0] if names else None


def _fitted(
    clf: OptimalTreeClassifier, place: int, bound: float, rows: LabelledRows
) -> OptimalTreeClassifier:
    """Fit a clone with a bound."""
    constraints: list[Any] = list(clf.constraints or ())
    name = _bound_name(constraints[place])
    constraints[place] = replace(constraints[place], **{str(name): bound})
    model = clone(clf).set_params(constraints=constraints)
    groups = {
        "sensitive_features": rows.sensitive,
        "control_features": rows.control,
    }
    fitted: OptimalTreeClassifier = model.fit(rows.X, rows.y, rows.weight, **groups)
    return fitted


def _point(
    model: OptimalTreeClassifier,
    place: int,
    bound: float,
    rows: LabelledRows,
    test: LabelledRows | None,
) -> TradeOffPoint:
    found = evaluate(model, rows.X, rows.y)
    point = TradeOffPoint(
        bound,
        found.n_rows - found.n_right,
        found.accuracy,
        _value(model, place, rows),
        0.0,
        model,
    )
    if test is None:
        return point
    accuracy = evaluate(model, test.X, test.y).accuracy
    value = _value(model, place, test)
    return replace(point, test_accuracy=accuracy, test_value=value)


def _value(model: OptimalTreeClassifier, place: int, rows: LabelledRows) -> float:
    """Count what the bound is about."""
    constraint = model.constraints_[place]
    assert isinstance(constraint, CountingConstraint)
    return constraint.measured(rows.tree_of(model))
