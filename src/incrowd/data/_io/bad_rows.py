"""Rows that cannot be used: counted, with the lines on which they are, and refused if too many.

::

    RowChecker ──> rows by reason ────────┐
    count_malformed ──> records that the  ├──> find_lines ──> refuse_if_too_many
                        scanner gave up on┘

While a file is scanned, a bad row has a number: that of its row, or of its record where the scanner
could not parse it. `find_lines` replaces it by the line of the file, of the few that are shown. Of
all of them, if a file is wanted for them: `incrowd.data._io.rejects_file`.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from incrowd.data._io.batches import RowChecker
from incrowd.data._io.lines import count_lines, exact_lines, line_after
from incrowd.data._io.reading_report import Example, Rejects, unknown_cells_lines
from incrowd.data._io.sources import Source, compression_of
from incrowd.data._io.sql import REASONS, quoted
from incrowd.data._io.time_formats import time_format_hint
from incrowd.errors import RowError, UnreadableError

__all__ = [
    "count_malformed",
    "find_lines",
    "forget_malformed",
    "is_cut_short",
    "refuse_if_too_many",
    "take_lines",
]


_EXACT_UP_TO = 200_000
"""Up to this row, lines are looked up in the file itself; that is quick."""
_SHORT = 3
"""Values of so few letters are masked with their column only; they occur in any text."""
_SCANNED_AT_ONCE = 8_000_000
"""Bytes of a file that DuckDB scans as one piece."""
_MANY = 10_000
"""Records that are fetched at a time."""
_MALFORMED = {
    "MISSING COLUMNS": "too few fields",
    "TOO MANY COLUMNS": "too many fields",
    "INVALID ENCODING": "not UTF-8",
}
_FATAL = {
    "UNQUOTED VALUE": "a quote opens or closes in the wrong place, so that the rest of the file "
    "cannot be read",
    "LINE SIZE OVER MAXIMUM": "this line is longer than 2,000,000 bytes",
}


def count_malformed(connection: Any, source: Source, checker: RowChecker) -> Sequence[int]:
    """Count the records that the scanner could not parse; return their numbers, from 1, in order.

    A quote that is never closed swallows the rest of the file, so it is an error, not a row.
    """
    known = connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'malformed'")
    if source.text is None or not known.fetchall():
        return ()
    # Of two errors of a record, the same is taken each time: its encoding goes first.
    query = "SELECT line, error_type::VARCHAR, error_message, csv_line FROM malformed ORDER BY 1, 2"
    records = array("q")
    found = connection.execute(query)
    pieces = iter(lambda: found.fetchmany(_MANY), [])
    for record, kind, message, text in chain.from_iterable(pieces):
        if kind not in _MALFORMED:
            line = exact_lines(source.text, (), {record}, ())[1].get(record, record)
            raise UnreadableError(
                f"{source.name}, line {line}: {_FATAL.get(kind, message)}",
                file=source.name,
                line=line,
            )
        if records and records[-1] == record:
            continue  # one record, two errors
        records.append(record)
        reason = _MALFORMED[kind]
        checker.rejects.add(reason, 1)
        shown = (text or "").strip()[:80]
        if checker.rejects.wants(reason):
            checker.rejects.show(reason, Example(source.name, record, shown))
        if checker.aside is not None:
            checker.aside.put_malformed(record, reason, shown)
    checker.rows += len(records)
    forget_malformed(connection)
    return records


def forget_malformed(connection: Any) -> None:
    """Forget the records that the scanner could not parse."""
    connection.execute("DELETE FROM malformed")
    connection.execute("DELETE FROM malformed_scan")


def is_cut_short(
    connection: Any, source: Source, columns: Iterable[str], rows: int, done: int
) -> bool:
    """Return whether the scanner has lost the end of a text file.

    DuckDB 2.0 scans a file in pieces of 8 MB. If the first record of a piece is one that it cannot
    parse, and is asked to note, it ends there, without an error or a note. It does not where it
    only leaves such records out, so that counting tells; for most files, their lines are enough.

    Parameters
    ----------
    connection
        A DuckDB connection.
    source
        The file, scanned to its end.
    columns
        The columns that were used.
    rows
        The number of rows that the scan gave.
    done
        The number of rows that were read before, by the fast path.
    """
    path, text = source.path, source.text
    if path is None or text is None:
        return False
    if compression_of(path) == "none" and path.stat().st_size <= _SCANNED_AT_ONCE:
        return False
    found = connection.execute(
        "SELECT error_type::VARCHAR, count(DISTINCT line) FROM malformed GROUP BY 1"
    ).fetchall()
    if not {kind for kind, _ in found} <= set(_MALFORMED):
        return False  # the file cannot be read anyway
    if count_lines(path) <= text.skip + done + rows + sum(number for _, number in found):
        return False
    # Of columns that are not asked for, nothing is checked.
    used = ", ".join(f"count({quoted(name)})" for name in columns)
    every = connection.execute(f"SELECT count(*), {used} FROM {source.peek}").fetchall()
    return bool(every[0][0] > rows)


def find_lines(rejects: Rejects, source: Source, malformed: Sequence[int]) -> None:
    """Replace the numbers of rows and records in the examples by lines of the file."""
    text = source.text
    rows, records = set[int](), set[int]()
    for reason, examples in rejects.examples.items():
        numbers = {e.line for e in examples if not e.exact and e.line < _EXACT_UP_TO}
        (records if reason in _MALFORMED.values() else rows).update(numbers)
    row_lines, record_lines = dict[int, int](), dict[int, int]()
    if text is not None and (rows or records):
        row_lines, record_lines = exact_lines(text, rows, records, malformed)
    for reason, examples in rejects.examples.items():
        for index, example in enumerate(examples):
            if example.exact:
                continue  # of a file before this one
            number = example.line
            if reason in _MALFORMED.values():
                line = record_lines.get(number, number)
            else:
                guess = (
                    number + 1 if text is None else line_after(number + 1 + text.skip, malformed)
                )
                line = row_lines.get(number, guess)
            examples[index] = Example(example.file, line, example.value, exact=True)


def take_lines(rejects: Rejects, lines: Mapping[str, Sequence[int]]) -> None:
    """Replace the numbers in the examples by lines, of which the first few are known by reason."""
    for reason, examples in rejects.examples.items():
        mine = iter(lines.get(reason, ()))
        for index, example in enumerate(examples):
            if not example.exact:
                examples[index] = replace(example, line=next(mine), exact=True)


def refuse_if_too_many(
    checker: RowChecker,
    *,
    allowed: float,
    strict: bool,
    times: Callable[[], Sequence[str]] = tuple,
) -> None:
    """Raise an error if more than the allowed share of the rows cannot be used."""
    rejects, rows = checker.rejects, checker.rows
    if not rejects.total or (rejects.total <= allowed * rows and checker.used):
        return
    if strict:
        reason, first = min(
            ((reason, shown[0]) for reason, shown in rejects.examples.items()),
            key=lambda pair: pair[1].line,
        )
        hint = _hint([(reason, [first])], times)
        text = [f"{first.file}, line {first.line}: {reason}{_colon(first.value)}", hint or ""]
        raise RowError(
            "\n".join(text).strip(), file=first.file, line=first.line, hint=hint,
            values=_values([first]),
        )  # fmt: skip
    share = 100 * rejects.total / rows
    verdict = (
        f"more than the {100 * allowed:g} % allowed (max_bad)"
        if checker.used
        else "and none is left"
    )
    text = [f"{rejects.total:,} of {rows:,} rows ({share:.1f} %) cannot be used, {verdict}:"]
    for reason, count in sorted(rejects.counts.items(), key=lambda item: -item[1]):
        first = rejects.examples[reason][0]
        text.append(f"  {count:,} x {reason}; first {first.file}:{first.line}{_colon(first.value)}")
    if checker.swapped * 2 > rows:
        text.append("lat and lon look swapped: give lat= and lon= the other way round")
    text += unknown_cells_lines(dict(checker.unknown_cells.most_common()))
    hint = _hint(list(rejects.examples.items()), times)
    text += [hint] if hint else []
    shown = [example for some in rejects.examples.values() for example in some]
    first = min((one for one in shown if one.file == shown[0].file), key=lambda one: one.line)
    raise RowError(
        "\n".join(text), file=first.file, line=first.line, hint=hint,
        values=_values(shown),
    )  # fmt: skip


def _values(examples: Iterable[Example]) -> list[str]:
    """Return the values of the input that a message quotes: whole, and without their column."""
    shown = [example.value for example in examples]
    bare = [value.partition("=")[2] for value in shown]
    return [*shown, *(value for value in bare if len(value) > _SHORT)]


def _hint(
    examples: Sequence[tuple[str, list[Example]]], times: Callable[[], Sequence[str]]
) -> str | None:
    """Say which format times have that were not understood, if that can be told."""
    for reason, shown in examples:
        if reason == REASONS[3]:
            values = [example.value.partition("=")[2] for example in shown]
            return time_format_hint([*values, *times()]) or time_format_hint(values)
    return None


def _colon(value: str) -> str:
    return f": {value}" if value else ""
