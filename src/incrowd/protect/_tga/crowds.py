"""Who is together: the first of a crowd by chance, then whoever costs least to add to it.

Crowds are made one after the other, each of people who are in none: the first is the next of a
random order of everybody, and others are added until there are k people. With *multi* each is the
one who costs least to add to the crowd as it is by then; with *fast* people are ranked once, by
what they cost with the first. When fewer than k people are left, they join, in the order of the
data, each the crowd to which that costs least (of several the one that was made first).

On several threads crowds are made ahead of their turn, from all who were in none at that time. Such
a crowd stands if all of it are still in none when its turn comes: who was the cheapest of many is
so of fewer. Otherwise it is made again. So the result does not depend on the number of threads.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints
from incrowd.data._columns import frozen
from incrowd.data._trajectories import Trajectories
from incrowd.protect._tga.bounds import places_of
from incrowd.protect._tga.costs import NEVER, Costs
from incrowd.protect._tga.matching import Side, matched
from incrowd.protect._tga.search import People, cheapest

__all__ = [
    "VARIANTS",
    "Crowd",
    "Made",
    "crowds_of",
]


VARIANTS = ("multi", "fast")
AHEAD = 8
"""How many crowds a thread makes ahead of their turn."""


class Crowd(NamedTuple):
    """People who are together, and what they have in common.

    Attributes
    ----------
    members
        The people, in the order in which they were added.
    size
        For how many they stand.
    boxes
        Six columns: the points that all of them have in common, in the order of their starts.
    matched
        How many matchings were looked for to find them.
    """

    members: tuple[int, ...]
    size: int
    boxes: NDArray[np.int32]
    matched: int


class Made(NamedTuple):
    """All crowds of a dataset; how many people joined late; how many matchings were looked for."""

    crowds: list[Crowd]
    late: int
    matched: int


class _Work(NamedTuple):
    """What every crowd is made from."""

    people: People
    costs: Costs
    k: int
    variant: str
    bounded: bool


def crowds_of(
    data: Trajectories,
    costs: Costs,
    order: Ints,
    k: int,
    variant: str,
    *,
    threads: int,
    progress: Callable[[int, int], None] | None = None,
    bounded: bool = True,
) -> Made:
    """Put everybody into crowds of k; each of them needs a point at least.

    Parameters
    ----------
    data
        Trajectories of people (or of crowds).
    costs
        What boxes and suppressed points cost.
    order
        Everybody, in the order in which they may be the first of a crowd.
    k, variant
        As for `incrowd.TGA`.
    threads, bounded
        How it is computed: neither changes the result.
    progress
        Called with how many trajectories are in a crowd, and how many there are.
    """
    places = places_of(data.columns, data.offsets)
    people = People(data.columns, data.offsets, data.crowd.astype(np.int64), places)
    work = _Work(people, costs, k, variant, bounded)
    free, made = np.ones(len(data), np.bool_), list[Crowd]()
    left, tried, at = int(data.crowd.sum()), 0, 0
    ahead: dict[int, Crowd] = {}
    with ThreadPoolExecutor(threads) as pool:
        while left >= k:
            soon = [one for one in _next(order, at, free, threads) if one not in ahead]
            job = partial(_crowd, free=free.copy(), work=work)
            # The first one here, where an interruption ends the compiler; then this thread waits.
            for crowd in map(job, soon) if at == 0 else pool.map(job, soon):
                ahead[crowd.members[0]] = crowd
                tried += crowd.matched
            while at < len(order) and left >= k:
                first = int(order[at])
                ready = ahead.pop(first, None)
                if free[first]:
                    if ready is None or not free[list(ready.members)].all():
                        break  # to be made (again), in the next round
                    free[list(ready.members)] = False
                    made.append(ready)
                    left -= ready.size
                    if progress:
                        progress(len(data) - int(np.count_nonzero(free)), len(data))
                at += 1
    for person in np.flatnonzero(free):
        tried += _join(int(person), made, work)
    if progress:
        progress(len(data), len(data))
    return Made(made, left, tried)


def _next(order: Ints, at: int, free: NDArray[np.bool_], threads: int) -> list[int]:
    """Give those who are the first of the next crowds, as far as can be told now."""
    number, soon = AHEAD * threads if threads > 1 and at else 1, list[int]()
    while at < len(order) and len(soon) < number:
        if free[order[at]]:
            soon.append(int(order[at]))
        at += 1
    return soon


def _crowd(first: int, free: NDArray[np.bool_], work: _Work) -> Crowd:
    """Make the crowd of somebody, of people who are free."""
    free = free.copy()
    free[first] = False
    people, k = work.people, work.k
    a, ranked = people.side(first), list[int]()
    boxes = np.stack([column[a.first : a.last] for column in a.columns])
    crowd = Crowd((first,), a.people, boxes, 0)
    while crowd.size < k:
        cost = NEVER - 1
        if not ranked:
            wanted = 1 if work.variant == "multi" else k - crowd.size
            among = np.flatnonzero(free)
            found = cheapest(a, among, people, work.costs, wanted, bounded=work.bounded)
            crowd = crowd._replace(matched=crowd.matched + found.matched)
            ranked, cost = found.who.tolist(), found.cost[0]
        other = ranked.pop(0)
        free[other] = False
        crowd = _added(crowd, a, other, cost, work)
        a = _side(crowd)
    return crowd


def _added(crowd: Crowd, a: Side, other: int, cost: int, work: _Work) -> Crowd:
    """Add somebody to a crowd; what that costs, or more, is known."""
    _, boxes = matched(a, work.people.side(other), work.costs, cost)
    size = crowd.size + int(work.people.crowd[other])
    return Crowd((*crowd.members, other), size, np.ascontiguousarray(boxes), crowd.matched)


def _side(crowd: Crowd) -> Side:
    """Return a crowd as a side of a matching."""
    return _people([crowd]).side(0)


def _people(crowds: list[Crowd]) -> People:
    """Return crowds as those among whom is searched."""
    columns = tuple(
        frozen(np.concatenate([crowd.boxes[side] for crowd in crowds])) for side in range(6)
    )
    offsets = frozen(np.cumsum([0, *(crowd.boxes.shape[1] for crowd in crowds)]))
    sizes = np.array([crowd.size for crowd in crowds], np.int64)
    return People(columns, offsets, sizes, places_of(columns, offsets))


def _join(person: int, made: list[Crowd], work: _Work) -> int:
    """Let somebody who is left over join the crowd to which that costs least."""
    crowds, one = _people(made), work.people.side(person)
    found = cheapest(one, np.arange(len(made)), crowds, work.costs, 1, bounded=work.bounded)
    at = int(found.who[0])
    made[at] = _added(made[at], crowds.side(at), person, found.cost[0], work)
    return found.matched
