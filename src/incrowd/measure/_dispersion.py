"""Why somebody is hard to hide: how the efforts of her samples are spread.

Section 5.4 of GLOVE (2021), and the paper of 2014. The k-gap is a mean of means: it does not tell
whether every sample costs a little, or most cost nothing and a few cost all. So the cost of each
pair of trajectories is taken apart again, into the efforts of the samples over which equation (10)
sums, each in space and in time; and of these sets are told

- the tail weight index, ``(F(.99) - F(.5)) / (F(.75) - F(.5))`` of their quantiles F, over the
  same of a standard normal distribution: 1.6 for an exponential distribution, 14 for a Pareto
  distribution of shape 1;
- the Gini coefficient: 0 where every sample costs the same, 1 where one costs everything;
- the ratio of what time and space cost.

Efforts are whole numbers here, as everywhere: in units of the greatest common divisor of what a
cell and a slot cost. Each result is one correctly rounded division of two of them.
"""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from incrowd._arguments import whole
from incrowd._numba import Floats, Ints, kernel, kernel_private
from incrowd._parallel import cores, on_threads
from incrowd.errors import ArgumentError, InputError
from incrowd.measure._k_gap import k_gap
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.effort import Boxes, Scale, nearest_cell, nearest_sample, parts_at
from incrowd.measure._stretch.index import boxes_of, scale_for

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "COLUMNS",
    "EXPONENTIAL",
    "dispersion",
]


COLUMNS = (
    "twi_total", "twi_space", "twi_time", "gini_total", "gini_space", "gini_time", "ratio",
)  # fmt: skip
"""What is told of a person."""
EXPONENTIAL = 1.6
"""The tail weight index of an exponential distribution, as the paper rounds it: the line between
light and heavy tails."""
NORMAL = NormalDist().inv_cdf(0.99) / NormalDist().inv_cdf(0.75)
"""What the index is of a standard normal distribution, before it is divided by that."""
BLOCK = 512
"""How many people are done at a time."""
_SHORT = 1 << 53
"""Whole numbers up to here are exact as floating point numbers."""


def dispersion(
    data: "Trajectories",
    k: int = 2,
    *,
    gaps: pl.DataFrame | None = None,
    stretch: Stretch | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pl.DataFrame:
    """Tell how the efforts of each person's samples are spread, and whether time or space costs.

    The samples are those over which equation (10) sums: those of the longer trajectory of each
    pair, which need not be hers. Each is matched with its cheapest sample of the shorter; of
    equals, the first. The sets of all her pairs are put together.

    Parameters
    ----------
    data
        The trajectories.
    k
        The size of the crowd; from 2 to 100.
    gaps
        What :func:`incrowd.k_gap` gave for these trajectories and this k, or a larger one, so
        that nobody is searched twice. With the same `stretch`.
    stretch
        How a stretch is measured: thresholds and weights.
    threads
        How many threads to use; all cores unless given. Does not change the result.
    progress
        Called with the number of people who are done and that of all; for the search, if there
        are no `gaps`, and then for what is told of them.

    Returns
    -------
    polars.DataFrame
        A row for each person: user; ``twi_total``, ``twi_space``, ``twi_time``, the tail weight
        index, null where the median and the third quartile are the same; ``gini_total``,
        ``gini_space``, ``gini_time``, 0 where nothing costs anything; ``ratio``, what time costs
        over what space costs, infinite where only time does, null where neither does: she is
        hidden already. Quantiles are values that occur: the smallest that so large a share of the
        set does not exceed.

    Raises
    ------
    ArgumentError
        If `gaps` are not of these people, or crowds are of so many sizes that nothing can be
        computed exactly.
    InputError
        If somebody has no samples.

    Examples
    --------
    Ann and Bob differ in the time of one sample of three, Cyd is elsewhere:

    >>> import incrowd
    >>> data = incrowd.Trajectories.from_boxes({
    ...     "user": ["ann"] * 3 + ["bob"] * 3 + ["cyd"],
    ...     "x0": [0, 5, 9, 0, 5, 9, 30], "y0": [0] * 7, "t0": [0, 60, 90, 0, 60, 99, 60]})
    >>> table = incrowd.dispersion(data)
    >>> table["gini_time"].round(3).to_list(), table["ratio"].round(3).to_list()
    ([0.667, 0.667, 0.444], [inf, inf, 0.493])
    """
    k, stretch = whole("k", k, 2), Stretch.of(stretch)
    number, people = cores(threads), len(data)
    if people and int(data.lengths().min()) == 0:
        raise InputError("there is somebody without samples; leave her out")
    if gaps is None:
        gaps = k_gap(data, k, stretch=stretch, threads=threads, progress=progress)
    near = _nearest(data, gaps, k)
    scale, common = _exact(data, stretch, near)
    boxes, crowd = boxes_of(data), data.crowd.astype(np.int64)
    cells = data.original and scale.small >= 1
    blocks = [np.arange(i, min(i + BLOCK, people)) for i in range(0, people, BLOCK)]
    tops, bottoms = (np.empty((people, len(COLUMNS)), np.int64) for _ in range(2))

    def work(who: Ints) -> tuple[Ints, Any]:
        return who, _disperse(who, near[who], boxes, data.offsets, crowd, scale, common, cells)

    done = 0
    for who, (top, bottom) in on_threads(number, work, blocks):
        tops[who], bottoms[who] = top, bottom
        done += len(who)
        if progress:
            progress(done, people)
    return _frame(data, tops, bottoms)


def _nearest(data: "Trajectories", gaps: pl.DataFrame, k: int) -> Ints:
    """Give the k-1 nearest of everybody, of a table of k-gaps."""
    wrong = "gaps are a table that incrowd.k_gap gave for the same trajectories"
    if not isinstance(gaps, pl.DataFrame) or not {"user", "nearest"} <= set(gaps.columns):
        raise ArgumentError(f"{wrong}; this has no column 'nearest'")
    if "k" in gaps.columns:
        # The nearest are in order, so those of a larger crowd begin with those of a smaller.
        enough = gaps.filter(pl.col("k") >= k)["k"].min()
        gaps = gaps.filter(pl.col("k") == enough) if enough is not None else gaps[:0]
    if len(gaps) != len(data) or not gaps["user"].equals(data.people):
        raise ArgumentError(f"{wrong}, and k = {k} or more; these are others")
    lists = gaps["nearest"]
    if bool((lists.list.len() < k - 1).any()):
        raise ArgumentError(f"{wrong}, and k = {k} or more; here k is smaller")
    flat = lists.list.head(k - 1).explode().to_numpy().astype(np.int64)
    near = flat.reshape(len(data), k - 1)
    own = np.arange(len(data))[:, None]
    if len(near) and (int(near.min()) < 0 or int(near.max()) >= len(data) or (near == own).any()):
        raise ArgumentError(f"{wrong}; somebody's nearest is not among them")
    return near


def _exact(data: "Trajectories", stretch: Stretch, near: Ints) -> tuple[Scale, int]:
    """Give a scale of the smallest whole numbers, and what all crowds of two divide.

    The effort of a pair of samples is a whole number over the people of both. With people who
    stand for themselves alone that is 2 for everybody; otherwise efforts are brought to the least
    common multiple.
    """
    usual = scale_for(data, stretch, bounds=True)
    unit = math.gcd(usual.space_unit, usual.time_unit)
    scale = usual._replace(space_unit=usual.space_unit // unit, time_unit=usual.time_unit // unit)
    both = np.unique(data.crowd.astype(np.int64)[:, None] + data.crowd[near])
    common = math.lcm(*both.tolist())
    longest = int(data.lengths().max(initial=1)) * near.shape[1]
    if common * (usual.whole // unit) * longest**2 >= 1 << 62:
        raise ArgumentError(
            f"crowds of so many sizes, or {longest:,} samples in a crowd, are too much for exact "
            "arithmetic; take people before they are merged, a smaller k, or larger slots"
        )
    return scale, common


@kernel
def _disperse(
    who: Ints,
    near: Ints,
    boxes: Boxes,
    offsets: Ints,
    crowd: Ints,
    scale: Scale,
    common: int,
    cells: bool,  # noqa: FBT001
) -> tuple[Ints, Ints]:
    """Give numerators and denominators of what is told of some people; over 0 is undefined.

    `cells` tells that every sample is one cell and one slot, and that distances fit in 32 bits.
    """
    tops, bottoms = np.zeros((len(who), 7), np.int64), np.zeros((len(who), 7), np.int64)
    for q in range(len(who)):
        room = 0
        for p in range(near.shape[1]):
            a, b = who[q], near[q, p]
            room += max(offsets[a + 1] - offsets[a], offsets[b + 1] - offsets[b])
        efforts = np.empty((3, room), np.int64)
        used = 0
        for p in range(near.shape[1]):
            a, b = min(who[q], near[q, p]), max(who[q], near[q, p])
            if offsets[b + 1] - offsets[b] > offsets[a + 1] - offsets[a]:
                a, b = b, a
            na, nb = crowd[a], crowd[b]
            times, at = common // (na + nb), offsets[b]
            for i in range(offsets[a], offsets[a + 1]):
                while at < offsets[b + 1] and boxes.t0[at] < boxes.t0[i]:
                    at += 1
                if cells:
                    j = nearest_cell(boxes, i, offsets[b], offsets[b + 1], at, scale)
                else:
                    _, j = nearest_sample(
                        boxes, i, na, boxes, offsets[b], offsets[b + 1], at, nb, scale
                    )
                space, time = parts_at(boxes, i, na, boxes, j, nb, scale)
                efforts[0, used] = times * (space + time)
                efforts[1, used] = times * space
                efforts[2, used] = times * time
                used += 1
        sums = np.empty(3, np.int64)
        for part in range(3):
            row = efforts[part]
            row.sort()
            half, most, tail = (
                row[(used + 1) // 2 - 1],
                row[_up(3, 4, used)],
                row[_up(99, 100, used)],
            )
            tops[q, part], bottoms[q, part] = tail - half, most - half
            total, weighed = np.int64(0), np.int64(0)
            for i in range(used):
                total += row[i]
                weighed += (2 * i + 1 - used) * row[i]
            sums[part] = total
            tops[q, 3 + part], bottoms[q, 3 + part] = weighed, used * total
        tops[q, 6], bottoms[q, 6] = sums[2], sums[1]
    return tops, bottoms


@kernel_private
def _up(part: int, whole: int, number: int) -> int:
    """Give where in sorted values the first is that such a share of them does not exceed."""
    return (part * number + whole - 1) // whole - 1


def _frame(data: "Trajectories", tops: Ints, bottoms: Ints) -> pl.DataFrame:
    """Divide, and say what is undefined."""
    columns: dict[str, Any] = {"user": data.people}
    for at, name in enumerate(COLUMNS):
        top, bottom = tops[:, at], bottoms[:, at]
        value, undefined = _divided(top, bottom), bottom == 0
        if name.startswith("gini"):
            value[undefined] = 0
            columns[name] = value
            continue
        if name.startswith("twi"):
            value /= NORMAL
        else:
            undefined &= top == 0
            value[(bottom == 0) & (top > 0)] = np.inf
        series = pl.Series(name, value)
        columns[name] = series.set(pl.Series(undefined), None)
    return pl.DataFrame(columns)


def _divided(top: Ints, bottom: Ints) -> Floats:
    """Divide whole numbers, each quotient rounded once; 0 where there is nothing to divide by."""
    value: Floats = np.zeros(len(top))
    np.divide(top, bottom, out=value, where=bottom != 0)
    # Too long to be exact as floating point numbers: Python's own are.
    long = (np.maximum(np.abs(top), bottom) >= _SHORT) & (bottom != 0)
    for row in np.flatnonzero(long):
        value[row] = int(top[row]) / int(bottom[row])
    return value
