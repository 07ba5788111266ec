"""`Vectors`: how often each person was at which place.

These are the frequency and probability vectors of definitions 2.2 and 2.3 of the paper on privacy
risk; `Visits.frequencies` gives them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import index as as_index

import numpy as np

from incrowd._format import people as _people
from incrowd._numba import Floats, Ints, kernel
from incrowd._parallel import on_threads

__all__ = [
    "PersonVector",
    "Vectors",
    "count",
]


BLOCK = 4096
"""How many people's visits are counted at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonVector:
    """The places of one person, most visited first.

    Attributes
    ----------
    place, visits
        The code of each place, and how often she was there: her frequency vector.
    probability
        The share of her visits to each: her probability vector.
    """

    place: Ints
    visits: Ints
    probability: Floats

    def __len__(self) -> int:
        return len(self.place)

    def __repr__(self) -> str:
        return f"PersonVector(places: {len(self):,}, visits: {int(self.visits.sum()):,})"


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The places of each person, most visited first (of equals, the lower code first).

    One person's are given by index.

    Attributes
    ----------
    place, visits
        The code of each place, and how often the person was there.
    offsets
        Where each person's places start, and where the last one's end.
    total
        The number of visits of each person.

    Examples
    --------
    >>> from incrowd import Visits
    >>> rows = {"user": [7] * 4 + [9], "place": [2, 1, 1, 1, 5], "time": [1, 2, 3, 4, 5]}
    >>> vectors = Visits.from_rows(rows).frequencies()
    >>> vectors
    Vectors(2 people, 3 places of theirs, 5 visits)
    >>> vectors[0].place.tolist(), vectors[0].visits.tolist(), vectors[0].probability.tolist()
    ([1, 2], [3, 1], [0.75, 0.25])
    """

    place: Ints
    visits: Ints
    offsets: Ints
    total: Ints

    def __len__(self) -> int:
        return len(self.total)

    def __getitem__(self, index: int) -> PersonVector:
        """Return the vectors of one person; a negative index counts from the end."""
        i = range(len(self))[as_index(index)]
        mine = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        visits = self.visits[mine]
        return PersonVector(self.place[mine], visits, visits / self.total[i])

    def __iter__(self) -> Iterator[PersonVector]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"Vectors({_people(len(self))}, {len(self.place):,} places of theirs, "
            f"{int(self.total.sum()):,} visits)"
        )

    @property
    def probability(self) -> Floats:
        """The share of a person's visits to each of her places."""
        return self.visits / np.repeat(self.total, np.diff(self.offsets))


def count(place: Ints, offsets: Ints, *, threads: int = 1) -> Vectors:
    """Return how often each person has each code."""
    people = len(offsets) - 1
    blocks = range(0, people, BLOCK)
    work = lambda first: _count(place, offsets[first : first + BLOCK + 1])  # noqa: E731
    parts = list(on_threads(threads, work, blocks))
    none = [np.zeros(0, np.int64)]
    codes, number, distinct = (
        np.concatenate([part[i] for part in parts] or none) for i in range(3)
    )
    ends = np.zeros(people + 1, np.int64)
    np.cumsum(distinct, out=ends[1:])
    return Vectors(codes, number, ends, np.diff(offsets))


@kernel
def _count(place: Ints, offsets: Ints) -> tuple[Ints, Ints, Ints]:
    """Return, for some people, their codes, how often each occurs, and how many each has."""
    people, size = len(offsets) - 1, offsets[-1] - offsets[0]
    codes, number = np.empty(size, np.int64), np.empty(size, np.int64)
    distinct, used = np.zeros(people, np.int64), 0
    for person in range(people):
        mine = np.sort(place[offsets[person] : offsets[person + 1]])
        first = used
        for i in range(len(mine)):
            if used == first or codes[used - 1] != mine[i]:
                codes[used], number[used] = mine[i], 0
                used += 1
            number[used - 1] += 1
        order = np.argsort(-number[first:used], kind="mergesort")
        codes[first:used], number[first:used] = codes[first:used][order], number[first:used][order]
        distinct[person] = used - first
    return codes[:used].copy(), number[:used].copy(), distinct
