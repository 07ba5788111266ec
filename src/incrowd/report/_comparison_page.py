"""The page of a comparison: mechanisms side by side, for the owner of the data, as one file.

::

    comparison (JSON) ──> Setting, Column ──┬──> summary, tables, notes ──> comparison.html
                                            └──> charts

Everything on the page comes from the JSON that ``incrowd compare`` writes, and that is on the page,
too. It tells what was verified and what was measured. It never says that a release may be shared:
that is for a report to judge.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd._format import people, several
from incrowd.evaluate._compare.words import in_unit
from incrowd.report._comparison_text import (
    BETTER,
    FOOT,
    KINDS,
    MISSING,
    SIGNS,
    TERMS,
    measured,
    texts,
)
from incrowd.report._figures.chart import Chart
from incrowd.report._figures.comparison import (
    COLOURS,
    SHAPES,
    Axis,
    Setting,
    curve_charts,
    trade_off_chart,
)
from incrowd.report._html import bundle, drawn, environment, json_text, policy, safe, style_of

__all__ = [
    "comparison_page",
]


LOSS, RISK = "loss", "attack"
"""The rows that the trade-off is drawn of, unless the comparison names others."""
SECTIONS = (
    ("summary", "Summary"),
    ("trade-off", "Loss against risk"),
    ("private", "Is it private?"),
    ("useful", "Is it useful?"),
    ("cost", "What does it cost?"),
    ("curves", "How far samples are off"),
    ("promises", "What each one promises"),
    ("meaning", "What the rows mean"),
    ("terms", "How it was measured"),
)
GROUPS = ("private", "useful", "cost")
UNDONE = ("refused", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column, as the page shows it.

    Attributes
    ----------
    key
        Its name in the JSON.
    setting
        How it is drawn.
    kind
        What it is, of `KINDS`.
    why
        Why it is not done.
    says
        What may be claimed of it, or what was found.
    promises, limits, warnings
        What the mechanism promises and what not, and what was warned of.
    limits_as
        The number of an earlier column whose limits are the same, if there is one.
    """

    key: str
    setting: Setting
    kind: str
    why: str
    says: str
    promises: tuple[str, ...]
    limits: tuple[str, ...]
    limits_as: int | None
    warnings: tuple[str, ...]

    @property
    def level(self) -> str:
        """The colour of what it is."""
        return KINDS[self.kind][0]

    @property
    def word(self) -> str:
        """What it is, in a word or two."""
        return KINDS[self.kind][1]

    @property
    def is_done(self) -> bool:
        """Whether there is a result."""
        return self.kind not in UNDONE


class Notes:
    """Reasons why there is no number, each once and with a number of its own."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a reason."""
        return self.numbers.setdefault(text, len(self.numbers) + 1)


def comparison_page(comparison: Mapping[str, Any]) -> str:
    """Return the page that shows a comparison.

    Parameters
    ----------
    comparison
        What ``incrowd compare`` writes as JSON, as plain values.

    Examples
    --------
    >>> from incrowd.report._comparison_page import comparison_page
    >>> text = comparison_page({
    ...     "data": {"people": 40, "samples": 900}, "settings": {"seed": 0},
    ...     "columns": [{"key": "a", "method": "cloak", "label": "temporal cloaking, 60 min",
    ...                  "state": "done", "why": None, "guarantee": "none", "verified": True,
    ...                  "says": "Nobody is hidden in a crowd."}],
    ...     "rows": [], "values": {}, "curves": {},
    ... })
    >>> "Hide nobody in a crowd" in text
    True
    """
    columns, notes = _columns(comparison), Notes()
    groups = [
        _group(name, name if name in GROUPS else f"group-{number}", comparison, columns, notes)
        for number, name in enumerate(_groups(comparison))
    ]
    figures = _charts(comparison, columns)
    style = style_of("report.css", "comparison.css", foot=FOOT)
    script = bundle("charts.js")
    shown = {"summary", "promises", "terms", *(each["name"] for each in groups if each["sections"])}
    shown |= {chart.section for chart in figures} | ({"meaning"} if comparison["rows"] else set())
    return environment().get_template("comparison.html").render(
        columns=columns,
        subtitle=_subtitle(comparison),
        intro=_intro(comparison, columns),
        summary=_summary(comparison, columns),
        axes=_axes(comparison),
        groups=groups,
        signs=SIGNS,
        terms=texts(comparison.get("terms")) or TERMS,
        measured=measured(comparison),
        made_with=str(comparison.get("made_with", "")),
        sections=[(name, title) for name, title in SECTIONS if name in shown],
        charts=[(chart, drawn(chart)) for chart in figures],
        style=safe(style),
        script=safe(script),
        policy=policy(script, style),
        comparison_json=safe(json_text({**comparison, "meant_for": "owner"})),
        specs={name: safe(json_text(spec)) for chart in figures
               for name, spec in chart.drawings.items()},
    )  # fmt: skip


def _number(cell: Mapping[str, Any]) -> float | None:
    """Return the value of a cell, if it is a number."""
    value = cell.get("value")
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return float(value)


def _kind(column: Mapping[str, Any]) -> str:
    """Return what a column is; only k-anonymity that was verified is told to be that."""
    if column["state"] != "done":
        return "refused" if column["state"] == "refused" else "failed"
    verified, guarantee = column.get("verified"), column.get("guarantee")
    if verified is False:
        return "broken"
    if guarantee == "k-anonymity":
        return "verified" if verified is True else "unverified"
    return "none" if guarantee == "none" else "own"


def _columns(comparison: Mapping[str, Any]) -> list[Column]:
    """Return the columns, with what they are and how they are drawn."""
    methods = list(dict.fromkeys(str(each["method"]) for each in comparison["columns"]))
    found, limited = [], dict[tuple[str, ...], int]()
    for number, each in enumerate(comparison["columns"], 1):
        kind, at = _kind(each), methods.index(str(each["method"]))
        setting = Setting(
            number=number,
            label=str(each.get("label") or each["key"]),
            method=str(each["method"]),
            shape=SHAPES[at % len(SHAPES)],
            colour=COLOURS[at % len(COLOURS)],
            filled=kind == "verified",
            status="verified" if kind == "verified" else KINDS[kind][1],
        )
        limits = texts(each.get("limits"))
        first = limited.setdefault(limits, number) if kind not in UNDONE else None
        found.append(
            Column(
                key=str(each["key"]),
                setting=setting,
                kind=kind,
                why=str(each.get("why") or "It is not known why."),
                says=str(each.get("says") or ""),
                promises=texts(each.get("promises")),
                limits=limits,
                limits_as=first if first != number else None,
                warnings=texts(each.get("warnings")),
            )
        )
    return found


def _groups(comparison: Mapping[str, Any]) -> list[str]:
    """Return the names of groups: the known ones, and whatever else there is."""
    return list(dict.fromkeys([*GROUPS, *(str(row["group"]) for row in comparison["rows"])]))


def _group(
    name: str,
    anchor: str,
    comparison: Mapping[str, Any],
    columns: Sequence[Column],
    notes: Notes,
) -> dict[str, Any]:
    """Return a table of the page: its rows by section, and the reasons for what is missing."""
    rows = [row for row in comparison["rows"] if row["group"] == name]
    original = comparison.get("original") or {}
    beside = any(row["key"] in original for row in rows)
    sections: dict[str, list[dict[str, Any]]] = {}
    used: dict[str, int] = {}

    def cell(found: Mapping[str, Any], unit: str, *, starred: bool = False) -> dict[str, Any]:
        number = _number(found)
        if number is not None:
            return {"text": in_unit(number, unit), "best": starred and found.get("best") is True}
        why = str(found.get("why") or MISSING)
        used[why] = notes.number(why)
        return {"text": None, "why": why, "note": used[why]}

    for row in rows:
        key, unit = row["key"], str(row.get("unit") or "")
        best = [bool(of.get(key, {}).get("best")) for of in comparison["values"].values()
                if _number(of.get(key, {})) is not None]  # fmt: skip
        starred, cells = not all(best), []
        if beside:
            cells.append(cell(original[key], unit) if key in original else None)
        for column in columns:
            stated = f"{column.setting.label}: {column.word}. {column.why}"
            found = comparison["values"].get(column.key, {}).get(key, {})
            if not column.is_done:
                found = {"why": stated}
            cells.append(cell(found, unit, starred=starred))
        told = {
            "label": str(row["label"]),
            "help": str(row.get("help") or ""),
            "better": BETTER.get(str(row.get("better"))),
            "cells": cells,
        }
        sections.setdefault(str(row.get("section") or ""), []).append(told)
    return {
        "name": name,
        "anchor": anchor,
        "title": dict(SECTIONS).get(name, name),
        "sections": list(sections.items()),
        "original": beside,
        "notes": [(number, why) for why, number in used.items()],
    }


def _axes(comparison: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rows of loss and of risk; none if there are not both."""
    chosen = comparison.get("trade_off") or {}
    rows = {row["key"]: row for row in comparison["rows"]}
    keys = chosen.get("loss", LOSS), chosen.get("risk", RISK)
    return [rows[key] for key in keys] if all(key in rows for key in keys) else []


def _charts(comparison: Mapping[str, Any], columns: Sequence[Column]) -> list[Chart]:
    """Return the charts for which there are numbers."""
    found: list[Chart] = []
    done = [column for column in columns if column.is_done]
    rows = _axes(comparison)
    if rows:
        axes = [Axis(label=str(row["label"]), unit=str(row.get("unit") or "")) for row in rows]
        points, told = {}, {}
        for column in done:
            values = comparison["values"].get(column.key, {})
            x, y = (_number(values.get(row["key"], {})) for row in rows)
            if x is not None and y is not None:
                points[column.setting] = x, y
                told[column.setting] = in_unit(x, axes[0].unit), in_unit(y, axes[1].unit)
        before = _number((comparison.get("original") or {}).get(rows[1]["key"], {}))
        trade_off = trade_off_chart(points, axes[0], axes[1], before, told)
        found += [] if trade_off is None else [trade_off]
    curves = comparison.get("curves") or {}
    return found + curve_charts({column.setting: curves.get(column.key, {}) for column in done})


def _subtitle(comparison: Mapping[str, Any]) -> str:
    """Return on what data everything was tried."""
    data = comparison["data"]
    parts = []
    if isinstance(data.get("people"), int):
        parts.append(people(data["people"]))
    if isinstance(data.get("samples"), int):
        parts.append(several(data["samples"], "sample"))
    return ", ".join(parts)


def _intro(comparison: Mapping[str, Any], columns: Sequence[Column]) -> str:
    """Return what was compared on what, and what the page is for."""
    methods = len({column.setting.method for column in columns})
    on = _subtitle(comparison).replace(", ", " with ", 1)
    return (
        f"{several(methods, 'mechanism')} with {several(len(columns), 'choice')} of settings "
        f"{'was' if len(columns) == 1 else 'were'} tried on one dataset{f' of {on}' if on else ''}"
        ", and everything was measured in the same way. The page is for whoever holds the data and "
        "has to choose how to protect it: the upper part says what is hidden and what is lost; the "
        "tables below have every number, for the engineer."
    )


def _summary(comparison: Mapping[str, Any], columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return which columns are what."""
    found = []
    for kind, (level, _, title, meaning) in KINDS.items():
        of = [column for column in columns if column.kind == kind]
        if of:
            found.append(
                {"kind": kind, "level": level, "title": title, "means": meaning, "columns": of,
                 "least": _least_loss(comparison, of) if kind == "verified" else ""}
            )  # fmt: skip
    return found


def _least_loss(comparison: Mapping[str, Any], columns: Sequence[Column]) -> str:
    """Say which of some columns loses least; nothing if there are no two."""
    axes = _axes(comparison)
    if not axes or axes[0].get("better") != "less":
        return ""
    row = axes[0]
    values = comparison["values"]
    known = [
        (number, column)
        for column in columns
        if (number := _number(values.get(column.key, {}).get(row["key"], {}))) is not None
    ]
    if len(known) <= 1:
        return ""
    least = min(number for number, _ in known)
    names = [column.setting.name for number, column in known if number == least]
    said = in_unit(least, str(row.get("unit") or ""))
    return f"Of these, least is lost with {' and '.join(names)} ({row['label']}: {said})."
