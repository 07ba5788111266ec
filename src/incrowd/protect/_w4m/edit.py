"""Cluster the people of a chunk, and give all of them the times of their pivot.

Positions are published on the grid: what a member is away from her pivot, in cells, is cut towards
the pivot where she is pulled, so that the published point is within delta / 2, exactly.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints
from incrowd._parallel import on_threads
from incrowd.data._columns import samples_of
from incrowd.protect._w4m.kernels import TRASH, cluster, walk

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "Asked",
    "Edited",
    "edit",
    "farthest",
    "positions",
    "pulled",
    "stream",
]


_BLOCK = 1 << 22
"""Points that are walked along in one call: then it can be interrupted."""
_WORD = 2**64


class Asked(NamedTuple):
    """What is asked of a chunk: lengths in metres, and how many of it may be trash."""

    k: int
    delta: float
    reach: float
    trash_max: int
    cap: int


class Edited(NamedTuple):
    """What became of a chunk.

    Attributes
    ----------
    people
        Who is published.
    offsets
        Where the points of each of them begin.
    x, y, t
        Cells and slots of the points.
    counts
        Samples that were created and deleted, net and really.
    metres, seconds
        How far points were moved, and how long, in all.
    reach
        The radius with which the clusters were made.
    """

    people: Ints
    offsets: Ints
    x: NDArray[np.int32]
    y: NDArray[np.int32]
    t: NDArray[np.int32]
    counts: Counter[str]
    metres: float
    seconds: int
    reach: float


def farthest(delta: float, cell: float) -> int:
    """Return the greatest square of a distance in cells that is at most delta / 2.

    Both numbers are taken as they are written in decimals, as in the manifest.
    """
    return int(Fraction(str(delta)) ** 2 / (4 * Fraction(str(cell)) ** 2))


def stream(seed: int, chunk: int) -> np.uint64:
    """Return where the random numbers of a chunk begin: each has its own."""
    return np.uint64(_mixed((_mixed(seed % _WORD) + chunk) % _WORD))


def _mixed(number: int) -> int:
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % _WORD
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % _WORD
    return number ^ (number >> 31)


def edit(
    data: "Trajectories",
    people: Ints,
    speed: float,
    asked: Asked,
    state: np.uint64,
    *,
    threads: int = 1,
    walked: Callable[[int], None] = lambda _: None,
) -> Edited:
    """Cluster some people, and edit those who are in a cluster.

    `walked` is called with how many people were walked along, as pivots.
    """
    samples, offsets = positions(people, data.offsets)
    cells = [side[samples] for side in (data.x0, data.y0, data.t0)]
    x, y = ((side.astype(np.float64) + 0.5) * data.frame.cell for side in cells[:2])
    z = cells[2].astype(np.float64) * data.frame.slot * speed
    points = (x, y, z, offsets)
    cost, radius = _matrices(points, asked, threads, walked)
    home, reach = cluster(cost, radius, asked.k, asked.reach, asked.trash_max, state)
    del cost, radius
    kept = np.flatnonzero(home != TRASH)
    home = home[kept]
    # Every published point is that of the pivot, and a point of whose record it is.
    pivots, ends = positions(home, offsets)
    own, counts = pivots.copy(), Counter[str]()
    lengths, was = np.diff(ends), np.diff(offsets)[kept]
    members = np.flatnonzero(home != kept)
    if len(members):
        rows, starts = positions(members, ends)
        first = np.empty(len(rows), np.int32)
        costs, radii = np.empty(len(members), np.int64), np.empty(len(members))
        walk(home[members], kept[members], *points, asked.delta / 2, asked.cap, costs, radii, first)
        own[rows] = np.repeat(offsets[kept[members]], lengths[members]) + first
        again = first[1:] == first[:-1]
        again[starts[1:-1] - 1] = False
        grown = (lengths - was)[members]
        counts["samples_created"] = int(again.sum())
        counts["samples_deleted"] = int(was[members].sum()) - len(first) + int(again.sum())
        counts["samples_created_net"] = int(grown[grown > 0].sum())
        counts["samples_deleted_net"] = -int(grown[grown < 0].sum())
    (px, py, pt), (qx, qy, qt) = ([side[at] for side in cells] for at in (pivots, own))
    dx, dy = pulled(
        qx.astype(np.int64) - px, qy.astype(np.int64) - py, asked.delta, data.frame.cell
    )
    new_x, new_y = px + dx, py + dy
    metres = data.frame.cell * float(np.hypot(new_x - qx, new_y - qy).sum())
    seconds = data.frame.slot * int(np.abs(qt.astype(np.int64) - pt).sum())
    return Edited(
        people[kept], ends, new_x.astype(np.int32), new_y.astype(np.int32), pt, counts, metres,
        seconds, reach,
    )  # fmt: skip


def positions(who: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """Return where the samples of some people stand, and where each one's begin among them."""
    found, begin = samples_of(who, offsets)
    return np.arange(found.start, found.stop) if isinstance(found, slice) else found, begin


def _matrices(
    points: tuple[Floats, Floats, Floats, Ints],
    asked: Asked,
    threads: int,
    walked: Callable[[int], None],
) -> tuple[Ints, Floats]:
    """Walk along every two people; return costs and radii, a row for each pivot."""
    people = len(points[3]) - 1
    cost, radius = np.zeros((people, people), np.int64), np.zeros((people, people))
    rows = max(1, _BLOCK // (2 * len(points[0])))
    none = np.empty(0, np.int32)

    def work(start: int) -> int:
        pivot, other = np.divmod(
            np.arange(start * people, min(start + rows, people) * people), people
        )
        others = pivot != other
        pivot, other = pivot[others], other[others]
        found = np.empty(len(pivot), np.int64), np.empty(len(pivot))
        walk(pivot, other, *points, asked.delta, asked.cap, *found, none)
        cost[pivot, other], radius[pivot, other] = found
        return min(start + rows, people)

    for done in on_threads(threads, work, range(0, people, rows)):
        walked(done)
    return cost, radius


def pulled(dx: Ints, dy: Ints, delta: float, cell: float) -> tuple[Ints, Ints]:
    """Pull offsets from the pivot, in cells, to within delta / 2; cut them towards the pivot."""
    most = farthest(delta, cell)
    far = np.flatnonzero(dx * dx + dy * dy > most)
    x, y = dx[far].astype(np.float64), dy[far].astype(np.float64)
    pull = delta / 2 / (cell * np.sqrt(x * x + y * y))
    x, y = np.trunc(x * pull), np.trunc(y * pull)
    dx[far], dy[far] = x, y
    # A product that was rounded upwards may be one too far.
    while True:
        far = far[dx[far] * dx[far] + dy[far] * dy[far] > most]
        if not len(far):
            return dx, dy
        wide = np.abs(dx[far]) >= np.abs(dy[far])
        dx[far[wide]] -= np.sign(dx[far[wide]])
        dy[far[~wide]] -= np.sign(dy[far[~wide]])
