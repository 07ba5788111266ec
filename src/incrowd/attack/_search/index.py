"""An inverted index of what is published, so that an adversary finds at once whom a point matches.

Everybody has *entries*: a key (a place, or a place at a time) with a number (how often). Those of
a person lie one after the other, most frequent first (her frequency vector, Definition 2.2);
and for every key there is a posting list of those who have it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_private
from incrowd.data._vectors import Vectors

__all__ = [
    "InvertedIndex",
    "KnownPoints",
    "build_index",
    "max_candidates",
]


class InvertedIndex(NamedTuple):
    """The entries of everybody, by person and by key.

    Attributes
    ----------
    offsets
        Where the entries of each person start, and where the last one's end.
    key, number
        Of each entry: what it is, and how often the person has it.
    total
        What the numbers of a person are divided by: her visits, or 1.
    list_start
        Where the posting list of each key starts, and where the last one ends.
    list_person, list_count
        The postings: who has the key, in the order of people, and how often.
    """

    offsets: Ints
    key: NDArray[np.int32]
    number: NDArray[np.int32]
    total: Ints
    list_start: Ints
    list_person: NDArray[np.int32]
    list_count: NDArray[np.int32]


class KnownPoints(NamedTuple):
    """What an adversary may know of each entry, and whom that matches.

    An entry matches a person whose count at the same key, divided by her total, lies between
    ``low / denominator`` and ``high / denominator``. Where an entry stands for several points
    (`copies`), each further one that is known asks for one more.
    """

    copies: NDArray[np.int32]
    low: Ints
    high: Ints
    denominator: Ints


def build_index(vectors: Vectors) -> tuple[InvertedIndex, Ints]:
    """Return the index of frequency vectors, and the codes that its keys number, in rising order.

    Keys are numbered without gaps, so that a posting list is found by one look into an array.
    """
    codes, inverse = np.unique(vectors.place, return_inverse=True)
    key = inverse.astype(np.int32)
    count = vectors.visits.astype(np.int32)
    total = np.ones(len(vectors), np.int64)
    lists = _posting_lists(len(codes), vectors.offsets, key, count)
    return InvertedIndex(vectors.offsets, key, count, total, *lists), codes


@kernel
def _posting_lists(
    keys: int, offsets: Ints, key: NDArray[np.int32], count: NDArray[np.int32]
) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
    """Return who has each key, in the order of people, and how often: a counting sort by key.

    Going through people in order leaves every list in that order, on which `sequence` relies.
    """
    start = np.zeros(keys + 1, np.int64)
    for e in range(len(key)):
        start[key[e] + 1] += 1
    for k in range(keys):
        start[k + 1] += start[k]
    end = start[:-1].copy()  # of what is filled so far of each list
    list_person, list_count = np.empty(len(key), np.int32), np.empty(len(key), np.int32)
    for person in range(len(offsets) - 1):
        for e in range(offsets[person], offsets[person + 1]):
            position = end[key[e]]
            list_person[position], list_count[position] = person, count[e]
            end[key[e]] += 1
    return start, list_person, list_count


@kernel_private
def max_candidates(start: int, end: int, everybody: int, index: InvertedIndex) -> int:
    """Return an upper bound of how many people share a key with some entries of a person.

    Arrays of candidates are made as large, before the candidates are known.
    """
    postings = 0
    for e in range(start, end):
        postings += index.list_start[index.key[e] + 1] - index.list_start[index.key[e]]
    return min(everybody, postings)
