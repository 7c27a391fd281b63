"""What the page shows of rules: rates of groups, on training and test rows."""

from __future__ import annotations

from typing import Any

from miptree.classifiers.predictor import TreePredictor
from miptree.constraints.constraint import (
    Constraint,
    CountedRate,
    CountingConstraint,
    TreeOnRows,
)
from miptree.constraints.parity import Parity
from miptree.estimator import OptimalTreeClassifier
from miptree.evaluate import LabelledRows


def kept_rules(
    clf: TreePredictor,
    rows: LabelledRows,
    test: LabelledRows | None,
) -> dict[str, Any] | None:
    """Return what was counted of each rule, None for a model without rules."""
    constraints = getattr(clf, "constraints_", ())
    if not constraints or not isinstance(clf, OptimalTreeClassifier):
        return None
    views, notes = [], []
    try:
        views.append(_view(clf, rows))
        if test is not None:
            views.append(_view(clf, test))
    except ValueError as error:  # such as groups that were not given
        name = "test rows" if views else "rows given"
        notes.append(f"Rules were not counted on the {name}: {error}")
    if not views:
        said = [{"asked": rule, "rates": []} for rule in clf.certificate_.rules or ()]
        return {"notes": notes, "rules": said, "tested": False}
    rules = [_rule(constraint, views) for constraint in constraints]
    return {"notes": notes, "rules": rules, "tested": len(views) > 1}


def _view(clf: OptimalTreeClassifier, rows: LabelledRows) -> TreeOnRows:
    """Return the tree on rows on which every rule can be counted."""
    view = rows.tree_of(clf)
    for constraint in clf.constraints_:
        constraint.check(view)
    return view


def _rule(constraint: Constraint, views: list[TreeOnRows]) -> dict[str, Any]:
    """Return a rule, whether it is kept, and its rates side by side."""
    findings = [constraint.check(view) for view in views]
    found: dict[str, Any] = {
        "asked": findings[0].sentence,
        "kept": ["kept" if finding.kept else "not kept" for finding in findings],
        "rates": [],
    }
    if constraint.is_about_training or not isinstance(constraint, CountingConstraint):
        return found | {"kept": found["kept"][:1]}  # it says nothing of new rows
    counted = [constraint.rates(view) for view in views]
    if counted[0]:
        found["asked"] = f"{constraint.asked(views[0].population)}."
        found["rates"] = _side_by_side(counted, views)
        if isinstance(constraint, Parity):
            largest = [f"{constraint.measured(view):.4g}" for view in views]
            found["rates"].append(["largest difference", *largest])
    return found


def _side_by_side(
    counted: list[list[CountedRate]], views: list[TreeOnRows]
) -> list[list[str]]:
    """Return the lines of a table: a rate on these rows and on those."""
    names = dict.fromkeys(rate.name for rates in counted for rate in rates)
    by_name = [{rate.name: rate for rate in rates} for rates in counted]
    return [
        [
            name,
            *(
                _shown(rates[name], view) if name in rates else "no rows"
                for rates, view in zip(by_name, views, strict=True)
            ),
        ]
        for name in names
    ]


def _shown(rate: CountedRate, view: TreeOnRows) -> str:
    unit = view.population.unit
    hits, total = float(rate.hits * unit), float(rate.total * unit)
    return f"{100 * rate.share:.1f} % ({hits:.10g} of {total:.10g})"
