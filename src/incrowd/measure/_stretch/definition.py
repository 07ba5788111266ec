"""`Stretch`: the stretch effort, what it costs to merge two samples or two trajectories.

Equations (1) to (10) of the paper, as fractions and one pair at a time; `effort` has them for the
kernels. Two samples are merged by stretching both to the box around them. What is lost counts in
space and in time, each up to a threshold beyond which nothing is left to lose, and weighs by the
people whom it concerns.
"""

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from incrowd._arguments import is_number, is_whole, whole
from incrowd._format import duration, length
from incrowd.data._extent import beyond
from incrowd.data._frame import Frame
from incrowd.errors import ArgumentError, DataWarning

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._stretch.effort import Scale

__all__ = [
    "Stretch",
    "stretch_for",
]


Box = tuple[int, int, int, int, int, int]
METRES, MINUTES = 20_000, 480
"""The papers' thresholds."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """How the cost of merging samples is measured: thresholds and weights of the stretch effort.

    Parameters
    ----------
    max_space, max_time
        The thresholds of equations (2) and (3), in units of the grid, cells and slots: a sample
        that is stretched further counts as lost. 200 and 480 are the papers' 20 km and 8 hours on
        cells of 100 m and slots of a minute, and on no other grid: on slots of 10 minutes, 480
        are 80 hours. :meth:`of_metres` makes them of metres and minutes on any grid, and so does
        every function to which no stretch is given.
    space_weight, time_weight
        The weights of equation (1), whole numbers; only their ratio matters.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 4, equations (1) to (10).

    Examples
    --------
    Two people, 300 m and 10 minutes apart:

    >>> from incrowd import Stretch
    >>> space, time = Stretch().samples((0, 1, 0, 1, 0, 1), (2, 3, 1, 2, 10, 11))
    >>> space, time
    (Fraction(3, 400), Fraction(1, 96))

    Stretching the samples of a crowd of four costs more than stretching the one of a single person:

    >>> Stretch().samples((0, 1, 0, 1, 0, 1), (0, 5, 0, 1, 0, 1), na=4, nb=1)[0]
    Fraction(1, 125)
    >>> Stretch().samples((0, 1, 0, 1, 0, 1), (0, 5, 0, 1, 0, 1), na=1, nb=4)[0]
    Fraction(1, 500)
    """

    max_space: int = 200
    max_time: int = 480
    space_weight: int = 1
    time_weight: int = 1

    def __post_init__(self) -> None:
        for name in ("max_space", "max_time"):
            object.__setattr__(self, name, whole(name, getattr(self, name), 1))
        weights = (self.space_weight, self.time_weight)
        if not all(is_whole(each) and each >= 0 for each in weights) or not any(weights):
            raise ArgumentError(
                f"weights must be whole numbers, not negative and not both 0; they are {weights}"
            )
        object.__setattr__(self, "space_weight", int(self.space_weight))
        object.__setattr__(self, "time_weight", int(self.time_weight))

    @classmethod
    def of(cls, stretch: "Stretch | None", frame: "Frame | None" = None) -> "Stretch":
        """Return the stretch that was given, or the papers' on a grid if it is None.

        On a grid whose cells are wider than 20 km, or slots longer than 8 hours, the threshold is
        one cell or slot.

        Examples
        --------
        >>> from incrowd import Frame, Stretch
        >>> Stretch.of(None, Frame(cell=10, slot=600))
        Stretch(max_space=2000, max_time=48, space_weight=1, time_weight=1)
        """
        if stretch is None:
            grid = Frame() if frame is None else frame
            metres, minutes = max(METRES, grid.cell), max(MINUTES, grid.slot / 60)
            return cls.of_metres(metres, minutes, frame=grid)
        if not isinstance(stretch, cls):
            raise ArgumentError(
                "stretch must be a Stretch, as Stretch.of_metres(20_000, 480, frame=data.frame), "
                f"not {stretch!r}"
            )
        return stretch

    @classmethod
    def of_metres(
        cls,
        max_metres: float = 20_000,
        max_minutes: float = 480,
        *,
        frame: "Frame | None" = None,
        space_weight: int = 1,
        time_weight: int = 1,
    ) -> "Stretch":
        """Return the stretch with thresholds in metres and minutes, on the grid of a dataset.

        Parameters
        ----------
        max_metres, max_minutes
            The thresholds; the papers' unless given. They are taken as whole cells and slots,
            rounded down.
        frame
            The grid: ``data.frame``. Cells of 100 m and slots of a minute unless given.
        space_weight, time_weight
            As for `Stretch`.

        Raises
        ------
        ArgumentError
            If a threshold is no number, or smaller than a cell or a slot.

        Examples
        --------
        >>> from incrowd import Frame, Stretch
        >>> Stretch.of_metres(20_000, 480, frame=Frame(cell=500, slot=600))
        Stretch(max_space=40, max_time=48, space_weight=1, time_weight=1)
        """
        grid = Frame() if frame is None else frame
        asked = (
            ("max_metres", max_metres, grid.cell),
            ("max_minutes", max_minutes, grid.slot / 60),
        )
        found = []
        for name, value, unit in asked:
            if not is_number(value) or not unit <= value < unit * 2**31:
                raise ArgumentError(
                    f"{name} must be a number of at least {unit:g}, a cell or slot of the grid, "
                    f"not {value!r}"
                )
            found.append(math.floor(value / unit + 1e-9))
        return cls(found[0], found[1], space_weight, time_weight)

    def samples(self, a: Box, b: Box, na: int = 1, nb: int = 1) -> tuple[Fraction, Fraction]:
        """Return the effort of merging two samples, equation (1): its parts in space and in time.

        Parameters
        ----------
        a, b
            Boxes ``(x0, x1, y0, y1, t0, t1)`` in cells and slots, half-open.
        na, nb
            How many people each stands for.

        Returns
        -------
        The two parts of the sum in equation (1), as fractions; together they are from 0 to 1.
        """
        n, weights = na + nb, self.space_weight + self.time_weight
        sides = [
            (max(a[i + 1], b[i + 1]) - min(a[i], b[i]), a[i + 1] - a[i], b[i + 1] - b[i])
            for i in (0, 2, 4)
        ]
        # Equations (4) to (9), times n.
        lost = [n * around - na * mine - nb * other for around, mine, other in sides]
        # Equations (2) and (3): no more than the threshold.
        space = min(n * self.max_space, lost[0] + lost[1])
        time = min(n * self.max_time, lost[2])
        return (
            Fraction(self.space_weight * space, weights * n * self.max_space),
            Fraction(self.time_weight * time, weights * n * self.max_time),
        )

    def trajectories(self, data: "Trajectories", i: int, j: int) -> Fraction:
        """Return the effort of merging the i-th and the j-th trajectory, equation (10), exactly."""
        from incrowd.measure._stretch.index import pair_cost

        return pair_cost(data, i, j, self)

    def scale(
        self, *, near: bool = True, stop: bool = True, small: int = 0, unit: int = 1
    ) -> "Scale":
        """Return the same for the kernels; `small` is the crowd whose distances fit in 32 bits.

        Costs are whole numbers of `unit`, which must divide what a cell and a slot cost.
        """
        from incrowd.measure._stretch.effort import Scale

        whole = (self.space_weight + self.time_weight) * self.max_space * self.max_time // unit
        return Scale(
            self.max_space,
            self.max_time,
            self.space_weight,
            self.time_weight,
            self.space_weight * self.max_time // unit,
            self.time_weight * self.max_space // unit,
            whole,
            near,
            stop,
            min(small, (2**31 - 1) // whole),
        )


def stretch_for(
    data: "Trajectories", stretch: "Stretch | None", *, stacklevel: int = 3
) -> "Stretch":
    """Return the stretch that was given, or the papers' on the grid of the data.

    Warns where one was given, and is not the papers', whose threshold nothing in the data reaches.

    Examples
    --------
    >>> from incrowd import Frame, Stretch, Trajectories
    >>> boxes = {"user": [1, 2], "x0": [0, 9], "y0": [0, 0], "t0": [0, 9]}
    >>> stretch_for(Trajectories.from_boxes(boxes, Frame(slot=600)), None)
    Stretch(max_space=200, max_time=48, space_weight=1, time_weight=1)
    """
    usual, found = Stretch.of(None, data.frame), Stretch.of(stretch, data.frame)
    cell, minutes = data.frame.cell, data.frame.slot / 60
    asked = (
        ("max_space", length(found.max_space * cell), found.space_weight, True),
        ("max_time", duration(found.max_time * minutes), found.time_weight, False),
    )
    for name, size, weight, space in asked:
        number = getattr(found, name)
        if not weight or number == getattr(usual, name):
            continue
        said = f"{name}={number} of the stretch ({size})"
        so = "no sample can be stretched so far; Stretch.of_metres takes metres and minutes"
        vain = beyond(said, number, data, space=space, so=so, together=space)
        if vain:
            warnings.warn(vain, DataWarning, stacklevel=stacklevel)
    return found
