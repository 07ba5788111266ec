"""Who costs least to add, with as few matchings as possible.

::

    all ──places_bounds──> sorted; the first few ──┐
                           then all the others  ──┴─times_bounds──> sorted ──match_in_order──> found

A candidate is left out only if by some bound it costs *more* than as many others as are wanted are
known to cost; one that may cost the same is matched, and of those that cost the same the one that
comes first in the data is taken. So no bound, and no order of work, changes the result.
"""

from typing import NamedTuple

import numpy as np

from incrowd._numba import ZERO, Ints, kernel, kernel_private
from incrowd.protect._tga.bounds import (
    Columns,
    Places,
    by_places,
    by_times,
    more_suppressed,
    smallest_boxes,
)
from incrowd.protect._tga.costs import NEVER, Costs
from incrowd.protect._tga.matching import (
    Scratch,
    Side,
    log_cost,
    look_ahead,
    look_nowhere,
    scratch_for,
)

__all__ = [
    "Found",
    "People",
    "cheapest",
]


TRIED = 16
"""How many of those who may be nearest by their places are looked at first, for a limit."""


class People(NamedTuple):
    """Trajectories among which is searched: of persons, or of crowds.

    Attributes
    ----------
    columns, offsets
        Their points; the start of none is before that of the one before.
    crowd
        How many people are behind each.
    places
        Where their points are.
    """

    columns: Columns
    offsets: Ints
    crowd: Ints
    places: Places

    def side(self, person: int) -> Side:
        """Return one of them as a side of a matching."""
        first, last, places = int(self.offsets[person]), int(self.offsets[person + 1]), self.places
        return Side(
            self.columns,
            first,
            last,
            places.code,
            places.sides[person],
            places.points[person],
            int(self.crowd[person]),
        )


class Found(NamedTuple):
    """Whom it costs least to add.

    Attributes
    ----------
    who, cost
        The cheapest and what each costs, in this order; of the same cost the first in the data.
    matched
        For how many the matching was looked for.
    """

    who: Ints
    cost: Ints
    matched: int


def cheapest(
    a: Side, among: Ints, people: People, costs: Costs, wanted: int, *, bounded: bool = True
) -> Found:
    """Find the so many of some people whom it costs least to match with a trajectory.

    Without bounds everybody is matched, with the same result.
    """
    wanted = min(wanted, len(among))
    who, cost = np.full(wanted, -1, np.int64), np.full(wanted, NEVER)
    if not bounded:
        least = np.zeros(len(among), np.int64)
        return Found(who, cost, match_in_order(a, among, least, people, costs, who, cost, False))  # noqa: FBT003
    among, least = _sorted(among, places_bounds(a, among, people, costs))
    begun, made = 0, 0
    for end in (max(TRIED, wanted), len(among)):
        some = among[begun:end][least[begun:end] <= cost[-1]]
        some, bound = _sorted(some, times_bounds(a, some, people, costs))
        made += match_in_order(a, some, bound, people, costs, who, cost, True)  # noqa: FBT003
        begun = end
    return Found(who, cost, made)


def _sorted(among: Ints, least: Ints) -> tuple[Ints, Ints]:
    order = np.argsort(least, kind="stable")
    return among[order], least[order]


@kernel_private
def side_of(people: People, person: int) -> Side:
    """Give one of some people as a side of a matching."""
    return Side(
        people.columns,
        people.offsets[person],
        people.offsets[person + 1],
        people.places.code,
        people.places.sides[person],
        people.places.points[person],
        people.crowd[person],
    )


@kernel_private
def longest_of(among: Ints, offsets: Ints) -> int:
    """Give the most points that one of some people has."""
    longest = ZERO
    for c in among:
        longest = max(longest, offsets[c + 1] - offsets[c])
    return int(longest)


@kernel
def places_bounds(a: Side, among: Ints, people: People, costs: Costs) -> Ints:
    """Give what it costs at least to match each of some people, by their places."""
    least, scratch = np.empty(len(among), np.int64), scratch_for(ZERO, ZERO)
    near, n = scratch.near, a.last - a.first
    for c in range(len(among)):
        b = side_of(people, among[c])
        smallest_boxes(a.sides, a.points, b.sides, b.points, costs, near[0], near[1])
        least[c] = by_places(near[0], a.points, b.last - b.first, a.people, costs, scratch.used)
        least[c] += by_places(near[1], b.points, n, b.people, costs, scratch.used)
    return least


@kernel
def times_bounds(a: Side, among: Ints, people: People, costs: Costs) -> Ints:
    """Give what it costs at least to match each of some people, by their places and times."""
    n, least = a.last - a.first, np.empty(len(among), np.int64)
    scratch = scratch_for(n, longest_of(among, people.offsets))
    near, one, two = scratch.near, scratch.least_a, scratch.least_b
    for c in range(len(among)):
        b = side_of(people, among[c])
        smallest_boxes(a.sides, a.points, b.sides, b.points, costs, near[0], near[1])
        total = a.people * by_times(
            a.columns, a.first, a.last, a.code, near[0], b.columns[4], b.first, b.last, costs, one
        )
        total += b.people * by_times(
            b.columns, b.first, b.last, b.code, near[1], a.columns[4], a.first, a.last, costs, two
        )
        least[c] = total + surplus(n, b.last - b.first, a.people, b.people, costs, scratch)
    return least


@kernel_private
def surplus(n: int, m: int, people_a: int, people_b: int, costs: Costs, scratch: Scratch) -> int:
    """Give what it costs at least, beyond their b, that some of the more points are suppressed."""
    if n > m:
        more_suppressed(scratch.least_a, n, n - m, people_a, costs, scratch.more, scratch.highest)
        return int(scratch.more[n - m])
    more_suppressed(scratch.least_b, m, m - n, people_b, costs, scratch.more, scratch.highest)
    return int(scratch.more[m - n])


@kernel
def match_in_order(
    a: Side,
    among: Ints,
    least: Ints,
    people: People,
    costs: Costs,
    who: Ints,
    cost: Ints,
    bounded: bool,  # noqa: FBT001
) -> int:
    """Match people, those first who may cost least; note the cheapest; give how many were matched.

    It ends where the next one costs more, at least, than the last of the cheapest does.
    """
    n, made, none = a.last - a.first, ZERO, np.empty(0, np.uint8)
    scratch = scratch_for(n, longest_of(among, people.offsets))
    limit = NEVER
    for c in range(len(among)):
        limit = cost[-1]
        if least[c] > limit:
            break
        b = side_of(people, among[c])
        if bounded:
            if look_ahead(a, b, costs, limit, scratch) > limit:
                continue
        else:
            look_nowhere(n, b.last - b.first, scratch)
            limit = NEVER - 1
        made += 1
        found = log_cost(a, b, costs, limit, scratch, none)
        insert(among[c], found, who, cost)
    return int(made)


@kernel_private
def insert(person: int, found: int, who: Ints, cost: Ints) -> None:
    """Put somebody among the cheapest, if she is; of the same cost the first in the data."""
    at = len(who) - 1
    if found > cost[at] or (found == cost[at] and person > who[at] >= 0):
        return
    while at > 0 and (found < cost[at - 1] or (found == cost[at - 1] and person < who[at - 1])):
        who[at], cost[at] = who[at - 1], cost[at - 1]
        at -= 1
    who[at], cost[at] = person, found
