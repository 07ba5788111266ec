"""TGA by its definition: every log cost by the whole table, everybody compared with everybody.

A log cost is an integer, in units of 2**-32 of the natural logarithm; see `log_units`. A domain is
the width and height of the data in cells, and its length in slots.
"""

import math
from itertools import combinations

UNIT = 2**32


def log_units(span):
    """Give the logarithm of a number of cells or slots, rounded to units.

    Of numbers of more than 20 binary digits the first 20 count.
    """
    dropped = max(0, span.bit_length() - 20)
    return round(math.log(span >> dropped) * UNIT) + dropped * round(math.log(2) * UNIT)


def log_volume(width, height, length):
    return log_units(width) + log_units(height) + log_units(length)


def hull(a, b):
    """Give the smallest box around two."""
    low = [min(a[i], b[i]) for i in (0, 2, 4)]
    high = [max(a[i], b[i]) for i in (1, 3, 5)]
    return (low[0], high[0], low[1], high[1], low[2], high[2])


def box_cost(box):
    x0, x1, y0, y1, t0, t1 = box
    return log_volume(x1 - x0, y1 - y0, t1 - t0)


def domain_of(people):
    """Give the width, height and length of all that there is."""
    boxes = [box for _, boxes in people for box in boxes]
    return [max(b[i + 1] for b in boxes) - min(b[i] for b in boxes) for i in (0, 2, 4)]


def matching_cost(pairs, a, b, people_a, people_b, domain):
    """Give what a matching costs: its boxes, and everything that is in none as the whole domain."""
    lost = people_a * (len(a) - len(pairs)) + people_b * (len(b) - len(pairs))
    boxes = sum((people_a + people_b) * box_cost(hull(a[i], b[j])) for i, j in pairs)
    return boxes + lost * log_volume(*domain)


def order_preserving_matchings(n, m):
    """Give all one-to-one matchings of n things with m others that keep the order of both."""
    for size in range(min(n, m) + 1):
        for left in combinations(range(n), size):
            for right in combinations(range(m), size):
                yield list(zip(left, right, strict=True))


def log_cost(a, b, people_a, people_b, domain):
    """Give the least cost of a matching, and the matching: pairs of indices.

    Of matchings that cost the same, from the last points back: two points are matched rather than
    suppressed, and a point of `a` is suppressed rather than one of `b`.
    """
    lost_a, lost_b = (people * log_volume(*domain) for people in (people_a, people_b))
    both = people_a + people_b
    cost = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    step = [[None] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            ways = []
            if i and j:
                matched = cost[i - 1][j - 1] + both * box_cost(hull(a[i - 1], b[j - 1]))
                ways.append((matched, 0, (i - 1, j - 1)))
            if i:
                ways.append((cost[i - 1][j] + lost_a, 1, (i - 1, j)))
            if j:
                ways.append((cost[i][j - 1] + lost_b, 2, (i, j - 1)))
            if ways:
                cost[i][j], _, step[i][j] = min(ways)
    pairs, at = [], (len(a), len(b))
    while at != (0, 0):
        before = step[at[0]][at[1]]
        if before == (at[0] - 1, at[1] - 1):
            pairs.append(before)
        at = before
    return cost[-1][-1], pairs[::-1]


def tga(people, crowd, k, variant, order):
    """Make crowds of k: a list of ``([person, ...], [box, ...])``, and how many people were late.

    People are counted from 0; everybody has a box at least. The first of a crowd is the next in
    `order` who is in none. With multi the others are, one by one, whoever costs least to add to
    the crowd as it is by then; with fast those who cost least to add to the first. Who is left over
    joins the crowd to which that costs least. Of several the first one, in the order of the data,
    or of crowds.
    """
    domain = domain_of(people)
    boxes_of = [boxes for _, boxes in people]
    free, crowds = list(range(len(people))), []

    def cost(group, person):
        members, boxes = group
        size = sum(crowd[m] for m in members)
        return log_cost(boxes, boxes_of[person], size, crowd[person], domain)[0]

    def added(group, person):
        members, boxes = group
        size, other = sum(crowd[m] for m in members), boxes_of[person]
        pairs = log_cost(boxes, other, size, crowd[person], domain)[1]
        return [*members, person], [hull(boxes[i], other[j]) for i, j in pairs]

    for first in order:
        if first not in free or sum(crowd[p] for p in free) < k:
            continue
        free.remove(first)
        group = [first], boxes_of[first]
        ranked = sorted(free, key=lambda p: (cost(([first], boxes_of[first]), p), p))
        while sum(crowd[m] for m in group[0]) < k:
            if variant == "fast":
                nearest = ranked.pop(0)
            else:
                nearest = min(free, key=lambda p: (cost(group, p), p))
            free.remove(nearest)
            group = added(group, nearest)
        crowds.append(group)
    for person in free:
        at = min(range(len(crowds)), key=lambda c: (cost(crowds[c], person), c))
        crowds[at] = added(crowds[at], person)
    return crowds, sum(crowd[p] for p in free)
