"""Crowds that stay together from release to release, as a ledger asks for.

::

    ledger ──> keep_together ──> people with a history: in crowds, or held back
                                      │
    newcomers ──> GLOVE, k + spare ───┼──> join: who is in too small a crowd, where it costs least
                                      ▼
                                   Crowds ──> k-merge ──> boxes

**Whom a history allows to publish.** Say that a *covers* b if a is published wherever b is, and in
the same crowd. What is guaranteed is that k people or more cover everybody, herself among them
(`incrowd.evaluate` proves that this is all). Once b is in the new release as well, only those cover
her who are in it too, in her crowd. So a set Y of the people who are there can be published with
everybody in one crowd if and only if k people of Y cover each of Y.

*There is a largest such set.* Two sets that can be published can be published together: whoever
covered somebody still does. So the union of all of them is one, and no other is larger.
*Removing finds it.* Whoever is covered by fewer than k of those who are left cannot be in any set
of them that can be published, for in a part of them she is covered by no more. So removing such
people, in any order, until there are none, leaves the largest set (Knaster and Tarski: the greatest
fixed point of a monotone map).
*It can be cut into crowds.* Nobody covers, or is covered by, anybody outside of her connected part
of the relation. So each connected part is a crowd by itself, of k people at least, and no partition
of any kind publishes more. Newcomers are covered by everybody: they may be put anywhere, and nobody
of an older crowd loses by it.

People with the same history cover the same people, so that all of this is done with histories, each
with the number of its people.

**What shortens a history.** Who leaves no longer covers those who stay; and who was away in a month
does not cover those who were there. So crowds should begin larger than k: `spare` people more make
up for so many who leave. Nobody who came later can take their place.
"""

import heapq
import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from incrowd._outside import outside
from incrowd.data._ledger import ABSENT, Ledger
from incrowd.errors import ArgumentError, PrivacyWarning
from incrowd.protect._glove.k_merge import Objective, losses_of_crowds
from incrowd.protect._glove.release import Crowds, merges_of, together

if TYPE_CHECKING:
    import os

    from incrowd._numba import Ints
    from incrowd.data._trajectories import Trajectories
    from incrowd.protect._glove.grouping import Grouping

__all__ = [
    "HELD_BACK",
    "NEWCOMER",
    "Stable",
    "crowds_with",
    "history_of",
    "join",
    "keep_together",
]


NEWCOMER, HELD_BACK = -1, -2
"""The crowd of who has no history; and of who cannot be published with hers."""
NEAREST, FEWEST, TRIED = 64, 4, 4096
"""Among how many of the nearest crowds a small one looks for the one that it joins: fewer where
many small ones look, but some at least."""

COME_BACK = 0.5
"""If a smaller share of the last release comes back, identifiers may have changed."""


class Stable(NamedTuple):
    """Who is together, with the histories of a ledger.

    Attributes
    ----------
    crowds
        Who is together.
    held_back
        Which people cannot be published, because of earlier releases.
    merges
        The merges of newcomers, as `Release.merges` has them.
    """

    crowds: Crowds
    held_back: NDArray[np.bool_]
    merges: pl.DataFrame


def history_of(data: "Trajectories", ledger: "Ledger") -> NDArray[np.int32]:
    """Return who was in which crowd of earlier releases; refuse what has no people, and warn.

    Warns
    -----
    PrivacyWarning
        If so few people come back that identifiers may be other ones every month.
    """
    if int(data.crowd.max(initial=1)) > 1:
        raise ArgumentError("one person per trajectory is needed for a ledger, and here are crowds")
    history = ledger.crowds_of(data.people)
    if len(ledger.entries):
        last, back = ledger.entries[-1], int((history[:, -1] != ABSENT).sum())
        if back < COME_BACK * last.people:
            warnings.warn(
                f"only {back:,} of the {last.people:,} people of release {last.sequence} in the "
                f"ledger {ledger.path} are in this data. Are identifiers pseudonyms that change "
                "every month? Then no ledger can help: whoever is not found again is taken for "
                "somebody new, and releases that are laid over one another may leave her alone",
                PrivacyWarning,
                stacklevel=outside(),
            )
    return history


def keep_together(history: NDArray[np.int32], k: int) -> "Ints":
    """Return the crowd of each person as far as her history decides it.

    Parameters
    ----------
    history
        A row for each person who is there, a column for each earlier release: her crowd, -1 if she
        was not in it.
    k
        How many people have to cover everybody.

    Returns
    -------
    numpy.ndarray
        Numbers of crowds, from 0 on; `NEWCOMER` or `HELD_BACK` for who is in none.
    """
    place = np.full(len(history), NEWCOMER, np.int64)
    known = np.flatnonzero((history != ABSENT).any(axis=1))
    if not len(known):
        return place
    kinds, kind, number = np.unique(history[known], axis=0, return_inverse=True, return_counts=True)
    covered, by = _covering(kinds)
    alive = np.ones(len(kinds), np.bool_)
    while True:
        enough = np.bincount(covered, number[by] * alive[by], len(kinds)) >= k
        if not (alive & ~enough).any():
            break
        alive &= enough
    both = alive[covered] & alive[by]
    graph = coo_array((np.ones(both.sum(), np.int8), (covered[both], by[both])), (len(kinds),) * 2)
    _, part = connected_components(graph, directed=False)
    part = np.where(alive, part, HELD_BACK)
    _, numbered = np.unique(part[alive], return_inverse=True)
    part[alive] = numbered
    place[known] = part[kind.reshape(-1)]
    return place


def _covering(kinds: NDArray[np.int32]) -> tuple["Ints", "Ints"]:
    """Return all pairs of histories of which the second covers the first.

    Who covers somebody was with her in the last release that she was in: only those are compared.
    """
    last = kinds.shape[1] - 1 - np.argmax((kinds != ABSENT)[:, ::-1], axis=1)
    pairs: list[NDArray[np.int64]] = [np.empty((0, 2), np.int64)]
    for release in range(kinds.shape[1]):
        mine = np.flatnonzero(last == release)
        there = np.flatnonzero(kinds[:, release] != ABSENT)
        of = pl.DataFrame({"crowd": kinds[mine, release], "covered": mine})
        others = pl.DataFrame({"crowd": kinds[there, release], "by": there})
        both = of.join(others, on="crowd").select("covered", "by").to_numpy()
        row, other = kinds[both[:, 0]], kinds[both[:, 1]]
        pairs.append(both[((row == ABSENT) | (row == other)).all(axis=1)])
    covered, by = np.concatenate(pairs).T
    return covered, by


def crowds_with(
    ledger: "str | os.PathLike[str] | Ledger",
    data: "Trajectories",
    k: int,
    spare: int,
    group: "Grouping",
) -> Stable:
    """Put everybody into crowds of k or more whom the histories of a ledger allow to publish.

    Parameters
    ----------
    spare
        By how many people crowds of newcomers are larger.
    group
        Puts people together by GLOVE.
    """
    known = Ledger.of(ledger, k)
    group.asked.settings.update({"ledger_k": known.k, "ledger_spare": spare})
    history = history_of(data, known)
    place = keep_together(history, known.k)
    fresh, older = np.flatnonzero(place == NEWCOMER), int(place.max(initial=-1)) + 1
    merges = _no_merges()
    if len(fresh) >= k:
        size = min(k + spare, len(fresh))
        run, found = group(data[fresh], size)
        place[fresh] = np.where(found.place < 0, NEWCOMER, found.place + older)
        merges = merges_of(run, np.concatenate([fresh, len(data) + np.arange(run.merges)]))
    alone = np.flatnonzero(place == NEWCOMER)
    # Each by herself, until she has joined others.
    place[alone] = int(place.max(initial=-1)) + 1 + np.arange(len(alone))
    place = join(data, place, k, partial(group.objective, data), group.threads)
    return Stable(_as_crowds(data, place), place == HELD_BACK, merges)


def join(
    data: "Trajectories",
    place: "Ints",
    k: int,
    objective: Callable[[int], Objective],
    threads: int,
) -> "Ints":
    """Let every crowd of fewer than k people join another one, as a whole, where it costs least.

    Crowds are looked for among those whose people are usually nearest; of these, what is lost in
    the best boxes decides. The smallest crowds choose first. If there is nobody to join, they are
    in no crowd.
    """
    number = int(place.max(initial=-1)) + 1
    members, groups = together(place, number)
    crowds = {c: members[groups[c] : groups[c + 1]] for c in range(number)}
    size = np.diff(groups)
    waiting = [(int(size[c]), c) for c in np.flatnonzero(size < k).tolist()]
    heapq.heapify(waiting)
    near = max(FEWEST, min(NEAREST, TRIED // max(1, len(waiting))))
    middle = _middles(data) if waiting else np.empty((0, 2))
    centre = np.array([middle[crowds[c]].mean(axis=0) for c in crowds if waiting])
    while waiting:
        was, c = heapq.heappop(waiting)
        if c not in crowds or was != size[c]:
            continue  # others have joined it since
        there = size > 0
        if was == 1 and (size >= k).any():
            there &= size >= k
        there[c] = False
        others = np.flatnonzero(there)
        if not len(others):
            crowds.pop(c)
            break
        away = np.abs(centre[others] - centre[c]).sum(axis=1)
        others = others[np.argsort(away, kind="stable")[:near]]
        lost = _losses(data, [crowds[o] for o in others.tolist()], crowds[c], objective, threads)
        best = int(others[np.argmin(lost)])
        crowds[best] = np.sort(np.concatenate([crowds[best], crowds.pop(c)]))
        size[best], size[c] = len(crowds[best]), 0
        centre[best] = middle[crowds[best]].mean(axis=0)
        if size[best] < k:
            heapq.heappush(waiting, (int(size[best]), best))
    found = np.where(place < 0, place, NEWCOMER)
    for c, who in enumerate(crowds.values()):
        found[who] = c
    return found


def _middles(data: "Trajectories") -> NDArray[np.float64]:
    """Return where everybody is on average."""
    first, last = data.offsets[:-1], data.offsets[1:]
    found = []
    for side in (data.x0, data.y0):
        total = np.concatenate([[0], np.cumsum(side, dtype=np.int64)])
        found.append((total[last] - total[first]) / np.maximum(last - first, 1))
    return np.stack(found, axis=1)


def _losses(
    data: "Trajectories",
    crowds: list["Ints"],
    more: "Ints",
    objective: Callable[[int], Objective],
    threads: int,
) -> "Ints":
    """Return by how much crowds lose more if some people join them."""
    after = [np.sort(np.concatenate([crowd, more])) for crowd in crowds]
    scale, limits, price = objective(max(map(len, after)))
    lost = []
    for each in (after, crowds):
        groups = np.cumsum([0, *map(len, each)])
        loss, deleted = losses_of_crowds(
            data, np.concatenate(each), groups, scale, limits, threads=threads
        )
        lost.append(loss + price * deleted)
    return lost[0] - lost[1]


def _as_crowds(data: "Trajectories", place: "Ints") -> Crowds:
    number = int(place.max(initial=-1)) + 1
    members, groups = together(place, number)
    size = np.bincount(place[place >= 0], data.crowd[place >= 0], number).astype(np.int32)
    inside = np.where(place < 0, -1, place)
    return Crowds(members, groups, np.arange(number), size, inside, np.arange(len(data)))


def _no_merges() -> pl.DataFrame:
    kinds = {"older": pl.Int32, "younger": pl.Int32, "cost": pl.Float64}
    return pl.DataFrame(schema=kinds)
