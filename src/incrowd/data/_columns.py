"""From rows in any order to columns cut into people, and from all people to some.

`boxes_from` takes a table apart, `codes_of` counts its people, `arrange` sorts and drops repeats,
`check_order` makes sure of the promise that everything else relies on; `which` and `samples_of`
find the samples of chosen people, `frozen` makes arrays read-only.
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
    "arrange",
    "as_polars",
    "boxes_from",
    "check_order",
    "codes_of",
    "frozen",
    "samples_of",
    "which",
    "whole",
]


COLUMNS = ("x0", "x1", "y0", "y1", "t0", "t1")
Columns = tuple[Ints, ...]
"""The six arrays x0, x1, y0, y1, t0, t1."""
Longs = npt.NDArray[np.int64]


def as_polars(table: Any) -> "pl.DataFrame":
    """Take a Polars, Arrow or pandas frame, or a dict of columns, as a Polars frame."""
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
        raise InputError(f"cannot take this {type(table).__name__} as a table: {error}") from error
    raise InputError(
        f"a table is a Polars, Arrow or pandas frame, or a dict of columns, "
        f"not {type(table).__name__}"
    )


def whole(table: "pl.DataFrame", name: str, *, bits: int = 32) -> Longs:
    """Take a column of whole numbers, refusing anything that would have to be bent to fit."""
    if name not in table.columns:
        raise ColumnError(f"no column {name!r}; found: {', '.join(table.columns) or 'none'}")
    column = table[name]
    if column.null_count():
        raise InputError(f"column {name!r} has {column.null_count()} empty values")
    if not column.dtype.is_integer() and len(column):
        raise ColumnError(f"column {name!r} must hold whole numbers, not {column.dtype}")
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    for value in (column.min(), column.max()) if len(column) else ():
        if not low <= int(value) <= high:  # type: ignore[arg-type]
            raise InputError(f"column {name!r} has {value!r}, which does not fit into {bits} bits")
    return column.to_numpy().astype(np.int64)


def boxes_from(table: Any) -> tuple["pl.Series", list[Longs]]:
    """Take users and the six sides of boxes out of a table of boxes."""
    frame = as_polars(table)
    if "user" not in frame.columns:
        raise ColumnError(f"no column 'user'; found: {', '.join(frame.columns) or 'none'}")
    columns: list[Longs] = []
    for axis in "xyt":
        start = whole(frame, f"{axis}0")
        end = whole(frame, f"{axis}1") if f"{axis}1" in frame.columns else start + 1
        empty = np.flatnonzero(end <= start)
        if len(empty):
            row = int(empty[0])
            raise InputError(
                f"row {row}: the box [{start[row]}, {end[row]}) in {axis} is empty; "
                f"{axis}1 must be above {axis}0"
            )
        if len(end) and int(end.max()) > 2**31 - 1:
            raise InputError(f"{axis}1 has {end.max()}, which does not fit into 32 bits")
        columns += [start, end]
    return frame["user"], columns


def codes_of(users: "pl.Series") -> tuple[Ints, "pl.Series"]:
    """Give identifiers numbers, from 0 in the order of their first appearance."""
    import polars as pl

    if users.null_count():
        raise InputError(f"{users.null_count()} rows have no user")
    if users.dtype.is_nested():
        raise ColumnError(f"a user cannot be a {users.dtype}")
    people = users.unique(maintain_order=True)
    if users.dtype.is_integer() or users.dtype == pl.String:
        codes = pl.DataFrame({"user": users}).join(
            pl.DataFrame({"user": people, "code": np.arange(len(people), dtype=np.int32)}),
            on="user",
            how="left",
            maintain_order="left",
        )["code"]
        return codes.to_numpy(), people
    return codes_of(users.cast(pl.String))


def arrange(
    person: npt.NDArray[np.integer[Any]], columns: list[Longs], n: int
) -> tuple[Columns, Longs]:
    """Sort samples into the order of the design, drop repeats, and cut them into people."""
    x0, x1, y0, y1, t0, t1 = columns
    order = np.lexsort((y1, y0, x1, x0, t1, t0, person))
    person = person[order]
    rows = [side[order] for side in columns]
    fresh = np.ones(len(order), np.bool_)
    if len(order):
        fresh[1:] = np.any([side[1:] != side[:-1] for side in (person, *rows)], axis=0)
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(person[fresh], minlength=n), out=offsets[1:])
    return tuple(side[fresh].astype(np.int32) for side in rows), offsets


def check_order(columns: Columns, offsets: Longs) -> None:
    """Refuse columns that are not cut, sorted and distinct as `Trajectories` promises."""
    lengths = {len(column) for column in columns}
    if len(lengths) != 1 or any(column.dtype != np.int32 for column in columns):
        raise ArgumentError("the six columns must be int32 arrays of one length")
    if len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != lengths.pop():
        raise ArgumentError("offsets must start at 0 and end at the number of samples")
    if bool(np.any(np.diff(offsets) < 0)):
        raise ArgumentError("offsets must not fall")
    x0, x1, y0, y1, t0, t1 = columns
    if bool(np.any(x1 <= x0) or np.any(y1 <= y0) or np.any(t1 <= t0)):
        raise ArgumentError("a box must not be empty")
    # The first key in which neighbours differ must rise; where people change, anything goes.
    tied = np.ones(max(len(t0) - 1, 0), np.bool_)
    inner = offsets[(offsets > 0) & (offsets < len(t0))] - 1
    tied[inner] = False
    for key in (t0, t1, x0, x1, y0, y1):
        if bool(np.any(tied & (key[1:] < key[:-1]))):
            raise ArgumentError("samples must be sorted by t0, t1, x0, x1, y0, y1 in each person")
        tied &= key[1:] == key[:-1]
        if not tied.any():
            return
    raise ArgumentError("samples must be distinct in each person")


def frozen(array: Any) -> Any:
    """Give a view that nobody can write through."""
    if array is None:
        return None
    view: npt.NDArray[Any] = array.view()
    view.flags.writeable = False
    return view


def which(index: Any, n: int) -> npt.NDArray[np.int64]:
    """Turn a slice, a mask or indices into indices of people."""
    if isinstance(index, slice):
        return np.arange(n)[index]
    chosen = np.asarray(index)
    if chosen.ndim != 1:
        raise ArgumentError(f"people are chosen by a slice, a list or a mask, not by {index!r}")
    if chosen.dtype == np.bool_:
        if len(chosen) != n:
            raise ArgumentError(f"a mask of {len(chosen)} does not fit {n} people")
        return np.flatnonzero(chosen)
    if chosen.size and not np.issubdtype(chosen.dtype, np.integer):
        raise ArgumentError(f"people are chosen by whole numbers, not by {chosen.dtype}")
    chosen = chosen.astype(np.int64)
    if chosen.size and (int(chosen.min()) < -n or int(chosen.max()) >= n):
        raise ArgumentError(f"there are only {n} people, counted from 0")
    return np.where(chosen < 0, chosen + n, chosen)


def samples_of(
    who: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64]
) -> tuple["slice | npt.NDArray[np.int64]", npt.NDArray[np.int64]]:
    """Give the samples of the people `who` (a slice where they are neighbours) and new offsets."""
    length = np.diff(offsets)[who]
    new = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    if len(who) and bool(np.all(np.diff(who) == 1)):
        return slice(int(offsets[who[0]]), int(offsets[who[-1] + 1])), new
    return np.repeat(offsets[who] - new[:-1], length) + np.arange(new[-1]), new
