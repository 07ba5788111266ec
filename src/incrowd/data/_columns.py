"""Rows in any order become columns, sorted, without repeats, cut into people; and back to some.

::

    table ──> boxes_from_table ──> encode_users ──> group_by_person ──> columns, offsets
                                                    check_order: the promise that all others rely on
    chosen people ──> person_indices ──> samples_of ──> their samples, new offsets

Sorting and dropping repeats stand here once, for all who need them: `sort_distinct` and, for rows
that are sorted already, `differs_from_previous`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.data._frame import Ints
from incrowd.errors import ArgumentError, ColumnError, InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "COLUMNS",
    "Columns",
    "as_polars",
    "boxes_from_table",
    "check_order",
    "differs_from_previous",
    "encode_users",
    "frozen",
    "group_by_person",
    "integer_column",
    "person_indices",
    "samples_of",
    "sort_distinct",
]


COLUMNS = ("x0", "x1", "y0", "y1", "t0", "t1")
Columns = tuple[Ints, ...]
"""The six arrays x0, x1, y0, y1, t0, t1."""
Longs = npt.NDArray[np.int64]


def as_polars(table: Any) -> "pl.DataFrame":
    """Return a Polars, Arrow or pandas frame, or a dict of columns, as a Polars frame."""
    import polars as pl

    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    try:
        if isinstance(table, dict):
            return pl.DataFrame(table)
        if hasattr(table, "__arrow_c_stream__"):
            return pl.DataFrame(table)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise InputError(f"cannot read this {type(table).__name__} as a table: {error}") from error
    raise InputError(
        "the table must be a Polars, Arrow or pandas frame, or a dict of columns, "
        f"not {type(table).__name__}"
    )


def integer_column(table: "pl.DataFrame", name: str, *, bits: int = 32) -> Longs:
    """Return a column of integers; refuse empty values, other types and what does not fit."""
    if name not in table.columns:
        raise ColumnError(f"no column {name!r}; found: {', '.join(table.columns) or 'none'}")
    column = table[name]
    if column.null_count():
        raise InputError(
            f"column {name!r} has {column.null_count()} empty values; every row needs one"
        )
    if not column.dtype.is_integer() and len(column):
        raise ColumnError(f"column {name!r} must hold integers, not {column.dtype}")
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    for value in (column.min(), column.max()) if len(column) else ():
        if not low <= int(value) <= high:  # type: ignore[arg-type]
            raise InputError(
                f"column {name!r} holds {value!r}; it must be between {low} and {high} "
                f"({bits}-bit integers)"
            )
    return column.to_numpy().astype(np.int64)


def boxes_from_table(table: Any) -> tuple["pl.Series", list[Longs]]:
    """Return the users and the six sides of the boxes of a table."""
    frame = as_polars(table)
    if "user" not in frame.columns:
        raise ColumnError(f"no column 'user'; found: {', '.join(frame.columns) or 'none'}")
    columns: list[Longs] = []
    for axis in "xyt":
        start = integer_column(frame, f"{axis}0")
        end = integer_column(frame, f"{axis}1") if f"{axis}1" in frame.columns else start + 1
        empty = np.flatnonzero(end <= start)
        if len(empty):
            row = int(empty[0])
            raise InputError(
                f"row {row} (counted from 0): the box is empty, {axis}0 = {start[row]} and "
                f"{axis}1 = {end[row]}; {axis}1 must be greater than {axis}0"
            )
        if len(end) and int(end.max()) > 2**31 - 1:
            raise InputError(
                f"column '{axis}1' holds {end.max()}; it must be at most {2**31 - 1} "
                "(32-bit integers)"
            )
        columns += [start, end]
    return frame["user"], columns


def encode_users(users: "pl.Series") -> tuple[Ints, "pl.Series"]:
    """Return codes for identifiers, from 0 in the order of their first appearance, and these."""
    import polars as pl

    if users.null_count():
        raise InputError(f"{users.null_count()} rows have an empty user; every row needs one")
    if users.dtype.is_nested():
        raise ColumnError(
            f"column 'user' holds {users.dtype}; it must hold text or integers, one value per row"
        )
    people = users.unique(maintain_order=True)
    if users.dtype.is_integer() or users.dtype == pl.String:
        codes = pl.DataFrame({"user": users}).join(
            pl.DataFrame({"user": people, "code": np.arange(len(people), dtype=np.int32)}),
            on="user",
            how="left",
            maintain_order="left",
        )["code"]
        return codes.to_numpy(), people
    return encode_users(users.cast(pl.String))


def differs_from_previous(*columns: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which rows differ from the row before them in some column; the first one does.

    Examples
    --------
    >>> differs_from_previous(np.array([1, 1, 1, 2]), np.array([5, 5, 6, 6])).tolist()
    [True, False, True, True]
    """
    first, *others = columns
    differs = np.ones(len(first), np.bool_)
    np.not_equal(first[1:], first[:-1], out=differs[1:])
    for column in others:
        differs[1:] |= column[1:] != column[:-1]
    return differs


def sort_distinct(*keys: npt.NDArray[Any]) -> Longs:
    """Return the indices of the distinct rows, sorted by the first key, then by the next ones.

    Examples
    --------
    >>> sort_distinct(np.array([2, 1, 2, 1]), np.array([7, 9, 7, 8])).tolist()
    [3, 1, 0]
    """
    order = np.lexsort(keys[::-1])
    return order[differs_from_previous(*(key[order] for key in keys))]


def group_by_person(
    person: npt.NDArray[np.integer[Any]], columns: list[Longs], n: int
) -> tuple[Columns, Longs]:
    """Return samples sorted by person, t0, t1, x0, x1, y0, y1 without repeats, and offsets."""
    x0, x1, y0, y1, t0, t1 = columns
    order = sort_distinct(person, t0, t1, x0, x1, y0, y1)
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(person[order], minlength=n), out=offsets[1:])
    return tuple(side[order].astype(np.int32) for side in columns), offsets


def check_order(columns: Columns, offsets: Longs) -> None:
    """Refuse columns that are not cut, sorted and distinct as `Trajectories` promises."""
    lengths = {len(column) for column in columns}
    if len(lengths) != 1 or any(column.dtype != np.int32 for column in columns):
        raise ArgumentError("x0, x1, y0, y1, t0 and t1 must be int32 arrays of one length")
    if len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != lengths.pop():
        raise ArgumentError("offsets must start at 0 and end at the number of samples")
    if bool(np.any(np.diff(offsets) < 0)):
        raise ArgumentError("offsets must never decrease")
    x0, x1, y0, y1, t0, t1 = columns
    if bool(np.any(x1 <= x0) or np.any(y1 <= y0) or np.any(t1 <= t0)):
        raise ArgumentError("every box must have x1 > x0, y1 > y0 and t1 > t0")
    # The first key in which neighbours differ must rise; where people change, anything goes.
    tied = np.ones(max(len(t0) - 1, 0), np.bool_)
    inner = offsets[(offsets > 0) & (offsets < len(t0))] - 1
    tied[inner] = False
    for key in (t0, t1, x0, x1, y0, y1):
        if bool(np.any(tied & (key[1:] < key[:-1]))):
            raise ArgumentError(
                "the samples of each person must be sorted by t0, t1, x0, x1, y0, y1"
            )
        tied &= key[1:] == key[:-1]
        if not tied.any():
            return
    raise ArgumentError("the samples of each person must be distinct")


def frozen(array: Any) -> Any:
    """Return a read-only view."""
    if array is None:
        return None
    view: npt.NDArray[Any] = array.view()
    view.flags.writeable = False
    return view


def person_indices(index: Any, n: int) -> npt.NDArray[np.int64]:
    """Return the indices of the people that a slice, a mask or indices choose."""
    if isinstance(index, slice):
        return np.arange(n)[index]
    chosen = np.asarray(index)
    if chosen.ndim != 1:
        raise ArgumentError(
            f"people are chosen by a slice, a list of indices or a mask, not by {index!r}"
        )
    if chosen.dtype == np.bool_:
        if len(chosen) != n:
            raise ArgumentError(
                f"the mask has {len(chosen)} values for {n} people; it needs one for each"
            )
        return np.flatnonzero(chosen)
    if chosen.size and not np.issubdtype(chosen.dtype, np.integer):
        raise ArgumentError(f"people are chosen by integers or a mask, not by {chosen.dtype}")
    chosen = chosen.astype(np.int64)
    if chosen.size and (int(chosen.min()) < -n or int(chosen.max()) >= n):
        raise ArgumentError(
            f"indices of people must be from {-n} to {n - 1}, not {int(chosen.min())} to "
            f"{int(chosen.max())}"
        )
    return np.where(chosen < 0, chosen + n, chosen)


def samples_of(
    who: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64]
) -> tuple["slice | npt.NDArray[np.int64]", npt.NDArray[np.int64]]:
    """Return the samples of the people `who` (a slice where they are neighbours) and offsets."""
    length = np.diff(offsets)[who]
    new = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    if len(who) and bool(np.all(np.diff(who) == 1)):
        return slice(int(offsets[who[0]]), int(offsets[who[-1] + 1])), new
    return np.repeat(offsets[who] - new[:-1], length) + np.arange(new[-1]), new
