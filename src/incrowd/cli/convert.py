"""``incrowd convert``: read data, take a part of it, write it in the usual form."""

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli._console import say
from incrowd.cli._options import Force, Source, reads_data

__all__ = [
    "convert",
]


@reads_data
def convert(
    source: Source,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .parquet, .csv, .csv.gz or .csv.zst file.")
    ],
    force: Force = False,
) -> None:
    """Read data, take a part of it, and write it in the usual form (degrees, UTC).

    The output holds the identifiers of the input: it is a copy of the original, and no release.

    Example:  `incrowd convert cdr/ -o city.parquet --bbox=-4.2,5.2,-3.8,5.5 --per-day 1`
    """
    import incrowd
    from incrowd._atomic import refuse_taken
    from incrowd.data._io.write import kind_of

    kind_of(output)
    refuse_taken(output, overwrite=force)
    data = source.read()
    if data.samples == 0:
        raise incrowd.errors.InputError("nothing is left to write: no sample meets the conditions")
    incrowd.write(data, output, overwrite=force)
    say(f"wrote {data.samples:,} samples of {len(data):,} people to {output}")
