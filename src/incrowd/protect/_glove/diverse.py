"""Crowds whose people do not all live in one place: what is asked for, and everybody's home.

A crowd of k hides who somebody is, not where she lives: if all of it live in one square kilometre,
its record tells that of each of them (the homogeneity attack). `Diverse` asks for so many distinct
homes in every crowd: distinct l-diversity, with home as the sensitive attribute. A home here is the
square of a grid in which the place lies where the person is most at night (see
`incrowd.measure._centres`). Who was never seen at night has none, and counts for no diversity.

Which pairs GLOVE then merges is told in `incrowd.measure._stretch.variety`.
"""

import hashlib
import math
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd._arguments import is_number, whole
from incrowd._format import count_of, length
from incrowd._outside import outside
from incrowd.errors import ArgumentError, DataWarning

if TYPE_CHECKING:
    from incrowd._numba import Ints
    from incrowd.data._frame import Frame
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "Diverse",
    "Homes",
    "homes_in",
]


METRES = 1000
"""The side of the grid unless another is given: that to which `inference` tells of homes."""
LEAST, MOST = 2, 100
"""Fewer distinct homes are no diversity; more would be crowds of everybody."""
WIDEST = 1_000_000
"""Squares of more metres hold whole countries."""
UNITS = {"m": 1, "km": 1000}
FORM = "home:3 or home:3:5km (3 distinct homes in every crowd, on a grid of 5 km)"


@dataclass(frozen=True, slots=True)
class Diverse:
    """Ask for distinct homes in every crowd.

    Parameters
    ----------
    homes
        How many distinct homes every crowd must have, from 2 to 100. A home is a square of a grid:
        the one with the place where a person has most samples from 22 to 6 h.
    metres
        The side of the squares; taken as whole cells of the data's grid, rounded up. 1 km unless
        given, to which :func:`incrowd.inference` tells of homes. Larger squares protect better, for
        homes on either side of an edge count as distinct however near they are, and cost more.
    tz
        The time zone in which it is night. Unless given, the one with which the data was read; if
        that is not known either, UTC, with a warning.

    References
    ----------
    - Machanavajjhala et al., 2006: "l-Diversity: Privacy Beyond k-Anonymity", ICDE 2006, DOI
      10.1109/ICDE.2006.1; distinct l-diversity.

    Examples
    --------
    >>> import incrowd
    >>> incrowd.Diverse.of("home:3:5km")
    Diverse(homes=3, metres=5000, tz=None)
    >>> city = incrowd.synthesize("city", users=60, seed=7)
    >>> release = incrowd.glove(city, k=3, diverse=incrowd.Diverse(homes=2))
    >>> release.settings["diverse"]
    {'homes': 2, 'metres': 1000, 'tz': 'UTC'}
    """

    homes: int
    metres: float = METRES
    tz: str | None = None

    def __post_init__(self) -> None:
        from incrowd.data._select import find_zone

        object.__setattr__(self, "homes", whole("homes", self.homes, LEAST, MOST))
        if not is_number(self.metres) or not 0 < self.metres <= WIDEST:
            raise ArgumentError(
                f"metres must be a number above 0 and up to {WIDEST:,}, not {self.metres!r}: it is "
                "the side of the squares that count as one home"
            )
        if self.tz is not None:
            find_zone(self.tz)

    def __str__(self) -> str:
        """Return what is asked for as it is typed."""
        return f"home:{self.homes}" + ("" if self.metres == METRES else f":{self.metres:g}m")

    @classmethod
    def of(cls, value: Any) -> "Diverse | None":
        """Return what is asked for, also as text: ``"home:3"``, or ``"home:3:5km"``.

        Examples
        --------
        >>> from incrowd import Diverse
        >>> Diverse.of("home:2"), Diverse.of("home:2:500m").metres, Diverse.of(None)
        (Diverse(homes=2, metres=1000, tz=None), 500, None)
        """
        if value is None or isinstance(value, cls):
            return value
        if not isinstance(value, str):
            raise ArgumentError(f"diverse is {value!r}; write it as {FORM}")
        what, *rest = value.strip().split(":")
        if what != "home":
            raise ArgumentError(
                f"diverse is {value!r}, but only homes can be asked for: write it as {FORM}"
            )
        number = rest[0] if rest else ""
        if not re.fullmatch(r"-?\d+", number) or len(rest) > 2:  # noqa: PLR2004
            raise ArgumentError(f"diverse is {value!r}; write it as {FORM}")
        if int(number) < LEAST:
            raise ArgumentError(
                f"diverse is {value!r}, but fewer than {LEAST} distinct homes protect nothing: "
                f"write it as {FORM}"
            )
        if len(rest) == 1:
            return cls(int(number))
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(m|km)", rest[1].strip())
        if found is None:
            raise ArgumentError(
                f"diverse is {value!r}, and {rest[1]!r} is no length; write it as {FORM}"
            )
        metres = float(found[1]) * UNITS[found[2]]
        return cls(int(number), int(metres) if metres.is_integer() else metres)

    def cells(self, frame: "Frame") -> int:
        """Return the side of the squares in whole cells, rounded up.

        Raises
        ------
        ArgumentError
            If the grid is finer than the cells.
        """
        if self.metres < frame.cell:
            raise ArgumentError(
                f"diverse asks for homes on a grid of {length(self.metres)}, but the data has "
                f"cells of {length(frame.cell)}: a place is not known better than that; take "
                f"home:{self.homes}:{frame.cell:g}m or wider"
            )
        return math.ceil(self.metres / frame.cell - 1e-9)

    def advice(self, frame: "Frame") -> str:
        """Return how the side is rounded to the grid; mostly nothing."""
        side = self.cells(frame) * frame.cell
        if math.isclose(side, self.metres):
            return ""
        return f"the grid of homes is rounded up to {length(side)} (whole cells of the data)"

    def settings(self) -> dict[str, Any]:
        """Return what is asked for in plain values, as manifests have it."""
        return {"homes": self.homes, "metres": self.metres, "tz": self.tz}


@dataclass(frozen=True, slots=True, eq=False)
class Homes:
    """Everybody's home.

    Attributes
    ----------
    square
        A number for the square of each person's home; -1 for who has none.
    settings
        What is promised, in plain values: the number of homes, the side of the squares as whole
        cells in metres, and the zone of the night.
    """

    square: "Ints"
    settings: dict[str, Any]

    def fingerprint(self) -> str:
        """Return a hash of the squares, for checkpoints."""
        return hashlib.sha256(self.square.tobytes()).hexdigest()


def homes_in(data: "Trajectories", diverse: Diverse, threads: int) -> Homes:
    """Find everybody's home; refuse more distinct homes than there are, and warn of too few.

    Raises
    ------
    ArgumentError
        If a crowd is to have more distinct homes than there are, or the grid is finer than cells.

    Warns
    -----
    DataWarning
        If more than one in `homes` people live in one square; of people without a home.
    """
    import numpy as np

    from incrowd.data._zone import zone_or_utc
    from incrowd.measure._centres import centres_of, homes_of

    side = diverse.cells(data.frame)
    tz = zone_or_utc(diverse.tz, data)
    found = homes_of(centres_of(data, tz, threads), threads)
    lives = found[:, 2] > 0
    squares, code = np.unique(found[lives, :2] // (2 * side), axis=0, return_inverse=True)
    metres = side * data.frame.cell
    grid = f"a grid of {length(metres)}"
    if len(squares) < diverse.homes:
        there = "is 1" if len(squares) == 1 else f"are {len(squares):,}"
        raise ArgumentError(
            f"diverse asks for {diverse.homes:,} distinct homes in every crowd, but there {there} "
            f"on {grid}; ask for fewer, or for a finer grid"
        )
    square = np.full(len(data), -1, np.int64)
    square[lives] = code.reshape(-1)
    everybody = int(data.crowd.sum())
    most = int(np.bincount(square[lives], data.crowd[lives]).max())
    if most * diverse.homes > everybody:
        warnings.warn(
            f"{count_of(most, everybody)} people live in one square of {grid}, more than one in "
            f"{diverse.homes:,}: for many of them nobody from elsewhere may be left, so that they "
            "are dropped (variant='loose', --variant loose, puts them into larger crowds)",
            DataWarning,
            stacklevel=outside(),
        )
    never = int(data.crowd[~lives].sum())
    if never:
        warnings.warn(
            f"{count_of(never, everybody)} people were never seen from 22 to 6 h ({tz}) and have "
            f"no home here; they are put into crowds that have {diverse.homes:,} homes without "
            "them",
            DataWarning,
            stacklevel=outside(),
        )
    plain = int(metres) if float(metres).is_integer() else float(metres)
    return Homes(square, {"homes": diverse.homes, "metres": plain, "tz": tz})
