"""What results print: a title, a few facts, perhaps a table; for a terminal and for a notebook.

A result gives a `Summary` in its method `_summary`; `Summarised` makes of it what `print`, the
prompt and notebooks show. A summary counts and measures; it never names a person. The table for
notebooks has the colours of the page around it, so that it is read on light and on dark ones.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incrowd._visible import visible

__all__ = [
    "Summarised",
    "Summary",
]


ROWS = 20
"""So many rows of a table are shown at most."""
CELL = "padding:2px 12px 2px 0;background:none;border:0;vertical-align:top"


@dataclass(frozen=True, slots=True)
class Summary:
    """What is to be said of a result.

    Attributes
    ----------
    title
        What it is, and of how much.
    facts
        What was found, by what it is.
    head, rows
        A table, if there is more; its rows beyond the twentieth are only counted.
    notes
        Sentences that come last.

    Examples
    --------
    >>> print(Summary("Uniqueness of 50 people", {"points": "4", "unique": "92.0%"}))
    Uniqueness of 50 people
      points  4
      unique  92.0%
    """

    title: str
    facts: Mapping[str, str] = field(default_factory=dict)
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()

    def __str__(self) -> str:
        wide = max(map(len, self.facts), default=0)
        lines = [self.title, *(f"  {name:<{wide}}  {said}" for name, said in self.facts.items())]
        if self.rows:
            table = [self.head, *self.rows[:ROWS]]
            sizes = [max(map(len, column)) for column in zip(*table, strict=True)]
            lines += [
                "  " + "  ".join(f"{cell:>{size}}" for cell, size in zip(row, sizes, strict=True))
                for row in table
            ]
        more = [self._more] if self._more else []
        return "\n".join(
            visible(line) for line in (*lines, *(f"  {note}" for note in (*more, *self.notes)))
        )

    @property
    def _more(self) -> str:
        """How many rows are not shown."""
        return f"... and {len(self.rows) - ROWS:,} rows more" if len(self.rows) > ROWS else ""

    def html(self) -> str:
        """Return the same as a small table for a notebook, everything escaped."""
        row = "<tr style='background:none'>{}</tr>".format
        facts = [
            row(
                f"<th scope='row' style='{CELL};text-align:left;font-weight:normal;opacity:.75'>"
                f"{html.escape(name)}</th>"
                f"<td style='{CELL};text-align:left'>{html.escape(said)}</td>"
            )
            for name, said in self.facts.items()
        ]
        table = []
        if self.rows:
            right = f"{CELL};text-align:right"
            head = (f"<th scope='col' style='{right}'>{html.escape(one)}</th>" for one in self.head)
            table = [row("".join(head))] + [
                row("".join(f"<td style='{right}'>{html.escape(one)}</td>" for one in each))
                for each in self.rows[:ROWS]
            ]
        parts = [f"<strong>{html.escape(self.title)}</strong>"]
        parts += [
            f"<table style='color:inherit;border-collapse:collapse'>{''.join(rows)}</table>"
            for rows in (facts, table)
            if rows
        ]
        parts += [f"<div>{html.escape(note)}</div>" for note in (self._more, *self.notes) if note]
        return visible(f"<div style='color:inherit'>{''.join(parts)}</div>")


class Summarised:
    """What prints as its summary."""

    __slots__ = ()

    def _summary(self) -> Summary:
        """Return what is to be said of it, without any identifier."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self._summary())

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return self._summary().html()
