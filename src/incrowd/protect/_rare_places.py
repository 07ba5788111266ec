"""Which places few people visit, and a dataset without them: what spatial filtering does.

A place is what the data names so. What is published are rectangles and not names, so of what is
left, rectangles that few people visited go as well.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import is_named

__all__ = [
    "without_rare_places",
]


Longs = NDArray[np.int64]

ROOM, SMALL = 4, 1 << 20
"""Codes are used as they are where they span at most so many times the samples, and so many."""


def without_rare_places(data: Trajectories, at_most: int) -> tuple[Trajectories, int, bool]:
    """Return the people of `data` without samples at places of at most so many different people.

    Returns
    -------
    tuple
        The trajectories, some of them perhaps empty; how many places went; whether the data names
        places.
    """
    named = is_named(data)
    keep, gone = np.ones(data.samples, np.bool_), 0
    if data.place is not None and named.any():
        rare, gone = _rare(*_dense([data.place]), data.offsets, data.crowd, at_most, named)
        keep = ~rare
    # What is published are rectangles, not names, so that these must not be rare either.
    offsets = _kept(keep, data.offsets)
    sides = [side[keep] for side in (data.x0, data.y0, data.x1 - data.x0, data.y1 - data.y0)]
    rare, more = _rare(*_dense(sides), offsets, data.crowd, at_most)
    keep[np.flatnonzero(keep)[rare]] = False
    made = Trajectories(
        tuple(column[keep] for column in data.columns),
        _kept(keep, data.offsets),
        data.frame,
        people=data.people,
        crowd=data.crowd,
        place=None if data.place is None else data.place[keep],
        places=data.places,
        reading=data.reading,
    )
    return made, gone + more, bool(named.any())


def _kept(keep: NDArray[np.bool_], offsets: Longs) -> Longs:
    """Give where each person's samples start once others are gone."""
    cut: Longs = np.concatenate([[0], np.cumsum(keep)])[offsets]
    return cut


def _rare(
    code: Longs,
    number: int,
    offsets: Longs,
    crowd: NDArray[np.int32],
    at_most: int,
    counted: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.bool_], int]:
    """Tell which samples are at places of few people, and how many such places there are."""
    people = _visitors(code, offsets, crowd, number)
    rare = (people <= at_most)[code]
    if counted is not None:
        rare &= counted
    return rare, len(np.unique(code[rare]))


def _dense(columns: list[NDArray[Any]]) -> tuple[Longs, int]:
    """Give one number for each combination of values, and how many numbers there may be.

    Most datasets cover an area of which cells are a small number; then nothing is sorted.
    """
    samples = len(columns[0])
    code, number = np.zeros(samples, np.int64), 1
    for column in columns if samples else ():
        low = int(column.min())
        span = int(column.max()) - low + 1
        if span == 1:
            continue
        if number * span > ROOM * samples + SMALL:
            found, code = np.unique(code, return_inverse=True)
            number = len(found)
            values, column = np.unique(column, return_inverse=True)  # noqa: PLW2901
            low, span = 0, len(values)
        # At most as many of each as there are samples, so 64 bits hold the product.
        code *= span
        code += column
        code -= low
        number *= span
    if number > ROOM * samples + SMALL:
        found, code = np.unique(code, return_inverse=True)
        number = len(found)
    return code, number


@kernel
def _visitors(code: Longs, offsets: Longs, crowd: NDArray[np.int32], number: int) -> Longs:
    """Count the different people at each place."""
    people = np.zeros(number, np.int64)
    last = np.full(number, -1, np.int32)
    for person in range(len(offsets) - 1):
        for i in range(offsets[person], offsets[person + 1]):
            if last[code[i]] != person:
                last[code[i]] = person
                people[code[i]] += crowd[person]
    return people
