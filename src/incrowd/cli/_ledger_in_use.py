"""The ledger that a command has been given: opened before the work, and said where it is after."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.cli._console import say

if TYPE_CHECKING:
    from incrowd.data._ledger import Ledger
    from incrowd.protect._mechanism import Mechanism

__all__ = [
    "told_of_ledger",
    "with_ledger",
]


def with_ledger(
    mechanism: "Mechanism", output: Path, *replaced: Path
) -> "tuple[Mechanism, Ledger | None]":
    """Open the ledger of a mechanism, if it has one; refuse what cannot be used before any work.

    Parameters
    ----------
    output
        Where the release will be, in which the ledger must not lie.
    replaced
        Releases that this one replaces, the latest first: they do not count any more.

    Returns
    -------
    The mechanism with the ledger that was read, and that ledger.
    """
    asked: Any = getattr(mechanism, "ledger", None)
    if asked is None:
        return mechanism, None
    from incrowd.data._ledger import Ledger
    from incrowd.evaluate._ledger import refuse_place

    refuse_place(Path(asked), output)
    ledger = Ledger.open(asked, getattr(mechanism, "k", None))
    if ledger.on_disk is None:
        say(
            f"note: there is no ledger {asked} yet; a new one is begun. Of releases that were "
            "published before it knows nothing: if there should be one, stop here and look for it"
        )
    for release in replaced:
        ledger = ledger.before(release)
    changed: Any = mechanism
    return replace(changed, ledger=ledger), ledger


def told_of_ledger(ledger: Path) -> list[str]:
    """Say where the ledger is, and what to do with it."""
    itself = sys.argv[0] if Path(sys.argv[0]).name == "incrowd" else "incrowd"
    return [
        (
            f"The ledger is {ledger}. Keep it for the next release, and do not share it: it names "
            "everybody."
        ),
        f"See what it holds with:  {shlex.join([itself, 'ledger', str(ledger)])}",
    ]
