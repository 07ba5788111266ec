"""Batch by batch: count what cannot be used, turn clocks into UTC, number people and places.

Wall clocks to UTC, with the hour that a clock shows twice and the one that it skips.

A zone's offset changes at known moments. Between two of them a local time has one answer; around
them it has two (clocks go back: the first is taken) or none (clocks go forward: the time is taken
as if they had not, so that it comes out an hour later). Both are counted.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.data._frame import Floats, Ints
from incrowd.data._io.encoding import Codes
from incrowd.data._io.reading_report import Example, Rejects
from incrowd.data._io.sql import OTHER_SENSOR, REASONS
from incrowd.data._io.staging import Batch
from incrowd.data._select import find_zone

__all__ = [
    "Intake",
    "Limits",
    "to_utc",
]


Longs = npt.NDArray[np.int64]
_SECOND = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEARS = (2, 9997)
"""Those that every zone can tell; before and after them nothing changes any more."""


def to_utc(local: Longs, zone: str) -> tuple[Longs, int, int]:
    """Turn wall-clock times into UTC.

    Parameters
    ----------
    local
        Microseconds from 1970-01-01 00:00 on the wall clock.
    zone
        The zone in which the clock hangs.

    Returns
    -------
    tuple
        Microseconds from 1970-01-01 UTC, how many times were ambiguous, how many did not exist.
    """
    if len(local) == 0 or zone == "UTC":
        return local, 0, 0
    first, last = (_year(int(edge)) for edge in (local.min(), local.max()))
    years = range(max(first - 1, _YEARS[0]), min(last + 1, _YEARS[1]) + 1)
    changes = [change for year in years for change in _changes(zone, year)]
    start = _offset(find_zone(zone), _instant(years[0]))
    if not changes:
        return local - start * _SECOND, 0, 0
    moment, before, after = (np.array(part, np.int64) for part in zip(*changes, strict=True))
    low = (moment + np.minimum(before, after)) * _SECOND
    high = (moment + np.maximum(before, after)) * _SECOND
    # Until `high` the old offset holds, whether the hour comes twice or not at all.
    index = np.searchsorted(high, local, side="right")
    offset = np.concatenate([[start], after])[index]
    inside = np.searchsorted(low, local, side="right") > index
    back = np.concatenate([after < before, [False]])[index]
    ambiguous = int(np.count_nonzero(inside & back))
    return local - offset * _SECOND, ambiguous, int(np.count_nonzero(inside)) - ambiguous


def _year(microseconds: int) -> int:
    year = int(np.datetime64(microseconds, "us").astype("datetime64[Y]").astype(np.int64)) + 1970
    return min(max(year, _YEARS[0]), _YEARS[1])


def _instant(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def _offset(zone: ZoneInfo, moment: datetime) -> int:
    shift = moment.astimezone(zone).utcoffset()
    return 0 if shift is None else round(shift.total_seconds())


@functools.lru_cache(maxsize=4096)
def _changes(name: str, year: int) -> tuple[tuple[int, int, int], ...]:
    """Give the moments of a year at which a zone's offset changes: (second, before, after)."""
    zone, step = find_zone(name), timedelta(days=1)
    left, found = _instant(year), []
    end = _instant(year + 1)
    while left < end:
        right = min(left + step, end)
        before, after = _offset(zone, left), _offset(zone, right)
        if before != after:
            low, high = left, right
            while high - low > timedelta(seconds=1):
                middle = low + timedelta(seconds=(high - low) // timedelta(seconds=2))
                if _offset(zone, middle) == before:
                    low = middle
                else:
                    high = middle
            found.append((round((high - _EPOCH).total_seconds()), before, after))
        left = right
    return tuple(found)


Mask = npt.NDArray[np.bool_]
_SOUTH, _NORTH = -60, 72
"""South of the one nobody lives, north of the other hardly anybody."""
_DAY = 86_400 * _SECOND


@dataclass(frozen=True, slots=True)
class Limits:
    """What a row must meet, besides being well-formed.

    Attributes
    ----------
    window
        The earliest time allowed and the first one no more allowed, in seconds since 1970.
    bbox
        West, south, east and north; rows outside are left out by choice, and are not bad.
    area
        The same, for where the reference system may be used; rows outside are bad.
    """

    window: tuple[int, int]
    bbox: tuple[float, float, float, float] | None = None
    area: tuple[float, float, float, float] | None = None


@dataclass(slots=True)
class Intake:
    """Takes batches from the scanner in, and remembers what happened."""

    limits: Limits
    zone: str | None
    slot: int
    reference: int
    cells: Mapping[str, tuple[float, float]] | None
    people: Codes = field(default_factory=Codes)
    places: Codes = field(default_factory=Codes)
    rejects: Rejects = field(default_factory=Rejects)
    rows: int = 0
    outside: int = 0
    ambiguous: int = 0
    missing: int = 0
    zoned: int = 0
    zoneless: int = 0
    swapped: int = 0
    polar: int = 0
    arctic: int = 0
    used: int = 0
    _positions: Floats = field(default_factory=lambda: np.empty((0, 2)))

    @property
    def base(self) -> int:
        """The slot, since the reference, at which the window starts."""
        return (self.limits.window[0] - self.reference) // self.slot

    def take(self, batch: pa.RecordBatch, *, file: str, first: int, placed: bool) -> Batch:
        """Check a batch and give the rows that can be used.

        Parameters
        ----------
        batch
            Rows as the scanner gives them.
        file
            Where they come from.
        first
            The number of the first of them in the file, counted from 0.
        placed
            Whether the rows name a place.
        """
        bad = batch.column("bad").to_numpy()
        self.rows += batch.num_rows - int(np.count_nonzero(bad == OTHER_SENSOR))
        if bad.any():
            self._reject_unparsed(batch, bad, file, first)
        good = bad == 0
        moment = self._utc(batch, good)
        start, end = (edge * _SECOND for edge in self.limits.window)
        # The extremes answer for nearly all batches what else would take several passes.
        if batch.num_rows and (moment.min() < start or moment.max() >= end):
            late = good & ((moment < start) | (moment >= end))
            shown = [f"{when}Z" for when in moment[late][:3].astype("datetime64[us]")]
            if late.any():
                self._reject("time outside the window", late, shown, file, first)
                good &= ~late
        place = self._places(batch, good) if placed else None
        a, b = batch.column("a").to_numpy(), batch.column("b").to_numpy()
        if self.cells is not None:
            assert place is not None  # noqa: S101  a table of cells needs a place
            a, b = self._positions[np.where(good, place, 0)].T if len(self._positions) else (a, b)
            unknown = good & np.isnan(a)
            if unknown.any():
                names = batch.column("spot").filter(pa.array(unknown)).slice(0, 3).to_pylist()
                self._reject("cell not in the table of cells", unknown, names, file, first)
                good &= ~unknown
        good = self._inside(good, a, b, file, first)
        if batch.num_rows and (b.min() < _SOUTH or b.max() > _NORTH):
            self.polar += int(np.count_nonzero(b[good] < _SOUTH))
            self.arctic += int(np.count_nonzero(b[good] > _NORTH))
        return self._batch(batch, good, moment, a, b, place)

    def _batch(
        self, batch: pa.RecordBatch, good: Mask, moment: Longs, a: Floats, b: Floats, place: Any
    ) -> Batch:
        who = batch.column("who")
        if not good.all():
            who = who.filter(pa.array(good))
            moment, a, b = moment[good], a[good], b[good]
            place = None if place is None else place[good]
        since = (moment - self.reference * _SECOND) // (self.slot * _SECOND) - self.base
        self.used += len(who)
        return Batch(self.people.number(who), since.astype(np.uint32), a, b, place)

    def _utc(self, batch: pa.RecordBatch, good: Mask) -> Longs:
        """Give moments in UTC, counting those that came without a zone."""
        moment: Longs = batch.column("moment").to_numpy()
        zoned = batch.column("zoned").to_numpy(zero_copy_only=False)
        if zoned.all():
            self.zoned += int(np.count_nonzero(good))
            return moment
        naive = good & ~zoned
        count = int(np.count_nonzero(naive))
        self.zoneless += count
        self.zoned += int(np.count_nonzero(good)) - count
        if count and self.zone not in (None, "UTC"):
            # Times far outside the window are refused in any zone; years of changes are spared.
            start, end = (edge * _SECOND for edge in self.limits.window)
            naive &= (moment >= start - _DAY) & (moment < end + _DAY)
            moment = moment.copy()
            moment[naive], twice, never = to_utc(moment[naive], str(self.zone))
            self.ambiguous += twice
            self.missing += never
        return moment

    def _places(self, batch: pa.RecordBatch, good: Mask) -> Ints:
        """Give the numbers of good rows' places; look up where new ones lie."""
        spots = batch.column("spot")
        place = np.zeros(len(good), np.int32)
        known = len(self.places)
        place[good] = self.places.number(spots if good.all() else spots.filter(pa.array(good)))
        if self.cells is not None and len(self.places) > known:
            nowhere = (np.nan, np.nan)
            new = [self.cells.get(name, nowhere) for name in self.places.since(known)]
            self._positions = np.concatenate([self._positions, np.array(new, np.float64)])
        return place

    def _inside(self, good: Mask, a: Floats, b: Floats, file: str, first: int) -> Mask:
        if self.limits.area is not None:
            off = good & ~_within(a, b, self.limits.area)
            if off.any():
                self.swapped += int(np.count_nonzero(off & _within(b, a, self.limits.area)))
                shown = [f"{lat}, {lon}" for lon, lat in zip(a[off][:3], b[off][:3], strict=True)]
                self._reject("outside the area of the crs", off, shown, file, first)
                good = good & ~off
        if self.limits.bbox is not None:
            inside = _within(a, b, self.limits.bbox)
            self.outside += int(np.count_nonzero(good & ~inside))
            good = good & inside
        return good

    def _reject_unparsed(
        self, batch: pa.RecordBatch, bad: npt.NDArray[np.int8], file: str, first: int
    ) -> None:
        a, b = batch.column("a").to_numpy(), batch.column("b").to_numpy()
        for number in np.unique(bad[bad > 0]):
            which = bad == number
            shown = batch.column("shown").filter(pa.array(which)).slice(0, 3).to_pylist()
            self._reject(REASONS[number], which, [text or "" for text in shown], file, first)
        # Impossible as they stand, possible the other way round.
        turned = (bad > 0) & (np.abs(b) > 90) & (np.abs(b) <= 180) & (np.abs(a) <= 90)  # noqa: PLR2004
        self.swapped += int(np.count_nonzero(turned))

    def _reject(self, reason: str, which: Mask, shown: list[str], file: str, first: int) -> None:
        self.rejects.add(reason, int(np.count_nonzero(which)))
        rows = np.flatnonzero(which)[: self.rejects.wants(reason)]
        for row, value in zip(rows, shown, strict=False):
            self.rejects.show(reason, Example(file, first + int(row), value))


def _within(a: Floats, b: Floats, box: tuple[float, float, float, float]) -> Mask:
    west, south, east, north = box
    # A box that starts east of where it ends lies across the antimeridian.
    across = (a >= west) & (a <= east) if west <= east else (a >= west) | (a <= east)
    inside: Mask = across & (b >= south) & (b <= north)
    return inside
