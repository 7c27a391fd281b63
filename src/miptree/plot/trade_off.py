"""What a rule costs: accuracy, and what was counted, against its bound."""

from __future__ import annotations

from typing import Any

from miptree.plot._common import COLOURS, FAINT, axes_or_new
from miptree.trade_off import TradeOff

_SIZE = (7.0, 5.2)


def plot_trade_off(found: TradeOff, *, ax: Any = None) -> Any:
    """Draw accuracy against the bound of a rule, and below it what was counted.

    Parameters
    ----------
    found : TradeOff
        What :func:`miptree.trade_off.trade_off` gave.
    ax : pair of matplotlib Axes, optional
        Where to draw, by default a new figure.

    Returns
    -------
    pair of matplotlib Axes
    """
    if not found.points:
        raise ValueError(
            "No fit of the trade-off found a tree: there is nothing to draw."
        )
    accuracy, value = _pair(ax)
    bounds = [point.bound for point in found.points]
    _lines(accuracy, bounds, found, "accuracy")
    _lines(value, bounds, found, "value")
    value.plot(bounds, bounds, color=FAINT, linestyle=":", linewidth=1.2, label="bound")
    accuracy.set_ylabel("accuracy")
    value.set_ylabel(f"{found.what}, as counted")
    value.set_xlabel(f"bound of {found.rule}")
    accuracy.set_title("What the rule costs, and how it is kept", fontsize=9)
    for axes in (accuracy, value):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        axes.set_axisbelow(True)
    value.legend(frameon=False, fontsize=9)
    return accuracy, value


def _pair(ax: Any) -> Any:
    """Give the two axes as they are, or those of a new figure."""
    if ax is not None:
        return ax
    first = axes_or_new(None, _SIZE)
    figure = first.figure
    first.remove()
    return figure.subplots(2, 1, sharex=True)


def _lines(ax: Any, bounds: list[float], found: TradeOff, name: str) -> None:
    style = {"linewidth": 2, "markersize": 5}
    training = [getattr(point, name) for point in found.points]
    ax.plot(bounds, training, "o-", color=COLOURS[0], label="training rows", **style)
    if found.is_tested:
        test = [getattr(point, f"test_{name}") for point in found.points]
        ax.plot(bounds, test, "s--", color=COLOURS[1], label="test rows", **style)
