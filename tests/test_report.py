"""The report page in a real browser: opens, clicks, types, and predicts as Python."""

import base64
import copy
import io
import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from _models import (
    HOSTILE,
    QUICK,
    corner_rows,
    grid_frame,
    grid_model,
    iris_model,
    mixed_frame,
    mixed_model,
    strict,
    with_tree,
)
from _pages import iris_page, mixed_page, one, opened, plain_rows, points_page
from _points_models import points_model, random_rows
from miptree import (
    OptimalTreeClassifier,
    PointsTreeClassifier,
    evaluate,
    export_text,
    report_html,
)
from miptree.baselines import GreedySVMTreeClassifier
from miptree.constraints import DemographicParity, MaxCost, MinLeaf
from miptree.export.readable import readable_tree
from miptree.export.shown import shown_rules
from miptree.plot import plot_node, plot_regions, plot_tree
from miptree.tree import HeapTree, ObliqueTree

pytestmark = pytest.mark.filterwarnings("ignore:Column .* missing values")


def facts_of(page):
    pattern = r'<script type="application/json" id="facts">(.*?)</script>'
    return json.loads(re.search(pattern, page, flags=re.DOTALL).group(1))


# ---------------------------------------------------------------- without a browser


def test_page_stands_alone():
    page = iris_page(iris_model())
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace(
        "http-equiv", ""
    )
    assert "{{" not in page.replace("${{", "")
    assert "default-src 'none'" in page


def test_names_do_not_become_markup():
    page = mixed_page(mixed_model())
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert facts_of(page)["title"] == HOSTILE


def test_facts_are_those_of_the_model():
    clf = iris_model()
    iris = load_iris(as_frame=True)
    y = iris.target_names[iris.target]
    half = np.arange(150) % 2 == 0
    facts = facts_of(iris_page(clf, test=(iris.data[half], y[half])))
    passed = np.asarray(clf.decision_path(iris.data).sum(axis=0)).ravel()
    assert [sum(node["counts"]) for node in facts["nodes"]] == passed.tolist()
    mine = facts["accuracy"][0]["shares"]
    assert mine == [clf.score(iris.data, y), clf.score(iris.data[half], y[half])]
    assert np.trace(facts["confusion"]) == round(150 * mine[0])
    for node in facts["nodes"]:
        if "histogram" in node:
            assert np.sum(node["histogram"]["counts"]) == sum(node["counts"])
            assert node["text"] in export_text(clf)


def test_other_rows_than_those_of_the_fit_are_told():
    iris = load_iris(as_frame=True)
    y = iris.target_names[iris.target]
    clf = iris_model()
    assert facts_of(iris_page(clf))["are_fitted"]
    part = facts_of(report_html(clf, iris.data[::2], y[::2]))
    assert not part["are_fitted"]


def test_page_and_pictures_of_a_baseline():
    iris = load_iris(as_frame=True)
    clf = GreedySVMTreeClassifier(max_depth=2)
    clf.fit(iris.data, iris.target)
    facts = facts_of(report_html(clf, iris.data, iris.target))
    assert facts["are_fitted"]
    assert facts["accuracy"][0]["shares"] == [clf.score(iris.data, iris.target)]
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    for draw in (plot_tree, plot_node, plot_regions):
        assert draw(clf, iris.data, iris.target).figure is not None
    plt.close("all")


def test_histogram_keeps_the_sides_apart():
    clf = iris_model()
    for node in facts_of(iris_page(clf))["nodes"]:
        if "histogram" in node:
            found = node["histogram"]
            ends = np.array(found["edges"][1:])
            left = np.array(found["counts"])[:, ends <= 0].sum()
            assert left == sum(
                facts_of(iris_page(clf))["nodes"][node["left"]]["counts"]
            )


def test_histogram_names_the_sums_of_the_text():
    clf, iris = iris_model(), load_iris(as_frame=True)
    shown = {branch.node: branch for branch in shown_rules(clf)[0].branches}
    for node in facts_of(iris_page(clf))["nodes"]:
        if "histogram" not in node:
            continue
        leaf = clf.tree_.ancestors[clf.apply(iris.data)][:, node["id"]]
        score = iris.data.to_numpy()[leaf] @ clf.tree_.coef[node["id"]]
        sums = score / shown[node["id"]].unit
        low, high = sorted(map(float, node["histogram"]["named"]))
        assert low <= sums.min() + 1e-3
        assert high >= sums.max() - 1e-3


def test_facts_of_a_points_tree():
    clf, rows = grid_model(), grid_frame()
    y = clf.predict(rows)
    facts = facts_of(report_html(clf, rows, y))
    shown = export_text(clf)
    nodes = {node["id"]: node for node in facts["nodes"]}
    for step in facts["scorecard"]["steps"]:
        assert f"STEP {step['number']}" in shown
        assert step["parts"] or step["asks"] in shown
        for part in step["parts"]:
            assert part["points"] in shown
        assert all(goal in shown for _, goal in step["answers"])
    cards = [node for node in nodes.values() if node.get("histogram")]
    assert cards
    for node in cards:
        found = node["histogram"]
        left = np.array(found["counts"])[:, np.array(found["edges"][1:]) <= 0].sum()
        assert left == sum(nodes[node["left"]]["counts"])
        assert np.sum(found["counts"]) == sum(node["counts"])


# -------------------------------------------------------------------- in a browser


def predicted_in(browser, clf, rows, what="label"):
    """What the page's own tree predicts for rows, None where it refuses."""
    plain = plain_rows(clf, pd.DataFrame(rows))
    script = f"return arguments[0].map((row) => miptree.predict(row).{what} ?? null)"
    return browser.execute_script(script, plain)


PAGES = {
    "iris": (iris_model, iris_page),
    "mixed": (mixed_model, mixed_page),
    "points": (grid_model, points_page),
}


@pytest.mark.parametrize("kind", list(PAGES))
def test_browser_predicts_as_python(browser, tmp_path, kind):
    make_model, make_page = PAGES[kind]
    clf = make_model()
    opened(browser, make_page(clf), tmp_path)
    rows = corner_rows(clf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of missing values
        assert predicted_in(browser, clf, rows) == clf.predict(rows).tolist()
        proba = np.array(predicted_in(browser, clf, rows, "proba"))
        assert proba == pytest.approx(clf.predict_proba(rows))


def test_browser_refuses_as_python(browser, tmp_path):
    clf = strict(mixed_model())
    frame = mixed_frame()
    rules = readable_tree(clf)
    opened(browser, mixed_page(mixed_model()), tmp_path)
    assert None not in predicted_in(browser, clf, frame)
    whole = frame[frame.notna().all(axis=1)]
    y = np.where(np.arange(len(whole)) % 2, "it's", HOSTILE)
    opened(browser, report_html(clf, whole, y), tmp_path)
    found = predicted_in(browser, clf, frame)
    missing = frame[[rules.name(j) for j in rules.used]].isna().any(axis=1)
    assert [label is None for label in found] == missing.tolist()


def test_scorecard_is_on_one_page_of_its_own(browser, tmp_path):
    clf = points_model(
        ({"age": 1, "od280": 1, "income (missing highest)": 2}, 13),
        ({"age": -1, "od280": 1, "sex=male": 3}, 1),
        ({"age": 1, "od280": -1, "rooms (missing lowest)": 2}, 1),
    )
    rows = random_rows(np.random.default_rng(0))
    opened(browser, report_html(clf, rows, clf.predict(rows)), tmp_path)
    assert one(browser, "#scorecard").is_displayed()
    assert len(browser.find_elements("css selector", ".step")) == 3
    assert "1 point for every full 5 above 20" in one(browser, "#steps").text
    browser.execute_script("document.body.classList.add('card-only')")
    pdf = base64.b64decode(browser.print_page())
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    opened(browser, iris_page(iris_model()), tmp_path)
    assert not one(browser, "#scorecard").is_displayed()


def test_typing_a_row(browser, tmp_path):
    clf = iris_model()
    opened(browser, iris_page(clf), tmp_path)
    rules = readable_tree(clf)
    iris = load_iris(as_frame=True).data
    for row in (0, 75, 149):
        for j in rules.used:
            field = one(browser, f'[data-column="{j}"]')
            field.clear()
            field.send_keys(str(iris.iloc[row, j]))
        expected = clf.predict(iris.iloc[[row]])[0]
        assert one(browser, "#prediction").text == expected
        passed = browser.find_elements("css selector", ".node.passed")
        assert len(passed) == clf.decision_path(iris.iloc[[row]]).sum()


def test_clicks_and_keys_show_nodes(browser, tmp_path):
    clf = iris_model()
    opened(browser, iris_page(clf), tmp_path)
    assert "Node 0" in one(browser, "#detail").text
    leaf = int(np.flatnonzero(clf.tree_.is_leaf)[0])
    one(browser, f'[data-node="{leaf}"]').click()
    label = clf.classes_[clf.tree_.label[leaf]]
    assert f"Leaf {leaf}: {label}" in one(browser, "#detail").text
    assert len(browser.find_elements("css selector", ".node.chosen")) == 1
    root = one(browser, '[data-node="0"]')
    browser.execute_script("arguments[0].focus()", root)
    root.send_keys("\ue014")  # arrow right
    right = browser.switch_to.active_element
    assert right.get_attribute("data-node") == str(clf.tree_.children_right[0])
    right.send_keys("\ue007")  # enter
    assert right.get_attribute("data-node") in one(browser, "#detail h3").text


def test_hostile_names_do_nothing(browser, tmp_path):
    opened(browser, mixed_page(mixed_model()), tmp_path)
    assert browser.title == HOSTILE
    assert not browser.find_elements("css selector", "img")
    for node in browser.find_elements("css selector", "[data-node]"):
        browser.execute_script(
            "arguments[0].dispatchEvent(new MouseEvent('click'))", node
        )
        assert one(browser, "#detail h3").text
    assert not browser.find_elements("css selector", "img")
    assert browser.title == HOSTILE
    assert browser.get_log("browser") == []
    assert HOSTILE in one(browser, "#try").text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1100])
def test_readable_on_phones_and_in_the_dark(browser, tmp_path, scheme, width):
    screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    wish = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wish})
    opened(browser, mixed_page(mixed_model()), tmp_path)
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= width  # only the tree scrolls sideways
    pixels = _brightness(browser, "background-color"), _brightness(browser, "color")
    assert (pixels[0] > pixels[1]) == (scheme == "light")
    assert abs(pixels[0] - pixels[1]) > 150
    assert texts_outside_their_boxes(browser) == []
    image = pytest.importorskip("matplotlib.image")
    shot = image.imread(io.BytesIO(browser.get_screenshot_as_png()))[..., :3]
    assert shot.shape[:2] == (800, width)
    assert (shot.mean() > 0.5) == (scheme == "light")
    assert len(np.unique(shot.reshape(-1, 3), axis=0)) > 50  # classes, text, edges


def test_wide_letters_stay_in_their_boxes(browser, tmp_path):
    iris = load_iris(as_frame=True)
    names = ["WWWW WWWW WWWW", "W" * 40, "MMMMM mmmmm", "\N{OK HAND SIGN}" * 30]
    X = iris.data.set_axis(names, axis=1)
    y = np.where(iris.target == 0, "WOMBAT " * 3, "M" * 22)
    clf = OptimalTreeClassifier(max_iter=20, solver="search", random_state=0).fit(X, y)
    opened(browser, report_html(clf, X, y), tmp_path)
    assert texts_outside_their_boxes(browser) == []
    cut = [e.text for e in browser.find_elements("css selector", ".node text")]
    assert any(text.endswith("…") for text in cut)


def texts_outside_their_boxes(browser):
    """Texts of nodes that a reader would see run out of the node."""
    script = """
    const outside = [];
    for (const node of document.querySelectorAll(".node")) {
      const box = node.querySelector(".box").getBoundingClientRect();
      for (const text of node.querySelectorAll("text")) {
        const at = text.getBoundingClientRect();
        if (!at.width || at.left < box.left || at.right > box.right ||
            at.top < box.top || at.bottom > box.bottom) outside.push(text.textContent);
      }
    }
    return outside;
    """
    return browser.execute_script(script)


def test_numbers_have_all_their_digits(browser, tmp_path):
    rng = np.random.default_rng(0)
    amount = 1_234_000 + np.arange(60)
    X = pd.DataFrame(rng.random((60, 15)), columns=[f"x{k}" for k in range(15)])
    X.insert(0, "amount", amount)
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, np.arange(60) >= 20)
    coef = np.concatenate([[1.0], np.full(15, 1e-3)])
    heap = HeapTree(coef[None], np.array([1_234_019.5]), np.array([0, 1]))
    clf = with_tree(clf, ObliqueTree.from_heap(heap), rng)
    page = report_html(clf, X, np.arange(60) >= 20)
    root, leaf, _ = facts_of(page)["nodes"]
    assert leaf["examples"][0][0] == "1234000"
    ends = [1_234_000, 1_234_059]
    named = root["histogram"]["named"]
    assert np.abs([float(end) for end in named] - np.array(ends)).max() < 2
    assert not any("e" in end for end in named)
    opened(browser, page, tmp_path)
    assert len(browser.find_elements("css selector", ".bars .bar")) == 12
    assert one(browser, ".bars .hint").text == "and 4 more terms"


def test_a_share_of_all_is_exact(browser, tmp_path):
    y = (np.arange(4000) >= 2000).astype(int)
    X = pd.DataFrame({"a": np.arange(4000.0)})
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, y)
    y[0] = 1
    opened(browser, report_html(clf, X, y), tmp_path)
    said = [e.text for e in browser.find_elements("css selector", ".node text")]
    assert "2,000 rows, > 99.9 %" in said
    assert "2,000 rows, pure" in said
    assert "> 99.9 %" in one(browser, "#accuracy").text


LINES_THROUGH_ANSWERS = """
const ends = [];
for (const text of document.querySelectorAll("#tree svg > text.soft")) {
  const box = text.getBBox();
  for (const line of document.querySelectorAll("#tree .edge")) {
    const long = line.getTotalLength();
    for (let k = 0; k <= 200; k++) {
      const at = line.getPointAtLength(long * k / 200);
      if (at.x > box.x && at.x < box.x + box.width
          && at.y > box.y + 2 && at.y < box.y + box.height - 2) {
        ends.push(text.textContent);
        break;
      }
    }
  }
}
return ends;
"""


@pytest.mark.parametrize("kind", ["small", "deep"])
def test_no_line_goes_through_an_answer(browser, tmp_path, kind):
    page = iris_page(iris_model()) if kind == "small" else deep_page()[2]
    opened(browser, page, tmp_path)
    assert browser.find_elements("css selector", "#tree svg > text.soft")
    assert browser.execute_script(LINES_THROUGH_ANSWERS) == []
    hint = "up (yes), all others down" if kind == "deep" else "left (yes), all others r"
    assert f"go {hint}" in one(browser, "#detail").text


# ------------------------------------------------------- on a desk, a phone and paper


def deep_page():
    """A tree with more leaves than stand side by side, counts and its page."""
    rng = np.random.default_rng(0)
    names = ["income", "debt", "age", "a longer name"]
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=names)
    y = np.where(rng.random(200) < 0.5, "good", "bad")
    clf = OptimalTreeClassifier(**QUICK).fit(X, y)
    coef, threshold = rng.normal(size=(7, 4)), 0.3 * rng.normal(size=7)
    heap = HeapTree(coef, threshold, np.arange(8) % 2)
    clf = with_tree(clf, ObliqueTree.from_heap(heap), rng)
    return clf, evaluate(clf, X, y).node_counts, report_html(clf, X, y)


def on_screen(browser, width, media="screen"):
    screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    wish = {"media": media, "features": []}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wish)


WHOLE_TREE = """
const panel = document.getElementById("tree");
const from = panel.getBoundingClientRect().left;
const ends = [...document.querySelectorAll(".node .box")].map((box) => {
  const at = box.getBoundingClientRect();
  return [at.left - from + panel.scrollLeft, at.right - from + panel.scrollLeft];
});
return {low: Math.min(...ends.map((e) => e[0])),
  high: Math.max(...ends.map((e) => e[1])),
  scrolled: panel.scrollWidth, shown: panel.clientWidth, at: panel.scrollLeft};
"""
"""How far a tree reaches in its panel, and how far the panel can be scrolled."""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("kind", ["small", "deep"])
def test_all_of_a_tree_can_be_reached(browser, tmp_path, width, kind):
    on_screen(browser, width)
    page = iris_page(iris_model()) if kind == "small" else deep_page()[2]
    opened(browser, page, tmp_path)
    assert browser.execute_script("return document.body.scrollWidth") <= width
    found = browser.execute_script(WHOLE_TREE)
    assert found["low"] >= 0
    assert found["high"] <= found["scrolled"]
    does_scroll = found["scrolled"] > found["shown"]
    assert does_scroll == (width == 390)
    assert one(browser, "#tree-is-wide").is_displayed() == does_scroll
    browser.execute_script("document.getElementById('tree').scrollLeft = 1e6")
    far = browser.execute_script(WHOLE_TREE)
    assert far["at"] + far["shown"] >= far["high"]
    assert texts_outside_their_boxes(browser) == []


def test_a_wide_screen_is_used(browser, tmp_path):
    on_screen(browser, 1280)
    opened(browser, iris_page(iris_model()), tmp_path)

    def ends(selector):
        return (one(browser, selector).rect[k] for k in ("x", "y", "width"))

    for left, right in (("#tree", "#detail"), ("#certificate", "#accuracy")):
        (x0, y0, wide), (x1, y1, _) = ends(left), ends(right)
        assert x0 + wide <= x1
        assert x1 > 600
        assert abs(y0 - y1) < 400  # beside each other
    assert one(browser, "#all-rules").rect["x"] < 640


def test_the_page_prints_whole(browser, tmp_path):
    clf, _, page = deep_page()
    on_screen(browser, 794, "print")  # A4 in CSS pixels
    opened(browser, page, tmp_path)
    found = browser.execute_script(WHOLE_TREE)
    assert found["high"] <= found["shown"]  # nothing to be scrolled
    assert not one(browser, "#detail").is_displayed()
    rules = one(browser, "#all-rules pre")
    size = "return [arguments[0].scrollWidth, arguments[0].clientWidth]"
    wide, shown = browser.execute_script(size, rules)
    assert wide <= shown
    for leaf in np.flatnonzero(clf.tree_.is_leaf):
        assert f"(leaf {leaf}, " in rules.text
    mark = one(browser, "#legend .dot")
    assert mark.value_of_css_property("print-color-adjust") == "exact"
    assert mark.value_of_css_property("background-color") != "rgba(0, 0, 0, 0)"
    on_screen(browser, 1280)
    opened(browser, page, tmp_path)
    pdf = base64.b64decode(browser.print_page())
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 4


@pytest.mark.parametrize(
    ("bound", "said"),
    [(16.9994, "16.99"), (16.1 * (1 - 1e-9), "16.1"), (0.0, "0"), (17.4999999, "17.5")],
)
def test_the_bound_of_a_trace_is_rounded_down(browser, tmp_path, bound, said):
    clf = copy.copy(iris_model())
    last = replace(clf.trace_[-1], seconds=9.0, objective=17.5, bound=bound)
    clf.trace_ = [clf.trace_[0], last]
    opened(browser, iris_page(clf), tmp_path)
    shown = one(browser, "#trace").get_attribute("textContent")
    assert "best tree: objective 17.5no tree is below " in shown
    assert shown.endswith(f"no tree is below {said}")


def test_nodes_have_their_numbers_rows_and_weightiest_terms(browser, tmp_path):
    clf, counts, page = deep_page()
    on_screen(browser, 1280)
    opened(browser, page, tmp_path)
    for node in range(clf.tree_.n_nodes):
        shown = [
            text.get_attribute("textContent")
            for text in browser.find_elements(
                "css selector", f"[data-node='{node}'] text"
            )
        ]
        rows = int(counts[node].sum())
        if not clf.tree_.is_leaf[node]:
            assert f"node {node}, {rows} rows" in shown
            continue
        own = counts[node, clf.tree_.label[node]]
        assert f"leaf {node}" in shown
        share = "pure" if own == rows else f"{100 * own / max(1, rows):.1f} %"
        said = f"{rows} row{'s' * (rows != 1)}, {share}" if rows else "no rows"
        assert said in shown
    node = next(n for n in facts_of(page)["nodes"] if len(n.get("terms_shown", ())) > 2)
    sizes = [abs(bar["size"]) for bar in node["bars"]]
    assert sizes == sorted(sizes, reverse=True)
    names = [bar["name"] for bar in node["bars"]]
    shown = zip(node["terms_shown"], names, strict=True)
    assert all(text.endswith(name) for text, name in shown)


def test_both_matrices_are_there_and_labelled(browser, tmp_path):
    clf, iris = iris_model(), load_iris(as_frame=True)
    y = iris.target_names[iris.target]
    test = iris.data[::3], y[::3]
    on_screen(browser, 1280)
    opened(browser, report_html(clf, iris.data, y, test=test), tmp_path)
    heads = browser.find_elements("css selector", "#matrices h3")
    assert [head.text for head in heads] == [
        "True class by predicted class: training rows",
        "True class by predicted class: test rows",
    ]
    tables = browser.find_elements("css selector", "#matrices table")
    for table, (X, of_X) in zip(tables, [(iris.data, y), test], strict=True):
        cells = table.find_elements("css selector", "td")
        shown = np.reshape([int(cell.text) for cell in cells], (3, 3))
        assert np.array_equal(shown, evaluate(clf, X, of_X).confusion)
    opened(browser, iris_page(clf), tmp_path)
    assert len(browser.find_elements("css selector", "#matrices table")) == 1


NARROWEST = """
const heads = [...document.querySelectorAll(".confusion th")];
const page = document.querySelector("#matrices").getBoundingClientRect();
const table = document.querySelector(".confusion").getBoundingClientRect();
return [Math.min(...heads.map((head) => head.getBoundingClientRect().width)),
  table.right - page.right];
"""


@pytest.mark.parametrize(
    ("width", "media"), [(1280, "screen"), (390, "screen"), (794, "print")]
)
def test_names_of_many_classes_stay_words(browser, tmp_path, width, media):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(140, 2)), columns=["a", "b"])
    names = [f"a customer of kind_number_{k}" for k in range(7)]
    y = np.repeat(names, 20)
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, y)
    on_screen(browser, width, media)
    opened(browser, report_html(clf, X, y), tmp_path)
    narrowest, over = browser.execute_script(NARROWEST)
    on_screen(browser, 1280)  # for the tests that follow
    assert narrowest > 50
    if media == "print":
        assert over <= 0  # nothing can be scrolled there


def test_a_leaf_tells_shares_from_probabilities(browser, tmp_path):
    clf = iris_model()
    opened(browser, iris_page(clf), tmp_path)
    leaf = int(np.flatnonzero(clf.tree_.is_leaf)[-1])
    one(browser, f'[data-node="{leaf}"]').click()
    lines = browser.find_elements(
        "css selector", "#detail table:first-of-type tbody tr"
    )
    counts, proba = clf.fitted_.node_count[leaf], clf.fitted_.node_proba[leaf]
    for line, n, p in zip(lines, counts, proba, strict=False):
        share = f"{100 * n / counts.sum():.1f} %"
        assert line.text.endswith(f"{n} {share} {100 * p:.1f} %")
    assert "drawn towards that of all rows" in one(browser, "#detail").text


def _brightness(browser, what):
    value = one(browser, "body").value_of_css_property(what)
    return np.mean([float(part) for part in re.findall(r"[\d.]+", value)[:3]])


def test_other_trees_are_listed(browser, tmp_path):
    X, y = load_iris(as_frame=True, return_X_y=True)
    clf = PointsTreeClassifier(feature_penalty=1, max_features_per_split=1).fit(X, y)
    found, needs = clf.alternatives(2, within=0.1), clf.necessity()
    page = report_html(clf, X, y, alternatives=found, necessity=needs)
    opened(browser, page, tmp_path)
    lines = browser.find_elements("css selector", "#others-table tbody tr")
    assert len(lines) == len(found) == 2
    for line, other in zip(lines, found, strict=True):
        assert other.restriction in line.text
    said = browser.find_elements("css selector", "#needs li")
    assert [line.text for line in said] == needs.sentences()
    opened(browser, report_html(clf, X, y), tmp_path)
    assert not one(browser, "#others").is_displayed()


# ------------------------------------------------------------------------------ rules


def ruled(n=60, seed=0):
    rng = np.random.default_rng(seed)
    groups = rng.choice(["f", HOSTILE], n)
    X = pd.DataFrame(
        {"a": rng.normal(size=n) + (groups == "f"), "b": rng.normal(size=n)}
    )
    return X, (X["a"] + 0.3 * X["b"] > 0.4).astype(int).to_numpy(), groups


def ruled_model():
    X, y, groups = ruled()
    parity = DemographicParity(difference_bound=0.1)
    rules = [parity, MinLeaf(rows=3), MaxCost(30, costs=[[1, 1], [0, 0]])]
    clf = OptimalTreeClassifier(
        constraints=rules, solver="search", max_iter=6, time_limit=None, random_state=0
    )
    return clf.fit(X, y, sensitive_features=groups)


def test_rates_of_groups_stand_side_by_side(browser, tmp_path):
    clf, (X, y, groups), test = ruled_model(), ruled(), ruled(100, 1)
    page = report_html(clf, X, y, sensitive_features=groups, test=test)
    opened(browser, page, tmp_path)
    assert one(browser, "#rules").is_displayed()
    head = browser.find_elements("css selector", "#rules thead th")
    assert [cell.text for cell in head] == ["rate", "training rows", "test rows"]
    lines = browser.find_elements("css selector", "#rules tbody tr")
    cells = [
        [cell.text for cell in line.find_elements("css selector", "th, td")]
        for line in lines
    ]
    shown = {name: rest for name, *rest in cells}
    for rows, of_rows, k in ((X, groups, 0), (test[0], test[2], 1)):
        there = of_rows == "f"
        hits = int((clf.predict(rows)[there] == 1).sum())
        assert f"({hits} of {there.sum()})" in shown["'f'"][k]
    assert shown["rule"][0] == "kept"
    assert float(shown["largest difference"][0]) <= 0.1
    told = one(browser, "#rules-list").text
    assert "2. Every leaf holds at least 3 training rows: kept" in told
    assert "On the test rows" not in told  # sizes and costs are of the training rows
    opened(browser, iris_page(iris_model()), tmp_path)
    assert not one(browser, "#rules").is_displayed()


def test_rules_without_groups_are_those_of_the_certificate():
    clf, (X, y, groups) = ruled_model(), ruled()
    facts = facts_of(report_html(clf, X, y))["rules"]
    assert [rule["asked"] for rule in facts["rules"]] == list(clf.certificate_.rules)
    assert "no sensitive_features" in facts["notes"][0]
    given = {"sensitive_features": groups, "test": ruled(40, 1)[:2]}
    facts = facts_of(report_html(clf, X, y, **given))["rules"]
    assert not facts["tested"]
    assert facts["rules"][0]["rates"]
    assert "not counted on the test rows" in facts["notes"][0]
