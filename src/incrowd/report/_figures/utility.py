"""Charts of what is left: how fine samples are, whether people and places survive."""

from dataclasses import asdict
from typing import Any

import altair as alt

from incrowd._format import QUANTILES, duration, length, percent, significant
from incrowd.evaluate._utility.aggregate import AggregateUtility
from incrowd.evaluate._utility.summary import Persons
from incrowd.report._figures.chart import (
    AFTER,
    BEFORE,
    STROKE,
    THIRD,
    Chart,
    finish,
    one,
    values,
)
from incrowd.report._numbers import Numbers, Precision

__all__ = [
    "utility_charts",
]


QUARTILES = ("quarter", "median", "three_quarters")


def utility_charts(numbers: Numbers) -> list[Chart | None]:
    """Return the charts of accuracy and utility; None where there are no numbers."""
    found: list[Chart | None] = []
    if (precise := numbers.accuracy) is not None:
        found += [_sizes(precise, axis) for axis in ("space", "time")]
        found += [_by_person(precise, axis) for axis in ("space", "time")]
    if (useful := numbers.utility) is not None:
        if useful.persons is not None:
            found.append(_places(useful.persons))
            found += [_ratio(useful.persons, name) for name in ("travelled", "gyration", "hull")]
        found.append(_together(useful.together))
    return found


def _sizes(precise: Precision, axis: str) -> Chart:
    """Draw how large the boxes are in which samples lie (figure 11 has it of published rows)."""
    of = precise.sizes(axis)
    whose = "original samples" if precise.of_samples else "published samples"
    write = length if axis == "space" else duration
    crowded = (200, 5, 240)  # left out, so that the others can be read on a phone
    rows: list[dict[str, Any]] = [
        {"size": write(at), "share": share} for at, share in of.cumulative if at not in crowded
    ]
    last = next((i for i, row in enumerate(rows) if row["share"] == 1), len(rows) - 1)
    rows = rows[: last + 1]
    what, noun = ("wide", "width") if axis == "space" else ("long", "duration")
    bars = (
        alt.Chart(values(rows))
        .mark_bar(color=AFTER)
        .encode(
            x=alt.X("size:N", sort=None, title=f"at most this {noun}",
                    axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("share:Q", title=whose, axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1])),
            tooltip=[alt.Tooltip("size:N", title="at most"), alt.Tooltip("share:Q", format=".1%")],
        )
    )  # fmt: skip
    title = (
        "How precise samples are in space" if axis == "space" else "How precise samples are in time"
    )
    if not precise.of_samples and of.median is not None:
        says = f"Half of the published samples are at most {write(of.median)} {what}."
    elif of.median is not None:
        half = f"at most {write(of.median)} {what}"
        says = f"Half of the original samples lie in a published one {half}."
    else:
        says = "Half of the original samples or more lie in no published one."
    return one(
        f"accuracy-{axis}", "left", title, says, finish(bars, height=220),
        ("at most", whose),
        tuple((row["size"], percent(row["share"])) for row in rows),
    )  # fmt: skip


def _by_person(precise: Precision, axis: str) -> Chart | None:
    """Draw how many people have how many precise samples (figure 12)."""
    wanted = (100, 1_000, 5_000) if axis == "space" else (30, 120, 480)
    write = length if axis == "space" else duration
    kept = [curve for curve in precise.sizes(axis).people if curve.threshold in wanted]
    if not kept:
        return None
    rows: list[dict[str, Any]] = [
        {"limit": write(curve.threshold), "per_cent": 5 * i / 100, "people": share}
        for curve in kept
        for i, share in enumerate(curve.people)
    ]
    names = [write(curve.threshold) for curve in kept]
    scale = alt.Scale(domain=names, range=[AFTER, BEFORE, THIRD])
    dash = alt.Scale(domain=names, range=[[1, 0], [6, 3], [2, 2]])
    line = (
        alt.Chart(values(rows))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("per_cent:Q", title="of their samples, at least",
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
    half = middle.people[10]
    if precise.of_samples:
        says = (
            f"{percent(half, 0)} of the people in the original have at least half of their samples "
            f"in a published one of up to {write(middle.threshold)}."
        )
    else:
        says = (
            f"{percent(half, 0)} of published people have at least half of their published samples "
            f"precise to {write(middle.threshold)}."
        )
    title = f"Who keeps precise samples: in {axis}"
    table = tuple(
        (f"{5 * i}%", *(percent(curve.people[i]) for curve in kept)) for i in range(0, 21, 2)
    )
    return one(
        f"people-{axis}", "left", title, says, finish(line, height=220),
        ("of their samples, at least", *names), table,
    )  # fmt: skip


def _places(persons: Persons) -> Chart | None:
    """Draw how far homes, workplaces and centres are off (figure 21)."""
    places = {
        "centre of mass": persons.centre_of_mass,
        "home": persons.home,
        "workplace": persons.work,
    }
    rows: list[dict[str, Any]] = [
        {"what": text, "km": f"{float(km):g}", "share": share}
        for text, errors in places.items()
        for km in errors.within
        if (share := errors.found_within(km)) is not None
    ]
    if not rows:
        return None
    present = list(dict.fromkeys(row["what"] for row in rows))
    scale = alt.Scale(domain=present, range=[AFTER, BEFORE, THIRD][: len(present)])
    dash = alt.Scale(domain=present, range=[[1, 0], [6, 3], [2, 2]][: len(present)])
    line = (
        alt.Chart(values(rows))
        .mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=40, filled=True))
        .encode(
            x=alt.X("km:N", sort=None, title="error in km, at most",
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
    near = ", ".join(
        f"{text} for {percent(cells.get((text, '1')), missing='')}" for text in present
    )
    table = tuple(
        (f"{km} km", *(percent(cells.get((text, km)), missing="") for text in present))
        for km in dict.fromkeys(row["km"] for row in rows)
    )
    what = " and ".join(f"{text}s" for text in present if text in ("home", "workplace"))
    return one(
        "places", "left", f"Are {what or 'centres of mass'} still found?",
        f"Found within 1 km of the true place: {near} of all people who have one in the original, "
        "published or not.", finish(line),
        ("error, at most", *present), table,
    )  # fmt: skip


def _ratio(persons: Persons, name: str) -> Chart | None:
    """Draw a measure in the release over that in the original (figure 22)."""
    of, title, axis = {
        "travelled": (persons.travelled, "How far people travel", "travel distance"),
        "gyration": (persons.gyration, "How widely they move", "radius of gyration"),
        "hull": (persons.hull, "How much ground they cover", "area of the convex hull"),
    }[name]
    if not of.bins:
        return None
    axis = f"{axis} in the original"
    unit = " ".join(of.unit.replace("km2", "km²").split())  # Vega cannot parse all line ends
    # A logarithm has no 0: what has vanished stands on the lower edge, with a sign of its own.
    found = [getattr(row, name) for row in of.bins for name in QUARTILES]
    edge = min([1.0, *(ratio for ratio in found if ratio > 0)]) / 2
    rows: list[dict[str, Any]] = [
        asdict(row)
        | {"at": (row.low * row.high) ** 0.5, "ratio": row.median}
        | {name: max(edge, getattr(row, name)) for name in QUARTILES}
        for row in of.bins
    ]
    gone = [row for row in rows if row["ratio"] == 0]
    x = alt.X("at:Q", scale=alt.Scale(type="log"), title=f"{axis}, {unit}",
              axis=alt.Axis(format="~g", tickCount=6))  # fmt: skip
    ratio = alt.Scale(type="log", domain=[edge, max([1.0, *found])], nice=False)
    band = (
        alt.Chart(values(rows))
        .mark_rule(color=AFTER, strokeWidth=4, opacity=0.35)
        .encode(
            x=x,
            y=alt.Y("quarter:Q", scale=ratio, title="release over original",
                    axis=alt.Axis(format="~g", tickCount=5)),
            y2="three_quarters:Q",
        )
    )  # fmt: skip
    tooltip = [alt.Tooltip("at:Q", title=unit, format=".3g"),
               alt.Tooltip("ratio:Q", title="median ratio", format=".2f"),
               alt.Tooltip("people:Q", format=",")]  # fmt: skip
    point = (
        alt.Chart(values([row for row in rows if row["ratio"] > 0]))
        .mark_point(color=AFTER, filled=True, size=70, opacity=1)
        .encode(x=x, y=alt.Y("median:Q", scale=ratio), tooltip=tooltip)
    )
    vanished = (
        alt.Chart(values(gone))
        .mark_point(color=BEFORE, shape="triangle-down", size=90, strokeWidth=2, opacity=1)
        .encode(x=x, y=alt.Y("median:Q", scale=ratio), tooltip=tooltip)
    )
    unchanged = (
        alt.Chart(values([{"one": 1}]))
        .mark_rule(color="var(--soft)", strokeDash=[4, 4])
        .encode(y=alt.Y("one:Q", scale=ratio))
    )
    drawn = alt.layer(unchanged, band, *(each for each in (point, vanished) if each.data.values))
    says = (
        "1 means unchanged; dots are medians, bars reach from Q1 to Q3. For "
        f"{percent(of.twofold, 0)} of people it is between half and twice the true value."
    )
    if gone:
        says += (
            " A triangle on the lower edge is a median of 0: of half of these people or more "
            "nothing of it is left."
        )
    if any(row.quarter == 0 < row.median for row in of.bins):
        says += " A bar that reaches the lower edge reaches 0."
    table = tuple(
        (f"{significant(row.low)} to {significant(row.high)}", f"{row.people:,}",
         *(f"{getattr(row, name):.2f}" for name in QUARTILES)) for row in of.bins
    )  # fmt: skip
    return one(
        f"ratio-{name}", "left", title, says, finish(drawn, height=220),
        (f"{axis}, {unit}", "people", *(QUANTILES[name] for name in QUARTILES)), table,
    )  # fmt: skip


def _together(together: AggregateUtility) -> Chart:
    """Draw how much of what everybody does together is still in its place.

    Not of samples by square: a published one stands for several.
    """
    kinds = {
        "people by square and hour": together.population,
        "trips between squares": together.flows,
    }
    rows: list[dict[str, Any]] = [{"what": text, "share": of.common} for text, of in kinds.items()]
    bars = (
        alt.Chart(values(rows))
        .mark_bar(color=AFTER, height=18)
        .encode(
            y=alt.Y("what:N", sort=None, title=None),
            x=alt.X("share:Q", title="in the same place", axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1])),
            tooltip=[alt.Tooltip("what:N"), alt.Tooltip("share:Q", format=".1%")],
        )
    )  # fmt: skip
    says = (
        f"On squares of {together.grid_km:g} km: the rest is missing, there too often, or in "
        f"another square (or pair of squares, or hour)."
    )
    return one(
        "together", "left", "What everybody does together", says, finish(bars, height=100),
        ("what", "in the same place"),
        tuple((row["what"], percent(row["share"])) for row in rows),
    )  # fmt: skip
