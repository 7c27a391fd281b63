"""`miptree verify --proof` of points trees."""

import pytest

pytest.importorskip("typer")
from sklearn.datasets import load_iris

from _cli import run
from _proofs import lines_of, write_lines
from miptree import PointsTreeClassifier, save_json


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """A folder with a table, a points tree of it, and the proofs of two such trees."""
    folder = tmp_path_factory.mktemp("logged")
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.assign(kind=y).to_csv(folder / "iris.csv", index=False)
    for name, penalty in (("card", 2), ("other", 3)):
        clf = PointsTreeClassifier(feature_penalty=penalty, time_limit=None)
        clf.fit(X, y.rename("kind"), proof_log=folder / f"{name}.proof")
        save_json(clf, folder / f"{name}.json", metadata={"target": "kind"})
    return folder


def test_verify_checks_the_proof_of_a_points_tree(logged):
    given = "verify", logged / "card.json", logged / "iris.csv"
    result = run(*given, "--proof", logged / "card.proof")
    assert result.exit_code == 0, result.output
    for said in (
        "proof file: Checked:",
        "subject of the proof: it is about this tree",
        "digest of the proof: that of the file is",
        "bound of the proof: the file proves 10, the certificate says 10.",
    ):
        assert said in result.stdout
    assert "Not repeated" not in result.stdout
    assert "and --proof checks one that the fit has logged" in run(*given).stdout


def test_verify_knows_the_proof_of_another_points_tree(logged):
    given = "verify", logged / "card.json", logged / "iris.csv"
    result = run(*given, "--proof", logged / "other.proof")
    assert result.exit_code == 1
    assert "WRONG subject of the proof: it is about another tree" in result.stdout
    assert "WRONG digest of the proof" in result.stdout


def test_verify_notices_a_proof_of_less_than_the_certificate_says(logged, tmp_path):
    lines = lines_of(logged / "card.proof")
    lines[0]["claim"]["bound"], lines[1]["lines"], lines[2:-1] = 0.0, 0, []
    weak = tmp_path / "weak.proof"
    write_lines(weak, lines)
    given = "verify", logged / "card.json", logged / "iris.csv", "--proof", weak
    result = run(*given)
    assert result.exit_code == 1
    assert "WRONG bound of the proof" in result.stdout
