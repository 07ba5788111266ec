"""`utility`: what the data is still good for (section 9 of the paper of 2021, and beyond it).

Each person before and after, where it is known who became whom; and everybody together, which
needs no such knowledge::

    BeforeAfter ──> Centres ──┬──> MobilityProfile ──> Persons   errors, ratios: figures 21 to 28
                              └──> Counts ──> AggregateUtility   trips, people by hour, a map

`Utility.words` says what it means, a sentence for each figure.
"""

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from incrowd._arguments import is_number
from incrowd._charts import BLUE, GREEN
from incrowd._format import count_of, people, percent
from incrowd._numba import Floats, Ints
from incrowd._parallel import cores
from incrowd._progress import Progress, Stages
from incrowd._summary import Summarised, Summary
from incrowd.data._extent import beyond
from incrowd.data._trajectories import Trajectories
from incrowd.data._zone import zone_or_utc
from incrowd.errors import ArgumentError, DataWarning, InputError
from incrowd.evaluate._comparison import BeforeAfter
from incrowd.evaluate._utility.aggregate import AggregateUtility, compare, counts_of, grid_of
from incrowd.evaluate._utility.distributions import Errors, Ratios, errors_of, ratios_of
from incrowd.evaluate._utility.individual import (
    HOME,
    SIZE,
    WORK,
    MobilityProfile,
    area,
    gyration,
    mass_apart,
    mobility_profiles,
    places_apart,
    travelled,
)
from incrowd.measure._centres import Centres, centres_of

if TYPE_CHECKING:
    import altair as alt

__all__ = [
    "Persons",
    "Utility",
    "side_for",
    "utility",
    "words_of_persons",
    "words_of_together",
]


STEPS = 6
SIDE = 5.0
"""The side of a square in km, unless it is given."""
KM = 1
"""Within so many kilometres a place counts as found in the chart."""
EACH, TOGETHER = "of people who have one in the original", "everybody together"
COLOURS = {EACH: BLUE, TOGETHER: GREEN}
"""Of what shares are, in the chart."""


@dataclass(frozen=True, slots=True, repr=False)
class Persons(Summarised):
    """Each person in the release beside herself in the original.

    All shares and quantiles are of people who are published, as in the papers; how many of the
    original a place is found for, `Errors.found_within` tells.

    Attributes
    ----------
    people
        How many are compared: who are published, and known.
    dropped
        How many of the original are not published.
    centre_of_mass
        From the mean of a person's places to that in the release (figure 21, left).
    home, work
        The place with most samples from 22 to 6 h, and from 9 to 17 h (figure 21).
    travelled, gyration, hull
        The travel distance from sample to sample, the radius of gyration and the hull's area: the
        value in the release over that in the original (figure 22).
    """

    people: int
    dropped: int
    centre_of_mass: Errors
    home: Errors
    work: Errors
    travelled: Ratios
    gyration: Ratios
    hull: Ratios

    def _summary(self) -> Summary:
        everybody = self.people + self.dropped
        facts = {"people in the release": count_of(self.people, everybody) if everybody else "none"}
        for name, of in (("travel distance", self.travelled), ("radius of gyration", self.gyration),
                         ("area of the hull", self.hull)):  # fmt: skip
            facts[name] = f"within a factor of two for {percent(of.twofold)} of {people(of.moving)}"
        places = {"centre of mass": self.centre_of_mass, "home": self.home, "work": self.work}
        return Summary(
            f"Each of {people(self.people)} in the release beside the original",
            facts,
            head=("place", "have one", "in the release", "found within 1 km", "median error, km"),
            rows=[
                (
                    name,
                    f"{of.original:,}",
                    f"{of.after:,}",
                    percent(of.found_within(KM)),
                    "-" if (half := of.quantiles.get(0.5)) is None else f"{half:.2f}",
                )
                for name, of in places.items()
            ],
            notes=["Found: of all who have one in the original. Errors are of those in both."],
        )


@dataclass(frozen=True, slots=True, repr=False)
class Utility(Summarised):
    """What is left of a dataset for those who analyse it.

    Attributes
    ----------
    tz
        The zone of the hours.
    least
        What concerns fewer people is not told, in heatmaps, their bins and the map.
    persons
        Each person before and after; None where nobody knows who became whom.
    together
        Everybody together.
    """

    tz: str
    least: int
    persons: Persons | None
    together: AggregateUtility

    @property
    def words(self) -> list[str]:
        """What it means, in sentences for everybody."""
        each = {} if self.persons is None else words_of_persons(self.persons)
        return [*each.values(), *words_of_together(self.together).values()]

    @property
    def _trips_left(self) -> float | None:
        """How many trips the release has, for each of the original."""
        trips = self.together.flows
        return trips.after / trips.before if trips.before else None

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain | {"words": self.words}

    def plot(self) -> "alt.Chart":
        """Return a chart (Altair) of the shares that are still right: of places, hours and trips.

        Of each person: whether her home, workplace and centre of mass are found within 1 km (if it
        is known who became whom), of all who have one in the original: those of people who are not
        in the release are not found. Of everybody together: how many trips are left, and which
        share of what is left (of trips, hours and samples) is in the right square.
        """
        import altair as alt

        from incrowd._charts import data_of, styled

        rows: list[dict[str, Any]] = []
        if self.persons is not None:
            found = {
                "home": self.persons.home,
                "workplace": self.persons.work,
                "centre of mass": self.persons.centre_of_mass,
            }
            rows = [
                {"what": f"{name} within 1 km", "share": share, "of": EACH}
                for name, errors in found.items()
                if (share := errors.found_within(KM)) is not None
            ]
        if (left := self._trips_left) is not None:
            rows.append({"what": "trips that are left", "share": min(left, 1.0), "of": TOGETHER})
        side = f"{self.together.grid_km:g} km"
        moved = {
            "trips": self.together.flows,
            "hours": self.together.population,
            "samples": self.together.visits,
        }
        rows += [
            {
                "what": f"{name} left, in the right square of {side}",
                "share": 1 - each.moved,
                "of": TOGETHER,
            }
            for name, each in moved.items()
        ]
        colours = {of: COLOURS[of] for of in dict.fromkeys(row["of"] for row in rows)}
        chart = (
            alt.Chart(data_of(rows))
            .mark_bar()
            .encode(
                y=alt.Y("what:N", sort=None, title=None, axis=alt.Axis(labelLimit=300)),
                x=alt.X(
                    "share:Q", title="share", axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 1]),
                ),
                color=alt.Color(
                    "of:N",
                    scale=alt.Scale(domain=list(colours), range=list(colours.values())),
                ),
                tooltip=[alt.Tooltip("what:N"), alt.Tooltip("share:Q", format=".1%")],
            )
        )  # fmt: skip
        drawn: alt.Chart = styled(chart, "What is left for those who analyse it")
        return drawn

    def _summary(self) -> Summary:
        facts, trips = {}, self.together.flows
        if (who := self.persons) is not None:
            facts["people in the release"] = count_of(who.people, who.people + who.dropped)
            for name, errors in (("home", who.home), ("workplace", who.work)):
                if (share := errors.found_within(KM)) is not None:
                    found = count_of(round(share * errors.original), errors.original)
                    facts[f"{name} found within 1 km"] = found
        if (left := self._trips_left) is not None:
            facts["trips in the release"] = f"{trips.after:,} of {trips.before:,} ({percent(left)})"
        notes = [f"Hours are of {self.tz}.", *self.words]
        return Summary("Utility: what is left of a dataset", facts, notes=notes)


def utility(
    pair: BeforeAfter,
    *,
    tz: str | None = None,
    grid: float = 5.0,
    least: int = 10,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Utility:
    """Measure what a release is still good for, beside its original.

    The place of a sample is the centre of its box, and its time the middle of its slots. Home is
    the place with most samples from 22 to 6 h, work that from 9 to 17 h, on every day of the week
    (the paper names no days); a place is a point, exact to half a cell, and of places with as many
    samples it is the one where the person was first. Hours are local, daylight saving that of each
    sample. Distances are straight lines on the plane.

    Parameters
    ----------
    pair
        The data before and after, and who became whom where that is known.
    tz
        The zone in which it is night, like Africa/Abidjan. Unless given, the zone that the original
        was read with (for synthetic data, that of its land); if it was read with none, UTC is
        assumed, with a warning.
    grid
        The side of a square in km, for trips, people by hour and samples by place; rounded to
        whole cells of the data.
    least
        Cells of heatmaps and maps that show fewer people are left out; the smallest crowd of the
        release, if that is more.
    threads
        How many threads to use; all cores unless given.
    progress
        Called with the number of steps done, and of all.

    Raises
    ------
    InputError
        If the original is empty, or nothing is published.
    ArgumentError
        If the two do not lie on one grid, or an option makes no sense.

    Warns
    -----
    DataWarning
        If a square is wider than the data itself.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 9.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=60, seed=7)
    >>> pair = incrowd.of_release(city, incrowd.glove(city, k=2))
    >>> found = incrowd.utility(pair, tz="Africa/Abidjan")
    >>> found.persons.people, found.persons.home.both
    (60, 60)
    >>> 0 < found.together.flows.moved < 1
    True
    """
    pair = BeforeAfter.of(pair)
    before, after = pair.before, pair.after
    if isinstance(least, bool) or not hasattr(least, "__index__") or least < 1:
        raise ArgumentError(f"least is {least!r}; it is a whole number of people from 1 on")
    if before.samples == 0:
        raise InputError("there is nothing to compare: the original has no samples")
    if after.samples == 0:
        raise InputError("there is nothing to compare: nothing is published")
    _tell_of_wide(grid, before)
    tz = zone_or_utc(tz, before)
    number, fewest = cores(threads), max(int(least), int(after.crowd.min()))
    stages = Stages(progress, STEPS, parts=1)
    stages.advance(0)
    points = []
    for data in (before, after):
        points.append(centres_of(data, tz, number))
        stages.advance()
    squares, chart = (grid_of(points, before.frame, side) for side in (grid, None))
    persons = None
    if pair.became is not None:
        persons = _persons(pair, pair.became, points, fewest, number)
    stages.advance(2)
    counted = []
    for side in points:
        counted.append(counts_of(side, squares, chart, number))
        stages.advance()
    together = compare(counted[0], counted[1], before.frame, squares, chart, fewest)
    return Utility(tz, fewest, persons, together)


def side_for(data: Trajectories) -> float:
    """Choose the side of squares in km: 20 of them along the data, from 0.5 to 5 km."""
    along = max(
        int(end.max()) - int(start.min()) for start, end in ((data.x0, data.x1), (data.y0, data.y1))
    )
    km = along * data.frame.cell / 1000
    side = next((side for side in (0.5, 1.0, 2.0) if km <= 20 * side), 5.0)
    return max(side, data.frame.cell / 1000)


def _tell_of_wide(grid: float, data: Trajectories) -> None:
    """Warn of squares that are wider than the data, if they were asked for."""
    if not is_number(grid) or grid == SIDE:
        return
    number, so = grid * 1000 / data.frame.cell, "it is in km, and at most four squares are left"
    vain = beyond(f"grid={grid:g} (km)", number, data, space=True, so=so)
    if vain:
        warnings.warn(vain, DataWarning, stacklevel=3)


def _persons(
    pair: BeforeAfter, became: Ints, points: list[Centres], least: int, threads: int
) -> Persons:
    """Compare everybody with what became of her."""
    mine, theirs = (mobility_profiles(side, threads) for side in points)
    known = pair.known
    # Somebody without a sample is nowhere; there is nobody like that in data that was read.
    known = known[(mine.whole[known, SIZE] > 0) & (theirs.whole[became[known], SIZE] > 0)]
    a, b = mine.of(known), theirs.of(became[known])
    km = pair.before.frame.cell / 1000
    in_km = [distance * km for distance in mass_apart(a, b)]
    at_home, at_work = (
        [distance * km for distance in found if distance is not None]
        for found in (places_apart(a, b, HOME), places_apart(a, b, WORK))
    )

    def ratios(unit: str, measure: Callable[[MobilityProfile], Floats], scale: float) -> Ratios:
        return ratios_of(unit, scale * measure(a), scale * measure(b), least)

    return Persons(
        people=len(known),
        dropped=int((became < 0).sum()),
        centre_of_mass=errors_of(
            len(known), len(known), in_km, original=int((mine.whole[:, SIZE] > 0).sum())
        ),
        home=errors_of(_having(a, HOME), _having(b, HOME), at_home, original=_having(mine, HOME)),
        work=errors_of(_having(a, WORK), _having(b, WORK), at_work, original=_having(mine, WORK)),
        travelled=ratios("km", travelled, km),
        gyration=ratios("km", gyration, km),
        hull=ratios("km2", area, km**2),
    )


def _having(profiles: MobilityProfile, place: int) -> int:
    return int((profiles.whole[:, place + 2] > 0).sum())


def _plain(value: Any) -> Any:
    """Make keys text and tuples lists, as JSON has them."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value


def words_of_persons(found: Persons) -> dict[str, str]:
    """Say who is lost, and where the others are found, of places that somebody has.

    Shares are of everybody who has the place in the original.
    """
    said = {}
    if found.dropped:
        lost = count_of(found.dropped, found.people + found.dropped)
        verb = "is" if found.dropped == 1 else "are"
        said["lost"] = f"{lost} people {verb} not in the release: nothing of theirs is found there."
    places = {
        "centre": ("The centre of mass of a person's places", found.centre_of_mass),
        "home": ("Home (where most samples from 22 to 6 h are)", found.home),
        "work": ("Work (where most samples from 9 to 17 h are)", found.work),
    }
    return said | {
        name: (
            f"{place} is found within 1 km of the true one for {percent(share)} of all people who "
            f"have one in the original, and exactly there for {percent(errors.found_within(0))}."
        )
        for name, (place, errors) in places.items()
        if (share := errors.found_within(KM)) is not None
    }


def words_of_together(found: AggregateUtility) -> dict[str, str]:
    """Say what would have to be moved for everybody together to be as in the original."""
    square = f"square of {found.grid_km:g} km"
    words = {}
    if found.flows.before or found.flows.after:
        words["trips"] = (
            f"{percent(found.flows.moved)} of the trips that are left would have to start or end "
            f"in another {square} to be spread as in the original ({found.flows.before:,} trips in "
            f"the original, {found.flows.after:,} in the release)."
        )
    words["people by hour"] = (
        f"{percent(found.population.moved)} of the hours that people spend in a {square} would "
        "have to be spent in another, or at another time of the day."
    )
    words["samples by place"] = (
        f"{percent(found.visits.moved)} of samples would have to be in another {square} to be "
        "spread as in the original."
    )
    if found.rank_correlation is not None:
        words["busy places"] = (
            f"The rank correlation of squares by their samples is {found.rank_correlation:.3f} (1: "
            "the same order as in the original, 0: no relation)."
        )
    return words
