"""How near bounds of crowds come to what they cost: by a cell of each box, and by its corners.

``python -m benchmarks.corners`` merges people of a preset for k = 3 until a part of the merges is
done. Then it takes crowds at random, and for each of them the others whom the first bound (by
distance rows) leaves within half as much again as the last merge cost, as a search does. These
pairs are bounded in both ways and computed exactly.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

import incrowd
from incrowd._parallel import cores
from incrowd.measure._stretch.box_bounds import corner_bound_each
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.index import EACH, SearchIndex, exact_cost, samples_of, scale_for
from incrowd.measure._stretch.lower_bounds import SAFE, bound_each_sample, is_longer
from incrowd.protect._glove.engine import AHEAD, Run
from incrowd.protect._glove.grouping import fit
from incrowd.protect._glove.settings import resolve, rules_for

K = 3


def _look(
    crowd: int,
    others: NDArray[np.int64],
    index: SearchIndex,
    room: NDArray[np.float64],
    found: NDArray[np.float64],
) -> None:
    """Fill in, for each pair: the first bound, that by corners, and what it costs."""
    clusters, scale, partition = index.clusters, index.scale, index.partition
    for i in range(len(others)):
        a, b = crowd, others[i]
        if not is_longer(a, b, clusters.node, clusters.start, clusters.end):
            a, b = b, a
        boxes, start, end = samples_of(a, index)
        end = min(end, start + len(room))
        na, nb, whole = clusters.crowd[a], clusters.crowd[b], (end - start) * scale.whole
        row = index.distance_rows[b]
        near, late = row[: partition.regions], row[partition.regions :]
        each = room[: end - start]
        bound_each_sample(
            boxes, start, end, na, near, late, nb, clusters.is_unit[b], partition, scale, each
        )
        found[i, 0] = each.sum() / whole * SAFE
        corner_bound_each(
            index.corner_rows[b], index.corner_codes, start, end, na, nb, index.kd, scale, each
        )
        found[i, 1] = each.sum() / whole * SAFE
        top, bottom, _ = exact_cost(a, b, index, np.inf, room)
        found[i, 2] = top / bottom


def main(arguments: Sequence[str] = ()) -> None:
    """Print how high bounds are, beside what pairs cost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corners", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("preset", nargs="?", default="sen", choices=("civ", "sen", "city"))
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--merged", type=float, default=0.7, help="the part of merges to be done")
    parser.add_argument("--crowds", type=int, default=100, help="how many are looked at")
    options = parser.parse_args(arguments)
    data = incrowd.synthesize(options.preset, users=options.users, seed=1)
    asked = resolve("strict", "two-stage", "split", None, None, None, limited=False)
    rules = rules_for(data, K, "strict", asked, None, None)
    scale = scale_for(data, Stretch(), bounds=True)
    sizes: Any = fit(data, None, crowds=True)
    run = Run(data, rules, scale, threads=cores(), **sizes)
    run.start(lambda *_: None)
    run.go_on(round(options.merged * (len(data) - len(data) // K)))
    index, rng, last = run.index, np.random.default_rng(1), run.merges - 1
    price = run.log.numerator[last] / run.log.denominator[last]
    crowds = np.flatnonzero(index.clusters.node >= index.people)
    rows, look = [], njit(error_model="numpy")(_look)
    for crowd in rng.permutation(crowds)[: options.crowds]:
        others = crowds[crowds != crowd]
        found = np.zeros((len(others), 3))
        look(crowd, others, index, np.empty(EACH), found)
        rows.append(found[found[:, 0] <= AHEAD * price])
    both = np.concatenate(rows)
    if not (both[:, :2] <= both[:, 2:] + 1e-12).all():
        raise SystemExit("a bound is higher than what a pair costs")
    print(f"{options.preset}, {len(data):,} people, k = {K}, {run.merges:,} merges done:")
    print(f"the last one cost {price:.3f}. {len(both):,} pairs of crowds with a first bound of")
    print(f"up to {AHEAD} times as much:\n")
    print("| | mean | of what they cost | pairs left |\n|---|---|---|---|")
    for name, values in zip(("first bound", "by corners", "exact cost"), both.T, strict=True):
        share, left = values.mean() / both[:, 2].mean(), (values <= AHEAD * price).mean()
        print(f"| {name} | {values.mean():.3f} | {share:.1%} | {left:.1%} |".replace("%", " %"))


if __name__ == "__main__":
    main(sys.argv[1:])
