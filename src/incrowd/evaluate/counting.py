"""What everybody does together, counted: trips, people by square and hour, samples, visitors.

Squares are laid over both datasets alike. A trajectory counts once for each person of its crowd,
and a box at its centre and at its middle instant.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Ints, compiled, inner
from incrowd.data.frame import Frame
from incrowd.errors import ArgumentError
from incrowd.evaluate.centres import Centres, blocks_of
from incrowd.evaluate.tallies import Tally
from incrowd.threads import on_threads

__all__ = ["Counts", "Grid", "counts_of", "grid_of"]

HOURS = 24
WIDEST = 60
FINEST = 500
"""How many squares a map has across, or up, at most; and their least side in metres."""
MOST = 2**31
"""A grid has fewer squares, so that two of them make one 64-bit key."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Squares over both datasets: their side in cells, the first column and row, and how many."""

    side: int
    west: int
    south: int
    columns: int
    rows: int

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """What a kernel needs to find the square of a point in half cells."""
        return 2 * self.side, self.west, self.south, self.rows


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """What is counted in one dataset: trips, people by hour, samples, and visitors for the map."""

    flows: Tally
    population: Tally
    visits: Tally
    visitors: Tally


def grid_of(sides: Sequence[Centres], frame: Frame, kilometres: float | None) -> Grid:
    """Lay squares over both datasets: of a side in km, or as few of a round one as a map takes."""
    edges = []
    for axis in ("x", "y"):
        columns = [getattr(points, axis) for points in sides if len(points.x)]
        edges += [min(int(c.min()) for c in columns), max(int(c.max()) for c in columns)]
    if kilometres is not None:
        if not (math.isfinite(kilometres) and kilometres * 1000 >= frame.cell):
            raise ArgumentError(
                f"a grid of {kilometres!r} km is finer than the cells of the data "
                f"({frame.cell:g} m); take a coarser one"
            )
        grid = _squares(round(kilometres * 1000 / frame.cell), edges)
        if grid.columns * grid.rows >= MOST:
            raise ArgumentError(f"a grid of {kilometres:g} km has too many squares; take a coarser")
        return grid
    rounds = (digit * 10**power for power in itertools.count(2) for digit in (1, 2, 5))
    for metres in rounds:
        if metres >= max(FINEST, frame.cell):
            grid = _squares(round(metres / frame.cell), edges)
            if max(grid.columns, grid.rows) <= WIDEST:
                break
    return grid


def _squares(side: int, edges: list[int]) -> Grid:
    west, east, south, north = (edge // (2 * side) for edge in edges)
    return Grid(side, west, south, east - west + 1, north - south + 1)


def counts_of(points: Centres, grid: Grid, chart: Grid, threads: int) -> Counts:
    """Count one dataset on the grid, and its visitors on that of the map."""

    def work(block: tuple[int, int]) -> list[Tally]:
        first, last = block
        offsets, crowd = points.offsets[first : last + 1], points.crowd[first:last]
        found = _count(points.x, points.y, points.hour, offsets, crowd, *grid.numbers)
        flows, population, visits = (Tally.of(*found[i : i + 2]) for i in (0, 2, 4))
        here = _visitors(points.x, points.y, offsets, crowd, *chart.numbers)
        return [flows, population, visits, Tally.of(*here)]

    parts = list(on_threads(threads, work, blocks_of(points.offsets)))
    return Counts(*(Tally.together(part[i] for part in parts) for i in range(4)))


@inner
def _square(x: np.int32, y: np.int32, wide: int, west: int, south: int, rows: int) -> np.int64:
    """Give the number of the square in which a point lies."""
    return (np.int64(x) // wide - west) * rows + (np.int64(y) // wide - south)


@compiled
def _count(
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    hour: NDArray[np.uint8],
    offsets: Ints,
    crowd: NDArray[np.int32],
    wide: int,
    west: int,
    south: int,
    rows: int,
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
    """Give keys and numbers of trips, of people by square and hour, and of samples by square."""
    room = offsets[-1] - offsets[0]
    trips, travellers = np.empty(room, np.int64), np.empty(room, np.int64)
    hours, present = np.empty(room, np.int64), np.empty(room, np.int64)
    squares, samples = np.empty(room, np.int64), np.empty(room, np.int64)
    gone, there, seen = 0, 0, 0
    for person in range(len(offsets) - 1):
        first, last, weight = offsets[person], offsets[person + 1], crowd[person]
        keys = np.empty(last - first, np.int64)
        before = np.int64(-1)
        for i in range(first, last):
            square = _square(x[i], y[i], wide, west, south, rows)
            keys[i - first] = square * HOURS + hour[i]
            if before not in (-1, square):
                trips[gone], travellers[gone] = before * MOST + square, weight
                gone += 1
            before = square
        keys.sort()
        for i in range(len(keys)):
            square = keys[i] // HOURS
            if i == 0 or keys[i] != keys[i - 1]:
                hours[there], present[there] = keys[i], weight
                there += 1
            if i == 0 or square != squares[seen - 1]:
                squares[seen], samples[seen] = square, 0
                seen += 1
            samples[seen - 1] += weight
    return (
        trips[:gone].copy(), travellers[:gone].copy(), hours[:there].copy(),
        present[:there].copy(), squares[:seen].copy(), samples[:seen].copy(),
    )  # fmt: skip


@compiled
def _visitors(
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    offsets: Ints,
    crowd: NDArray[np.int32],
    wide: int,
    west: int,
    south: int,
    rows: int,
) -> tuple[Ints, Ints]:
    """Give the squares in which each was, once each, and for how many people that counts."""
    room = offsets[-1] - offsets[0]
    squares, people, used = np.empty(room, np.int64), np.empty(room, np.int64), 0
    for person in range(len(offsets) - 1):
        first, last = offsets[person], offsets[person + 1]
        mine = np.empty(last - first, np.int64)
        for i in range(first, last):
            mine[i - first] = _square(x[i], y[i], wide, west, south, rows)
        mine.sort()
        for i in range(len(mine)):
            if i == 0 or mine[i] != mine[i - 1]:
                squares[used], people[used] = mine[i], crowd[person]
                used += 1
    return squares[:used].copy(), people[:used].copy()
