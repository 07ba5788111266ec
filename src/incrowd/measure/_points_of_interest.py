"""`points_of_interest`: where people stay, from GPS, and which of these places they share.

Two steps, as in section 3.2 of *Uniqueness Assessment of Human Mobility on Multi-Sensor Datasets*
(2016), which gives the diameter and the time but leaves the rest open::

    fixes ──> stays ──> POIs of each person ──> POIs of all ──> Visits
              (stays)   (near each other)       (numbered)      (a place and a slot)

In both steps of the clustering, whatever lasted longest comes first: it founds a POI, unless the
middle of one lies within half the diameter already. When all are founded, everything else goes to
the nearest. So a POI is a disc of that diameter about the stay that founded it, and data whose POIs
are known is clustered as it was when they were found.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._format import people as _people
from incrowd._numba import Ints, kernel, kernel_private
from incrowd._parallel import cores
from incrowd._summary import Summarised, Summary
from incrowd.data._columns import sort_distinct
from incrowd.data._frame import Frame
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import Visits
from incrowd.errors import ArgumentError, InputError
from incrowd.measure._staypoints import FARTHEST, square, stays_of

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "PointsOfInterest",
    "points_of_interest",
]


LONGEST = 1e9
"""Minutes that nothing takes: two thousand years."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PointsOfInterest(Summarised):
    """Where people stayed.

    Attributes
    ----------
    stays
        A row for each stay, in the order of people and time: person (counted from 0), first and
        last (slots of its first and last fix), x and y (the cell in its middle), poi.
    pois
        A row for each POI: poi (from 0), x and y (the cell in its middle), people, stays.
    people
        The identifiers of all people, those without a stay among them.
    frame
        The grid of cells and slots.
    """

    stays: "pl.DataFrame"
    pois: "pl.DataFrame"
    people: "pl.Series"
    frame: Frame

    def _summary(self) -> Summary:
        with_any = self.stays["person"].n_unique()
        facts = {
            "places where people stayed": f"{len(self.pois):,}",
            "stays": f"{len(self.stays):,}",
            "people with a stay": f"{with_any:,} of {len(self.people):,}",
        }
        return Summary(f"Points of interest of {_people(len(self.people))}", facts)

    def visits(self, minutes: float = 60) -> Visits:
        """Return the visits to POIs: one for each POI and each slot of so many minutes.

        A stay is a visit in every slot that it touches. Slots are counted from the origin of the
        grid.
        """
        wide = slots_of(minutes, self.frame)
        who, first, last, poi = (
            self.stays[name].to_numpy().astype(np.int64)
            for name in ("person", "first", "last", "poi")
        )
        first, last = first // wide, last // wide
        number = last - first + 1
        person = np.repeat(who, number)
        place = np.repeat(poi, number)
        slot = np.repeat(first - np.cumsum(number) + number, number) + np.arange(number.sum())
        order = sort_distinct(person, slot, place)
        offsets = np.searchsorted(person[order], np.arange(len(self.people) + 1))
        return Visits(place[order], slot[order], offsets, people=self.people)


def slots_of(minutes: float, frame: Frame) -> int:
    """Return how many time slots of the data so many minutes are."""
    if not 0 < minutes < LONGEST:
        raise ArgumentError(f"a time slot must have a positive number of minutes, not {minutes!r}")
    wide = Fraction(str(minutes)) * 60 / frame.slot
    if wide < 1 or wide.denominator != 1:
        raise ArgumentError(
            f"{minutes:g} min are not a multiple of the time slots of the data, {frame.slot} s"
        )
    return int(wide)


def points_of_interest(
    data: Trajectories,
    *,
    diameter: float = 250.0,
    stay: float = 30.0,
    gap: float | None = None,
    known: PointsOfInterest | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PointsOfInterest:
    """Return where people stayed; places that several people share get one number.

    A stay is a longest run of fixes, any two of which are no farther apart than the diameter, from
    its first to its last for at least so long. Runs are found from left to right and do not
    overlap. The middle of a stay is the mean of its fixes, rounded down to a cell.

    Parameters
    ----------
    data
        Fixes of people. Cells should be much finer than the diameter: read with ``cell=10``.
    diameter
        How far apart fixes of a stay may be, and how wide a POI is, in metres.
    stay
        How long a stay is at least, in minutes.
    gap
        So many minutes without a fix end a stay. As long as a stay unless given, so that silence
        alone never makes one; infinity, if silence counts as staying.
    known
        POIs of other data on the same grid, whose numbers are to be used again: a POI of a person
        whose middle lies within half the diameter of a known one founds no other. New POIs are
        numbered behind them. The same data, with the POIs found in it, gives the same again.
    threads
        How many threads to use; all cores unless given.
    progress
        Called with the number of people looked through, and of all.

    References
    ----------
    - Boutet et al., 2016: "Uniqueness Assessment of Human Mobility on Multi-Sensor Datasets", LIRIS
      research report hal-01381986; section 3.2.

    Examples
    --------
    >>> import incrowd
    >>> data = incrowd.Trajectories.from_boxes(
    ...     {"user": [1] * 4 + [2] * 3, "x0": [5, 5, 6, 90, 6, 6, 5], "y0": [5] * 7,
    ...      "t0": [0, 20, 40, 60, 100, 120, 140]})
    >>> found = incrowd.points_of_interest(data)
    >>> found.stays.select("person", "first", "last", "poi").rows()
    [(0, 0, 40, 0), (1, 100, 140, 0)]
    >>> found.visits()  # the first hour; then, of somebody else, the second and third
    Visits(2 people, 3 visits, 1 place)
    """
    limits = _limits(data, diameter, stay, gap)
    half = _squared(Fraction(str(diameter)) / 2, data.frame.cell)
    if threads is not None and threads < 1:
        raise ArgumentError(f"threads must be at least 1, not {threads!r}")
    if known is not None and known.frame != data.frame:
        raise ArgumentError(
            "known POIs must lie on the same grid; read the data with frame=known.frame"
        )
    who, first, last = stays_of(
        (data.x0, data.y0, data.t0), data.offsets, limits, cores(threads), progress
    )
    x, y = _middles(data.x0, data.y0, first, last)
    took = data.t0[last].astype(np.int64) - data.t0[first]
    own, mine = _cluster(who, x, y, took, half)
    # Of each person's POIs: who, where, how long in all.
    lasted = np.bincount(own, weights=took, minlength=len(mine)).astype(np.int64)
    known_x, known_y = _places_of(known)
    shared, founders = _cluster(
        np.zeros(len(mine) + len(known_x), np.int64),
        np.concatenate([known_x, x[mine]]),
        np.concatenate([known_y, y[mine]]),
        np.concatenate([np.full(len(known_x), np.iinfo(np.int64).max), lasted]),
        half,
        founding=len(known_x),
    )
    poi = shared[len(known_x) :][own] if len(own) else own
    at = np.concatenate([known_x, x[mine]])[founders], np.concatenate([known_y, y[mine]])[founders]
    return _found(data, (who, data.t0[first], data.t0[last], x, y, poi), at)


def _limits(
    data: Trajectories, diameter: float, stay: float, gap: float | None
) -> tuple[int, int, int]:
    """Give the limits in cells and slots; refuse what makes no sense."""
    if not Trajectories.of(data).original:
        raise InputError(
            "data must be original fixes of one cell and one time slot, not larger boxes"
        )
    slot, gap = data.frame.slot, stay if gap is None else gap
    for name, value in (("diameter", diameter), ("stay", stay), ("gap", gap)):
        if not value > 0:
            raise ArgumentError(f"{name} must be positive, not {value!r}")
    if not data.frame.cell <= diameter < FARTHEST * data.frame.cell:
        raise ArgumentError(
            f"diameter must be at least one cell ({data.frame.cell:g} m) and finite, not "
            f"{diameter:g} m; read the data with finer cells for a smaller one"
        )
    if not np.isfinite(stay):
        raise ArgumentError("stay must be a finite number of minutes")
    for name, value in (("stay", stay), ("gap", gap)):
        if LONGEST < value < np.inf:
            raise ArgumentError(
                f"{name} must be at most {LONGEST:g} min, or infinite for gap, not {value:g}"
            )
    most = np.iinfo(np.int64).max
    ends = most if np.isinf(gap) else -(-Fraction(str(gap)) * 60 // slot)
    return (
        _squared(Fraction(str(diameter)), data.frame.cell),
        int(-(-Fraction(str(stay)) * 60 // slot)),
        int(ends),
    )


def _squared(metres: Fraction, cell: float) -> int:
    """Give the largest square of a distance in cells that is no longer than so many metres."""
    return int((metres / Fraction(str(cell))) ** 2)


def _places_of(known: PointsOfInterest | None) -> tuple[Ints, Ints]:
    if known is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    x, y = (known.pois[name].to_numpy().astype(np.int64) for name in ("x", "y"))
    return x, y


def _found(
    data: Trajectories, columns: tuple[NDArray[Any], ...], at: tuple[Ints, Ints]
) -> PointsOfInterest:
    import polars as pl

    names = ("person", "first", "last", "x", "y", "poi")
    stays = pl.DataFrame(dict(zip(names, columns, strict=True)))
    counts = stays.group_by("poi").agg(
        people=pl.col("person").n_unique().cast(pl.Int64), stays=pl.len().cast(pl.Int64)
    )
    places = pl.DataFrame({"poi": np.arange(len(at[0])), "x": at[0], "y": at[1]})
    pois = places.join(counts, on="poi", how="left", maintain_order="left").fill_null(0)
    return PointsOfInterest(stays, pois, data.people, data.frame)


@kernel
def _middles(
    x: NDArray[np.int32], y: NDArray[np.int32], first: Ints, last: Ints
) -> tuple[Ints, Ints]:
    """Give the mean of the fixes of each stay, rounded down."""
    at_x, at_y = np.empty(len(first), np.int64), np.empty(len(first), np.int64)
    for i in range(len(first)):
        some = slice(first[i], last[i] + 1)
        size = last[i] + 1 - first[i]
        at_x[i] = x[some].astype(np.int64).sum() // size
        at_y[i] = y[some].astype(np.int64).sum() // size
    return at_x, at_y


def _cluster(
    group: Ints, x: Ints, y: Ints, lasted: Ints, limit: int, founding: int = 0
) -> tuple[Ints, Ints]:
    """Cluster places, each group by itself.

    The longest come first (of equals, the first): each becomes a founder if there is none within
    the limit. Then each joins the nearest founder (of equals, the older). The first `founding`
    places are founders anyway.

    Returns
    -------
    The cluster of each place, and the founder of each cluster: group by group, in the order of
    founding.
    """
    rest = np.lexsort((-lasted[founding:], group[founding:]))
    order = np.concatenate([np.arange(founding), founding + rest])
    found: tuple[Ints, Ints] = _found_or_join(group, x, y, order, limit, founding)
    return found


@kernel_private
def _bucket(group: int, x: int, y: int, size: int) -> int:
    """Give where the founders of a square are listed."""
    mixed = (np.uint64(x) * np.uint64(0x9E3779B97F4A7C15)) ^ (
        np.uint64(y) * np.uint64(0xC2B2AE3D27D4EB4F)
    )
    mixed = (mixed ^ np.uint64(group)) * np.uint64(0x165667B19E3779F9)
    return np.int64((mixed ^ (mixed >> np.uint64(31))) & np.uint64(size - 1))


class Founders(NamedTuple):
    """Founders, listed by squares: who each is, the last one of a square, the one before it."""

    who: Ints
    head: Ints
    after: Ints


@kernel_private
def _nearest(me: int, group: Ints, x: Ints, y: Ints, limit: int, founders: Founders) -> int:
    """Give the number of the nearest founder within the limit (of equals, the older), or -1."""
    side = _side(limit)
    left, low = x[me] // side, y[me] // side
    best, nearest = np.int64(-1), np.int64(limit + 1)
    for near in range(9):
        square_x, square_y = left + near // 3 - 1, low + near % 3 - 1
        at = founders.head[_bucket(group[me], square_x, square_y, len(founders.head))]
        while at >= 0:
            other = founders.who[at]
            apart = square(x[me] - x[other], y[me] - y[other])
            mine = group[me] == group[other]
            if mine and (apart < nearest or (apart == nearest and at < best)):
                best, nearest = at, apart
            at = founders.after[at]
    return best


@kernel_private
def _side(limit: int) -> int:
    """Give the side of a square: whatever is within the limit is in the same or the next one."""
    return np.int64(np.ceil(np.sqrt(np.float64(limit)))) + 1


@kernel
def _found_or_join(
    group: Ints, x: Ints, y: Ints, order: Ints, limit: int, founding: int
) -> tuple[Ints, Ints]:
    """Let places found clusters where there are none near; then let each join the nearest."""
    number, size = len(order), 16
    while size < 2 * number:
        size *= 2
    who, after = np.empty(number, np.int64), np.full(number, -1, np.int64)
    founders, clusters, side = Founders(who, np.full(size, -1, np.int64), after), 0, _side(limit)
    for step in range(number):
        me = order[step]
        if step < founding or _nearest(me, group, x, y, limit, founders) < 0:
            slot = _bucket(group[me], x[me] // side, y[me] // side, size)
            founders.who[clusters] = me
            founders.after[clusters], founders.head[slot] = founders.head[slot], clusters
            clusters += 1
    cluster = np.empty(number, np.int64)
    for me in range(number):
        cluster[me] = _nearest(me, group, x, y, limit, founders)
    return cluster, founders.who[:clusters].copy()
