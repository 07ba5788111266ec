"""The two sides of recognition, one of which is a release."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.errors import ArgumentError, InputError
from incrowd.evaluate._comparison import (
    BeforeAfter,
    as_cells,
    compared_datasets,
    of_release,
    release_alone,
)
from strategies import random_cases

CITY = incrowd.synthesize("city", users=30, seed=7)


def boxes(rows):
    names = ("user", "x0", "x1", "y0", "y1", "t0", "t1")
    return incrowd.Trajectories.from_boxes(dict(zip(names, zip(*rows, strict=True), strict=True)))


def attack(side, other, **how):
    visits, known = as_cells(side.data, other.data)
    return incrowd.deanonymize(visits, known=known, share=None, n=[1, 5], **how).table


class TestOfRelease:
    @pytest.mark.parametrize(
        ("other", "says"),
        [
            (
                incrowd.synthesize("city", users=40, seed=7),
                "it is of 30 people, the original has 40",
            ),
            (CITY[:20], "it is of 30 people, the original has 20"),
            (CITY[[*range(29), 0]], None),
            (CITY[::-1], "it has the same people in another order"),
            (
                incrowd.Trajectories(
                    CITY.columns,
                    CITY.offsets,
                    CITY.frame,
                    people=CITY.people.replace({3: 333, 4: 444}),
                ),
                "2 of 30 people of the original are not in it",
            ),
        ],
    )
    def test_of_other_people_is_refused(self, other, says):
        release = incrowd.glove(CITY, k=3)
        with pytest.raises(ArgumentError, match="the release was not made from this original: "):
            of_release(other, release)
        if says:
            with pytest.raises(ArgumentError, match=says):
                of_release(other, release)

    def test_of_people_who_read_the_same_is_taken(self):
        named = incrowd.Trajectories(
            CITY.columns, CITY.offsets, CITY.frame, people=CITY.people.cast(pl.String)
        )
        assert len(of_release(named, incrowd.glove(CITY, k=2)).known) == 30

    def test_of_crowds_is_refused(self):
        release = incrowd.glove(CITY, k=3).trajectories
        with pytest.raises(ArgumentError, match="one person a trajectory; this one has crowds"):
            of_release(release, incrowd.glove(release, k=6))


class TestOneGrid:
    @pytest.mark.parametrize("measure", ["accuracy", "utility", "inference"])
    def test_sides_on_different_grids_are_refused(self, measure):
        other = replace(CITY.frame, cell=200.0)
        after = incrowd.Trajectories(CITY.columns, CITY.offsets, other, people=CITY.people)
        pair = BeforeAfter(CITY, after, np.arange(30))
        with pytest.raises(ArgumentError, match="must lie on one grid, with one clock"):
            getattr(incrowd, measure)(pair)


class TestTwoSides:
    def test_have_the_same_names_and_the_records_of_crowds(self):
        release = incrowd.glove(CITY, k=3)
        before, after = compared_datasets(of_release(CITY, release))
        became = release.assignment["trajectory"].to_list()
        assert before.data.people.to_list() == CITY.people.to_list()
        assert before.crowd.tolist() == [1] * 30
        users = CITY.people.to_list()
        for i, user in enumerate(after.data.people):
            crowd = release.trajectories[became[users.index(user)]]
            assert after.crowd[i] == crowd.crowd >= 3
            assert after.data[i].x0.tolist() == crowd.x0.tolist()

    def test_need_to_know_who_is_who(self):
        with pytest.raises(ArgumentError, match="private record"):
            compared_datasets(BeforeAfter(CITY, CITY, None))

    def test_a_crowd_ties_by_itself(self):
        # Nothing is said of the sizes of crowds: two equal records are never told apart.
        before, after = compared_datasets(of_release(CITY, incrowd.glove(CITY, k=2)))
        assert attack(before, after)["matched"].max() == 0

    @pytest.mark.parametrize("k", [2, 4])
    def test_a_k_anonymous_release_yields_no_match_from_either_side(self, k):
        before, after = compared_datasets(of_release(CITY, incrowd.glove(CITY, k=k)))
        assert attack(before, after, known_crowd=after.crowd)["matched"].max() == 0
        assert attack(after, before, crowd=after.crowd)["matched"].max() == 0

    @pytest.mark.filterwarnings("ignore::incrowd.errors.PrivacyWarning")
    @pytest.mark.parametrize(
        "mechanism",
        [
            incrowd.GeoI(0.1, seed=1),
            incrowd.Cloak(60),
            incrowd.Generalise(metres=500),
            incrowd.Filter(1),
        ],
    )
    def test_other_mechanisms_leave_people_to_be_recognised(self, mechanism):
        before, after = compared_datasets(of_release(CITY, mechanism.protect(CITY)))
        assert attack(before, after, known_crowd=after.crowd)["correct"].max() > 0
        assert attack(after, before, crowd=after.crowd)["correct"].max() > 0


class TestAsCells:
    @given(
        rows=st.lists(
            st.tuples(st.integers(0, 3), *[st.integers(-20, 20)] * 2, st.integers(0, 9)),
            min_size=1,
            max_size=20,
        ),
        wide=st.integers(1, 7),
        high=st.integers(1, 7),
        left=st.integers(-3, 3),
    )
    @random_cases(200)
    def test_cells_lie_in_those_of_a_coarser_grid(self, rows, wide, high, left):
        fine = boxes([(u, x, x + 1, y, y + 1, t, t + 1) for u, x, y, t in rows])
        coarse = boxes(
            [
                (
                    u,
                    (x - left) // wide * wide + left,
                    (x - left) // wide * wide + left + wide,
                    y // high * high,
                    y // high * high + high,
                    t,
                    t + 1,
                )
                for u, x, y, t in rows
            ]
        )
        one, two = as_cells(fine, coarse)
        for mine, theirs in zip(one, two, strict=True):
            places = {(place, time) for place, time in zip(mine.place, mine.time, strict=True)}
            other = {(place, time) for place, time in zip(theirs.place, theirs.time, strict=True)}
            assert places == other

    def test_rectangles_of_any_size_are_the_same_if_they_are_equal(self):
        one = boxes([(1, 0, 1, 0, 1, 0, 1), (1, 4, 6, 0, 1, 2, 3)])
        two = boxes([(1, 4, 6, 0, 1, 0, 1), (1, 4, 7, 0, 1, 5, 6), (1, 0, 1, 0, 1, 7, 8)])
        first, second = as_cells(one, two)
        assert first.place[1] == second.place[0]
        assert first.place[0] == second.place[2]
        assert len(np.unique(np.concatenate([first.place, second.place]))) == 3

    def test_nothing_is_refused(self):
        columns = tuple(np.zeros(0, np.int32) for _ in range(6))
        none = incrowd.Trajectories(columns, np.zeros(1, np.int64))
        with pytest.raises(InputError, match="no samples"):
            as_cells(none)


class TestAlone:
    def test_is_what_was_written(self, tmp_path):
        from incrowd.evaluate._publish import publish

        release = incrowd.glove(CITY, k=2)
        publish(release, tmp_path / "release", original=CITY, record=tmp_path / "who.parquet")
        side = release_alone(tmp_path / "release")
        record = pl.read_parquet(tmp_path / "who.parquet")
        assert sorted(side.data.people) == sorted(record["person"].drop_nulls())
        assert side.crowd.min() >= 2
        [visits] = as_cells(side.data)
        found = incrowd.deanonymize(visits, share=0.5, crowd=side.crowd)
        assert found.table["matched"].max() == 0
