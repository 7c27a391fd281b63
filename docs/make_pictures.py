"""Draw the pictures of the README and the docs. Run: python docs/make_pictures.py."""

import shutil
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import train_test_split

matplotlib.use("Agg")

from miptree import OptimalTreeClassifier
from miptree.constraints import DemographicParity
from miptree.plot import plot_regions, plot_trade_off, plot_tree
from miptree.trade_off import TradeOff, trade_off

FOLDER = Path(__file__).parent / "images"
GROWTH = Path(__file__).parents[1] / "benchmarks" / "results" / "growth.svg"


def main() -> None:
    """Fit by budgets, not clocks, so that the pictures can be made again."""
    wine = load_wine(as_frame=True)
    y = wine.target_names[wine.target]
    clf = OptimalTreeClassifier(
        max_depth=2,
        max_features_per_split=4,
        solver="search",
        max_iter=200,
        time_limit=None,
        random_state=0,
    ).fit(wine.data, y)
    FOLDER.mkdir(exist_ok=True)
    for draw, name in ((plot_tree, "wine_tree"), (plot_regions, "wine_regions")):
        save(draw(clf, wine.data, y).figure, name)
    save(plot_trade_off(trade_off_of_diabetes())[0].figure, "trade_off")
    shutil.copyfile(GROWTH, FOLDER / GROWTH.name)


def trade_off_of_diabetes() -> TradeOff:
    """Fit the example of docs/constraints.md for several bounds."""
    patients = load_diabetes(as_frame=True, scaled=False).frame
    y = np.where(patients.pop("target") > 140, "worse", "stable")
    rows = train_test_split(patients, y, test_size=0.4, random_state=0)
    X, X_new, y, y_new = rows
    parity = {"positive_label": "worse", "versus": "pairs"}
    clf = OptimalTreeClassifier(
        constraints=[DemographicParity(difference_bound=0.0, **parity)],
        solver="search",
        max_iter=60,
        time_limit=None,
        random_state=0,
    )
    test = X_new, y_new, X_new["sex"]
    bounds = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2]
    return trade_off(clf, X, y, bounds, sensitive_features=X["sex"], test=test)


def save(figure: Figure, name: str) -> None:
    """Write a picture without the versions of programs, which change."""
    figure.savefig(FOLDER / f"{name}.png", dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
