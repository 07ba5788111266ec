import math
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from incrowd.errors import ArgumentError, InputError
from incrowd.measure import _dispersion as module
from incrowd.measure._dispersion import COLUMNS
from incrowd.measure._stretch.definition import Stretch
from strategies import random_cases


@st.composite
def with_k(draw, data):
    people = draw(data)
    return people, draw(st.integers(2, len(people)))


def found(data, k, given, **how):
    return incrowd.dispersion(data, k, stretch=Stretch(*given), **how).select(COLUMNS).rows()


def expected(data, k, given):
    people, _ = naive.one_each(naive.people_of(data), data.crowd.tolist())
    return naive.dispersion(people, k, None, given)


class TestDispersion:
    @random_cases(60)
    @given(with_k(strategies.collisions()), strategies.settings())
    def test_is_that_of_the_papers(self, case, given):
        assert found(*case, given) == expected(*case, given)

    @random_cases(25)
    @given(with_k(strategies.grown(copies=0.8)), strategies.settings())
    def test_is_that_of_the_papers_when_many_are_the_same(self, case, given):
        assert found(*case, given) == expected(*case, given)

    @random_cases(6)
    @given(with_k(strategies.grown(lengths=(20, 130), most=2, rarely=3)), strategies.settings())
    def test_is_that_of_the_papers_for_long_ones(self, case, given):
        assert found(*case, given) == expected(*case, given)

    @random_cases(60)
    @given(
        with_k(strategies.grown(original=True, lengths=(4, 8), max_crowd=1)),
        st.sampled_from([(2, 2, 1, 1), (1, 3, 1, 1), (4, 4, 2, 1), (200, 480, 1, 1)]),
    )
    def test_is_that_of_the_papers_for_cells_that_cost_all_there_is(self, case, given):
        given = naive.Settings(*given)
        assert found(*case, given) == expected(*case, given)

    @random_cases(25)
    @given(with_k(strategies.collisions()), st.sampled_from([(1, 0), (0, 1), (5, 2)]))
    def test_is_that_of_the_papers_with_any_weights(self, case, weights):
        given = naive.Settings(4, 6, *weights)
        assert found(*case, given) == expected(*case, given)

    @random_cases(20)
    @given(with_k(strategies.grown(most=12)), strategies.settings(), st.data())
    def test_takes_gaps_that_are_known(self, case, given, data):
        people, k = case
        stretch = Stretch(*given)
        ks = sorted(data.draw(st.sets(st.integers(2, len(people)))) | {len(people)})
        for gaps in (
            incrowd.k_gap(people, k, stretch=stretch),
            incrowd.k_gap(people, len(people), stretch=stretch),
            incrowd.k_gap(people, ks, stretch=stretch),
        ):
            assert found(people, k, given, gaps=gaps) == found(people, k, given)

    def test_does_not_depend_on_threads_or_blocks(self, monkeypatch):
        data = incrowd.synthesize("city", users=30, seed=5)
        gaps = incrowd.k_gap(data, 3)
        one = incrowd.dispersion(data, 3, gaps=gaps, threads=1)
        monkeypatch.setattr(module, "BLOCK", 7)
        for threads in (1, 2, 3):
            assert incrowd.dispersion(data, 3, gaps=gaps, threads=threads).equals(one)

    def test_sums_are_those_of_the_k_gap(self):
        data = incrowd.synthesize("city", users=40, seed=5)
        gaps = incrowd.k_gap(data)
        ratio = (gaps["temporal"] / gaps["spatial"]).to_list()
        assert incrowd.dispersion(data, gaps=gaps)["ratio"].to_list() == pytest.approx(ratio)

    def test_columns(self):
        data = incrowd.synthesize("city", users=20, seed=5)
        table = incrowd.dispersion(data)
        assert table.columns == ["user", *COLUMNS]
        assert table["user"].equals(data.people)
        assert set(table.dtypes[1:]) == {pl.Float64}


def spread(values):
    """Tell how efforts in time are spread that are these, in slots."""
    # All of a person's samples are in one cell; the other's only sample is there in slot 0.
    people = [[(0, 1, 0, 1, value, value + 1) for value in values], [(0, 1, 0, 1, 0, 1)]]
    wide = Stretch(max_time=10**6)
    return incrowd.dispersion(strategies.crowded(people), stretch=wide).row(0, named=True)


class TestTailWeight:
    def test_of_an_exponential_distribution_is_1_6(self):
        shares = (np.arange(1000) + 0.5) / 1000
        values = np.unique(np.round(-np.log(1 - shares) * 20_000))
        assert len(values) > 990
        assert spread(values.astype(int).tolist())["twi_time"] == pytest.approx(1.6, abs=0.05)

    def test_of_a_pareto_distribution_of_shape_1_is_14(self):
        shares = (np.arange(1000) + 0.5) / 1000
        values = np.unique(np.round(1 / (1 - shares) * 5000))
        assert len(values) > 980
        assert spread(values.astype(int).tolist())["twi_time"] == pytest.approx(14, abs=0.5)

    def test_of_the_normal_distribution_is_1(self):
        shares = (np.arange(1000) + 0.5) / 1000
        normal = NormalDist()
        values = np.unique([round(50_000 + 10_000 * normal.inv_cdf(each)) for each in shares])
        assert spread(values.tolist())["twi_time"] == pytest.approx(1, abs=0.02)

    def test_is_undefined_where_three_quarters_are_the_same(self):
        row = spread([0])
        assert row["twi_time"] is None
        assert row["twi_space"] is None

    def test_of_four_by_hand(self):
        # The second, the third and the last of four are the quantiles.
        usual = NormalDist().inv_cdf(0.99) / NormalDist().inv_cdf(0.75)
        assert spread([0, 1, 3, 11])["twi_total"] == 10 / 2 / usual


class TestGini:
    def test_is_0_where_all_cost_the_same_or_nothing(self):
        row = spread([0])
        assert (row["gini_total"], row["gini_space"], row["gini_time"]) == (0, 0, 0)

    def test_nears_1_where_one_costs_all(self):
        same = [(i, i + 1, 0, 1, 600 * i, 600 * i + 1) for i in range(50)]
        other = [*same[:-1], (49, 50, 0, 1, 600 * 49 + 30, 600 * 49 + 31)]
        table = incrowd.dispersion(strategies.crowded([same, other]))
        assert table["gini_time"].to_list() == [0.98, 0.98]


class TestRatio:
    def test_is_infinite_where_only_time_costs_and_0_where_only_space_does(self):
        people = [[(0, 1, 0, 1, 0, 1)], [(0, 1, 0, 1, 5, 6)], [(0, 2, 0, 1, 0, 1)]]
        data = strategies.crowded(people)
        assert incrowd.dispersion(data)["ratio"].to_list() == [0, math.inf, 0]

    def test_is_undefined_for_those_who_are_hidden(self):
        walk = [(0, 1, 0, 1, 3, 4), (1, 2, 0, 1, 9, 10)]
        data = strategies.crowded([walk, [(5, 6, 0, 1, 3, 4)], walk])
        ratio = incrowd.dispersion(data)["ratio"]
        assert ratio.is_null().to_list() == [True, False, True]


class TestLongNumbers:
    def test_are_divided_exactly(self):
        top = np.array([2**62 - 1, 7, 0, 3], np.int64)
        bottom = np.array([2**61 + 1, 2**55 + 1, 0, 4], np.int64)
        wanted = [(2**62 - 1) / (2**61 + 1), 7 / (2**55 + 1), 0, 0.75]
        assert module._divided(top, bottom).tolist() == wanted


@pytest.fixture(scope="module")
def data():
    return incrowd.synthesize("city", users=10, seed=3)


def by_position(gaps, data):
    """Give a table as it was before the nearest were named: with their positions in the data."""
    places = {user: place for place, user in enumerate(data.people.to_list())}
    nearest = [[places[user] for user in users] for users in gaps["nearest"].to_list()]
    return gaps.with_columns(pl.Series("nearest", nearest, pl.List(pl.Int64)))


class TestGapsOfBefore:
    """Tables of earlier versions have positions where others have names; none is misread."""

    @pytest.fixture
    def renamed(self, data):
        def rename(users):
            people = pl.Series("user", users)
            return incrowd.Trajectories(data.columns, data.offsets, data.frame, people=people)

        return rename

    @pytest.mark.parametrize(
        "users",
        [
            list("abcdefghij"),
            [str(i) for i in range(9, -1, -1)],  # names that look like other positions
            range(10),
            range(1, 11),
            range(100, 110),
            [1, 0, 3, 2, 5, 4, 7, 6, 9, 8],  # every position is the name of another
            range(9, -1, -1),
        ],
    )
    @pytest.mark.parametrize("ks", [3, [2, 5]])
    def test_give_the_same(self, renamed, users, ks, tmp_path):
        people = renamed(list(users))
        gaps, expected = incrowd.k_gap(people, ks), incrowd.dispersion(people, 3)
        by_position(gaps, people).write_parquet(tmp_path / "gaps.parquet")
        for table in (gaps, pl.read_parquet(tmp_path / "gaps.parquet")):
            assert incrowd.dispersion(people, 3, gaps=table).equals(expected)

    def test_with_k_gaps_that_fit_neither_are_refused(self, renamed):
        people = renamed([1, 0, 3, 2, 5, 4, 7, 6, 9, 8])
        gaps = by_position(incrowd.k_gap(people, stretch=Stretch(50, 60)), people)
        with pytest.raises(ArgumentError, match="with the same stretch"):
            incrowd.dispersion(people, gaps=gaps)

    def test_of_people_with_the_same_name_are_searched_again(self, renamed):
        people = renamed(["a", "b"] * 5)
        expected = incrowd.dispersion(people, 3)
        assert incrowd.dispersion(people, 3, gaps=incrowd.k_gap(people, 3)).equals(expected)


class TestWrongUse:
    def test_gaps_of_others(self, data):
        other = incrowd.k_gap(incrowd.synthesize("city", users=9, seed=3))
        with pytest.raises(ArgumentError, match="these are of other people or k"):
            incrowd.dispersion(data, gaps=other)

    def test_gaps_with_lists_of_several_lengths(self, data):
        gaps = incrowd.k_gap(data, 4)
        first = pl.int_range(len(data)) == 0
        gaps = gaps.with_columns(
            nearest=pl.when(first).then(pl.col("nearest").list.head(2)).otherwise("nearest")
        )
        with pytest.raises(ArgumentError, match="some people have more nearest than others"):
            incrowd.dispersion(data, 3, gaps=gaps)

    def test_gaps_of_a_smaller_crowd(self, data):
        with pytest.raises(ArgumentError, match="here k is smaller"):
            incrowd.dispersion(data, 3, gaps=incrowd.k_gap(data, 2))
        with pytest.raises(ArgumentError, match="and for k = 4 or more"):
            incrowd.dispersion(data, 4, gaps=incrowd.k_gap(data, [2, 3]))

    @pytest.mark.parametrize(
        "gaps", [pl.DataFrame({"user": [1]}), pl.DataFrame({"user": [1], "nearest": [0]}), 7]
    )
    def test_no_gaps(self, data, gaps):
        with pytest.raises(ArgumentError, match="no column 'nearest'"):
            incrowd.dispersion(data, gaps=gaps)

    @pytest.mark.parametrize("who", [-1, 10, 0])
    def test_nearest_who_are_not_there(self, data, who):
        gaps = incrowd.k_gap(data).with_columns(nearest=pl.lit([who], pl.List(pl.Int64)))
        with pytest.raises(ArgumentError, match="nearest is not among them"):
            incrowd.dispersion(data, gaps=gaps)

    @pytest.mark.parametrize("k", [1, 0, 2.5, 11, 101])
    def test_k(self, data, k):
        with pytest.raises(ArgumentError, match=r"k must be|a crowd of 11 needs"):
            incrowd.dispersion(data, k)
        with pytest.raises(ArgumentError):
            incrowd.dispersion(data, k, gaps=incrowd.k_gap(data))

    def test_somebody_without_samples(self):
        none = np.empty(0, np.int32)
        data = incrowd.Trajectories((none,) * 6, np.zeros(3, np.int64))
        with pytest.raises(InputError, match="without samples"):
            incrowd.dispersion(data)

    def test_too_many_samples(self):
        people = [[(i, i + 1, 0, 1, t, t + 1) for t in range(50)] for i in range(30)]
        primes = Stretch(65_521, 16_381)
        with pytest.raises(ArgumentError, match="1,450 samples in a crowd are too much for exact"):
            incrowd.dispersion(strategies.crowded(people), 30, stretch=Stretch(6_700_417, 131_071))
        assert len(incrowd.dispersion(strategies.crowded(people), 2, stretch=primes)) == 30
