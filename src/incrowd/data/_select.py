"""A part of a dataset: some people, an area, a period, those who were active enough.

The conditions of :func:`select` are applied in one order, each to what the one before left::

    people -> bbox -> time -> per_day, active, every_day -> share

so that a share is a share of those who passed everything else. Shares and averages are compared
exactly, as fractions of the decimal numbers that were written: 0.1 is a tenth.

`seconds_of`, `find_zone` and `degrees_of` check times, time zones and areas as users give them,
here and in reading.
"""

import math
import zoneinfo
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Moment",
    "days_in",
    "degrees_of",
    "find_zone",
    "seconds_of",
    "select",
]


LISTED = 3
"""How many unknown identifiers an error lists."""
HALF_TURN, QUARTER_TURN = 180, 90

Moment = datetime | np.datetime64 | str
"""A time: a datetime (without a zone: UTC), a numpy datetime64 (UTC), or text in ISO 8601."""
Window = tuple[int | None, int | None]
"""Start and end in seconds since 1970, UTC; None where it is open."""
Mask = npt.NDArray[np.bool_]


def seconds_of(moment: Any) -> int:
    """Return the first whole second since 1970-01-01 UTC that is not before a time.

    Parameters
    ----------
    moment
        A datetime, a date, a numpy datetime64, or text in ISO 8601; without a zone it is UTC.

    Examples
    --------
    >>> seconds_of("2012-03-05T00:00+01:00")
    1330902000
    """
    wrong = f"a time must be a datetime or text such as 2012-01-31T12:00, not {moment!r}"
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
    """Return the time zone of a name.

    Examples
    --------
    >>> find_zone("Africa/Abidjan").key
    'Africa/Abidjan'
    """
    try:
        return zoneinfo.ZoneInfo(name)
    except (TypeError, ValueError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:
        raise ArgumentError(
            f"unknown time zone {name!r}; give one such as Africa/Abidjan"
        ) from error


def select(
    data: Trajectories,
    *,
    people: "Iterable[Any] | pl.Series | None" = None,
    bbox: tuple[float, float, float, float] | None = None,
    time: tuple[Moment | None, Moment | None] | None = None,
    per_day: float | None = None,
    active: float | None = None,
    every_day: bool = False,
    zone: str = "UTC",
    share: float | None = None,
    seed: int | np.random.Generator | None = None,
) -> Trajectories:
    """Return the people and samples that meet every condition given.

    People keep their order; those left without a sample are dropped. The result may be empty. If
    nothing is dropped, `data` itself is returned.

    Parameters
    ----------
    data
        The trajectories to choose from; they are not changed.
    people
        Identifiers of the input, compared as text: 7 is "7".
    bbox
        West, south, east and north in degrees, borders included. A sample stays if the centre of
        its box lies inside. If west is greater than east, the area lies across the 180th meridian.
    time
        Start (included) and end (excluded), either of which may be None. A sample stays if its
        first slot starts in between.
    per_day
        The least number of samples per day, averaged over all days of the span. The papers'
        d4d-civ has ``per_day=1``.
    active
        The least share of the days of the span on which a person is seen, above 0 and up to 1.
        (The papers' "more than 75%" of 14 days and this "at least" agree: 75% of 14 is no whole
        number.)
    every_day
        Whether a person must be seen on every day of the span, as in the papers' d4d-sen.
    zone
        The time zone whose calendar days count. The span goes from the first day to the last:
        those of the window where `time` gives them, else those of the data that the conditions
        before left. Days on which nobody was seen count.
    share
        A random share of the people that are left, above 0 and up to 1; rounded half up to a
        number of people, at least 1.
    seed
        An integer or a numpy Generator that makes the share repeatable; required with it.

    Returns
    -------
    Trajectories
        What is left of `data`.

    Raises
    ------
    ArgumentError
        If a condition is not valid, or names people that are not in the data.

    Examples
    --------
    >>> from incrowd import Trajectories, select
    >>> data = Trajectories.from_boxes(
    ...     {"user": ["ann", "ann", "bob"], "x0": [0, 5, 0], "y0": [0, 5, 0], "t0": [0, 1440, 3]})
    >>> select(data, every_day=True).people.to_list()
    ['ann']
    >>> select(data, time=("1970-01-02", "1970-01-03")).boxes().rows()
    [('ann', 5, 6, 5, 6, 1440, 1441)]
    """
    data = Trajectories.of(data)
    area = None if bbox is None else degrees_of(bbox)
    window = (None, None) if time is None else _window_of(time)
    minima = _minima(per_day, active, every_day=every_day)
    find_zone(zone)
    fraction, generator = _random_share(share, seed)
    if people is not None:
        data = _keep_people(data, _is_listed(data, people))
    if area is not None:
        data = _keep_samples(data, _is_inside(data, area))
    if time is not None:
        data = _keep_samples(data, _is_during(data, window))
    if minima and data.samples:
        data = _keep_people(data, _is_active(data, minima, window, zone))
    if fraction is not None and generator is not None and len(data):
        chosen = np.zeros(len(data), np.bool_)
        number = max(1, math.floor(fraction * len(data) + Fraction(1, 2)))
        chosen[generator.choice(len(data), number, replace=False)] = True
        data = _keep_people(data, chosen)
    return data


def _keep_people(data: Trajectories, chosen: Mask) -> Trajectories:
    return data if bool(chosen.all()) else data[chosen]


def _keep_samples(data: Trajectories, chosen: Mask) -> Trajectories:
    return data if bool(chosen.all()) else data.keep(chosen)


def _is_listed(data: Trajectories, people: "Iterable[Any] | pl.Series") -> Mask:
    """Return whose identifiers are among those given."""
    import polars as pl

    if isinstance(people, str | bytes) or not isinstance(people, Iterable):
        raise ArgumentError(f"people must be a list of identifiers, not {people!r}")
    try:
        wanted = people if isinstance(people, pl.Series) else pl.Series(list(people))
        wanted = wanted.cast(pl.String).unique(maintain_order=True)
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise ArgumentError(f"people must be identifiers of one type: {error}") from error
    there = data.people.cast(pl.String)
    unknown = wanted.filter(~wanted.is_in(there.implode()).fill_null(value=False))
    if len(unknown):
        some = ", ".join(repr(name) for name in unknown.head(LISTED))
        more = f" and {len(unknown) - LISTED} more" if len(unknown) > LISTED else ""
        raise ArgumentError(
            f"{len(unknown)} of the {len(wanted)} people given are not in the data: "
            f"{some}{more}; give identifiers exactly as they stand in the input",
            values=[repr(name) for name in unknown.head(LISTED)],
        )
    return there.is_in(wanted.implode()).to_numpy()


def degrees_of(bbox: Any) -> tuple[float, float, float, float]:
    """Return west, south, east and north of an area, in degrees; refuse what is none."""
    try:
        west, south, east, north = (float(side) for side in bbox)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"bbox must be (west, south, east, north) in degrees, not {bbox!r}"
        ) from error
    turns = abs(west) <= HALF_TURN and abs(east) <= HALF_TURN
    if not (turns and -QUARTER_TURN <= south <= north <= QUARTER_TURN):
        raise ArgumentError(
            "bbox must be (west, south, east, north) in degrees, with west and east from -180 to "
            f"180 and -90 <= south <= north <= 90, not {bbox!r}"
        )
    return west, south, east, north


def _is_inside(data: Trajectories, area: tuple[float, float, float, float]) -> Mask:
    """Return which samples have their centre in an area."""
    west, south, east, north = area
    frame = data.frame
    x = frame.metres(data.x0.astype(np.int64) + data.x1) / 2
    y = frame.metres(data.y0.astype(np.int64) + data.y1) / 2
    lon, lat = frame.degrees(x, y)
    across = (lon >= west) & (lon <= east) if west <= east else (lon >= west) | (lon <= east)
    inside: Mask = across & (lat >= south) & (lat <= north)
    return inside


def _window_of(time: Any) -> Window:
    """Return the whole seconds (since 1970, UTC) that lie in a window, as start and end."""
    if not isinstance(time, tuple | list) or len(time) != 2:  # noqa: PLR2004  start and end
        raise ArgumentError(f"time must be (start, end), not {time!r}")
    start, end = (None if edge is None else seconds_of(edge) for edge in time)
    if start is not None and end is not None and start >= end:
        raise ArgumentError(f"time must be (start, end) with the end after the start, not {time!r}")
    return start, end


def _is_during(data: Trajectories, window: Window) -> Mask:
    """Return which samples start in a window."""
    frame, (start, end) = data.frame, window
    during = np.ones(data.samples, np.bool_)
    # A slot starts at or after a second if its index is at least this, in exact integers.
    if start is not None:
        during &= data.t0 >= -((frame.origin - start) // frame.slot)
    if end is not None:
        during &= data.t0 < -((frame.origin - end) // frame.slot)
    return during


def _minima(
    per_day: float | None, active: float | None, *, every_day: bool
) -> list[tuple[bool, Fraction]]:
    """Return what must be reached: whether days (else samples) count, and how many per day."""
    minima = []
    if per_day is not None:
        minima.append((False, _fraction("per_day", per_day)))
    if active is not None:
        minima.append((True, _fraction("active", active, most=1)))
    if every_day:
        minima.append((True, Fraction(1)))
    return minima


def _is_active(
    data: Trajectories, minima: list[tuple[bool, Fraction]], window: Window, zone: str
) -> Mask:
    """Return who was seen often enough."""
    seconds = data.t0.astype(np.int64) * data.frame.slot + data.frame.origin
    day = days_in(seconds, zone)
    start, end = window
    first = int(day.min() if start is None else days_in(np.array([start]), zone)[0])
    last = int(day.max() if end is None else days_in(np.array([end - 1]), zone)[0])
    span = last - first + 1
    seen = np.unique(data.person().astype(np.int64) * span + (day - first)) // span
    counts = {True: np.bincount(seen, minlength=len(data)), False: data.lengths()}
    passes = np.ones(len(data), np.bool_)
    for days, least in minima:
        passes &= counts[days] >= math.ceil(least * span)
    return passes


def days_in(seconds: npt.NDArray[np.int64], zone: str) -> npt.NDArray[np.int64]:
    """Return the calendar day (since 1970) of times, as the clocks of a zone show it."""
    import polars as pl

    moments = pl.Series(seconds * 1000).cast(pl.Datetime("ms", "UTC"))
    days = moments.dt.convert_time_zone(zone).dt.date().to_physical()
    return days.to_numpy().astype(np.int64)


def _random_share(
    share: float | None, seed: int | np.random.Generator | None
) -> tuple[Fraction | None, np.random.Generator | None]:
    """Return the share as written, and the generator that draws it."""
    if share is None:
        return None, None
    fraction = _fraction("share", share, most=1)
    if seed is None:
        raise ArgumentError("share needs a seed, so that the same people can be drawn again")
    try:
        return fraction, np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"seed must be an integer of at least 0 or a numpy Generator, not {seed!r}"
        ) from error


def _fraction(name: str, value: float, most: int | None = None) -> Fraction:
    """Return the number that was written: 0.1 is a tenth, though no float is."""
    limit = "a number greater than 0" + ("" if most is None else f" and at most {most}")
    try:
        fraction = Fraction(str(value))
    except (ValueError, ZeroDivisionError) as error:
        raise ArgumentError(f"{name} must be {limit}, not {value!r}") from error
    if fraction <= 0 or (most is not None and fraction > most):
        raise ArgumentError(f"{name} must be {limit}, not {value!r}")
    return fraction
