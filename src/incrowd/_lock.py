"""A lock on a file that several processes amend, one after the other."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from incrowd._atomic import writing_error

__all__ = ["locked"]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock while a file is amended; the system gives it back if the process ends.

    Where files cannot be locked (on Windows), nothing is held.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    lock = path.with_name(f".{path.name}.lock")
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise writing_error(path, error) from error
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Whoever held it may have removed it after it was opened here.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), lock.stat()):
                break
        os.close(descriptor)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(descriptor)
