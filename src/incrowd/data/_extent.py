"""How wide, high and long a dataset is; and what to tell of a size that is larger than that.

A threshold that nothing in the data can reach is mostly one in other units than was thought.
"""

from typing import TYPE_CHECKING, NamedTuple

from incrowd._format import duration, length

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "Extent",
    "beyond",
    "extent_of",
]


class Extent(NamedTuple):
    """The box around all samples, in cells and slots."""

    wide: int
    high: int
    long: int


def extent_of(data: "Trajectories") -> Extent:
    """Return how wide, high and long the data is; all 0 if there are no samples."""
    if not data.samples:
        return Extent(0, 0, 0)
    axes = ((data.x0, data.x1), (data.y0, data.y1), (data.t0, data.t1))
    return Extent(*(int(high.max()) - int(low.min()) for low, high in axes))


def beyond(
    said: str,
    number: float,
    data: "Trajectories",
    *,
    space: bool,
    so: str,
    together: bool = False,
) -> str:
    """Return what to tell of a size that is larger than the data; nothing of any other.

    Parameters
    ----------
    said
        The size as it was asked for.
    number
        The same in cells or slots.
    data
        The data; of none that has no samples anything is told.
    space
        Whether it is a size in space.
    so
        What follows.
    together
        Whether it is a width and a height together.

    Examples
    --------
    >>> from incrowd import Trajectories
    >>> data = Trajectories.from_boxes({"user": [1, 1], "x0": [0, 49], "y0": [0, 0], "t0": [0, 9]})
    >>> beyond("metres=6000", 60, data, space=True, so="one cell is left")
    'metres=6000 is wider than the data (5 km): one cell is left'
    >>> beyond("metres=5000", 50, data, space=True, so="one cell is left")
    ''
    """
    extent, frame = extent_of(data), data.frame
    sides = (extent.wide, extent.high)
    most = extent.long if not space else sum(sides) if together else max(sides)
    if not data.samples or number <= most:
        return ""
    if not space:
        return f"{said} is longer than the data ({duration(most * frame.slot / 60)}): {so}"
    both = ", width and height together" if together else ""
    return f"{said} is wider than the data ({length(most * frame.cell)}{both}): {so}"
