"""A lock that belongs to a name, for processes that would work on it at the same time."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from incrowd._atomic import writing_error
from incrowd.errors import OutputError

__all__ = ["locked"]


@contextlib.contextmanager
def locked(path: Path, *, busy: str | None = None) -> Iterator[None]:
    """Hold a lock while a file or folder is worked on; the system gives it back with the process.

    Where files cannot be locked (on Windows), nothing is held.

    Parameters
    ----------
    path
        What is worked on; it need not exist.
    busy
        What to say where another process holds the lock; without it, this one waits.

    Raises
    ------
    OutputError
        If the lock is held by another process and `busy` is given, or it cannot be made.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    lock = path.with_name(f".{path.name}.lock")
    with contextlib.ExitStack() as held:
        while True:
            try:
                file = held.enter_context(open(lock, "a", opener=_private))
            except OSError as error:
                raise writing_error(path, error) from error
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
            except BlockingIOError as error:
                raise OutputError(busy) from error
            # Whoever held it may have removed it after it was opened here.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                    break
            file.close()
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
