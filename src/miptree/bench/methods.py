"""The methods that are compared: what they are called, and how they are made."""

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


@dataclass(frozen=True)
class Setting:
    """What a method is made for."""

    set: str
    depth: int
    seconds: float
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


def _s1o(setting: Setting) -> S1OClassifier:
    return S1OClassifier(
        max_depth=setting.depth, time_limit=setting.seconds, random_state=setting.seed
    )


def _s1o_ds(setting: Setting) -> S1OClassifier:
    """S1O on rows chosen by Algorithm 1, with the parameters of tables 6-8.

    Depths that the paper does not print take those of depth 2. The two impossible
    parameters of wall-following-robot-2 are read as what must have been meant:
    alpha_1 * epsilon >= 1, and beta_2 in percent.
    """
    from miptree.selection import HullSelection

    _compile_selection()
    result = printed(setting.set, setting.depth) or printed(setting.set, 2)
    given = dict(result.parameters) if result else {}
    margin = given.get("margin", 0.01)
    beta2 = given.get("beta2", 0.1)
    clf = _s1o(setting)
    return clf.set_params(
        margin=margin,
        slack_penalty=max(given.get("slack_penalty", 1000.0), 1 / margin),
        l1_penalty=given.get("l1_penalty", 0.1),
        selector=HullSelection(
            beta1=given.get("beta1", 0.1),
            beta2=beta2 if beta2 < 1 else beta2 / 100,
            eps=given.get("eps", 0.0),
        ),
    )


@cache
def _compile_selection() -> None:
    """Compile the kernels of data selection: once on a machine, and no fit's time."""
    from miptree.selection import hull_membership

    hull_membership(np.random.default_rng(0).normal(size=(50, 3)))


def _miptree(setting: Setting) -> OptimalTreeClassifier:
    compile_proof_kernels()  # else the first fits of a process differ from the others
    return OptimalTreeClassifier(
        max_depth=setting.depth, time_limit=setting.seconds, random_state=setting.seed
    )


def _tuned(setting: Setting) -> OptimalTreeClassifierCV:
    return OptimalTreeClassifierCV(
        max_depth=setting.depth, time_limit=setting.seconds, random_state=setting.seed
    )


def _cart(setting: Setting) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=setting.depth, random_state=setting.seed)


def _logistic(setting: Setting) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))


def _svm_tree(setting: Setting) -> GreedySVMTreeClassifier:
    return GreedySVMTreeClassifier(max_depth=setting.depth)


def _baseline(kind: type) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        return kind(
            max_depth=setting.depth,
            time_limit=setting.seconds,
            random_state=setting.seed,
        )

    return make


def _peer(make: Callable[[int, float, int], Any]) -> Callable[[Setting], Any]:
    return lambda setting: make(setting.depth, setting.seconds, setting.seed)


_ALL = (
    Method("miptree", "miptree", _miptree, "frame"),
    Method("miptree-tuned", "miptree, tuned", _tuned, "frame"),
    Method("s1o", "S1O, HiGHS", _s1o, "codes"),
    Method(
        "s1o-ds",
        "S1O-DS, HiGHS",
        _s1o_ds,
        "codes",
    ),
    Method("cart", "CART", _cart, "codes"),
    Method("logistic", "logistic regression", _logistic),
    Method("svm-tree", "greedy SVM tree", _svm_tree),
    Method("oct-h", "OCT-H", _baseline(OCTHClassifier), "codes"),
    Method("fair", "Fair", _baseline(AghaeiTreeClassifier), "codes"),
    Method("binoct", "BinOCT", _baseline(BinOCTClassifier), "codes"),
    Method("pystreed", "STreeD", _peer(peers.streed), needs="pystreed"),
    Method("pycontree", "ConTree", _peer(peers.contree), needs="pycontree"),
    Method("treeple", "treeple", _peer(peers.treeple), needs="treeple"),
    Method("ydf", "YDF oblique", _peer(peers.ydf), needs="ydf"),
)
METHODS = {method.name: method for method in _ALL}
"""All methods by name, in the order of the tables."""


def get_method(name: str) -> Method:
    """The method of a name, or an error that lists the names there are."""
    if name not in METHODS:
        raise ValueError(
            f"There is no method {name!r}; there are {', '.join(METHODS)}."
        )
    return METHODS[name]
