"""Corner rows and codes are what the definition says, and no bound exceeds what boxes cost."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import incrowd
from incrowd.measure._stretch import box_bounds, partition
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.effort import Boxes
from strategies import random_cases

SMALL = 1e-9


@njit(error_model="numpy")
def look(boxes, a0, a1, na, b0, b1, nb, kd, scale, length, limit):
    """Give the row of the shorter, the codes, and all bounds of the longer."""
    row, corner_codes = np.zeros(length, np.uint8), np.zeros((len(boxes.t0), 5), np.uint16)
    box_bounds.write_corner_codes(boxes, np.int64(0), np.int64(len(boxes.t0)), kd, corner_codes)
    box_bounds.corner_row(boxes, b0, b1, kd, row)
    each = np.zeros(a1 - a0)
    box_bounds.corner_bound_each(row, corner_codes, a0, a1, na, nb, kd, scale, each)
    total = box_bounds.corner_bound(row, corner_codes, a0, a1, na, nb, kd, scale, limit)
    regions, shares = (
        np.zeros(box_bounds.DOMINANT, np.uint16),
        np.zeros(box_bounds.DOMINANT, np.float32),
    )
    box_bounds.set_dominant_corners(corner_codes, a0, a1, len(kd.x0), regions, shares)
    dominant = box_bounds.dominant_region_bound(row, regions, shares, na, nb, kd, scale)
    return row, corner_codes, each, total, regions, shares, dominant


@njit(error_model="numpy")
def regions_of(x, y, kd):
    found = np.empty(len(x), np.int64)
    for i in range(len(x)):
        found[i] = partition.kd_region(x[i], y[i], kd)
    return found


def spans(reach, longest):
    """Half-open intervals."""
    return st.tuples(st.integers(-reach, reach), st.integers(1, longest)).map(
        lambda at: (at[0], at[0] + at[1])
    )


@st.composite
def pairs(draw):
    """Two trajectories of boxes, near each other or far apart, and how stretch is measured."""
    reach = draw(st.sampled_from([3, 40, 700, 5000]))
    box = st.tuples(*(spans(reach, draw(st.sampled_from([1, 4, 900]))) for _ in range(3)))
    first = draw(st.lists(box, min_size=1, max_size=20))
    second = draw(st.lists(box, min_size=1, max_size=len(first)))
    weights = draw(st.sampled_from([(1, 1), (2, 1), (0, 1), (1, 0)]))
    stretch = Stretch(
        draw(st.sampled_from([1, 20, 127, 128, 200, 3000])),
        draw(st.sampled_from([1, 60, 480])),
        *weights,
    )
    crowds = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    return first, second, stretch, crowds, draw(st.sampled_from([1, 2, 7, 64]))


def laid(first, second, stretch, regions):
    """Give both for the kernels, in the order of time, and the partition."""
    flat = [sorted(one, key=lambda box: box[2]) for one in (first, second)]
    sides = np.array([[*x, *y, *t] for one in flat for x, y, t in one], np.int32).T
    columns = tuple(np.ascontiguousarray(side) for side in sides)
    offsets = np.array([0, len(first), len(first) + len(second)])
    scale = stretch.scale(near=True, stop=True, small=2**20)
    kd = partition.build_kd_partition(columns, offsets, scale, regions)
    none = np.zeros(0, np.uint16)
    return flat, Boxes(*columns, columns[5], none, none), scale, kd


def efforts(a, na, b, nb, scale):
    """Give the least effort of each of a's boxes with any of b's, divided by the crowd."""
    n = na + nb

    def stretched(one, two):
        around = max(one[1], two[1]) - min(one[0], two[0])
        return n * around - na * (one[1] - one[0]) - nb * (two[1] - two[0])

    def effort(one, two):
        space = min(n * scale.space, sum(stretched(one[i], two[i]) for i in (0, 1)))
        time = min(n * scale.time, stretched(one[2], two[2]))
        return Fraction(scale.space_unit * space + scale.time_unit * time, n)

    return [min(effort(one, two) for two in b) for one in a]


def apart(low, high, at):
    return max(0, low - at, at - high)


class TestBounds:
    @random_cases(1500)
    @given(pairs(), st.integers(0, 3))
    def test_cost_no_more_than_boxes(self, pair, strict):
        first, second, stretch, (na, nb), regions = pair
        (a, b), boxes, scale, kd = laid(first, second, stretch, regions)
        exact = efforts(a, na, b, nb, scale)
        limit = [np.inf, float(sum(exact)), float(sum(exact)) / 2, 0.0][strict]
        length = partition.corner_row_length(kd)
        _, _, each, total, _, _, dominant = look(
            boxes, 0, len(a), na, len(a), len(a) + len(b), nb, kd, scale, length, limit
        )
        assert all(bound <= cost + SMALL for bound, cost in zip(each, exact, strict=True))
        assert total <= sum(each) + SMALL
        assert total > limit or total >= sum(each) - SMALL
        assert dominant <= sum(each) / len(a) * (1 + 1e-6) + SMALL

    def test_of_equal_crowds_on_fine_regions_are_tight(self):
        # Regions of one cell, bins of 10 slots at starts and ends that begin bins.
        first = [((0, 4), (0, 2), (0, 10)), ((9, 10), (9, 12), (100, 110))]
        second = [((1, 4), (0, 2), (20, 30))]
        (a, b), boxes, scale, kd = laid(first, second, Stretch(127, 127), 4096)
        _, _, each, _, _, _, _ = look(
            boxes, 0, 2, 2, 2, 3, 2, kd, scale, partition.corner_row_length(kd), np.inf
        )
        # Steps of one cell and one slot; a bin may hide 9 slots at each end.
        exact = efforts(a, 2, b, 2, scale)
        hidden = 9 * scale.time_unit
        assert all(cost - hidden <= found for found, cost in zip(each, exact, strict=True))


class TestRows:
    @random_cases(300)
    @given(pairs())
    def test_definition(self, pair):
        first, second, stretch, (na, nb), regions = pair
        (a, b), boxes, scale, kd = laid(first, second, stretch, regions)
        row, corner_codes, _, _, _, _, _ = look(
            boxes, 0, len(a), na, len(a), len(a) + len(b), nb, kd, scale,
            partition.corner_row_length(kd), np.inf,
        )  # fmt: skip
        number = len(kd.x0)
        for z in range(number):
            for place, side in ((z, 0), (number + z, 1)):
                least = min(
                    apart(kd.x0[z], kd.x1[z], x[side] - side)
                    + apart(kd.y0[z], kd.y1[z], y[side] - side)
                    for x, y, _ in b
                )
                assert row[place] == min(255, least >> kd.space_shift)
        values = [
            [t[0] - kd.first for _, _, t in b],
            [t[1] - 1 - kd.first for _, _, t in b],
            [t[0] + t[1] - 1 - 2 * kd.first for _, _, t in b],
        ]
        for which, known in enumerate(values):
            step = kd.width * (2 if which == 2 else 1)
            for time_bin in range(kd.bins):
                low, high = time_bin * step, (time_bin + 1) * step - 1
                least = min(apart(low, high, at) for at in known)
                place = 2 * number + which * kd.bins + time_bin
                assert row[place] == min(255, least >> kd.time_shift)
        # Where a box of the shorter itself is looked for, it is found.
        assert not row[corner_codes[len(a) :]].any()

    @random_cases(300)
    @given(pairs())
    def test_homes_are_the_most_frequent(self, pair):
        first, second, stretch, (na, nb), regions = pair
        (a, b), boxes, scale, kd = laid(first, second, stretch, regions)
        _, corner_codes, _, _, regions, shares, _ = look(
            boxes, 0, len(a), na, len(a), len(a) + len(b), nb, kd, scale,
            partition.corner_row_length(kd), np.inf,
        )  # fmt: skip
        counts = np.bincount(corner_codes[: len(a), 0])
        most = sorted(counts[counts > 0], reverse=True)[: box_bounds.DOMINANT]
        assert [round(float(part) * len(a)) for part in shares if part] == most
        both = zip(regions, shares, strict=True)
        assert all(
            counts[dominant] == round(float(part) * len(a)) for dominant, part in both if part
        )


class TestCut:
    @random_cases(200)
    @given(pairs())
    def test_every_cell_lies_in_one_region(self, pair):
        first, second, stretch, _, regions = pair
        _, boxes, _, kd = laid(first, second, stretch, regions)
        assert len(kd.x0) <= regions
        rng = np.random.default_rng(1)
        x = rng.integers(boxes.x0.min(), boxes.x1.max(), 200).astype(np.int32)
        y = rng.integers(boxes.y0.min(), boxes.y1.max(), 200).astype(np.int32)
        inside = (
            (kd.x0 <= x[:, None]) & (x[:, None] <= kd.x1)
            & (kd.y0 <= y[:, None]) & (y[:, None] <= kd.y1)
        )  # fmt: skip
        assert (inside.sum(axis=1) == 1).all()
        assert (inside.argmax(axis=1) == regions_of(x, y, kd)).all()

    def test_a_byte_holds_twice_the_thresholds(self):
        for most in range(1, 3000):
            shift = partition._shift(2 * most)
            assert 2 * most <= 255 << shift
            assert shift == 0 or 2 * most > 255 << shift - 1

    @pytest.mark.parametrize("axis", ["x0", "y0", "t0"])
    def test_data_that_spans_too_much_has_no_corners(self, axis):
        rows = {"user": [1, 2, 3, 4, 5, 6, 7], "x0": [0] * 7, "y0": [0] * 7, "t0": [0] * 7}
        rows[axis] = [0, 1, 2**30, 2**30 + 1, 5, 6, 2**30 + 9]
        data = incrowd.Trajectories.from_boxes(rows)
        scale = Stretch().scale(near=True, stop=True, small=0)
        assert not partition.build_kd_partition(data.columns, data.offsets, scale).fits
        plain = incrowd.glove(data, 3, bounds=False)
        assert incrowd.glove(data, 3).merges.equals(plain.merges)
