"""Accuracy of a release and features of data, as sections 7 and 8 of the paper of 2021 say.

Boxes are ``(x0, x1, y0, y1, t0, t1)``; `before` is a list of each person's boxes, `after` one of
each crowd's, `crowd` says how many people each crowd has, and `became` which crowd each person is
in (-1 for none).
"""

import itertools
import math
from collections import Counter
from fractions import Fraction


def box_sizes(box):
    """The granularity of a box: its longer side, and its length in time."""
    return max(box[1] - box[0], box[3] - box[2]), box[5] - box[4]


def published_rows(after, crowd):
    """Every box once for each person of its crowd."""
    return [box for boxes, people in zip(after, crowd, strict=True) for box in boxes * people]


def spread_of(values, scale, thresholds):
    """Mean, least, quartiles, most and cumulative shares of values in units of a scale."""
    if not values:
        return None
    counts = Counter(values)
    order = sorted(values)
    total = math.fsum(value * count for value, count in counts.items())
    cuts = [order[-(-quarter * len(order) // 4) - 1] * scale for quarter in (1, 2, 3)]
    shares = [sum(v * scale <= limit for v in order) / len(order) for limit in thresholds]
    return (
        total / len(order) * scale,
        order[0] * scale,
        *cuts,
        order[-1] * scale,
        tuple(zip(thresholds, shares, strict=True)),
    )


def share_up_to(rows, metres, minutes, cell, slot):
    """The share of rows that are as fine as both thresholds."""
    if not rows:
        return None
    sizes = map(box_sizes, rows)
    return sum(s * cell <= metres and t * (slot / 60) <= minutes for s, t in sizes) / len(rows)


def person_curve(after, crowd, axis, unit, threshold):
    """Figure 12: the share of people with at least x % of their samples up to a threshold."""
    people = [
        sum(box_sizes(box)[axis] * unit <= threshold for box in boxes) / Fraction(len(boxes))
        for boxes, many in zip(after, crowd, strict=True)
        if boxes
        for _ in range(many)
    ]
    shares = [
        sum(part >= Fraction(x, 100) for part in people) / len(people) for x in range(0, 101, 5)
    ]
    return tuple(shares), people.count(0) / len(people)


def holds(box, sample):
    """Whether a sample lies in a box."""
    return all(box[i] <= sample[i] and sample[i + 1] <= box[i + 1] for i in (0, 2, 4))


def holder_of(sample, boxes):
    """The smallest box that holds a sample, the first of equals; None if there is none."""
    held = [box for box in boxes if holds(box, sample)]
    return min(held, key=_volume, default=None)


def _volume(box):
    return math.prod(box[i + 1] - box[i] for i in (0, 2, 4))


def sample_errors(before, after, became):
    """Twice the distance of each sample that is held to the centre of its box; how many are not.

    In space the distance, in time the time.
    """
    space, time, deleted = [], [], 0
    for boxes, where in zip(before, became, strict=True):
        for sample in boxes:
            box = None if where < 0 else holder_of(sample, after[where])
            if box is None:
                deleted += 1
                continue
            x, y, t = (sum(box[i : i + 2]) - sum(sample[i : i + 2]) for i in (0, 2, 4))
            space.append(math.sqrt(x * x + y * y))
            time.append(abs(t))
    return space, time, deleted


def samples_up_to(before, after, became, metres, minutes, cell, slot):
    """The share of all samples that lie in a box as fine as both thresholds."""
    count = total = 0
    for boxes, where in zip(before, became, strict=True):
        for sample in boxes:
            box = None if where < 0 else holder_of(sample, after[where])
            total += 1
            if box is not None:
                space, time = box_sizes(box)
                count += space * cell <= metres and time * (slot / 60) <= minutes
    return count / total


def held_sizes(before, after, became, axis, unit):
    """For each person, the size of the box in which each of her samples lies; None for no box."""
    found = []
    for boxes, where in zip(before, became, strict=True):
        held = [None if where < 0 else holder_of(sample, after[where]) for sample in boxes]
        found.append([None if box is None else box_sizes(box)[axis] * unit for box in held])
    return found


def sample_sizes(before, after, became, axis, unit, thresholds, of_people):
    """Cumulative shares of all samples, their median, and figure 12 for people's own samples."""
    people = held_sizes(before, after, became, axis, unit)
    sizes = [size for person in people for size in person]

    def share(some, threshold):
        return Fraction(sum(size is not None and size <= threshold for size in some), len(some))

    known = sorted(size for size in sizes if size is not None)
    half = -(-len(sizes) // 2)
    curves = []
    for threshold in of_people:
        shares = [share(person, threshold) for person in people if person]
        above = (sum(part >= Fraction(x, 100) for part in shares) for x in range(0, 101, 5))
        many = len(shares)
        curves.append((threshold, tuple(n / many for n in above), shares.count(0) / many))
    return (
        tuple((threshold, float(share(sizes, threshold))) for threshold in thresholds),
        known[half - 1] if half <= len(known) else None,
        tuple(curves),
    )


def members_of(crowd, became, before):
    """All samples of the people of a crowd."""
    return [
        box for boxes, where in zip(before, became, strict=True) if where == crowd for box in boxes
    ]


def place_within(sample, box):
    """Whether the place of a sample lies in that of a box."""
    return all(box[i] <= sample[i] and sample[i + 1] <= box[i + 1] for i in (0, 2))


def is_created(box, samples):
    """Whether some edge of a box is that of no sample."""
    there = [sample for sample in samples if place_within(sample, box)]
    in_space = all(any(sample[i] == box[i] for sample in there) for i in range(4))
    moments = {moment for sample in samples for moment in sample[4:]}
    return not (in_space and box[4] in moments and box[5] in moments)


def is_unseen(box, samples):
    """Whether nobody was seen in the place of a box at its time."""
    return not any(
        place_within(sample, box) and sample[4] < box[5] and box[4] < sample[5]
        for sample in samples
    )


def count_rows(is_it, before, after, crowd, became):
    """How many rows, one for each person of a crowd, something is true of."""
    return sum(
        people * sum(is_it(box, members_of(which, became, before)) for box in boxes)
        for which, (boxes, people) in enumerate(zip(after, crowd, strict=True))
    )


def travel_distance(boxes, cell):
    """All ways from the centre of a sample to that of the next, in metres."""
    total = 0.0
    for a, b in itertools.pairwise(boxes):
        x, y = (b[i] + b[i + 1] - a[i] - a[i + 1] for i in (0, 2))
        total += math.sqrt(x * x + y * y)
    return total * (cell / 2)


def gap_deviation(boxes, slot):
    """The standard deviation of the time from a sample to the next, in minutes."""
    if len(boxes) < 2:
        return math.nan
    gaps = [b[4] + b[5] - a[4] - a[5] for a, b in itertools.pairwise(boxes)]
    mean = sum(gaps) / len(gaps)
    square = 0.0
    for gap in gaps:
        square += (gap - mean) * (gap - mean)
    return math.sqrt(square / len(gaps)) * (slot / 120)


def mean_place(boxes, cell):
    """The mean of the centres of samples, in metres."""
    x, y = (sum(box[i] + box[i + 1] for box in boxes) for i in (0, 2))
    return x / len(boxes) * (cell / 2), y / len(boxes) * (cell / 2)


def local_density(circles):
    """How many other circles ``(x, y, radius)`` each one meets."""
    return [
        sum(
            i != j and (u - x) * (u - x) + (v - y) * (v - y) <= (s + r) * (s + r)
            for j, (u, v, s) in enumerate(circles)
        )
        for i, (x, y, r) in enumerate(circles)
    ]


def pearson(a, b):
    """The correlation of two lists, its sums as fractions; None if one never changes."""
    a, b = [Fraction(value) for value in a], [Fraction(value) for value in b]
    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    both = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    squares = sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)
    return float(both) / math.sqrt(squares)


def ranks(values):
    """The rank of each value; of equals, the mean of theirs."""
    return [
        Fraction(2 * sum(other < value for other in values) + values.count(value) + 1, 2)
        for value in values
    ]


def spearman(a, b):
    """The correlation of the ranks."""
    return pearson(ranks(list(a)), ranks(list(b)))


def densest_square(cells, side, step):
    """The most samples in a square whose edges are multiples of a step, and the first such one.

    The first in x, then in y, of those that start where a sample is, in x and in y.
    """
    starts_x, starts_y = ({cell[i] // step * step for cell in cells} for i in (0, 1))
    squares = [
        (-sum(x <= u < x + side and y <= v < y + side for u, v in cells), x, y)
        for x in starts_x
        for y in starts_y
    ]
    number, x, y = min(squares)
    return -number, x, y


def first_costs(people, merges):
    """What it cost to merge each person with whom she was merged first; None if with nobody."""
    return [
        next((cost for older, younger, cost in merges if person in (older, younger)), None)
        for person in range(people)
    ]
