"""Proof files whose closings are changes of those before, with shorter multipliers."""

import copy

PLACES = {"c": (3, 2), "l": (3,), "r": (None, 3)}
"""Where the multiplier is in each list of a line."""


def with_fewer_bits(lines, rng, most=12):
    """Round multipliers down to a few bits less in some lines.

    Returns the lines as they are then, and once more with shifts.
    """
    rounded, shifted = copy.deepcopy(lines), copy.deepcopy(lines)
    for k, line in enumerate(lines[2:-1], 2):
        if line[0] in PLACES and rng.random() < 0.7:
            shift = int(rng.integers(1, most))
            for flat, place in zip(line[1:], PLACES[line[0]], strict=True):
                if place is None:
                    continue
                number = lines[k].index(flat)
                amounts = [q >> shift for q in flat[place::4]]
                shifted[k][number][place::4] = amounts
                rounded[k][number][place::4] = [q << shift for q in amounts]
            shifted[k].append(shift)
    return rounded, shifted


def with_changes(lines, rng, part=0.7):
    """Return the same proof, in which some closings are changes of those before."""
    found, last = copy.deepcopy(lines), None
    for k, line in enumerate(lines[2:-1], 2):
        if line[0] in ("s", "part", "lemma", "roots"):
            last = None
        if line[0] != "c" or not (line[1] or line[2]):
            continue
        now = entries_of(line)
        is_single = len(now) == (len(line[1]) + len(line[2])) // 4
        if last is not None and is_single and rng.random() < part:
            found[k] = changes_of(last, now)
        last = now
    return found


def entries_of(line):
    """Return (list, key) -> (multiplier, partner) of the entries of a closing."""
    shift = line[3] if len(line) > 3 else 0
    plain = zip(*(line[1][k::4] for k in range(4)), strict=True)
    found = {(1, split, kind, i): (q << shift, -1) for split, kind, i, q in plain}
    envelopes = zip(*(line[2][k::4] for k in range(4)), strict=True)
    more = {(2, split, i): (q << shift, other) for split, i, q, other in envelopes}
    return found | more


def changes_of(before, now):
    """Return the line that says what is different now."""
    line = ["k", [], []]
    for key in before.keys() | now.keys():
        q, other = now.get(key, (0, -1))
        if before.get(key) != (q, other):
            more = [q] if key[0] == 1 else [q, other]
            line[key[0]] += [*key[1:], *more]
    return line
