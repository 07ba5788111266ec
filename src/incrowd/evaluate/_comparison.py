"""The data before and after: one grid, one clock, and who became whom where that is known.

Everything that asks what is left of a dataset takes a `BeforeAfter`. It is made of what a mechanism
gave in memory (`of_release`), or of the files of a release (`of_files`), beside their original.

`compared_datasets` gives both under the names of the original, as re-identification takes them. A
release names no places, and its samples may be wider than a cell. So that a place is the same in
both (`as_cells`), positions alone count::

    samples of one cell             ──> cells
    a coarser grid (generalised)    ──> its cells, in which those of the other dataset lie
    rectangles of any size (merged) ──> each a place of its own, the same only if it is equal
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd._arguments import must_be
from incrowd._format import people as _people
from incrowd._numba import Ints
from incrowd._summary import Summarised, Summary
from incrowd.data._frame import Frame
from incrowd.data._manifest import Manifest, read_manifest
from incrowd.data._original import as_recorded, refuse_other_original
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import Visits
from incrowd.errors import ArgumentError, InputError, UnreadableError
from incrowd.evaluate._verify.alignment import align, crowds_in, read_record
from incrowd.evaluate._verify.promises import GLOVE, EdgeGrid, edge_grid, stated_grid
from incrowd.evaluate._verify.rows import Published, load

if TYPE_CHECKING:
    from incrowd.protect._mechanism import ProtectionResult

__all__ = [
    "BeforeAfter",
    "ComparedDataset",
    "as_cells",
    "compared_datasets",
    "of_files",
    "of_release",
    "published_as_trajectories",
    "refuse_no_result",
    "release_alone",
]


@dataclass(frozen=True, slots=True, repr=False)
class BeforeAfter(Summarised):
    """A dataset before and after it was protected.

    Attributes
    ----------
    before
        The original: one person a trajectory.
    after
        What is published: one trajectory for each crowd, on the same grid and clock.
    became
        The published trajectory of each person of the original, -1 for who was dropped. None where
        nobody knows who became whom (no private record): then only what is true of everybody
        together can be compared.
    edges
        The cells and slots to which edges of published boxes were rounded outwards; 1 where they
        were not.
    """

    before: Trajectories
    after: Trajectories
    became: Ints | None
    edges: tuple[int, int] = (1, 1)

    @classmethod
    def of(cls, pair: object) -> "BeforeAfter":
        """Return `pair` if it is one, on one grid and clock, and refuse everything else."""
        found = must_be("pair", pair, cls, "incrowd.of_release and incrowd.of_files make one")
        if found.before.frame != found.after.frame:
            raise ArgumentError("the data before and after must lie on one grid, with one clock")
        return found

    @property
    def known(self) -> Ints:
        """The people of the original who are published, where it is known who became whom."""
        if self.became is None:
            raise ArgumentError(
                "who became whom is not known; comparing each person before and after needs the "
                "private record"
            )
        return np.flatnonzero(self.became >= 0)

    def _summary(self) -> Summary:
        facts = {"before": repr(self.before), "after": repr(self.after)}
        known = "not known" if self.became is None else f"known of {_people(len(self.known))}"
        return Summary("A dataset before and after", facts | {"who became whom": known})


def of_release(data: Trajectories, release: "ProtectionResult") -> BeforeAfter:
    """Pair a dataset with what a mechanism made of it.

    Parameters
    ----------
    data
        The original.
    release
        What :func:`incrowd.glove` gave for it, or `protect` of any mechanism.

    Raises
    ------
    ArgumentError
        If the release is of other people, or the original has crowds.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> pair = incrowd.of_release(city, incrowd.glove(city, k=2))
    >>> len(pair.before), len(pair.after), len(pair.known)
    (20, 10, 20)
    """
    data = Trajectories.of(data)
    refuse_no_result(release)
    if bool(np.any(data.crowd != 1)):
        raise ArgumentError("the original must have one person a trajectory; this one has crowds")
    _refuse_others(data, release.assignment["user"])
    became = release.assignment["trajectory"].fill_null(-1).to_numpy().astype(np.int64)
    stated = release.settings.get("edges") if release.method == GLOVE else None
    grid = stated_grid(stated, data.frame.cell, data.frame.slot) or EdgeGrid()
    return BeforeAfter(data, release.trajectories, became, (grid.wide, grid.long))


def refuse_no_result(release: object) -> None:
    """Refuse what no mechanism made."""
    from incrowd.protect._mechanism import ProtectionResult

    how = "incrowd.glove gives one, and so does the protect of any mechanism"
    must_be("release", release, ProtectionResult, how)  # type: ignore[type-abstract]


def _refuse_others(data: Trajectories, users: pl.Series) -> None:
    """Refuse a release of other people than those of the original, or of another order of them."""
    mine, theirs = (each.cast(pl.String) for each in (data.people, users))
    if mine.equals(theirs):
        return
    wrong = "the release was not made from this original"
    if len(mine) != len(theirs):
        more = f"{len(theirs):,} people, the original has {len(mine):,}"
        raise ArgumentError(f"{wrong}: it is of {more}; give the data that was protected")
    strangers = int((~mine.is_in(theirs.implode())).sum())
    if not strangers:
        raise ArgumentError(
            f"{wrong}: it has the same people in another order; give the data that was protected"
        )
    raise ArgumentError(
        f"{wrong}: {strangers:,} of {len(mine):,} people of the original are not in it; give the "
        "data that was protected"
    )


def of_files(
    folder: str | os.PathLike[str],
    original: Trajectories | Callable[[Frame], Trajectories] | None = None,
    record: Any = None,
    *,
    other: bool = False,
) -> BeforeAfter:
    """Pair a release on the disk with its original.

    Parameters
    ----------
    folder
        The release.
    original
        The original, on the grid of the release; or a function that reads it on a grid. Without
        it, it is read as the private record says.
    record
        The private record of who became whom: a Parquet file or a frame, if there is one.
    other
        Whether `original` may be another dataset of the same people than the one that the release
        was made from; otherwise one that differs from what the record says is refused.

    Raises
    ------
    UnreadableError
        If it is no release, or its rows are not what they should be.
    ArgumentError
        If the original does not lie on the grid of the release.
    """
    path = Path(folder)
    manifest = read_manifest(path)
    published = load_rows(path, manifest)
    read = as_recorded(record) if original is None else original
    data = read(published.frame) if callable(read) else read
    if not other:
        refuse_other_original(record, data)
    shift = align(published, data).shift
    after = published_as_trajectories(published, frame=data.frame, shift=shift)
    grid = edge_grid(manifest, data.frame.cell, data.frame.slot) or EdgeGrid()
    edges = (grid.wide, grid.long)
    if record is None:
        return BeforeAfter(data, after, None, edges)
    became = crowds_in(published, data, read_record(record))
    if not bool(np.any(became >= 0)):
        raise ArgumentError(
            "the private record names nobody of both the original and the release; it belongs to "
            "another one"
        )
    return BeforeAfter(data, after, became, edges)


def load_rows(folder: Path, manifest: Manifest) -> Published:
    """Read the rows of a release; refuse rows that are not what they should be."""
    rows = [name for name in manifest.files if name.startswith("trajectories.")]
    if len(rows) != 1 or Path(rows[0]).name != rows[0]:
        raise UnreadableError(f"{folder}: the manifest names no file of trajectories")
    try:
        frame = Frame(**dict(manifest.frame))
    except TypeError as error:
        raise UnreadableError(f"{folder}: the manifest does not name the grid") from error
    published = load(folder / rows[0], frame, lambda _: None)
    if published.problems:
        raise UnreadableError(
            f"the rows of {folder} are not what they should be ({', '.join(published.problems)}); "
            "incrowd verify tells more"
        )
    return published


def published_as_trajectories(
    published: Published, *, frame: Frame | None = None, shift: int = 0
) -> Trajectories:
    """Give the crowds of a release as trajectories, on another clock if one is given.

    `shift` takes a time slot of that clock to one of the release.
    """
    boxes = published.boxes[:, :6].astype(np.int32)
    boxes[:, 4:] -= shift
    columns = tuple(np.ascontiguousarray(boxes[:, column]) for column in range(6))
    return Trajectories(
        columns,
        published.cuts.astype(np.int64),
        frame or published.frame,
        crowd=published.sizes.astype(np.int32),
    )


@dataclass(frozen=True, slots=True)
class ComparedDataset:
    """One of two datasets that are compared.

    Attributes
    ----------
    data
        The records, one a person, under the names of the original.
    crowd
        How many people share each of them.
    """

    data: Trajectories
    crowd: Ints


def compared_datasets(pair: BeforeAfter) -> tuple[ComparedDataset, ComparedDataset]:
    """Give the original and the release, with the same names for the same people.

    Everybody in a crowd has its record. Who is published but not in the original has no name, and
    in neither dataset; that she shares a record still counts.

    Parameters
    ----------
    pair
        The original and the release, with the private record.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.evaluate import as_cells, compared_datasets
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> before, after = compared_datasets(incrowd.of_release(city, incrowd.glove(city, k=2)))
    >>> place, known = as_cells(before.data, after.data)
    >>> found = incrowd.deanonymize(place, known=known, known_crowd=after.crowd, share=None)
    >>> int(found.table["matched"].max())
    0
    """
    who, became = pair.known, pair.became
    assert became is not None  # noqa: S101  `known` has refused
    after = pair.after[became[who]]
    named = Trajectories(after.columns, after.offsets, after.frame, people=pair.before.people[who])
    return (
        ComparedDataset(_unnamed(pair.before), np.ones(len(pair.before), np.int64)),
        ComparedDataset(named, after.crowd.astype(np.int64)),
    )


def release_alone(folder: str | os.PathLike[str]) -> ComparedDataset:
    """Give a release by itself, under its fresh names."""
    published = load_rows(Path(folder), read_manifest(folder))
    data = published_as_trajectories(published)[published.crowd_of]
    people = published.people.alias("user")
    return ComparedDataset(
        Trajectories(data.columns, data.offsets, data.frame, people=people),
        data.crowd.astype(np.int64),
    )


def _unnamed(data: Trajectories) -> Trajectories:
    """Give people and positions, without the names of places."""
    return Trajectories(data.columns, data.offsets, data.frame, people=data.people)


def as_cells(*sides: Trajectories) -> tuple[Visits, ...]:
    """Give the visits of each dataset, places having the same codes in all of them.

    Where all samples are cells of one grid, these are the places, the larger ones if datasets
    differ; otherwise boxes are, the same if they are equal.

    Parameters
    ----------
    sides
        Datasets on the same grid.

    Examples
    --------
    See `compared_datasets`.
    """
    widths = [_grid(data) for data in sides]
    if all(wide is not None for wide in widths):
        width, height, left, low = max(wide for wide in widths if wide is not None)
        return tuple(
            _moved(data, (data.x0 - left) // width, (data.y0 - low) // height) for data in sides
        )
    every = np.concatenate(
        [np.stack([data.x0, data.x1, data.y0, data.y1], axis=1) for data in sides]
    )
    _, code = np.unique(every, axis=0, return_inverse=True)
    cuts = np.cumsum([0, *(data.samples for data in sides)])
    parts = [code.reshape(-1)[first:last] for first, last in pairwise(cuts)]
    return tuple(_moved(data, part, 0 * part) for data, part in zip(sides, parts, strict=True))


def _grid(data: Trajectories) -> tuple[int, int, int, int] | None:
    """Give the size of cells, and where they start, if all samples are cells of one grid."""
    if not data.samples:
        raise InputError("there are no samples")
    sides = []
    for start, end in ((data.x0, data.x1), (data.y0, data.y1)):
        wide = int(end[0]) - int(start[0])
        if bool(np.any(end - start != wide)) or bool(np.any((start - start[0]) % wide)):
            return None
        sides.append((wide, int(start[0]) % wide))
    return sides[0][0], sides[1][0], sides[0][1], sides[1][1]


def _moved(data: Trajectories, x: NDArray[Any], y: NDArray[Any]) -> Visits:
    """Give visits to other cells, at the times of the data."""
    place = x.astype(np.int64) * 2**32 + y
    order = np.lexsort((place, data.t0, data.person()))
    return Visits(place[order], data.t0[order].astype(np.int64), data.offsets, people=data.people)
