"""Hull membership against the naive LP, in exact arithmetic, and at its edges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config

from _data import data_folder, examples
from _hull import exact_weights, naive_inside
from miptree.selection import hull_membership, transform_weights


def cloud(seed: int, n: int, d: int, kind: str) -> np.ndarray:
    """Points with ties and duplicates ("grid", "cube"), continuous, or in a flat."""
    rng = np.random.default_rng(seed)
    if kind == "grid":
        return rng.integers(-3, 4, (n, d)).astype(float)
    if kind == "cube":
        return rng.integers(0, 2, (n, d)).astype(float)
    if kind == "flat":
        return rng.integers(-4, 5, (n, max(1, d - 1))) @ rng.integers(
            -2, 3, (max(1, d - 1), d)
        ).astype(float)
    return rng.normal(size=(n, d)) * np.geomspace(1e-3, 1e3, d)


clouds = st.builds(
    cloud,
    seed=st.integers(0, 2**20),
    n=st.integers(1, 40),
    d=st.integers(1, 5),
    kind=st.sampled_from(["grid", "gauss", "cube", "flat"]),
)


def check_weights(X: np.ndarray, eps: float = 0.0) -> None:
    found = hull_membership(X, eps)
    weights = found.weights.toarray()
    scale = np.maximum(np.abs(X).max(axis=0), 1e-300)
    assert (weights >= 0).all()
    assert (weights.sum(axis=1)[found.inside] == pytest.approx(1.0)) or not (
        found.inside.any()
    )
    assert (weights[~found.inside] == 0).all()
    assert weights[found.inside, np.flatnonzero(found.inside)].sum() == 0
    off = np.abs(weights @ X - X)[found.inside] - eps
    assert (off <= 1e-7 * scale).all()


@given(X=clouds)
@examples(80)
def test_inside_is_what_the_naive_lp_says(X: np.ndarray) -> None:
    found = hull_membership(X)
    assert found.n_unsure == 0
    assert found.inside.tolist() == [naive_inside(X, j) for j in range(len(X))]
    check_weights(X)


@given(X=clouds)
@examples(60)
def test_extreme_are_the_distinct_points_that_are_not_inside(X: np.ndarray) -> None:
    found = hull_membership(X)
    first = np.flatnonzero(found.first == np.arange(len(X)))
    assert found.extreme.tolist() == first[~found.inside[first]].tolist()
    assert np.isin(found.weights.indices, found.extreme).all()
    for j in range(len(X)):
        assert found.multiplicity[j] == (X == X[j]).all(axis=1).sum()
        assert (X[found.first[j]] == X[j]).all()


@given(seed=st.integers(0, 2**20), n=st.integers(5, 60), d=st.integers(1, 4))
@examples(40)
def test_weights_hold_in_rational_arithmetic(seed: int, n: int, d: int) -> None:
    X = cloud(seed, n, d, "grid")
    found = hull_membership(X)
    for j in np.flatnonzero(found.inside):
        support = found.weights[[j]].indices.tolist()
        exact = exact_weights(X, j, support)
        assert exact is not None
        assert min(exact) >= 0
        given = found.weights[[j]].toarray().ravel()[support]
        assert given == pytest.approx([float(w) for w in exact], abs=1e-9)


@given(
    seed=st.integers(0, 2**20),
    n=st.integers(2, 25),
    d=st.integers(1, 4),
    eps=st.sampled_from([0.05, 0.3, 1.0]),
)
@examples(60)
def test_box_membership_is_what_the_naive_lp_says(
    seed: int, n: int, d: int, eps: float
) -> None:
    X = np.random.default_rng(seed).normal(size=(n, d))
    found = hull_membership(X, eps)
    assert found.inside.tolist() == [naive_inside(X, j, eps) for j in range(n)]
    check_weights(X, eps)


@given(X=clouds, parts=st.integers(2, 4))
@examples(40)
def test_extreme_points_of_parts_merge(X: np.ndarray, parts: int) -> None:
    """Ext(A u B) is inside ext(A) u ext(B)."""
    kept = np.concatenate(
        [
            part[hull_membership(X[part]).extreme]
            for part in np.array_split(np.arange(len(X)), parts)
            if len(part)
        ]
    )
    merged = X[kept][hull_membership(X[kept]).extreme]
    single = X[hull_membership(X).extreme]
    assert np.array_equal(np.unique(merged, axis=0), np.unique(single, axis=0))


def test_theorem_4_part_1_weights_need_no_transformation() -> None:
    """Points 0..4 on a line: HiGHS expresses 2 by 1 and 3, we never do."""
    X = np.arange(5.0)[:, None]
    found = hull_membership(X)
    assert found.extreme.tolist() == [0, 4]
    same = transform_weights(found.weights, found.inside)
    assert np.allclose(same.toarray(), found.weights.toarray())


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_jobs_and_backends_agree(backend: str) -> None:
    X = np.random.default_rng(0).normal(size=(700, 3))
    one = hull_membership(X)
    with parallel_config(backend=backend):
        two = hull_membership(X, n_jobs=2)
    assert np.array_equal(one.inside, two.inside)
    assert (one.weights != two.weights).nnz == 0


@pytest.mark.parametrize("name", ["htru2.csv.gz", "avila.csv", "thyroid-ann.csv"])
def test_real_clusters_agree_with_the_naive_lp(name: str) -> None:
    path = data_folder() / name
    if not path.exists():
        pytest.skip("the paper's data are not here")
    frame = pd.read_csv(path)
    X = frame.drop(columns="target").to_numpy(dtype=float)
    X = X[(frame["target"] == frame["target"].mode()[0]).to_numpy()][:400]
    found = hull_membership(X)
    some = np.random.default_rng(0).permutation(len(X))[:60]
    assert [bool(found.inside[j]) for j in some] == [naive_inside(X, j) for j in some]
    assert found.n_unsure == 0


@pytest.mark.parametrize(
    ("X", "extreme"),
    [
        ([[3.0, 4.0]], [0]),
        ([[1.0, 1.0]] * 5, [0]),
        ([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [1.0, 1.0]], [0, 2]),
        ([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [4.0, 8.0]], [0, 3]),
        ([[-1e300, 0.0], [1e300, 0.0], [0.0, 1e300], [0.0, 1e299]], [0, 1, 2]),
        ([[-1.7e308], [1.7e308], [0.0]], [0, 1]),
    ],
    ids=["one point", "duplicates", "constant", "collinear", "1e300", "overflow"],
)
def test_degenerate_clouds(X: list[list[float]], extreme: list[int]) -> None:
    found = hull_membership(X)
    assert found.extreme.tolist() == extreme
    assert found.inside.sum() == len(X) - found.multiplicity[extreme].sum()


def test_every_corner_of_a_cube_is_extreme() -> None:
    cube = np.array(np.meshgrid(*[[0.0, 1.0]] * 8)).reshape(8, -1).T
    X = np.vstack([cube, np.full((1, 8), 0.5), cube[:3]])
    found = hull_membership(X)
    assert found.extreme.tolist() == list(range(256))
    assert np.flatnonzero(found.inside).tolist() == [256]


@pytest.mark.parametrize(
    ("X", "eps", "message"),
    [
        ([1.0, 2.0], 0.0, "table"),
        (np.zeros((0, 2)), 0.0, "at least one row"),
        ([[0.0], [np.nan], [1.0]], 0.0, "first is row 1"),
        ([[0.0], [1.0]], -0.1, ">= 0"),
        ([[0.0], [1.0]], [0.1, 0.1], "each of the 1 features"),
        ([[0.0], [1.0]], np.inf, "finite"),
    ],
)
def test_bad_input_is_refused(X: object, eps: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hull_membership(X, eps)
