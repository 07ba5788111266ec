"""Sums of lines are what the definition says, and no more than the bounds of single samples."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from incrowd.measure._stretch import batch_bounds, lower_bounds
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.effort import Boxes
from incrowd.measure._stretch.partition import FAR, Atlas

SEATS = batch_bounds.WIDTH - batch_bounds.LANES
WIDE = [0, 0, 0, 1, 2, 3, 7, 40, 200, 300, 1000, 65535]
LONG = [0, 0, 0, 1, 2, 3, 7, 40, 200, 700, 3000]
NUMBERS = 30
"""How many zones and bins there are."""


@njit(error_model="numpy")
def added_in_space(table, begin, stop, cells, given, crowd, atlas, scale):
    queries, total = len(given), 0
    for _, count, _ in given:
        total += count.sum()
    found = batch_bounds.make_lines(queries, 64 * queries, total)
    sums = np.full((queries, table.shape[1]), -1, np.int32)
    part = np.full(table.shape[1], 7, np.uint16)
    for q in range(queries):
        zone, count, wide = given[q]
        batch_bounds.space_lines(q, zone, count, wide, crowd, atlas, scale, found)
    for q in range(queries):
        batch_bounds.add_lines(table, begin, stop, found, q, cells, sums[q], part)
    return sums


@njit(error_model="numpy")
def added_in_time(table, begin, stop, cells, boxes, cuts, crowd, atlas, scale):
    queries = len(cuts) - 1
    found = batch_bounds.make_lines(queries, len(boxes.t0), len(boxes.t0))
    sums = np.full((queries, table.shape[1]), -1, np.int32)
    part = np.full(table.shape[1], 7, np.uint16)
    for q in range(queries):
        batch_bounds.time_lines(q, boxes, cuts[q], cuts[q + 1], crowd, atlas, scale, found)
    for q in range(queries):
        batch_bounds.add_lines(table, begin, stop, found, q, cells, sums[q], part)
    return sums


@st.composite
def worlds(draw):
    """A table, who consists of cells, from where to where, and what it is measured by."""
    stretch = Stretch(
        draw(st.sampled_from([1, 30, 254, 300, 2000])), draw(st.sampled_from([1, 480]))
    )
    scale = stretch.scale(near=True, stop=True, small=2**20)
    none = np.zeros(1, np.int32)
    steps = [-(-most // (FAR - 1)) for most in (scale.space, scale.time)]
    atlas = Atlas(none, none, none, none, NUMBERS, NUMBERS, 0, 1, *steps, 0, 0, 0)
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    ceilings = [most // step for most, step in zip((scale.space, scale.time), steps, strict=True)]
    space, time = (
        rng.integers(0, ceiling + 1, (NUMBERS, batch_bounds.WIDTH), np.uint8)
        for ceiling in ceilings
    )
    cells = np.where(rng.random(batch_bounds.WIDTH) < 0.5, 255, 0).astype(np.uint8)
    begin = batch_bounds.LANES * draw(st.integers(0, batch_bounds.STRIPE - 1))
    stop = (
        draw(st.integers(begin // batch_bounds.LANES + 1, batch_bounds.STRIPE)) * batch_bounds.LANES
    )
    return space, time, cells, begin, stop, atlas, scale


def some(cells, begin, stop):
    """Of every kind a few, and the first and last."""
    wanted = {begin, stop - 1}
    for kind in (0, 255):
        wanted |= {begin + int(i) for i in np.flatnonzero(cells[begin:stop] == kind)[:3]}
    return sorted(wanted)


class TestSpace:
    @settings(max_examples=300)
    @given(
        worlds(),
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
    def test_sum(self, world, given, crowd):
        table, _, cells, begin, stop, atlas, scale = world
        columns = tuple(
            (
                np.array([zone for zone, _, _ in one], np.uint16),
                np.array([count for _, count, _ in one], np.int32),
                np.array([wide for _, _, wide in one], np.uint16),
            )
            for one in given
        )
        sums = added_in_space(table, begin, stop, cells, columns, crowd, atlas, scale)
        step, most = atlas.space_step, scale.space // atlas.space_step
        near_at = lower_bounds.near_at.py_func
        for one, found in zip(given, sums, strict=True):
            assert (found[:begin] == -1).all()
            assert (found[stop:] == -1).all()
            for seat in some(cells, begin, stop):
                total, bound = 0, 0.0
                for zone, count, wide in one:
                    off = -(-wide * crowd // ((1 + crowd) * step))
                    floor = min(wide // step, off + most) if cells[seat] else 0
                    total += count * (max(int(table[zone, seat]), floor, off) - off)
                    bound += count * min(
                        near_at(
                            float(step * int(table[zone, seat])),
                            float(wide),
                            crowd / (crowd + other),
                            bool(cells[seat]),
                            float(scale.space),
                        )
                        for other in (1, 2, 7)
                    )
                assert found[seat] == total
                assert step * total <= bound + 1e-6


class TestTime:
    @settings(max_examples=300)
    @given(
        worlds(),
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
    def test_sum(self, world, given, crowd):
        _, table, cells, begin, stop, atlas, scale = world
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
        sums = added_in_time(table, begin, stop, cells, boxes, cuts, crowd, atlas, scale)
        step, late_at = atlas.time_step, lower_bounds.late_at.py_func
        for one, found in zip(samples, sums, strict=True):
            assert (found[:begin] == -1).all()
            assert (found[stop:] == -1).all()
            for seat in some(cells, begin, stop):
                total, extra, bound = 0, 0.0, 0.0
                for bin_, long in one:
                    late = int(table[bin_, seat])
                    off = -(-long * crowd // ((1 + crowd) * step))
                    if cells[seat]:
                        off = -(-(long + 1) // (2 * step)) if long else 0
                        extra += min(scale.time, long / (1 + crowd))
                    total += max(0, late - off)
                    bound += min(
                        late_at(
                            float(step * late),
                            float(long),
                            crowd / (crowd + other),
                            (other - crowd) / (2 * (crowd + other)),
                            other,
                            bool(cells[seat]) and long > 0,
                            float(scale.time),
                        )
                        for other in (1, 2, 7)
                    )
                assert found[seat] - total in {int(extra / step), int(extra / step - 1e-6)}
                assert step * int(found[seat]) <= bound + 1e-6


def test_every_slot_has_its_seat():
    seat_of = batch_bounds.seat_of.py_func
    seats = [seat_of(slot) for slot in range(3 * batch_bounds.LANES**2)]
    assert len(set(seats)) == len(seats)
    assert {stripe for stripe, _ in seats} == set(range(3 * batch_bounds.STRIPES))
    assert max(seat for _, seat in seats) == SEATS - 1
