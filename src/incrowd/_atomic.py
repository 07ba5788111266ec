"""Files and directories that are written completely, or not at all.

What is written goes to a hidden neighbour first, is synced to the disk, and is then renamed. An
error, an interruption or a full disk leaves nothing under the final name and cleans up after
itself; a killed process leaves a hidden ``.NAME.XXXX.part`` that nobody mistakes for a result.
"""

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from incrowd.errors import OutputError

__all__ = [
    "OVERWRITE",
    "refuse_taken",
    "replacing",
    "writing_error",
]


OVERWRITE = (
    "choose another name, or allow overwriting (--overwrite on the command line, overwrite=True in "
    "Python)"
)


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
        Whether nobody but its owner may read the file, from its first byte on.

    Raises
    ------
    OutputError
        If the name is taken, the folder does not exist, or writing fails.
    """
    final = Path(path)
    refuse_taken(final, directory=directory, overwrite=overwrite)
    part = final.with_name(f".{final.name}.{secrets.token_hex(4)}.part")
    try:
        if directory:
            part.mkdir()
        elif private:
            os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield part
        _sync(part)
        # Looked at again: something may have taken the name during a long run.
        refuse_taken(final, directory=directory, overwrite=overwrite)
        part.replace(final)
        _sync_entry(final.parent)
    except OutputError:
        raise
    except OSError as error:
        raise writing_error(final, error) from error
    finally:
        # Cleaning up must not hide the error that led here.
        with contextlib.suppress(OSError):
            if part.is_dir():
                shutil.rmtree(part)
            else:
                part.unlink(missing_ok=True)


def refuse_taken(final: Path, *, directory: bool = False, overwrite: bool = False) -> None:
    """Refuse a name that is taken, or whose folder does not exist, before any work is done."""
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
    if error.errno == errno.ENOSPC or "No space left" in str(error):
        reason = "the disk is full"
    elif error.errno in (errno.EACCES, errno.EPERM):
        reason = "permission denied"
    elif error.errno == errno.EROFS:
        reason = "read-only file system"
    else:
        reason = error.strerror or str(error)
    return OutputError(
        f"cannot write {final}: {reason}; no incomplete output was left behind", file=final
    )


def _sync(path: Path) -> None:
    """Bring a file, or a directory and all in it, to the disk."""
    for entry in sorted(path.rglob("*")) if path.is_dir() else []:
        _sync_entry(entry)
    _sync_entry(path)


def _sync_entry(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
