"""All trials, by name."""

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.torture import disk, fuzz, identifiers, kill

__all__ = ["TRIALS", "Tries"]

Tries = Callable[[int, Path], Iterator[tuple[str, str | None]]]
"""Takes a seed and an empty folder; yields what was tried, and None or what failed, without end."""

TRIALS: dict[str, Tries] = {
    "kill": kill.tries,
    "disk": disk.tries,
    "fuzz": fuzz.tries,
    "identifiers": identifiers.small_releases,
}
