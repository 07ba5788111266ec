"""The data before and after: one grid, one clock, and who became whom where that is known.

Everything that asks what is left of a dataset takes a `BeforeAfter`. It is made of what a mechanism
gave in memory (`of_release`), or of the files of a release (`of_files`), beside their original.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.compiled import Ints
from incrowd.data.frame import Frame
from incrowd.data.manifest import Manifest, read_manifest
from incrowd.data.trajectories import Trajectories
from incrowd.errors import ArgumentError, UnreadableError
from incrowd.evaluate.beside import crowds_in, lay_beside, read_record
from incrowd.evaluate.published import Published, load

if TYPE_CHECKING:
    from incrowd.protect.glove import Release
    from incrowd.protect.mechanisms import Protected

__all__ = ["BeforeAfter", "of_files", "of_release", "published_as_trajectories"]


@dataclass(frozen=True, slots=True)
class BeforeAfter:
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
    """

    before: Trajectories
    after: Trajectories
    became: Ints | None

    @property
    def known(self) -> Ints:
        """The people of the original who are published, where it is known who became whom."""
        if self.became is None:
            raise ArgumentError(
                "who became whom is not known; comparing each person before and after needs the "
                "private record"
            )
        return np.flatnonzero(self.became >= 0)


def of_release(data: Trajectories, release: "Release | Protected") -> BeforeAfter:
    """Pair a dataset with what a mechanism made of it.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.evaluate.pairing import of_release
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> pair = of_release(city, incrowd.glove(city, k=2))
    >>> len(pair.before), len(pair.after), len(pair.known)
    (20, 10, 20)
    """
    became = release.assignment["trajectory"].fill_null(-1).to_numpy().astype(np.int64)
    return BeforeAfter(data, release.trajectories, became)


def of_files(
    folder: str | os.PathLike[str],
    original: Trajectories | Callable[[Frame], Trajectories],
    record: Any = None,
) -> BeforeAfter:
    """Pair a release on the disk with its original.

    Parameters
    ----------
    folder
        The release.
    original
        The original, on the grid of the release; or a function that reads it on a grid.
    record
        The private record of who became whom: a Parquet file or a frame, if there is one.

    Raises
    ------
    UnreadableError
        If it is no release, or its rows are not what they should be.
    ArgumentError
        If the original does not lie on the grid of the release.
    """
    path = Path(folder)
    published = load_rows(path, read_manifest(path))
    data = original(published.frame) if callable(original) else original
    shift = lay_beside(published, data).shift
    after = published_as_trajectories(published, frame=data.frame, shift=shift)
    if record is None:
        return BeforeAfter(data, after, None)
    became = crowds_in(published, data, read_record(record))
    if not bool(np.any(became >= 0)):
        raise ArgumentError(
            "the private record names nobody of both the original and the release; it belongs to "
            "another one"
        )
    return BeforeAfter(data, after, became)


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
