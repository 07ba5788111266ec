"""``incrowd convert``: read data, take a part of it, write it in one format."""

from incrowd._format import people as _people
from incrowd._format import several
from incrowd.cli._console import say, warn
from incrowd.cli._messages import print_json, reading_as_dict
from incrowd.cli._options import AsJson, DataFile, Overwrite, Source, reads_data

__all__ = [
    "convert",
]


@reads_data
def convert(
    source: Source,
    output: DataFile,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Convert data, or a part of it, to one table with degrees and UTC times.

    The output keeps the identifiers of the input: it is a copy of the original, not a release, and
    its owner alone can read it.

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
    incrowd.write(data, output, overwrite=overwrite, private=True)
    say(f"wrote {several(data.samples, 'sample')} of {_people(len(data))} to {output}")
    warn(f"{output} is a copy of the original: it names everybody, with all positions")
    if as_json:
        reading = reading_as_dict(data.reading)
        found = {"file": str(output), "people": len(data), "samples": data.samples}
        print_json(found | {"reading": reading})
