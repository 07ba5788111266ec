"""``incrowd verify``: whether a release keeps its promises."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli._console import progress
from incrowd.cli._messages import messages, print_json
from incrowd.cli._options import AsJson, RecordFile, ReleaseFolder, Source, reads_original

__all__ = [
    "verify",
]


@reads_original
def verify(
    release: ReleaseFolder,
    source: Source | None,
    record: RecordFile = None,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            help="Number of people who must share each record.",
            metavar="K",
            show_default="what the manifest promises",
        ),
    ] = None,
    draws: Annotated[
        int,
        typer.Option(help="Random linkage trials per number of known samples.", metavar="N"),
    ] = 2500,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed of the trials.", metavar="N", show_default="a random one"),
    ] = None,
    decision: Annotated[
        Path | None,
        typer.Option(
            "--decision-file",
            help="Decision of incrowd sign, to be checked as well.",
            metavar="FILE",
            show_default="the one beside the release, if there is one",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify that a release keeps its promises: exit status 0 if it does, 1 if not.

    From the release alone: its files are intact, and at least k people share every record. With
    the original and the private record, also: every record is true of its people, and nobody can
    be linked to a record of their own; numbers are then exact, and for you: of the release alone,
    counts of fewer than 10 people are not shown. A decision of incrowd sign is checked against the
    files.

    Example:  `incrowd verify release/ --original cdr.csv --record who.parquet`
    """
    import incrowd
    from incrowd.evaluate._decision import check_decision, decision_beside

    with progress("Verifying", "steps") as update:
        found = incrowd.verify(
            release,
            original=None if source is None else source.read_on,
            record=record,
            k=k,
            draws=draws,
            seed=seed,
            progress=update,
        )
    decided = decision_beside(release) if decision is None else decision
    if decision is not None or decided.is_file():
        found = replace(found, checks=(*found.checks, check_decision(release, decided)))
    if source is None and record is None:
        # Whoever has the release alone is a recipient; so she may hand on what is printed.
        found, messages.handed_on = found.for_recipients(), True
    if as_json:
        print_json(found.to_dict(), status=0 if found.ok else 1)
    else:
        print(found)
    if not found.ok:
        raise typer.Exit(1)
