"""Charts of places: a map of squares before and after, and a few published records.

No tiles, no outline of a country: nothing is fetched, and nothing is shown but squares with enough
people in them. Each drawing has a width and a height of its own, so that a kilometre is as long to
the north as to the east; the page scales it as a whole.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import altair as alt

from incrowd._format import duration, length
from incrowd.evaluate._utility.aggregate import Map
from incrowd.report._figures.chart import AFTER, CLASSES, Chart, finish, values
from incrowd.report._numbers import Box, Numbers, PublishedRecord

__all__ = [
    "map_charts",
]


PANEL = 320
"""The longer side of a drawing."""
FULLEST = 20
"""How many squares the table has."""
DAYS, HOURS = 3, 24
FRAME = alt.ViewBackground(stroke="var(--line)")


def map_charts(numbers: Numbers) -> list[Chart | None]:
    """Return the map and the records; None where there are no numbers."""
    about = numbers.utility.together.map if numbers.utility is not None else None
    return [_map(about), _records(numbers.drawn, numbers.given.tz)]


def _kilometres(field: str, end: float, title: str) -> Any:
    """Return an axis in kilometres from a corner."""
    make = alt.X if field == "east" else alt.Y
    scale, axis = alt.Scale(domain=[0, end], nice=False), alt.Axis(grid=False, tickCount=5)
    return make(f"{field}:Q", title=title, scale=scale, axis=axis)


def _map(about: Map | None) -> Chart | None:
    """Draw people by square, in classes of about as many squares each."""
    if about is None or not about.cells:
        return None
    breaks = _breaks([n for _, _, *both in about.cells for n in both if n is not None])
    drawings = {
        f"map-{when}": _panel(about, index, breaks, title)
        for index, when, title in ((2, "original", "Original"), (3, "release", "Release"))
    }
    before, after = (sum(cell[i] is not None for cell in about.cells) for i in (2, 3))
    says = (
        f"People seen in each square of {about.side_m / 1000:g} km, at the middle of their "
        f"samples. Squares with fewer than {about.least} people are left empty: {before:,} "
        f"squares are shown of the original, {after:,} of the release."
    )
    fullest = sorted(about.cells, key=lambda cell: -(cell[2] or 0))[:FULLEST]
    rows = tuple(
        (f"east {x}, north {y}", *(_count(people, about.least) for people in both))
        for x, y, *both in fullest
    )
    return Chart(
        "map", "left", "Where people are, before and after", says, drawings,
        (f"square (the {FULLEST} fullest)", "original", "release"), rows,
    )  # fmt: skip


def _count(people: int | None, least: int) -> str:
    return f"fewer than {least}" if people is None else f"{people:,}"


def _breaks(counts: Sequence[int]) -> list[int]:
    """Cut counts into five classes of about as many squares each; gives where each begins."""
    ordered = sorted(counts)
    starts = [ordered[len(ordered) * i // len(CLASSES)] for i in range(len(CLASSES))]
    return sorted(set(starts))


def _panel(about: Map, index: int, breaks: Sequence[int], title: str) -> dict[str, Any]:
    """Draw the squares of one map, north up."""
    side = about.side_m / 1000
    ends = [f"to {end - 1:,}" if end - 1 > start else "" for start, end in pairwise(breaks)] + [
        "or more"
    ]
    names = [f"{start:,} {end}".strip() for start, end in zip(breaks, ends, strict=True)]
    rows = []
    for cell in about.cells:
        people = cell[index]
        if people is not None:
            which = names[sum(people >= start for start in breaks) - 1]
            rows.append({"east": cell[0], "north": cell[1], "people": people, "class": which})
    colours = alt.Scale(domain=names, range=CLASSES[len(CLASSES) - len(breaks) :])
    wide, high = about.columns * side, about.rows * side
    squares = (
        alt.Chart(values(rows), title=title, view=FRAME)
        .transform_calculate(
            east_to=f"(datum.east + 1) * {side}",
            north_to=f"(datum.north + 1) * {side}",
            east=f"datum.east * {side}",
            north=f"datum.north * {side}",
        )
        .mark_rect()
        .encode(
            x=_kilometres("east", wide, "km from the west"),
            x2="east_to:Q",
            y=_kilometres("north", high, "km from the south"),
            y2="north_to:Q",
            color=alt.Color(
                "class:N",
                scale=colours,
                sort=names,
                legend=alt.Legend(
                    title="people per square", orient="bottom", symbolType="square", columns=3
                ),
            ),
            tooltip=[alt.Tooltip("people:Q", format=",")],
        )
    )
    longer = max(wide, high)
    return finish(squares, width=PANEL * wide / longer, height=PANEL * high / longer)


def _records(records: Sequence[PublishedRecord], tz: str) -> Chart | None:
    """Draw published records: rectangles on the plane, and bars on the clock."""
    if not records:
        return None
    drawings: dict[str, dict[str, Any]] = {}
    rows = []
    for number, record in enumerate(records, 1):
        boxes = record.boxes
        name = f"Record {number}, of {record.crowd:,} people"
        drawings[f"records-{number}-space"] = _plane(boxes, f"Record {number}: in space")
        drawings[f"records-{number}-time"] = _clock(boxes, f"Record {number}: in time")
        wide = sorted(max(b.east_to - b.east, b.north_to - b.north) for b in boxes)
        long = sorted(b.hour_to - b.hour for b in boxes)
        rows.append(
            (name, f"{len(boxes):,}", length(1000 * wide[len(wide) // 2], 2),
             duration(60 * long[len(long) // 2]))
        )  # fmt: skip
    return Chart(
        "records", "left", "A few published records",
        "Each is what everybody in a crowd has in common, and is what a recipient gets: rectangles "
        "and times in which she is said to have been. The first days are drawn, from the corner of "
        f"each record; where that is on earth is not shown. Hours are of {tz}.",
        drawings, ("record", "samples drawn", "median width", "median length"), tuple(rows),
    )  # fmt: skip


def _plane(boxes: Sequence[Box], title: str) -> dict[str, Any]:
    end = max(*(b.east_to for b in boxes), *(b.north_to for b in boxes))
    faint = max(0.01, 0.9 / len(boxes))  # so that all of them together are not black
    rows = [
        {"east": b.east, "east_to": b.east_to, "north": b.north, "north_to": b.north_to}
        for b in boxes
    ]
    rectangles = (
        alt.Chart(values(rows), title=title, view=FRAME)
        .mark_rect(fill=AFTER, fillOpacity=faint, stroke=AFTER, strokeOpacity=0.35)
        .encode(
            x=_kilometres("east", end, "km"), x2="east_to:Q",
            y=_kilometres("north", end, "km"), y2="north_to:Q",
        )
    )  # fmt: skip
    return finish(rectangles, width=PANEL, height=PANEL)


def _clock(boxes: Sequence[Box], title: str) -> dict[str, Any]:
    """Draw hours along, days down: a bar for each box; its height is not its place."""
    rows = [row for box in boxes for row in _by_day(box)]
    last = max(row["day"] for row in rows)
    days = alt.Scale(domain=list(range(1, last + 1)), padding=0.15)
    hours = alt.Axis(values=list(range(0, HOURS + 1, 6)), grid=False)
    bars = (
        alt.Chart(values(rows), title=title, view=FRAME)
        .mark_rect(fill=AFTER, fillOpacity=0.3, stroke=AFTER, strokeOpacity=0.7)
        .encode(
            x=alt.X("from:Q", title="hour", scale=alt.Scale(domain=[0, HOURS]), axis=hours),
            x2="to:Q",
            y=alt.Y("day:O", title="day", scale=days, axis=alt.Axis(labelAngle=0)),
        )
    )
    return finish(bars, width=PANEL, height=PANEL)


def _by_day(box: Box) -> Iterator[dict[str, Any]]:
    """Cut a box at midnight."""
    for day in range(DAYS):
        start, end = max(box.hour, HOURS * day), min(box.hour_to, HOURS * (day + 1))
        if start < end:
            yield {"day": day + 1, "from": start - HOURS * day, "to": end - HOURS * day}
