"""Files and directories that are written completely, or not at all.

What is written goes to a hidden neighbour first (`incrowd._hidden`), is synced to the disk, and is
then renamed; files that belong together are renamed together (`incrowd._renames`). An error, an
interruption or a full disk leaves nothing under the final name and cleans up after itself; a killed
process leaves a hidden neighbour, which the next one that writes the same name removes.
"""

import contextlib
import errno
import functools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from incrowd._hidden import Lock, claim, remove
from incrowd._renames import give_names, journal_of, settle, sync, tidy
from incrowd.errors import OutputError

__all__ = [
    "OVERWRITE",
    "disk_error",
    "reason_of",
    "refuse_taken",
    "replacing",
    "replacing_all",
    "writing_error",
]


OVERWRITE = (
    "choose another name, or allow overwriting (--overwrite on the command line, overwrite=True in "
    "Python)"
)
_FULL = ("No space left", "File too large", "quota exceeded")


@contextlib.contextmanager
def replacing(
    path: str | os.PathLike[str],
    *,
    directory: bool = False,
    overwrite: bool = False,
    private: bool = False,
) -> Iterator[Path]:
    """Yield a path to write to; move it to `path` when the block ends without an error.

    Parameters
    ----------
    path
        The final name.
    directory
        Whether a directory is written (it is made empty beforehand) and not a file.
    overwrite
        Whether something that is there already may be replaced. A directory never is.
    private
        Whether nobody but its owner may read the file. Until it has its name, nobody may in any
        case.

    Raises
    ------
    OutputError
        If the name is taken, the folder does not exist, or writing fails.
    """
    with replacing_all([path], directory=directory, overwrite=overwrite, private=private) as parts:
        yield parts[0]


@contextlib.contextmanager
def replacing_all(
    paths: Sequence[str | os.PathLike[str]],
    *,
    gone: Sequence[Path] = (),
    at: Path | None = None,
    directory: bool = False,
    overwrite: bool = False,
    private: bool = False,
) -> Iterator[list[Path]]:
    """Yield paths to write to; at the end all of them get their names, or none does.

    Parameters
    ----------
    paths, directory, overwrite, private
        As those of `replacing`.
    gone
        Files that would not belong to the new ones, and go with the old ones.
    at
        The folder in which all of them lie, where that is the name to look at after a crash.
    """
    finals = [Path(path) for path in paths]
    refuse = functools.partial(refuse_taken, directory=directory, overwrite=overwrite)
    tidy(*finals, *gone)
    for final in finals:
        refuse(final)
    with _claimed(finals, at or finals[0], directory=directory) as claimed:
        parts = [part for part, _, _ in claimed]
        yield parts
        for final, (part, _, usual) in zip(finals, claimed, strict=True):
            _complete(part, None if private else usual)
            # Looked at again: something may have taken the name during a long run.
            refuse(final)
        if len(finals) == 1 and not any(map(os.path.lexists, gone)):
            parts[0].replace(finals[0])
            sync(finals[0].absolute().parent)
        else:
            pairs = [*zip(parts, finals, strict=True), *((None, path) for path in gone)]
            give_names(pairs, at=at, overwrite=overwrite)


@contextlib.contextmanager
def _claimed(
    finals: Sequence[Path], at: Path, *, directory: bool
) -> Iterator[list[tuple[Path, Lock, int]]]:
    """Give hidden neighbours to write to; remove what is left of them at the end."""
    claimed: list[tuple[Path, Lock, int]] = []
    try:
        for final in finals:
            claimed.append(claim(final, "part", directory=directory))
            if not directory:
                os.utime(claimed[-1][0], (0, 0))  # so that it shows if nobody writes to it
        yield claimed
    except Exception as error:
        cause = disk_error(error)
        if cause is None or isinstance(error, OutputError):
            raise
        raise writing_error(finals[0], cause) from error
    finally:
        # What a journal speaks of stays: the next run finishes or undoes it.
        if not os.path.lexists(journal_of(at)):
            for part, _, _ in claimed:
                remove(part)
        for _, lock, _ in claimed:
            lock.release()


def refuse_taken(final: Path, *, directory: bool = False, overwrite: bool = False) -> None:
    """Refuse a name that is taken, or whose folder does not exist, before any work is done.

    What a killed process had begun to give that name is finished, or undone, before.
    """
    settle(final)
    if not final.parent.is_dir():
        raise OutputError(
            f"cannot write {final}: the folder {final.parent} does not exist", file=final
        )
    if os.path.lexists(final):
        if directory or final.is_dir():
            hint = "choose another name or remove it first"
            raise OutputError(f"{final} exists already; {hint}", file=final, hint=hint)
        if not overwrite:
            raise OutputError(f"{final} exists already; {OVERWRITE}", file=final, hint=OVERWRITE)


def writing_error(final: Path, error: OSError) -> OutputError:
    """Return an error that says in one sentence why `final` could not be written."""
    return OutputError(
        f"cannot write {final}: {reason_of(error)}; no incomplete output was left behind",
        file=final,
    )


def reason_of(error: OSError) -> str:
    """Return why something could not be written, in a few words."""
    if error.errno == errno.ENOSPC or "No space left" in str(error):
        return "the disk is full"
    if error.errno == errno.EDQUOT or "quota exceeded" in str(error):
        return "the quota of disk space is used up"
    if error.errno == errno.EFBIG or "File too large" in str(error):
        return "the file is larger than the system or a limit (ulimit -f) allows"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "permission denied"
    if error.errno == errno.EROFS:
        return "read-only file system"
    return error.strerror or str(error)


def disk_error(error: BaseException) -> OSError | None:
    """Return the error of the system behind one of a library that writes; None if there is none.

    Polars, Arrow and DuckDB have errors of their own for a disk that is full.
    """
    if isinstance(error, OSError):
        return error
    text = str(error)
    if any(words in text for words in _FULL):
        return OSError(text)
    return None


def _complete(part: Path, permissions: int | None) -> None:
    """Bring what was written to the disk, and give it the permissions that it is to have."""
    if part.is_file() and part.stat().st_mtime == 0:  # nobody has written to it
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(part))
    if permissions is not None:
        part.chmod(permissions)
    for entry in sorted(part.rglob("*")) if part.is_dir() else []:
        sync(entry)
    sync(part)
