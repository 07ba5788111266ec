"""``incrowd demo``: everything on a synthetic city."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd._format import people as _people
from incrowd.cli import _methods, anonymize, describe, measure
from incrowd.cli._console import progress, warn_first_compile
from incrowd.cli._messages import print_json
from incrowd.cli._options import AsJson
from incrowd.cli._run_folder import make_folder
from incrowd.cli.compare import write_comparison

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.evaluate._compare.result import Comparison

__all__ = [
    "demo",
]


K = 3
ZONE, TITLE = "Africa/Abidjan", "a synthetic city"
METHODS = ("glove", "glove:two-stage", "w4m", "generalise:1000m:30min")
COMPARED = 500
"""On how many people mechanisms are compared, at most."""


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to write to.", metavar="DIR")
    ] = Path("demo"),
    users: Annotated[int, typer.Option(min=K, help="Number of people.", metavar="N")] = 2000,
    seed: Annotated[
        int, typer.Option(help="Seed: the same seed makes the same city.", metavar="N")
    ] = 7,
    as_json: AsJson = False,
) -> None:
    """Run everything on a synthetic city: measure, anonymize, verify, attack, report, compare.

    Writes the city, the release, the private record, report.html, and a comparison of mechanisms to
    the folder demo/. Files of an earlier run there are replaced.

    Example:  `incrowd demo`
    """
    import incrowd
    from incrowd.data._manifest import PAGE
    from incrowd.data._original import OriginalReading
    from incrowd.evaluate._publish import publish, refuse_places
    from incrowd.report._make import make
    from incrowd.report._terminal import attack_lines, unique_lines

    def tell(title: str, lines: Iterable[str]) -> None:
        if not as_json:
            text = "\n".join(lines)
            print(f"{title}\n{'-' * len(title.strip())}\n{text}", flush=True)

    make_folder(output)
    file, folder = output / "city.parquet", output / "release"
    record = output / "who.parquet"
    refuse_places(folder, record=record, overwrite=True)
    warn_first_compile("demo")
    with progress("Making people", "people") as update:
        data = incrowd.synthesize("city", users=users, seed=seed, progress=update)
    incrowd.write(data, file, overwrite=True)
    title = f"A synthetic city of {len(data):,} people, none of them real"
    tell(title, describe.lines_of(incrowd.describe(data)))
    with progress("Measuring", "people") as update:
        table = incrowd.k_gap(data, K, progress=update)
    stretch = incrowd.Stretch.of(None, data.frame)
    found = [measure.gaps_of(table, K, stretch, data.frame)]
    tell("\nHow hard it is to hide them", measure.lines_of(found, stretch, data.frame))
    with anonymize.stages() as show:
        release = incrowd.glove(data, K, progress=show)
    with progress("Writing and verifying", "steps") as update:
        done = publish(
            release, folder, original=data, record=record, overwrite=True, progress=update,
            reading=OriginalReading.of(str(file), {}, {}, data, ZONE),
        )  # fmt: skip
    title = f"\nEverybody in a crowd of {K} or more, verified and published"
    tell(title, _methods.lines_of(data, release, done))
    with progress("Attacking, evaluating, reporting", "steps") as update:
        report = make(
            folder, original=data, record=record, gaps=table, tz=ZONE, title=TITLE, seed=seed,
            progress=lambda _what, steps, total: update(steps, total),
        )  # fmt: skip
    page = report.save(output / PAGE, overwrite=True)
    tell("\nWhat an adversary could do, before and after", attack_lines(report.numbers))
    tell("\nHow unique people are, before and after", unique_lines(report.numbers))
    tell("\nThe report, first screen", report.lines())
    others, beside = _compared(data, seed, output / "comparison")
    title = f"\nOther mechanisms beside it, on {_people(others.data['people'])} of the city"
    tell(title, str(others).splitlines())
    if as_json:
        places = {
            "city": file, "release": folder, "record": record, "report": page,
            "comparison": beside,
        }  # fmt: skip
        there = {name: str(place) for name, place in places.items()}
        print_json(there | {"people": len(data), "answer": report.verdict.answer})
        return
    again = f"{anonymize.itself()} verify {folder} --record {record}"
    print(f"\nThe report is in {page}: open it in a browser.")
    print(f"The comparison of mechanisms is in {beside}.")
    print(f"The city is in {file}, the release in {folder}, who became whom in {record}.")
    print(f"Verify it again with:  {again}")


def _compared(data: "Trajectories", seed: int, folder: Path) -> "tuple[Comparison, Path]":
    """Compare a few mechanisms on some of the people; give it, and where its page is."""
    import incrowd

    with anonymize.stages() as show:
        found = incrowd.compare(data[:COMPARED], METHODS, k=K, tz=ZONE, seed=seed, progress=show)
    return found, write_comparison(found, folder)
