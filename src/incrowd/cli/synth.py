"""``incrowd synth``: a synthetic dataset that behaves like one of the papers'."""

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli._console import progress, say
from incrowd.cli._messages import print_json
from incrowd.cli._options import AsJson, DataFile, Overwrite

__all__ = [
    "synth",
]


def synth(
    preset: Annotated[
        str,
        typer.Argument(
            help="civ-v2, sen-v2 (phones in a country), city (phones in a city), florence, pisa "
            "(cars) or campus (GSM, WiFi and GPS); civ, sen are the first editions.",
            metavar="PRESET",
        ),
    ],
    output: DataFile,
    users: Annotated[
        int | None,
        typer.Option(
            help="Number of people.", metavar="N", show_default="as many as the paper's dataset"
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed: the same seed makes the same file.", metavar="N")
    ] = 0,
    antennas: Annotated[
        Path | None,
        typer.Option(
            help="Also write the table of antennas or zones (id, lat, lon).", metavar="FILE"
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Make a synthetic dataset that resembles one of the datasets of the papers.

    Example:  `incrowd synth civ-v2 -o civ.parquet --users 5000 --seed 7`
    """
    from incrowd.data._io.write import table_file
    from incrowd.data._synthetic.generate import antennas as antennas_of
    from incrowd.data._synthetic.generate import write

    with progress("Making people", "people") as update:
        rows = write(preset, output, users=users, seed=seed, overwrite=overwrite, progress=update)
    say(f"wrote {rows:,} rows to {output}")
    if antennas is not None:
        table = antennas_of(preset, users=users, seed=seed)
        with table_file(antennas, table.schema, overwrite=overwrite) as put:
            for batch in table.to_batches():
                put(batch)
        say(f"wrote {table.num_rows:,} antennas or zones to {antennas}")
    if as_json:
        table_of = None if antennas is None else str(antennas)
        print_json({"file": str(output), "rows": rows, "antennas": table_of})
