"""The trial in short, for the tests: a few tries of two quick commands, with a fixed seed.

It runs in a process of its own, which has loaded no library with threads: a fork of one that has
may wait for them for ever.
"""

import random
import tempfile
from pathlib import Path

from benchmarks.torture import disk, kill
from benchmarks.torture.children import command, in_child

QUICK = ("convert --overwrite", "synth --overwrite")
LARGEST = (3_000, 100)
"""Bytes that each may write."""


def killed(made: Path, scratch: Path) -> None:
    """Kill each: the old is there, or the new, and nothing else."""
    for name in QUICK:
        changes = kill.measure(made, scratch, kill.WRITERS[name])
        # Some moments that are drawn come after the end.
        for seed in range(2, 12):
            what, wrong, kills = kill.attempt(name, made, scratch, changes, random.Random(seed))
            assert wrong is None, f"{what}\n{wrong}"
            if kills:
                break
        else:
            raise AssertionError(f"{name} was never killed: {what}")
        print(f"killed: {name}")


def full(made: Path, scratch: Path) -> None:
    """Let each fill its disk: it is named, and nothing is left."""
    for name, size in zip(QUICK, LARGEST, strict=True):
        what, wrong = disk.attempt(name, made, scratch, size)
        assert wrong is None, f"{what}\n{wrong}"
        print(f"full: {name}")


def noticed(made: Path, scratch: Path) -> None:
    """Leave something, and take something away: where nothing could fail, nothing is tried."""
    writer = kill.WRITERS[QUICK[0]]
    before = kill.start(made, scratch, writer)
    assert in_child(command(writer.words), scratch).status == 0
    assert kill.look(writer, scratch, before) is None
    (scratch / ".left.part").touch()
    assert kill.left_over(writer, scratch) == "left over: .left.part"
    (scratch / "copy.csv").unlink()
    assert "is gone" in (kill.look(writer, scratch, before) or "")
    print("noticed")


def main() -> None:
    """Try all of it; an assertion fails if anything is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        made = kill.prepare(Path(folder), QUICK)
        for nth, trial in enumerate((killed, full, noticed)):
            trial(made, Path(folder) / f"try{nth}")


if __name__ == "__main__":
    main()
