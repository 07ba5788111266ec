"""`risk`: the worst that an adversary with k points of knowledge can do to each person.

What an attack looks at, laid out for its search, and what it found, said in places and times.
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
from incrowd.attack._attacks import LIMIT, MANY, Attack, Visit, as_fraction, attacks_of, settles
from incrowd.attack._search.index import Points, Records, index
from incrowd.attack._search.proportion import Tolerance, shares
from incrowd.attack._search.sequence import order, sequences
from incrowd.attack._search.unordered import each
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import Vectors, Visits, count
from incrowd.errors import ArgumentError, InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Released",
    "Search",
    "Tell",
    "prepare",
    "risk",
    "which_of",
]


Search = Callable[[Ints, NDArray[np.int32]], tuple[Ints, NDArray[np.int32]]]
"""From people, and room for a number for each of all; gives crowds, and what leaves them."""


class Released:
    """What several attacks look at, made once."""

    def __init__(self, visits: "Visits", threads: int) -> None:
        self.visits, self.threads = visits, threads

    def count(self, codes: Ints) -> Vectors:
        """Count how often each person has each code."""
        return count(codes, self.visits.offsets, threads=self.threads)

    @functools.cached_property
    def places(self) -> Vectors:
        """How often each person visited each place."""
        return self.count(self.visits.place)

    @functools.cached_property
    def indexed(self) -> tuple[Records, Ints]:
        """Who visited each place."""
        return index(self.places)


class Tell:
    """Says which points are known, from entries of people."""

    def __init__(self, attack: Attack, released: Released, records: Records, codes: Ints) -> None:
        self.attack, self.visits, self.records, self.codes = attack, released.visits, records, codes
        self.total = released.places.total

    def __call__(self, who: Ints, known: NDArray[np.int32]) -> "pl.Series":
        """Give a list of points for each person: place, time, visits, of (null: not known)."""
        import polars as pl

        row, column = np.nonzero(known >= 0)
        entry = self.records.offsets[who[row]] + known[row, column]
        number = self.records.number[entry].astype(np.int64)
        place, time = self._where(self.codes[self.records.key[entry]])
        of = self.total[who[row]]
        if self.attack.shared:
            most = np.zeros(len(who), np.int64)
            np.maximum.at(most, row, number)
            of = most[row]
        known_of = {"time": time, "visits": number, "of": of}
        told = [
            pl.lit(pl.Series(values) if name in self.attack.tells else None, pl.Int64).alias(name)
            for name, values in known_of.items()
        ]
        points = pl.DataFrame({"row": row, "place": place}).with_columns(told)
        point = pl.struct("place", "time", "visits", "of").alias("knows")
        return points.group_by("row", maintain_order=True).agg(point)["knows"]

    def _where(self, code: Ints) -> tuple["pl.Series", Ints | None]:
        """Give the place (and the time) behind codes; of codes of one's own, the code."""
        import polars as pl

        visits, time = self.visits, None
        if isinstance(self.attack, Visit):
            place, time = self.attack.decode(code, visits)
        else:
            place = code
        if visits.places is None:
            return pl.Series(place, dtype=pl.Int64), time
        if is_own(self.attack) and time is None:
            return pl.Series(place).cast(visits.places.dtype), time
        return visits.places.gather(place), time


def is_own(attack: Attack) -> bool:
    """Tell whether an attack has codes of its own, and not those of places."""
    return type(attack).codes is not Attack.codes


def prepare(attack: Attack, ks: list[int], released: Released) -> tuple[Search, Tell]:
    """Lay out what an attack looks at; gives the search from some people, and who tells of it.

    That its parts go together, `refuse_odd` has seen already; here is looked at what it gives.
    """
    own = _codes(attack, released.visits) if is_own(attack) else None
    vectors = released.places if own is None else released.count(own)
    records, codes = released.indexed if own is None else index(vectors)
    if attack.divided:
        records = records._replace(total=vectors.total)
    # Nobody has more points than visits, so no more can be known.
    most = int(vectors.total.max())
    first = LIMIT if attack.first is None else int(attack.first)
    wanted = np.minimum(ks if attack.first is None else [first], most).astype(np.int64)
    tell = Tell(attack, released, records, codes)
    if attack.ordered:
        cuts, sequence, times = vectors.offsets, records.key, np.ones_like(records.value)
        if attack.ordered == "time":
            cuts = released.visits.offsets
            each_code = released.visits.place if own is None else own
            sequence = np.searchsorted(codes, each_code).astype(np.int32)
            times = records.value
        known = sequences(cuts, sequence, times, records)
        return lambda who, local: order(who, wanted, first, known, records, local), tell
    points = _points(attack, vectors)
    if attack.shared:
        exact = as_fraction(attack.tolerance)  # type: ignore[attr-defined]
        settles(int(vectors.visits.max()), 2 * exact.denominator, exact, "visits to one place")
        relative = bool(getattr(attack, "relative", False))
        near = Tolerance(exact.numerator, exact.denominator, relative)
        return lambda who, local: shares(who, wanted, first, records, points, near, local), tell
    return lambda who, local: each(who, wanted, first, records, points, local), tell


def _codes(attack: Attack, visits: "Visits") -> Ints:
    """Give the codes that an attack has of its own: one for each visit, a whole number."""
    given = attack.codes(visits)
    codes = _whole(given, f"{attack.name}: codes")
    if codes.shape != visits.place.shape:
        raise ArgumentError(
            f"{attack.name}: codes gives {codes.size:,} numbers for {len(visits.place):,} visits; "
            "there must be one for each"
        )
    return codes


def _whole(given: object, what: str) -> Ints:
    """Give whole numbers as such, and refuse others: rounding would make one code of several."""
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "iu":
        raise ArgumentError(f"{what} gives {numbers.dtype}, and must give whole numbers")
    if numbers.size and int(numbers.max()) >= 1 << 63:
        raise ArgumentError(f"{what} gives {int(numbers.max()):,}, which is beyond 64 bits")
    return numbers.astype(np.int64, copy=False)


def _points(attack: Attack, vectors: Vectors) -> Points:
    """Say of each entry how many points it is, and whom it fits."""
    number = vectors.visits
    total = np.repeat(vectors.total, np.diff(vectors.offsets))
    given = attack.between(number, total)
    if not isinstance(given, tuple | list) or len(given) != 3:  # noqa: PLR2004
        raise ArgumentError(f"{attack.name}: between gives three things: low, high, under")
    parts = [_whole(part, f"{attack.name}: between") for part in given]
    for part in parts:
        if part.shape not in ((), number.shape):
            raise ArgumentError(
                f"{attack.name}: between gives {part.size:,} numbers for {len(number):,} points"
            )
    low, high, under = (np.ascontiguousarray(np.broadcast_to(p, number.shape)) for p in parts)
    if int(under.min()) < 1:
        raise ArgumentError(f"{attack.name}: between divides by {int(under.min())}")
    largest = int(total.max()) if attack.divided else 1
    for part, factor in ((low, largest), (high, largest), (under, int(number.max()))):
        if max(int(part.max()), -int(part.min())) * factor >= LIMIT:
            raise ArgumentError(
                f"{attack.name}: {int(part.max()):,} times {factor:,} is too large to be compared "
                "exactly"
            )
    own = total if attack.divided else np.ones_like(total)
    if not np.all((low * own <= number * under) & (number * under <= high * own)):
        raise ArgumentError(f"{attack.name}: what is known of a person must fit herself")
    if attack.repeated and np.any(under != 1):
        raise ArgumentError(f"{attack.name}: points that are repeated are counted, not divided")
    # Each further point of a code asks for one more; she has all of them.
    if attack.repeated and np.any(low > 1):
        raise ArgumentError(f"{attack.name}: points that are repeated begin with 1, or lower")
    copies = number if attack.repeated else np.ones_like(number)
    return Points(copies.astype(np.int32), low, high, under)


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
