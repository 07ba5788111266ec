"""Who is recognised by the n places where she was most often, for all n in one walk.

For a test person and some n, the greatest cosine similarity is wanted, and whether one person alone
has it. Of a training person with c of her Top_n places among those of the test person, it is c
over the root of the size of Top_n (and of the test set, the same for all): ``c**2 / size`` is
compared, in whole numbers.

The walk goes up the ranks: at n, everybody whose n-th place is one of the test person's gets one
more in common. Whoever has n places or more has a Top_n of size n; so among them only c counts, and
for every c it is enough to know how many they are, and who it is if she is alone. Whoever has fewer
places has what she will ever have: she leaves them, and the best of those who left is kept. So a
test person takes as many steps as there are others at her places, and not n times as many.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Ints, compiled
from incrowd.data.vectors import Vectors

__all__ = ["Ranks", "Room", "rank", "room_for", "top"]

PERSON = 1 << 32
"""One person in a number that holds how many people there are, and the sum of their indices."""


class Ranks(NamedTuple):
    """For each place, for whom it is one of the most visited, and which; in the order of ranks."""

    start: Ints
    person: NDArray[np.int32]
    rank: NDArray[np.int32]
    size: Ints
    """How many places each person has."""


class Room(NamedTuple):
    """A number for each person, for each thread."""

    common: NDArray[np.int32]
    """Places in common with the test person, so far; 0 for all between test persons."""
    touched: NDArray[np.int32]
    behind: NDArray[np.int32]
    """The next one of those who have as many places."""


def room_for(people: int) -> Room:
    """Make room for a thread."""
    return Room(*(np.zeros(people, np.int32) for _ in range(3)))


def rank(vectors: Vectors, places: int, most: int) -> Ranks:
    """List those for whom each place is among the first so many."""
    return Ranks(*_rank(vectors.place, vectors.offsets, places, most), np.diff(vectors.offsets))


@compiled
def _rank(
    place: Ints, offsets: Ints, places: int, most: int
) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
    people = len(offsets) - 1
    start = np.zeros(places + 1, np.int64)
    for who in range(people):
        for e in range(offsets[who], min(offsets[who] + most, offsets[who + 1])):
            start[place[e] + 1] += 1
    for one in range(places):
        start[one + 1] += start[one]
    at = start[:-1].copy()
    person, ranks = np.empty(start[-1], np.int32), np.empty(start[-1], np.int32)
    for r in range(most):
        for who in range(people):
            if r < offsets[who + 1] - offsets[who]:
                here = place[offsets[who] + r]
                person[at[here]], ranks[at[here]] = who, r + 1
                at[here] += 1
    return start, person, ranks


@compiled
def top(  # noqa: C901, PLR0912, PLR0915
    first: int, last: int, wanted: Ints, place: Ints, offsets: Ints, ranks: Ranks, room: Room
) -> NDArray[np.int32]:
    """Find who is taken for some test persons, for every n wanted (rising); -1 for nobody."""
    most = wanted[-1]
    match = np.full((last - first, len(wanted)), -1, np.int32)
    held = np.zeros(most + 1, np.int64)
    lists, short = np.empty(most + 2, np.int64), np.empty(most + 1, np.int32)
    common, touched, behind = room
    for test in range(first, last):
        begin, end = offsets[test], offsets[test + 1]
        at, follows = np.empty(end - begin, np.int64), np.empty(end - begin, np.int64)
        lists[:], short[:], held[:] = -1, -1, 0
        for one in range(end - begin):
            here = place[begin + one]
            if ranks.start[here] < ranks.start[here + 1]:
                at[one] = ranks.start[here]
                r = ranks.rank[at[one]]
                follows[one], lists[r] = lists[r], one
        used, greatest, answer = 0, 0, 0
        left, left_size, left_who = 0, 1, -1
        for n in range(1, most + 1):
            who = short[n - 1]
            while who >= 0:
                c = common[who]
                held[c] -= PERSON + who
                mine, best = c * c * left_size, left * left * (n - 1)
                if mine > best:
                    left, left_size, left_who = c, n - 1, who
                elif mine == best:
                    left_who = -1
                who = behind[who]
            one = lists[n]
            while one >= 0:
                after, stop = follows[one], ranks.start[place[begin + one] + 1]
                i = at[one]
                while i < stop and ranks.rank[i] == n:
                    who = ranks.person[i]
                    c = common[who]
                    if c > 0:
                        held[c] -= PERSON + who
                    else:
                        touched[used] = who
                        used += 1
                        size = ranks.size[who]
                        if size < most:
                            behind[who], short[size] = short[size], who
                    held[c + 1] += PERSON + who
                    common[who] = c + 1
                    greatest = max(greatest, c + 1)
                    i += 1
                if i < stop:
                    at[one] = i
                    r = ranks.rank[i]
                    follows[one], lists[r] = lists[r], one
                one = after
            if n == wanted[answer]:
                # If nobody has the greatest number any more, she who left with it is ahead of all:
                # as many in common, of fewer places.
                mine, best = greatest * greatest * left_size, left * left * n
                if mine > best:
                    if held[greatest] // PERSON == 1:
                        match[test - first, answer] = held[greatest] % PERSON
                elif mine < best:
                    match[test - first, answer] = left_who
                answer += 1
        for i in range(used):
            common[touched[i]] = 0
    return match
