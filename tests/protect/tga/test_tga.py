"""TGA against its slow and obvious version, by ==."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import strategies
from incrowd.protect._tga.bounds import PLACES, places_of
from incrowd.protect._tga.costs import NEVER, TABLE, costs_of
from incrowd.protect._tga.crowds import crowds_of
from incrowd.protect._tga.matching import matched
from incrowd.protect._tga.search import People, places_bounds, times_bounds
from strategies import DEEP, random_cases


@st.composite
def everybody(draw, *, least=2, most=7, longest=1, points=6, long=0):
    """Draw the boxes of some people, many of them equal; with one box or some each."""
    cells, slots = draw(
        st.sampled_from([(0, 2), (1, 3), (3, 8), (40, 40), (3000, 9), (7 * TABLE, 5 * TABLE)])
    )
    side = lambda most: st.tuples(st.integers(0, most), st.integers(1, longest)).map(  # noqa: E731
        lambda s: (s[0], s[0] + s[1])
    )
    box = st.tuples(side(cells), side(cells), side(slots)).map(lambda s: (*s[0], *s[1], *s[2]))
    one = st.lists(box, min_size=draw(st.sampled_from([1, long or 1])), max_size=points).map(
        lambda boxes: sorted(set(boxes), key=naive.in_time)
    )
    people = draw(st.lists(one, min_size=least, max_size=most))
    if len(people) > least and draw(st.booleans()):
        people[-1] = people[0]
    return people


def made(people, crowd, k, variant, order, *, threads=1, bounded=True):
    data = strategies.crowded(people, crowd)
    found = crowds_of(
        data, costs_of(data), np.array(order), k, variant, threads=threads, bounded=bounded
    )
    crowds = [
        (list(crowd.members), list(zip(*crowd.boxes.tolist(), strict=True)))
        for crowd in found.crowds
    ]
    return crowds, found.late


def searched(people, crowd):
    """Give people as they are searched, and what boxes cost."""
    data = strategies.crowded(people, crowd)
    places = places_of(data.columns, data.offsets)
    found = People(data.columns, data.offsets, data.crowd.astype(np.int64), places)
    return found, costs_of(data)


def pair(people, crowd):
    """Give what the obvious version says of two people: cost and boxes."""
    a, b = people
    domain = naive.domain_of(enumerate(people))
    cost, pairs = naive.log_cost(a, b, *crowd, domain)
    return cost, [naive.hull(a[i], b[j]) for i, j in pairs]


def point(x, y, t):
    return (x, x + 1, y, y + 1, t, t + 1)


A = [point(0, 0, 0), point(5, 0, 10), point(9, 0, 20)]
B = [point(0, 1, 1), point(9, 2, 19)]


class TestObvious:
    """The obvious version is what it says."""

    def test_has_the_value_that_was_worked_out_by_hand(self):
        cost, pairs = naive.log_cost(A, B, 1, 1, (100, 100, 100))
        assert round(cost / 2**32, 6) == 20.171618
        assert pairs == [(0, 0), (2, 1)]

    @random_cases(500)
    @given(everybody(most=2, longest=3, points=4), st.integers(1, 3), st.integers(1, 3))
    def test_is_the_best_of_all_matchings(self, people, people_a, people_b):
        a, b = people
        sizes, domain = (people_a, people_b), naive.domain_of(enumerate(people))
        every = {
            tuple(pairs): naive.matching_cost(pairs, a, b, *sizes, domain)
            for pairs in naive.order_preserving_matchings(len(a), len(b))
        }
        cost, pairs = naive.log_cost(a, b, *sizes, domain)
        assert cost == min(every.values()) == every[tuple(pairs)]
        assert pairs  # to match is never dearer than to suppress both

    def test_prefers_matches_from_the_last_points_back(self):
        same = [point(0, 0, 0)]
        # Of the two equal points of a, the last one is matched.
        assert naive.log_cost(same * 2, same, 1, 1, (1, 1, 1))[1] == [(1, 0)]
        # All costs are 0 here: matches, as many as can be.
        assert naive.log_cost(same * 2, same * 2, 1, 1, (1, 1, 1))[1] == [(0, 0), (1, 1)]


class TestMatching:
    @random_cases(1000, deadline=None)
    @given(everybody(most=2, longest=4, points=8), st.integers(1, 3), st.integers(1, 3))
    def test_is_exact_up_to_the_limit(self, people, people_a, people_b):
        crowd = people_a, people_b
        found, costs = searched(people, crowd)
        cost, boxes = pair(people, crowd)
        for limit in (cost, cost + 1, 2 * cost + 7, int(NEVER) - 1):
            least, columns = matched(found.side(0), found.side(1), costs, limit)
            assert (least, list(zip(*columns.tolist(), strict=True))) == (cost, boxes)
        assert matched(found.side(0), found.side(1), costs, cost - 1)[0] == NEVER

    def test_of_long_trajectories_is_too(self):
        dice = np.random.default_rng(1)
        for n, m in ((60, 60), (70, 25), (1, 80), (80, 1)):
            people = [
                sorted(
                    {point(*one) for one in dice.integers(0, (300, 200, 900), (size, 3)).tolist()}
                )
                for size in (n, m)
            ]
            people = [sorted(boxes, key=naive.in_time) for boxes in people]
            found, costs = searched(people, (1, 2))
            cost, boxes = pair(people, (1, 2))
            least, columns = matched(found.side(0), found.side(1), costs, cost)
            assert (least, list(zip(*columns.tolist(), strict=True))) == (cost, boxes)
            assert matched(found.side(0), found.side(1), costs, cost - 1)[0] == NEVER

    def test_of_nothing_suppresses_everything(self):
        found, costs = searched([A, B], (1, 1))
        nothing = found.side(0)._replace(last=found.side(0).first)
        nothing = nothing._replace(points=np.zeros(PLACES, np.int64))
        cost, boxes = matched(nothing, found.side(1), costs, int(NEVER) - 1)
        assert (cost, boxes.shape) == (2 * costs.suppressed, (6, 0))


class TestBounds:
    @random_cases(500, deadline=None)
    @given(everybody(most=2, longest=4, points=40, long=20), st.integers(1, 3), st.integers(1, 3))
    def test_are_never_above_the_cost(self, people, people_a, people_b):
        crowd = people_a, people_b
        found, costs = searched(people, crowd)
        cost, _ = pair(people, crowd)
        for one in (0, 1):
            other = np.array([1 - one])
            places = places_bounds(found.side(one), other, found, costs)[0]
            times = times_bounds(found.side(one), other, found, costs)[0]
            assert 0 <= places <= cost
            assert 0 <= times <= cost

    def test_are_exact_where_they_can_be(self):
        """A bound that is always nothing would hold as well."""
        far = [[point(0, 0, 0), point(0, 0, 5)], [point(99, 49, 7)]]
        found, costs = searched(far, (1, 1))
        cost, _ = pair(far, (1, 1))
        one, other = found.side(0), np.array([1])
        space = naive.log_units(100) + naive.log_units(50)
        assert places_bounds(one, other, found, costs)[0] == 2 * space + costs.suppressed
        near = naive.log_units(3)
        assert times_bounds(one, other, found, costs)[0] == cost
        assert cost == 2 * (space + near) + costs.suppressed

    @random_cases(200, deadline=None)
    @given(everybody(most=3, longest=4, points=40, long=20))
    def test_places_hold_their_boxes(self, people):
        data = strategies.crowded(people)
        code, sides, points = places_of(data.columns, data.offsets)
        for person, boxes in enumerate(people):
            first = data.offsets[person]
            count = [0] * PLACES
            for i, (x0, x1, y0, y1, *_) in enumerate(boxes):
                at = code[first + i]
                count[at] += 1
                low_x, high_x, low_y, high_y, wide, high = sides[person, at]
                assert low_x <= x0 < x1 <= high_x
                assert low_y <= y0 < y1 <= high_y
                assert wide <= x1 - x0
                assert high <= y1 - y0
            assert points[person].tolist() == count
            used = sum(1 for number in count if number)
            assert all(count[:used])  # those that are not there come last
            assert used == min(PLACES, len({box[:4:2] for box in boxes}))


class TestCosts:
    @pytest.mark.parametrize("span", [1, 2, 500, TABLE - 1, TABLE, 3 * TABLE + 5, 2**32 - 2])
    def test_of_wide_spans_are_those_of_their_first_digits(self, span):
        low = -(2**31) + 1
        boxes = [(low, low + 1, 0, 1, 0, 1), (low + span - 1, low + span, 0, 1, 0, 1)]
        costs = costs_of(strategies.crowded([boxes]))
        assert costs.suppressed == naive.log_units(span)
        assert abs(costs.suppressed / 2**32 - np.log(span)) < 2e-6


class TestCrowds:
    @random_cases(1000 if DEEP else 250, deadline=None)
    @given(everybody(), st.data(), st.sampled_from(["multi", "fast"]))
    def test_are_those_of_the_obvious_version(self, people, data, variant):
        self.same(people, [1] * len(people), data, variant)

    @random_cases(500 if DEEP else 250, deadline=None)
    @given(everybody(longest=4), st.data(), st.sampled_from(["multi", "fast"]))
    def test_of_boxes_and_of_crowds_are_too(self, people, data, variant):
        sizes = st.lists(st.integers(1, 3), min_size=len(people), max_size=len(people))
        self.same(people, data.draw(sizes), data, variant)

    def same(self, people, crowd, data, variant):
        k = data.draw(st.integers(2, max(2, sum(crowd))).filter(lambda k: k <= sum(crowd)))
        order = data.draw(st.permutations(range(len(people))))
        asked = (people, crowd, k, variant, order)
        expected = naive.tga([(i, boxes) for i, boxes in enumerate(people)], *asked[1:])
        assert made(*asked) == expected
        assert made(*asked, bounded=False) == expected
        assert made(*asked, threads=3) == expected
