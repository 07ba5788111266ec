"""Traces of one or several sensors, for the commands that work on them.

`traces_of` reads the data, sensor by sensor if it has several, and returns the trace of each: the
places that a sensor names, or, of GPS, the points of interest where people stayed.
`visits_by_name` reads one table whose places have names and need no position.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli._console import say
from incrowd.cli._options import Source
from incrowd.errors import ArgumentError, ColumnError, InputError

if TYPE_CHECKING:
    from incrowd.data._visits import Visits
    from incrowd.measure._traces import Trace

__all__ = [
    "ByName",
    "Diameter",
    "MaxGap",
    "MinPlaces",
    "MinStay",
    "NamedPlaces",
    "Pois",
    "TimeBin",
    "traces_of",
    "visits_by_name",
]


MINUTE = 60
"""Seconds of a time step, as for positions."""
_POI, _TRACES = "Points of interest (POIs) of GPS positions", "Traces"


def _option(
    panel: str, text: str, *names: str, show: str | None = None, usual: str | bool = True
) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, metavar=show, show_default=usual)


TimeBin = Annotated[
    float,
    _option(
        _TRACES,
        "Time bin: visits to a place within one count once.",
        "--time-bin",
        show="MINUTES",
    ),
]
_BY_NAME = "Take places by their names, not by their positions"
ByName = Annotated[bool, _option(_TRACES, f"{_BY_NAME}.", "--by-name")]
NamedPlaces = Annotated[
    bool,
    typer.Option(
        "--by-name", help=f"{_BY_NAME}: for data that names places and has no coordinates."
    ),
]
MinPlaces = Annotated[
    int | None,
    _option(
        _TRACES,
        "Number of places that a person must visit within a time bin for it to count as a point.",
        "--min-places",
        show="N",
        usual="3, and 1 for POIs",
    ),
]
Pois = Annotated[bool, _option(_POI, "Take the places where people stayed.", "--pois")]
Diameter = Annotated[
    float, _option(_POI, "Diameter of a POI, metres.", "--poi-diameter", show="METRES")
]
MinStay = Annotated[float, _option(_POI, "Shortest stay.", "--min-stay", show="MINUTES")]
MaxGap = Annotated[
    float | None,
    _option(
        _POI,
        "Longest gap between two positions of one stay.",
        "--max-gap",
        show="MINUTES",
        usual="that of --min-stay",
    ),
]


_OPTION = {
    "time": "--from or --to",
    "per_day": "--per-day",
    "active": "--active",
    "every_day": "--every-day",
    "share": "--sample-people",
    "seed": "--sample-seed",
}
"""Options that take a part of the data, by the names that `incrowd.select` has for them."""


def traces_of(
    source: Source,
    minutes: float,
    poi: dict[str, Any],
    *,
    by_name: bool = False,
    pois: bool = False,
    met: int | None = None,
) -> dict[str, "Trace"]:
    """Read the data, sensor by sensor if it has several; `met` is the least number of places."""
    if by_name and pois:
        raise ArgumentError(
            "--by-name and --pois cannot be combined: places are taken either by their names or "
            "from positions"
        )
    if met is not None and met < 1:
        raise ArgumentError(f"--min-places must be at least 1, not {met}")
    found = _with_visits(_read(source, minutes, poi, by_name=by_name, pois=pois))
    if source.files:
        _say_who_lacks(found)
    if met is None:
        return found
    return {name: replace(trace, met=met) for name, trace in found.items()}


def visits_by_name(source: Source) -> "Visits":
    """Read visits to places by their names, in time steps as asked for; a minute unless given."""
    import incrowd
    from incrowd.measure._traces import without_grid

    _refuse_part(source)
    slot = source.reading["slot"]
    how = without_grid(source.reading) | {"slot": MINUTE if slot is None else slot}
    with source.reading_rows() as update:
        return incrowd.read_visits(source.path, progress=update, **how)


def _refuse_part(source: Source) -> None:
    """Refuse to take a part of data in which places are taken by their names."""
    chosen = [name for name, value in source.selecting.items() if value and name != "zone"]
    if chosen:
        raise ArgumentError(
            f"{', '.join(_OPTION[name] for name in chosen)} cannot be used where places are "
            "taken by their names; take that part of the file beforehand (incrowd convert does, if "
            "it has positions), or use --bbox"
        )


def _with_visits(traces: dict[str, "Trace"]) -> dict[str, "Trace"]:
    """Leave out sensors that tell nothing, and say so; refuse if none is left."""
    empty = [name for name, trace in traces.items() if not len(trace.visits.place)]
    why = {
        name: "no stay is long enough to make a point of interest (see --min-stay)"
        if traces[name].pois is not None
        else "it has no visits"
        for name in empty
    }
    if len(empty) == len(traces):
        raise InputError("; ".join(f"{name}: {text}" for name, text in why.items()))
    for name, text in why.items():
        say(f"note: {name} is left out: {text}")
    return {name: trace for name, trace in traces.items() if name not in why}


def _read(
    source: Source, minutes: float, poi: dict[str, Any], *, by_name: bool, pois: bool
) -> dict[str, "Trace"]:
    from incrowd.data._io.read import sensors_of
    from incrowd.measure._traces import FINE, met_at, stayed, traces

    wanted = source.reading["sensor"]
    names = list(source.files) or ([wanted] if wanted else sensors_of(source.path))
    if names or by_name:
        _refuse_part(source)
        reading = {name: value for name, value in source.reading.items() if name != "sensor"}
        with source.reading_rows() as update:
            how: dict[str, Any] = {"minutes": minutes, **poi, "progress": update, **reading}
            if not names:
                return traces({"data": source.path}, pois=(), **how)
            stays = names if pois else () if by_name else ("gps",)
            if source.files:
                return _file_by_file(source.files, wanted, stays, how)
            return traces(source.path, sensors=names, pois=stays, **how)
    if pois and source.reading["cell"] is None and source.reading.get("frame") is None:
        source.reading["cell"] = FINE
    data = source.read()
    if pois:
        return {"data": stayed(data, minutes, **poi)}
    return {"data": met_at(data, minutes)}


def _file_by_file(
    files: dict[str, str], wanted: str | None, stays: Iterable[str], how: dict[str, Any]
) -> dict[str, "Trace"]:
    """Read the file of each sensor; say of which one it is that something is wrong with it."""
    from incrowd.data._io.read import sensors_of
    from incrowd.measure._traces import traces

    if wanted and wanted.lower() not in files:
        raise ArgumentError(
            f"--sensor {wanted}: no file is given for it; there are files for {', '.join(files)}"
        )
    found: dict[str, Trace] = {}
    for name, path in files.items():
        if wanted and name != wanted.lower():
            continue
        try:
            _refuse_others(path, name, sensors_of(path))
            found |= traces({name: path}, pois=stays, **how)
        except ColumnError as error:
            hint = "" if name in stays else " Positions are used for gps, or with --pois."
            raise ColumnError(f"{name}: {error}{hint}") from error
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
    return found


def _refuse_others(path: str, name: str, sensors: list[str]) -> None:
    """Refuse a file of one sensor that has rows of others."""
    if set(sensors) - {name}:
        raise InputError(
            f"{path} has rows of several sensors ({', '.join(sensors)}); give it without "
            f"{name}= before it, so that its column `sensor` is used"
        )


def _say_who_lacks(traces: dict[str, "Trace"]) -> None:
    """Say how many people are in some files only; they are not in what takes all together."""
    import polars as pl

    people = {name: set(trace.visits.people.cast(pl.String)) for name, trace in traces.items()}
    everybody = set().union(*people.values())
    lack = {name: len(everybody - own) for name, own in people.items()}
    missing = ", ".join(f"{number:,} not in {name}" for name, number in lack.items() if number)
    if missing:
        all_of_them = len(set.intersection(*people.values()))
        say(
            f"note: {len(everybody):,} people in all, {all_of_them:,} of them in every file "
            f"({missing})"
        )
