"""Disks that are full, and limits of the size of files, under everything that writes.

Each try gives one command too little room: a limit of the size of a file (`ulimit -f`), drawn at
random; or, where this process may mount one, a disk of a random size of its own. The command must
end well, or with status 2 and a message that names what could not be written and why; nothing new
may be left, and what was there must be as it was.
"""

import contextlib
import itertools
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.torture import kill
from benchmarks.torture.children import command, in_child

__all__ = ["WHY", "attempt", "may_mount", "tries"]

WHY = ("the disk is full", "the file is larger than the system or a limit")


def tries(seed: int, scratch: Path) -> Iterator[tuple[str, str | None]]:
    """Give too little room; without end."""
    made = kill.prepare(scratch)
    draw = random.Random(seed)
    names = [
        name for name in kill.WRITERS for _ in range(kill.OFTEN.get(name.partition(" ")[0], 6))
    ]
    disks = may_mount(scratch)
    for _ in itertools.count():
        name = draw.choice(names)
        size = int(2 ** draw.uniform(5, 17.5))
        yield attempt(name, made, scratch / "try", size, disk=disks and draw.random() < 0.5)


def attempt(
    name: str, made: Path, place: Path, size: int, *, disk: bool = False
) -> tuple[str, str | None]:
    """Run one command with little room, and look at what it leaves."""
    writer = kill.WRITERS[name]
    with contextlib.ExitStack() as mounted:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if disk:
            mounted.enter_context(_small_disk(place, size))
        try:
            before = kill.start(made, place, writer, anew=False)
        except OSError:
            return f"no room to begin: {size:,} bytes", None
        ended = in_child(
            command(writer.words), place, largest=None if disk else size, said=made / "said.txt"
        )
        kind = "a disk" if disk else "files"
        what = f"{name} on {kind}: {size:,} bytes"
        wrong = _wrong(writer, place, before, ended.status, ended.said)
    return what, f"{wrong}\nstatus {ended.status}\n{ended.said}" if wrong else None


def _wrong(
    writer: kill.Writer, place: Path, before: dict[str, str], status: int, said: str
) -> str | None:
    if status in writer.statuses:
        return kill.left_over(writer, place)
    if status != 2:
        return f"it ends with {status}"
    if not any(why in said for why in WHY) or "cannot " not in said:
        return "the message does not say what cannot be written, and why"
    keeps = "is kept in" in said or "keeps what was done" in said
    for name, known in before.items():
        now = kill.digest(place / name)
        # An unfinished run is kept in a hidden folder of the folder of runs, new or not.
        if now != known and not (keeps and not known and now == kill.NOTHING):
            return f"{name} is not as it was"
    return kill.left_over(writer, place, keeps=keeps)


@contextlib.contextmanager
def _small_disk(place: Path, size: int) -> Iterator[None]:
    """Mount a disk in memory with some bytes more than what is there before."""
    words = ["mount", "-t", "tmpfs", "-o", f"size={200_000 + size}", "tmpfs", str(place)]
    subprocess.run(words, check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True, capture_output=True)


def may_mount(scratch: Path) -> bool:
    """Tell whether this process may mount a small disk."""
    if os.name != "posix" or os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    place = scratch / "disk"
    place.mkdir(exist_ok=True)
    try:
        with _small_disk(place, 1):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False
