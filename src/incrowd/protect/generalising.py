"""Uniform generalisation: everything on one coarser grid."""

from dataclasses import dataclass
from typing import Any, ClassVar

from incrowd.data.trajectories import Trajectories
from incrowd.errors import ArgumentError
from incrowd.protect.coarser import checked, coarser_space, coarser_time
from incrowd.protect.mechanisms import LINKAGE, OTHERS, Changed, Mechanism
from incrowd.protect.settling import settle

__all__ = ["Generalise"]


@dataclass(frozen=True, slots=True)
class Generalise(Mechanism):
    """Uniform generalisation: the same coarser grid of space and time for everybody.

    Every box is widened, outward, to whole cells and slots of the coarse grid; those of a person
    that are equal then become one, and are counted. Cells are counted from the origin of the
    plane, slots from 1970-01-01 UTC. Boxes of any size will do, those of merged trajectories too.
    The grid of the data stays the same, so that stretch and k-gap before and after are told in
    the same units.

    It protects against reading off positions and times finer than the grid. It does not protect
    against being recognised: at 20 km and 8 h, two in three people of the paper still had a
    record that nobody shared.

    Parameters
    ----------
    metres
        The side of a coarse cell; space stays as it is unless given. The names of places
        (antennas, venues) would tell what it hides, and go.
    minutes
        The length of a coarse slot; time stays as it is unless given.

    Raises
    ------
    ArgumentError
        If neither is given, or one is not a number above 0; by `protect`, if one is finer than
        the grid of the data, or no whole multiple of it.

    References
    ----------
    The "legacy" baseline of section 5.3 and Figure 8 of GLOVE (2021), from 100 m and 1 min to
    20 km and 480 min.

    Examples
    --------
    >>> from incrowd import Trajectories
    >>> from incrowd.protect.generalising import Generalise
    >>> data = Trajectories.from_boxes(
    ...     {"user": [1, 1, 2], "x0": [3, 9, -1], "y0": [2, 2, 2], "t0": [61, 90, 130]})
    >>> coarse = Generalise(metres=1000, minutes=60).protect(data)
    >>> coarse.trajectories.boxes().rows()
    [(1, 0, 10, 0, 10, 60, 120), (2, -10, 0, 0, 10, 120, 180)]
    >>> coarse.losses["samples_collapsed"]
    1
    """

    metres: float | None = None
    minutes: float | None = None

    method: ClassVar[str] = "uniform generalisation"
    paper: ClassVar[str] = "GLOVE, 2021, section 5.3"

    def __post_init__(self) -> None:
        if self.metres is None and self.minutes is None:
            raise ArgumentError("say to how many metres, or minutes, or both, to generalise")
        for name, what in (("metres", "a cell in metres"), ("minutes", "a slot in minutes")):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, checked(value, what))

    @property
    def settings(self) -> dict[str, Any]:
        """The coarse grid; None where it is that of the data."""
        return {"metres": self.metres, "minutes": self.minutes}

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        grid = [] if self.metres is None else [f"cells of {self.metres:,g} m"]
        grid += [] if self.minutes is None else [f"slots of {self.minutes:,g} min"]
        told = "positions and times" if len(grid) > 1 else "times" if self.minutes else "positions"
        return (f"reading off {told} finer than {' and '.join(grid)}; {LINKAGE}",)

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""
        return (
            (
                "record linkage: the grid is the same everywhere, so whoever moves where or when "
                "few others do keeps a record that few or none share; whoever knows some of her "
                "samples finds it"
            ),
            (
                "what a box tells: that somebody was in this cell in this slot is published, and "
                "where few live that is as good as a name"
            ),
            *OTHERS,
        )

    def _change(self, data: Trajectories, threads: int | None) -> Changed:
        x0, x1, y0, y1, t0, t1 = data.columns
        if self.metres is not None:
            x0, x1 = coarser_space(x0, x1, data.frame, self.metres)
            y0, y1 = coarser_space(y0, y1, data.frame, self.metres)
        if self.minutes is not None:
            t0, t1 = coarser_time(t0, t1, data.frame, self.minutes)
        columns = (x0, x1, y0, y1, t0, t1)
        return settle(data, columns, keep_place=self.metres is None, threads=threads)
