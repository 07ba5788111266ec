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
_NEAR = 200_000
"""Up to this row, lines are looked up in the file itself; that is quick."""


def take_broken(connection: Any, source: Source, intake: Intake) -> list[int]:
    """Count lines that the scanner could not take apart; give where they are.

    A quote that is never closed swallows the rest of the file, so it is an error, not a row.
    """
    if source.text is None:
        return []
    query = "SELECT line, error_type::VARCHAR, error_message, csv_line FROM broken ORDER BY line"
    lines: list[int] = []
    for line, kind, message, text in connection.execute(query).fetchall():
        if kind not in _COUNTED:
            raise UnreadableError(f"{source.name}, line {line}: {message} The file ends in a mess")
        if lines and lines[-1] == line:
            continue  # one line, two complaints
        lines.append(line)
        reason = _COUNTED[kind]
        intake.rejects.add(reason, 1)
        if intake.rejects.wants(reason):
            shown = (text or "").strip()[:80]
            intake.rejects.show(reason, Example(source.name, line, shown, exact=True))
    intake.rows += len(lines)
    connection.execute("DELETE FROM broken")
    connection.execute("DELETE FROM broken_scan")
    return lines


def with_lines(rejects: Rejects, source: Source, broken: list[int]) -> None:
    """Replace row numbers in examples by lines of the file."""
    text = source.text
    for examples in rejects.examples.values():
        mine = [e for e in examples if e.file == source.name and not e.exact]
        if not mine:
            continue
        near = [example.line for example in mine if example.line < _NEAR]
        found = exact_lines(text, near) if text is not None and near else {}
        for index, example in enumerate(examples):
            if example in mine:
                row = example.line
                guess = row + 1 if text is None else _shifted(row + 1 + text.header, broken)
                line = found.get(row, guess)
                examples[index] = Example(example.file, line, example.value, exact=True)


def _shifted(line: int, broken: list[int]) -> int:
    """Make room for the lines that the scanner left out."""
    for other in broken:
        if other <= line:
            line += 1
    return line


def refuse_if_too_many(intake: Intake, *, allowed: float, strict: bool) -> None:
    """Raise if more than a share of the rows cannot be used."""
    rejects, rows = intake.rejects, intake.rows
    if not rejects.total or rejects.total <= allowed * rows:
        return
    if strict:
        reason, first = min(
            ((reason, shown[0]) for reason, shown in rejects.examples.items()),
            key=lambda pair: pair[1].line,
        )
        raise RowError(f"{first.file}, line {first.line}: {reason}{_colon(first.value)}")
    share = 100 * rejects.total / rows
    allowance = f"more than the {100 * allowed:g} % allowed"
    text = [f"{rejects.total:,} of {rows:,} rows ({share:.1f} %) cannot be used, {allowance}:"]
    for reason, count in sorted(rejects.counts.items(), key=lambda item: -item[1]):
        first = rejects.examples[reason][0]
        text.append(f"  {count:,} x {reason}; first {first.file}:{first.line}{_colon(first.value)}")
    if intake.swapped * 2 > rejects.total:
        text.append("lat and lon look swapped: name them the other way round")
    raise RowError("\n".join(text))


def _colon(value: str) -> str:
    return f": {value}" if value else ""
