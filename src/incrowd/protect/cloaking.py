"""Temporal cloaking: coarser times, or none."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from incrowd.data.trajectories import Trajectories
from incrowd.protect.coarser import checked, coarser_time
from incrowd.protect.mechanisms import LINKAGE, OTHERS, Changed, Mechanism
from incrowd.protect.settling import settle

__all__ = ["SPANS", "Cloak"]

SPANS = {"hour": 60, "day": 1440, "week": 10_080, "month": 43_200}
"""Minutes of the spans that have a name; a month is 30 days."""


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
    Section 3.5.2 of "Uniqueness assessment of human mobility on multi-sensor datasets" (2016).

    Examples
    --------
    >>> from incrowd import Trajectories
    >>> from incrowd.protect.cloaking import Cloak
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

    minutes: float | None

    method: ClassVar[str] = "temporal cloaking"
    paper: ClassVar[str] = "multi-sensor uniqueness, 2016, section 3.5.2"

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

    def _change(self, data: Trajectories, threads: int | None) -> Changed:
        x0, x1, y0, y1, t0, t1 = data.columns
        if self.minutes is not None:
            t0, t1 = coarser_time(t0, t1, data.frame, self.minutes)
        elif data.samples:
            t0, t1 = np.full_like(t0, t0.min()), np.full_like(t1, t1.max())
        return settle(data, (x0, x1, y0, y1, t0, t1), keep_place=True, threads=threads)
