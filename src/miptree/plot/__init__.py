"""Pictures of a tree. They need ``pip install 'miptree[plot]'``."""

from __future__ import annotations

from miptree.plot.node import plot_node
from miptree.plot.regions import plot_regions
from miptree.plot.trace import plot_trace
from miptree.plot.trade_off import plot_trade_off
from miptree.plot.tree import plot_tree

__all__ = ["plot_node", "plot_regions", "plot_trace", "plot_trade_off", "plot_tree"]
