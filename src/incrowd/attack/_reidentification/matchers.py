"""The three attackers: what each knows of the training people, laid out for the kernels.

Each gives a search from some test people to those who are taken for them, and what makes room for
it, once for each thread.

Who is recognised by the n places where she was most often, for all n in one walk.

For a test person and some n, the greatest cosine similarity is wanted, and whether one person alone
has it. Of a training person with c of her Top_n places among those of the test person, it is c
over the root of the size of Top_n (and of the test set, the same for all): ``c**2 / size`` is
compared, in whole numbers.

The walk goes up the ranks: at n, everybody whose n-th place is one of the test person's gets one
more in common. Whoever has n places or more has a Top_n of size n; so among them only c counts, and
for every c it is enough to know how many they are, and who it is if she is alone. Whoever has fewer
places has what she will ever have: she leaves them, and the best of those who left is kept. So a
test person takes as many steps as there are others at her places, and not n times as many.

Who is recognised by all that is known of her: how often she was where, or how she goes about.

Both attackers walk over what a test person has (places, or transitions), and for each over the
training people who have it too, and add up what it says for each of them. People of whom nothing is
in common are never looked at.
"""

import difflib
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, kernel, kernel_private
from incrowd.attack._search.index import Records, index
from incrowd.data._visits import Vectors
from incrowd.errors import ArgumentError, InputError

__all__ = [
    "ATTACKERS",
    "CLOSE",
    "Matches",
    "ProfileRoom",
    "Profiles",
    "Ranks",
    "Rooms",
    "Search",
    "TopRoom",
    "attackers_of",
    "by_markov",
    "by_tfidf",
    "by_top",
    "markov",
    "numbered",
    "rank",
    "room_for_profiles",
    "room_for_top",
    "tfidf",
    "top",
]


PERSON = 1 << 32
"""One person in a number that holds how many people there are, and the sum of their indices."""


class Ranks(NamedTuple):
    """For each place, for whom it is one of the most visited, and which; in the order of ranks."""

    start: Ints
    person: NDArray[np.int32]
    rank: NDArray[np.int32]
    size: Ints
    """How many places each person has."""


class TopRoom(NamedTuple):
    """A number for each person, for each thread."""

    common: NDArray[np.int32]
    """Places in common with the test person, so far; 0 for all between test persons."""
    touched: NDArray[np.int32]
    behind: NDArray[np.int32]
    """The next one of those who have as many places."""


def room_for_top(people: int) -> TopRoom:
    """Make room for a thread."""
    return TopRoom(*(np.zeros(people, np.int32) for _ in range(3)))


def rank(vectors: Vectors, places: int, most: int) -> Ranks:
    """List those for whom each place is among the first so many."""
    return Ranks(*_rank(vectors.place, vectors.offsets, places, most), np.diff(vectors.offsets))


@kernel
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


@kernel
def top(  # noqa: C901, PLR0912, PLR0915
    first: int, last: int, wanted: Ints, place: Ints, offsets: Ints, ranks: Ranks, room: TopRoom
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


CLOSE = 1e-9
"""Cosines count as equal if they differ by no more than this part of the greater.

They are added up in floating point, where proportional profiles may differ in the last digit. A sum
of m parts, none of them negative, is off by about m * 2**-53 of itself at most; so ties are seen
for people with up to a million places.
"""


class Profiles(NamedTuple):
    """What test people have: a key (-1: no training person has it) and how often."""

    key: Ints
    number: Ints
    offsets: Ints
    total: Ints


class ProfileRoom(NamedTuple):
    """A number for each person, for each thread; the sums are 0 between test persons."""

    cosine: Floats
    shared: Ints
    touched: NDArray[np.int32]


def room_for_profiles(people: int) -> ProfileRoom:
    """Make room for a thread."""
    return ProfileRoom(np.zeros(people), np.zeros(people, np.int64), np.zeros(people, np.int32))


@kernel
def numbered(codes: Ints, known: Ints) -> Ints:
    """Give codes numbers: which of the known ones, in rising order, each is; -1 if none."""
    keys = np.searchsorted(known, codes)
    for i in range(len(codes)):
        if keys[i] == len(known) or known[keys[i]] != codes[i]:
            keys[i] = -1
    return keys


@kernel
def tfidf(
    first: int,
    last: int,
    tests: Profiles,
    weight: Floats,
    norm: Floats,
    records: Records,
    room: ProfileRoom,
) -> NDArray[np.int32]:
    """Find who is taken for some test persons, by cosine; -1 for nobody.

    `weight` has the square of each key's idf, `norm` the length of each training profile. The
    length of the test profile is the same for all, and left out.
    """
    match = np.full((last - first, 1), -1, np.int32)
    cosine, touched = room.cosine, room.touched
    for test in range(first, last):
        used = 0
        for e in range(tests.offsets[test], tests.offsets[test + 1]):
            key = tests.key[e]
            if key < 0 or weight[key] == 0:
                continue
            times = tests.number[e] * weight[key]
            for i in range(records.start[key], records.start[key + 1]):
                who = records.person[i]
                if cosine[who] == 0:
                    touched[used] = who
                    used += 1
                cosine[who] += records.value[i] * times
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
def _above(one: int, of_one: int, two: int, of_two: int) -> int:
    """Compare two fractions: 1 if the first is greater, 0 if they are equal, -1 otherwise.

    Wholes first, then what is left, whose products fit where those of the fractions may not.
    """
    whole, other = one // of_one, two // of_two
    if whole == other:
        whole, other = one % of_one * of_two, two % of_two * of_one
    return (whole > other) - (whole < other)


@kernel
def markov(  # noqa: C901
    first: int, last: int, tests: Profiles, total: Ints, records: Records, room: ProfileRoom
) -> NDArray[np.int32]:
    """Find who is taken for some test persons, by what their chains share; -1 for nobody.

    `total` has the number of transitions of each training person. With those of the test person,
    c2 of T2, the shared part ``sum(min(c1 / T1, c2 / T2))`` is ``sum(min(c1*T2, c2*T1)) / T1``
    but for T2, which is the same for all.
    """
    match = np.full((last - first, 1), -1, np.int32)
    shared, touched = room.shared, room.touched
    for test in range(first, last):
        used, own = 0, tests.total[test]
        for e in range(tests.offsets[test], tests.offsets[test + 1]):
            key, number = tests.key[e], tests.number[e]
            if key < 0:
                continue
            for i in range(records.start[key], records.start[key + 1]):
                who = records.person[i]
                if shared[who] == 0:
                    touched[used] = who
                    used += 1
                shared[who] += min(records.value[i] * own, number * total[who])
        greatest, of, about, alone = 0, 1, 0.0, False
        for i in range(used):
            who = touched[i]
            value, under = shared[who], total[who]
            shared[who] = 0
            # Most are far below, and need no exact comparison.
            near = value / under
            if near < about * (1 - CLOSE):
                continue
            sign = _above(value, under, greatest, of)
            if sign > 0:
                greatest, of, about, alone = value, under, near, True
                match[test - first, 0] = who
            elif sign == 0:
                alone = False
        if not alone:
            match[test - first, 0] = -1
    return match


ATTACKERS = ("top", "tfidf", "markov")

MOST_PLACES = 1 << 20
"""Of more places than this, the third power would not fit."""

Matches = NDArray[np.int32]
"""For each test person (and each n) who is taken for her; -1 for nobody."""
Search = Callable[[int, int, Any], Matches]
"""From the first and the last of some test people, and room."""
Rooms = Callable[[], Any]


def attackers_of(given: str | Iterable[str]) -> list[str]:
    """Give the names of attackers, each once."""
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in ATTACKERS:
            near = difflib.get_close_matches(str(name), ATTACKERS, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]!r}?" if near else f": {', '.join(ATTACKERS)}"
            raise ArgumentError(f"there is no attacker {name!r}{hint}")
    if not names:
        raise ArgumentError(f"name an attacker, or several: {', '.join(ATTACKERS)}")
    return list(dict.fromkeys(names))


def by_top(train: Vectors, test: Vectors, places: int, wanted: Ints) -> tuple[Search, Rooms]:
    """Lay out what the attacker knows who knows the most visited places."""
    # Whoever has fewer places than n is known by all of them.
    most = int(np.diff(train.offsets).max())
    if most > MOST_PLACES:
        raise InputError(f"{most:,} places of one person are more than can be compared exactly")
    numbers, which = np.unique(np.minimum(wanted, most), return_inverse=True)
    ranks = rank(train, places, int(numbers[-1]))

    def search(first: int, last: int, room: Any) -> Matches:
        return top(first, last, numbers, test.place, test.offsets, ranks, room)[:, which]

    return search, lambda: room_for_top(len(train))


def by_tfidf(train: Vectors, test: Vectors) -> tuple[Search, Rooms]:
    """Lay out what the attacker knows who knows how often people were where."""
    records, codes = index(train)
    having = np.diff(records.start)
    # By the logarithm of the standard library: numpy's differs from machine to machine.
    idf = {one: math.log(len(train) / one) for one in np.unique(having).tolist()}
    weight = np.array([idf[one] ** 2 for one in having.tolist()])
    who = np.repeat(np.arange(len(train)), np.diff(train.offsets))
    parts = train.visits.astype(np.float64) ** 2 * weight[records.key]
    norm = np.sqrt(np.bincount(who, parts, len(train)))
    tests = _numbered(test, codes)
    return (
        lambda first, last, room: tfidf(first, last, tests, weight, norm, records, room),
        lambda: room_for_profiles(len(train)),
    )


def by_markov(train: Vectors, test: Vectors) -> tuple[Search, Rooms]:
    """Lay out what the attacker knows who knows how people go about."""
    records, codes = index(train)
    tests = _numbered(test, codes)
    return (
        lambda first, last, room: markov(first, last, tests, train.total, records, room),
        lambda: room_for_profiles(len(train)),
    )


def _numbered(test: Vectors, codes: Ints) -> Profiles:
    keys = numbered(test.place, codes)
    return Profiles(keys, test.visits, test.offsets, test.total)
