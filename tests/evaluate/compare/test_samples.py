"""Which published sample stands for which true one, against the slow oracle and by hand."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from evaluate.pairs import pairs
from incrowd import Cloak, Frame, GeoI, Trajectories, glove, of_release, select, synthesize
from incrowd.errors import ArgumentError
from incrowd.evaluate._compare.samples import stand_ins
from incrowd.evaluate._comparison import BeforeAfter
from strategies import random_cases


def boxes_of(data):
    """Give the boxes of each trajectory."""
    return [boxes for _, boxes in naive.people_of(data)]


def mean(values, unit):
    """Give the mean of values that occur so often, in units of so much; None if there are none."""
    counts = Counter(values)
    total = math.fsum(value * number for value, number in counts.items())
    return total / len(values) * unit if values else None


def same_as_oracle(pair, threads=1):
    """See whether every figure is the oracle's."""
    found, frame = stand_ins(pair, threads=threads), pair.before.frame
    expected = naive.stand_ins(
        boxes_of(pair.before), boxes_of(pair.after), pair.became.tolist(), frame.cell, frame.slot
    )
    errors = expected.pop("errors")
    assert {name: getattr(found, name) for name in expected} == expected
    away = [math.sqrt(square) for square, _ in errors]
    late = [when for _, when in errors]
    assert mean(away, frame.cell / 2) == (found.position and found.position.mean)
    assert mean(late, frame.slot / 120) == (found.time and found.time.mean)
    return found


def moved(before, after, frame=None):
    """Pair people with one record each, of rows x, t."""
    data = [
        Trajectories.from_boxes(
            {
                "user": [user for user, rows in enumerate(side) for _ in rows],
                "x0": [row[0] for rows in side for row in rows],
                "y0": [0 for rows in side for _ in rows],
                "t0": [row[1] for rows in side for row in rows],
                "t1": [row[-1] if len(row) > 2 else row[1] + 1 for rows in side for row in rows],
            },
            frame or Frame(),
        )
        for side in (before, after)
    ]
    return BeforeAfter(*data, np.arange(len(before)))


class TestRandomCases:
    @given(pairs(known=True))
    @random_cases(1000)
    def test_is_the_oracle(self, pair):
        same_as_oracle(pair)

    @pytest.mark.parametrize("threads", [1, 3])
    def test_of_what_mechanisms_make(self, threads):
        city = select(synthesize("city", users=12, seed=5), time=("2012-03-05", "2012-03-06"))
        assert 200 < city.samples < 500
        for made in (glove(city, 3), glove(city, 2, reshape="split"), Cloak(60).protect(city),
                     GeoI(0.01).protect(city)):  # fmt: skip
            same_as_oracle(of_release(city, made), threads)


class TestByHand:
    def test_a_point_that_moved_in_space_is_neither_deleted_nor_created(self):
        found = same_as_oracle(moved([[(0, 5), (9, 70)]], [[(3, 5), (9, 70)]]))
        assert (found.deleted, found.created) == (0, 0)
        assert (found.position.mean, found.time.mean) == (150.0, 0.0)

    def test_a_point_between_two_stands_for_the_nearer_one(self):
        found = same_as_oracle(moved([[(0, 0), (0, 10)]], [[(0, 4)]]))
        assert (found.deleted, found.created, found.time.mean) == (1, 0, 4.0)

    def test_a_point_halfway_stands_for_both(self):
        found = same_as_oracle(moved([[(0, 0), (0, 10)]], [[(0, 5)]]))
        assert (found.deleted, found.time.mean) == (0, 5.0)

    def test_points_that_were_put_in_are_created(self):
        found = same_as_oracle(moved([[(0, 0), (0, 90)]], [[(0, 0), (0, 30), (0, 60), (0, 90)]]))
        assert (found.deleted, found.created) == (0, 2)

    def test_a_box_stands_for_all_in_its_time(self):
        found = same_as_oracle(moved([[(0, 0), (0, 10), (0, 19)]], [[(0, 0, 20)]]))
        assert (found.deleted, found.created) == (0, 0)

    def test_of_a_point_and_the_box_around_it_errors_are_the_same(self):
        true = [[(0, 10)]]
        box = same_as_oracle(moved(true, [[(0, 0, 61)]]))
        point = same_as_oracle(moved(true, [[(0, 30)]]))
        assert box.time == point.time
        assert box.position == point.position

    def test_of_several_in_one_slot_the_nearest_in_space_counts(self):
        found = same_as_oracle(moved([[(0, 5)]], [[(1, 5), (7, 5)]]))
        assert (found.created, found.position.mean) == (0, 100.0)

    def test_of_several_as_near_in_space_the_soonest_counts(self):
        for published in ([(0, 0, 60), (0, 9, 12)], [(0, 9, 12), (0, 10, 60)]):
            found = same_as_oracle(moved([[(0, 10)]], [published]))
            assert (found.created, found.position.mean, found.time.mean) == (0, 0.0, 0.0)

    def test_people_who_are_not_published_lose_everything(self):
        pair = moved([[(0, 5)], [(0, 6), (0, 7)]], [[(0, 5)], [(0, 6)]])
        found = same_as_oracle(BeforeAfter(pair.before, pair.after, np.array([0, -1])))
        assert (found.deleted, found.rows, found.near) == (2, 1, 1)

    def test_near_is_up_to_a_kilometre_and_an_hour(self):
        rows = [[(0, 0), (0, 1000), (0, 2000), (0, 3000)]]
        published = [[(10, 0), (11, 1000), (0, 2060), (0, 3061)]]
        assert same_as_oracle(moved(rows, published)).near == 2

    def test_glove_deletes_what_it_suppresses_and_creates_nothing(self):
        city = synthesize("city", users=30, seed=7)
        hidden = glove(city, 2, max_metres=2000, max_minutes=60)
        found = stand_ins(of_release(city, hidden))
        assert found.deleted == hidden.losses["samples_suppressed"] > 0
        assert found.created == 0

    def test_noise_in_space_creates_and_deletes_nothing(self):
        city = synthesize("city", users=30, seed=7)
        found = stand_ins(of_release(city, GeoI(0.01).protect(city)))
        assert (found.deleted, found.created) == (0, 0)
        assert found.time.most == 0
        assert 150 < found.position.mean < 250  # 2 / epsilon is 200 m


def test_without_who_became_whom_there_is_no_answer():
    pair = moved([[(0, 5)]], [[(0, 5)]])
    with pytest.raises(ArgumentError, match="who became whom is not known"):
        stand_ins(BeforeAfter(pair.before, pair.after, None))


def test_times_at_the_ends_of_the_integers_do_not_wrap():
    far = 2**31 - 2
    found = same_as_oracle(moved([[(-(2**30), -far)]], [[(2**30, far)]]))
    assert found.time.mean == 2 * far
    assert found.position.mean == 2**31 * 100


@given(st.integers(1, 4))
def test_copies_of_the_original_have_no_error(users):
    city = synthesize("city", users=users, seed=1)
    found = stand_ins(BeforeAfter(city, city, np.arange(users)))
    assert (found.deleted, found.created, found.near) == (0, 0, city.samples)
    assert found.position.most == found.time.most == 0
