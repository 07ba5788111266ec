"""`publish`: from what GLOVE made to a release on the disk, which is there verified or not at all.

::

    Release ──> .NAME.unverified-XXXX ──> verify, beside the original ──> NAME
                 (hidden, same folder)     │
                                           └──> removed, VerificationError

What was verified are the bytes that are published: the directory is written, verified where it
lies, told what was found, and then renamed. The private record, where one is asked for, is written
beside its own name before, and gets it with the release: both are there, or neither.
"""

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import incrowd
from incrowd.data.atomic import refuse_taken, writing_error
from incrowd.data.manifest import MANIFEST, Manifest, amend_release, read_manifest
from incrowd.data.release import write_record, write_release
from incrowd.errors import ArgumentError, OutputError, UnreadableError, VerificationError
from incrowd.evaluate.verification import Verification
from incrowd.evaluate.verify import verify

if TYPE_CHECKING:
    from incrowd.data.trajectories import Trajectories
    from incrowd.protect.glove import Release

__all__ = ["Publication", "publish", "refuse_places", "threats"]

METHOD = "GLOVE"
FAILS = (
    (
        "attribute inference: everybody in a crowd has the same record, so whoever knows that a "
        "person is in it learns where she was without knowing which record is hers (k-anonymity "
        "is not l-diversity)"
    ),
    (
        "a second release of the same people: laid over this one, crowds that differ leave what "
        "both have in common, which may be one person"
    ),
    (
        "reading off extremes: every edge of a published box is that of a true sample of somebody "
        "in the crowd"
    ),
    (
        "knowledge beyond positions and times, and the question whether a person is in the data "
        "at all"
    ),
)
"""What no release of GLOVE withstands."""
CUT = (
    "taking every box for seen: pieces cut in time (reshape 'split') can state a time at which a "
    "person was not seen there; the check 'witness' counts them"
)


@dataclass(frozen=True, slots=True)
class Publication:
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


def publish(
    data: "Trajectories",
    release: "Release",
    path: str | os.PathLike[str],
    *,
    format: str = "parquet",  # noqa: A002  the word that users know
    record: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    draws: int = 2500,
    progress: Callable[..., None] | None = None,
) -> Publication:
    """Write what GLOVE made as a release, verify the written files, and only then name them.

    Parameters
    ----------
    data
        What the release was made from: one person a trajectory.
    release
        What :func:`incrowd.glove` gave.
    path
        The directory to make.
    format
        ``"parquet"`` or ``"csv"``.
    record
        Where to write the private record of who became whom (a Parquet file, outside the
        release); nowhere unless given.
    overwrite
        Whether a release of that name, and a record, may be replaced. Nothing but a release (or
        an empty directory) ever is, and only after the new one was verified.
    draws
        How often the verifier tries an adversary for each number of known samples.
    progress
        Called with the steps of the verification that are done and the number of all.

    Raises
    ------
    ArgumentError
        If nothing is left to publish, or the record would lie in a release.
    OutputError
        If the name is taken or writing fails.
    VerificationError
        If a check fails; it carries the verification.

    Whatever is raised, nothing new is left under any name.

    Examples
    --------
    >>> import tempfile
    >>> import incrowd
    >>> from incrowd.evaluate.publish import publish
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = publish(city, incrowd.glove(city, k=2), f"{folder}/release", draws=50)
    ...     sorted(file.name for file in done.path.iterdir())
    ['manifest.json', 'trajectories.parquet']
    >>> done.verification.ok, done.manifest.sizes["people"]
    (True, 40)
    """
    final, private = Path(path), None if record is None else Path(record)
    refuse_places(final, record=private, overwrite=overwrite)
    if not len(release.trajectories):
        raise ArgumentError(
            "suppression left nothing: every sample exceeded the thresholds when it was merged; "
            "no release was written (allow larger samples, or a smaller k)"
        )
    holds, fails = threats(release.settings)
    hidden = _beside(final, "unverified")
    kept = None if private is None else _beside(private, "part")
    try:
        _, names = write_release(
            hidden,
            release.trajectories,
            method=METHOD,
            settings=release.settings | {"version": incrowd.__version__},
            losses=asdict(release.losses),
            holds_against=holds,
            fails_against=fails,
            format=format,
        )
        who = _who(release.assignment, names)
        found = verify(hidden, original=data, record=who, draws=draws, progress=progress)
        if not found.ok:
            wrong = "; ".join(f"{check.name}: {check.says}" for check in found.failed)
            raise VerificationError(
                f"the release was written, did not pass its verification, and was removed: {wrong}",
                replace(found, path=final),
            )
        manifest = amend_release(hidden, verified=found.to_dict())
        if kept is not None:
            _keep(kept, release.assignment, names)
        # Looked at again: something may have taken a name during a long run.
        refuse_places(final, record=private, overwrite=overwrite)
        _name(hidden, final, kept, private)
    except OSError as error:
        if isinstance(error, OutputError) and error.__cause__ is None:
            raise  # a name that is taken
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
        raise writing_error(final, cause) from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        if kept is not None:
            with contextlib.suppress(OSError):
                kept.unlink(missing_ok=True)
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
            raise OutputError(f"{final} exists already; choose a new name, or allow overwriting")
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


def threats(settings: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say against what a release of GLOVE holds, and against what it does not.

    The attacker model of section 2.3 of the paper of 2021 (record linkage, whatever part of a
    trajectory is known), and the limits of section 2.5.

    Parameters
    ----------
    settings
        Those of the release.
    """
    linkage = (
        "record linkage: an adversary who knows any part, or all, of a person's original "
        f"trajectory and wants to single out her record finds {settings['k']} identical records "
        "or more, or none"
    )
    fails = FAILS if settings.get("reshape") != "split" else (*FAILS, CUT)
    return (linkage,), fails


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


def _beside(path: Path, why: str) -> Path:
    """Give a hidden name in the same folder that nobody mistakes for a result."""
    return path.with_name(f".{path.name}.{why}-{secrets.token_hex(4)}")


def _who(assignment: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Give everybody one of the names of her crowd, as the private record does."""
    member = pl.int_range(pl.len()).over("trajectory").alias("member")
    placed = assignment.with_columns(pl.col("trajectory").cast(pl.Int32), member)
    keys = ["trajectory", "member"]
    joined = placed.join(names.with_columns(member), on=keys, how="left", maintain_order="left")
    return joined.select("user", "trajectory", "person")


def _keep(path: Path, assignment: pl.DataFrame, names: pl.DataFrame) -> None:
    """Write the private record; say a full disk, which Polars has its own error for, as one."""
    try:
        write_record(path, assignment, names)
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from error


def _name(hidden: Path, final: Path, kept: Path | None, record: Path | None) -> None:
    """Give the release and the record their names: both, or neither."""
    old = _beside(final, "old") if os.path.lexists(final) else None
    if old is not None:
        final.rename(old)
    try:
        hidden.rename(final)
        try:
            if kept is not None and record is not None:
                kept.replace(record)
            _sync(final.parent)
        except BaseException:
            final.rename(hidden)
            raise
    except BaseException:
        if old is not None:
            old.rename(final)
        raise
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
