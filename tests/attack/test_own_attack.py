"""Attacks of one's own: what they can combine, against the oracle, and what is refused."""

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
import naive
from incrowd.attack._attacks import Attack, Frequency, Location, Proportion, Visit
from incrowd.errors import ArgumentError
from strategies import as_visits, visited


def odd(kind=Attack, **attributes):
    """Make an attack of one's own that differs from another kind in some attributes."""
    return type("Odd", (kind,), {"name": "odd", **attributes})()


def crowds(rows, attack, k=2, **how):
    return incrowd.risk(as_visits(rows), attack, k, instances=True, threads=1, **how)["crowd"]


def left(rows, points_of, attack, first):
    """Give the fewest whom so many of some points of each person leave: all have been tried."""
    people = naive.from_rows(rows)
    found = []
    for _, own in people:
        points = points_of(own, first)
        instances = naive.itertools.combinations(points, min(first, len(points)))
        found.append(
            min(
                sum(naive.matches(theirs, instance, attack) for _, theirs in people)
                for instance in instances
            )
        )
    return found


def most_visited(visits, first):
    return [place for place, _ in naive.frequencies(visits)[:first]]


def at_most_visited(visits, first):
    return [place for _, place in visits if place in most_visited(visits, first)]


def counted(visits, first):
    return naive.frequencies(visits)[:first]


FIRST = {
    "frequent_location": (Attack, {}, most_visited),
    "frequent_location_sequence": (Attack, {"ordered": "frequency"}, most_visited),
    "location_sequence": (Attack, {"ordered": "time"}, at_most_visited),
    "location": (Attack, {"repeated": True}, at_most_visited),
    "frequency": (Frequency, {}, counted),
    "proportion": (Proportion, {}, counted),
}
"""Attacks that know of the most visited places only: what makes them, and what can be known."""


class TestFirst:
    @pytest.mark.parametrize("name", FIRST)
    @given(rows=visited(), first=st.integers(1, 4), k=st.integers(1, 5))
    @settings(max_examples=300)
    def test_of_the_most_visited_places_so_many_points_are_known(self, name, rows, first, k):
        kind, attributes, points_of = FIRST[name]
        found = crowds(rows, odd(kind, first=first, **attributes), k)
        assert found.to_list() == left(rows, points_of, name, first)

    def test_is_the_k_that_is_told(self):
        rows = [(0, 1, 0), (0, 2, 1), (1, 1, 0)]
        table = incrowd.risk(as_visits(rows), [odd(first=np.int64(3))], [1, 2])
        assert table["k"].to_list() == [3, 3]


class TestCodes:
    @pytest.mark.parametrize(
        "as_given", [list, np.int8, np.uint16, np.int32, np.int64], ids=lambda kind: kind.__name__
    )
    @given(rows=visited(), k=st.integers(1, 3))
    @settings(max_examples=30)
    def test_are_whole_numbers_of_any_kind(self, as_given, rows, k):
        def codes(_, visits):
            found = visits.place * 7 + visits.time % 7
            return found.tolist() if as_given is list else found.astype(as_given)

        coded = [(user, place * 7 + time % 7, time) for user, place, time in rows]
        for attributes, same in (
            ({"repeated": True}, "location"),
            ({}, "frequent_location"),
            ({"ordered": "time"}, "location_sequence"),
            ({"ordered": "frequency"}, "frequent_location_sequence"),
        ):
            found = crowds(rows, odd(codes=codes, **attributes), k)
            assert found.to_list() == crowds(coded, same, k).to_list()

    @pytest.mark.parametrize(
        ("codes", "says"),
        [
            (lambda visits: visits.place[:-1], "codes gives 2 numbers for 3 visits"),
            (lambda visits: np.tile(visits.place, 2), "codes gives 6 numbers for 3 visits"),
            (lambda visits: visits.place[:, None], "codes gives 3 numbers for 3 visits"),
            (lambda _: 5, "codes gives 1 numbers for 3 visits"),
            (lambda visits: visits.time / 10, "codes gives float64, and must give whole numbers"),
            (lambda visits: visits.time > 1, "codes gives bool"),
            (lambda visits: visits.time.astype(str), "whole numbers"),
            (lambda _: None, "whole numbers"),
            (lambda visits: visits.time.astype(np.uint64) - np.uint64(9), "beyond 64 bits"),
        ],
    )
    def test_are_one_whole_number_for_each_visit(self, codes, says):
        attack = odd(codes=lambda _, visits: codes(visits))
        with pytest.raises(ArgumentError, match=f"odd: .*{says}"):
            crowds([(0, 1, 0), (0, 2, 1), (1, 1, 0)], attack)


class TestBetween:
    @pytest.mark.parametrize(
        ("attributes", "says"),
        [
            ({"between": lambda *_: None}, "three things"),
            ({"between": lambda _, number, __: (number, number)}, "three things"),
            ({"between": lambda _, number, __: (number * 0.5, number, 1)}, "gives float64"),
            ({"between": lambda _, number, __: (number[:1], number, 1)}, "1 numbers for 3 points"),
            ({"between": lambda _, number, __: (-number, -number, -1)}, "divides by -1"),
            ({"between": lambda _, number, __: (-number, number, 0)}, "divides by 0"),
            (
                {"between": lambda _, number, __: (number * 0 + np.iinfo(np.int64).min, number, 1)},
                "too large",
            ),
            ({"between": lambda _, number, __: (number, number + 2**62, 1)}, "too large"),
            (
                {"between": lambda _, number, __: (number, number + 8, 1), "repeated": True},
                "with 1",
            ),
        ],
    )
    def test_is_three_whole_numbers_for_each_point(self, attributes, says):
        with pytest.raises(ArgumentError, match=f"odd: .*{says}"):
            crowds([(0, 1, 0), (0, 1, 1), (0, 2, 1), (1, 1, 0)], odd(**attributes))

    def test_may_be_one_number_for_all(self):
        attack = odd(between=lambda _, number, __: (number, number, 1))
        rows = [(0, 1, 0), (1, 1, 0), (2, 1, 0), (2, 1, 1)]
        assert crowds(rows, attack, 1).to_list() == [2, 2, 1]


class Bare(Attack):
    """Has nothing but its codes."""


class TestWhatDoesNotGoTogether:
    @pytest.mark.parametrize(
        ("attack", "says"),
        [
            (Bare(), "Bare: it has no name"),
            (odd(ordered="tiem"), "ordered is 'tiem'; it is 'time' or 'frequency', or empty"),
            (odd(ordered=True), "ordered is True"),
            (odd(ordered="time", repeated=True), "ordered does not go with repeated"),
            (odd(ordered="time", divided=True), "ordered does not go with divided"),
            (odd(Proportion, ordered="frequency"), "ordered does not go with shared"),
            (odd(Frequency, ordered="time"), "ordered does not go with a between of its own"),
            (odd(first=0), "first is 0; it is a whole number from 1 on, or None"),
            (odd(first=-2), "first is -2"),
            (odd(first=1.5), "first is 1.5"),
            (odd(first=True), "first is True"),
            (odd(first="two"), "first is 'two'"),
            (odd(Proportion, first=0), "first is 0"),
            (odd(Proportion, repeated=True), "repeated does not go with shared"),
            (odd(Location, divided=True), "repeated does not go with divided"),
            (odd(divided=True), "divided needs a between of its own"),
            (odd(shared=True), "shared needs a tolerance, as Proportion has"),
            (odd(shared=True, tolerance=None), "shared needs a tolerance"),
            (odd(tells=("place", "weather")), "it tells 'place'; there are time, visits, of"),
            (odd(tells=("time",)), "only a Visit tells the time"),
        ],
    )
    def test_is_refused_before_anybody_is_attacked(self, attack, says):
        seen = []
        visits = as_visits([(0, 1, 0), (0, 2, 1), (1, 1, 0)])
        with pytest.raises(ArgumentError) as error:
            incrowd.risk(visits, ["location", attack], 2, progress=lambda *far: seen.append(far))
        assert says in str(error.value)
        assert seen == []

    @pytest.mark.parametrize("tolerance", [2, -1, "much"])
    def test_nor_is_a_tolerance_that_is_none(self, tolerance):
        with pytest.raises(ArgumentError, match="tolerance"):
            crowds([(0, 1, 0)], odd(shared=True, tolerance=tolerance))

    def test_shared_needs_nothing_else(self):
        class Sharing(Attack):
            name = "sharing"
            shared = True
            tolerance: ClassVar[str] = "0.1"

        rows = [(0, 1, 0), (0, 1, 1), (0, 2, 2), (1, 1, 0), (1, 2, 1), (2, 1, 0)]
        assert crowds(rows, Sharing()).to_list() == crowds(rows, "proportion").to_list()

    def test_a_visit_of_ones_own_tells_the_time(self):
        found = incrowd.risk(
            as_visits([(0, 1, 5), (1, 1, 9)]), odd(Visit, tells=("time",)), 1, instances=True
        )
        assert [point["time"] for (point,) in found["knows"].to_list()] == [5, 9]
