"""Batch by batch: check rows, turn local times into UTC, encode users and places.

::

    rows of the scanner ──> RowChecker.check ──> Batch of good rows
                            │  bad rows counted by reason, with examples
                            │  to_utc: local times
                            └  NameEncoder: users and places

A zone's offset to UTC changes at known moments. Between two of them a local time has one answer;
around them it has two (clocks go back: the first is taken) or none (clocks go forward: the time is
taken as if they had not, so that it comes out an hour later). Both are counted.
"""

import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.data._frame import Floats, Ints
from incrowd.data._io.encoding import NameEncoder
from incrowd.data._io.persons import ANOTHER_PERSON, PersonEncoder
from incrowd.data._io.reading_report import Example, Rejects
from incrowd.data._io.rejects_file import RejectedRows, Shown
from incrowd.data._io.sql import OTHER_SENSOR, REASONS
from incrowd.data._io.staging import Batch
from incrowd.data._select import find_zone

__all__ = [
    "Limits",
    "RowChecker",
    "to_utc",
]


_SOUTH, _NORTH = -60, 72
"""South of the one nobody lives, north of the other hardly anybody."""
_YEARS = (2, 9997)
"""Those for which every time zone has rules; before and after them nothing changes any more."""
_SECOND = 1_000_000
"""Microseconds."""
_DAY = 86_400 * _SECOND
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HALF_TURN, _QUARTER_TURN = 180, 90

Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a row must meet, besides being well-formed.

    Attributes
    ----------
    window
        Start (included) and end (excluded) of the times allowed, in seconds since 1970.
    bbox
        West, south, east and north; rows outside are left out by choice, and are not bad.
    area
        The same, for the area in which the crs may be used; rows outside are bad.
    """

    window: tuple[int, int]
    bbox: tuple[float, float, float, float] | None = None
    area: tuple[float, float, float, float] | None = None


@dataclass(slots=True)
class RowChecker:
    """Checks batches of the scanner, and counts what was found.

    Parameters
    ----------
    limits
        What a row must meet.
    zone
        The time zone of times that name none; UTC if None.
    slot, reference
        Seconds of a slot, and the time (since 1970) from which slots are counted.
    cells
        (longitude, latitude) by the name of a cell, for rows that name a cell and no position.
    aside
        Where all rows that cannot be used are put; None if they are only counted.
    persons
        Who is behind the identifiers; None if each stands for itself.
    """

    limits: Limits
    zone: str | None
    slot: int
    reference: int
    cells: Mapping[str, tuple[float, float]] | None
    aside: RejectedRows | None = None
    persons: PersonEncoder | None = None
    users: NameEncoder = field(default_factory=NameEncoder)
    places: NameEncoder = field(default_factory=NameEncoder)
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
    unknown_cells: Counter[str] = field(default_factory=Counter)
    _positions: Floats = field(default_factory=lambda: np.empty((0, 2)))

    @property
    def base(self) -> int:
        """The slot, since the reference, at which the window starts."""
        return (self.limits.window[0] - self.reference) // self.slot

    def check(self, batch: pa.RecordBatch, *, file: str, first: int, has_place: bool) -> Batch:
        """Return the rows of a batch that can be used; count the others.

        Parameters
        ----------
        batch
            Rows as the scanner gives them.
        file
            The name of the file that they come from.
        first
            The index of the first of them in the file, counted from 0.
        has_place
            Whether the rows name a place.
        """
        reason = batch.column("reason").to_numpy()
        self.rows += batch.num_rows - int(np.count_nonzero(reason == OTHER_SENSOR))
        if reason.any():
            self._reject_unparsed(batch, reason, file, first)
        good = reason == 0
        time_us = self._utc(batch, good)
        start, end = (edge * _SECOND for edge in self.limits.window)
        # For nearly all batches the extremes answer what else would take several passes.
        if batch.num_rows and (time_us.min() < start or time_us.max() >= end):
            outside = good & ((time_us < start) | (time_us >= end))
            if outside.any():
                shown = lambda rows: [f"{t}Z" for t in time_us[rows].astype("datetime64[us]")]  # noqa: E731
                self._reject("time outside the window", outside, shown, file, first)
                good &= ~outside
        place = self._places(batch, good) if has_place else None
        east, north = batch.column("east").to_numpy(), batch.column("north").to_numpy()
        if self.cells is not None:
            assert place is not None  # noqa: S101  a table of cells needs a place
            if len(self._positions):
                east, north = self._positions[np.where(good, place, 0)].T
            unknown = good & np.isnan(east)
            if unknown.any():
                shown = functools.partial(_texts, batch.column("place_id"))
                self._reject("cell not in the table of cells", unknown, shown, file, first)
                all_names = batch.column("place_id").filter(pa.array(unknown))
                for one in all_names.value_counts().to_pylist():
                    self.unknown_cells[one["values"]] += one["counts"]
                good &= ~unknown
        good = self._inside(good, east, north, file, first)
        if batch.num_rows and (north.min() < _SOUTH or north.max() > _NORTH):
            self.polar += int(np.count_nonzero(north[good] < _SOUTH))
            self.arctic += int(np.count_nonzero(north[good] > _NORTH))
        users = batch.column("user_id")
        if not good.all():
            users = users.filter(pa.array(good))
            time_us, east, north = time_us[good], east[good], north[good]
            place = None if place is None else place[good]
        slot = (time_us - self.reference * _SECOND) // (self.slot * _SECOND) - self.base
        self.used += len(users)
        person = self._people(users, batch, good, file, first)
        return Batch(person, slot.astype(np.uint32), east, north, place)

    def _people(
        self, users: pa.Array, batch: pa.RecordBatch, good: Mask, file: str, first: int
    ) -> Ints:
        """Return the codes of good rows' people: of their identifiers, or of who is behind them."""
        known = len(self.users)
        codes = self.users.encode(users)
        if self.persons is None:
            return codes
        if self.persons.table is not None:
            return self.persons.from_table(self.users, codes, known)
        named = batch.column("person")
        codes, other = self.persons.from_column(
            self.users, codes, named if good.all() else named.filter(pa.array(good))
        )
        if other.any():
            wrong = np.zeros(len(good), np.bool_)
            wrong[np.flatnonzero(good)[other]] = True
            shown = functools.partial(_texts, batch.column("user_id"))
            self._reject(ANOTHER_PERSON, wrong, shown, file, first)
        return codes

    def _utc(self, batch: pa.RecordBatch, good: Mask) -> Longs:
        """Return times in UTC; count those that came without a zone."""
        time_us: Longs = batch.column("time_us").to_numpy()
        zoned = batch.column("zoned").to_numpy(zero_copy_only=False)
        if zoned.all():
            self.zoned += int(np.count_nonzero(good))
            return time_us
        naive = good & ~zoned
        count = int(np.count_nonzero(naive))
        self.zoneless += count
        self.zoned += int(np.count_nonzero(good)) - count
        if count and self.zone not in (None, "UTC"):
            # Times far outside the window are refused in any zone; years of changes are spared.
            start, end = (edge * _SECOND for edge in self.limits.window)
            naive &= (time_us >= start - _DAY) & (time_us < end + _DAY)
            time_us = time_us.copy()
            time_us[naive], twice, never = to_utc(time_us[naive], str(self.zone))
            self.ambiguous += twice
            self.missing += never
        return time_us

    def _places(self, batch: pa.RecordBatch, good: Mask) -> Ints:
        """Return the codes of good rows' places; look up the positions of new ones."""
        names = batch.column("place_id")
        place = np.zeros(len(good), np.int32)
        known = len(self.places)
        place[good] = self.places.encode(names if good.all() else names.filter(pa.array(good)))
        if self.cells is not None and len(self.places) > known:
            nowhere = (np.nan, np.nan)
            new = [self.cells.get(name, nowhere) for name in self.places.names_from(known)]
            self._positions = np.concatenate([self._positions, np.array(new, np.float64)])
        return place

    def _inside(self, good: Mask, east: Floats, north: Floats, file: str, first: int) -> Mask:
        """Return the good rows that lie in the area of the crs and in the box asked for."""
        if self.limits.area is not None:
            off = good & ~_within(east, north, self.limits.area)
            if off.any():
                self.swapped += int(np.count_nonzero(off & _within(north, east, self.limits.area)))
                shown = lambda rows: [  # noqa: E731
                    f"{y}, {x}" for x, y in zip(east[rows], north[rows], strict=True)
                ]
                self._reject("outside the area of the crs", off, shown, file, first)
                good = good & ~off
        if self.limits.bbox is not None:
            inside = _within(east, north, self.limits.bbox)
            self.outside += int(np.count_nonzero(good & ~inside))
            good = good & inside
        return good

    def _reject_unparsed(
        self, batch: pa.RecordBatch, reason: npt.NDArray[np.int8], file: str, first: int
    ) -> None:
        """Count the rows that the scanner could not use, by reason."""
        east, north = batch.column("east").to_numpy(), batch.column("north").to_numpy()
        for index in np.unique(reason[reason > 0]):
            shown = functools.partial(_texts, batch.column("shown"))
            self._reject(REASONS[index], reason == index, shown, file, first)
        # Impossible as they stand, possible the other way round.
        far_north = (np.abs(north) > _QUARTER_TURN) & (np.abs(north) <= _HALF_TURN)
        swapped = (reason > 0) & far_north & (np.abs(east) <= _QUARTER_TURN)
        self.swapped += int(np.count_nonzero(swapped))

    def _reject(self, reason: str, bad: Mask, shown: Shown, file: str, first: int) -> None:
        """Count rows that cannot be used, keep the first as examples, put all aside if wanted."""
        rows = np.flatnonzero(bad)
        self.rejects.add(reason, len(rows))
        examples = rows[: self.rejects.wants(reason)]
        for row, value in zip(examples.tolist(), shown(examples), strict=True):
            self.rejects.show(reason, Example(file, first + row, value))
        if self.aside is not None:
            self.aside.put(rows, reason, shown, first)


def _texts(column: pa.Array, rows: Longs) -> list[str]:
    """Return the values of some rows, '' where there is none."""
    return [text or "" for text in column.take(pa.array(rows)).to_pylist()]


def _within(east: Floats, north: Floats, box: tuple[float, float, float, float]) -> Mask:
    """Return which positions lie in a box: west, south, east, north."""
    left, bottom, right, top = box
    # A box whose west is greater than its east lies across the antimeridian.
    beyond, before = east >= left, east <= right
    across = beyond & before if left <= right else beyond | before
    inside: Mask = across & (north >= bottom) & (north <= top)
    return inside


def to_utc(local: Longs, zone: str) -> tuple[Longs, int, int]:
    """Return local times in UTC.

    Parameters
    ----------
    local
        Microseconds from 1970-01-01 00:00 on the clock of a time zone.
    zone
        The time zone of the clock.

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
    start = _offset(find_zone(zone), _new_year(years[0]))
    if not changes:
        return local - start * _SECOND, 0, 0
    second, before, after = (np.array(part, np.int64) for part in zip(*changes, strict=True))
    low = (second + np.minimum(before, after)) * _SECOND
    high = (second + np.maximum(before, after)) * _SECOND
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


def _new_year(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def _offset(zone: ZoneInfo, moment: datetime) -> int:
    """Return the seconds by which a zone's clock is ahead of UTC."""
    shift = moment.astimezone(zone).utcoffset()
    return 0 if shift is None else round(shift.total_seconds())


@functools.lru_cache(maxsize=4096)
def _changes(name: str, year: int) -> tuple[tuple[int, int, int], ...]:
    """Return when a zone's offset changes in a year, and how: (second, before, after)."""
    zone, step = find_zone(name), timedelta(days=1)
    left, found = _new_year(year), []
    end = _new_year(year + 1)
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
