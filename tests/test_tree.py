import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miptree.tree import LEAF, HeapTree, ObliqueTree


def random_heap(rng, depth, n_features, n_classes=3):
    n_branch = 2**depth - 1
    return HeapTree(
        rng.normal(size=(n_branch, n_features)),
        rng.normal(size=n_branch),
        rng.integers(n_classes, size=n_branch + 1),
    )


def leaf_by_loop(tree, x):
    """Route one row as the definition says, one multiplication at a time."""
    node = 0
    while tree.children_left[node] != LEAF:
        total = 0.0
        for value, coef in zip(x, tree.coef[node], strict=True):
            total += float(value) * float(coef)
        goes_left = total <= tree.threshold[node]
        node = (tree.children_left if goes_left else tree.children_right)[node]
    return node


@given(st.integers(0, 2**32 - 1), st.integers(0, 4), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_apply_is_the_definition(seed, depth, n_features):
    rng = np.random.default_rng(seed)
    tree = ObliqueTree.from_heap(random_heap(rng, depth, n_features))
    X = rng.normal(size=(50, n_features))
    assert tree.apply(X).tolist() == [leaf_by_loop(tree, x) for x in X]
    assert (tree.predict(X) == tree.label[tree.apply(X)]).all()


@pytest.mark.parametrize("scale", [1.0, 1e9, 1e-9, 1e200])
def test_points_on_the_hyperplane_go_left_alone_and_in_a_batch(scale):
    """Rows a rounding error from a split: BLAS alone would decide by batch size."""
    rng = np.random.default_rng(0)
    coef = rng.normal(size=7)
    X = rng.normal(size=(3000, 7)) * scale
    on_plane = np.cumsum(X * coef, axis=1)[:, -1]
    for row in range(0, 3000, 500):
        tree = ObliqueTree.from_heap(
            HeapTree(coef[None], on_plane[[row]], np.array([0, 1]))
        )
        assert tree.predict(X[[row]])[0] == 0
        assert tree.predict(X)[row] == 0
        below = tree.threshold.copy()
        below[0] = np.nextafter(below[0], -np.inf)
        moved = ObliqueTree(
            tree.children_left, tree.children_right, tree.coef, below, tree.label
        )
        assert moved.predict(X)[row] == 1
        expected = on_plane > on_plane[row]
        assert (tree.predict(X) == expected).all()


def test_features_of_very_different_size_are_routed_exactly():
    rng = np.random.default_rng(1)
    size = np.array([1e12, 1.0, 1e-9])
    X = rng.integers(-3, 4, size=(500, 3)) * size
    tree = ObliqueTree.from_heap(
        HeapTree((1 / size)[None], np.array([0.0]), np.array([0, 1]))
    )
    assert tree.apply(X).tolist() == [leaf_by_loop(tree, x) for x in X]


def test_blocks_do_not_change_the_answer(monkeypatch):
    rng = np.random.default_rng(2)
    tree = ObliqueTree.from_heap(random_heap(rng, 3, 4))
    X = rng.normal(size=(1000, 4))
    whole = tree.apply(X)
    monkeypatch.setattr("miptree.tree.oblique._BLOCK_ELEMENTS", 7)
    assert (tree.apply(X) == whole).all()


def test_decision_path_lists_the_ancestors_of_the_leaf():
    rng = np.random.default_rng(3)
    tree = ObliqueTree.from_heap(random_heap(rng, 3, 2))
    X = rng.normal(size=(30, 2))
    path = tree.decision_path(X)
    for row, leaf in enumerate(tree.apply(X)):
        node, expected = leaf, {leaf}
        while node:
            node = (node - 1) // 2
            expected.add(node)
        assert set(path[row].indices) == expected
        assert (path[row].data == 1).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_prune_keeps_predictions_and_every_leaf_is_used(seed, depth):
    rng = np.random.default_rng(seed)
    heap = random_heap(rng, depth, 2, n_classes=2)
    heap.threshold[rng.random(len(heap.threshold)) < 0.3] = 100.0
    tree = ObliqueTree.from_heap(heap)
    X = rng.normal(size=(40, 2))
    pruned = tree.prune(X)
    assert (pruned.predict(X) == tree.predict(X)).all()
    assert pruned.n_nodes <= tree.n_nodes
    leaves = set(np.flatnonzero(pruned.is_leaf))
    assert set(pruned.apply(X)) == leaves
    for node in np.flatnonzero(~pruned.is_leaf):
        below = pruned.children_left[node], pruned.children_right[node]
        both_leaves = pruned.is_leaf[list(below)].all()
        assert not (both_leaves and pruned.label[below[0]] == pruned.label[below[1]])


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_heap_round_trip_of_a_pruned_tree(seed, depth):
    rng = np.random.default_rng(seed)
    heap = random_heap(rng, depth, 3)
    heap.threshold[0] = 50.0
    X = rng.normal(size=(40, 3))
    pruned = ObliqueTree.from_heap(heap).prune(X)
    back = ObliqueTree.from_heap(pruned.to_heap(depth))
    assert back.depth == depth
    assert (back.predict(X) == pruned.predict(X)).all()


def test_to_heap_refuses_a_tree_that_is_too_deep():
    tree = ObliqueTree.from_heap(random_heap(np.random.default_rng(0), 3, 2))
    with pytest.raises(ValueError, match="depth 3 does not fit into depth 2"):
        tree.to_heap(2)


def test_a_single_leaf_is_a_tree():
    tree = ObliqueTree.from_heap(HeapTree(np.zeros((0, 2)), np.zeros(0), np.array([1])))
    assert (tree.depth, tree.n_leaves, tree.n_nodes) == (0, 1, 1)
    assert tree.predict(np.zeros((3, 2))).tolist() == [1, 1, 1]
