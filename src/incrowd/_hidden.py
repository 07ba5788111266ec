"""Hidden neighbours: what is being written, and what a killed process has left.

Whatever is not finished lies beside its name, under a name that nobody mistakes for a result and
that no other program uses::

    .NAME.incrowd-part-XXXXXXXXXXXX         a file or folder that is being written
    .NAME.incrowd-unverified-XXXXXXXXXXXX   a release before its verification
    .NAME.incrowd-old-XXXXXXXXXXXX          what had the name before, about to be removed
    incrowd-XXXXXXXXXXXX                    temporary files, rows of the input among them

All of them can be read by their owner only. Who writes one holds an advisory lock on it, which the
system gives back when the process ends, however it ends. So a neighbour that can be locked is used
by nobody: it is a leftover, and the next writer of the same name removes it and says so. Who makes
one looks, once it is locked, whether it is still there: somebody may have come in between.

Where files cannot be locked (Windows, some network file systems), nobody can tell: nothing is
removed by itself there.
"""

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from incrowd._outside import outside
from incrowd.errors import IncrowdWarning

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "Lock",
    "claim",
    "entries",
    "hidden_name",
    "is_used",
    "kind_of",
    "neighbours",
    "remove",
    "remove_unused",
    "size_and_age",
    "sweep",
    "tell",
    "temporary_folder",
    "temporary_folders",
    "temporary_place",
]


KINDS = {
    "unverified": "release that was not verified",
    "part": "incomplete file or folder",
    "old": "what was replaced",
}
"""What a hidden neighbour is, by the word in its name."""
_TOKEN = "[0-9a-f]{12}"  # noqa: S105  no secret
_OURS = re.compile(rf"\.(?P<name>.+)\.incrowd-(?P<kind>{'|'.join(KINDS)})-{_TOKEN}")
_TEMPORARY = re.compile(f"incrowd-{_TOKEN}")
_UNSUPPORTED = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF, errno.EINVAL}


class Lock:
    """An advisory lock on a file or folder, held until `release` or the end of the process.

    Parameters
    ----------
    path
        What to lock.

    Raises
    ------
    BlockingIOError
        If another process holds it.
    FileNotFoundError
        If the file or folder is gone, or another one has its name.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.held = False
        """False where files cannot be locked."""
        self._descriptor: int | None = None
        if fcntl is None:
            return
        flags = os.O_RDONLY if path.is_dir() else os.O_RDWR
        self._descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            self.held = _flock(self._descriptor)
            same = os.path.samestat(os.fstat(self._descriptor), os.lstat(path))
        except OSError:
            self.release()
            raise
        if not same:
            self.release()
            raise FileNotFoundError(errno.ENOENT, "no longer there", str(path))

    def release(self) -> None:
        """Let others have it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor, self.held = None, False


def _flock(descriptor: int) -> bool:
    """Lock an open file; return False where files cannot be locked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return False
    return True


def hidden_name(path: Path, kind: str) -> Path:
    """Return a fresh hidden name beside a path."""
    return path.with_name(f".{path.name}.incrowd-{kind}-{secrets.token_hex(6)}")


def kind_of(path: Path) -> str | None:
    """Return of which of `KINDS` a hidden neighbour is, by its name; None if it is none."""
    match = _OURS.fullmatch(path.name)
    return match["kind"] if match else None


def claim(final: Path, kind: str, *, directory: bool = False) -> tuple[Path, Lock, int]:
    """Make an empty hidden neighbour that only its owner may read, and lock it.

    Returns
    -------
    tuple
        The path, its lock, and the permissions that it would have had otherwise.
    """
    while True:
        path = hidden_name(final, kind)
        if directory:
            path.mkdir()
        else:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        try:
            # Nothing is in it yet, so that nothing can be read before.
            usual = stat.S_IMODE(path.stat().st_mode)
            path.chmod(0o700 if directory else 0o600)
            return path, Lock(path), usual
        except (BlockingIOError, FileNotFoundError):
            continue  # taken for a leftover before it was locked


def neighbours(final: Path) -> list[Path]:
    """Return the hidden neighbours of a name, used or not."""
    return [path for path in entries(final.absolute().parent) if _name_of(path) == final.name]


def _name_of(path: Path) -> str | None:
    match = _OURS.fullmatch(path.name)
    return match["name"] if match else None


def entries(folder: Path) -> list[Path]:
    """Return what is in a folder; nothing, if it cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def is_used(path: Path) -> bool | None:
    """Return whether a process holds the lock of something hidden; None if nobody can tell."""
    try:
        lock = Lock(path)
    except BlockingIOError:
        return True
    except OSError:
        return None
    held = lock.held
    lock.release()
    return False if held else None


def remove_unused(path: Path) -> bool:
    """Remove something hidden if no process uses it; return whether it was removed."""
    try:
        lock = Lock(path)
    except OSError:
        return False
    try:
        return lock.held and remove(path)
    finally:
        lock.release()


def remove(path: Path) -> bool:
    """Remove a file or a folder with all in it; return whether it is gone."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return not os.path.lexists(path)


def sweep(final: Path) -> None:
    """Remove what killed processes have left beside a name, and tell."""
    name = re.escape(final.name)
    # These held no lock, so that nobody can tell whether they are still used.
    earlier = re.compile(
        rf"\.{{1,2}}{name}(\.(unverified|old|part)-[0-9a-f]{{8}})?(\.[0-9a-f]{{4,8}}\.part)?"
    )
    for path in entries(final.absolute().parent):
        if _name_of(path) == final.name:
            if remove_unused(path):
                tell(f"{path} was left by a run that was killed; it was removed")
        elif path.name != f".{final.name}" and earlier.fullmatch(path.name):
            tell(
                f"{path} was left by a run of an earlier version that was killed; it is no "
                "release, and nothing to share. Unless that run is still going on, delete it"
            )


def tell(text: str) -> None:
    """Tell of something that was done beside what was asked for."""
    warnings.warn(text, IncrowdWarning, stacklevel=outside())


def size_and_age(path: Path) -> tuple[int, float]:
    """Return the bytes in a file or folder, and the seconds since it was last changed."""
    total, latest = 0, 0.0
    # What another process removes meanwhile is not counted; `os.walk` passes over it.
    inside = (
        Path(folder, name)
        for folder, folders, files in os.walk(path)
        for name in (*folders, *files)
    )
    for each in (path, *inside):
        with contextlib.suppress(OSError):
            about = each.lstat()
            latest = max(latest, about.st_mtime)
            total += about.st_size if stat.S_ISREG(about.st_mode) else 0
    return total, max(0.0, time.time() - latest)


@contextlib.contextmanager
def temporary_folder(parent: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """Make a folder for temporary files that only its owner may read, and remove it at the end.

    Those that killed processes have left in the same place are removed first.
    """
    place = temporary_place() if parent is None else Path(parent)
    for path in temporary_folders(place):
        size, _ = size_and_age(path)
        if remove_unused(path):
            tell(
                f"{path} was left by a run that was killed, with {size:,} bytes of what it read; "
                "it was removed"
            )
    while True:
        folder = place / f"incrowd-{secrets.token_hex(6)}"
        folder.mkdir(mode=0o700)
        try:
            lock = Lock(folder)
            break
        except (BlockingIOError, FileNotFoundError):
            continue
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def temporary_place() -> Path:
    """Return the folder for temporary files.

    Python's own function writes a file to find out, which a killed process leaves behind.
    """
    named = [os.environ[name] for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)]
    for place in map(Path, [*named, "/tmp", "/var/tmp"]):  # noqa: S108  others may write there
        if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
            return place.absolute()
    return Path(tempfile.gettempdir())


def temporary_folders(place: Path) -> list[Path]:
    """Return the folders for temporary files in a place, used or not, that are this user's."""
    found = []
    for path in entries(place):
        if _TEMPORARY.fullmatch(path.name):
            with contextlib.suppress(OSError):
                about = path.lstat()
                mine = not hasattr(os, "geteuid") or about.st_uid == os.geteuid()
                if mine and stat.S_ISDIR(about.st_mode):
                    found.append(path)
    return found
