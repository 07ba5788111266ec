"""Why somebody is hard to hide: the statistical dispersion of her samples' efforts.

Section 5.4 of GLOVE (2021), and the paper of 2014. The k-gap is a mean of means: it does not tell
whether every sample costs a little, or most cost nothing and a few cost all. So the cost of each
pair of trajectories is taken apart again, into the efforts of the samples over which equation (10)
sums, each in space and in time; and of these sets are computed

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
from typing import Any

import numpy as np
import polars as pl

from incrowd._arguments import whole
from incrowd._numba import Floats, Ints, kernel, kernel_private
from incrowd._parallel import cores, on_threads
from incrowd.data._one_each import one_each
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, InputError
from incrowd.measure._k_gap import crowd_sizes, nearest_neighbours
from incrowd.measure._stretch.definition import Stretch, stretch_for
from incrowd.measure._stretch.effort import (
    Boxes,
    Scale,
    effort_parts,
    nearest_sample,
    nearest_sample_unit,
)
from incrowd.measure._stretch.index import boxes_of, pair_cost, scale_for

__all__ = [
    "COLUMNS",
    "EXPONENTIAL",
    "dispersion",
]


COLUMNS = (
    "twi_total", "twi_space", "twi_time", "gini_total", "gini_space", "gini_time", "ratio",
)  # fmt: skip
"""What is computed for each person."""
EXPONENTIAL = 1.6
"""The tail weight index of an exponential distribution, as the paper rounds it: the line between
light and heavy tails."""
NORMAL = NormalDist().inv_cdf(0.99) / NormalDist().inv_cdf(0.75)
"""What the index is of a standard normal distribution, before it is divided by that."""
BLOCK = 512
"""How many people are done at a time."""
CHECKED = 8
"""Of so many people k-gaps are computed again, where it is not clear who their nearest are."""
PAIR = 2
"""The effort of a pair of samples is a whole number over the people of both."""
_SHORT = 1 << 53
"""Whole numbers up to here are exact as floating point numbers."""


def dispersion(
    data: Trajectories,
    k: int = 2,
    *,
    gaps: pl.DataFrame | None = None,
    stretch: Stretch | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pl.DataFrame:
    """Return how the cost of hiding each person is spread over samples, and over space and time.

    The samples are those over which equation (10) sums: those of the longer trajectory of each
    pair, which need not be hers. Each is matched with its cheapest sample of the shorter; of
    equals, the first. The efforts of the k-1 pairs of a person are one set.

    Parameters
    ----------
    data
        The trajectories. Everybody in a crowd, as releases have them, is a person.
    k
        The size of the crowd; from 2 to 100.
    gaps
        The table that :func:`incrowd.k_gap` returned for these trajectories, the same `stretch`,
        and this k or a larger one; it saves the search for the nearest.
    stretch
        How the cost of a merge is measured: thresholds and weights. 20 km and 8 hours, as in the
        papers, on any grid unless given.
    threads
        How many threads to use; all cores by default. Does not change the result.
    progress
        Called with the number of people done and the number of all people; for the search, if
        there are no `gaps`, and then for the dispersion.

    Returns
    -------
    polars.DataFrame
        One row per person: ``user``; ``twi_total``, ``twi_space``, ``twi_time``, the tail weight
        index, null where the median equals the third quartile; ``gini_total``, ``gini_space``,
        ``gini_time``, the Gini coefficient, 0 where nothing costs anything; ``ratio``, the cost in
        time over the cost in space, infinite where only time costs, null where neither does: the
        person is k-anonymous already. Quantiles are values that occur: the smallest value that so
        large a share of the set does not exceed. The table names people: do not print or save it
        where others read, such as in a notebook.

    Raises
    ------
    ArgumentError
        If `gaps` are of other people, another stretch or a smaller k; or if people have so many
        samples that nothing can be computed exactly.
    InputError
        If a person has no samples.

    Warns
    -----
    DataWarning
        If a threshold of the `stretch` is wider or longer than the data itself.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 5.4.
    - Gramaglia and Fiore, 2014: "On the anonymizability of mobile traffic datasets",
      arXiv:1501.00100; the Gini coefficient.
    - Hoaglin et al., 1983: "Understanding robust and exploratory data analysis", Wiley; the tail
      weight index.

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
    k, data = whole("k", k, 2), one_each(Trajectories.of(data))
    stretch = stretch_for(data, stretch)
    number, people = cores(threads), len(data)
    if people and int(data.lengths().min()) == 0:
        raise InputError("a person has no samples; leave out people without samples")
    crowd_sizes(data, k)
    near = None if gaps is None else _nearest(data, gaps, k, stretch)
    if near is None:
        near = nearest_neighbours(data, k, stretch, threads=threads, progress=progress).nearest
    scale, boxes = _exact(data, stretch, k - 1), boxes_of(data)
    is_unit = data.original and scale.small >= 1
    blocks = [np.arange(i, min(i + BLOCK, people)) for i in range(0, people, BLOCK)]
    chunk_minima, bottoms = (np.empty((people, len(COLUMNS)), np.int64) for _ in range(2))

    def work(who: Ints) -> tuple[Ints, Any]:
        return who, _disperse(who, near[who], boxes, data.offsets, scale, is_unit)

    done = 0
    for who, (top, bottom) in on_threads(number, work, blocks):
        chunk_minima[who], bottoms[who] = top, bottom
        done += len(who)
        if progress:
            progress(done, people)
    return _frame(data, chunk_minima, bottoms)


def _nearest(data: Trajectories, gaps: pl.DataFrame, k: int, stretch: Stretch) -> Ints | None:
    """Give the positions of everybody's k-1 nearest, from a table of k-gaps.

    The table names people as the data does; tables of earlier versions have positions, and where
    people are numbers, these could be taken for names. Then the k-gaps tell which they are. None if
    the data has a name twice: names do not tell who is meant.
    """
    wrong = "gaps must be the table that incrowd.k_gap returned for the same trajectories"
    if (
        not isinstance(gaps, pl.DataFrame)
        or not {"user", "nearest"} <= set(gaps.columns)
        or not isinstance(gaps["nearest"].dtype, pl.List)
    ):
        raise ArgumentError(f"{wrong}; this has no column 'nearest' with lists of users")
    if "k" in gaps.columns:
        # The nearest are in order, so those of a larger crowd begin with those of a smaller.
        enough = gaps.filter(pl.col("k") >= k)["k"].min()
        gaps = gaps.filter(pl.col("k") == enough) if enough is not None else gaps[:0]
    if len(gaps) != len(data) or not gaps["user"].equals(data.people):
        raise ArgumentError(f"{wrong}, and for k = {k} or more; these are of other people or k")
    number = gaps["nearest"].list.len()
    if bool((number < k - 1).any()):
        raise ArgumentError(f"{wrong}, and for k = {k} or more; here k is smaller")
    if number.n_unique() > 1:
        raise ArgumentError(f"{wrong}; some people have more nearest than others")
    if data.people.n_unique() < len(data):
        return None
    flat = gaps["nearest"].explode()
    shape = (len(data), int(number[0]))
    readings = (_named(flat, data.people), _positions(flat))
    tables = (each.reshape(shape) for each in readings if each is not None)
    possible = [near for near in tables if _are_others(near)]
    if not possible:
        raise ArgumentError(f"{wrong}; somebody's nearest is not among them")
    differ = np.flatnonzero((possible[0] != possible[-1]).any(axis=1))[:CHECKED]
    if len(differ) and "k_gap" in gaps.columns:
        known = gaps["k_gap"]
        possible = [each for each in possible if _costs_as(known, each, differ, data, stretch)]
        if not possible:
            raise ArgumentError(f"{wrong}, and with the same stretch; the k-gaps are others")
    return possible[0][:, : k - 1]


def _are_others(near: Ints) -> bool:
    """Tell whether everybody's nearest are people of the data, and not she herself."""
    own = np.arange(len(near))[:, None]
    return bool(near.min() >= 0 and near.max() < len(near) and not (near == own).any())


def _costs_as(gaps: pl.Series, near: Ints, who: Ints, data: Trajectories, stretch: Stretch) -> bool:
    """Tell whether the k-gaps of some people are the mean costs with their nearest."""
    means = (
        sum(pair_cost(data, i, j, stretch) for j in near[i].tolist()) / near.shape[1]
        for i in who.tolist()
    )
    return [float(mean) for mean in means] == gaps.gather(who).to_list()


def _named(flat: pl.Series, people: pl.Series) -> Ints | None:
    """Give the positions of people who are named, -1 for others; None if these are no names."""
    if flat.dtype != people.dtype and not (flat.dtype.is_integer() and people.dtype.is_integer()):
        return None
    names = pl.DataFrame({"user": people}).with_row_index("position")
    flat_names = pl.DataFrame({"user": flat.cast(people.dtype, strict=False)})
    found = flat_names.join(names, on="user", how="left", maintain_order="left")
    return found["position"].cast(pl.Int64).fill_null(-1).to_numpy()


def _positions(flat: pl.Series) -> Ints | None:
    """Give positions as they stand in tables of before, which did not name the nearest."""
    return flat.to_numpy().astype(np.int64) if flat.dtype.is_integer() else None


def _exact(data: Trajectories, stretch: Stretch, others: int) -> Scale:
    """Give a scale of the smallest whole numbers, for pairs of a person and each of some others."""
    usual = scale_for(data, stretch, bounds=True)
    unit = math.gcd(usual.space_unit, usual.time_unit)
    scale = usual._replace(space_unit=usual.space_unit // unit, time_unit=usual.time_unit // unit)
    longest = int(data.lengths().max(initial=1)) * others
    if PAIR * (usual.whole // unit) * longest**2 >= 1 << 62:
        raise ArgumentError(
            f"{longest:,} samples in a crowd are too much for exact arithmetic; take a smaller k, "
            "or larger slots"
        )
    return scale


@kernel
def _disperse(
    who: Ints,
    near: Ints,
    boxes: Boxes,
    offsets: Ints,
    scale: Scale,
    is_unit: bool,  # noqa: FBT001
) -> tuple[Ints, Ints]:
    """Give numerators and denominators of what is computed of some people; over 0 is undefined.

    `is_unit` tells that every sample is one cell and one slot, and that distances fit in 32 bits.
    """
    chunk_minima, bottoms = np.zeros((len(who), 7), np.int64), np.zeros((len(who), 7), np.int64)
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
            at = offsets[b]
            for i in range(offsets[a], offsets[a + 1]):
                while at < offsets[b + 1] and boxes.t0[at] < boxes.t0[i]:
                    at += 1
                if is_unit:
                    j = nearest_sample_unit(boxes, i, offsets[b], offsets[b + 1], at, scale)
                else:
                    _, j = nearest_sample(
                        boxes, i, 1, boxes, offsets[b], offsets[b + 1], at, 1, scale
                    )
                space, time = effort_parts(boxes, i, 1, boxes, j, 1, scale)
                efforts[0, used] = space + time
                efforts[1, used] = space
                efforts[2, used] = time
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
            chunk_minima[q, part], bottoms[q, part] = tail - half, most - half
            total, weighed = np.int64(0), np.int64(0)
            for i in range(used):
                total += row[i]
                weighed += (2 * i + 1 - used) * row[i]
            sums[part] = total
            chunk_minima[q, 3 + part], bottoms[q, 3 + part] = weighed, used * total
        chunk_minima[q, 6], bottoms[q, 6] = sums[2], sums[1]
    return chunk_minima, bottoms


@kernel_private
def _up(part: int, whole: int, number: int) -> int:
    """Give where in sorted values the first is that such a share of them does not exceed."""
    return (part * number + whole - 1) // whole - 1


def _frame(data: Trajectories, chunk_minima: Ints, bottoms: Ints) -> pl.DataFrame:
    """Divide, and say what is undefined."""
    columns: dict[str, Any] = {"user": data.people}
    for at, name in enumerate(COLUMNS):
        top, bottom = chunk_minima[:, at], bottoms[:, at]
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
