"""Options of commands that attack: what the adversary knows, and how well."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.options import in_units
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from incrowd.data.frame import Frame

__all__ = ["Names", "Points", "Precision", "Relative", "Tolerance", "checked", "with_precision"]

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
    bool, typer.Option("--relative", help="The tolerance is a part of the other's number.")
]
Precision = Annotated[
    float | None,
    typer.Option(help="How precisely a visit's time is known; a slot unless given.", metavar="MIN"),
]


def checked(
    attacks: str, tolerance: str | None, relative: bool
) -> tuple[list[str], dict[str, Any]]:
    """Give the attacks and their settings, so that nothing is read for the sake of an error."""
    from incrowd.attack.attacks import ATTACKS, named

    names = [name.strip() for name in attacks.split(",") if name.strip()] or list(ATTACKS)
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"{name} is named twice in --attack")
    settings: dict[str, Any] = {}
    if tolerance is not None:
        settings["tolerance"] = tolerance
    if relative:
        settings["relative"] = True
    for name in names:
        named(name, settings)
    return names, settings


def with_precision(
    settings: dict[str, Any], precision: float | None, frame: "Frame"
) -> dict[str, Any]:
    """Add the precision, in slots of the data, to settings."""
    slots = in_units("--precision", precision, frame.slot / 60, "min", "slot")
    return settings if slots is None else settings | {"precision": slots}
