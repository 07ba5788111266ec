"""Options of commands that attack: what the adversary knows, and how precisely."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli._console import say
from incrowd.cli._values import in_units
from incrowd.errors import ArgumentError, UnreadableError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data._frame import Frame

__all__ = [
    "Names",
    "Points",
    "Relative",
    "Targets",
    "TimeBin",
    "Tolerance",
    "asked_for",
    "checked",
    "listed",
    "with_precision",
]


_PANEL = "Attack: what the adversary knows"


def _option(text: str, name: str, show: str | None = None, usual: str | bool = True) -> Any:
    return typer.Option(name, help=text, rich_help_panel=_PANEL, metavar=show, show_default=usual)


Names = Annotated[
    str,
    _option(
        "Attacks to run, as listed below, separated by commas.",
        "--attack",
        "NAMES",
        "all",
    ),
]
Points = Annotated[
    str,
    _option("Number of points known of a person; several as in 2,3,4,5.", "--k", "K"),
]
Tolerance = Annotated[
    str | None,
    _option(
        "Largest difference at which two numbers still match, from 0 to 1, for frequency, "
        "home_work, proportion and probability.",
        "--tolerance",
        "SHARE",
        "0.1; for frequency and home_work, the same number or more matches",
    ),
]
Relative = Annotated[
    bool,
    _option(
        "Take the tolerance relative to the other person's number (frequency and home_work need "
        "--tolerance for that).",
        "--relative",
    ),
]
TimeBin = Annotated[
    float | None,
    _option(
        "Time bin: how precisely the time of a visit is known.",
        "--time-bin",
        "MINUTES",
        "one time step of the grid",
    ),
]
Targets = Annotated[
    str | None,
    typer.Option(
        help="People to attack, like 4711,4712, or @FILE with one identifier per line; all others "
        "stay in the crowd.",
        metavar="IDS",
        show_default="everybody",
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
            raise ArgumentError(f"--attack names {name} twice; name it once")
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
            f"note: --relative has no effect on {' and '.join(spared)} without --tolerance: the "
            "same number of visits or more matches"
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
        except UnicodeDecodeError as error:
            raise UnreadableError(
                f"cannot read {path}: it must be text in UTF-8", file=path
            ) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise UnreadableError(f"cannot read {path}: {reason}", file=path) from error
        where = str(path)
    else:
        lines, where = targets.split(","), "--targets"
    found = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not found:
        raise ArgumentError(f"{where} names no person; leave --targets out to attack everybody")
    return found


def asked_for(wanted: list[str] | None, people: "pl.Series") -> list[Any] | None:
    """Give the identifiers of the data that read as those that were asked for."""
    if wanted is None:
        return None
    named = {str(user): user for user in people}
    missing = [one for one in wanted if one not in named]
    if missing:
        rest = f", nor {len(missing) - 1:,} of the others given" if len(missing) > 1 else ""
        raise ArgumentError(
            f"--targets: person {missing[0]!r} is not in the data{rest}", values=[repr(missing[0])]
        )
    return [named[one] for one in wanted]


def with_precision(
    settings: dict[str, Any], time_bin: float | None, frame: "Frame"
) -> dict[str, Any]:
    """Add the time bin, in slots of the data, to settings."""
    slots = in_units("--time-bin", time_bin, frame.slot / 60, "min", "slot")
    return settings if slots is None else settings | {"precision": slots}
