"""What an explanation of a row says: plain data, and how they become text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from miptree.data import Value
from miptree.utils.listed import Listed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Contribution:
    """What one feature adds to the score of a split.

    Attributes
    ----------
    feature : str
    value : str, bool, int, float or None
        The row's cell; None where it is missing.
    amount : float
        What it adds; on a card of a points tree its points.
    taken_as : float or None
        The number that stands for a missing one in a sum.
    """

    feature: str
    value: Value
    amount: float
    taken_as: float | None = None


@dataclass(frozen=True)
class SplitMet:
    """A split on a row's way, and how the row met it.

    Attributes
    ----------
    node : int
        The split, as an index of ``tree_``.
    next_node : int
        The child that the row goes to.
    kind : {"sum", "points", "question"}
        Whether a weighted sum decides, points that are added up on a card, or a
        question about one or a few features.
    rule : str
        What holds for the row, in the words of :func:`~miptree.export_text`.
    score, threshold : float
        The sum of the contributions, and what it is compared with, as the rule says,
        and in its units.
    distance : float
        How far the score is from the threshold.
    share : float or None
        The distance as a share of what the score can vary by within the ranges of the
        features; None where it cannot vary, as where no ranges are known.
    contributions : tuple of Contribution
        One for each feature that the split reads. Those come first that move the score
        most: a number's amount is compared with that of the training median, as a year
        adds much but about as much for every row; what a category adds, and points on a
        card, with 0.
    """

    node: int
    next_node: int
    kind: str
    rule: str
    score: float
    threshold: float
    distance: float
    share: float | None
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True)
class FeatureChange:
    """A cell that is changed.

    Attributes
    ----------
    feature : str
    before, after : str, bool, int, float or None
        The cell as it is (None: missing), and what it becomes.
    others : tuple
        Other values of a category that lead to the same class, all else being changed
        as reported.
    other_leaves : tuple of int
        The leaf that each of these leads to.
    """

    feature: str
    before: Value
    after: Value
    others: tuple[Value, ...] = ()
    other_leaves: tuple[int, ...] = ()


@dataclass(frozen=True)
class NearestChange:
    """The least change of the allowed features after which the class is another one.

    Attributes
    ----------
    label : object
        The class that ``predict`` returns for the changed row.
    leaf : int
        Its leaf.
    cost : float
        Sum over the changed features: the part of its range that a number moves by, 1
        for another category, and 1 more for a missing number that is filled in; each
        times the feature's weight.
    changes : tuple of FeatureChange
    is_nearest : bool
        Whether the search was finished; otherwise a cheaper change may exist. It means
        nearest of those that pass splits which read numbers with more than 10,000 steps
        in their range by 4 millionths of what a sum can vary by.
    """

    label: Any
    leaf: int
    cost: float
    changes: tuple[FeatureChange, ...]
    is_nearest: bool = True


@dataclass(frozen=True)
class Explanation:
    """Why a row gets its class, and what would change that.

    Attributes
    ----------
    row : int
        Place of the row, counted from 0; texts and tables count from 1.
    label : object
        The class that ``predict`` returns.
    leaf : int
        The row's leaf, as ``apply`` returns it.
    probability : float
        Of that class, by ``predict_proba``.
    reason : str
        All conditions on the way, in one sentence.
    splits : tuple of SplitMet
        From the root to the leaf.
    change : NearestChange or None
        None where there is none; ``no_change`` says why.
    no_change : str
        Empty where there is a change.
    """

    row: int
    label: Any
    leaf: int
    probability: float
    reason: str
    splits: tuple[SplitMet, ...]
    change: NearestChange | None
    no_change: str

    def __str__(self) -> str:
        from miptree.explain.words import explanation_text

        return explanation_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, as JSON needs; rows count from 1.

        Sums of huge numbers that are infinite are None.
        """
        return asdict(self, dict_factory=_plain_dict) | {"row": self.row + 1}


def _plain_dict(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in entries}


def _plain(value: Any) -> Any:
    """Make a list of a tuple, and None of a number that JSON does not know."""
    if isinstance(value, float) and not isfinite(value):
        return None
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Listed[Explanation]):
    """The explanations of all rows, in order; ``print`` shows them.

    Attributes
    ----------
    items : tuple of Explanation
    ranges : str
        Where the ranges of the features are from.
    """

    ranges: str

    def __str__(self) -> str:
        texts = [str(item) for item in self.items]
        has_change = any(item.change is not None for item in self.items)
        return "\n\n".join([*texts, *([self.ranges] if has_change else [])])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, as JSON needs; rows count from 1."""
        return {
            "ranges": self.ranges,
            "rows": [item.to_dict() for item in self.items],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each explanation; rows are counted from 1."""
        import pandas as pd

        from miptree.explain.words import change_words

        changes = [item.change for item in self.items]
        labels = [None if change is None else change.label for change in changes]
        costs = [None if change is None else change.cost for change in changes]
        return pd.DataFrame(
            {
                "row": [item.row + 1 for item in self.items],
                "prediction": [item.label for item in self.items],
                "probability": [item.probability for item in self.items],
                "leaf": [item.leaf for item in self.items],
                "reason": [item.reason for item in self.items],
                "change": [change_words(item) for item in self.items],
                # Else a class 2 were 2.0 where another row has none.
                "change_to": pd.Series(labels, dtype=object),
                "change_cost": pd.Series(costs, dtype=float),
            }
        )
