"""Columns on a grid: cut points that people would choose, counted to the last bit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miptree.data import GridColumn, GridSpec, categorical_mask, learn_table, read_cells
from miptree.data.grid_cuts import learn_grid
from miptree.data.rows import TrainingRows
from miptree.data.units import GridUnit, is_grid


def learn(X, grid=None, weight=None, **options):
    cells = read_cells(X)
    weight = np.ones(len(X)) if weight is None else weight
    asked = options.pop("asked", "from_dtype")
    mask = categorical_mask(cells, asked)
    return learn_table(cells, weight, mask, grid=grid or GridSpec(), **options)


def column(numbers, weight=None, **spec):
    numbers = np.asarray(numbers, dtype=float)
    there = ~np.isnan(numbers)
    weight = np.ones(len(numbers)) if weight is None else np.asarray(weight, float)
    gaps = bool((~there & (weight > 0)).any())
    there &= weight > 0
    return learn_grid("x", numbers[there], weight[there], gaps, GridSpec(**spec))


def spread(seed=0, n=400):
    return np.random.default_rng(seed).normal(size=n)


# ------------------------------------------------------------------ the cuts chosen


@pytest.mark.parametrize(
    ("numbers", "unit", "cuts"),
    [
        ([3, 3, 3], 0.0, ()),
        ([0, 1, 1], 0.0, (1.0,)),
        ([2.5, -7.25, 2.5], 0.0, (2.5,)),
        ([4, 1, 2, 7], 1.0, (2.0, 3.0, 4.0, 5.0, 6.0, 7.0)),
        ([0.5, 1.5, 1.0], 0.5, (1.0, 1.5)),
        (np.arange(0, 201, 20), 20.0, tuple(20.0 * k for k in range(1, 11))),
        ([-3, -1, 0], 1.0, (-2.0, -1.0, 0.0)),
    ],
)
def test_few_values_are_all_told_apart(numbers, unit, cuts):
    found = column(numbers)
    assert (found.unit, found.cuts) == (unit, cuts)


def test_ages_and_incomes():
    rng = np.random.default_rng(0)
    age = column(rng.integers(19, 76, 500))
    assert (age.unit, age.cuts) == (5.0, tuple(5.0 * k for k in range(5, 15)))
    income = column(rng.lognormal(10.5, 0.4, 2000))
    assert income.unit == 5000.0
    assert income.cuts[0] == 20000.0
    assert set(income.cuts) <= {5000.0 * k for k in range(100)}


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1.0, 1e12, 1e150])
def test_every_scale_has_round_units_and_decimal_cuts(scale):
    found = column(spread() * scale)
    digits, exponent = GridUnit.of(found.unit)
    assert digits in (1, 2, 5)
    assert 10 <= len(found.cuts) <= 21
    first = round(found.cuts[0] / found.unit)
    factors = range(first, first + len(found.cuts))
    assert found.cuts == tuple(float(f"{digits * k}e{exponent}") for k in factors)


def test_whole_numbers_stay_whole():
    for high in (15, 21, 30, 70, 1000):
        numbers = np.random.default_rng(high).integers(0, high + 1, 300)
        found = column(numbers)
        assert found.unit >= 1
        assert all(cut.is_integer() for cut in found.cuts)
        assert numbers.min() < found.cuts[0] <= found.cuts[-1] <= numbers.max()
    mostly_few = column([*range(4)] * 100 + [1000])
    assert (mostly_few.unit, mostly_few.cuts) == (1.0, (1.0, 2.0, 3.0))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    st.integers(1, 30),
)
def test_every_cut_parts_the_rows(numbers, steps):
    numbers = np.array(numbers)
    found = column(numbers, steps=steps)
    assert (len(found.cuts) > 0) == (len(set(numbers.tolist())) > 1)
    assert list(found.cuts) == sorted(set(found.cuts))
    for cut in found.cuts:
        assert numbers.min() < cut <= numbers.max()
    assert len(found.cuts) <= (4 if steps > 7 else 1) * max(steps, 2) + 1
    assert is_grid(found.cuts, found.unit)
    gaps = column([*numbers, np.nan], steps=steps)
    assert is_grid(gaps.cuts, gaps.unit)
    assert set(found.cuts) <= set(gaps.cuts)


def test_nearly_all_rows_have_one_value():
    """Zeros and a few others, over whose middle the cuts go."""
    rng = np.random.default_rng(0)
    gain = np.zeros(5000)
    gain[:50] = rng.lognormal(8, 1.5, 50)
    found = column(gain)
    assert len(found.cuts) >= 10
    told = (gain[:50] >= found.cuts[0]).mean()
    assert told > 0.75
    below = column(-gain)
    assert below.cuts[0] < -found.cuts[0]
    assert below.cuts[-1] <= 0.0
    assert (-gain[:50] < below.cuts[-1]).mean() > 0.75


def test_skewed_numbers_have_more_steps():
    """Or else two thirds of the rows would lie below the first cut of 2."""
    bilirubin = np.random.default_rng(0).lognormal(0.0, 2.0, 1000).round(1) + 0.4
    found = column(bilirubin)
    assert (found.unit, found.cuts[0], found.cuts[-1]) == (1.0, 1.0, 40.0)
    assert (bilirubin < 1.0).mean() < 0.41 < 0.55 < (bilirubin < 2.0).mean()
    assert column(bilirubin, steps=5).unit == 10.0


def test_a_few_absurd_values_change_nothing():
    numbers = np.concatenate([spread(), [1e300, 9.99e20]])
    assert column(numbers).unit == column(spread()).unit


def test_weights_count_as_copies():
    rng = np.random.default_rng(1)
    numbers, weight = rng.normal(size=60), rng.integers(0, 4, 60)
    numbers[0], weight[0] = 1e9, 0
    weighted = column(numbers, weight)
    assert weighted == column(np.repeat(numbers, weight))
    assert weighted != column(numbers)


# ----------------------------------------------------------------------- the values


def near(cuts):
    """Every cut, the doubles just below and above, and numbers far outside."""
    cuts = np.array(cuts)
    sides = [np.nextafter(cuts, -np.inf), cuts, np.nextafter(cuts, np.inf)]
    return np.concatenate([*sides, [-1e300, 1e300]])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_values_on_and_beside_every_cut(scale):
    table = learn(spread()[:, None] * scale)
    (found,) = table.columns
    values = near(found.cuts)
    grid = table.transform(values[:, None])[:, 0]
    n = len(found.cuts)
    below, on, above = grid[:n], grid[n : 2 * n], grid[2 * n : 3 * n]
    assert below.tolist() == list(range(n))
    assert on.tolist() == above.tolist() == list(range(1, n + 1))
    assert grid[-2:].tolist() == [0, n]
    assert table.open_steps == (n,)


def test_decimals_lie_on_their_cuts():
    """0.6 / 0.2 is 2.9999999999999996, but 0.6 is not below the cut 0.6."""
    decimals = np.array([float(f"{k}e-1") for k in range(-20, 41)])
    table = learn(decimals[:, None], GridSpec(units={"x[0]": 0.2}))
    grid = table.transform(decimals[:, None])[:, 0]
    (found,) = table.columns
    assert 0.6 in found.cuts
    assert 3 * 0.2 not in found.cuts
    first = round(found.cuts[0] * 10)
    expected = [
        min(max((k - first) // 2 + 1, 0), len(found.cuts)) for k in range(-20, 41)
    ]
    assert grid.tolist() == expected


# ------------------------------------------------------------------------- the table


def people():
    return pd.DataFrame(
        {
            "age": [20.0, 33.0, 47.0, 58.0, 64.0, 71.0],
            "job": ["none", "clerk", "nurse", "clerk", None, "nurse"],
            "empty": [np.nan] * 6,
            "member": [True, False, True, False, True, True],
            "income": [1000.0, np.nan, 2500.0, 3000.0, np.nan, 5200.0],
            "one": [7.0] * 6,
        }
    )


@pytest.mark.filterwarnings("ignore:Dropped")
def test_open_columns_of_a_table():
    table = learn(people(), encoding="native")
    assert table.open_names == [
        "age",
        *(f"job={job}" for job in ("clerk", "none", "nurse", "missing")),
        "member=True",
        "income (missing lowest)",
        "income (missing highest)",
        "one",
    ]
    assert table.open_sources == (0, 1, 1, 1, 1, 3, 4, 4, 5)
    assert table.open_is_category == (False, *[True] * 5, False, False, False)
    steps = {c.name: len(c.cuts) for c in table.columns if isinstance(c, GridColumn)}
    income = steps["income"]
    assert table.open_steps == (steps["age"], *[1] * 5, income, income, 0)
    assert table.value_names == []
    Z = table.transform(people())
    assert Z.shape == (6, 9)
    assert (Z == np.round(Z)).all()
    assert (Z.max(axis=0) <= table.open_steps).all()
    low, high = Z[:, 6], Z[:, 7]
    gaps = people()["income"].isna()
    assert (low[gaps] == 0).all()
    assert (high[gaps] == income).all()
    assert (low[~gaps] == high[~gaps]).all()
    assert (low[~gaps] > 0).all()  # missing can be told from the lowest number


def test_a_lone_value_and_gaps():
    table = learn(np.array([[7.0], [np.nan], [7.0]]))
    assert table.transform(np.array([[7.0], [np.nan]])).tolist() == [[1, 1], [0, 1]]


def test_gaps_after_a_training_without():
    table = learn(people()[["age"]])
    new = pd.DataFrame({"age": [np.nan, 47.0]})
    with pytest.warns(UserWarning, match=r"'age' has 1 missing.* filled with 52.5"):
        found = table.transform(new)
    assert found.tolist() == table.transform(pd.DataFrame({"age": [52.5, 47]})).tolist()
    strict = learn(people()[["age"]], missing="error")
    with pytest.raises(ValueError, match="'age' has 1 missing value "):
        strict.transform(new)


def test_cells_of_another_kind():
    table = learn(people()[["age"]])
    with pytest.raises(ValueError, match=r"'age' held numbers .* holds 'old' in row 2"):
        table.transform(pd.DataFrame({"age": ["20", "old"]}))
    with pytest.raises(ValueError, match="infinity"):
        table.transform(pd.DataFrame({"age": [1.0, np.inf]}))


def test_arrays_do_not_pass_unread():
    X = spread()[:100].reshape(50, 2)
    table = learn(X)
    assert not table.is_plain
    assert not np.array_equal(table.transform(X), X)


def test_training_rows_pass_the_grid_on():
    X, n = read_cells(spread()[:, None]), 400
    y, weight = np.zeros(n, dtype=np.intp), np.ones(n)
    rows = TrainingRows(X, [False], y, weight, 2, np.ones(2))
    table = rows.learn_table("both", "fill", "majority", GridSpec(steps=5))
    assert 2 <= table.open_steps[0] <= 6
    assert rows.learn_table("both", "fill", "majority").open_steps == (0,)


# ----------------------------------------------------------------- units of the user


def test_units_of_the_user():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(900, 7200, 300), "flag": [0, 1] * 150})
    table = learn(frame, GridSpec(units={"income": 1000}))
    income, flag = table.columns
    assert income.cuts == tuple(1000.0 * k for k in range(1, 8))
    assert income.unit == 1000.0
    assert flag.cuts == (1.0,)
    quarter = learn(frame, GridSpec(units={"income": 2500.25})).columns[0]
    assert quarter.cuts == (2500.25, 5000.5)


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ({"incom": 1000}, "units names 'incom', which is no column; there are 'age'"),
        ({"job": 2}, "units names 'job', which holds categories"),
        ({"age": 0}, "units gives 0 for 'age'. Give a finite number above 0"),
        ({"age": -5.0}, "units gives -5.0 for 'age'"),
        ({"age": np.nan}, "units gives nan for 'age'"),
        ({"age": "5"}, "units gives '5' for 'age'"),
        ({"age": True}, "units gives True for 'age'"),
        ({"age": 0.001}, "makes 51000 steps, but at most 1000"),
        ({"age": 1e-300}, "too fine for numbers from 20 to 71"),
    ],
)
def test_units_that_cannot_be_used(units, message):
    with pytest.raises(ValueError, match=message):
        learn(people()[["age", "job"]], GridSpec(units=units))


def test_a_unit_without_multiples():
    with pytest.warns(UserWarning, match="no multiple lies between its values 20 and"):
        table = learn(people()[["age"]], GridSpec(units={"age": 1000}))
    assert table.open_steps == (0,)
    assert table.transform(people()[["age"]]).tolist() == [[0]] * 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert learn(people()[["one"]], GridSpec(units={"one": 3})).open_steps == (0,)
