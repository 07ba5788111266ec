import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from incrowd.measure import _hardness as hardness
from incrowd.measure._hardness import POINTS, causes_of, distribution_of, gaps_of, hardest_of
from strategies import random_cases


def dispersed(ratio, twi=None):
    """Make a table as `incrowd.dispersion` gives it."""
    twi = [1.0] * len(ratio) if twi is None else twi
    columns = {f"twi_{of}": twi for of in ("total", "space", "time")}
    columns |= {f"gini_{of}": [0.5] * len(ratio) for of in ("total", "space", "time")}
    floats = dict.fromkeys((*columns, "ratio"), pl.Float64)
    return pl.DataFrame(columns | {"ratio": ratio}, schema=floats)


class TestDistribution:
    @given(st.lists(st.sampled_from([*POINTS, 0.123, 0.7]) | st.floats(0, 1), min_size=1))
    def test_counts_who_is_at_most_at_each_point(self, gaps):
        shares = distribution_of(np.array(gaps))
        assert list(shares) == [sum(gap <= point for gap in gaps) / len(gaps) for point in POINTS]

    def test_points_are_101_from_0_to_1(self):
        assert (len(POINTS), POINTS[0], POINTS[-1]) == (101, 0, 1)
        assert list(POINTS) == sorted(set(POINTS))


class TestCauses:
    def test_by_hand(self):
        table = dispersed(
            [None, 0, 0.5, 1, 1.5, 4, math.inf, math.inf], [None, 1.59, 1.6] + [2] * 5
        )
        found = causes_of(table, 2)
        assert found.already_hidden == 1 / 8
        assert found.time_above_space == 4 / 7
        assert found.mostly_time == 3 / 7
        assert found.only_time == 2 / 7
        assert found.only_space == 1 / 7
        assert found.median_time_share == 1 - 1 / 2.5
        assert (found.total.light, found.total.heavy, found.total.undefined) == (
            1 / 8,
            6 / 8,
            1 / 8,
        )
        assert (found.time.median, found.space.gini_median) == (2, 0.5)

    def test_of_people_who_are_all_hidden(self):
        found = causes_of(dispersed([None, None], [None, None]), 3)
        assert (found.already_hidden, found.time_above_space, found.only_time) == (1, None, None)
        assert (found.k, found.median_time_share, found.total.median) == (3, None, None)
        assert found.total.undefined == 1


class TestTypical:
    @given(st.lists(st.integers(-50, 50), min_size=1))
    def test_is_the_mean_of_the_middle_half(self, values):
        assert hardness.typical(np.array(values)) == pytest.approx(naive.typical(values))

    @given(st.lists(st.integers(-50, 50), min_size=10, unique=True))
    def test_is_that_of_several(self, values):
        assert len(values) - 2 * (len(values) // 4) > 1


class TestHardest:
    @random_cases(30)
    @given(strategies.trajectories(min_people=1))
    def test_traits_are_those_of_each_person(self, data):
        people = [naive.properties(boxes, 100, 60) for _, boxes in naive.people_of(data)]
        for found, wanted in zip(hardness._traits(data), zip(*people, strict=True), strict=True):
            numbers = [math.nan if each is None else each for each in wanted]
            # Sums of squares are added up in another order.
            assert found.tolist() == pytest.approx(numbers, nan_ok=True, rel=1e-9, abs=1e-9)

    def test_are_those_above_the_ninth_decile(self):
        starts = np.random.default_rng(3).integers(0, 999, (130, 4, 3))
        data = strategies.crowded(
            [[(x, x + 1, y, y + 1, t, t + 1) for x, y, t in one] for one in starts.tolist()]
        )
        gap = incrowd.k_gap(data)["k_gap"].to_numpy()
        found = hardest_of(data, gap)
        assert (found.people, found.others) == (13, 117)
        order = np.argsort(gap)
        people = naive.people_of(data)
        own = [naive.properties(boxes, 100, 60) for _, boxes in people]
        traits = {trait.name: trait for trait in found.traits}
        assert list(traits) == list(hardness.TRAITS)
        for name, values in zip(own[0]._fields, zip(*own, strict=True), strict=True):
            top, rest = ([values[i] for i in part] for part in (order[-13:], order[:-13]))
            assert traits[name].hardest == pytest.approx(naive.typical(top))
            assert traits[name].others == pytest.approx(naive.typical(rest))

    @pytest.mark.parametrize("people", [2, 9, 50, 99])
    def test_are_not_told_if_fewer_than_ten(self, people):
        data = strategies.crowded([[(i, i + 1, 0, 1, 0, 1)] for i in range(people)])
        assert hardest_of(data, np.arange(people) / people) is None

    def test_are_not_told_if_all_are_alike(self):
        data = strategies.crowded([[(0, 1, 0, 1, 0, 1)]] * 200)
        assert hardest_of(data, np.zeros(200)) is None

    def test_leave_out_what_too_few_have(self):
        # With one sample nobody has a time between samples.
        data = strategies.crowded([[(i, i + 1, 0, 1, 0, 1)] for i in range(200)])
        found = hardest_of(data, np.arange(200) / 200)
        assert [trait.name for trait in found.traits] == list(hardness.TRAITS)[:-1]


class TestGaps:
    def test_of_what_weighs_nothing_tell_no_distance(self):
        data = incrowd.synthesize("city", users=20, seed=3)
        stretch = incrowd.Stretch(space_weight=0)
        table = incrowd.k_gap(data, stretch=stretch, bounds=False)
        found = gaps_of(table, 2, stretch, data.frame)
        assert found.median_km == 0
        assert found.median_minutes > 0
