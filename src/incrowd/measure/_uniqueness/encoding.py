"""Traces: the distinct points of each person, as one flat array of codes (section 3.2).

A point is a place and a time slot (spatio-temporal), a place (spatial), or a time slot (temporal);
section 3.2 of *Uniqueness Assessment of Human Mobility on Multi-Sensor Datasets*, 2016. Each gets
one 64-bit code, so that comparing traces is comparing integers::

    Visits ──> codes (place and slot in one number) ──> sorted, distinct in each person ──> Points
                                                            │
                                  places, or slots alone <──┘ (`kinds_of`: sorted once for all)

How often a point occurs is how much of what is finer it stands for: visits of the input behind
each spatio-temporal point, slots behind a place, places behind a slot.

At the end: how places are distributed over people, and people over places (figure 3).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd._arguments import is_whole
from incrowd._numba import Ints, kernel
from incrowd._parallel import on_threads
from incrowd.data._visits import Visits
from incrowd.errors import ArgumentError, InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "KINDS",
    "Points",
    "exceeding",
    "join_sensors",
    "kind_of",
    "kinds_of",
    "people_at",
    "places_of",
    "points_of",
    "whole_number",
]


KINDS = ("spatio_temporal", "spatial", "temporal")
SPATIO_TEMPORAL, SPATIAL, TEMPORAL = range(3)
BLOCK = 1024
"""How many people are encoded at a time."""
ROOM = 2**62
"""Codes must stay below this, so that differences do not overflow."""
Counts = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The distinct points of each person, sorted by code.

    Attributes
    ----------
    code, weight
        The number of each point, and how often it occurs.
    cuts
        Where the points of each person start, sensor by sensor, and where the last ones end: those
        of person i and sensor j start at ``cuts[i * sensors + j]``.
    sensors
        How many sensors there are: 1, unless traces of several were put side by side.
    people
        The identifiers of the people.
    absent
        How many more people there are, who lack a sensor.
    """

    code: Ints
    weight: Counts
    cuts: Ints
    sensors: int
    people: "pl.Series"
    absent: int = 0

    def __len__(self) -> int:
        return (len(self.cuts) - 1) // self.sensors

    @property
    def offsets(self) -> Ints:
        """Where each person's points start, whatever the sensor."""
        return self.cuts[:: self.sensors]

    def lengths(self) -> Ints:
        """Return how many points each person has of each sensor, a row per person."""
        return np.diff(self.cuts).reshape(-1, self.sensors)


def points_of(
    visits: Visits, kind: str = "spatio_temporal", *, precision: int = 1, met: int = 3,
    threads: int = 1,
) -> Points:  # fmt: skip
    """Return the trace of each person.

    Parameters
    ----------
    visits
        Who was where, and when.
    kind
        ``"spatio_temporal"``, ``"spatial"`` (the set of places), or ``"temporal"`` (the slots in
        which enough places were met).
    precision
        How many time units of the visits make a slot.
    met
        How many places must be met in a slot for it to be in a temporal trace: 3 antennas or
        access points say that somebody moved; 1 POI says that she was in one.
    threads
        How many threads to use.
    """
    which = kind_of(kind)
    points, width = _places_and_slots(visits, precision, met, threads)
    return _project(points, which, width, int(met), threads) if which else points


def kinds_of(
    visits: Visits, *, precision: int = 1, met: int = 3, threads: int = 1
) -> Iterator[tuple[str, Points]]:
    """Yield the traces of every kind, one kind after another; the visits are sorted once.

    Each kind is that of `points_of`.
    """
    points, width = _places_and_slots(visits, precision, met, threads)
    for which, kind in enumerate(KINDS):
        yield kind, _project(points, which, width, int(met), threads) if which else points


def _places_and_slots(visits: Visits, precision: int, met: int, threads: int) -> tuple[Points, int]:
    """Return spatio-temporal traces, and the distance between the codes of two slots."""
    whole_number("precision", precision)
    whole_number("met", met)
    if not len(visits.place):
        raise InputError("there are no visits; uniqueness needs at least one")
    place, first, width = _compact_codes(visits, int(precision))
    code, weight = np.empty(len(place), np.int64), np.empty(len(place), np.int32)
    number = np.zeros(len(visits), np.int64)

    def work(start: int) -> None:
        _encode(
            place, visits.time, visits.offsets[start : start + BLOCK + 1], int(precision),
            first, width, code, weight, number[start : start + BLOCK],
        )  # fmt: skip

    for _ in on_threads(threads, work, range(0, len(visits), BLOCK)):
        pass
    return _without_gaps(code, weight, visits.offsets, number, visits.people), width


def _project(points: Points, kind: int, width: int, met: int, threads: int) -> Points:
    """Return the traces of places alone, or of slots alone."""
    code, weight = points.code.copy(), points.weight.copy()
    number = np.zeros(len(points), np.int64)

    def work(start: int) -> None:
        cuts = points.cuts[start : start + BLOCK + 1]
        _project_block(cuts, width, kind, met, code, weight, number[start : start + BLOCK])

    for _ in on_threads(threads, work, range(0, len(points), BLOCK)):
        pass
    return _without_gaps(code, weight, points.cuts, number, points.people)


def _without_gaps(
    code: Ints, weight: Counts, offsets: Ints, number: Ints, people: "pl.Series"
) -> Points:
    """Return points without the gaps that deduplication left behind each person's."""
    cuts = np.concatenate([[0], np.cumsum(number)])
    _move_together(code, weight, offsets, cuts)
    size = int(cuts[-1])
    return Points(code[:size], weight[:size], cuts, 1, people)


def join_sensors(traces: Mapping[str, Points]) -> Points:
    """Return traces of several sensors as one, for the people who have all of them.

    Codes of different sensors are kept apart; people are matched by their identifiers.
    """
    import polars as pl

    names = [points.people.cast(pl.String) for points in traces.values()]
    shared = names[0].filter(names[0].is_in(set.intersection(*(set(one) for one in names))))
    codes, weights, lengths, base = [], [], [], 0
    for points, own in zip(traces.values(), names, strict=True):
        order = pl.DataFrame({"user": shared}).join(
            pl.DataFrame({"user": own, "at": np.arange(len(own))}), on="user", how="left",
            maintain_order="left",
        )["at"].to_numpy()  # fmt: skip
        low, high = (int(points.code.min()), int(points.code.max())) if len(points.code) else (0, 0)
        if base + high - low >= ROOM:
            raise InputError("the places and times of these sensors are too many for 64-bit codes")
        codes.append([points.code[points.cuts[i] : points.cuts[i + 1]] - low + base for i in order])
        weights.append([points.weight[points.cuts[i] : points.cuts[i + 1]] for i in order])
        lengths.append(np.diff(points.cuts)[order])
        base += high - low + 1
    cuts = np.concatenate([[0], np.cumsum(np.stack(lengths, axis=1).reshape(-1))])
    code = [part for person in zip(*codes, strict=True) for part in person]
    weight = [part for person in zip(*weights, strict=True) for part in person]
    return Points(
        np.concatenate([np.zeros(0, np.int64), *code]),
        np.concatenate([np.zeros(0, np.int32), *weight]),
        cuts.astype(np.int64),
        len(traces),
        shared,
        len(set().union(*names)) - len(shared),
    )


def whole_number(name: str, value: object, least: int = 1) -> None:
    """Refuse what is not an integer, or too large for any dataset."""
    if not is_whole(value):
        raise ArgumentError(f"{name} must be an integer of at least {least}, not {value!r}")
    if not least <= value < 2**53:
        raise ArgumentError(f"{name} must be at least {least} and below 2**53, not {value!r}")


def kind_of(kind: str) -> int:
    """Return the number of a kind of trace."""
    if kind not in KINDS:
        raise ArgumentError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    return KINDS.index(kind)


def _compact_codes(visits: Visits, precision: int) -> tuple[Ints, int, int]:
    """Return places from 0, the first slot, and the distance between the codes of two slots."""
    place, time = visits.place, visits.time
    low, high = int(place.min()), int(place.max())
    first, last = int(time.min()) // precision, int(time.max()) // precision
    if (high - low + 1) * (last - first + 1) >= ROOM:
        # Numbers as far apart as cells of a whole continent, over years: count those that occur.
        distinct, place = np.unique(place, return_inverse=True)
        low, high = 0, len(distinct) - 1
        if (high + 1) * (last - first + 1) >= ROOM:
            raise InputError(
                "places and times are too many for 64-bit codes; set a larger precision"
            )
    return (place if low == 0 else place - low).astype(np.int64), first, high - low + 1


@kernel
def _encode(
    place: Ints,
    time: Ints,
    offsets: Ints,
    precision: int,
    first: int,
    width: int,
    code: Ints,
    weight: Counts,
    number: Ints,
) -> None:
    """Write the points of some people to where their visits start; count them."""
    for person in range(len(offsets) - 1):
        start, end = offsets[person], offsets[person + 1]
        mine = code[start:end]
        for i in range(end - start):
            mine[i] = (time[start + i] // precision - first) * width + place[start + i]
        mine.sort()
        number[person] = _distinct(mine, weight[start:end])


@kernel
def _project_block(
    cuts: Ints, width: int, kind: int, met: int, code: Ints, weight: Counts, number: Ints
) -> None:
    """Reduce points of some people to places alone, or to slots alone; count them."""
    for person in range(len(cuts) - 1):
        start, end = cuts[person], cuts[person + 1]
        mine, times = code[start:end], weight[start:end]
        if kind == SPATIAL:
            for i in range(len(mine)):
                mine[i] %= width
            mine.sort()
            number[person] = _distinct(mine, times)
            continue
        for i in range(len(mine)):
            mine[i] //= width
        kept = 0
        for i in range(_distinct(mine, times)):
            if times[i] >= met:
                mine[kept], times[kept] = mine[i], times[i]
                kept += 1
        number[person] = kept


@kernel
def _distinct(codes: Ints, weight: Counts) -> int:
    """Keep one of each of some sorted codes, with how often it occurs; return how many."""
    used = 0
    for i in range(len(codes)):
        if used == 0 or codes[used - 1] != codes[i]:
            codes[used], weight[used] = codes[i], 0
            used += 1
        weight[used - 1] += 1
    return used


@kernel
def _move_together(code: Ints, weight: Counts, offsets: Ints, cuts: Ints) -> None:
    """Move everybody's points to where those of the person before end."""
    for person in range(len(cuts) - 1):
        for i in range(cuts[person + 1] - cuts[person]):
            code[cuts[person] + i] = code[offsets[person] + i]
            weight[cuts[person] + i] = weight[offsets[person] + i]


def places_of(places: "Points") -> Ints:
    """Return how many places each person has, from a spatial trace."""
    return np.diff(places.cuts)


def people_at(places: "Points") -> Ints:
    """Return how many people each place has."""
    _, people = np.unique(places.code, return_counts=True)
    return people.astype(np.int64)


def exceeding(counts: Ints, values: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the share of counts above each value: the complementary distribution, P(X > x).

    Examples
    --------
    >>> import numpy as np
    >>> exceeding(np.array([1, 1, 3, 7]), np.array([0, 1, 5])).tolist()
    [1.0, 0.5, 0.25]
    """
    if not len(counts):
        return np.zeros(len(values))
    return 1 - np.searchsorted(np.sort(counts), values, side="right") / len(counts)
