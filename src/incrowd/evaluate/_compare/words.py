"""A comparison in lines for a terminal: blocks of columns, the best value of each row marked."""

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence

from incrowd._format import WIDTH, duration, length, people, percent, several, significant
from incrowd.evaluate._compare.measure import GROUPS
from incrowd.evaluate._compare.result import (
    DONE,
    ComparedColumn,
    ComparedRow,
    ComparedValue,
    Comparison,
)

__all__ = ["in_unit", "lines_of", "value_in_words"]


TINY = 0.0005
MINUTE, MEGABYTE, GIGABYTE = 60, 10**6, 10**9
BEST = "*"
LABEL, CELL = 32, 11
"""How many letters the names of rows have, and the cells beside them."""
ORIGINAL = "original"
MARKED = (
    f"{BEST} No other column is better. Rows without a mark: neither more nor less is better "
    "by itself."
)
OWNER = (
    "This is for whoever has the data: numbers are exact, also those of few people. What is "
    "measured says nothing of other data, and no row says alone whether something may be shared."
)


def value_in_words(value: ComparedValue, unit: str) -> str:
    """Return a number with its unit, marked if no column has a better one; a dash for none."""
    number = value.value
    if number is None:
        return "-"
    return in_unit(number, unit) + (BEST if value.best else "")


def in_unit(value: float, unit: str) -> str:
    """Return a value as it is written; a share that is not quite none is never 0%.

    Examples
    --------
    >>> from incrowd.evaluate._compare.words import in_unit
    >>> in_unit(0.123, "share"), in_unit(0.0001, "share"), in_unit(1, "share")
    ('12.3%', '< 0.1%', '100.0%')
    >>> in_unit(2345, "m"), in_unit(150, "min"), in_unit(1200, "people")
    ('2.35 km', '2.5 h', '1,200')
    >>> in_unit(3.21, "s"), in_unit(600, "s"), in_unit(1.5e9, "bytes")
    ('3.2 s', '10 min', '1.5 GB')
    """
    return _UNITS.get(unit, _plain_number)(value)


def _share(value: float) -> str:
    if 0 < value < TINY:
        return "< 0.1%"
    return "> 99.9%" if 1 - TINY < value < 1 else percent(value)


def _seconds(value: float) -> str:
    is_short = value < 2 * MINUTE
    return f"{significant(value, 2)} s" if is_short else duration(value / MINUTE)


def _bytes(value: float) -> str:
    is_small = value < GIGABYTE
    return f"{value / MEGABYTE:,.0f} MB" if is_small else f"{value / GIGABYTE:,.1f} GB"


def _plain_number(value: float) -> str:
    return f"{value:,.0f}" if math.floor(value) == value else significant(value)


_UNITS: dict[str, Callable[[float], str]] = {
    "share": _share,
    "m": length,
    "min": duration,
    "s": _seconds,
    "bytes": _bytes,
    "correlation": lambda value: f"{value:.2f}",
}
"""How values are written, by their unit; others are plain numbers."""


def lines_of(found: Comparison) -> list[str]:
    """Say it in lines: the columns, a table for each question, and what is not there."""
    about, done = found.data, [one for one in found.columns if one.state == DONE]
    lines = [f"{people(about['people'])}, {several(about['samples'], 'sample')}", ""]
    for number, column in enumerate(found.columns, 1):
        lines += _wrapped(f"{number:>3}  ", f"{column.label}: {_state(column)}")
    for group, question in GROUPS.items():
        rows = [row for row in found.rows if row.group == group]
        lines += _table(question, rows, found, done)
    if done:
        lines += ["", *_wrapped("", MARKED), *_missing(found, done)]
    return [*lines, "", *_wrapped("", OWNER)]


def _state(column: ComparedColumn) -> str:
    """Say how a column went."""
    if column.state != DONE:
        return f"{column.state}. {column.why}"
    if column.guarantee == "none":
        return "guarantees nobody a crowd; verified to be what it says"
    if column.guarantee != "k-anonymity":
        return f"{column.guarantee}, verified on the written files: this is not k-anonymity"
    return "k-anonymity, verified on the written files"


def _table(
    question: str, rows: Sequence[ComparedRow], found: Comparison, done: Sequence[ComparedColumn]
) -> Iterator[str]:
    """Lay out the rows of a group, in as many blocks of columns as need be, as wide as can be."""
    if not done or not rows:
        return
    before = any(row.key in found.original for row in rows)
    fit = (WIDTH - LABEL) // CELL - before
    blocks = -(-len(done) // fit)
    size = -(-len(done) // blocks)
    for first in range(0, len(done), size):
        shown = done[first : first + size]
        numbers = [str(1 + found.columns.index(one)) for one in shown]
        names = [one.key.partition(":")[0] for one in shown]
        yield ""
        yield _line(question, ["", *numbers] if before else numbers)
        yield _line("", [ORIGINAL, *names] if before else names)
        section = None
        for row in rows:
            if row.section != section:
                section = row.section
                yield section
            cells = [value_in_words(found.values[one.key][row.key], row.unit) for one in shown]
            if before:
                known = found.original.get(row.key)
                cells.insert(0, "" if known is None else value_in_words(known, row.unit))
            yield _line(f"  {row.label}", cells)


def _line(label: str, cells: Sequence[str]) -> str:
    """Lay out a row; marks stand beyond the numbers, which are so below one another."""
    short = (cell if len(cell) < CELL else f"{cell[: CELL - 2]}." for cell in cells)
    parts = (f"{cell:>{CELL}}" if cell.endswith(BEST) else f"{cell:>{CELL - 1}} " for cell in short)
    return f"{label:<{LABEL}}{''.join(parts)}".rstrip()


def _missing(found: Comparison, done: Sequence[ComparedColumn]) -> Iterator[str]:
    """Say why there is no number, where there is none."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in found.rows:
        for column in done:
            value = found.values[column.key][row.key]
            if value.value is None:
                number = str(1 + found.columns.index(column))
                reasons.setdefault((row.label, value.why or "not known"), []).append(number)
    for (label, why), columns in reasons.items():
        yield from _wrapped("- ", f"{label} ({', '.join(columns)}): {why}")


def _wrapped(start: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))
