"""The greedy loop of GLOVE, Algorithm 1: merge the cheapest pair of all, again and again.

Line by line of the paper's pseudocode::

    1-6    S[a, b] for all pairs            nobody computes them: each trajectory has searched for
                                            its cheapest pair (`Run.start`)
    7      while any a.k < k and S != {}    run_until_event, until nothing is left (`DONE`)
    8      minimumStretchEffort(S)          the root of the queue (see `nearest_queue`)
    9      removeRecords                    the two entries are freed
    10-11  mergeTrajectories, reshape       merge_now (or merge_deferred at the end, where nobody
                                            will look at the result before)
    12-13  m.k = a.k + b.k, addRecord       log_merge
    14-18  S[c, m] for all c                activate: the new trajectory has to search
    20     drop who has a.k < k             `_release` in `api`

Every pair belongs to one of its two: to the longer, while both are people of the input, else to
the younger. Each trajectory knows its cheapest pair, or a bound of it; the queue tells the cheapest
of all. When a pair comes out on top

- and is known exactly, and the partner is still there, it is merged;
- and the partner is gone, the next one is taken from the list that the last search left;
- and is only a bound, the loop ends with `NEED_EXACT_COSTS`: the exact cost is to be computed;
- and the list is used up, it ends with `NEED_SEARCH`: there has to be another search.

Nobody else is touched by a merge, so the order of the work decides nothing: the result is that of
the full matrix of the paper.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, kernel, kernel_inline, kernel_private
from incrowd.measure._stretch.box_bounds import corner_row, set_dominant_corners, write_corner_codes
from incrowd.measure._stretch.effort import Boxes
from incrowd.measure._stretch.index import SearchIndex
from incrowd.measure._stretch.lower_bounds import (
    Features,
    all_unit,
    count_features,
    index_trajectory,
    set_dominant_region,
)
from incrowd.measure._stretch.variety import count_together, set_together
from incrowd.protect._glove.merge import empty_boxes, merge
from incrowd.protect._glove.nearest_queue import (
    BOUND,
    NOBODY,
    UNKNOWN,
    NearestQueue,
    Nodes,
    find_next,
    sift_up,
)

__all__ = [
    "DONE",
    "NEED_EXACT_COSTS",
    "NEED_MEMORY",
    "NEED_SEARCH",
    "PAUSED",
    "Log",
    "Rules",
    "merge_deferred",
    "reactivate",
    "replay",
    "run_until_event",
]


DONE, NEED_SEARCH, NEED_EXACT_COSTS, NEED_MEMORY, PAUSED = 0, 1, 2, 3, 4
"""Why the loop ended: nothing is left; a search is due, or exact costs, or more memory; enough for
now."""
DEFERRED = -1
"""Where the samples of a merge start that is put off."""
MERGES, USED, FEATURES, SUPPRESSED = 0, 1, 2, 3
"""What `Log.counts` counts: merges; boxes and features in use; boxes suppressed."""


class Rules(NamedTuple):
    """What the user asked for."""

    k: int
    loose: bool
    reshape: int
    max_space: int
    max_time: int
    per_sample: bool
    """Whether the thresholds of suppression are for single samples, not for merged boxes."""
    homes: int = 0
    """How many distinct homes a crowd needs; 0 if any will do."""


class Log(NamedTuple):
    """The merges in their order, and what was counted."""

    older: NDArray[np.int32]
    younger: NDArray[np.int32]
    numerator: NDArray[np.int64]
    denominator: NDArray[np.int64]
    counts: NDArray[np.int64]


@kernel_inline
def completes(a: int, b: int, index: SearchIndex, rules: Rules, nodes: Nodes) -> bool:
    """Tell whether two nodes make a complete crowd: of k people, and with enough homes."""
    if nodes.crowd[a] + nodes.crowd[b] < rules.k:
        return False
    return rules.homes == 0 or count_together(a, b, index.variety) >= rules.homes


@kernel_inline
def log_merge(a: int, b: int, index: SearchIndex, rules: Rules, nodes: Nodes, log: Log) -> int:
    """Write down that two nodes are merged into the next one; give its index. Lines 12 and 13."""
    counts = log.counts
    node = index.people + counts[MERGES]
    if rules.homes:
        set_together(a, b, node, index.variety)
    log.older[counts[MERGES]], log.younger[counts[MERGES]] = min(a, b), max(a, b)
    nodes.crowd[node] = nodes.crowd[a] + nodes.crowd[b]
    nodes.start[node], nodes.end[node] = DEFERRED, DEFERRED
    nodes.cluster[node] = -1
    counts[MERGES] += 1
    return node


@kernel_private
def merge_pair(
    node: int, index: SearchIndex, rules: Rules, arena: Boxes, used: int, nodes: Nodes, log: Log
) -> tuple[int, int]:
    """Merge the two of whom a node is made, into the arena. Lines 10 and 11.

    Gives the number of boxes written, and that of boxes suppressed.
    """
    base = len(index.base.t0)
    longer, shorter = log.older[node - index.people], log.younger[node - index.people]
    if nodes.end[shorter] - nodes.start[shorter] > nodes.end[longer] - nodes.start[longer]:
        longer, shorter = shorter, longer
    first, a0, a1 = index.base, nodes.start[longer], nodes.end[longer]
    if a0 >= base:
        first, a0, a1 = index.merged, a0 - base, a1 - base
    second, b0, b1 = index.base, nodes.start[shorter], nodes.end[shorter]
    if b0 >= base:
        second, b0, b1 = index.merged, b0 - base, b1 - base
    written, suppressed = merge(
        first,
        a0,
        a1,
        nodes.crowd[longer],
        second,
        b0,
        b1,
        nodes.crowd[shorter],
        index.scale,
        rules.max_space,
        rules.max_time,
        rules.per_sample,
        rules.reshape,
        arena,
        used,
    )
    reach = np.int32(-(2**31))
    for i in range(used, used + written):
        reach = max(reach, arena.t1[i])
        arena.reach[i] = reach
        middle = (np.int64(arena.t0[i]) + arena.t1[i] - index.partition.thin_t - 1) // 2
        arena.time_bin[i] = (middle - index.partition.first) // index.partition.width
    return written, suppressed


@kernel_inline
def _max_boxes(node: int, index: SearchIndex, nodes: Nodes, log: Log) -> int:
    """Give the most boxes that a merge can make."""
    a, b = log.older[node - index.people], log.younger[node - index.people]
    return int(2 * min(nodes.end[a] - nodes.start[a], nodes.end[b] - nodes.start[b]))


@kernel_inline
def merge_now(
    node: int, index: SearchIndex, rules: Rules, arena: Boxes, nodes: Nodes, log: Log
) -> None:
    """Merge the two of whom a node is made, to be found behind all others."""
    counts, base = log.counts, len(index.base.t0)
    written, suppressed = merge_pair(node, index, rules, arena, counts[USED], nodes, log)
    nodes.start[node], nodes.end[node] = base + counts[USED], base + counts[USED] + written
    counts[USED] += written
    counts[SUPPRESSED] += suppressed


@kernel
def merge_deferred(
    which: NDArray[np.int64], index: SearchIndex, rules: Rules, nodes: Nodes, log: Log
) -> tuple[Boxes, NDArray[np.int64], int]:
    """Merge what was put off; give the boxes, the number of each, and how many were suppressed."""
    size = ZERO
    for node in which:
        size += _max_boxes(node, index, nodes, log)
    boxes, lengths, lost = empty_boxes(size), np.empty(len(which), np.int64), 0
    used = ZERO
    for i in range(len(which)):
        written, suppressed = merge_pair(which[i], index, rules, boxes, used, nodes, log)
        lengths[i] = written
        used += written
        lost += suppressed
    return boxes, lengths, lost


@kernel_inline
def activate(
    node: int,
    cluster: int,
    index: SearchIndex,
    rules: Rules,
    features: Features,
    nodes: Nodes,
    queue: NearestQueue,
    counts: NDArray[np.int64],
) -> None:
    """Make a merged trajectory an active cluster, in a free entry. Lines 14 to 18.

    Its key is below all costs, so that it searches before anything else is merged.
    """
    clusters, base = index.clusters, len(index.base.t0)
    start, end = nodes.start[node], nodes.end[node]
    clusters.node[cluster], clusters.start[cluster], clusters.end[cluster] = node, start, end
    clusters.crowd[cluster], clusters.full[cluster] = (
        nodes.crowd[node],
        nodes.crowd[node] >= rules.k
        and (rules.homes == 0 or index.variety.homes[node, 0] >= rules.homes),
    )
    clusters.is_unit[cluster] = all_unit(index.merged, start - base, end - base, index.partition)
    used = counts[FEATURES]
    number = count_features(index.merged, start - base, end - base, index.partition, features, used)
    clusters.feature[cluster], clusters.features[cluster] = used, number
    counts[FEATURES] += number
    set_dominant_region(cluster, clusters, features)
    if index.bounds:
        index_trajectory(
            cluster,
            index.merged,
            start - base,
            end - base,
            nodes.crowd[node],
            index.partition,
            index.scale,
            index.space_table,
            index.time_table,
            index.chunk_minima,
            index.distance_rows,
        )
    if len(index.corner_rows):
        row, regions = index.corner_rows[cluster], len(index.kd.x0)
        write_corner_codes(index.merged, start - base, end - base, index.kd, index.corner_codes)
        corner_row(index.merged, start - base, end - base, index.kd, row)
        set_dominant_corners(
            index.corner_codes,
            start - base,
            end - base,
            regions,
            clusters.dominant_corners[cluster],
            clusters.dominant_corner_shares[cluster],
        )
    nodes.cluster[node] = cluster
    queue.number[cluster] = 0
    queue.kind[cluster], queue.key[cluster] = UNKNOWN, -1.0


@kernel
def run_until_event(
    merges: int,
    index: SearchIndex,
    rules: Rules,
    arena: Boxes,
    features: Features,
    nodes: Nodes,
    queue: NearestQueue,
    log: Log,
) -> int:
    """Algorithm 1, lines 7 to 19: merge until so many merges are done, or something else is due.

    Tells what it is. `arena` and `features` are those of the index, but can be written to.
    """
    clusters, counts, tree = index.clusters, log.counts, queue.tree
    while counts[MERGES] < merges:
        cluster = tree[1]
        kind = queue.kind[cluster]
        if kind == NOBODY:
            return DONE
        if kind == UNKNOWN:
            return NEED_SEARCH
        if kind == BOUND:
            return NEED_EXACT_COSTS
        other = nodes.cluster[queue.partner[cluster]]
        if other < 0:
            find_next(cluster, index, nodes, queue)
            sift_up(cluster, clusters, queue)
            continue
        a, b = clusters.node[cluster], clusters.node[other]
        full = completes(a, b, index, rules, nodes)
        deferred = full and not rules.loose  # nobody will look at it again before the end
        most = 2 * min(nodes.end[a] - nodes.start[a], nodes.end[b] - nodes.start[b])
        if not deferred and (
            counts[USED] + most > len(arena.t0) or counts[FEATURES] + most > len(features.region)
        ):
            return NEED_MEMORY  # nothing is changed yet: it can be tried again
        log.numerator[counts[MERGES]] = queue.numerator[cluster]
        log.denominator[counts[MERGES]] = queue.denominator[cluster]
        node = log_merge(a, b, index, rules, nodes, log)
        for gone in (cluster, other):
            nodes.cluster[clusters.node[gone]] = -1
            clusters.node[gone] = -1
            queue.kind[gone], queue.key[gone] = NOBODY, np.inf
            queue.number[gone] = 0
        if not deferred:
            merge_now(node, index, rules, arena, nodes, log)
            if nodes.end[node] > nodes.start[node]:
                activate(node, cluster, index, rules, features, nodes, queue, counts)
        sift_up(cluster, clusters, queue)
        sift_up(other, clusters, queue)
    return PAUSED


@kernel
def replay(
    older: NDArray[np.int32],
    younger: NDArray[np.int32],
    index: SearchIndex,
    rules: Rules,
    arena: Boxes,
    nodes: Nodes,
    log: Log,
) -> int:
    """Merge again what was merged before, without searching; `NEED_MEMORY` if it does not fit."""
    counts = log.counts
    while counts[MERGES] < len(older):
        a, b = older[counts[MERGES]], younger[counts[MERGES]]
        deferred = completes(a, b, index, rules, nodes) and not rules.loose
        most = 2 * min(nodes.end[a] - nodes.start[a], nodes.end[b] - nodes.start[b])
        if not deferred and counts[USED] + most > len(arena.t0):
            return NEED_MEMORY
        node = log_merge(a, b, index, rules, nodes, log)
        if not deferred:
            merge_now(node, index, rules, arena, nodes, log)
    return DONE


@kernel
def reactivate(
    cluster_of: NDArray[np.int64],
    index: SearchIndex,
    rules: Rules,
    features: Features,
    nodes: Nodes,
    queue: NearestQueue,
    log: Log,
) -> int:
    """Make merges that were done again active clusters, in the entries of their first members.

    `cluster_of` holds the entry of every node, those of people as they were laid out.
    `NEED_MEMORY` if features do not fit; then it goes on where it was.
    """
    clusters, counts = index.clusters, log.counts
    for step in range(counts[MERGES]):
        a, b = log.older[step], log.younger[step]
        cluster_of[index.people + step] = cluster_of[a]
        for gone in (a, b):
            nodes.cluster[gone] = -1
            if clusters.node[cluster_of[gone]] == gone:
                clusters.node[cluster_of[gone]] = -1
    alive = np.ones(index.people + counts[MERGES], np.bool_)
    for step in range(counts[MERGES]):
        alive[log.older[step]] = alive[log.younger[step]] = False
    for node in range(index.people, index.people + counts[MERGES]):
        empty = nodes.end[node] <= nodes.start[node]
        if not alive[node] or empty or nodes.cluster[node] >= 0:
            continue
        if counts[FEATURES] + nodes.end[node] - nodes.start[node] > len(features.region):
            return NEED_MEMORY
        activate(node, cluster_of[node], index, rules, features, nodes, queue, counts)
    return DONE
