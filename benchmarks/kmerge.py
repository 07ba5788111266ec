"""The best boxes of a crowd (k-merge) beside those of the papers, and crowds that lose less.

``python -m benchmarks.kmerge [FILE ...]``: made-up people, and those of files, each as
``NAME=PATH`` or ``NAME=PATH:PEOPLE`` to take the first so many. Instead, with

- ``--civ``: how long the boxes of all crowds of civ take, and exchanges between them
  (``--civ refined``: these only);
- ``--long``: the boxes of one person with far more samples than the other, and verification;
- ``--curve``: the loss against the share of samples that are deleted, beside the papers' two kinds
  of suppression.

*Loss* is the mean stretch effort of an original sample against the published box that holds it, by
equations (1) to (3), 20 km and 8 hours being all; a deleted sample counts as 1.
"""

import resource
import sys
import tempfile
import time
from typing import Any

import numpy as np

import incrowd
from benchmarks.common import machine
from incrowd.data._trajectories import Trajectories
from incrowd.measure._stretch.definition import Stretch

WAYS: dict[str, dict[str, Any]] = {
    "two-stage (split)": {"merge": "two-stage"},
    "optimal": {"merge": "optimal"},
    "optimal, refined crowds": {"crowds": "refined"},
}
WIDE, LONG = 2000, 7200
"""What is still precise: metres and seconds."""


def loss(data: Trajectories, release: Any) -> float:
    """Give the mean stretch effort of samples against the boxes that hold them."""
    made, stretch = release.trajectories, Stretch()
    place = release.assignment["trajectory"].fill_null(-1).to_numpy().astype(np.int64)
    whose = np.repeat(place, data.lengths())
    first = int(min(data.t0.min(), made.t0.min()))
    at = whose * 2**32 + (data.t0 - first)
    boxes = np.repeat(np.arange(len(made)), made.lengths()) * 2**32 + (made.t0 - first)
    box = np.searchsorted(boxes, at, side="right") - 1
    held = (whose >= 0) & (box >= 0)
    b = np.where(held, box, 0)
    held &= (boxes[b] >> 32) == whose
    for low, high in ((0, 1), (2, 3), (4, 5)):
        held &= made.columns[low][b] <= data.columns[low]
        held &= data.columns[high] <= made.columns[high][b]
    sides = [
        (made.columns[low + 1][b] - made.columns[low][b])
        - (data.columns[low + 1] - data.columns[low])
        for low in (0, 2, 4)
    ]
    space = np.minimum((sides[0] + sides[1]) / stretch.max_space, 1)
    lost = (space + np.minimum(sides[2] / stretch.max_time, 1)) / 2
    return float(np.where(held, lost, 1.0).mean())


def precise(made: Trajectories) -> float:
    """Give the share of published rows that are within 2 km and 2 hours."""
    x0, x1, y0, y1, t0, t1 = made.columns
    rows = np.repeat(made.crowd, made.lengths())
    near = np.maximum(x1 - x0, y1 - y0) * made.frame.cell <= WIDE
    soon = (t1 - t0).astype(np.int64) * made.frame.slot <= LONG
    return float((rows * (near & soon)).sum() / rows.sum())


def compare(name: str, data: Trajectories, k: int, *, lived: bool = False) -> None:
    """Print a line of the table."""
    print(f"| {name}, k = {k}", end="")
    for how in WAYS.values():
        start = time.perf_counter()
        release = incrowd.glove(data, k, **how)
        seconds = time.perf_counter() - start
        homes = ""
        if lived:
            persons = incrowd.utility(incrowd.of_release(data, release)).persons
            assert persons is not None
            homes = ", " + " / ".join(
                f"{error.within[1.0]:.1%}" for error in (persons.home, persons.work)
            )
        fine = precise(release.trajectories)
        print(
            f" | {loss(data, release):.3f}, {fine:.1%}{homes} | {seconds:.1f} s", end="", flush=True
        )
    print(" |")


def kept(data: Trajectories, release: Any) -> tuple[float, float]:
    """Give the share of samples that are in no box, and the mean loss of the others."""
    losses = release.losses
    gone = (losses.samples_dropped + losses.samples_suppressed) / data.samples
    return gone, (loss(data, release) - gone) / (1 - gone)


def curve() -> None:
    """Print the loss of what is kept against the share that is deleted."""
    data = incrowd.synthesize("civ", users=2000, seed=1)
    print(
        "\n| suppression, civ, 2,000 people, k = 2 | deleted | loss of the others |\n|---|---|---|"
    )
    for kind in ("boxes", "samples"):
        for metres, minutes in ((30_000, 720), (15_000, 360), (8_000, 180), (4_000, 90)):
            how: dict[str, Any] = {"max_metres": metres, "max_minutes": minutes}
            release = incrowd.glove(data, 2, suppress=kind, **how)
            gone, lost = kept(data, release)
            print(
                f"| two-stage, {kind}, {metres / 1000:g} km and {minutes / 60:g} h | {gone:.1%} "
                f"| {lost:.3f} |",
                flush=True,
            )
    for crowds in ("greedy", "refined"):
        for price in (0.7, 0.5, 0.4, 0.3, 0.2, 0.1):
            gone, lost = kept(data, incrowd.glove(data, 2, crowds=crowds, suppress_price=price))
            print(
                f"| optimal, {crowds} crowds, price {price} | {gone:.1%} | {lost:.3f} |", flush=True
            )


def read(word: str) -> tuple[str, Trajectories]:
    """Read a file that was named on the command line."""
    name, _, path = word.partition("=")
    path, _, people = path.partition(":")
    data = incrowd.read(path)
    return name, data[: int(people)] if people else data


def whole_country() -> None:
    """Print how long the boxes of all crowds of civ take, beside everything before."""
    data = incrowd.synthesize("civ", seed=1)
    print(f"\n{len(data):,} people, {data.samples:,} samples\n")
    print("| k = 2 | time | peak memory |\n|---|---|---|")
    for name, how in (
        ("optimal", {}),
        ("optimal, 15 km and 6 h", {"max_metres": 15_000, "max_minutes": 360}),
        ("refined", {"crowds": "refined"}),
    ):
        if len(sys.argv) > 2 and name not in sys.argv:
            continue
        begun: dict[str, float] = {}

        def note(stage: str, _: int, __: int, begun: dict[str, float] = begun) -> None:
            begun.setdefault(stage, time.perf_counter())

        start = time.perf_counter()
        release = incrowd.glove(data, 2, progress=note, **how)
        boxes = time.perf_counter() - begun["Generalising"]
        refined = begun["Generalising"] - begun.get("Round 1", begun["Generalising"])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
        crowds = begun["Generalising"] - start - refined
        print(f"| {name}: crowds by GLOVE | {crowds:.0f} s | |")
        if refined:
            print(f"| {name}: exchanges | {refined:.0f} s | |")
        print(f"| {name}: boxes | {boxes:.0f} s | {peak:.2f} GB |", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            who = f"{folder}/who.parquet"
            done = incrowd.publish(release, f"{folder}/release", original=data, record=who)
            start = time.perf_counter()
            incrowd.verify(done.path, original=data, record=who, seed=1)
        print(f"| {name}: verifying | {time.perf_counter() - start:.0f} s | |", flush=True)


def walks(sizes: list[int], seed: int = 1) -> Trajectories:
    """Make people who walk at random, each with so many samples in the same time."""
    dice, columns = np.random.default_rng(seed), [list[Any]() for _ in range(6)]
    for size in sizes:
        t = np.sort(dice.choice(4 * max(sizes), size, replace=False))
        x, y = (5000 + np.cumsum(dice.integers(-1, 2, size)) for _ in range(2))
        for column, side in zip(columns, (x, x + 1, y, y + 1, t, t + 1), strict=True):
            column.append(side.astype(np.int32))
    return Trajectories(
        tuple(np.concatenate(column) for column in columns),
        np.cumsum([0, *sizes]),
        incrowd.Frame("EPSG:32630"),
    )


def long_crowds() -> None:
    """Print how the work grows with the samples of one person, and what verifying takes."""
    print("\n| samples of two people | GLOVE, of processors | verifying |\n|---|---|---|")
    sizes = (12_500, 25_000, 50_000, 100_000, 200_000)
    for many, few in [(1000, 100), *((size, few) for few in (100, 0) for size in sizes)]:
        data = walks([many, few or many])
        start = time.process_time()
        release = incrowd.glove(data, 2)
        made = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            who = f"{folder}/who.parquet"
            done = incrowd.publish(release, f"{folder}/release", original=data, record=who)
            begun = time.process_time()
            incrowd.verify(done.path, original=data, record=who, seed=1)
            verified = time.process_time()
        if many > min(sizes) - 1:
            took = f"{made - start:.2f} s | {verified - begun:.2f} s"
            print(f"| {many:,} and {few or many:,} | {took} |", flush=True)


def main() -> None:
    """Print the table."""
    machine()
    if "--civ" in sys.argv:
        return whole_country()
    if "--long" in sys.argv:
        return long_crowds()
    if "--curve" in sys.argv:
        return curve()
    words = " | ".join(f"{name}: loss, rows within 2 km and 2 h | time" for name in WAYS)
    print(f"| data | {words} |\n|{'---|' * (2 * len(WAYS) + 1)}")
    small = incrowd.synthesize("city", users=60, seed=1)
    for how in WAYS.values():
        incrowd.glove(small, 3, **how)  # the compiler is not what is timed
    civ = incrowd.synthesize("civ", users=2000, seed=1)
    for k in (2, 5):
        compare("civ, 2,000 people", civ, k)
    # Of this one also: homes / workplaces found within 1 km.
    compare("the demo's city", incrowd.synthesize("city", users=2000, seed=7), 2, lived=True)
    for word in sys.argv[1:]:
        compare(*read(word), 2)
    return None


if __name__ == "__main__":
    main()
