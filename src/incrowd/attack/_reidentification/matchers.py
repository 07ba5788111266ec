"""The three matchers: what an adversary makes of training people, and who is most similar.

::

    train ──> TopN, TfIdf or Markov ── match(test people) ──> the one most similar person, or nobody

A matcher lays out what it knows of the training people once. `match` then compares blocks of test
people with them, on any thread that has scratch buffers of its own. All three walk over what a test
person has, and for each over the posting list of the training people who have it, too; people who
have nothing in common with her are never looked at.

`TopN` (in `top_n`) is the attack of section 3.4 of the paper of 2016; `TfIdf` and `Markov` know
more.
"""

import difflib
import math
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, kernel, kernel_inline, kernel_private
from incrowd.attack._search.index import InvertedIndex, build_index
from incrowd.data._vectors import Vectors
from incrowd.errors import ArgumentError

__all__ = [
    "ATTACKERS",
    "CLOSE",
    "Markov",
    "Matcher",
    "Matches",
    "ProfileScratch",
    "Profiles",
    "TfIdf",
    "attackers_of",
    "match_markov",
]


ATTACKERS = ("top", "tfidf", "markov")
"""The matchers by their public names."""
Matches = NDArray[np.int32]
"""For each test person (and each n) who is most similar to her; -1 for nobody, or for several."""

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
