"""Options of commands that attack: what the adversary knows, and how well."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli._console import say
from incrowd.cli._options import in_units
from incrowd.errors import ArgumentError, UnreadableError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data._frame import Frame

__all__ = [
    "Names",
    "Points",
    "Precision",
    "Relative",
    "Targets",
    "Tolerance",
    "asked_for",
    "checked",
    "listed",
    "with_precision",
]


Names = Annotated[
    str,
    typer.Option(
        "--attack",
        help="Which of the nine; several as in location,visit. All, unless given: location, "
        "location_sequence, visit, frequent_location, frequent_location_sequence, frequency, "
        "home_work, proportion, probability.",
        metavar="NAMES",
    ),
]
Points = Annotated[
    str, typer.Option("--k", help="Points that are known; several as in 2,3,4,5.", metavar="K")
]
Tolerance = Annotated[
    str | None,
    typer.Option(
        help="How much numbers may differ: of frequency and home_work (any number that is as "
        "high fits, unless given), proportion and probability (0.1 unless given).",
        metavar="PART",
    ),
]
Relative = Annotated[
    bool,
    typer.Option(
        "--relative",
        help="The tolerance is a part of the other's number. (Without --tolerance, frequency and "
        "home_work have none.)",
    ),
]
Precision = Annotated[
    float | None,
    typer.Option(help="How precisely a visit's time is known; a slot unless given.", metavar="MIN"),
]


Targets = Annotated[
    str | None,
    typer.Option(
        help="Only these people, as in 4711,4712; or @FILE, with one in each line. Everybody else "
        "stays in the crowd.",
        metavar="IDS",
    ),
]


def checked(
    attacks: str, tolerance: str | None, relative: bool
) -> tuple[list[str], dict[str, Any]]:
    """Give the attacks and their settings, so that nothing is read for the sake of an error."""
    from incrowd.attack._attacks import ATTACKS
    from incrowd.attack._resolve import named, one_sided

    names = [name.strip() for name in attacks.split(",") if name.strip()] or list(ATTACKS)
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"{name} is named twice in --attack")
    settings: dict[str, Any] = {}
    if tolerance is not None:
        settings["tolerance"] = tolerance
    if relative:
        settings["relative"] = True
    spared = one_sided(names, settings)
    for name in names:
        named(name, {} if name in spared else settings)
    if spared:
        say(
            f"note: --relative does not concern {' and '.join(spared)}: without a --tolerance, as "
            "many visits or more fit"
        )
    return names, settings


def listed(targets: str | None) -> list[str] | None:
    """Give the identifiers that were asked for, each once."""
    if targets is None:
        return None
    if targets.startswith("@"):
        path = Path(targets[1:])
        try:
            lines = path.read_text("utf-8-sig").splitlines()
        except OSError as error:
            raise UnreadableError(f"cannot read {path}: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise UnreadableError(f"{path} is no text in UTF-8") from error
        where = str(path)
    else:
        lines, where = targets.split(","), "--targets"
    found = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not found:
        raise ArgumentError(f"{where} names nobody; leave --targets out to take everybody")
    return found


def asked_for(wanted: list[str] | None, people: "pl.Series") -> list[Any] | None:
    """Give the identifiers of the data that read as those that were asked for."""
    if wanted is None:
        return None
    named = {str(user): user for user in people}
    missing = [one for one in wanted if one not in named]
    if missing:
        rest = f" (nor {len(missing) - 1:,} more of --targets)" if len(missing) > 1 else ""
        raise ArgumentError(f"{missing[0]!r} is not among the people of the data{rest}")
    return [named[one] for one in wanted]


def with_precision(
    settings: dict[str, Any], precision: float | None, frame: "Frame"
) -> dict[str, Any]:
    """Add the precision, in slots of the data, to settings."""
    slots = in_units("--precision", precision, frame.slot / 60, "min", "slot")
    return settings if slots is None else settings | {"precision": slots}
