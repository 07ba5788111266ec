"""Distinct homes in every crowd: like the oracle, and true of what is published."""

import contextlib
import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from incrowd import Diverse, Frame
from incrowd.errors import ArgumentError, DataWarning
from incrowd.protect._glove import api
from incrowd.protect._glove.diverse import Homes, homes_in
from protect.glove.test_glove import coarse, found
from strategies import random_cases


@contextlib.contextmanager
def living(homes):
    """Let people have these homes (None: none)."""
    square = np.array([-1 if home is None else home for home in homes], np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "homes_in", lambda *_: Homes(square, {}))
        yield


@st.composite
def diverse_cases(draw, **how):
    """Give a case for GLOVE, everybody's home, and how many distinct ones a crowd needs."""
    case = draw(strategies.cases(strategies.collisions(), **how))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    there = draw(st.integers(1, 6))
    rare = draw(st.sampled_from([1, 1, 0.5, 0.2]))
    never = draw(st.sampled_from([0, 0, 0.2, 0.6]))
    chance = rare ** np.arange(there)
    homes = rng.choice(there, len(case.data), p=chance / chance.sum()).tolist()
    homes = [None if rng.random() < never else home for home in homes]
    least = draw(st.integers(2, 5))
    note(f"homes = {homes}, least = {least}")
    return case, homes, least


def oracle(case, homes, least):
    people, crowd = naive.people_of(case.data), case.data.crowd.tolist()
    return naive.glove(people, *case[2:], case.settings, crowd, homes, least)


def expected(case, gloved):
    """Give what the oracle says in the form of `found`."""
    return {
        "merges": [(older, younger, float(cost)) for older, younger, cost in gloved.merges],
        "boxes": [(place, node.boxes) for place, node in enumerate(gloved.published)],
        "crowds": [node.crowd for node in gloved.published],
        "assignment": list(zip(case.data.people.to_list(), gloved.assignment, strict=True)),
        "losses": gloved.losses,
    }


def released(case, homes, least, **how):
    with living(homes):
        return incrowd.glove(case.data, **case.told(), **how, diverse=f"home:{least}")


class TestLikeTheOracle:
    @random_cases(2400)
    @given(diverse_cases())
    def test_always(self, drawn):
        assert found(released(*drawn)) == expected(drawn[0], oracle(*drawn))

    @random_cases(400)
    @given(diverse_cases(suppress=False), st.sampled_from([1, 2, 5]), st.integers(1, 6))
    def test_with_coarse_bounds_and_short_lists(self, drawn, regions, listed):
        case, homes, least = drawn
        with coarse(regions, regions, listed):
            assert found(released(case, homes, least)) == expected(case, oracle(*drawn))
        with coarse(regions, regions, listed):
            free = found(released(case, homes, least, bounds=False, threads=2, block=3))
        assert free == expected(case, oracle(*drawn))

    @random_cases(200)
    @given(strategies.cases(strategies.collisions()))
    def test_of_homes_that_are_all_distinct_only_their_number_matters(self, case):
        """Whoever has k people has as many homes, so that nothing changes for fewer of them."""
        people, crowd = naive.people_of(case.data), [1] * len(case.data)
        data = strategies.crowded([boxes for _, boxes in people], crowd)
        homes = list(range(len(data)))
        k = max(2, min(case.k, len(data)))
        if len(data) < 2:
            return
        told = case.told() | {"k": k}
        with living(homes):
            same = found(incrowd.glove(data, **told, diverse=f"home:{k}"))
        assert same == found(incrowd.glove(data, **told))


class TestWhatIsPublished:
    @random_cases(400)
    @given(diverse_cases(suppress=False))
    def test_every_crowd_has_its_homes_and_few_are_left_over(self, drawn):
        case, homes, least = drawn
        release = released(*drawn)
        place = release.assignment["trajectory"].to_list()
        for crowd in set(place) - {None}:
            here = {home for home, at in zip(homes, place, strict=True) if at == crowd}
            assert len(here - {None}) >= least
        left = [i for i, at in enumerate(place) if at is None]
        if case.variant == "strict":
            lacking = len({homes[i] for i in left} - {None}) < least
            assert lacking or sum(case.data.crowd[left]) < case.k
        elif len(left) < len(place):
            assert left == []


def living_at(*homes, zone=None, **grid):
    """Make people who are seen once at night, in these cells, and read with a zone."""
    rows = {"user": list(range(len(homes))), "x0": list(homes), "y0": [0] * len(homes)}
    data = incrowd.Trajectories.from_boxes(rows | {"t0": [0] * len(homes)}, Frame(**grid))
    if zone is None:
        return data
    known = incrowd.synthesize("city", users=2).reading
    return incrowd.Trajectories(
        data.columns, data.offsets, data.frame, people=data.people,
        reading=dataclasses.replace(known, local=zone),
    )  # fmt: skip


class TestHomes:
    def squares(self, data, diverse):
        homes = homes_in(data, Diverse.of(diverse), 2)
        return homes.square.tolist(), homes.settings

    def test_are_squares_of_the_grid(self):
        data = living_at(-11, -10, -1, 0, 9, 10, zone="UTC")
        stated = {"homes": 2, "metres": 1000, "tz": "UTC"}
        assert self.squares(data, "home:2") == ([0, 1, 1, 2, 2, 3], stated)
        stated = {"homes": 2, "metres": 2000, "tz": "UTC"}
        assert self.squares(data, "home:2:2km") == ([0, 0, 0, 1, 1, 1], stated)

    def test_sides_are_rounded_up_to_whole_cells(self):
        data = living_at(0, 3, 4, 8, zone="UTC", cell=300)
        stated = {"homes": 2, "metres": 1200, "tz": "UTC"}
        assert self.squares(data, "home:2") == ([0, 0, 1, 2], stated)
        told = incrowd.Glove(k=3, diverse="home:2").advice(data)
        assert told == ("the grid of homes is rounded up to 1.2 km (whole cells of the data)",)
        assert incrowd.Glove(k=3, diverse="home:2").advice(living_at(0, 30)) == ()

    def test_nights_are_those_of_the_zone(self):
        data = living_at(0, 50)
        with pytest.warns(DataWarning, match="time zone in which people live is not known"):
            assert self.squares(data, "home:2")[1]["tz"] == "UTC"
        with pytest.raises(ArgumentError, match="2 distinct homes in every crowd, but there are 0"):
            self.squares(data, Diverse(2, tz="Asia/Tokyo"))  # where it is nine in the morning

    def test_who_is_never_seen_at_night_is_told_of(self):
        rows = {"user": [0, 1, 2], "x0": [0, 50, 99], "y0": [0, 0, 0], "t0": [0, 0, 720]}
        data = incrowd.Trajectories.from_boxes(rows)
        with pytest.warns(DataWarning, match=r"1 of 3 \(33.3%\) people were never seen from 22 to"):
            assert self.squares(data, Diverse(2, tz="UTC"))[0] == [0, 1, -1]

    def test_a_home_that_most_have_is_told_of(self):
        with pytest.warns(DataWarning, match=r"3 of 4 \(75.0%\) people live in one square"):
            self.squares(living_at(0, 1, 2, 99), Diverse(2, tz="UTC"))
        data = living_at(0, 1, 98, 99)
        assert self.squares(data, Diverse(2, tz="UTC"))[0] == [0, 0, 1, 1]  # without a warning


class TestArguments:
    @pytest.mark.parametrize(
        ("diverse", "says"),
        [
            ("town:3", "only homes can be asked for: write it as home:3 or home:3:5km"),
            ("home", "write it as home:3"),
            ("home:", "write it as home:3"),
            ("home:x", "diverse is 'home:x'; write it as home:3"),
            ("home:2.5", "write it as home:3"),
            ("home:0", "fewer than 2 distinct homes protect nothing"),
            ("home:-3", "fewer than 2 distinct homes protect nothing"),
            ("home:1", "fewer than 2 distinct homes protect nothing"),
            ("home:101", "homes must be an integer from 2 to 100, not 101"),
            ("home:3:", "'' is no length"),
            ("home:3:5", "'5' is no length"),
            ("home:3:-5km", "'-5km' is no length"),
            ("home:3:5km:2", "write it as home:3"),
            ("home:3:0m", "metres must be a number above 0"),
            (3, "diverse is 3; write it as home:3"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, diverse, says):
        with pytest.raises(ArgumentError, match=re.escape(says)):
            incrowd.Glove(diverse=diverse)
        with pytest.raises(ArgumentError, match=re.escape(says)):
            incrowd.glove(living_at(0, 50), diverse=diverse)

    @pytest.mark.parametrize(
        ("diverse", "says"),
        [
            (
                "home:2:50m",
                "has cells of 100 m: a place is not known better than that",
            ),
            ("home:3", "3 distinct homes in every crowd, but there are 2 on a grid of 1 km"),
            ("home:2:20km", "2 distinct homes in every crowd, but there is 1 on a grid of 20 km"),
        ],
    )
    def test_what_the_data_does_not_have_is_refused(self, diverse, says):
        with pytest.raises(ArgumentError, match=re.escape(says)):
            incrowd.glove(living_at(0, 50, 51, zone="UTC"), diverse=diverse)

    @pytest.mark.parametrize("how", [{"homes": "3"}, {"homes": 2, "metres": float("nan")}])
    def test_values_that_are_none_are_refused(self, how):
        with pytest.raises(ArgumentError):
            Diverse(**how)
        with pytest.raises(ArgumentError, match="unknown time zone"):
            Diverse(2, tz="Nowhere")

    def test_not_with_refined_crowds(self):
        with pytest.raises(ArgumentError, match="diverse does not go with crowds='refined'"):
            incrowd.Glove(diverse="home:2", crowds="refined")
        with pytest.raises(ArgumentError, match="diverse does not go with crowds='refined'"):
            incrowd.glove(living_at(0, 50), diverse="home:2", crowds="refined")

    @pytest.mark.filterwarnings("ignore:.* people live in one square")
    def test_a_checkpoint_of_other_homes_is_refused(self, tmp_path):
        city, file = incrowd.synthesize("city", users=60, seed=7), tmp_path / "checkpoint"
        incrowd.glove(city, 3, diverse="home:2", checkpoint=file)
        for other in (None, "home:2:2km", Diverse(2, tz="Asia/Tokyo")):
            with pytest.raises(ArgumentError, match="of another input, setting or version"):
                incrowd.glove(city, 3, diverse=other, checkpoint=file)

    @pytest.mark.filterwarnings("ignore:.* people live in one square")
    def test_without_it_nothing_is_stated(self):
        city = incrowd.synthesize("city", users=20, seed=7)
        plain, diverse = incrowd.Glove(k=3), incrowd.Glove(k=3, diverse="home:2:2km")
        assert "diverse" not in plain.settings
        assert "diverse" not in incrowd.glove(city, 3).settings
        assert diverse.settings["diverse"] == {"homes": 2, "metres": 2000, "tz": None}
        release = diverse.protect(city)
        assert release.settings["diverse"] == {"homes": 2, "metres": 2000, "tz": "UTC"}
        assert "2 distinct homes on a grid of 2 km" in release.promises[1]
        assert "at least 2 distinct homes: squares of 2 km" in release.explanation[0]
        assert any(limit.startswith("guessing the home") for limit in release.limits)
        assert len(plain.promises) == 1
        assert not any("guessing" in limit for limit in plain.limits)
        assert "diverse=home:2:2000m" in repr(release)
