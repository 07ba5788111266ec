"""The three matchers: what an adversary makes of training people, and who is most similar.

::

    train ──> TopN, TfIdf or Markov ── match(test people) ──> the one most similar person, or nobody

A matcher lays out what it knows of the training people once. `match` then compares blocks of test
people with them, on any thread that has scratch buffers of its own. All three walk over what a test
person has, and for each over the posting list of the training people who have it, too; people who
have nothing in common with her are never looked at.

`TopN` is the attack of section 3.4 of the paper of 2016. `TfIdf` and `Markov` know more.
"""

import difflib
import math
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, kernel, kernel_inline, kernel_private
from incrowd.attack._search.index import InvertedIndex, build_index
from incrowd.data._visits import Vectors
from incrowd.errors import ArgumentError, InputError

__all__ = [
    "ATTACKERS",
    "CLOSE",
    "Markov",
    "Matcher",
    "Matches",
    "ProfileScratch",
    "Profiles",
    "TfIdf",
    "TopN",
    "attackers_of",
    "match_markov",
]


ATTACKERS = ("top", "tfidf", "markov")
"""The matchers by their public names."""
Matches = NDArray[np.int32]
"""For each test person (and each n) who is most similar to her; -1 for nobody, or for several."""

PERSON = 1 << 32
"""One person in a number that holds how many people there are, and the sum of their indices."""
MOST_PLACES = 1 << 20
"""Of more places than this, the third power would not fit."""
CLOSE = 1e-9
"""Cosines count as equal if they differ by no more than this part of the greater.

They are added up in floating point, where proportional profiles may differ in the last digit. A sum
of m parts, none of them negative, is off by about m * 2**-53 of itself at most; so ties are seen
for people with up to a million places.
"""


class Matcher(Protocol):
    """What an adversary knows of training people."""

    def scratch(self) -> Any:
        """Return scratch buffers for one thread."""

    def match(self, first: int, last: int, scratch: Any) -> Matches:
        """Return who is most similar to the test people from the first up to the last."""


def attackers_of(given: str | Iterable[str]) -> list[str]:
    """Return the names of attackers, each once."""
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in ATTACKERS:
            near = difflib.get_close_matches(str(name), ATTACKERS, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]!r}?" if near else f": {', '.join(ATTACKERS)}"
            raise ArgumentError(f"there is no attacker {name!r}{hint}")
    if not names:
        raise ArgumentError(f"give at least one attacker: {', '.join(ATTACKERS)}")
    return list(dict.fromkeys(names))


class TopN:
    """Knows the n most visited places of each training person, and nothing else (section 3.4).

    For a test person and some n, the greatest cosine similarity is wanted, and whether one person
    alone has it. Of a training person with c of her Top_n places among those of the test person, it
    is c over the root of the size of Top_n (and of the test set, the same for all):
    ``c**2 / size`` is compared, in integers.

    All n are answered in one walk up the ranks. At n, everybody whose n-th place is one of the test
    person's gets one more in common. Whoever has n places or more has a Top_n of size n; so among
    them only c counts, and for every c it is enough to know how many they are, and who it is if she
    is alone. Whoever has fewer places has what she will ever have: she is *complete*, leaves them,
    and the best of the complete ones is kept. So a test person takes as many steps as there are
    others at her places, and not n times as many.
    """

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


class Profiles(NamedTuple):
    """What test people have: a key (-1: no training person has it) and how often."""

    key: Ints
    number: Ints
    offsets: Ints
    total: Ints


class ProfileScratch(NamedTuple):
    """Scratch buffers with an element for each training person; sums are 0 between test people."""

    cosine: Floats
    shared: Ints
    touched: NDArray[np.int32]

    @classmethod
    def of(cls, people: int) -> "ProfileScratch":
        """Return buffers for so many training people."""
        return cls(np.zeros(people), np.zeros(people, np.int64), np.zeros(people, np.int32))


class TfIdf:
    """Knows how often each training person was where; rare places weigh more."""

    def __init__(self, train: Vectors, test: Vectors) -> None:
        self._people = len(train)
        self._index, codes = build_index(train)
        visitors = np.diff(self._index.list_start)
        # By the logarithm of the standard library: numpy's differs from machine to machine.
        idf = {one: math.log(len(train) / one) for one in np.unique(visitors).tolist()}
        self._weight = np.array([idf[one] ** 2 for one in visitors.tolist()])
        who = np.repeat(np.arange(len(train)), np.diff(train.offsets))
        parts = train.visits.astype(np.float64) ** 2 * self._weight[self._index.key]
        self._norm = np.sqrt(np.bincount(who, parts, len(train)))
        self._tests = _profiles(test, codes)

    def scratch(self) -> ProfileScratch:
        """Return scratch buffers for one thread."""
        return ProfileScratch.of(self._people)

    def match(self, first: int, last: int, scratch: ProfileScratch) -> Matches:
        """Return who is most similar to some test people."""
        return _match_tfidf(
            first, last, self._tests, self._weight, self._norm, self._index, scratch
        )


class Markov:
    """Knows how often each training person went from where to where."""

    def __init__(self, train: Vectors, test: Vectors) -> None:
        self._total = train.total
        self._index, codes = build_index(train)
        self._tests = _profiles(test, codes)

    def scratch(self) -> ProfileScratch:
        """Return scratch buffers for one thread."""
        return ProfileScratch.of(len(self._total))

    def match(self, first: int, last: int, scratch: ProfileScratch) -> Matches:
        """Return who is most similar to some test people."""
        return match_markov(first, last, self._tests, self._total, self._index, scratch)


def _profiles(test: Vectors, codes: Ints) -> Profiles:
    """Return what test people have, by the keys of the training people."""
    return Profiles(_keys(test.place, codes), test.visits, test.offsets, test.total)


@kernel
def _keys(codes: Ints, known: Ints) -> Ints:
    """Return which of the known codes, in rising order, each code is; -1 if none."""
    keys = np.searchsorted(known, codes)
    for i in range(len(codes)):
        if keys[i] == len(known) or known[keys[i]] != codes[i]:
            keys[i] = -1
    return keys


@kernel
def _match_tfidf(
    first: int,
    last: int,
    tests: Profiles,
    weight: Floats,
    norm: Floats,
    index: InvertedIndex,
    scratch: ProfileScratch,
) -> NDArray[np.int32]:
    """Return who is most similar to some test people by cosine; -1 for nobody.

    `weight` has the square of each key's idf, `norm` the length of each training profile. The
    length of the test profile is the same for all, and left out.
    """
    match = np.full((last - first, 1), -1, np.int32)
    cosine, touched = scratch.cosine, scratch.touched
    for test in range(first, last):
        used = 0
        for e in range(tests.offsets[test], tests.offsets[test + 1]):
            key = tests.key[e]
            if key < 0 or weight[key] == 0:
                continue
            times = tests.number[e] * weight[key]
            for i in range(index.list_start[key], index.list_start[key + 1]):
                who = index.list_person[i]
                if cosine[who] == 0:
                    touched[used] = who
                    used += 1
                cosine[who] += index.list_count[i] * times
        greatest, second = 0.0, 0.0
        for i in range(used):
            who = touched[i]
            value = cosine[who] / norm[who]
            cosine[who] = 0
            if value > greatest:
                greatest, second = value, greatest
                match[test - first, 0] = who
            elif value > second:
                second = value
        if second >= greatest * (1 - CLOSE):
            match[test - first, 0] = -1
    return match


@kernel_private
def _compare_fractions(one: int, of_one: int, two: int, of_two: int) -> int:
    """Return 1 if the first fraction is greater, 0 if they are equal, -1 otherwise.

    Wholes first, then what is left, whose products fit where those of the fractions may not.
    """
    whole, other = one // of_one, two // of_two
    if whole == other:
        whole, other = one % of_one * of_two, two % of_two * of_one
    return (whole > other) - (whole < other)


@kernel_inline
def _most_in_common(touched: NDArray[np.int32], shared: Ints, total: Ints) -> int:
    """Return the one person with the greatest shared part, -1 if there are several; reset sums."""
    greatest, of, about, match = 0, 1, 0.0, -1
    for who in touched:
        value, under = shared[who], total[who]
        shared[who] = 0
        # Most are far below, and need no exact comparison.
        near = value / under
        if near < about * (1 - CLOSE):
            continue
        sign = _compare_fractions(value, under, greatest, of)
        if sign > 0:
            greatest, of, about, match = value, under, near, who
        elif sign == 0:
            match = -1
    return match


@kernel
def match_markov(
    first: int,
    last: int,
    tests: Profiles,
    total: Ints,
    index: InvertedIndex,
    scratch: ProfileScratch,
) -> NDArray[np.int32]:
    """Return who is most similar to some test people by what their chains share; -1 for nobody.

    `total` has the number of transitions of each training person. With those of the test person,
    c2 of T2, the shared part ``sum(min(c1 / T1, c2 / T2))`` is ``sum(min(c1*T2, c2*T1)) / T1``
    but for T2, which is the same for all: so integers are added up, and compared as fractions.
    """
    match = np.full((last - first, 1), -1, np.int32)
    shared, touched = scratch.shared, scratch.touched
    for test in range(first, last):
        used, own = 0, tests.total[test]
        for e in range(tests.offsets[test], tests.offsets[test + 1]):
            key, number = tests.key[e], tests.number[e]
            if key < 0:
                continue
            for i in range(index.list_start[key], index.list_start[key + 1]):
                who = index.list_person[i]
                if shared[who] == 0:
                    touched[used] = who
                    used += 1
                shared[who] += min(index.list_count[i] * own, number * total[who])
        match[test - first, 0] = _most_in_common(touched[:used], shared, total)
    return match
