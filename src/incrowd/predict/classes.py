"""Classes of risk: the six intervals that the paper of 2017 sorts people into (section 4.3)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.errors import InputError

__all__ = ["CLASSES", "HIGHEST", "levels"]

ENDS = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 1.0])
CLASSES = ("[0]", "(0, 0.1]", "(0.1, 0.2]", "(0.2, 0.3]", "(0.3, 0.5]", "(0.5, 1]")
"""By level. A person of the dataset is never in the first: she fits what is known of her."""
HIGHEST = len(CLASSES) - 1


def levels(risk: ArrayLike) -> NDArray[np.int64]:
    """Give the level of each risk: the index of its class in `CLASSES`.

    Examples
    --------
    >>> levels([1.0, 0.5, 1.0, 0.25, 0.03]).tolist()
    [5, 4, 5, 3, 1]
    """
    values = np.asarray(risk, np.float64)
    if not np.all((values >= 0) & (values <= 1)):  # also refuses what is no number
        raise InputError("a risk is a number from 0 to 1")
    return np.searchsorted(ENDS, values)
