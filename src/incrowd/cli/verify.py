"""``incrowd verify``: whether a release holds what it claims."""

import json
from typing import Annotated

import typer

from incrowd.cli._console import progress
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
        int | None, typer.Option("--k", help="People a record; as the manifest says unless given.")
    ] = None,
    draws: Annotated[int, typer.Option(help="Trials for each number of known samples.")] = 2500,
    seed: Annotated[int | None, typer.Option(help="Makes the trials repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """Verify that a release holds what it claims: exit status 0 if it does, 1 if not.

    From the files alone, that they are whole and every record is shared by k people; with the
    original and the private record, also that it is true and that nobody can be linked.

    Example:  `incrowd verify release/ --original cdr.csv --record who.parquet`
    """
    import incrowd

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
    print(json.dumps(found.to_dict(), indent=2) if as_json else found)
    if not found.ok:
        raise typer.Exit(1)
