"""What the record of a crowd tells of its people, beside plain Python and by hand."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from evaluate.pairs import ORIGINS, ZONES, crowds, pairs
from incrowd import Frame, Trajectories
from incrowd.errors import ArgumentError, InputError
from incrowd.evaluate._comparison import BeforeAfter, of_release
from incrowd.evaluate._utility import inference as module
from incrowd.measure import _centres
from strategies import grown, random_cases, trajectories

HOURS = {"home": {22, 23, 0, 1, 2, 3, 4, 5}, "work": set(range(9, 17))}
METRES = st.lists(st.sampled_from([50, 100, 112.5, 200, 1000, 3000]), min_size=1, max_size=3)
BY_THE_HOUR = Frame(slot=3600)


@st.composite
def emptied(draw):
    """Pairs of any kind, some people and some crowds being without a sample."""
    pair = draw(pairs(known=True))
    before, after = pair.before, pair.after
    if draw(st.booleans()):
        offsets = np.insert(after.offsets, draw(st.integers(0, len(after))), 0)
        offsets = np.sort(offsets)
        crowd = np.append(after.crowd, np.int32(draw(st.integers(1, 3))))
        after = Trajectories(after.columns, offsets, after.frame, crowd=crowd)
    if draw(st.booleans()):
        last = before.offsets[-1]
        before = Trajectories(before.columns, np.append(before.offsets, last), before.frame)
    place = st.integers(-1, len(after) - 1)
    became = draw(st.lists(place, min_size=len(before), max_size=len(before)))
    return BeforeAfter(before, after, np.array(became, np.int64))


@st.composite
def near(draw):
    """People who all live in a few cells, and boxes about them by day and by night."""
    origin = draw(st.sampled_from(ORIGINS))
    frame = Frame(cell=draw(st.sampled_from([100, 37.5, 1000])), slot=3600, origin=origin)
    shape = {"frame": frame, "min_people": 1, "cells": 1, "max_rows": 12}
    slots, longest = draw(st.sampled_from([6, 24])), draw(st.integers(1, 2))
    before = draw(trajectories(slots=slots, longest=longest, **shape))
    after = draw(trajectories(slots=slots, longest=draw(st.integers(1, 3)), max_crowd=3, **shape))
    place = st.integers(0, len(after) - 1)
    became = draw(st.lists(place, min_size=len(before), max_size=len(before)))
    return BeforeAfter(before, after, np.array(became, np.int64))


@st.composite
def hidden(draw):
    """People by the hour, and what GLOVE makes of them."""
    made = draw(grown(most=6, rarely=12, max_crowd=1, original=True))
    data = Trajectories(made.columns, made.offsets, Frame(slot=draw(st.sampled_from([3600, 900]))))
    how = {name: draw(st.sampled_from([None, 1, 3])) for name in ("max_space", "max_time")}
    k = draw(st.integers(2, min(3, len(data))))
    reshape = draw(st.sampled_from(["split", "union", "none"]))
    return of_release(data, incrowd.glove(data, k, reshape=reshape, threads=1, **how))


def compare(pair, tz, metres):
    """See whether every count is the oracle's."""
    found = incrowd.inference(pair, tz=tz, metres=metres, threads=1)
    before, after = ([boxes for _, boxes in crowds(side)] for side in (pair.before, pair.after))
    became, sizes = pair.became.tolist(), pair.after.crowd.tolist()
    published = [crowd for crowd in became if crowd >= 0]
    assert (found.people, found.dropped) == (len(published), became.count(-1))
    assert found.alone == sum(sizes[crowd] == 1 for crowd in published)
    assert [one.metres for one in found.disclosures] == metres
    for one in found.disclosures:
        wanted = naive.inferred(before, after, became, one.metres, HOURS, pair.before.frame, tz)
        assert {
            name: (getattr(one, name).number, getattr(one, name).of) for name in wanted
        } == wanted
        assert wanted.keys() == module.SHOWN.keys()


def at(boxes, crowd=None, frame=BY_THE_HOUR):
    """Make trajectories of boxes ``(user, x0, x1, y0, y1, t0, t1)``."""
    names = ("user", "x0", "x1", "y0", "y1", "t0", "t1")
    made = Trajectories.from_boxes(
        dict(zip(names, map(list, zip(*boxes, strict=True)), strict=True)), frame
    )
    size = np.ones(len(made), np.int32) if crowd is None else np.array(crowd, np.int32)
    return Trajectories(made.columns, made.offsets, frame, people=made.people, crowd=size)


def numbers(found, metres=100):
    """Give what is shown, number by number."""
    one = found.at(metres)
    return {name: getattr(one, name).number for name in module.SHOWN}


class TestCounts:
    @given(pair=pairs(known=True), tz=st.sampled_from(ZONES), metres=METRES)
    @random_cases(1200)
    def test_are_what_the_words_say(self, pair, tz, metres):
        compare(pair, tz, metres)

    @given(pair=near(), tz=st.sampled_from(ZONES), metres=METRES)
    @random_cases(2400)
    def test_at_the_edges_of_boxes_and_hours(self, pair, tz, metres):
        compare(pair, tz, metres)

    @given(pair=emptied(), tz=st.sampled_from(ZONES), metres=METRES)
    @random_cases(400)
    def test_where_somebody_has_no_sample(self, pair, tz, metres):
        compare(pair, tz, metres)

    @given(pair=hidden(), tz=st.sampled_from(ZONES), metres=METRES)
    @random_cases(400)
    def test_of_crowds(self, pair, tz, metres):
        if pair.after.samples:
            compare(pair, tz, metres)

    @given(pair=pairs(known=True), tz=st.sampled_from(ZONES))
    @random_cases(40)
    def test_do_not_depend_on_threads_nor_on_blocks(self, pair, tz):
        alone = incrowd.inference(pair, tz=tz, threads=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_centres, "BLOCK", 3)
            patch.setattr(module, "SLOTS", 2)
            assert incrowd.inference(pair, tz=tz, threads=3) == alone


class TestHome:
    # She sleeps in cell (0, 0), and works in (5, 5).
    person = ((1, 0, 1, 0, 1, 23, 24), (1, 0, 1, 0, 1, 26, 27), (1, 5, 6, 5, 6, 34, 35))

    def shown(self, *boxes, metres=100):
        pair = BeforeAfter(at(self.person), at([(1, *box) for box in boxes]), np.array([0]))
        return numbers(incrowd.inference(pair, metres=(100, 1000)), metres)

    def test_is_shown_by_a_small_box_at_night(self):
        shown = {"home": 1, "work": 0, "night": 1, "samples": 1, "homogeneous": 1}
        assert self.shown((0, 1, 0, 1, 23, 24)) == shown

    def test_on_any_night(self):
        """Nobody has a sample then, but the place is there."""
        shown = self.shown((0, 1, 0, 1, 48, 49))
        assert (shown["home"], shown["night"], shown["samples"]) == (1, 0, 0)

    def test_not_by_day(self):
        assert self.shown((0, 1, 0, 1, 30, 46))["home"] == 0
        assert self.shown((0, 1, 0, 1, 30, 47))["home"] == 1
        assert self.shown((0, 1, 0, 1, 29, 46))["home"] == 1

    def test_not_beside_it(self):
        for box in ((1, 2, 0, 1), (-1, 0, 0, 1), (0, 1, 1, 2), (0, 1, -1, 0)):
            assert self.shown((*box, 23, 24), metres=1000)["home"] == 0

    def test_both_width_and_height_count(self):
        assert self.shown((0, 2, 0, 1, 23, 24))["home"] == 0
        assert self.shown((0, 1, 0, 2, 23, 24))["home"] == 0
        assert self.shown((0, 10, 0, 10, 23, 24), metres=1000)["home"] == 1
        assert self.shown((0, 11, 0, 10, 23, 24), metres=1000)["home"] == 0
        assert self.shown((0, 10, 0, 11, 23, 24), metres=1000)["home"] == 0

    def test_work_has_hours_of_its_own(self):
        assert self.shown((5, 6, 5, 6, 23, 24))["work"] == 0
        assert self.shown((5, 6, 5, 6, 33, 34))["work"] == 1

    def test_a_grid_that_is_coarser_counts_one_cell(self):
        frame = Frame(cell=1500, slot=3600)
        data = at(self.person, frame=frame)
        found = incrowd.inference(BeforeAfter(data, data, np.array([0])))
        assert [(one.cells, one.side, one.home.share) for one in found.disclosures] == [
            (1, 1500, 1)
        ] * 2
        assert [line for line in found.words if "home to" in line] == [
            "For 100% of people the record of their crowd shows the home to within 1.5 km."
        ]


class TestHomogeneous:
    def shown(self, *cells):
        """Give how many people of one crowd live together, who sleep in some cells."""
        people = at([(i, x, x + 1, y, y + 1, 0, 1) for i, (x, y) in enumerate(cells)])
        wide = at([(0, -50, 50, -50, 50, 0, 1)], [len(cells)])
        found = incrowd.inference(BeforeAfter(people, wide, np.zeros(len(cells), np.int64)))
        return [one.homogeneous.number for one in found.disclosures]

    def test_is_a_crowd_of_one_home(self):
        assert self.shown((3, 4), (3, 4), (3, 4)) == [3, 3]

    def test_up_to_the_width_of_a_box(self):
        assert self.shown((0, 0), (1, 0)) == [0, 2]
        assert self.shown((0, 0), (9, 9)) == [0, 2]
        assert self.shown((0, 0), (10, 0)) == [0, 0]
        assert self.shown((0, 0), (0, 10)) == [0, 0]

    def test_who_is_never_seen_at_night_does_not_count(self):
        people = at([(0, 0, 1, 0, 1, 0, 1), (1, 9, 10, 9, 10, 12, 13)])
        found = incrowd.inference(
            BeforeAfter(people, at([(0, 0, 9, 0, 9, 0, 24)], [2]), np.zeros(2, np.int64))
        )
        assert found.at(100).homogeneous == module.Share(1, 1)
        assert "1 of 2 (50.0%) people were never seen from 22 to 6 h" in " ".join(found.words)


class TestInference:
    def test_of_the_original_itself_tells_everything(self):
        city = incrowd.synthesize("city", users=20, seed=3)
        found = incrowd.inference(BeforeAfter(city, city, np.arange(20)), tz="Africa/Abidjan")
        assert found.alone == found.people == 20
        for one in found.disclosures:
            shares = [getattr(one, name).share for name in module.SHOWN]
            assert shares == [1] * 5
        assert "20 of 20 (100.0%) people have a record of their own." in found.words

    def test_works_for_a_mechanism_without_crowds(self):
        city = incrowd.synthesize("city", users=20, seed=3)
        made = incrowd.Generalise(metres=500, minutes=60).protect(city)
        found = incrowd.inference(of_release(city, made), tz="Africa/Abidjan")
        assert found.alone == 20
        assert (found.at(100).samples.share, found.at(1000).samples.share) == (0, 1)
        assert found.at(1000).home.share == 1

    @given(pair=pairs(known=True))
    @random_cases(15)
    def test_is_plain_for_machines(self, pair):
        found = incrowd.inference(pair).as_dict()
        assert json.loads(json.dumps(found, allow_nan=False)) == found

    def test_gives_shares_beside_counts(self):
        city = incrowd.synthesize("city", users=20, seed=3)
        found = incrowd.inference(of_release(city, incrowd.glove(city, k=2)))
        [fine, coarse] = found.as_dict()["disclosures"]
        assert (fine["metres"], coarse["metres"]) == (100, 1000)
        assert coarse["home"] == {
            "number": found.at(1000).home.number,
            "of": 20,
            "share": found.at(1000).home.share,
            "fewer_than": None,
            "all_but": None,
        }
        with pytest.raises(
            ArgumentError, match="500 metres were not asked for; there are 100, 1000"
        ):
            found.at(500)

    def test_is_told_step_by_step(self):
        seen = []
        city = incrowd.synthesize("city", users=5, seed=1)
        pair = BeforeAfter(city, city, np.arange(5))
        incrowd.inference(pair, progress=lambda *far: seen.append(far))
        assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]

    def test_if_nobody_known_is_published(self):
        one = at([(1, 3, 4, 4, 5, 5, 6)])
        found = incrowd.inference(BeforeAfter(one, one, np.array([-1])))
        assert (found.people, found.dropped, found.words) == (0, 1, [])
        assert found.at(100).home.share is None
        assert "-" in repr(found)

    def test_needs_the_private_record(self):
        city = incrowd.synthesize("city", users=5, seed=1)
        with pytest.raises(ArgumentError, match="needs the private record"):
            incrowd.inference(BeforeAfter(city, city, None))

    def test_needs_something_on_both_sides(self):
        city = incrowd.synthesize("city", users=5, seed=1)
        none = city[np.zeros(5, np.bool_)]
        with pytest.raises(InputError, match="the original has no samples"):
            incrowd.inference(BeforeAfter(none, city, np.zeros(0, np.int64)))
        with pytest.raises(InputError, match="nothing is published"):
            incrowd.inference(BeforeAfter(city, none, np.full(5, -1)))

    @pytest.mark.parametrize(
        ("wrong", "says"),
        [
            ({"tz": "Mars/Olympus"}, "unknown time zone"),
            ({"tz": "Factory"}, "unknown time zone 'Factory'"),
            ({"metres": ()}, "give lengths above 0"),
            ({"metres": (100, 0)}, "give lengths above 0"),
            ({"metres": (float("nan"),)}, "give lengths above 0"),
            ({"metres": 100}, "metres is 100; give lengths above 0"),
            ({"metres": (1e30,)}, "up to 40,000 km"),
            ({"metres": (float("inf"),)}, "give lengths above 0"),
            ({"threads": 0}, "threads must be a positive integer, or None for all cores, not 0"),
        ],
    )
    def test_refuses_what_makes_no_sense(self, wrong, says):
        city = incrowd.synthesize("city", users=5, seed=1)
        with pytest.raises(ArgumentError, match=says):
            incrowd.inference(BeforeAfter(city, city, np.arange(5)), **wrong)

    def test_refuses_crowds_before_and_two_grids(self):
        one = at([(1, 3, 4, 4, 5, 5, 6)])
        with pytest.raises(ArgumentError, match="this one has crowds"):
            incrowd.inference(BeforeAfter(at([(1, 3, 4, 4, 5, 5, 6)], [2]), one, np.array([0])))
        other = at([(1, 3, 4, 4, 5, 5, 6)], frame=Frame(cell=50, slot=3600))
        with pytest.raises(ArgumentError, match="one grid"):
            incrowd.inference(BeforeAfter(one, other, np.array([0])))
