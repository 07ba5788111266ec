"""``incrowd init``: look at data, and write a project file that says how to read it."""

import json
import os
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli._console import say
from incrowd.cli._messages import print_json
from incrowd.cli._methods import in_option_names
from incrowd.cli._options import AsJson
from incrowd.cli._project import FILL_IN, PROJECT
from incrowd.cli._screen import print_lines
from incrowd.errors import ArgumentError, IncrowdError, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from incrowd.data._io.time_formats import Guess

__all__ = [
    "Look",
    "init",
    "look_at",
    "project_text",
]

_ROWS = 20_000
"""Rows of each file that are looked at."""
_FILES = 12
"""Files that are looked at, from the first to the last."""
_LARGE = 2 << 30
"""Of larger files the first rows are looked at, in bytes."""
_SHOWN = 3
_BAD = 0.05
"""The share of times that may be none: as many rows as may be bad unless told otherwise."""
_POSITIONS = (("lat", "lon"), ("x", "y"), ("geometry",))
_PERSONS = ("person", "personid", "customer", "customerid", "subscriber", "subscriberid")
"""Names of columns that may say whose identifier the user is."""
_TABLES = (".csv", ".tsv", ".txt", ".parquet", ".csv.gz")


@dataclass(frozen=True, slots=True)
class Look:
    """What was found in the data.

    Attributes
    ----------
    files, columns
        How many files there are, and the column of each role.
    times
        A few times as they stand there.
    formats
        The formats that fit all times that were looked at; none where none is needed.
    zoned
        Whether times name their zone, or are numbers, which count from 1970 in UTC.
    positions
        Whether rows have positions; otherwise they name antennas.
    tables
        The tables of antennas beside the data that have their positions; the one that was named.
    same_person
        How many groups of the identifiers that were looked at are one number or name, written in
        several ways.
    person_of
        A column beside the user that may name the person.
    """

    files: int
    columns: dict[str, str]
    times: list[str] = field(default_factory=list)
    formats: "list[Guess]" = field(default_factory=list)
    zoned: bool = False
    positions: bool = True
    tables: tuple[Path, ...] = ()
    same_person: int = 0
    person_of: str | None = None

    @property
    def antennas(self) -> Path | None:
        """The table of antennas, if there is just one."""
        return self.tables[0] if len(self.tables) == 1 else None


def _column(name: str, what: str) -> Any:
    """Return the option that names the column of a role."""
    return typer.Option(
        name, help=what, metavar="COLUMN", show_default="found", rich_help_panel="Columns"
    )


def init(
    data: Annotated[
        str,
        typer.Argument(
            help="A CSV or Parquet file, a folder of such files, or a quoted pattern.",
            metavar="DATA",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="File to write.", metavar="FILE", rich_help_panel="Output"
        ),
    ] = Path(PROJECT),
    tz: Annotated[
        str | None,
        typer.Option(
            "--tz",
            help="Time zone of times that name none, and in which people live.",
            metavar="ZONE",
        ),
    ] = None,
    time_format: Annotated[
        str | None,
        typer.Option(
            "--time-format",
            help="Format of times, as for strptime.",
            metavar="FORMAT",
            show_default="found",
        ),
    ] = None,
    antennas: Annotated[
        Path | None,
        typer.Option(
            "--antennas",
            help="Table of antennas (id, lat, lon), for data that has no positions.",
            metavar="FILE",
            show_default="one beside the data that fits",
        ),
    ] = None,
    user: Annotated[str | None, _column("--user", "Who: the person's id.")] = None,
    time: Annotated[str | None, _column("--time", "When.")] = None,
    place: Annotated[
        str | None, _column("--place", "Antenna, access point, venue or zone.")
    ] = None,
    lat: Annotated[str | None, _column("--lat", "Latitude, degrees.")] = None,
    lon: Annotated[str | None, _column("--lon", "Longitude, degrees.")] = None,
    x: Annotated[str | None, _column("--x", "Easting, metres.")] = None,
    y: Annotated[str | None, _column("--y", "Northing, metres.")] = None,
    k: Annotated[
        int, typer.Option("--k", min=2, help="People who must share each record.", metavar="K")
    ] = 3,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Replace a file that exists already.", rich_help_panel="Output"
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at data and write a project file, incrowd.toml, with comments.

    It says how the data is read (columns, time format, time zone, antennas), who must hide among
    how many, and where results go. Read it, correct it, then: incrowd run. Every other command
    takes its options from it as well.

    Example:  `incrowd init cdr.csv --tz Africa/Dakar`
    """
    from incrowd._atomic import refuse_taken, replacing
    from incrowd.data._select import find_zone
    from incrowd.protect._glove.settings import PAIR, SUBTRACTED

    refuse_taken(output, overwrite=overwrite)
    if tz is not None:
        find_zone(tz)
    if k == PAIR:
        say(f"note: {in_option_names(SUBTRACTED, 'glove')}")
    given = {
        "user": user, "time": time, "place": place, "lat": lat, "lon": lon, "x": x, "y": y,
    }  # fmt: skip
    look = look_at(data, antennas, {role: name for role, name in given.items() if name})
    chosen = time_format or _chosen_format(look)
    if tz is None:
        tz = _asked_zone(zoned=look.zoned)
    text = project_text(data, look, output.absolute().parent, chosen, tz, antennas, k)
    with replacing(output, overwrite=overwrite) as part:
        part.write_text(text, encoding="utf-8")
    if as_json:
        found = asdict(look) | {"file": output, "time_format": chosen, "tz": tz}
        print_json(found | {"formats": [guess.format for guess in look.formats]})
        return
    print_lines(_lines(look, chosen, tz))
    print(f"\nWrote {output}. Read it, correct it, then:  incrowd run")


def look_at(
    data: str, antennas: Path | None = None, given: "Mapping[str, str] | None" = None
) -> Look:
    """Look at the first rows of some of the files; `given` names columns by role.

    Raises
    ------
    InputError
        If there is nothing to read, or a column is missing.
    """
    from incrowd._file_errors import reading_file
    from incrowd._memory import Memory, duckdb_connection
    from incrowd.data._io.columns import USUAL, find_by_usual_name, find_columns
    from incrowd.data._io.sources import explain_missing_columns, files_of, open_source
    from incrowd.data._io.sql import identifier, quoted
    from incrowd.data._io.time_formats import guess_time_formats
    from incrowd.measure._same_identifier import same_identifiers

    files, named = files_of(data), dict(given or {})
    step = max(1, len(files) // _FILES)
    times: list[str] = []
    names: dict[str, None] = {}
    with duckdb_connection(Memory.of(None), 1, None) as connection:
        first = open_source(connection, files[0], names=None, separator=None)
        found = list(first.kinds)
        has_position = any(
            all(role in named or find_by_usual_name(found, USUAL[role]) for role in roles)
            for roles in _POSITIONS
        )
        with explain_missing_columns(files[0], files):
            columns = find_columns(
                found,
                dict.fromkeys(("user", "time", "lat", "lon", "x", "y", "place", "geometry"))
                | named,
                where=first.name,
                no_position=not has_position,
            )
        kind = first.kinds[columns["time"]].upper()
        for file in files[::step]:
            source = open_source(connection, file, names=None, separator=None)
            with explain_missing_columns(file, files):
                find_columns(
                    list(source.kinds), columns, where=source.name, no_position=not has_position
                )
            column = f"trim(CAST({quoted(columns['time'])} AS VARCHAR))"
            with reading_file(file):
                rows = connection.execute(
                    f"SELECT DISTINCT t FROM (SELECT {column} AS t FROM {source.peek}{_some(file)})"
                    " WHERE t <> '' ORDER BY t"
                ).fetchall()
            times += [row[0] for row in rows]
            user = identifier(quoted(columns["user"]), source.kinds[columns["user"]])
            users = connection.execute(
                f"SELECT DISTINCT u FROM (SELECT {user} AS u FROM {source.peek}{_some(file)}) "
                "WHERE u <> '' ORDER BY u"
            ).fetchall()
            names |= dict.fromkeys(row[0] for row in users)
    if not times:
        raise UnreadableError(
            f"{data}: no row has a time; there must be a few rows to find out how they are read",
            file=data,
        )
    typed = kind.startswith(("TIMESTAMP", "DATE"))
    times = times if typed else _usual_shape(times)
    shown = times[:: max(1, len(times) // _SHOWN)][:_SHOWN]
    table = () if antennas is None else (antennas,)
    return Look(
        files=len(files),
        columns=columns,
        times=shown,
        formats=[] if typed else guess_time_formats(times, bad=_BAD),
        zoned="TIME ZONE" in kind or (not typed and all(map(_has_zone, times))),
        positions=has_position,
        tables=table or (() if has_position else _beside(files)),
        same_person=len(same_identifiers(list(names))),
        person_of=find_by_usual_name(found, _PERSONS, taken=set(columns.values())),
    )


def _some(file: Path) -> str:
    """Return how rows are chosen to be looked at: from all of a file, unless it is very large.

    Files are often sorted by time; their first rows are of one day, and do not tell days from
    months.
    """
    if file.stat().st_size > _LARGE:
        return f" LIMIT {_ROWS}"
    return f" USING SAMPLE reservoir({_ROWS} ROWS) REPEATABLE (1)"


def _usual_shape(times: list[str]) -> list[str]:
    """Return the times that look like most of them: a few bad rows must not decide the format."""
    import re
    from collections import Counter

    shapes = [re.sub(r"\d+", "9", text) for text in times]
    most = max(Counter(shapes).items(), key=lambda pair: pair[1], default=("", 0))[0]
    return [text for text, shape in zip(times, shapes, strict=True) if shape == most]


def _has_zone(text: str) -> bool:
    """Return whether a time names its zone, or is a number, which counts from 1970 in UTC."""
    import re

    return (
        bool(re.search(r"(Z|UTC|GMT|[+-]\d{2}:?\d{2})$", text))
        or text.replace(".", "", 1).lstrip("-").isdigit()
    )


def _beside(files: "Sequence[Path]") -> tuple[Path, ...]:
    """Return the tables beside the data that have positions by antenna."""
    from incrowd._memory import Memory, duckdb_connection
    from incrowd.data._io.read import read_cells

    found, data = [], {file.resolve() for file in files}
    with duckdb_connection(Memory.of(None), 1, None) as connection:
        for other in sorted(files[0].absolute().parent.iterdir()):
            if other.name.lower().endswith(_TABLES) and other.resolve() not in data:
                try:
                    read_cells(connection, other)
                except (IncrowdError, OSError):
                    continue
                found.append(other)
    return tuple(found)


def _chosen_format(look: Look) -> str | None:
    """Return the format of times: the one that fits, or the one that is chosen of several."""
    if len(look.formats) < 2:  # noqa: PLR2004
        return look.formats[0].format if look.formats else None
    lines = [
        f"  {number}  {guess.format:<22} {guess.examples[0][0]} would be {guess.examples[0][1]}; "
        f"the data from {guess.first[:10]} to {guess.last[:10]}"
        for number, guess in enumerate(look.formats, 1)
    ]
    if sys.stdin.isatty() and sys.stderr.isatty():
        say("The times can be read in several ways:\n" + "\n".join(lines))
        number = typer.prompt("Which is right?", default=1, type=int, err=True)
        if not 1 <= number <= len(look.formats):
            raise ArgumentError(f"there is no choice {number}")
        return str(look.formats[number - 1].format)
    say(
        "note: the times can be read in several ways; the first is taken, change time_format in "
        "the project file if it is wrong:\n" + "\n".join(lines)
    )
    return look.formats[0].format


def _asked_zone(*, zoned: bool) -> str | None:
    """Return the time zone in which people live, if somebody is there to be asked."""
    from incrowd.data._select import find_zone

    if sys.stdin.isatty() and sys.stderr.isatty():
        why = "Where people live" if zoned else "The times name no zone: which is it"
        zone = str(typer.prompt(f"{why}, like Africa/Dakar", err=True)).strip()
        find_zone(zone)
        return zone
    what, key = (
        ("say nothing of where people live", "local_tz") if zoned else ("name no zone", "tz")
    )
    say(
        f"note: the times {what}; give the time zone with --tz, or set {key} in the project file. "
        "Until then UTC is assumed, and nights and working hours may be wrong"
    )
    return None


def _lines(look: Look, chosen: str | None, tz: str | None) -> list[str]:
    """Say what was found."""
    lines = [f"{'files':<14}{look.files:,}"]
    lines += [f"{role:<14}column {name!r}" for role, name in look.columns.items()]
    guess = next((one for one in look.formats if one.format == chosen), None)
    shown = guess.examples if guess else tuple((text, "") for text in look.times)
    for number, (text, read) in enumerate(shown):
        lines.append(
            f"{'' if number else 'times':<14}{text}" + (f"  is read as {read}" * bool(read))
        )
    if chosen is not None:
        lines.append(f"{'time format':<14}{chosen}")
    zone = tz or "not known: UTC is assumed"
    lines.append(
        f"{'time zone':<14}{f'as the times say; people live in: {zone}' if look.zoned else zone}"
    )
    if look.same_person:
        lines.append(
            f"{'same person':<14}{look.same_person:,} or more numbers or names are written in "
            "several ways: see same_person in the project file"
        )
    if look.person_of is not None:
        lines.append(f"{'':<14}column {look.person_of!r} may name the person: see person_of")
    if not look.positions:
        lines.append(f"{'antennas':<14}{_antennas_in_words(look)}")
        if look.antennas is None:
            lines.append(
                f"{'':<14}without positions, describe, attack, uniqueness and deanonymize take "
                "places by their names: --by-name"
            )
    return lines


def _antennas_in_words(look: Look) -> str:
    if look.antennas is not None:
        return str(look.antennas)
    if look.tables:
        names = " and ".join(table.name for table in look.tables)
        return f"{names} would fit: say which it is with --antennas FILE, or in the project file"
    return "none was found beside the data: name it with --antennas FILE, or in the project file"


def project_text(
    data: str,
    look: Look,
    folder: Path,
    time_format: str | None,
    tz: str | None,
    antennas: Path | None,
    k: int,
) -> str:
    """Return the project file, with comments."""
    table = antennas or look.antennas
    zone = _zone_lines(tz, zoned=look.zoned)
    columns = "".join(f"{role} = {_text(name)}\n" for role, name in look.columns.items())
    if time_format is None:
        how = '# time_format = "%d/%m/%Y %H:%M:%S"   # not needed: times are ISO 8601 or numbers\n'
    else:
        how = f"time_format = {_text(time_format)}\n"
        guess = next((one for one in look.formats if one.format == time_format), None)
        how += "".join(
            f"#   {text} is read as {read}\n" for text, read in (guess.examples if guess else ())
        )
        if len(look.formats) > 1:
            others = ", ".join(one.format for one in look.formats if one.format != time_format)
            how += f"#   CHECK THIS: {others} would fit as well\n"
    if table is not None:
        place = f"antennas = {_text(_relative(table, folder))}   # their positions: id, lat, lon\n"
    elif look.positions:
        place = '# antennas = "antennas.csv"   # id, lat, lon; for data that has no positions\n'
    else:
        place = f'antennas = "{FILL_IN}.csv"   # id, lat, lon: the data has no positions\n'
    runs = _text(_runs_folder(Path(data), folder))
    return f"""\
# How incrowd reads this data and what it makes of it. Keys are options of the command line:
# time_format is --time-format. Options given there win. Paths are relative to this file.

[data]   # the data and how it is read; for all options: incrowd describe --help-reading
path = {_text(_relative(Path(data), folder))}
{columns}{how}{zone}{place}{_person_lines(look)}\
# cell = 100               # side of a grid cell, metres
# slot = 60                # time step of the grid, seconds
# max_bad = 0.05           # largest share of rows that may be bad
# bbox = [-17.6, 14.6, -17.1, 14.9]   # west, south, east, north: the part of the map to take

[anonymize]   # incrowd anonymize --help
method = "glove"
k = {k}                      # people who must share each record
# max_metres = 15000       # leave out what would become wider than this
# max_minutes = 360        # leave out what would become longer than this
# edges = "500m,15min"     # round sides of samples outwards, so that none is a true one's
# ledger = "ledger.parquet"   # keeps crowds together from release to release; do not share it

[report]   # incrowd report --help
purpose = "contract"       # internal, contract or open: sets the thresholds of the report
# title = "Calls of March"

[thresholds]   # your own, by light: the last value that is green, and the last that is amber
# smallest_crowd = [5, 3]
# left_out = [0.05, 0.2]

[output]   # incrowd run --help
folder = {runs:<17}# each run gets a folder of its own in it, named after its month
# format = "parquet"       # or "csv"
# fail_above = 0.2         # publish nothing if more of the people or samples is lost
"""


def _person_lines(look: Look) -> str:
    """Return how to say which identifiers are the same person; commented: somebody must look."""
    lines = '# same_person = "persons.csv"   # user, person: identifiers of the same person\n'
    if look.same_person:
        lines += (
            f"#   CHECK THIS: {look.same_person:,} or more numbers or names are written in several "
            "ways; incrowd describe --same-person-table persons.csv\n"
        )
    if look.person_of is not None:
        lines += f"# person_of = {_text(look.person_of)}   # if this column names the person\n"
    return lines


def _runs_folder(data: Path, folder: Path) -> str:
    """Return the folder of runs, which must not lie in the folder of the data."""
    source = data.resolve()
    if not source.is_dir() or source not in (folder.resolve() / "out").parents:
        return "out"
    return Path(os.path.relpath(source.parent / f"{source.name}-out", folder.resolve())).as_posix()


def _zone_lines(tz: str | None, *, zoned: bool) -> str:
    if zoned and tz is None:
        return (
            '# local_tz = "Africa/Dakar"   # FILL IN: where people live; nights are nights there\n'
        )
    if zoned:
        return f"local_tz = {_text(tz)}   # where people live, for nights and working hours\n"
    if tz is None:
        return '# tz = "Africa/Dakar"      # FILL IN: the times name no zone, UTC is assumed\n'
    return f"tz = {_text(tz)}   # of times that name no zone, and where people live\n"


def _relative(path: Path, folder: Path) -> str:
    """Return a path relative to the folder of the project file, if it lies below."""
    try:
        return path.absolute().relative_to(folder).as_posix()
    except ValueError:
        return str(path.absolute())


def _text(value: Any) -> str:
    """Return text as TOML writes it."""
    return json.dumps(str(value), ensure_ascii=False)
