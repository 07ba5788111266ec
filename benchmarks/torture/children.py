"""incrowd in child processes that can be killed, started without importing everything again.

The parent only imports; each child is a fork of it, which runs one command line. A child can be
told to kill itself with SIGKILL just before its n-th change of the file system (a rename, an
fsync, a mkdir, an unlink, ...): these are the moments between which a crash leaves other states.
The functions of `os` that make such changes are wrapped in the child alone; nothing in incrowd
knows of it.
"""

import contextlib
import importlib
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["CHANGES", "Ended", "at_change", "command", "in_child", "warm"]

CHANGES = (
    "chmod", "fsync", "link", "mkdir", "open", "remove", "rename", "replace", "rmdir", "unlink",
    "utime",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended: its exit status (-9 if it was killed), what it said, how long it took."""

    status: int
    said: str
    seconds: float

    @property
    def killed(self) -> bool:
        return self.status == -signal.SIGKILL


def at_change(number: int, do: Callable[[], object]) -> Callable[[], int]:
    """Call `do` just before the n-th change of the file system; give what tells their number."""
    count = 0

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def change(*words: Any, **how: Any) -> Any:
            nonlocal count
            writes = real is not os_open or (len(words) > 1 and words[1] & os.O_CREAT)
            if writes:
                count += 1
                if count == number:
                    do()
            return real(*words, **how)

        return change

    os_open = os.open
    for name in CHANGES:
        setattr(os, name, counting(getattr(os, name)))
    from incrowd import _renames

    vars(_renames)["exchange"] = counting(_renames.exchange)
    return lambda: count


def in_child(
    work: Callable[[], int | None],
    scratch: Path,
    *,
    kill_at: int | None = None,
    kill_after: float | None = None,
    largest: int | None = None,
    said: Path | None = None,
) -> Ended:
    """Run something in a fork of this process.

    Parameters
    ----------
    work
        What to run; what it returns is the exit status.
    scratch
        The folder to work in; temporary files go to ``tmp`` in it.
    kill_at
        The number of the change of the file system before which the child kills itself.
    kill_after
        Seconds after which it is killed.
    largest
        The size of the largest file that it may write.
    said
        The file for what it says; ``said.txt`` in the folder unless given.
    """
    said = said or scratch / "said.txt"
    sys.stdout.flush()
    begun = time.monotonic()
    # What it says is not what is tried: where files are limited, it goes through a pipe.
    reads, out = (
        os.pipe() if largest else (-1, os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    )
    child = os.fork()
    if not child:
        _be_child(work, scratch, out, kill_at, largest)
    os.close(out)
    if largest:
        with os.fdopen(reads, "rb") as pipe:
            said.write_bytes(pipe.read())
    if kill_after is not None:
        time.sleep(kill_after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return Ended(code, said.read_text("utf-8", "replace"), time.monotonic() - begun)


def _be_child(
    work: Callable[[], int | None],
    scratch: Path,
    out: int,
    kill_at: int | None,
    largest: int | None,
) -> None:
    status = 99
    try:
        os.dup2(out, 1)
        os.dup2(out, 2)
        # Whatever the parent has made of them, as pytest does.
        sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
        warnings.simplefilter("default")
        os.chdir(scratch)
        os.environ["TMPDIR"] = str(scratch / "tmp")
        tempfile.tempdir = None
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
        if kill_at is not None:
            at_change(kill_at, lambda: os.kill(os.getpid(), signal.SIGKILL))
        status = work() or 0
    except BaseException:  # noqa: BLE001  the child must not return into the parent's code
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def command(words: Iterable[object]) -> Callable[[], int]:
    """Give what runs a command line."""
    line = [str(word) for word in words]

    def run() -> int:
        from incrowd.cli._app import app
        from incrowd.cli._console import run

        sys.argv = ["incrowd", *line]
        return run(app)

    return run


def warm(scratch: Path, lines: Iterable[Iterable[object]]) -> None:
    """Import here what some command lines import, so that their forks begin at once."""
    names = scratch / "modules.txt"
    for line in lines:
        run = command(line)

        def work(run: Callable[[], int] = run) -> int:
            status = run()
            names.write_text(
                "\n".join(name for name in sys.modules if "." not in name[:1]), "utf-8"
            )
            return status

        ended = in_child(work, scratch)
        if ended.status not in (0, 1, 3):
            raise SystemExit(f"{line} ends with {ended.status}:\n{ended.said}")
        for name in names.read_text("utf-8").split("\n"):
            if name.partition(".")[0] in _IMPORTED:
                with contextlib.suppress(Exception):
                    importlib.import_module(name)


_IMPORTED = {
    "incrowd", "altair", "duckdb", "jinja2", "numba", "numpy", "polars", "pyarrow", "pyproj",
    "scipy", "sklearn", "typer",
}  # fmt: skip
