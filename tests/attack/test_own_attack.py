"""Attacks of one's own: what they can combine, against the oracle, and what is refused."""

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from incrowd.attack._attacks import Attack, Frequency, Location, Proportion, Visit
from incrowd.errors import ArgumentError
from strategies import as_visits, random_cases, visited


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
    "location": (Attack, {"multiset": True}, at_most_visited),
    "frequency": (Frequency, {}, counted),
    "proportion": (Proportion, {}, counted),
}
"""Attacks that know of the most visited places only: what makes them, and what can be known."""


class TestFirst:
    @pytest.mark.parametrize("name", FIRST)
    @given(rows=visited(), first=st.integers(1, 4), k=st.integers(1, 5))
    @random_cases(300)
    def test_of_the_most_visited_places_so_many_points_are_known(self, name, rows, first, k):
        kind, attributes, points_of = FIRST[name]
        found = crowds(rows, odd(kind, top_n=first, **attributes), k)
        assert found.to_list() == left(rows, points_of, name, first)

    def test_is_the_k_that_is_told(self):
        rows = [(0, 1, 0), (0, 2, 1), (1, 1, 0)]
        table = incrowd.risk(as_visits(rows), [odd(top_n=np.int64(3))], [1, 2])
        assert table["k"].to_list() == [3, 3]


class TestCodes:
    @pytest.mark.parametrize(
        "as_given", [list, np.int8, np.uint16, np.int32, np.int64], ids=lambda kind: kind.__name__
    )
    @given(rows=visited(), k=st.integers(1, 3))
    @random_cases(30)
    def test_are_whole_numbers_of_any_kind(self, as_given, rows, k):
        def codes(_, visits):
            found = visits.place * 7 + visits.time % 7
            return found.tolist() if as_given is list else found.astype(as_given)

        coded = [(user, place * 7 + time % 7, time) for user, place, time in rows]
        for attributes, same in (
            ({"multiset": True}, "location"),
            ({}, "frequent_location"),
            ({"ordered": "time"}, "location_sequence"),
            ({"ordered": "frequency"}, "frequent_location_sequence"),
        ):
            found = crowds(rows, odd(codes=codes, **attributes), k)
            assert found.to_list() == crowds(coded, same, k).to_list()

    @pytest.mark.parametrize(
        ("codes", "says"),
        [
            (lambda visits: visits.place[:-1], "codes returned 2 integers for 3 visits"),
            (lambda visits: np.tile(visits.place, 2), "codes returned 6 integers for 3 visits"),
            (lambda visits: visits.place[:, None], "codes returned 3 integers for 3 visits"),
            (lambda _: 5, "codes returned 1 integers for 3 visits"),
            (lambda visits: visits.time / 10, "codes returned float64; it must return integers"),
            (lambda visits: visits.time > 1, "codes returned bool"),
            (lambda visits: visits.time.astype(str), "must return integers"),
            (lambda _: None, "must return integers"),
            (lambda visits: visits.time.astype(np.uint64) - np.uint64(9), "below 2"),
        ],
    )
    def test_are_one_whole_number_for_each_visit(self, codes, says):
        attack = odd(codes=lambda _, visits: codes(visits))
        with pytest.raises(ArgumentError, match=f"odd: .*{says}"):
            crowds([(0, 1, 0), (0, 2, 1), (1, 1, 0)], attack)


class TestMatchingRange:
    @pytest.mark.parametrize(
        ("attributes", "says"),
        [
            ({"matching_range": lambda *_: None}, "three things"),
            ({"matching_range": lambda _, number, __: (number, number)}, "three things"),
            (
                {"matching_range": lambda _, number, __: (number * 0.5, number, 1)},
                "returned float64",
            ),
            (
                {"matching_range": lambda _, number, __: (number[:1], number, 1)},
                "1 integers for 3 points",
            ),
            ({"matching_range": lambda _, number, __: (-number, -number, -1)}, "positive, not -1"),
            ({"matching_range": lambda _, number, __: (-number, number, 0)}, "positive, not 0"),
            (
                {
                    "matching_range": lambda _, number, __: (
                        number * 0 + np.iinfo(np.int64).min,
                        number,
                        1,
                    )
                },
                "too large",
            ),
            ({"matching_range": lambda _, number, __: (number, number + 2**62, 1)}, "too large"),
            (
                {"matching_range": lambda _, number, __: (number, number + 8, 1), "multiset": True},
                "low must be at most 1",
            ),
        ],
    )
    def test_is_three_whole_numbers_for_each_point(self, attributes, says):
        with pytest.raises(ArgumentError, match=f"odd: .*{says}"):
            crowds([(0, 1, 0), (0, 1, 1), (0, 2, 1), (1, 1, 0)], odd(**attributes))

    def test_may_be_one_number_for_all(self):
        attack = odd(matching_range=lambda _, number, __: (number, number, 1))
        rows = [(0, 1, 0), (1, 1, 0), (2, 1, 0), (2, 1, 1)]
        assert crowds(rows, attack, 1).to_list() == [2, 2, 1]


class Bare(Attack):
    """Has nothing but its codes."""


class TestWhatDoesNotGoTogether:
    @pytest.mark.parametrize(
        ("attack", "says"),
        [
            (Bare(), "Bare: it has no name; set one"),
            (odd(ordered="tiem"), "ordered must be 'time', 'frequency' or empty, not 'tiem'"),
            (odd(ordered=True), "or empty, not True"),
            (odd(ordered="time", multiset=True), "ordered cannot be combined with multiset"),
            (odd(ordered="time", normalised=True), "ordered cannot be combined with normalised"),
            (
                odd(Proportion, ordered="frequency"),
                "ordered cannot be combined with relative_to_top",
            ),
            (
                odd(Frequency, ordered="time"),
                "ordered cannot be combined with a matching_range of its own",
            ),
            (odd(top_n=0), "top_n must be a positive integer or None, not 0"),
            (odd(top_n=-2), "not -2"),
            (odd(top_n=1.5), "not 1.5"),
            (odd(top_n=True), "top_n must be a positive integer or None, not True"),
            (odd(top_n="two"), "not 'two'"),
            (odd(Proportion, top_n=0), "top_n must be a positive integer"),
            (odd(Proportion, multiset=True), "multiset cannot be combined with relative_to_top"),
            (odd(Location, normalised=True), "multiset cannot be combined with normalised"),
            (odd(normalised=True), "normalised needs a matching_range of its own"),
            (odd(relative_to_top=True), "relative_to_top needs a tolerance, as Proportion has"),
            (odd(relative_to_top=True, tolerance=None), "relative_to_top needs a tolerance"),
            (
                odd(known_fields=("place", "weather")),
                "known_fields has 'place'; it may have time, visits, of",
            ),
            (odd(known_fields=("time",)), "only a Visit knows the time"),
        ],
    )
    def test_is_refused_before_anybody_is_attacked(self, attack, says):
        seen = []
        visits = as_visits([(0, 1, 0), (0, 2, 1), (1, 1, 0)])
        with pytest.raises(ArgumentError) as error:
            incrowd.risk(visits, ["location", attack], 2, progress=lambda *far: seen.append(far))
        assert says in str(error.value)
        assert seen == []

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ({"repeated": True}, "multiset"),
            ({"divided": True}, "normalised"),
            ({"shared": True}, "relative_to_top"),
            ({"first": 2}, "top_n"),
            ({"tells": ("visits",)}, "known_fields"),
            ({"between": lambda _, count, __: (count, count, 1)}, "matching_range"),
        ],
    )
    def test_names_of_before_are_refused_with_the_new_one(self, old, new):
        """Ignored, they would silently make another attack."""
        [name] = old
        says = f"odd: the attribute '{name}' is called '{new}' now; rename it in the class"
        for attack in (odd(**old), type("Heir", (type(odd(**old)),), {})()):
            with pytest.raises(ArgumentError) as error:
                crowds([(0, 1, 0), (1, 1, 0)], attack)
            assert says in str(error.value)

    @pytest.mark.parametrize("tolerance", [2, -1, "much"])
    def test_nor_is_a_tolerance_that_is_none(self, tolerance):
        with pytest.raises(ArgumentError, match="tolerance"):
            crowds([(0, 1, 0)], odd(relative_to_top=True, tolerance=tolerance))

    def test_shared_needs_nothing_else(self):
        class Sharing(Attack):
            name = "sharing"
            relative_to_top = True
            tolerance: ClassVar[str] = "0.1"

        rows = [(0, 1, 0), (0, 1, 1), (0, 2, 2), (1, 1, 0), (1, 2, 1), (2, 1, 0)]
        assert crowds(rows, Sharing()).to_list() == crowds(rows, "proportion").to_list()

    def test_a_visit_of_ones_own_tells_the_time(self):
        found = incrowd.risk(
            as_visits([(0, 1, 5), (1, 1, 9)]), odd(Visit, known_fields=("time",)), 1, instances=True
        )
        assert [point["time"] for (point,) in found["knows"].to_list()] == [5, 9]
