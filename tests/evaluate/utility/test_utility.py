"""Each person before and after, beside plain Python; and what cannot be compared."""

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from evaluate.pairs import ZONES, crowds, pairs
from incrowd import Trajectories
from incrowd.errors import ArgumentError, DataWarning, InputError
from incrowd.evaluate._comparison import BeforeAfter, of_release
from incrowd.evaluate._utility import distributions
from incrowd.measure import _centres
from strategies import random_cases

NIGHT, WORKING = {22, 23, 0, 1, 2, 3, 4, 5}, set(range(9, 17))


def boxes_of(pair):
    """Give the boxes of everybody who is published, before and after."""
    before, after = (crowds(side) for side in (pair.before, pair.after))
    return [
        (mine, after[place][1])
        for (_, mine), place in zip(before, pair.became.tolist(), strict=True)
        if place >= 0
    ]


def expected_errors(distances):
    """Gather errors as the words say."""
    both = [error for error in distances if error is not None]
    shares = {
        limit: sum(error <= limit for error in both) / len(both) if both else None
        for limit in distributions.THRESHOLDS
    }
    return {
        "both": len(both),
        "unaffected": sum(error == 0 for error in both) / len(both) if both else None,
        "within": shares,
        "quantiles": {share: naive.quantile_of(both, share) for share in distributions.QUANTILES},
        "mean": math.fsum(both) / len(both) if both else None,
    }


def shown(errors):
    """Give what is expected of errors."""
    names = ("both", "unaffected", "within", "quantiles", "mean")
    return {name: getattr(errors, name) for name in names}


class TestErrors:
    @given(pair=pairs(known=True), tz=st.sampled_from(ZONES))
    @random_cases(120)
    def test_are_those_of_the_paper_by_the_local_clock(self, pair, tz):
        frame, people = pair.before.frame, boxes_of(pair)
        km = frame.cell / 1000
        found = incrowd.utility(pair, tz=tz).persons
        assert found.people == len(people)
        assert found.dropped == len(pair.before) - len(people)
        for errors, place in (
            (found.centre_of_mass, naive.centre_of_mass),
            (found.home, lambda boxes: naive.popular_place(boxes, NIGHT, frame, tz)),
            (found.work, lambda boxes: naive.popular_place(boxes, WORKING, frame, tz)),
        ):
            places = [[place(side) for side in both] for both in people]
            wanted = [None if None in both else naive.straight(*both) * km for both in places]
            assert shown(errors) == expected_errors(wanted)
            everybody = [place(boxes) for _, boxes in crowds(pair.before)]
            assert errors.original == sum(a is not None for a in everybody)
            for far in (0, 1, 5):
                near = sum(error is not None and error <= far for error in wanted)
                share = near / errors.original if errors.original else None
                assert errors.found_within(far) == share
            assert errors.before == sum(a is not None for a, _ in places)
            assert errors.after == sum(b is not None for _, b in places)

    def test_of_equals_the_place_that_was_first(self):
        # At 23 h and 1 h she is elsewhere than at 2 h and 3 h; twice each.
        boxes = {"user": [1] * 4, "x0": [9, 1, 9, 1], "y0": [0] * 4, "t0": [23, 25, 26, 24]}
        frame = incrowd.Frame(slot=3600)
        data = Trajectories.from_boxes(boxes, frame)
        at = Trajectories.from_boxes({"user": [1], "x0": [9], "y0": [0], "t0": [23]}, frame)
        found = incrowd.utility(BeforeAfter(data, at, np.array([0])), grid=1)
        assert found.persons.home.unaffected == 1


class TestRatios:
    @given(pair=pairs(known=True), least=st.integers(1, 3))
    @random_cases(120)
    def test_are_those_of_the_paper(self, pair, least):
        km = pair.before.frame.cell / 1000
        persons = incrowd.utility(pair, least=least).persons
        least = max(least, int(pair.after.crowd.min()))
        measures = (
            (persons.travelled, naive.travel, km),
            (persons.gyration, naive.gyration_of, km),
            (persons.hull, lambda boxes: float(naive.area_of_hull(boxes)), km**2),
        )
        for found, measure, unit in measures:
            values = [[measure(side) * unit for side in both] for both in boxes_of(pair)]
            before, after = ([both[side] for both in values] for side in (0, 1))
            moving = [(a, b) for a, b in values if a > 0]
            ratios = [b / a for a, b in moving]
            assert (found.people, found.moving) == (len(values), len(moving))
            assert found.static == len(values) - len(moving)
            assert found.static_kept == sum(a == b == 0 for a, b in values)
            assert found.vanished == sum(ratio == 0 for ratio in ratios)
            assert found.quantiles == {
                share: naive.quantile_of(ratios, share) for share in distributions.QUANTILES
            }
            assert found.near == share_of(ratios, 0.9, 1.1)
            assert found.twofold == share_of(ratios, 0.5, 2)
            across, up = axis(4), axis(10)
            cells = naive.spread_of_ratios(before, after, least, across, up)
            assert {
                (cell.low, cell.high, cell.ratio_low, cell.ratio_high): cell.people
                for cell in found.heat
            } == cells
            assert found.hidden == len(moving) - sum(cells.values())
            for one in found.bins:
                inside = [b / a for a, b in moving if one.low <= a < one.high]
                assert one.people == len(inside) >= least
                assert (one.quarter, one.median, one.three_quarters) == tuple(
                    naive.quantile_of(inside, share) for share in (0.25, 0.5, 0.75)
                )

    def test_nobody_is_shown_by_herself(self):
        city = incrowd.synthesize("city", users=30, seed=3)
        found = incrowd.utility(of_release(city, incrowd.glove(city, k=2)), least=5)
        for ratios in (found.persons.travelled, found.persons.gyration, found.persons.hull):
            assert all(cell.people >= 5 for cell in (*ratios.heat, *ratios.bins))
        numbers = [number for *_, a, b in found.together.map.cells for number in (a, b)]
        assert all(number is None or number >= 5 for number in numbers)
        assert any(number is not None for number in numbers)


def share_of(ratios, low, high):
    """Give the share of ratios in between."""
    return sum(low <= ratio <= high for ratio in ratios) / len(ratios) if ratios else None


def axis(a_decade):
    """Give edges on a logarithmic axis."""
    return [10.0 ** (step / a_decade) for step in range(-9 * a_decade, 9 * a_decade)]


class TestUtility:
    def test_the_same_before_and_after_has_lost_nothing(self):
        city = incrowd.synthesize("city", users=20, seed=3)
        found = incrowd.utility(BeforeAfter(city, city, np.arange(20)), tz="Africa/Abidjan")
        persons, together = found.persons, found.together
        for errors in (persons.centre_of_mass, persons.home, persons.work):
            assert (errors.unaffected, errors.mean) == (1, 0)
        for ratios in (persons.travelled, persons.gyration, persons.hull):
            assert ratios.near == 1
        for difference in (together.flows, together.population, together.visits):
            assert difference.moved == 0
        assert together.rank_correlation == pytest.approx(1, abs=1e-14)

    @given(pair=pairs(), tz=st.sampled_from(ZONES))
    @random_cases(15)
    def test_does_not_depend_on_threads_nor_on_blocks(self, pair, tz):
        alone = incrowd.utility(pair, tz=tz, threads=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_centres, "BLOCK", 3)
            assert incrowd.utility(pair, tz=tz, threads=3) == alone
        assert (alone.persons is None) == (pair.became is None)

    def test_words_are_of_everybody_in_the_original(self):
        """Nine of ten who are left are not nine of ten of those who were there."""
        city = incrowd.synthesize("city", users=40, seed=3)
        became = np.full(40, -1)
        became[:4] = range(4)
        found = incrowd.utility(BeforeAfter(city, city[np.arange(4)], became))
        assert found.persons.home.within[1] == 1
        said = " ".join(found.words)
        assert "36 of 40 (90.0%) people are not in the release" in said
        assert (
            "Home (where most samples from 22 to 6 h are) is found within 1 km of the true one for "
            "10.0% of all people who have one in the original, and exactly there for 10.0%."
        ) in said
        trips = found.together.flows
        printed = " ".join(repr(found).split())
        assert "people in the release 4 of 40 (10.0%)" in printed
        assert "home found within 1 km 4 of 40 (10.0%)" in printed
        assert f"trips in the release {trips.after:,} of {trips.before:,}" in printed

    @given(pair=pairs())
    @random_cases(15)
    def test_is_plain_for_machines(self, pair):
        found = incrowd.utility(pair).as_dict()
        assert json.loads(json.dumps(found, allow_nan=False)) == found

    def test_is_told_step_by_step(self):
        seen = []
        city = incrowd.synthesize("city", users=5, seed=1)
        incrowd.utility(BeforeAfter(city, city, None), progress=lambda *far: seen.append(far))
        assert seen == [(0, 6), (1, 6), (2, 6), (4, 6), (5, 6), (6, 6)]

    def test_of_one_person_with_one_sample(self):
        one = Trajectories.from_boxes({"user": [1], "x0": [3], "y0": [4], "t0": [5]})
        found = incrowd.utility(BeforeAfter(one, one, np.array([0])))
        assert (found.persons.home.both, found.persons.work.both) == (1, 0)
        assert found.persons.work.mean is None
        assert (found.persons.hull.static_kept, found.persons.hull.near) == (1, None)
        assert (found.together.flows.moved, found.together.flows.before) == (0, 0)
        assert found.together.rank_correlation is None
        assert found.together.map.cells == ()

    def test_somebody_without_a_sample_is_not_compared(self):
        one = Trajectories.from_boxes({"user": [1], "x0": [3], "y0": [4], "t0": [5]})
        two = Trajectories(one.columns, np.array([0, 1, 1]), one.frame)
        found = incrowd.utility(BeforeAfter(two, one, np.array([0, 0])))
        assert (found.persons.people, found.persons.dropped) == (1, 0)

    def test_if_nobody_known_is_published(self):
        one = Trajectories.from_boxes({"user": [1], "x0": [3], "y0": [4], "t0": [5]})
        found = incrowd.utility(BeforeAfter(one, one, np.array([-1])))
        assert (found.persons.people, found.persons.dropped) == (0, 1)
        assert found.persons.centre_of_mass.mean is None

    def test_needs_something_on_both_sides(self):
        city = incrowd.synthesize("city", users=5, seed=1)
        none = city[np.zeros(5, np.bool_)]
        with pytest.raises(InputError, match="the original has no samples"):
            incrowd.utility(BeforeAfter(none, city, None))
        with pytest.raises(InputError, match="nothing is published"):
            incrowd.utility(BeforeAfter(city, none, None))

    @pytest.mark.parametrize(
        ("wrong", "says"),
        [
            ({"tz": "Mars/Olympus"}, "unknown time zone"),
            ({"tz": "Factory"}, "unknown time zone 'Factory'"),
            ({"least": 0}, "least is 0"),
            ({"least": 2.5}, "least is 2.5"),
            ({"grid": 0.01}, "finer than the cells"),
            ({"grid": float("nan")}, "finer than the cells"),
            ({"grid": float("inf")}, "finer than the cells"),
            ({"threads": 0}, "threads must be a positive integer, or None for all cores, not 0"),
        ],
    )
    def test_refuses_what_makes_no_sense(self, wrong, says):
        city = incrowd.synthesize("city", users=5, seed=1)
        with pytest.raises(ArgumentError, match=says):
            incrowd.utility(BeforeAfter(city, city, None), **wrong)

    def test_refuses_two_grids(self):
        boxes = pl.DataFrame({"user": [1], "x0": [3], "y0": [4], "t0": [5]})
        sides = [Trajectories.from_boxes(boxes, incrowd.Frame(cell=cell)) for cell in (100, 50)]
        with pytest.raises(ArgumentError, match="one grid"):
            incrowd.utility(BeforeAfter(*sides, None))

    def test_refuses_what_lies_too_far_out(self):
        far = Trajectories.from_boxes({"user": [1], "x0": [2**30], "y0": [4], "t0": [5]})
        with pytest.raises(InputError, match="larger ones"):
            incrowd.utility(BeforeAfter(far, far, None))

    def test_squares_that_are_wider_than_the_data_are_told(self):
        data = Trajectories.from_boxes({"user": [1, 1], "x0": [0, 49], "y0": [0] * 2, "t0": [0, 9]})
        pair = BeforeAfter(data, data, np.array([0]))
        with pytest.warns(DataWarning) as told:
            incrowd.utility(pair, grid=100, tz="UTC")
        says = "grid=100 (km) is wider than the data (5 km): it is in km, and at most four squares"
        assert [str(one.message) for one in told] == [f"{says} are left"]
        assert told[0].filename == __file__

    def test_large_numbers_do_not_overflow(self):
        far = 2**28 - 2
        boxes = {"user": [1] * 4, "x0": [-far, far, far, -far], "y0": [-far, far, -far, far]}
        data = Trajectories.from_boxes(boxes | {"t0": [0, 1, 2, 3]})
        near = Trajectories.from_boxes({"user": [1], "x0": [0], "y0": [0], "t0": [0]})
        pair = BeforeAfter(data, data, np.array([0]))
        found = incrowd.utility(pair, least=1, grid=1e6)
        [[_, mine]] = crowds(data)
        [hull] = found.persons.hull.bins
        assert hull.low <= float(naive.area_of_hull(mine)) * 0.01 < hull.high
        [radius] = found.persons.gyration.bins
        assert radius.low <= naive.gyration_of(mine) * 0.1 < radius.high
        with pytest.raises(ArgumentError, match="too many squares"):
            incrowd.utility(BeforeAfter(data, near, None), grid=0.1)
