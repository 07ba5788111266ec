import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from incrowd import Frame
from incrowd.errors import ArgumentError
from incrowd.measure._k_gap import nearest_neighbours, table_of
from incrowd.measure._stretch.definition import Stretch
from strategies import random_cases

SETTINGS = strategies.settings()


COLUMNS = ("k_gap", "spatial", "temporal", "nearest")


def found(data, ks, given):
    """Give gap, parts and nearest of each person and k, as the fast way has them."""
    return incrowd.k_gap(data, ks, stretch=Stretch(*given)).select(COLUMNS).rows()


def expected(data, ks, given):
    """Give the same by the oracle: everybody of a crowd is a person."""
    people, numbers = naive.one_each(naive.people_of(data), data.crowd.tolist())
    return [
        (*(float(part) for part in gap[:3]), [numbers[other] for other in gap.nearest])
        for person in naive.k_gaps(people, ks, None, given)
        for gap in person
    ]


def found_of_crowds(data, ks, given):
    """Give what it costs to merge trajectories, each with the weight of its crowd."""
    near = nearest_neighbours(data, max(ks), Stretch(*given))
    return table_of(data, ks, near).select(COLUMNS).rows()


def expected_of_crowds(data, ks, given):
    """Give the same by the oracle."""
    gaps = naive.k_gaps(naive.people_of(data), ks, data.crowd.tolist(), given)
    return [(*(float(part) for part in gap[:3]), gap.nearest) for person in gaps for gap in person]


@st.composite
def with_ks(draw, data):
    """Draw a dataset and several k in rising order, up to the number of its people."""
    people = draw(data)
    ks = draw(st.sets(st.integers(2, len(people)), min_size=1, max_size=3))
    return people, sorted(ks)


class TestKGap:
    @random_cases(400)
    @given(with_ks(strategies.collisions()), SETTINGS)
    def test_is_the_equation(self, case, given):
        data, ks = case
        assert found(data, ks, given) == expected(data, ks, given)

    @random_cases(100)
    @given(with_ks(strategies.grown(copies=0.8)), SETTINGS)
    def test_is_the_equation_when_many_are_the_same(self, case, given):
        data, ks = case
        assert found(data, ks, given) == expected(data, ks, given)

    @random_cases(400)
    @given(with_ks(strategies.collisions()), SETTINGS)
    def test_of_crowds_is_the_equation_with_their_weights(self, case, given):
        data, ks = case
        assert found_of_crowds(data, ks, given) == expected_of_crowds(data, ks, given)

    @random_cases(100)
    @given(with_ks(strategies.grown(copies=0.8)), SETTINGS)
    def test_of_crowds_is_the_equation_when_many_are_the_same(self, case, given):
        data, ks = case
        assert found_of_crowds(data, ks, given) == expected_of_crowds(data, ks, given)

    def test_of_a_release_is_0_as_far_as_crowds_go(self):
        city = incrowd.synthesize("city", users=30, seed=7)
        release = incrowd.glove(city, 3).trajectories
        gaps = incrowd.k_gap(release, [2, 3, int(release.crowd.max()) + 1])
        assert len(gaps) == 3 * release.crowd.sum()
        assert (
            gaps["user"].to_list()[::3]
            == np.repeat(release.people.to_numpy(), release.crowd).tolist()
        )
        assert (gaps.filter(pl.col("k") <= 3)["k_gap"] == 0).all()
        assert (gaps.filter(pl.col("k") > 3)["k_gap"] > 0).all()

    @random_cases(30)
    @given(with_ks(strategies.grown(most=6)))
    def test_is_exact_on_grids_so_fine_that_costs_are_large_numbers(self, case):
        data, ks = case
        given = naive.Settings(10**7, 48 * 10**7, 1, 1)
        assert found(data, ks, given) == expected(data, ks, given)

    @pytest.mark.parametrize("frame", [Frame(cell=10, slot=600), Frame(cell=500, slot=3600)])
    def test_is_of_20_km_and_8_h_on_any_grid(self, frame):
        data = incrowd.synthesize("city", users=12, seed=7)
        data = incrowd.Trajectories(data.columns, data.offsets, frame, people=data.people)
        papers = Stretch.of_metres(20_000, 480, frame=frame)
        assert papers != Stretch()
        assert incrowd.k_gap(data).equals(incrowd.k_gap(data, stretch=papers))
        assert not incrowd.k_gap(data).equals(incrowd.k_gap(data, stretch=Stretch()))
        assert incrowd.dispersion(data).equals(incrowd.dispersion(data, stretch=papers))

    @given(with_ks(strategies.collisions()), SETTINGS)
    def test_parts_add_up(self, case, given):
        data, ks = case
        for person in naive.k_gaps(naive.people_of(data), ks, data.crowd.tolist(), given):
            for gap in person:
                assert gap.spatial + gap.temporal == gap.k_gap
        gaps = incrowd.k_gap(data, ks, stretch=Stretch(*given))
        both = (gaps["spatial"] + gaps["temporal"]).to_list()
        assert both == pytest.approx(gaps["k_gap"].to_list(), rel=1e-15)

    @random_cases(50)
    @given(with_ks(strategies.collisions()), SETTINGS)
    def test_of_several_k_are_those_of_each_alone(self, case, given):
        data, ks = case
        stretch = Stretch(*given)
        together = incrowd.k_gap(data, ks, stretch=stretch)
        assert together["k"].to_list() == ks * int(data.crowd.sum())
        for k in ks:
            alone = incrowd.k_gap(data, k, stretch=stretch)
            assert together.filter(pl.col("k") == k).drop("k").equals(alone)

    @random_cases(30)
    @given(with_ks(strategies.grown(most=30)), SETTINGS)
    def test_does_not_depend_on_threads(self, case, given):
        data, ks = case
        one, two = (
            incrowd.k_gap(data, ks, stretch=Stretch(*given), threads=threads) for threads in (1, 2)
        )
        assert one.equals(two)

    def test_on_a_city_does_not_depend_on_threads(self):
        data = incrowd.synthesize("city", users=30, seed=7)
        one, two = (incrowd.k_gap(data, [2, 30], threads=threads) for threads in (1, 2))
        assert one.equals(two)

    def test_does_not_grow_smaller_with_k(self):
        data = incrowd.synthesize("city", users=20, seed=3)
        gaps = incrowd.k_gap(data, range(2, 21))["k_gap"].to_numpy().reshape(20, 19)
        assert (np.diff(gaps, axis=1) >= 0).all()

    def test_of_people_who_are_the_same_is_0(self):
        walk = [(0, 1, 0, 1, 3, 4), (1, 2, 0, 1, 9, 10)]
        other = [(5, 6, 0, 1, 3, 4)]
        gaps = incrowd.k_gap(strategies.crowded([walk, other, walk, walk]), [2, 3, 4])
        zeros = gaps.filter(pl.col("user") != 1)["k_gap"].to_numpy().reshape(3, 3) == 0
        assert zeros.tolist() == [[True, True, False]] * 3
        assert (gaps.filter(pl.col("user") == 1)["k_gap"] > 0).all()

    def test_of_equally_near_the_first_are_the_nearest(self):
        cell = (0, 1, 0, 1, 0, 1)
        beside = [(1, 2, 0, 1, 0, 1), (0, 1, 1, 2, 0, 1), (-1, 0, 0, 1, 0, 1), (0, 1, -1, 0, 0, 1)]
        people = [[box] for box in [*beside[:2], cell, *beside[2:]]]
        gaps = incrowd.k_gap(strategies.crowded(people), [2, 3, 5])
        nearest = gaps.filter(pl.col("user") == 2)["nearest"].to_list()
        assert nearest == [[0], [0, 1], [0, 1, 3, 4]]

    @pytest.mark.parametrize(
        ("other", "parts"),
        [
            ([(0, 1, 0, 1, 0, 1), (200, 201, 0, 1, 480, 481)], (0, 1 / 4)),
            ([(200, 201, 0, 1, 0, 1), (0, 1, 0, 1, 480, 481)], (1 / 4, 0)),
        ],
    )
    def test_of_equal_efforts_the_first_sample_gives_the_parts(self, other, parts):
        # One of her samples is in both; to the other it is 200 cells or 480 slots, which cost
        # the same, and of the other person's samples the earlier one counts.
        person = [(0, 1, 0, 1, 0, 1), (0, 1, 0, 1, 480, 481)]
        gaps = incrowd.k_gap(strategies.crowded([person, other]))
        assert gaps.select("spatial", "temporal").rows() == [parts] * 2

    def test_columns(self):
        rows = {"user": ["ann", "bob", "cyd"], "x0": [0, 4, 0], "y0": [0, 0, 0], "t0": [0, 1, 2]}
        data = incrowd.Trajectories.from_boxes(rows)
        numbers = dict.fromkeys(("k_gap", "spatial", "temporal"), pl.Float64)
        alone, several = incrowd.k_gap(data), incrowd.k_gap(data, [2, 3])
        assert list(alone.columns) == ["user", "k_gap", "spatial", "temporal", "nearest"]
        assert list(several.columns) == ["user", "k", "k_gap", "spatial", "temporal", "nearest"]
        for gaps in (alone, several):
            assert numbers.items() <= gaps.schema.items()
            assert gaps.schema["nearest"] == pl.List(pl.String)
        assert alone["user"].to_list() == ["ann", "bob", "cyd"]
        assert several["user"].to_list() == ["ann", "ann", "bob", "bob", "cyd", "cyd"]
        # By hand: ann and cyd are 2 slots apart, bob is 4 cells and 1 slot from either.
        near, far = 2 / 480 / 2, (4 / 200 + 1 / 480) / 2
        assert alone["k_gap"].to_list() == pytest.approx([near, far, near])
        assert several["k_gap"].to_list()[1::2] == pytest.approx(
            [(near + far) / 2, far, (near + far) / 2]
        )
        first = [["cyd"], ["cyd", "bob"], ["ann"], ["ann", "cyd"], ["ann"], ["ann", "bob"]]
        assert several["nearest"].to_list() == first

    @pytest.mark.parametrize(
        "users",
        [
            pl.Series([70, 10, 40], dtype=pl.Int64),
            pl.Series([70, 10, 40], dtype=pl.UInt32),
            pl.Series(["x", "", "z"]),
            pl.Series(["x", "y", "z"], dtype=pl.Categorical),
        ],
    )
    def test_nearest_are_named_as_the_data_names_them(self, users):
        data = strategies.crowded([[(0, 1) * 3], [(9, 10) * 3], [(2, 3) * 3]])
        named = incrowd.Trajectories(data.columns, data.offsets, people=users)
        gaps = incrowd.k_gap(named, 3)
        assert gaps.schema["nearest"] == pl.List(users.dtype)
        one, two, three = users.to_list()
        assert gaps["user"].to_list() == [one, two, three]
        assert gaps["nearest"].to_list() == [[three, two], [three, one], [one, two]]
        assert gaps.drop("user", "nearest").equals(incrowd.k_gap(data, 3).drop("user", "nearest"))

    def test_far_apart_do_not_overflow(self):
        far = 2**31 - 2
        people = [[(-far, 1 - far) * 3], [(far, far + 1) * 3], [(0, 1) * 3]]
        assert incrowd.k_gap(strategies.crowded(people), 3)["k_gap"].to_list() == [1, 1, 1]

    @pytest.mark.parametrize("k", [1, 101, 2.0, 2.5, float("nan"), None, "2", True, [2, 2.0], [0]])
    def test_what_is_no_crowd_is_refused(self, k):
        with pytest.raises(ArgumentError, match="k must be an integer from 2 to 100, not"):
            incrowd.k_gap(strategies.crowded([[(0, 1) * 3]] * 3), k)

    @pytest.mark.parametrize(
        ("k", "text"),
        [([], "no k was given"), (4, "a crowd of 4 needs as many people, but there are 3")],
    )
    def test_no_crowd_and_too_large_ones_are_refused(self, k, text):
        with pytest.raises(ArgumentError, match=text):
            incrowd.k_gap(strategies.crowded([[(0, 1) * 3]] * 3), k)

    def test_what_is_no_trajectories_is_refused(self):
        with pytest.raises(ArgumentError, match="data must be Trajectories, not DataFrame"):
            incrowd.k_gap(strategies.crowded([[(0, 1) * 3]] * 3).boxes())

    def test_each_crowd_is_measured_once_and_in_order(self):
        data = strategies.crowded([[(0, 1) * 3], [(2, 3) * 3], [(9, 10) * 3]])
        several = incrowd.k_gap(data, [3, np.int64(2), 2])
        assert several.equals(incrowd.k_gap(data, [2, 3]))
