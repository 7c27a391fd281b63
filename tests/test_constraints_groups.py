"""The groups that rules compare: those of different values are different."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _partitioned import quick_model
from miptree import OptimalTreeClassifier, distributed, verify_model
from miptree.constraints import DemographicParity
from miptree.data.groups import RowGroups, joined_groups, read_groups

PARTS = ["sales", "sales, IT", "IT, Rome", "Rome", "(missing)", None]
PARTS += ['"', '"a"', ",", " ", "a,", ", a", "a", ", "]


@given(st.lists(st.tuples(*[st.sampled_from(PARTS)] * 2), min_size=1, max_size=30))
def test_different_values_are_different_groups_with_different_names(rows):
    given_rows = np.empty((len(rows), 2), dtype=object)
    given_rows[:] = rows
    found = read_groups(given_rows, len(rows), "A")
    assert len(set(found.names)) == len(found.names) == len(set(rows))
    by_group = {}
    for code, row in zip(found.code, rows, strict=True):
        assert by_group.setdefault(code, row) == row


def test_a_text_is_not_a_missing_value():
    found = read_groups(np.array(["(missing)", None, "a"], object), 3, "A")
    assert len(set(found.code)) == 3
    assert found.names[found.code[1]] == "(missing)"
    assert found.names[found.code[0]] == '"(missing)"'


def test_tables_of_different_groups_are_joined_by_their_values():
    one, two = (
        RowGroups.of(pd.DataFrame([pair]), None, np.ones(1))
        for pair in (("sales, IT", "Rome"), ("sales", "IT, Rome"))
    )
    assert len(set(joined_groups([one, two]).sensitive.code)) == 2


def colliding():
    """Groups of three pairs of values, of which two make one text when joined."""
    rng = np.random.default_rng(0)
    pairs = [("sales, IT", "Rome"), ("sales", "IT, Rome"), ("q", "r")]
    group = np.arange(300) % 3
    table = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    table["a"] += np.array([2.0, -2.0, 0.0])[group]
    table["job"], table["city"] = zip(*[pairs[g] for g in group], strict=True)
    table["paid"] = (table["a"] + rng.normal(size=300) > 0).astype(int)
    return table


@pytest.mark.parametrize("kept", [slice(None), ["sales", "sales, IT"]])
def test_dask_tells_groups_apart_whose_joined_names_are_equal(kept):
    dd = pytest.importorskip("dask.dataframe")
    table = colliding()
    if isinstance(kept, list):
        table = table[table["job"].isin(kept)]
    rule = DemographicParity(difference_bound=0.03)
    clf = distributed.fit(
        dd.from_pandas(table, npartitions=3),
        "paid",
        classifier=quick_model(constraints=[rule]),
        sensitive=["job", "city"],
    )
    groups = table[["job", "city"]]
    predicted = clf.predict(table[["a", "b"]])
    of_group = pd.Series(predicted).groupby(list(groups.to_numpy().T)).mean()
    assert len(of_group) == len(groups.drop_duplicates())
    assert (of_group - predicted.mean()).abs().max() < 0.03 + 1e-9
    found = verify_model(
        clf, table[["a", "b"]], table["paid"], sensitive_features=groups
    )
    assert found.ok, found


def test_sentences_name_groups_that_differ_by_names_that_differ():
    table = colliding()
    clf = OptimalTreeClassifier(
        constraints=[DemographicParity(difference_bound=0.03)],
        max_depth=1,
        solver="search",
        max_iter=5,
        random_state=0,
    ).fit(table[["a", "b"]], table["paid"], sensitive_features=table[["job", "city"]])
    (sentence,) = clf.certificate_.rules
    assert '"sales, IT", Rome' in sentence
    assert 'sales, "IT, Rome"' in sentence
