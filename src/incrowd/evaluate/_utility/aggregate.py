"""Everybody together, before and after: trips, people by place and hour, samples by place.

Nothing here asks who became whom. A published record counts once for each person of its crowd, and
a box counts at its centre and at its middle instant, as in the paper.

What is compared are distributions over keys (a pair of cells; a cell and an hour; a cell), by their
total variation distance: half the sum of the differences of shares. It is the share of what is
published that would have to be moved elsewhere to be distributed as the original is.

Squares are laid over both datasets alike (`grid_of`); `counts_of` counts one dataset on them, and
`compare` says how much the two differ (`AggregateUtility`).
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd._format import percent
from incrowd._numba import Ints, kernel, kernel_private
from incrowd._parallel import on_threads
from incrowd._summary import Summarised, Summary
from incrowd.data._frame import Frame
from incrowd.errors import ArgumentError
from incrowd.evaluate._correlation import spearman
from incrowd.evaluate._utility.distributions import Tally
from incrowd.measure._centres import Centres, blocks_of

__all__ = [
    "AggregateUtility",
    "Counts",
    "Difference",
    "Grid",
    "Map",
    "compare",
    "counts_of",
    "grid_of",
]


HOURS = 24
WIDEST = 60
FINEST = 500
"""How many squares a map has across, or up, at most; and their least side in metres."""
MOST = 2**31
"""A grid has fewer squares, so that two of them make one 64-bit key."""
LARGE = 2**60
"""Products of totals beyond it are computed in whole numbers of any size."""


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


@kernel_private
def _square(x: np.int32, y: np.int32, wide: int, west: int, south: int, rows: int) -> np.int64:
    """Give the number of the square in which a point lies."""
    return (np.int64(x) // wide - west) * rows + (np.int64(y) // wide - south)


@kernel
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


@kernel
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


@dataclass(frozen=True, slots=True)
class Difference:
    """How two distributions differ.

    Attributes
    ----------
    before, after
        How many there are in all (trips, presences, samples).
    kinds_before, kinds_after
        Over how many keys they are spread (pairs of cells, cells and hours, cells).
    moved
        The total variation distance: 0 if nothing, 1 if everything would have to be moved. Where
        one side has none at all it is 1, and 0 if neither has any. It compares how both are spread,
        and says nothing of how many are left.
    common
        The share that both have in common, key by key, of the larger of the two numbers: what is
        missing, or is there too often, is not. Where one side has none at all it is 0, and 1 if
        neither has any.
    """

    before: int
    after: int
    kinds_before: int
    kinds_after: int
    moved: float
    common: float


@dataclass(frozen=True, slots=True)
class Map:
    """Visitors by square, for a map.

    Attributes
    ----------
    crs, side_m, west_m, south_m, columns, rows
        Where the squares lie on the plane; the map ends with those that are shown, so that nobody
        is given away who was far from all others. Where none is shown, it lies nowhere (None).
    least
        Fewer people than that are not told.
    cells
        Column, row, and how many people were seen there before and after; None for fewer than
        `least`, nobody included. Squares with None twice are left out.
    """

    crs: str | None
    side_m: float
    west_m: float | None
    south_m: float | None
    columns: int
    rows: int
    least: int
    cells: tuple[tuple[int, int, int | None, int | None], ...]


@dataclass(frozen=True, slots=True, repr=False)
class AggregateUtility(Summarised):
    """What is true of everybody together, before and after.

    Attributes
    ----------
    grid_km
        The side of a square.
    flows
        Trips from a square to another: two consecutive samples of a person in different squares.
    population
        People by square and hour of the day, each counted once for a square and an hour.
    visits
        Samples by square.
    rank_correlation
        Of squares by samples (Spearman; squares that either side has): 1 if they come in the same
        order. None where there is but one, or all have as many.
    map
        Visitors by square, coarse enough for a page.
    """

    grid_km: float
    flows: Difference
    population: Difference
    visits: Difference
    rank_correlation: float | None
    map: Map

    def _summary(self) -> Summary:
        counted = {"trips": self.flows, "people by hour": self.population, "samples": self.visits}
        rank = self.rank_correlation
        return Summary(
            f"Everybody together, on squares of {self.grid_km:g} km",
            {} if rank is None else {"rank correlation of squares": f"{rank:.3f}"},
            head=("what", "original", "release", "to be moved"),
            rows=[
                (name, f"{of.before:,}", f"{of.after:,}", percent(of.moved))
                for name, of in counted.items()
            ],
        )


def compare(
    before: Counts, after: Counts, frame: Frame, grid: Grid, chart: Grid, least: int
) -> AggregateUtility:
    """Say how much everything together has changed."""
    return AggregateUtility(
        grid_km=grid.side * frame.cell / 1000,
        flows=_difference(before.flows, after.flows),
        population=_difference(before.population, after.population),
        visits=_difference(before.visits, after.visits),
        rank_correlation=spearman(*_aligned(before.visits, after.visits)),
        map=_map(_aligned_keys(before.visitors, after.visitors), frame, chart, least),
    )


def _aligned_keys(before: Tally, after: Tally) -> tuple[Ints, Ints, Ints]:
    """Give all keys of both in order, and the numbers of each; 0 where there are none."""
    keys = np.union1d(before.values, after.values)
    numbers = []
    for tally in (before, after):
        full = np.zeros(len(keys), np.int64)
        full[np.searchsorted(keys, tally.values)] = tally.counts
        numbers.append(full)
    return keys, numbers[0], numbers[1]


def _aligned(before: Tally, after: Tally) -> tuple[Ints, Ints]:
    _, a, b = _aligned_keys(before, after)
    return a, b


def _difference(before: Tally, after: Tally) -> Difference:
    here, there = before.total, after.total
    moved = float(bool(here or there))
    common = 1 - moved
    if here and there:
        a, b = _aligned(before, after)
        common = int(np.minimum(a, b).sum()) / max(here, there)
        if here * there >= LARGE:
            a, b = a.astype(object), b.astype(object)
        # In whole numbers up to the last division, so that equal is equal.
        moved = int(np.abs(a * there - b * here).sum()) / (2 * here * there)
    return Difference(here, there, len(before.values), len(after.values), moved, common)


def _map(counted: tuple[Ints, Ints, Ints], frame: Frame, chart: Grid, least: int) -> Map:
    cells = []
    for key, *numbers in zip(*(column.tolist() for column in counted), strict=True):
        shown = [number if number >= least else None for number in numbers]
        if shown != [None, None]:
            cells.append((*divmod(key, chart.rows), *shown))
    side = chart.side * frame.cell
    west, south = (min((cell[axis] for cell in cells), default=0) for axis in (0, 1))
    east, north = (max((cell[axis] for cell in cells), default=-1) for axis in (0, 1))
    return Map(
        crs=frame.crs,
        side_m=side,
        west_m=(chart.west + west) * side if cells else None,
        south_m=(chart.south + south) * side if cells else None,
        columns=east - west + 1 if cells else 0,
        rows=north - south + 1 if cells else 0,
        least=least,
        cells=tuple((x - west, y - south, before, after) for x, y, before, after in cells),
    )
