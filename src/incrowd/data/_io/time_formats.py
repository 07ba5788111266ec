"""Guessing the format of times that the reader does not understand by itself.

`guess_time_formats` returns every format of strptime that fits all of some values, so that
03/04/2024 is not taken for the 3rd of April where it may be the 4th of March. Whether a format fits
is asked of DuckDB, which reads the data in the end.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Guess", "guess_time_formats", "time_format_hint"]

_SHOWN = 3
_SHAPE = re.compile(
    r"(?:(?P<weekday>[^\W\d]{3,9})(?P<after_weekday>,? ))?"
    r"(?P<a>\d{1,4}|[^\W\d]{3,9})(?P<s1>[-/. ])(?P<b>\d{1,2}|[^\W\d]{3,9})(?P<s2>,? |[-/.])"
    r"(?P<c>\d{1,4})"
    r"(?:(?P<joint>T|_|,? |:| - )(?P<clock>\d.*))?"
)
_CLOCK = re.compile(
    r"\d{1,2}(?P<s1>[:.h])\d{2}(?:(?P<s2>[:.m])\d{2}(?P<fraction>[.,]\d{1,6})?)?"
    r"(?P<half> ?[AaPp][Mm])?(?P<zone> ?(?:[+-]\d{2}:?\d{2}|Z|UTC|GMT))?"
)
_DIGITS = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_ORDERS = ("dmy", "mdy", "ymd")


@dataclass(frozen=True, slots=True)
class Guess:
    """A format that fits all values.

    Attributes
    ----------
    format
        As for strptime, ready for ``time_format=`` and ``--time-format``.
    examples
        Up to three of the values, each with the time that it is in this format (ISO 8601).
    first, last
        The first and the last time of all values (ISO 8601).
    """

    format: str
    examples: tuple[tuple[str, str], ...]
    first: str
    last: str

    @property
    def day_first(self) -> bool | None:
        """Whether the day stands before the month; None where the year stands first."""
        if self.format.lower().startswith("%y"):
            return None
        month = re.search("%[mbB]", self.format)
        return self.format.find("%d") < (month.start() if month else -1)


def guess_time_formats(values: Sequence[str], *, bad: float = 0.0) -> list[Guess]:
    """Return the formats that fit all values, the likeliest first.

    Parameters
    ----------
    values
        Times as they stand in the data; some dozens, from all parts of it, decide more than one.
        Empty ones are left out.
    bad
        The share of values that need not fit, for data with a few bad rows.

    Returns
    -------
    list of Guess
        Empty if no format fits, and if none is needed: times in ISO 8601 and numbers since 1970 are
        read without one. Several if the values leave open what is the day and what the month; the
        one that puts all values closer together then comes first, for a month of data has
        thirty days and not twelve months.

    Examples
    --------
    >>> from incrowd.data._io.time_formats import guess_time_formats
    >>> [guess.format for guess in guess_time_formats(["18/03/2024 00:00:15"])]
    ['%d/%m/%Y %H:%M:%S']
    >>> for guess in guess_time_formats(["03/04/2024 07:30", "04/04/2024 09:00"]):
    ...     print(guess.format, guess.examples[0])
    %d/%m/%Y %H:%M ('03/04/2024 07:30', '2024-04-03T07:30:00')
    %m/%d/%Y %H:%M ('03/04/2024 07:30', '2024-03-04T07:30:00')
    >>> guess_time_formats(["2024-03-18T00:00:15Z"])
    []
    """
    given = list(dict.fromkeys(text for value in values if (text := value.strip())))
    if not given:
        return []
    candidates = list(dict.fromkeys(each for text in given[:_SHOWN] for each in _candidates(text)))
    if not candidates:
        return []
    import duckdb

    found: list[tuple[int, Any, Guess]] = []
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        if _read_without(connection, given, bad):
            return []
        fewest = (1 - bad) * len(given)
        for candidate in candidates:
            times = _parsed(connection, given, candidate)
            if times and len(times) >= fewest:
                shown = [(text, times[text].isoformat()) for text in list(times)[:_SHOWN]]
                first, last = min(times.values()), max(times.values())
                guess = Guess(candidate, tuple(shown), first.isoformat(), last.isoformat())
                found.append((-len(times), last - first, guess))
    # Of formats that fit most, those that fit more are right: a thirteenth month is no bad row.
    best = min((fewer for fewer, *_ in found), default=0)
    guesses = [guess for fewer, _, guess in sorted(found, key=lambda of: of[:2]) if fewer == best]
    # Hardly anybody writes a year of two digits first; it is told where nothing else fits.
    return [guess for guess in guesses if not guess.format.startswith("%y")] or guesses


def time_format_hint(values: Sequence[str]) -> str | None:
    """Return what to give for such times, as one sentence; None where nothing fits.

    Examples
    --------
    >>> from incrowd.data._io.time_formats import time_format_hint
    >>> time_format_hint(["18/03/2024 00:00:15"])
    "18/03/2024 00:00:15 looks like %d/%m/%Y %H:%M:%S: give --time-format '%d/%m/%Y %H:%M:%S'"
    """
    # Rows that are no times at all do not keep the others from being understood.
    guesses = guess_time_formats([value for value in values if any(_candidates(value.strip()))])
    if not guesses:
        return None
    value, formats = guesses[0].examples[0][0], [guess.format for guess in guesses]
    if len(formats) == 1:
        return f"{value} looks like {formats[0]}: give --time-format '{formats[0]}'"
    both = " or ".join(f"'{one}'" for one in formats)
    return f"{value} may be {' or '.join(formats)}: give --time-format {both}, whichever is right"


def _candidates(text: str) -> Iterator[str]:
    """Yield the formats that a value has the shape of."""
    if text.isdecimal():
        if len(text) in _DIGITS and text.startswith(("19", "20")):
            yield _DIGITS[len(text)]
        return
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        return
    head = "" if shape["weekday"] is None else _word(shape["weekday"], "%a", "%A")
    head += shape["after_weekday"] or ""
    for order, (clock, tail) in itertools.product(_ORDERS, _clocks(shape["clock"])):
        parts = [_part(kind, shape[name]) for kind, name in zip(order, "abc", strict=True)]
        if None not in parts:
            a, b, c = parts
            joint = shape["joint"] or ""
            yield f"{head}{a}{shape['s1']}{b}{shape['s2']}{c}{joint}{clock}{tail}"


def _part(kind: str, text: str) -> str | None:
    """Return how a part of a date is written as day, month or year; None if it cannot be."""
    if not text.isdecimal():
        return _word(text, "%b", "%B") if kind == "m" else None
    if kind == "y":
        return {2: "%y", 4: "%Y"}.get(len(text))
    return f"%{kind}" if len(text) <= 2 else None  # noqa: PLR2004  two digits


def _word(text: str, short: str, full: str) -> str:
    return short if len(text) == 3 else full  # noqa: PLR2004  Mon, Mar


def _clocks(text: str | None) -> Iterator[tuple[str, str]]:
    """Yield the formats of a time of day, and of what follows it."""
    if text is None:
        yield "", ""
        return
    shape = _CLOCK.fullmatch(text)
    if shape is None:
        return
    half, zone = shape["half"] or "", shape["zone"] or ""
    clock = ("%I" if half else "%H") + shape["s1"] + "%M"
    clock += shape["s2"] + "%S" if shape["s2"] else ""
    clock += shape["fraction"][0] + "%f" if shape["fraction"] else ""
    tail = half.replace(half.strip(), "%p") if half else ""
    if zone:
        mark = "%z" if zone.strip()[0] in "+-" else "%Z" if zone.strip() != "Z" else "Z"
        tail += zone.replace(zone.strip(), mark)
    yield clock, tail


def _parsed(connection: Any, values: Sequence[str], pattern: str) -> dict[str, Any]:
    """Return the time of each value that is of this format."""
    query = f"SELECT try_strptime(v, '{pattern}')::TIMESTAMP FROM (SELECT unnest($1) AS v)"
    rows = connection.execute(query, [list(values)]).fetchall()
    times = zip(values, (row[0] for row in rows), strict=True)
    return {value: time for value, time in times if time is not None}


def _read_without(connection: Any, values: Sequence[str], bad: float) -> bool:
    """Return whether these are dates with the year first, which are read without a format."""
    query = "SELECT count(TRY_CAST(v AS TIMESTAMPTZ)) FROM (SELECT unnest($1) AS v)"
    found: int = connection.execute(query, [list(values)]).fetchone()[0]
    # DuckDB takes 24/03/18 for a day of the year 24, and digits alone are refused or numbers.
    whole_year = sum(bool(re.match(r"\d{4}\D", value)) for value in values)
    return min(found, whole_year) >= (1 - bad) * len(values)
