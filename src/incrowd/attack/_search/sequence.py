"""The search where the adversary knows in which order places were visited.

Whoever has the known places in this order is left. Each candidate is followed as far as the known
places reach at the earliest, so that any other place can be looked up behind that. Branches are on
the place that leaves fewest; they end where nobody is left but those whose own sequence contains
all of the person's.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_private
from incrowd.attack._search.index import Records, most_people

__all__ = [
    "order",
    "sequences",
]


class Sequences(NamedTuple):
    """When each person has each key.

    `when` holds, for each entry of the lists by key, the moments at which that person has it
    (counted in her sequence), from `start` on.
    """

    start: Ints
    when: NDArray[np.int32]


class Paths(NamedTuple):
    """When people were at the places of the one under attack, by person and place.

    `start` tells where the moments start, `number` how many they are; `last` is the last of them,
    or -1.
    """

    start: Ints
    number: NDArray[np.int32]
    last: NDArray[np.int32]
    when: NDArray[np.int32]


@kernel
def sequences(
    offsets: Ints, key: NDArray[np.int32], times: NDArray[np.int32], records: Records
) -> Sequences:
    """Note when everybody has each key; `times` tells how often, for the lists by key."""
    start = np.zeros(len(times) + 1, np.int64)
    for i in range(len(times)):
        start[i + 1] = start[i] + times[i]
    when, fill = np.empty(len(key), np.int32), start[:-1].copy()
    at = records.start[:-1].copy()
    for person in range(len(offsets) - 1):
        for i in range(offsets[person], offsets[person + 1]):
            k = key[i]
            if records.person[at[k]] != person:
                at[k] += 1  # the lists go through people in order, as we do
            when[fill[at[k]]] = i - offsets[person]
            fill[at[k]] += 1
    return Sequences(start, when)


@kernel_private
def _next(paths: Paths, c: int, y: int, after: int) -> int:
    """Give the first moment at a place behind another moment; there must be one."""
    low, high = paths.start[c, y], paths.start[c, y] + paths.number[c, y] - 1
    while low < high:
        middle = (low + high) // 2
        if paths.when[middle] > after:
            high = middle
        else:
            low = middle + 1
    return paths.when[low]


@kernel_private
def _paths(
    start: int, end: int, records: Records, known: Sequences, local: NDArray[np.int32]
) -> tuple[Paths, NDArray[np.int32]]:
    """Note when everybody was where a person was; gives the numbers of these people, too."""
    size = end - start
    people = np.empty(most_people(start, end, len(local), records), np.int32)
    first = np.zeros((len(people), size), np.int64)
    number, last = np.zeros(first.shape, np.int32), np.full(first.shape, -1, np.int32)
    used = 0
    for y in range(size):
        key = records.key[start + y]
        for i in range(records.start[key], records.start[key + 1]):
            who = records.person[i]
            if local[who] < 0:
                local[who], people[used] = used, who
                used += 1
            c = local[who]
            first[c, y], number[c, y] = known.start[i], known.start[i + 1] - known.start[i]
            last[c, y] = known.when[known.start[i + 1] - 1]
    for who in people[:used]:
        local[who] = -1
    return Paths(first[:used], number[:used], last[:used], known.when), people[:used]


@kernel_private
def _in_order(person: int, paths: Paths) -> NDArray[np.int32]:
    """Give the places of a person in the order in which she has them; -1 for one not known."""
    places = np.full(paths.last[person].max() + 1, -1, np.int32)
    for y in range(paths.number.shape[1]):
        first = paths.start[person, y]
        for i in range(first, first + paths.number[person, y]):
            places[paths.when[i]] = y
    return places


@kernel_private
def _who_has_all(mine: NDArray[np.int32], paths: Paths) -> int:
    """Count those whose sequence contains all of the person's."""
    number = 0
    for c in range(len(paths.last)):
        at = np.int32(-1)
        for y in mine:
            if y < 0:
                continue
            if paths.last[c, y] <= at:
                at = np.int32(-2)
                break
            at = _next(paths, c, y, at)
        number += at >= 0
    return number


@kernel_private
def _narrow(  # noqa: C901, PLR0912
    x: int,
    k: int,
    least: int,
    best: int,
    paths: Paths,
    person: int,
    chosen: NDArray[np.int32],
) -> int:
    """Find the fewest whom a place and k-1 later ones leave, if fewer than the best."""
    people, size = paths.last.shape
    members, moment = np.empty((k, people), np.int32), np.empty((k, people), np.int32)
    ranks, count = np.empty((k, size), np.int64), np.empty(size, np.int32)
    number, at = np.zeros(k, np.int64), np.zeros(k, np.int64)
    left, reached = np.zeros(k, np.int64), np.zeros(k, np.int64)
    path, depth, fresh = np.zeros(k, np.int32), 0, True
    path[0], reached[0] = x, _next(paths, person, x, np.int32(-1))
    for c in range(people):
        if paths.last[c, x] >= 0:
            members[0, left[0]], moment[0, left[0]] = c, paths.when[paths.start[c, x]]
            left[0] += 1
    while depth >= 0 and best > least:
        if fresh:
            fresh, at[depth], number[depth] = False, 0, 0
            count[:] = 0
            for i in range(left[depth]):
                last, after = paths.last[members[depth, i]], moment[depth, i]
                for y in range(size):
                    count[y] += last[y] > after
            for y in range(size):
                if paths.last[person, y] <= reached[depth]:
                    continue
                if count[y] < best:
                    best = count[y]
                    chosen[:] = -1
                    chosen[: depth + 1], chosen[depth + 1] = path[: depth + 1], y
                ranks[depth, number[depth]] = np.int64(count[y]) * size + y
                number[depth] += 1
            if depth == k - 2:
                number[depth] = 0
            ranks[depth, : number[depth]].sort()
        i = at[depth]
        if i >= number[depth]:
            depth -= 1
            continue
        at[depth] += 1
        y, found = ranks[depth, i] % size, 0
        for j in range(left[depth]):
            c = members[depth, j]
            if paths.last[c, y] > moment[depth, j]:
                members[depth + 1, found] = c
                moment[depth + 1, found] = _next(paths, c, y, moment[depth, j])
                found += 1
        path[depth + 1], left[depth + 1] = y, found
        reached[depth + 1] = _next(paths, person, y, reached[depth])
        depth, fresh = depth + 1, True
    return best


@kernel
def order(
    targets: Ints,
    ks: Ints,
    first: int,
    known: Sequences,
    records: Records,
    local: NDArray[np.int32],
) -> tuple[Ints, NDArray[np.int32]]:
    """Find the fewest whom any k places of some people leave, in their order, as `each` does.

    What is known is given as entries, in order.
    """
    crowd = np.zeros((len(targets), len(ks)), np.int64)
    knows = np.full((len(targets), len(ks), ks[-1]), -1, np.int32)
    for t in range(len(targets)):
        target = targets[t]
        start = records.offsets[target]
        end = min(records.offsets[target + 1], start + first)
        size = end - start
        ranks = np.empty(size, np.int64)
        for y in range(size):
            key = records.key[start + y]
            ranks[y] = (records.start[key + 1] - records.start[key]) * size + y
        ranks.sort()
        crowd[t, :], knows[t, :, 0] = ranks[0] // size, ranks[0] % size
        if ranks[0] // size == 1 or ks[-1] == 1:
            continue
        paths, people = _paths(start, end, records, known, local)
        person = np.argmax(people == target)
        least = _who_has_all(_in_order(person, paths), paths)
        for i in range(len(ks)):
            for x in ranks % size:
                best = crowd[t, i]
                if best <= least or ks[i] == 1:
                    break
                crowd[t, i] = _narrow(x, ks[i], least, best, paths, person, knows[t, i])
    return crowd, knows
