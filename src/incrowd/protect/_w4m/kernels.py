"""What W4M compiles: the walk along two trajectories, and the clustering of a chunk.

**The walk.** P is the pivot; a step to points i of P and j of Q costs the whole number
min(cap, floor(distance / scale)), where time is a third coordinate (it is multiplied by the mean
speed of all). From the first two points to the last two, the cheapest of (i+1, j+1), (i, j+1),
(i+1, j) is taken, ties in that order. Its cost is the sum, its radius the largest distance in the
plane. Costs are whole numbers, so that nothing depends on the order of a sum.

**Clustering.** As Abul, Bonchi and Nanni have it: a pivot is drawn, and is a cluster with its k - 1
nearest, if all of these are within the radius; who is left over joins the nearest pivot within the
radius, or is trash. With too much trash the radius grows by half, and all begins again.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, kernel, kernel_nogc

__all__ = [
    "GROWTH",
    "TRASH",
    "cluster",
    "walk",
]


GROWTH = 1.5
TRASH = -1


@kernel
def walk(
    pivot: Ints,
    other: Ints,
    x: Floats,
    y: Floats,
    z: Floats,
    offsets: Ints,
    scale: float,
    cap: int,
    cost: Ints,
    radius: Floats,
    first: NDArray[np.int32],
) -> None:
    """Walk along each pivot and the other one; note cost and radius.

    Unless `first` is empty, note there for every point of every pivot, one after the other, the
    first point of the other one that is paired with it.
    """
    end, noting = 0, len(first) > 0
    for n in range(len(pivot)):
        p, q = offsets[pivot[n]], offsets[other[n]]
        p_last, q_last = offsets[pivot[n] + 1] - 1, offsets[other[n] + 1] - 1
        start = q
        dx, dy, dz = x[p] - x[q], y[p] - y[q], z[p] - z[q]
        flat = dx * dx + dy * dy
        steps = np.sqrt(flat + dz * dz) / scale
        total = cap if steps >= cap else int(steps)
        widest = flat
        if noting:
            first[end] = 0
            end += 1
        while p < p_last or q < q_last:
            best, best_flat, go_p, go_q = cap + 1, 0.0, 0, 0
            for way in range(3):
                i = p + 1 if way != 1 else p
                j = q + 1 if way != 2 else q  # noqa: PLR2004
                if i > p_last or j > q_last:
                    continue
                dx, dy, dz = x[i] - x[j], y[i] - y[j], z[i] - z[j]
                flat = dx * dx + dy * dy
                steps = np.sqrt(flat + dz * dz) / scale
                step = cap if steps >= cap else int(steps)
                if step < best:
                    best, best_flat, go_p, go_q = step, flat, i, j
            if noting and go_p > p:
                first[end] = go_q - start
                end += 1
            p, q = go_p, go_q
            total += best
            widest = max(widest, best_flat)
        cost[n] = total
        radius[n] = np.sqrt(widest)


@kernel_nogc
def _mixed(number: np.uint64) -> np.uint64:
    """Mix the bits of a number, as splitmix64 does."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@kernel
def cluster(  # noqa: C901, PLR0912  the steps of the paper, one after another
    cost: NDArray[np.int64],
    radius: NDArray[np.float64],
    k: int,
    reach: float,
    trash_max: int,
    state: np.uint64,
) -> tuple[Ints, float]:
    """Return the pivot of everybody in a chunk, -1 for trash; and the radius that was used.

    Row p of `cost` and `radius` is that of walks whose pivot is p; `state` is that of the random
    numbers.
    """
    people = len(cost)
    home, left = np.empty(people, np.int64), np.empty(people, np.int64)
    pivots, near = np.empty(people, np.int64), np.empty(k, np.int64)
    while True:
        home[:] = TRASH
        left[:] = np.arange(people)
        tried = np.zeros(people, np.bool_)
        remaining, untried, clusters = people, people, 0
        while remaining >= k and untried > 0:
            state += np.uint64(0x9E3779B97F4A7C15)
            at = np.int64(_mixed(state) % np.uint64(remaining))
            while tried[left[at]]:
                at = (at + 1) % remaining
            pivot, found = left[at], 0
            for place in range(remaining):
                q = left[place]
                if q == pivot or (found == k - 1 and cost[pivot, q] >= cost[pivot, near[k - 2]]):
                    continue
                # As an insertion sort: of equals the one who comes first in the list stays first.
                found = min(found + 1, k - 1)
                i = found - 1
                while i > 0 and cost[pivot, near[i - 1]] > cost[pivot, q]:
                    near[i] = near[i - 1]
                    i -= 1
                near[i] = q
            fits = True
            for i in range(k - 1):
                fits = fits and radius[pivot, near[i]] <= reach
            if not fits:
                tried[pivot] = True
                untried -= 1
                continue
            near[k - 1] = pivot
            for i in range(k):
                home[near[i]] = pivot
                untried -= not tried[near[i]]
            pivots[clusters] = pivot
            clusters += 1
            kept = 0
            for place in range(remaining):
                if home[left[place]] == TRASH:
                    left[kept] = left[place]
                    kept += 1
            remaining = kept
        trash = 0
        for place in range(remaining):
            q, best = left[place], TRASH
            for i in range(clusters):
                if best == TRASH or cost[pivots[i], q] < cost[best, q]:
                    best = pivots[i]
            if best != TRASH and radius[best, q] <= reach:
                home[q] = best
            else:
                trash += 1
        if trash <= trash_max:
            return home, reach
        reach = np.floor(GROWTH * reach)
