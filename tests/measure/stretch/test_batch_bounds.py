"""Sums of terms are what the definition says, and no more than the bounds of single samples."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from incrowd.measure._stretch import batch_bounds, lower_bounds
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.effort import Boxes
from incrowd.measure._stretch.partition import FAR, SpaceTimePartition
from strategies import random_cases

LANES = batch_bounds.TILE_WIDTH - batch_bounds.CHUNK
WIDE = [0, 0, 0, 1, 2, 3, 7, 40, 200, 300, 1000, 65535]
LONG = [0, 0, 0, 1, 2, 3, 7, 40, 200, 700, 3000]
NUMBERS = 30
"""How many regions and time bins there are."""


@njit(error_model="numpy")
def added_in_space(table, begin, stop, unit_mask, given, crowd, partition, scale):
    queries, total = len(given), 0
    for _, count, _ in given:
        total += count.sum()
    found = batch_bounds.make_terms(queries, 64 * queries, total)
    sums = np.full((queries, table.shape[1]), -1, np.int32)
    part = np.full(table.shape[1], 7, np.uint16)
    for q in range(queries):
        region, count, wide = given[q]
        batch_bounds.space_terms(q, region, count, wide, crowd, partition, scale, found)
    for q in range(queries):
        batch_bounds.sum_bounds_batch(table, begin, stop, found, q, unit_mask, sums[q], part)
    return sums


@njit(error_model="numpy")
def added_in_time(table, begin, stop, unit_mask, boxes, cuts, crowd, partition, scale):
    queries = len(cuts) - 1
    found = batch_bounds.make_terms(queries, len(boxes.t0), len(boxes.t0))
    sums = np.full((queries, table.shape[1]), -1, np.int32)
    part = np.full(table.shape[1], 7, np.uint16)
    for q in range(queries):
        batch_bounds.time_terms(q, boxes, cuts[q], cuts[q + 1], crowd, partition, scale, found)
    for q in range(queries):
        batch_bounds.sum_bounds_batch(table, begin, stop, found, q, unit_mask, sums[q], part)
    return sums


@st.composite
def tables(draw):
    """A table, who consists of units, from where to where, and what it is measured by."""
    stretch = Stretch(
        draw(st.sampled_from([1, 30, 254, 300, 2000])), draw(st.sampled_from([1, 480]))
    )
    scale = stretch.scale(near=True, stop=True, small=2**20)
    none = np.zeros(1, np.int32)
    steps = [-(-most // (FAR - 1)) for most in (scale.space, scale.time)]
    partition = SpaceTimePartition(none, none, none, none, NUMBERS, NUMBERS, 0, 1, *steps, 0, 0, 0)
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    ceilings = [most // step for most, step in zip((scale.space, scale.time), steps, strict=True)]
    space, time = (
        rng.integers(0, ceiling + 1, (NUMBERS, batch_bounds.TILE_WIDTH), np.uint8)
        for ceiling in ceilings
    )
    unit_mask = np.where(rng.random(batch_bounds.TILE_WIDTH) < 0.5, 255, 0).astype(np.uint8)
    begin = batch_bounds.CHUNK * draw(st.integers(0, batch_bounds.TILE_CHUNKS - 1))
    stop = (
        draw(st.integers(begin // batch_bounds.CHUNK + 1, batch_bounds.TILE_CHUNKS))
        * batch_bounds.CHUNK
    )
    return space, time, unit_mask, begin, stop, partition, scale


def some(unit_mask, begin, stop):
    """Of every kind a few, and the first and last."""
    wanted = {begin, stop - 1}
    for kind in (0, 255):
        wanted |= {begin + int(i) for i in np.flatnonzero(unit_mask[begin:stop] == kind)[:3]}
    return sorted(wanted)


class TestSpace:
    @random_cases(300)
    @given(
        tables(),
        st.lists(
            st.lists(
                st.tuples(
                    st.integers(0, NUMBERS - 1),
                    st.sampled_from([1, 2, 5, 256, 257, 258, 1000]),
                    st.sampled_from(WIDE),
                ),
                max_size=40,
            ),
            min_size=1,
            max_size=3,
        ),
        st.integers(1, 5),
    )
    def test_sum(self, case, given, crowd):
        table, _, unit_mask, begin, stop, partition, scale = case
        columns = tuple(
            (
                np.array([region for region, _, _ in one], np.uint16),
                np.array([count for _, count, _ in one], np.int32),
                np.array([wide for _, _, wide in one], np.uint16),
            )
            for one in given
        )
        sums = added_in_space(table, begin, stop, unit_mask, columns, crowd, partition, scale)
        step, most = partition.space_step, scale.space // partition.space_step
        space_bound = lower_bounds.space_bound.py_func
        for one, found in zip(given, sums, strict=True):
            assert (found[:begin] == -1).all()
            assert (found[stop:] == -1).all()
            for lane in some(unit_mask, begin, stop):
                total, bound = 0, 0.0
                for region, count, wide in one:
                    off = -(-wide * crowd // ((1 + crowd) * step))
                    floor = min(wide // step, off + most) if unit_mask[lane] else 0
                    total += count * (max(int(table[region, lane]), floor, off) - off)
                    bound += count * min(
                        space_bound(
                            float(step * int(table[region, lane])),
                            float(wide),
                            crowd / (crowd + other),
                            bool(unit_mask[lane]),
                            float(scale.space),
                        )
                        for other in (1, 2, 7)
                    )
                assert found[lane] == total
                assert step * total <= bound + 1e-6


class TestTime:
    @random_cases(300)
    @given(
        tables(),
        st.lists(
            st.lists(
                st.tuples(st.integers(0, NUMBERS - 1), st.sampled_from(LONG), st.integers(1, 300)),
                max_size=12,
            ),
            min_size=1,
            max_size=3,
        ),
        st.integers(1, 5),
    )
    def test_sum(self, case, given, crowd):
        _, table, unit_mask, begin, stop, partition, scale = case
        samples = [
            [(bin_, long) for bin_, long, times in one for _ in range(times)] for one in given
        ]
        flat = [sample for one in samples for sample in one]
        none, size = np.zeros(0, np.int32), len(flat)
        boxes = Boxes(
            *(none, none, none, none),
            np.zeros(size, np.int32),
            np.array([long + 1 for _, long in flat], np.int32),
            none,
            np.zeros(0, np.uint16),
            np.array([bin_ for bin_, _ in flat], np.uint16),
        )
        cuts = np.cumsum([0, *map(len, samples)])
        sums = added_in_time(table, begin, stop, unit_mask, boxes, cuts, crowd, partition, scale)
        step, time_bound = partition.time_step, lower_bounds.time_bound.py_func
        for one, found in zip(samples, sums, strict=True):
            assert (found[:begin] == -1).all()
            assert (found[stop:] == -1).all()
            for lane in some(unit_mask, begin, stop):
                total, extra, bound = 0, 0.0, 0.0
                for bin_, long in one:
                    late = int(table[bin_, lane])
                    off = -(-long * crowd // ((1 + crowd) * step))
                    if unit_mask[lane]:
                        off = -(-(long + 1) // (2 * step)) if long else 0
                        extra += min(scale.time, long / (1 + crowd))
                    total += max(0, late - off)
                    bound += min(
                        time_bound(
                            float(step * late),
                            float(long),
                            crowd / (crowd + other),
                            (other - crowd) / (2 * (crowd + other)),
                            other,
                            bool(unit_mask[lane]) and long > 0,
                            float(scale.time),
                        )
                        for other in (1, 2, 7)
                    )
                assert found[lane] - total in {int(extra / step), int(extra / step - 1e-6)}
                assert step * int(found[lane]) <= bound + 1e-6


def test_every_cluster_has_its_lane():
    tile_position = batch_bounds.tile_position.py_func
    lanes = [tile_position(cluster) for cluster in range(3 * batch_bounds.CHUNK**2)]
    assert len(set(lanes)) == len(lanes)
    assert {tile for tile, _ in lanes} == set(range(3 * batch_bounds.TILES))
    assert max(lane for _, lane in lanes) == LANES - 1
