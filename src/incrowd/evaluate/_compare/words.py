"""A comparison in lines for a terminal: blocks of columns, the best value of each row marked."""

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

__all__ = ["lines_of", "value_in_words"]


GIGABYTE, MEGABYTE = 10**9, 10**6
BEST = "*"
LABEL, CELL = 32, 11
"""How many letters the names of rows have, and the cells beside them."""
ORIGINAL = "original"
NONE, ALL = "0.0%", "100.0%"
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
    said = _UNITS.get(unit, significant)
    return said(number) + (BEST if value.best else "")


def _share(number: float) -> str:
    """Say a share; never that there is none, or all, where there is something."""
    said = percent(number)
    if said == NONE and number > 0:
        return "<0.1%"
    return ">99.9%" if said == ALL and number < 1 else said


def _size(number: float) -> str:
    if number >= GIGABYTE:
        return f"{number / GIGABYTE:.1f} GB"
    return f"{number / MEGABYTE:.0f} MB"


_UNITS: dict[str, Callable[[float], str]] = {
    "share": _share,
    "m": length,
    "min": duration,
    "s": lambda number: f"{significant(number, 2)} s",
    "bytes": _size,
    "people": lambda number: f"{number:,.0f}",
}


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
