"""The k-gap: how hard it is to hide each person, equation (11) of the paper."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd._arguments import is_whole, whole
from incrowd._numba import kernel
from incrowd._parallel import cores, on_threads
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError
from incrowd.measure._stretch.batch_bounds import LANES
from incrowd.measure._stretch.candidates import ALL, Share
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.effort import Boxes, Scale, parts
from incrowd.measure._stretch.index import World, boxes_of, lay_out, scale_for
from incrowd.measure._stretch.lower_bounds import is_longer
from incrowd.measure._stretch.search import search

__all__ = [
    "k_gap",
    "pair_cost",
]


MOST = 100
SPARE = 64


def k_gap(
    data: Trajectories,
    k: int | Sequence[int] = 2,
    *,
    stretch: Stretch | None = None,
    threads: int | None = None,
    bounds: bool = True,
    progress: Callable[..., None] | None = None,
) -> pl.DataFrame:
    """Measure how much has to be lost to hide each person among k-1 others.

    The mean cost of merging a person with each of the k-1 who are nearest to her: 0 if they are
    alike already, 1 if nothing would be left.

    Parameters
    ----------
    data
        The trajectories.
    k
        The size of the crowd, or several at once, each counted once; from 2 to 100.
    stretch
        How a stretch is measured: thresholds and weights.
    threads, bounds
        How it is computed; neither changes the result.
    progress
        Called with the number of people who are done and that of all.

    Returns
    -------
    A row for each person (and k): user, (k,) k_gap, its spatial and its temporal part, and the
    indices of the nearest, in order. Ties go to the lower index.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=50, seed=7)
    >>> incrowd.k_gap(city, 2).columns
    ['user', 'k_gap', 'spatial', 'temporal', 'nearest']
    """
    wanted, stretch = _wanted(Trajectories.of(data), k), Stretch.of(stretch)
    number = cores(threads)
    if progress:
        progress(0, len(data))
    world = lay_out(
        data, scale_for(data, stretch, bounds=bounds), threads=number, bounds=bounds, whole=False
    )
    people, near = len(data), max(wanted) - 1
    nearest = np.empty((people, near), np.int64)
    space, time, under = (np.empty((people, near), np.int64) for _ in range(3))
    blocks = [np.arange(i, min(i + LANES, people)) for i in range(0, people, LANES)]

    def work(queries: NDArray[np.int64]) -> tuple[Any, ...]:
        alone = Share(0, 1, np.full(len(queries), np.inf))
        found = search(queries, ALL, near, near + SPARE, 0.0, np.inf, alone, world)
        return world.slots.node[queries], found.near, *_parts(queries, found.near, slot_of, world)

    slot_of = np.empty(people, np.int64)
    slot_of[world.slots.node[:people]] = np.arange(people)
    done = 0
    for who, found, in_space, in_time, bottom in on_threads(number, work, blocks):
        nearest[who], space[who], time[who], under[who] = found, in_space, in_time, bottom
        done += len(who)
        if progress:
            progress(done, people)
    frames = [_frame(data, each, nearest, space, time, under) for each in wanted]
    if is_whole(k):
        return frames[0].drop("person", "k")
    return pl.concat(frames).sort("person", "k", maintain_order=True).drop("person")


def pair_cost(data: Trajectories, i: int, j: int, stretch: Stretch) -> Fraction:
    """Give the exact cost of merging two trajectories of a dataset."""
    pair = data[[min(i, j), max(i, j)]]
    scale = scale_for(pair, stretch, bounds=False)
    lengths, (first, second) = pair.lengths(), pair.crowd
    longer, shorter = (0, 1) if lengths[0] >= lengths[1] else (1, 0)
    if longer:
        first, second = second, first
    start, end = pair.offsets[:-1], pair.offsets[1:]
    boxes = boxes_of(pair)
    space, time = _cost(
        boxes,
        start[longer],
        end[longer],
        int(first),
        start[shorter],
        end[shorter],
        int(second),
        scale,
    )
    n = int(first) + int(second)
    return Fraction(int(space + time), int(lengths[longer]) * n * scale.whole)


@kernel
def _cost(
    boxes: Boxes, a0: int, a1: int, na: int, b0: int, b1: int, nb: int, scale: Scale
) -> tuple[int, int]:
    return parts(boxes, a0, a1, na, boxes, b0, b1, nb, scale)


def _wanted(data: Trajectories, k: int | Sequence[int]) -> list[int]:
    """Give the crowds that are asked for, each once, in order, or refuse them."""
    several = list(k) if isinstance(k, Iterable) and not isinstance(k, str) else [k]
    if not several:
        raise ArgumentError("no k was given")
    wanted = sorted({whole("k", each, 2, MOST) for each in several})
    if max(wanted) > len(data):
        there = "is 1" if len(data) == 1 else f"are {len(data)}"
        raise ArgumentError(f"a crowd of {max(wanted)} needs as many people, but there {there}")
    return wanted


@kernel
def _parts(
    queries: NDArray[np.int64], near: NDArray[np.int64], slot_of: NDArray[np.int64], world: World
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Give what each pair costs in space and in time, and what both are to be divided by."""
    space, time = np.empty_like(near), np.empty_like(near)
    under = np.empty_like(near)
    slots, base, scale = world.slots, world.base, world.scale
    for q in range(near.shape[0]):
        for p in range(near.shape[1]):
            a, b = queries[q], slot_of[near[q, p]]
            if not is_longer(a, b, slots.node, slots.start, slots.end):
                a, b = b, a
            na, nb = slots.crowd[a], slots.crowd[b]
            space[q, p], time[q, p] = parts(
                base,
                slots.start[a],
                slots.end[a],
                na,
                base,
                slots.start[b],
                slots.end[b],
                nb,
                scale,
            )
            under[q, p] = (slots.end[a] - slots.start[a]) * (na + nb) * scale.whole
    return space, time, under


def _frame(
    data: "Trajectories",
    k: int,
    nearest: NDArray[np.int64],
    space: NDArray[np.int64],
    time: NDArray[np.int64],
    under: NDArray[np.int64],
) -> pl.DataFrame:
    """Give the table for one k."""
    near = k - 1
    tops = ((space + time)[:, :near], space[:, :near], time[:, :near])
    gaps, spatial, temporal = (_mean(top, under[:, :near]) for top in tops)
    return pl.DataFrame(
        {
            "person": np.arange(len(data)),
            "user": data.people,
            "k": np.full(len(data), k, np.int32),
            "k_gap": gaps,
            "spatial": spatial,
            "temporal": temporal,
            "nearest": pl.Series(np.ascontiguousarray(nearest[:, :near])).cast(pl.List(pl.Int64)),
        }
    )


def _mean(top: NDArray[np.int64], bottom: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give the means of rows of fractions, correctly rounded.

    In long numbers first; where these are too near to the middle of two short ones to tell which
    is nearer, with fractions.
    """
    number = top.shape[1]
    if number == 1:
        return (top / bottom)[:, 0]  # both are below 2**53, so this is rounded once
    quotients = top.astype(np.longdouble) / bottom
    mean = quotients.sum(axis=1) / number
    wrong = mean * (number + 2) * np.finfo(np.longdouble).eps
    low: NDArray[np.float64] = (mean - wrong).astype(np.float64)
    high = (mean + wrong).astype(np.float64)
    for row in np.flatnonzero(low != high):
        pairs = zip(top[row].tolist(), bottom[row].tolist(), strict=True)
        low[row] = float(sum(Fraction(a, b) for a, b in pairs) / number)
    return low
