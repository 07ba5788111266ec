"""Charts of exposure: the k-gap, uniqueness, the attacks."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from incrowd._format import percent
from incrowd.attack import ATTACKS
from incrowd.report._figures.chart import AFTER, BEFORE, STROKE, Chart, finish, one, values
from incrowd.report._numbers import Exposure, KGap, Numbers

__all__ = [
    "exposure_charts",
]


def exposure_charts(numbers: Numbers) -> list[Chart | None]:
    """Return the charts of how exposed people are; None where there are no numbers."""
    measured = {"original": numbers.before, "release": numbers.after}
    present = {name: each for name, each in measured.items() if each is not None}
    gap = numbers.before.k_gap if numbers.before is not None else None
    return [_gap(gap), _unique(present), _attacks(present)]


def _series(present: Sequence[str]) -> tuple[alt.Color, alt.StrokeDash]:
    """Tell before from after, by colour and by dash."""
    colours, dashes = (
        {"original": BEFORE, "release": AFTER},
        {"original": [1, 0], "release": [6, 3]},
    )
    scale = alt.Scale(domain=list(present), range=[colours[name] for name in present])
    dash = alt.Scale(domain=list(present), range=[dashes[name] for name in present])
    return alt.Color("when:N", scale=scale), alt.StrokeDash("when:N", scale=dash, legend=STROKE)


def _gap(gap: KGap | None) -> Chart | None:
    """Draw how the k-gap is spread (figure 6 of the paper)."""
    if gap is None:
        return None
    line = (
        alt.Chart(values([{"gap": at, "share": share} for at, share in gap.curve]))
        .mark_line(color=BEFORE, strokeWidth=2.5, interpolate="step-after")
        .encode(
            x=alt.X("gap:Q", title="k-gap: 0 hidden already, 1 nothing would be left"),
            y=alt.Y(
                "share:Q", title="people with at most this k-gap", axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            tooltip=[
                alt.Tooltip("gap:Q", title="k-gap", format=".3f"),
                alt.Tooltip("share:Q", title="people", format=".1%"),
            ],
        )
    )  # fmt: skip
    hidden = gap.hidden_already
    already = f"{percent(hidden)} of people were" if hidden else "nobody was"
    says = (
        f"Half of the people in the original have a k-gap for {gap.k} of "
        f"{gap.spread['median']:.3f} or less; {already} hidden already."
    )
    return one(
        "k-gap", "exposure", "How hard people are to hide", says, finish(line),
        ("k-gap", "people with at most this k-gap"),
        tuple((f"{at:.3f}", percent(share)) for at, share in gap.curve[::5]),
    )  # fmt: skip


def _unique(measured: Mapping[str, Exposure]) -> Chart | None:
    """Draw uniqueness by the number of points that are known."""
    rows: list[dict[str, Any]] = [
        {"when": name, "points": row.points, "share": row.share}
        for name, exposure in measured.items()
        for row in exposure.known()
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
    ends = ", ".join(
        f"in the {name} from {percent(s[0], 0)} to {percent(s[-1], 0)}" for name, s in most.items()
    )
    table = _beside(rows, "points", present)
    return one(
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
        (str(at), *(percent(cells.get((at, name)), missing="") for name in present))
        for at in dict.fromkeys(row[key] for row in rows)
    )


def _attacks(measured: Mapping[str, Exposure]) -> Chart | None:
    """Draw what each attack finds, by its label."""
    risks = {name: each.risk for name, each in measured.items() if each.risk is not None}
    rows: list[dict[str, Any]] = [
        {"when": name, "attack": ATTACKS[row.attack].label, "share": row.told_apart}
        for name, risk in risks.items()
        for row in risk.attacks
    ]
    if not rows:
        return None
    present, labels = list(risks), dict.fromkeys(row["attack"] for row in rows)
    colour, _ = _series(present)
    known = next(iter(risks.values())).known
    bars = (
        alt.Chart(values(rows))
        .mark_bar(height=8)
        .encode(
            y=alt.Y("attack:N", title=None, sort=list(labels)),
            yOffset=alt.YOffset("when:N", sort=present),
            x=alt.X("share:Q", title="people uniquely re-identified",
                    axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=colour,
            tooltip=[alt.Tooltip("when:N", title="in the"), alt.Tooltip("attack:N"),
                     alt.Tooltip("share:Q", format=".1%")],
        )
    )  # fmt: skip
    knows = {each.label: each.summary for each in ATTACKS.values()}
    worst = {name: max(r["share"] for r in rows if r["when"] == name) for name in present}
    ends = ", ".join(f"{percent(s, 0)} of people in the {name}" for name, s in worst.items())
    return one(
        "attacks",
        "exposure",
        f"What {len(labels)} kinds of attackers find who know {known} points",
        f"At worst, they uniquely re-identify {ends}.",
        finish(bars, height=max(300, 33 * len(labels))),
        ("what the attacker knows", *present),
        tuple(
            (f"{label}: {knows[label]}", *shares)
            for label, *shares in _beside(rows, "attack", present)
        ),
    )
