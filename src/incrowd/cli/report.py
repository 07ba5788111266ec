"""``incrowd report``: a page that a privacy officer reads and signs."""

import json
from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli._console import progress, say
from incrowd.cli._messages import print_json
from incrowd.cli._options import (
    AsJson,
    LocalZone,
    Overwrite,
    RecordFile,
    ReleaseFolder,
    Source,
    reads_original,
)

__all__ = [
    "report",
]


STATUS = {"yes": 0, "conditions": 3, "no": 1}
"""The exit status of each answer."""


@reads_original
def report(
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
            show_default="report.html in the release",
            rich_help_panel="Output",
        ),
    ] = None,
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
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Report whether a release may be shared, against which threats it protects, and at what loss.

    Writes report.html into the release: one file that needs no network. With the original, the
    report also says how exposed people were and what is left of the data; with the private record,
    how each person's data changed. Exit status 0 if it may be shared, 3 if with conditions, 1 if
    not.

    Example:  `incrowd report release/ --original cdr.csv --record who.parquet`
    """
    from incrowd._atomic import refuse_taken
    from incrowd.data._manifest import PAGE
    from incrowd.report._make import make

    for place in filter(None, (output, figures)):
        _refuse_inside(place)
    if output is not None:
        refuse_taken(output, overwrite=overwrite)
    if figures is not None:
        refuse_taken(figures, directory=True)
    reading = {} if source is None else source.reading
    with progress("Reporting", "steps") as update:
        made = make(
            release,
            original=None if source is None else source.read_on,
            record=record,
            gaps=gaps,
            tz=local or reading.get("tz") or "UTC",
            title=title,
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
    if output is not None:
        page = made.save(output, overwrite=overwrite)
    elif made.numbers.verification.ok:
        page = made.add()
    else:
        page = None
        say(
            f"{PAGE} was not added to a release that failed its verification; write it elsewhere "
            "with -o FILE"
        )
    if as_json:
        print_json(json.loads(made.json()), status=STATUS[made.verdict.answer])
    else:
        print("\n".join(made.lines()))
        if page is not None:
            print(f"\nThe report is in {page}.")
    if status := STATUS[made.verdict.answer]:
        raise typer.Exit(status)


def _refuse_inside(place: Path) -> None:
    """Refuse a place in a release: what its manifest does not name makes its verification fail."""
    from incrowd.data._manifest import MANIFEST
    from incrowd.errors import ArgumentError

    if (place.absolute().parent / MANIFEST).exists():
        raise ArgumentError(
            f"{place} lies in a release; choose a place outside of it (without -o, the page is "
            "added to the release and to its manifest)"
        )
