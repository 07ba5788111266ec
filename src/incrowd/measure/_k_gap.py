"""The k-gap: how hard it is to hide each person, equation (11) of the paper.

::

    Trajectories ──> build_index ──> nearest_neighbours   the k-1 nearest of everybody, by position,
                                           │              and what each pair costs
                                           ▼
                                         k_gap            means and names, as a table
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd._arguments import is_whole, whole
from incrowd._numba import kernel
from incrowd._parallel import cores, on_threads
from incrowd.data._one_each import one_each
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError
from incrowd.measure._stretch.batch_bounds import CHUNK
from incrowd.measure._stretch.candidates import ALL, WorkerPart
from incrowd.measure._stretch.definition import Stretch, stretch_for
from incrowd.measure._stretch.effort import cost_parts
from incrowd.measure._stretch.index import SearchIndex, build_index, scale_for
from incrowd.measure._stretch.lower_bounds import is_longer
from incrowd.measure._stretch.search import search

__all__ = [
    "Neighbours",
    "crowd_sizes",
    "k_gap",
    "nearest_neighbours",
    "table_of",
]


MAX_K = 100
SPARE = 64
"""How many candidates more than needed a search keeps before it drops any."""


class Neighbours(NamedTuple):
    """The nearest of everybody, a row each: the cheapest first, of equals the one who comes first.

    Attributes
    ----------
    nearest
        Their positions in the data.
    space, time, denominator
        What each pair costs is ``(space + time) / denominator``.
    """

    nearest: NDArray[np.int64]
    space: NDArray[np.int64]
    time: NDArray[np.int64]
    denominator: NDArray[np.int64]


def k_gap(
    data: Trajectories,
    k: int | Sequence[int] = 2,
    *,
    stretch: Stretch | None = None,
    threads: int | None = None,
    bounds: bool = True,
    progress: Callable[..., None] | None = None,
) -> pl.DataFrame:
    """Return how far from each person the k-1 others are who are nearest to her.

    The k-gap is how much, on average, her samples and theirs would have to grow to match: the mean
    cost of merging her with each of these others by herself. It is 0 if they have the same samples
    already, and 1 if nothing would be left. It says how hard she is to hide, and is not the price
    of a crowd: all members of a crowd share one record, which costs more.

    Parameters
    ----------
    data
        The trajectories. Everybody in a crowd, as releases have them, is a person, who shares
        her samples with the others of the crowd.
    k
        The size of the crowd, from 2 to 100; or several sizes at once.
    stretch
        How the cost of a merge is measured: thresholds and weights. 20 km and 8 hours, as in the
        papers, on any grid unless given.
    threads
        How many threads to use; all cores by default. Does not change the result.
    bounds
        Whether to skip pairs that are too far apart; False compares all pairs, which is slow. Does
        not change the result.
    progress
        Called with the number of people done and the number of all people.

    Returns
    -------
    polars.DataFrame
        One row per person (and per k, if several were given): ``user``, for people in a crowd
        that of their trajectory; ``k``, if several were given; ``k_gap``; ``spatial`` and
        ``temporal``, the parts of the k-gap that are due to space and to time; ``nearest``, the
        users of the k-1 nearest people, nearest first. Of people who are equally near, the one who
        comes first in the data is nearer. The table names people: do not print or save it where
        others read, such as in a notebook.

    Raises
    ------
    ArgumentError
        If k is not a whole number from 2 to 100, or there are fewer people than k.

    Warns
    -----
    DataWarning
        If a threshold of the `stretch` is wider or longer than the data itself.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 4, equation (11).
    - Gramaglia and Fiore, 2015: "Hiding Mobile Traffic Fingerprints with GLOVE", CoNEXT '15, DOI
      10.1145/2716281.2836111.

    Examples
    --------
    >>> import incrowd
    >>> data = incrowd.Trajectories.from_boxes(
    ...     {"user": ["ann", "bob", "cyd"], "x0": [0, 4, 0], "y0": [0, 0, 0], "t0": [0, 1, 2]})
    >>> table = incrowd.k_gap(data, 2)
    >>> table.columns
    ['user', 'k_gap', 'spatial', 'temporal', 'nearest']
    >>> table["nearest"].to_list()
    [['cyd'], ['ann'], ['ann']]
    """
    data = one_each(Trajectories.of(data))
    wanted, stretch = crowd_sizes(data, k), stretch_for(data, stretch)
    found = nearest_neighbours(
        data, max(wanted), stretch, threads=threads, bounds=bounds, progress=progress
    )
    table = table_of(data, wanted, found)
    return table.drop("k") if is_whole(k) else table


def table_of(data: Trajectories, wanted: Sequence[int], found: Neighbours) -> pl.DataFrame:
    """Give the table for several k: by person, then by k."""
    frames = [_frame(data, each, found) for each in wanted]
    return pl.concat(frames).sort("person", "k", maintain_order=True).drop("person")


def crowd_sizes(data: Trajectories, k: int | Sequence[int]) -> list[int]:
    """Give the sizes of crowds that are asked for, each once, in order, or refuse them."""
    several = list(k) if isinstance(k, Iterable) and not isinstance(k, str) else [k]
    if not several:
        raise ArgumentError("no k was given")
    wanted = sorted({whole("k", each, 2, MAX_K) for each in several})
    if max(wanted) > len(data):
        there = "is 1" if len(data) == 1 else f"are {len(data)}"
        raise ArgumentError(f"a crowd of {max(wanted)} needs as many people, but there {there}")
    return wanted


def nearest_neighbours(
    data: Trajectories,
    k: int,
    stretch: Stretch,
    *,
    threads: int | None = None,
    bounds: bool = True,
    progress: Callable[..., None] | None = None,
) -> Neighbours:
    """Find the k-1 nearest of everybody: the set that equation (11) sums over."""
    number, people, near = cores(threads), len(data), k - 1
    if progress:
        progress(0, people)
    scale = scale_for(data, stretch, bounds=bounds)
    index = build_index(data, scale, threads=number, bounds=bounds, whole=False)
    found = Neighbours._make(np.empty((people, near), np.int64) for _ in range(4))
    cluster_of = np.empty(people, np.int64)
    cluster_of[index.clusters.node[:people]] = np.arange(people)

    def work(queries: NDArray[np.int64]) -> tuple[Any, ...]:
        alone = WorkerPart(0, 1, np.full(len(queries), np.inf))
        nearest = search(queries, ALL, near, near + SPARE, 0.0, np.inf, alone, index).near
        parts = _cost_parts(queries, nearest, cluster_of, index)
        return index.clusters.node[queries], (nearest, *parts)

    blocks = [np.arange(i, min(i + CHUNK, people)) for i in range(0, people, CHUNK)]
    done = 0
    for who, columns in on_threads(number, work, blocks):
        for column, values in zip(found, columns, strict=True):
            column[who] = values
        done += len(who)
        if progress:
            progress(done, people)
    return found


@kernel
def _cost_parts(
    queries: NDArray[np.int64],
    near: NDArray[np.int64],
    cluster_of: NDArray[np.int64],
    index: SearchIndex,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Give what each pair costs in space and in time, and what both are to be divided by."""
    space, time = np.empty_like(near), np.empty_like(near)
    under = np.empty_like(near)
    clusters, base, scale = index.clusters, index.base, index.scale
    for q in range(near.shape[0]):
        for p in range(near.shape[1]):
            a, b = queries[q], cluster_of[near[q, p]]
            if not is_longer(a, b, clusters.node, clusters.start, clusters.end):
                a, b = b, a
            a0, a1, na = clusters.start[a], clusters.end[a], clusters.crowd[a]
            b0, b1, nb = clusters.start[b], clusters.end[b], clusters.crowd[b]
            space[q, p], time[q, p] = cost_parts(base, a0, a1, na, base, b0, b1, nb, scale)
            under[q, p] = (a1 - a0) * (na + nb) * scale.whole
    return space, time, under


def _frame(data: Trajectories, k: int, found: Neighbours) -> pl.DataFrame:
    """Give the table for one k: equation (11), and its parts."""
    nearest, space, time, under = (column[:, : k - 1] for column in found)
    gaps, spatial, temporal = (_mean(top, under) for top in (space + time, space, time))
    names = data.people.gather(np.ascontiguousarray(nearest).ravel())
    return pl.DataFrame(
        {
            "person": np.arange(len(data)),
            "user": data.people,
            "k": np.full(len(data), k, np.int32),
            "k_gap": gaps,
            "spatial": spatial,
            "temporal": temporal,
            "nearest": names.reshape((len(data), k - 1)).cast(pl.List(names.dtype)),
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
