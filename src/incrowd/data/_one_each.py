"""Crowds taken apart: a trajectory for every person, for what asks about people.

A trajectory of a release stands for a crowd, and everybody in it has the same samples. Who asks how
hard people are to hide, or where they go, asks about each of them.
"""

import numpy as np

from incrowd.data._trajectories import Trajectories

__all__ = [
    "one_each",
]


def one_each(data: Trajectories) -> Trajectories:
    """Return the same people with a trajectory each; those of a crowd follow one another.

    They keep the identifier of their trajectory. Where nobody is in a crowd, the data is returned.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=9, seed=7)
    >>> hidden = incrowd.glove(city, k=4).trajectories
    >>> hidden.crowd.tolist(), one_each(hidden).people.to_list()
    ([5, 4], [0, 0, 0, 0, 0, 1, 1, 1, 1])
    """
    if not bool((data.crowd > 1).any()):
        return data
    each = data[np.repeat(np.arange(len(data)), data.crowd)]
    return Trajectories(
        each.columns,
        each.offsets,
        each.frame,
        people=each.people,
        place=each.place,
        places=each.places,
        reading=each.reading,
    )
