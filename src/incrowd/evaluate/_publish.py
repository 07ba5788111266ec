"""`publish`: from what was made to a release on the disk, which is there verified or not at all.

::

    ProtectionResult ──> .NAME.incrowd-unverified-XXXX ──> verify, with the original ──> NAME
                          (hidden, same folder)             │
                                                            └──> removed, VerificationError

What was verified are the bytes that are published: the directory is written, verified where it
lies, told what was found, and then renamed. The private record, where one is asked for, is written
beside its own name before, and gets it with the release: both are there, or neither
(`incrowd._renames` says how, and in which states a crash can leave the disk). So is the ledger,
where one is given, with this release entered: before that, its guarantee over all of its releases
is checked, as it is written (`_ledger`).

Whatever mechanism made it, the result brings its own words and names what it guarantees; nothing
here knows a mechanism by its name.
"""

import contextlib
import hashlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

import incrowd
from incrowd._atomic import OVERWRITE, disk_error, refuse_taken, writing_error
from incrowd._disclosure import least_for, losses_to_tell
from incrowd._hidden import Lock, claim, remove
from incrowd._outside import outside
from incrowd._renames import give_names, journal_of, sync, tidy
from incrowd._summary import Summarised, Summary
from incrowd.data._manifest import MANIFEST, Manifest, amend_release, read_manifest
from incrowd.data._original import reading_as_given
from incrowd.data._release import write_record, write_release
from incrowd.data._trajectories import Trajectories
from incrowd.errors import (
    ArgumentError,
    DataWarning,
    LossError,
    OutputError,
    PrivacyWarning,
    UnreadableError,
    VerificationError,
)
from incrowd.evaluate._comparison import refuse_no_result
from incrowd.evaluate._ledger import entering, ledger_for, with_ledger
from incrowd.evaluate._verify.result import Verification
from incrowd.evaluate._verify.run import verify

if TYPE_CHECKING:
    from incrowd.data._io.persons import Persons
    from incrowd.data._ledger import Ledger
    from incrowd.data._original import OriginalReading
    from incrowd.protect._mechanism import ProtectionResult

__all__ = [
    "Publication",
    "publish",
    "refuse_places",
]


MUCH = 0.2
"""Where a larger share of the people or samples is lost, it is told."""


@dataclass(frozen=True, slots=True, repr=False)
class Publication(Summarised):
    """A release that was published.

    Attributes
    ----------
    path
        Its directory.
    manifest
        What it says about itself.
    verification
        What was found before it got its name.
    """

    path: Path
    manifest: Manifest
    verification: Verification

    def _summary(self) -> Summary:
        facts = {
            "directory": str(self.path),
            "method": self.manifest.method,
            "verified": "yes" if self.verification.ok else "no",
        } | {name: f"{number:,}" for name, number in self.manifest.sizes.items()}
        return Summary("A release that was published", facts, notes=[self.verification.claims])


def publish(
    release: "ProtectionResult",
    path: str | os.PathLike[str],
    *,
    original: Trajectories,
    format: str = "parquet",  # noqa: A002  the word that users know
    record: str | os.PathLike[str] | None = None,
    reading: "OriginalReading | None" = None,
    ledger: "str | os.PathLike[str] | Ledger | None" = None,
    overwrite: bool = False,
    draws: int = 2500,
    max_lost: float | None = None,
    progress: Callable[..., None] | None = None,
) -> Publication:
    """Write what a mechanism made as a release, verify the written files, and only then name them.

    What it is verified for is what the mechanism guarantees. Of one that guarantees k-anonymity,
    every record is shared by k people. Of one that guarantees nothing of the kind (filtering,
    cloaking, generalisation, noise), the release states no k: it is verified for what it does
    promise, and says how many people have a record that nobody shares.

    Parameters
    ----------
    release
        What :func:`incrowd.glove` gave, or `protect` of any mechanism.
    path
        The directory to make.
    original
        What the release was made from: one person per trajectory.
    format
        ``"parquet"`` or ``"csv"``.
    record
        Where to write the private record of who became whom (a Parquet file, outside the
        release); nowhere unless given.
    reading
        How the original was read, kept in the private record, so that `verify`, `evaluate` and
        `report` read it so again. Unless given, as :func:`incrowd.read` read it from files; not
        known, if a part of it was selected afterwards.
    ledger
        The private ledger (its file, or a :class:`incrowd.Ledger`) with which the release was
        made; it is made if it is not there. The release is entered, and published only if the
        guarantee holds over all releases of the ledger. With `overwrite`, the release that is
        replaced must be the last of the ledger, and is so there as well.
    overwrite
        Whether a release of that name, and a record, may be replaced. Nothing but a release (or
        an empty directory) ever is, and only after the new one was verified.
    draws
        How often the verifier tries an adversary for each number of known samples.
    max_lost
        The largest share, from 0 to 1, of the people and of the samples that may be lost; any
        unless given.
    progress
        Called with the steps of the verification that are done and the number of all.

    Raises
    ------
    ArgumentError
        If nothing is left to publish, the record or the ledger would lie in a release, the release
        was made with a ledger and none is given, or the release to be replaced is not the ledger's
        last.
    OutputError
        If the name is taken or writing fails; or if the ledger has changed since it was read.
    UnreadableError
        If the ledger is none, is damaged, or was written by a later version.
    LossError
        If more than `max_lost` is lost.
    VerificationError
        If a check fails; it carries the verification.

    Warns
    -----
    PrivacyWarning
        If somebody has a record of her own, or no k is promised: once. If a release is replaced in
        the ledger.

    Whatever is raised, nothing new is left under any name. If the process is killed, the next call
    for the same names finishes what was verified, and removes the rest.

    Examples
    --------
    >>> import tempfile
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hidden = incrowd.glove(city, k=2)
    ...     done = incrowd.publish(hidden, f"{folder}/release", original=city, draws=50)
    ...     sorted(file.name for file in done.path.iterdir())
    ['fact-sheet.md', 'manifest.json', 'trajectories.parquet']
    >>> done.verification.ok, done.manifest.sizes["people"]
    (True, 40)
    """
    final, private = Path(path), None if record is None else Path(record)
    tidy(final, private)
    refuse_places(final, record=private, overwrite=overwrite)
    refuse_no_result(release)
    known = ledger_for(release, ledger, final, overwrite=overwrite)
    tidy(None if known is None else known.path)
    original = Trajectories.of(original, "original")
    if not len(release.trajectories):
        asked = ", ".join(f"{name} = {value}" for name, value in release.settings.items())
        raise ArgumentError(
            f"{release.method} left nothing to publish ({asked}); no release was written"
        )
    _check_losses(release, original, max_lost)
    trajectories, assignment = release.trajectories, release.assignment
    if int(trajectories.crowd.min()) == 1:
        trajectories, assignment = _merge_identical(trajectories, assignment)
    with _hidden(final, private, None if known is None else known.path) as places:
        hidden = places.release
        _, names = write_release(
            hidden,
            trajectories,
            method=release.method,
            settings=release.settings | {"version": incrowd.__version__},
            losses=losses_to_tell(release.losses, least_for(release.settings.get("k"))),
            holds_against=release.promises,
            fails_against=release.limits,
            guarantee=release.guarantee,
            explanation=release.explanation,
            format=format,
            into=True,
        )
        who = _who(assignment, names)
        found = verify(
            hidden, original=original, record=who, draws=draws, losses=dict(release.losses),
            progress=progress,
        )  # fmt: skip
        if known is not None:
            found = with_ledger(found, known, assignment)
        if not found.ok:
            wrong = "; ".join(f"{check.name}: {check.says}" for check in found.failed)
            raise VerificationError(
                f"the release was written, did not pass its verification, and was removed: {wrong}",
                replace(found, path=final),
            )
        manifest = amend_release(hidden, verified=found.for_recipients().to_dict())
        pairs = [(hidden, final)]
        if places.record is not None and private is not None:
            reading = reading_as_given(original) if reading is None else reading
            persons = None if original.reading is None else original.reading.persons
            _keep(places.record, private, assignment, names, reading, persons, release.losses)
            # First: where names cannot be exchanged, no release is there without its record, and
            # none that its ledger does not know.
            pairs.insert(0, (places.record, private))
        with entering(known, places.ledger, release, assignment, hidden, final) as more:
            # Looked at again: something may have taken a name during a long run.
            refuse_places(final, record=private, overwrite=overwrite)
            _sync(hidden, places.usual)
            amended = [name for _, name in more]
            give_names([*more, *pairs], at=final, overwrite=overwrite, amended=amended)
    least = int(trajectories.crowd.min())
    if found.k is None and least > 1:
        # Where somebody is alone, write_release has warned already.
        warnings.warn(
            f"{release.method} promises no k-anonymity; that {least:,} people or more share "
            "every record is a coincidence",
            PrivacyWarning,
            stacklevel=outside(),
        )
    return Publication(final, manifest, replace(found, path=final))


def refuse_places(final: Path, *, record: Path | None = None, overwrite: bool = False) -> None:
    """Refuse names for a release and its record that cannot be used, before any work is done.

    Raises
    ------
    OutputError
        If a name is taken and may not be replaced, or its folder does not exist.
    ArgumentError
        If the record would lie in a release, or is not named as a Parquet file.
    """
    if final.name in ("", ".."):
        raise OutputError(f"{final} is no name for a release; name a new directory")
    if os.path.lexists(final):
        if not overwrite:
            raise OutputError(f"{final} exists already; {OVERWRITE}", file=final, hint=OVERWRITE)
        _refuse_foreign(final)
    else:
        refuse_taken(final, directory=True)
    if record is None:
        return
    folder = record.absolute().parent
    inside = final.resolve() in (record.resolve(), *record.resolve().parents)
    if inside or (folder / MANIFEST).exists():
        raise ArgumentError(f"{record} lies in a release; the private record must stay outside")
    if record.suffix != ".parquet":
        raise ArgumentError(
            f"the private record is a Parquet file; name it like who.parquet, not {record.name!r}"
        )
    refuse_taken(record, overwrite=overwrite)


def _refuse_foreign(final: Path) -> None:
    """Refuse to replace what is no release, or holds more than one."""
    if final.is_symlink() or not final.is_dir():
        raise OutputError(f"{final} is no release and is not replaced; choose a new name")
    here = {entry.name for entry in final.iterdir()}
    if not here:
        return
    try:
        known = {MANIFEST, *read_manifest(final).files}
    except UnreadableError as error:
        raise OutputError(f"{error}; it is not replaced, choose a new name") from error
    if here - known:
        raise OutputError(
            f"{final} holds more than a release ({min(here - known)}) and is not replaced; "
            "choose a new name"
        )


def _merge_identical(
    trajectories: Trajectories, assignment: pl.DataFrame
) -> tuple[Trajectories, pl.DataFrame]:
    """Make one crowd of people with identical records, for that is what the release shows of them.

    The sizes of the manifest are then true, and whoever is warned of people who stand alone is
    told how many there are.
    """
    from incrowd.data._trajectories import Trajectories

    offsets, known = trajectories.offsets, dict[bytes, int]()
    of = np.empty(len(trajectories), np.int64)
    for person in range(len(trajectories)):
        digest = hashlib.blake2b(digest_size=32)
        for column in trajectories.columns:
            digest.update(column[offsets[person] : offsets[person + 1]].data)
        of[person] = known.setdefault(digest.digest(), len(known))
    if len(known) == len(trajectories):
        return trajectories, assignment
    _, first = np.unique(of, return_index=True)
    distinct = trajectories[first]
    crowd = np.bincount(of, trajectories.crowd).astype(np.int32)
    table = pl.DataFrame(
        {"trajectory": np.arange(len(of), dtype=np.int32), "shared": of.astype(np.int32)}
    )
    placed = assignment.join(table, on="trajectory", how="left", maintain_order="left")
    return (
        Trajectories(distinct.columns, distinct.offsets, distinct.frame, crowd=crowd),
        placed.select("user", pl.col("shared").alias("trajectory")),
    )


class _Places(NamedTuple):
    """Where a release, its record and its ledger lie while they have no names.

    `usual` are the permissions of the release.
    """

    release: Path
    record: Path | None
    ledger: Path | None
    usual: int


@contextlib.contextmanager
def _hidden(final: Path, record: Path | None, ledger: Path | None) -> Iterator[_Places]:
    """Give hidden places for a release and what goes with it; removed unless they get names."""
    claimed: list[tuple[Path, Lock, int]] = []
    try:
        claimed.append(claim(final, "unverified", directory=True))
        beside: dict[Path, Path] = {}
        for name in (record, ledger):
            if name is not None:
                claimed.append(claim(name, "part"))
                beside[name] = claimed[-1][0]
        hidden, _, usual = claimed[0]
        yield _Places(
            hidden,
            None if record is None else beside[record],
            None if ledger is None else beside[ledger],
            usual,
        )
    except Exception as error:
        cause = disk_error(error)
        if isinstance(error, OutputError):
            # One about a file of the hidden release is said of the release.
            if not claimed or error.file is None or Path(error.file).parent != claimed[0][0]:
                raise
            cause = error.__cause__ if isinstance(error.__cause__, OSError) else None
        if cause is None:
            raise
        raise writing_error(final, cause) from error
    finally:
        # What a journal speaks of was verified; the next run finishes it.
        if not os.path.lexists(journal_of(final)):
            for path, _, _ in claimed:
                remove(path)
        for _, lock, _ in claimed:
            lock.release()


def _check_losses(
    release: "ProtectionResult", original: Trajectories, max_lost: float | None
) -> None:
    """Refuse a release that has lost more than allowed; warn of one that has lost much."""
    if max_lost is not None and not 0 <= max_lost <= 1:
        raise ArgumentError(f"max_lost must be a share from 0 to 1, not {max_lost!r}")
    losses = dict(release.losses)
    samples = sum(int(losses.get(name, 0)) for name in ("samples_dropped", "samples_suppressed"))
    people = len(original) - int(release.trajectories.crowd.sum())
    much: list[str] = []
    for what, lost, all_of_them in (
        ("people", people, len(original)),
        ("samples", samples, original.samples),
    ):
        said = f"{lost:,} of {all_of_them:,} {what} ({lost / max(all_of_them, 1):.1%})"
        if max_lost is not None and lost > max_lost * all_of_them:
            raise LossError(
                f"{said} are lost, more than the {max_lost:.1%} allowed; nothing was published"
            )
        if lost > MUCH * all_of_them:
            much.append(said)
    if much:
        warnings.warn(
            f"little is left: {' and '.join(much)} are not in the release; what is left may not "
            "stand for everybody (publish nothing in such a case with max_lost, --fail-above)",
            DataWarning,
            stacklevel=outside(),
        )


def _who(assignment: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Give everybody one of the names of her crowd, as the private record does."""
    member = pl.int_range(pl.len()).over("trajectory").alias("member")
    placed = assignment.with_columns(pl.col("trajectory").cast(pl.Int32), member)
    keys = ["trajectory", "member"]
    joined = placed.join(names.with_columns(member), on=keys, how="left", maintain_order="left")
    return joined.select("user", "trajectory", "person")


def _keep(
    hidden: Path,
    record: Path,
    assignment: pl.DataFrame,
    names: pl.DataFrame,
    reading: "OriginalReading | None",
    persons: "Persons | None",
    losses: Mapping[str, int],
) -> None:
    """Write the private record; say of it, and not of the release, that the disk is full."""
    try:
        write_record(hidden, assignment, names, reading, persons, dict(losses), into=True)
        sync(hidden)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise writing_error(record, disk_error(error) or OSError(str(error))) from error


def _sync(hidden: Path, permissions: int) -> None:
    """Bring a release to the disk, and give it the permissions that it is to have."""
    for path in hidden.iterdir():
        sync(path)
    sync(hidden)
    hidden.chmod(permissions)
