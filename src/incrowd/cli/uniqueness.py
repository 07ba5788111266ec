"""``incrowd uniqueness``: how few points identify a person among everybody.

The traces of each sensor are measured (`measured`), and shown as tables for a terminal with what
they mean (`uniqueness_lines`); with ``--mechanisms`` also what each mechanism changes
(`effect_lines`).
"""

import contextlib
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._format import WIDTH, percent
from incrowd.cli._console import on_first_progress, progress
from incrowd.cli._messages import print_json
from incrowd.cli._options import AsJson, Source, reads_sensors
from incrowd.cli._screen import print_lines
from incrowd.cli._sensors import (
    ByName,
    Diameter,
    MaxGap,
    MinPlaces,
    MinStay,
    Pois,
    TimeBin,
    traces_of,
)
from incrowd.cli._values import numbers_of
from incrowd.errors import ArgumentError, InputError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.measure._traces import Trace
    from incrowd.measure._uniqueness.encoding import Points
    from incrowd.measure._uniqueness.estimate import Uniqueness

__all__ = [
    "KINDS",
    "SHOWN",
    "VALUES",
    "Measured",
    "effect_lines",
    "measured",
    "uniqueness",
    "uniqueness_lines",
]


KINDS = {"spatio_temporal": "both", "spatial": "place", "temporal": "time"}
VALUES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Where the distributions of figure 3 are shown."""
SHOWN = 4
"""How many points per-person figures are for."""


def uniqueness_lines(found: dict[str, "Measured"], minutes: float, draws: int) -> list[str]:
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
        f"Random points of random people: places and time bins of {minutes:g} min (both), places, "
        f"or time bins in which enough places were visited (time). {draws:,} draws each; the 95 % "
        f"confidence intervals reach at most {wide * 100:.1f} percentage points to either side."
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
    return (
        f" Mean number of people who have the same {crowds[0][2]} points: {', '.join(said) or '-'}."
    )


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
    return f"{percent(share, sign=False):>{width}}"


@reads_sensors
def uniqueness(
    source: Source,
    points: Annotated[
        str,
        typer.Option(
            "--points", help="Numbers of known points, separated by commas.", metavar="P,..."
        ),
    ] = "1,2,3,4,5,6,7,8,9,10,11,12",
    minutes: TimeBin = 60,
    draws: Annotated[
        int, typer.Option(min=1, help="Random sub-traces per number of points.", metavar="N")
    ] = 2500,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed: the same seed gives the same draws.", metavar="N")
    ] = 0,
    each: Annotated[
        int,
        typer.Option(
            "--draws-per-person",
            min=0,
            help="Also draw this many sub-traces of 4 points of each person.",
            metavar="N",
        ),
    ] = 0,
    by_name: ByName = False,
    pois: Pois = False,
    diameter: Diameter = 250,
    stay: MinStay = 30,
    gap: MaxGap = None,
    met: MinPlaces = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Also count all sub-traces of 1 and 2 points, where that is feasible."
        ),
    ] = False,
    mechanisms: Annotated[
        bool,
        typer.Option("--mechanisms", help="Also show how each mechanism changes uniqueness."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure uniqueness: how often a few random points of a trace identify one person.

    A table with a column `sensor` is measured sensor by sensor, and so are several files, one for
    each sensor: GPS by where people stayed, others by the places that they name.

    Example:  `incrowd uniqueness campus.parquet --points 1,2,4,8 --mechanisms`

    Example:  `incrowd uniqueness gsm=gsm.csv wifi=wifi.csv gps=gps.csv`
    """
    wanted = numbers_of(points, "1,2,4,8", "--points")
    if wanted[0] < 1:
        raise ArgumentError(f"--points must be at least 1, not {wanted[0]}")
    poi = {"diameter": diameter, "stay": stay, "gap": gap}
    found = traces_of(source, minutes, poi, by_name=by_name, pois=pois, met=met)
    threads = source.reading["threads"]
    with progress("Drawing", "traces") as update:
        told = on_first_progress(update, "uniqueness")
        all_of_it = measured(
            found, wanted, draws=draws, seed=seed, each=each, exact=exact, threads=threads,
            progress=told,
        )  # fmt: skip
    changes = None
    if mechanisms:
        from incrowd.evaluate._analysis.mechanism_effects import effects

        with progress("Protecting", "traces") as update:
            changes = effects(
                found, poi, minutes, draws=draws, seed=seed, threads=threads, progress=update
            )
    if as_json:
        about = _plain(all_of_it) | {"minutes": minutes, "draws": draws, "seed": seed}
        if changes is not None:
            about["mechanisms"] = changes.to_dicts()
        print_json(about)
        return
    print_lines(uniqueness_lines(all_of_it, minutes, draws))
    if changes is not None:
        print_lines(["", *effect_lines(changes)])


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found of one sensor (or of all of them together).

    Attributes
    ----------
    people, visits, places
        How many there are.
    random, frequent
        Uniqueness by kind of trace: of random points, and of the most frequent ones.
    each
        Of every person, by kind, if asked for.
    exact
        All sub-traces of one and two points, by kind, if asked for and cheap.
    per_person, per_place
        The shares of people with more places, and of places with more people, than `VALUES`.
    """

    people: int
    visits: int
    places: int
    random: dict[str, "Uniqueness"]
    frequent: dict[str, "Uniqueness"]
    each: dict[str, "Uniqueness"]
    exact: dict[str, "Uniqueness"]
    per_person: list[float]
    per_place: list[float]


def measured(
    traces: dict[str, "Trace"],
    wanted: list[int],
    *,
    draws: int,
    seed: int = 0,
    each: int = 0,
    exact: bool = False,
    threads: int | None = None,
    progress: Any = None,
) -> dict[str, Measured]:
    """Measure each sensor and, by place, all of them together."""
    import incrowd
    from incrowd._parallel import cores
    from incrowd.measure._uniqueness.encoding import kinds_of
    from incrowd.measure._uniqueness.estimate import of_points

    tell = progress or (lambda *_: None)
    sure: dict[str, Any] = {"draws": draws, "seed": seed, "threads": cores(threads)}
    plain = {"threads": sure["threads"]}
    total, done, found = 3 * len(traces), 0, {}
    for name, trace in traces.items():
        tell(done, total)
        random, frequent, every, whole = {}, {}, {}, {}
        for kind, laid in kinds_of(trace.visits, **trace.how, **plain):
            random[kind] = of_points(laid, wanted, **sure)
            frequent[kind] = of_points(laid, wanted, model="deterministic", **plain)
            if each:
                every[kind] = of_points(laid, [SHOWN], each=each, **sure)
            if exact:
                with contextlib.suppress(InputError):  # not cheap
                    whole[kind] = of_points(laid, [1, 2], model="exact", **plain)
            if kind == "spatial":
                spread = _spread(laid)
            done += 1
            tell(done, total)
        found[name] = Measured(*_sizes(trace), random, frequent, every, whole, *spread)
    if len(traces) > 1:
        number = len(traces)
        together = [p for p in wanted if p % number == 0] or [number]
        all_visits = {name: trace.visits for name, trace in traces.items()}
        both = incrowd.uniqueness(all_visits, together, kind="spatial", **sure)
        people = _with_all(traces)
        found["together"] = Measured(people, 0, 0, {"spatial": both}, {}, {}, {}, [], [])
    return found


def _with_all(traces: dict[str, "Trace"]) -> int:
    """Count the people of whom every sensor tells something."""
    import numpy as np
    import polars as pl

    return len(
        set.intersection(
            *(
                set(one.visits.people.cast(pl.String).filter(np.diff(one.visits.offsets) > 0))
                for one in traces.values()
            )
        )
    )


def _sizes(trace: "Trace") -> tuple[int, int, int]:
    import numpy as np

    visits = trace.visits
    return len(visits), len(visits.place), len(np.unique(visits.place))


def _spread(places: "Points") -> tuple[list[float], list[float]]:
    import numpy as np

    from incrowd.measure._uniqueness.encoding import exceeding, people_at, places_of

    values = np.array(VALUES)
    return (
        exceeding(places_of(places), values).tolist(),
        exceeding(people_at(places), values).tolist(),
    )


def _plain(found: dict[str, Measured]) -> dict[str, Any]:
    """Give everything for machines."""
    return {
        "sensors": {
            name: {
                "people": one.people,
                "visits": one.visits,
                "places": one.places,
                "random": {kind: which.table.to_dicts() for kind, which in one.random.items()},
                "frequent": {kind: which.table.to_dicts() for kind, which in one.frequent.items()},
                "each": {
                    kind: sorted(which.people["share"].drop_nulls().to_list())
                    for kind, which in one.each.items()
                },
                "exact": {kind: which.table.to_dicts() for kind, which in one.exact.items()},
                "more_than": list(VALUES),
                "people_with_more_places": one.per_person,
                "places_with_more_people": one.per_place,
            }
            for name, one in found.items()
        }
    }


EFFECT_KINDS = {"spatial": "place", "spatio_temporal": "both"}


def effect_lines(changes: "pl.DataFrame") -> list[str]:
    """Say it in lines: a table for each sensor, and what it means."""
    lines = ["What mechanisms change: per cent of sub-traces that one person alone has"]
    for (sensor,), part in changes.group_by("sensor", maintain_order=True):
        heads = f"{'2 points':>10}{'4 points':>10}{'places each':>13}{'visits lost':>13}"
        lines += ["", f"{sensor!s:<12}{'setting':<18}{'points':<8}{heads}"]
        before = ""
        for (mechanism, setting, kind), rows in part.group_by(
            "mechanism", "setting", "kind", maintain_order=True
        ):
            name, before = mechanism if mechanism != before else "", str(mechanism)
            shares = "".join(_percent(share, 10) for share in rows["share"])
            places, lost = rows["places"][0], rows["lost"][0]
            lost = percent(lost) if mechanism == "filter" else ""
            lines.append(
                f"{name!s:<12}{setting!s:<18}{EFFECT_KINDS[str(kind)]:<8}{shares}{places:>13.1f}{lost:>13}"
            )
    meaning = (
        "filter: places that so few people visited go. cloak: times are told in longer slots, or "
        "not at all. Both change traces, as in the paper. generalise: positions and times on a "
        "coarser grid. geo-i: noise on every position (epsilon in 1/m), then POIs are found in "
        "what is left. A share that rises is no mistake: noise leaves fewer POIs, and whoever has "
        "few that nobody shares is unique by them."
    )
    return [*lines, "", *textwrap.wrap(meaning, WIDTH)]
