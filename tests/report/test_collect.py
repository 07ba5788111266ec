import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.attack import ATTACKS
from incrowd.data._frame import Frame, laea
from incrowd.errors import ColumnError
from incrowd.report._collect import KINDS, POINTS, attacked, gaps_in, spread_of, unique


@pytest.fixture(scope="module")
def town():
    return incrowd.synthesize("city", users=30, seed=3)


def table(values, **more):
    return pl.DataFrame({"k_gap": np.asarray(values, float)} | more)


def told(values, **more):
    """Tell of people about whom nothing but the k-gap is known."""
    people = pl.Series("user", range(len(values)))
    box = tuple(np.array([0, 1, 0, 1, 0, 1])[:, None].repeat(len(values), 1).astype(np.int32))
    data = incrowd.Trajectories(
        box, np.arange(len(values) + 1), Frame(laea(7.5, -5.5)),
        people=people,
    )  # fmt: skip
    return gaps_in(table(values, **more), data, incrowd.Stretch())


class TestGaps:
    def test_of_a_thousand_the_curve_ends_at_99_per_cent(self):
        curve = told(np.arange(1, 1001) / 1000).curve
        assert curve[-1] == (0.99, 0.99)
        assert curve[0] == (0.0, 0.0)
        assert len(curve) == 51

    @pytest.mark.parametrize(
        ("people", "end"), [(2000, 1980), (1000, 990), (500, 490), (100, 90), (40, 36), (9, 9)]
    )
    def test_the_last_ten_are_left_out_or_a_tenth(self, people, end):
        curve = told(np.arange(1, people + 1)).curve
        assert curve[-1][0] == end

    def test_is_monotone(self):
        found = told(np.random.default_rng(1).random(200))
        gaps, shares = zip(*found.curve, strict=True)
        assert gaps == tuple(sorted(gaps))
        assert shares == tuple(sorted(shares))

    def test_counts_those_who_are_hidden_already(self):
        assert told([0, 0, 0.5, 1]).hidden_already == 0.5
        assert told([0.1, 0.2]).hidden_already == 0

    def test_all_hidden(self):
        found = told([0.0] * 30)
        assert found.hidden_already == 1
        assert found.curve[0][1] == found.curve[-1][1] == 1
        assert found.curve[-1][0] == 1

    def test_nobodys_extreme_is_told(self):
        values = [*np.linspace(0.1, 0.2, 119), 0.987654]
        assert "0.987654" not in str(told(values))

    def test_parts_in_kilometres_and_minutes(self):
        found = told([0.3, 0.3, 0.3], spatial=[0.1, 0.1, 0.25], temporal=[0.2, 0.2, 0.05])
        # Half of the stretch is space: 0.5 is 200 cells of 100 m; half is time: 480 minutes.
        assert found.parts.median_km == pytest.approx(0.1 / 0.5 * 20)
        assert found.parts.median_minutes == pytest.approx(0.2 / 0.5 * 480)
        assert found.parts.time_above_space == pytest.approx(2 / 3)

    def test_takes_the_smallest_k_of_several(self):
        found = told([0.1, 0.2], k=[5, 5])
        assert found.k == 5
        both = pl.concat([table([0.1] * 30, k=[2] * 30), table([0.9] * 30, k=[5] * 30)])
        town = incrowd.synthesize("city", users=30, seed=3)
        assert gaps_in(both, town, incrowd.Stretch()).spread["median"] == 0.1
        assert gaps_in(both, town, incrowd.Stretch(), 5).spread["median"] == 0.9

    def test_a_table_of_something_else_is_refused(self, town):
        with pytest.raises(ColumnError, match="no column 'k_gap'"):
            gaps_in(pl.DataFrame({"gap": [1.0]}), town, incrowd.Stretch())

    def test_a_table_of_other_data_is_refused(self, town):
        with pytest.raises(ColumnError, match="29 people, the original 30"):
            gaps_in(table([0.1] * 29), town, incrowd.Stretch())
        others = table([0.1] * 30, user=[f"x{i}" for i in range(30)])
        with pytest.raises(ColumnError, match="names other people"):
            gaps_in(others, town, incrowd.Stretch())

    def test_people_in_another_order_or_as_text_are_the_same(self, town):
        measured = incrowd.k_gap(town, 2)
        backwards = measured.reverse().with_columns(pl.col("user").cast(pl.String))
        stretch = incrowd.Stretch()
        first, second = (gaps_in(each, town, stretch) for each in (measured, backwards))
        assert first.curve == second.curve

    @pytest.mark.parametrize("nearest", [[29], [0], ["somebody"]])
    def test_who_is_nearest_is_of_no_account_by_name_or_by_position(self, town, nearest):
        values = [0.1 * (i % 7) for i in range(30)]
        named = table(values, user=town.people, nearest=[nearest] * 30)
        plain = table(values, user=town.people)
        first, second = (gaps_in(each, town, incrowd.Stretch()) for each in (named, plain))
        assert first == second

    def test_spread_has_no_extremes(self):
        found = spread_of(np.arange(1.0, 11.0))
        assert found == {
            "mean": 5.5, "quarter": 3, "median": 5, "three_quarters": 8, "nine_tenths": 9,
        }  # fmt: skip


class TestUnique:
    def test_every_kind_and_number(self, town):
        rows = unique(incrowd.visits(town), 60, draws=50)
        assert [row.kind for row in rows[:: len(POINTS)]] == list(KINDS)
        assert all(0 <= row.low <= row.share <= row.high <= 1 for row in rows)

    def test_a_release_has_none(self, town):
        seen = incrowd.visits(incrowd.glove(town, k=2).trajectories)
        assert {row.share for row in unique(seen, 60, draws=50)} == {0}


class TestAttacked:
    def test_all_people_are_exact(self, town):
        found = attacked(incrowd.visits(town), 60, known=2)
        assert (found.attacked, found.people, found.known) == (30, 30, 2)
        assert [row.attack for row in found.attacks] == list(ATTACKS)
        assert all(row.low == row.told_apart == row.high for row in found.attacks)

    def test_some_people_stand_for_all(self, town):
        found = attacked(incrowd.visits(town), 60, known=2, targets=10)
        assert found.attacked == 10
        assert all(row.low <= row.told_apart <= row.high for row in found.attacks)
        assert any(row.low < row.high for row in found.attacks)

    def test_the_same_seed_draws_the_same(self, town):
        seen = incrowd.visits(town)
        one, same, other = (attacked(seen, 60, known=2, targets=7, seed=s) for s in (1, 1, 2))
        assert one == same
        assert one != other

    def test_nobody_is_re_identified_in_a_release(self, town):
        seen = incrowd.visits(incrowd.glove(town, k=2).trajectories)
        found = attacked(seen, 60, known=2)
        assert {row.told_apart for row in found.attacks} == {0}
        assert max(row.highest_risk for row in found.attacks) <= 0.5
