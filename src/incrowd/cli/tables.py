"""How unique people are, in tables for a terminal, and what they mean."""

import textwrap
from typing import TYPE_CHECKING

from incrowd.cli.measure import WIDTH

if TYPE_CHECKING:
    from incrowd.cli.uniqueness import Measured
    from incrowd.measure.uniqueness import Uniqueness

__all__ = ["KINDS", "SHOWN", "VALUES", "lines_of"]

KINDS = {"spatio_temporal": "both", "spatial": "place", "temporal": "time"}
VALUES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Where the distributions of figure 3 are shown."""
SHOWN = 4
"""How many points per-person figures are for."""


def lines_of(found: dict[str, "Measured"], minutes: float, draws: int) -> list[str]:
    """Say it in lines: tables, and what they mean."""
    single = {name: one for name, one in found.items() if name != "together"}
    lines = [f"{'sensor':<12}{'people':>10}{'visits':>14}{'places':>10}"]
    for name, one in single.items():
        lines.append(f"{name:<12}{one.people:>10,}{one.visits:>14,}{one.places:>10,}")
    lines += ["", *_random(single, minutes, draws), "", *_frequent(single)]
    if any(one.exact for one in single.values()):
        lines += ["", *_every(single)]
    if "together" in found:
        lines += ["", *_together(found["together"], single)]
    if any(one.each for one in single.values()):
        lines += ["", *_people(single)]
    return [*lines, "", *_distributions(single)]


def _random(single: dict[str, "Measured"], minutes: float, draws: int) -> list[str]:
    """Say how unique random points are."""
    lines = [
        "Random points: per cent of sub-traces that one person alone has",
        f"{'':<8}" + "".join(f"{name:^24}" for name in single),
        f"{'points':<8}" + "".join(f"{head:>8}" for _ in single for head in KINDS.values()),
    ]
    tables = [one.random[kind].table for one in single.values() for kind in KINDS]
    for i, p in enumerate(tables[0]["points"]):
        lines.append(f"{p:<8}" + "".join(_percent(table["share"][i], 8) for table in tables))
    left = {
        f"{name} ({KINDS[kind]})": int(one.random[kind].table["left_out"].max())  # type: ignore[arg-type]
        for name, one in single.items()
        for kind in KINDS
    }
    most = ", ".join(f"{number:,} of {name}" for name, number in left.items() if number)
    reach = [
        max(share - low, high - share)
        for table in tables
        for share, low, high in table.select("share", "low", "high").drop_nulls().rows()
    ]
    wide = max(reach, default=0)
    meaning = (
        f"Of random people, so many random points: places and slots of {minutes:g} min (both), "
        f"places, or slots in which enough places were met (time). {draws:,} draws each; the share "
        f"of all sub-traces is within {wide * 100:.1f} points of these, 19 times of 20."
    )
    meaning += _behind({name: one.random for name, one in single.items()})
    if most:
        meaning += f" People with fewer points are left out: up to {most}."
    return [*lines, "", *textwrap.wrap(meaning, WIDTH)]


def _every(single: dict[str, "Measured"]) -> list[str]:
    """Say how unique all sub-traces of one and two points are."""
    lines = [
        "All sub-traces, exactly: per cent that one person alone has, a mean over people",
        f"{'':<8}" + "".join(f"{name:^24}" for name in single),
        f"{'points':<8}" + "".join(f"{head:>8}" for _ in single for head in KINDS.values()),
    ]
    for i in range(2):
        shares = [
            one.exact[kind].table["share"][i] if kind in one.exact else None
            for one in single.values()
            for kind in KINDS
        ]
        lines.append(f"{i + 1:<8}" + "".join(_percent(share, 8) for share in shares))
    return lines


def _frequent(single: dict[str, "Measured"]) -> list[str]:
    """Say how unique the most frequent points are."""
    lines = [
        "Most frequent points: per cent of people who alone have them",
        f"{'':<8}" + "".join(f"{name:^24}" for name in single),
        f"{'points':<8}" + "".join(f"{head:>8}" for _ in single for head in KINDS.values()),
    ]
    tables = [one.frequent[kind].table for one in single.values() for kind in KINDS]
    for i, p in enumerate(tables[0]["points"]):
        lines.append(f"{p:<8}" + "".join(_percent(table["share"][i], 8) for table in tables))
    meaning = (
        "Of every person with so many points, those that occur most: places and slots by the "
        "visits in them (both), places by their slots, slots by their places (time); of equals, "
        "the earlier."
    )
    meaning += _behind({name: one.frequent for name, one in single.items()})
    return [*lines, "", *textwrap.wrap(meaning, WIDTH)]


def _behind(found: dict[str, dict[str, "Uniqueness"]]) -> str:
    """Say how large the crowds are that the most points leave."""
    crowds = [
        (name, KINDS[kind], one.table["points"][-1], one.table["crowd"][-1])
        for name, kinds in found.items()
        for kind, one in kinds.items()
    ]
    said = [f"{name} {kind} {crowd:,.3g}" for name, kind, _, crowd in crowds if crowd is not None]
    return f" {crowds[0][2]} points leave so many people on average: {', '.join(said) or '-'}."


def _together(both: "Measured", single: dict[str, "Measured"]) -> list[str]:
    """Say how unique points of all sensors together are."""
    table = both.random["spatial"].table
    lines = [
        f"Places of all sensors together, equally many of each ({both.people:,} people have all)",
        f"{'points':<8}{'together':>10}" + "".join(f"{name:>10}" for name in single),
    ]
    for row in table.to_dicts():
        alone = [
            dict(zip(one.random["spatial"].table["points"], one.random["spatial"].table["share"],
                     strict=True)).get(row["points"])
            for one in single.values()
        ]  # fmt: skip
        shares = "".join(_percent(share, 10) for share in (row["share"], *alone))
        lines.append(f"{row['points']:<8}{shares}")
    return lines


def _people(single: dict[str, "Measured"]) -> list[str]:
    """Say how much people differ."""
    heads = ("least", "tenth", "quarter", "median", "3 quarters", "most")
    lines = [
        f"People differ: per cent of each one's sub-traces of {SHOWN} points that are hers alone",
        f"{'sensor':<12}{'points':<8}" + "".join(f"{head:>12}" for head in heads),
    ]
    for name, one in single.items():
        for kind, every in one.each.items():
            shares = every.people["share"].drop_nulls()
            ends = [shares.quantile(q, "nearest") for q in (0, 0.1, 0.25, 0.5, 0.75, 1)]
            lines.append(f"{name:<12}{KINDS[kind]:<8}" + "".join(_percent(end, 12) for end in ends))
    return lines


def _distributions(single: dict[str, "Measured"]) -> list[str]:
    """Say how places are spread over people, and people over places."""
    lines = [
        "Per cent of people with more places, and of places with more people, than",
        f"{'':<8}" + "".join(f"{name:^18}" for name in single),
        f"{'':<8}" + "".join(f"{head:>9}" for _ in single for head in ("people", "places")),
    ]
    for i, value in enumerate(VALUES):
        shares = [share[i] for one in single.values() for share in (one.per_person, one.per_place)]
        if any(shares) or i == 0:
            lines.append(f"{value:<8,}" + "".join(_percent(share, 9) for share in shares))
    return lines


def _percent(share: float | None, width: int) -> str:
    return f"{'-' if share is None else f'{share * 100:.1f}':>{width}}"
