"""``incrowd ledger``: what was published with a ledger, and whether its guarantee holds."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._format import several
from incrowd.cli._messages import print_json
from incrowd.cli._methods import wrapped
from incrowd.cli._options import AsJson
from incrowd.errors import ArgumentError, PrivacyWarning, UnreadableError

if TYPE_CHECKING:
    from incrowd.evaluate._ledger import LedgerHistory

__all__ = ["ledger"]

_HEADS = {
    "release": "release",
    "moment": "entered (UTC)",
    "k": "k",
    "people": "published",
    "newcomers": "new",
    "returned": "returned",
    "left": "left",
    "held_back": "held back",
    "smallest": "smallest",
}


def ledger(
    file: Annotated[Path, typer.Argument(help="The ledger.", metavar="FILE")],
    check: Annotated[
        list[Path] | None,
        typer.Option(
            "--check",
            help="Directory of a release: is it one of the ledger, as it was entered? May be given "
            "several times.",
            metavar="DIR",
        ),
    ] = None,
    withdraw: Annotated[
        int | None,
        typer.Option(
            "--withdraw",
            min=1,
            help="Take the release of this number out, because nobody outside has ever seen it. A "
            "release that somebody has seen cannot be withdrawn: the ledger would then protect "
            "nobody against her.",
            metavar="N",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what was published with a ledger, and check its guarantee over all of its releases.

    The guarantee: whichever of its releases are laid over one another, every person is in the same
    crowd in all of them with k - 1 others or more. Exit status 0 if that holds, and if all releases
    that are to be checked are in the ledger as they are; 1 if not. The ledger names everybody: do
    not share it.

    Example:  `incrowd ledger ledger.parquet --check out/2024-03/release`
    """
    from incrowd._lock import locked
    from incrowd.data._ledger import Ledger
    from incrowd.evaluate._ledger import find_release, ledger_history

    if withdraw is not None and check:
        raise ArgumentError("--check and --withdraw are two things; do one after the other")
    if withdraw is not None:
        Ledger.read(file)  # before its folder gets a lock
        with locked(file):
            Ledger.read(file).withdraw(withdraw).write()
        warnings.warn(
            f"release {withdraw} does not count any more: later releases may have anything in "
            "common with it. If anybody outside has seen it, restore the ledger from a copy",
            PrivacyWarning,
            stacklevel=1,
        )
    found = ledger_history(file)
    checked: list[dict[str, Any]] = []
    for release in check or ():
        try:
            entry, says = find_release(found.ledger, release)
        except UnreadableError as error:
            entry, says = None, f"cannot be checked: {error}"
        checked.append(
            {"directory": str(release), "release": entry and entry.sequence, "says": says}
        )
    fine = found.ok and all(each["release"] is not None for each in checked)
    if as_json:
        print_json(_plain(found, checked), status=0 if fine else 1)
    else:
        print("\n".join(_lines(found, checked)))
    if not fine:
        raise typer.Exit(1)


def _plain(found: "LedgerHistory", checked: list[dict[str, Any]]) -> dict[str, Any]:
    ledger = found.ledger
    gone = [{"release": e.sequence, "withdrawn": e.withdrawn} for e in ledger.withdrawn]
    return {
        "ok": found.ok,
        "ledger": str(ledger.path),
        "k": ledger.k,
        "people": len(ledger.people),
        "releases": list(found.rows),
        "withdrawn": gone,
        "guarantee": {"ok": found.ok, "says": found.check.says, **found.check.figures},
        "checked": checked,
    }


def _lines(found: "LedgerHistory", checked: list[dict[str, Any]]) -> list[str]:
    ledger = found.ledger
    lines = [
        (
            f"{ledger.path}: {several(len(found.rows), 'release')}, "
            f"{several(len(ledger.people), 'person', 'people')}, k = {ledger.k}"
        )
    ]
    if found.rows:
        cells = [[*_HEADS.values()]]
        cells += [[_cell(row[name]) for name in _HEADS] for row in found.rows]
        wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines.append("")
        lines += [
            "  ".join(f"{cell:>{size}}" for cell, size in zip(row, wide, strict=True))
            for row in cells
        ]
        lines += [
            "",
            *wrapped(
                "",
                "left: in the release before, not in this one; held back: in the data, and left "
                "out for earlier releases; smallest: the fewest people whom this release and any "
                "others leave in common",
            ),
        ]
    for each in ledger.withdrawn:
        lines.append(f"release {each.sequence} was withdrawn: {_cell(each.withdrawn)}")
    if checked:
        lines.append("")
        lines += [line for each in checked for line in wrapped("", _said(each))]
    return [*lines, "", *wrapped("guarantee: ", f"{found.check.mark}. {found.check.says}")]


def _said(each: dict[str, Any]) -> str:
    return f"{each['directory']} {each['says']}"


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return str(value).partition("+")[0].replace("T", " ")
