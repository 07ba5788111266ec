"""Traces, points of interest and uniqueness, as the paper of 2016 tells (sections 3.2 and 3.3)."""

import itertools
import math
from collections import Counter
from fractions import Fraction


def trace(visits, kind, precision=1, met=3):
    """Give the points of a person and how often each occurs; visits are ``(time, place)``."""
    entries = Counter((time // precision, place) for time, place in visits)
    if kind == "spatio_temporal":
        return entries
    if kind == "spatial":
        return Counter(place for _, place in entries)
    hours = Counter(slot for slot, _ in entries)
    return Counter({slot: number for slot, number in hours.items() if number >= met})


def crowd_of(traces, points):
    """Count the people who have all of some points."""
    return sum(all(point in one for point in points) for one in traces)


def most_frequent(one, p):
    """Give the p points that occur most; of equals the earlier slot, then the lower place."""
    return sorted(one, key=lambda point: (-one[point], point))[:p]


def unique_share(traces, person, p):
    """Give the share of a person's sub-traces of p points that nobody else has."""
    all_of_hers = list(itertools.combinations(traces[person], p))
    alone = sum(crowd_of(traces, points) == 1 for points in all_of_hers)
    return Fraction(alone, len(all_of_hers)) if all_of_hers else None


def wilson(unique, trials):
    """Give the ends of the interval after Wilson: where a share is 1.96 errors away."""
    z, n, share = 1.959963984540054, trials, unique / trials
    root = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (
        max(0, (share + z * z / (2 * n) - root) / (1 + z * z / n)),
        min(1, (share + z * z / (2 * n) + root) / (1 + z * z / n)),
    )


def stays(fixes, diameter, least, silence):
    """Find the stays of a person; fixes are ``(x, y, t)``, and a stay is a list of them."""
    found, window = [], []

    def end():
        if window and window[-1][2] - window[0][2] >= least:
            found.append(list(window))
            window.clear()

    for fix in fixes:
        if window and fix[2] - window[-1][2] >= silence:
            end()
            window.clear()
        if any(_apart(fix, other) > diameter**2 for other in window):
            end()
            while any(_apart(fix, other) > diameter**2 for other in window):
                window.pop(0)
        window.append(fix)
    end()
    return found


def _apart(a, b):
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


def gathered(places, radius, founders=()):
    """Let places ``(x, y, lasted)`` found, longest first, where there is no founder near.

    Then each joins the nearest. Gives the index of each one's founder among the founders, and the
    founders.
    """
    founders = list(founders)
    for place in sorted(places, key=lambda place: -place[2]):
        if all(_apart(place, founder) > radius**2 for founder in founders):
            founders.append(place)
    near = [[(_apart(place, f), number) for number, f in enumerate(founders)] for place in places]
    return [min(one)[1] for one in near], founders


def points_of_interest(people, cell, slot, diameter=250, stay=30, gap=None, known=()):
    """Give the stays ``(person, first, last, x, y, poi)`` of everybody, and where POIs are."""
    wide = Fraction(diameter) / Fraction(cell)
    least, silence = (Fraction(60 * time, slot) for time in (stay, stay if gap is None else gap))
    all_stays, own = [], []
    for person, fixes in enumerate(people):
        mine = []
        for window in stays(fixes, wide, least, silence):
            x, y = (sum(fix[axis] for fix in window) // len(window) for axis in (0, 1))
            mine.append((person, window[0][2], window[-1][2], x, y))
        joined, founders = gathered([(x, y, b - a) for _, a, b, x, y in mine], wide / 2)
        lasted = Counter()
        for one, number in zip(mine, joined, strict=True):
            lasted[number] += one[2] - one[1]
        all_stays += [(one, len(own) + number) for one, number in zip(mine, joined, strict=True)]
        own += [(x, y, lasted[number]) for number, (x, y, _) in enumerate(founders)]
    shared, pois = gathered(own, wide / 2, known)
    return (
        [(*one, shared[number]) for one, number in all_stays],
        [(x, y) for x, y, *_ in pois],
    )
