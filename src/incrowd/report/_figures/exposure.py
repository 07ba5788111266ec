"""Charts of exposure: the k-gap, uniqueness, the nine attacks."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from incrowd.report._figures.chart import AFTER, BEFORE, STROKE, Chart, finish, percent, values

__all__ = [
    "exposure_charts",
]


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


def exposure_charts(numbers: Mapping[str, Any]) -> list[Chart | None]:
    """Give the charts of how exposed people are; None where there are no numbers."""
    before, after = numbers.get("before") or {}, numbers.get("after") or {}
    return [_gap(before.get("k_gap")), _unique(before, after), _attacks(before, after)]


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
        alt.Chart(values(rows))
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
    already = f"{percent(hidden)} of people were" if hidden else "nobody was"
    says = (
        f"Hiding the median person of the original among {gap['k']} costs {spread['median']:.3f}; "
        f"{already} hidden already."
    )
    return Chart(
        "k-gap", "exposure", "How much has to be lost to hide each person", says, finish(line),
        ("k-gap", "people with at most that"),
        tuple((f"{row['gap']:.3f}", percent(row["share"])) for row in rows[::5]),
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
        alt.Chart(values(rows))
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
        f"The share of people singled out grows with what is known: {ends}.", finish(line),
        ("known", *present), table,
    )  # fmt: skip


def _beside(
    rows: Sequence[Mapping[str, Any]], key: str, present: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """Lay rows of several series beside each other."""
    cells = {(row[key], row["when"]): row["share"] for row in rows}
    return tuple(
        (str(at), *(percent(cells.get((at, name))) for name in present))
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
        alt.Chart(values(rows))
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
        f"At worst, they single out {ends}.", finish(bars, height=300),
        ("known", *present), _beside(rows, "attack", present),
    )  # fmt: skip
