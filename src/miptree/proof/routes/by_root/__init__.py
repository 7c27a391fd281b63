"""Bounds of (1a) for trees of depth 2: the root's sides first, then what is below.

The search decides only to which side of the root each point goes. What a side costs is
the cost of the best subtree of depth 1 on its points, found by a search of its own, so
that the subtrees of the two sides are never combined.
"""
