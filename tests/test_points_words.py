"""Words of points trees: exact on every cut point, and as a person would say them."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _points_models import COLUMNS, NAMES, TABLE, points_model, random_rows
from miptree.export._conditions import (
    Card,
    Depending,
    Either,
    Every,
    OneOf,
    TwoOfThree,
    Within,
    negated,
    refusals,
)
from miptree.export._describe import condition_of, is_points_tree, readable
from miptree.export._rules import Member, rules_of

pytestmark = pytest.mark.filterwarnings("ignore:Column .* missing values")


# ------------------------------------------- what a condition says of the user's cells


def number(frame, column, has_fill):
    found = frame[NAMES[column]].to_numpy()
    return np.where(np.isnan(found), COLUMNS[column].fill, found) if has_fill else found


def holds(found, frame):
    """Read a condition literally: compare cells, and count points one by one."""
    if isinstance(found, Within):
        x = number(frame, found.column, found.missing is None)
        inside = np.isnan(x) if found.missing else np.zeros(len(x), dtype=bool)
        low = -np.inf if found.low is None else found.low
        high = np.inf if found.high is None else found.high
        return inside | ((x >= low) & (x < high))
    if isinstance(found, OneOf):
        cells = frame[NAMES[found.member.column]]
        cells = [None if cell != cell else cell for cell in cells]
        return np.array([c in found.member.values for c in cells]) == found.holds
    if isinstance(found, Depending):
        when, then = holds(found.when, frame), holds(found.then, frame)
        return np.where(when, then, holds(found.otherwise, frame))
    if isinstance(found, Card):
        points = sum(points_of(part, frame) for part in found.parts)
        return (points <= found.most) == found.holds
    parts = [holds(part, frame) for part in found.parts]
    if isinstance(found, TwoOfThree):
        assert len(parts) == 3
        return np.sum(parts, axis=0) >= 2
    every, nothing = isinstance(found, Every), np.zeros(len(frame), dtype=bool)
    return reduce(np.logical_and if every else np.logical_or, parts, nothing | every)


def points_of(part, frame):
    if isinstance(part.atom, Member):
        return part.weight * holds(OneOf(part.atom, not part.falls), frame)
    x = number(frame, part.atom.column, part.atom.missing_as is None)
    levels = sum((x < cut) if part.falls else (x >= cut) for cut in part.cuts)
    gap = part.missing_level
    return part.weight * np.where(np.isnan(x), 0 if gap is None else gap, levels)


# -------------------------------------------------------------------- random splits


@st.composite
def splits(draw):
    """Draw any split of up to three open columns, in the family or not."""
    names = draw(st.lists(st.sampled_from(TABLE.open_names), min_size=1, max_size=3,
                          unique=True))  # fmt: skip
    small = st.sampled_from([1, 1, 1, 2, 3, 4, 10])
    points = {name: draw(small) * draw(st.sampled_from([-1, 1])) for name in names}
    steps = dict(zip(TABLE.open_names, TABLE.open_steps, strict=True))
    ends = [(weight * steps[name], 0) for name, weight in points.items()]
    low, high = sum(map(min, ends)), sum(map(max, ends))
    return points, draw(st.integers(low - 1, high))


@settings(max_examples=400, deadline=None)
@given(splits(), st.integers(0, 2**32 - 1))
def test_conditions_say_where_rows_go(split, seed):
    clf = points_model(split)
    frame = random_rows(np.random.default_rng(seed))
    goes_left = clf.apply(frame) == 1
    found = condition_of(rules_of(clf).root)
    assert np.array_equal(holds(found, frame), goes_left)
    assert np.array_equal(holds(negated(found), frame), ~goes_left)
    turned = readable(rules_of(clf)).root
    said = holds(condition_of(turned), frame)
    assert np.array_equal(said == (turned.left.node == 1), goes_left)
    assert refusals(condition_of(turned)) <= refusals(found)


def test_nothing_that_does_not_matter_is_said():
    """Leave out a feature whose points are too few to change anything."""
    points = {"age": 2, "smoker": 1}
    found = condition_of(rules_of(points_model((points, 5))).root)
    assert found == Within(0, None, 35.0, None)
    assert condition_of(rules_of(points_model((points, 19))).root) == Every(())
    assert condition_of(rules_of(points_model((points, -1))).root) == Either(())


def test_which_trees_are_points_trees():
    from _models import array_model, iris_model, mixed_model

    assert is_points_tree(rules_of(points_model(({"age": 1}, 2))))
    for clf in (array_model(), iris_model(), mixed_model()):
        assert not is_points_tree(rules_of(clf))
    assert not is_points_tree(rules_of(points_model(({"age": 1.5}, 2))))
