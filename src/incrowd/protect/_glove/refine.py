"""Better crowds: people exchange their places in crowds for as long as that loses less.

GLOVE's merges decide who is together by what two trajectories lose when *they* are merged. What
counts in the end is what all samples of a crowd lose in its best boxes (`k_merge`). Starting from
GLOVE's crowds, each round looks for changes that lower that loss::

    cycle       a -> crowd of b,  b -> crowd of c,  c -> crowd of a    each takes the place that
                                                                       the next one leaves
    path        a -> crowd of b,  b joins a third crowd                a's crowd has more than k
    new crowd   k people leave crowds that have more than k, and form one of their own

Cycles and paths are the cyclic and path exchanges of Thompson and Orlin; where all crowds are
pairs, a cycle is an alternating cycle of a matching. Where a person may go is decided by her
nearest, as the index of the search knows them. What a change gains is exact: the loss in the best
boxes of the crowds as they are and as they would be. The change that gains most is made first, then
the next one of crowds that were not touched. So the loss falls with every round; and a round
depends on who is together and on nothing else: neither threads nor an interruption matter.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, Ints, Words, kernel, kernel_nogc
from incrowd._parallel import on_threads
from incrowd.data._trajectories import Trajectories
from incrowd.protect._glove.k_merge import Objective, losses_of_crowds
from incrowd.protect._glove.release import together
from incrowd.protect._glove.samples import NEVER

if TYPE_CHECKING:
    from incrowd.protect._glove.engine import Run

__all__ = [
    "neighbours",
    "refine",
]


LISTED = 64
"""How many of those whom a person's search has listed are taken for near."""
NEAREST = 60
"""Among how many of her nearest a person looks for another crowd."""
PLACES, FEWEST, JOINED = 120, 10, 3
"""How many of their places she considers: so many divided by k, for larger crowds take longer, but
some at least; and how many crowds she may join as one more."""
BREADTH = np.array([30, 12, 8, 5, 0])
"""In how many ways a chain is continued from its first person, its second, and so on."""
LITTLE = 2_000
"""It ends with a round that gains less than one part in so many."""
BLOCK = 256
NOBODY = -1

Tell = Callable[[int, int], None]


class Partition(NamedTuple):
    """Who is together.

    Attributes
    ----------
    place
        The crowd of each person.
    members, groups
        The people of crowd c are ``members[groups[c]:groups[c + 1]]``, in order.
    weight
        How many people each crowd stands for.
    key
        A number that tells a crowd from all others: the sum of the `Evaluator`'s words for its
        members.
    """

    place: Ints
    members: Ints
    groups: Ints
    weight: Ints
    key: Words


class Arcs(NamedTuple):
    """Where each person could go, a row each, and what the crowd to which she comes gains.

    Attributes
    ----------
    other, gain
        Whose place she takes (-1: there are no more), the most gainful first.
    joined, more
        The crowds that she may join as one more, and what they gain: less than nothing.
    leaving
        What her own crowd gains if nobody takes her place; -NEVER if it needs somebody.
    comer, brings, begin
        The same from the other side: who could take the place of person p, and what that gains, at
        ``begin[p]`` to ``begin[p + 1]``.
    """

    other: Ints
    gain: Ints
    joined: Ints
    more: Ints
    leaving: Ints
    comer: Ints
    brings: Ints
    begin: Ints


class Chains(NamedTuple):
    """Of the chains that begin with each person, the one that gains most.

    Attributes
    ----------
    gain
        What it gains; 0 if there is none.
    people
        Who moves, each to the crowd of the next; -1 behind the last.
    joined
        The crowd that the last one joins; -1 if she takes the place of the first.
    """

    gain: Ints
    people: Ints
    joined: Ints


class Evaluator:
    """What crowds lose, computed once for each.

    Crowds are told apart by the sum of random 64-bit words, one for each person. Should two ever
    have the same, a change would be judged wrongly; what is published is computed anew.
    """

    def __init__(self, data: Trajectories, objective: Objective, threads: int) -> None:
        self.data, self.objective, self.threads = data, objective, threads
        self.word: Words = np.random.default_rng(0).integers(
            0, 2**64 - 1, len(data), dtype=np.uint64, endpoint=True
        )
        self.keys, self.loss = np.empty(0, np.uint64), np.empty(0, np.int64)

    def __call__(
        self,
        keys: Words,
        members_of: Callable[[Ints], tuple[Ints, Ints]],
        tell: Tell | None = None,
    ) -> Ints:
        """Give what crowds lose; `members_of` gives members and groups of those at positions."""
        keys, first, back = np.unique(keys, return_index=True, return_inverse=True)
        at = np.minimum(np.searchsorted(self.keys, keys), max(0, len(self.keys) - 1))
        known = self.keys[at] == keys if len(self.keys) else np.zeros(len(keys), np.bool_)
        loss = np.empty(len(keys), np.int64)
        loss[known] = self.loss[at[known]]
        if not known.all():
            scale, limits, price = self.objective
            lost, deleted = losses_of_crowds(
                self.data, *members_of(first[~known]), scale, limits,
                threads=self.threads, progress=tell,
            )  # fmt: skip
            loss[~known] = lost + price * deleted
            every = np.concatenate([self.keys, keys[~known]])
            order = np.argsort(every, kind="stable")
            self.keys = every[order]
            self.loss = np.concatenate([self.loss, loss[~known]])[order]
        return loss[back]

    def partition(self, place: Ints) -> Partition:
        """Give who is together, by the crowd of each person."""
        who, number = np.flatnonzero(place >= 0), int(place.max()) + 1
        members, groups = together(place, number)
        weight, key = np.zeros(number, np.int64), np.zeros(number, np.uint64)
        np.add.at(weight, place[who], self.data.crowd[who])
        np.add.at(key, place[who], self.word[who])
        return Partition(place.copy(), members, groups, weight, key)


def neighbours(run: "Run") -> Ints:
    """Give who is near whom: a row for each person, the nearest first, -1 where there are no more.

    From a run in which everybody has searched and nobody is merged yet. A pair is found from the
    longer of the two, by what it costs, or costs at least, and is written down for both.
    """
    queue, clusters = run.queue, run.index.clusters
    listed = min(LISTED, queue.node.shape[1])
    number = np.where(clusters.node >= 0, queue.number, 0)
    row, column = np.nonzero(np.arange(listed) < number[:, None])
    other = queue.node[row, column].astype(np.int64)
    other = np.where(other < NOBODY, -2 - other, other)  # of whom only a bound is known
    return _both_ways(run.index.people, clusters.node[row], other, queue.value[row, column])


def _both_ways(people: int, one: Ints, other: Ints, value: NDArray[np.float64]) -> Ints:
    """Give everybody those with whom she is in a pair, the cheapest first."""
    one, other = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.lexsort([other, np.concatenate([value, value]), one])
    one, other = one[order], other[order]
    place = np.arange(len(one)) - np.searchsorted(one, np.arange(people))[one]
    near, some = np.full((people, NEAREST), NOBODY, np.int64), place < NEAREST
    near[one[some], place[some]] = other[some]
    return near


def refine(
    data: Trajectories,
    place: Ints,
    k: int,
    objective: Objective,
    near: Ints,
    *,
    threads: int,
    rounds: int,
    begun: int = 0,
    note: Callable[[Ints, Ints], None] | None = None,
    tell: Callable[[str, int, int], None] | None = None,
) -> Ints:
    """Improve crowds, in rounds, for as long as there is something to improve.

    Parameters
    ----------
    place
        The crowd of each person; -1 for who is in none, and is brought into one first.
    rounds, begun
        How many rounds there are at most, and how many of them are done already.
    note
        Called after each round with those who moved, and their crowds; and at the end, if nothing
        more is to be gained, with nobody.

    Returns
    -------
    numpy.ndarray
        The crowd of each person.
    """
    evaluate = Evaluator(data, objective, threads)
    place, going = place.copy(), True
    for done in range(begun, rounds):
        before = place.copy()
        if (place < 0).any():
            _bring_in(place, near, evaluate)
        else:
            going = _improve(place, k, near, evaluate, _round(tell, done + 1))
        moved = np.flatnonzero(place != before)
        if note and len(moved):
            note(moved, place[moved])
        if not going:
            if note:
                note(moved[:0], moved[:0])  # nothing more is to come
            break
    return place


def _round(tell: Callable[[str, int, int], None] | None, number: int) -> Tell | None:
    """Give who is told of the progress of a round."""
    return (lambda done, total: tell(f"Round {number}", done, total)) if tell else None


def _bring_in(place: Ints, near: Ints, evaluate: Evaluator) -> None:
    """Let everybody who is in no crowd join the one that loses least by it."""
    for person in np.flatnonzero(place < 0):
        parted = evaluate.partition(place)
        crowds = np.unique(place[near[person][near[person] >= 0]])
        crowds = crowds[crowds >= 0]
        if not len(crowds):
            crowds = np.arange(len(parted.key))
        comes, goes = np.full(len(crowds), person), np.full(len(crowds), NOBODY)
        now = evaluate(parted.key[crowds], lambda some: _members(parted, crowds[some]))  # noqa: B023
        then = evaluate(
            parted.key[crowds] + evaluate.word[person],
            lambda some: changed(crowds[some], comes[some], goes[some], parted),  # noqa: B023
        )
        place[person] = crowds[np.argmin(then - now)]


def _improve(place: Ints, k: int, near: Ints, evaluate: Evaluator, tell: Tell | None) -> bool:
    """Make the changes of one round; tell whether they gain enough to go on."""
    parted = evaluate.partition(place)
    loss = evaluate(parted.key, lambda some: _members(parted, some), tell)
    arcs = _arcs(parted, loss, k, near, evaluate, tell)
    chains = _chosen(_chains(parted, arcs, evaluate.threads), parted)
    touched = np.zeros(len(parted.key), np.bool_)
    for _, who, crowds in chains:
        touched[parted.place[who]] = touched[crowds] = True
        place[who] = crowds
    new = _new_crowds(parted, touched, loss, k, near, evaluate)
    for crowd, (_, who) in enumerate(new, len(parted.key)):
        place[who] = crowd
    gained = sum(gain for gain, _, _ in chains) + sum(gain for gain, _ in new)
    return gained > 0 and gained * LITTLE >= int(loss.sum())


def _members(parted: Partition, which: Ints) -> tuple[Ints, Ints]:
    """Give the members of some crowds, and where those of each begin."""
    lengths = parted.groups[which + 1] - parted.groups[which]
    groups = np.concatenate([[0], np.cumsum(lengths)])
    row = np.repeat(parted.groups[which] - groups[:-1], lengths) + np.arange(groups[-1])
    return parted.members[row], groups


def _arcs(
    parted: Partition, loss: Ints, k: int, near: Ints, evaluate: Evaluator, tell: Tell | None
) -> Arcs:
    """Find where each person could go, and what that would gain."""
    weight = evaluate.data.crowd.astype(np.int64)
    people = len(weight)
    spare = parted.weight[parted.place] - weight >= k
    other = np.full((people, max(FEWEST, PLACES // k)), NOBODY, np.int64)
    joined = np.full((people, JOINED), NOBODY, np.int64)

    def choose(block: tuple[int, int]) -> None:
        places_of(*block, parted, weight, k, near, other, joined)

    list(on_threads(evaluate.threads, choose, _blocks(people)))
    if not spare.any():
        joined[:] = NOBODY  # nobody can, if nobody may leave
    # Crowds as they would be: with somebody in another's place, with one more, with one less.
    a, p = np.nonzero(other >= 0)
    b, q = np.nonzero(joined >= 0)
    c = np.flatnonzero(spare)
    comes = np.concatenate([a, b, np.full(len(c), NOBODY)])
    goes = np.concatenate([other[a, p], np.full(len(b), NOBODY), c])
    crowd = np.concatenate([parted.place[other[a, p]], joined[b, q], parted.place[c]])
    word = np.append(evaluate.word, np.uint64(0))  # of NOBODY
    gains = loss[crowd] - evaluate(
        parted.key[crowd] + word[comes] - word[goes],
        lambda some: changed(crowd[some], comes[some], goes[some], parted),
        tell,
    )
    gain, more = np.full(other.shape, -NEVER), np.full(joined.shape, -NEVER)
    leaving = np.full(people, -NEVER)
    gain[a, p], more[b, q], leaving[c] = np.split(gains, [len(a), len(a) + len(b)])
    order = np.argsort(-gain, axis=1, kind="stable")
    other, gain = (np.take_along_axis(rows, order, 1) for rows in (other, gain))
    return Arcs(other, gain, joined, more, leaving, *turned(other, gain))


def _blocks(people: int) -> list[tuple[int, int]]:
    return [(first, min(people, first + BLOCK)) for first in range(0, people, BLOCK)]


def _chains(parted: Partition, arcs: Arcs, threads: int) -> Chains:
    """Find the best chain that begins with each person."""
    people = len(parted.place)
    found = Chains(
        np.zeros(people, np.int64),
        np.full((people, len(BREADTH)), NOBODY, np.int64),
        np.full(people, NOBODY, np.int64),
    )

    def work(block: tuple[int, int]) -> None:
        best_chains(*block, parted.place, arcs, BREADTH, found)

    list(on_threads(threads, work, _blocks(people)))
    return found


def _chosen(found: Chains, parted: Partition) -> list[tuple[int, Ints, Ints]]:
    """Choose chains, the most gainful first, each of crowds that no other has touched.

    Gives what each gains, who moves, and where to.
    """
    order = np.argsort(-found.gain, kind="stable")
    touched = np.zeros(len(parted.key), np.bool_)
    chosen = []
    for start in order[: np.count_nonzero(found.gain)]:
        who = found.people[start][found.people[start] >= 0]
        crowds = parted.place[who]
        last = found.joined[start] if found.joined[start] >= 0 else crowds[0]
        target = np.append(crowds[1:], last)
        if not (touched[crowds].any() or touched[last]):
            touched[crowds] = touched[last] = True
            chosen.append((int(found.gain[start]), who, target))
    return chosen


def _new_crowds(
    parted: Partition,
    touched: NDArray[np.bool_],
    loss: Ints,
    k: int,
    near: Ints,
    evaluate: Evaluator,
) -> list[tuple[int, list[int]]]:
    """Choose people who leave crowds of more than k to form new ones; with what each gains."""
    asked = _groups_of_spare(parted, touched, k, near, evaluate.data.crowd.tolist())
    if not asked:
        return []
    # Each new crowd, and behind it what it leaves of the others.
    crowds: list[list[int]] = []
    owner: list[int] = []
    now = np.zeros(len(asked), np.int64)
    for number, people in enumerate(asked):
        crowds.append(people)
        for crowd in np.unique(parted.place[people]):
            mine = parted.members[parted.groups[crowd] : parted.groups[crowd + 1]].tolist()
            crowds.append([person for person in mine if person not in people])
            now[number] += loss[crowd]
        owner += [number] * (len(crowds) - len(owner))

    def members_of(some: Ints) -> tuple[Ints, Ints]:
        wanted = [crowds[i] for i in some]
        return np.concatenate(wanted), np.cumsum([0, *map(len, wanted)])

    then = np.zeros(len(asked), np.int64)
    keys = np.array([evaluate.word[who].sum(dtype=np.uint64) for who in crowds])
    np.add.at(then, owner, evaluate(keys, members_of))
    chosen, touched = [], touched.copy()
    for number in np.argsort(then - now, kind="stable"):
        mine = parted.place[asked[number]]
        if then[number] < now[number] and not touched[mine].any():
            touched[mine] = True
            chosen.append((int(now[number] - then[number]), asked[number]))
    return chosen


def _groups_of_spare(
    parted: Partition, touched: NDArray[np.bool_], k: int, near: Ints, weight: list[int]
) -> list[list[int]]:
    """Give groups of k near each other whose crowds can all do without them; each once."""
    place = parted.place.tolist()
    spare = np.where(touched, 0, np.maximum(0, parted.weight - k))
    asked: dict[tuple[int, ...], None] = {}  # in order
    for person in np.flatnonzero(spare[parted.place] >= weight).tolist():
        left: dict[int, int] = {}
        who, total = [], 0
        for other in (person, *near[person].tolist()):
            if other < 0 or total >= k:
                break
            rest = left.get(place[other], int(spare[place[other]])) - weight[other]
            if rest >= 0:
                left[place[other]] = rest
                who.append(other)
                total += weight[other]
        if total >= k:
            asked[tuple(sorted(who))] = None
    return [list(people) for people in asked]


@kernel
def places_of(  # noqa: C901
    first: int,
    last: int,
    parted: Partition,
    weight: Ints,
    k: int,
    near: Ints,
    other: Ints,
    joined: Ints,
) -> None:
    """Choose whose places each person could take: where most of her nearest would be with her."""
    most = near.shape[1]
    crowds, score = np.empty(most, np.int64), np.empty(most, np.int64)
    places, joins = other.shape[1], joined.shape[1]
    values, best = np.empty(places, np.int64), np.empty(joins, np.int64)
    for a in range(first, last):
        number = ZERO
        for r in range(most):
            if near[a, r] < 0:
                break
            c = parted.place[near[a, r]]
            if c == parted.place[a]:
                continue
            at = ZERO
            while at < number and crowds[at] != c:
                at += 1
            if at == number:
                crowds[at], score[at] = c, 0
                number += 1
            score[at] += most - r
        taken, many = ZERO, ZERO
        for at in range(number):
            c = crowds[at]
            many = insert(score[at], c, best, joined[a], many)
            for m in range(parted.groups[c], parted.groups[c + 1]):
                v = parted.members[m]
                if parted.weight[c] - weight[v] + weight[a] < k:
                    continue
                mine = ZERO
                for r in range(most):
                    if near[a, r] == v:
                        mine = most - r
                if score[at] > mine:
                    taken = insert(score[at] - mine, v, values, other[a], taken)


@kernel_nogc
def insert(value: int, what: int, values: Ints, kept: Ints, number: int) -> int:
    """Keep the largest values, in order; of equals the first that came. Give how many there are."""
    size = len(values)
    if number == size and value <= values[size - 1]:
        return number
    at = min(number, size - 1)
    while at > 0 and values[at - 1] < value:
        values[at], kept[at] = values[at - 1], kept[at - 1]
        at -= 1
    values[at], kept[at] = value, what
    return min(size, number + 1)


@kernel
def changed(crowd: Ints, comes: Ints, goes: Ints, parted: Partition) -> tuple[Ints, Ints]:
    """Give the members of crowds to which one comes, and from which one goes."""
    groups = np.zeros(len(crowd) + 1, np.int64)
    for i in range(len(crowd)):
        c = crowd[i]
        size = parted.groups[c + 1] - parted.groups[c]
        groups[i + 1] = groups[i] + size + (comes[i] >= 0) - (goes[i] >= 0)
    members = np.empty(groups[-1], np.int64)
    for i in range(len(crowd)):
        at, new = groups[i], comes[i]
        for m in range(parted.groups[crowd[i]], parted.groups[crowd[i] + 1]):
            who = parted.members[m]
            if 0 <= new < who:
                members[at], new = new, NOBODY
                at += 1
            if who != goes[i]:
                members[at] = who
                at += 1
        if new >= 0:
            members[at] = new
    return members, groups


@kernel
def turned(other: Ints, gain: Ints) -> tuple[Ints, Ints, Ints]:
    """Give who could take the place of each person, and what that gains."""
    people, places = other.shape
    begin = np.zeros(people + 1, np.int64)
    for a in range(people):
        for p in range(places):
            if other[a, p] >= 0:
                begin[other[a, p] + 1] += 1
    for a in range(people):
        begin[a + 1] += begin[a]
    comer, brings = np.empty(begin[people], np.int64), np.empty(begin[people], np.int64)
    at = begin.copy()
    for a in range(people):
        for p in range(places):
            v = other[a, p]
            if v >= 0:
                comer[at[v]], brings[at[v]] = a, gain[a, p]
                at[v] += 1
    return comer, brings, begin


@kernel
def best_chains(  # noqa: C901
    first: int, last: int, place: Ints, arcs: Arcs, breadth: Ints, found: Chains
) -> None:
    """Find the chain that gains most of those that begin with some people."""
    longest = found.people.shape[1]
    who, at = np.empty(longest, np.int64), np.empty(longest, np.int64)
    crowd, tried = np.empty(longest, np.int64), np.empty(longest, np.int64)
    total = np.empty(longest, np.int64)
    # Of each person: of whom it is known whether she can take her place, and what that gains.
    asked, brings = np.full(len(place), NOBODY), np.zeros(len(place), np.int64)
    for start in range(first, last):
        for e in range(arcs.begin[start], arcs.begin[start + 1]):
            asked[arcs.comer[e]], brings[arcs.comer[e]] = start, arcs.brings[e]
        for path in range(2):
            if path and arcs.leaving[start] == -NEVER:
                continue
            level = ZERO
            who[0], crowd[0], at[0], tried[0] = start, place[start], 0, 0
            total[0] = arcs.leaving[start] if path else 0
            if path:
                _end(start, ZERO, total[0], who, crowd, arcs, found)
            while level >= 0:
                u = who[level]
                if (
                    at[level] == arcs.other.shape[1]
                    or tried[level] == breadth[level]
                    or arcs.other[u, at[level]] < 0
                    or total[level] + arcs.gain[u, at[level]] <= 0
                ):
                    level -= 1
                    continue
                v, gained = arcs.other[u, at[level]], total[level] + arcs.gain[u, at[level]]
                at[level] += 1
                seen = False
                for other in range(level + 1):
                    seen |= crowd[other] == place[v]
                if seen:
                    continue
                tried[level] += 1
                level += 1
                who[level], crowd[level], at[level], tried[level] = v, place[v], 0, 0
                total[level] = gained
                if path:
                    _end(start, level, gained, who, crowd, arcs, found)
                elif asked[v] == start and gained + brings[v] > found.gain[start]:
                    _store(start, level, gained + brings[v], NOBODY, who, found)
                if level == longest - 1:
                    level -= 1


@kernel_nogc
def _end(
    start: int, level: int, gained: int, who: Ints, crowd: Ints, arcs: Arcs, found: Chains
) -> None:
    """Let the last of a chain join a crowd, if that gains most so far."""
    v = who[level]
    for p in range(arcs.joined.shape[1]):
        joined = arcs.joined[v, p]
        if joined < 0 or gained + arcs.more[v, p] <= found.gain[start]:
            continue
        seen = False
        for other in range(level + 1):
            seen |= crowd[other] == joined
        if not seen:
            _store(start, level, gained + arcs.more[v, p], joined, who, found)


@kernel_nogc
def _store(start: int, level: int, gain: int, joined: int, who: Ints, found: Chains) -> None:
    """Write down a chain."""
    found.gain[start], found.joined[start] = gain, joined
    for place in range(found.people.shape[1]):
        found.people[start, place] = who[place] if place <= level else NOBODY
