"""Values and how often each occurs: what means, quantiles and cumulative shares are taken from.

Counts are whole numbers, and values are whole numbers of cells or slots (or the roots of such), so
that nothing depends on the order in which they were found: not on threads, and not on blocks.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Ints

__all__ = ["Distribution", "Tally"]

SMALL = 2**22
"""Whole numbers up to this are counted one by one; larger ones are sorted."""
EXACT = 2**62
"""Sums below this fit into 64 bits."""


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
