"""Subsets of a dataset that are hidden by themselves: the first days, an area, some of the people.

A `SubsetRequest` says which subset is wanted and how to get it; `SubsetRuns` runs GLOVE on each of
them once and measures how accurate what it publishes is (`Subset`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from incrowd._format import significant
from incrowd._numba import Ints, kernel
from incrowd.data._select import select
from incrowd.data._trajectories import Trajectories
from incrowd.evaluate._utility.accuracy import sizes_of, tallied
from incrowd.evaluate._utility.distributions import Distribution
from incrowd.measure._same_person import checked_before
from incrowd.protect._glove.api import glove
from incrowd.protect._glove.release import Release

__all__ = [
    "Progress",
    "Square",
    "Subset",
    "SubsetRequest",
    "SubsetRuns",
    "area_subsets",
    "densest_square",
    "first_days",
    "people_subsets",
    "span_of",
]


DAY = 86_400
SIDE = 20_000.0
"""The side of a city, in metres."""
STEPS = 20
"""The edges of a square lie on a grid so many times as fine as its side."""
STAGES = ("Searching", "Merging", "Finishing")

Progress = Callable[[int, int], None]
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class SubsetRequest:
    """A subset that is wanted: its name, its size in what it differs by, and how to get it."""

    name: str
    value: float
    make: Callable[[], Trajectories]


@dataclass(frozen=True, slots=True)
class Square:
    """A square on the grid: where its cells start, and how many it has along a side."""

    x: int
    y: int
    side: int
    samples: int

    def of(self, data: Trajectories) -> Trajectories:
        """Take the samples whose centre lies inside."""
        x, y = _centres(data)
        east, north = self.x + self.side, self.y + self.side
        inside = (x >= self.x) & (x < east) & (y >= self.y) & (y < north)
        return data if bool(inside.all()) else data.keep(inside)

    def degrees(self, data: Trajectories) -> Box | None:
        """Give the west, south, east and north of its middle lines; None on a grid of nowhere."""
        frame = data.frame
        if frame.crs is None:
            return None
        ends = [
            (start * frame.cell, (start + self.side) * frame.cell) for start in (self.x, self.y)
        ]
        (west, east), (south, north) = ends
        middle_x, middle_y = (west + east) / 2, (south + north) / 2
        lon, _ = frame.degrees([west, east], [middle_y, middle_y])
        _, lat = frame.degrees([middle_x, middle_x], [south, north])
        return float(lon[0]), float(lat[0]), float(lon[1]), float(lat[1])


def span_of(data: Trajectories) -> tuple[int, float]:
    """Give when the data starts, in seconds since 1970, and how many days it spans."""
    frame, first, last = data.frame, int(data.t0.min()), int(data.t1.max())
    return first * frame.slot + frame.origin, (last - first) * frame.slot / DAY


def first_days(data: Trajectories, spans: Sequence[float]) -> Iterator[SubsetRequest]:
    """Give the first days of the data, counted from its first sample on; all of it comes last."""
    start, whole = span_of(data)
    for days in sorted(set(spans)):
        if days < whole:
            end = np.datetime64(start + round(days * DAY), "s")
            window = (np.datetime64(start, "s"), end)
            name = f"first {days:g} days" if days != 1 else "first day"
            yield SubsetRequest(name, float(days), partial(select, data, time=window))
    yield SubsetRequest(f"all {significant(whole)} days", whole, lambda: data)


def area_subsets(
    data: Trajectories, area: Box | None
) -> tuple[list[SubsetRequest], dict[str, Any]]:
    """Give an area and the whole, and where the area is."""
    width, height = (
        (int(end.max()) - int(start.min())) * data.frame.cell / 1000
        for start, end in ((data.x0, data.x1), (data.y0, data.y1))
    )
    everything = SubsetRequest(
        f"all {significant(width)} x {significant(height)} km", width * height, lambda: data
    )
    if area is not None:
        inside = SubsetRequest("the area", float("nan"), partial(select, data, bbox=area))
        return [inside, everything], {"degrees": list(area), "chosen": "given"}
    square = densest_square(data)
    side = square.side * data.frame.cell / 1000
    where = square.degrees(data)
    about = {
        "degrees": None if where is None else [round(edge, 4) for edge in where],
        "chosen": "densest square",
        "side_km": side,
        "cells": [square.x, square.y, square.side],
    }
    name = f"densest {side:g} x {side:g} km"
    return [SubsetRequest(name, side * side, partial(square.of, data)), everything], about


def people_subsets(
    data: Trajectories, shares: Sequence[float], seed: int
) -> Iterator[SubsetRequest]:
    """Give random shares of the people."""
    for share in sorted(set(shares)):
        name = "all people" if share == 1 else f"{share * 100:g} % of people"
        yield SubsetRequest(name, float(share), partial(select, data, share=share, seed=seed))


def densest_square(data: Trajectories, side: float = SIDE) -> Square:
    """Find the square with the most samples: of 20 km, or of half the extent if that is less.

    Its edges lie on a grid of a twentieth of its side; of equals, the first in x, then in y.

    Examples
    --------
    >>> from incrowd import Trajectories
    >>> from incrowd.evaluate._analysis.subsets import densest_square
    >>> data = Trajectories.from_boxes(
    ...     {"user": [1] * 4, "x0": [0, 90, 91, 92], "y0": [0, 5, 6, 7], "t0": [0, 1, 2, 3]})
    >>> densest_square(data)
    Square(x=90, y=0, side=46, samples=3)
    """
    x, y = _centres(data)
    extent = max(int(x.max()) - int(x.min()), int(y.max()) - int(y.min())) + 1
    cells = max(1, min(int(side / data.frame.cell), extent // 2))
    step = max(1, cells // STEPS)
    cells = cells // step * step
    x, y = x // step, y // step
    first, height = int(y.min()), int(y.max()) - int(y.min()) + 1
    places, counts = np.unique(x * height + (y - first), return_counts=True)
    rows, row = np.unique(places % height + first, return_inverse=True)
    number, column, at = _fullest(places // height, row, rows, counts, cells // step)
    return Square(int(column) * step, int(rows[at]) * step, cells, int(number))


def _centres(data: Trajectories) -> tuple[Ints, Ints]:
    """Give the cell of the centre of each sample."""
    return (
        np.add(data.x0, data.x1, dtype=np.int64) // 2,
        np.add(data.y0, data.y1, dtype=np.int64) // 2,
    )


@kernel
def _fullest(
    columns: Ints, row: Ints, rows: Ints, counts: Ints, size: int
) -> tuple[int, int, int]:  # fmt: skip
    """Find where a window of so many columns and rows holds most; bins come column by column."""
    inside = np.zeros(len(rows), np.int64)
    best, best_column, best_row = -1, 0, 0
    low, up = 0, 0
    while low < len(columns):
        column = columns[low]
        while up < len(columns) and columns[up] < column + size:
            inside[row[up]] += counts[up]
            up += 1
        total, last = 0, 0
        for first in range(len(rows)):
            while last < len(rows) and rows[last] < rows[first] + size:
                total += inside[last]
                last += 1
            if total > best:
                best, best_column, best_row = total, column, first
            total -= inside[first]
        while low < len(columns) and columns[low] == column:
            inside[row[low]] -= counts[low]
            low += 1
    return best, best_column, best_row


@dataclass(frozen=True, slots=True)
class Subset:
    """A subset of the data, and how accurate it is once it was hidden.

    Attributes
    ----------
    name, value
        Its name, and its size: days, square kilometres, or the share of people.
    people, samples
        How many it has.
    space, time
        The granularity of published rows, in metres and minutes; None for a subset with too few
        people to hide, which is left out.
    """

    name: str
    value: float | None
    people: int
    samples: int
    space: Distribution | None
    time: Distribution | None


class SubsetRuns:
    """Runs of GLOVE on subsets, each once, and how far they are all together."""

    def __init__(
        self, data: Trajectories, k: int, how: dict[str, Any], progress: Progress | None
    ) -> None:
        self.data, self.k, self.how = data, k, how
        self.tell = progress or (lambda _done, _all: None)
        self.done, self.total = 0, 0
        self.left_out: list[str] = []
        self._whole: Release | None = None

    def plan(self, subsets: list[SubsetRequest], *, whole: bool) -> None:
        """Add up how many people there are to hide."""
        for subset in subsets:
            piece = subset.make()
            if piece is self.data:
                whole = True
            elif len(piece) >= self.k:
                self.total += len(piece)
        self.total += len(self.data) if whole else 0
        self.tell(0, self.total)

    def whole(self) -> Release:
        """Hide everybody, or tell what came out of it before."""
        if self._whole is None:
            self._whole = self.run(self.data)
        return self._whole

    def run(self, piece: Trajectories) -> Release:
        """Hide the people of a subset."""

        def tell(stage: str, done: int, total: int) -> None:
            # A stage counts for a third of the people, whatever it counts itself.
            passed = STAGES.index(stage) + done / max(1, total)
            self.tell(self.done + int(len(piece) * passed / len(STAGES)), self.total)

        with checked_before():  # nothing is published
            release = glove(piece, self.k, progress=tell, **self.how)
        self.done += len(piece)
        self.tell(self.done, self.total)
        return release

    def measure(self, wanted: SubsetRequest) -> Subset:
        """Hide a subset and measure how accurate it is then."""
        piece = wanted.make()
        value = None if np.isnan(wanted.value) else wanted.value
        about = (wanted.name, value, len(piece), piece.samples)
        if len(piece) < self.k:
            people = "one person" if len(piece) == 1 else f"{len(piece) or 'no'} people"
            self.left_out.append(
                f"{wanted.name}: left out, since {people} cannot hide in a crowd of {self.k}."
            )
            return Subset(*about, None, None)
        release = self.whole() if piece is self.data else self.run(piece)
        published = release.trajectories
        return Subset(*about, *tallied(published, *sizes_of(published), published.crowd))
