"""Puts a model's facts, a style sheet and a script into one HTML file.

All text of the user's reaches the page as data: escaped inside a JSON block that the
script reads, and shown by the script as text, never as markup; control characters are
written out. The page's own policy
allows its one script by its hash and nothing else, and no connection to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from numpy.typing import ArrayLike

from miptree.classifiers.alternatives import Alternatives
from miptree.classifiers.predictor import TreePredictor
from miptree.evaluate import LabelledRows
from miptree.export.names import printable
from miptree.export.sentences import export_rules
from miptree.export.text import export_text
from miptree.fit.necessity import Necessity
from miptree.report.gather import gather
from miptree.report.kept_rules import kept_rules
from miptree.report.others import other_trees

_SCRIPTS = ("simplex.js", "change.js", "form.js", "page.js")
"""Parts of the page's one script, each of which needs those before it only."""
_COLUMNS = 78
"""Characters of a line of the rules: half of a screen, or a sheet of paper."""
_COMPARED = "values"
"""Facts that hold cells as they are, to be compared with what is chosen."""


def report_html(
    clf: TreePredictor,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    sensitive_features: Any = None,
    control_features: Any = None,
    test: Sequence[Any] | None = None,
    alternatives: Alternatives | None = None,
    necessity: Necessity | None = None,
    title: str = "A decision tree and its certificate",
) -> str:
    """Write a page about a model: its tree to click through, certificate and accuracy.

    The page holds counts and histograms of the rows given, and up to five of the rows
    of each leaf as examples.

    Parameters
    ----------
    clf : fitted classifier of this package
    X, y : data frame or array-like, array-like
        The training data.
    sample_weight : array-like, optional
        Their weights, for the models that the tree is compared with.
    sensitive_features, control_features : array-like, optional
        Groups of the rows, as ``fit`` takes them, for rules that compare groups.
    test : sequence, optional
        X and y of other rows, for the accuracy on rows that no model has seen, and
        for rules their sensitive and control features and their weights.
    alternatives, necessity : optional
        What :meth:`PointsTreeClassifier.alternatives` and ``necessity`` gave, to be
        listed.
    title : str, default="A decision tree and its certificate"
        Heading of the page.

    Returns
    -------
    str
        HTML.
    """
    other = None if test is None else LabelledRows(*test)
    pair = None if other is None else (other.X, other.y)
    facts = gather(clf, X, y, sample_weight, pair)
    rows = LabelledRows(X, y, sensitive_features, control_features, sample_weight)
    facts["rules"] = kept_rules(clf, rows, other)
    facts["title"] = title
    facts["others"] = other_trees(alternatives, necessity)
    script = "".join(map(_resource, _SCRIPTS))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        "title": _escaped(title),
        "style": _resource("page.css"),
        "proved": _escaped(clf.certificate_.summary),
        "certificate": _escaped(str(clf.certificate_)),
        "rules": _escaped(_rules_text(clf)),
        "facts": _json_in_html(_printable(facts)),
        "script": script,
    }
    page = _resource("page.html")
    first, *rest = page.split("{{")
    found = (piece.split("}}", 1) for piece in rest)
    return first + "".join(parts[name] + after for name, after in found)


def _rules_text(clf: TreePredictor) -> str:
    """Write all rules; those of a points tree leaf by leaf, beside the card's steps."""
    write = export_rules if clf.certificate_.is_of_points else export_text
    return write(clf, width=_COLUMNS)


def _resource(name: str) -> str:
    return files("miptree.report").joinpath(name).read_text(encoding="utf-8")


def _escaped(text: str) -> str:
    """Write text as HTML, with control characters of names to be seen."""
    return html.escape("\n".join(map(printable, text.split("\n"))))


def _printable(facts: Any) -> Any:
    """Make all texts of the page printable but values that the form compares.

    A sign that turns the writing round would turn the numbers beside a name as well.
    """
    if isinstance(facts, dict):
        return {
            name: value if name == _COMPARED else _printable(value)
            for name, value in facts.items()
        }
    if isinstance(facts, (list, tuple)):
        return [_printable(value) for value in facts]
    return printable(facts) if isinstance(facts, str) else facts


def _json_in_html(facts: dict[str, Any]) -> str:
    """Write JSON in which nothing can end its script element."""
    text = json.dumps(facts, allow_nan=False)  # ASCII: other characters as \\u....
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
