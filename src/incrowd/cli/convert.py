"""``incrowd convert``: read data, take a part of it, write it in one format."""

from incrowd._format import people as _people
from incrowd._format import several
from incrowd.cli._console import say
from incrowd.cli._options import DataFile, Overwrite, Source, reads_data

__all__ = [
    "convert",
]


@reads_data
def convert(
    source: Source,
    output: DataFile,
    overwrite: Overwrite = False,
) -> None:
    """Convert data, or a part of it, to one table with degrees and UTC times.

    The output keeps the identifiers of the input: it is a copy of the original, not a release.

    Example:  `incrowd convert cdr/ -o city.parquet --bbox=-4.2,5.2,-3.8,5.5 --per-day 1`
    """
    import incrowd
    from incrowd._atomic import refuse_taken
    from incrowd.data._io.write import kind_of

    kind_of(output)
    refuse_taken(output, overwrite=overwrite)
    data = source.read()
    if data.samples == 0:
        raise incrowd.errors.InputError(
            "there is nothing to write: no sample is in the part that was asked for"
        )
    incrowd.write(data, output, overwrite=overwrite)
    say(f"wrote {several(data.samples, 'sample')} of {_people(len(data))} to {output}")
