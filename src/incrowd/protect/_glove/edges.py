"""Edges that are nobody's: finished boxes are rounded outwards to a coarser grid.

Without it every side of a published box is that of a true sample of somebody in the crowd, and
whoever knows her own samples knows which sides are another's. With it a side tells the coarse cell
(or slot) in which the true one lies, and no more::

    (500, 15) ──> checked_edges ──> fitted: whole cells and slots of the data's grid
    boxes of all crowds, finished ──> rounded: outwards, in order again, equal ones made one

Where the coarse grid begins does not depend on what is rounded: in space its lines are multiples of
so many metres from the origin of the plane (which the release names), in time multiples of so many
minutes since 1970-01-01 UTC. As of `Generalise`, a coarse slot begins with the first slot of the
data that starts in it.

Boxes that did not overlap in time may do so afterwards, by one coarse slot at most: one ended, and
the other began, within it. They are left so. To join them would make one box, as wide as a town, of
all that was seen in a morning.
"""

import math
import re
from typing import TYPE_CHECKING

from incrowd.data._extent import beyond
from incrowd.errors import ArgumentError
from incrowd.protect._generalisation import checked

if TYPE_CHECKING:
    from incrowd.data._frame import Frame
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "Edges",
    "as_setting",
    "checked_edges",
    "edges_of_text",
    "fitted",
    "in_vain",
    "in_words",
    "rounded",
]


Edges = tuple[float | None, float | None]
"""The coarser grid: metres and minutes; None for what stays as it is."""
SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(m|km|min|h)\s*", re.ASCII)
UNITS = {"m": (0, 1), "km": (0, 1000), "min": (1, 1), "h": (1, 60)}
"""Of each unit: which of the two it is of, and how many metres or minutes it has."""
TAKES = "(500, 15), metres and minutes; None for one that stays as it is"


def edges_of_text(text: str) -> Edges:
    """Return what was typed: metres and minutes with their units, or one of them.

    Raises
    ------
    ValueError
        If it is something else.

    Examples
    --------
    >>> edges_of_text("500m,15min"), edges_of_text("1 km"), edges_of_text("1h")
    ((500.0, 15.0), (1000.0, None), (None, 60.0))
    """
    found: list[float | None] = [None, None]
    for part in text.split(","):
        size = SIZE.fullmatch(part)
        if size is None:
            raise ValueError(part)
        which, factor = UNITS[size[2]]
        if found[which] is not None:
            raise ValueError(part)
        found[which] = checked(factor * float(size[1]), "edges")
    return found[0], found[1]


def checked_edges(edges: object) -> Edges | None:
    """Return edges as numbers; refuse what cannot be, whatever the data."""
    if edges is None:
        return None
    if not isinstance(edges, tuple | list) or len(edges) != 2:  # noqa: PLR2004
        raise ArgumentError(f"edges must be like {TAKES}, not {edges!r}")
    metres, minutes = edges
    if metres is None and minutes is None:
        raise ArgumentError(f"edges must be like {TAKES}; neither is given")
    return (
        None if metres is None else checked(metres, "edges in metres"),
        None if minutes is None else checked(minutes, "edges in minutes"),
    )


def fitted(edges: Edges | None, frame: "Frame") -> tuple[Edges | None, tuple[str, ...]]:
    """Return edges in whole cells and slots of a grid, rounded up; and notes where they were.

    Raises
    ------
    ArgumentError
        If they are no coarser than the grid: nothing would be rounded.
    """
    if edges is None:
        return None, ()
    metres, minutes = edges
    found, notes = list[float | None](), list[str]()
    for value, unit, short, what in (
        (metres, frame.cell, "m", "cell"),
        (minutes, frame.slot / 60, "min", "slot"),
    ):
        if value is None:
            found.append(None)
            continue
        number = math.ceil(value / unit - 1e-9)
        if number < 2:  # noqa: PLR2004
            raise ArgumentError(
                f"edges must be at least two {what}s of the grid ({2 * unit:g} {short}), not "
                f"{value:g} {short}: one {what} rounds nothing"
            )
        found.append(number * unit)
        if not math.isclose(number * unit, value):
            taken = f"{number * unit:g} {short} ({number:,} {what}s of the grid)"
            notes.append(f"edges is rounded up from {value:g} {short} to {taken}")
    return (found[0], found[1]), tuple(notes)


def in_vain(edges: Edges, data: "Trajectories") -> list[str]:
    """Return what to tell of a grid that is larger than the data; mostly nothing."""
    frame, (metres, minutes) = data.frame, edges
    told = []
    if metres is not None:
        so, said = "all boxes will have the same few sides", f"the grid of {metres:g} m for edges"
        told.append(beyond(said, metres / frame.cell, data, space=True, so=so))
    if minutes is not None:
        so, said = "all boxes will have the same times", f"the grid of {minutes:g} min for edges"
        told.append(beyond(said, minutes * 60 / frame.slot, data, space=False, so=so))
    return [text for text in told if text]


def as_setting(edges: Edges) -> str:
    """Return edges as the manifest states them, and the command line takes them.

    Examples
    --------
    >>> as_setting((500.0, 15.0)), as_setting((None, 0.5))
    ('500m,15min', '0.5min')
    """
    metres, minutes = edges
    parts = [] if metres is None else [f"{_plain(metres)}m"]
    return ",".join([*parts, *([] if minutes is None else [f"{_plain(minutes)}min"])])


def _plain(number: float) -> str:
    """Return a number in digits that `edges_of_text` reads back."""
    return f"{number:.12f}".rstrip("0").rstrip(".")


def in_words(setting: str) -> str:
    """Return edges, as the manifest states them, in words.

    Examples
    --------
    >>> in_words("500m,15min"), in_words("90min")
    ('500 m and 15 min', '90 min')
    """
    metres, minutes = edges_of_text(setting)
    parts = [] if metres is None else [f"{metres:,g} m"]
    return " and ".join([*parts, *([] if minutes is None else [f"{minutes:,g} min"])])


def rounded(boxes: "Trajectories", edges: Edges) -> "Trajectories":
    """Round finished boxes outwards; those of a record that become equal are one."""
    from incrowd.protect._normalise import coarser_space, coarser_time, sort_and_deduplicate

    metres, minutes = edges
    x0, x1, y0, y1, t0, t1 = boxes.columns
    if metres is not None:
        x0, x1 = coarser_space(x0, x1, boxes.frame, metres)
        y0, y1 = coarser_space(y0, y1, boxes.frame, metres)
    if minutes is not None:
        t0, t1 = coarser_time(t0, t1, boxes.frame, minutes)
    columns = (x0, x1, y0, y1, t0, t1)
    return sort_and_deduplicate(boxes, columns, keep_place=False, threads=1).trajectories
