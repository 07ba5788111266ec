"""Accuracy and the properties of people are measured in seconds for data of the size of civ.

GLOVE on the whole of civ takes long, so civ with 5,000 people is hidden and laid side by side as
often as it takes. The time of the processors is told beside that of the clock, for a machine that
has other work to do.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import incrowd
from benchmarks.common import machine
from incrowd.data._trajectories import Trajectories
from incrowd.evaluate._analysis.covariates import covariates
from incrowd.evaluate._comparison import BeforeAfter, of_release

COPIES = 17


def repeated(data: Trajectories, times: int) -> Trajectories:
    """Give everybody several times, one copy behind the other."""
    columns = tuple(np.concatenate([column] * times) for column in data.columns)
    starts = [data.offsets[:-1] + copy * data.samples for copy in range(times)]
    offsets = np.concatenate([*starts, [times * data.samples]])
    crowd = np.concatenate([data.crowd] * times)
    return Trajectories(columns, offsets, data.frame, crowd=crowd)


def timed(what: str, claim: str, work: Callable[[], Any]) -> None:
    """Do something once, and print what it took."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    print(f"| {what} | {seconds:.1f} s | {busy:.1f} s | {claim} |", flush=True)


def main() -> None:
    """Print the times."""
    machine()
    data = incrowd.synthesize("civ", users=5000, seed=1)
    pair = of_release(data, incrowd.glove(data, 2, merge="two-stage"))
    assert pair.became is not None
    became = [pair.became + copy * len(pair.after) for copy in range(COPIES)]
    before, after = repeated(pair.before, COPIES), repeated(pair.after, COPIES)
    many = BeforeAfter(before, after, np.concatenate(became))
    incrowd.accuracy(pair)  # the compiler is not what is timed
    covariates(data)
    rows = int(after.crowd @ after.lengths())
    print(f"{len(before):,} people, {before.samples:,} samples, {rows:,} published rows\n")
    print("| what | time | of processors | claim |\n|---|---|---|---|")
    timed("accuracy", "a few seconds", lambda: incrowd.accuracy(many))
    timed("properties of people (figure 20)", "a few seconds", lambda: covariates(before))


if __name__ == "__main__":
    main()
