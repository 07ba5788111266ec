"""`publish`: from what was made to a release on the disk, which is there verified or not at all.

::

    Release, ──> .NAME.unverified-XXXX ──> verify, beside the original ──> NAME
    Protected     (hidden, same folder)     │
                                            └──> removed, VerificationError

What was verified are the bytes that are published: the directory is written, verified where it
lies, told what was found, and then renamed. The private record, where one is asked for, is written
beside its own name before, and gets it with the release: both are there, or neither.

What is offered for publication, whoever made it, and what is said of it.

GLOVE's words are here; the other mechanisms bring their own.
"""

import contextlib
import glob
import hashlib
import os
import secrets
import shutil
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import incrowd
from incrowd._atomic import refuse_taken, writing_error
from incrowd.data._manifest import MANIFEST, Manifest, amend_release, read_manifest
from incrowd.data._release import write_record, write_release
from incrowd.errors import (
    ArgumentError,
    OutputError,
    PrivacyWarning,
    UnreadableError,
    VerificationError,
)
from incrowd.evaluate._verify.result import Verification
from incrowd.evaluate._verify.run import verify

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.protect._glove.api import Release
    from incrowd.protect._mechanism import Protected

__all__ = [
    "Offer",
    "Publication",
    "explained",
    "left_behind",
    "offered",
    "publish",
    "refuse_places",
    "threats",
]


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
class Offer:
    """What is written, whoever made it."""

    method: str
    settings: dict[str, Any]
    losses: dict[str, Any]
    holds: tuple[str, ...]
    fails: tuple[str, ...]
    guarantee: str
    explanation: tuple[str, ...]
    trajectories: "Trajectories"
    assignment: pl.DataFrame


def offered(release: "Release | Protected") -> Offer:
    """Take what a mechanism made; refuse it if nothing is left."""
    from incrowd.protect._mechanism import Protected

    if isinstance(release, Protected):
        if not len(release.trajectories):
            asked = ", ".join(f"{name} = {value}" for name, value in release.settings.items())
            raise ArgumentError(f"{release.method} left nothing ({asked}); no release was written")
        return Offer(
            release.method,
            release.settings,
            release.losses,
            release.promises,
            release.limits,
            release.guarantee,
            release.explanation,
            *_together(release.trajectories, release.assignment),
        )
    if not len(release.trajectories):
        raise ArgumentError(
            "suppression left nothing: every sample exceeded the thresholds when it was merged; "
            "no release was written (allow larger samples, or a smaller k)"
        )
    return Offer(
        METHOD,
        release.settings,
        asdict(release.losses),
        *threats(release.settings),
        "k-anonymity",
        explained(release.settings),
        release.trajectories,
        release.assignment,
    )


def _together(
    trajectories: "Trajectories", assignment: pl.DataFrame
) -> tuple["Trajectories", pl.DataFrame]:
    """Put people with identical records together, for that is what the release shows of them.

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


def explained(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Say in plain sentences what GLOVE did to the data."""
    texts = [
        (
            f"GLOVE puts people together who moved most alike, until everybody is in a crowd of "
            f"{settings['k']} or more. Each crowd gets one record: samples of its people that are "
            "near to each other become one, just so wide and so long that it holds them all. "
            "Everybody's record is then that of her crowd. No place or time is made up: every edge "
            "of a published sample is that of a true one."
        )
    ]
    if settings.get("reshape") == "split":
        texts.append(
            "Published samples that overlapped in time were cut so that they do not. A piece can "
            "therefore state a place and time at which some of the crowd were not seen; the check "
            "'witness' below counts these."
        )
    return tuple(texts)


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
    release: "Release | Protected",
    path: str | os.PathLike[str],
    *,
    format: str = "parquet",  # noqa: A002  the word that users know
    record: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    draws: int = 2500,
    progress: Callable[..., None] | None = None,
) -> Publication:
    """Write what a mechanism made as a release, verify the written files, and only then name them.

    What GLOVE made is verified to be k-anonymous. What was filtered, cloaked, generalised or made
    noisy promises no k, and the release states none: it is verified for what it does promise, and
    says how many people have a record that nobody shares.

    Parameters
    ----------
    data
        What the release was made from: one person a trajectory.
    release
        What :func:`incrowd.glove` gave, or `protect` of another mechanism.
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

    Warns
    -----
    PrivacyWarning
        If somebody has a record of her own, or no k is promised: once.

    Whatever is raised, nothing new is left under any name.

    Examples
    --------
    >>> import tempfile
    >>> import incrowd
    >>> from incrowd.evaluate._publish import publish
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
    offer = offered(release)
    hidden = _beside(final, "unverified")
    kept = None if private is None else _beside(private, "part")
    try:
        _, names = write_release(
            hidden,
            offer.trajectories,
            method=offer.method,
            settings=offer.settings | {"version": incrowd.__version__},
            losses=offer.losses,
            holds_against=offer.holds,
            fails_against=offer.fails,
            guarantee=offer.guarantee,
            explanation=offer.explanation,
            format=format,
        )
        who = _who(offer.assignment, names)
        found = verify(hidden, original=data, record=who, draws=draws, progress=progress)
        if not found.ok:
            wrong = "; ".join(f"{check.name}: {check.says}" for check in found.failed)
            raise VerificationError(
                f"the release was written, did not pass its verification, and was removed: {wrong}",
                replace(found, path=final),
            )
        manifest = amend_release(hidden, verified=found.to_dict())
        if kept is not None:
            _keep(kept, offer.assignment, names)
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
    if found.k is None and found["k-anonymity"].figures["smallest"] > 1:
        # Where somebody is alone, write_release has warned already.
        least = found["k-anonymity"].figures["smallest"]
        warnings.warn(
            f"{offer.method} promises no k-anonymity; that every record is shared by {least:,} "
            "people or more is chance",
            PrivacyWarning,
            stacklevel=2,
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


def left_behind(final: Path) -> list[Path]:
    """Give what runs that were killed have left beside a release of this name."""
    return sorted(
        path
        for why in ("unverified", "old")
        for path in final.absolute().parent.glob(f".{glob.escape(final.name)}.{why}-*")
    )


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
    """Give the record and the release their names: both, or neither.

    The record first: if the machine stops in between, no release is there without its record.
    """
    pairs = [(hidden, final)]
    if kept is not None and record is not None:
        pairs.insert(0, (kept, record))
    aside: list[Path] = []
    with contextlib.ExitStack() as back:
        for new, name in pairs:
            if os.path.lexists(name):
                old = _beside(name, "old")
                name.rename(old)
                back.callback(old.rename, name)
                aside.append(old)
            new.rename(name)
            back.callback(name.rename, new)
            _sync(name.absolute().parent)
        back.pop_all()
    for old in aside:
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
