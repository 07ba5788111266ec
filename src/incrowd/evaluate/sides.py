"""Two datasets of the same people, one of them a release, as what attackers of recognition take.

A release names no places, and its samples may be wider than a cell. So that a place is the same in
both, positions alone count::

    samples of one cell             ──> cells
    a coarser grid (generalised)    ──> its cells, in which those of the other dataset lie
    rectangles of any size (merged) ──> each a place of its own, the same only if it is equal
"""

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Ints
from incrowd.data.manifest import read_manifest
from incrowd.data.trajectories import Trajectories
from incrowd.data.visits import Visits
from incrowd.errors import InputError
from incrowd.evaluate.pairing import BeforeAfter, load_rows, published_as_trajectories

__all__ = ["Side", "alone", "as_cells", "two_sides"]


@dataclass(frozen=True, slots=True)
class Side:
    """One of two datasets.

    Attributes
    ----------
    data
        The records, one a person, under the names of the original.
    crowd
        How many people share each of them.
    """

    data: Trajectories
    crowd: Ints


def two_sides(pair: BeforeAfter) -> tuple[Side, Side]:
    """Give the original and the release, with the same names for the same people.

    Everybody in a crowd has its record. Who is published but not in the original has no name, and
    is no side; that she shares a record still counts.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.evaluate.pairing import of_release
    >>> from incrowd.evaluate.sides import as_cells, two_sides
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> before, after = two_sides(of_release(city, incrowd.glove(city, k=2)))
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
        Side(_unnamed(pair.before), np.ones(len(pair.before), np.int64)),
        Side(named, after.crowd.astype(np.int64)),
    )


def alone(folder: str | os.PathLike[str]) -> Side:
    """Give a release by itself, under its fresh names."""
    published = load_rows(Path(folder), read_manifest(folder))
    data = published_as_trajectories(published)[published.crowd_of]
    people = published.people.alias("user")
    return Side(
        Trajectories(data.columns, data.offsets, data.frame, people=people),
        data.crowd.astype(np.int64),
    )


def _unnamed(data: Trajectories) -> Trajectories:
    """Give people and positions, without the names of places."""
    return Trajectories(data.columns, data.offsets, data.frame, people=data.people)


def as_cells(*sides: Trajectories) -> tuple[Visits, ...]:
    """Give the visits of each dataset, places having the same codes in all of them."""
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
