"""What certificates may say of a proof: a closed list, whoever wrote them."""

import copy
import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import miptree.estimator
from _sealed import forged
from miptree import OptimalTreeClassifier, save_json, verify_model
from miptree.certificate.reasons import is_known
from miptree.export._json_values import MalformedError
from miptree.export.json_reader import model_of
from miptree.fit.train import train
from miptree.objective.bounds import EXHAUSTIVE, REFUTED, ROUTES

OTHER_WORDS = [
    "",
    "magic",
    "a proof that was checked",
    f"{ROUTES}, the file of which was checked by NIST",
    "exhaustive search by NIST",
    "exhaustive search\n",
    f"{REFUTED}a proof",
    "NIST on the compact MIP",
    "HiGHS 1.15.1 on the MIP of OCT",
]


def trained_by_errors(*given):
    """Train, and know more of the errors than routes show of the total cost."""
    fitted = train(*given)
    found, shown = fitted.certificate, fitted.proof.bound.value
    bound = 0.5 * (shown + found.cost_at_margin)
    assert shown < bound < found.objective
    proved = {"objective_bound": bound, "errors_bound": bound}
    words = dict.fromkeys(("objective_proved_by", "errors_proved_by"), EXHAUSTIVE)
    last = replace(fitted.trace[-1], bound=bound)
    return replace(
        fitted,
        certificate=replace(found, **proved, **words).signed(),
        trace=[*fitted.trace[:-1], last],
        status="stalled",
    )


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """A fit that proved its errors, but not its total cost, with a proof file."""
    folder = tmp_path_factory.mktemp("reasons")
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(40, 2)).round(2), columns=["a", "b"])
    table["y"] = (table.a + table.b + 1.2 * rng.normal(size=40) > 0).astype(int)
    table.to_csv(folder / "data.csv", index=False)
    table = pd.read_csv(folder / "data.csv")
    X, y = table[["a", "b"]], table["y"]
    clf = OptimalTreeClassifier(
        max_depth=1, max_iter=20, node_limit=8, time_limit=None, random_state=0
    )
    with (
        warnings.catch_warnings(record=True) as told,
        pytest.MonkeyPatch.context() as m,
    ):
        warnings.simplefilter("always")
        m.setattr(miptree.estimator, "train", trained_by_errors)
        clf.fit(X, y, proof_log=folder / "tree.proof")
    save_json(clf, folder / "model.json")
    return clf, X, y, folder, [str(warning.message) for warning in told]


@pytest.mark.parametrize("words", OTHER_WORDS)
@pytest.mark.parametrize("name", ["any_tree", "errors", "objective"])
def test_other_words_are_refused(words, name, logged):
    clf, X, y, folder, _ = logged
    assert not is_known(words)
    plain = json.loads((folder / "model.json").read_text())
    changed = copy.deepcopy(plain)
    changed["certificate"][f"{name}_proved_by"] = words
    (folder / "forged.json").write_text(forged(changed, plain))
    with pytest.raises(MalformedError, match=f'"{name}_proved_by" names no proof'):
        model_of((folder / "forged.json").read_text())
    given = clf.certificate_
    said = {f"{name}_proved_by": words, f"{name}_bound": given.any_tree_bound + 0.5}
    clf.certificate_ = replace(given, **said).signed()
    assert not verify_model(clf, X, y).ok
    clf.certificate_ = given


def test_a_proof_file_must_show_what_a_certificate_says(logged):
    clf, X, y, folder, _ = logged
    files = {"proof": folder / "tree.proof", "data": folder / "data.csv"}
    honest = verify_model(folder / "model.json", X, y, **files)
    assert honest.ok, str(honest)
    assert clf.certificate_.objective_proved_by.startswith(ROUTES)
    plain = json.loads((folder / "model.json").read_text())
    for words in ("exhaustive search", ROUTES):
        changed = copy.deepcopy(plain)
        found = changed["certificate"]
        found["objective_bound"] = found["objective"]
        found["errors_bound"] = found["cost_at_margin"]
        found["objective_proved_by"] = found["errors_proved_by"] = words
        changed["status"] = "optimal"
        changed["trace"][-1][-1] = found["objective"]
        saved = model_of(forged(changed, plain))
        assert saved.clf.certificate_.objective_optimal
        wrong = verify_model(saved, X, y, **files).wrong
        assert "bound of the proof" in {check.name for check in wrong}


def test_a_certificate_with_a_file_says_of_the_total_cost_what_is_in_it(logged):
    """What exhaustive search proved of the errors it says of the errors."""
    clf, _, _, _, told = logged
    found = clf.certificate_
    assert found.errors_proved_by.startswith("exhaustive search")
    assert found.objective_bound < found.errors_bound
    assert clf.trace_[-1].bound == found.objective_bound
    assert any("is not in it, nor in the certificate" in text for text in told)


def test_exhaustive_search_counts_no_more_than_errors(logged):
    clf, X, y, _, _ = logged
    given = clf.certificate_
    said = {"objective_proved_by": "exhaustive search"}
    bound = 1.01 * given.errors_bound
    assert bound < given.objective
    clf.certificate_ = replace(given, objective_bound=bound, **said).signed()
    wrong = verify_model(clf, X, y).wrong
    clf.certificate_ = given
    assert "exhaustive search counts errors" in " ".join(map(str, wrong))
