"""``incrowd synth``: a synthetic dataset that behaves like one of the papers'."""

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli._console import progress, say
from incrowd.cli._options import Force

__all__ = [
    "synth",
]


def synth(
    preset: Annotated[str, typer.Argument(help="civ, sen, city, florence, pisa or campus.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .parquet, .csv, .csv.gz or .csv.zst file.")
    ],
    users: Annotated[
        int | None, typer.Option(help="How many people; as in the original unless given.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0,
    cells: Annotated[
        Path | None,
        typer.Option(help="Also write the table of antennas or zones (id, lat, lon)."),
    ] = None,
    force: Force = False,
) -> None:
    """Make a synthetic dataset that behaves like one of the papers'.

    Example:  `incrowd synth civ -o civ.parquet --users 5000 --seed 7`
    """
    from incrowd.data._io.write import table_file
    from incrowd.data._synthetic.generate import antennas, write

    with progress("Making people", "people") as update:
        rows = write(preset, output, users=users, seed=seed, overwrite=force, progress=update)
    say(f"wrote {rows:,} rows to {output}")
    if cells is not None:
        table = antennas(preset, users=users, seed=seed)
        with table_file(cells, table.schema, overwrite=force) as put:
            for batch in table.to_batches():
                put(batch)
        say(f"wrote {table.num_rows:,} antennas or zones to {cells}")
