"""Compiling what a report needs, beside something else: ``python -m incrowd.report._warmup``.

Kernels are compiled when they are first used, one after the other, and kept on disk. A process of
its own that makes the report of a few made-up people compiles those of the report on another core
while the data is still being measured and hidden.
"""

import atexit
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

__all__ = [
    "begin",
    "warm",
]


PEOPLE = 24


def warm() -> None:
    """Make the report of a few people who never lived, and throw it away."""
    import numpy as np
    import polars as pl

    import incrowd
    from incrowd.data._release import write_release
    from incrowd.report._make import make

    city = incrowd.synthesize("city", users=PEOPLE, seed=1)
    crowds = incrowd.Trajectories(
        city.columns, city.offsets, city.frame, crowd=np.full(PEOPLE, 2, np.int32)
    )
    gaps = pl.DataFrame({"user": city.people, "k_gap": np.linspace(0, 1, PEOPLE)})
    with tempfile.TemporaryDirectory() as folder:
        release = Path(folder) / "release"
        _, names = write_release(
            release, crowds, method="GLOVE", settings={"k": 2, "reshape": "split"}, losses={}
        )
        first = names.unique("trajectory", keep="first", maintain_order=True)
        record = pl.DataFrame({"user": city.people, "trajectory": np.arange(PEOPLE)})
        who = record.with_columns(person=first["person"])
        make(release, original=city, record=who, gaps=gaps)


def begin() -> Callable[[], object]:
    """Begin to compile in the background; gives what waits until that is done."""
    process = subprocess.Popen(
        [sys.executable, "-m", "incrowd.report._warmup"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    atexit.register(process.kill)  # if whoever waits is interrupted
    return process.wait


if __name__ == "__main__":
    warm()
