"""``incrowd report``: a page that a privacy officer reads and signs."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli._console import progress, say
from incrowd.cli._messages import messages, print_json
from incrowd.cli._options import (
    AsJson,
    LocalZone,
    Overwrite,
    RecordFile,
    ReleaseFolder,
    Source,
    reads_original,
)
from incrowd.cli._project import own_thresholds
from incrowd.cli._release_attacks import others_of
from incrowd.cli._screen import print_lines
from incrowd.cli.anonymize import itself
from incrowd.errors import ArgumentError, OutputError

if TYPE_CHECKING:
    from incrowd.report._make import Report

__all__ = [
    "STATUS",
    "Purposes",
    "report",
]


STATUS = {"yes": 0, "conditions": 3, "no": 1}
"""The exit status of each answer."""


Purposes = Annotated[
    str,
    typer.Option(
        "--purpose",
        help="For what the release is meant, which sets the thresholds: internal (within the "
        "organisation), contract (a named recipient), open (anybody).",
        metavar="NAME",
    ),
]


@reads_original
def report(
    context: typer.Context,
    release: ReleaseFolder,
    source: Source | None,
    record: RecordFile = None,
    gaps: Annotated[
        Path | None,
        typer.Option(
            "--k-gaps",
            help="k-gaps of the original, as incrowd measure -o writes them.",
            metavar="FILE",
            show_default="measured again, which takes the longest",
        ),
    ] = None,
    local: LocalZone = None,
    title: Annotated[
        str | None, typer.Option(help="Name of the data on the page.", metavar="TEXT")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the page to this file.",
            metavar="FILE",
            show_default="RELEASE-report.html beside the release",
            rich_help_panel="Output",
        ),
    ] = None,
    inside: Annotated[
        bool,
        typer.Option(
            "--in-release",
            help="Put the page into the release, for its recipient to read.",
            rich_help_panel="Output",
        ),
    ] = False,
    pdf: Annotated[
        Path | None,
        typer.Option(
            help="Also print the page to this PDF; needs Chromium, Chrome or Edge.",
            metavar="FILE",
            rich_help_panel="Output",
        ),
    ] = None,
    purpose: Purposes = "contract",
    figures: Annotated[
        Path | None,
        typer.Option(
            help="Also write every figure as SVG and PNG, and its numbers, to this new folder.",
            metavar="DIR",
            rich_help_panel="Output",
        ),
    ] = None,
    targets: Annotated[
        int,
        typer.Option(
            "--attack-sample",
            min=1,
            help="Number of people to attack, drawn at random.",
            metavar="N",
        ),
    ] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random draws.", metavar="N")] = 0,
    others: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            help="Another release of the same people, for attacks on several together; may be "
            "repeated.",
            metavar="DIR",
        ),
    ] = None,
    other_records: Annotated[
        list[Path] | None,
        typer.Option(
            "--with-record",
            help="Its private record, in the same order.",
            metavar="FILE",
            show_default="that of the same run",
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Report whether a release may be shared, against which threats it protects, and at what loss.

    Writes one page beside the release, which needs no network. With the original, the
    report also says how exposed people were and what is left of the data; with the private record,
    how each person's data changed. Exit status 0 if it may be shared, 3 if with conditions, 1 if
    not.

    Example:  `incrowd report release/ --original cdr.csv --record who.parquet`
    """
    from incrowd.data._manifest import PAGE, read_manifest
    from incrowd.data._original import reading_of
    from incrowd.evaluate._decision import decision_beside, report_beside
    from incrowd.report._make import make

    read_manifest(release)
    if inside and output is not None:
        raise ArgumentError("--in-release and -o name two places for the page; give one")
    place = release / PAGE if inside else output or report_beside(release)
    if place.exists() and (decision := decision_beside(release)).is_file():
        raise OutputError(
            f"{place} was decided on ({decision}) and is not replaced; write another with -o FILE, "
            "or move the decision away first"
        )
    _refuse_places(None if inside else place, pdf, figures, overwrite=overwrite)
    reading, kept = {} if source is None else source.reading, reading_of(record)
    with progress("Reporting", "steps") as update:
        made = make(
            release,
            original=None if source is None else source.read_on,
            record=record,
            gaps=gaps,
            tz=local or (kept.zone if kept else None) or reading.get("tz"),
            title=title,
            purpose=purpose,
            thresholds=own_thresholds(context),
            others=others_of(others, other_records),
            targets=targets,
            seed=seed,
            threads=reading.get("threads"),
            progress=lambda _what, done, total: update(done, total),
        )
    if figures is not None:
        from incrowd.report._figures.export import write_figures

        with progress("Drawing", "figures") as update:
            names = write_figures(made.numbers, figures, progress=update)
        say(f"wrote {len(names):,} files to {figures}")
    page = _written(made, place, inside=inside, overwrite=overwrite)
    if pdf is not None:
        say("Printing the PDF ...")
        made.pdf(pdf, overwrite=overwrite)
    messages.handed_on = True
    if as_json:
        print_json(json.loads(made.json()), status=STATUS[made.verdict.answer])
    else:
        print_lines(made.lines())
        print_lines(_next(release, page, pdf, inside=inside))
    if status := STATUS[made.verdict.answer]:
        raise typer.Exit(status)


def _refuse_places(
    page: Path | None, pdf: Path | None, figures: Path | None, *, overwrite: bool
) -> None:
    """Refuse, before the work, places that are taken or lie in a release, and a PDF without means.

    What its manifest does not name makes the verification of a release fail.
    """
    from incrowd._atomic import refuse_taken
    from incrowd.data._manifest import MANIFEST
    from incrowd.report._pdf import find_browser

    for place in filter(None, (page, pdf, figures)):
        if (place.absolute().parent / MANIFEST).exists():
            raise ArgumentError(
                f"{place} lies in a release; choose a place outside of it (--in-release adds the "
                "page to the release and to its manifest)"
            )
        if place == figures:
            refuse_taken(place, directory=True)
        else:
            refuse_taken(place, overwrite=overwrite)
    if pdf is not None:
        find_browser()


def _written(made: "Report", place: Path, *, inside: bool, overwrite: bool) -> Path | None:
    """Write the page; None if it has no place in a release that failed its verification."""
    if not inside:
        return made.save(place, overwrite=overwrite)
    if made.numbers.verification.ok:
        return made.add(overwrite=overwrite)
    say("the page was not added to a release that failed its verification; leave --in-release out")
    return None


def _next(release: Path, page: Path | None, pdf: Path | None, *, inside: bool) -> list[str]:
    """Say where the report is, and what comes next."""
    from incrowd.evaluate._decision import report_beside

    lines = [] if page is None else ["", f"The report is in {page}."]
    lines += [] if pdf is None else [f"As a PDF it is in {pdf}."]
    if page is not None and not inside:
        words = [itself(), "sign", str(release), "--decision", "WORD", "--signer", "NAME"]
        words += [] if page == report_beside(release) else ["--report", str(page)]
        lines.append(f"When you have decided:  {shlex.join(words)}")
    return lines
