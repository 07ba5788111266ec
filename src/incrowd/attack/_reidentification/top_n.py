"""TopN: the matcher that knows the n most visited places of everybody, for all n in one walk.

For a test person and some n, the greatest cosine similarity is wanted, and whether one person alone
has it. Of a training person with c of her Top_n places among those of the test person, it is c over
the root of the size of Top_n (and of the test set, the same for all): ``c**2 / size`` is compared,
in integers.

The walk goes up the ranks. At n, everybody whose n-th place is one of the test person's gets one
more in common. Whoever has n places or more has a Top_n of size n; so among them only c counts, and
for every c it is enough to know how many they are, and who it is if she is alone. Whoever has fewer
places has what she will ever have: she is *complete*, leaves them, and the best of the complete
ones is kept. So a test person takes as many steps as there are others at her places, and not n
times as many.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_inline
from incrowd.attack._reidentification.matchers import Matches
from incrowd.data._vectors import Vectors
from incrowd.errors import InputError

__all__ = [
    "TopN",
]


PERSON = 1 << 32
"""One person in a number that holds how many people there are, and the sum of their indices."""
MOST_PLACES = 1 << 20
"""Of more places than this, the third power would not fit."""


class TopN:
    """Knows the n most visited places of each training person, and nothing else (section 3.4)."""

    def __init__(self, train: Vectors, test: Vectors, places: int, wanted: Ints) -> None:
        # Whoever has fewer places than n is known by all of them.
        most = int(np.diff(train.offsets).max())
        if most > MOST_PLACES:
            raise InputError(
                f"one person has {most:,} places; top compares people with up to {MOST_PLACES:,}"
            )
        self._numbers, self._which = np.unique(np.minimum(wanted, most), return_inverse=True)
        lists = _rank_lists(train.place, train.offsets, places, int(self._numbers[-1]))
        self._ranks = RankLists(*lists, np.diff(train.offsets))
        self._test = test

    def scratch(self) -> "TopScratch":
        """Return scratch buffers for one thread."""
        return TopScratch(*(np.zeros(len(self._ranks.size), np.int32) for _ in range(3)))

    def match(self, first: int, last: int, scratch: "TopScratch") -> Matches:
        """Return who is most similar to some test people, a column for each n."""
        test = self._test
        found = _match_top_n(
            first, last, self._numbers, test.place, test.offsets, self._ranks, scratch
        )
        return found[:, self._which]


class RankLists(NamedTuple):
    """For each place, for whom it is one of the most visited, and which; in the order of ranks."""

    start: Ints
    person: NDArray[np.int32]
    rank: NDArray[np.int32]
    size: Ints
    """How many places each person has."""


class TopScratch(NamedTuple):
    """Scratch buffers with an element for each training person."""

    common: NDArray[np.int32]
    """Places in common with the test person, so far; 0 for all between test people."""
    touched: NDArray[np.int32]
    """Whose `common` is not 0."""
    next_of_size: NDArray[np.int32]
    """Linked lists: the next one of those who have as many places."""


@kernel
def _rank_lists(
    place: Ints, offsets: Ints, places: int, most: int
) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
    """List for each place those for whom it is among the `most` first: a counting sort by place.

    Going rank by rank leaves every list in the order of ranks, which is that of the walk.
    """
    people = len(offsets) - 1
    start = np.zeros(places + 1, np.int64)
    for who in range(people):
        for e in range(offsets[who], min(offsets[who] + most, offsets[who + 1])):
            start[place[e] + 1] += 1
    for one in range(places):
        start[one + 1] += start[one]
    end = start[:-1].copy()
    person, ranks = np.empty(start[-1], np.int32), np.empty(start[-1], np.int32)
    for r in range(most):
        for who in range(people):
            if r < offsets[who + 1] - offsets[who]:
                here = place[offsets[who] + r]
                person[end[here]], ranks[end[here]] = who, r + 1
                end[here] += 1
    return start, person, ranks


@kernel_inline
def _queue_places(
    places: Ints, ranks: RankLists, cursor: Ints, bucket: Ints, next_place: Ints
) -> None:
    """Queue the places of a test person by the rank at which their lists begin.

    A bucket queue: ``bucket[r]`` is the first of a linked list of places (`next_place`) whose next
    posting (`cursor`) has rank r. So the walk finds what happens at rank n without looking at the
    other places.
    """
    for one in range(len(places)):
        here = places[one]
        if ranks.start[here] < ranks.start[here + 1]:
            cursor[one] = ranks.start[here]
            r = ranks.rank[cursor[one]]
            next_place[one], bucket[r] = bucket[r], one


@kernel_inline
def _complete(
    who: int, size: int, scratch: TopScratch, by_common: Ints, best: tuple[int, int, int]
) -> tuple[int, int, int]:
    """Let people with so many places leave the others; return the best of the complete ones.

    `best` is her c, how many places she has, and who she is; -1 if there are several. Of two,
    ``c**2 / size`` is compared, multiplied out.
    """
    c_best, size_best, who_best = best
    while who >= 0:
        c = scratch.common[who]
        by_common[c] -= PERSON + who
        mine, theirs = c * c * size_best, c_best * c_best * size
        if mine > theirs:
            c_best, size_best, who_best = c, size, who
        elif mine == theirs:
            who_best = -1
        who = scratch.next_of_size[who]
    return c_best, size_best, who_best


@kernel_inline
def _count_in_common(
    i: int,
    n: int,
    end: int,
    used: int,
    ranks: RankLists,
    scratch: TopScratch,
    by_common: Ints,
    of_size: NDArray[np.int32],
) -> tuple[int, int, int]:
    """Let everybody whose n-th place this is have one more in common, from the i-th posting on.

    Returns the posting behind them, how many people are touched now, and the greatest number that
    any of them has in common.
    """
    common, touched, next_of_size = scratch
    greatest = 0
    while i < end and ranks.rank[i] == n:
        who = ranks.person[i]
        c = common[who]
        if c > 0:
            by_common[c] -= PERSON + who
        else:
            touched[used] = who
            used += 1
            size = ranks.size[who]
            if size < len(of_size) - 1:  # she will be complete before the walk ends
                next_of_size[who], of_size[size] = of_size[size], who
        by_common[c + 1] += PERSON + who
        common[who] = c + 1
        greatest = max(greatest, c + 1)
        i += 1
    return i, used, greatest


@kernel
def _match_top_n(
    first: int,
    last: int,
    wanted: Ints,
    place: Ints,
    offsets: Ints,
    ranks: RankLists,
    scratch: TopScratch,
) -> NDArray[np.int32]:
    """Return who is most similar to some test people, for every n wanted (rising); -1: nobody.

    `by_common` holds, for every c, the training people who have c places in common and are not
    complete: how many they are times `PERSON`, plus the sum of their indices. Joining and leaving
    is an addition, and if one is left, the sum is who she is.
    """
    most = wanted[-1]
    match = np.full((last - first, len(wanted)), -1, np.int32)
    by_common = np.zeros(most + 1, np.int64)
    bucket, of_size = np.empty(most + 2, np.int64), np.empty(most + 1, np.int32)
    for test in range(first, last):
        mine = place[offsets[test] : offsets[test + 1]]
        cursor, next_place = np.empty(len(mine), np.int64), np.empty(len(mine), np.int64)
        bucket[:], of_size[:], by_common[:] = -1, -1, 0
        _queue_places(mine, ranks, cursor, bucket, next_place)
        used, greatest, answer, best = 0, 0, 0, (0, 1, -1)
        for n in range(1, most + 1):
            # Whoever has n - 1 places has no n-th one: her Top_n stays as it is.
            best = _complete(of_size[n - 1], n - 1, scratch, by_common, best)
            one = bucket[n]
            while one >= 0:
                following, end = next_place[one], ranks.start[mine[one] + 1]
                i, used, here = _count_in_common(
                    cursor[one], n, end, used, ranks, scratch, by_common, of_size
                )
                greatest = max(greatest, here)
                if i < end:
                    # Queue the place again, for the rank of its next posting.
                    cursor[one] = i
                    r = ranks.rank[i]
                    next_place[one], bucket[r] = bucket[r], one
                one = following
            if n == wanted[answer]:
                # Of those who are not complete, Top_n has size n: the greatest c is most similar.
                # If nobody has it any more, she who completed with it is ahead of all: as many in
                # common, of fewer places.
                c_best, size_best, who_best = best
                similar, complete = greatest * greatest * size_best, c_best * c_best * n
                if similar > complete:
                    if by_common[greatest] // PERSON == 1:
                        match[test - first, answer] = by_common[greatest] % PERSON
                elif similar < complete:
                    match[test - first, answer] = who_best
                answer += 1
        for i in range(used):
            scratch.common[scratch.touched[i]] = 0
    return match
