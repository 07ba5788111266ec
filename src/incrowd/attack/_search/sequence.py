"""Branch and bound where the order of the known places is known (Definition 4.2).

The crowd is everybody whose sequence has the known places one after the other, with anything
between them. Each member of it is followed to the earliest position at which she has had all known
places; whatever other place she has behind that position can be known next, and no other choice of
positions would allow more. Branches are on the place that leaves the smallest crowd; they end where
nobody is left but those whose own sequence contains all of the person's.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_inline, kernel_private
from incrowd.attack._search.index import InvertedIndex, max_candidates

__all__ = [
    "Positions",
    "positions_of",
    "sequence_search",
]


class Positions(NamedTuple):
    """At which positions of her sequence each person has each key.

    Those of the i-th posting of the index are ``position[start[i]:start[i + 1]]``, rising.
    """

    start: Ints
    position: NDArray[np.int32]


class CandidatePositions(NamedTuple):
    """At which positions candidates have the places of the person under attack.

    A row for each candidate, a column for each place: `start` and `number` say where the positions
    lie in `position`; `last` is the last of them, or -1 for who does not have the place.
    """

    start: Ints
    number: NDArray[np.int32]
    last: NDArray[np.int32]
    position: NDArray[np.int32]


@kernel
def positions_of(
    offsets: Ints, key: NDArray[np.int32], times: NDArray[np.int32], index: InvertedIndex
) -> Positions:
    """Return at which positions everybody has each key.

    `key` is everybody's sequence, `offsets` where each person's starts, and `times` how often the
    person of each posting has its key.
    """
    start = np.zeros(len(times) + 1, np.int64)
    for i in range(len(times)):
        start[i + 1] = start[i] + times[i]
    position, end = np.empty(len(key), np.int32), start[:-1].copy()
    posting = index.list_start[:-1].copy()
    for person in range(len(offsets) - 1):
        for i in range(offsets[person], offsets[person + 1]):
            k = key[i]
            if index.list_person[posting[k]] != person:
                posting[k] += 1  # posting lists are in the order of people, as this loop is
            position[end[posting[k]]] = i - offsets[person]
            end[posting[k]] += 1
    return Positions(start, position)


@kernel_private
def _next(candidates: CandidatePositions, c: int, y: int, after: int) -> int:
    """Return the first position of a place behind another position; there must be one."""
    low = candidates.start[c, y]
    high = low + candidates.number[c, y] - 1
    while low < high:
        middle = (low + high) // 2
        if candidates.position[middle] > after:
            high = middle
        else:
            low = middle + 1
    return candidates.position[low]


@kernel_private
def _candidates(
    start: int, end: int, index: InvertedIndex, known: Positions, candidate_of: NDArray[np.int32]
) -> tuple[CandidatePositions, NDArray[np.int32]]:
    """Return where everybody has the places of a person, and who these people are."""
    size = end - start
    people = np.empty(max_candidates(start, end, len(candidate_of), index), np.int32)
    first = np.zeros((len(people), size), np.int64)
    number, last = np.zeros(first.shape, np.int32), np.full(first.shape, -1, np.int32)
    used = 0
    for y in range(size):
        key = index.key[start + y]
        for i in range(index.list_start[key], index.list_start[key + 1]):
            who = index.list_person[i]
            if candidate_of[who] < 0:
                candidate_of[who], people[used] = used, who
                used += 1
            c = candidate_of[who]
            first[c, y], number[c, y] = known.start[i], known.start[i + 1] - known.start[i]
            last[c, y] = known.position[known.start[i + 1] - 1]
    for who in people[:used]:
        candidate_of[who] = -1
    found = CandidatePositions(first[:used], number[:used], last[:used], known.position)
    return found, people[:used]


@kernel_private
def _sequence_of(person: int, candidates: CandidatePositions) -> NDArray[np.int32]:
    """Return the places of a person in her order; -1 for one that cannot be known."""
    places = np.full(candidates.last[person].max() + 1, -1, np.int32)
    for y in range(candidates.number.shape[1]):
        first = candidates.start[person, y]
        for i in range(first, first + candidates.number[person, y]):
            places[candidates.position[i]] = y
    return places


@kernel_private
def _indistinguishable(sequence: NDArray[np.int32], candidates: CandidatePositions) -> int:
    """Return how many people have all of a person's sequence within theirs.

    They match whatever is known of her, so that no crowd can be smaller.
    """
    number = 0
    for c in range(len(candidates.last)):
        at = np.int32(-1)
        for y in sequence:
            if y < 0:
                continue
            if candidates.last[c, y] <= at:
                at = np.int32(-2)
                break
            at = _next(candidates, c, y, at)
        number += at >= 0
    return number


@kernel_private
def _count_later(
    members: NDArray[np.int32],
    reached: NDArray[np.int32],
    candidates: CandidatePositions,
    count: NDArray[np.int32],
) -> None:
    """Count for each place how many of a crowd have it behind the position that they reached."""
    count[:] = 0
    for i in range(len(members)):
        last, after = candidates.last[members[i]], reached[i]
        # Without a branch in it, so that several places are compared at a time.
        for y in range(len(count)):
            count[y] += last[y] > after


@kernel_inline
def _follow(
    y: int,
    members: NDArray[np.int32],
    reached: NDArray[np.int32],
    candidates: CandidatePositions,
    next_members: NDArray[np.int32],
    next_reached: NDArray[np.int32],
) -> int:
    """List who of a crowd has place y later on, and where she gets to; return how many."""
    found = 0
    for j in range(len(members)):
        c = members[j]
        if candidates.last[c, y] > reached[j]:
            next_members[found] = c
            next_reached[found] = _next(candidates, c, y, reached[j])
            found += 1
    return found


@kernel_private
def _branch_and_bound(
    x: int,
    k: int,
    least: int,
    best: int,
    candidates: CandidatePositions,
    person: int,
    chosen: NDArray[np.int32],
) -> int:
    """Find the smallest crowd that place x and up to k-1 later ones leave, if below the best.

    A depth-first walk with a stack of arrays, one row a depth: the crowd (`members`, `crowd` of
    them) with the position that each `reached`, the position that the person herself reached
    (`own`), and the places to be known next (`ranked` by the crowds that they leave, `number` of
    them, the next one is `at`). A node is `fresh` until these are counted.
    """
    people, size = candidates.last.shape
    members, reached = np.empty((k, people), np.int32), np.empty((k, people), np.int32)
    ranked, count = np.empty((k, size), np.int64), np.empty(size, np.int32)
    number, at = np.zeros(k, np.int64), np.zeros(k, np.int64)
    crowd, own = np.zeros(k, np.int64), np.zeros(k, np.int64)
    path, depth, fresh = np.zeros(k, np.int32), 0, True
    path[0], own[0] = x, _next(candidates, person, x, np.int32(-1))
    for c in range(people):
        if candidates.last[c, x] >= 0:
            members[0, crowd[0]] = c
            reached[0, crowd[0]] = candidates.position[candidates.start[c, x]]
            crowd[0] += 1
    while depth >= 0 and best > least:
        here = crowd[depth]
        if fresh:
            fresh, at[depth], number[depth] = False, 0, 0
            _count_later(members[depth, :here], reached[depth, :here], candidates, count)
            for y in range(size):
                if candidates.last[person, y] <= own[depth]:
                    continue  # she herself has it no more: it cannot be known
                if count[y] < best:
                    best = count[y]
                    chosen[:] = -1
                    chosen[: depth + 1], chosen[depth + 1] = path[: depth + 1], y
                # Crowd and place in one integer, so that sorting ranks places by their crowds.
                ranked[depth, number[depth]] = np.int64(count[y]) * size + y
                number[depth] += 1
            if depth == k - 2:
                number[depth] = 0  # whatever was tried is the last place: nothing to branch on
            ranked[depth, : number[depth]].sort()
        i = at[depth]
        if i >= number[depth]:
            depth -= 1
            continue
        at[depth] += 1
        y = ranked[depth, i] % size
        crowd[depth + 1] = _follow(
            y,
            members[depth, :here],
            reached[depth, :here],
            candidates,
            members[depth + 1],
            reached[depth + 1],
        )
        path[depth + 1], own[depth + 1] = y, _next(candidates, person, y, own[depth])
        depth, fresh = depth + 1, True
    return best


@kernel
def sequence_search(
    targets: Ints,
    ks: Ints,
    top_n: int,
    known: Positions,
    index: InvertedIndex,
    candidate_of: NDArray[np.int32],
) -> tuple[Ints, NDArray[np.int32]]:
    """Find the smallest crowd that any k places of some people leave, in their order.

    Parameters and results are those of `unordered_search`; the entries that are known are given in
    their order.
    """
    crowd = np.zeros((len(targets), len(ks)), np.int64)
    entries = np.full((len(targets), len(ks), ks[-1]), -1, np.int32)
    for t in range(len(targets)):
        target = targets[t]
        start = index.offsets[target]
        end = min(index.offsets[target + 1], start + top_n)
        size = end - start
        ranked = np.empty(size, np.int64)
        for y in range(size):
            key = index.key[start + y]
            ranked[y] = (index.list_start[key + 1] - index.list_start[key]) * size + y
        ranked.sort()
        crowd[t, :], entries[t, :, 0] = ranked[0] // size, ranked[0] % size
        if ranked[0] // size == 1 or ks[-1] == 1:
            continue
        candidates, people = _candidates(start, end, index, known, candidate_of)
        person = np.argmax(people == target)
        least = _indistinguishable(_sequence_of(person, candidates), candidates)
        for i in range(len(ks)):
            for x in ranked % size:
                best = crowd[t, i]
                if best <= least or ks[i] == 1:
                    break
                crowd[t, i] = _branch_and_bound(
                    x, ks[i], least, best, candidates, person, entries[t, i]
                )
    return crowd, entries
