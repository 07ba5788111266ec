"""``incrowd evaluate``: how accurate a release is, what it is still good for, what crowds tell.

`accuracy_lines`, `person_lines`, `aggregate_lines` and `inference_lines` say it in lines for a
terminal.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._format import QUANTILES, count_of, duration, length, percent
from incrowd.cli._console import on_first_progress, progress, say
from incrowd.cli._messages import as_document
from incrowd.cli._methods import wrapped
from incrowd.cli._options import (
    AsJson,
    LocalZone,
    Overwrite,
    RecordFile,
    ReleaseFolder,
    Source,
    reads_original,
)
from incrowd.cli._screen import print_lines
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.evaluate._utility.accuracy import Accuracy
    from incrowd.evaluate._utility.aggregate import AggregateUtility
    from incrowd.evaluate._utility.distributions import Errors, Ratios
    from incrowd.evaluate._utility.inference import Inference
    from incrowd.evaluate._utility.summary import Persons

__all__ = [
    "accuracy_lines",
    "aggregate_lines",
    "evaluate",
    "inference_lines",
    "person_lines",
]


ALONE = (
    "What was lost cannot be measured on the release alone: give the data that it was made from "
    "with --original."
)
UNKNOWN = (
    "Errors, deleted samples, how each person's places and movement changed, and what a crowd's "
    "record tells of its people were not measured: they need the private record of who became whom "
    "(--record)."
)
SHOWN = (
    "Shown: a published box of the crowd's record that is no wider and no higher than this has the "
    "place, in these hours; whoever knows that somebody is in the crowd can read it there, "
    "whatever record is hers. One home for all: the homes of the whole crowd lie in a box of that "
    "size."
)
IN_UTC = "Hours are UTC; if people live in another time zone, name it with --local-tz."
NEAR = (1, 2, 7)
"""Kilometres that the paper names."""


@reads_original
def evaluate(
    release: ReleaseFolder,
    source: Source | None,
    record: RecordFile = None,
    local: LocalZone = None,
    grid: Annotated[
        float,
        typer.Option(
            "--tile-km", help="Side of the square tiles for trips and visits.", metavar="KM"
        ),
    ] = 5.0,
    least: Annotated[
        int,
        typer.Option(
            "--min-people", help="Charts and maps show no group of fewer people.", metavar="N"
        ),
    ] = 10,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Also write the result as JSON to this file.",
            metavar="FILE",
            rich_help_panel="Output",
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate the accuracy and the utility of a release against its original.

    With the private record, also how far each person's home, work place and travel distance have
    shifted, and of how many people the record of their crowd shows where they live and work;
    without the original, only how precise the published samples are.

    Example:  `incrowd evaluate release/ --original cdr.csv --record who.parquet --tz Europe/Rome`
    """
    from incrowd._atomic import refuse_taken
    from incrowd.data._manifest import read_release

    if source is None and record is not None:
        raise ArgumentError("--record needs --original, the data that the release was made from")
    if output is not None:
        refuse_taken(output, overwrite=overwrite)
    manifest = read_release(release).manifest
    about = {"release": str(release), "method": manifest.method}
    if source is None:
        found, lines = _alone(release)
    else:
        found, lines = _beside(release, source, record, local, {"grid": grid, "least": least})
    text = as_document(about | found)
    if output is not None:
        _write(output, text, overwrite=overwrite)
    if as_json:
        print(text)
    else:
        print_lines(lines)


def _alone(release: Path) -> tuple[dict[str, Any], list[str]]:
    """Say what a release tells by itself."""
    from dataclasses import asdict

    from incrowd.cli._methods import blur
    from incrowd.data._manifest import read_manifest
    from incrowd.evaluate._comparison import load_rows, published_as_trajectories
    from incrowd.evaluate._utility.accuracy import sizes_of, tallied

    after = published_as_trajectories(load_rows(release, read_manifest(release)))
    spreads = tallied(after, *sizes_of(after), after.crowd)
    found = {
        name: None if spread is None else asdict(spread)
        for name, spread in zip(("space", "time"), spreads, strict=True)
    }
    people, rows = int(after.crowd.sum()), int((after.crowd * after.lengths()).sum())
    plain = {"people_published": people, "boxes": after.samples, "rows": rows, **found}
    published = f"{'people':<22}{people:,} are published, in {len(after):,} records"
    return {"accuracy": plain, "utility": None, "inference": None}, [
        published,
        *blur(after),
        "",
        *wrapped("", ALONE),
    ]


def _beside(
    release: Path, source: Source, record: Path | None, local: str | None, how: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Say what a release is good for, beside its original."""
    import incrowd
    from incrowd.data._original import reading_of
    from incrowd.data._zone import known_zone
    from incrowd.evaluate._comparison import of_files

    kept = reading_of(record)
    tz = known_zone(local or (kept.zone if kept else None) or source.reading["tz"])
    said = tz is not None
    if tz is None:
        tz = "UTC"
        say(
            "note: the time zone in which people live is not known; nights and working hours are "
            "taken in UTC, so that homes and workplaces may be wrong. Give it with --local-tz"
        )

    def read(grid: Any) -> "Trajectories":
        say("Reading the original ...")
        return source.read_on(grid)

    pair = of_files(release, read, record)
    threads = source.reading["threads"]
    with progress("Comparing", "steps") as update:
        first = on_first_progress(update, "utility")
        useful = incrowd.utility(pair, tz=tz, threads=threads, progress=first, **how)
        accurate = incrowd.accuracy(pair, threads=threads)
        told = None if pair.became is None else incrowd.inference(pair, tz=tz, threads=threads)
    lines = accuracy_lines(accurate)
    if useful.persons is not None:
        lines += ["", *person_lines(useful.persons)]
    lines += ["", *aggregate_lines(useful.together)]
    if told is not None:
        lines += ["", *inference_lines(told)]
    notes = [UNKNOWN] if useful.persons is None else []
    notes += [] if said else [IN_UTC]
    lines += [line for note in notes for line in ("", *wrapped("", note))]
    found = {
        "accuracy": accurate.as_dict(),
        "utility": useful.as_dict(),
        "inference": None if told is None else told.as_dict(),
    }
    return found, lines


def _write(output: Path, text: str, *, overwrite: bool) -> None:
    from incrowd._atomic import replacing

    with replacing(output, overwrite=overwrite, private=True) as part:
        part.write_text(f"{text}\n", "utf-8")
    say(f"wrote {output}")


def accuracy_lines(found: "Accuracy") -> list[str]:
    """Say how accurate a release is."""
    rows = {"people": f"{count_of(found.people_published, found.people)} are published"}
    if found.space is not None and found.time is not None:
        rows["published samples"] = (
            f"half are up to {length(found.space.median)} wide and {_minutes(found.time.median)} "
            f"long; {percent(found.fine)} up to 100 m and 30 min, {percent(found.coarse)} up to "
            "2 km and 2 h"
        )
    if found.samples_deleted is not None:
        rows["samples lost"] = count_of(found.samples_deleted, found.samples)
    for name, errors, unit in (
        ("position error", found.position_error, length),
        ("time error", found.time_error, _minutes),
    ):
        if errors is not None:
            rows[name] = (
                f"up to {unit(errors.median)} for half of the samples, {unit(errors.mean)} on "
                "average"
            )
    if found.rows_created is not None:
        rows["fabricated samples"] = count_of(found.rows_created, found.rows)
    if found.rows_unseen is not None:
        rows["unwitnessed samples"] = (
            f"{count_of(found.rows_unseen, found.rows)} state a place and time at which none of "
            "their people was seen"
        )
    return ["How accurate it is", "", *_rows(rows)]


def person_lines(found: "Persons") -> list[str]:
    """Say how each person has changed."""
    lines = [
        f"Each person in the release beside the original ({found.people:,} compared)",
        "",
        f"{'place':<20}{'people':>10}{'unchanged':>11}"
        + "".join(f"{f'within {km} km':>14}" for km in NEAR)
        + f"{'median error':>14}",
    ]
    places = {
        "centre of mass": found.centre_of_mass,
        "home (22 to 6 h)": found.home,
        "work (9 to 17 h)": found.work,
    }
    lines += [_error_line(name, errors) for name, errors in places.items()]
    lines += _without(places)
    cuts = "".join(f"{QUANTILES[name]:>14}" for name in ("quarter", "median", "three_quarters"))
    heads = f"{'within 10%':>11}{'within x 2':>14}{cuts}"
    lines += ["", f"{'measure':<20}{'people':>10}{heads}"]
    measures = {
        "travel distance": found.travelled,
        "radius of gyration": found.gyration,
        "convex hull area": found.hull,
    }
    lines += [_ratio_line(name, ratios) for name, ratios in measures.items()]
    lines += wrapped(
        "",
        "Q1, median and Q3 are those of the ratio, the value in the release over that in the "
        "original (1: unchanged), of people whose value in the original is not 0. Within 10%: the "
        "ratio is 0.9 to 1.1; within x 2: it is 0.5 to 2.",
    )
    for name, ratios in measures.items():
        if ratios.static:
            lines += wrapped(
                "",
                f"{name}: 0 in the original for {count_of(ratios.static, ratios.people)} people, "
                f"and still 0 in the release for {ratios.static_kept:,} of them.",
            )
    return lines


def aggregate_lines(found: "AggregateUtility") -> list[str]:
    """Say how what everybody does together has changed."""
    from incrowd.evaluate._utility.summary import words_of_together

    return [
        "Everybody together, in the release beside the original",
        "",
        *_rows(words_of_together(found)),
    ]


def inference_lines(found: "Inference") -> list[str]:
    """Say what the record of a crowd tells of its people."""
    from incrowd.evaluate._utility.inference import words_beside

    head, rows = found.table()
    return [
        f"What a crowd's record tells of its people ({found.people:,} published)",
        "",
        *(f"{row[0]:<22}" + "".join(f"{cell:>32}" for cell in row[1:]) for row in (head, *rows)),
        *wrapped("", SHOWN),
        *(line for words in words_beside(found) for line in wrapped("", words)),
    ]


def _rows(rows: dict[str, str]) -> list[str]:
    return [line for name, value in rows.items() for line in wrapped(f"{name:<22}", value)]


def _error_line(name: str, errors: "Errors") -> str:
    shares = [errors.unaffected, *(errors.within[km] for km in NEAR)]
    widths = (11, 14, 14, 14)
    half = errors.quantiles[0.5]
    return (
        f"{name:<20}{errors.both:>10,}"
        + "".join(f"{percent(value):>{width}}" for value, width in zip(shares, widths, strict=True))
        + f"{'-' if half is None else length(1000 * half):>14}"
    )


def _without(places: dict[str, "Errors"]) -> list[str]:
    """Say who has no home or no work, because nothing was recorded in these hours."""
    lines = []
    for name, errors in places.items():
        most = max(errors.original, errors.after)
        if errors.both < most:
            lines += wrapped(
                "",
                f"{name}: {errors.original:,} people have one in the original, {errors.after:,} in "
                f"the release, {errors.both:,} in both.",
            )
    return lines


def _ratio_line(name: str, ratios: "Ratios") -> str:
    cuts = (ratios.quantiles[cut] for cut in (0.25, 0.5, 0.75))
    return (
        f"{name:<20}{ratios.moving:>10,}{percent(ratios.near):>11}{percent(ratios.twofold):>14}"
        + "".join(f"{'-' if cut is None else f'{cut:.2f}':>14}" for cut in cuts)
    )


def _minutes(minutes: float) -> str:
    return duration(minutes)
