"""TGA: its log cost beside our stretch effort, and how many matchings its lower bounds avoid.

``python -m benchmarks.tga``; with ``--large``, fast TGA of 5,000, 10,000 and 20,000 people, or as
many as are named behind it. The papers needed 9.29 s for a log cost, 0.32 s for a stretch effort:
30 times as long. What a pair takes is processor time, of one thread.
"""

import resource
import sys
import time
from typing import Any

import numpy as np

import incrowd
from benchmarks.common import machine
from incrowd._numba import Ints, kernel
from incrowd._parallel import cores
from incrowd.data._trajectories import Trajectories
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.effort import Boxes, Scale, cost
from incrowd.measure._stretch.index import boxes_of
from incrowd.protect._tga.bounds import places_of
from incrowd.protect._tga.costs import costs_of
from incrowd.protect._tga.crowds import Made, crowds_of
from incrowd.protect._tga.search import People, cheapest

POINTS, PAIRED = 250, 40
"""Of the pairs whose cost is measured: how many samples each has, and how many there are."""


@kernel
def stretches(boxes: Boxes, offsets: Ints, scale: Scale) -> int:
    """Add up the stretch efforts of all pairs, in units."""
    total, none = np.int64(0), np.empty(0, np.float64)
    for i in range(len(offsets) - 1):
        for j in range(i + 1, len(offsets) - 1):
            total += cost(
                np.int32, 2**31 - 1, boxes, offsets[i], offsets[i + 1], 1, boxes, offsets[j],
                offsets[j + 1], 1, scale, 2**62, none,
            )  # fmt: skip
    return int(total)


def people_with(data: Trajectories, points: int, number: int) -> Trajectories:
    """Give the first people who have so many samples, with so many of them, evenly spread."""
    enough = np.flatnonzero(data.lengths() >= points)[:number]
    some, keep = data[enough], []
    for person in range(len(some)):
        first, last = some.offsets[person], some.offsets[person + 1]
        keep.append(first + np.arange(points) * (last - first) // points)
    mask = np.zeros(some.samples, np.bool_)
    mask[np.concatenate(keep)] = True
    return some.keep(mask)


def pairs(civ: Trajectories) -> None:
    """Print what a log cost takes, and a stretch effort of the same pairs."""
    some = people_with(civ, POINTS, PAIRED)
    places = places_of(some.columns, some.offsets)
    people = People(some.columns, some.offsets, some.crowd.astype(np.int64), places)
    costs, everybody = costs_of(civ), np.arange(len(some))
    boxes, number = boxes_of(some), len(some) * (len(some) - 1) / 2

    def log_costs() -> None:
        for person in everybody:
            cheapest(
                people.side(int(person)), everybody[person + 1 :], people, costs, 1, bounded=False
            )

    ways: dict[str, Any] = {
        "log cost, whole table": log_costs,
        "stretch effort": lambda: stretches(boxes, some.offsets, Stretch().scale()),
        "stretch effort, every sample with every other": lambda: stretches(
            boxes, some.offsets, Stretch().scale(near=False)
        ),
    }
    took = {}
    for name, way in ways.items():
        way()  # the compiler is not what is timed
        times = []
        for _ in range(5):
            start = time.thread_time()
            way()
            times.append(time.thread_time() - start)
        took[name] = 1000 * sorted(times)[2] / number
    first = took["log cost, whole table"]
    print(f"| {POINTS} samples with {POINTS}, one thread | time | log cost takes | claim |")
    print("|---|---|---|---|")
    for name, each in took.items():
        ratio, claim = f"{first / each:.1f} times as long", "the papers: 30 times"
        if name == "log cost, whole table":
            ratio, claim = "", "at most 0.5 ms"
        print(f"| {name} | {each:.4f} ms | {ratio} | {claim} |", flush=True)


def timed(data: Trajectories, k: int, variant: str, *, bounded: bool) -> tuple[Made, float, float]:
    """Make crowds; give them, the time and the processor time."""
    order = np.random.default_rng(0).permutation(len(data))
    start, used = time.perf_counter(), time.process_time()
    made = crowds_of(data, costs_of(data), order, k, variant, threads=cores(), bounded=bounded)
    return made, time.perf_counter() - start, time.process_time() - used


def row(data: Trajectories, k: int, variant: str, claim: str, *, bounded: bool = True) -> Made:
    """Print a line of the second table."""
    made, seconds, used = timed(data, k, variant, bounded=bounded)
    searched = 0
    left = len(data)
    for crowd in made.crowds:
        added = len(crowd.members) - 1
        steps = range(added) if variant == "multi" else range(1)
        searched += sum(left - 1 - step for step in steps)
        left -= added + 1
    avoided = f"{1 - made.matched / searched:.1%}" if bounded else "none"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    name = f"{variant}, {len(data):,} people, k = {k}, {'with' if bounded else 'without'} bounds"
    print(
        f"| {name} | {seconds:.1f} s | {used:.1f} s | {avoided} of {searched:,} | {peak:.2f} GB "
        f"| {claim} |",
        flush=True,
    )
    return made


def main() -> None:
    """Print the tables."""
    machine()
    civ = incrowd.synthesize("civ", users=1000, seed=1)
    pairs(civ)
    print("\n| what | time | of processors | matchings avoided | peak memory | claim |")
    print("|---|---|---|---|---|---|")
    large = "--large" in sys.argv
    if not large:
        made = row(civ, 2, "multi", "at most 20 s")
        whole = row(civ, 2, "multi", "", bounded=False)
        same = [one.members for one in made.crowds] == [one.members for one in whole.crowds]
        if not same:
            raise SystemExit("the crowds differ")
        row(civ, 5, "multi", "")
        row(civ, 5, "fast", "")
        return
    sizes = [int(word) for word in sys.argv if word.isdigit()] or [5000, 10_000, 20_000]
    for size in sizes:
        claim = "at most 30 min" if size == 20_000 else ""
        row(incrowd.synthesize("civ", users=size, seed=1), 2, "fast", claim)


if __name__ == "__main__":
    main()
