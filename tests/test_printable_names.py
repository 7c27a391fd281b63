"""Names with control characters end no line, steer no terminal, turn no number."""

import json

import pandas as pd
import pytest

from _pages import one, opened
from _points_models import COLUMNS, points_model
from miptree import OptimalTreeClassifier, explain, export_rules, export_text
from miptree.data import GridColumn
from miptree.explain import leaf_reasons
from miptree.export import export_dot
from miptree.plot import plot_node, plot_tree
from miptree.report import report_html

FORGED = "a\x1b[31mred\nIF x THEN class good (leaf 9)"
TURNED = "\u202edab"
QUICK = {"max_iter": 5, "solver": "search", "time_limit": None, "random_state": 0}
SEEN = r"a\x1b[31mred\nIF x THEN class good (leaf 9)"


def points_and_rows():
    columns = (
        GridColumn(FORGED, (1.0, 2.0, 3.0), 1.0, 2.0, False),
        GridColumn("b", (1.0, 2.0, 3.0), 1.0, 2.0, False),
        *COLUMNS[5:6],
    )
    clf = points_model(({FORGED: 1, "b": 1}, 3), columns=columns, classes=(TURNED, "g"))
    rows = pd.DataFrame({FORGED: [0, 1, 3, 3], "b": [0, 2, 1, 3], "housing": "own"})
    return clf, rows


def sums_and_rows():
    rows = pd.DataFrame({FORGED: range(40), "b": [k % 7 for k in range(40)]})
    rows["kind"] = ["x\u2028y" if k % 2 else "z" for k in range(40)]
    y = [TURNED if 2 * k + 3 * (k % 7) > 45 else "g" for k in range(40)]
    return OptimalTreeClassifier(max_depth=1, **QUICK).fit(rows, y), rows


@pytest.fixture(params=[points_and_rows, sums_and_rows])
def model_and_rows(request):
    return request.param()


def test_texts_escape_names(model_and_rows):
    clf, rows = model_and_rows
    texts = [write(clf) for write in (export_text, export_rules, export_dot)]
    texts += [str(explain(clf, rows)), *leaf_reasons(clf).values()]
    for text in texts:
        assert all(line.isprintable() for line in text.split("\n"))
    assert SEEN in texts[0]
    assert SEEN in texts[1]
    assert not any(line.startswith("IF x THEN") for line in texts[1].split("\n"))


def test_cards_are_aligned_by_what_is_shown():
    text = export_text(points_and_rows()[0])
    card = [line for line in text.split("\n") if "1 point " in line]
    assert len({line.index("1 point ") for line in card}) == 1
    assert len(card) == 2


def test_pictures_escape_names(model_and_rows):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    clf, rows = model_and_rows
    for ax in (plot_tree(clf), plot_node(clf, rows, clf.predict(rows))):
        shown = [text.get_text() for text in (*ax.texts, ax.title)]
        assert not any("\x1b" in text or "\u202e" in text for text in shown)
        assert not any(line.startswith("IF x") for t in shown for line in t.split("\n"))
    plt.close("all")


TURNS = r"[\u202a-\u202e\u2066-\u2069\u0000-\u0009\u000b-\u001f\u2028]"
ALL_TEXT = f"""
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const found = [];
while (texts.nextNode()) {{
  if (/{TURNS}/u.test(texts.currentNode.data)) found.push(texts.currentNode.data);
}}
return found;
"""


def test_the_page_escapes_names_and_predicts_by_the_values(browser, tmp_path):
    clf, rows = sums_and_rows()
    page = report_html(clf, rows, clf.predict(rows), title=TURNED)
    opened(browser, page, tmp_path)
    assert browser.execute_script(ALL_TEXT) == []
    assert browser.title == r"\u202edab"
    shown = [o.text for o in browser.find_elements("css selector", "#try option")]
    labels = one(browser, "#try").text
    assert SEEN in labels
    known = clf.predict(rows)
    for k in (0, 39):
        row = {"0": int(rows[FORGED][k]), "1": int(rows["b"][k]), "2": rows["kind"][k]}
        script = f"return window.miptree.predict({json.dumps(row)}).label"
        label = browser.execute_script(script)
        assert label == known[k].replace("\u202e", r"\u202e")
    assert shown == [] or r"x\u2028y" in shown
