"""Everybody together before and after, beside plain Python."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from evaluate.pairs import ZONES, crowds, pairs
from incrowd import Frame, Trajectories
from incrowd.evaluate._comparison import BeforeAfter
from incrowd.evaluate._utility import aggregate
from incrowd.evaluate._utility.distributions import Tally
from strategies import random_cases


class TestTogether:
    @given(pair=pairs(), grid=st.sampled_from([1, 1.3, 5]), tz=st.sampled_from(ZONES))
    @random_cases(120)
    def test_is_what_the_words_say(self, pair, grid, tz):
        found = incrowd.utility(pair, tz=tz, grid=grid).together
        frame, sides = pair.before.frame, [crowds(data) for data in (pair.before, pair.after)]
        side = round(grid * 1000 / frame.cell)
        assert found.grid_km == side * frame.cell / 1000
        for difference, count in (
            (found.flows, lambda people: naive.trips_of(people, side)),
            (found.population, lambda people: naive.populations(people, side, frame, tz)),
            (found.visits, lambda people: naive.seen_squares(people, side)),
        ):
            before, after = (count(people) for people in sides)
            assert (difference.before, difference.after) == (before.total(), after.total())
            assert (difference.kinds_before, difference.kinds_after) == (len(before), len(after))
            assert difference.moved == naive.moved_share(before, after)
            assert difference.common == naive.common_share(before, after)
        before, after = (naive.seen_squares(people, side) for people in sides)
        expected = naive.rank_correlation(before, after)
        assert (found.rank_correlation is None) == (expected is None)
        if expected is not None:
            assert found.rank_correlation == pytest.approx(expected, abs=1e-14)

    @given(pair=pairs(), least=st.integers(1, 4))
    @random_cases(60)
    def test_the_map_shows_people_where_there_are_enough(self, pair, least):
        found = incrowd.utility(pair, least=least).together.map
        least = max(least, int(pair.after.crowd.min()))
        cell = pair.before.frame.cell
        side = round(found.side_m / cell)
        west, south = (round((edge or 0) / found.side_m) for edge in (found.west_m, found.south_m))
        sides = [
            naive.populations(crowds(data), side, data.frame, "UTC", hourly=False)
            for data in (pair.before, pair.after)
        ]
        wanted = {}
        for place, _ in sides[0].keys() | sides[1].keys():
            numbers = [people[place, 0] for people in sides]
            shown = tuple(number if number >= least else None for number in numbers)
            if shown != (None, None):
                wanted[place] = shown
        assert {(x + west, y + south): (a, b) for x, y, a, b in found.cells} == wanted
        # Nothing tells how far others went.
        for axis, size in ((0, found.columns), (1, found.rows)):
            assert {cell[axis] for cell in found.cells} >= ({0, size - 1} if wanted else set())
            assert size <= (60 if wanted else 0)
        assert (found.west_m is None) == (found.south_m is None) == (not wanted)
        assert found.least == least

    def test_the_side_of_the_map_is_round_and_no_larger_than_it_must_be(self):
        for cell, width, metres in (
            (100, 299, 500),
            (100, 300, 500),
            (100, 601, 2000),
            (100, 6001, 20_000),
            (10, 601, 500),
            (2000, 7, 2000),
            (100, 10_000_000, 20_000_000),
        ):
            ends = {"user": [1, 2], "x0": [0, width - 1], "y0": [0, 0], "t0": [0, 0]}
            data = Trajectories.from_boxes(ends, Frame(cell=cell))
            found = incrowd.utility(BeforeAfter(data, data, None), least=1).together.map
            assert (found.side_m, found.columns) == (metres, math.ceil(width * cell / metres))

    def test_a_crowd_counts_for_each_of_its_people(self):
        one = Trajectories.from_boxes({"user": [1] * 2, "x0": [0, 90], "y0": [0, 0], "t0": [0, 1]})
        five = Trajectories(one.columns, one.offsets, crowd=np.array([5], np.int32))
        found = incrowd.utility(BeforeAfter(one, five, None)).together
        for difference in (found.flows, found.population, found.visits):
            assert difference.after == 5 * difference.before
            assert difference.moved == 0

    def test_totals_of_any_size_are_exact(self):
        keys = np.array([1, 2], np.int64)
        a, b = np.array([2**61, 2**61 + 2]), np.array([2**61 + 1, 2**61 + 1])
        assert aggregate._difference(Tally(keys, a), Tally(keys, b)).moved == 1 / (2**62 + 2)

    def test_is_all_different_where_one_side_has_none(self):
        still = Trajectories.from_boxes({"user": [1], "x0": [0], "y0": [0], "t0": [0]})
        moves = Trajectories.from_boxes(
            {"user": [1] * 2, "x0": [0, 90], "y0": [0, 0], "t0": [0, 1]}
        )
        assert incrowd.utility(BeforeAfter(moves, still, None)).together.flows.moved == 1
