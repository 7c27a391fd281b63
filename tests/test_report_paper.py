"""The report page on paper: what a printer gets, read back from its PDF file."""

import base64

import numpy as np
import pandas as pd
import pytest

from _models import QUICK, grid_model, iris_model, with_tree
from _pages import iris_page, opened, points_page
from _points_models import points_model, random_rows
from miptree import OptimalTreeClassifier, export_text
from miptree.report import report_html
from miptree.tree import HeapTree, ObliqueTree

pdfium = pytest.importorskip("pypdfium2")
pytestmark = pytest.mark.filterwarnings("ignore:Column .* missing values")

DARK = 128
"""Grey below which a dot has ink; backgrounds are lighter."""


def deep_model():
    """A tree with more leaves than stand side by side, and its rows."""
    rng = np.random.default_rng(0)
    names = ["income", "debt", "age", "a longer name"]
    rows = pd.DataFrame(rng.normal(size=(200, 4)), columns=names)
    y = np.where(rng.random(200) < 0.5, "good", "bad")
    clf = OptimalTreeClassifier(**QUICK).fit(rows, y)
    coef, threshold = rng.normal(size=(7, 4)), 0.3 * rng.normal(size=7)
    heap = HeapTree(coef, threshold, np.arange(8) % 2)
    return with_tree(clf, ObliqueTree.from_heap(heap), rng), rows, y


def small_case():
    return iris_model(), iris_page(iris_model())


def deep_case():
    clf, rows, y = deep_model()
    return clf, report_html(clf, rows, y)


def points_case():
    return grid_model(), points_page(grid_model())


def printed(browser):
    """The pages as their text, and the part of their dots that has ink."""
    with pdfium.PdfDocument(base64.b64decode(browser.print_page())) as document:
        texts = [page.get_textpage().get_text_bounded() for page in document]
        dots = [page.render(scale=1, grayscale=True).to_numpy() for page in document]
    return texts, [float((page < DARK).mean()) for page in dots]


def squeezed(text):
    """Text without spaces, which a PDF file does not keep as they are."""
    return "".join(text.split())


@pytest.mark.parametrize("case", [small_case, deep_case, points_case])
def test_all_rules_are_on_paper_and_no_page_is_empty(browser, tmp_path, case):
    clf, page = case()
    opened(browser, page, tmp_path)
    texts, ink = printed(browser)
    assert min(ink) > 0.001
    assert min(len(squeezed(text)) for text in texts) > 20
    found = squeezed("".join(texts))
    for line in export_text(clf, width=78).split("\n"):
        assert squeezed(line) in found
    assert squeezed("Written by miptree") in squeezed(texts[-1])


def test_a_card_on_paper_has_all_its_points(browser, tmp_path):
    clf = points_model(
        ({"age": 1, "od280": 1, "income (missing highest)": 2}, 13),
        ({"age": -1, "od280": 1, "sex=male": 3}, 1),
        ({"age": 1, "od280": -1, "rooms (missing lowest)": 2}, 1),
    )
    rows = random_rows(np.random.default_rng(0))
    opened(browser, report_html(clf, rows, clf.predict(rows)), tmp_path)
    browser.execute_script("document.body.classList.add('card-only')")
    (text,), (ink,) = printed(browser)
    assert ink > 0.001
    for k, step in enumerate(browser.find_elements("css selector", ".step"), start=1):
        assert squeezed(f"STEP {k}") in squeezed(text)
        for answer in step.find_elements("css selector", ".answers li"):
            assert squeezed(answer.text) in squeezed(text)
    assert "Print this card" not in text
