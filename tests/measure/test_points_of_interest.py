"""Stays and points of interest, against the oracle and by hand."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from incrowd.errors import ArgumentError, InputError
from strategies import random_cases


def fixes_of(people, cell=100.0, slot=60):
    rows = [(user, *fix) for user, fixes in enumerate(people) for fix in fixes]
    columns = list(zip(*rows, strict=True)) or [()] * 4
    table = dict(zip(("user", "x0", "y0", "t0"), map(list, columns), strict=True))
    return incrowd.Trajectories.from_boxes(table, incrowd.Frame(None, cell, slot))


@st.composite
def walks(draw):
    """People who wander about: small steps, jumps now and then, silences."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    step = draw(st.sampled_from([1, 1, 2, 5]))
    people = []
    for _ in range(draw(st.integers(1, 4))):
        number = int(rng.integers(1, draw(st.sampled_from([5, 40, 300])) + 1))
        far = rng.random(number) < 0.03
        moves = rng.integers(-step, step + 1, (number, 2)) + far[:, None] * rng.integers(-9, 10, 2)
        moves[rng.random(number) < 0.5] = 0
        silent = rng.integers(1, draw(st.sampled_from([2, 4, 12])), number)
        silent[rng.random(number) < 0.02] = 40
        fixes = np.column_stack([np.cumsum(moves, axis=0), np.cumsum(silent)])
        people.append([tuple(fix) for fix in fixes.tolist()])
    return people


class TestPointsOfInterest:
    def test_of_nobody_are_none(self):
        city = incrowd.synthesize("city", users=5, seed=7)
        found = incrowd.points_of_interest(city[[]])
        some = incrowd.points_of_interest(city)
        assert (len(found.stays), len(found.pois), len(found.people)) == (0, 0, 0)
        assert found.stays.schema == some.stays.schema
        assert len(found.visits()) == 0

    @given(
        people=walks(),
        diameter=st.sampled_from([100, 250, 283, 300, 1000]),
        stay=st.sampled_from([1, 7, 30]),
        gap=st.sampled_from([None, 3, 10**6]),
    )
    @random_cases(1200)
    def test_are_those_of_the_definition(self, people, diameter, stay, gap):
        found = incrowd.points_of_interest(
            fixes_of(people), diameter=diameter, stay=stay, gap=gap, threads=1
        )
        stays, pois = naive.points_of_interest(people, 100, 60, diameter, stay, gap)
        assert found.stays.rows() == stays
        assert found.pois.select("x", "y").rows() == pois
        assert found.pois["stays"].sum() == len(stays)

    @given(people=walks())
    @random_cases(200)
    def test_visits_are_the_slots_that_stays_touch(self, people):
        found = incrowd.points_of_interest(fixes_of(people), stay=7, threads=1)
        expected = {
            (who, hour, poi)
            for who, first, last, _, _, poi in found.stays.rows()
            for hour in range(first // 10, last // 10 + 1)
        }
        visits = found.visits(10)
        assert len(visits) == len(people)
        rows = zip(visits.rows()["user"], visits.time.tolist(), visits.place.tolist(), strict=True)
        assert sorted(rows) == sorted(expected)

    def test_a_long_stay_of_many_fixes(self):
        # Somebody all over a building that is as wide as a POI may be: no box is small enough.
        angles = np.arange(5_000) * 2.399963
        radius = 11.5 * np.sqrt((np.arange(5_000) % 997) / 997)
        x, y = (np.floor(radius * f(angles)).astype(int) for f in (np.cos, np.sin))
        people = [list(zip(x.tolist(), y.tolist(), range(5_000), strict=True))]
        found = incrowd.points_of_interest(fixes_of(people, cell=10.0))
        stays, _ = naive.points_of_interest([people[0][:400]], 10, 60)
        assert found.stays.height == 1
        assert (found.stays["first"][0], found.stays["last"][0]) == (0, 4_999)
        assert len(stays) == 1

    @given(seed=st.integers(0, 2**32 - 1))
    @random_cases(200)
    def test_round_and_round_as_wide_as_may_be(self, seed):
        # Neither boxes nor parts of the window decide anything here: hulls do.
        rng = np.random.default_rng(seed)
        radius = rng.choice([12.4, 12.9, 13.2])
        angles = rng.random(120) * 2 * np.pi
        x, y = (np.trunc(radius * f(angles)).astype(int) for f in (np.cos, np.sin))
        people = [list(zip(x.tolist(), y.tolist(), range(120), strict=True))]
        found = incrowd.points_of_interest(fixes_of(people, cell=10.0), threads=1)
        assert found.stays.rows() == naive.points_of_interest(people, 10, 60)[0]

    def test_silence_alone_makes_no_stay(self):
        data = fixes_of([[(0, 0, 0), (0, 0, 30)]])
        assert incrowd.points_of_interest(data).stays.is_empty()
        assert incrowd.points_of_interest(data, gap=math.inf).stays.height == 1

    def test_just_long_enough(self):
        data = fixes_of([[(0, 0, 0), (0, 0, 15), (0, 0, 30)], [(0, 0, 0), (0, 0, 15), (0, 0, 29)]])
        assert incrowd.points_of_interest(data).stays["person"].to_list() == [0]

    def test_people_share_what_is_near(self):
        data = fixes_of([[(0, 0, t) for t in (0, 20, 40)], [(1, 0, t) for t in (0, 25, 50)]])
        found = incrowd.points_of_interest(data)
        # The longer stay founded it.
        assert found.pois.rows() == [(0, 1, 0, 2, 2)]

    def test_known_places_keep_their_numbers(self):
        first = incrowd.points_of_interest(fixes_of([[(50, 50, t) for t in (0, 20, 40)]]))
        later = fixes_of([[(0, 0, t) for t in (0, 20, 40)] + [(51, 50, t) for t in (90, 110, 130)]])
        found = incrowd.points_of_interest(later, known=first)
        assert found.stays["poi"].to_list() == [1, 0]
        assert found.pois.select("x", "y").rows() == [(50, 50), (0, 0)]

    @given(people=walks(), others=walks(), diameter=st.sampled_from([100, 250, 300, 1000]))
    @random_cases(200)
    def test_known_places_are_founders_as_in_the_definition(self, people, others, diameter):
        how = {"diameter": diameter, "stay": 7}
        first = incrowd.points_of_interest(fixes_of(others), threads=1, **how)
        found = incrowd.points_of_interest(fixes_of(people), known=first, threads=1, **how)
        known = first.pois.select("x", "y").rows()
        stays, pois = naive.points_of_interest(people, 100, 60, **how, known=known)
        assert found.stays.rows() == stays
        assert found.pois.select("x", "y").rows() == pois

    @given(people=walks(), diameter=st.sampled_from([100, 250, 283, 300, 1000]))
    @random_cases(200)
    def test_the_same_data_gives_the_same_again(self, people, diameter):
        how = {"diameter": diameter, "stay": 7, "threads": 1}
        one = incrowd.points_of_interest(fixes_of(people), **how)
        two = incrowd.points_of_interest(fixes_of(people), known=one, **how)
        assert one.stays.equals(two.stays)
        assert one.pois.equals(two.pois)

    def test_far_apart_is_not_near(self):
        edge = 2**31 - 2
        data = fixes_of([[(-edge, -edge, t) for t in (0, 20, 40)] + [(edge, edge, 60)]])
        assert incrowd.points_of_interest(data).stays.height == 1

    @given(people=walks(), threads=st.integers(2, 4))
    @random_cases(20)
    def test_threads_do_not_matter(self, people, threads):
        data = fixes_of(people * 9)
        one = incrowd.points_of_interest(data, threads=1)
        assert incrowd.points_of_interest(data, threads=threads).stays.equals(one.stays)

    def test_nobody_stays(self):
        found = incrowd.points_of_interest(fixes_of([[(0, 0, 0)], [(9, 9, 9)]]))
        assert (found.stays.height, found.pois.height, len(found.visits())) == (0, 0, 2)

    @pytest.mark.parametrize(
        ("how", "says"),
        [
            ({"diameter": 0}, "must be positive"),
            ({"diameter": 50}, "finer cells"),
            ({"diameter": math.inf}, "and finite, not inf"),
            ({"stay": -1}, "must be positive"),
            ({"stay": math.nan}, "must be positive"),
            ({"stay": math.inf}, "finite number of minutes"),
            ({"gap": 0}, "must be positive"),
            ({"stay": 1e300}, "must be at most"),
            ({"gap": 1e300}, "must be at most"),
            ({"threads": 0}, "threads"),
        ],
    )
    def test_refuses(self, how, says):
        with pytest.raises(ArgumentError, match=says):
            incrowd.points_of_interest(fixes_of([[(0, 0, 0)]]), **how)

    def test_refuses_boxes(self):
        wide = incrowd.Trajectories.from_boxes(
            {"user": [1], "x0": [0], "x1": [2], "y0": [0], "y1": [1], "t0": [0], "t1": [1]}
        )
        with pytest.raises(InputError, match="larger boxes"):
            incrowd.points_of_interest(wide)

    def test_refuses_another_grid(self):
        known = incrowd.points_of_interest(fixes_of([[(0, 0, 0)]], cell=10.0))
        with pytest.raises(ArgumentError, match="same grid"):
            incrowd.points_of_interest(fixes_of([[(0, 0, 0)]]), known=known)

    @pytest.mark.parametrize("minutes", [0.5, 0, 1.25, math.nan, math.inf, 1e300])
    def test_refuses_slots_that_do_not_fit(self, minutes):
        found = incrowd.points_of_interest(fixes_of([[(0, 0, 0)]]))
        with pytest.raises(ArgumentError, match=r"not a multiple|number of minutes"):
            found.visits(minutes)

    def test_tables_have_their_columns(self):
        found = incrowd.points_of_interest(fixes_of([[(0, 0, 0)]]))
        assert found.stays.columns == ["person", "first", "last", "x", "y", "poi"]
        assert found.pois.schema["people"] == pl.Int64
