"""The accuracy of a release, against the slow oracle and by hand."""

import json
import math
import warnings
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import strategies
from incrowd import Cloak, Frame, GeoI, Trajectories, accuracy, glove, synthesize
from incrowd.errors import ArgumentError, InputError, PrivacyWarning
from incrowd.evaluate._comparison import BeforeAfter, of_files, of_release
from incrowd.evaluate._publish import publish
from incrowd.evaluate._utility import accuracy as module
from incrowd.evaluate._utility.accuracy import PER_CENT, PERSON_SPACE, PERSON_TIME, SPACE, TIME
from incrowd.evaluate._utility.distributions import Distribution, Tally
from incrowd.measure import _centres
from strategies import random_cases

FRAMES = st.sampled_from([Frame(), Frame(cell=37.5, slot=7), Frame(cell=1000, slot=3600)])


def lists(data):
    """Give the boxes of each trajectory."""
    return [list(zip(*(c.tolist() for c in each_columns(one)), strict=True)) for one in data]


def each_columns(one):
    """Give the six columns of one trajectory."""
    return one.x0, one.x1, one.y0, one.y1, one.t0, one.t1


@st.composite
def pairs(draw):
    """Any people before, any crowds after, and who became whom, though it may not be true."""
    frame = draw(FRAMES)
    before = draw(strategies.trajectories(frame=frame, min_people=1, original=draw(st.booleans())))
    after = draw(strategies.trajectories(frame=frame, max_crowd=3, longest=draw(st.integers(1, 9))))
    place = st.integers(-1, len(after) - 1)
    became = draw(st.lists(place, min_size=len(before), max_size=len(before)))
    return BeforeAfter(before, after, np.array(became, np.int64))


@st.composite
def hidden(draw):
    """People and what GLOVE makes of them."""
    data = draw(strategies.grown(most=6, rarely=12, max_crowd=1, original=True))
    k = draw(st.integers(2, min(3, len(data))))
    how = {name: draw(st.sampled_from([None, 1, 3])) for name in ("max_space", "max_time")}
    reshape = draw(st.sampled_from(["split", "union", "none"]))
    release = glove(data, k, reshape=reshape, threads=1, **how)
    return of_release(data, release)


def plain(distribution):
    """Give a distribution as the oracle does."""
    return None if distribution is None else astuple(distribution)


def compare(pair):
    """See whether every figure is the oracle's."""
    found = accuracy(pair, threads=1)
    before, after = lists(pair.before), lists(pair.after)
    crowd, became = pair.after.crowd.tolist(), pair.became.tolist()
    cell, slot = pair.before.frame.cell, pair.before.frame.slot
    rows = naive.published_rows(after, crowd)
    sizes = [naive.box_sizes(box) for box in rows]
    assert (found.people, found.samples) == (len(before), sum(map(len, before)))
    assert (found.people_published, found.people_dropped) == (sum(crowd), became.count(-1))
    assert (found.boxes, found.rows) == (sum(map(len, after)), len(rows))
    assert plain(found.space) == naive.spread_of([size for size, _ in sizes], cell, SPACE)
    assert plain(found.time) == naive.spread_of([size for _, size in sizes], slot / 60, TIME)
    assert found.fine == naive.share_up_to(rows, 100, 30, cell, slot)
    assert found.coarse == naive.share_up_to(rows, 2000, 120, cell, slot)
    for axis, curves, unit, limits in (
        (0, found.people_by_space, cell, PERSON_SPACE),
        (1, found.people_by_time, slot / 60, PERSON_TIME),
    ):
        assert [astuple(curve) for curve in curves] == [
            (limit, *naive.person_curve(after, crowd, axis, unit, limit))
            for limit in limits
            if rows
        ]
    space, time, deleted = naive.sample_errors(before, after, became)
    assert found.samples_deleted == deleted
    assert plain(found.position_error) == naive.spread_of(space, cell / 2, (0, *SPACE))
    assert plain(found.time_error) == naive.spread_of(time, slot / 120, (0, *TIME))
    for share, limits in (
        (found.samples_2km, (2000, math.inf)),
        (found.samples_2h, (math.inf, 120)),
        (found.samples_coarse, (2000, 120)),
    ):
        assert share == naive.samples_up_to(before, after, became, *limits, cell, slot)
    for sizes, axis, unit, *limits in (
        (found.samples_space, 0, cell, SPACE, PERSON_SPACE),
        (found.samples_time, 1, slot / 60, TIME, PERSON_TIME),
    ):
        assert astuple(sizes) == naive.sample_sizes(before, after, became, axis, unit, *limits)
    people = before, after, crowd, became
    assert found.rows_created == naive.count_rows(naive.is_created, *people)
    assert found.rows_unseen == naive.count_rows(naive.is_unseen, *people)
    return found


class TestOracle:
    @given(pairs())
    @random_cases(100)
    def test_any_pair_is_measured_as_the_paper_says(self, pair):
        compare(pair)

    @given(hidden())
    @random_cases(40)
    def test_what_glove_makes_is_measured_and_has_nothing_created(self, pair):
        assert compare(pair).rows_created == 0

    @given(pairs(), st.integers(1, 4))
    @random_cases(20)
    def test_blocks_and_threads_change_nothing(self, pair, block):
        whole = accuracy(pair, threads=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_centres, "BLOCK", block)
            assert accuracy(pair, threads=3) == whole

    @given(pairs())
    @random_cases(20)
    def test_without_a_record_what_needs_one_is_none(self, pair):
        found = accuracy(BeforeAfter(pair.before, pair.after, None))
        known = accuracy(pair)
        for name in ("space", "time", "fine", "coarse", "people_by_space", "rows"):
            assert getattr(found, name) == getattr(known, name)
        assert found.people_dropped == len(pair.before) - int(pair.after.crowd.sum())
        for name in ("rows_created", "rows_unseen", "samples_deleted", "deleted", "time_error"):
            assert getattr(found, name) is None


def pair_of(before, after, became, crowd=None):
    """Make a pair by hand, on a grid of 100 m and 1 min."""
    one = strategies.crowded(before)
    other = strategies.crowded(after, crowd) if after else one[np.zeros(len(one), np.bool_)]
    return BeforeAfter(one, other, np.array(became, np.int64))


class TestByHand:
    BEFORE = ([(0, 1, 0, 1, 0, 1), (30, 31, 0, 1, 50, 51)], [(3, 4, 0, 1, 0, 1)])
    AFTER = ([(0, 4, 0, 1, 0, 1), (30, 31, 0, 1, 50, 51)],)

    def test_sizes_errors_and_rows(self):
        found = accuracy(pair_of(self.BEFORE, self.AFTER, [0, 0], [2]))
        assert (found.boxes, found.rows, found.deleted) == (2, 4, 0)
        assert (found.space.mean, found.space.median, found.time.most) == (250, 100, 1)
        assert (found.fine, found.coarse) == (0.5, 1)
        # The middle of the box is one and a half cells from either sample.
        assert found.position_error.mean == 100
        assert found.position_error.most == 150
        assert dict(found.position_error.cumulative)[0] == pytest.approx(1 / 3)
        assert found.people_by_space[0].people[PER_CENT.index(50)] == 1
        assert found.people_by_space[0].people[PER_CENT.index(55)] == 0

    def test_who_is_dropped_is_deleted(self):
        found = accuracy(pair_of(self.BEFORE, [self.BEFORE[0]], [0, -1]))
        assert (found.people_dropped, found.samples_deleted) == (1, 1)
        assert found.deleted == pytest.approx(1 / 3)

    def test_a_box_away_from_everybody_is_created_and_unseen(self):
        far = [(90, 91, 0, 1, 7, 8)]
        found = accuracy(pair_of(self.BEFORE, [self.AFTER[0] + far], [0, 0], [2]))
        assert (found.rows_created, found.rows_unseen) == (2, 2)

    def test_a_piece_between_two_true_ones_is_unseen_and_not_created(self):
        piece = [(0, 4, 0, 1, 1, 50)]
        found = accuracy(pair_of(self.BEFORE, [self.AFTER[0] + piece], [0, 0], [2]))
        assert (found.rows_created, found.rows_unseen) == (0, 2)

    def test_of_several_boxes_the_smallest_holds(self):
        after = [[(0, 9, 0, 9, 0, 9), (0, 1, 0, 3, 0, 1)]]
        found = accuracy(pair_of([[(0, 1, 0, 1, 0, 1)]], after, [0]))
        assert found.position_error.mean == 100

    def test_an_empty_release(self):
        found = accuracy(pair_of(self.BEFORE, [], [-1, -1]))
        assert (found.people_dropped, found.deleted, found.rows) == (2, 1, 0)
        assert found.space is found.fine is found.position_error is None
        assert found.people_by_time == ()
        assert "space_mean" not in found.figures()

    def test_is_plain_json(self):
        found = accuracy(pair_of(self.BEFORE, self.AFTER, [0, 0], [2])).as_dict()
        assert json.loads(json.dumps(found))["space"]["cumulative"][0] == [100, 0.5]
        assert found["deleted"] == 0


class TestSeveral:
    def test_are_rows_of_a_table(self):
        city = synthesize("city", users=20, seed=7)
        made = {f"k = {k}": of_release(city, glove(city, k)) for k in (2, 5)}
        made["cloaked"] = BeforeAfter(city, Cloak(60).protect(city).trajectories, None)
        table = module.accuracy_table(made)
        assert table["name"].to_list() == ["k = 2", "k = 5", "cloaked"]
        assert table["space_mean"][0] < table["space_mean"][1]
        assert table["deleted"].to_list() == [0, 0, None]
        assert table["time_median"][2] == 60
        assert table["space_100m"][2] == 1


class TestReleases:
    def test_files_are_as_accurate_as_what_was_in_memory(self, tmp_path):
        city = synthesize("city", users=30, seed=7)
        release = glove(city, 2, max_space=20, max_time=120)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            publish(
                release, tmp_path / "out", original=city, record=tmp_path / "who.parquet", draws=20
            )
        found = accuracy(of_files(tmp_path / "out", city, tmp_path / "who.parquet"))
        assert found == accuracy(of_release(city, release))
        assert found.samples_deleted > 0
        unknown = accuracy(of_files(tmp_path / "out", city))
        assert (unknown.space, unknown.people_dropped) == (found.space, found.people_dropped)
        assert unknown.samples_deleted is None

    def test_what_is_moved_is_created(self):
        city = synthesize("city", users=10, seed=7)
        found = accuracy(of_release(city, GeoI(0.001).protect(city)))
        assert found.rows_created > 0.9 * found.rows
        cloaked = accuracy(of_release(city, Cloak(60).protect(city)))
        assert (cloaked.samples_deleted, cloaked.position_error.most) == (0, 0)
        assert cloaked.rows_unseen == 0


class TestWrongUse:
    def test_an_original_without_samples(self):
        nobody = Trajectories.from_boxes({"user": [], "x0": [], "y0": [], "t0": []})
        with pytest.raises(InputError, match="nothing to compare with"):
            accuracy(BeforeAfter(nobody, nobody, None))

    def test_an_original_of_crowds(self):
        crowd = strategies.crowded([[(0, 1, 0, 1, 0, 1)]], [2])
        with pytest.raises(ArgumentError, match="has crowds"):
            accuracy(BeforeAfter(crowd, crowd, None))


class TestTally:
    @given(st.lists(st.tuples(st.integers(0, 5) | st.integers(2**40, 2**60), st.integers(1, 4))))
    def test_large_numbers_are_counted_as_small_ones_are(self, drawn):
        values = np.array([value for value, _ in drawn], np.int64)
        weights = np.array([weight for _, weight in drawn], np.int64)
        many = [value for value, weight in drawn for _ in range(weight)]
        found = Distribution.of(Tally.of(values, weights), 1.0)
        if not drawn:
            assert found is None
            return
        order = sorted(many)
        assert found.mean == sum(many) / len(many)
        assert found.median == float(order[(len(order) + 1) // 2 - 1])
        halves = Tally.together([Tally.of(values), Tally.of(values)])
        assert halves.counts.tolist() == (2 * Tally.of(values).counts).tolist()
