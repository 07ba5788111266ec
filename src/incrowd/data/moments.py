"""Moments and time zones as users name them."""

import zoneinfo
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from incrowd.errors import ArgumentError

__all__ = ["find_zone", "seconds_of"]


def seconds_of(moment: Any) -> int:
    """Give the first whole second since 1970-01-01 UTC that is not before a moment.

    Parameters
    ----------
    moment
        A datetime, a date, a numpy datetime64, or text in ISO 8601; without a zone it is UTC.

    Examples
    --------
    >>> seconds_of("2012-03-05T00:00+01:00")
    1330902000
    """
    wrong = f"a moment must be a datetime or text like 2012-01-31T12:00, not {moment!r}"
    if isinstance(moment, np.datetime64):
        if np.isnat(moment):
            raise ArgumentError(wrong)
        # Numpy rounds down on the way to coarser units.
        second = moment.astype("datetime64[s]")
        return int(second.astype(np.int64)) + bool(second < moment)
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError as error:
            raise ArgumentError(wrong) from error
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    if not isinstance(moment, datetime):
        raise ArgumentError(wrong)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return -(-since // timedelta(seconds=1))


def find_zone(name: str) -> zoneinfo.ZoneInfo:
    """Find a time zone by its name.

    Examples
    --------
    >>> find_zone("Africa/Abidjan").key
    'Africa/Abidjan'
    """
    try:
        return zoneinfo.ZoneInfo(name)
    except (TypeError, ValueError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:
        raise ArgumentError(f"unknown time zone {name!r}; name one like Africa/Abidjan") from error
