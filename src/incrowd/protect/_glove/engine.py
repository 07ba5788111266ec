"""A run of GLOVE: it lays the input out, searches when a search is due, and makes room."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel
from incrowd._parallel import on_threads
from incrowd.measure._stretch.batch_bounds import LANES, STRIPES
from incrowd.measure._stretch.box_bounds import MARKS
from incrowd.measure._stretch.candidates import OLDER, SHORTER, Share
from incrowd.measure._stretch.effort import Boxes, Scale
from incrowd.measure._stretch.index import lay_out, read_only
from incrowd.measure._stretch.lower_bounds import Features, Slots
from incrowd.measure._stretch.partition import BINS, ZONES
from incrowd.measure._stretch.search import Found, search, unite
from incrowd.protect._glove.greedy import (
    COSTS,
    DONE,
    FEATURES,
    LATER,
    MERGES,
    ROOM,
    SEARCH,
    SUPPRESSED,
    USED,
    Log,
    Rules,
    advance,
    join_later,
    replay,
    reseat,
)
from incrowd.protect._glove.nearest_queue import (
    BOUND,
    UNKNOWN,
    Nodes,
    Standings,
    enter,
    plant,
    rank,
    refresh,
    settle,
    squeeze,
)

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "Run",
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
"""Where fewer of the slots are in use, they are moved together."""


class Run:
    """The state of a run, and how it goes on."""

    def __init__(
        self,
        data: "Trajectories",
        rules: Rules,
        scale: Scale,
        *,
        threads: int,
        block: int = LANES,
        listed: int | None = None,
        bounds: bool = True,
        zones: int = ZONES,
        bins: int = BINS,
        regions: int = 0,
    ) -> None:
        self.rules, self.threads, self.block = rules, threads, block
        self.listed = listed or lists_for(len(data))
        self.world = lay_out(
            data,
            scale,
            threads=threads,
            k=rules.k,
            frozen=not rules.loose,
            bounds=bounds,
            zones=zones,
            bins=bins,
            regions=regions,
        )
        n, size = len(data), len(self.world.slots.node)
        self.nodes = Nodes(
            np.full(2 * n, -1, np.int64), *(np.zeros(2 * n, np.int64) for _ in range(3))
        )
        self.nodes.start[:n], self.nodes.end[:n] = data.offsets[:-1], data.offsets[1:]
        self.nodes.crowd[:n] = data.crowd
        numbers: list[Any] = [np.zeros(n, np.int32) for _ in range(2)]
        numbers += [np.zeros(n, np.int64) for _ in range(2)]
        self.log = Log._make([*numbers, np.zeros(4, np.int64)])
        self.features = self.world.features
        self.log.counts[FEATURES] = len(self.features.zone)
        self.arena = _arena(0)
        self._squeezed, self._look, self._warm = 0, 0, False
        self._pool = ThreadPoolExecutor(max(1, threads - 1))
        self.standings = _standings(size, self.listed)
        alive = np.flatnonzero(self.world.slots.node >= 0)
        self.nodes.slot[self.world.slots.node[alive]] = alive

    def repeat(self, records: NDArray[Any]) -> None:
        """Do again what a journal says was done."""
        older, younger = (np.ascontiguousarray(records[name]) for name in ("older", "younger"))
        self.log.numerator[: len(records)] = records["top"]
        self.log.denominator[: len(records)] = records["bottom"]
        while (
            replay(older, younger, self.world, self.rules, self.arena, self.nodes, self.log) == ROOM
        ):
            self._make_room()
        seats = np.full(len(self.nodes.slot), -1, np.int64)
        slots = self.world.slots
        alive = np.flatnonzero(slots.node >= 0)
        seats[slots.node[alive]] = alive
        while (
            reseat(
                seats,
                self.world,
                self.rules,
                self.features,
                self.nodes,
                self.standings,
                self.log,
            )
            == ROOM
        ):
            self._make_room()

    @property
    def merges(self) -> int:
        """How many merges are done."""
        return int(self.log.counts[MERGES])

    def start(self, progress: Callable[[int, int], None]) -> None:
        """Let everybody search."""
        alive = np.flatnonzero(self.world.slots.node >= 0)
        plant(self.world.slots, self.standings)
        self._search(alive, progress)
        # Compiled here, where an interruption ends it.
        settle(alive[:0], 0.0, self.world, self.nodes, self.standings)

    def go_on(self, merges: int) -> bool:
        """Merge until so many merges are done; False if nothing is left to be merged."""
        while True:
            why = advance(
                merges,
                self.world,
                self.rules,
                self.arena,
                self.features,
                self.nodes,
                self.standings,
                self.log,
            )
            if why == SEARCH:
                self._search(self._due(), None)
            elif why == COSTS:
                self._settle()
            elif why == ROOM:
                self._make_room()
            else:
                return why != DONE

    def finish(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Do the merges that were put off, on all threads."""
        people, nodes, log = self.world.people, self.nodes, self.log
        later = people + np.flatnonzero(nodes.start[people : people + self.merges] == LATER)
        self._make_room()
        blocks = [later[i : i + LANES] for i in range(0, len(later), LANES)]
        work = lambda which: (which, join_later(which, self.world, self.rules, nodes, log))  # noqa: E731
        base, done = len(self.world.base.t0), 0
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
                progress(done, len(later))
        before = [column[: log.counts[USED]] for column in self.arena]
        columns = [np.concatenate(pieces) for pieces in zip(before[:6], *parts, strict=False)]
        self.arena = Boxes._make([*columns, *before[6:]])
        log.counts[USED] = used

    def _due(self) -> NDArray[np.int64]:
        """Give the slots that have to search now, and some that will have to soon."""
        size = len(self.world.slots.node)
        # One slot is freed at least by every merge since the last time.
        if self.merges >= self._look and self.merges - self._squeezed > (1 - SPARSE) * size / 2:
            self._look = self.merges + LANES
            if np.count_nonzero(self.world.slots.node >= 0) < SPARSE * size:
                self._squeeze()
        standings = self.standings
        top = standings.tree[1]
        if standings.key[top] < 0:
            return np.array([top])  # a fresh merge: nothing can be done before
        refresh(self.world, self.nodes, standings)
        waiting = np.flatnonzero(standings.kind == UNKNOWN)
        waiting = waiting[standings.key[waiting] <= SOON * self._now()]
        soon = np.argsort(standings.key[waiting], kind="stable")[:TOGETHER]
        return np.sort(waiting[soon])

    def _settle(self) -> None:
        """Compute the costs that are due, and those that will be soon, on all threads."""
        world, nodes, standings, most = self.world, self.nodes, self.standings, SOON * self._now()
        refresh(world, nodes, standings)
        which = np.flatnonzero((standings.kind == BOUND) & (standings.key <= most))
        shares = [which[part :: self.threads] for part in range(min(self.threads, len(which)))]
        others = [
            self._pool.submit(settle, share.copy(), most, world, nodes, standings)
            for share in shares[1:]
        ]
        settle(shares[0].copy(), most, world, nodes, standings)
        for other in others:
            other.result()
        rank(which, world.slots, standings)

    def _now(self) -> float:
        """Give what the cheapest pair costs about now."""
        standings, last = self.standings, self.merges - 1
        now = float(standings.key[standings.tree[1]])
        if last >= 0:
            now = max(now, self.log.numerator[last] / self.log.denominator[last])
        return now

    def _squeeze(self) -> None:
        """Move everybody together, so that no search goes through slots that are free."""
        world, standings, self._squeezed = self.world, self.standings, self.merges
        alive = squeeze(world, self.nodes, standings)
        size = max(1, -(-alive // LANES)) * LANES
        slots = Slots._make(column[:size] for column in world.slots)
        fresh = _standings(size, 0)
        pairs: list[tuple[Any, Any]] = list(zip(fresh[:5], standings[:5], strict=True))
        for new, old in pairs:
            new[:alive] = old[:alive]
        lists = [column[:size] for column in standings[6:]]
        self.standings = Standings._make([*fresh[:6], *lists])
        highs = -(-size // (LANES * LANES))
        self.world = world._replace(
            slots=slots,
            table=world.table[: STRIPES * highs],
            clock=world.clock[: STRIPES * highs],
            tops=world.tops[:highs],
            rows=world.rows[:size],
            corners=world.corners[:size],
        )
        plant(slots, self.standings)

    def _search(
        self, slots: NDArray[np.int64], progress: Callable[[int, int], None] | None
    ) -> None:
        """Search from some slots, and take in what was found."""
        world = self.world
        people = world.slots.node[slots] < world.people
        done = 0
        most = {SHORTER: np.inf, OLDER: AHEAD * self._now() + 0.001}
        if most[OLDER] >= 1:
            most[OLDER] = np.inf
        for scope, who in ((SHORTER, slots[people]), (OLDER, slots[~people])):
            # With a limit, all threads share a block; without one, each has its own.
            parts = self.threads if most[scope] < np.inf else 1
            block = max(1, min(self.block, -(-len(who) * parts // self.threads)))
            blocks = [who[i : i + block] for i in range(0, len(who), block)]
            work = lambda queries, scope=scope, parts=parts: (  # noqa: E731
                queries,
                self._found(queries, scope, most[scope], parts),
            )
            for queries, found in on_threads(self.threads // parts, work, blocks, self._warm):
                enter(queries, found, world.slots, self.standings)
                done += len(queries)
                if progress:
                    progress(done, len(slots))
        self._warm = True

    def _found(self, queries: NDArray[np.int64], scope: int, most: float, parts: int) -> Found:
        """Search from some slots, in parts, each on a thread of its own."""
        best = np.full(len(queries), np.inf)

        def work(part: int) -> Found:
            share = Share(part, parts, best)
            slack, near = SLACK[scope], 1
            return search(queries, scope, near, self.listed, slack, most, share, self.world)

        others = [self._pool.submit(work, part) for part in range(1, parts)]
        found = work(0)
        for other in others:
            unite(found, other.result())
        return found

    def _make_room(self) -> None:
        """Move everything that is still needed together, and make the rest larger if need be."""
        counts, nodes, world = self.log.counts, self.nodes, self.world
        last = world.people + counts[MERGES]
        gone = np.zeros(len(nodes.slot), np.bool_)
        done = nodes.start[world.people : last] != LATER
        gone[self.log.older[: counts[MERGES]][done]] = True
        gone[self.log.younger[: counts[MERGES]][done]] = True
        gone[world.people : last] |= ~done
        base = len(world.base.t0)
        marks = world.marks
        counts[USED] = _pack(world.people, last, base, gone, nodes, world.slots, self.arena, marks)
        longest = int((world.slots.end - world.slots.start).max())
        need = int(counts[USED]) + max(1 << 16, 8 * longest)
        if need > 0.8 * len(self.arena.t0):
            larger = _arena(need * 3 // 2)
            columns: list[tuple[Any, Any]] = list(zip(larger, self.arena, strict=True))
            for new, old in columns:
                new[: counts[USED]] = old[: counts[USED]]
            self.arena = larger
            if len(world.corners):
                marks = np.empty((len(larger.t0), MARKS), np.uint16)
                marks[: counts[USED]] = world.marks[: counts[USED]]
        self.features, counts[FEATURES] = _pack_features(world.slots, self.features, 8 * longest)
        self.world = world._replace(
            merged=read_only(self.arena), features=self.features, marks=marks
        )


def lists_for(people: int) -> int:
    """Give how many candidates to list: more where there are few people."""
    return min(people, max(LISTED, LISTS // (12 * people)))


def _arena(size: int) -> Boxes:
    sides: list[Any] = [np.empty(size, np.int32) for _ in range(7)]
    return Boxes._make([*sides, *(np.empty(size, np.uint16) for _ in range(2))])


def _standings(size: int, listed: int) -> Standings:
    leaves = 1 << max(1, (size - 1).bit_length())
    return Standings(
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
    slots: Slots,
    arena: Boxes,
    marks: NDArray[np.uint16],
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
            arena.reach[used], arena.zone[used] = arena.reach[i], arena.zone[i]
            arena.bin[used] = arena.bin[i]
            if len(marks):
                marks[used] = marks[i]
            used += 1
        nodes.start[node], nodes.end[node] = base + used - (end - start), base + used
        slot = nodes.slot[node]
        if slot >= 0:
            slots.start[slot], slots.end[slot] = nodes.start[node], nodes.end[node]
    return used


@kernel
def _pack_features(slots: Slots, features: Features, more: int) -> tuple[Features, int]:
    """Give the features of those who are there, with room for more."""
    total = 0
    for slot in range(len(slots.node)):
        if slots.node[slot] >= 0:
            total += slots.features[slot]
    room = total + total // 2 + (1 << 16) + more
    zone, count = np.empty(room, np.uint16), np.empty(room, np.int32)
    wide, used = np.empty(room, np.uint16), 0
    for slot in range(len(slots.node)):
        if slots.node[slot] < 0:
            continue
        at = slots.feature[slot]
        slots.feature[slot] = used
        for f in range(at, at + slots.features[slot]):
            zone[used], count[used], wide[used] = (
                features.zone[f],
                features.count[f],
                features.wide[f],
            )
            used += 1
    return Features(zone, count, wide), used
