"""``incrowd demo``: everything on a synthetic city."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli import anonymize, attack, describe, measure, uniqueness
from incrowd.cli.console import progress, say_if_first

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data.trajectories import Trajectories
    from incrowd.data.visits import Visits
    from incrowd.measure.uniqueness import Uniqueness

__all__ = ["demo"]

K, KNOWN = 2, 4
ATTACKS = ("visit", "location", "frequency")
POINTS = (1, 2, 4, 8)


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")] = Path(
        "demo"
    ),
    users: Annotated[int, typer.Option(min=K, help="How many people.")] = 2000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same city.")] = 7,
) -> None:
    """Make a synthetic city, measure and attack it, hide everybody in it, and verify that.

    Example:  `incrowd demo`
    """
    import incrowd
    from incrowd.evaluate.publish import publish, refuse_places

    output.mkdir(parents=True, exist_ok=True)
    file, folder = output / "city.parquet", output / "release"
    refuse_places(folder, overwrite=True)
    say_if_first()
    with progress("Making people", "people") as update:
        data = incrowd.synthesize("city", users=users, seed=seed, progress=update)
    incrowd.write(data, file, overwrite=True)
    _head(f"A synthetic city of {len(data):,} people, none of them real")
    print("\n".join(describe.lines_of(incrowd.describe(data))))
    with progress("Measuring", "people") as update:
        table = incrowd.k_gap(data, K, progress=update)
    stretch = incrowd.Stretch()
    _head("\nHow hard it is to hide them")
    found = [measure.gaps_of(table, K, stretch, data.frame)]
    print("\n".join(measure.lines_of(found, stretch, data.frame)))
    with anonymize.stages() as show:
        release = incrowd.glove(data, K, progress=show)
    with progress("Writing and verifying", "steps") as update:
        done = publish(data, release, folder, overwrite=True, progress=update)
    _head(f"\nEverybody in a crowd of {K} or more, verified and published")
    print("\n".join(anonymize.lines_of(data, release, done)))
    _head("\nWhat an adversary could do, before and after")
    before, after = (incrowd.visits(one) for one in (data, release.trajectories))
    print("\n".join(attack.beside(_risk(before), _risk(after))))
    _head("\nHow unique people are, before and after")
    print("\n".join(uniqueness.beside(_unique(before, data), _unique(after, data))))
    again = f"{anonymize.itself()} verify {folder} --original {file}"
    print(f"\nThe city is in {file}, the release in {folder}.\nVerify it again with:  {again}")


def _risk(visits: "Visits") -> "pl.DataFrame":
    """Attack people who have a record of their own."""
    import incrowd

    with progress("Attacking", "people") as update:
        return incrowd.risk(visits, ATTACKS, KNOWN, progress=update)


def _unique(visits: "Visits", data: "Trajectories") -> dict[str, "Uniqueness"]:
    """Draw points of people, by the hour."""
    import incrowd

    slots = 3600 // data.frame.slot
    return {
        kind: incrowd.uniqueness(visits, POINTS, kind=kind, precision=slots, met=1)
        for kind in uniqueness.KINDS
    }


def _head(text: str) -> None:
    print(f"{text}\n{'-' * len(text.strip())}", flush=True)
