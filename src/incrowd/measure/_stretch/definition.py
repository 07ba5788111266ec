"""`Stretch`: what it costs to make two samples, or two trajectories, one.

Equations (1) to (10) of the paper. Two samples are merged by stretching both to the box around
them. What is lost counts in space and in time, each up to a threshold beyond which nothing is
left to lose, and weighs by the people whom it concerns.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from incrowd._arguments import is_whole, whole
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._stretch.effort import Scale

__all__ = [
    "Stretch",
]


Box = tuple[int, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """How a stretch is measured.

    Parameters
    ----------
    max_space, max_time
        The thresholds, in cells and slots: beyond them a sample is as good as lost. 20 km and 8
        hours on the usual grid, as in the papers.
    space_weight, time_weight
        What space and time weigh against each other; whole numbers.

    Examples
    --------
    Two people, 300 m and 10 minutes apart:

    >>> from incrowd.measure._stretch.definition import Stretch
    >>> space, time = Stretch().samples((0, 1, 0, 1, 0, 1), (2, 3, 1, 2, 10, 11))
    >>> space, time
    (Fraction(3, 400), Fraction(1, 96))

    A crowd of four who must be stretched to a fifth one lose more than the one who joins:

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
    def of(cls, stretch: "Stretch | None") -> "Stretch":
        """Give what was asked for, or the papers' if nothing was."""
        if stretch is None:
            return cls()
        if not isinstance(stretch, cls):
            raise ArgumentError(f"stretch must be a Stretch, as Stretch(200, 480), not {stretch!r}")
        return stretch

    def samples(self, a: Box, b: Box, na: int = 1, nb: int = 1) -> tuple[Fraction, Fraction]:
        """Give the effort of merging two samples: its part in space and its part in time.

        Parameters
        ----------
        a, b
            Boxes ``(x0, x1, y0, y1, t0, t1)`` in cells and slots, half-open.
        na, nb
            How many people each stands for.
        """
        n, weights = na + nb, self.space_weight + self.time_weight
        sides = [
            (max(a[i + 1], b[i + 1]) - min(a[i], b[i]), a[i + 1] - a[i], b[i + 1] - b[i])
            for i in (0, 2, 4)
        ]
        lost = [n * around - na * mine - nb * other for around, mine, other in sides]
        space = min(n * self.max_space, lost[0] + lost[1])
        time = min(n * self.max_time, lost[2])
        return (
            Fraction(self.space_weight * space, weights * n * self.max_space),
            Fraction(self.time_weight * time, weights * n * self.max_time),
        )

    def trajectories(self, data: "Trajectories", i: int, j: int) -> Fraction:
        """Give the effort of merging two trajectories of a dataset, exactly."""
        from incrowd.measure._stretch.index import pair_cost

        return pair_cost(data, i, j, self)

    def scale(self, *, near: bool = True, stop: bool = True, small: int = 0) -> "Scale":
        """Give the same for the kernels; `small` is the crowd whose distances fit in 32 bits."""
        from incrowd.measure._stretch.effort import Scale

        whole = (self.space_weight + self.time_weight) * self.max_space * self.max_time
        return Scale(
            self.max_space,
            self.max_time,
            self.space_weight,
            self.time_weight,
            self.space_weight * self.max_time,
            self.time_weight * self.max_space,
            whole,
            near,
            stop,
            min(small, (2**31 - 1) // whole),
        )
