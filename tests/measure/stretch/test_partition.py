"""Regions hold the cells that they say, and distance rows are what the definition says."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from incrowd.measure._stretch import lower_bounds, partition
from incrowd.measure._stretch.batch_bounds import CHUNK, TILE_WIDTH, TILES, tile_position
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.effort import Boxes
from strategies import random_cases


@njit(error_model="numpy")
def row_of(boxes, start, end, crowd, parts, scale):
    row = np.zeros(parts.regions + parts.bins, np.uint8)
    partition.distance_row(boxes, start, end, crowd, parts, scale, row)
    return row


def spans(reach, longest):
    """Half-open intervals."""
    return st.tuples(st.integers(-reach, reach), st.integers(1, longest)).map(
        lambda at: (at[0], at[0] + at[1])
    )


@st.composite
def samples(draw):
    """Boxes of somebody, others who are there as well, and how they are cut into regions."""
    reach = draw(st.sampled_from([2, 30, 700]))
    longest = draw(st.sampled_from([1, 1, 4, 60]))
    box = st.tuples(*(spans(reach, longest) for _ in range(3)))
    own, others = (draw(st.lists(box, min_size=1, max_size=12)) for _ in range(2))
    stretch = Stretch(
        draw(st.sampled_from([1, 20, 200, 3000])), draw(st.sampled_from([1, 60, 480]))
    )
    sizes = {
        "regions": draw(st.sampled_from([1, 3, 64])),
        "bins": draw(st.sampled_from([1, 5, 999])),
    }
    return own, others, stretch, sizes, draw(st.integers(1, 4)), draw(st.booleans())


def around(low, high, start, end):
    """Give the length of the span around a cell of [low, high) as near as can be, and a span."""
    at = min(max(start, low), high - 1)
    return max(at + 1, end) - min(at, start)


class TestDistanceRows:
    @random_cases(2000)
    @given(samples())
    def test_definition(self, case):
        own, others, stretch, sizes, crowd, whole = case
        sides = np.array([[*x, *y, *t] for x, y, t in own + others], np.int32).T
        columns = tuple(np.ascontiguousarray(side) for side in sides)
        scale = stretch.scale(near=True, stop=True, small=2**20)
        parts, region, time_bin = partition.build_partition(columns, scale, whole=whole, **sizes)
        boxes = Boxes(*columns, columns[5], region, time_bin)
        row = row_of(boxes, 0, len(own), crowd, parts, scale)
        thin = parts.thin_x, parts.thin_y, parts.thin_t
        # Every box is taken as much narrower as the narrowest is beyond one cell.
        x, y, t = ([(s[i][0], s[i][1] - thin[i]) for s in own] for i in range(3))
        n = 1 + crowd
        for r in range(parts.regions):
            least = min(
                n * (around(parts.x0[r], parts.x1[r], *a) + around(parts.y0[r], parts.y1[r], *b))
                - crowd * (a[1] - a[0] + b[1] - b[0]) - 2
                for a, b in zip(x, y, strict=True)
            )  # fmt: skip
            expected = min(scale.space, int(Fraction(int(least), n))) // parts.space_step
            assert row[r] == expected
        for b in range(parts.bins):
            low = parts.first + b * parts.width
            least = min(
                n * around(low, low + parts.width, *a) - crowd * (a[1] - a[0]) - 1 for a in t
            )
            expected = min(scale.time, int(Fraction(int(least), n))) // parts.time_step
            assert row[parts.regions + b] == expected

    @random_cases(100)
    @given(samples())
    def test_samples_lie_where_it_says(self, case):
        own, others, stretch, sizes, _, whole = case
        sides = np.array([[*x, *y, *t] for x, y, t in own + others], np.int32).T
        columns = tuple(np.ascontiguousarray(side) for side in sides)
        scale = stretch.scale(near=True, stop=True, small=2**20)
        parts, region, time_bin = partition.build_partition(columns, scale, whole=whole, **sizes)
        x0, _, y0, _, t0, t1 = columns
        assert ((parts.x0[region] <= x0) & (x0 < parts.x1[region])).all()
        assert ((parts.y0[region] <= y0) & (y0 < parts.y1[region])).all()
        middle = (t0 + t1 - 1 - parts.thin_t) // 2
        opens = parts.first + time_bin.astype(int) * parts.width
        assert ((opens <= middle) & (middle < opens + parts.width)).all()
        assert parts.regions == len(parts.x0) <= sizes["regions"]
        assert time_bin.max() < parts.bins


class TestRegions:
    def test_are_single_cells_where_there_are_few(self):
        x, y = np.array([0, 0, 5, 9]), np.array([0, 7, 5, 9])
        region, (x0, x1, y0, y1) = partition.regions_of(x, y, np.ones(4, int), 10)
        assert sorted(region) == [0, 1, 2, 3]
        assert (x0[region] == x).all()
        assert (y0[region] == y).all()
        assert (x1 - x0 == 1).all()
        assert (y1 - y0 == 1).all()

    def test_are_halved_where_the_weight_is(self):
        x = np.arange(100)
        weight = np.where(x < 10, 1000, 1)
        region, (x0, x1, _, _) = partition.regions_of(x, np.zeros(100, int), weight, 4)
        # Half of the weight on either side, each time.
        assert (x0.tolist(), x1.tolist()) == ([0, 5, 8, 9], [5, 8, 9, 100])
        assert region[:10].tolist() == [0] * 5 + [1] * 3 + [2, 3]

    @pytest.mark.parametrize(
        ("at", "weight", "cut"),
        [
            ([0, 9], [1, 1], 1),
            ([0, 9], [1, 5], 9),
            ([0, 4, 9], [1, 9, 1], 5),  # as even before it as behind it: more is cut off behind
            ([0, 5, 9], [1, 9, 1], 5),
            ([0, 4, 9], [5, 9, 1], 4),
            ([0, 4, 9], [1, 9, 5], 5),
        ],
    )
    def test_are_cut_beside_the_weighted_median(self, at, weight, cut):
        found = partition._weighted_cut(np.array(at), np.array(weight), 0, 9)
        assert found == cut

    def test_neighbours_have_near_numbers(self):
        x, y = (side.ravel() for side in np.meshgrid(np.arange(8), np.arange(8)))
        region, _ = partition.regions_of(x, y, np.ones(64, int), 64)
        # Of Morton's curve: every quarter of the square is visited before the next.
        quarter = (x >= 4) * 1 + (y >= 4) * 2
        assert (quarter[np.argsort(region)] == np.repeat([0, 1, 2, 3], 16)).all()


class TestStoredRows:
    def test_stand_in_their_lane_and_lower_the_minima_of_their_chunk(self):
        rng, clusters, regions, bins = np.random.default_rng(5), 3 * CHUNK, 5, 7
        rows = rng.integers(0, 200, (clusters, regions + bins), np.uint8)
        space = np.full((TILES, regions, TILE_WIDTH), 255, np.uint8)
        time = np.full((TILES, bins, TILE_WIDTH), 255, np.uint8)
        minima = np.full((1, regions, CHUNK), 255, np.uint8)
        store = njit(error_model="numpy")(store_all)
        store(rng.permutation(clusters), regions, space, time, minima, rows)
        for cluster in range(clusters):
            tile, lane = tile_position.py_func(cluster)
            assert (space[tile, :, lane] == rows[cluster, :regions]).all()
            assert (time[tile, :, lane] == rows[cluster, regions:]).all()
        for chunk in range(CHUNK):
            own = rows[chunk * CHUNK : (chunk + 1) * CHUNK, :regions]
            assert (minima[0, :, chunk] == own.min(axis=0, initial=255)).all()


def store_all(order, regions, space, time, minima, rows):
    for cluster in order:
        lower_bounds.store_distance_row(cluster, regions, space, time, minima, rows)
