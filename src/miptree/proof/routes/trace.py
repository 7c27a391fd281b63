"""What a search of one structure records: its proof tree, in pre-order.

The claim is that no tree of the structure costs less than the threshold. Events are
branches (a point's mask, a set of leaves, is divided among children), closings
(multipliers that bound all trees below) and lemmas (multipliers that bound one split).
A subset split is branched on as well: a child for each feature that it may split, and
two for a value of that feature, which goes left or right with all points that have it.
Where hyperplanes may use few features, branches are on whether one uses a feature: the
first child leaves it out, the second one keeps it. When a hyperplane keeps as many as
it may use, it leaves out all others. Entries are the multipliers: whole numbers over
``2**EXPONENT``.

The trace holds only what the proof needs: a branch whose restriction nothing below
refers to is left out, and with it its other children. There may be a hundred million
entries, so that each one takes two whole numbers: where it belongs, and its multiplier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miptree.utils.arrays import AnyArray, BoolArray, IntArray

BRANCH, CLOSE, LEMMA, FEATURE, VALUE, USE, CHANGE = 0, 1, 2, 3, 4, 5, 6
"""Kinds of events. A CHANGE is a closing by the entries of the closing before it, save
those that it has itself; of these, those with a multiplier of 0 are gone."""
MARGIN, HARD, ENVELOPE, BOX_LEFT, BOX_RIGHT = 0, 1, 2, 3, 4
N_KINDS = 5
"""Kinds of entries. A box entry BOX_LEFT says z >= -1/eps, with the sign of a point on
the right; BOX_RIGHT says z <= 1/eps, with the sign of a point on the left."""
EXPONENT = 32
PARTNER_BIT, SPLIT_BIT, KIND_BIT = 24, 48, 56
"""First bits of what an entry is of, above those of the point."""
POINT_BITS, SPLIT_BITS = (1 << 24) - 1, (1 << 8) - 1


class Entries(NamedTuple):
    """Multipliers, and what each is of.

    Attributes
    ----------
    point, split, kind, partner : int arrays of shape (k,)
        ``partner`` is -1 except for envelopes with a partner.
    q : int64 array of shape (k,)
        Multipliers times 2**32.
    """

    point: IntArray
    split: IntArray
    kind: IntArray
    partner: IntArray
    q: IntArray


class Trace(NamedTuple):
    """Events of one structure in pre-order, with CSR starts of masks and entries.

    Attributes
    ----------
    fixed : int
        Point fixed to the left of the root by symmetry, or -1.
    kind : int8 array of shape (E,)
        BRANCH, CLOSE, LEMMA, FEATURE, VALUE, USE or CHANGE. A branch is followed by the
        subtrees of its children; a lemma belongs to the node that the next event goes
        on with.
    point : int array of shape (E,)
        BRANCH: the point; LEMMA, FEATURE, USE: the split; VALUE: a point that has the
        value; CLOSE, CHANGE: -1.
    masks_start : int array of shape (E + 1,)
        Masks of event e are ``mask[masks_start[e] : masks_start[e + 1]]``, one for each
        child of a BRANCH; of a VALUE it is the number of the split, of a USE that of
        the feature.
    mask : int array
    entries_start : int array of shape (E + 1,)
        Entries of event e, likewise.
    entry : int64 array of shape (entries, 2)
        ``place_of`` each entry (``places.py``), and its multiplier times 2**32.
    """

    fixed: int
    kind: AnyArray
    point: IntArray
    masks_start: IntArray
    mask: IntArray
    entries_start: IntArray
    entry: IntArray

    @property
    def n_events(self) -> int:
        """Number of events."""
        return len(self.kind)

    @property
    def points(self) -> IntArray:
        """The points that it refers to."""
        entries = self.entries()
        found = self.point[self.kind == BRANCH], entries.point, entries.partner
        fixed = [self.fixed]
        named = np.unique(np.concatenate([*found, fixed]))
        return np.asarray(named[named >= 0])

    def masks_of(self, event: int) -> list[int]:
        """Return the masks of a branch."""
        first, end = self.masks_start[event : event + 2]
        return [int(mask) for mask in self.mask[first:end]]

    def entries(self, first: int = 0, end: int | None = None) -> Entries:
        """Return the entries of some events."""
        last = self.n_events if end is None else end
        place, q = self.entry[self.entries_start[first] : self.entries_start[last]].T
        return Entries(
            place & POINT_BITS,
            place >> SPLIT_BIT & SPLIT_BITS,
            place >> KIND_BIT,
            (place >> PARTNER_BIT & POINT_BITS) - 1,
            q,
        )

    def renumbered(self, is_subset: BoolArray) -> Trace:
        """Return the trace with splits numbered through.

        A search numbers hyperplanes and subset splits on their own.
        """
        if not is_subset.any():
            return self
        hyperplanes, subsets = np.flatnonzero(~is_subset), np.flatnonzero(is_subset)
        point, mask = self.point.copy(), self.mask.copy()
        of_feature = self.kind == FEATURE
        of_value = self.masks_start[:-1][self.kind == VALUE]
        point[of_feature] = subsets[point[of_feature]]
        mask[of_value] = subsets[mask[of_value]]
        of_use = self.kind == USE
        point[of_use] = hyperplanes[point[of_use]]
        split = self.entry[:, 0] >> SPLIT_BIT & SPLIT_BITS
        entry = self.entry.copy()
        entry[:, 0] += (hyperplanes[split] - split) << SPLIT_BIT
        return self._replace(point=point, mask=mask, entry=entry)


def backward(fixed: int, events: AnyArray, masks: AnyArray, entries: AnyArray) -> Trace:
    """Make the trace of events that a kernel wrote from the last to the first.

    A search knows only at the end of a node which of its closings were needed, so it
    writes children before their branch.

    Parameters
    ----------
    fixed : int
    events : int64 array of shape (E, 4)
        Kind, point, number of masks, number of entries.
    masks : int64 array
    entries : int64 array of shape (., 2)
        As in a trace. Both end at the last event.
    """
    kind, point, n_masks, n_entries = events[::-1].T
    masks_start = np.concatenate([[0], np.cumsum(n_masks)]).astype(np.intp)
    entries_start = np.concatenate([[0], np.cumsum(n_entries)]).astype(np.intp)
    return Trace(
        fixed, kind.astype(np.int8), point.astype(np.intp),
        masks_start, masks[::-1].astype(np.intp), entries_start, entries[::-1].copy(),
    )  # fmt: skip
