"""``incrowd attack RELEASE``: what adversaries gain who hold a release."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._file_errors import reading_file
from incrowd._format import rounded_percent
from incrowd.cli._console import on_first_progress, progress, say
from incrowd.cli._messages import print_json
from incrowd.cli._methods import wrapped
from incrowd.cli._options import Source, typed_in, with_recorded_options
from incrowd.cli._screen import print_lines
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.evaluate._release_attacks.findings import Finding, ReleaseAttacks

__all__ = [
    "Beside",
    "Details",
    "Later",
    "Original",
    "OtherRecords",
    "Others",
    "Places",
    "Record",
    "Reference",
    "Sample",
    "Seed",
    "attack_release",
    "others_of",
    "refuse_release_options",
    "release_in",
]


_PANEL = "Attack on a release (DATA is the directory of one)"
_SAMPLE = 1000


def _option(text: str, *names: str, show: str | None = None, usual: str | bool = True) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=_PANEL, metavar=show, show_default=usual)


Record = Annotated[
    Path | None,
    _option("Private record of who became whom: it tells whether attacks succeed.", "--record",
            show="FILE"),
]  # fmt: skip
Original = Annotated[
    str | None,
    _option("Data that the release was made from.", "--original", show="DATA",
            usual="as the private record says"),
]  # fmt: skip
Reference = Annotated[
    str | None,
    _option("Data with names in which a member of a crowd looks for the others.", "--reference",
            show="DATA", usual="the original"),
]  # fmt: skip
Later = Annotated[
    str | None,
    _option("Later data of the same people, with names.", "--later", show="DATA",
            usual="the last 30 % of the period, and the rest of the release"),
]  # fmt: skip
Others = Annotated[
    list[Path] | None,
    _option("Another release of the same people; may be repeated.", "--with", show="DIR"),
]
OtherRecords = Annotated[
    list[Path] | None,
    _option("Its private record, in the same order.", "--with-record", show="FILE",
            usual="that of the same run"),
]  # fmt: skip
Places = Annotated[
    Path | None,
    _option("Table of sensitive places: lat and lon, in degrees.", "--places", show="FILE"),
]
Sample = Annotated[
    int | None,
    typer.Option(
        "--attack-sample", min=1, help="How many people are attacked, drawn at random.",
        rich_help_panel=_PANEL, metavar="N", show_default=str(_SAMPLE),
    ),
]  # fmt: skip
Seed = Annotated[int, _option("Seed of what is drawn.", "--attack-seed", show="N")]
Details = Annotated[bool, _option("Show every figure of every attack.", "--details")]
OF_A_RELEASE = (
    "record", "original", "reference", "later", "others", "other_records", "sensitive", "sample",
    "seed", "details",
)  # fmt: skip
OF_DATA = {
    "points": "--k",
    "tolerance": "--tolerance",
    "relative": "--relative",
    "time_bin": "--time-bin",
    "targets": "--targets",
    "by_name": "--by-name",
    "worst": "--most-at-risk",
    "output": "--output",
}


@dataclass(frozen=True, slots=True)
class Beside:
    """What is given beside a release."""

    record: Path | None
    original: str | None
    reference: str | None
    later: str | None
    others: list[Path] | None
    other_records: list[Path] | None
    places: Path | None


def release_in(source: Source) -> Path | None:
    """Return the release that is named where data could be, also by the folder of its run."""
    from incrowd.data._manifest import MANIFEST

    if source.files:
        return None
    folder = Path(source.path)
    if (folder / "run.json").is_file() and (folder / "release" / MANIFEST).is_file():
        folder /= "release"
    return folder if (folder / MANIFEST).is_file() else None


def refuse_release_options(context: typer.Context) -> None:
    """Refuse options that mean nothing for data."""
    typed = typed_in(context)
    for name in OF_A_RELEASE:
        if name in typed:
            flag = _flag(context, name)
            raise ArgumentError(f"{flag} is for attacks on a release; {context.params['data']} is "
                                "none")  # fmt: skip


def _flag(context: typer.Context, name: str) -> str:
    """Return how an option is written."""
    return next(each.opts[0] for each in context.command.params if each.name == name)


def attack_release(
    context: typer.Context, release: Path, source: Source, attacks: str, beside: Beside, *,
    sample: int | None, seed: int, local: str | None, details: bool, as_json: bool,
) -> None:  # fmt: skip
    """Attack a release, and print what was found."""
    import incrowd
    from incrowd.data._original import reading_of
    from incrowd.data._zone import known_zone
    from incrowd.evaluate._release_attacks.run import release_attacks_of

    typed = typed_in(context)
    for name, flag in OF_DATA.items():
        if name in typed:
            raise ArgumentError(f"{flag} is for attacks on data; {release} is a release")
    names = [name.strip() for name in attacks.split(",") if name.strip()] or None
    release_attacks_of(names)
    record = beside.record or _record_of(release)
    known = None if record is None else reading_of(record)
    own = typed - context.params.keys() | (typed & source.reading.keys())
    asked = source if known is None else with_recorded_options(source, known, own)

    def reading(path: str | None) -> Any:
        return None if path is None else replace(asked, path=path, files={}).read_on

    zone = known_zone(local or (known.zone if known else None) or source.reading["tz"])
    if zone is None:
        say(
            "note: the time zone in which people live is not known; nights and working hours are "
            "taken in UTC. Give it with --local-tz"
        )
    with progress("Attacking", "steps") as update:
        found = incrowd.attack_release(
            release,
            names,
            record=record,
            original=reading(beside.original),
            others=others_of(beside.others, beside.other_records),
            reference=reading(beside.reference),
            later=reading(beside.later),
            places=_places(beside.places),
            tz=zone or "UTC",
            sample=_SAMPLE if sample is None else sample,
            seed=seed,
            threads=source.reading["threads"],
            progress=on_first_progress(update, "attack"),
        )
    if as_json:
        print_json({"release": str(release), "tz": zone or "UTC", **found.as_dict()})
        return
    print_lines(lines_of(found, details=details))


def _record_of(release: Path) -> Path | None:
    """Return the private record of the run that made a release, if it is where runs put it."""
    record = release.parent / "private" / "who.parquet"
    return record if record.is_file() else None


def others_of(folders: list[Path] | None, records: list[Path] | None) -> list[tuple[Any, ...]]:
    """Pair other releases with their records."""
    folders, records = folders or [], records or []
    if records and len(records) != len(folders):
        raise ArgumentError(
            f"there are {len(folders)} --with and {len(records)} --with-record; give one for each, "
            "in the same order"
        )
    found = []
    for i, folder in enumerate(folders):
        release = folder / "release" if (folder / "run.json").is_file() else folder
        record = records[i] if records else _record_of(release)
        if record is None:
            raise ArgumentError(
                f"whose records are in {folder} is not known; name its private record with "
                "--with-record FILE"
            )
        found.append((release, record))
    return found


def _places(path: Path | None) -> "pl.DataFrame | None":
    """Read a table of places."""
    import polars as pl

    if path is None:
        return None
    with reading_file(path, "the places in"):
        return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)


def lines_of(found: "ReleaseAttacks", *, details: bool = False) -> list[str]:
    """Say what was found in lines: a table, and what each attack means; every figure, if asked."""
    attacked = f"{found.attacked:,} of {found.people:,}"
    if found.attacked < found.people:
        attacked += f", drawn at random (seed {found.seed})"
    lines = [f"{'people attacked':<34}{attacked}", ""]
    lines.append(f"{'who, with what':<34}{'gains something of':>20}")
    for each in found.findings:
        share = f"{rounded_percent(each.share)} of people" if each.made else "not tried"
        lines.append(f"{each.label:<34}{share:>20}")
    for each in found.findings:
        lines += ["", *_about(each, details=details)]
    return lines


def _about(finding: "Finding", *, details: bool) -> list[str]:
    """Say what one attack is, what it found, and what helps."""
    lines = [finding.label, *wrapped("  Knows: ", finding.knows), *wrapped("  ", finding.says)]
    figures = [each for each in finding.figures if each.of] if details else []
    wide = max((len(each.what) for each in figures), default=0)
    lines += [f"    {each.what:<{wide}}  {each.words}" for each in figures]
    return [*lines, *wrapped("  What helps: ", f"{finding.helps}.")]
