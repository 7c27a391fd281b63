"""Words of points trees: exact on every cut point, and as a person would say them."""

import re
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _models import array_model, iris_model, mixed_model
from _points_models import COLUMNS, NAMES, TABLE, points_model, random_rows
from miptree import export_dot, export_rules, export_text
from miptree.data import GridColumn
from miptree.export.conditions import (
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
from miptree.export.describe import condition_of, is_points_tree, readable
from miptree.export.leaf_words import class_shares, leaf_text, percent
from miptree.export.readable import Leaf, Member, readable_tree
from miptree.export.sentences import conditions_on, ways_of
from miptree.export.text import split_text
from miptree.export.words import lookup

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


@settings(max_examples=200, deadline=None)
@given(splits(), st.integers(0, 2**32 - 1))
def test_conditions_say_where_rows_go(split, seed):
    clf = points_model(split)
    frame = random_rows(np.random.default_rng(seed))
    goes_left = clf.apply(frame) == 1
    found = condition_of(readable_tree(clf).root)
    assert np.array_equal(holds(found, frame), goes_left)
    assert np.array_equal(holds(negated(found), frame), ~goes_left)
    turned = readable(readable_tree(clf)).root
    said = holds(condition_of(turned), frame)
    assert np.array_equal(said == (turned.left.node == 1), goes_left)
    assert refusals(condition_of(turned)) <= refusals(found)


@settings(max_examples=40, deadline=None)
@given(splits(), splits(), splits(), st.integers(0, 2**32 - 1))
def test_sentences_hold_for_the_rows_of_their_leaf(one, two, three, seed):
    clf = points_model(one, two, three)
    frame = random_rows(np.random.default_rng(seed))
    leaf = clf.apply(frame)
    for end, way in ways_of(readable(readable_tree(clf)).root):
        said = Every(tuple(conditions_on(way)))
        assert np.array_equal(holds(said, frame), leaf == end.node)
    assert export_rules(clf).count("(leaf ") == 4


def test_nothing_that_does_not_matter_is_said():
    """Leave out a feature whose points are too few to change anything."""
    points = {"age": 2, "smoker": 1}
    found = condition_of(readable_tree(points_model((points, 5))).root)
    assert found == Within(0, None, 35.0, None)
    assert condition_of(readable_tree(points_model((points, 19))).root) == Every(())
    assert condition_of(readable_tree(points_model((points, -1))).root) == Either(())


def test_which_trees_are_points_trees():
    assert is_points_tree(readable_tree(points_model(({"age": 1}, 2))))
    for clf in (array_model(), iris_model(), mixed_model()):
        assert not is_points_tree(readable_tree(clf))
    assert not is_points_tree(readable_tree(points_model(({"age": 1.5}, 2))))


# ------------------------------------------------------------------------ the words


def question(points, most):
    """What a split asks, and the node to which a yes leads."""
    root = readable(readable_tree(points_model((points, most)))).root
    return split_text(readable_tree(points_model((points, most))), root), root.left.node


LEFT, RIGHT = 1, 2
CAR, RENT, MALE = "purpose=new car", "housing=rent", "sex=male"
RARE = "town=any rare value"


@pytest.mark.parametrize(
    ("points", "most", "words", "goes"),
    [
        ({"age": 1}, 1, "age below 30", LEFT),
        ({"age": -1}, -2, "age 30 or more", LEFT),
        ({"smoker": 1}, 0, "smoker below 1", LEFT),
        ({RENT: 1}, 0, "housing = rent", RIGHT),
        ({RENT: -1}, -1, "housing = rent", LEFT),
        ({"purpose=missing": 1}, 0, "purpose is missing", RIGHT),
        ({"income (missing lowest)": 1}, 1, "income below 10,000 (or missing)", LEFT),
        ({"income (missing highest)": 1}, 1, "income below 10,000 (not missing)", LEFT),
        ({"rooms (missing highest)": -1}, -2, "rooms 3 or more (or missing)", LEFT),
        ({CAR: 1, "purpose=used car": 1}, 0, "purpose is new car or used car", RIGHT),
        (
            {CAR: 1, "purpose=used car": 1, "purpose=missing": 1},
            0,
            "purpose is one of: new car, used car, missing",
            RIGHT,
        ),
        ({RENT: 1, CAR: 1}, 0, "housing = rent or purpose = new car", RIGHT),
        ({RENT: 1, CAR: 1}, 1, "housing = rent and purpose = new car", RIGHT),
        ({RENT: 1, CAR: -1}, -1, "housing is not rent and purpose = new car", LEFT),
        ({RENT: 1, CAR: -1}, 0, "housing is not rent or purpose = new car", LEFT),
        ({"age": 1, CAR: 4}, 6, "age below 55 (below 35 when purpose = new car)", LEFT),
        ({"age": 1, CAR: 10}, 3, "purpose = new car, or age 40 or more", RIGHT),
        ({"age": 1, CAR: -10}, 3, "purpose = new car or age below 40", LEFT),
        ({"age": 1, CAR: 4}, 10, "purpose = new car and age 55 or more", RIGHT),
        (
            {"rooms (missing lowest)": 1, "smoker": 1},
            1,
            "rooms below 3 (below 2 when smoker 1 or more; or missing)",
            LEFT,
        ),
        (
            {"age": 1, CAR: 1, "purpose=used car": 1},
            2,
            "age below 35 (below 30 when purpose is new car or used car)",
            LEFT,
        ),
        (
            {RENT: 1, CAR: 1, "purpose=used car": 1},
            1,
            "housing = rent and (purpose is new car or used car)",
            RIGHT,
        ),
        (
            {RENT: 1, CAR: 1, MALE: 1},
            1,
            "at least two of: housing = rent; purpose = new car; sex = male",
            RIGHT,
        ),
        (
            {RENT: 2, CAR: 1, MALE: 1},
            1,
            "housing = rent or (purpose = new car and sex = male)",
            RIGHT,
        ),
        (
            {RENT: 2, CAR: 1, MALE: 1},
            2,
            "housing = rent and (purpose = new car or sex = male)",
            RIGHT,
        ),
        ({"age": 1, "od280": 1}, 0, "age below 25 and od280 below 1.4", LEFT),
        ({"age": 1, "od280": 1}, 20, "age below 65 or od280 below 3.6", LEFT),
        ({"town=A": 1, RARE: 1}, 0, "town is A or any rare value", RIGHT),
    ],
)
def test_plain_words(points, most, words, goes):
    assert question(points, most) == (words, goes)


@pytest.mark.parametrize(
    ("points", "most", "words"),
    [
        ({RENT: 1}, 0, "housing is not rent"),
        ({"purpose=missing": 1}, 0, "purpose is not missing"),
        ({CAR: 1, "purpose=used car": 1}, 0, "purpose is neither new car nor used car"),
        ({RENT: 1, CAR: 1}, 0, "neither housing = rent nor purpose = new car"),
        ({RENT: 1, CAR: 1}, 1, "not both housing = rent and purpose = new car"),
        (
            {RENT: 1, CAR: 1, MALE: 1},
            1,
            "at most one of: housing = rent; purpose = new car; sex = male",
        ),
        (
            {RENT: 1, CAR: 1, MALE: 1},
            0,
            "none of: housing = rent; purpose = new car; sex = male",
        ),
        (
            {RENT: 1, CAR: 1, MALE: 1},
            2,
            "not all of: housing = rent; purpose = new car; sex = male",
        ),
        (
            {"age": 1, "bonus": -2},
            4,
            "4 points or fewer of [age: 1 point for every full 5 above 40, at most 5; "
            "bonus: 2 points below 200, 4 points below 100]",
        ),
    ],
)
def test_words_of_what_goes_left(points, most, words):
    rules = readable_tree(points_model((points, most)))
    assert split_text(rules, rules.root) == words


def test_graph_has_the_words():
    text = export_dot(points_model(({RENT: 1}, 0)))
    assert r'0 [label="housing = rent\nnode 0, 54 rows"]' in text
    assert '0 -> 2 [label="yes"]' in text


STEPS = """\
STEP 1  add up points (0 to 19):
          age    1 point for every full 5 above 20, at most 9
          od280  1 point for every full 0.2 above 1.6, at most 10
        9 or fewer -> go to STEP 2
        10 or more -> go to STEP 3

STEP 2  housing = rent?
        yes -> class good (leaf 4, 145 rows: 56 % good, 44 % bad)
        no  -> class bad (leaf 3, 85 rows: 58 % good, 42 % bad)

STEP 3  add up points (0 to 6):
          income                 1 point from 5,000 on, 2 points from 10,000 on; \
missing: 2
          rooms                  1 point below 5, 2 points below 3; missing: 2
          town = any rare value  2 points
        1 or fewer -> class good (leaf 6, 313 rows: 54 % good, 46 % bad)
        2 or more  -> class bad (leaf 5, 221 rows: 55 % good, 45 % bad)

Rare values of town: C, D.

Errors differ in cost: a leaf has the class that costs least, not the most frequent \
one."""

SENTENCES = """\
STEP 1 adds up:
  age: 1 point for every full 5 above 20, at most 9
  od280: 1 point for every full 0.2 above 1.6, at most 10
STEP 3 adds up:
  income: 1 point from 5,000 on, 2 points from 10,000 on; missing: 2
  rooms: 1 point below 5, 2 points below 3; missing: 2
  town = any rare value: 2 points

IF 9 points or fewer in STEP 1 and housing = rent THEN class good \
(leaf 4, 145 rows: 56 % good, 44 % bad)
IF 9 points or fewer in STEP 1 and housing is not rent THEN class bad \
(leaf 3, 85 rows: 58 % good, 42 % bad)
IF 10 points or more in STEP 1 and 1 point or fewer in STEP 3 THEN class good \
(leaf 6, 313 rows: 54 % good, 46 % bad)
IF 10 points or more in STEP 1 and 2 points or more in STEP 3 THEN class bad \
(leaf 5, 221 rows: 55 % good, 45 % bad)

Rare values of town: C, D.

Errors differ in cost: a leaf has the class that costs least, not the most frequent \
one."""


def card_model():
    rare = {"income (missing highest)": -1, "rooms (missing lowest)": 1}
    rare |= {"town=any rare value": -2}
    return points_model(({"age": 1, "od280": 1}, 11), ({RENT: 1}, 0), (rare, 1))


def test_steps_and_sentences():
    assert export_text(card_model()) == STEPS
    assert export_rules(card_model()) == SENTENCES


def test_steps_with_the_same_card_are_explained_once():
    card = {"age": 1, "od280": 1}
    text = export_rules(points_model(({RENT: 1}, 0), (card, 11), (card, 11)))
    assert text.startswith("STEP 2 and STEP 3 add up:\n  age: 1 point")


def test_points_of_falling_and_of_whole_numbers():
    children = GridColumn("children", (1.0, 2.0, 3.0, 4.0), 1.0, 0.0, False)
    points = {"age": -1, "children": 1, "income (missing lowest)": 2}
    clf = points_model((points, 1), columns=(*COLUMNS[:4], children))
    assert export_text(clf).splitlines()[:4] == [
        "STEP 1  add up points (0 to 21):",
        "          age       1 point for every 5 (or part of 5) below 65, at most 9",
        "          income    2 points for every full 5,000 above 0, at most 8; "
        "missing: 0",
        "          children  1 point for every whole number above 0, at most 4",
    ]


def test_limits_of_one_column_are_said_together():
    clf = points_model(
        ({"age": 1}, 5), ({"age": 1}, 2), ({RENT: 1, "housing=own": 1}, 0)
    )
    assert [line.split(" THEN")[0] for line in export_rules(clf).splitlines()[:4]] == [
        "IF age below 35",
        "IF age from 35 to below 50",
        "IF age 50 or more and (housing is own or rent)",
        "IF age 50 or more and (housing is neither own nor rent)",
    ]


def test_brackets_tell_which_conditions_belong_together():
    clf = points_model(
        ({RENT: 2, CAR: 1, MALE: 1}, 1), ({"age": 1}, 2), ({"age": 1}, 2)
    )
    said = {line.split(" THEN")[0] for line in export_rules(clf).splitlines()}
    beside = "(housing = rent or (purpose = new car and sex = male))"
    assert f"IF {beside} and age below 35" in said


def test_sentences_of_oblique_trees():
    clf = iris_model()
    lines = export_rules(clf).splitlines()
    shown = export_text(clf)
    assert "a sum of just" in lines.pop()  # two flowers lie on a split
    assert len(lines) == clf.tree_.n_leaves
    first = lines[0].removeprefix("IF ").split(" THEN ")[0].split(" and ")
    assert all(condition in shown for condition in first)
    rows = {int(n) for n in re.findall(r"leaf (\d+), \d+ rows", "\n".join(lines))}
    assert rows == set(np.flatnonzero(clf.tree_.is_leaf).tolist())
    text = export_rules(mixed_model())
    assert " in {" in text
    assert " not in {" in text


def test_leaves_have_numbers_rows_and_shares():
    counts = np.array([[3, 1, 0], [4, 0, 0], [0, 4, 0], [0, 0, 0]])
    said = [
        leaf_text(
            replace(readable_tree(points_model()), classes=["a", "b", 3]), leaf, counts
        )
        for leaf in (Leaf(0, 0), Leaf(1, 0), Leaf(2, 0), Leaf(3, 2))
    ]
    assert said == [
        "class a (leaf 0, 4 rows: 75 % a, 25 % b)",
        "class a (leaf 1, 4 rows, pure)",
        "class a (leaf 2, 4 rows: 100 % b)",
        "class 3 (leaf 3, no training rows)",
    ]
    many = replace(readable_tree(points_model()), classes=list("abcdefgh"))
    shares = class_shares(many, np.array([1, 2, 3, 4, 5, 6, 7, 8]))
    assert shares[0] == "22 % h"
    assert shares[-1] == "17 % 3 other classes"


def test_a_tree_without_splits():
    clf = points_model(labels=[1])
    assert export_text(clf) == "Always class good (leaf 0, 1 row, pure)."
    assert export_rules(clf) == "ALWAYS class good (leaf 0, 1 row, pure)"


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [(0, 9, "0 %"), (1, 999, "under 1 %"), (998, 999, "over 99 %"), (9, 9, "100 %")],
)
def test_shares(part, whole, words):
    assert percent(part, whole) == words


def test_ranges_to_look_up():
    rules = readable_tree(card_model())
    cards = [condition_of(rules.branches[k]) for k in (0, 2)]
    age, _ = cards[0].parts
    assert lookup(rules, age)[:2] == [("below 25", 0), ("25 to below 30", 1)]
    assert lookup(rules, age)[-1] == ("65 or more", 9)
    income, _, town = cards[1].parts
    assert lookup(rules, income) == [
        ("below 5,000", 2),
        ("5,000 to below 10,000", 1),
        ("10,000 or more", 0),
        ("missing", 0),
    ]
    assert lookup(rules, town) == [("town = any rare value", 0), ("otherwise", 2)]
