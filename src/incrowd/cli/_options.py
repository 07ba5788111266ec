"""Options that several commands share: how to read data, and which part of it to take.

A command takes ``source: Source`` among its parameters; :func:`reads_data` replaces it by the
options below, and hands the command a ready `Source` whose `read` gives the trajectories.
:func:`reads_original` does the same for a command that can do without data, under ``--original``;
:func:`reads_sensors` for one that takes a file for each sensor, like ``gsm=gsm.csv gps=gps.csv``.

Data given as one file for each sensor, like ``gsm=gsm.csv wifi=wifi.csv gps=gps.csv``.
"""

import functools
import glob
import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from incrowd.cli._console import progress, say
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from incrowd.data._frame import Frame
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "AsJson",
    "Force",
    "LocalZone",
    "PeopleFile",
    "RecordFile",
    "ReleaseFolder",
    "Source",
    "by_sensor",
    "in_units",
    "numbers_of",
    "reads_data",
    "reads_original",
    "reads_sensors",
]


_NAMED = r"([^\W\d][\w-]*)=(.+)"
"""A sensor and its file."""


def by_sensor(given: list[str]) -> tuple[str, dict[str, str]]:
    """Give the one path, or the file of each sensor if they are named: ``gsm=gsm.csv``."""
    # A path may have a = in it, as folders of partitions do; then it is there.
    there = [bool(glob.glob(one)) for one in given]  # noqa: PTH207  absolute ones, too
    named = [
        None if is_path else re.fullmatch(_NAMED, one)
        for is_path, one in zip(there, given, strict=True)
    ]
    if len(given) == 1 and named[0] is None:
        return given[0], {}
    files: dict[str, str] = {}
    for one, match in zip(given, named, strict=True):
        if match is None:
            raise ArgumentError(
                f"of several files each is that of a sensor, like gsm=gsm.csv; {one!r} does not "
                "name one (a quoted pattern, like 'june-*.csv', is one table)"
            )
        name, path = match[1].lower(), match[2]
        if name in files:
            raise ArgumentError(
                f"sensor {name!r} is named twice ({files[name]} and {path}); several files of a "
                "sensor are given as a folder or a quoted pattern"
            )
        files[name] = path
    return " ".join(given), files


_COLUMNS, _GRID = "Which column is what (found by usual names unless given)", "Grid and clock"
_ROWS, _PART, _MACHINE = "Rows and files", "Which part to take", "Machine"
_WIDEST = 2**31 - 1
"""Cells and slots are 32-bit integers: nothing is wider or longer."""


def _option(panel: str, text: str, *names: str, show: str | None = None) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, metavar=show)


Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
AsJson = Annotated[bool, typer.Option("--json", help="For machines.")]
ReleaseFolder = Annotated[Path, typer.Argument(help="The directory of a release.", metavar="DIR")]
RecordFile = Annotated[
    Path | None,
    typer.Option("--record", help="The private record of who became whom.", metavar="FILE"),
]
LocalZone = Annotated[
    str | None,
    typer.Option(
        "--local",
        help="Zone whose nights and working hours count; that of --tz unless given.",
        metavar="ZONE",
    ),
]
PeopleFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Also write a row for each person: a .parquet, .csv, .csv.gz or .csv.zst file.",
        metavar="FILE",
    ),
]


@dataclass(frozen=True, slots=True)
class Source:
    """Data on disk, and how to read it; the file of each sensor, where each has its own."""

    path: str
    reading: dict[str, Any]
    selecting: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)

    def read(self) -> "Trajectories":
        """Read the data and take the part that was asked for."""
        import incrowd

        with progress("Reading", "rows") as update:
            data = incrowd.read(self.path, progress=update, **self.reading)
        return incrowd.select(data, **self.selecting)

    def read_on(self, grid: "Frame") -> "Trajectories":
        """Read the data as `read` does, on a grid in all that was not asked for otherwise.

        Without a progress of its own: whoever has the grid is at work and shows one already.
        """
        import incrowd

        asked = {name: self.reading[name] for name in ("crs", "cell", "slot")}
        how: dict[str, Any] = {"frame": grid}
        if any(value is not None for value in asked.values()):
            how = {
                name: getattr(grid, name) if value is None else value
                for name, value in asked.items()
            }
        return incrowd.select(incrowd.read(self.path, **self.reading | how), **self.selecting)


def _source(
    data: Annotated[str, typer.Argument(help="A CSV or Parquet file, a folder or a glob.")],
    user: Annotated[str | None, _option(_COLUMNS, "Who.", show="COLUMN")] = None,
    time: Annotated[str | None, _option(_COLUMNS, "When.", show="COLUMN")] = None,
    lat: Annotated[str | None, _option(_COLUMNS, "Latitude.", show="COLUMN")] = None,
    lon: Annotated[str | None, _option(_COLUMNS, "Longitude.", show="COLUMN")] = None,
    x: Annotated[str | None, _option(_COLUMNS, "Metres east.", "--x", show="COLUMN")] = None,
    y: Annotated[str | None, _option(_COLUMNS, "Metres north.", "--y", show="COLUMN")] = None,
    place: Annotated[
        str | None, _option(_COLUMNS, "Antenna, venue or zone.", show="COLUMN")
    ] = None,
    geometry: Annotated[str | None, _option(_COLUMNS, "Points in WKT.", show="COLUMN")] = None,
    cells: Annotated[
        Path | None,
        _option(_COLUMNS, "A table (id, lat, lon) for data that names cells.", show="FILE"),
    ] = None,
    sensor: Annotated[
        str | None, _option(_COLUMNS, "Take rows of this sensor only.", show="NAME")
    ] = None,
    crs: Annotated[
        str | None, _option(_GRID, "The plane, in metres, like EPSG:2154.", show="CRS")
    ] = None,
    cell: Annotated[
        float | None, _option(_GRID, "Side of a cell; 100 unless given.", show="M")
    ] = None,
    slot: Annotated[
        int | None, _option(_GRID, "Length of a slot; 60 unless given.", show="S")
    ] = None,
    tz: Annotated[
        str | None, _option(_GRID, "Zone of times that name none; UTC unless given.", show="ZONE")
    ] = None,
    time_format: Annotated[
        str | None, _option(_GRID, "Of times, as for strptime.", show="FORMAT")
    ] = None,
    time_unit: Annotated[
        str | None, _option(_GRID, "Of numeric times: s, ms, us or ns.", show="UNIT")
    ] = None,
    window: Annotated[
        str | None, _option(_ROWS, "Times outside are bad rows.", show="START,END")
    ] = None,
    strict: Annotated[bool, _option(_ROWS, "Stop at the first bad row.", "--strict")] = False,
    max_bad: Annotated[
        float, _option(_ROWS, "Share of rows that may be bad.", show="SHARE")
    ] = 0.05,
    names: Annotated[
        str | None, _option(_ROWS, "Column names of files without a header.", show="A,B,...")
    ] = None,
    separator: Annotated[
        str | None, _option(_ROWS, "Of text files; found unless given.", show="CHARACTER")
    ] = None,
    decimal: Annotated[str, _option(_ROWS, "Decimal mark of text files.", show="MARK")] = ".",
    bbox: Annotated[
        str | None, _option(_PART, "Inside this box, in degrees.", show="W,S,E,N")
    ] = None,
    since: Annotated[
        str | None, _option(_PART, "From this time on.", "--from", show="TIME")
    ] = None,
    until: Annotated[str | None, _option(_PART, "Before this time.", "--to", show="TIME")] = None,
    per_day: Annotated[
        float | None, _option(_PART, "People with at least so many samples a day.", show="N")
    ] = None,
    active: Annotated[
        float | None, _option(_PART, "People seen on at least this share of days.", show="SHARE")
    ] = None,
    every_day: Annotated[bool, _option(_PART, "People seen on every day.", "--every-day")] = False,
    share: Annotated[
        float | None, _option(_PART, "A random share of people.", show="SHARE")
    ] = None,
    share_seed: Annotated[int, _option(_PART, "Makes the random share repeatable.", show="N")] = 0,
    memory: Annotated[
        str | None, _option(_MACHINE, "Limit, like 4GB; rows beyond go to disk.", show="SIZE")
    ] = None,
    threads: Annotated[int | None, _option(_MACHINE, "All cores unless given.", show="N")] = None,
    temp_dir: Annotated[Path | None, _option(_MACHINE, "For temporary files.", show="DIR")] = None,
) -> Source:
    reading = {
        "user": user, "time": time, "lat": lat, "lon": lon, "x": x, "y": y, "place": place,
        "geometry": geometry,
        "cells": cells, "sensor": sensor, "crs": crs, "cell": cell, "slot": slot, "tz": tz,
        "time_format": time_format, "time_unit": time_unit, "strict": strict,
        "max_bad": max_bad, "separator": _unescaped(separator), "decimal": decimal,
        "memory": memory, "threads": threads, "temp_dir": temp_dir,
        "bbox": None if bbox is None else tuple(_numbers(bbox, 4, "--bbox")),
        "window": None if window is None else tuple(_parts(window, 2, "--window")),
        "names": None if names is None else names.split(","),
    }  # fmt: skip
    selecting = {
        "time": None if since is None and until is None else (since, until),
        "per_day": per_day,
        "active": active,
        "every_day": every_day,
        "zone": tz or "UTC",
        "share": share,
        "seed": None if share is None else share_seed,
    }
    path, files = by_sensor([data] if isinstance(data, str) else data)
    return Source(path, reading, selecting, files)


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading, in place of its parameter `source`."""
    first, *rest = _parameters()
    return _with_options(command, [first], rest)


def reads_original(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading, the data being an option too: ``--original``.

    Its parameter `source` is None where there is no ``--original``.
    """
    first, *rest = _parameters()
    option = typer.Option(
        "--original", help="What the release was made from, for more checks.", metavar="DATA"
    )
    original = first.replace(annotation=Annotated[str | None, option], default=None)
    return _with_options(command, [], [original, *rest])


def reads_sensors(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading; the data may be one file for each sensor."""
    first, *rest = _parameters()
    argument = typer.Argument(
        help="A CSV or Parquet file, a folder or a glob; or one for each sensor, like gsm=gsm.csv.",
        metavar="DATA",
    )
    return _with_options(command, [first.replace(annotation=Annotated[list[str], argument])], rest)


def _parameters() -> list[inspect.Parameter]:
    hints = get_type_hints(_source, include_extras=True)
    shared = inspect.signature(_source).parameters
    return [parameter.replace(annotation=hints[name]) for name, parameter in shared.items()]


def _with_options(
    command: Callable[..., None], before: list[inspect.Parameter], after: list[inspect.Parameter]
) -> Callable[..., None]:
    """Put the parameters of `_source` before and after the command's own."""
    own = inspect.signature(command, eval_str=True).parameters

    @functools.wraps(command)
    def wrapper(**given: Any) -> None:
        reading = {parameter.name: given.pop(parameter.name) for parameter in (*before, *after)}
        source = None if reading["data"] is None else _source(**reading)
        command(source=source, **given)

    mine = [parameter for name, parameter in own.items() if name != "source"]
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*before, *mine, *after)]
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    return wrapper


def _parts(text: str, count: int, option: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != count:
        raise ArgumentError(f"{option} takes {count} values separated by commas, not {text!r}")
    return parts


def _numbers(text: str, count: int, option: str) -> list[float]:
    try:
        return [float(part) for part in _parts(text, count, option)]
    except ValueError as error:
        raise ArgumentError(f"{option} takes numbers, not {text!r}") from error


def _unescaped(separator: str | None) -> str | None:
    return "\t" if separator in ("\\t", "tab") else separator


def in_units(option: str, value: float | None, unit: float, short: str, name: str) -> int | None:
    """Give a threshold in whole cells or slots, rounded down."""
    if value is None:
        return None
    if not math.isfinite(value):
        raise ArgumentError(f"{option} is a number of {short}, not {value}")
    number = min(math.floor(value / unit + 1e-9), _WIDEST)
    if number < 1:
        raise ArgumentError(
            f"{option} {value:g} {short} is less than a {name} of the grid ({unit:g} {short}); "
            "no sample is smaller than that"
        )
    if not math.isclose(number * unit, value) and number < _WIDEST:
        say(f"note: {option} is taken as {number * unit:g} {short}, which is {number:,} {name}s")
    return number


def numbers_of(text: str, example: str, option: str = "--k") -> list[int]:
    """Give the numbers of an option, each once, in order."""
    try:
        return sorted({int(part) for part in text.split(",")})
    except ValueError as error:
        raise ArgumentError(
            f"{option} takes whole numbers separated by commas, like {example}, not {text!r}"
        ) from error
