"""GLOVE: hide everybody in a crowd of k, with the least loss, true to each record.

Algorithm 1 of the paper of 2021: merge the two trajectories that cost least to merge, again and
again, until everybody is in a crowd of k. Where the paper leaves a choice:

- of two trajectories, the *longer* has more samples; of equals, the older one (the lower index;
  merges are younger than all before them);
- of pairs that cost the same, the one with the oldest member, then with the older other one;
- `strict`: who has a crowd of k is left alone, and fewer than k people may be left over; they are
  dropped and counted. `loose`: such a crowd may still take in others, and nobody is left over.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd._arguments import whole
from incrowd._numba import kernel
from incrowd._parallel import cores
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError
from incrowd.measure._stretch.batch_bounds import CHUNK, TILE_CHUNKS, TILE_WIDTH
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.index import scale_for

if TYPE_CHECKING:
    from incrowd.protect._glove.checkpoint import Journal
    from incrowd.protect._glove.engine import Run

__all__ = [
    "Losses",
    "Release",
    "glove",
]


VARIANTS = ("strict", "loose")
RESHAPES = ("split", "union", "none")
SUPPRESSED = ("boxes", "samples")
PAIR = 2
STEP = 500
PATIENCE = 10.0
"""Merges are noted at least this often, in seconds; searching alone may take longer."""
FEWEST = 16
"""A list holds no fewer candidates than this, however little memory there is."""
PROGRAM = 400 * 10**6
"""What Python and its libraries take before any data."""


@dataclass(frozen=True, slots=True)
class Losses:
    """What was lost, counted in people, samples of the input, and generalised boxes.

    Attributes
    ----------
    people_dropped
        People who are not in the release: left over, or emptied.
    people_left_over
        People for whom nobody was left to make a crowd of k.
    people_emptied
        People of whose trajectory suppression left nothing.
    samples_dropped
        The samples of these people.
    samples_suppressed
        Samples of other people that lie in none of the boxes that are published for them.
    boxes_suppressed
        Boxes that exceeded the thresholds when they were made; or, where single samples are
        suppressed, those (of people or of crowds) that were left out of a merge.
    """

    people_dropped: int
    people_left_over: int
    people_emptied: int
    samples_dropped: int
    samples_suppressed: int
    boxes_suppressed: int


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """What GLOVE made of a dataset.

    Attributes
    ----------
    trajectories
        What is to be published; the crowd says for how many people each one stands.
    assignment
        For every person (user) the index of the trajectory that stands for her; null if dropped.
    merges
        Older, younger and cost of each merge, in order. Indices count people of the input first,
        then merges.
    losses
        What was lost.
    settings
        What was asked for, in plain values, as the manifest of a release has them.
    """

    trajectories: Trajectories
    assignment: pl.DataFrame
    merges: pl.DataFrame
    losses: Losses
    settings: dict[str, Any]


def glove(
    data: Trajectories,
    k: int = 2,
    *,
    variant: str = "strict",
    reshape: str = "split",
    max_space: int | None = None,
    max_time: int | None = None,
    suppress: str = "boxes",
    stretch: Stretch | None = None,
    threads: int | None = None,
    block: int | None = None,
    bounds: bool = True,
    memory: str | int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Release:
    """Hide every person in a crowd of at least k.

    Parameters
    ----------
    data
        Trajectories of people (or of crowds).
    k
        How many people shall share a published trajectory, at least.
    variant
        ``"strict"``: crowds stop at k, and fewer than k people may be dropped at the end.
        ``"loose"``: crowds of k may still grow, and nobody is dropped.
    reshape
        What is done where merged samples overlap in time. ``"split"``: time is cut at every start
        and end, as in the papers. ``"union"``: overlapping samples become one. ``"none"``.
    max_space, max_time
        Suppression: merged samples wider than this many cells, or longer than this many slots,
        are dropped. The papers use 150 and 360 (15 km, 6 h).
    suppress
        ``"boxes"``: what is dropped is the merged sample, with all that was merged into it; none
        is larger than the thresholds before overlaps are reshaped. ``"samples"``: only those
        samples go that it takes a stretch of more than this to merge with their match. More is
        left, and boxes can grow larger than the thresholds, a little with every merge.
    stretch
        How a stretch is measured: thresholds and weights.
    threads, block, bounds
        How it is computed; none of it changes the result.
    memory
        How much memory to use at most, as "4GB" or bytes; three quarters of the machine unless
        given. Less of it makes bounds coarser and the run slower; too little is refused before
        anything is done.
    checkpoint
        A file in which to note the merges. If the run is interrupted, the same call goes on from
        there, to the same result; it is left where it is. One of another input, setting or
        version is refused.
    progress
        Called with the name of the stage, how much of it is done, and how much there is.

    Examples
    --------
    >>> import incrowd
    >>> release = incrowd.glove(incrowd.synthesize("city", users=60, seed=7), k=2)
    >>> int(release.trajectories.crowd.min()), release.losses.people_dropped
    (2, 0)
    """
    rules = _check(Trajectories.of(data), k, variant, reshape, max_space, max_time, suppress)
    stretch = Stretch.of(stretch)
    from incrowd.protect._glove.checkpoint import Journal
    from incrowd.protect._glove.engine import Run

    settings = {
        "k": rules.k,
        "variant": variant,
        "reshape": reshape,
        "max_space": None if max_space is None else int(max_space),
        "max_time": None if max_time is None else int(max_time),
        "suppress": suppress,
        "stretch": asdict(stretch),
    }
    tell = progress or _silent
    scale = scale_for(data, stretch, bounds=bounds)
    sizes = fit(data, memory, crowds=k > PAIR or variant == "loose")
    journal = None if checkpoint is None else Journal(checkpoint, data, settings)
    try:
        tell("Searching", 0, len(data))
        run = Run(
            data,
            rules,
            scale,
            threads=cores(threads),
            block=CHUNK if block is None else whole("block", block, 1),
            bounds=bounds,
            **sizes,
        )
        if journal and len(journal.found):
            run.repeat(journal.found)
        run.start(lambda done, total: tell("Searching", done, total))
        _merge(run, journal, tell)
    finally:
        if journal:
            journal.close()
    run.finish(lambda done, total: tell("Finishing", done, total))
    return _release(data, run, settings)


def _silent(stage: str, done: int, total: int) -> None:
    """Say nothing."""


def _merge(run: "Run", journal: "Journal | None", tell: Callable[[str, int, int], None]) -> None:
    """Merge until nothing is left to be merged, and note it now and then."""
    noted, last, log = run.merges, time.monotonic(), run.log
    # So many merges leave nothing but crowds of k.
    expected = max(1, run.index.people - run.index.people // run.rules.k)
    more = True
    while more:
        try:
            more = run.go_on(run.merges + STEP)
        finally:
            if journal and (
                not more or time.monotonic() - last > PATIENCE or sys.exc_info()[0] is not None
            ):
                new = slice(noted, run.merges)
                journal.append(
                    log.older[new], log.younger[new], log.numerator[new], log.denominator[new]
                )
                noted, last = run.merges, time.monotonic()
        tell("Merging", min(run.merges, expected), expected)
    tell("Merging", expected, expected)


def fit(data: Trajectories, memory: str | int | None, *, crowds: bool) -> dict[str, int]:
    """Choose how fine bounds are, and how long lists, within the memory; refuse too little.

    `crowds` tells that what was merged is merged again.
    """
    from incrowd._memory import Memory
    from incrowd.measure._stretch.partition import BINS, CORNER_REGIONS, REGIONS
    from incrowd.protect._glove.engine import lists_for

    people, samples = len(data), data.samples
    limit = Memory.of(memory).limit
    merged = 54 * samples // 2 if crowds else 0  # otherwise it is done at the end
    for part in (1, 2, 4, 8, 16):
        listed = max(FEWEST, lists_for(people) // part)
        sizes = {"regions": REGIONS // part, "bins": BINS // part, "listed": listed}
        sizes["regions"] = CORNER_REGIONS // part if crowds else 0
        rows = people * (sizes["regions"] + sizes["bins"])
        rows += rows * TILE_WIDTH // (TILE_CHUNKS * CHUNK)  # one by one, and side by side
        rows += people * 5 * sizes["regions"]  # of corners
        # Codes of places while the map is drawn, boxes and orders at the end.
        work = max(24 * samples, rows + 12 * listed * people + merged + 20 * samples)
        need = PROGRAM + 32 * samples + work
        if need <= limit:
            return sizes
    raise ArgumentError(
        f"{people:,} people with {samples:,} samples need {need / 1e9:.1f} GB; the memory limit is "
        f"{limit / 1e9:.1f} GB"
    )


def _check(
    data: Trajectories,
    k: int,
    variant: str,
    reshape: str,
    max_space: int | None,
    max_time: int | None,
    suppress: str,
) -> Any:
    """Refuse what makes no sense before any work is done."""
    from incrowd.protect._glove.greedy import Rules
    from incrowd.protect._glove.merge import ANY

    k = whole("k", k, PAIR)
    if variant not in VARIANTS:
        raise ArgumentError(f"the variant must be one of {VARIANTS}, not {variant!r}")
    if reshape not in RESHAPES:
        raise ArgumentError(f"reshape must be one of {RESHAPES}, not {reshape!r}")
    if suppress not in SUPPRESSED:
        raise ArgumentError(f"suppress must be one of {SUPPRESSED}, not {suppress!r}")
    if suppress != "boxes" and max_space is None and max_time is None:
        raise ArgumentError(f"to suppress {suppress}, give max_space or max_time")
    for name, value in (("max_space", max_space), ("max_time", max_time)):
        if value is not None:
            whole(name, value, 1, why=": it is in cells or slots, and no sample is smaller")
    people = int(data.crowd.sum())
    if people < k:
        who = "one person" if people == 1 else f"{people} people"
        raise ArgumentError(f"{who} cannot hide in a crowd of {k}")
    return Rules(
        k,
        variant == "loose",
        RESHAPES.index(reshape),
        ANY if max_space is None else min(ANY, int(max_space)),
        ANY if max_time is None else min(ANY, int(max_time)),
        suppress == "samples",
    )


def _release(data: Trajectories, run: "Run", settings: dict[str, Any]) -> Release:
    """Collect what is left at the end, and count what is not: line 20 of Algorithm 1."""
    people, merges, k = len(data), run.merges, run.rules.k
    nodes, log = run.nodes, run.log
    parent = np.full(people + merges, -1, np.int64)
    younger = np.arange(people, people + merges)
    parent[log.older[:merges]] = younger
    parent[log.younger[:merges]] = younger
    last = people + merges
    start, end = nodes.start[:last], nodes.end[:last]
    crowd = nodes.crowd[:last]
    final = parent < 0
    published = np.flatnonzero(final & (crowd >= k) & (end > start))
    root = np.arange(last)
    for node in range(last - 1, -1, -1):
        if parent[node] >= 0:
            root[node] = root[parent[node]]
    index = np.full(last, -1, np.int64)
    index[published] = np.arange(len(published))
    place = index[root[:people]]
    empty = end[root[:people]] == start[root[:people]]
    dropped = place < 0
    columns, offsets = _collect(published, start, end, data, run)
    trajectories = Trajectories(
        columns, offsets, data.frame, crowd=crowd[published].astype(np.int32)
    )
    losses = Losses(
        people_dropped=int(data.crowd[dropped].sum()),
        people_left_over=int(data.crowd[dropped & ~empty].sum()),
        people_emptied=int(data.crowd[dropped & empty].sum()),
        samples_dropped=int(data.lengths()[dropped].sum()),
        samples_suppressed=int(_uncovered(data.columns, data.offsets, place, columns, offsets)),
        boxes_suppressed=int(log.counts[3]),
    )
    assigned = pl.Series("trajectory", place.astype(np.int32))
    assignment = pl.DataFrame([data.people.alias("user"), assigned]).with_columns(
        pl.when(pl.col("trajectory") >= 0).then(pl.col("trajectory"))
    )
    table = pl.DataFrame(
        {
            "older": log.older[:merges],
            "younger": log.younger[:merges],
            "cost": log.numerator[:merges] / np.maximum(log.denominator[:merges], 1),
        }
    )
    return Release(trajectories, assignment, table, losses, settings)


def _collect(
    published: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    data: Trajectories,
    run: "Run",
) -> tuple[tuple[NDArray[np.int32], ...], NDArray[np.int64]]:
    """Lay the samples of what is published one behind the other."""
    lengths = (end - start)[published]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    base = data.samples
    own = published < len(data)
    row = np.repeat(start[published] - offsets[:-1], lengths) + np.arange(offsets[-1])
    mine = np.repeat(own, lengths)
    columns = []
    for old, new in zip(data.columns, run.arena[:6], strict=True):
        column = np.empty(len(row), np.int32)
        column[mine], column[~mine] = old[row[mine]], new[row[~mine] - base]
        columns.append(column)
    return tuple(columns), offsets


@kernel
def _uncovered(
    samples: tuple[NDArray[np.int32], ...],
    offsets: NDArray[np.int64],
    place: NDArray[np.int64],
    boxes: tuple[NDArray[np.int32], ...],
    bounds: NDArray[np.int64],
) -> int:
    """Count the samples that lie in none of the boxes that are published for their people."""
    x0, x1, y0, y1, t0, t1 = samples
    bx0, bx1, by0, by1, bt0, bt1 = boxes
    count = 0
    for person in range(len(place)):
        if place[person] < 0:
            continue
        first, last = bounds[place[person]], bounds[place[person] + 1]
        for i in range(offsets[person], offsets[person + 1]):
            at, moved = t0[i], True
            while moved and at < t1[i]:
                moved = False
                for j in range(first, last):
                    if bt0[j] > at:
                        break
                    if (
                        at < bt1[j]
                        and bx0[j] <= x0[i]
                        and x1[i] <= bx1[j]
                        and by0[j] <= y0[i]
                        and y1[i] <= by1[j]
                    ):
                        at, moved = bt1[j], True
            count += at < t1[i]
    return count
