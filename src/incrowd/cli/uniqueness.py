"""``incrowd uniqueness``: how few points tell a person from everybody else."""

import contextlib
import json
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.console import once_begun, progress
from incrowd.cli.measure import WIDTH
from incrowd.cli.options import AsJson, Source, numbers_of, reads_data
from incrowd.cli.sensing import ByName, Diameter, Gap, Met, Minutes, Pois, Stay, traces_of
from incrowd.errors import ArgumentError, InputError

if TYPE_CHECKING:
    from incrowd.measure.traces import Trace
    from incrowd.measure.uniqueness import Uniqueness

__all__ = ["KINDS", "beside", "lines_of", "measured", "uniqueness"]

KINDS = {"spatio_temporal": "both", "spatial": "place", "temporal": "time"}
VALUES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Where the distributions of figure 3 are shown."""
SHOWN = 4
"""How many points per-person figures are for."""


@reads_data
def uniqueness(
    source: Source,
    points: Annotated[
        str, typer.Option("--points", help="How many points are known.", metavar="P,...")
    ] = "1,2,3,4,5,6,7,8,9,10,11,12",
    minutes: Minutes = 60,
    draws: Annotated[int, typer.Option(min=1, help="Random sub-traces for each number.")] = 2500,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same draws.")] = 0,
    each: Annotated[
        int, typer.Option(min=0, help="Also draw so many of each person, of 4 points.", metavar="N")
    ] = 0,
    by_name: ByName = False,
    pois: Pois = False,
    diameter: Diameter = 250,
    stay: Stay = 30,
    gap: Gap = None,
    met: Met = None,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Also try all sub-traces of 1 and 2 points, where cheap."),
    ] = False,
    mechanisms: Annotated[
        bool, typer.Option("--mechanisms", help="Also show what each mechanism changes.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find how many people a few random points of their traces tell from everybody else.

    A table with a column `sensor` is taken sensor by sensor: gps by where people stayed, others by
    the places that they name.

    Example:  `incrowd uniqueness campus.parquet --points 1,2,4,8 --mechanisms`
    """
    wanted = numbers_of(points, "1,2,4,8", "--points")
    if wanted[0] < 1:
        raise ArgumentError(f"--points must be at least 1, not {wanted[0]}")
    poi = {"diameter": diameter, "stay": stay, "gap": gap}
    found = traces_of(source, minutes, poi, by_name=by_name, pois=pois, met=met)
    threads = source.reading["threads"]
    with progress("Drawing", "traces") as update:
        told = once_begun(update, "measure.holders:_count", "half a minute")
        all_of_it = measured(
            found, wanted, draws=draws, seed=seed, each=each, exact=exact, threads=threads,
            progress=told,
        )  # fmt: skip
    changes = None
    if mechanisms:
        from incrowd.evaluate.effects import effects

        with progress("Protecting", "traces") as update:
            changes = effects(
                found, poi, minutes, draws=draws, seed=seed, threads=threads, progress=update
            )
    if as_json:
        about = _plain(all_of_it) | {"minutes": minutes, "draws": draws, "seed": seed}
        if changes is not None:
            about["mechanisms"] = changes.to_dicts()
        print(json.dumps(about, indent=2))
        return
    print("\n".join(lines_of(all_of_it, minutes, draws)))
    if changes is not None:
        from incrowd.cli.effects import lines_of as changed

        print("\n".join(["", *changed(changes)]))


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

    tell = progress or (lambda *_: None)
    sure: dict[str, Any] = {"draws": draws, "seed": seed, "threads": threads}
    total, done, found = 3 * len(traces), 0, {}
    for name, trace in traces.items():
        random, frequent, every, whole = {}, {}, {}, {}
        for kind in KINDS:
            tell(done, total)
            random[kind] = incrowd.uniqueness(trace.visits, wanted, kind=kind, **trace.how, **sure)
            if kind != "spatio_temporal":
                frequent[kind] = incrowd.uniqueness(
                    trace.visits, wanted, kind=kind, model="deterministic", threads=threads,
                    **trace.how,
                )  # fmt: skip
            if each:
                every[kind] = incrowd.uniqueness(
                    trace.visits, SHOWN, kind=kind, each=each, **trace.how, **sure
                )
            if exact:
                with contextlib.suppress(InputError):  # not cheap
                    whole[kind] = incrowd.uniqueness(
                        trace.visits, [1, 2], kind=kind, model="exact", threads=threads, **trace.how
                    )
            done += 1
        found[name] = Measured(*_sizes(trace), random, frequent, every, whole, *_spread(trace))
    tell(done, total)
    if len(traces) > 1:
        number = len(traces)
        together = [p for p in wanted if p % number == 0] or [number]
        all_visits = {name: trace.visits for name, trace in traces.items()}
        both = incrowd.uniqueness(all_visits, together, kind="spatial", **sure)
        people = int(both.table["people"][0] + both.table["left_out"][0])
        found["together"] = Measured(people, 0, 0, {"spatial": both}, {}, {}, {}, [], [])
    return found


def _sizes(trace: "Trace") -> tuple[int, int, int]:
    import numpy as np

    visits = trace.visits
    return len(visits), len(visits.place), len(np.unique(visits.place))


def _spread(trace: "Trace") -> tuple[list[float], list[float]]:
    import numpy as np

    from incrowd.measure.points import points_of
    from incrowd.measure.spread import exceeding, people_at, places_of

    places = points_of(trace.visits, "spatial")
    values = np.array(VALUES)
    return (
        exceeding(places_of(places), values).tolist(),
        exceeding(people_at(places), values).tolist(),
    )


def lines_of(found: dict[str, Measured], minutes: float, draws: int) -> list[str]:
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


def _random(single: dict[str, Measured], minutes: float, draws: int) -> list[str]:
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
    behind = [
        f"{name} {KINDS[kind]} {table['crowd'][-1]:,.3g}"
        for (name, kind), table in zip(
            ((name, kind) for name in single for kind in KINDS), tables, strict=True
        )
        if table["crowd"][-1] is not None
    ]
    meaning += f" {tables[0]['points'][-1]} points leave so many people on average: "
    meaning += f"{', '.join(behind) or '-'}."
    if most:
        meaning += f" People with fewer points are left out: up to {most}."
    return [*lines, "", *textwrap.wrap(meaning, WIDTH)]


def _every(single: dict[str, Measured]) -> list[str]:
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


def _frequent(single: dict[str, Measured]) -> list[str]:
    """Say how unique the most frequent points are."""
    kinds = [kind for kind in KINDS if kind != "spatio_temporal"]
    lines = [
        "Most frequent points: per cent of people who alone have them",
        f"{'':<8}" + "".join(f"{name:^16}" for name in single),
        f"{'points':<8}" + "".join(f"{KINDS[kind]:>8}" for _ in single for kind in kinds),
    ]
    tables = [one.frequent[kind].table for one in single.values() for kind in kinds]
    for i, p in enumerate(tables[0]["points"]):
        lines.append(f"{p:<8}" + "".join(_percent(table["share"][i], 8) for table in tables))
    return lines


def _together(both: Measured, single: dict[str, Measured]) -> list[str]:
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


def _people(single: dict[str, Measured]) -> list[str]:
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


def _distributions(single: dict[str, Measured]) -> list[str]:
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


def beside(before: dict[str, "Uniqueness"], after: dict[str, "Uniqueness"]) -> list[str]:
    """Say in lines how unique people are before and after everybody was hidden."""
    lines = [
        "Per cent of random sub-traces that one person alone has",
        f"{'':<8}" + "".join(f"{KINDS[kind]:^20}" for kind in before),
        f"{'points':<8}" + "".join(f"{head:>10}" for _ in before for head in ("before", "after")),
    ]
    columns = [which[kind].table for kind in before for which in (before, after)]
    for i, p in enumerate(columns[0]["points"]):
        lines.append(f"{p:<8}" + "".join(_percent(table["share"][i], 10) for table in columns))
    meaning = (
        "Points are places and hours (both), places, or hours. After: of what is published, where "
        "a place is a rectangle and every record is that of a whole crowd. A person whose record "
        "has fewer points is left out (-: everybody)."
    )
    return [*lines, "", *textwrap.wrap(meaning, WIDTH)]


def _percent(share: float | None, width: int) -> str:
    return f"{'-' if share is None else f'{share * 100:.1f}':>{width}}"


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
