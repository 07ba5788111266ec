"""Descriptive statistics of a dataset: the figures of the papers' tables of datasets."""

from dataclasses import asdict, dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from incrowd._format import people as _people
from incrowd._format import significant
from incrowd._summary import Summarised, Summary
from incrowd.data._frame import Floats
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import Visits
from incrowd.errors import InputError

__all__ = [
    "Description",
    "Spread",
    "VisitsDescription",
    "describe",
    "radius_of_gyration",
]

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of a figure over people, or over places.

    Attributes
    ----------
    mean
        The arithmetic mean.
    least, quarter, median, three_quarters, most
        Minimum, first quartile, median, third quartile and maximum; values that occur.
    """

    mean: float
    least: float
    quarter: float
    median: float
    three_quarters: float
    most: float

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> "Spread":
        """Return mean and quartiles of some values."""
        cuts = np.quantile(values, (0, 0.25, 0.5, 0.75, 1), method="inverted_cdf")
        return cls(float(np.mean(values)), *(float(cut) for cut in cuts))


@dataclass(frozen=True, slots=True, repr=False)
class Description(Summarised):
    """Descriptive statistics of a dataset.

    Attributes
    ----------
    people, samples
        The number of people and of samples.
    start, end
        When the first time slot starts and the last one ends (ISO 8601, UTC).
    days
        The time between, in days.
    width_km, height_km, area_km2
        The bounding box of all samples, on the grid.
    cell_m, slot_s, crs
        The grid: side of a cell in metres, length of a slot in seconds, and projection.
    places
        The number of different places (antennas, venues, zones; cells where the data names none).
    places_are
        "places" if the data names places, "cells" if not.
    per_person_hour
        Samples per person and hour, between start and end.
    samples_a_person, gyration_km, places_a_person, people_a_place
        The distribution of samples per person, radius of gyration per person, places per person,
        and people per place. The radius of gyration is the root of the mean squared distance of a
        person's samples to their mean (GLOVE 2021, footnote 4).
    """

    people: int
    samples: int
    start: str
    end: str
    days: float
    width_km: float
    height_km: float
    area_km2: float
    cell_m: float
    slot_s: int
    crs: str | None
    places: int
    places_are: str
    per_person_hour: float
    samples_a_person: Spread
    gyration_km: Spread
    places_a_person: Spread
    people_a_place: Spread

    def _summary(self) -> Summary:
        spreads = {
            "samples a person": self.samples_a_person,
            "radius of gyration (km)": self.gyration_km,
            f"{self.places_are} a person": self.places_a_person,
            f"people a {self.places_are.removesuffix('s')}": self.people_a_place,
        }
        facts = {
            "people, samples": f"{self.people:,}, {self.samples:,}",
            "from": self.start,
            "to": f"{self.end} ({self.days:,.1f} days)",
            "area": f"{self.width_km:,.1f} by {self.height_km:,.1f} km",
            "grid": f"cells of {self.cell_m:g} m, slots of {self.slot_s:,} s",
            f"different {self.places_are}": f"{self.places:,}",
            "samples per person and hour": f"{self.per_person_hour:.3g}",
        } | {name: f"median {significant(each.median)}" for name, each in spreads.items()}
        return Summary(f"A dataset of {_people(self.people)}", facts)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, repr=False)
class VisitsDescription(Summarised):
    """Descriptive statistics of visits to places, which need not have a position.

    Attributes
    ----------
    people, visits, places
        The number of people, of visits and of different places.
    start, end
        When the slot of the first visit starts and that of the last one ends (ISO 8601, UTC); None
        if the visits do not say what their times are.
    days
        The time between, in days.
    slot_s
        The length of a slot in seconds: a place is visited at most once in each.
    visits_a_person, places_a_person, people_a_place
        The distribution of visits per person, different places per person, and people per place.
    """

    people: int
    visits: int
    places: int
    start: str | None
    end: str | None
    days: float | None
    slot_s: int | None
    visits_a_person: Spread
    places_a_person: Spread
    people_a_place: Spread

    def _summary(self) -> Summary:
        spreads = {
            "visits a person": self.visits_a_person,
            "places a person": self.places_a_person,
            "people a place": self.people_a_place,
        }
        facts = {"visits": f"{self.visits:,}", "different places": f"{self.places:,}"}
        if self.days is not None:
            facts |= {"from": str(self.start), "to": f"{self.end} ({self.days:,.1f} days)"}
        facts |= {name: f"median {each.median:.4g}" for name, each in spreads.items()}
        return Summary(f"Visits of {_people(self.people)}", facts)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)


@overload
def describe(data: Trajectories) -> Description: ...
@overload
def describe(data: Visits) -> VisitsDescription: ...
def describe(data: Trajectories | Visits) -> Description | VisitsDescription:
    """Return descriptive statistics of a dataset.

    Parameters
    ----------
    data
        The trajectories; or visits, for data that names places and no positions.

    Raises
    ------
    InputError
        If there are no samples.

    Examples
    --------
    >>> import incrowd
    >>> about = incrowd.describe(incrowd.synthesize("city", users=50, seed=7))
    >>> about.people, round(about.days)
    (50, 14)
    >>> scans = {"user": ["ann", "ann", "bob"], "place": [1, 2, 1], "time": [0, 9, 3]}
    >>> incrowd.describe(incrowd.Visits.from_rows(scans)).places_a_person.mean
    1.5
    """
    if isinstance(data, Visits):
        return _of_visits(data)
    data = Trajectories.of(data)
    if data.samples == 0:
        raise InputError("nothing to describe: the dataset has no samples")
    frame = data.frame
    first, last = int(data.t0.min()), int(data.t1.max())
    width = (int(data.x1.max()) - int(data.x0.min())) * frame.cell / 1000
    height = (int(data.y1.max()) - int(data.y0.min())) * frame.cell / 1000
    hours = (last - first) * frame.slot / 3600
    a_person, a_place = _shared_places(data.person(), _places(data), len(data))
    return Description(
        people=int(data.crowd.sum()),
        samples=data.samples,
        start=f"{frame.times(first)}Z",
        end=f"{frame.times(last)}Z",
        days=hours / 24,
        width_km=width,
        height_km=height,
        area_km2=width * height,
        cell_m=frame.cell,
        slot_s=frame.slot,
        crs=frame.crs,
        places=len(a_place),
        places_are="cells" if data.place is None else "places",
        per_person_hour=data.samples / len(data) / hours,
        samples_a_person=Spread.of(data.lengths()),
        gyration_km=Spread.of(radius_of_gyration(data) / 1000),
        places_a_person=Spread.of(a_person),
        people_a_place=Spread.of(a_place),
    )


def _of_visits(data: Visits) -> VisitsDescription:
    if not len(data.place):
        raise InputError("nothing to describe: the dataset has no visits")
    count, frame = np.diff(data.offsets), data.frame
    person = np.repeat(np.arange(len(data)), count)
    a_person, a_place = _shared_places(person, data.place, len(data))
    first, last = int(data.time.min()), int(data.time.max()) + 1
    return VisitsDescription(
        people=len(data),
        visits=len(data.place),
        places=len(a_place),
        start=None if frame is None else f"{frame.times(first)}Z",
        end=None if frame is None else f"{frame.times(last)}Z",
        days=None if frame is None else (last - first) * frame.slot / 3600 / 24,
        slot_s=None if frame is None else frame.slot,
        visits_a_person=Spread.of(count),
        places_a_person=Spread.of(a_person),
        people_a_place=Spread.of(a_place),
    )


def radius_of_gyration(data: Trajectories) -> Floats:
    """Return each person's radius of gyration in metres; NaN where there are no samples."""
    total = np.zeros(len(data))
    person, count = data.person(), data.lengths()
    with np.errstate(invalid="ignore"):
        for start, end in ((data.x0, data.x1), (data.y0, data.y1)):
            middle = (start.astype(np.float64) + end) / 2
            mean = np.bincount(person, middle, len(data)) / count
            total += np.bincount(person, (middle - mean[person]) ** 2, len(data)) / count
    return np.sqrt(total) * data.frame.cell


def _places(data: Trajectories) -> Longs:
    """Return codes of the samples' places, or of their cells."""
    if data.place is not None:
        return data.place.astype(np.int64)
    x, y = data.x0.astype(np.int64), data.y0.astype(np.int64)
    code: Longs = (x - x.min()) * (int(y.max()) - int(y.min()) + 1) + (y - y.min())
    return code


def _shared_places(person: npt.NDArray[Any], code: Longs, people: int) -> tuple[Longs, Longs]:
    """Count the different places of each person, and the people of each place."""
    reach = int(code.max()) - int(code.min()) + 1
    if reach * people < 2**63:
        code = code - code.min()
    else:
        _, code = np.unique(code, return_inverse=True)
        reach = int(code.max()) + 1
    # One sort of (person, place) pairs answers both questions.
    pairs = np.sort(person * np.int64(reach) + code)
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])]
    a_person = np.bincount(pairs // reach, minlength=people)
    places = np.sort(pairs % reach)
    edges = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1], [True]]))
    return a_person, np.diff(edges)
