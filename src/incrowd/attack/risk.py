"""`risk`: the worst that an adversary with k points of knowledge can do to each person."""

import functools
import queue
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.arguments import is_whole
from incrowd.attack.attacks import MANY, Attack
from incrowd.attack.choosing import attacks_of
from incrowd.attack.released import Released, Search, prepare
from incrowd.compiled import Ints
from incrowd.data.trajectories import Trajectories
from incrowd.data.visits import Visits
from incrowd.errors import ArgumentError, InputError
from incrowd.threads import cores, on_threads

if TYPE_CHECKING:
    import polars as pl

__all__ = ["risk", "which_of"]

BLOCK = 64
"""How many people are attacked at a time."""


def risk(
    visits: Visits,
    attack: str | Attack | Iterable[str | Attack],
    k: int | Sequence[int] = 2,
    *,
    targets: Iterable[Any] | None = None,
    instances: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> "pl.DataFrame":
    """Find how likely each person is re-identified, at worst, by who knows k points of her.

    It is one over the number of people whom these points leave, for those k points that leave
    fewest: exactly, as if all had been tried.

    Parameters
    ----------
    visits
        Visits of everybody: the crowd in which each person hides.
    attack
        What is known: ``"location"``, ``"location_sequence"``, ``"visit"``,
        ``"frequent_location"``, ``"frequent_location_sequence"``, ``"frequency"``,
        ``"home_work"``, ``"proportion"``, ``"probability"``, or an attack of one's own; or several.
    k
        How many points are known, or several numbers. Of a person who has fewer, all are. Home and
        work are two points, whatever k is.
    targets
        The people under attack; all, unless given. The crowd is always everybody.
    instances
        Whether to tell which points leave so few (no more of them than are needed), and how many
        people are left.
    threads
        How many threads to use; all cores, unless given. The result is the same.
    progress
        Called now and then with the number of people done, and of all (times attacks).
    settings
        For the attacks that have them: `tolerance` (frequency, home_work, proportion,
        probability), `relative` (the same) and `precision` (visit).

    Returns
    -------
    polars.DataFrame
        user, risk; with `instances`, crowd (people left) and knows (the points) as well. Where
        several attacks or several k are asked for, attack and k stand before them.

    Examples
    --------
    >>> import incrowd
    >>> rows = {"user": [1, 1, 2, 2, 3], "place": [5, 6, 5, 7, 5], "time": [0, 1, 0, 1, 0]}
    >>> visits = incrowd.Visits.from_rows(rows)
    >>> incrowd.risk(visits, "location", k=1)["risk"].to_list()
    [1.0, 1.0, 0.3333333333333333]
    """
    import polars as pl

    single = isinstance(attack, str | Attack)
    attacks = attacks_of(attack, settings)
    wanted = _wanted(k)
    _refuse(visits)
    who = np.arange(len(visits)) if targets is None else which_of(visits.people, targets)
    number = cores(threads)
    if progress:
        progress(0, len(who) * len(attacks))
    released = Released(visits, number)
    frames: list[pl.DataFrame] = []
    # Room for a number for each person, for each thread.
    spaces: queue.SimpleQueue[NDArray[np.int32]] = queue.SimpleQueue()
    for _ in range(number + 1):
        spaces.put(np.full(len(visits), -1, np.int32))
    for done, one in enumerate(attacks):
        search, tell = prepare(one, wanted, released)
        ks = wanted if one.first is None else [int(one.first)]
        crowd = np.empty((len(who), len(ks)), np.int64)
        known: list[NDArray[np.int32]] = []
        work = functools.partial(_attack, who, search, spaces)
        for first, left, entries in on_threads(number, work, range(0, len(who), BLOCK)):
            crowd[first : first + BLOCK] = left
            if instances:
                known.append(entries)
            if progress:
                progress(done * len(who) + first + len(left), len(who) * len(attacks))
        points = np.concatenate(known) if instances else None
        for i, each_k in enumerate(ks):
            columns = {
                "attack": pl.repeat(one.name, len(who), eager=True),
                "k": pl.repeat(each_k, len(who), dtype=pl.Int64, eager=True),
                "user": visits.people.gather(who),
                "risk": 1 / crowd[:, i],
            }
            if points is not None:
                columns |= {"crowd": crowd[:, i], "knows": tell(who, points[:, i])}
            frames.append(pl.DataFrame(columns))
    if single and is_whole(k):
        return frames[0].drop("attack", "k")
    return pl.concat(frames)


def _attack(
    who: Ints, search: Search, spaces: "queue.SimpleQueue[NDArray[np.int32]]", first: int
) -> tuple[int, Ints, NDArray[np.int32]]:
    """Attack a block of people."""
    room = spaces.get()
    try:
        return first, *search(who[first : first + BLOCK], room)
    finally:
        spaces.put(room)


def _wanted(k: int | Sequence[int]) -> list[int]:
    """Give the numbers of points, each once, in order."""
    several = list(k) if isinstance(k, Iterable) else [k]
    for one in several:
        if not is_whole(one):
            raise ArgumentError(f"k must be a whole number, not {one!r}")
        if one < 1:
            raise ArgumentError(f"k is {one}; an adversary knows 1 point at least")
    if not several:
        raise ArgumentError("k is empty; give one number of points or several")
    return sorted({int(one) for one in several})


def _refuse(visits: Visits) -> None:
    """Refuse what are no visits, and visits in which somebody has none, or nobody is."""
    if isinstance(visits, Trajectories):
        raise ArgumentError("these are Trajectories; incrowd.visits(...) gives their Visits")
    if not isinstance(visits, Visits):
        raise ArgumentError(f"visits are Visits, not a {type(visits).__name__}")
    if not len(visits):
        raise InputError("there are no visits to be attacked")
    none = np.flatnonzero(np.diff(visits.offsets) == 0)
    if len(none):
        others = f", nor have {len(none) - 1:,} others" if len(none) > 1 else ""
        raise InputError(
            f"user {visits.people[int(none[0])]!r} has no visit{others}; leave them out"
        )
    if len(visits.place) >= MANY:
        raise InputError(f"{len(visits.place):,} visits are more than can be numbered")


def which_of(people: "pl.Series", targets: Iterable[Any]) -> Ints:
    """Give the indices of some people, by their identifiers."""
    if isinstance(targets, str | bytes) or not isinstance(targets, Iterable):
        raise ArgumentError(f"targets are several identifiers, like [{targets!r}]")
    at = {user: i for i, user in enumerate(people)}
    wanted = list(targets)
    if not wanted:
        raise ArgumentError("targets is empty; leave it out to take everybody")
    missing = [user for user in wanted if not _is_in(user, at)]
    if missing:
        rest = len(missing) - 1
        others = f" (nor {'is 1 other' if rest == 1 else f'are {rest:,} others'})" if rest else ""
        raise ArgumentError(f"target {missing[0]!r} is not in the data{others}")
    return np.array([at[user] for user in wanted], np.int64)


def _is_in(user: Any, people: dict[Any, int]) -> bool:
    try:
        return user in people
    except TypeError:  # what cannot be looked up is nobody's identifier
        return False
