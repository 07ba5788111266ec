"""What a release is still good for, from the text of section 9.2 and from what the words mean.

A person's samples are boxes in the order of the data; places are fractions of cells, moments are
datetimes, and everything is counted in dictionaries.
"""

import bisect
import datetime as dt
import math
import zoneinfo
from collections import Counter
from fractions import Fraction
from itertools import pairwise

__all__ = [
    "area_of_hull",
    "centre_of_mass",
    "common_share",
    "gyration_of",
    "local_hour",
    "moved_share",
    "popular_place",
    "populations",
    "positions",
    "quantile_of",
    "rank_correlation",
    "seen_squares",
    "spread_of_ratios",
    "straight",
    "travel",
    "trips_of",
]


def positions(boxes):
    """Take the centres of boxes in the order of their middle instants."""
    in_order = sorted(boxes, key=lambda box: box[4] + box[5])
    return [(Fraction(x0 + x1, 2), Fraction(y0 + y1, 2)) for x0, x1, y0, y1, _, _ in in_order]


def local_hour(box, frame, tz):
    """Look at the clock on the wall in the middle of a box."""
    since = dt.timedelta(seconds=frame.origin) + dt.timedelta(seconds=frame.slot) * (
        (box[4] + box[5]) / 2
    )
    moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + since
    return moment.astimezone(zoneinfo.ZoneInfo(tz)).hour


def centre_of_mass(boxes):
    """Footnote 6: the mean of all locations."""
    found = positions(boxes)
    return tuple(sum(axis) / len(found) for axis in zip(*found, strict=True))


def straight(a, b):
    """Measure the way from one point to another."""
    return math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)


def popular_place(boxes, hours, frame, tz):
    """Find the place with most samples in some hours; of equals, the one that was first."""
    in_order = sorted(boxes, key=lambda box: box[4] + box[5])
    there = [box for box in in_order if local_hour(box, frame, tz) in hours]
    # Counters give equals in the order in which they were met.
    most = Counter(positions(there)).most_common(1)
    return most[0][0] if most else None


def travel(boxes):
    """Add up the ways from sample to sample, in half cells as they are whole numbers."""
    way = 0.0
    found = positions(boxes)
    for (x, y), (u, v) in pairwise(found):
        way += math.sqrt(4 * ((x - u) ** 2 + (y - v) ** 2))
    return way / 2


def gyration_of(boxes):
    """Footnote 4: the root of the mean squared distance to the centre of mass."""
    x, y = centre_of_mass(boxes)
    found = positions(boxes)
    return math.sqrt(sum((u - x) ** 2 + (v - y) ** 2 for u, v in found) / len(found))


def area_of_hull(boxes):
    """Go round all pairs of points that have everything on their left."""
    points = set(positions(boxes))
    twice = Fraction(0)
    for a in points:
        for b in points - {a}:
            if all(_is_left(a, b, c) for c in points - {a, b}):
                twice += a[0] * b[1] - a[1] * b[0]
    return twice / 2


def _is_left(a, b, c):
    turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return turn > 0 or (turn == 0 and min(a, b) < c < max(a, b))


def quantile_of(values, share):
    """Give the first value that so many do not exceed."""
    in_order = sorted(values)
    for number, value in enumerate(in_order, 1):
        if number / len(in_order) >= share:
            return value
    return None


def spread_of_ratios(before, after, least, across, up):
    """Count people by original value and ratio; a cell with few is left out."""
    cells = Counter()
    for value, now in zip(before, after, strict=True):
        if value > 0 and now > 0:
            i = bisect.bisect_right(across, value) - 1
            j = bisect.bisect_right(up, now / value) - 1
            cells[across[i], across[i + 1], up[j], up[j + 1]] += 1
    return {cell: people for cell, people in cells.items() if people >= least}


def _square(place, side):
    return math.floor(place[0] / side), math.floor(place[1] / side)


def seen_squares(people, side):
    """Count samples by square; people are (crowd, boxes)."""
    found = Counter()
    for crowd, boxes in people:
        for place in positions(boxes):
            found[_square(place, side)] += crowd
    return found


def trips_of(people, side):
    """Count who goes from one square to another."""
    found = Counter()
    for crowd, boxes in people:
        squares = [_square(place, side) for place in positions(boxes)]
        for start, end in pairwise(squares):
            if start != end:
                found[start, end] += crowd
    return found


def populations(people, side, frame, tz, *, hourly=True):
    """Count people by square, and by hour of the day, each of them once."""
    found = Counter()
    for crowd, boxes in people:
        hours = (local_hour(box, frame, tz) if hourly else 0 for box in boxes)
        where = (_square(positions([box])[0], side) for box in boxes)
        for key in set(zip(where, hours, strict=True)):
            found[key] += crowd
    return found


def moved_share(before, after):
    """Half the sum of the differences of shares."""
    if not before or not after:
        return float(bool(before or after))
    here, there = before.total(), after.total()
    shares = (
        abs(Fraction(before[key], here) - Fraction(after[key], there))
        for key in before.keys() | after.keys()
    )
    return float(sum(shares) / 2)


def common_share(before, after):
    """What both have as often, of the larger number."""
    most = max(before.total(), after.total())
    return (before & after).total() / most if most else 1.0


def rank_correlation(before, after):
    """Spearman's, equals having the mean of their ranks."""
    keys = sorted(before.keys() | after.keys())
    first, second = (
        [_rank(counts[key], counts, keys) for key in keys] for counts in (before, after)
    )
    middle = Fraction(len(keys) + 1, 2)
    first, second = ([rank - middle for rank in ranks] for ranks in (first, second))
    spread = sum(a * a for a in first) * sum(b * b for b in second)
    together = sum(a * b for a, b in zip(first, second, strict=True))
    return float(together) / math.sqrt(spread) if spread else None


def _rank(value, counts, keys):
    values = sorted(counts[key] for key in keys)
    places = [place for place, other in enumerate(values, 1) if other == value]
    return Fraction(sum(places), len(places))
