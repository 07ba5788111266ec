"""Rows that cannot be used: on which lines they stand, and when they are too many."""

from typing import Any

from incrowd.data.reading.rows import Intake
from incrowd.data.reading.sources import Source
from incrowd.data.reading.textfile import exact_lines
from incrowd.data.report import Example, Rejects
from incrowd.errors import RowError, UnreadableError

__all__ = ["refuse_if_too_many", "take_broken", "with_lines"]

_COUNTED = {
    "MISSING COLUMNS": "too few fields",
    "TOO MANY COLUMNS": "too many fields",
    "INVALID ENCODING": "not UTF-8",
}
_FATAL = {
    "UNQUOTED VALUE": "a quote opens or closes where it should not, and what follows is lost",
    "LINE SIZE OVER MAXIMUM": "this line is longer than 2,000,000 bytes",
}
_NEAR = 200_000
"""Up to this row, lines are looked up in the file itself; that is quick."""


def take_broken(connection: Any, source: Source, intake: Intake) -> list[int]:
    """Count records that the scanner could not take apart; give their numbers, from 1.

    A quote that is never closed swallows the rest of the file, so it is an error, not a row.
    """
    known = connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'broken'")
    if source.text is None or not known.fetchall():
        return []
    query = "SELECT line, error_type::VARCHAR, error_message, csv_line FROM broken ORDER BY line"
    records: list[int] = []
    for record, kind, message, text in connection.execute(query).fetchall():
        if kind not in _COUNTED:
            line = exact_lines(source.text, (), {record}, ())[1].get(record, record)
            raise UnreadableError(f"{source.name}, line {line}: {_FATAL.get(kind, message)}")
        if records and records[-1] == record:
            continue  # one record, two complaints
        records.append(record)
        reason = _COUNTED[kind]
        intake.rejects.add(reason, 1)
        if intake.rejects.wants(reason):
            shown = (text or "").strip()[:80]
            intake.rejects.show(reason, Example(source.name, record, shown))
    intake.rows += len(records)
    connection.execute("DELETE FROM broken")
    connection.execute("DELETE FROM broken_scan")
    return records


def with_lines(rejects: Rejects, source: Source, broken: list[int]) -> None:
    """Replace the numbers of rows and records in examples by lines of the file."""
    text = source.text
    rows, records = set[int](), set[int]()
    for reason, examples in rejects.examples.items():
        numbers = {e.line for e in examples if not e.exact and e.line < _NEAR}
        (records if reason in _COUNTED.values() else rows).update(numbers)
    row_lines, record_lines = dict[int, int](), dict[int, int]()
    if text is not None and (rows or records):
        row_lines, record_lines = exact_lines(text, rows, records, set(broken))
    for reason, examples in rejects.examples.items():
        for index, example in enumerate(examples):
            if example.exact:
                continue  # of a file before this one
            number = example.line
            if reason in _COUNTED.values():
                line = record_lines.get(number, number)
            else:
                guess = number + 1 if text is None else _shifted(number + 1 + text.skip, broken)
                line = row_lines.get(number, guess)
            examples[index] = Example(example.file, line, example.value, exact=True)


def _shifted(line: int, broken: list[int]) -> int:
    """Make room for the records that the scanner left out."""
    for other in broken:
        if other <= line:
            line += 1
    return line


def refuse_if_too_many(intake: Intake, *, allowed: float, strict: bool) -> None:
    """Raise if more than a share of the rows cannot be used."""
    rejects, rows = intake.rejects, intake.rows
    if not rejects.total or (rejects.total <= allowed * rows and intake.used):
        return
    if strict:
        reason, first = min(
            ((reason, shown[0]) for reason, shown in rejects.examples.items()),
            key=lambda pair: pair[1].line,
        )
        raise RowError(f"{first.file}, line {first.line}: {reason}{_colon(first.value)}")
    share = 100 * rejects.total / rows
    allowance = f"more than the {100 * allowed:g} % allowed" if intake.used else "and none is left"
    text = [f"{rejects.total:,} of {rows:,} rows ({share:.1f} %) cannot be used, {allowance}:"]
    for reason, count in sorted(rejects.counts.items(), key=lambda item: -item[1]):
        first = rejects.examples[reason][0]
        text.append(f"  {count:,} x {reason}; first {first.file}:{first.line}{_colon(first.value)}")
    if intake.swapped * 2 > rejects.total:
        text.append("lat and lon look swapped: name them the other way round")
    raise RowError("\n".join(text))


def _colon(value: str) -> str:
    return f": {value}" if value else ""
