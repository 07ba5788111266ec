"""``incrowd describe``: what is in a dataset, and what was rejected and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd._format import people, several, significant
from incrowd.cli._console import say, write_people
from incrowd.cli._messages import example_in_words, print_json, reading_as_dict
from incrowd.cli._options import AsJson, Overwrite, Source, reads_data
from incrowd.cli._screen import print_lines
from incrowd.cli._sensors import NamedPlaces, visits_by_name
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from incrowd.data._io.reading_report import Reading
    from incrowd.measure._describe import Description, Spread, VisitsDescription
    from incrowd.measure._same_person import SamePerson

__all__ = [
    "describe",
    "lines_of",
    "reading_lines",
    "same_person_lines",
    "visits_lines_of",
]


@reads_data
def describe(
    source: Source,
    by_name: NamedPlaces = False,
    same_person_table: Annotated[
        Path | None,
        typer.Option(
            "--same-person-table",
            help="Write who may be in the data under several identifiers (user, person, why), to "
            "be corrected by hand and read with --same-person.",
            metavar="FILE",
            rich_help_panel="Output",
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Describe a dataset: people, samples, time, area, and which rows were rejected and why.

    It says as well who may be in the data under several identifiers.

    Example:  `incrowd describe cdr.csv.gz --tz Africa/Abidjan`

    Example:  `incrowd describe scans.csv --by-name`
    """
    import incrowd

    about: Description | VisitsDescription
    twice: SamePerson | None = None
    if by_name and same_person_table is not None:
        raise ArgumentError(
            "--same-person-table compares where people were, and needs positions; leave out "
            "--by-name"
        )
    if by_name:
        visits = visits_by_name(source)
        about, reading = incrowd.describe(visits), visits.reading
        lines, of = visits_lines_of(about), "visit"
    else:
        data = source.read()
        about, reading = incrowd.describe(data), data.reading
        lines, of = lines_of(about), "sample"
        twice = incrowd.same_person(data)
    if twice is not None and same_person_table is not None:
        _write(twice, same_person_table, overwrite=overwrite)
    if as_json:
        found = {"reading": reading_as_dict(reading)}
        found |= {} if twice is None else {"same_person": twice.as_dict()}
        print_json(about.as_dict() | found)
        return
    print_lines(lines)
    if reading is not None:
        print_lines(["", *reading_lines(reading, of)])
    if twice is not None and twice.groups:
        print_lines(["", *same_person_lines(twice)])


def _write(twice: "SamePerson", path: Path, *, overwrite: bool) -> None:
    """Write who may be in the data twice; a table without rows could not be read."""
    if not twice.groups:
        say(f"note: {twice.words}; {path} was not written")
        return
    write_people(twice.table(), path, overwrite=overwrite)
    say(
        f"note: {path} names {several(twice.suspected, 'identifier')}: look at each group; to "
        "those who are different people give each a person of her own. Then read the data with "
        f"--same-person {path}"
    )


def same_person_lines(twice: "SamePerson") -> list[str]:
    """Return who may be in the data twice, as lines of text; counts only."""
    written, traced = len(twice.by_identifier), len(twice.by_trace)
    rows = [
        (
            "same person twice?",
            f"{twice.suspected:,} identifiers may be {people(len(twice.groups))}",
        ),
        ("", f"{several(written, 'number or name', 'numbers or names')} written in several ways")
        if written
        else None,
        ("", f"{several(traced, 'pair')} with nearly the same trace") if traced else None,
        ("", "crowds would hold them with themselves: see --same-person-table, --same-person"),
    ]
    return [f"{row[0]:<22}{row[1]}" for row in rows if row is not None]


def lines_of(about: "Description") -> list[str]:
    """Return what a dataset holds, as lines of text."""
    places = about.places_are
    rows = [
        ("people", f"{about.people:,}"),
        ("samples", f"{about.samples:,}  ({about.per_person_hour:.3g} per person-hour)"),
        ("time", f"{about.start[:16]} to {about.end[:16]} UTC  ({about.days:.1f} days)"),
        ("area", f"{about.width_km:,.1f} x {about.height_km:,.1f} km = {about.area_km2:,.0f} km2"),
        ("grid", f"cells of {about.cell_m:g} m, slots of {_duration(about.slot_s)}"),
        (places, f"{about.places:,}"),
    ]
    spreads = [
        ("samples per person", about.samples_a_person),
        ("radius of gyration, km", about.gyration_km),
        (f"{places} per person", about.places_a_person),
        (f"people per {places[:-1]}", about.people_a_place),
    ]
    return _table(rows, spreads)


def visits_lines_of(about: "VisitsDescription") -> list[str]:
    """Return what visits to places with names hold, as lines of text."""
    rows = [("people", f"{about.people:,}"), ("visits", f"{about.visits:,}")]
    if about.start is not None and about.end is not None and about.slot_s is not None:
        rows += [
            ("time", f"{about.start[:16]} to {about.end[:16]} UTC  ({about.days:.1f} days)"),
            ("time step", f"{_duration(about.slot_s)}; a place counts once in each"),
        ]
    rows += [("places", f"{about.places:,}, by name")]
    spreads = [
        ("visits per person", about.visits_a_person),
        ("places per person", about.places_a_person),
        ("people per place", about.people_a_place),
    ]
    return _table(rows, spreads)


def _table(rows: list[tuple[str, str]], spreads: list[tuple[str, "Spread"]]) -> list[str]:
    """Return numbers, and distributions below them."""
    return [
        *(f"{name:<22}{value}" for name, value in rows),
        "",
        f"{'':<22}{'median':>10}{'mean':>10}{'Q1':>10}{'Q3':>10}{'max':>10}",
        *(_spread_line(name, spread) for name, spread in spreads),
    ]


def _spread_line(name: str, spread: "Spread") -> str:
    values = (spread.median, spread.mean, spread.quarter, spread.three_quarters, spread.most)
    return f"{name:<22}" + "".join(f"{_short(value):>10}" for value in values)


def reading_lines(reading: "Reading", of: str = "sample") -> list[str]:
    """Return what happened to the rows, as lines of text; `of` is what was made of a good one."""
    from incrowd.data._io.reading_report import unknown_cells_lines

    used = {role: name for role, name in reading.columns.items() if role != name}
    lines = [f"{'rows read':<22}{reading.rows:,}"]
    if reading.persons is not None:
        lines.append(f"{'identifiers':<22}{reading.persons.identifiers:,}, counted as people")
    if used:
        shown = ", ".join(f"{role} from {name!r}" for role, name in used.items())
        lines.append(f"{'columns':<22}{shown}")
    notes = [
        ("left out", reading.outside, "rows outside the bbox"),
        ("duplicates", reading.collapsed, f"rows that repeat a {of} of the same person"),
        ("of these", reading.folded, "name another place than the sample that was kept"),
        ("without a time zone", reading.zoneless, f"times, taken to be in {reading.zone}"),
        ("ambiguous", reading.ambiguous, "local times that occur twice; the first is taken"),
        ("skipped by the clock", reading.missing, "local times do not exist; taken an hour later"),
    ]
    lines += [f"{name:<22}{count:,} {text}" for name, count, text in notes if count]
    lines.append(f"{'rejected':<22}{reading.rejects.total:,}")
    for reason, count in sorted(reading.rejects.counts.items(), key=lambda item: -item[1]):
        lines.append(f"  {count:,} x {reason}")
        examples = reading.rejects.examples.get(reason, ())
        lines += [f"      {example_in_words(each)}" for each in examples]
    lines += unknown_cells_lines(reading.unknown_cells)
    return lines


def _duration(seconds: int) -> str:
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 or value == int(value) else significant(value)  # noqa: PLR2004
