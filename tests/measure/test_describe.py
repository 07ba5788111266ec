import math

import numpy as np
import pytest
from hypothesis import given

import strategies
from incrowd import Frame, Trajectories, Visits, describe, visits
from incrowd.data._frame import laea
from incrowd.errors import InputError
from incrowd.measure._describe import Spread, radius_of_gyration

GRID = Frame(laea(5, -4), cell=1000, slot=3600, origin=1_325_376_000)
ROWS = {"user": ["a", "a", "a", "b"], "x0": [0, 4, 0, 0], "y0": [0, 0, 0, 3], "t0": [0, 1, 2, 47]}


def figures(data):
    """Count with dictionaries what `describe` counts with sorted arrays."""
    places, people = {}, {}
    for person in data:
        for place in zip(person.x0.tolist(), person.y0.tolist(), strict=True):
            places.setdefault(person.user, set()).add(place)
            people.setdefault(place, set()).add(person.user)
    return [len(p) for p in places.values()], [len(p) for p in people.values()]


class TestDescribe:
    def test_sizes_times_and_area(self):
        about = describe(Trajectories.from_boxes(ROWS, GRID))
        assert (about.people, about.samples, about.places) == (2, 4, 3)
        assert (about.start, about.end) == ("2012-01-01T00:00:00Z", "2012-01-03T00:00:00Z")
        assert (about.days, about.per_person_hour) == (2, 4 / 2 / 48)
        assert (about.width_km, about.height_km, about.area_km2) == (5, 4, 20)
        assert (about.cell_m, about.slot_s, about.crs) == (1000, 3600, GRID.crs)

    @given(strategies.trajectories(min_people=1, longest=1))
    def test_places_are_counted_as_with_dictionaries(self, data):
        about = describe(data)
        a_person, a_place = figures(data)
        assert about.places == len(a_place)
        assert about.places_a_person == Spread.of(np.array(a_person))
        assert about.people_a_place == Spread.of(np.array(a_place))

    def test_named_places_count_instead_of_cells(self):
        data = Trajectories.from_boxes(ROWS, GRID)
        place = np.array([5, 5, 5, -7], np.int32)
        about = describe(Trajectories(data.columns, data.offsets, GRID, place=place))
        assert (about.places, about.places_are, about.places_a_person.most) == (2, "places", 1)

    def test_cells_far_apart_do_not_overflow(self):
        far = 2**31 - 2
        rows = {
            "user": range(4),
            "x0": [-far, far, 0, far],
            "y0": [far, -far, 0, -far],
            "t0": [0] * 4,
        }
        assert describe(Trajectories.from_boxes(rows, GRID)).places == 3

    def test_everything_is_plain(self):
        values = describe(Trajectories.from_boxes(ROWS, GRID)).as_dict()
        assert values["samples_a_person"] == {
            "mean": 2, "least": 1, "quarter": 1, "median": 1, "three_quarters": 3, "most": 3,
        }  # fmt: skip

    def test_nothing_cannot_be_described(self):
        empty = Trajectories.from_boxes({name: [] for name in ("user", "x0", "y0", "t0")}, GRID)
        with pytest.raises(InputError, match="nothing to describe"):
            describe(empty)


class TestRadiusOfGyration:
    def test_is_the_root_of_the_mean_squared_distance_to_the_mean(self):
        radius = radius_of_gyration(Trajectories.from_boxes(ROWS, GRID))
        assert radius.tolist() == pytest.approx([1000 * math.sqrt(32 / 9), 0])

    def test_does_not_depend_on_where(self):
        moved = ROWS | {"x0": [x + 500 for x in ROWS["x0"]]}
        first, second = (
            radius_of_gyration(Trajectories.from_boxes(r, GRID)) for r in (ROWS, moved)
        )
        assert first == pytest.approx(second)


class TestSpread:
    def test_quantiles_are_values_that_occur(self):
        assert Spread.of(np.array([4, 1, 3, 2])) == Spread(2.5, 1, 1, 2, 3, 4)


class TestDescribeVisits:
    @given(strategies.trajectories(min_people=1, longest=1))
    def test_says_of_visits_what_it_says_of_samples(self, data):
        of_samples, of_visits = describe(data), describe(visits(data))
        assert (of_visits.people, of_visits.visits, of_visits.places) == (
            of_samples.people, of_samples.samples, of_samples.places,
        )  # fmt: skip
        for name in ("start", "end", "days", "slot_s", "places_a_person", "people_a_place"):
            assert getattr(of_visits, name) == getattr(of_samples, name)
        assert of_visits.visits_a_person == of_samples.samples_a_person

    def test_times_that_say_nothing_are_no_days(self):
        about = describe(
            Visits.from_rows({"user": [1, 2], "place": [-(2**62), 2**62], "time": [0, 9]})
        )
        assert (about.start, about.end, about.days, about.slot_s) == (None, None, None, None)
        assert (about.places, about.people_a_place.most) == (2, 1)

    def test_no_visits_are_refused(self):
        with pytest.raises(InputError, match="no visits"):
            describe(Visits.from_rows({"user": [1], "place": [1], "time": [1]})[:0])
