"""Everybody together, before and after: trips, people by place and hour, samples by place.

Nothing here asks who became whom. A published record counts once for each person of its crowd, and
a box counts at its centre and at its middle instant, as in the paper.

What is compared are distributions over keys (a pair of cells; a cell and an hour; a cell), by their
total variation distance: half the sum of the differences of shares. It is the share of what is
published that would have to be moved elsewhere to be distributed as the original is.
"""

import math
from dataclasses import dataclass
from operator import mul

import numpy as np

from incrowd.compiled import Ints
from incrowd.data.frame import Frame
from incrowd.evaluate.counting import Counts, Grid
from incrowd.evaluate.tallies import Tally

__all__ = ["Difference", "Map", "Together", "compare"]

LARGE = 2**60
"""Products of totals beyond it are computed in whole numbers of any size."""


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
        one side has none at all it is 1, and 0 if neither has any.
    """

    before: int
    after: int
    kinds_before: int
    kinds_after: int
    moved: float


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


@dataclass(frozen=True, slots=True)
class Together:
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


def compare(
    before: Counts, after: Counts, frame: Frame, grid: Grid, chart: Grid, least: int
) -> Together:
    """Say how much everything together has changed."""
    return Together(
        grid_km=grid.side * frame.cell / 1000,
        flows=_difference(before.flows, after.flows),
        population=_difference(before.population, after.population),
        visits=_difference(before.visits, after.visits),
        rank_correlation=_rank_correlation(*_aligned(before.visits, after.visits)),
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
    if here and there:
        a, b = _aligned(before, after)
        if here * there >= LARGE:
            a, b = a.astype(object), b.astype(object)
        # In whole numbers up to the last division, so that equal is equal.
        moved = int(np.abs(a * there - b * here).sum()) / (2 * here * there)
    return Difference(here, there, len(before.values), len(after.values), moved)


def _rank_correlation(a: Ints, b: Ints) -> float | None:
    """Give Spearman's correlation, equals having the mean of their ranks."""
    first, second = (_from_middle(values).tolist() for values in (a, b))
    spread = sum(map(mul, first, first)) * sum(map(mul, second, second))
    return sum(map(mul, first, second)) / math.sqrt(spread) if spread else None


def _from_middle(values: Ints) -> Ints:
    """Give twice the rank of each value, from the mean rank."""
    _, which, number = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(number)
    return (2 * last - number + 1)[which] - (len(values) + 1)


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
