"""`uniqueness`: how often a few points of a trace identify one person uniquely.

Section 3.3 of *Uniqueness Assessment of Human Mobility on Multi-Sensor Datasets*, 2016:

- `probabilistic` (de Montjoye and others, 2013): of random people, p random points; the share of
  these sub-traces that exactly one person has;
- `deterministic` (Zang and Bolot, 2011): of every person, her p most frequent points;
- `exact`: of every person, all sub-traces of one or two points; what the first one estimates.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd._format import duration, percent, rounded_percent
from incrowd._numba import Ints, kernel
from incrowd._parallel import cores
from incrowd._summary import Summarised, Summary
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import Visits
from incrowd.errors import ArgumentError, InputError
from incrowd.measure._uniqueness.encoding import (
    Points,
    join_sensors,
    kind_of,
    points_of,
    whole_number,
)
from incrowd.measure._uniqueness.exhaustive import all_subtraces
from incrowd.measure._uniqueness.inverted_index import count_matching, posting_lists

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = [
    "Uniqueness",
    "of_points",
    "uniqueness",
]


MODELS = ("probabilistic", "deterministic", "exact")
KINDS = {
    "spatio_temporal": "a place and a time each",
    "spatial": "a place each, without its time",
    "temporal": "a time each, without its place",
}
CHOSEN = {
    "probabilistic": "chosen at random",
    "deterministic": "the most frequent of each person",
    "exact": "all that each person has",
}
"""What points are, and how they are chosen, in words."""
TINY = 0.0005
"""What would be written as 0.0%."""
DRAWS = 2500
NORMAL = 1.959963984540054
"""The standard normal quantile of 97.5 %: an interval of 95 %."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Uniqueness(Summarised):
    """The uniqueness of people.

    Attributes
    ----------
    table
        A row for each number of points: points, people (who have so many), left_out (who have
        fewer, or lack a sensor), trials, unique (how many of these exactly one person has), share,
        low and high (the interval of 95 % in which the share of all sub-traces lies; the share
        itself where nothing is estimated), and crowd (the mean number of people who have all
        points of a trial).
    people
        For each number of points and each person who has so many: points, user, trials, share. The
        table names people: do not print or save it where others read, such as in a notebook.
    crowds
        How large the crowds are: points, crowd, trials.
    kind, model
        What a point is, and how points are chosen, as asked for.
    slot
        How long a slot of time is, in seconds; None where that is not known.
    """

    table: "pl.DataFrame"
    people: "pl.DataFrame"
    crowds: "pl.DataFrame"
    kind: str | None = None
    model: str | None = None
    slot: float | None = None

    @property
    def share(self) -> float | list[float]:
        """The share of sub-traces that are unique; one for each number of points, if several."""
        shares: list[float] = self.table["share"].to_list()
        return shares[0] if len(shares) == 1 else shares

    def plot(self) -> "alt.LayerChart":
        """Return a chart (Altair) of the share that is unique, by the number of known points.

        Raises
        ------
        InputError
            If nobody has so many points.

        Examples
        --------
        >>> import incrowd
        >>> city = incrowd.synthesize("city", users=20, seed=7)
        >>> type(incrowd.uniqueness(city, [1, 2, 4]).plot()).__name__
        'LayerChart'
        """
        import altair as alt

        from incrowd._charts import ORANGE, data_of, share_axis, styled

        if not self.table["people"].sum():
            raise InputError("nobody has so many points, so there is nothing to be drawn")
        columns = ("points", "share", "low", "high", "people")
        rows = self.table.select(columns).rows(named=True)
        base = alt.Chart(data_of(rows)).encode(
            x=alt.X("points:Q", title="known points", axis=alt.Axis(tickMinStep=1, format="d")),
            tooltip=[
                alt.Tooltip("points:Q"),
                *(alt.Tooltip(f"{name}:Q", format=".1%") for name in ("share", "low", "high")),
                alt.Tooltip("people:Q", format=","),
            ],
        )
        band = base.mark_errorbar(color=ORANGE).encode(y=alt.Y("low:Q", title=""), y2="high:Q")
        line = base.mark_line(color=ORANGE, point=alt.OverlayMarkDef(color=ORANGE, size=50)).encode(
            y=share_axis("share", "people singled out")
        )
        title = ["How few known points single a person out", *filter(None, [self._how])]
        return styled(line + band, title)

    @property
    def _how(self) -> str:
        """What a point is, in words, and how points are chosen."""
        parts = [str(KINDS.get(self.kind or "", "")), str(CHOSEN.get(self.model or "", ""))]
        if self.slot is not None and self.kind != "spatial":
            parts.insert(1, f"slots of {duration(self.slot / 60)}")
        return "; ".join(part for part in parts if part)

    def _summary(self) -> Summary:
        rows = self.table.iter_rows(named=True)
        return Summary(
            "Uniqueness: how often a few points identify one person",
            {"points": self._how} if self._how else {},
            head=("points", "people", "trials", "unique", "95% interval"),
            rows=[
                (
                    str(row["points"]),
                    f"{row['people']:,}",
                    f"{row['trials']:,}",
                    _part(row["share"]),
                    f"{_part(row['low'])} to {_part(row['high'])}",
                )
                for row in rows
            ],
        )


def _part(share: float | None) -> str:
    """Write a share: never none where some were singled out."""
    near = share is not None and (0 < share < TINY or 1 - TINY < share < 1)
    return rounded_percent(share) if near else percent(share)


def uniqueness(
    visits: Visits | Trajectories | Mapping[str, Visits | Trajectories],
    points: int | Iterable[int] = 4,
    *,
    kind: str = "spatio_temporal",
    model: str = "probabilistic",
    draws: int = DRAWS,
    each: int | None = None,
    precision: int = 1,
    met: int = 3,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Uniqueness:
    """Return how often a few points identify one person uniquely.

    Parameters
    ----------
    visits
        Who was where, and when; of trajectories, those of :func:`incrowd.visits`. Several, by the
        name of their sensor, are taken together: a sub-trace then has equally many points of each,
        and people are those who have all.
    points
        How many points are known, or several numbers. People who have fewer are left out.
    kind
        What a point is: ``"spatio_temporal"``, a place and a slot; ``"spatial"``, a place;
        ``"temporal"``, a slot in which at least `met` places were met.
    model
        ``"probabilistic"``: random points of random people. ``"deterministic"``: the most frequent
        points of each person (of equals, the lower place, the earlier slot). ``"exact"``: all
        sub-traces of each person, for one or two points.
    draws
        How many sub-traces are drawn (the paper: 2,500).
    each
        Draw so many of every person instead, so that the share of every person can be used.
    precision
        How many time units of the visits make a slot.
    met
        See `kind`: 3 for antennas and access points, 1 for POIs.
    seed
        The same seed gives the same draws.
    threads
        How many threads to use; all cores unless given. The result is the same.
    progress
        Called with the numbers of points that are done, and of all.

    References
    ----------
    - Boutet et al., 2016: "Uniqueness Assessment of Human Mobility on Multi-Sensor Datasets", LIRIS
      research report hal-01381986; section 3.3.
    - de Montjoye et al., 2013: "Unique in the crowd: The privacy bounds of human mobility",
      Scientific Reports 3, DOI 10.1038/srep01376; random points.
    - Zang and Bolot, 2011: "Anonymization of location data does not work: A large-scale measurement
      study", MobiCom '11, DOI 10.1145/2030613.2030630; most frequent points.

    Examples
    --------
    >>> import incrowd
    >>> visits = incrowd.Visits.from_rows(
    ...     {"user": [1, 1, 2, 2, 3], "place": [5, 6, 5, 7, 5], "time": [0, 1, 0, 1, 0]})
    >>> found = incrowd.uniqueness(visits, points=2)
    >>> found.share  # nobody else has both points of 1, or of 2; 3 has one point only
    1.0
    >>> int(found.table["left_out"][0])
    1
    """
    wanted = _numbers(points)
    kind_of(kind)
    if model not in MODELS:
        raise ArgumentError(f"model must be one of {', '.join(MODELS)}, not {model!r}")
    whole_number("draws", draws)
    whole_number("each", 1 if each is None else each)
    whole_number("seed", seed, 0)
    number = cores(threads)
    how: dict[str, Any] = {"precision": precision, "met": met, "threads": number}
    if isinstance(visits, Mapping):
        _check_sensors(visits, wanted, model)
        several = {name: Visits.of(one) for name, one in visits.items()}
        frames = {one.frame.slot if one.frame else None for one in several.values()}
        traces = join_sensors({name: points_of(one, kind, **how) for name, one in several.items()})
    else:
        one = Visits.of(visits)
        frames = {one.frame.slot if one.frame else None}
        traces = points_of(one, kind, **how)
    found = of_points(
        traces, wanted, model=model, draws=draws, each=each, seed=seed, threads=number,
        progress=progress,
    )  # fmt: skip
    unit = frames.pop() if len(frames) == 1 else None
    return replace(
        found, kind=kind, model=model, slot=None if unit is None else float(unit * precision)
    )


def of_points(
    traces: Points,
    wanted: list[int],
    *,
    model: str = "probabilistic",
    draws: int = DRAWS,
    each: int | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Uniqueness:
    """Return the uniqueness of traces that are encoded already; all else as in `uniqueness`."""
    number, tell = threads, progress or (lambda _done, _all: None)
    if model == "probabilistic":
        trials = [_draw(traces, p, draws, each, seed) for p in wanted]
        found = _crowds(traces, [codes for _, codes in trials], number, tell)
        parts = [(who, left) for (who, _), left in zip(trials, found, strict=True)]
        return _result(traces, wanted, parts, estimated=True)
    if model == "deterministic":
        return _result(traces, wanted, _most_frequent(traces, wanted, number), estimated=False)
    return _exact(traces, wanted, number, tell)


def _numbers(points: int | Iterable[int]) -> list[int]:
    several = isinstance(points, Iterable) and not isinstance(points, str)
    wanted = list(points) if several else [points]
    for p in wanted:
        whole_number("points", p)
    if not wanted or len(set(wanted)) < len(wanted):
        raise ArgumentError(f"points must be one number or several different ones, not {points!r}")
    return [int(p) for p in wanted]


def _check_sensors(visits: Mapping[str, Any], wanted: list[int], model: str) -> None:
    if len(visits) < 2:  # noqa: PLR2004
        raise ArgumentError("give at least two sensors, or the Visits of one without its name")
    if model != "probabilistic":
        raise ArgumentError(f"several sensors need model='probabilistic', not {model!r}")
    for p in wanted:
        if p % len(visits):
            raise ArgumentError(
                f"{p} points cannot be divided equally among {len(visits)} sensors; "
                f"give {-(-p // len(visits)) * len(visits)}"
            )


def _long_enough(traces: Points, p: int) -> Ints:
    """Return the people who have enough points of each sensor."""
    share = p // traces.sensors
    return np.flatnonzero((traces.lengths() >= share).all(axis=1))


def _draw(traces: Points, p: int, draws: int, each: int | None, seed: int) -> tuple[Ints, Ints]:
    """Draw sub-traces; return whose they are, and a row of codes for each."""
    people = _long_enough(traces, p)
    if not len(people):
        return np.zeros(0, np.int64), np.zeros((0, p), np.int64)
    rng = np.random.Generator(np.random.PCG64([seed, p]))
    who = people[rng.integers(len(people), size=draws)] if each is None else people.repeat(each)
    chance = rng.random((len(who), p))
    return who, _sample_points(traces.code, traces.cuts, traces.sensors, who, chance)


@kernel
def _sample_points(
    code: Ints, cuts: Ints, sensors: int, who: Ints, chance: NDArray[np.float64]
) -> Ints:
    """Return random distinct points, equally many of each sensor (Floyd's sampling).

    Floyd takes one random number a point, so that the same numbers give the same points whatever
    else is drawn.
    """
    p = chance.shape[1]
    share = p // sensors
    picked, at = np.empty((len(who), p), np.int64), np.empty(share, np.int64)
    for t in range(len(who)):
        for sensor in range(sensors):
            start = cuts[who[t] * sensors + sensor]
            size = cuts[who[t] * sensors + sensor + 1] - start
            for i in range(share):
                last = size - share + i
                index = np.int64(chance[t, sensor * share + i] * (last + 1))
                for j in range(i):
                    if at[j] == index:
                        index = last
                        break
                at[i] = index
                picked[t, sensor * share + i] = code[start + index]
    return picked


def _crowds(
    traces: Points, trials: Sequence[Ints], threads: int, tell: Callable[[int, int], None]
) -> list[Ints]:
    """Return how many people have all points of each trial, for several lists of trials."""
    tell(0, len(trials))
    asked = [np.unique(codes) for codes in trials]
    lists = posting_lists(traces, np.unique(np.concatenate(asked)), threads)
    left = []
    for done, codes in enumerate(trials, 1):
        trial = np.searchsorted(lists.wanted, codes)
        left.append(count_matching(lists, trial, nested=False, threads=threads)[:, -1].astype(int))
        tell(done, len(trials))
    return left


def _most_frequent(traces: Points, wanted: list[int], threads: int) -> list[tuple[Ints, Ints]]:
    """Return the crowds of the most frequent points of each person, by number of points."""
    # Nobody has more points than the longest trace.
    most = min(max(wanted), int(np.diff(traces.cuts).max(initial=1)))
    top = _most_frequent_codes(traces.code, traces.weight, traces.cuts, most)
    known = top >= 0
    lists = posting_lists(traces, np.unique(top[known]), threads)
    trial = np.where(known, np.searchsorted(lists.wanted, top), -1)
    left = count_matching(lists, trial, nested=True, threads=threads)
    parts = []
    for p in wanted:
        who = _long_enough(traces, p)
        parts.append((who, left[who, min(p, most) - 1].astype(np.int64)))
    return parts


@kernel
def _most_frequent_codes(code: Ints, weight: NDArray[np.int32], cuts: Ints, most: int) -> Ints:
    """Return the most frequent codes of each person, -1 where there are no more."""
    people = len(cuts) - 1
    top = np.full((people, most), -1, np.int64)
    for person in range(people):
        start, end = cuts[person], cuts[person + 1]
        order = np.argsort(-weight[start:end].astype(np.int64), kind="mergesort")
        for i in range(min(most, end - start)):
            top[person, i] = code[start + order[i]]
    return top


def _result(
    traces: Points, wanted: list[int], parts: list[tuple[Ints, Ints]], *, estimated: bool
) -> Uniqueness:
    """Return tables from whose sub-traces were tried, and how many people have each."""
    import polars as pl

    rows, people, crowds = [], [], []
    for p, (who, left) in zip(wanted, parts, strict=True):
        able = _long_enough(traces, p)
        alone = left == 1
        tried = np.bincount(who, minlength=len(traces))[able]
        hits = np.bincount(who[alone], minlength=len(traces))[able]
        share = np.divide(hits, tried, out=np.full(len(able), np.nan), where=tried > 0)
        rows.append(_row(traces, p, left, estimated=estimated))
        people.append(_people(traces, p, able, tried, share))
        size, number = np.unique(left, return_counts=True)
        crowds.append(
            pl.DataFrame({"points": np.full(len(size), p), "crowd": size, "trials": number})
        )
    return Uniqueness(pl.DataFrame(rows), pl.concat(people), pl.concat(crowds))


def _row(traces: Points, p: int, left: Ints, *, estimated: bool) -> dict[str, object]:
    able, trials, unique = len(_long_enough(traces, p)), len(left), int((left == 1).sum())
    share = unique / trials if trials else None
    low, high = interval(unique, trials) if estimated and trials else (share, share)
    return {
        "points": p,
        "people": able,
        "left_out": len(traces) - able + traces.absent,
        "trials": trials,
        "unique": unique,
        "share": share,
        "low": low,
        "high": high,
        "crowd": float(left.mean()) if trials else None,
    }


def _people(
    traces: Points, p: int, who: Ints, trials: Ints, share: NDArray[np.float64]
) -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame(
        [
            pl.Series("points", np.full(len(who), p)),
            traces.people[who].alias("user"),
            pl.Series("trials", trials),
            pl.Series("share", share).fill_nan(None),
        ]
    )


def interval(unique: int, trials: int) -> tuple[float, float]:
    """Return the interval of 95 % after Wilson, which is right near 0 and 1 as well."""
    share, square = unique / trials, NORMAL**2 / trials
    middle = (share + square / 2) / (1 + square)
    wide = NORMAL / (1 + square) * math.sqrt(share * (1 - share) / trials + square / trials / 4)
    return max(0.0, middle - wide), min(1.0, middle + wide)


def _exact(
    traces: Points, wanted: list[int], threads: int, tell: Callable[[int, int], None]
) -> Uniqueness:
    """Return the uniqueness of all sub-traces of one or two points."""
    import polars as pl

    if not set(wanted) <= {1, 2}:
        raise ArgumentError(
            f"model='exact' takes 1 and 2 points, not {wanted}; use 'probabilistic' for more"
        )
    alone, pairs = all_subtraces(traces, max(wanted), threads, tell)
    rows, people = [], []
    length = np.diff(traces.cuts)
    for p in wanted:
        who = _long_enough(traces, p)
        many = length[who] if p == 1 else length[who] * (length[who] - 1) // 2
        unique = (alone if p == 1 else pairs)[who]
        share = unique / np.maximum(many, 1)
        mean = float(share.mean()) if len(who) else None
        rows.append(
            {
                "points": p, "people": len(who), "left_out": len(traces) - len(who),
                "trials": int(many.sum()), "unique": int(unique.sum()),
                "share": mean, "low": mean, "high": mean, "crowd": None,
            }
        )  # fmt: skip
        people.append(_people(traces, p, who, many, share))
    none = pl.DataFrame(schema={"points": pl.Int64, "crowd": pl.Int64, "trials": pl.Int64})
    table = pl.DataFrame(rows).with_columns(pl.col("crowd").cast(pl.Float64))
    return Uniqueness(table, pl.concat(people), none)
