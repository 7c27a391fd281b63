"""A model file against somebody who changes it, with and without a new digest."""

import json
import random

import pytest

from _attacked import LITTLE, MODELS, at, changes, model, written
from _sealed import forged
from miptree import verify_model
from miptree.audit.resting import UNSEEN, steering_parameters, unrepeated_proofs
from miptree.export import json_reader
from miptree.export._json_values import MalformedError

PROOFS = ("errors_bound", "errors_proved_by", "objective_bound", "objective_proved_by")
"""Fields of a certificate that rest on a proof which may not be repeated."""
SAME_GRID = ("parameters", "grid_steps")
"""Another number of steps can make the same cuts, and then says the same."""
SIGNS = ("parameters", "signs")
"""The tree keeps fewer signs as well; that it is the best then, a proof must say."""
GRID = ("cuts", "unit")
SAMPLED = [("spread",), *(("table", "columns", j, "fill") for j in range(4))]
"""Learnt from a sample of the partitions: only their range can be told."""
SAMPLED_GRID = [("table", "columns", j, name) for j in range(3) for name in GRID]
"""Likewise; the tree reads some of these columns only."""


@pytest.fixture(params=MODELS)
def attacked(request, tmp_path):
    """The kind of a model, its rows, and its file as plain values."""
    kind = request.param
    written(kind, tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    return kind, model(kind)[1:], json.loads(text)


def free(kind, clf):
    """Places that nothing can recompute: the digest alone protects them."""
    places = [tuple(name.split(".")) for name in UNSEEN]
    places += [("parameters", name) for name in steering_parameters(clf)]
    named = unrepeated_proofs(clf)
    places += [("certificate", n) for n in PROOFS if n.split("_")[0] in named]
    if kind.startswith("points") or kind == "alternative":
        places += [SAME_GRID, SIGNS]
    if kind == "partitions":
        places += SAMPLED
    if kind == "points partitions":
        places += SAMPLED + SAMPLED_GRID
    return places


def is_of(path, places):
    return any(path[: len(place)] == place for place in places)


def test_every_change_of_a_file_is_refused(attacked):
    _, _, plain = attacked
    n = 0
    for path, changed in changes(plain):
        with pytest.raises(MalformedError):
            json_reader.model_of(json.dumps(changed))
        n += bool(path)
    assert n > 300


def test_changes_with_new_digests_are_found(attacked):
    """Refused, or found by a check, or on the short list of what nobody can know."""
    kind, given, plain = attacked
    honest = json_reader.model_of(json.dumps(plain))
    assert verify_model(honest, *given).ok, str(verify_model(honest, *given))
    places = free(kind, honest.clf)
    unseen = [
        (path, before, after)
        for path, changed in changes(plain)
        if path and not is_of(path, places)
        for before, after in [values(plain, changed, path)]
        if not says_the_same(path, before, after)
        if not is_caught(forged(changed, plain), given)
    ]
    assert unseen == []


def values(plain, changed, path):
    holder = at(changed, path[:-1])
    is_there = not isinstance(holder, dict) or path[-1] in holder
    return at(plain, path), holder[path[-1]] if is_there else None


def says_the_same(path, before, after):
    """A parameter that may be left out, or a tree of which all that is said is true."""
    if path[0] == "tree" and path[-2:-1] != ("tree",):
        if isinstance(before, float) and after == before * (1 + LITTLE):
            return True
    may_go = path[-1] in json_reader.MAY_BE_LEFT_OUT
    return path[0] == "parameters" and may_go and before is None and after is None


def is_caught(text, given):
    try:
        saved = json_reader.model_of(text)
    except MalformedError:
        return True
    return not verify_model(saved, *given).ok


def test_what_nobody_can_know_is_named(attacked):
    kind, given, plain = attacked
    saved = json_reader.model_of(json.dumps(plain))
    text = str(verify_model(saved, *given))
    for name in steering_parameters(saved.clf):
        assert name in text
    assert "Recomputed from the data" in text
    assert saved.digest in text
    if unrepeated_proofs(saved.clf):
        assert "Not repeated: the proof of the lower bound on" in text
    noted = verify_model(saved, *given, digest="0" * 64)
    assert [check.name for check in noted.wrong] == ["model file"]
    assert verify_model(saved, *given, digest=saved.digest).ok
    assert kind in MODELS


def test_no_damaged_text_is_read(tmp_path):
    """One character is another: the file is refused, or says the same."""
    written("points", tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    content, rng = json.loads(text), random.Random(0)
    for _ in range(600):
        place = rng.randrange(len(text))
        damaged = text[:place] + rng.choice('0123456789-.ex", []{}') + text[place + 1 :]
        try:
            json_reader.model_of(damaged)
        except MalformedError:
            continue
        assert json.loads(damaged) == content


STATUSES = ["optimal", "gap_tol", "time_limit", "max_iter", "interrupted", "unproved"]


@pytest.mark.parametrize(
    "kind",
    ["proved", "points", "oblique", "baseline", "tuned", "points partitions"],
)
def test_a_status_that_claims_too_much_or_too_little_is_found(kind, tmp_path):
    written(kind, tmp_path / "model.json")
    plain = json.loads((tmp_path / "model.json").read_text())
    given, said = model(kind)[1:], plain["status"]
    is_proved = model(kind)[0].certificate_.objective_optimal
    for status in STATUSES:
        caught = is_caught(forged({**plain, "status": status}, plain), given)
        if status in ("optimal", "gap_tol"):
            assert caught == (status != said)
        elif is_proved and kind != "tuned":
            assert caught


def test_a_restriction_is_part_of_what_is_proved(tmp_path):
    """A tree that is the best under a restriction is not passed off as the best."""
    written("alternative", tmp_path / "model.json")
    plain = json.loads((tmp_path / "model.json").read_text())
    given = model("alternative")[1:]
    assert verify_model(tmp_path / "model.json", *given, resolve_with="points").ok
    assert is_caught(forged({**plain, "restriction": None}, plain), given)
    certificate = dict(plain["certificate"])
    words = model("alternative")[0].restriction_.words(plain["feature_names"])
    certificate["trees"] = certificate["trees"].removesuffix(f", {words}")
    changed = {**plain, "restriction": None, "certificate": certificate}
    saved = json_reader.model_of(forged(changed, plain))
    found = verify_model(saved, *given, resolve_with="points")
    if certificate["objective"] > model("points")[0].objective_:
        assert "proof again" in {check.name for check in found.wrong}
