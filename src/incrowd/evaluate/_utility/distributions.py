"""Values and how often each occurs: what means, quantiles and cumulative shares are taken from.

Counts are whole numbers, and values are whole numbers of cells or slots (or the roots of such), so
that nothing depends on the order in which they were found: not on threads, and not on blocks.

`Errors` and `Ratios` say how these are spread over people: what the charts of section 9 are drawn
from. Quantiles are values that occur (the first that so many do not exceed), as everywhere else.
Where a figure would be that of a few people, it is left out: a cell of a heatmap and a bin of a
ratio are told of at least `least` people.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints

__all__ = [
    "Bin",
    "Distribution",
    "Errors",
    "HeatCell",
    "Ratios",
    "Tally",
    "errors_of",
    "ratios_of",
]


SMALL = 2**22
"""Whole numbers up to this are counted one by one; larger ones are sorted."""
EXACT = 2**62
"""Sums below this fit into 64 bits."""
THRESHOLDS = (0, 0.1, 0.2, 0.5, 1, 2, 3, 5, 7, 10, 20, 50)
"""Kilometres at which the distribution of errors is told."""
QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95)
VALUES_A_DECADE, RATIOS_A_DECADE = 4, 10
"""How fine the logarithmic axes of a heatmap are."""
NEAR, TWOFOLD = (0.9, 1.1), (0.5, 2.0)
"""Ratios that are near to one, and those that are wrong by a factor of two at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Values that occur, in rising order, and how often each does."""

    values: NDArray[Any]
    counts: Ints

    @classmethod
    def of(cls, values: NDArray[Any], weights: NDArray[Any] | None = None) -> "Tally":
        """Count values; each so often as its weight says, where there are weights.

        Examples
        --------
        >>> import numpy as np
        >>> tally = Tally.of(np.array([3, 1, 3]), np.array([1, 2, 4]))
        >>> tally.values.tolist(), tally.counts.tolist()
        ([1, 3], [2, 5])
        """
        if not len(values):
            return cls(values[:0], np.zeros(0, np.int64))
        if values.dtype.kind == "i" and values.min() >= 0 and values.max() < SMALL:
            # Whole weights add up exactly in floating point as long as they are below 2**53.
            counts = np.bincount(values, weights).astype(np.int64)
            found = np.flatnonzero(counts)
            return cls(found, counts[found])
        if weights is None:
            found, counts = np.unique(values, return_counts=True)
            return cls(found, counts.astype(np.int64))
        found, which = np.unique(values, return_inverse=True)
        counts = np.bincount(which, weights, len(found)).astype(np.int64)
        return cls(found[counts > 0], counts[counts > 0])

    @classmethod
    def together(cls, tallies: Iterable["Tally"]) -> "Tally":
        """Add up several."""
        parts = list(tallies)
        if not parts:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        return cls.of(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.counts for part in parts]),
        )

    @property
    def total(self) -> int:
        """How many there are."""
        return int(self.counts.sum())

    def mean(self) -> float:
        """Give the mean: one division of a sum that is exact, or rounded once."""
        if self.values.dtype.kind != "i":
            return math.fsum((self.values * self.counts).tolist()) / self.total
        if max(1, int(np.abs(self.values).max())) * self.total < EXACT:
            return int(self.values @ self.counts) / self.total
        values, counts = self.values.tolist(), self.counts.tolist()
        products = (value * count for value, count in zip(values, counts, strict=True))
        return float(sum(products) / self.total)

    def quartile(self, number: int) -> Any:
        """Give the first value that so many quarters do not exceed."""
        up_to = np.cumsum(self.counts)
        return self.values[np.searchsorted(4 * up_to, number * int(up_to[-1]))].item()


@dataclass(frozen=True, slots=True)
class Distribution:
    """How something is spread, in metres or minutes.

    Attributes
    ----------
    mean, least, quarter, median, three_quarters, most
        Quantiles are values that occur: the first that so many do not exceed.
    cumulative
        Thresholds, each with the share of values that do not exceed it.
    """

    mean: float
    least: float
    quarter: float
    median: float
    three_quarters: float
    most: float
    cumulative: tuple[tuple[float, float], ...]

    @classmethod
    def of(
        cls, tally: Tally, unit: float, thresholds: Sequence[float] = ()
    ) -> "Distribution | None":
        """Take it from a tally of so many units each; None if nothing was counted.

        Examples
        --------
        >>> import numpy as np
        >>> found = Distribution.of(Tally.of(np.array([1, 1, 20])), 100.0, [100, 2000])
        >>> round(found.mean), found.median, found.most, found.cumulative[1]
        (733, 100.0, 2000.0, (2000, 1.0))
        """
        if not len(tally.values):
            return None
        sizes, up_to = tally.values * unit, np.cumsum(tally.counts)
        many = np.concatenate([[0], up_to])[np.searchsorted(sizes, thresholds, side="right")]
        shares = (many / up_to[-1]).tolist()
        quarter, median, three_quarters = (tally.quartile(n) * unit for n in range(1, 4))
        return cls(
            mean=float(tally.mean() * unit),
            least=float(sizes[0]),
            quarter=float(quarter),
            median=float(median),
            three_quarters=float(three_quarters),
            most=float(sizes[-1]),
            cumulative=tuple(zip(thresholds, shares, strict=True)),
        )

    def up_to(self, threshold: float) -> float:
        """Give the share of values that do not exceed one of the thresholds."""
        return dict(self.cumulative)[threshold]


@dataclass(frozen=True, slots=True)
class Errors:
    """How far what is found in the release lies from the truth.

    Attributes
    ----------
    before, after, both
        For how many of the people who are published there is such a place in the original, in the
        release, and in both.
    unaffected
        The share of `both` for whom it is exactly the same place.
    within
        The share of `both` within so many kilometres: the distribution, on fixed thresholds.
    quantiles
        The error in km that so large a share of `both` does not exceed.
    mean
        The mean error in km, of `both`.
    original
        For how many people there is such a place in the original, published or not.

    Where there is nobody, shares, quantiles and mean are None. Shares of `both`, which the papers
    give, say nothing of people who were lost; `found_within` does.
    """

    before: int
    after: int
    both: int
    unaffected: float | None
    within: dict[float, float | None]
    quantiles: dict[float, float | None]
    mean: float | None
    original: int = 0

    def found_within(self, km: float) -> float | None:
        """Give the share of all people of the original who have such a place, and it is found.

        It is found if that in the release lies within one of the thresholds in km (0: is exactly
        the same). Of who is not published, or has no such place there, it is not found. None if
        nobody has one in the original.

        Examples
        --------
        >>> errors = errors_of(2, 2, [0.5, 3.0], original=10)
        >>> errors.within[1], errors.found_within(1)
        (0.5, 0.1)
        """
        if not self.original:
            return None
        share = self.within.get(km) if km else self.unaffected
        return round((share or 0.0) * self.both) / self.original


@dataclass(frozen=True, slots=True)
class Bin:
    """People whose original value lies from `low` to `high` (not included), and their ratios."""

    low: float
    high: float
    people: int
    quarter: float
    median: float
    three_quarters: float


@dataclass(frozen=True, slots=True)
class HeatCell:
    """How many people have an original value, and a ratio, in between."""

    low: float
    high: float
    ratio_low: float
    ratio_high: float
    people: int


@dataclass(frozen=True, slots=True)
class Ratios:
    """A measure in the release over the same in the original, for each person.

    Attributes
    ----------
    unit
        Of the measure: km or km2.
    people
        How many are compared.
    static, static_kept
        Those whose original value is 0, and how many of them have 0 in the release, too: their
        ratio is 1. For the others of them there is no ratio.
    moving
        Those with an original value above 0; everything below is of them.
    vanished
        How many of these have 0 in the release.
    near, twofold
        The share whose ratio is 0.9 to 1.1, and the share whose ratio is 0.5 to 2.
    quantiles
        The ratio that so large a share does not exceed.
    bins
        Quartiles of the ratio by original value, four bins a decade.
    heat
        People by original value and ratio, ten bins a decade of the ratio; a ratio of 0 is not in
        it.
    hidden
        How many people are in no cell of it, because their cell has too few (or their ratio is 0).
    """

    unit: str
    people: int
    static: int
    static_kept: int
    moving: int
    vanished: int
    near: float | None
    twofold: float | None
    quantiles: dict[float, float | None]
    bins: tuple[Bin, ...]
    heat: tuple[HeatCell, ...]
    hidden: int


def errors_of(
    before: int, after: int, kilometres: Sequence[float], *, original: int | None = None
) -> Errors:
    """Gather errors in km of those who have both; all who have one are published unless told."""
    errors = np.array(kilometres, np.float64)
    return Errors(
        before,
        after,
        len(errors),
        _share(errors == 0),
        {limit: _share(errors <= limit) for limit in THRESHOLDS},
        _quantiles(errors),
        math.fsum(errors) / len(errors) if len(errors) else None,
        before if original is None else original,
    )


def ratios_of(unit: str, before: Floats, after: Floats, least: int) -> Ratios:
    """Gather the ratios of a measure."""
    moving = before > 0
    value = before[moving]
    ratio = after[moving] / value
    bins, heat = _bins(value, ratio, least), _heat(value, ratio, least)
    return Ratios(
        unit=unit,
        people=len(before),
        static=int((~moving).sum()),
        static_kept=int((~moving & (after == 0)).sum()),
        moving=len(value),
        vanished=int((ratio == 0).sum()),
        near=_share((ratio >= NEAR[0]) & (ratio <= NEAR[1])),
        twofold=_share((ratio >= TWOFOLD[0]) & (ratio <= TWOFOLD[1])),
        quantiles=_quantiles(ratio),
        bins=bins,
        heat=heat,
        hidden=len(value) - sum(cell.people for cell in heat),
    )


def _share(these: NDArray[np.bool_]) -> float | None:
    return int(these.sum()) / len(these) if len(these) else None


def _quantiles(values: Floats) -> dict[float, float | None]:
    if not len(values):
        return dict.fromkeys(QUANTILES)
    found = np.quantile(values, QUANTILES, method="inverted_cdf").tolist()
    return dict(zip(QUANTILES, found, strict=True))


def _edges(values: Floats, a_decade: int) -> Floats:
    """Give edges on a logarithmic axis around all values."""
    low = math.floor(math.log10(values.min()) * a_decade) - 1
    high = math.ceil(math.log10(values.max()) * a_decade) + 1
    return np.array([10.0 ** (step / a_decade) for step in range(low, high + 1)])


def _bins(value: Floats, ratio: Floats, least: int) -> tuple[Bin, ...]:
    """Give the quartiles of ratios by original value, where there are people enough."""
    if not len(value):
        return ()
    edges = _edges(value, VALUES_A_DECADE)
    place = np.searchsorted(edges, value, side="right") - 1
    bins = []
    for i in np.unique(place).tolist():
        these = ratio[place == i]
        if len(these) >= least:
            quarters = np.quantile(these, (0.25, 0.5, 0.75), method="inverted_cdf").tolist()
            bins.append(Bin(float(edges[i]), float(edges[i + 1]), len(these), *quarters))
    return tuple(bins)


def _heat(value: Floats, ratio: Floats, least: int) -> tuple[HeatCell, ...]:
    """Count people by original value and ratio, where there are enough."""
    value, ratio = value[ratio > 0], ratio[ratio > 0]
    if not len(value):
        return ()
    across, up = _edges(value, VALUES_A_DECADE), _edges(ratio, RATIOS_A_DECADE)
    columns = np.searchsorted(across, value, side="right") - 1
    rows = np.searchsorted(up, ratio, side="right") - 1
    cells, number = np.unique(columns * len(up) + rows, return_counts=True)
    found = []
    for cell, people in zip(cells.tolist(), number.tolist(), strict=True):
        if people >= least:
            i, j = divmod(cell, len(up))
            (low, high), (ratio_low, ratio_high) = across[i : i + 2], up[j : j + 2]
            found.append(
                HeatCell(float(low), float(high), float(ratio_low), float(ratio_high), people)
            )
    return tuple(found)
