"""Trees under rules, verified and in model files."""

import json
from dataclasses import replace

import numpy as np
import pytest

from _ruled import biased, classifier
from _sealed import sealed
from miptree import load_json, save_json, verify, verify_model
from miptree.constraints import (
    AllowFeatures,
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    FalsePositiveRateParity,
    FixedSplit,
    ForbidFeatures,
    MaxCost,
    MaxRate,
    MinLeaf,
    MinRate,
    Monotone,
    Signs,
    TruePositiveRateParity,
)
from miptree.objective.bounds import COUNTING

# ------------------------------------------------------------------------- verifying


@pytest.fixture(scope="module")
def weighted():
    X, y, groups = biased(70)
    weight = np.random.default_rng(1).choice([0.1, 1.0, 2.5], 70)
    constraints = [DemographicParity(difference_bound=0.1), MinLeaf(weight=5.0)]
    clf = classifier(constraints, class_weight="balanced", max_iter=10)
    clf.fit(X, y, weight, sensitive_features=groups)
    return clf, X, y, weight, groups


def test_every_rule_is_counted_again(weighted):
    clf, X, y, weight, groups = weighted
    found = verify_model(clf, X, y, weight, sensitive_features=groups)
    assert found.ok, found
    assert {"rule 1", "rule 2", "rules"} <= {check.name for check in found.checks}


def test_other_groups_and_forgotten_rules_are_noticed(weighted):
    clf, X, y, weight, groups = weighted
    other = np.roll(groups, 1)
    wrong = verify_model(clf, X, y, weight, sensitive_features=other).wrong
    assert {"rules", "data digest"} <= {check.name for check in wrong}
    without = verify_model(clf, X, y, weight)
    assert not without.ok
    assert "no sensitive_features" in str(without)
    X, y, _ = biased(40)
    free = classifier([MinLeaf(rows=5)], max_iter=4).fit(X, y)
    assert not verify(free.certificate_, free.tree_, X, y).ok
    assert verify(free.certificate_, free.tree_, X, y, constraints=free.constraints_).ok


def test_a_bound_that_counting_does_not_prove_is_noticed():
    X, y, _ = biased(40)
    clf = classifier([MaxRate(1, 0.3)], max_iter=4).fit(X, y)
    found = clf.certificate_
    bound = {"objective_bound": found.objective, "objective_proved_by": COUNTING}
    forged = replace(found, **bound).signed()
    wrong = verify(forged, clf.tree_, X, y, constraints=clf.constraints_).wrong
    assert [check.name for check in wrong] == ["bound by counting"]


# ------------------------------------------------------------------------ model files


ALL_KINDS = [
    MinLeaf(rows=2),
    MinLeaf(weight=1.5),
    MaxRate(1, 0.9),
    MinRate(np.int64(1), 0.01, on="positives"),
    MaxCost(1000, costs=[[0, 1], [2, 0]]),
    *(
        kind(difference_bound=1.0, versus="pairs", positive_label=0)
        for kind in (DemographicParity, TruePositiveRateParity, EqualizedOdds)
    ),
    FalsePositiveRateParity(difference_bound=1.0),
    ErrorRateParity(difference_bound=1.0),
    ForbidFeatures([2]),
    AllowFeatures([0, 1], depth=0),
    AllowFeatures([0, 1], node=2),
    FixedSplit(0, {1: 1.5}, 0.25),
    Monotone({0: 1}, 1),
    Signs({1: -1}, 0),
]


def test_constraints_of_every_kind_come_back_from_a_file(tmp_path):
    X, y, groups = biased(40)
    clf = classifier(ALL_KINDS, max_iter=2, l1_penalty=1.0)
    clf.fit(X, y, sensitive_features=groups)
    save_json(clf, tmp_path / "model.json")
    again = load_json(tmp_path / "model.json")
    assert again.constraints_ == clf.constraints_
    assert again.certificate_ == clf.certificate_
    path = tmp_path / "model.json"
    assert verify_model(path, X, y, sensitive_features=groups).ok
    refitted = again.set_params(random_state=0).fit(X, y, sensitive_features=groups)
    assert refitted.constraints_ == clf.constraints_


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "OptimalTreeClassifier"}, '"kind" is no constraint of miptree'),
        ({"rows": -3}, "rows of MinLeaf must be a whole number"),
        ({"column": 1}, 'has an unknown entry "column"'),
    ],
)
def test_files_with_senseless_constraints_are_refused(change, words, tmp_path):
    X, y, _ = biased(40)
    clf, path = classifier([MinLeaf(rows=5)], max_iter=2).fit(X, y), tmp_path / "m.json"
    save_json(clf, path)
    plain = json.loads(path.read_text())
    plain["constraints"][0] |= change
    path.write_text(sealed(plain))
    with pytest.raises(ValueError, match=words):
        load_json(path)


def test_a_file_with_a_looser_rule_is_not_verified(tmp_path):
    X, y, _ = biased(40)
    clf, path = classifier([MinLeaf(rows=9)], max_iter=2).fit(X, y), tmp_path / "m.json"
    save_json(clf, path)
    plain = json.loads(path.read_text())
    plain["constraints"][0]["rows"] = 5
    path.write_text(sealed(plain))
    assert [check.name for check in verify_model(path, X, y).wrong] == ["rules"]
    plain["constraints"] = []
    path.write_text(sealed(plain))
    assert "rules" in [check.name for check in verify_model(path, X, y).wrong]
