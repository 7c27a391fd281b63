"""The methods that are compared: their names, and how they are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from miptree.baselines import (
    AghaeiTreeClassifier,
    BinOCTClassifier,
    GreedySVMTreeClassifier,
    OCTHClassifier,
)
from miptree.bench import peers
from miptree.bench.paper import printed
from miptree.bench.s1o import S1OClassifier
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_cv import OptimalTreeClassifierCV
from miptree.proof import compile_proof_kernels
from miptree.selection import HullSelection, hull_membership


@dataclass(frozen=True)
class Setting:
    """What a method is made for; no limit if ``seconds`` is None."""

    set: str
    depth: int
    seconds: float | None
    seed: int


class MissingMethodError(ImportError, ValueError):
    """The method needs something that is not installed."""


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    name : str
        On the command line and in journals.
    label : str
        In tables.
    make : callable
        Gives an object with ``fit(X, y)`` and ``predict(X)`` for a setting.
    encoding : str
        How it gets categorical columns; see ``ENCODINGS``.
    needs : str
        What to install.
    """

    name: str
    label: str
    make: Callable[[Setting], Any]
    encoding: str = "nominal"
    needs: str = "miptree[bench]"

    def check(self) -> None:
        """Raise :class:`MissingMethodError` if the method cannot be made here."""
        try:
            self.make(Setting("iris", 2, 1.0, 0))
        except (ImportError, ValueError) as error:
            # A ValueError: a binary made for another version of scikit-learn.
            raise MissingMethodError(
                f"The method {self.name!r} is not available here ({error}). "
                f"It needs: {self.needs}"
            ) from error


Maker = Callable[[Setting], Any]


def _limited(kind: type, **given: Any) -> Maker:
    """Return how a class is made that takes a depth, a time limit and a seed."""
    return lambda setting: kind(
        max_depth=setting.depth,
        time_limit=setting.seconds,
        random_state=setting.seed,
        **given,
    )


def _ours(kind: type, **given: Any) -> Maker:
    """Return the same for our classes, with the kernels of proofs compiled before."""

    def make(setting: Setting) -> Any:
        compile_proof_kernels()  # else the first fits of a process differ from others
        return _limited(kind, **given)(setting)

    return make


def paper_parameters(name: str, depth: int) -> dict[str, float]:
    """Return the parameters of S1O-DS in tables 6-8, or usual ones for other sets.

    Depths that the paper does not print take those of depth 2. The two impossible
    parameters of wall-following-robot-2 are read as what must have been meant:
    alpha_1 * epsilon >= 1, and beta_2 in percent.
    """
    result = printed(name, depth) or printed(name, 2)
    given = _USUAL | (result.parameters if result else {})
    given["slack_penalty"] = max(given["slack_penalty"], 1 / given["margin"])
    if given["beta2"] >= 1:
        given["beta2"] /= 100
    return given


_USUAL = {
    "margin": 0.01,
    "slack_penalty": 1000.0,
    "l1_penalty": 0.1,
    "beta1": 0.1,
    "beta2": 0.1,
    "eps": 0.0,
}


def hull_selection(name: str, depth: int, cap: bool) -> HullSelection:
    """Return Algorithm 1 with the paper's parameters, its kernels compiled."""
    given = paper_parameters(name, depth)
    _compile_hulls()
    return HullSelection(given["beta1"], given["beta2"], given["eps"], cap=cap)


@cache
def _compile_hulls() -> None:
    """Compile the kernels of data selection: once on a machine, and no fit's time."""
    for eps in (0.0, 0.1):
        hull_membership(np.random.default_rng(0).normal(size=(50, 3)), eps)


def s1o_ds(setting: Setting, cap: bool = True) -> S1OClassifier:
    """Return S1O on the rows that Algorithm 1 chooses."""
    given = paper_parameters(setting.set, setting.depth)
    clf: S1OClassifier = _limited(S1OClassifier)(setting)
    return clf.set_params(
        selector=hull_selection(setting.set, setting.depth, cap),
        **{name: given[name] for name in ("margin", "slack_penalty", "l1_penalty")},
    )


def _cart(setting: Setting) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=setting.depth, random_state=setting.seed)


def _cart_tuned(setting: Setting) -> Any:
    """CART with leaf size and pruning by cross-validation."""
    grid = {"min_samples_leaf": [1, 3, 10, 30], "ccp_alpha": [0.0, 0.001, 0.003, 0.01]}
    return _tuned(_cart(setting), grid, setting)


def _tuned(model: Any, grid: dict[str, Any], setting: Setting) -> Any:
    """Return a model whose settings are chosen by 5-fold cross-validation."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    folds = StratifiedKFold(5, shuffle=True, random_state=setting.seed)
    return GridSearchCV(model, grid, cv=folds)


def _on_numbers(model: Any) -> Any:
    """Return a model of standardised columns, with gaps filled in and marked."""
    from sklearn.impute import SimpleImputer

    filled = SimpleImputer(strategy="median", add_indicator=True)
    return make_pipeline(filled, StandardScaler(), model)


def _logistic(setting: Setting) -> Any:
    return _on_numbers(LogisticRegression(max_iter=2000))


def _forest(setting: Setting) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(500, random_state=setting.seed)


def _rbf_svm(setting: Setting) -> Any:
    from sklearn.svm import SVC

    return _tuned(_on_numbers(SVC()), {"svc__C": [0.1, 1.0, 10.0, 100.0]}, setting)


def _svm_tree(setting: Setting) -> GreedySVMTreeClassifier:
    return GreedySVMTreeClassifier(max_depth=setting.depth)


def _peer(make: Callable[[int, float | None, int], Any]) -> Maker:
    return lambda setting: make(setting.depth, setting.seconds, setting.seed)


_ALL = (
    Method("miptree", "miptree", _ours(OptimalTreeClassifier), "frame"),
    Method("miptree-auto", "miptree, auto", _ours(OptimalTreeClassifierCV), "frame"),
    Method(
        "miptree-tuned",
        "miptree, tuned",
        _ours(OptimalTreeClassifierCV, style="oblique"),
        "frame",
    ),
    Method("s1o", "S1O, HiGHS", _limited(S1OClassifier), "codes"),
    Method("s1o-ds", "S1O-DS, HiGHS", s1o_ds, "codes"),
    Method("cart", "CART", _cart, "codes"),
    Method("cart-tuned", "CART, tuned", _cart_tuned),
    Method("logistic", "logistic regression", _logistic),
    Method("svm-tree", "greedy SVM tree", _svm_tree),
    Method("forest", "random forest", _forest),
    Method("rbf-svm", "RBF-SVM, tuned", _rbf_svm),
    Method("oct-h", "OCT-H", _limited(OCTHClassifier), "codes"),
    Method("fair", "Fair", _limited(AghaeiTreeClassifier), "codes"),
    Method("binoct", "BinOCT", _limited(BinOCTClassifier), "codes"),
    Method("pystreed", "STreeD", _peer(peers.streed), needs="pystreed"),
    Method("pycontree", "ConTree", _peer(peers.contree), needs="pycontree"),
    Method("treeple", "treeple", _peer(peers.treeple), needs="treeple"),
    Method("ydf", "YDF oblique", _peer(peers.ydf), needs="ydf"),
)
METHODS = {method.name: method for method in _ALL}
"""All methods by name, in the order of the tables."""


def get_method(name: str) -> Method:
    """Return the method of a name, or raise an error that lists the names."""
    if name not in METHODS:
        raise ValueError(
            f"There is no method {name!r}; there are {', '.join(METHODS)}."
        )
    return METHODS[name]


def label_of(column: str) -> str:
    """Return the label of a method, or any other name of a column as it is."""
    return METHODS[column].label if column in METHODS else column
