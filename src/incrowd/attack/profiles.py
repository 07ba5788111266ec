"""Who is recognised by all that is known of her: how often she was where, or how she goes about.

Both attackers walk over what a test person has (places, or transitions), and for each over the
training people who have it too, and add up what it says for each of them. People of whom nothing is
in common are never looked at.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.attack.records import Records
from incrowd.compiled import Floats, Ints, compiled, inner

__all__ = ["CLOSE", "Profiles", "Room", "markov", "numbered", "room_for", "tfidf"]

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


class Room(NamedTuple):
    """A number for each person, for each thread; the sums are 0 between test persons."""

    cosine: Floats
    shared: Ints
    touched: NDArray[np.int32]


def room_for(people: int) -> Room:
    """Make room for a thread."""
    return Room(np.zeros(people), np.zeros(people, np.int64), np.zeros(people, np.int32))


@compiled
def numbered(codes: Ints, known: Ints) -> Ints:
    """Give codes numbers: which of the known ones, in rising order, each is; -1 if none."""
    keys = np.searchsorted(known, codes)
    for i in range(len(codes)):
        if keys[i] == len(known) or known[keys[i]] != codes[i]:
            keys[i] = -1
    return keys


@compiled
def tfidf(
    first: int,
    last: int,
    tests: Profiles,
    weight: Floats,
    norm: Floats,
    records: Records,
    room: Room,
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


@inner
def _above(one: int, of_one: int, two: int, of_two: int) -> int:
    """Compare two fractions: 1 if the first is greater, 0 if they are equal, -1 otherwise.

    Wholes first, then what is left, whose products fit where those of the fractions may not.
    """
    whole, other = one // of_one, two // of_two
    if whole == other:
        whole, other = one % of_one * of_two, two % of_two * of_one
    return (whole > other) - (whole < other)


@compiled
def markov(  # noqa: C901
    first: int, last: int, tests: Profiles, total: Ints, records: Records, room: Room
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
