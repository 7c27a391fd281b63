"""Draw the pictures of the README and the docs. Run: python docs/make_pictures.py."""

from pathlib import Path

import matplotlib
from sklearn.datasets import load_wine

matplotlib.use("Agg")

from miptree import OptimalTreeClassifier
from miptree.plot import plot_regions, plot_tree

FOLDER = Path(__file__).parent / "images"


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
        figure = draw(clf, wine.data, y).figure
        figure.savefig(FOLDER / f"{name}.png", dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
