"""What a notebook shows of a fitted classifier: its rules and its certificate."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from sklearn.utils import estimator_html_repr

if TYPE_CHECKING:
    from miptree.classifiers.predictor import TreePredictor


def notebook_html(clf: TreePredictor) -> str:
    """Return scikit-learn's diagram and, once fitted, the tree and what is proved.

    Rules, names and labels are escaped, as they come from data.
    """
    # They build on the estimator.
    from miptree.export.text import certificate_facts, export_text

    diagram = estimator_html_repr(clf)
    if not hasattr(clf, "tree_"):
        return diagram
    rows = "".join(
        f"<tr><th style='text-align:left'>{name}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in certificate_facts(clf).items()
    )
    return (
        f"{diagram}<div><pre style='overflow-x:auto'>{html.escape(export_text(clf))}"
        f"</pre><p>{html.escape(clf.certificate_.summary)}</p>"
        f"<details><summary>Certificate</summary><table>{rows}</table>"
        f"<p>{html.escape(str(clf.certificate_))}</p></details></div>"
    )
