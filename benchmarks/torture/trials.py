"""All trials, by name."""

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.torture import disk, kill

__all__ = ["TRIALS", "Tries"]

Tries = Callable[[int, Path], Iterator[tuple[str, str | None]]]
"""Takes a seed and an empty folder; yields what was tried, and None or what failed, without end."""

TRIALS: dict[str, Tries] = {"kill": kill.tries, "disk": disk.tries}

if importlib.util.find_spec("benchmarks.torture.fuzz") is not None:
    fuzz = importlib.import_module("benchmarks.torture.fuzz")
    TRIALS |= getattr(fuzz, "TRIALS", None) or {"fuzz": fuzz.tries}
