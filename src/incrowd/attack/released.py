"""What an attack looks at, laid out for its search, and what it found, said in places and times."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd.attack.attacks import LIMIT, Attack, Visit, as_fraction, settles
from incrowd.attack.each import each
from incrowd.attack.order import order, sequences
from incrowd.attack.records import Points, Records, index
from incrowd.attack.shares import Tolerance, shares
from incrowd.compiled import Ints
from incrowd.data.vectors import Vectors, count
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data.visits import Visits

__all__ = ["Released", "Search", "Tell", "prepare"]

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
