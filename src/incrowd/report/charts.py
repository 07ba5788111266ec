"""The charts of a report, by Altair: each with a title, one sentence, and its numbers as a table.

Colours are names of the page's style (``var(--before)``), so that one drawing serves light and
dark; where there is no page around it, `solid` puts real colours in. Series differ by more than
their colour: by dash, by shape, or by place.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

__all__ = ["Chart", "charts", "solid"]

BEFORE, AFTER, THIRD = "var(--before)", "var(--after)", "var(--third)"
CLASSES = [f"var(--map{i})" for i in range(1, 6)]
LIGHT = {
    "var(--before)": "#b34700",
    "var(--after)": "#0068a8",
    "var(--third)": "#007a5a",
    "var(--ink)": "#1b1f24",
    "var(--soft)": "#57606a",
    "var(--line)": "#d0d7de",
    "var(--map1)": "#d6e4ef",
    "var(--map2)": "#9ec5de",
    "var(--map3)": "#5b9dc6",
    "var(--map4)": "#2270a3",
    "var(--map5)": "#0b3f66",
}
"""The colours of the light page; the style sheet has the same."""
WIDTH, HEIGHT = 640, 260
CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--ink)",
        "gridColor": "var(--line)",
        "domainColor": "var(--soft)",
        "tickColor": "var(--soft)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 220,
    },
    "legend": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--ink)",
        "labelFontSize": 12,
        "orient": "top",
        "title": None,
        "symbolStrokeWidth": 2.5,
        "symbolSize": 200,
    },
    "header": {"labelColor": "var(--ink)", "titleColor": "var(--ink)", "labelFontSize": 12},
    "title": {"color": "var(--ink)", "fontSize": 13, "anchor": "start", "fontWeight": "normal"},
    "text": {"color": "var(--ink)"},
}
STROKE = alt.Legend(symbolType="stroke")
WHEN = {"before": "original", "after": "release"}
NAMES = {
    "location": "places",
    "location_sequence": "places in order",
    "visit": "places with hours",
    "frequent_location": "distinct places",
    "frequent_location_sequence": "places by frequency",
    "frequency": "how often at places",
    "home_work": "home and work",
    "proportion": "visits in proportion",
    "probability": "share of visits",
}


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart.

    Attributes
    ----------
    name
        For files and links.
    title, says
        What it shows, and what is to be seen in it.
    spec
        In Vega-Lite.
    head, rows
        The same as a table, for those who do not see it.
    section
        Where it stands on the page.
    """

    name: str
    section: str
    title: str
    says: str
    spec: Mapping[str, Any]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    key: tuple[tuple[str, str], ...] = ()

    def fixed(self) -> dict[str, Any]:
        """Give the specification with a width of its own, for where there is no page."""
        spec: dict[str, Any] = json.loads(json.dumps(self.spec))
        if spec.get("width") == "container":
            spec["width"] = WIDTH
        return spec

    def svg(self) -> str:
        """Draw it, in the colours of the page's style."""
        import vl_convert

        drawn: str = vl_convert.vegalite_to_svg(self.fixed())
        return drawn


def solid(text: str) -> str:
    """Put real colours in place of names."""
    for name, colour in LIGHT.items():
        text = text.replace(name, colour)
    return text


def charts(numbers: Mapping[str, Any]) -> list[Chart]:
    """Give every chart for which there are numbers."""
    before, after = numbers.get("before") or {}, numbers.get("after") or {}
    accuracy, utility = numbers.get("accuracy") or {}, numbers.get("utility") or {}
    persons = utility.get("persons")
    found = [
        _gap(before.get("k_gap")),
        _unique(before, after),
        _attacks(before, after),
        _sizes(accuracy, "space"),
        _sizes(accuracy, "time"),
        _by_person(accuracy, "space"),
        _by_person(accuracy, "time"),
        _places(persons) if persons else None,
        *(_ratio(persons, name) for name in ("travelled", "gyration", "hull") if persons),
        _together(utility.get("together")),
    ]
    return [chart for chart in found if chart is not None]


def _finish(chart: Any, *, height: int | None = HEIGHT) -> dict[str, Any]:
    if height is not None:
        chart = chart.properties(width="container", height=height)
    # Checked against the schema by a test, and not for every reader: that takes longer than all.
    spec: dict[str, Any] = chart.configure(**CONFIG).to_dict(validate=False)
    return spec


def _values(rows: Sequence[Mapping[str, Any]]) -> alt.Data:
    return alt.Data(  # type: ignore[no-untyped-call]
        values=[dict(row) for row in rows]
    )


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _series(present: Sequence[str]) -> tuple[alt.Color, alt.StrokeDash]:
    """Tell before from after, by colour and by dash."""
    colours, dashes = (
        {"original": BEFORE, "release": AFTER},
        {"original": [1, 0], "release": [6, 3]},
    )
    scale = alt.Scale(domain=list(present), range=[colours[name] for name in present])
    dash = alt.Scale(domain=list(present), range=[dashes[name] for name in present])
    return alt.Color("when:N", scale=scale), alt.StrokeDash("when:N", scale=dash, legend=STROKE)


def _gap(gap: Mapping[str, Any] | None) -> Chart | None:
    """Draw how the k-gap is spread (figure 6 of the paper)."""
    if not gap:
        return None
    rows = gap["curve"]
    line = (
        alt.Chart(_values(rows))
        .mark_line(color=BEFORE, strokeWidth=2.5, interpolate="step-after")
        .encode(
            x=alt.X("gap:Q", title="k-gap: 0 hidden already, 1 nothing would be left"),
            y=alt.Y(
                "share:Q", title="people with at most that", axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            tooltip=[
                alt.Tooltip("gap:Q", title="k-gap", format=".3f"),
                alt.Tooltip("share:Q", title="people", format=".1%"),
            ],
        )
    )  # fmt: skip
    spread = gap["spread"]
    hidden = gap["hidden_already"]
    already = f"{_percent(hidden)} of people were" if hidden else "nobody was"
    says = (
        f"Hiding the median person of the original among {gap['k']} costs {spread['median']:.3f}; "
        f"{already} hidden already."
    )
    return Chart(
        "k-gap", "exposure", "How much has to be lost to hide each person", says, _finish(line),
        ("k-gap", "people with at most that"),
        tuple((f"{row['gap']:.3f}", _percent(row["share"])) for row in rows[::5]),
    )  # fmt: skip


def _unique(before: Mapping[str, Any], after: Mapping[str, Any]) -> Chart | None:
    """Draw uniqueness by the number of points that are known."""
    rows = [
        {"when": WHEN[when], "points": row["points"], "share": row["share"]}
        for when, of in (("before", before), ("after", after))
        for row in of.get("uniqueness") or ()
        if row["kind"] == "spatio_temporal"
    ]
    if not rows:
        return None
    present = list(dict.fromkeys(row["when"] for row in rows))
    colour, dash = _series(present)
    line = (
        alt.Chart(_values(rows))
        .mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=50, filled=True))
        .encode(
            x=alt.X("points:Q", title="places and hours that are known of a person",
                    axis=alt.Axis(tickMinStep=1, format="d")),
            y=alt.Y("share:Q", title="people singled out", axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1])),
            color=colour,
            strokeDash=dash,
            tooltip=[alt.Tooltip("when:N", title="in the"), alt.Tooltip("points:Q"),
                     alt.Tooltip("share:Q", format=".1%")],
        )
    )  # fmt: skip
    most = {name: [r["share"] for r in rows if r["when"] == name] for name in present}
    ends = ", ".join(f"in the {name} from {s[0]:.0%} to {s[-1]:.0%}" for name, s in most.items())
    table = _beside(rows, "points", present)
    return Chart(
        "uniqueness", "exposure", "How few known places and hours single a person out",
        f"The share of people singled out grows with what is known: {ends}.", _finish(line),
        ("known", *present), table,
    )  # fmt: skip


def _beside(
    rows: Sequence[Mapping[str, Any]], key: str, present: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """Lay rows of several series beside each other."""
    cells = {(row[key], row["when"]): row["share"] for row in rows}
    return tuple(
        (str(at), *(_percent(cells.get((at, name))) for name in present))
        for at in dict.fromkeys(row[key] for row in rows)
    )


def _attacks(before: Mapping[str, Any], after: Mapping[str, Any]) -> Chart | None:
    """Draw what the nine attacks find."""
    rows = [
        {"when": WHEN[when], "attack": NAMES[row["attack"]], "share": row["told_apart"]}
        for when, of in (("before", before), ("after", after))
        for row in (of.get("risk") or {}).get("attacks") or ()
    ]
    if not rows:
        return None
    present = list(dict.fromkeys(row["when"] for row in rows))
    colour, _ = _series(present)
    known = (before.get("risk") or after["risk"])["known"]
    bars = (
        alt.Chart(_values(rows))
        .mark_bar(height=8)
        .encode(
            y=alt.Y("attack:N", title=None, sort=list(NAMES.values())),
            yOffset=alt.YOffset("when:N", sort=present),
            x=alt.X("share:Q", title=f"people singled out by {known} points",
                    axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=colour,
            tooltip=[alt.Tooltip("when:N", title="in the"), alt.Tooltip("attack:N"),
                     alt.Tooltip("share:Q", format=".1%")],
        )
    )  # fmt: skip
    worst = {name: max(r["share"] for r in rows if r["when"] == name) for name in present}
    ends = ", ".join(f"{share:.0%} of people in the {name}" for name, share in worst.items())
    return Chart(
        "attacks", "exposure", f"What nine kinds of attackers find who know {known} points",
        f"At worst, they single out {ends}.", _finish(bars, height=300),
        ("known", *present), _beside(rows, "attack", present),
    )  # fmt: skip


def _sizes(accuracy: Mapping[str, Any], axis: str) -> Chart | None:
    """Draw how large published samples are (figure 11 of the paper)."""
    of = accuracy.get(axis)
    if not of:
        return None
    write = _metres if axis == "space" else _minutes
    crowded = (200, 5, 240)  # left out, so that the others can be read on a phone
    rows = [
        {"size": write(at), "share": share} for at, share in of["cumulative"] if at not in crowded
    ]
    last = next((i for i, row in enumerate(rows) if row["share"] == 1), len(rows) - 1)
    rows = rows[: last + 1]
    what = "wide" if axis == "space" else "long"
    bars = (
        alt.Chart(_values(rows))
        .mark_bar(color=AFTER)
        .encode(
            x=alt.X("size:N", sort=None, title=f"at most so {what}",
                    axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("share:Q", title="published samples", axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1])),
            tooltip=[alt.Tooltip("size:N", title="at most"), alt.Tooltip("share:Q", format=".1%")],
        )
    )  # fmt: skip
    title = (
        "How precise samples are in space" if axis == "space" else "How precise they are in time"
    )
    says = f"Half of the published samples are at most {write(of['median'])} {what}."
    return Chart(
        f"accuracy-{axis}", "left", title, says, _finish(bars, height=220),
        ("at most", "published samples"),
        tuple((row["size"], _percent(row["share"])) for row in rows),
    )  # fmt: skip


def _metres(metres: float) -> str:
    return f"{metres / 1000:.3g} km" if metres >= 1000 else f"{metres:.0f} m"  # noqa: PLR2004


def _minutes(minutes: float) -> str:
    if minutes >= 1440:  # noqa: PLR2004
        return f"{minutes / 1440:.3g} d"
    return f"{minutes / 60:.3g} h" if minutes >= 60 else f"{minutes:.0f} min"  # noqa: PLR2004


def _by_person(accuracy: Mapping[str, Any], axis: str) -> Chart | None:
    """Draw how many people have how many precise samples (figure 12)."""
    curves = accuracy.get(f"people_by_{axis}") or ()
    wanted = (100, 1_000, 5_000) if axis == "space" else (30, 120, 480)
    write = _metres if axis == "space" else _minutes
    kept = [curve for curve in curves if curve["threshold"] in wanted]
    if not kept:
        return None
    rows = [
        {"limit": write(curve["threshold"]), "per_cent": 5 * i / 100, "people": share}
        for curve in kept
        for i, share in enumerate(curve["people"])
    ]
    names = [write(curve["threshold"]) for curve in kept]
    scale = alt.Scale(domain=names, range=[AFTER, BEFORE, THIRD])
    dash = alt.Scale(domain=names, range=[[1, 0], [6, 3], [2, 2]])
    line = (
        alt.Chart(_values(rows))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("per_cent:Q", title="at least so many of her samples are that precise",
                    axis=alt.Axis(format="%")),
            y=alt.Y("people:Q", title="people", axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("limit:N", scale=scale, sort=names, legend=STROKE),
            strokeDash=alt.StrokeDash("limit:N", scale=dash, sort=names, legend=STROKE),
            tooltip=[alt.Tooltip("limit:N", title="to"), alt.Tooltip("per_cent:Q", format=".0%"),
                     alt.Tooltip("people:Q", format=".1%")],
        )
    )  # fmt: skip
    middle = kept[1] if len(kept) > 1 else kept[0]
    half = middle["people"][10]
    says = (
        f"{half:.0%} of people have at least half of their samples precise to "
        f"{write(middle['threshold'])}."
    )
    title = "Who keeps precise samples: in space" if axis == "space" else "And in time"
    table = tuple(
        (f"{5 * i}%", *(_percent(curve["people"][i]) for curve in kept)) for i in range(0, 21, 2)
    )
    return Chart(
        f"people-{axis}", "left", title, says, _finish(line, height=220),
        ("at least of her samples", *names), table,
    )  # fmt: skip


def _places(persons: Mapping[str, Any]) -> Chart | None:
    """Draw how far homes, workplaces and centres are off (figure 21)."""
    names = {"centre_of_mass": "centre of mass", "home": "home", "work": "workplace"}
    rows = [
        {"what": text, "km": f"{float(km):g}", "share": share}
        for name, text in names.items()
        for km, share in persons[name]["within"].items()
        if share is not None
    ]
    if not rows:
        return None
    present = list(dict.fromkeys(row["what"] for row in rows))
    scale = alt.Scale(domain=present, range=[AFTER, BEFORE, THIRD][: len(present)])
    dash = alt.Scale(domain=present, range=[[1, 0], [6, 3], [2, 2]][: len(present)])
    line = (
        alt.Chart(_values(rows))
        .mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=40, filled=True))
        .encode(
            x=alt.X("km:N", sort=None, title="off by at most so many km",
                    axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("share:Q", title="people", axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("what:N", scale=scale, sort=present, legend=STROKE),
            strokeDash=alt.StrokeDash("what:N", scale=dash, sort=present, legend=STROKE),
            tooltip=[alt.Tooltip("what:N"), alt.Tooltip("km:N", title="km, at most"),
                     alt.Tooltip("share:Q", format=".1%")],
        )
    )  # fmt: skip
    cells = {(row["what"], row["km"]): row["share"] for row in rows}
    near = ", ".join(f"{text} for {_percent(cells.get((text, '1')))}" for text in present)
    table = tuple(
        (f"{km} km", *(_percent(cells.get((text, km))) for text in present))
        for km in dict.fromkeys(row["km"] for row in rows)
    )
    return Chart(
        "places", "left", "Are people still where they belong?",
        f"The release has it within 1 km: {near} of people.", _finish(line),
        ("off by at most", *present), table,
    )  # fmt: skip


def _ratio(persons: Mapping[str, Any], name: str) -> Chart | None:
    """Draw a measure in the release over that in the original (figure 22)."""
    of = persons[name]
    if not of["bins"]:
        return None
    texts = {
        "travelled": ("How far people travel", "distance travelled in the original"),
        "gyration": ("How widely they move", "radius of gyration in the original"),
        "hull": ("How much ground they cover", "area of the convex hull in the original"),
    }
    title, axis = texts[name]
    unit = of["unit"].replace("km2", "km²")
    rows = [dict(row) | {"at": (row["low"] * row["high"]) ** 0.5} for row in of["bins"]]
    base = alt.Chart(_values(rows)).encode(
        x=alt.X("at:Q", scale=alt.Scale(type="log"), title=f"{axis}, {unit}",
                axis=alt.Axis(format="~g", tickCount=6)),
    )  # fmt: skip
    ratio = alt.Scale(type="log")
    band = base.mark_rule(color=AFTER, strokeWidth=4, opacity=0.35).encode(
        y=alt.Y("quarter:Q", scale=ratio, title="release over original",
                axis=alt.Axis(format="~g", tickCount=5)),
        y2="three_quarters:Q",
    )  # fmt: skip
    point = base.mark_point(color=AFTER, filled=True, size=70, opacity=1).encode(
        y=alt.Y("median:Q", scale=ratio),
        tooltip=[alt.Tooltip("at:Q", title=unit, format=".3g"),
                 alt.Tooltip("median:Q", title="median ratio", format=".2f"),
                 alt.Tooltip("people:Q", format=",")],
    )  # fmt: skip
    one = (
        alt.Chart(_values([{"one": 1}]))
        .mark_rule(color="var(--soft)", strokeDash=[4, 4])
        .encode(y=alt.Y("one:Q", scale=ratio))
    )
    says = (
        f"1 would be unchanged; dots are medians, bars the middle half. "
        f"{of['twofold']:.0%} of people are within half and twice their true value."
    )
    table = tuple(
        (f"{row['low']:.3g} to {row['high']:.3g}", f"{row['people']:,}", f"{row['quarter']:.2f}",
         f"{row['median']:.2f}", f"{row['three_quarters']:.2f}") for row in rows
    )  # fmt: skip
    return Chart(
        f"ratio-{name}", "left", title, says, _finish(alt.layer(one, band, point), height=220),
        (f"{axis}, {unit}", "people", "quarter", "median", "three quarters"), table,
    )  # fmt: skip


def _together(together: Mapping[str, Any] | None) -> Chart | None:
    """Draw how much of what everybody does together is still in its place."""
    if not together:
        return None
    names = {
        "visits": "samples by square",
        "population": "people by square and hour",
        "flows": "trips between squares",
    }
    rows = [{"what": text, "share": 1 - together[name]["moved"]} for name, text in names.items()]
    bars = (
        alt.Chart(_values(rows))
        .mark_bar(color=AFTER, height=18)
        .encode(
            y=alt.Y("what:N", sort=None, title=None),
            x=alt.X("share:Q", title="is where it was", axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1])),
            tooltip=[alt.Tooltip("what:N"), alt.Tooltip("share:Q", format=".1%")],
        )
    )  # fmt: skip
    says = (
        f"On squares of {together['grid_km']:g} km: the rest would have to be moved to another "
        f"square (or pair of squares, or hour) to be spread as in the original."
    )
    return Chart(
        "together", "left", "What everybody does together", says, _finish(bars, height=130),
        ("what", "is where it was"),
        tuple((row["what"], _percent(row["share"])) for row in rows),
    )  # fmt: skip
