"""``incrowd evaluate``: how accurate a release is, and what it is still good for."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.console import once_begun, progress, say
from incrowd.cli.options import (
    AsJson,
    Force,
    LocalZone,
    RecordFile,
    ReleaseFolder,
    Source,
    reads_original,
)
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from incrowd.data.trajectories import Trajectories

__all__ = ["evaluate"]

ALONE = (
    "What was lost cannot be told from the release alone: name what it was made from with "
    "--original."
)
UNKNOWN = (
    "Errors, deleted samples, and how each person's places and movement changed cannot be told: "
    "that needs the private record of who became whom (--record)."
)
IN_UTC = "Hours are UTC; if people live by another clock, name its zone with --tz."


@reads_original
def evaluate(
    release: ReleaseFolder,
    source: Source | None,
    record: RecordFile = None,
    local: LocalZone = None,
    grid: Annotated[
        float, typer.Option(help="Side of a square, for trips and places.", metavar="KM")
    ] = 5.0,
    least: Annotated[
        int, typer.Option(help="Charts and maps show nothing of fewer people.", metavar="N")
    ] = 10,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write everything as JSON.", metavar="FILE"),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Tell how accurate a release is beside its original, and what it is still good for.

    With the private record also how far homes, places of work and ways of moving of each person
    have shifted; without the original, how fine the published samples are.

    Example:  `incrowd evaluate release/ --original cdr.csv --record who.parquet --tz Europe/Rome`
    """
    from incrowd.data.atomic import refuse_taken
    from incrowd.data.manifest import read_release

    if source is None and record is not None:
        raise ArgumentError("--record says who of the original became whom; it needs --original")
    if output is not None:
        refuse_taken(output, overwrite=force)
    manifest = read_release(release).manifest
    about = {"release": str(release), "method": manifest.method}
    if source is None:
        found, lines = _alone(release)
    else:
        found, lines = _beside(release, source, record, local, {"grid": grid, "least": least})
    text = json.dumps(about | found, indent=2, allow_nan=False)
    if output is not None:
        _write(output, text, overwrite=force)
    print(text if as_json else "\n".join(lines))


def _alone(release: Path) -> tuple[dict[str, Any], list[str]]:
    """Say what a release tells by itself."""
    from dataclasses import asdict

    from incrowd.cli.telling import blur, wrapped
    from incrowd.data.manifest import read_manifest
    from incrowd.evaluate.accuracy import sizes_of, tallied
    from incrowd.evaluate.pairing import load_rows, published_as_trajectories

    after = published_as_trajectories(load_rows(release, read_manifest(release)))
    spreads = tallied(after, *sizes_of(after), after.crowd)
    found = {
        name: None if spread is None else asdict(spread)
        for name, spread in zip(("space", "time"), spreads, strict=True)
    }
    people, rows = int(after.crowd.sum()), int((after.crowd * after.lengths()).sum())
    plain = {"people_published": people, "boxes": after.samples, "rows": rows, **found}
    published = f"{'people':<22}{people:,} are published, in {len(after):,} records"
    return {"accuracy": plain, "utility": None}, [
        published,
        *blur(after),
        "",
        *wrapped("", ALONE),
    ]


def _beside(
    release: Path, source: Source, record: Path | None, local: str | None, how: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Say what a release is good for, beside its original."""
    import incrowd
    from incrowd.cli.telling import wrapped
    from incrowd.cli.useful import accuracy_lines, person_lines, together_lines
    from incrowd.data.moments import find_zone
    from incrowd.evaluate.pairing import of_files

    tz = local or source.reading["tz"] or "UTC"
    find_zone(tz)

    def read(grid: Any) -> "Trajectories":
        say("Reading the original ...")
        return source.read_on(grid)

    pair = of_files(release, read, record)
    threads = source.reading["threads"]
    with progress("Comparing", "steps") as update:
        first = once_begun(update, "evaluate.counting:_count", "half a minute")
        useful = incrowd.utility(pair, tz=tz, threads=threads, progress=first, **how)
        accurate = incrowd.accuracy(pair, threads=threads)
    lines = accuracy_lines(accurate)
    if useful.persons is not None:
        lines += ["", *person_lines(useful.persons)]
    lines += ["", *together_lines(useful.together)]
    notes = [UNKNOWN] if useful.persons is None else []
    notes += [IN_UTC] if local is None and source.reading["tz"] is None else []
    lines += [line for note in notes for line in ("", *wrapped("", note))]
    return {"accuracy": accurate.as_dict(), "utility": useful.as_dict()}, lines


def _write(output: Path, text: str, *, overwrite: bool) -> None:
    from incrowd.data.atomic import replacing

    with replacing(output, overwrite=overwrite) as part:
        part.write_text(f"{text}\n", "utf-8")
    say(f"wrote {output}")
