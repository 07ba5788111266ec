"""What a few known samples leave: records, sides that they touch, what is missing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from evaluate.release_attacks.made import (
    FRAME,
    adversary,
    known_release,
    lists,
    releases,
    rounding,
)
from incrowd import Trajectories
from incrowd.evaluate._release_attacks.adversary import Rules, match_points
from incrowd.evaluate._release_attacks.points import Absence, Edges, Presence, rank_records
from strategies import random_cases, table

TRUE = Rules(held=True, most=0, witness=True, whole=True)


def made(people, records, became, rules=TRUE, **settings):
    """Make a release from lists of boxes."""
    before, after = (
        Trajectories.from_boxes(
            table([(number, *box) for number, boxes in enumerate(some) for box in boxes]), FRAME
        )
        for some in (people, records)
    )
    return known_release(before, after, became, rules, **settings)


def cell(x, y, t):
    """Give the box of one cell and one slot."""
    return (x, x + 1, y, y + 1, t, t + 1)


class TestAgainstNaive:
    @given(releases(), st.integers(0, 3), st.integers(0, 3))
    @random_cases(1000)
    def test_records_that_hold_what_is_known_and_are_touched_most(self, release, points, seed):
        people = np.arange(len(release.original))
        records = [
            [tuple(map(int, box[:6])) for box in release.published.boxes[first:last]]
            for first, last in zip(
                release.published.cuts[:-1], release.published.cuts[1:], strict=True
            )
        ]
        matched = match_points(release, people, points, seed, 1)
        ranked = rank_records(release, release.crowd_of, matched, 1)
        for person, samples in enumerate(lists(release.original)):
            first, last = matched.starts[person : person + 2]
            known = [tuple(int(side[i]) for side in matched.known) for i in range(first, last)]
            assert set(known) <= set(samples)
            assert len(known) == min(points or len(samples), len(samples))
            left = naive.records_left(known, records)
            assert matched.of(person).tolist() == left
            found = naive.record_found(known, records, rounding(release))
            assert ranked.record[person] == (-1 if found is None else found)
            assert ranked.alone[person] == (left == [release.crowd_of[person]])

    @given(releases(least=2), st.sampled_from([None, 1, 2, 4]), st.sampled_from([None, 1, 3]))
    @random_cases(1000)
    def test_missing_samples_that_somebody_was_far_from(self, release, space, time):
        release.manifest.settings.update(max_space=space, max_time=time)
        people = lists(release.original)
        missing = np.split(release.missed, release.original.offsets[1:-1])
        apart = number = 0
        for person, crowd in enumerate(release.crowd_of.tolist()):
            others = [
                people[other]
                for other, theirs in enumerate(release.crowd_of.tolist())
                if theirs == crowd and other != person
            ]
            if crowd < 0 or not others or (space is None and time is None):
                continue
            for sample, missed in zip(people[person], missing[person], strict=True):
                near = [naive.near_within(sample, other, space, time) for other in others]
                number += bool(missed)
                apart += bool(missed) and not all(near)
        found = Absence().run(adversary(release), lambda _: None)
        assert (found["apart"].number, found["apart"].of) == (apart, number)


class TestByHand:
    ANN = (cell(0, 0, 1), cell(5, 5, 9))
    BOB = (cell(2, 0, 1), cell(5, 7, 9))
    CAT = (cell(1, 0, 1), cell(6, 6, 9))

    def test_a_sample_on_a_side_finds_the_crowd_and_one_inside_does_not(self):
        small, large = [(0, 3, 0, 1, 1, 2), (5, 6, 5, 8, 9, 10)], [(-3, 9, -3, 9, 1, 10)]
        release = made([self.ANN, self.BOB, self.CAT], [small, large], [0, 0, 1])
        found = Edges().run(adversary(release), lambda _: None)
        # Of everybody the records that hold two samples are both, or the large one alone.
        assert found["alone_2"].number == 1
        assert found["found_2"].number == 3
        assert found["right_2"].of == 3

    def test_presence_is_certain_where_no_other_record_holds_it(self):
        own, other = [(0, 3, 0, 8, 1, 10)], [(100, 101, 0, 1, 1, 2)]
        release = made([self.ANN, self.BOB, (cell(100, 0, 1),)], [own, other], [0, 0, 1])
        found = Presence().run(adversary(release), lambda _: None)
        assert found["certain_all"].number == 1  # of ann and bob one sample lies in no box
        assert found.share == pytest.approx(1 / 3)

    def test_whoever_is_left_out_is_seen_to_be_unless_a_record_holds_all_of_hers(self):
        record = [(0, 3, 0, 8, 1, 10)]
        far, near = (cell(50, 50, 3),), (cell(1, 1, 3),)
        release = made([(cell(0, 0, 1),), far, near], [record], [0, -1, -1])
        found = Absence().run(adversary(release), lambda _: None)
        assert (found["left_out"].number, found["proven"].number) == (2, 1)
        assert (found["incomplete"].number, found.share) == (0, pytest.approx(2 / 3))

    def test_nothing_is_left_out(self):
        release = made([(cell(0, 0, 1),)], [[(0, 3, 0, 8, 1, 10)]], [0])
        found = Absence().run(adversary(release), lambda _: None)
        assert (found.share, found.says) == (0, "Nobody and no sample was left out.")

    @pytest.mark.parametrize("attack", [Edges, Presence, Absence])
    def test_is_not_tried_where_positions_were_moved(self, attack):
        rules = Rules(held=False, most=-1, witness=False, whole=False)
        release = made([(cell(0, 0, 1),)], [[(0, 3, 0, 8, 1, 10)]], [0], rules)
        assert "were moved" in attack().unfit(adversary(release))
