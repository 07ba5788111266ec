"""Which features of the data make hiding cheap: each measure against its oracle, parts by hand."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import strategies
from evaluate.utility.test_accuracy import lists, plain
from incrowd import Frame, Trajectories, glove, select, study, synthesize
from incrowd.errors import ArgumentError
from incrowd.evaluate._analysis import covariates, subsets
from incrowd.evaluate._analysis.study import EDGES, first_costs
from incrowd.evaluate._comparison import of_release
from incrowd.evaluate._correlation import pearson, spearman
from incrowd.evaluate._utility.accuracy import SPACE, TIME, accuracy
from strategies import random_cases

FRAMES = st.sampled_from([Frame(), Frame(cell=37.5, slot=7)])


@pytest.fixture(scope="module")
def city():
    """Make a small city."""
    return synthesize("city", users=60, seed=7)


class TestCovariates:
    @given(strategies.trajectories(min_people=1, frame=Frame(cell=37.5, slot=7)))
    @random_cases(60)
    def test_walks_are_those_of_the_oracle(self, data):
        found, people = covariates.covariates(data), lists(data)
        cell, slot = data.frame.cell, data.frame.slot
        assert found["travel_distance"].tolist() == [
            naive.travel_distance(boxes, cell) for boxes in people
        ]
        deviations = [naive.gap_deviation(boxes, slot) for boxes in people]
        assert np.array_equal(found["time_deviation"], deviations, equal_nan=True)
        circles = [
            (*naive.mean_place(boxes, cell), radius)
            for boxes, radius in zip(people, found["radius_of_gyration"].tolist(), strict=True)
        ]
        assert found["local_density"].tolist() == naive.local_density(circles)

    @given(
        st.lists(st.tuples(*[st.integers(0, 6)] * 2, st.integers(0, 3) | st.floats(0, 3))),
        st.integers(1, 3),
    )
    @random_cases(60)
    def test_circles_that_meet(self, circles, threads):
        columns = np.array(circles, np.float64).reshape(-1, 3).T
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(covariates, "ROWS", 2)
            found = covariates.local_density(*columns.copy(), threads=threads)
        assert found.tolist() == naive.local_density(circles)

    def test_more_circles_than_a_tile_has(self):
        rng = np.random.default_rng(1)
        x, y = rng.integers(0, 900, (2, 4 * covariates.TILE + 44)).astype(float)
        radius = rng.choice([0, 1, 7, 90, 900, 2000], len(x)).astype(float)
        x[:300], y[:300], radius[:300] = 5, 5, 0
        both = (radius[:, None] + radius) ** 2
        meet = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2 <= both
        assert covariates.local_density(x, y, radius).tolist() == (meet.sum(1) - 1).tolist()


NUMBERS = st.integers(0, 4).map(float) | st.integers(-(10**6), 10**6).map(lambda n: n / 8)


class TestCorrelations:
    @given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12))
    def test_are_those_of_the_oracle(self, drawn):
        a, b = np.array(drawn, np.float64).reshape(-1, 2).T
        # The oracle has exact fractions; SciPy's sums are rounded, and so are their products.
        expected = naive.pearson(a.tolist(), b.tolist())
        found = pearson(a, b)
        if expected is None:
            assert found is None
        else:
            assert found == pytest.approx(expected, abs=1e-9)

    @given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12))
    def test_of_ranks_are_those_of_the_oracle(self, drawn):
        a, b = np.array(drawn, np.float64).reshape(-1, 2).T
        expected = naive.spearman(a.tolist(), b.tolist())
        found = spearman(a, b)
        assert (found is None) == (expected is None)
        if found is not None:
            assert found == pytest.approx(expected, abs=1e-14)

    def test_of_a_line_and_of_its_reverse(self):
        line = np.arange(9.0)
        for found in (pearson(line, 3 * line + 1), spearman(line, line**3)):
            assert 1 - 1e-14 <= found <= 1
        for found in (pearson(line, -line), spearman(line, -line)):
            assert -1 <= found <= -1 + 1e-14

    def test_of_what_never_changes_there_is_none(self):
        assert pearson(np.ones(3), np.arange(3.0)) is None
        assert spearman(np.arange(3.0), np.ones(3)) is None
        assert pearson(np.zeros(0), np.zeros(0)) is None

    def test_ranks_of_many_people_do_not_overflow(self):
        many = np.arange(3_000_000.0)
        assert 1 - 1e-12 <= spearman(many, many) <= 1


class TestDensest:
    @given(
        st.lists(st.tuples(*[st.integers(-70, 70)] * 2), min_size=1, max_size=25),
        st.sampled_from([100.0, 3000.0, 20_000.0, 2500.0]),
    )
    @random_cases(60)
    def test_is_that_of_the_oracle(self, cells, side):
        x, y = zip(*cells, strict=True)
        data = Trajectories.from_boxes(
            {"user": [1] * len(cells), "x0": x, "y0": y, "t0": range(len(cells))}
        )
        found = subsets.densest_square(data, side)
        step = max(1, found.side // subsets.STEPS)
        assert found.side % step == 0
        expected = naive.densest_square(cells, found.side, step)
        assert (found.samples, found.x, found.y) == expected
        assert found.of(data).samples == found.samples

    def test_is_20_km_or_half_of_a_small_area(self):
        rows = {"user": [1, 1], "x0": [0, 1000], "y0": [0, 0], "t0": [0, 1]}
        assert subsets.densest_square(Trajectories.from_boxes(rows)).side == 200
        assert subsets.densest_square(Trajectories.from_boxes(rows | {"x0": [0, 99]})).side == 50

    def test_is_told_in_degrees(self, city):
        square = subsets.densest_square(city)
        inside = square.of(city)
        west, south, east, north = square.degrees(city)
        wide = 0.001
        near = select(city, bbox=(west - wide, south - wide, east + wide, north + wide))
        assert inside.samples <= near.samples <= city.samples
        assert square.degrees(strategies.crowded([[(0, 1, 0, 1, 0, 1)]])) is None


class TestParts:
    def test_first_days_and_all_of_them_once(self, city):
        found = study(city, only=["span"], spans=[1, 3, 14, 30], threads=1).span
        assert [part.name for part in found] == ["first day", "first 3 days", "all 14 days"]
        assert found[2].people == 60
        assert found[2].samples == city.samples
        start = int(city.t0.min())
        assert found[0].samples == int((city.t0 < start + 1440).sum())
        assert found[0].samples < found[1].samples

    def test_what_is_told_is_the_accuracy_of_the_part(self, city):
        found = study(city, only=["people"], shares=[0.5], seed=3, threads=1).cardinality
        part = select(city, share=0.5, seed=3)
        expected = accuracy(of_release(part, glove(part, 2, merge="two-stage")))
        assert (found[0].name, found[0].people) == ("50 % of people", 30)
        assert (found[0].space, found[0].time) == (expected.space, expected.time)

    def test_an_area_of_ones_own(self, city):
        square = subsets.densest_square(city)
        box = square.degrees(city)
        found = study(city, only="coverage", area=box, threads=1)
        assert [part.people for part in found.coverage][1] == 60
        assert found.coverage[0].samples == select(city, bbox=box).samples
        assert found.area == {"degrees": list(box), "chosen": "given"}
        assert found.span is found.frequency is None

    def test_parts_that_are_too_small_are_left_out_and_named(self, city):
        found = study(city, k=4, only="people", shares=[0.01, 0.05, 1], threads=1)
        assert [part.space is None for part in found.cardinality] == [True, True, False]
        assert found.left_out == (
            "1 % of people: left out, since one person cannot hide in a crowd of 4.",
            "5 % of people: left out, since 3 people cannot hide in a crowd of 4.",
        )
        assert found.findings()[-1] == found.left_out[-1]

    def test_an_area_with_nobody(self, city):
        found = study(city, only="coverage", area=(100, 50, 101, 51), threads=1)
        assert found.left_out == (
            "the area: left out, since no people cannot hide in a crowd of 2.",
        )


class TestFrequency:
    @pytest.mark.parametrize("k", [2, 3])
    def test_rows_of_people_who_are_seen_as_often(self, city, k):
        found = study(city, k, only=["frequency"], threads=1).frequency
        release = glove(city, k, merge="two-stage")
        became = release.assignment["trajectory"].to_list()
        after, hours = lists(release.trajectories), subsets.span_of(city)[1] * 24
        groups = {}
        for where, samples in zip(became, city.lengths().tolist(), strict=True):
            if where is not None:
                least = max(edge for edge in EDGES if edge <= samples / hours)
                groups.setdefault(least, []).append(after[where])
        told = [least for least in sorted(groups) if len(groups[least]) >= 10]
        assert told
        assert [(each.least, each.people) for each in found] == [
            (least, len(groups[least])) for least in told
        ]
        for each in found:
            rows = [naive.box_sizes(box) for boxes in groups[each.least] for box in boxes]
            space, time = zip(*rows, strict=True)
            assert plain(each.space) == naive.spread_of(list(space), 100, SPACE)
            assert plain(each.time) == naive.spread_of(list(time), 1, TIME)


class TestEffort:
    @given(strategies.grown(most=8, rarely=12, max_crowd=1), st.integers(2, 4))
    @random_cases(25)
    def test_is_the_cost_of_the_first_merge(self, data, k):
        release = glove(data, min(k, len(data)), merge="two-stage", threads=1)
        expected = naive.first_costs(len(data), release.merges.rows())
        found = [None if math.isnan(cost) else cost for cost in first_costs(len(data), release)]
        assert found == expected

    def test_is_correlated_with_what_people_are_like(self, city):
        found = study(city, only=["correlations"], threads=1).correlations
        cost = first_costs(len(city), glove(city, 2))
        values = covariates.covariates(city)
        assert [each.name for each in found] == list(covariates.COVARIATES)
        for each in found:
            assert each.people == 60
            expected = naive.pearson(values[each.name].tolist(), cost.tolist())
            assert each.pearson == pytest.approx(expected, rel=1e-9)


class TestStudy:
    def test_of_everything_is_plain_json_and_says_what_was_found(self, city):
        told = []
        found = study(
            city, spans=[1], shares=[0.5, 1], progress=lambda *far: told.append(far), threads=1
        )
        plain_values = json.loads(json.dumps(found.as_dict(), allow_nan=False))
        assert len(plain_values["findings"]) == 8
        assert plain_values["findings"][0].startswith("First day: half of the published samples")
        assert plain_values["findings"][-1].startswith("The cost of hiding a person ")
        assert plain_values["area"]["chosen"] == "densest square"
        # The whole is hidden once, though four features need it.
        assert told[0] == (0, told[-1][1])
        assert told[-1][0] == told[-1][1] < 60 * 4
        assert told == sorted(told)

    def test_of_people_who_are_all_alike(self):
        same = strategies.crowded([[(0, 1, 0, 1, 0, 1), (5, 6, 0, 1, 900, 901)]] * 12)
        found = study(same, only=["frequency", "correlations"])
        assert [each.pearson for each in found.correlations] == [None] * 4
        assert found.findings()[0].startswith("Nearly everybody is seen 0.1 to 0.2 times per hour")
        assert "it is the same for all of 12 people" in found.findings()[1]

    def test_people_without_a_sample_are_left_out(self, city):
        offsets = np.concatenate([city.offsets, city.offsets[-1:]])
        more = Trajectories(city.columns, offsets, city.frame)
        assert study(more, only="correlations") == study(city, only="correlations")


class TestWrongUse:
    @pytest.mark.parametrize(
        ("how", "text"),
        [
            ({"k": 1}, "k must be an integer of at least 2"),
            ({"k": 61}, "60 people cannot hide in a crowd of 61"),
            ({"spans": [0]}, "spans of days must be numbers above 0, not 0"),
            ({"spans": [math.nan]}, "spans of days must be numbers above 0"),
            ({"shares": [1.5]}, "shares must be numbers above 0 and up to 1, not 1.5"),
            ({"only": ["nothing"]}, "features are span, .*, not 'nothing'"),
            ({"only": []}, "features are span, .*, not nothing"),
            ({"reshape": "fold"}, "reshape must be one of"),
        ],
    )
    def test_is_refused(self, city, how, text):
        with pytest.raises(ArgumentError, match=text):
            study(city, **how)

    def test_crowds_are_no_people(self):
        crowd = strategies.crowded([[(0, 1, 0, 1, 0, 1)]] * 2, [2, 1])
        with pytest.raises(ArgumentError, match="this dataset has crowds"):
            study(crowd)
