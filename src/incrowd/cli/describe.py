"""``incrowd describe``: what is in a dataset, and what was rejected and why."""

from typing import TYPE_CHECKING

from incrowd._format import significant
from incrowd.cli._messages import example_in_words, print_json, reading_as_dict
from incrowd.cli._options import AsJson, Source, reads_data
from incrowd.cli._screen import print_lines
from incrowd.cli._sensors import NamedPlaces, visits_by_name

if TYPE_CHECKING:
    from incrowd.data._io.reading_report import Reading
    from incrowd.measure._describe import Description, Spread, VisitsDescription

__all__ = [
    "describe",
    "lines_of",
    "reading_lines",
    "visits_lines_of",
]


@reads_data
def describe(
    source: Source,
    by_name: NamedPlaces = False,
    as_json: AsJson = False,
) -> None:
    """Describe a dataset: people, samples, time, area, and which rows were rejected and why.

    Example:  `incrowd describe cdr.csv.gz --tz Africa/Abidjan`

    Example:  `incrowd describe scans.csv --by-name`
    """
    import incrowd

    about: Description | VisitsDescription
    if by_name:
        visits = visits_by_name(source)
        about, reading = incrowd.describe(visits), visits.reading
        lines, of = visits_lines_of(about), "visit"
    else:
        data = source.read()
        about, reading = incrowd.describe(data), data.reading
        lines, of = lines_of(about), "sample"
    if as_json:
        print_json(about.as_dict() | {"reading": reading_as_dict(reading)})
        return
    print_lines(lines)
    if reading is not None:
        print_lines(["", *reading_lines(reading, of)])


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
