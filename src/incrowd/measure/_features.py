"""Mobility features: what kind of life a person leads, in 28 numbers (the paper of 2017, table 1).

Ten of the sixteen measures are of the person, and six of each of three places: the one that she
visited most, the second, and the one that she visited least (of equals, the lower code comes
first). A person with one place has no second one: all six are 0 there; her least visited place is
her only one.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from incrowd._numba import Floats, Ints, kernel
from incrowd._parallel import cores
from incrowd.data._one_each import one_each
from incrowd.data._trajectories import Trajectories
from incrowd.data._vectors import Vectors, count
from incrowd.data._visits import visits
from incrowd.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FEATURES",
    "features",
]


DAY = 86_400
OF_PERSON = {
    "visits": "V: how many visits she made",
    "visits_per_day": "V over the days of the dataset",
    "max_distance": "D_max: the longest distance from one visit to the next, in metres",
    "sum_distances": "D_sum: the travel distance, all of these together, in metres",
    "sum_distances_per_day": "D_sum over the days of the dataset",
    "max_distance_ratio": "D_max over the greatest distance between two places of the dataset",
    "places": "Locs: how many places she visited",
    "places_ratio": "Locs over the places of the dataset",
    "radius_of_gyration": "R_g: how far visits are from their centre (root mean square), in metres",
    "entropy": "E: the entropy of her places, by visits, in bits",
}
OF_PLACE = {
    "entropy": "E_i: the entropy of its visitors, by their visits there, in bits",
    "people": "U_i: how many people visited it",
    "people_ratio": "U_i over the people of the dataset",
    "visits": "w_i: how often she visited it",
    "visits_ratio": "w_i over the visits of everybody to it",
    "visits_per_day": "w_i over the days of the dataset",
}
PLACES = ("first", "second", "last")
FEATURES = {
    **OF_PERSON,
    **{f"{place}_{name}": text for place in PLACES for name, text in OF_PLACE.items()},
}
"""The 28 columns, and what each is. `first`, `second` and `last` are places by falling visits."""


def features(
    data: Trajectories,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> "pl.DataFrame":
    """Return the mobility features of everybody.

    Distances are straight lines on the projected plane, between the centres of cells. The days of
    the dataset are those from its first slot to the end of its last, a part of one counting whole.
    The centre of a person's visits is their mean (the paper's formula leaves the number of visits
    out, which would not be a centre). The probability of a person at a place (in the entropy of
    that place) is her part of all visits to it.

    Parameters
    ----------
    data
        Trajectories. Everybody in a crowd, as releases have them, is a person.
    threads
        How many threads to use; all cores, unless given.
    progress
        Called with the number of steps done, and of all.

    Returns
    -------
    polars.DataFrame
        The table names people: do not print or save it where others read, such as in a notebook.

        user, and 28 columns. Those of a place are of the one that she visited most (first), of
        the second, and of the one that she visited least (last):

        visits: V: how many visits she made
        visits_per_day: V over the days of the dataset
        max_distance: D_max: the longest distance from one visit to the next, in metres
        sum_distances: D_sum: the travel distance, all of these together, in metres
        sum_distances_per_day: D_sum over the days of the dataset
        max_distance_ratio: D_max over the greatest distance between two places of the dataset
        places: Locs: how many places she visited
        places_ratio: Locs over the places of the dataset
        radius_of_gyration: R_g: how far visits are from their centre (root mean square), in metres
        entropy: E: the entropy of her places, by visits, in bits
        first_entropy: E_i: the entropy of its visitors, by their visits there, in bits
        first_people: U_i: how many people visited it
        first_people_ratio: U_i over the people of the dataset
        first_visits: w_i: how often she visited it
        first_visits_ratio: w_i over the visits of everybody to it
        first_visits_per_day: w_i over the days of the dataset
        second_entropy: E_i: the entropy of its visitors, by their visits there, in bits
        second_people: U_i: how many people visited it
        second_people_ratio: U_i over the people of the dataset
        second_visits: w_i: how often she visited it
        second_visits_ratio: w_i over the visits of everybody to it
        second_visits_per_day: w_i over the days of the dataset
        last_entropy: E_i: the entropy of its visitors, by their visits there, in bits
        last_people: U_i: how many people visited it
        last_people_ratio: U_i over the people of the dataset
        last_visits: w_i: how often she visited it
        last_visits_ratio: w_i over the visits of everybody to it
        last_visits_per_day: w_i over the days of the dataset

    References
    ----------
    - Pellungrini et al., 2017: "A Data Mining Approach to Assess Privacy Risk in Human Mobility
      Data", ACM Transactions on Intelligent Systems and Technology 9 (3), DOI 10.1145/3106774;
      section 4.1, table 1.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> incrowd.features(city).shape
    (20, 29)
    """
    import polars as pl

    data = one_each(Trajectories.of(data))
    if not len(data) or int(data.lengths().min()) == 0:
        raise InputError(
            "the data has no people, or a person without visits; remove people without any"
        )
    tell = progress or (lambda *_: None)
    tell(0, 3)
    frame = data.frame
    days = -(-(int(data.t1.max()) - int(data.t0.min())) * frame.slot // DAY)
    x = (data.x0.astype(np.float64) + data.x1) * (frame.cell / 2)
    y = (data.y0.astype(np.float64) + data.y1) * (frame.cell / 2)
    most, total, gyration = _distances(x, y, data.offsets)
    tell(1, 3)
    seen = visits(data)
    vectors = count(seen.place, seen.offsets, threads=cores(threads))
    codes, key = np.unique(vectors.place, return_inverse=True)
    number = vectors.total.astype(np.float64)
    widest = _diameter(x, y)
    tell(2, 3)
    locations = np.diff(vectors.offsets)
    columns = dict.fromkeys(FEATURES, number)
    columns |= {
        "visits_per_day": number / days,
        "max_distance": most,
        "sum_distances": total,
        "sum_distances_per_day": total / days,
        "max_distance_ratio": most / widest if widest else most,
        "places": locations.astype(np.float64),
        "places_ratio": locations / len(codes),
        "radius_of_gyration": gyration,
        "entropy": _entropies(vectors.offsets[:-1], vectors.visits, number),
    }
    columns |= _of_places(vectors, key, len(codes), days)
    tell(3, 3)
    return pl.DataFrame({"user": data.people, **columns})


def _of_places(vectors: Vectors, key: Ints, places: int, days: int) -> dict[str, Floats]:
    """Give the six measures of three places of everybody."""
    people, visits_of = len(vectors), vectors.visits.astype(np.float64)
    popularity = np.bincount(key, visits_of, places)
    visitors = np.bincount(key, minlength=places).astype(np.float64)
    part = visits_of / popularity[key]
    entropy = np.bincount(key, -part * np.log2(part), places) + 0.0
    start, end = vectors.offsets[:-1], vectors.offsets[1:]
    columns: dict[str, Floats] = {}
    for name, entry in (("first", start), ("second", start + 1), ("last", end - 1)):
        there = entry < end
        at = np.where(there, entry, start)
        values = {
            "entropy": entropy[key[at]],
            "people": visitors[key[at]],
            "people_ratio": visitors[key[at]] / people,
            "visits": visits_of[at],
            "visits_ratio": part[at],
            "visits_per_day": visits_of[at] / days,
        }
        columns |= {f"{name}_{what}": np.where(there, value, 0.0) for what, value in values.items()}
    return columns


def _entropies(start: Ints, number: Ints, total: Floats) -> Floats:
    """Give the entropy of numbers, in bits, for each person."""
    own = np.diff(start, append=len(number))
    part = number / np.repeat(total, own)
    return np.add.reduceat(-part * np.log2(part), start) + 0.0


@kernel
def _distances(x: Floats, y: Floats, offsets: Ints) -> tuple[Floats, Floats, Floats]:
    """Return each person's longest distance, travel distance and radius of gyration."""
    people = len(offsets) - 1
    most, total, gyration = np.zeros(people), np.zeros(people), np.zeros(people)
    for person in range(people):
        first, last = offsets[person], offsets[person + 1]
        for i in range(first + 1, last):
            way = np.hypot(x[i] - x[i - 1], y[i] - y[i - 1])
            most[person] = max(most[person], way)
            total[person] += way
        middle_x, middle_y = x[first:last].mean(), y[first:last].mean()
        square = 0.0
        for i in range(first, last):
            square += (x[i] - middle_x) ** 2 + (y[i] - middle_y) ** 2
        gyration[person] = np.sqrt(square / (last - first))
    return most, total, gyration


def _diameter(x: Floats, y: Floats) -> float:
    """Give the greatest distance between two points: between two corners of their hull."""
    points = np.unique(np.stack([x, y], axis=1), axis=0)
    if len(points) == 1:
        return 0.0
    corners = np.array(_hull(points.tolist()))
    away = corners[:, None, :] - corners[None, :, :]
    return float(np.hypot(away[..., 0], away[..., 1]).max())


def _hull(points: list[list[float]]) -> list[list[float]]:
    """Give the corners of the convex hull of sorted points (Andrew's chain)."""
    corners: list[list[float]] = []
    for way in (points, points[::-1]):
        side: list[list[float]] = []
        for p in way:
            while len(side) > 1 and _turn(side[-2], side[-1], p) <= 0:
                side.pop()
            side.append(p)
        corners += side[:-1]
    return corners


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
