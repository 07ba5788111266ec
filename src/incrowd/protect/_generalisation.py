"""Coarser positions and times: uniform generalisation, and temporal cloaking.

Both widen boxes outward to whole steps of a coarser grid, the same one for everybody, and make one
of those that are equal then. How is in `_normalise`.
"""

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd.data._extent import beyond
from incrowd.errors import ArgumentError, DataWarning
from incrowd.protect._mechanism import LINKAGE, OTHERS, Changed, Mechanism, setting

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "SPANS",
    "Cloak",
    "Generalise",
    "checked",
]


SPANS = {"hour": 60, "day": 1440, "week": 10_080, "month": 43_200}
"""Minutes of the spans that have a name; a month is 30 days."""


def checked(value: float, what: str) -> float:
    """Return a granularity as a number; refuse what is none, whatever the data."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < math.inf:
        raise ArgumentError(f"{what} must be a number above 0, not {value!r}")
    return number


def _span(text: str) -> float | None:
    """Return the minutes of a span that was typed; None for all time."""
    if text == "all":
        return None
    return checked(SPANS.get(text, text), "a slot in minutes")  # type: ignore[arg-type]


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

    Warns
    -----
    DataWarning
        By `protect`, if a cell or slot is larger than the data itself.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      the legacy baseline of section 5.3 and figure 8, from 100 m and 1 min to 20 km and 480 min.

    Examples
    --------
    >>> from incrowd import Generalise, Trajectories
    >>> data = Trajectories.from_boxes(
    ...     {"user": [1, 1, 2], "x0": [3, 9, -1], "y0": [2, 2, 2], "t0": [61, 90, 130]})
    >>> coarse = Generalise(metres=1000, minutes=60).protect(data)
    >>> coarse.trajectories.boxes().rows()
    [(1, 0, 10, 0, 10, 60, 120), (2, -10, 0, 0, 10, 120, 180)]
    >>> coarse.losses["samples_collapsed"]
    1
    """

    metres: float | None = setting(
        "Positions become cells of this side.", default=None, metavar="M", above=0
    )
    minutes: float | None = setting(
        "Times become slots of this length.", default=None, metavar="MIN", above=0
    )

    method: ClassVar[str] = "uniform generalisation"
    paper: ClassVar[str] = "Gramaglia et al., 2021, section 5.3"
    summary: ClassVar[str] = "blur positions and times to one coarser grid"
    example: ClassVar[str] = "--metres 1000 or --minutes 60 or both"
    compared: ClassVar[str] = "1000m:30min"

    def __post_init__(self) -> None:
        if self.metres is None and self.minutes is None:
            raise ArgumentError(
                "uniform generalisation needs metres, minutes or both; neither is given"
            )
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

    def _change(self, data: "Trajectories", threads: int | None) -> Changed:
        from incrowd.protect._normalise import coarser_space, coarser_time, sort_and_deduplicate

        for vain in filter(None, self._in_vain(data)):
            warnings.warn(vain, DataWarning, stacklevel=3)
        x0, x1, y0, y1, t0, t1 = data.columns
        if self.metres is not None:
            x0, x1 = coarser_space(x0, x1, data.frame, self.metres)
            y0, y1 = coarser_space(y0, y1, data.frame, self.metres)
        if self.minutes is not None:
            t0, t1 = coarser_time(t0, t1, data.frame, self.minutes)
        columns = (x0, x1, y0, y1, t0, t1)
        keep = self.metres is None
        return sort_and_deduplicate(data, columns, keep_place=keep, threads=threads)

    def _in_vain(self, data: "Trajectories") -> Iterator[str]:
        """Tell of cells and slots that are larger than the data."""
        frame = data.frame
        asked = (
            ("metres", self.metres, frame.cell, True, "four cells are"),
            ("minutes", self.minutes, frame.slot / 60, False, "two slots are"),
        )
        for name, value, unit, space, left in asked:
            if value is not None:
                so = f"at most {left} left of it"
                yield beyond(f"{name}={value:g}", value / unit, data, space=space, so=so)


@dataclass(frozen=True, slots=True)
class Cloak(Mechanism):
    """Temporal cloaking: replace times by slots of an hour up to a month, or by nothing.

    Every time becomes the slot, or slots, in which it lies. These are counted from 1970-01-01 UTC
    (so a day is one of UTC, a week starts on a Thursday, and a month is 30 days, wherever it
    starts), the same ones for all people and all datasets. Samples of a person that are equal
    then become one, and are counted. Positions, and the names of places, stay as they are.

    It protects against reading off when exactly somebody was somewhere. It does not protect
    against being recognised: where people go tells them apart nearly as well without the minute
    (the paper finds little less uniqueness up to slots of a week).

    Parameters
    ----------
    minutes
        The length of a slot: 60 to 43,200 in the paper, any whole multiple of the data's slot
        here. None takes all time away: every sample gets the whole span of the dataset, from the
        start of its first sample to the end of its last one.

    Raises
    ------
    ArgumentError
        If it is not a number above 0; by `protect`, if it is finer than the data or no whole
        multiple of its slot.

    References
    ----------
    - Boutet et al., 2016: "Uniqueness Assessment of Human Mobility on Multi-Sensor Datasets", LIRIS
      research report hal-01381986; section 3.5.2.

    Examples
    --------
    >>> from incrowd import Cloak, Trajectories
    >>> data = Trajectories.from_boxes(
    ...     {"user": [1, 1, 2], "x0": [0, 0, 5], "y0": [2, 2, 2], "t0": [61, 90, 130]})
    >>> hours = Cloak(minutes=60).protect(data)
    >>> hours.trajectories.boxes().select("user", "t0", "t1").rows()
    [(1, 60, 120), (2, 120, 180)]
    >>> hours.losses["samples_collapsed"]
    1
    >>> Cloak(minutes=None).protect(data).trajectories.boxes().select("t0", "t1").rows()
    [(61, 131), (61, 131)]
    """

    minutes: float | None = setting(
        "Times become slots of so many minutes, or an hour, day, week, month (30 days); all: no "
        "time is left.",
        "--cloak",
        metavar="MIN",
        parse=_span,
        takes=f"minutes above 0, or {', '.join(SPANS)}, or all",
    )

    method: ClassVar[str] = "temporal cloaking"
    paper: ClassVar[str] = "Boutet et al., 2016, section 3.5.2"
    summary: ClassVar[str] = "blur times, leave positions as they are"
    example: ClassVar[str] = "--cloak 60"
    compared: ClassVar[str] = "60min"

    def __post_init__(self) -> None:
        if self.minutes is not None:
            object.__setattr__(self, "minutes", checked(self.minutes, "a slot in minutes"))

    @property
    def settings(self) -> dict[str, Any]:
        """The length of a slot in minutes; "all" if all time is taken away."""
        return {"minutes": "all" if self.minutes is None else self.minutes}

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        if self.minutes is None:
            told = "reading off times: every sample has the whole span of the dataset"
        else:
            told = (
                "reading off times: every published time is a whole slot, or several, of "
                f"{self.minutes:,g} min, counted from 1970-01-01 UTC"
            )
        return (f"{told}; {LINKAGE}",)

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""
        ends = (
            "reading off extremes: the span starts and ends with a true sample of somebody"
            if self.minutes is None
            else "what a slot tells: that somebody was there at some time of it, is published"
        )
        return (
            (
                "record linkage: positions are untouched, so whoever knows a few places of a "
                "person (and roughly when she was there) finds the records that have them all, "
                "mostly one"
            ),
            ends,
            *OTHERS,
        )

    def _change(self, data: "Trajectories", threads: int | None) -> Changed:
        import numpy as np

        from incrowd.protect._normalise import coarser_time, sort_and_deduplicate

        x0, x1, y0, y1, t0, t1 = data.columns
        if self.minutes is not None:
            t0, t1 = coarser_time(t0, t1, data.frame, self.minutes)
        elif data.samples:
            t0, t1 = np.full_like(t0, t0.min()), np.full_like(t1, t1.max())
        columns = (x0, x1, y0, y1, t0, t1)
        return sort_and_deduplicate(data, columns, keep_place=True, threads=threads)
