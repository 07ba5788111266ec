"""`Visits`: which place each person visited, and when. Attacks and uniqueness work on these.

::

    Trajectories ──> visits() ────┐
    rows ──> Visits.from_rows ────┼──> Visits ──> frequencies() ──> Vectors
    files ──> read_visits ────────┘

A place is an integer code: a cell of the grid, an antenna, an access point, a point of interest.
Like `Trajectories`, one flat array per column, cut into people by `offsets`; a person's visits are
sorted by (time, place), and repeated ones are kept.

`Vectors` (in `_vectors`) tell how often each person was at which place.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from incrowd._format import people as _people
from incrowd._format import several
from incrowd._summary import Summarised, Summary
from incrowd.data._columns import (
    as_polars,
    encode_users,
    frozen,
    integer_column,
    person_indices,
    samples_of,
)
from incrowd.data._frame import Frame
from incrowd.data._one_each import one_each
from incrowd.data._trajectories import Trajectories
from incrowd.data._vectors import Vectors, count
from incrowd.errors import ArgumentError, ColumnError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data._io.reading_report import Reading

__all__ = [
    "Visits",
    "is_named",
    "visits",
]


Longs = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PersonVisits:
    """The visits of one person, as views into the columns of all."""

    user: Any
    place: Longs
    time: Longs

    def __len__(self) -> int:
        return len(self.place)

    def __repr__(self) -> str:
        """Return how much there is of her, and not who she is."""
        return f"PersonVisits({len(self):,} visits, {len(np.unique(self.place)):,} places)"


class Visits(Summarised):
    """Visits of people to places.

    Made by :func:`incrowd.visits`, :func:`incrowd.read_visits` or :meth:`from_rows`.

    Parameters
    ----------
    place, time
        The code of each visit's place, and its time, as integers (int64).
    offsets
        Where each person's visits start, and where the last one's end.
    people
        The identifiers of the people in the input; counted from 0 if not given.
    places
        The name behind each place code (None: the codes are the names, or cells of the grid).
    frame
        The grid whose slots the times count, if they count any: it tells what a time is in UTC.
    reading
        What was found and rejected when the visits were read by :func:`incrowd.read_visits`.

    Examples
    --------
    >>> from incrowd import Visits
    >>> visits = Visits.from_rows({"user": [7, 7, 9], "place": [2, 1, 1], "time": [5, 5, 4]})
    >>> visits
    Visits(2 people, 3 visits, 2 places)
    >>> visits[0].place.tolist()
    [1, 2]
    """

    __slots__ = ("frame", "offsets", "people", "place", "places", "reading", "time")
    place: Longs
    time: Longs
    offsets: Longs
    people: "pl.Series"
    places: "pl.Series | None"
    frame: Frame | None
    reading: "Reading | None"

    def __init__(
        self,
        place: Longs,
        time: Longs,
        offsets: Longs,
        *,
        people: "pl.Series | None" = None,
        places: "pl.Series | None" = None,
        frame: Frame | None = None,
        reading: "Reading | None" = None,
    ) -> None:
        import polars as pl

        n = len(offsets) - 1
        if len(place) != len(time) or n < 0 or offsets[0] != 0 or offsets[-1] != len(place):
            raise ArgumentError(
                "place and time must have the same length; offsets must start at 0 and end there"
            )
        _check_order(np.asarray(place), np.asarray(time), np.asarray(offsets))
        if people is None:
            people = pl.Series("user", np.arange(n, dtype=np.int64))
        if len(people) != n:
            raise ArgumentError(
                f"people has {len(people)} identifiers for {n} people; it needs one for each"
            )
        object.__setattr__(self, "place", frozen(np.asarray(place, np.int64)))
        object.__setattr__(self, "time", frozen(np.asarray(time, np.int64)))
        object.__setattr__(self, "offsets", frozen(np.asarray(offsets, np.int64)))
        object.__setattr__(self, "people", people.alias("user"))
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "frame", frame)
        object.__setattr__(self, "reading", reading)

    @classmethod
    def of(cls, data: object) -> "Visits":
        """Return `data` if it is Visits, the visits behind Trajectories, and refuse all else."""
        if isinstance(data, Trajectories):
            return visits(data)
        if not isinstance(data, cls):
            raise ArgumentError(
                f"visits must be Visits or Trajectories, not {type(data).__name__}; make them with "
                "incrowd.read_visits or incrowd.read (files, tables), or Visits.from_rows"
            )
        return data

    @classmethod
    def from_rows(cls, table: Any) -> "Visits":
        """Make visits from a table of rows.

        Parameters
        ----------
        table
            A Polars, Arrow or pandas frame (or a dict of columns) with the columns user, place
            and time; place and time are integers. Rows may come in any order; repeated rows are
            kept; people keep the order of their first rows.

        Returns
        -------
        Visits
            The visits of each person, sorted by (time, place).

        Raises
        ------
        InputError
            If a column is missing or holds something else.

        Examples
        --------
        >>> from incrowd import Visits
        >>> Visits.from_rows({"user": ["ann", "bob"], "place": [4, 4], "time": [0, 9]})
        Visits(2 people, 2 visits, 1 place)
        """
        frame = as_polars(table)
        if "user" not in frame.columns:
            raise ColumnError(f"no column 'user'; found: {', '.join(frame.columns) or 'none'}")
        place = integer_column(frame, "place", bits=64)
        time = integer_column(frame, "time", bits=64)
        person, people = encode_users(frame["user"])
        return cls(*_group_by_person(person, place, time, len(people)), people=people)

    def rows(self) -> "pl.DataFrame":
        """Return the visits as a table: user, place, time.

        The table names people: do not print or save it where others read, such as in a notebook.
        """
        import polars as pl

        who = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))
        user = self.people.gather(pl.Series(who))
        return pl.DataFrame([user, pl.Series("place", self.place), pl.Series("time", self.time)])

    def frequencies(self) -> "Vectors":
        """Return the frequency vector of each person: her places, most visited first.

        Examples
        --------
        >>> visits = Visits.from_rows({"user": [7] * 3, "place": [2, 1, 1], "time": [1, 2, 3]})
        >>> vectors = visits.frequencies()
        >>> vectors.place.tolist(), vectors.visits.tolist()
        ([1, 2], [2, 1])
        >>> vectors.probability.round(2).tolist()
        [0.67, 0.33]
        """
        return count(self.place, self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[PersonVisits]:
        return (self[index] for index in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> PersonVisits: ...
    @overload
    def __getitem__(self, index: slice | npt.ArrayLike) -> "Visits": ...
    def __getitem__(self, index: Any) -> "PersonVisits | Visits":
        """Return one person by index; or several, by slice, by indices or by a mask."""
        if isinstance(index, int | np.integer):
            i = range(len(self))[int(index)]
            span = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
            return PersonVisits(self.people[i], self.place[span], self.time[span])
        who = person_indices(index, len(self))
        row, offsets = samples_of(who, self.offsets)
        return Visits(
            self.place[row], self.time[row], offsets, people=self.people[who], places=self.places,
            frame=self.frame, reading=self.reading,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        """Return whether people, places and times are the same.

        As with `Trajectories`, identifiers count as equal when they read the same; the grid and
        what was rejected while reading do not count.
        """
        import polars as pl

        if not isinstance(other, Visits):
            return NotImplemented
        if (self.places is None) != (other.places is None):
            return False
        return (
            np.array_equal(self.place, other.place)
            and np.array_equal(self.time, other.time)
            and np.array_equal(self.offsets, other.offsets)
            and all(
                a is None or b is None or a.cast(pl.String).equals(b.cast(pl.String))
                for a, b in ((self.people, other.people), (self.places, other.places))
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Visits are immutable: cannot set {name!r}")

    def __repr__(self) -> str:
        visits = several(len(self.place), "visit")
        places = several(len(np.unique(self.place)), "place")
        return f"Visits({_people(len(self))}, {visits}, {places})"

    def _summary(self) -> Summary:
        facts = {
            "visits": f"{len(self.place):,}",
            "places": f"{len(np.unique(self.place)):,}",
            "names of places": "of the input" if self.places is not None else "none (codes)",
        }
        return Summary(f"Visits of {_people(len(self))}", facts)


def visits(data: Trajectories) -> Visits:
    """Return the visits behind trajectories.

    A sample is a visit to its place (antenna, venue, zone) where the input named one, and to its
    cell of the grid otherwise; its time is its first slot. A cell ``(x, y)`` has the code
    ``x * 2**32 + y``; where other samples have a name, cells are numbered after the names. Where
    samples are larger than a cell (after a merge), each rectangle that occurs is a place of its
    own, numbered in the order of ``(x0, x1, y0, y1)``. A trajectory that stands for a crowd gives
    everybody in it the same visits, as a release does.

    Parameters
    ----------
    data
        The trajectories.

    Returns
    -------
    Visits
        One visit per sample, of the same people.

    Examples
    --------
    >>> import incrowd
    >>> data = incrowd.Trajectories.from_boxes(
    ...     {"user": [1, 1, 2], "x0": [0, 0, 5], "y0": [2, 2, 2], "t0": [0, 9, 3]})
    >>> incrowd.visits(data)
    Visits(2 people, 3 visits, 2 places)
    """
    data = one_each(Trajectories.of(data))
    names = data.places
    named = is_named(data)
    if data.place is not None and named.all():
        place = data.place.astype(np.int64)
    elif data.place is not None and named.any():
        place, names = _with_cells(data, named)
    elif bool(np.all(data.x1 - data.x0 == 1) and np.all(data.y1 - data.y0 == 1)):
        place = data.x0.astype(np.int64) * 2**32 + data.y0
    else:
        place = _encode_rectangles(data.x0, data.x1, data.y0, data.y1)
    columns = _group_by_person(data.person(), place, data.t0.astype(np.int64), len(data))
    known = names if named.any() else None
    return Visits(*columns, people=data.people, places=known, frame=data.frame)


def _encode_rectangles(x0: Shorts, x1: Shorts, y0: Shorts, y1: Shorts) -> Longs:
    """Return codes for rectangles in the order of their sides, equal ones alike.

    Both sides of an axis are packed into one number; sorting numbers is many times faster than
    sorting rows.
    """
    ranks = []
    for low, high in ((x0, x1), (y0, y1)):
        packed = (low.astype(np.int64) << 32) + (high.astype(np.int64) + 2**31)
        values, rank = np.unique(packed, return_inverse=True)
        ranks.append((rank.astype(np.int64), len(values)))
    (across, _), (along, many) = ranks
    _, rank = np.unique(across * many + along, return_inverse=True)
    return rank.astype(np.int64)


def is_named(data: Trajectories) -> npt.NDArray[np.bool_]:
    """Return which samples have a place with a name (numbers are names, too)."""
    if data.place is None:
        return np.zeros(data.samples, np.bool_)
    if data.places is None:
        return np.ones(data.samples, np.bool_)
    named: npt.NDArray[np.bool_] = (data.places != "").to_numpy()[data.place]
    return named


def _with_cells(data: Trajectories, named: npt.NDArray[np.bool_]) -> tuple[Longs, "pl.Series"]:
    """Return places that have a name, and cells for samples without, in one numbering."""
    import polars as pl

    assert data.place is not None and data.places is not None  # noqa: S101, PT018
    sides = np.stack([side[~named] for side in (data.x0, data.x1, data.y0, data.y1)], axis=1)
    cells, cell = np.unique(sides, axis=0, return_inverse=True)
    place = data.place.astype(np.int64)
    place[~named] = len(data.places) + cell.reshape(-1)
    texts = [f"cell {x0}, {y0}" for x0, _, y0, _ in cells.tolist()]
    return place, pl.concat([data.places.cast(pl.String), pl.Series(texts, dtype=pl.String)])


def _check_order(place: Longs, time: Longs, offsets: Longs) -> None:
    """Refuse visits that are not cut and ordered as `Visits` promises."""
    if bool(np.any(np.diff(offsets) < 0)):
        raise ArgumentError("offsets must never decrease")
    if _is_unsorted(place, time, offsets):
        raise ArgumentError("the visits of each person must be sorted by time, then place")


def _is_unsorted(place: Longs, time: Longs, offsets: Longs) -> bool:
    """Return whether any visit should come before the one before it."""
    earlier = (time[1:] < time[:-1]) | ((time[1:] == time[:-1]) & (place[1:] < place[:-1]))
    # Where people change, anything goes.
    earlier[offsets[(offsets > 0) & (offsets < len(time))] - 1] = False
    return bool(earlier.any())


def _group_by_person(
    person: npt.NDArray[np.int32], place: Longs, time: Longs, n: int
) -> tuple[Longs, Longs, Longs]:
    """Return visits sorted by (person, time, place), and offsets."""
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(person, minlength=n), out=offsets[1:])
    # Trajectories are in the order of people and time, so that mostly nothing is left to sort.
    if bool(np.all(person[1:] >= person[:-1])) and not _is_unsorted(place, time, offsets):
        return place, time, offsets
    order = np.lexsort((place, time, person))
    return place[order], time[order], offsets
