"""Wall clocks to UTC, with the hour that a clock shows twice and the one that it skips.

A zone's offset changes at known moments. Between two of them a local time has one answer; around
them it has two (clocks go back: the first is taken) or none (clocks go forward: the time is taken
as if they had not, so that it comes out an hour later). Both are counted.
"""

import functools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from incrowd.data.moments import find_zone

__all__ = ["to_utc"]

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
