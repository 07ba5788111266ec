"""Options that several commands share: how to read data, and which part of it to take.

A command takes ``source: Source`` among its parameters; `reads_data` replaces it by the options of
`_source`, and hands the command a ready `Source` whose `read` returns the trajectories.
`reads_original` does the same for a command that can do without data, under ``--original``;
`reads_sensors` for one that takes a file for each sensor, like ``gsm=gsm.csv gps=gps.csv``.

These options stand in groups whose names begin with `READING`: ``--help`` folds them into one line,
``--help-reading`` shows them.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from incrowd.cli._command import READING, HelpReading
from incrowd.cli._console import progress, say
from incrowd.cli._project import NoProject, ProjectFile
from incrowd.cli._values import by_sensor, numbers, parts, unescaped

if TYPE_CHECKING:
    from incrowd.data._frame import Frame
    from incrowd.data._io.rejects_file import RejectsFile
    from incrowd.data._original import OriginalReading
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "MACHINE",
    "AsJson",
    "DataFile",
    "LocalZone",
    "Overwrite",
    "PeopleFile",
    "RecordFile",
    "ReleaseFolder",
    "Source",
    "reading_keys",
    "reads_data",
    "reads_original",
    "reads_sensors",
    "typed_in",
    "with_recorded_options",
]


_COLUMNS = f"{READING}: columns (found by their usual names unless given)"
_GRID = f"{READING}: grid and clock"
_ROWS = f"{READING}: rows and files"
_PART = f"{READING}: which part to take"
_MACHINE = f"{READING}: machine"
_OUTPUT = "Output"

_HELP = inspect.Parameter(
    "help_reading", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpReading
)
_CONTEXT = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
_PROJECT = tuple(
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual, annotation=kind)
    # In this order: whether there is to be one decides whether one is looked for.
    for name, usual, kind in (("no_project", False, NoProject), ("project", None, ProjectFile))
)
_READ_AS = {
    "antennas": ("cells",),
    "fail_on_bad_row": ("strict",),
    "column_names": ("names",),
    "since": ("time",),
    "until": ("time",),
    "tz": ("tz", "zone"),
    "sample_people": ("share", "seed"),
    "sample_seed": ("seed",),
}
"""Arguments of `read` and `select` that are not named as their options are."""
_PERSONS = {"same_person", "person_of"}
MACHINE = ("memory", "threads", "temp_dir", "rejects")
"""Arguments of `read` that change nothing of what is read."""


def _option(
    panel: str, text: str, *names: str, show: str | None = None, usual: str | bool = True
) -> Any:
    """Declare an option in a group; `usual` says what holds without it, if that is no value."""
    return typer.Option(*names, help=text, rich_help_panel=panel, metavar=show, show_default=usual)


Overwrite = Annotated[bool, _option(_OUTPUT, "Replace files that exist already.", "--overwrite")]
AsJson = Annotated[bool, _option(_OUTPUT, "Print the result as JSON.", "--json")]
DataFile = Annotated[
    Path,
    _option(
        _OUTPUT,
        "File to write: .parquet, .csv, .csv.gz or .csv.zst.",
        "--output",
        "-o",
        show="FILE",
    ),
]
PeopleFile = Annotated[
    Path | None,
    _option(
        _OUTPUT,
        "Also write one row per person: a .parquet, .csv, .csv.gz or .csv.zst file.",
        "--output",
        "-o",
        show="FILE",
    ),
]
ReleaseFolder = Annotated[Path, typer.Argument(help="Directory of the release.", metavar="DIR")]
RecordFile = Annotated[
    Path | None,
    typer.Option(
        "--record",
        help="Private record of who became whom, as incrowd anonymize --record writes it.",
        metavar="FILE",
    ),
]
LocalZone = Annotated[
    str | None,
    typer.Option(
        "--local-tz",
        help="Time zone in which people live: for nights, working hours and the hours of charts.",
        metavar="ZONE",
        show_default="that of --tz",
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

        with self.reading_rows() as update:
            data = incrowd.read(self.path, progress=update, **self.reading)
        return incrowd.select(data, **self.selecting)

    @contextlib.contextmanager
    def reading_rows(self) -> Iterator[Callable[..., None]]:
        """Show how far reading is."""
        with self._telling_rejects(), progress("Reading", "rows") as update:
            yield update

    @contextlib.contextmanager
    def _telling_rejects(self) -> Iterator[None]:
        """Say where the rows are that were put aside."""
        aside: RejectsFile | None = self.reading["rejects"]
        before = 0 if aside is None else aside.rows
        yield
        if aside is not None and aside.rows > before:
            rows = "1 row that" if aside.rows == 1 else f"{aside.rows:,} rows that"
            say(f"note: {rows} cannot be used {'is' if aside.rows == 1 else 'are'} in {aside.path}")

    def noted(self, data: "Trajectories", local_tz: str | None = None) -> "OriginalReading":
        """Return how the data was read, and where people live, for the private record."""
        from incrowd.data._original import OriginalReading

        return OriginalReading.of(self.path, self.reading, self.selecting, data, local_tz)

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
        with self._telling_rejects():
            data = incrowd.read(self.path, **self.reading | how)
        return incrowd.select(data, **self.selecting)


@dataclass(frozen=True, slots=True)
class RecordedSource(Source):
    """The original of a release, read as the private record says that it was read."""

    known: "OriginalReading | None" = None

    def read_on(self, grid: "Frame") -> "Trajectories":
        """Read the original on the grid of its release; refuse files that have changed."""
        assert self.known is not None  # noqa: S101  always given
        machine = {name: self.reading[name] for name in MACHINE}
        with self._telling_rejects():
            return self.known.read_on(grid, **machine)


def _source(
    data: Annotated[
        str,
        typer.Argument(
            help="A CSV or Parquet file, a folder of such files, or a quoted pattern like "
            "'june-*.csv'.",
            metavar="DATA",
        ),
    ],
    user: Annotated[str | None, _option(_COLUMNS, "Who: the person's id.", show="COLUMN")] = None,
    time: Annotated[str | None, _option(_COLUMNS, "When.", show="COLUMN")] = None,
    lat: Annotated[str | None, _option(_COLUMNS, "Latitude, degrees.", show="COLUMN")] = None,
    lon: Annotated[str | None, _option(_COLUMNS, "Longitude, degrees.", show="COLUMN")] = None,
    x: Annotated[
        str | None, _option(_COLUMNS, "Easting, metres (see --crs).", "--x", show="COLUMN")
    ] = None,
    y: Annotated[
        str | None, _option(_COLUMNS, "Northing, metres (see --crs).", "--y", show="COLUMN")
    ] = None,
    place: Annotated[
        str | None, _option(_COLUMNS, "Antenna, access point, venue or zone.", show="COLUMN")
    ] = None,
    geometry: Annotated[
        str | None, _option(_COLUMNS, "Position as a WKT point.", show="COLUMN")
    ] = None,
    antennas: Annotated[
        Path | None,
        _option(
            _COLUMNS,
            "Table of antennas (id, lat, lon), for data that names antennas and no positions.",
            show="FILE",
        ),
    ] = None,
    same_person: Annotated[
        Path | None,
        _option(
            _COLUMNS,
            "Table (user, person) of identifiers that are the same person, who then counts once.",
            show="FILE",
        ),
    ] = None,
    person_of: Annotated[
        str | None,
        _option(_COLUMNS, "The person whose identifier the user is.", show="COLUMN"),
    ] = None,
    sensor: Annotated[
        str | None, _option(_COLUMNS, "Take only the rows of this sensor.", show="NAME")
    ] = None,
    crs: Annotated[
        str | None,
        _option(
            _GRID,
            "Coordinate reference system in metres, like EPSG:2154.",
            show="CRS",
            usual="Lambert azimuthal equal-area about the data's centre",
        ),
    ] = None,
    cell: Annotated[
        float | None, _option(_GRID, "Side of a grid cell, metres.", show="METRES", usual="100")
    ] = None,
    slot: Annotated[
        int | None,
        _option(_GRID, "Time step of the grid, seconds.", show="SECONDS", usual="60"),
    ] = None,
    tz: Annotated[
        str | None,
        _option(
            _GRID,
            "Time zone of times that name none, like Africa/Dakar.",
            show="ZONE",
            usual="UTC",
        ),
    ] = None,
    time_format: Annotated[
        str | None,
        _option(_GRID, "Format of times, as for strptime, like '%d.%m.%Y %H:%M'.", show="FORMAT"),
    ] = None,
    time_unit: Annotated[
        str | None,
        _option(_GRID, "Unit of times that are numbers: s, ms, us or ns.", show="UNIT"),
    ] = None,
    window: Annotated[
        str | None,
        _option(_ROWS, "Period that the data covers: times outside are bad rows.", show="FROM,TO"),
    ] = None,
    fail_on_bad_row: Annotated[
        bool, _option(_ROWS, "Stop at the first bad row.", "--fail-on-bad-row")
    ] = False,
    max_bad: Annotated[
        float, _option(_ROWS, "Largest share of rows that may be bad.", show="SHARE")
    ] = 0.05,
    rejects: Annotated[
        Path | None,
        _option(
            _ROWS,
            "Put all bad rows into this CSV file (file, line, reason, value), also if they are too "
            "many; one of an earlier run is replaced.",
            "--rejects",
            show="FILE",
        ),
    ] = None,
    column_names: Annotated[
        str | None, _option(_ROWS, "Column names of files that have no header.", show="A,B,...")
    ] = None,
    separator: Annotated[
        str | None,
        _option(_ROWS, "Separator of text files (tab: '\\t').", show="CHAR", usual="detected"),
    ] = None,
    decimal: Annotated[str, _option(_ROWS, "Decimal mark of text files.", show="CHAR")] = ".",
    bbox: Annotated[
        str | None,
        _option(_PART, "Samples inside this box, in degrees.", show="WEST,SOUTH,EAST,NORTH"),
    ] = None,
    since: Annotated[
        str | None, _option(_PART, "Samples from this time on.", "--from", show="TIME")
    ] = None,
    until: Annotated[
        str | None, _option(_PART, "Samples before this time.", "--to", show="TIME")
    ] = None,
    per_day: Annotated[
        float | None,
        _option(_PART, "People with at least this many samples per day, on average.", show="N"),
    ] = None,
    active: Annotated[
        float | None, _option(_PART, "People seen on at least this share of days.", show="SHARE")
    ] = None,
    every_day: Annotated[bool, _option(_PART, "People seen on every day.", "--every-day")] = False,
    sample_people: Annotated[
        float | None, _option(_PART, "A random share of the people.", show="SHARE")
    ] = None,
    sample_seed: Annotated[
        int, _option(_PART, "Seed of --sample-people: the same seed, the same people.", show="N")
    ] = 0,
    memory: Annotated[
        str | None,
        _option(
            _MACHINE,
            "Memory limit, like 4GB; what exceeds it goes to disk.",
            show="SIZE",
            usual="three quarters of the machine's",
        ),
    ] = None,
    threads: Annotated[
        int | None, _option(_MACHINE, "Number of threads.", show="N", usual="all cores")
    ] = None,
    temp_dir: Annotated[
        Path | None,
        _option(_MACHINE, "Folder for temporary files.", show="DIR", usual="the system's"),
    ] = None,
) -> Source:
    reading = {
        "user": user, "time": time, "lat": lat, "lon": lon, "x": x, "y": y, "place": place,
        "geometry": geometry,
        "cells": antennas, "same_person": same_person, "person_of": person_of, "sensor": sensor,
        "crs": crs, "cell": cell, "slot": slot, "tz": tz,
        "time_format": time_format, "time_unit": time_unit, "strict": fail_on_bad_row,
        "max_bad": max_bad, "separator": unescaped(separator), "decimal": decimal,
        "memory": memory, "threads": threads, "temp_dir": temp_dir,
        "bbox": None if bbox is None else tuple(numbers(bbox, 4, "--bbox")),
        "window": None if window is None else tuple(parts(window, 2, "--window")),
        "names": None if column_names is None else column_names.split(","),
        "rejects": _rejects_file(rejects),
    }  # fmt: skip
    selecting = {
        "time": None if since is None and until is None else (since, until),
        "per_day": per_day,
        "active": active,
        "every_day": every_day,
        "zone": tz or "UTC",
        "share": sample_people,
        "seed": None if sample_people is None else sample_seed,
    }
    path, files = by_sensor([data] if isinstance(data, str) else data)
    return Source(path, reading, selecting, files)


def _rejects_file(path: Path | None) -> "RejectsFile | None":
    """Return the one file for the bad rows of all that a command reads."""
    if path is None:
        return None
    from incrowd.data._io.rejects_file import RejectsFile

    return RejectsFile(path)


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
        "--original",
        help="Data that the release was made from: a file, a folder or a quoted pattern.",
        metavar="DATA",
        show_default="as the private record says",
    )
    original = first.replace(annotation=Annotated[str | None, option], default=None)
    return _with_options(command, [original], rest, recorded=True)


def reads_sensors(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading; the data may be one file for each sensor."""
    first, *rest = _parameters()
    argument = typer.Argument(
        help="A CSV or Parquet file, a folder of such files, or a quoted pattern like "
        "'june-*.csv'; or one of these for each sensor, like gsm=gsm.csv wifi=wifi.csv.",
        metavar="DATA",
    )
    return _with_options(command, [first.replace(annotation=Annotated[list[str], argument])], rest)


def _parameters() -> list[inspect.Parameter]:
    hints = get_type_hints(_source, include_extras=True)
    shared = inspect.signature(_source).parameters
    return [parameter.replace(annotation=hints[name]) for name, parameter in shared.items()]


def reading_keys() -> list[str]:
    """Return the options for reading, as they are named in a project file."""
    keys = []
    for one in _parameters()[1:]:
        flags = one.annotation.__metadata__[0].param_decls or (f"--{one.name}",)
        flag = next(flag for flag in flags if flag.startswith("--"))
        keys.append(flag.removeprefix("--").replace("-", "_"))
    return keys


def _with_options(
    command: Callable[..., None],
    before: list[inspect.Parameter],
    after: list[inspect.Parameter],
    *,
    recorded: bool = False,
) -> Callable[..., None]:
    """Put the parameters of `_source` before and after the command's own.

    If `recorded`, what was not given is as the private record says that the original was read.
    """
    own = inspect.signature(command, eval_str=True).parameters
    takes_context = "context" in own

    @functools.wraps(command)
    def wrapper(**given: Any) -> None:
        reading = {parameter.name: given.pop(parameter.name) for parameter in (*before, *after)}
        for one in (*_PROJECT, _HELP):
            del given[one.name]
        context = given["context"] if takes_context else given.pop("context")
        if recorded:
            given |= _release_and_record(context, given)
        known = _recorded(given.get("record")) if recorded else None
        source: Source | None
        if known is not None:
            source = _source_as_recorded(known, reading, typed_in(context))
        else:
            source = None if reading["data"] is None else _source(**reading)
        command(source=source, **given)

    mine = [parameter for name, parameter in own.items() if name != "source"]
    every = (*([] if takes_context else [_CONTEXT]), *_PROJECT, *before, *mine, *after, _HELP)
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in every]
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    return wrapper


def typed_in(context: typer.Context) -> set[str]:
    """Return the names of the parameters that were given on the command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, of in sources.items() if of is not None and of.name == "COMMANDLINE"}


def _release_and_record(context: typer.Context, given: dict[str, Any]) -> dict[str, Any]:
    """Return the release, also where the folder of a run is named, and the record beside it.

    The record of the last run, which the project file gives, belongs to the release of that run.
    """
    release, typed = Path(given["release"]), typed_in(context)
    if (release / "run.json").is_file() and (release / "release").is_dir():
        release /= "release"
    found: dict[str, Any] = {"release": release}
    if "release" not in typed:
        say(f"the release of the last run: {release}")
    elif "record" not in typed and given.get("record") is not None:
        beside = release.parent / "private" / "who.parquet"
        found["record"] = beside if beside.is_file() else None
    return found


def _recorded(record: Path | None) -> "OriginalReading | None":
    from incrowd.data._original import reading_of

    return None if record is None else reading_of(record)


def _source_as_recorded(
    known: "OriginalReading", reading: dict[str, Any], typed: set[str]
) -> Source:
    """Return the original as it was read, except for what was given on the command line."""
    if typed.isdisjoint(reading.keys() - set(MACHINE)):
        machine = {name: reading[name] for name in MACHINE}
        machine["rejects"] = _rejects_file(machine["rejects"])
        return RecordedSource(known.source, {**_usual(), **known.options, **machine}, {}, {}, known)
    path = reading["data"] if "data" in typed else known.source
    return with_recorded_options(_source(**reading | {"data": path}), known, typed)


def with_recorded_options(asked: Source, known: "OriginalReading", typed: set[str]) -> Source:
    """Return data that is read as the original was, except for what was typed."""
    given = {_READ_AS.get(name, (name,))[0] for name in typed}
    if given & _PERSONS:
        given |= _PERSONS  # one is in place of the other
    parts = {key for name in typed for key in _READ_AS.get(name, (name,))}
    return Source(
        asked.path,
        {n: of if n in given else known.options.get(n, of) for n, of in asked.reading.items()},
        {n: of if n in parts else known.selection.get(n, of) for n, of in asked.selecting.items()},
        asked.files,
    )


def _usual() -> dict[str, Any]:
    """Return the reading options without any that was given."""
    parameters = _parameters()[1:]
    return _source("", **{one.name: one.default for one in parameters}).reading
