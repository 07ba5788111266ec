"""Correlations of two columns, by SciPy; None where there is none."""

import math
from typing import Any

from numpy.typing import NDArray

__all__ = [
    "pearson",
    "spearman",
]


def pearson(a: NDArray[Any], b: NDArray[Any]) -> float | None:
    """Return Pearson's correlation; None if one of the columns never changes.

    Examples
    --------
    >>> import numpy as np
    >>> round(pearson(np.array([1.0, 2, 3]), np.array([2.0, 4, 6])), 12)
    1.0
    """
    if _is_constant(a) or _is_constant(b):
        return None
    from scipy import stats

    return _defined(stats.pearsonr(a, b).statistic)


def spearman(a: NDArray[Any], b: NDArray[Any]) -> float | None:
    """Return Spearman's correlation of ranks, equals having the mean of theirs; None as above.

    Examples
    --------
    >>> import numpy as np
    >>> round(spearman(np.array([1, 2, 3]), np.array([1, 10, 100])), 12)
    1.0
    """
    if _is_constant(a) or _is_constant(b):
        return None
    from scipy import stats

    return _defined(stats.spearmanr(a, b).statistic)


def _is_constant(values: NDArray[Any]) -> bool:
    return not len(values) or bool(values.min() == values.max())


def _defined(value: float) -> float | None:
    """Return a correlation, which rounding must not take beyond 1; None if there is none."""
    return None if math.isnan(value) else max(-1.0, min(1.0, float(value)))
