"""An inverted index of the points that are asked about, and how many people have several of them.

::

    wanted codes ──> hash table ──> one pass over everybody's points ──> PostingLists
                                                                              │
    trials: rows of points ──> the rarest first, then filtered by the others <┘

A posting list that is long for the number of people is kept as a set of bits as well, 64 people a
word: two long lists are intersected word by word, a short one is filtered person by person, and
neither is slow.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, Words, kernel, kernel_private, popcount
from incrowd._parallel import on_threads
from incrowd.measure._uniqueness.encoding import Points

__all__ = [
    "PostingLists",
    "count_matching",
    "posting_lists",
]


BLOCK = 4096
DENSE = 64
"""A list with more than one person in so many is kept as bits as well: then it has at least one
bit a word on average, and the words are no more than the list."""
TRIALS = 256
People = NDArray[np.int32]


class PostingLists(NamedTuple):
    """The people who have each of some points.

    Attributes
    ----------
    wanted
        The codes of these points, sorted.
    person, cuts
        The people of each point, in order.
    row
        Where the bits of a point are in `bits`; -1 if its list is short.
    bits
        Sets of people, 64 a word.
    """

    wanted: Ints
    person: People
    cuts: Ints
    row: Ints
    bits: Words


def posting_lists(points: Points, wanted: Ints, threads: int = 1) -> PostingLists:
    """Return who has each of some points (distinct codes, sorted)."""
    people = len(points)
    size = 1 << max(4, int(2 * len(wanted)).bit_length())
    key, index = np.empty(size, np.int64), np.full(size, -1, np.int32)
    _insert_all(wanted, key, index)
    offsets = np.ascontiguousarray(points.offsets)

    def collect(first: int) -> tuple[NDArray[np.int32], People]:
        found: tuple[NDArray[np.int32], People] = _collect_postings(
            points.code, offsets[first : first + BLOCK + 1], first, key, index
        )
        return found

    hits = list(on_threads(threads, collect, range(0, people, BLOCK)))
    length = np.zeros(len(wanted) + 1, np.int64)
    for which, _ in hits:
        length[1:] += np.bincount(which, minlength=len(wanted))
    cuts = np.cumsum(length)
    # Blocks of people come in order, so every list is in the order of people: `_contains` bisects.
    person, end = np.empty(int(cuts[-1]), np.int32), cuts[:-1].copy()
    for which, who in hits:
        _fill_lists(which, who, end, person)
    del hits
    many = np.diff(cuts) * DENSE > people
    row = np.where(many, np.cumsum(many) - 1, -1)
    bits = np.zeros((int(many.sum()), (people + 63) // 64), np.uint64)
    _set_bits(person, cuts, row, bits)
    return PostingLists(wanted, person, cuts, row, bits)


def count_matching(
    lists: PostingLists, trial: Ints, *, nested: bool, threads: int = 1
) -> NDArray[np.int32]:
    """Return how many people have all points of each trial.

    Parameters
    ----------
    holders
        Who has which point.
    trial
        A row for each trial: the indices of its points in `holders`, -1 where there are fewer.
    nested
        Whether to count after each point, in the order given, and not only after all: the points
        are then taken as they come, and not the rarest first.

    Returns
    -------
    A row for each trial; without `nested`, only its last column means something. Where a trial has
    no further point there is 0.
    """
    left = np.zeros(trial.shape, np.int32)
    longest = int(np.diff(lists.cuts)[lists.row < 0].max(initial=0))

    def count(first: int) -> None:
        some = slice(first, first + TRIALS)
        _count(trial[some], *lists[1:], longest, nested, left[some])

    for _ in on_threads(threads, count, range(0, len(trial), TRIALS)):
        pass
    return left


@kernel_private
def _slot_of(code: int, size: int) -> int:
    """Return where to look first for a code in a hash table (Fibonacci hashing)."""
    mixed = np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(size - 1))


@kernel
def _insert_all(wanted: Ints, key: Ints, index: NDArray[np.int32]) -> None:
    """Put codes into a hash table at most half full (linear probing)."""
    for i in range(len(wanted)):
        slot = _slot_of(wanted[i], len(key))
        while index[slot] >= 0:
            slot = (slot + 1) & (len(key) - 1)
        key[slot], index[slot] = wanted[i], i


@kernel
def _collect_postings(
    code: Ints, offsets: Ints, first: int, key: Ints, index: NDArray[np.int32]
) -> tuple[NDArray[np.int32], People]:
    """Return which wanted points some people have, and who."""
    start, end = offsets[0], offsets[-1]
    which, who = np.empty(end - start, np.int32), np.empty(end - start, np.int32)
    used, person = 0, 0
    for i in range(start, end):
        while offsets[person + 1] <= i:
            person += 1
        slot = _slot_of(code[i], len(key))
        while index[slot] >= 0:
            if key[slot] == code[i]:
                which[used], who[used] = index[slot], first + person
                used += 1
                break
            slot = (slot + 1) & (len(key) - 1)
    return which[:used].copy(), who[:used].copy()


@kernel
def _fill_lists(which: NDArray[np.int32], who: People, end: Ints, person: People) -> None:
    """Append people to the lists of their points."""
    for i in range(len(which)):
        person[end[which[i]]] = who[i]
        end[which[i]] += 1


@kernel
def _set_bits(person: People, cuts: Ints, row: Ints, bits: Words) -> None:
    """Set the bits of people in long lists."""
    for i in range(len(row)):
        if row[i] >= 0:
            for j in range(cuts[i], cuts[i + 1]):
                bits[row[i], person[j] >> 6] |= np.uint64(1) << np.uint64(person[j] & 63)


@kernel_private
def _contains(who: int, point: int, person: People, cuts: Ints, row: Ints, bits: Words) -> bool:
    """Return whether somebody is in the list of a point: by a bit, or by bisection."""
    if row[point] >= 0:
        return (bits[row[point], who >> 6] >> np.uint64(who & 63)) & np.uint64(1) != 0
    low, high = cuts[point], cuts[point + 1]
    while low < high:
        middle = (low + high) >> 1
        if person[middle] < who:
            low = middle + 1
        else:
            high = middle
    return low < cuts[point + 1] and person[low] == who


@kernel_private
def _filter_list(
    some: People, size: int, point: int, person: People, cuts: Ints, row: Ints, bits: Words
) -> int:
    """Keep those of a list who have a point; return how many."""
    kept = 0
    for i in range(size):
        if _contains(some[i], point, person, cuts, row, bits):
            some[kept] = some[i]
            kept += 1
    return kept


@kernel_private
def _intersect(many: Words, other: Words) -> int:
    """Keep those who are in both sets; return how many."""
    size = 0
    for w in range(len(many)):
        many[w] &= other[w]
        size += popcount(many[w])
    return size


@kernel_private
def _list_members(many: Words, people: People, some: People) -> int:
    """List those of a list who are in a set; return how many."""
    size = 0
    for who in people:
        if (many[who >> 6] >> np.uint64(who & 63)) & np.uint64(1):
            some[size] = who
            size += 1
    return size


@kernel
def _count(
    trial: Ints,
    person: People,
    cuts: Ints,
    row: Ints,
    bits: Words,
    longest: int,
    nested: bool,  # noqa: FBT001
    left: NDArray[np.int32],
) -> None:
    """Count for some trials.

    Whoever is left is a set of bits until a short list comes, and a list from then on: it can only
    become shorter.
    """
    some, many = np.empty(longest, np.int32), np.empty(bits.shape[1], np.uint64)
    for t in range(len(trial)):
        points = trial[t][trial[t] >= 0]
        if not nested:
            points = points[np.argsort(cuts[points + 1] - cuts[points])]
        listed, size = False, 0
        for j in range(len(points)):
            point = points[j]
            people = person[cuts[point] : cuts[point + 1]]
            if j == 0:
                listed, size = row[point] < 0, len(people)
                if listed:
                    some[:size] = people
                else:
                    many[:] = bits[row[point]]
            elif listed:
                size = _filter_list(some, size, point, person, cuts, row, bits)
            elif row[point] >= 0:
                size = _intersect(many, bits[row[point]])
            else:
                listed, size = True, _list_members(many, people, some)
            left[t, j] = size
