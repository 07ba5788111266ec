"""``incrowd uniqueness``: how few points tell a person from everybody else."""

import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.console import once_begun, progress
from incrowd.cli.options import AsJson, Source, numbers_of, reads_sensors
from incrowd.cli.sensing import ByName, Diameter, Gap, Met, Minutes, Pois, Stay, traces_of
from incrowd.cli.tables import SHOWN, VALUES, lines_of
from incrowd.errors import ArgumentError, InputError

if TYPE_CHECKING:
    from incrowd.measure.points import Points
    from incrowd.measure.traces import Trace
    from incrowd.measure.uniqueness import Uniqueness

__all__ = ["Measured", "measured", "uniqueness"]


@reads_sensors
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
    the places that they name. So is one file a sensor, each with the sensor's name before it.

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
    from incrowd.measure.points import kinds_of
    from incrowd.measure.uniqueness import of_points
    from incrowd.threads import cores

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

    from incrowd.measure.spread import exceeding, people_at, places_of

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
