"""Own drawings, in SVG: a map of squares before and after, and published records.

No tiles, no outline of a country: nothing is fetched, and nothing is shown but squares with enough
people in them. Colours are names of the page's style, as in `charts`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.report._figures.chart import AFTER, CLASSES

__all__ = [
    "Drawing",
    "drawings",
]


UNIT = 10
PANEL = 300
INK, SOFT, LINE = "var(--ink)", "var(--soft)", "var(--line)"


@dataclass(frozen=True, slots=True)
class Drawing:
    """One drawing, of one or several parts; otherwise as a chart."""

    name: str
    section: str
    title: str
    says: str
    parts: Mapping[str, str]
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    key: tuple[tuple[str, str], ...] = ()
    spec: None = None

    def svg(self) -> str:
        """Give all parts, beside each other where there is room."""
        held = "".join(f"<div>{part}</div>" for part in self.parts.values())
        return f'<div class="pair">{held}</div>'


def drawings(numbers: Mapping[str, Any]) -> list[Drawing]:
    """Give every drawing for which there are numbers."""
    found = [_map(numbers), _records(numbers.get("drawn") or [])]
    return [drawing for drawing in found if drawing is not None]


def _map(numbers: Mapping[str, Any]) -> Drawing | None:
    together = (numbers.get("utility") or {}).get("together")
    if not together or not together["map"]["cells"]:
        return None
    about = together["map"]
    breaks = _breaks([n for _, _, *both in about["cells"] for n in both if n is not None])
    parts = {
        when: _panel(about, index, breaks, title)
        for index, when, title in ((2, "original", "Original"), (3, "release", "Release"))
    }
    shown = [sum(cell[i] is not None for cell in about["cells"]) for i in (2, 3)]
    says = (
        f"People seen in each square of {about['side_m'] / 1000:g} km, at the middle of their "
        f"samples. Squares with fewer than {about['least']} people are left empty: {shown[0]:,} "
        f"squares are shown of the original, {shown[1]:,} of the release."
    )
    rows = [
        (f"east {x}, north {y}", _count(before, about), _count(after, about))
        for x, y, before, after in sorted(about["cells"], key=lambda c: -(c[2] or 0))[:20]
    ]
    return Drawing(
        "map", "left", "Where people are, before and after", says, parts,
        ("square (the 20 fullest)", "original", "release"), tuple(rows), _key(breaks),
    )  # fmt: skip


def _count(number: int | None, about: Mapping[str, Any]) -> str:
    return f"fewer than {about['least']}" if number is None else f"{number:,}"


def _breaks(counts: Sequence[int]) -> list[int]:
    """Cut counts into five classes of about as many squares each; gives where each begins."""
    ordered = sorted(counts)
    starts = [ordered[len(ordered) * i // len(CLASSES)] for i in range(len(CLASSES))]
    return sorted(set(starts))


def _key(breaks: Sequence[int]) -> tuple[tuple[str, str], ...]:
    ends = [f"to {end - 1:,}" for end in breaks[1:]] + ["or more"]
    colours = CLASSES[len(CLASSES) - len(breaks) :]
    return tuple(
        (colour, f"{start:,} {end} people")
        for colour, start, end in zip(colours, breaks, ends, strict=True)
    )


def _panel(about: Mapping[str, Any], index: int, breaks: Sequence[int], title: str) -> str:
    """Draw the squares of one map, north up."""
    wide, high = about["columns"] * UNIT, about["rows"] * UNIT
    colours = CLASSES[len(CLASSES) - len(breaks) :]
    squares = []
    for cell in about["cells"]:
        number = cell[index]
        if number is None:
            continue
        colour = colours[sum(number >= start for start in breaks) - 1]
        x, y = cell[0] * UNIT, high - (cell[1] + 1) * UNIT
        squares.append(
            f'<rect class="square" x="{x}" y="{y}" width="{UNIT}" height="{UNIT}" '
            f'fill="{colour}"><title>{number:,} people</title></rect>'
        )
    size = max(wide, high) / 22
    bar = _round(about["columns"] * about["side_m"] / 4000)
    length = bar * 1000 / about["side_m"] * UNIT
    foot = size * 3.2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {-2 * size:.1f} {wide} '
        f'{high + 2 * size + foot:.1f}" '
        f'font-family="system-ui, sans-serif" font-size="{size:.1f}">'
        f'<text x="0" y="{-0.6 * size:.1f}" fill="{INK}">{title}</text>'
        f'<rect x="0" y="0" width="{wide}" height="{high}" fill="none" stroke="{LINE}" '
        'vector-effect="non-scaling-stroke"/>'
        f"{''.join(squares)}"
        f'<path d="M0 {high + size:.1f} h{length:.1f}" stroke="{INK}" '
        f'stroke-width="{size / 6:.1f}"/>'
        f'<text x="0" y="{high + 2.4 * size:.1f}" fill="{INK}">{bar:g} km</text></svg>'
    )


def _round(km: float) -> float:
    """Give a round length of about so many kilometres."""
    for power in range(-2, 5):
        for digit in (1, 2, 5):
            if digit * 10.0**power >= km * 0.7:
                return digit * 10.0**power
    return km


def _records(records: Sequence[Mapping[str, Any]]) -> Drawing | None:
    """Draw published records: rectangles on the plane, and east against time."""
    if not records:
        return None
    parts: dict[str, str] = {}
    rows = []
    for number, record in enumerate(records, 1):
        boxes = record["boxes"]
        name = f"Record {number}, of {record['crowd']:,} people"
        parts[f"{number}-space"] = _plane(boxes, f"{name}: in space")
        parts[f"{number}-time"] = _clock(boxes, f"{name}: in time")
        wide = sorted(max(b["east_to"] - b["east"], b["north_to"] - b["north"]) for b in boxes)
        long = sorted(b["hour_to"] - b["hour"] for b in boxes)
        rows.append(
            (name, f"{len(boxes):,}", f"{wide[len(wide) // 2]:.2g} km",
             f"{60 * long[len(long) // 2]:.0f} min")
        )  # fmt: skip
    return Drawing(
        "records", "left", "A few published records",
        "Each is what everybody in a crowd has in common, and is what a recipient gets: rectangles "
        "in which she was, and the times at which. The first days are drawn, from the corner of "
        "each record; where that is on earth is not shown.",
        parts, ("record", "samples drawn", "median width", "median length"), tuple(rows),
    )  # fmt: skip


def _plane(boxes: Sequence[Mapping[str, float]], title: str) -> str:
    wide, high = (max(b[side] for b in boxes) for side in ("east_to", "north_to"))
    scale = PANEL / max(wide, high)
    faint = max(0.01, 0.9 / len(boxes))  # so that all of them together are not black
    drawn = "".join(
        f'<rect class="box" x="{b["east"] * scale:.1f}" '
        f'y="{PANEL - b["north_to"] * scale:.1f}" '
        f'width="{max(1.5, (b["east_to"] - b["east"]) * scale):.1f}" '
        f'height="{max(1.5, (b["north_to"] - b["north"]) * scale):.1f}" '
        f'fill="{AFTER}" fill-opacity="{faint:.3f}" stroke="{AFTER}" stroke-opacity="0.35"/>'
        for b in boxes
    )
    bar = _round(max(wide, high) / 4)
    foot = (
        f'<path d="M0 {PANEL + 14} h{bar * scale:.1f}" stroke="{INK}" stroke-width="2"/>'
        f'<text x="0" y="{PANEL + 32}">{bar:g} km</text>'
    )
    return _framed(title, drawn + foot)


def _clock(boxes: Sequence[Mapping[str, float]], title: str) -> str:
    """Draw hours along, days down: a bar for each box; its height is not its place."""
    hours = max(24.0, *(b["hour_to"] for b in boxes))
    days = min(3, max(1, int(-(-hours // 24))))
    row = PANEL / days
    drawn = []
    for b in boxes:
        for day in range(days):
            start, end = max(b["hour"], 24 * day), min(b["hour_to"], 24 * day + 24)
            if start < end:
                x, width = (start - 24 * day) / 24 * PANEL, (end - start) / 24 * PANEL
                drawn.append(
                    f'<rect class="box" x="{x:.1f}" y="{day * row + 22:.1f}" '
                    f'width="{max(1.5, width):.1f}" height="{row - 30:.1f}" fill="{AFTER}" '
                    f'fill-opacity="0.3" stroke="{AFTER}" stroke-opacity="0.7"/>'
                )
    labels = "".join(
        f'<text x="0" y="{day * row + 15:.1f}" fill="{SOFT}">day {day + 1}</text>'
        for day in range(days)
    )
    foot = "".join(
        f'<text x="{hour / 24 * PANEL:.0f}" y="{PANEL + 18}" text-anchor="{anchor}">{hour} h</text>'
        for hour, anchor in ((0, "start"), (12, "middle"), (24, "end"))
    )
    return _framed(title, labels + "".join(drawn) + foot)


def _framed(title: str, inside: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -26 {PANEL + 4} {PANEL + 66}" '
        f'font-family="system-ui, sans-serif" '
        f'font-size="13" fill="{INK}"><text x="0" y="-10">{title}</text>'
        f'<rect x="0" y="0" width="{PANEL}" height="{PANEL}" fill="none" stroke="{LINE}"/>'
        f"{inside}</svg>"
    )
