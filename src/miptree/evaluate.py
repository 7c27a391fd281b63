"""How a fitted tree does on rows with labels, in all and node by node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from miptree.classifiers.predictor import TreePredictor
from miptree.constraints.constraint import Finding, TreeOnRows
from miptree.constraints.population import Population
from miptree.constraints.rules import Rules, number_names, source_names
from miptree.data.groups import RowGroups
from miptree.data.labels import checked_weight
from miptree.estimator import OptimalTreeClassifier
from miptree.fit.fitted import passing
from miptree.utils.arrays import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Counts of rows, all by prediction.

    Attributes
    ----------
    labels : array of shape (n_labels,)
        The model's classes, then labels of the rows that are no class of it.
    confusion : int array of shape (n_labels, n_classes)
        Rows of each true label (row) by predicted class (column).
    node_counts : int array of shape (n_nodes, n_labels)
        Rows of each true label that pass each node of the tree.
    """

    labels: AnyArray
    confusion: IntArray
    node_counts: IntArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.confusion.sum())

    @property
    def n_right(self) -> int:
        """Rows predicted rightly."""
        return int(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        """Share of rows predicted rightly."""
        return self.n_right / self.n_rows

    @property
    def recall(self) -> FloatArray:
        """(n_labels,): share of each label's rows predicted rightly, NaN for none."""
        total = self.confusion.sum(axis=1).astype(float)
        right = np.zeros(len(total))
        right[: self.confusion.shape[1]] = np.diagonal(self.confusion)
        return np.divide(right, total, out=np.full(len(total), np.nan), where=total > 0)


def evaluate(clf: TreePredictor, X: Any, y: ArrayLike) -> Evaluation:
    """Predict rows and count them by true label, predicted class and node.

    Parameters
    ----------
    clf : fitted classifier of this package
    X : data frame or array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        True labels; one that is no class of the model can only be wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree import OptimalTreeClassifier, evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OptimalTreeClassifier(solver="search", max_iter=5, random_state=0)
    >>> evaluate(clf.fit(X, y), X, y).n_rows
    150
    """
    leaf = clf.apply(X)
    labels, codes = label_codes(clf.classes_, _labels_of(y, len(leaf)))
    confusion = np.zeros((len(labels), len(clf.classes_)), dtype=np.intp)
    np.add.at(confusion, (codes, clf.tree_.label[leaf]), 1)
    in_leaf = np.zeros((clf.tree_.n_nodes, len(labels)), dtype=np.intp)
    np.add.at(in_leaf, (leaf, codes), 1)
    return Evaluation(labels, confusion, passing(clf.tree_, in_leaf))


def evaluate_rules(
    clf: OptimalTreeClassifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    sensitive_features: Any = None,
    control_features: Any = None,
) -> list[Finding]:
    """Count the constraints of a fit on other rows, such as test rows.

    On training rows a fitted tree keeps all of them; on others rates differ by chance.
    What is about the training rows themselves, sizes of leaves (``MinLeaf``), a budget
    (``MaxCost``) and which side of a split has more of a label (``Signs``), is not
    counted on others: the finding is the one of the training, and its sentence says so.

    Parameters
    ----------
    clf : OptimalTreeClassifier
        Fitted with constraints.
    X : data frame or array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        True labels, each of them a class of the model.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.
    sensitive_features, control_features : array-like, optional
        Groups of the rows, as ``fit`` takes them.

    Returns
    -------
    list of Finding
        For each of ``clf.constraints_`` whether it is kept, and a sentence.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree import OptimalTreeClassifier
    >>> from miptree.constraints import MinLeaf
    >>> from miptree.evaluate import evaluate_rules
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OptimalTreeClassifier(
    ...     constraints=[MinLeaf(rows=40)], solver="search", max_iter=5, random_state=0
    ... ).fit(X, y)
    >>> evaluate_rules(clf, X[:60], y[:60])[0].sentence[-61:]
    'That is about the training rows, and is not counted on these.'
    """
    groups = sensitive_features, control_features
    view = tree_on_rows(clf, X, y, sample_weight, *groups)
    in_training = clf.certificate_.rules or ()
    return [
        _of_training(said) if constraint.is_about_training else constraint.check(view)
        for constraint, said in zip(clf.constraints_, in_training, strict=True)
    ]


def _of_training(said: str) -> Finding:
    """Return what was found in training, which all trees of a fit keep."""
    words = "That is about the training rows, and is not counted on these."
    return Finding(True, f"In training: {said} {words}", 0.0)


def tree_on_rows(
    clf: OptimalTreeClassifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    sensitive_features: Any = None,
    control_features: Any = None,
) -> TreeOnRows:
    """Return the tree of a fit and where it sends rows, for its constraints to count.

    Parameters are those of :func:`evaluate_rules`.
    """
    Z = clf.tree_inputs(X)
    if not len(Z):
        raise ValueError("X has no rows, on which nothing can be counted.")
    codes = codes_of(clf, y, len(Z))
    weight = checked_weight(sample_weight, len(Z))
    groups = RowGroups.of(sensitive_features, control_features, weight)
    count, costs = np.ones(len(Z), dtype=np.intp), clf.cost_matrix
    matrix = None if costs is None else np.asarray(costs, dtype=np.float64)
    classes = tuple(clf.classes_.tolist())
    population = Population(codes, count, groups, classes, matrix)
    columns, numbers = source_names(clf.table_), number_names(clf.table_)
    Rules(clf.constraints_, population, columns, numbers).ready()
    leaf = clf.tree_.apply(Z)
    return TreeOnRows(clf.tree_, leaf, population, columns, numbers)


class LabelledRows(NamedTuple):
    """Rows with their labels, groups where rules compare these, and weights."""

    X: Any
    y: ArrayLike
    sensitive: Any = None
    control: Any = None
    weight: ArrayLike | None = None

    def tree_of(self, clf: OptimalTreeClassifier) -> TreeOnRows:
        """Return the tree of a fit and where it sends the rows."""
        return tree_on_rows(
            clf, self.X, self.y, self.weight, self.sensitive, self.control
        )


def label_codes(classes: AnyArray, y: AnyArray) -> tuple[AnyArray, IntArray]:
    """Number labels.

    Returns
    -------
    labels : array
        The classes and, after them, the labels of y that are no class.
    codes : int array
        Place of each label of y among them.
    """
    index = {label: k for k, label in enumerate(classes.tolist())}
    codes = [index.setdefault(label, len(index)) for label in y.tolist()]
    labels = np.empty(len(index), dtype=object)
    labels[:] = list(index)
    return labels, np.array(codes, dtype=np.intp)


def codes_of(clf: TreePredictor, y: ArrayLike, n_rows: int) -> IntArray:
    """Number labels as the classes of a model; refuse one that is no class."""
    known = clf.classes_.tolist()
    labels, codes = label_codes(clf.classes_, _labels_of(y, n_rows))
    if len(labels) > len(known):
        raise ValueError(
            f"y holds {labels[len(known)]!r}, which is no class of the model: "
            f"{', '.join(map(repr, known))}."
        )
    return codes


def _labels_of(y: ArrayLike, n_rows: int) -> AnyArray:
    labels: AnyArray = np.asarray(y, dtype=object)  # else one text makes all text
    if labels.shape != (n_rows,):
        raise ValueError(
            f"y must hold one label for each of the {n_rows} rows of X, got shape "
            f"{labels.shape}."
        )
    return labels


class ScoreHistogram(NamedTuple):
    """Scores ``x @ coef - threshold`` of the rows that reach a split.

    Attributes
    ----------
    edges : float array of shape (n_bins + 1,)
        Ends of the bins; 0 is one of them, so no bin is on both sides of the split.
    counts : int array of shape (n_classes, n_bins)
        Rows of each class with a score above the lower end, up to the upper one.
    margin : float
        Margin in the units of the scores, whose box is that of the rows given.
    """

    edges: FloatArray
    counts: IntArray
    margin: float


def score_histogram(
    clf: TreePredictor, Z: FloatArray, codes: IntArray, node: int, n_bins: int
) -> ScoreHistogram:
    """Count the scores at a split of rows Z as the tree reads them, by class codes."""
    tree = clf.tree_
    score: FloatArray = Z @ tree.coef[node] - tree.threshold[node]
    reaches = tree.ancestors[tree.apply(Z)][:, node]
    margin = clf.certificate_.margin  # 0 for a baseline
    margin *= max(1.0, float(np.abs(score).max(initial=0.0)))
    here = score[reaches]
    low = min(float(here.min(initial=0.0)), -margin)
    high = max(float(here.max(initial=0.0)), margin)
    width = (high - low) / n_bins or 1.0
    first = min(int(np.floor(low / width)), -1)  # there is a bin that ends at 0
    last = int(np.ceil(high / width))
    # Left is <= 0: a score of 0 belongs to the bin that ends there.
    place = np.clip(np.ceil(here / width).astype(int) - 1 - first, 0, last - first - 1)
    counts = np.zeros((len(clf.classes_), last - first), dtype=np.intp)
    np.add.at(counts, (codes[reaches], place), 1)
    edges = width * np.arange(first, last + 1, dtype=np.float64)
    return ScoreHistogram(edges, counts, margin)
