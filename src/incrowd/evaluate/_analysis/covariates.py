"""What may make a person easy or hard to hide (figure 20 of the paper of 2021).

- *radius of gyration*: the root of the mean squared distance of samples to their centre of mass;
- *local density*: how many other people's circles, each about its centre of mass with the radius
  of gyration, meet hers; circles that touch meet, so that people who never leave one cell do;
- *travel distance*: the sum of distances from the centre of a sample to that of the next, in time;
- *deviation of the time between samples*: the standard deviation (of all, not of a draw) of the
  time from a sample to the next; there is none for a person with one sample.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, kernel
from incrowd._parallel import cores, on_threads
from incrowd.data._trajectories import Trajectories
from incrowd.measure._describe import radius_of_gyration
from incrowd.measure._stretch.partition import morton_code

__all__ = [
    "COVARIATES",
    "covariates",
    "local_density",
]


COVARIATES = {
    "radius_of_gyration": "the radius of gyration",
    "local_density": "how many others live and move around there",
    "travel_distance": "the total travel distance",
    "time_deviation": "the deviation of the time between samples",
}
"""The four, and what each is called."""
ROWS, TILE = 256, 256
"""How many circles a thread takes, and how many are looked at together."""
NARROW, BITS = 100.0, 16
"""What radius, in metres, is hardly one; how fine the plane is cut to put people in order."""

Columns = tuple[NDArray[np.int32], ...]


def covariates(data: Trajectories, *, threads: int | None = None) -> dict[str, Floats]:
    """Return four properties of everybody that may explain how hard each is to hide (section 8).

    Parameters
    ----------
    data
        The trajectories.
    threads
        How many threads to use; all cores unless given.

    Returns
    -------
    dict
        A number for each person under ``radius_of_gyration`` (metres), ``local_density`` (people
        within that radius), ``travel_distance`` (metres) and ``time_deviation`` (minutes between
        samples, their standard deviation).

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 8.2, figure 20.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.evaluate import covariates
    >>> found = covariates(incrowd.Trajectories.from_boxes(
    ...     {"user": [1, 1, 1, 2], "x0": [0, 3, 3, 9], "y0": [0, 4, 4, 0], "t0": [0, 5, 20, 0]}))
    >>> found["travel_distance"].tolist(), found["time_deviation"].tolist()
    ([500.0, 0.0], [5.0, nan])
    """
    travel, deviation, x, y = _walk(data.columns, data.offsets)
    frame = data.frame
    gyration, half = radius_of_gyration(data), frame.cell / 2
    density = local_density(x * half, y * half, gyration, threads=threads)
    return {
        "radius_of_gyration": gyration,
        "local_density": density.astype(np.float64),
        "travel_distance": travel * half,
        "time_deviation": deviation * (frame.slot / 120),
    }


@kernel
def _walk(columns: Columns, offsets: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Give everybody's travel distance, deviation of gaps, and centre; all of it times two."""
    x0, x1, y0, y1, t0, t1 = columns
    people = len(offsets) - 1
    travel, deviation = np.zeros(people), np.full(people, np.nan)
    middle_x, middle_y = np.zeros(people), np.zeros(people)
    for person in range(people):
        first, last = offsets[person], offsets[person + 1]
        sum_x, sum_y = 0, 0
        for i in range(first, last):
            sum_x += x0[i] + x1[i]
            sum_y += y0[i] + y1[i]
        middle_x[person], middle_y[person] = sum_x / (last - first), sum_y / (last - first)
        if last - first < 2:  # noqa: PLR2004
            continue
        for i in range(first + 1, last):
            x = float(x0[i] + x1[i] - x0[i - 1] - x1[i - 1])
            y = float(y0[i] + y1[i] - y0[i - 1] - y1[i - 1])
            travel[person] += np.sqrt(x * x + y * y)
        gaps = last - first - 1
        mean = (t0[last - 1] + t1[last - 1] - t0[first] - t1[first]) / gaps
        square = 0.0
        for i in range(first + 1, last):
            off = (t0[i] + t1[i] - t0[i - 1] - t1[i - 1]) - mean
            square += off * off
        deviation[person] = np.sqrt(square / gaps)
    return travel, deviation, middle_x, middle_y


def local_density(x: Floats, y: Floats, radius: Floats, *, threads: int | None = None) -> Ints:
    """Count the other circles that each circle meets.

    Examples
    --------
    >>> import numpy as np
    >>> local_density(np.array([0.0, 5, 9]), np.zeros(3), np.array([2.0, 3, 0.5])).tolist()
    [1, 1, 0]
    """
    people = len(x)
    counts = np.zeros(people, np.int64)
    if not people:
        return counts
    # Who is near and moves alike stands together, so that most tiles are settled at a glance.
    order = np.lexsort(
        (morton_code(_scaled(x), _scaled(y)), np.log2(1 + radius / NARROW).astype(np.int64))
    )
    x, y, radius = x[order], y[order], radius[order]
    starts = np.arange(0, people, TILE)
    edges = tuple(
        edge.reduceat(of, starts) for of in (x, y, radius) for edge in (np.minimum, np.maximum)
    )
    jobs = [(first, min(first + ROWS, people)) for first in range(0, people, ROWS)]

    def work(part: tuple[int, int]) -> Ints:
        return _meetings(part[0], part[1], x, y, radius, edges)

    counts[order] = np.concatenate(list(on_threads(cores(threads), work, jobs)))
    return counts


def _scaled(axis: Floats) -> Ints:
    """Give coordinates as whole numbers of so many bits."""
    most = 2**BITS - 1
    scaled: Ints = ((axis - axis.min()) * (most / max(1.0, np.ptp(axis)))).astype(np.int64)
    return scaled


@kernel
def _meetings(
    first: int, last: int, x: Floats, y: Floats, radius: Floats, edges: tuple[Floats, ...]
) -> Ints:
    """Count the circles that each of `first` to `last` meets, itself not among them.

    `edges` has the least and the greatest x, y and radius of every tile. Sums, differences and
    products that are rounded keep the order of those that are not, so what holds for the nearest
    corner and the largest radius holds for all circles of a tile.
    """
    west, east, south, north, least, most = edges
    counts = np.full(last - first, -1, np.int64)
    for tile in range(len(west)):
        start, end = tile * TILE, min((tile + 1) * TILE, len(x))
        for i in range(first, last):
            at_x, at_y = x[i], y[i]
            near_x = max(0.0, west[tile] - at_x, at_x - east[tile])
            near_y = max(0.0, south[tile] - at_y, at_y - north[tile])
            reach = most[tile] + radius[i]
            if near_x * near_x + near_y * near_y > reach * reach:
                continue
            far_x = max(east[tile] - at_x, at_x - west[tile])
            far_y = max(north[tile] - at_y, at_y - south[tile])
            reach = least[tile] + radius[i]
            if far_x * far_x + far_y * far_y <= reach * reach:
                counts[i - first] += end - start
                continue
            count = 0
            for j in range(start, end):
                away_x, away_y, both = x[j] - at_x, y[j] - at_y, radius[j] + radius[i]
                count += away_x * away_x + away_y * away_y <= both * both
            counts[i - first] += count
    return counts
