"""The pages that have results say what the journal says."""

import json
import re
from pathlib import Path
from statistics import mean, stdev

import pytest

ROOT = Path(__file__).parents[1]
SPLITS = range(20, 30)
TOO_MANY_CLASSES = {
    ("image-segmentation", 2),
    ("dermatology", 2),
    ("heart-disease-cleveland", 2),
}
NAMES = {
    "random forest": "forest",
    "RBF-SVM": "rbf-svm",
    "greedy SVM tree of the same depth": "svm-tree",
    "logistic regression": "logistic",
    "CART of the same depth": "cart",
}


@pytest.fixture(scope="module")
def tests():
    """Test accuracies by method, pair and split."""
    journal = (ROOT / "benchmarks" / "results" / "accuracy.jsonl").read_text()
    found = {}
    for line in map(json.loads, journal.splitlines()):
        if line["part"] == "pairs" and line["split"] in SPLITS:
            pair = line["name"], line["depth"]
            found[line["method"], pair, line["split"]] = line["test"]
    return found


@pytest.fixture(scope="module")
def page():
    return (ROOT / "docs" / "accuracy.md").read_text()


def pairs_of(tests, fair=True):
    pairs = sorted({pair for _, pair, _ in tests})
    assert len(pairs) == 26
    return [pair for pair in pairs if not (fair and pair in TOO_MANY_CLASSES)]


def accuracy(tests, method, pairs):
    return mean(tests[method, pair, split] for pair in pairs for split in SPLITS)


def leads(tests, method, pairs, base="cv"):
    """By how much our tree is ahead, by pair and by split."""
    ahead = {
        (pair, split): tests[base, pair, split] - tests[method, pair, split]
        for pair in pairs
        for split in SPLITS
    }
    by_pair = [mean(ahead[pair, split] for split in SPLITS) for pair in pairs]
    return by_pair, [mean(ahead[pair, split] for pair in pairs) for split in SPLITS]


def standard_error(values):
    return stdev(values) / len(values) ** 0.5


def test_the_table_is_that_of_the_journal(tests, page):
    pairs = pairs_of(tests)
    assert f"**{accuracy(tests, 'cv', pairs):.2f}**" in page
    for name, method in NAMES.items():
        by_pair, by_split = leads(tests, method, pairs)
        won = sum(lead > 0.05 for lead in by_pair)
        lost = sum(lead < -0.05 for lead in by_pair)
        cells = [
            name,
            f"{accuracy(tests, method, pairs):.2f}",
            f"{mean(by_pair):+.2f}",
            f"{standard_error(by_pair):.2f}",
            f"{standard_error(by_split):.2f}",
            f"{won} / {len(pairs) - won - lost} / {lost}",
        ]
        assert f"| {' | '.join(cells)} |\n" in page


def test_what_speaks_against_it_is_that_of_the_journal(tests, page):
    words = re.sub(r"\s+", " ", page)
    others = [pair for pair in pairs_of(tests) if pair[0] != "monks-2"]
    forest, svm = (leads(tests, method, others)[0] for method in ("forest", "rbf-svm"))
    assert (
        f"the tree is {-mean(forest):.2f} behind the forest (s.e. over the pairs "
        f"{standard_error(forest):.2f}) and {-mean(svm):.2f} behind the RBF-SVM "
        f"({standard_error(svm):.2f})"
    ) in words
    whole = pairs_of(tests, fair=False)
    cv, forest, svm = (accuracy(tests, m, whole) for m in ("cv", "forest", "rbf-svm"))
    assert f"has {cv:.2f}, the forest {forest:.2f} and the RBF-SVM {svm:.2f}" in words
    for method in ("auto", "default", "cv-before"):
        assert f"{accuracy(tests, method, pairs_of(tests)):.2f}" in words


ROWS_OF_README = {
    "CART, one feature a split": "cart",
    "greedy SVM tree": "svm-tree",
    "logistic regression, which is no tree": "logistic",
    "`miptree fit` (simplest tree that is about as good as the best)": "auto",
    '`OptimalTreeClassifierCV(style="oblique")`': "cv",
    "RBF-SVM, which nobody reads": "rbf-svm",
    "random forest, which nobody reads": "forest",
}
ROWS_OF_WHEN = {
    "CART": "cart",
    "greedy SVM tree": "svm-tree",
    "miptree, untuned": "default",
    "miptree, CV": "cv",
    "miptree, auto": "auto",
    "logistic regression (no tree)": "logistic",
    "RBF-SVM (no tree)": "rbf-svm",
}
SEVEN_SETS = (
    "iris",
    "wine",
    "balance-scale",
    "sonar",
    "ionosphere",
    "parkinsons",
    "banknote-authentication",
)


@pytest.mark.parametrize(("name", "method"), ROWS_OF_README.items())
def test_the_table_of_the_readme_is_that_of_the_journal(tests, name, method):
    text = (ROOT / "README.md").read_text().replace("**", "")
    fair, whole = (accuracy(tests, method, pairs_of(tests, f)) for f in (True, False))
    assert f"| {name} | {fair:.1f} | {whole:.1f} |" in text


@pytest.mark.parametrize(("name", "method"), ROWS_OF_WHEN.items())
def test_the_seven_sets_are_those_of_the_journal(tests, name, method):
    text = (ROOT / "docs" / "when.md").read_text().replace("**", "")
    found = [accuracy(tests, method, [(data, 2)]) for data in SEVEN_SETS]
    cells = [f"{percent:.1f}" for percent in (*found, mean(found))]
    assert f"| {' | '.join([name, *cells])} |\n" in text
