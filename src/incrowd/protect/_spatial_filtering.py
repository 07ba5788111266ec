"""Spatial filtering: places that few people visit go."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._arguments import is_whole
from incrowd._numba import kernel
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import is_named
from incrowd.errors import ArgumentError
from incrowd.protect._mechanism import LINKAGE, OTHERS, Changed, Mechanism

__all__ = [
    "Filter",
]


Longs = NDArray[np.int64]

ROOM, SMALL = 4, 1 << 20
"""Codes are used as they are where they span at most so many times the samples, and so many."""


@dataclass(frozen=True, slots=True)
class Filter(Mechanism):
    """Spatial filtering: take away samples at places that few different people visited.

    A place is what the data names so (an antenna, an access point, a venue). What is published is
    the cell of the grid and not the name, so cells that few people visited (of what is left) go as
    well; where samples are larger than a cell, each rectangle that occurs. A trajectory that stands
    for a crowd counts as so many people. Whoever has no sample left is dropped, and counted.

    It protects against publishing places that hardly anybody else visits, such as most people's
    homes. It does not protect against being recognised by the places that are left, by when they
    were visited (the paper finds that times give people away as before), or by their order.

    Parameters
    ----------
    at_most
        Places visited by so many different people, or fewer, go. The paper tries 3 and 5.

    Raises
    ------
    ArgumentError
        If it is not a whole number of at least 1.

    References
    ----------
    Section 3.5.1 of "Uniqueness assessment of human mobility on multi-sensor datasets" (2016).

    Examples
    --------
    >>> from incrowd import Trajectories
    >>> from incrowd.protect._spatial_filtering import Filter
    >>> data = Trajectories.from_boxes(
    ...     {"user": [1, 1, 2, 3], "x0": [0, 5, 5, 7], "y0": [2, 2, 2, 2], "t0": [0, 9, 3, 3]})
    >>> protected = Filter(at_most=1).protect(data)
    >>> protected.trajectories.boxes().select("user", "x0").rows()
    [(1, 5), (2, 5)]
    >>> protected.assignment.rows()
    [(1, 0), (2, 1), (3, None)]
    >>> protected.losses["samples_dropped"], protected.losses["samples_suppressed"]
    (1, 1)
    """

    at_most: int

    method: ClassVar[str] = "spatial filtering"
    paper: ClassVar[str] = "multi-sensor uniqueness, 2016, section 3.5.1"

    def __post_init__(self) -> None:
        value = self.at_most
        if not is_whole(value) or value < 1:
            raise ArgumentError(
                f"at_most must be a whole number of people of at least 1, not {value!r}"
            )
        object.__setattr__(self, "at_most", int(value))

    @property
    def settings(self) -> dict[str, Any]:
        """How few people make a place go."""
        return {"at_most": self.at_most}

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        told = (
            f"every published place was visited by at least {self.at_most + 1:,} different people"
        )
        return (f"publishing rare places: {told}; {LINKAGE}",)

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""
        return (
            (
                "record linkage: no place is rare, but which of them a person visited, and when, "
                "is hers alone; whoever knows some of it finds her record"
            ),
            (
                "what is missing: gaps in a record tell that somebody was where few others go, "
                "and whoever is dropped went nowhere else"
            ),
            *OTHERS,
        )

    def _change(self, data: Trajectories, threads: int | None) -> Changed:  # noqa: ARG002
        named = is_named(data)
        keep, gone = np.ones(data.samples, np.bool_), 0
        if data.place is not None and named.any():
            rare, gone = _rare(*_dense([data.place]), data.offsets, data.crowd, self.at_most, named)
            keep = ~rare
        # What is published are rectangles, not names, so that these must not be rare either.
        offsets = _kept(keep, data.offsets)
        sides = [side[keep] for side in (data.x0, data.y0, data.x1 - data.x0, data.y1 - data.y0)]
        rare, more = _rare(*_dense(sides), offsets, data.crowd, self.at_most)
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
        what = "places named in the data, and cells" if named.any() else "cells"
        return Changed(
            made,
            suppressed=data.samples - made.samples,
            more=(("places_filtered", gone + more),),
            settings=(("places", what),),
        )


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
