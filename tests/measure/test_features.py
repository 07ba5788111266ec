"""Mobility features against the oracle, which has them from the paper."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import incrowd
import naive
from incrowd.errors import ArgumentError, InputError
from incrowd.measure._features import FEATURES, OF_PERSON, OF_PLACE, PLACES
from strategies import random_cases, trajectories


class TestFeatures:
    @given(data=trajectories(min_people=1, original=True))
    @random_cases(500)
    def test_are_those_of_the_paper(self, data):
        found = incrowd.features(data)
        wanted = naive.features(naive.people_of(data), data.frame)
        assert found["user"].to_list() == data.people.to_list()
        for row, expected in zip(found.drop("user").to_dicts(), wanted, strict=True):
            assert row == pytest.approx(expected, rel=1e-9, abs=1e-9)

    @given(data=trajectories(min_people=1, max_crowd=3, original=True))
    @random_cases(100)
    def test_of_crowds_are_those_of_everybody_in_them(self, data):
        people, numbers = naive.one_each(naive.people_of(data), data.crowd.tolist())
        found = incrowd.features(data)
        assert found["user"].to_list() == [data.people[number] for number in numbers]
        wanted = naive.features(people, data.frame)
        for row, expected in zip(found.drop("user").to_dicts(), wanted, strict=True):
            assert row == pytest.approx(expected, rel=1e-9, abs=1e-9)

    def test_are_28_and_told(self):
        assert len(FEATURES) == 28
        assert all(FEATURES.values())
        city = incrowd.synthesize("city", users=10, seed=1)
        assert incrowd.features(city).columns == ["user", *FEATURES]

    def test_are_told_in_the_docstring_and_on_the_page(self):
        page = (Path(__file__).parents[2] / "docs" / "risk.md").read_text("utf-8")
        lines = [line.strip() for line in incrowd.features.__doc__.splitlines()]
        for name, text in FEATURES.items():
            assert f"{name}: {text}" in lines
        for name, text in OF_PERSON.items():
            assert f"| `{name}` | {text} |" in page
        for name, text in OF_PLACE.items():
            columns = ", ".join(f"`{place}_{name}`" for place in PLACES)
            assert f"| {columns} | {text} |" in page

    def test_of_what_are_no_trajectories(self):
        visits = incrowd.visits(incrowd.synthesize("city", users=5, seed=1))
        with pytest.raises(ArgumentError, match="data must be Trajectories, not Visits"):
            incrowd.features(visits)

    def test_of_one_place_only(self):
        box = {"user": [1, 1], "x0": [0, 0], "y0": [0, 0], "t0": [0, 1440]}
        row = incrowd.features(incrowd.Trajectories.from_boxes(box)).row(0, named=True)
        assert (row["places"], row["entropy"], row["radius_of_gyration"]) == (1, 0, 0)
        assert (row["first_visits"], row["last_visits"], row["second_visits"]) == (2, 2, 0)
        assert row["visits_per_day"] == 1  # the second day has begun

    def test_of_a_straight_line(self):
        boxes = {"user": [1] * 3, "x0": [0, 3, 9], "y0": [0, 4, 12], "t0": [0, 1, 2]}
        row = incrowd.features(incrowd.Trajectories.from_boxes(boxes)).row(0, named=True)
        assert (row["max_distance"], row["sum_distances"]) == (1000, 1500)
        assert row["max_distance_ratio"] == pytest.approx(1000 / 1500)

    def test_do_not_depend_on_threads(self):
        city = incrowd.synthesize("city", users=50, seed=1)
        assert incrowd.features(city, threads=1).equals(incrowd.features(city, threads=3))

    def test_need_somebody(self):
        nobody = incrowd.Trajectories.from_boxes({"user": [], "x0": [], "y0": [], "t0": []})
        with pytest.raises(InputError, match="no people"):
            incrowd.features(nobody)

    def test_tell_how_far_they_are(self):
        seen = []
        city = incrowd.synthesize("city", users=5, seed=1)
        incrowd.features(city, progress=lambda *far: seen.append(far))
        assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]

    def test_are_finite(self):
        table = incrowd.features(incrowd.synthesize("florence", users=100, seed=1))
        assert np.isfinite(table.drop("user").to_numpy()).all()
