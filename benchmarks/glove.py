"""GLOVE and the k-gap at full size: against the goals, the paper, all pairs, and more people.

Every run has a process of its own. It first runs the same call on a tiny city, so that nothing is
compiled while time is taken; then it reads the data; then comes the call that is timed. The peak
memory is that of the whole process, reading included.

*All pairs* is what the paper does first: the cost of every pair. Nobody waits for that here; the
cost of random pairs, drawn evenly from all, is timed on all cores with the engine's own kernel and
multiplied. Every pair is computed to its end, without bounds, in three ways: as the engine does,
which passes over samples too far away in time and counts in 32 bits; each sample with each; and
each with each in 64 bits, as where numbers are too large for less.

*Growth* is the exponent e in time = c * people**e, by least squares on logarithms.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.common import Run, dataset, machine, python
from incrowd.measure._stretch.index import EACH, SearchIndex, exact_cost

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

CIV, SEN, TDRIVE = 82_728, 286_926, 10_281
PAPER_HOURS = 60
"""Of the paper of 2021, section 6.3, for k = 2 on either dataset, on one GPU."""
SIZES = (5_000, 10_000, 20_000, 40_000, 80_000)
PAIRS, ROUNDS = 20_000, 10

CALL = """
import time, numpy as np, incrowd
small = incrowd.synthesize("city", users=80, seed=7)
call = lambda data: {call}
call(small)
start = time.perf_counter()
data = incrowd.read({path!r})
if {sample}:
    who = np.random.default_rng(1).permutation(len(data))[:{sample}]
    data = data[np.sort(who)]
loaded = time.perf_counter()
call(data)
print(len(data), loaded - start, time.perf_counter() - loaded)
"""
COMPARE = """
import incrowd
from benchmarks.glove import cost_of_pairs
ways = [(True, True), (False, True), (False, False)]
for near, many in ways:
    cost_of_pairs(incrowd.synthesize("city", users=80, seed=7), 100, 1, near=near, many=many)
data = incrowd.read({path!r})
for near, many in ways:
    print(len(data), *cost_of_pairs(data, {pairs}, {rounds}, near=near, many=many))
"""
"""What the processes run."""
GLOVE, GAP = "incrowd.glove(data, k={}, merge='two-stage')", "incrowd.k_gap(data, k={})"


@dataclass(frozen=True)
class Case:
    """A call to be timed: on what, and what is claimed."""

    what: str
    call: str
    preset: str
    people: int
    minutes: float
    gigabytes: float
    paper: bool = False
    sample: int = 0


CASES = {
    "civ-gap": Case("k-gap of civ, k = 2", GAP.format(2), "civ", CIV, 5, 6),
    "civ-2": Case("GLOVE of civ, k = 2", GLOVE.format(2), "civ", CIV, 8, 6, paper=True),
    "civ-5": Case("GLOVE of civ, k = 5", GLOVE.format(5), "civ", CIV, 25, 8),
    "sen-2": Case("GLOVE of sen, k = 2", GLOVE.format(2), "sen", SEN, 75, 12, paper=True),
    "tdrive-2": Case("GLOVE of T-Drive, k = 2", GLOVE.format(2), "tdrive", TDRIVE, 4, 4),
}
COMPARISONS = ("pairs", "growth", "thinned")
USUAL = (*CASES, "pairs", "growth")


@dataclass(frozen=True)
class Timed:
    """What a call took: people, seconds of reading and of the call, the process."""

    people: int
    reading: float
    seconds: float
    process: Run


class Benchmarks:
    """Runs calls, and remembers what each took."""

    def __init__(self, share: float, tdrive: Path | None) -> None:
        self.share, self.tdrive = share, tdrive
        self.done: dict[Case, Timed] = {}

    def timed(self, case: Case) -> Timed:
        """Time a call, unless it was timed before."""
        if case not in self.done:
            sample = case.sample
            if case.preset == "tdrive" and self.share < 1:
                sample = self.smaller(case.people)
            code = CALL.format(call=case.call, path=str(self.path(case)), sample=sample)
            process = python(code)
            people, reading, seconds = process.output.splitlines()[-1].split()
            self.done[case] = Timed(int(people), float(reading), float(seconds), process)
        return self.done[case]

    def path(self, case: Case) -> Path:
        """Give the file of a case, made if it is not there yet."""
        if case.preset == "tdrive":
            return cast("Path", self.tdrive)
        return dataset(case.preset, self.smaller(case.people), "parquet")

    def smaller(self, people: int) -> int:
        """Give the number of people to take."""
        return max(64, round(people * self.share))

    def calls(self, names: Sequence[str]) -> None:
        """Print the table of calls."""
        print("| what | people | reading | time | peak memory | goal | paper, on a GPU |")
        print("|---|---|---|---|---|---|---|")
        for name in names:
            case = CASES[name]
            if case.preset == "tdrive" and self.tdrive is None:
                continue
            took = self.timed(case)
            goal = f"{case.minutes:g} min, {case.gigabytes:g} GB" if self.share == 1 else ""
            paper = ""
            if case.paper and self.share == 1:
                ratio = PAPER_HOURS * 3600 / took.seconds
                paper = f"{PAPER_HOURS} h, {ratio:,.0f} times as long"
            line = (case.what, f"{took.people:,}", f"{took.reading:.1f} s", length(took.seconds))
            memory = f"{took.process.gigabytes:.2f} GB"
            print("| " + " | ".join((*line, memory, goal, paper)) + " |", flush=True)
        if self.tdrive is None and any(CASES[name].preset == "tdrive" for name in names):
            print("\nT-Drive was left out: name its Parquet file in INCROWD_TDRIVE or by --tdrive.")

    def pairs(self) -> None:
        """Print what all pairs would take, beside what the engine takes."""
        case, rounds = CASES["civ-2"], ROUNDS
        count = max(rounds, round(PAIRS * min(1, self.share * 10)))
        code = COMPARE.format(path=str(self.path(case)), pairs=count, rounds=rounds)
        engine = [self.timed(CASES[name]) for name in ("civ-2", "civ-gap")]
        lines = [line.split() for line in python(code).output.splitlines()][-3:]
        people = int(lines[0][0])
        total = people * (people - 1) // 2
        print(f"\nAll {total:,} pairs of civ, from {count:,} random ones, on all cores.")
        print(f"GLOVE, k = 2: {length(engine[0].seconds)}; k-gap: {length(engine[1].seconds)}.\n")
        print("| each pair | pairs a second | all pairs, from the sample | GLOVE | k-gap |")
        print("|---|---|---|---|---|")
        ways = ("as the engine", "each with each, many at a time", "each with each, in 64 bits")
        for how, (_, each, error) in zip(ways, lines, strict=True):
            seconds = float(each) * total
            whole = f"{length(seconds)} (± {float(error):.0%})".replace("%", " %")
            ratios = " | ".join(f"{seconds / took.seconds:,.1f} times" for took in engine)
            print(f"| {how} | {1 / float(each):,.0f} | {whole} | {ratios} |", flush=True)

    def growth(self, *, thinned: bool) -> None:
        """Print how time grows with people: of smaller countries, or fewer people of one."""
        base = CASES["civ-2"]
        kind = "people of the whole country, at random" if thinned else "countries as dense as civ"
        print(f"\nGLOVE, k = 2, of {kind}:\n\n| people | time | peak memory |\n|---|---|---|")
        points = []
        for size in SIZES:
            case = replace(base, sample=self.smaller(size)) if thinned else None
            took = self.timed(case or replace(base, people=size))
            points.append((took.people, took.seconds))
            memory = f"{took.process.gigabytes:.2f} GB"
            print(f"| {took.people:,} | {length(took.seconds)} | {memory} |", flush=True)
        people, seconds = np.log(np.array(points)).T
        print(f"\nTime grows with people to the power of {np.polyfit(people, seconds, 1)[0]:.2f}.")


def length(seconds: float) -> str:
    """Write a time as people do."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def _evaluate_all(a: NDArray[np.int64], b: NDArray[np.int64], index: SearchIndex) -> int:
    """Compute the cost of pairs, each to its end."""
    total, each = 0, np.empty(EACH)
    for i in range(len(a)):
        numerator, _, _ = exact_cost(a[i], b[i], index, np.inf, each)
        total += numerator
    return total


def _kernel() -> Callable[..., int]:
    """Compile it anew each time: the engine's kernels may have changed since."""
    return cast("Callable[..., int]", njit(nogil=True, error_model="numpy")(_evaluate_all))


def cost_of_pairs(
    data: "Trajectories", count: int, rounds: int, *, near: bool, many: bool
) -> tuple[float, float]:
    """Time the cost of random pairs; give the seconds of each, and the relative standard error.

    They are drawn evenly from all pairs of two people, in rounds that are timed one by one.
    """
    from incrowd._parallel import cores, on_threads
    from incrowd.measure._stretch.definition import Stretch
    from incrowd.measure._stretch.index import build_index, scale_for

    threads, people = cores(None), len(data)
    scale = scale_for(data, Stretch(), bounds=False)._replace(near=near)
    if not many:
        scale = scale._replace(small=0)
    index = build_index(data, scale, threads=threads, bounds=False)
    kernel, rng = _kernel(), np.random.default_rng(1)
    kernel(np.zeros(1, np.int64), np.ones(1, np.int64), index)

    def blocks() -> Iterator[Any]:
        first = rng.integers(people, size=count // rounds)
        other = (first + rng.integers(1, people, size=len(first))) % people  # never the same one
        for i in range(0, len(first), 50):
            yield first[i : i + 50], other[i : i + 50]

    seconds = []
    for _ in range(rounds):
        jobs = list(blocks())
        start = time.perf_counter()
        for _ in on_threads(threads, lambda job: kernel(*job, index), jobs):
            pass
        seconds.append((time.perf_counter() - start) / sum(len(job[0]) for job in jobs))
    mean = float(np.mean(seconds))
    return mean, float(np.std(seconds) / mean / max(1, rounds - 1) ** 0.5)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.glove", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    names = (*CASES, *COMPARISONS)
    parser.add_argument("--only", nargs="+", choices=names, default=USUAL, metavar="NAME")
    parser.add_argument("--tdrive", type=Path, default=os.environ.get("INCROWD_TDRIVE"))
    parser.add_argument("--share", type=float, default=1, help="of the people, to try it out")
    parser.epilog = f"NAME is one of {', '.join(names)}; all but thinned are run unless named."
    options = parser.parse_args(arguments)
    tdrive = Path(options.tdrive) if options.tdrive else None
    if tdrive and not tdrive.exists():
        raise SystemExit(f"there is no {tdrive}")
    machine()
    benchmarks = Benchmarks(options.share, tdrive)
    calls = [name for name in CASES if name in options.only]
    if calls:
        benchmarks.calls(calls)
    if "pairs" in options.only:
        benchmarks.pairs()
    for name in ("growth", "thinned"):
        if name in options.only:
            benchmarks.growth(thinned=name == "thinned")


if __name__ == "__main__":
    main(sys.argv[1:])
