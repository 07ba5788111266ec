"""Stretch, k-gap and GLOVE, as equations (1) to (11) and algorithm 1 say."""

import functools
import itertools
from fractions import Fraction
from typing import NamedTuple

from naive.data import in_time


class Settings(NamedTuple):
    """The thresholds of equations (2) and (3), in cells and slots, and the weights of (1)."""

    max_space: int = 200
    max_time: int = 480
    space_weight: int = 1
    time_weight: int = 1


DEFAULTS = Settings()
AXES = ((0, 1), (2, 3), (4, 5))
"""Where start and end stand in a box, in x, y and time."""
SPACE, TIME = AXES[:2], AXES[2:]


def left(a, b, axes):
    """Equations (5) and (8): how far the starts of `a` move to cover `b`."""
    return sum(a[start] - min(a[start], b[start]) for start, _ in axes)


def right(a, b, axes):
    """Equations (6) and (9): how far the ends of `a` move to cover `b`."""
    return sum(max(a[end], b[end]) - a[end] for _, end in axes)


def stretched(a, b, na, nb, axes):
    """Equations (4) and (7)."""
    return (left(a, b, axes) + right(a, b, axes)) * Fraction(na, na + nb) + (
        left(b, a, axes) + right(b, a, axes)
    ) * Fraction(nb, na + nb)


def phi(a, b, na, nb, axes, most):
    """Equations (2) and (3)."""
    stretch = stretched(a, b, na, nb, axes)
    return stretch / most if stretch <= most else Fraction(1)


@functools.lru_cache(2**17)
def sample_stretch(a, b, na=1, nb=1, settings=DEFAULTS):
    """Equation (1), as its spatial and its temporal part."""
    weights = settings.space_weight + settings.time_weight
    return (
        Fraction(settings.space_weight, weights) * phi(a, b, na, nb, SPACE, settings.max_space),
        Fraction(settings.time_weight, weights) * phi(a, b, na, nb, TIME, settings.max_time),
    )


@functools.lru_cache(2**17)
def sample_effort(a, b, na=1, nb=1, settings=DEFAULTS):
    """Equation (1)."""
    return sum(sample_stretch(a, b, na, nb, settings))


def cheapest(box, boxes, n, n_boxes, settings=DEFAULTS):
    """Find which of the boxes costs least to merge with; the first of equals."""
    efforts = [sample_effort(box, other, n, n_boxes, settings) for other in boxes]
    return efforts.index(min(efforts))


def by_length(older, younger, n_older, n_younger):
    """Put the longer first with its crowd: it has more samples or, of equals, is older."""
    if len(older) >= len(younger):
        return older, younger, n_older, n_younger
    return younger, older, n_younger, n_older


def trajectory_parts(older, younger, n_older=1, n_younger=1, settings=DEFAULTS):
    """Equation (10), as its spatial and its temporal part."""
    longer, shorter, n, m = by_length(older, younger, n_older, n_younger)
    parts = [
        sample_stretch(box, shorter[cheapest(box, shorter, n, m, settings)], n, m, settings)
        for box in longer
    ]
    spatial, temporal = zip(*parts, strict=True)
    return sum(spatial) / len(longer), sum(temporal) / len(longer)


def trajectory_stretch(older, younger, n_older=1, n_younger=1, settings=DEFAULTS):
    """Equation (10)."""
    longer, shorter, n, m = by_length(older, younger, n_older, n_younger)
    least = [min(sample_effort(a, b, n, m, settings) for b in shorter) for a in longer]
    return sum(least) / len(longer)


class Gap(NamedTuple):
    k_gap: Fraction
    spatial: Fraction
    temporal: Fraction
    nearest: list


def k_gaps(people, ks, crowd=None, settings=DEFAULTS):
    """Equation (11) and the sums of section 5.4: a `Gap` for each k, of each person."""
    crowd = crowd or [1] * len(people)
    parts = {
        (i, j): trajectory_parts(people[i][1], people[j][1], crowd[i], crowd[j], settings)
        for j in range(len(people))
        for i in range(j)
    }
    found = []
    for i in range(len(people)):
        to = {j: parts[min(i, j), max(i, j)] for j in range(len(people)) if j != i}
        order = sorted(to, key=lambda j: (sum(to[j]), j))
        found.append([])
        for k in ks:
            nearest = order[: k - 1]
            spatial = sum(to[j][0] for j in nearest) / Fraction(k - 1)
            temporal = sum(to[j][1] for j in nearest) / Fraction(k - 1)
            gap = sum(sum(to[j]) for j in nearest) / Fraction(k - 1)
            found[-1].append(Gap(gap, spatial, temporal, nearest))
    return found


def bounding(boxes):
    """Equations (12) and (13), for any number of boxes."""
    return tuple(
        extreme(box[side] for box in boxes)
        for axis in AXES
        for side, extreme in zip(axis, (min, max), strict=True)
    )


def merge(longer, shorter, n_longer, n_shorter, settings=DEFAULTS, limits=(None, None)):
    """Give the generalized samples of both stages, in the order of the shorter's samples.

    Where a sample and its match are stretched by more than the limits, the sample is left out.
    Gives the number of these, too.
    """

    def too_far(a, b, na, nb):
        """Tell whether merging two samples stretches them by more than a limit."""
        return any(
            most is not None and stretched(a, b, na, nb, axes) > most
            for axes, most in zip((SPACE, TIME), limits, strict=True)
        )

    def matched(boxes, others, n, n_others):
        """Find for each box which of the others it is merged with, or None."""
        if not others:
            return [None] * len(boxes)
        targets = [cheapest(box, others, n, n_others, settings) for box in boxes]
        pairs = zip(boxes, targets, strict=True)
        return [None if too_far(box, others[j], n, n_others) else j for box, j in pairs]

    def merged(others, boxes, targets):
        """Stretch each of the others to hold the boxes that are merged with it."""
        pairs = list(zip(boxes, targets, strict=True))
        return [
            bounding([other, *(box for box, to in pairs if to == j)])
            for j, other in enumerate(others)
        ]

    # Stage A: every sample of the longer goes to a sample of the shorter.
    first = matched(longer, shorter, n_longer, n_shorter)
    grown = merged(shorter, longer, first)
    results = [grown[j] for j in range(len(shorter)) if j in first]
    # Stage B: what is left of the shorter goes to the results, as stage A left them.
    rest = [shorter[j] for j in range(len(shorter)) if j not in first]
    second = matched(rest, results, n_shorter, n_longer + n_shorter)
    return merged(results, rest, second), (first + second).count(None)


def exceeds(box, max_space, max_time):
    """Tell whether a box is too large to be published."""
    x0, x1, y0, y1, t0, t1 = box
    return (max_space is not None and (x1 - x0 > max_space or y1 - y0 > max_space)) or (
        max_time is not None and t1 - t0 > max_time
    )


def reshaped(boxes, how):
    """Resolve overlaps in time as `how` says: split, union or none."""
    boxes = sorted(set(boxes), key=in_time)
    if how == "split":
        cuts = sorted({moment for *_, t0, t1 in boxes for moment in (t0, t1)})
        pieces = []
        for start, end in itertools.pairwise(cuts):
            covering = [box for box in boxes if box[4] <= start and end <= box[5]]
            if covering:
                pieces.append((*bounding(covering)[:4], start, end))
        return pieces
    if how == "union":
        groups = []
        for box in boxes:
            if groups and box[4] < max(t1 for *_, t1 in groups[-1]):
                groups[-1].append(box)
            else:
                groups.append([box])
        return [bounding(group) for group in groups]
    return boxes


def lies_in(sample, boxes):
    """Tell whether at every slot of the sample some box holds all of its footprint."""
    x0, x1, y0, y1, t0, t1 = sample
    return all(
        any(
            b[0] <= x0 and x1 <= b[1] and b[2] <= y0 and y1 <= b[3] and b[4] <= slot < b[5]
            for b in boxes
        )
        for slot in range(t0, t1)
    )


class Node(NamedTuple):
    """A trajectory in the course of merging: input people first, then one a merge."""

    index: int
    boxes: list
    crowd: int
    members: list
    homes: frozenset = frozenset()


class Gloved(NamedTuple):
    merges: list
    """``(older, younger, cost)``, in the order in which they happened."""
    published: list
    """Nodes, in the order of their index."""
    assignment: list
    """For each person her trajectory's place in `published`, or None."""
    losses: dict


def complete(node, k, least):
    """Tell whether a crowd has enough people and enough distinct homes."""
    return node.crowd >= k and len(node.homes) >= least


def may_merge(a, b, k, least):
    """Tell whether two may become one crowd, where every crowd needs so many distinct homes."""
    homes, people = len(a.homes | b.homes), a.crowd + b.crowd
    enough = homes >= least
    each_brings_one = homes > max(len(a.homes), len(b.homes))
    one_has_none = bool(a.homes) != bool(b.homes)
    still_room = least - homes <= k - people
    return enough or each_brings_one or one_has_none or still_room


def glove(
    people,
    k,
    variant="strict",
    reshape="split",
    max_space=None,
    max_time=None,
    suppress="boxes",
    settings=DEFAULTS,
    crowd=None,
    homes=None,
    least=0,
):
    """Algorithm 1, with the whole matrix.

    With homes, each crowd has so many distinct ones at least; None is no home, and counts for
    nothing.
    """
    limits, none = (max_space, max_time), (None, None)
    of_samples, of_boxes = {"boxes": (none, limits), "samples": (limits, none)}[suppress]
    crowd = crowd or [1] * len(people)
    homes = homes or [None] * len(people)
    alive = {
        i: Node(i, sorted(boxes, key=in_time), crowd[i], [i], frozenset({homes[i]} - {None}))
        for i, (_, boxes) in enumerate(people)
    }
    unfinished = {"strict": all, "loose": any}[variant]
    matrix = {}

    def fill(index):
        """Compute what every older trajectory costs that may be merged with this one."""
        b = alive[index]
        for a in alive.values():
            if (
                a.index < index
                and unfinished(not complete(node, k, least) for node in (a, b))
                and may_merge(a, b, k, least)
            ):
                cost = trajectory_stretch(a.boxes, b.boxes, a.crowd, b.crowd, settings)
                matrix[a.index, index] = cost

    for index in list(alive):
        fill(index)
    merges, suppressed, emptied = [], 0, []
    while matrix:
        cost, pair = min((cost, pair) for pair, cost in matrix.items())
        matrix = {other: cost for other, cost in matrix.items() if not set(other) & set(pair)}
        a, b = (alive.pop(index) for index in pair)
        both = by_length(a.boxes, b.boxes, a.crowd, b.crowd)
        merged, left_out = merge(*both, settings, of_samples)
        kept = [box for box in merged if not exceeds(box, *of_boxes)]
        suppressed += left_out + len(merged) - len(kept)
        index = len(people) + len(merges)
        merges.append((*pair, cost))
        members, together = sorted(a.members + b.members), a.homes | b.homes
        node = Node(index, reshaped(kept, reshape), a.crowd + b.crowd, members, together)
        if node.boxes:
            alive[index] = node
            fill(index)
        else:
            emptied.append(node)

    published = [node for node in alive.values() if complete(node, k, least)]
    left_over = [node for node in alive.values() if not complete(node, k, least)]
    assignment = [None] * len(people)
    for place, node in enumerate(published):
        for member in node.members:
            assignment[member] = place
    uncovered = [
        sample
        for place, (_, boxes) in zip(assignment, people, strict=True)
        if place is not None
        for sample in boxes
        if not lies_in(sample, published[place].boxes)
    ]
    losses = {
        "people_left_over": sum(node.crowd for node in left_over),
        "people_emptied": sum(node.crowd for node in emptied),
        "people_dropped": sum(node.crowd for node in left_over + emptied),
        "samples_dropped": sum(
            len(people[member][1]) for node in left_over + emptied for member in node.members
        ),
        "samples_suppressed": len(uncovered),
        "boxes_suppressed": suppressed,
    }
    return Gloved(merges, published, assignment, losses)
