"""Report pages of small models, and how tests open them in a browser."""

import numpy as np
from sklearn.datasets import load_iris

from _models import HOSTILE, grid_frame, mixed_frame
from miptree.export.readable import readable_tree
from miptree.report import report_html


def iris_page(clf, **options):
    iris = load_iris(as_frame=True)
    return report_html(clf, iris.data, iris.target_names[iris.target], **options)


def mixed_page(clf):
    frame = mixed_frame()
    y = np.where(np.arange(len(frame)) % 2, "it's", HOSTILE)
    return report_html(clf, frame, y, title=HOSTILE)


def points_page(clf):
    return report_html(clf, grid_frame(), clf.predict(grid_frame()), title=HOSTILE)


def opened(browser, page, folder):
    path = folder / "page.html"
    path.write_text(page)
    browser.get(path.as_uri())
    assert browser.find_element("css selector", "html[data-ready=yes]")
    assert browser.get_log("browser") == []  # no error, nothing blocked
    return browser


def one(browser, selector):
    return browser.find_element("css selector", selector)


def plain_rows(clf, rows):
    """Rows as the page's script takes them: cells by column, None where missing."""
    cells = rows.astype(object).where(rows.notna(), None)
    cells = cells.set_axis(range(cells.shape[1]), axis=1)
    return [
        {str(j): float(v) if isinstance(v, bool) else v for j, v in row.items()}
        for row in cells[readable_tree(clf).used].to_dict("records")
    ]
