"""`Trajectories`: who was where and when, as boxes of integers.

One flat array per column; `offsets` cut the columns into people, as in Arrow lists::

    offsets   0         3      5          person 0 has samples 0, 1, 2; person 1 has 3, 4
    t0        4  4  9   1  7
    x0        ...

A sample is a half-open box ``[x0, x1) x [y0, y1) x [t0, t1)`` in cells and slots of the
:class:`~incrowd.data._frame.Frame`. Within a person samples are distinct and sorted by
``(t0, t1, x0, x1, y0, y1)``. Nothing can be changed after it is made.

Identifiers of the input stay in one place, `people`, and nowhere else: every other part of
incrowd counts people from 0, in the order in which they first appear.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from incrowd._arguments import must_be
from incrowd._format import people as _people
from incrowd._format import several
from incrowd._summary import Summarised, Summary
from incrowd.data._columns import (
    COLUMNS,
    Columns,
    boxes_from_table,
    check_order,
    encode_users,
    frozen,
    group_by_person,
    person_indices,
    samples_of,
)
from incrowd.data._frame import Frame, Ints
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    import geopandas as gpd
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from incrowd.data._io.reading_report import Reading

__all__ = [
    "Trajectories",
    "Trajectory",
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trajectory:
    """The samples of one person (or of one crowd), as views into the columns of all."""

    user: Any
    crowd: int
    x0: Ints
    x1: Ints
    y0: Ints
    y1: Ints
    t0: Ints
    t1: Ints

    def __len__(self) -> int:
        return len(self.t0)

    def __repr__(self) -> str:
        """Return how much there is of her, and not who she is."""
        whose = "one person" if self.crowd == 1 else f"a crowd of {self.crowd:,}"
        return f"Trajectory({len(self):,} samples of {whose})"


class Trajectories(Summarised):
    """Trajectories of people, or of crowds of people, as boxes in space and time.

    Made by :func:`incrowd.read`, :func:`incrowd.synthesize`, :meth:`from_boxes` or :meth:`load`.

    Parameters
    ----------
    columns
        The six arrays x0, x1, y0, y1, t0, t1 (int32), all of one length.
    offsets
        Where each person's samples start, and where the last one's end (int64).
    frame
        The grid on which the boxes lie.
    people
        The identifiers of the people in the input; counted from 0 if not given.
    crowd
        How many people each trajectory stands for; 1 if not given.
    place
        A code for the place (antenna, venue, zone) of each sample, where the input had one.
    places
        The name behind each code, if the codes are not the names themselves.
    reading
        What was found, used and rejected when the data was read.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd import Trajectories
    >>> data = Trajectories.from_boxes(
    ...     pl.DataFrame({"user": ["ann", "bob", "ann"], "x0": [3, 3, 4], "y0": [1, 1, 2],
    ...                   "t0": [60, 61, 0]}))
    >>> data
    Trajectories(2 people, 3 samples, cells of 100 m, slots of 1 min, no projection)
    >>> [(person.user, person.t0.tolist()) for person in data]
    [('ann', [0, 60]), ('bob', [61])]
    """

    __slots__ = (
        "crowd",
        "frame",
        "offsets",
        "people",
        "place",
        "places",
        "reading",
        "t0",
        "t1",
        "x0",
        "x1",
        "y0",
        "y1",
    )
    x0: Ints
    x1: Ints
    y0: Ints
    y1: Ints
    t0: Ints
    t1: Ints
    offsets: npt.NDArray[np.int64]
    crowd: Ints
    frame: Frame
    people: "pl.Series"
    place: Ints | None
    places: "pl.Series | None"
    reading: "Reading | None"

    def __init__(
        self,
        columns: Columns,
        offsets: npt.NDArray[np.int64],
        frame: Frame | None = None,
        *,
        people: "pl.Series | None" = None,
        crowd: Ints | None = None,
        place: Ints | None = None,
        places: "pl.Series | None" = None,
        reading: "Reading | None" = None,
    ) -> None:
        import polars as pl

        n = len(offsets) - 1
        check_order(columns, offsets)
        if people is None:
            people = pl.Series("user", np.arange(n, dtype=np.int64))
        if len(people) != n:
            raise ArgumentError(
                f"people has {len(people)} identifiers for {n} trajectories; it needs one for each"
            )
        crowd = np.ones(n, np.int32) if crowd is None else np.asarray(crowd, np.int32)
        if len(crowd) != n or (n and int(crowd.min()) < 1):
            raise ArgumentError("crowd must hold a positive integer for each trajectory")
        if place is not None and len(place) != offsets[-1]:
            raise ArgumentError(
                f"place has {len(place)} codes for {offsets[-1]} samples; it needs one for each"
            )
        values: dict[str, Any] = dict(zip(COLUMNS, columns, strict=True))
        values |= {"offsets": np.asarray(offsets, np.int64), "crowd": crowd, "place": place}
        for name, array in values.items():
            object.__setattr__(self, name, frozen(array))
        object.__setattr__(self, "frame", Frame() if frame is None else frame)
        object.__setattr__(self, "people", people.alias("user"))
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "reading", reading)

    @classmethod
    def from_boxes(cls, table: Any, frame: Frame | None = None) -> "Trajectories":
        """Make trajectories from a table of boxes in grid units.

        Parameters
        ----------
        table
            A Polars, Arrow or pandas frame (or a dict of columns) with the columns user, x0, y0,
            t0 and, unless every box is one cell and one slot, x1, y1, t1. Rows may come in any
            order; equal boxes of a person collapse; people keep the order of their first rows.
        frame
            The grid on which the boxes lie.

        Returns
        -------
        Trajectories
            One trajectory per user.

        Raises
        ------
        InputError
            If a column is missing or holds something else, or a box is empty.

        Examples
        --------
        >>> from incrowd import Trajectories
        >>> boxes = {"user": [7, 7], "x0": [3, 4], "x1": [5, 6], "y0": [1, 2], "t0": [60, 0]}
        >>> Trajectories.from_boxes(boxes).boxes().rows()
        [(7, 4, 6, 2, 3, 0, 1), (7, 3, 5, 1, 2, 60, 61)]
        """
        users, columns = boxes_from_table(table)
        person, people = encode_users(users)
        return cls(*group_by_person(person, columns, len(people)), frame, people=people)

    def boxes(self) -> "pl.DataFrame":
        """Return the samples as a table in cells and slots: user, x0, x1, y0, y1, t0, t1.

        The table names people: do not print or save it where others read, such as in a notebook.
        """
        import polars as pl

        user = self.people.gather(pl.Series(self.person()))
        return pl.DataFrame([user] + [pl.Series(name, getattr(self, name)) for name in COLUMNS])

    def person(self) -> Ints:
        """Return the index of the person behind each sample."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.lengths())

    def lengths(self) -> npt.NDArray[np.int64]:
        """Return the number of samples of each person."""
        return np.diff(self.offsets)

    @property
    def columns(self) -> Columns:
        """The six arrays x0, x1, y0, y1, t0, t1."""
        return self.x0, self.x1, self.y0, self.y1, self.t0, self.t1

    @property
    def samples(self) -> int:
        """The number of samples of all people."""
        return len(self.t0)

    @property
    def original(self) -> bool:
        """Whether every sample is one cell and one slot, as it was before any merge."""
        sides = ((self.x0, self.x1), (self.y0, self.y1), (self.t0, self.t1))
        return all(bool(np.all(end - start == 1)) for start, end in sides)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Trajectory]:
        return (self[index] for index in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice | npt.ArrayLike) -> "Trajectories": ...
    def __getitem__(self, index: Any) -> "Trajectory | Trajectories":
        """Return one person by index; or several, by slice, by indices or by a mask."""
        if isinstance(index, int | np.integer):
            i = range(len(self))[int(index)]
            start, end = self.offsets[i], self.offsets[i + 1]
            views = (column[start:end] for column in self.columns)
            return Trajectory(self.people[i], int(self.crowd[i]), *views)
        who = person_indices(index, len(self))
        sample, offsets = samples_of(who, self.offsets)
        place = None if self.place is None else self.place[sample]
        return Trajectories(
            tuple(column[sample] for column in self.columns),
            offsets,
            self.frame,
            people=self.people[who],
            crowd=self.crowd[who],
            place=place,
            places=self.places,
            reading=self.reading,
        )

    @classmethod
    def of(cls, data: object, name: str = "data") -> "Trajectories":
        """Return `data` if it is Trajectories, and refuse everything else, by its name."""
        how = "incrowd.read (files, tables) or Trajectories.from_boxes (boxes on a grid)"
        return must_be(name, data, cls, f"make them with {how}")

    def keep(self, mask: npt.NDArray[np.bool_]) -> "Trajectories":
        """Return the same people with only the samples of `mask`; who has none left is dropped."""
        mask = np.asarray(mask)
        if mask.dtype != np.bool_ or mask.shape != (self.samples,):
            raise ArgumentError(
                f"mask must be a boolean array with a value for each of the {self.samples} samples"
            )
        kept = np.concatenate([[0], np.cumsum(mask)])[self.offsets]
        whole = Trajectories(
            tuple(column[mask] for column in self.columns),
            kept,
            self.frame,
            people=self.people,
            crowd=self.crowd,
            place=None if self.place is None else self.place[mask],
            places=self.places,
            reading=self.reading,
        )
        present = np.diff(kept) > 0
        return whole if bool(present.all()) else whole[present]

    def place_names(self) -> "pl.Series | None":
        """Return the name of each sample's place in the input, or None if it named no places."""
        import polars as pl

        if self.place is None:
            return None
        codes = pl.Series("place", self.place)
        return codes if self.places is None else self.places.gather(codes).alias("place")

    def __eq__(self, other: object) -> bool:
        """Return whether grid, people, crowds, boxes and places are the same.

        Identifiers count as equal when they read the same: a file of text does not tell 7 from
        "7". What was rejected while reading does not count.
        """
        if not isinstance(other, Trajectories):
            return NotImplemented
        if self.frame != other.frame or (self.place is None) != (other.place is None):
            return False
        mine: list[Any] = [*self.columns, self.offsets, self.crowd]
        theirs: list[Any] = [*other.columns, other.offsets, other.crowd]
        return all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True)) and all(
            a is None or b is None or _as_text(a).equals(_as_text(b))
            for a, b in (
                (self.people, other.people),
                (self.place_names(), other.place_names()),
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Trajectories are immutable: cannot set {name!r}")

    def __repr__(self) -> str:
        crowds = "" if len(self) == int(self.crowd.sum()) else f" in crowds of {self.crowd.min()}+"
        where = "no projection" if self.frame.crs is None else self.frame.crs.split(" +datum")[0]
        slot = self.frame.slot
        length = f"{slot // 60} min" if slot % 60 == 0 else f"{slot} s"
        return (
            f"Trajectories({_people(int(self.crowd.sum()))}{crowds}, "
            f"{several(self.samples, 'sample')}, cells of {self.frame.cell:g} m, "
            f"slots of {length}, {where})"
        )

    def _summary(self) -> Summary:
        frame, people = self.frame, int(self.crowd.sum())
        facts = {"samples": f"{self.samples:,}"}
        if people != len(self):
            crowds = f"{len(self):,} of {int(self.crowd.min()):,} to {int(self.crowd.max()):,}"
            facts = {"crowds": f"{crowds} people", **facts}
        if self.samples:
            sides = ((self.x0, self.x1), (self.y0, self.y1))
            wide, high = ((int(b.max()) - int(a.min())) * frame.cell / 1000 for a, b in sides)
            first, last = frame.times([int(self.t0.min()), int(self.t1.max())]).astype(str)
            facts |= {"from": f"{first} UTC", "to": f"{last} UTC"}
            facts |= {"area": f"{wide:,.1f} by {high:,.1f} km"}
        facts |= {"grid": f"cells of {frame.cell:g} m, slots of {frame.slot:,} s"}
        facts |= {"projection": frame.crs or "none"}
        return Summary(f"Trajectories of {_people(people)}", facts)

    def to_arrow(self) -> "pa.Table":
        """Return an Arrow table: a row per person, a list per column; without copying."""
        from incrowd.data._parquet import to_arrow

        return to_arrow(self)

    @classmethod
    def from_arrow(cls, table: "pa.Table") -> "Trajectories":
        """Return the trajectories of a table that `to_arrow` made, without copying."""
        from incrowd.data._parquet import from_arrow

        return from_arrow(table)

    def to_polars(self) -> "pl.DataFrame":
        """Return a Polars frame: a row per person, a list per column; without copying.

        The table names people: do not print or save it where others read, such as in a notebook.
        """
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)  # noqa: S101  a table gives a frame
        return frame

    @classmethod
    def from_polars(
        cls, table: "pl.DataFrame", frame: Frame | None = None, places: "pl.Series | None" = None
    ) -> "Trajectories":
        """Return the trajectories of a frame that `to_polars` made, without copying.

        A Polars frame keeps neither the grid nor the names of places, so they are given again.
        """
        from incrowd.data._parquet import from_polars

        return from_polars(table, Frame() if frame is None else frame, places)

    def to_pandas(self) -> "pd.DataFrame":
        """Return a pandas frame: a row per sample, in degrees, metres and UTC.

        The table names people: do not print or save it where others read, such as in a notebook.

        Columns are named as in a release: user; t_start and t_end (UTC, the end not included); lon
        and lat, of the centre; x_min, y_min, x_max, y_max, the sides in metres on the plane
        ``frame.crs``; and place, where the input named places. Where trajectories stand for crowds,
        user is trajectory (of GLOVE: counted from 0), and crowd says how many people each one
        stands for. `boxes` has the same in cells and slots, for grids without a projection as well.

        There is no lon_min or lat_max: a box is a rectangle on the plane and not between
        meridians, so that these would tell of another one. `to_geopandas` gives its outline in
        degrees.

        Raises
        ------
        ArgumentError
            If the grid has no projection, or pandas is not installed.

        Examples
        --------
        >>> import incrowd
        >>> city = incrowd.synthesize("city", users=10, seed=7)
        >>> first = city.to_pandas().iloc[0]
        >>> print(first["user"], first["t_start"], first["lon"].round(4), first["lat"].round(4))
        1 2012-03-05 01:08:00+00:00 -5.5068 7.4905
        """
        from incrowd.data._tables import to_pandas

        return to_pandas(self)

    def to_geopandas(self, crs: Any = None) -> "gpd.GeoDataFrame":
        """Return a GeoPandas frame: a row per sample, whose geometry is the box as a polygon.

        Columns are user (or trajectory and crowd), t_start, t_end and place as of `to_pandas`, and
        geometry. Needs GeoPandas (``pip install geopandas``), which incrowd does not install.

        Parameters
        ----------
        crs
            The coordinate reference system of the polygons, as pyproj understands it, such as
            ``"EPSG:4326"`` for degrees; that of the data, ``frame.crs``, unless given. In another
            one the corners are exact, and sides are straight between them.

        Raises
        ------
        ArgumentError
            If the grid has no projection, `crs` is not known, or GeoPandas is not installed.
        PlaceError
            If `crs` cannot show a box, or it crosses the 180th meridian in degrees.

        Examples
        --------
        >>> import incrowd
        >>> city = incrowd.synthesize("city", users=10, seed=7)
        >>> hidden = incrowd.glove(city, k=2).trajectories
        >>> boxes = hidden.to_geopandas("EPSG:4326")
        >>> list(boxes.columns), boxes.crs.to_string()
        (['trajectory', 'crowd', 't_start', 't_end', 'geometry'], 'EPSG:4326')
        """
        from incrowd.data._tables import to_geopandas

        return to_geopandas(self, crs)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write everything, the grid and the identifiers included, to a Parquet file."""
        from incrowd.data._parquet import save

        save(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Trajectories":
        """Return the trajectories of a file that `save` wrote."""
        from incrowd.data._parquet import load

        return load(path)


def _as_text(series: "pl.Series") -> "pl.Series":
    import polars as pl

    return series.cast(pl.String)
