"""Charts of a comparison: loss against remaining risk, and how far samples are off.

Columns have the same number, shape and colour wherever they are drawn. Shapes are per method;
they are filled where k-anonymity was verified, and hollow everywhere else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from incrowd._format import duration, length, percent
from incrowd.report._figures.chart import AFTER, BEFORE, THIRD, Chart, finish, one, values

__all__ = [
    "COLOURS",
    "SHAPES",
    "Axis",
    "Setting",
    "curve_charts",
    "trade_off_chart",
]


SHAPES = (
    "circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right",
    "triangle-left",
)  # fmt: skip
COLOURS = (AFTER, BEFORE, THIRD)
"""Eight shapes and three colours: 24 methods look different."""
LETTER, LINE = 0.03, 0.06
"""What a letter of a label takes of the width of a chart on a phone, and a line of its height."""
SAME = 0.01
"""Marks that are so near in both directions lie on each other, and are drawn one around another."""
SIZE, LARGER = 120, 170
PANEL_WIDTH, PANEL_HEIGHT = 230, 110
METRES = (0, 100, 1_000, 10_000, 100_000)
MINUTES = (0, 10, 60, 360, 1_440, 10_080)
LEAST_SHOWN = 0.05
"""An axis of shares reaches at least so far, so that nothing looks large that is next to none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A column of a comparison, as it is drawn.

    Attributes
    ----------
    number
        That by which it is called in charts and tables.
    label, method
        What it is called, and by which method it is.
    shape, colour
        Those of its method.
    filled
        Whether it was verified that it is k-anonymous.
    status
        The same in words.
    """

    number: int
    label: str
    method: str
    shape: str
    colour: str
    filled: bool
    status: str

    @property
    def name(self) -> str:
        """Number and label."""
        return f"{self.number} {self.label}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What is drawn along an axis of the trade-off."""

    label: str
    unit: str

    @property
    def title(self) -> str:
        """The label in one line; Vega cannot parse all line ends."""
        return " ".join(self.label.split())

    @property
    def shape(self) -> dict[str, Any]:
        """How Altair draws it."""
        shown = alt.Axis(format="%" if self.is_share else "~s", tickCount=6)
        return {"title": self.title, "axis": shown}

    @property
    def is_share(self) -> bool:
        """Whether it is a share, which is told as a percentage."""
        return self.unit == "share"

    def scale(self, found: Sequence[float]) -> tuple[float, alt.Scale]:
        """Return how far an axis reaches that has these values, and its scale."""
        most = max(found)
        most = max(most, LEAST_SHOWN) if self.is_share else most or 1.0
        end = min(1.0, 1.1 * most) if self.is_share and most <= 1 else 1.1 * most
        return end, alt.Scale(domain=[0, end], nice=False, padding=16)


def trade_off_chart(
    points: Mapping[Setting, tuple[float, float]],
    loss: Axis,
    risk: Axis,
    original: float | None = None,
    told: Mapping[Setting, tuple[str, str]] | None = None,
) -> Chart | None:
    """Draw what is lost against the risk that is left; None if there is nothing to draw.

    Parameters
    ----------
    points
        Loss and risk by setting.
    loss, risk
        What they are.
    original
        The risk of the original, of which nothing is lost.
    told
        Both as they are written.
    """
    if not points:
        return None
    told = told or {each: (f"{x:g}", f"{y:g}") for each, (x, y) in points.items()}
    risks = [y for _, y in points.values()] + ([] if original is None else [original])
    (wide, across), (high, up) = loss.scale([x for x, _ in points.values()]), risk.scale(risks)
    around = _sizes(points, wide, high)
    rows = [
        {
            "setting": each.name, "method": each.method, "status": each.status,
            "loss": points[each][0], "risk": points[each][1],
            "lost": told[each][0], "left": told[each][1],
            "full": 1.0 if each.filled else 0.0, "size": size,
        }
        for each, size in sorted(around.items(), key=lambda one: -one[1])
    ]  # fmt: skip
    methods = {each.method: each for each in points}
    colour = alt.Scale(domain=[*methods], range=[each.colour for each in methods.values()])
    shape = alt.Scale(domain=[*methods], range=[each.shape for each in methods.values()])
    x = alt.X("loss:Q", scale=across, **loss.shape)
    y = alt.Y("risk:Q", scale=up, **risk.shape)
    marks = (
        alt.Chart(values(rows))
        .mark_point(strokeWidth=2.5, opacity=1)
        .encode(
            x=x, y=y,
            stroke=alt.Stroke("method:N", scale=colour, legend=None),
            fill=alt.Fill("method:N", scale=colour, legend=None),
            fillOpacity=alt.FillOpacity("full:Q", scale=None, legend=None),
            shape=alt.Shape("method:N", scale=shape, legend=None),
            size=alt.Size("size:Q", scale=None, legend=None),
            tooltip=[
                alt.Tooltip("setting:N"),
                alt.Tooltip("lost:N", title=loss.title),
                alt.Tooltip("left:N", title=risk.title),
                alt.Tooltip("status:N"),
            ],
        )
    )  # fmt: skip
    layers = [marks]
    labels = _labels(points, around, wide, high)
    for up_by in sorted({label["up"] for label in labels}):
        name = alt.Chart(values([label for label in labels if label["up"] == up_by]))
        layers.append(
            name.mark_text(dy=-up_by, fontSize=13, fontWeight="bold").encode(
                x=alt.X("loss:Q", scale=across), y=alt.Y("risk:Q", scale=up), text="numbers:N"
            )
        )
    if original is not None:
        text = f"risk of the original: {percent(original) if risk.is_share else f'{original:g}'}"
        ground = alt.Chart(values([{"loss": wide, "risk": original, "text": text}]))
        up_to = alt.Y("risk:Q", scale=up)
        rule = ground.mark_rule(color="var(--soft)", strokeDash=[4, 4]).encode(y=up_to)
        said = ground.mark_text(align="right", dy=12, fontSize=12, color="var(--soft)").encode(
            x=alt.X("loss:Q", scale=across), y=up_to, text="text:N"
        )
        layers = [rule, said, *layers]
    says = (
        "Further to the left less is lost; further down less risk is left. Each number is a "
        "setting, named below. A filled mark was verified to be k-anonymous; a hollow one was not, "
        "however low it lies."
    )
    table = tuple((each.name, *told[each], each.status) for each in points)
    return one(
        "trade-off", "trade-off", "What is lost, against the risk that is left", says,
        finish(alt.layer(*layers), height=300),
        ("setting", loss.title, risk.title, "k-anonymity"), table,
    )  # fmt: skip


def _sizes(
    points: Mapping[Setting, tuple[float, float]], wide: float, high: float
) -> dict[Setting, int]:
    """Return how large marks are: those that would cover each other stand around each other."""
    sizes: dict[Setting, int] = {}
    for each, (x, y) in points.items():
        covered = sum(
            abs(x - points[other][0]) <= SAME * wide and abs(y - points[other][1]) <= SAME * high
            for other in sizes
        )
        sizes[each] = SIZE + covered * LARGER
    return sizes


def _labels(
    points: Mapping[Setting, tuple[float, float]],
    sizes: Mapping[Setting, int],
    wide: float,
    high: float,
) -> list[dict[str, Any]]:
    """Return the numbers that stand over points: one text for those that would overlap.

    They stand in the order of their points, from left to right.
    """

    def label(group: Sequence[Setting]) -> dict[str, Any]:
        x, y = zip(*(points[each] for each in group), strict=True)
        ordered = sorted(group, key=lambda each: (round(points[each][0] / wide, 2), each.number))
        return {
            "numbers": ", ".join(str(each.number) for each in ordered),
            "loss": sum(x) / len(x),
            "risk": max(y),
            "up": round(max(sizes[each] for each in group) ** 0.5 / 2) + 10,
        }

    groups = [[each] for each in points]
    labels = [label(group) for group in groups]
    while (pair := _overlapping(labels, wide, high)) is not None:
        first, second = pair
        groups[first] += groups.pop(second)
        labels = [label(group) for group in groups]
    return labels


def _overlapping(
    labels: Sequence[Mapping[str, Any]], wide: float, high: float
) -> tuple[int, int] | None:
    """Return two labels that would overlap on a phone; None if there are none."""
    for second, two in enumerate(labels):
        for first, one_ in enumerate(labels[:second]):
            letters = (len(one_["numbers"]) + len(two["numbers"])) / 2 + 1
            if (
                abs(one_["loss"] - two["loss"]) < letters * LETTER * wide
                and abs(one_["risk"] - two["risk"]) < LINE * high
            ):
                return first, second
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """One of the distributions."""

    name: str
    title: str
    across: str
    up: str
    metres: bool
    more: str


KINDS = (
    _Kind(
        name="space", title="How far samples are off, in space", metres=True,
        across="off by at most", up="true samples",
        more=" A line that ends below 100% has lost the other samples.",
    ),
    _Kind(
        name="time", title="How far samples are off, in time", metres=False,
        across="off by at most", up="true samples",
        more=" A line that ends below 100% has lost the other samples.",
    ),
)  # fmt: skip


def curve_charts(curves: Mapping[Setting, Mapping[str, Sequence[Sequence[float]]]]) -> list[Chart]:
    """Draw how far samples are off, in space and in time (figure 15): a small panel per setting.

    All panels have the same axes, and in each all others are drawn in grey behind.
    """
    found = []
    for kind in KINDS:
        known = {each: of[kind.name] for each, of in curves.items() if of.get(kind.name)}
        if known:
            found.append(_panels(kind, known))
    return found


def _panels(kind: _Kind, known: Mapping[Setting, Sequence[Sequence[float]]]) -> Chart:
    write = length if kind.metres else duration
    rows: list[dict[str, Any]] = [
        {"setting": each.name, "at": at, "share": share, "limit": write(at)}
        for each, curve in known.items()
        for at, share in curve
    ]
    end = max(_end(curve) for curve in known.values())
    rows = [row for row in rows if row["at"] <= end]
    ticks = [at for at in (METRES if kind.metres else MINUTES) if at <= end]
    small = 100 if kind.metres else 5
    unit = (
        "datum.value >= 1000 ? format(datum.value / 1000, ',') + ' km' : datum.value + ' m'"
        if kind.metres
        else "datum.value >= 1440 ? datum.value / 1440 + ' d' : datum.value >= 60 ? "
        "datum.value / 60 + ' h' : datum.value + ' min'"
    )
    x = alt.X(
        "at:Q", title=None, scale=alt.Scale(type="symlog", constant=small, domain=[0, end]),
        axis=alt.Axis(values=ticks, labelExpr=unit, labelOverlap="greedy", labelSeparation=4),
    )  # fmt: skip
    y = alt.Y(
        "share:Q", title=None, scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", values=[0, 0.5, 1]),
    )  # fmt: skip
    drawings = {}
    for each in known:
        others = [
            {name: row[name] for name in ("setting", "at", "share")}
            for row in rows
            if row["setting"] != each.name
        ]
        own = [row for row in rows if row["setting"] == each.name]
        behind = (
            alt.Chart(values(others))
            .mark_line(color="var(--soft)", strokeWidth=1, opacity=0.4)
            .encode(x=x, y=y, detail="setting:N")
        )
        front = (
            alt.Chart(values(own))
            .mark_line(color=AFTER, strokeWidth=2.5, point=alt.OverlayMarkDef(size=24, color=AFTER))
            .encode(
                x=x, y=y,
                tooltip=[alt.Tooltip("setting:N"), alt.Tooltip("limit:N", title=kind.across),
                         alt.Tooltip("share:Q", title=kind.up, format=".1%")],
            )
        )  # fmt: skip
        layers = [behind, front] if others else [front]
        drawings[f"{kind.name}-{each.number}"] = finish(alt.layer(*layers), height=PANEL_HEIGHT)
    says = (
        f"Upwards: {kind.up}; to the right: how far they are off, at most. The higher the line, "
        "and the further to the left it rises, the better; the grey lines are the other settings."
        f"{kind.more}"
    )
    cells = {(each.name, at): share for each, curve in known.items() for at, share in curve}
    limits = sorted({at for _, at in cells if at <= end})
    table = tuple(
        (write(at), *(percent(cells.get((each.name, at))) for each in known)) for at in limits
    )
    chart = Chart(
        f"off-{kind.name}", "curves", kind.title, says, drawings,
        (kind.across, *(each.name for each in known)), table,
    )  # fmt: skip
    labels = {f"{kind.name}-{each.number}": each.name for each in known}
    return replace(chart, labels=labels, width=PANEL_WIDTH)


def _end(curve: Sequence[Sequence[float]]) -> float:
    """Return where a curve has reached its height."""
    top = curve[-1][1]
    return next(at for at, share in curve if share >= top - 0.001)
