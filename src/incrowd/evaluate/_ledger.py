"""What a ledger guarantees over all of its releases, and whether it does.

**The guarantee.** For every non-empty set S of releases of the ledger, and every person who is
published in all of S, at least k people (she is one of them) are in the same crowd as she in
*every* release of S. So whoever lays any of the releases over one another, and knows in which crowd
of each a person is, is left with k people or more.

**What has to be checked.** Write M(b) for the releases in which b is published, and C(b, S) for the
people who are with b in every release of S, which must be a part of M(b). Somebody who is with b
in every release of a larger set is with her in every release of a smaller one: of S and T with
S in T, C(b, S) holds C(b, T). So the smallest of all these sets is C(b, M(b)), and the guarantee
holds if and only if C(b, M(b)) has at least k members, for every b. That is one set for each
person, and not one for each of 2^n sets of releases. These are her *companions*: those who are
published wherever she is, in her crowd, and perhaps elsewhere as well.

**Why a new release keeps it.** Who is not in the new release has the same M(b) and the same
companions as before. So only those who are in it have to be looked at, and their companions must be
in it as well.

It does not say anything of releases that are not in the ledger; of people who have another
identifier in each month; or of somebody who knows that a person is *not* in a release.

Nothing here is shared with what puts people together (`incrowd.protect`).
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._format import people as _people
from incrowd._format import several
from incrowd._numba import Ints
from incrowd._summary import Summarised, Summary
from incrowd.data._ledger import ABSENT, Ledger, LedgerEntry, hashes_of
from incrowd.evaluate._verify.result import Check, failed, passed

__all__ = [
    "NAME",
    "LedgerHistory",
    "check_guarantee",
    "companions",
    "find_release",
    "ledger_history",
]


NAME = "ledger"
"""The name of the check."""
PAIRS = 1 << 22
"""How many pairs are compared at a time, which bounds the memory needed."""


@dataclass(frozen=True, slots=True, repr=False)
class LedgerHistory(Summarised):
    """What was published with a ledger, and whether its guarantee holds.

    Attributes
    ----------
    ledger
        The ledger.
    check
        Whether any releases leave k people or more in common.
    rows
        For each release: its number, when and how it was made, k, and how many people are in it
        (`people`), were never published before (`newcomers`), were published before and not in the
        last release (`returned`), were in the last release and are not in this one (`left`), were
        in its data and left out for earlier releases (`held_back`); and the fewest people whom any
        set of releases with this one among them leaves in common (`smallest`).
    """

    ledger: Ledger
    check: Check
    rows: tuple[dict[str, Any], ...]

    @property
    def ok(self) -> bool:
        """Whether the guarantee holds."""
        return self.check.ok is True

    def _summary(self) -> Summary:
        names = ("release", "moment", "k", *_COUNTS)
        head = [name.replace("_", " ") for name in names]
        rows = [[_cell(row[name]) for name in names] for row in self.rows]
        facts = {
            "people": f"{len(self.ledger.people):,} published at least once",
            "guarantee": f"{self.check.mark}. {self.check.says}",
        }
        number = several(len(self.rows), "release")
        return Summary(f"Ledger {self.ledger.path}: {number}", facts, head, rows)


_COUNTS = ("people", "newcomers", "returned", "left", "held_back", "smallest")


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return str(value).partition("+")[0].replace("T", " ")


def ledger_history(ledger: str | os.PathLike[str] | Ledger) -> LedgerHistory:
    """Tell what was published with a ledger, and check its guarantee over all of its releases.

    Parameters
    ----------
    ledger
        The file, or what was read from it.

    Raises
    ------
    UnreadableError
        If the file is no ledger, is damaged, or was written by a later version.

    Examples
    --------
    >>> import tempfile
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=60, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = f"{folder}/ledger.parquet"
    ...     hidden = incrowd.glove(city, k=2, ledger=ledger)
    ...     done = incrowd.publish(
    ...         hidden, f"{folder}/march", original=city, ledger=ledger, draws=50)
    ...     found = incrowd.ledger_history(ledger)
    >>> found.ok, found.rows[0]["newcomers"]
    (True, 60)
    """
    known = ledger if isinstance(ledger, Ledger) else Ledger.read(ledger)
    number = companions(known.crowds)
    there = known.crowds != ABSENT
    rows = []
    for at, entry in enumerate(known.entries):
        now = there[:, at]
        last = there[:, at - 1] if at else np.zeros(len(now), np.bool_)
        ever = there[:, :at].any(axis=1)
        rows.append(
            {
                "release": entry.sequence,
                "moment": entry.moment,
                "method": entry.method,
                "k": entry.settings.get("k"),
                "people": int(now.sum()),
                "newcomers": int((now & ~ever).sum()),
                "returned": int((now & ever & ~last).sum()),
                "left": int((last & ~now).sum()),
                "held_back": entry.held_back,
                "smallest": int(number[now].min()) if now.any() else 0,
                "place": entry.place,
            }
        )
    return LedgerHistory(known, check_guarantee(known, number), tuple(rows))


def check_guarantee(ledger: Ledger, number: Ints | None = None) -> Check:
    """Decide whether any releases of a ledger leave k people or more in common.

    Its sentence may be published: it tells neither how many releases there are nor of whom.
    """
    number = companions(ledger.crowds) if number is None else number
    below = int(((number > 0) & (number < ledger.k)).sum())
    figures = {"k": ledger.k, "people_below_k": below}
    if below:
        says = (
            f"{_people(below)} would share all crowds that they have been in with fewer than "
            f"{ledger.k} people in common; the smallest number is {number[number > 0].min():,}."
        )
        return failed(NAME, says, figures)
    says = (
        "Whichever releases of the ledger are laid over one another, every person is in the same "
        f"crowd in all of them with at least {several(ledger.k - 1, 'other')}."
    )
    return passed(NAME, says, figures)


def companions(crowds: NDArray[np.int32]) -> Ints:
    """Return for everybody how many people are with her in every release that she is in.

    She is one of them; 0 for who is in no release. People with the same row have the same
    companions, and all companions of a person are in any crowd of hers: those in the smallest one
    are compared with her.
    """
    if not crowds.size:
        return np.zeros(len(crowds), np.int64)
    kinds, kind, number = np.unique(crowds, axis=0, return_inverse=True, return_counts=True)
    # Where a row has its smallest crowd, counted in kinds of rows.
    size = np.full(kinds.shape, len(kinds) + 1, np.int64)
    for release in range(kinds.shape[1]):
        there = kinds[:, release] != ABSENT
        crowd = kinds[there, release]
        size[there, release] = np.bincount(crowd)[crowd]
    smallest = size.argmin(axis=1)
    found = np.zeros(len(kinds), np.int64)
    for release in range(kinds.shape[1]):
        column = kinds[:, release]
        order = np.argsort(column, kind="stable")
        mine = np.flatnonzero((smallest == release) & (column != ABSENT))
        first = np.searchsorted(column[order], column[mine])
        count = size[mine, release]
        block = (np.cumsum(count) - count) // PAIRS
        for part in np.split(np.arange(len(mine)), np.flatnonzero(np.diff(block)) + 1):
            if not len(part):
                continue
            ends = np.cumsum(count[part])
            who = np.repeat(part, count[part])
            other = order[first[who] + np.arange(ends[-1]) - np.repeat(ends - count[part], count[part])]
            row = kinds[mine[who]]
            with_her = ((row == ABSENT) | (row == kinds[other])).all(axis=1)
            found[mine[part]] = np.bincount(
                who - part[0], number[other] * with_her, len(part)
            ).astype(np.int64)
    return found[kind.reshape(-1)]


def find_release(ledger: Ledger, release: str | os.PathLike[str]) -> tuple[LedgerEntry | None, str]:
    """Return the entry of a release on the disk, and what was found, in a sentence.

    Raises
    ------
    UnreadableError
        If it is no release.
    """
    folder = Path(release)
    manifest, rows = hashes_of(folder)
    entry = ledger.find(folder)
    if entry is None:
        gone = next((each for each in ledger.withdrawn if each.rows_sha256 == rows), None)
        if gone is not None:
            return None, f"is release {gone.sequence}, which was withdrawn on {gone.withdrawn}"
        return None, "is not in this ledger: what it has in common with the others is not known"
    if entry.manifest_sha256 != manifest:
        return entry, (
            f"is release {entry.sequence}: its rows are those that were entered; its manifest was "
            "changed since (a report that is added does that)"
        )
    return entry, f"is release {entry.sequence}: rows and manifest are those that were entered"
