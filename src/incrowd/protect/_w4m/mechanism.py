"""`W4M`: its settings, its words, and the work chunk by chunk."""

import math
import os
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd._arguments import is_number, whole
from incrowd.errors import ArgumentError
from incrowd.protect._mechanism import LINKAGE, OTHERS, Mechanism, Progress, Protected, setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incrowd.data._trajectories import Trajectories
    from incrowd.protect._w4m.edit import Edited

__all__ = [
    "GUARANTEE",
    "RULE",
    "W4M",
]


GUARANTEE = "(k, delta)-anonymity"
RULE = 0.005
"""The authors' rule: the radius is this share of the semi-diagonal of the bounding box."""
_LEAST = Fraction(4, 3)
"""The smallest radius that grows: floor(1.5 R) is more than R from here on."""
_MOST = 2**30
_PAIR = 16
"""Bytes for the cost and the radius of a pair."""


def _yes(text: str) -> bool:
    """Return what was typed as yes or no."""
    if text.lower() not in ("yes", "no"):
        raise ValueError(text)
    return text.lower() == "yes"


@dataclass(frozen=True, slots=True)
class W4M(Mechanism):
    """W4M, "Wait for Me": move people in space and time until k of them are close at all times.

    People with similar trajectories become a cluster of k or more. One of them, the pivot, is
    published as she is. All others get exactly the pivot's times; at each of them, the point of
    their own that is paired with the pivot's is pulled straight to within delta / 2 of hers. Who
    fits in no cluster is trash, and not published.

    *What is guaranteed* is (k, delta)-anonymity: at all of its times, every published trajectory
    lies with k - 1 others in one cylinder of diameter delta, around a published trajectory. It is
    verified on the written files, exactly, in whole cells.

    *What is not*: for delta above 0, nobody is hidden among k. The k trajectories differ, each is
    mostly unique, and one person of every cluster is published word for word.

    Published points are not where people were: they are moved by kilometres and hours, repeated
    where the pivot has more points, and left out where she has fewer. `losses` counts that, and
    `settings` has the mean distance and time.

    Parameters
    ----------
    k
        How many trajectories are close together, at least 2.
    delta
        The diameter of a cylinder in metres: 2 km unless given, as in the papers on GLOVE.
    radius_max
        The largest distance between a pivot and a member, in metres, at first; it grows by half
        until there is little enough trash. Half a percent of the semi-diagonal of the bounding box
        of the data unless given, as the authors have it.
    trash
        The share of the people who may be left out, at most.
    cap
        The most that a step between two points costs, in units of delta.
    chunked
        Whether similar people are put into chunks of 20 k first, and clusters are made within
        each (W4M-LC, for large data), or all people are compared with all (W4M-L).
    seed
        For the random choice of pivots. It is not published.

    Raises
    ------
    ArgumentError
        If a setting is out of range; by `protect`, if there are fewer than k people, samples are
        wider than a cell or longer than a slot, the data has crowds, or the radius cannot grow.

    References
    ----------
    - Abul et al., 2010: "Anonymization of moving objects databases by clustering and
      perturbation", Information Systems 35 (8), DOI 10.1016/j.is.2010.05.003.
    - Trujillo-Rasua and Domingo-Ferrer, 2013: "On the privacy offered by (k, δ)-anonymity",
      Information Systems 38 (4), DOI 10.1016/j.is.2012.12.003.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> protected = incrowd.W4M(k=2, delta=2000).protect(city)
    >>> protected.guarantee
    '(k, delta)-anonymity'
    >>> protected.losses["people_dropped"] <= 4
    True
    """

    k: int = setting(
        "How many trajectories are in each cylinder, at least.", least=2, stated="k_together"
    )
    delta: float = setting(
        "Diameter in metres of the cylinders in which k trajectories are at all times.",
        default=2000.0,
        metavar="M",
        above=0,
    )
    radius_max: float | None = setting(
        "Largest distance in metres between the trajectories of a cluster at first; it grows until "
        "there is little enough trash.",
        default=None,
        metavar="M",
        above=0,
        usual="0.5 % of the semi-diagonal of the bounding box",
    )
    trash: float = setting(
        "Share of the people, from 0 to below 1, who may be left out because they fit in no "
        "cluster.",
        default=0.1,
        metavar="SHARE",
        least=0,
    )
    cap: int = setting(
        "The most that a step between two points costs, in units of delta.",
        default=10,
        metavar="N",
        least=1,
    )
    chunked: bool = setting(
        "Whether similar people are put into chunks of 20 k first; no compares all with all, which "
        "takes long.",
        default=True,
        metavar="yes|no",
        parse=_yes,
        takes="yes or no",
        usual="yes",
    )
    seed: int = setting(
        "Seed of the random choice of pivots; it is not published.",
        "--pivot-seed",
        default=0,
        metavar="N",
        least=0,
    )

    method: ClassVar[str] = "W4M"
    paper: ClassVar[str] = "Abul et al., 2010"
    summary: ClassVar[str] = "move people close together; none is hidden"
    guarantee: ClassVar[str] = GUARANTEE
    example: ClassVar[str] = "--k 2 --delta 2000 (in metres)"

    def __post_init__(self) -> None:
        found: dict[str, Any] = {
            "k": whole("k", self.k, 2),
            "delta": _length("delta", self.delta),
            "trash": _share(self.trash),
            "cap": whole("cap", self.cap, 1, 2**31 - 1),
            "seed": whole("seed", self.seed, 0),
        }
        if self.radius_max is not None:
            found["radius_max"] = _growing(_length("radius_max", self.radius_max))
        if not isinstance(self.chunked, bool):
            raise ArgumentError(f"chunked must be True or False, not {self.chunked!r}")
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def settings(self) -> dict[str, Any]:
        """What was asked for; not the seed. A crowd of k is not promised, so none is stated."""
        return {
            "k_together": self.k,
            "delta": self.delta,
            "radius_max": self.radius_max,
            "trash": self.trash,
            "cap": self.cap,
            "chunked": self.chunked,
        }

    @property
    def explanation(self) -> tuple[str, ...]:
        """What it does to the data."""
        made = (
            "The method is W4M (Wait for Me). People with similar trajectories became clusters of "
            f"{self.k} or more. One of each cluster, the pivot, was published as she is; the "
            "others got the pivot's times, and were moved to within "
            f"{self.delta / 2:,g} m of the pivot at each of them."
        )
        so = (
            "So most published points were moved in space and time, some were repeated, and some "
            "left out: what a record states is not where its person was."
        )
        return made, so

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        told = (
            f"telling {self.k} published trajectories apart at one moment by positions that are "
            f"known no better than to {self.delta:,g} m: they are in one cylinder of that "
            f"diameter at all of their times; {LINKAGE}"
        )
        return (told,)

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""
        linkage = (
            "record linkage: the trajectories in a cylinder differ from one another, and mostly "
            "each is unique; for delta above 0 nobody is hidden among k (Trujillo-Rasua and "
            "Domingo-Ferrer, 2013)"
        )
        pivot = (
            "finding the pivot of a cluster: one person of each is published as she is, so whoever "
            "knows her places and times finds her record"
        )
        times = (
            "reading off true times: all trajectories of a cluster have those of their pivot, and "
            "these are true ones"
        )
        return linkage, pivot, times, *OTHERS

    def advice(self, data: "Trajectories") -> tuple[str, ...]:
        """Say that nobody is hidden; refuse what cannot work, before it begins."""
        self._refuse(data)
        told = (
            "W4M hides nobody in a crowd: its records differ, and one of each cluster is an "
            "original; the report will not say that the release may be shared"
        )
        return (told,)

    def protect(
        self,
        data: "Trajectories",
        *,
        threads: int | None = None,
        memory: str | int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,  # noqa: ARG002
        progress: Progress | None = None,
    ) -> Protected:
        """Apply it to a dataset, which stays as it is.

        Parameters
        ----------
        data
            Original trajectories: one person each, samples of one cell and one slot.
        threads
            All cores unless given; the result is the same.
        memory
            How much memory to use: three quarters of the machine's unless given. Without chunks,
            data that needs more is refused.
        checkpoint
            None is kept.
        progress
            Called with the name of the stage, how much of it is done, and how much there is.

        Returns
        -------
        Protected
            What is left, who is who, and what was lost.
        """
        from incrowd._parallel import cores
        from incrowd.data._trajectories import Trajectories
        from incrowd.protect._w4m.chunks import CHUNK, number_of_chunks

        data = Trajectories.of(data)
        self._refuse(data)
        single, again = _one_at_a_time(data)
        number = number_of_chunks(len(data), self.k, chunked=self.chunked)
        threads = cores(threads)
        largest = len(data) - (number - 1) * CHUNK * self.k
        _refuse_memory(largest, min(threads, number), memory)
        reach = _radius_of(single) if self.radius_max is None else self.radius_max
        if progress is not None:
            progress("Protecting", 0, data.samples)
        done = list(self._chunks(single, number, _growing(reach, single), threads, progress))
        if progress is not None:
            progress("Protecting", data.samples, data.samples)
        return self._put_together(data, single, done, again, reach)

    def _refuse(self, data: "Trajectories") -> None:
        """Refuse data that this cannot be applied to."""
        import numpy as np

        if self.k > len(data):
            raise ArgumentError(
                f"k is {self.k:,} and the data has only {len(data):,} people: no cluster of so "
                "many can be made"
            )
        if bool(np.any(data.crowd != 1)):
            raise ArgumentError(
                "W4M moves the trajectories of single people, and this data has crowds; apply it "
                "to the original data, before anything is merged"
            )
        x0, x1, y0, y1, t0, t1 = data.columns
        large = int(np.count_nonzero((x1 - x0 != 1) | (y1 - y0 != 1) | (t1 - t0 != 1)))
        if large:
            raise ArgumentError(
                f"{large:,} of {data.samples:,} samples are wider than a cell or longer than a "
                "slot; W4M moves points, not areas: apply it to the original data, before "
                "anything is merged or generalised"
            )
        if bool(np.any(data.lengths() == 0)):
            raise ArgumentError("a person of the data has no sample; leave her out")
        if any(int(side.max()) - int(side.min()) > _MOST for side in (x0, y0)):
            raise ArgumentError("the data is more than 2**30 cells wide; use larger cells")
        if self.radius_max is None:
            _growing(_radius_of(data), data)

    def _chunks(
        self,
        data: "Trajectories",
        number: int,
        reach: float,
        threads: int,
        progress: Progress | None,
    ) -> "Iterator[Edited]":
        """Give what becomes of each chunk."""
        from incrowd._parallel import on_threads
        from incrowd.protect._w4m.chunks import CHUNK, chunks, extents, mean_speed
        from incrowd.protect._w4m.edit import Asked, edit, stream

        speed = mean_speed(data)
        trash = int(Fraction(str(self.trash)) * len(data)) // number
        asked = Asked(self.k, self.delta, reach, trash, self.cap)
        people, total = len(data), data.samples

        def walked(done: int) -> None:
            if progress is not None and number == 1:
                progress("Protecting", total * done // people, total)

        def work(job: Any) -> "Edited":
            chunk, members = job
            own = threads if number == 1 else 1
            state = stream(self.seed, chunk)
            return edit(data, members, speed, asked, state, threads=own, walked=walked)

        jobs = enumerate(chunks(extents(data, speed), CHUNK * self.k, number))
        for i, one in enumerate(on_threads(1 if number == 1 else threads, work, jobs)):
            yield one
            if progress is not None and number > 1:
                progress("Protecting", total * (i + 1) // number, total)

    def _put_together(
        self,
        data: "Trajectories",
        single: "Trajectories",
        done: "list[Edited]",
        again: int,
        reach: float,
    ) -> Protected:
        """Make one dataset of all chunks, people in the order of the input."""
        import numpy as np
        import polars as pl

        from incrowd.data._trajectories import Trajectories
        from incrowd.protect._w4m.edit import positions

        lengths = np.zeros(len(data), np.int64)
        for part in done:
            lengths[part.people] = np.diff(part.offsets)
        kept = lengths > 0
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        columns = [np.empty(offsets[-1], np.int32) for _ in range(6)]
        counts, reached, metres, seconds = Counter[str](), reach, 0.0, 0
        while done:
            part = done.pop()
            rows, _ = positions(part.people, offsets)
            for start, side in enumerate((part.x, part.y, part.t)):
                columns[2 * start][rows] = side
            counts.update(part.counts)
            metres, seconds = metres + part.metres, seconds + part.seconds
            reached = max(reached, part.reach)
        for start in (0, 2, 4):
            np.add(columns[start], 1, out=columns[start + 1])
        made = Trajectories(
            tuple(columns),
            np.concatenate([[0], offsets[1:][kept]]),
            data.frame,
            people=data.people.filter(pl.Series(kept)),
        )
        here = int(single.lengths()[kept].sum())
        dropped = int(data.lengths()[~kept].sum())
        names = ("samples_created", "samples_deleted")
        losses = {
            "people_dropped": int((~kept).sum()),
            "samples_dropped": dropped,
            "samples_suppressed": data.samples - dropped - here + counts["samples_deleted"],
            "samples_same_time": again,
            **{name: counts[name] for name in names},
            **{f"{name}_net": counts[f"{name}_net"] for name in names},
        }
        index = pl.Series("trajectory", np.cumsum(kept, dtype=np.int32) - np.int32(1))
        assignment = pl.DataFrame([data.people.alias("user"), index, pl.Series("kept", kept)])
        assignment = assignment.select(
            "user", pl.when("kept").then("trajectory").alias("trajectory")
        )
        found = {
            "radius_first": reach,
            "radius_reached": reached,
            "mean_moved_metres": round(metres / max(here, 1), 3),
            "mean_moved_seconds": round(seconds / max(here, 1), 3),
        }
        note = (
            f"{again:,} samples for which another one of the same person is in the same time slot: "
            "W4M has one position at a time, so the first is taken, and these are not published"
        )
        notes = (note,) if again else ()
        return Protected(self, made, assignment, losses, self.settings | found, notes)


def _one_at_a_time(data: "Trajectories") -> "tuple[Trajectories, int]":
    """Take the first of several samples of a person in one slot; count the others."""
    import numpy as np

    kept = np.ones(data.samples, np.bool_)
    kept[1:] = data.t0[1:] != data.t0[:-1]
    kept[data.offsets[:-1]] = True
    again = data.samples - int(kept.sum())
    return (data.keep(kept), again) if again else (data, 0)


def _radius_of(data: "Trajectories") -> float:
    """Return the authors' radius: half a percent of the semi-diagonal of the bounding box."""
    sides = (data.x0, data.y0)
    wide, high = (float(int(side.max()) - int(side.min())) * data.frame.cell for side in sides)
    return RULE * math.sqrt(wide * wide + high * high) / 2


def _growing(radius: float, data: "Trajectories | None" = None) -> float:
    """Refuse a radius that can never grow."""
    if radius < _LEAST:
        where = "" if data is None else ", 0.5 % of the semi-diagonal of the data"
        hint = "" if data is None else "; give a larger one, such as delta"
        raise ArgumentError(
            f"radius_max = {radius:g} m{where} can never grow: half as much again, in whole "
            f"metres, is no more than it was; it must be at least 1.334 m{hint}"
        )
    return radius


def _refuse_memory(largest: int, chunks: int, memory: str | int | None) -> None:
    """Refuse chunks in which comparing all people with all needs more memory than there is."""
    from incrowd._memory import Memory

    need, limit = _PAIR * largest * largest * chunks, Memory.of(memory).limit // 2
    if need > limit:
        others = "" if chunks == 1 else f", in {chunks:,} chunks at a time,"
        raise ArgumentError(
            f"comparing all of {largest:,} people with all{others} needs {need / 1e9:.1f} GB, and "
            f"{limit / 1e9:.1f} GB may be used; work in chunks (chunked), with a smaller k, or "
            "raise the memory limit"
        )


def _length(name: str, value: Any) -> float:
    """Return a length in metres."""
    if not is_number(value) or not 0 < value < math.inf:
        raise ArgumentError(f"{name} must be a finite number of metres above 0, not {value!r}")
    return float(value)


def _share(value: Any) -> float:
    """Return the share of people who may be trash."""
    if not is_number(value) or not 0 <= value < 1:
        raise ArgumentError(f"trash must be a share from 0 to below 1, not {value!r}")
    return float(value)
