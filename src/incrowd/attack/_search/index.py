"""What is published of everybody, laid out so that an adversary finds who fits in no time.

Everybody has *entries*: a key (a place, or a place at a time) with a number (how often). The
entries of a person lie one after the other, most frequent first; and for every key there is a list
of those who have it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_private
from incrowd.data._visits import Vectors

__all__ = [
    "Points",
    "Records",
    "index",
    "most_people",
]


class Records(NamedTuple):
    """The entries of everybody, by person and by key."""

    offsets: Ints
    key: NDArray[np.int32]
    number: NDArray[np.int32]
    total: Ints
    """By what the numbers of a person are divided: her visits, or 1."""
    start: Ints
    """Where the list of each key starts."""
    person: NDArray[np.int32]
    value: NDArray[np.int32]


class Points(NamedTuple):
    """What an adversary may know of each entry, and whom it fits.

    An entry fits a person whose number at the same key, divided by her total, lies between
    ``low / under`` and ``high / under``. Where an entry stands for several points, each further one
    that is known asks for one more.
    """

    copies: NDArray[np.int32]
    low: Ints
    high: Ints
    under: Ints


def index(vectors: Vectors) -> tuple[Records, Ints]:
    """List for each code who has it; the codes come second, by their numbers."""
    codes, inverse = np.unique(vectors.place, return_inverse=True)
    key = inverse.astype(np.int32)
    number = vectors.visits.astype(np.int32)
    total = np.ones(len(vectors), np.int64)
    start, person, value = _lists(len(codes), vectors.offsets, key, number)
    return Records(vectors.offsets, key, number, total, start, person, value), codes


@kernel
def _lists(
    keys: int, offsets: Ints, key: NDArray[np.int32], number: NDArray[np.int32]
) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
    """List for each key who has it, in the order of people, and how often."""
    start = np.zeros(keys + 1, np.int64)
    for e in range(len(key)):
        start[key[e] + 1] += 1
    for k in range(keys):
        start[k + 1] += start[k]
    at = start[:-1].copy()
    person, value = np.empty(len(key), np.int32), np.empty(len(key), np.int32)
    for who in range(len(offsets) - 1):
        for e in range(offsets[who], offsets[who + 1]):
            place = at[key[e]]
            person[place], value[place] = who, number[e]
            at[key[e]] += 1
    return start, person, value


@kernel_private
def most_people(start: int, end: int, all_people: int, records: Records) -> int:
    """Give how many people have anything in common with a person, at most."""
    number = 0
    for e in range(start, end):
        number += records.start[records.key[e] + 1] - records.start[records.key[e]]
    return min(all_people, number)
