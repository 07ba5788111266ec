"""The three attackers: what each knows of the training people, laid out for the kernels.

Each gives a search from some test people to those who are taken for them, and what makes room for
it, once for each thread.
"""

import difflib
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.attack import profiles, top
from incrowd.attack.records import index
from incrowd.compiled import Ints
from incrowd.data.vectors import Vectors
from incrowd.errors import ArgumentError, InputError

__all__ = [
    "ATTACKERS",
    "Matches",
    "Rooms",
    "Search",
    "attackers_of",
    "by_markov",
    "by_tfidf",
    "by_top",
]

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
    ranks = top.rank(train, places, int(numbers[-1]))

    def search(first: int, last: int, room: Any) -> Matches:
        return top.top(first, last, numbers, test.place, test.offsets, ranks, room)[:, which]

    return search, lambda: top.room_for(len(train))


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
        lambda first, last, room: profiles.tfidf(first, last, tests, weight, norm, records, room),
        lambda: profiles.room_for(len(train)),
    )


def by_markov(train: Vectors, test: Vectors) -> tuple[Search, Rooms]:
    """Lay out what the attacker knows who knows how people go about."""
    records, codes = index(train)
    tests = _numbered(test, codes)
    return (
        lambda first, last, room: profiles.markov(first, last, tests, train.total, records, room),
        lambda: profiles.room_for(len(train)),
    )


def _numbered(test: Vectors, codes: Ints) -> profiles.Profiles:
    keys = profiles.numbered(test.place, codes)
    return profiles.Profiles(keys, test.visits, test.offsets, test.total)
