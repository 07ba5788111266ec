"""Moments as users give them, in seconds since 1970-01-01 UTC."""

from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from incrowd.errors import ArgumentError

__all__ = ["seconds_of"]


def seconds_of(moment: Any) -> int:
    """Take a datetime, a date, a numpy datetime64 or ISO 8601 text; without a zone it is UTC.

    Examples
    --------
    >>> seconds_of("2012-03-05T00:00+01:00")
    1330902000
    """
    if isinstance(moment, np.datetime64):
        return int(moment.astype("datetime64[s]").astype(np.int64))
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError as error:
            raise ArgumentError(f"{moment!r} is not a time like 2012-03-05T07:30Z") from error
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    if not isinstance(moment, datetime):
        raise ArgumentError(f"a time is a datetime or ISO 8601 text, not {moment!r}")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp() // 1)
