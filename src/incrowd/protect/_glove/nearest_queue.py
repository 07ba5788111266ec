"""Who is cheapest to merge next: what every cluster knows of its cheapest pair, in a queue.

Every cluster has the list that its last search left. The cheapest in it is known exactly, or by a
bound; when it is gone, the next one is taken; when none is left that is cheaper than all who are
not in the list, a search is due::

    list of one cluster     exact 0.20   bound 0.21   exact 0.30  ...   all others: 0.33 or more
                            ▲ the key of the cluster in the queue

    if 0.20 is merged with somebody else:  0.21 is next, and only a bound: resolve_bounds
    if all of the list are gone:           0.33 is the key, and a search is due: UNKNOWN

The queue is a tournament tree: a leaf for each cluster, and in every inner node the one of its two
children whose pair comes first. When a cluster's key changes, only its path to the root is played
again (`sift_up`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, kernel, kernel_inline, kernel_nogc, kernel_private
from incrowd.measure._stretch.index import EACH, SearchIndex, compare_fractions, exact_cost
from incrowd.measure._stretch.lower_bounds import ActiveClusters, store_distance_row
from incrowd.measure._stretch.partition import FAR
from incrowd.measure._stretch.search import NearestNeighbours

__all__ = [
    "BOUND",
    "EXACT",
    "NOBODY",
    "UNKNOWN",
    "NearestQueue",
    "Nodes",
    "build",
    "compact",
    "find_next",
    "insert",
    "refresh",
    "resolve_bounds",
    "sift_up",
    "sift_up_all",
]


NOBODY, BOUND, EXACT, UNKNOWN = 0, 1, 2, 3
"""What a cluster knows of its cheapest pair: there is none; a bound; the cost; only that it costs
at least the key, for the list is used up."""
FURTHER = 1.3
"""A cost that turns out to be more than this much above its bound is left at that for now."""


class NearestQueue(NamedTuple):
    """What each cluster knows of its cheapest pair; `tree` is the tournament.

    The lists are those of `NearestNeighbours`: a node is stored as ``-2 - node`` where its value is
    a bound.
    """

    key: NDArray[np.float64]
    """What the cheapest pair costs, or costs at least; no more than rounded."""
    kind: NDArray[np.uint8]
    partner: NDArray[np.int64]
    """The partner's node; where the pair is only bounded, its place in the list."""
    numerator: NDArray[np.int64]
    denominator: NDArray[np.int64]
    tree: NDArray[np.int64]
    node: NDArray[np.int32]
    value: NDArray[np.float64]
    number: NDArray[np.int32]
    remainder_bound: NDArray[np.float64]
    remainder_node: NDArray[np.int64]


class Nodes(NamedTuple):
    """The nodes of the dendrogram: people, then merges; `cluster` is -1 where it is no more."""

    cluster: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    crowd: NDArray[np.int64]


@kernel_nogc
def _winner(a: int, b: int, clusters: ActiveClusters, queue: NearestQueue) -> int:
    """Give the cluster whose pair comes first: the cheaper; of equals, the one with older nodes."""
    if queue.key[a] != queue.key[b]:
        return a if queue.key[a] < queue.key[b] else b
    if queue.kind[a] != EXACT or queue.kind[b] != EXACT:
        # What is not known yet may turn out to be cheaper, so it is looked at first.
        return b if queue.kind[a] == EXACT else a
    order = compare_fractions(
        queue.numerator[a],
        queue.denominator[a],
        queue.numerator[b],
        queue.denominator[b],
    )
    if order == 0:
        mine = (
            min(clusters.node[a], queue.partner[a]),
            max(clusters.node[a], queue.partner[a]),
        )
        other = (
            min(clusters.node[b], queue.partner[b]),
            max(clusters.node[b], queue.partner[b]),
        )
        return a if mine <= other else b
    return a if order < 0 else b


@kernel_nogc
def sift_up(cluster: int, clusters: ActiveClusters, queue: NearestQueue) -> None:
    """Play the tournament again from a cluster up to the root."""
    tree = queue.tree
    place = (len(tree) // 2 + cluster) // 2
    while place:
        tree[place] = _winner(tree[2 * place], tree[2 * place + 1], clusters, queue)
        place //= 2


@kernel
def build(clusters: ActiveClusters, queue: NearestQueue) -> None:
    """Play the whole tournament."""
    tree, leaves = queue.tree, len(queue.tree) // 2
    for cluster in range(leaves):
        tree[leaves + cluster] = cluster
    for place in range(leaves - 1, 0, -1):
        tree[place] = _winner(tree[2 * place], tree[2 * place + 1], clusters, queue)


@kernel
def insert(
    queries: NDArray[np.int64],
    found: NearestNeighbours,
    clusters: ActiveClusters,
    queue: NearestQueue,
) -> None:
    """Take in what searches found: a list for each cluster, and its cheapest pair."""
    for q in range(len(queries)):
        cluster, number = queries[q], found.number[q]
        queue.number[cluster] = number
        for p in range(number):
            queue.node[cluster, p], queue.value[cluster, p] = found.node[q, p], found.value[q, p]
        queue.remainder_bound[cluster], queue.remainder_node[cluster] = (
            found.remainder_bound[q],
            found.remainder_node[q],
        )
        if found.near[q, 0] < 0:
            remainder_bound = found.remainder_bound[q]
            queue.kind[cluster], queue.key[cluster] = (
                UNKNOWN if remainder_bound < np.inf else NOBODY,
                remainder_bound,
            )
        else:
            top, bottom = found.numerator[q, 0], found.denominator[q, 0]
            queue.kind[cluster], queue.key[cluster] = EXACT, top / bottom
            queue.numerator[cluster], queue.denominator[cluster] = top, bottom
            queue.partner[cluster] = found.near[q, 0]
        sift_up(cluster, clusters, queue)


@kernel_inline
def exact_from_rounded(
    cluster: int, other: int, value: float, index: SearchIndex, queue: NearestQueue
) -> tuple[int, int]:
    """Give the exact cost of a pair of which the rounded one is known.

    Lists hold rounded costs, at half the memory. The denominator follows from the pair, and times
    it the rounded cost is wrong by less than a half: so the numerator is the next whole number.
    """
    clusters = index.clusters
    longest = max(
        clusters.end[cluster] - clusters.start[cluster], clusters.end[other] - clusters.start[other]
    )
    bottom = longest * (clusters.crowd[cluster] + clusters.crowd[other]) * index.scale.whole
    if bottom < np.int64(1) << 50:  # then only one whole number is near enough
        return np.int64(np.rint(value * bottom)), bottom
    top, bottom, _ = exact_cost(cluster, other, index, np.inf, queue.value[cluster, :0])
    return top, bottom


@kernel_inline
def drop_merged(cluster: int, nodes: Nodes, queue: NearestQueue) -> tuple[float, int]:
    """Drop those from a list who are merged; give the least value and the oldest node at it."""
    best, oldest, left = np.inf, np.int64(-1), 0
    for place in range(queue.number[cluster]):
        stored, value = queue.node[cluster, place], queue.value[cluster, place]
        node = stored if stored >= 0 else -2 - stored
        if nodes.cluster[node] < 0:
            continue
        queue.node[cluster, left], queue.value[cluster, left] = stored, value
        left += 1
        if value < best or (value == best and node < oldest):
            best, oldest = value, np.int64(node)
    queue.number[cluster] = left
    return best, oldest


@kernel_nogc
def find_next(cluster: int, index: SearchIndex, nodes: Nodes, queue: NearestQueue) -> None:
    """Find the cheapest pair of a cluster in its list, or tell that a search is due."""
    best, oldest = drop_merged(cluster, nodes, queue)
    remainder_bound = queue.remainder_bound[cluster]
    # The list must be cheaper than all who are not in it: those may be as cheap, and older. Only at
    # 0, below which nothing is, can a bound be trusted in a tie.
    safe = best < remainder_bound or (best == 0 and oldest < queue.remainder_node[cluster])
    if oldest < 0 or not safe:
        queue.kind[cluster] = UNKNOWN if remainder_bound < np.inf else NOBODY
        queue.key[cluster] = remainder_bound
        return
    queue.kind[cluster], queue.key[cluster], queue.partner[cluster] = EXACT, best, -1
    for place in range(queue.number[cluster]):
        node = queue.node[cluster, place]
        if queue.value[cluster, place] != best:
            continue
        if best == 0 and (node if node >= 0 else -2 - node) != oldest:
            continue
        if node < 0:
            queue.kind[cluster], queue.partner[cluster] = BOUND, place
            return
        top, bottom = exact_from_rounded(cluster, nodes.cluster[node], best, index, queue)
        order = -1
        if queue.partner[cluster] >= 0:
            order = compare_fractions(
                top, bottom, queue.numerator[cluster], queue.denominator[cluster]
            )
        if order < 0 or (order == 0 and node < queue.partner[cluster]):
            queue.numerator[cluster], queue.denominator[cluster] = top, bottom
            queue.partner[cluster] = node


@kernel
def refresh(index: SearchIndex, nodes: Nodes, queue: NearestQueue) -> None:
    """Look for the next pair of everybody whose partner is gone."""
    clusters = index.clusters
    for cluster in range(len(clusters.node)):
        if (
            clusters.node[cluster] >= 0
            and queue.kind[cluster] == EXACT
            and nodes.cluster[queue.partner[cluster]] < 0
        ):
            find_next(cluster, index, nodes, queue)
            sift_up(cluster, clusters, queue)


@kernel
def resolve_bounds(
    which: NDArray[np.int64], most: float, index: SearchIndex, nodes: Nodes, queue: NearestQueue
) -> None:
    """Compute exact costs until no pair of these clusters that may cost up to `most` is a bound.

    The queue is left as it was: several threads do this at once, each for its own clusters.
    """
    each = np.empty(EACH)
    for cluster in which:
        while queue.kind[cluster] == BOUND and queue.key[cluster] <= most:
            if nodes.cluster[-2 - queue.node[cluster, queue.partner[cluster]]] >= 0:
                _resolve_one(cluster, index, nodes, queue, each)
            find_next(cluster, index, nodes, queue)


@kernel
def sift_up_all(which: NDArray[np.int64], clusters: ActiveClusters, queue: NearestQueue) -> None:
    """Play the tournament again where it concerns some clusters."""
    for cluster in which:
        sift_up(cluster, clusters, queue)


@kernel_inline
def _resolve_one(
    cluster: int, index: SearchIndex, nodes: Nodes, queue: NearestQueue, each: NDArray[np.float64]
) -> None:
    """Compute what was only bounded, no further than the cheapest that is known, or a bit more.

    If it is given up there, the bound is higher than before, and stays one.
    """
    place = queue.partner[cluster]
    best = queue.value[cluster, place] * FURTHER + FURTHER - 1
    for known in range(queue.number[cluster]):
        if queue.node[cluster, known] >= 0:
            best = min(best, queue.value[cluster, known])
    node = -2 - queue.node[cluster, place]
    top, bottom, exact = exact_cost(cluster, nodes.cluster[node], index, best, each)
    queue.value[cluster, place] = top / bottom
    if exact:
        queue.node[cluster, place] = node


@kernel
def compact(index: SearchIndex, nodes: Nodes, queue: NearestQueue) -> int:
    """Move the entries in use to the front, in their order; give their number.

    So searches do not go through free ones; and the minima of chunks, which only fall while
    trajectories come and go, are made anew.
    """
    clusters, distance_rows, used = index.clusters, index.distance_rows, ZERO
    if index.bounds:
        index.chunk_minima[:] = FAR
    for cluster in range(len(clusters.node)):
        if clusters.node[cluster] < 0:
            continue
        if cluster > used:
            _move(cluster, used, clusters, queue)
            clusters.node[cluster] = -1
        nodes.cluster[clusters.node[used]] = used
        if index.bounds:
            if cluster > used:
                _copy_row(distance_rows, cluster, used)
                if len(index.corner_rows) and clusters.start[used] >= len(index.base.t0):
                    _copy_row(index.corner_rows, cluster, used)
            store_distance_row(
                used,
                index.partition.regions,
                index.space_table,
                index.time_table,
                index.chunk_minima,
                distance_rows,
            )
        used += 1
    return used


@kernel_nogc
def _copy_row(rows: NDArray[np.uint8], source: int, target: int) -> None:
    """Copy a row of a table; for a slice numba compiles its message for unequal shapes as well."""
    for i in range(rows.shape[1]):
        rows[target, i] = rows[source, i]


@kernel_private
def _move(cluster: int, to: int, clusters: ActiveClusters, queue: NearestQueue) -> None:
    """Move a cluster to another entry."""
    clusters.node[to], clusters.start[to], clusters.end[to] = (
        clusters.node[cluster],
        clusters.start[cluster],
        clusters.end[cluster],
    )
    clusters.crowd[to], clusters.is_unit[to], clusters.full[to] = (
        clusters.crowd[cluster],
        clusters.is_unit[cluster],
        clusters.full[cluster],
    )
    clusters.feature[to], clusters.features[to] = (
        clusters.feature[cluster],
        clusters.features[cluster],
    )
    clusters.dominant_region[to], clusters.dominant_share[to] = (
        clusters.dominant_region[cluster],
        clusters.dominant_share[cluster],
    )
    corners, shares = clusters.dominant_corners, clusters.dominant_corner_shares
    for c in range(corners.shape[1]):
        corners[to, c], shares[to, c] = corners[cluster, c], shares[cluster, c]
    queue.key[to], queue.kind[to] = queue.key[cluster], queue.kind[cluster]
    queue.partner[to] = queue.partner[cluster]
    queue.numerator[to] = queue.numerator[cluster]
    queue.denominator[to] = queue.denominator[cluster]
    number = queue.number[cluster]
    for p in range(number):
        queue.node[to, p], queue.value[to, p] = queue.node[cluster, p], queue.value[cluster, p]
    queue.number[to] = number
    queue.remainder_bound[to], queue.remainder_node[to] = (
        queue.remainder_bound[cluster],
        queue.remainder_node[cluster],
    )
