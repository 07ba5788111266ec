"""Summaries of k-gaps and their dispersion over a dataset: how hard, why, and for whom.

Nothing here is the figure of one person: shares, quantiles and means of all people, and of groups
of ten people or more.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from incrowd._numba import Floats
from incrowd.measure._describe import radius_of_gyration
from incrowd.measure._dispersion import EXPONENTIAL

if TYPE_CHECKING:
    from incrowd.data._frame import Frame
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._stretch.definition import Stretch

__all__ = [
    "POINTS",
    "TRAITS",
    "Causes",
    "Gaps",
    "Hardest",
    "Tail",
    "Trait",
    "causes_of",
    "distribution_of",
    "gaps_of",
    "hardest_of",
    "typical",
]


POINTS = tuple((i / 100) ** 2 for i in range(101))
"""The k-gaps at which their distribution function is given, the same for all data: the squares of
hundredths, because most people are near 0, and curves are to be fine there."""
FEWEST = 10
"""Nothing is said of fewer people than this."""
TRAITS = {
    "k_gap": "k-gap",
    "samples": "samples",
    "radius_km": "radius of gyration, km",
    "per_hour": "samples per hour, from her first to her last",
    "interval_std_min": "standard deviation of the time between samples, min",
}
"""In what the tenth of people with the largest k-gaps is compared with the others."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """The distribution of k-gaps over people.

    Attributes
    ----------
    k
        The size of the crowd.
    mean, median, quarter, three_quarters, percentile_80, least, most
        Of the k-gap: mean, median, first and third quartile, 80th percentile, minimum and maximum.
    already_hidden
        The share of people who are k-anonymous already: their k-gap is 0, k-1 others have the same
        samples.
    time_above_space
        The share of people for whom time costs more than space.
    median_km, median_minutes
        The medians of the mean stretch of a sample: in width and height together, and in time.
    """

    k: int
    mean: float
    median: float
    quarter: float
    three_quarters: float
    percentile_80: float
    least: float
    most: float
    already_hidden: float
    time_above_space: float
    median_km: float
    median_minutes: float


@dataclass(frozen=True, slots=True)
class Tail:
    """How the cost is distributed over the samples of each person; shares are of all people.

    Attributes
    ----------
    light, heavy
        The shares of people whose tail weight index is below 1.6, that of an exponential
        distribution, and from there on.
    undefined
        The share of people without an index: the median equals the third quartile.
    median
        The median of the index, where there is one; None if nobody has one.
    gini_median
        The median of the Gini coefficient of all people.
    """

    light: float
    heavy: float
    undefined: float
    median: float | None
    gini_median: float


@dataclass(frozen=True, slots=True)
class Causes:
    """Why people are hard to hide: by time or by space, by all samples or by a few.

    Attributes
    ----------
    k
        The size of the crowd.
    already_hidden
        The share of people who are k-anonymous already. The shares that follow are of the others;
        None if there are none.
    time_above_space
        Time costs more than space.
    mostly_time
        Time is 80 % of the cost or more.
    only_time, only_space
        The other one costs nothing at all.
    median_time_share
        The median share of time in the cost.
    total, space, time
        How the cost is distributed over each person's samples.
    """

    k: int
    already_hidden: float
    time_above_space: float | None
    mostly_time: float | None
    only_time: float | None
    only_space: float | None
    median_time_share: float | None
    total: Tail
    space: Tail
    time: Tail


@dataclass(frozen=True, slots=True)
class Trait:
    """What is typical of the hardest tenth and of the others: the interquartile mean."""

    name: str
    says: str
    hardest: float
    others: float


@dataclass(frozen=True, slots=True)
class Hardest:
    """How the tenth of people who are hardest to hide differ from the others.

    Attributes
    ----------
    people, others
        How many people are above the ninth decile of the k-gap, and how many are not.
    traits
        In what they may differ; those that are known of too few people are left out.
    """

    people: int
    others: int
    traits: tuple[Trait, ...]


def gaps_of(table: pl.DataFrame, k: int, stretch: "Stretch", grid: "Frame") -> Gaps:
    """Return the distribution of k-gaps, for one k of a table of `incrowd.k_gap`."""
    rows = table.filter(table["k"] == k) if "k" in table.columns else table
    gap, spatial, temporal = (rows[name].to_numpy() for name in ("k_gap", "spatial", "temporal"))
    quantiles = np.quantile(gap, (0, 0.25, 0.5, 0.75, 0.8, 1))
    least, quarter, median, three_quarters, percentile_80, most = map(float, quantiles)
    km, minutes = _real(stretch, grid)
    return Gaps(
        k=k,
        mean=float(gap.mean()),
        median=median,
        quarter=quarter,
        three_quarters=three_quarters,
        percentile_80=percentile_80,
        least=least,
        most=most,
        already_hidden=float((gap == 0).mean()),
        time_above_space=float((temporal > spatial).mean()),
        median_km=float(np.median(spatial)) * km,
        median_minutes=float(np.median(temporal)) * minutes,
    )


def distribution_of(gap: Floats) -> tuple[float, ...]:
    """Return the share of people whose k-gap is at most each of `POINTS`.

    Examples
    --------
    >>> import numpy as np
    >>> shares = distribution_of(np.array([0, 0.09, 0.25, 1]))
    >>> shares[0], shares[29], shares[30], shares[50], shares[99], shares[100]
    (0.25, 0.25, 0.5, 0.75, 0.75, 1.0)
    """
    below = np.searchsorted(np.sort(gap), POINTS, side="right")
    return tuple((below / len(gap)).tolist())


def causes_of(table: pl.DataFrame, k: int) -> Causes:
    """Return why people are hard to hide, from a table of `incrowd.dispersion`."""
    ratio = table["ratio"].drop_nulls().to_numpy()

    def share(which: Any) -> float | None:
        return float(np.mean(which)) if len(ratio) else None

    # Infinite ratios would be divided by themselves.
    part = 1 - 1 / (1 + ratio)
    return Causes(
        k=k,
        already_hidden=1 - len(ratio) / len(table),
        time_above_space=share(ratio > 1),
        mostly_time=share(ratio >= 4),  # noqa: PLR2004  80 % to 20 %
        only_time=share(np.isinf(ratio)),
        only_space=share(ratio == 0),
        median_time_share=float(np.median(part)) if len(ratio) else None,
        total=_tail(table, "total"),
        space=_tail(table, "space"),
        time=_tail(table, "time"),
    )


def hardest_of(data: "Trajectories", gap: Floats) -> Hardest | None:
    """Return how the tenth of people with the largest k-gaps differs from the others.

    Those above the ninth decile: at most a tenth, and fewer where many have the same k-gap.

    Returns
    -------
    Hardest, or None if these are fewer than ten people.
    """
    top = gap > np.quantile(gap, 0.9, method="inverted_cdf")
    if min(top.sum(), (~top).sum()) < FEWEST:
        return None
    traits = []
    for (name, says), values in zip(TRAITS.items(), (gap, *_traits(data)), strict=True):
        known = ~np.isnan(values)
        groups = values[top & known], values[~top & known]
        if min(map(len, groups)) >= FEWEST:
            traits.append(Trait(name, says, *map(typical, groups)))
    return Hardest(int(top.sum()), int((~top).sum()), tuple(traits))


def typical(values: Floats) -> float:
    """Return the interquartile mean: what is typical, and nobody's own figure.

    Examples
    --------
    >>> import numpy as np
    >>> typical(np.array([1, 2, 3, 4, 100]))
    3.0
    """
    cut = len(values) // 4
    return float(np.sort(values)[cut : len(values) - cut].mean())


def _tail(table: pl.DataFrame, of: str) -> Tail:
    index, people = table[f"twi_{of}"].drop_nulls().to_numpy(), len(table)
    return Tail(
        light=float((index < EXPONENTIAL).sum() / people),
        heavy=float((index >= EXPONENTIAL).sum() / people),
        undefined=1 - len(index) / people,
        median=float(np.median(index)) if len(index) else None,
        gini_median=float(np.median(table[f"gini_{of}"].to_numpy())),
    )


def _traits(data: "Trajectories") -> tuple[Floats, Floats, Floats, Floats]:
    """Give samples, radius, samples per hour, and deviation of the time between, of everybody."""
    samples, person = data.lengths(), data.person()
    starts = data.offsets[:-1]
    last = np.maximum.reduceat(data.t1, starts) - data.t0[starts].astype(np.int64)
    hours = last * data.frame.slot / 3600
    same = person[1:] == person[:-1]
    between = np.diff(data.t0.astype(np.int64))[same].astype(np.float64)
    who, number = person[1:][same], samples - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(who, between, len(data)) / number
        square = np.bincount(who, (between - mean[who]) ** 2, len(data)) / number
    spread = np.sqrt(square) * data.frame.slot / 60
    spread[number == 0] = np.nan
    counts = samples.astype(np.float64)
    return counts, radius_of_gyration(data) / 1000, counts / hours, spread


def _real(stretch: "Stretch", grid: "Frame") -> tuple[float, float]:
    """Give what a part of 1 in space and in time would be, in km and in minutes.

    What has no weight is given as 0: nobody knows how far samples are stretched there.
    """
    both, space, time = (
        stretch.space_weight + stretch.time_weight,
        stretch.space_weight,
        stretch.time_weight,
    )
    return (
        both / space * stretch.max_space * grid.cell / 1000 if space else 0.0,
        both / time * stretch.max_time * grid.slot / 60 if time else 0.0,
    )
