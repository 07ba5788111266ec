"""What happened while data was read: what was found, used, merged with others and rejected.

A :class:`Reading` travels with the data that was read, so that every row is accounted for. It
stays in memory: it holds values of the input and is never written to a release.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from incrowd._format import several
from incrowd._summary import Summarised, Summary

if TYPE_CHECKING:
    from incrowd.data._io.persons import Persons

__all__ = [
    "EXAMPLES",
    "TOP_CELLS",
    "Example",
    "Reading",
    "Rejects",
    "unknown_cells_lines",
]


EXAMPLES = 3
"""The number of rejected rows that are shown for each reason."""


TOP_CELLS = 20
"""The number of unknown cells that are listed."""


def unknown_cells_lines(cells: Mapping[str, int]) -> list[str]:
    """Return the cells that a table of cells lacks, as lines of text; most rows first."""
    if not cells:
        return []
    rows = sum(cells.values())
    many = f"{several(len(cells), 'cell')} {'is' if len(cells) == 1 else 'are'}"
    lines = [f"{many} not in the table of cells ({several(rows, 'row')}):"]
    lines += [f"  {name}: {count:,}" for name, count in itertools.islice(cells.items(), TOP_CELLS)]
    more = len(cells) - TOP_CELLS
    return lines + ([f"  and {more:,} more"] if more > 0 else [])


@dataclass(frozen=True, slots=True)
class Example:
    """One row that could not be used."""

    file: str
    line: int
    value: str = field(repr=False)
    exact: bool = False
    """Whether `line` is a line of the file, and not still the number of a row."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f": {self.value}" if self.value else "")


@dataclass(slots=True)
class Rejects:
    """Rows that could not be used, by reason, with the first few of each."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[Example]] = field(default_factory=dict)

    def add(self, reason: str, count: int) -> None:
        """Count rows that were rejected for a reason."""
        self.counts[reason] = self.counts.get(reason, 0) + count

    def wants(self, reason: str) -> int:
        """Return how many more examples of a reason are needed."""
        return EXAMPLES - len(self.examples.get(reason, ()))

    def show(self, reason: str, example: Example) -> None:
        """Keep an example."""
        self.examples.setdefault(reason, []).append(example)

    @property
    def total(self) -> int:
        """The number of rows that could not be used."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True, repr=False)
class Reading(Summarised):
    """What happened while data was read.

    Attributes
    ----------
    files
        The files read, in order, by name; empty for frames in memory.
    columns
        The column by role.
    rows
        The number of rows.
    rejects
        The rows that could not be used.
    outside
        The number of rows left out because they lie outside the bbox.
    collapsed
        The number of rows that repeat a sample of the same person.
    folded
        The number of these that name another place than the sample that was kept.
    ambiguous
        The number of local times in an hour that the clock showed twice (taken as the first).
    missing
        The number of local times in an hour that the clock skipped (taken as an hour later).
    zoneless
        The number of times without a time zone, which were taken to be in `zone`.
    zone
        The time zone of times without one.
    spilled
        Whether the rows did not fit into the memory limit and were sorted on disk.
    source, arguments
        The path that :func:`incrowd.read` was given, and its other arguments; None for frames.
    people, samples
        How many there were then.
    unknown_cells
        Cells that rows name and the table of cells does not, with the number of rows, most first.
    local
        The time zone in which people live, as far as it is known: the `tz` that was given, or that
        of the land of synthetic people. None if nobody said it.
    persons
        Who is behind the identifiers, where a table or a column said it.
    """

    files: tuple[str, ...]
    columns: dict[str, str]
    rows: int
    rejects: Rejects
    outside: int = 0
    collapsed: int = 0
    folded: int = 0
    ambiguous: int = 0
    missing: int = 0
    zoneless: int = 0
    zone: str = "UTC"
    spilled: bool = False
    source: str | None = None
    arguments: Mapping[str, Any] | None = None
    people: int = 0
    samples: int = 0
    unknown_cells: dict[str, int] = field(default_factory=dict)
    local: str | None = None
    persons: "Persons | None" = field(default=None, repr=False)

    def _summary(self) -> Summary:
        facts = {"files": f"{len(self.files):,}"} if self.files else {}
        facts |= {
            "rows that could not be used": f"{self.rejects.total:,}",
            "rows outside of the area": f"{self.outside:,}",
            "rows that repeat a sample": f"{self.collapsed:,}",
            "times without a zone": f"{self.zoneless:,} (taken as {self.zone})",
        }
        if self.persons is not None:
            facts["identifiers"] = f"{self.persons.identifiers:,}"
        if self.unknown_cells:
            facts["cells that the table lacks"] = f"{len(self.unknown_cells):,}"
        facts |= {f"  {reason}": f"{count:,}" for reason, count in self.rejects.counts.items()}
        return Summary(f"Reading of {several(self.rows, 'row')}", facts)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as values for JSON, with examples of rows that could not be used."""
        return {
            "files": list(self.files),
            "columns": self.columns,
            "rows": self.rows,
            "rejected": {
                reason: {"rows": count, "examples": [str(e) for e in self.rejects.examples[reason]]}
                for reason, count in self.rejects.counts.items()
            },
            "outside": self.outside,
            "collapsed": self.collapsed,
            "folded_places": self.folded,
            "clock_change": {"ambiguous": self.ambiguous, "missing": self.missing},
            "zoneless": self.zoneless,
            "zone": self.zone,
            "spilled": self.spilled,
            "unknown_cells": {
                "cells": len(self.unknown_cells),
                "rows": sum(self.unknown_cells.values()),
                "most": dict(itertools.islice(self.unknown_cells.items(), TOP_CELLS)),
            },
        } | ({} if self.persons is None else {"identifiers": self.persons.identifiers})
