"""How places are spread over people, and people over places (figure 3 of the paper of 2016)."""

from typing import TYPE_CHECKING

import numpy as np

from incrowd.compiled import Ints

if TYPE_CHECKING:
    from incrowd.measure.points import Points

__all__ = ["exceeding", "people_at", "places_of"]


def places_of(places: "Points") -> Ints:
    """Count the places of each person, of a spatial trace."""
    return np.diff(places.cuts)


def people_at(places: "Points") -> Ints:
    """Count the people of each place."""
    _, people = np.unique(places.code, return_counts=True)
    return people.astype(np.int64)


def exceeding(counts: Ints, values: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Give the share of counts above each value: the complementary distribution, P(X > x).

    Examples
    --------
    >>> import numpy as np
    >>> exceeding(np.array([1, 1, 3, 7]), np.array([0, 1, 5])).tolist()
    [1.0, 0.5, 0.25]
    """
    if not len(counts):
        return np.zeros(len(values))
    return 1 - np.searchsorted(np.sort(counts), values, side="right") / len(counts)
