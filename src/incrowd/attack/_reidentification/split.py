"""What trains an adversary, and what people are to be re-identified in: a train/test split.

::

    visits ──> entries ──┬── the first share of each person's ──> train ──┬──> counts of places
    (known ──> entries ──┘)  the rest ──────────────────────────> test  ──┴──> counts of transitions

Section 3.4 of the paper of 2016 trains on the first 70 % of each person's points. A trace has one
entry for each place and time slot (section 3.2): who stays an hour at a place is there once. Places
are numbered from 0 in the order of their codes, people as they come in the visits.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from incrowd._numba import Ints, kernel
from incrowd._parallel import on_threads
from incrowd.data._columns import frozen
from incrowd.data._vectors import Vectors, count
from incrowd.errors import ArgumentError, InputError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data._visits import Visits

__all__ = [
    "TrainTestSplit",
    "share_of",
    "train_test_split",
]


BLOCK = 4096
"""The entries of how many people are found at a time."""


class Traces(NamedTuple):
    """The entries of people: places by their numbers, and where each person's start."""

    place: Ints
    offsets: Ints


@dataclass(frozen=True, slots=True)
class TrainTestSplit:
    """The training and the test entries of everybody who has both.

    Attributes
    ----------
    train, test
        Entries, of the same people in the same order.
    places
        How many places there are.
    who, known
        The people, as indices of the visits, and of what is known.
    excluded
        How many people were left out, by the reason.
    """

    train: Traces
    test: Traces
    places: int
    who: Ints
    known: Ints
    excluded: dict[str, int]

    def visits(self, threads: int) -> tuple[Vectors, Vectors]:
        """Return how often people were at each place, in training and in test."""
        return count(*self.train, threads=threads), count(*self.test, threads=threads)

    def transitions(self, threads: int) -> tuple[Vectors, Vectors]:
        """Return how often people went from each place to each, in training and in test."""
        train, test = (_steps(traces, self.places) for traces in (self.train, self.test))
        return count(*train, threads=threads), count(*test, threads=threads)


def share_of(share: float | str | Fraction | None, *, other: bool) -> Fraction | None:
    """Return a share as it was written: 0.7 is seven tenths; None needs another dataset."""
    if share is None:
        if not other:
            raise ArgumentError("share=None needs known, another dataset of the same people")
        return None
    text = str(share)
    try:
        # A number with a huge exponent would take forever to be written out; no share has one.
        near = Fraction(text) if "/" in text else float(text)
        exact = Fraction(text) if 0 < near < 1 or math.isnan(near) else Fraction(0)
    except (ValueError, ZeroDivisionError) as error:
        raise ArgumentError(f"share must be a number between 0 and 1, not {share!r}") from error
    if not 0 < exact < 1:
        raise ArgumentError(
            f"share must be between 0 and 1, exclusive, not {share}; both training and test need "
            "entries"
        )
    return exact


def train_test_split(
    visits: "Visits",
    known: "Visits | None",
    share: Fraction | None,
    precision: int,
    threads: int,
) -> TrainTestSplit:
    """Split the traces of people into training and test.

    Without a share, all that is known trains, and all visits are tested.
    """
    excluded: dict[str, int] = {}
    if known is None:
        codes = _codes(visits.place)
        train = test = _traces(visits.place, visits, codes, precision, threads)
        trained = tested = np.arange(len(visits))
    else:
        tested, trained, excluded = _same_people(visits, known)
        place = _as_known(visits, known)
        codes = _codes(place, known.place)
        test = _traces(place, visits, codes, precision, threads)
        train = _traces(known.place, known, codes, precision, threads)
    learned = np.diff(train.offsets)[trained]
    skipped, size = np.zeros_like(learned), np.diff(test.offsets)[tested]
    if share is not None:
        learned, skipped = _part(learned, share), _part(size, share)
    left = size - skipped
    excluded["nothing to train on"] = int(np.sum(learned == 0))
    excluded["nothing to test"] = int(np.sum((learned > 0) & (left == 0)))
    kept = (learned > 0) & (left > 0)
    if not kept.any():
        reasons = [f"{number:,} {reason}" for reason, number in excluded.items() if number]
        raise InputError(f"there is nobody to re-identify: {', '.join(reasons) or 'no people'}")
    return TrainTestSplit(
        _taken(train, train.offsets[trained[kept]], learned[kept]),
        _taken(test, (test.offsets[tested] + skipped)[kept], left[kept]),
        len(codes),
        tested[kept],
        trained[kept],
        excluded,
    )


def _same_people(visits: "Visits", known: "Visits") -> tuple[Ints, Ints, dict[str, int]]:
    """Return who is in both, by identifiers that read the same."""
    import polars as pl

    tables = []
    for each, index in ((visits, "first"), (known, "second")):
        names = each.people.cast(pl.String)
        if names.n_unique() < len(names):
            raise InputError(
                "people of two datasets are matched by identifiers; some identifiers occur twice"
            )
        tables.append(pl.DataFrame({"user": names, index: np.arange(len(each))}))
    both = tables[0].join(tables[1], on="user", maintain_order="left")
    excluded = {
        "only in the visits": len(visits) - len(both),
        "only in what is known": len(known) - len(both),
    }
    return both["first"].to_numpy(), both["second"].to_numpy(), excluded


def _as_known(visits: "Visits", known: "Visits") -> Ints:
    """Return the places of visits, with the codes that their names have in what is known."""
    if (visits.places is None) != (known.places is None):
        both = ("visits", "known") if known.places is None else ("known", "visits")
        raise InputError(
            "places of {} have names and places of {} have none; they cannot be matched".format(
                *both
            )
        )
    if visits.places is None or known.places is None:
        return visits.place
    code = {name: i for i, name in reversed(list(enumerate(_texts(known.places))))}
    names = enumerate(_texts(visits.places), len(known.places))
    own = np.array([code.get(name, new) for new, name in names], np.int64)
    # Read-only as all visits are, so that the kernel is not compiled once more.
    return np.asarray(frozen(own[visits.place]))


def _texts(names: "pl.Series") -> list[str | None]:
    import polars as pl

    return names.cast(pl.String).to_list()


def _codes(*places: Ints) -> Ints:
    """Return all codes that occur, in order."""
    import polars as pl

    # Most are repeated very often, so finding them is quicker than sorting them all.
    every = pl.concat([pl.Series(place).unique() for place in places])
    return every.unique().sort().to_numpy().astype(np.int64)


def _traces(place: Ints, visits: "Visits", codes: Ints, precision: int, threads: int) -> Traces:
    """Return the entries of everybody."""

    def work(first: int) -> tuple[Ints, Ints]:
        cuts = visits.offsets[first : first + BLOCK + 1]
        return _entries(place, visits.time, cuts, precision, codes)

    parts = list(on_threads(threads, work, range(0, len(visits), BLOCK)))
    none = [np.zeros(0, np.int64)]
    found, size = (np.concatenate([part[i] for part in parts] or none) for i in range(2))
    return Traces(found, np.concatenate([[0], np.cumsum(size)]).astype(np.int64))


@kernel
def _entries(
    place: Ints, time: Ints, offsets: Ints, precision: int, codes: Ints
) -> tuple[Ints, Ints]:
    """Return the entries of some people (numbers of places), and how many each person has."""
    people = len(offsets) - 1
    found, size = np.empty(offsets[-1] - offsets[0], np.int64), np.zeros(people, np.int64)
    used = 0
    for person in range(people):
        before, i, end = used, offsets[person], offsets[person + 1]
        while i < end:
            slot, start = time[i] // precision, used
            while i < end and time[i] // precision == slot:
                found[used] = np.searchsorted(codes, place[i])
                used, i = used + 1, i + 1
            here = found[start:used]
            here.sort()
            used = start
            for one in here:
                if used == start or found[used - 1] != one:
                    found[used] = one
                    used += 1
        size[person] = used - before
    return found[:used].copy(), size


def _part(size: Ints, share: Fraction) -> Ints:
    """Return how many entries are a share of so many, rounded down."""
    # In Python's numbers, which never overflow: the share may have any number of digits.
    sizes, which = np.unique(size, return_inverse=True)
    parts = [int(n) * share.numerator // share.denominator for n in sizes]
    return np.array(parts, np.int64)[which]


def _taken(traces: Traces, start: Ints, size: Ints) -> Traces:
    """Return so many entries of each person, from the given ones on."""
    offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    row = np.repeat(start - offsets[:-1], size) + np.arange(offsets[-1])
    return Traces(traces.place[row], offsets)


def _steps(traces: Traces, places: int) -> Traces:
    """Return a code for every transition from an entry of a person to the next."""
    within = np.ones(len(traces.place) - 1, np.bool_)
    within[traces.offsets[1:-1] - 1] = False
    codes = traces.place[:-1] * places + traces.place[1:]
    return Traces(codes[within], traces.offsets - np.arange(len(traces.offsets)))
