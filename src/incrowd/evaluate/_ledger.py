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

import contextlib
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import incrowd
from incrowd._atomic import refuse_taken
from incrowd._format import people as _people
from incrowd._format import several
from incrowd._lock import locked
from incrowd._numba import Ints
from incrowd._outside import outside
from incrowd._renames import sync
from incrowd._summary import Summarised, Summary
from incrowd.data._ledger import ABSENT, Ledger, LedgerEntry, hashes_of
from incrowd.data._manifest import MANIFEST, read_release
from incrowd.errors import ArgumentError, PrivacyWarning, VerificationError
from incrowd.evaluate._verify.result import Check, Verification, failed, passed

if TYPE_CHECKING:
    from incrowd.protect._mechanism import ProtectionResult

__all__ = [
    "NAME",
    "LedgerHistory",
    "check_guarantee",
    "companions",
    "entering",
    "find_release",
    "ledger_for",
    "ledger_history",
    "refuse_place",
    "with_ledger",
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
            ends, who = np.cumsum(count[part]), np.repeat(part, count[part])
            begin = first[part] - (ends - count[part])
            other = order[np.repeat(begin, count[part]) + np.arange(ends[-1])]
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
        If it is no release, or its files were changed.
    """
    folder = Path(release)
    read_release(folder)  # its files are those of its manifest
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


def ledger_for(
    release: "ProtectionResult",
    ledger: str | os.PathLike[str] | Ledger | None,
    final: Path,
    *,
    overwrite: bool = False,
) -> Ledger | None:
    """Return the ledger in which a release is to be entered, as it is before; None without one.

    Raises
    ------
    ArgumentError
        If the release was made with a ledger and none is given; if the ledger would lie in a
        release; or if the release that is to be replaced is not the last of the ledger.
    """
    with_one = release.settings.get("ledger_spare") is not None
    if ledger is None:
        if with_one:
            raise ArgumentError(
                "this release was made with a ledger, and has to be entered there when it is "
                "published: give the same ledger (ledger=...)"
            )
        return None
    k = release.settings.get("ledger_k", release.settings.get("k"))
    if release.guarantee != "k-anonymity" or not isinstance(k, int):
        raise ArgumentError(
            f"{release.method} promises no k-anonymity, and a ledger keeps crowds of k people "
            "together; publish without a ledger"
        )
    known = Ledger.of(ledger, None if isinstance(ledger, Ledger) else k)
    refuse_place(known.path, final)
    return known.before(final) if overwrite else known


def refuse_place(ledger: Path, release: Path | None = None) -> None:
    """Refuse a ledger that would lie in a release, or is not named as a Parquet file.

    Raises
    ------
    ArgumentError
        If it would.
    OutputError
        If its folder does not exist.
    """
    folder = ledger.absolute().parent
    places = (ledger.resolve(), *ledger.resolve().parents)
    if (folder / MANIFEST).exists() or (release is not None and release.resolve() in places):
        raise ArgumentError(
            f"{ledger} lies in a release; the ledger names everybody and must stay outside"
        )
    if ledger.suffix != ".parquet":
        raise ArgumentError(
            f"the ledger is a Parquet file; name it like ledger.parquet, not {ledger.name!r}"
        )
    refuse_taken(ledger, overwrite=True)


def with_ledger(found: Verification, ledger: Ledger, assignment: pl.DataFrame) -> Verification:
    """Return a verification with the check of the guarantee, with this release entered."""
    empty = dict.fromkeys(("method", "manifest_sha256", "rows_sha256", "place"), "")
    entered = ledger.with_release(assignment, settings={}, held_back=0, **empty)
    return replace(found, checks=(*found.checks, check_guarantee(entered)))


@contextlib.contextmanager
def entering(
    ledger: Ledger | None,
    part: Path | None,
    release: "ProtectionResult",
    assignment: pl.DataFrame,
    hidden: Path,
    final: Path,
) -> Iterator[list[tuple[Path, Path]]]:
    """Write a ledger with a release entered under a hidden name, and check what was written.

    Yields
    ------
    list
        The hidden name and the name that it gets with the release; nothing without a ledger. The
        ledger is locked meanwhile.

    Raises
    ------
    OutputError
        If the ledger was changed since it was read.
    VerificationError
        If what was written does not guarantee what it should.
    """
    if ledger is None or part is None:
        yield []
        return
    with locked(ledger.path):
        _enter(ledger, part, release, assignment, hidden, final)
        yield [(part, ledger.path)]


def _enter(
    ledger: Ledger,
    part: Path,
    release: "ProtectionResult",
    assignment: pl.DataFrame,
    hidden: Path,
    final: Path,
) -> None:
    ledger.refuse_changed()
    manifest, rows = hashes_of(hidden)
    entered = ledger.with_release(
        assignment,
        method=release.method,
        settings={**release.settings, "version": incrowd.__version__},
        held_back=int(dict(release.losses).get("people_held_back", 0)),
        manifest_sha256=manifest,
        rows_sha256=rows,
        place=str(final.absolute()),
    )
    entered.write(part, into=True)
    sync(part)
    check = check_guarantee(Ledger.read(part))
    if not check.ok:
        raise VerificationError(f"nothing was published: {check.says}", check)
    if ledger.replaced is not None:
        warnings.warn(
            f"release {ledger.replaced} of the ledger {ledger.path} is replaced by this one and "
            "does not count any more. That is right only if nobody outside has ever seen it",
            PrivacyWarning,
            stacklevel=outside(),
        )
