"""Small decision trees, oblique or of points, with a certificate of how good."""

from __future__ import annotations

from miptree._version import __version__
from miptree.audit import verify_model
from miptree.certificate.certificate import Certificate
from miptree.certificate.verification import Verification, verify
from miptree.distill import Fidelity, distill, prediction_costs
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_cv import OptimalTreeClassifierCV
from miptree.estimator_points import PointsTreeClassifier
from miptree.evaluate import Evaluation, evaluate
from miptree.explain import Explanation, Explanations, explain
from miptree.export import (
    export_c,
    export_dot,
    export_onnx,
    export_python,
    export_rules,
    export_sql,
    export_text,
    load_json,
    save_json,
)
from miptree.fit.compiling import compile_kernels
from miptree.report import report_html
from miptree.tree import ObliqueTree

__all__ = [
    "Certificate",
    "Evaluation",
    "Explanation",
    "Explanations",
    "Fidelity",
    "ObliqueTree",
    "OptimalTreeClassifier",
    "OptimalTreeClassifierCV",
    "PointsTreeClassifier",
    "Verification",
    "__version__",
    "compile_kernels",
    "distill",
    "evaluate",
    "explain",
    "export_c",
    "export_dot",
    "export_onnx",
    "export_python",
    "export_rules",
    "export_sql",
    "export_text",
    "load_json",
    "prediction_costs",
    "report_html",
    "save_json",
    "verify",
    "verify_model",
]
