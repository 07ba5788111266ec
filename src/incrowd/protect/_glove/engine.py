"""A run of GLOVE: who calls whom when.

::

    Run.start       every person searches for her cheapest pair
    Run.go_on       run_until_event (the loop of Algorithm 1, see `greedy`), and whatever it needs:
                      NEED_SEARCH        _search, of those who are due and some who will be soon
                      NEED_EXACT_COSTS   _resolve_bounds, of those who are due and will be soon
                      NEED_MEMORY        _make_space
    Run.finish      merges that nobody waited for, on all threads
    Run.repeat      instead of the first part: the merges of a checkpoint, without searching

None of it decides anything: which searches are done together, on how many threads and how far
ahead, only changes how long it takes.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel
from incrowd._parallel import on_threads
from incrowd.measure._stretch.batch_bounds import CHUNK, TILES
from incrowd.measure._stretch.box_bounds import CODES
from incrowd.measure._stretch.candidates import OLDER, SHORTER, WorkerPart
from incrowd.measure._stretch.effort import Boxes, Scale
from incrowd.measure._stretch.index import build_index, read_only
from incrowd.measure._stretch.lower_bounds import ActiveClusters, Features
from incrowd.measure._stretch.partition import BINS, REGIONS
from incrowd.measure._stretch.search import NearestNeighbours, combine_parts, search
from incrowd.measure._stretch.variety import make_variety
from incrowd.protect._glove.greedy import (
    DEFERRED,
    DONE,
    FEATURES,
    MERGES,
    NEED_EXACT_COSTS,
    NEED_MEMORY,
    NEED_SEARCH,
    SUPPRESSED,
    USED,
    Log,
    Rules,
    merge_deferred,
    reactivate,
    replay,
    run_until_event,
)
from incrowd.protect._glove.nearest_queue import (
    BOUND,
    UNKNOWN,
    NearestQueue,
    Nodes,
    build,
    compact,
    insert,
    refresh,
    resolve_bounds,
    sift_up_all,
)

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "Run",
    "compile_kernels",
    "lists_for",
]


LISTED = 256
"""How many candidates a search lists; more where there are few people."""
LISTS = 1 << 28
"""How many bytes lists may take before they are kept as short as that."""
SLACK = {SHORTER: 1.0, OLDER: 0.1}
"""How much dearer than the nearest those may be whom a search lists: merges change soon again."""
TOGETHER = 256
"""How many searches are done together when one is due: alone, each would take longer."""
AHEAD, SOON = 1.5, 1.02
"""How much dearer than the last merge those may be whom a merge searches for, and who is due."""
SPARSE = 0.7
"""Where fewer of the entries for clusters are in use, they are moved together."""


class Run:
    """The state of a run, and how it goes on."""

    def __init__(
        self,
        data: "Trajectories",
        rules: Rules,
        scale: Scale,
        *,
        threads: int,
        block: int = CHUNK,
        listed: int | None = None,
        bounds: bool = True,
        regions: int = REGIONS,
        bins: int = BINS,
        corner_regions: int = 0,
        homes: NDArray[np.int64] | None = None,
    ) -> None:
        self.rules, self.threads, self.block = rules, threads, block
        self.listed = listed or lists_for(len(data))
        self.index = build_index(
            data,
            scale,
            threads=threads,
            k=rules.k,
            frozen=not rules.loose,
            bounds=bounds,
            regions=regions,
            bins=bins,
            corner_regions=corner_regions,
            variety=None if homes is None else make_variety(rules.k, rules.homes, homes),
        )
        n, size = len(data), len(self.index.clusters.node)
        self.nodes = Nodes(
            np.full(2 * n, -1, np.int64), *(np.zeros(2 * n, np.int64) for _ in range(3))
        )
        self.nodes.start[:n], self.nodes.end[:n] = data.offsets[:-1], data.offsets[1:]
        self.nodes.crowd[:n] = data.crowd
        numbers: list[Any] = [np.zeros(n, np.int32) for _ in range(2)]
        numbers += [np.zeros(n, np.int64) for _ in range(2)]
        self.log = Log._make([*numbers, np.zeros(4, np.int64)])
        self.features = self.index.features
        self.log.counts[FEATURES] = len(self.features.region)
        self.arena = _arena(0)
        self._compacted, self._next_check, self._warm = 0, 0, False
        self._pool = ThreadPoolExecutor(max(1, threads))
        self.queue = _empty_queue(size, self.listed)
        alive = np.flatnonzero(self.index.clusters.node >= 0)
        self.nodes.cluster[self.index.clusters.node[alive]] = alive

    def repeat(self, records: NDArray[Any]) -> None:
        """Do again what a journal says was done."""
        older, younger = (np.ascontiguousarray(records[name]) for name in ("older", "younger"))
        self.log.numerator[: len(records)] = records["top"]
        self.log.denominator[: len(records)] = records["bottom"]
        while (
            replay(older, younger, self.index, self.rules, self.arena, self.nodes, self.log)
            == NEED_MEMORY
        ):
            self._make_space()
        cluster_of = np.full(len(self.nodes.cluster), -1, np.int64)
        clusters = self.index.clusters
        alive = np.flatnonzero(clusters.node >= 0)
        cluster_of[clusters.node[alive]] = alive
        while (
            reactivate(
                cluster_of,
                self.index,
                self.rules,
                self.features,
                self.nodes,
                self.queue,
                self.log,
            )
            == NEED_MEMORY
        ):
            self._make_space()

    @property
    def merges(self) -> int:
        """How many merges are done."""
        return int(self.log.counts[MERGES])

    def start(self, progress: Callable[[int, int], None]) -> None:
        """Let everybody search."""
        alive = np.flatnonzero(self.index.clusters.node >= 0)
        build(self.index.clusters, self.queue)
        self._search(alive, progress)
        # Compiled here, where an interruption ends it.
        resolve_bounds(alive[:0], 0.0, self.index, self.nodes, self.queue)

    def go_on(self, merges: int) -> bool:
        """Merge until so many merges are done; False if nothing is left to be merged."""
        while True:
            why = run_until_event(
                merges,
                self.index,
                self.rules,
                self.arena,
                self.features,
                self.nodes,
                self.queue,
                self.log,
            )
            if why == NEED_SEARCH:
                self._search(self._due(), None)
            elif why == NEED_EXACT_COSTS:
                self._resolve_bounds()
            elif why == NEED_MEMORY:
                self._make_space()
            else:
                return why != DONE

    def finish(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Do the merges that were put off, on all threads."""
        people, nodes, log = self.index.people, self.nodes, self.log
        deferred = people + np.flatnonzero(nodes.start[people : people + self.merges] == DEFERRED)
        self._make_space()
        blocks = [deferred[i : i + CHUNK] for i in range(0, len(deferred), CHUNK)]
        work = lambda which: (which, merge_deferred(which, self.index, self.rules, nodes, log))  # noqa: E731
        base, done = len(self.index.base.t0), 0
        parts, used = [], int(log.counts[USED])
        for which, (boxes, lengths, lost) in on_threads(self.threads, work, blocks):
            total = int(lengths.sum())
            parts.append([column[:total].copy() for column in boxes[:6]])
            nodes.end[which] = base + used + np.cumsum(lengths)
            nodes.start[which] = nodes.end[which] - lengths
            used += total
            log.counts[SUPPRESSED] += lost
            done += len(which)
            if progress:
                progress(done, len(deferred))
        before = [column[: log.counts[USED]] for column in self.arena]
        columns = [np.concatenate(pieces) for pieces in zip(before[:6], *parts, strict=False)]
        self.arena = Boxes._make([*columns, *before[6:]])
        log.counts[USED] = used

    def _due(self) -> NDArray[np.int64]:
        """Give the clusters that have to search now, and some that will have to soon."""
        size = len(self.index.clusters.node)
        # Every merge since the last time has freed one entry at least.
        if (
            self.merges >= self._next_check
            and self.merges - self._compacted > (1 - SPARSE) * size / 2
        ):
            self._next_check = self.merges + CHUNK
            if np.count_nonzero(self.index.clusters.node >= 0) < SPARSE * size:
                self._compact()
        queue = self.queue
        top = queue.tree[1]
        if queue.key[top] < 0:
            return np.array([top])  # a fresh merge: nothing can be done before
        refresh(self.index, self.nodes, queue)
        waiting = np.flatnonzero(queue.kind == UNKNOWN)
        waiting = waiting[queue.key[waiting] <= SOON * self._now()]
        soon = np.argsort(queue.key[waiting], kind="stable")[:TOGETHER]
        return np.sort(waiting[soon])

    def _resolve_bounds(self) -> None:
        """Compute the costs that are due, and those that will be soon, on all threads."""
        index, nodes, queue, most = self.index, self.nodes, self.queue, SOON * self._now()
        refresh(index, nodes, queue)
        which = np.flatnonzero((queue.kind == BOUND) & (queue.key <= most))
        portions = [which[part :: self.threads] for part in range(min(self.threads, len(which)))]
        # On other threads all of them, as in `_search_block`.
        parts = [
            self._pool.submit(resolve_bounds, portion.copy(), most, index, nodes, queue)
            for portion in portions
        ]
        for part in parts:
            part.result()
        sift_up_all(which, index.clusters, queue)

    def _now(self) -> float:
        """Give what the cheapest pair costs about now."""
        queue, last = self.queue, self.merges - 1
        now = float(queue.key[queue.tree[1]])
        if last >= 0:
            now = max(now, self.log.numerator[last] / self.log.denominator[last])
        return now

    def _compact(self) -> None:
        """Move all clusters together, so that no search goes through free entries."""
        index, queue, self._compacted = self.index, self.queue, self.merges
        alive = compact(index, self.nodes, queue)
        size = max(1, -(-alive // CHUNK)) * CHUNK
        clusters = ActiveClusters._make(column[:size] for column in index.clusters)
        fresh = _empty_queue(size, 0)
        pairs: list[tuple[Any, Any]] = list(zip(fresh[:5], queue[:5], strict=True))
        for new, old in pairs:
            new[:alive] = old[:alive]
        lists = [column[:size] for column in queue[6:]]
        self.queue = NearestQueue._make([*fresh[:6], *lists])
        groups = -(-size // (CHUNK * CHUNK))
        self.index = index._replace(
            clusters=clusters,
            space_table=index.space_table[: TILES * groups],
            time_table=index.time_table[: TILES * groups],
            chunk_minima=index.chunk_minima[:groups],
            distance_rows=index.distance_rows[:size],
            corner_rows=index.corner_rows[:size],
        )
        build(clusters, self.queue)

    def _search(
        self, clusters: NDArray[np.int64], progress: Callable[[int, int], None] | None
    ) -> None:
        """Search from some clusters, and take in what was found."""
        index = self.index
        people = index.clusters.node[clusters] < index.people
        done = 0
        most = {SHORTER: np.inf, OLDER: AHEAD * self._now() + 0.001}
        if most[OLDER] >= 1:
            most[OLDER] = np.inf
        for scope, who in ((SHORTER, clusters[people]), (OLDER, clusters[~people])):
            # With a limit, all threads share a block; without one, each has its own.
            parts = self.threads if most[scope] < np.inf else 1
            block = max(1, min(self.block, -(-len(who) * parts // self.threads)))
            blocks = [who[i : i + block] for i in range(0, len(who), block)]
            work = lambda queries, scope=scope, parts=parts: (  # noqa: E731
                queries,
                self._search_block(queries, scope, most[scope], parts),
            )
            for queries, found in on_threads(self.threads // parts, work, blocks, self._warm):
                insert(queries, found, index.clusters, self.queue)
                done += len(queries)
                if progress:
                    progress(done, len(clusters))
        self._warm = True

    def _search_block(
        self, queries: NDArray[np.int64], scope: int, most: float, parts: int
    ) -> NearestNeighbours:
        """Search from some clusters, in parts, each on a thread of its own."""
        best = np.full(len(queries), np.inf)

        def work(part: int) -> NearestNeighbours:
            worker = WorkerPart(part, parts, best)
            slack, near = SLACK[scope], 1
            return search(queries, scope, near, self.listed, slack, most, worker, self.index)

        if parts == 1:
            return work(0)
        # This thread only waits: an interruption that came while a kernel is being called from
        # here, with its arguments half unpacked, would end the process with a fault.
        first, *others = [self._pool.submit(work, part) for part in range(parts)]
        found = first.result()
        for other in others:
            combine_parts(found, other.result())
        return found

    def _make_space(self) -> None:
        """Move together what is still needed, and take more memory if that is not enough."""
        counts, nodes, index = self.log.counts, self.nodes, self.index
        last = index.people + counts[MERGES]
        gone = np.zeros(len(nodes.cluster), np.bool_)
        done = nodes.start[index.people : last] != DEFERRED
        gone[self.log.older[: counts[MERGES]][done]] = True
        gone[self.log.younger[: counts[MERGES]][done]] = True
        gone[index.people : last] |= ~done
        base = len(index.base.t0)
        corner_codes = index.corner_codes
        counts[USED] = _pack(
            index.people, last, base, gone, nodes, index.clusters, self.arena, corner_codes
        )
        longest = int((index.clusters.end - index.clusters.start).max())
        need = int(counts[USED]) + max(1 << 16, 8 * longest)
        if need > 0.8 * len(self.arena.t0):
            larger = _arena(need * 3 // 2)
            columns: list[tuple[Any, Any]] = list(zip(larger, self.arena, strict=True))
            for new, old in columns:
                new[: counts[USED]] = old[: counts[USED]]
            self.arena = larger
            if len(index.corner_rows):
                corner_codes = np.empty((len(larger.t0), CODES), np.uint16)
                corner_codes[: counts[USED]] = index.corner_codes[: counts[USED]]
        self.features, counts[FEATURES] = _pack_features(index.clusters, self.features, 8 * longest)
        self.index = index._replace(
            merged=read_only(self.arena), features=self.features, corner_codes=corner_codes
        )


def compile_kernels() -> None:
    """Compile what a run calls after the search, by calling it with nothing to do."""
    from incrowd.data._frame import Frame
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._stretch.definition import Stretch
    from incrowd.measure._stretch.index import scale_for
    from incrowd.protect._glove.merge import ANY

    zero, one = np.zeros(2, np.int32), np.ones(2, np.int32)
    data = Trajectories((zero, one) * 3, np.arange(3), Frame())
    rules = Rules(2, False, 0, ANY, ANY, False)  # noqa: FBT003
    run = Run(data, rules, scale_for(data, Stretch(), bounds=True), threads=1, corner_regions=1)
    none = np.empty(0, np.int64)
    build(run.index.clusters, run.queue)
    run.go_on(0)
    resolve_bounds(none, 0.0, run.index, run.nodes, run.queue)
    refresh(run.index, run.nodes, run.queue)
    sift_up_all(none, run.index.clusters, run.queue)
    run._make_space()  # noqa: SLF001
    run._compact()  # noqa: SLF001


def lists_for(people: int) -> int:
    """Give how many candidates to list: more where there are few people."""
    return min(people, max(LISTED, LISTS // (12 * people)))


def _arena(size: int) -> Boxes:
    sides: list[Any] = [np.empty(size, np.int32) for _ in range(7)]
    return Boxes._make([*sides, *(np.empty(size, np.uint16) for _ in range(2))])


def _empty_queue(size: int, listed: int) -> NearestQueue:
    leaves = 1 << max(1, (size - 1).bit_length())
    return NearestQueue(
        np.full(leaves, np.inf),
        np.zeros(leaves, np.uint8),
        np.full(leaves, -1, np.int64),
        np.zeros(leaves, np.int64),
        np.ones(leaves, np.int64),
        np.zeros(2 * leaves, np.int64),
        np.empty((size, listed), np.int32),
        np.empty((size, listed), np.float64),
        np.zeros(size, np.int32),
        np.full(size, np.inf),
        np.zeros(size, np.int64),
    )


@kernel
def _pack(
    first: int,
    last: int,
    base: int,
    gone: NDArray[np.bool_],
    nodes: Nodes,
    clusters: ActiveClusters,
    arena: Boxes,
    corner_codes: NDArray[np.uint16],
) -> int:
    """Move the samples of merged trajectories that are still there to the front of the arena."""
    used = 0
    for node in range(first, last):
        if gone[node]:
            continue
        start, end = nodes.start[node] - base, nodes.end[node] - base
        for i in range(start, end):
            arena.x0[used], arena.x1[used] = arena.x0[i], arena.x1[i]
            arena.y0[used], arena.y1[used] = arena.y0[i], arena.y1[i]
            arena.t0[used], arena.t1[used] = arena.t0[i], arena.t1[i]
            arena.reach[used], arena.region[used] = arena.reach[i], arena.region[i]
            arena.time_bin[used] = arena.time_bin[i]
            for c in range(corner_codes.shape[1] if len(corner_codes) else 0):
                corner_codes[used, c] = corner_codes[i, c]
            used += 1
        nodes.start[node], nodes.end[node] = base + used - (end - start), base + used
        cluster = nodes.cluster[node]
        if cluster >= 0:
            clusters.start[cluster], clusters.end[cluster] = nodes.start[node], nodes.end[node]
    return used


@kernel
def _pack_features(clusters: ActiveClusters, features: Features, more: int) -> tuple[Features, int]:
    """Give the features of active clusters, with place for more."""
    total = 0
    for cluster in range(len(clusters.node)):
        if clusters.node[cluster] >= 0:
            total += clusters.features[cluster]
    capacity = total + total // 2 + (1 << 16) + more
    region, count = np.empty(capacity, np.uint16), np.empty(capacity, np.int32)
    wide, used = np.empty(capacity, np.uint16), 0
    for cluster in range(len(clusters.node)):
        if clusters.node[cluster] < 0:
            continue
        at = clusters.feature[cluster]
        clusters.feature[cluster] = used
        for f in range(at, at + clusters.features[cluster]):
            region[used], count[used], wide[used] = (
                features.region[f],
                features.count[f],
                features.wide[f],
            )
            used += 1
    return Features(region, count, wide), used
