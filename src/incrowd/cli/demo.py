"""``incrowd demo``: everything on a synthetic city."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.console import progress
from incrowd.cli.describe import lines_of

__all__ = ["demo"]


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")] = Path(
        "demo"
    ),
    users: Annotated[int, typer.Option(help="How many people.")] = 2000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same city.")] = 7,
) -> None:
    """Make a synthetic city, describe it, and write it out.

    Example:  `incrowd demo`
    """
    import incrowd

    output.mkdir(parents=True, exist_ok=True)
    file = output / "city.parquet"
    with progress("Making people", "people") as update:
        data = incrowd.synthesize("city", users=users, seed=seed, progress=update)
    about = incrowd.describe(data)
    incrowd.write(data, file, overwrite=True)
    print(f"A synthetic city of {len(data):,} people, none of them real.\n")
    print("\n".join(lines_of(about)))
    # As the command was called, for it may not be on the path.
    itself = sys.argv[0] if Path(sys.argv[0]).name == "incrowd" else "incrowd"
    print(f"\nWritten to {file}. Look again with:  {itself} describe {file}")
