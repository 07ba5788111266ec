"""`risk`: the worst that an adversary with k points of knowledge can do to each person.

::

    Visits ──> IndexedVisits ──> prepare: an attack's search ──> the smallest crowd of each person
               (made once)       (_search), its instances          │
                                          explain_instances <──────┴──> risk = 1 / crowd
"""

import functools
import queue
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd._arguments import is_whole
from incrowd._numba import Ints
from incrowd._parallel import cores, on_threads
from incrowd.attack._attacks import LIMIT, MANY, Attack, Visit, as_fraction, refuse_large_products
from incrowd.attack._resolve import attacks_of
from incrowd.attack._search.index import InvertedIndex, KnownPoints, build_index
from incrowd.attack._search.proportion import Tolerance, proportion_search
from incrowd.attack._search.sequence import positions_of, sequence_search
from incrowd.attack._search.unordered import unordered_search
from incrowd.data._trajectories import Trajectories
from incrowd.data._vectors import Vectors, count
from incrowd.data._visits import Visits
from incrowd.errors import ArgumentError, InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "IndexedVisits",
    "Search",
    "prepare",
    "risk",
    "which_of",
]


BLOCK = 64
"""How many people are attacked at a time."""
Search = Callable[[Ints, NDArray[np.int32]], tuple[Ints, NDArray[np.int32]]]
"""From people, and scratch space (-1 for everybody); returns crowds, and what leaves them."""
Explain = Callable[[Ints, NDArray[np.int32]], "pl.Series"]
"""From people, and the entries that are known of each; returns the points as places and times."""


class IndexedVisits:
    """Visits with counts and index, made once for all attacks that need them."""

    def __init__(self, visits: "Visits", threads: int) -> None:
        self.visits, self.threads = visits, threads

    def count(self, codes: Ints) -> Vectors:
        """Return how often each person has each code."""
        return count(codes, self.visits.offsets, threads=self.threads)

    @functools.cached_property
    def places(self) -> Vectors:
        """How often each person visited each place."""
        return self.count(self.visits.place)

    @functools.cached_property
    def index(self) -> tuple[InvertedIndex, Ints]:
        """Who visited each place, and the codes of the places."""
        return build_index(self.places)


def explain_instances(
    attack: Attack,
    indexed: IndexedVisits,
    index: InvertedIndex,
    codes: Ints,
    who: Ints,
    known: NDArray[np.int32],
) -> "pl.Series":
    """Return the instance of background knowledge (Definition 3.1) behind entries of people.

    A list of points for each person: place, time, visits, of (null: not known).
    """
    import polars as pl

    row, column = np.nonzero(known >= 0)
    entry = index.offsets[who[row]] + known[row, column]
    number = index.number[entry].astype(np.int64)
    place, time = _decode(attack, indexed.visits, codes[index.key[entry]])
    of = indexed.places.total[who[row]]
    if attack.relative_to_top:
        most = np.zeros(len(who), np.int64)
        np.maximum.at(most, row, number)
        of = most[row]
    values = {"time": time, "visits": number, "of": of}
    known_fields = [
        pl.lit(pl.Series(value) if name in attack.known_fields else None, pl.Int64).alias(name)
        for name, value in values.items()
    ]
    points = pl.DataFrame({"row": row, "place": place}).with_columns(known_fields)
    point = pl.struct("place", "time", "visits", "of").alias("knows")
    return points.group_by("row", maintain_order=True).agg(point)["knows"]


def _decode(attack: Attack, visits: Visits, code: Ints) -> tuple["pl.Series", Ints | None]:
    """Return the places (and times) that codes stand for; the codes, if they are the attack's."""
    import polars as pl

    place, time = attack.decode(code, visits) if isinstance(attack, Visit) else (code, None)
    if visits.places is None:
        return pl.Series(place, dtype=pl.Int64), time
    if has_own_codes(attack) and time is None:
        return pl.Series(place).cast(visits.places.dtype), time
    return visits.places.gather(place), time


def has_own_codes(attack: Attack) -> bool:
    """Return whether an attack has codes of its own, and not those of places."""
    return type(attack).codes is not Attack.codes


def prepare(attack: Attack, ks: list[int], indexed: IndexedVisits) -> tuple[Search, Explain]:
    """Return the search of an attack, from some people, and what explains its instances.

    That its parts go together was checked before (`refuse_odd`); here its results are.
    """
    own = _codes(attack, indexed.visits) if has_own_codes(attack) else None
    vectors = indexed.places if own is None else indexed.count(own)
    index, codes = indexed.index if own is None else build_index(vectors)
    if attack.normalised:
        index = index._replace(total=vectors.total)
    # Nobody has more points than visits, so no more can be known.
    most = int(vectors.total.max())
    top_n = LIMIT if attack.top_n is None else int(attack.top_n)
    wanted = np.minimum(ks if attack.top_n is None else [top_n], most).astype(np.int64)
    explain = functools.partial(explain_instances, attack, indexed, index, codes)
    if attack.ordered:
        offsets, sequence, times = vectors.offsets, index.key, np.ones_like(index.list_count)
        if attack.ordered == "time":
            offsets = indexed.visits.offsets
            each_code = indexed.visits.place if own is None else own
            sequence = np.searchsorted(codes, each_code).astype(np.int32)
            times = index.list_count
        known = positions_of(offsets, sequence, times, index)
        return lambda who, scratch: sequence_search(
            who, wanted, top_n, known, index, scratch
        ), explain
    points = _known_points(attack, vectors)
    if attack.relative_to_top:
        exact = as_fraction(attack.tolerance)  # type: ignore[attr-defined]
        highest = int(vectors.visits.max())
        refuse_large_products(highest, 2 * exact.denominator, exact, "visits to one place")
        relative = bool(getattr(attack, "relative", False))
        near = Tolerance(exact.numerator, exact.denominator, relative)
        return lambda who, scratch: proportion_search(
            who, wanted, top_n, index, points, near, scratch
        ), explain
    return lambda who, scratch: unordered_search(
        who, wanted, top_n, index, points, scratch
    ), explain


def _codes(attack: Attack, visits: Visits) -> Ints:
    """Return the codes that an attack has of its own: an integer for each visit."""
    codes = _integers(attack.codes(visits), f"{attack.name}: codes")
    if codes.shape != visits.place.shape:
        raise ArgumentError(
            f"{attack.name}: codes returned {codes.size:,} integers for {len(visits.place):,} "
            "visits; it must return one for each"
        )
    return codes


def _integers(given: object, what: str) -> Ints:
    """Return integers as such, and refuse others: rounding would make one code of several."""
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "iu":
        raise ArgumentError(f"{what} returned {numbers.dtype}; it must return integers")
    if numbers.size and int(numbers.max()) >= 1 << 63:
        raise ArgumentError(f"{what} returned {int(numbers.max()):,}; it must be below 2**63")
    return numbers.astype(np.int64, copy=False)


def _known_points(attack: Attack, vectors: Vectors) -> KnownPoints:
    """Return of each entry how many points it is, and whom it matches."""
    number = vectors.visits
    total = np.repeat(vectors.total, np.diff(vectors.offsets))
    what = f"{attack.name}: matching_range"
    given = attack.matching_range(number, total)
    if not isinstance(given, tuple | list) or len(given) != 3:  # noqa: PLR2004
        raise ArgumentError(f"{what} must return three things: low, high, denominator")
    parts = [_integers(part, what) for part in given]
    for part in parts:
        if part.shape not in ((), number.shape):
            raise ArgumentError(
                f"{what} returned {part.size:,} integers for {len(number):,} points; it must "
                "return one for each, or one for all"
            )
    low, high, denominator = (
        np.ascontiguousarray(np.broadcast_to(part, number.shape)) for part in parts
    )
    if int(denominator.min()) < 1:
        raise ArgumentError(f"{what}: the denominator must be positive, not {denominator.min()}")
    largest = int(total.max()) if attack.normalised else 1
    for part, factor in ((low, largest), (high, largest), (denominator, int(number.max()))):
        if max(int(part.max()), -int(part.min())) * factor >= LIMIT:
            raise ArgumentError(
                f"{what}: {int(part.max()):,} times {factor:,} is too large to be compared exactly"
            )
    own = total if attack.normalised else np.ones_like(total)
    if not np.all((low * own <= number * denominator) & (number * denominator <= high * own)):
        raise ArgumentError(f"{what}: what is known of a person must match the person herself")
    if attack.multiset and np.any(denominator != 1):
        raise ArgumentError(f"{what}: with multiset the denominator must be 1")
    # Each further point of a code asks for one more; she has all of them.
    if attack.multiset and np.any(low > 1):
        raise ArgumentError(f"{what}: with multiset low must be at most 1")
    copies = number if attack.multiset else np.ones_like(number)
    return KnownPoints(copies.astype(np.int32), low, high, denominator)


def risk(
    visits: Visits | Trajectories,
    attack: str | Attack | Iterable[str | Attack],
    k: int | Sequence[int] = 2,
    *,
    targets: Iterable[Any] | None = None,
    instances: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> "pl.DataFrame":
    """Return the risk of re-identification of each person, if k points of her are known.

    It is one over the number of people who match these points, for those k points that leave the
    smallest crowd (Definition 3.4): exactly, as if all had been tried.

    Parameters
    ----------
    visits
        Visits of everybody in the dataset; of trajectories, those of :func:`incrowd.visits`.
    attack
        What the adversary knows, by its name in `incrowd.ATTACKS`: ``"location"``,
        ``"location_sequence"``, ``"visit"``, ``"frequent_location"``,
        ``"frequent_location_sequence"``, ``"frequency"``, ``"home_work"``, ``"proportion"``,
        ``"probability"``; or an attack of one's own; or several.
    k
        How many points are known, or several numbers. Of a person who has fewer, all are known.
        Home and work are two points, whatever k is.
    targets
        Identifiers of the people to be attacked; all, unless given. They are always compared with
        everybody in `visits`.
    instances
        Whether to return the points that leave the smallest crowd (no more of them than are
        needed), and its size.
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
        user, risk; with `instances`, crowd (people who match) and knows (the points) as well. With
        several attacks or several k, attack and k as the first columns. The table names people: do
        not print or save it where others read, such as in a notebook.

    References
    ----------
    - Pellungrini et al., 2017: "A Data Mining Approach to Assess Privacy Risk in Human Mobility
      Data", ACM Transactions on Intelligent Systems and Technology 9 (3), DOI 10.1145/3106774;
      definition 3.4 and section 4.2.

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
    visits = Visits.of(visits)
    _refuse(visits)
    who = np.arange(len(visits)) if targets is None else which_of(visits.people, targets)
    number = cores(threads)
    if progress:
        progress(0, len(who) * len(attacks))
    indexed = IndexedVisits(visits, number)
    frames: list[pl.DataFrame] = []
    # Scratch space for each thread, an element for each person.
    buffers: queue.SimpleQueue[NDArray[np.int32]] = queue.SimpleQueue()
    for _ in range(number + 1):
        buffers.put(np.full(len(visits), -1, np.int32))
    for done, one in enumerate(attacks):
        search, explain = prepare(one, wanted, indexed)
        ks = wanted if one.top_n is None else [int(one.top_n)]
        crowd = np.empty((len(who), len(ks)), np.int64)
        known: list[NDArray[np.int32]] = []
        work = functools.partial(_attack, who, search, buffers)
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
                columns |= {"crowd": crowd[:, i], "knows": explain(who, points[:, i])}
            frames.append(pl.DataFrame(columns))
    if single and is_whole(k):
        return frames[0].drop("attack", "k")
    return pl.concat(frames)


def _attack(
    who: Ints, search: Search, buffers: "queue.SimpleQueue[NDArray[np.int32]]", first: int
) -> tuple[int, Ints, NDArray[np.int32]]:
    """Attack a block of people."""
    scratch = buffers.get()
    try:
        return first, *search(who[first : first + BLOCK], scratch)
    finally:
        buffers.put(scratch)


def _wanted(k: int | Sequence[int]) -> list[int]:
    """Return the numbers of points, each once, in order."""
    several = list(k) if isinstance(k, Iterable) else [k]
    for one in several:
        if not is_whole(one):
            raise ArgumentError(f"k must be an integer, not {one!r}")
        if one < 1:
            raise ArgumentError(
                f"k must be at least 1 (points that the adversary knows), not {one}"
            )
    if not several:
        raise ArgumentError("k is empty; give at least one number of points")
    return sorted({int(one) for one in several})


def _refuse(visits: Visits) -> None:
    """Refuse visits of nobody, or with a person who has none."""
    if not len(visits):
        raise InputError("there are no visits to attack")
    none = np.flatnonzero(np.diff(visits.offsets) == 0)
    if len(none):
        others = f" (nor have {len(none) - 1:,} others)" if len(none) > 1 else ""
        raise InputError(
            f"user {visits.people[int(none[0])]!r} has no visit{others}; remove people without any",
            values=[repr(visits.people[int(none[0])])],
        )
    if len(visits.place) >= MANY:
        raise InputError(
            f"there are {len(visits.place):,} visits; attacks take fewer than {MANY:,}"
        )


def which_of(people: "pl.Series", targets: Iterable[Any]) -> Ints:
    """Return the indices of some people, by their identifiers."""
    if isinstance(targets, str | bytes) or not isinstance(targets, Iterable):
        raise ArgumentError(f"targets must be a list of identifiers, like [{targets!r}]")
    at = {user: i for i, user in enumerate(people)}
    wanted = list(targets)
    if not wanted:
        raise ArgumentError("targets is empty; leave it out to attack everybody")
    missing = [user for user in wanted if not _is_in(user, at)]
    if missing:
        rest = len(missing) - 1
        others = f" (nor {'is 1 other' if rest == 1 else f'are {rest:,} others'})" if rest else ""
        raise ArgumentError(
            f"target {missing[0]!r} is not in the data{others}", values=[repr(missing[0])]
        )
    return np.array([at[user] for user in wanted], np.int64)


def _is_in(user: Any, people: dict[Any, int]) -> bool:
    try:
        return user in people
    except TypeError:  # what cannot be looked up is nobody's identifier
        return False
