from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import naive
import strategies
from incrowd.errors import ArgumentError
from incrowd.measure._stretch import effort
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.index import boxes_of
from strategies import random_cases

CROWD = st.integers(1, 9)
SETTINGS = strategies.settings()
BOX = st.one_of(
    strategies.boxes(), strategies.boxes(), strategies.boxes(cells=400, slots=900, longest=300)
)
CELL = st.one_of(strategies.boxes(longest=1), strategies.boxes(cells=300, slots=700, longest=1))
FAR = 2**31 - 2


def times(*spans):
    """Make boxes of one cell that last as long as the spans."""
    return [(0, 1, 0, 1, *span) for span in spans]


def whole(a, b, na, nb, given):
    """Give the effort of two samples and its scale, by the reduced formula in integers."""
    n, s, t = na + nb, given.max_space, given.max_time
    spaces, spans = [], []
    for box in (a, b, naive.bounding([a, b])):
        x0, x1, y0, y1, t0, t1 = box
        spaces.append((x1 - x0) + (y1 - y0))
        spans.append(t1 - t0)
    effort = given.space_weight * t * min(
        n * s, n * spaces[2] - na * spaces[0] - nb * spaces[1]
    ) + given.time_weight * s * min(n * t, n * spans[2] - na * spans[0] - nb * spans[1])
    return effort, (given.space_weight + given.time_weight) * n * s * t


def taxicab(a, b, given):
    """Give the distance of two cells as it was before boxes had a size."""
    space = abs(a[0] - b[0]) + abs(a[2] - b[2])
    time = abs(a[4] - b[4])
    return (
        Fraction(min(space, given.max_space), given.max_space)
        + Fraction(min(time, given.max_time), given.max_time)
    ) / 2


class TestSamples:
    @random_cases(500)
    @given(BOX, BOX, CROWD, CROWD, SETTINGS)
    def test_are_the_equations(self, a, b, na, nb, given):
        assert Stretch(*given).samples(a, b, na, nb) == naive.sample_stretch(a, b, na, nb, given)

    @given(BOX, BOX, CROWD, CROWD, SETTINGS)
    def test_the_equations_reduce_to_whole_numbers(self, a, b, na, nb, given):
        effort = naive.sample_effort(a, b, na, nb, given)
        assert effort == Fraction(*whole(a, b, na, nb, given))

    @given(BOX, BOX, CROWD, CROWD, SETTINGS)
    def test_do_not_depend_on_who_is_first(self, a, b, na, nb, given):
        stretch = Stretch(*given)
        assert stretch.samples(a, b, na, nb) == stretch.samples(b, a, nb, na)

    @given(BOX, BOX, CROWD, CROWD, SETTINGS)
    def test_are_from_0_for_equal_to_the_weight(self, a, b, na, nb, given):
        weights = given.space_weight + given.time_weight
        space, time = Stretch(*given).samples(a, b, na, nb)
        assert 0 <= space <= Fraction(given.space_weight, weights)
        assert 0 <= time <= Fraction(given.time_weight, weights)
        assert (space == 0) == (a[:4] == b[:4] or not given.space_weight)
        assert (time == 0) == (a[4:] == b[4:] or not given.time_weight)

    @given(CELL, CELL, CROWD, CROWD, SETTINGS)
    def test_of_single_cells_are_taxicab_distances(self, a, b, na, nb, given):
        given = given._replace(space_weight=1, time_weight=1)
        # Each covers the other by the same stretch, so it does not matter how many they are.
        assert sum(Stretch(*given).samples(a, b, na, nb)) == taxicab(a, b, given)

    def test_one_stretches_and_the_other_stays(self):
        small, large = (4, 5, 7, 8, 60, 61), (0, 10, 5, 10, 60, 70)
        # The small one grows by 9 cells in x and 4 in y and by 9 slots; the large one stays.
        for na, nb in ((1, 1), (1, 2), (5, 1)):
            share = Fraction(na, na + nb)
            assert Stretch().samples(small, large, na, nb) == (
                share * 13 / 200 / 2,
                share * 9 / 480 / 2,
            )

    def test_both_stretch(self):
        a, b = (0, 2, 0, 2, 0, 5), (1, 5, 1, 3, 2, 6)
        # In space a grows by 3 + 1 and b by 1 + 1; in time a by 1 and b by 2.
        assert Stretch().samples(a, b, 3, 1) == (
            (4 * Fraction(3, 4) + 2 * Fraction(1, 4)) / 200 / 2,
            (1 * Fraction(3, 4) + 2 * Fraction(1, 4)) / 480 / 2,
        )

    @pytest.mark.parametrize("distance", [199, 200, 201])
    def test_are_clipped_at_the_thresholds(self, distance):
        a, b = (0, 1, 0, 1, 0, 1), (distance, distance + 1, 0, 1, 480, 481)
        assert Stretch().samples(a, b) == (Fraction(min(distance, 200), 400), Fraction(1, 2))

    def test_weights_are_shares(self):
        a, b = (0, 1, 0, 1, 0, 1), (1, 2, 0, 1, 1, 2)
        assert Stretch(2, 4, 3, 1).samples(a, b) == (
            Fraction(3, 4) * Fraction(1, 2),
            Fraction(1, 4) * Fraction(1, 4),
        )

    def test_far_apart_do_not_overflow(self):
        a = (-FAR, 1 - FAR, -FAR, FAR, -FAR, 1 - FAR)
        b = (FAR, FAR + 1, -FAR, 1 - FAR, FAR, FAR + 1)
        for na, nb in ((1, 1), (1, 50_000_000)):
            assert Stretch().samples(a, b, na, nb) == naive.sample_stretch(a, b, na, nb)


class TestTrajectories:
    @random_cases(300)
    @given(strategies.collisions(most=2, rarely=2), SETTINGS)
    def test_are_the_equation(self, data, given):
        (_, a), (_, b), *_ = naive.people_of(data)
        n, m, *_ = data.crowd.tolist()
        expected = naive.trajectory_stretch(a, b, n, m, given)
        assert Stretch(*given).trajectories(data, 0, 1) == expected
        assert sum(naive.trajectory_parts(a, b, n, m, given)) == expected

    @given(strategies.collisions(most=5, rarely=5), SETTINGS)
    def test_do_not_depend_on_who_is_first(self, data, given):
        stretch, last = Stretch(*given), len(data) - 1
        assert stretch.trajectories(data, 0, last) == stretch.trajectories(data, last, 0)

    @given(strategies.grown(most=2, rarely=2, original=True), SETTINGS)
    def test_of_single_cells_are_means_of_taxicab_distances(self, data, given):
        given = given._replace(space_weight=1, time_weight=1)
        (_, a), (_, b) = naive.people_of(data)
        longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
        distances = [min(taxicab(cell, other, given) for other in shorter) for cell in longer]
        stretch = Stretch(*given)
        assert stretch.trajectories(data, 0, 1) == sum(distances) / len(longer)

    def test_every_sample_of_the_longer_goes_to_its_nearest(self):
        data = strategies.crowded([times((3, 4), (10, 11)), times((0, 1), (4, 5), (9, 10))])
        assert Stretch().trajectories(data, 0, 1) == Fraction(3 + 1 + 1, 3 * 480 * 2)

    def test_of_equal_length_the_older_is_the_longer(self):
        data = strategies.crowded([times((0, 1), (1, 2)), times((0, 1), (9, 10))])
        assert Stretch().trajectories(data, 0, 1) == Fraction(0 + 1, 2 * 480 * 2)
        data = strategies.crowded([times((0, 1), (9, 10)), times((0, 1), (1, 2))])
        assert Stretch().trajectories(data, 0, 1) == Fraction(0 + 8, 2 * 480 * 2)

    def test_crowds_weigh(self):
        people = [times((0, 10)), times((4, 5))]
        for n, m in ((1, 1), (3, 2), (1, 7)):
            data = strategies.crowded(people, [n, m])
            assert Stretch().trajectories(data, 0, 1) == Fraction(9 * m, (n + m) * 480 * 2)

    def test_far_apart_do_not_overflow(self):
        near, far = (-FAR, 1 - FAR, -FAR, 1 - FAR, -FAR, 1 - FAR), (FAR, FAR + 1) * 3
        assert Stretch().trajectories(strategies.crowded([[near], [far]]), 0, 1) == 1


@njit(error_model="numpy")
def matches(boxes, a0, a1, na, b0, b1, nb, scale, is_unit):
    """Find which of b's samples each of a's goes to."""
    found, at = np.empty(a1 - a0, np.int64), b0
    for i in range(a0, a1):
        while at < b1 and boxes.t0[at] < boxes.t0[i]:
            at += 1
        if is_unit:
            found[i - a0] = effort.nearest_sample_unit(boxes, i, b0, b1, at, scale) - b0
        else:
            _, j = effort.nearest_sample(boxes, i, na, boxes, b0, b1, at, nb, scale)
            found[i - a0] = j - b0
    return found


class TestMatches:
    """Of equally cheap samples the first is taken, whichever way the scan comes to it."""

    def same(self, data, given, *, is_unit, near=True):
        (_, a), (_, b), *_ = naive.people_of(data)
        n, m, *_ = data.crowd.tolist()
        cuts, scale = data.offsets, Stretch(*given).scale(near=near, small=2**20)
        found = matches(boxes_of(data), cuts[0], cuts[1], n, cuts[1], cuts[2], m, scale, is_unit)
        assert found.tolist() == [naive.cheapest(box, b, n, m, given) for box in a]

    @random_cases(300)
    @given(strategies.collisions(most=2, rarely=2), SETTINGS, st.booleans())
    def test_of_boxes(self, data, given, near):
        self.same(data, given, is_unit=False, near=near)

    @random_cases(300)
    @given(
        strategies.grown(
            most=2, rarely=2, original=True, max_crowd=1, lengths=(1, 2, 4, 6, 40, 70)
        ),
        SETTINGS,
    )
    def test_of_unit_samples(self, data, given):
        self.same(data, given, is_unit=True)
        self.same(data, given, is_unit=False)


class TestWhatIsRefused:
    @pytest.mark.parametrize("value", [0, -1, 2.5, 200.0, None, "200", True, float("nan")])
    @pytest.mark.parametrize("name", ["max_space", "max_time"])
    def test_thresholds_that_are_no_numbers_of_cells_or_slots(self, name, value):
        with pytest.raises(ArgumentError, match=f"{name} must be an integer of at least 1"):
            Stretch(**{name: value})

    @pytest.mark.parametrize("weights", [(0, 0), (-1, 2), (1, 0.5), (True, 1), (None, 1)])
    def test_weights_that_weigh_nothing_or_in_parts(self, weights):
        with pytest.raises(ArgumentError, match="weights must be whole numbers, not negative"):
            Stretch(200, 480, *weights)
