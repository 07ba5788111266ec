import contextlib
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from incrowd.errors import ArgumentError
from incrowd.measure._stretch import partition
from incrowd.measure._stretch.definition import Stretch
from incrowd.protect._glove import engine, grouping
from strategies import Case, only_deep, random_cases

LOSSES = (
    "people_left_over",
    "people_emptied",
    "people_dropped",
    "samples_dropped",
    "samples_suppressed",
    "boxes_suppressed",
)
NOTHING = dict.fromkeys(LOSSES, 0)


def released(case, **how):
    """Run GLOVE on a case."""
    return incrowd.glove(case.data, **case.told(), **how)


def found(release):
    """Take a release apart."""
    published = release.trajectories
    return {
        "merges": release.merges.select("older", "younger", "cost").rows(),
        "boxes": naive.people_of(published),
        "crowds": published.crowd.tolist(),
        "assignment": release.assignment.select("user", "trajectory").rows(),
        "losses": {name: getattr(release.losses, name) for name in LOSSES},
    }


def oracle(case):
    """Run the oracle on a case."""
    return naive.glove(naive.people_of(case.data), *case[2:], case.settings, crowds(case))


def crowds(case):
    return case.data.crowd.tolist()


def expected(case):
    """Give what the oracle says in the form of `found`."""
    gloved = oracle(case)
    return {
        "merges": [(older, younger, float(cost)) for older, younger, cost in gloved.merges],
        "boxes": [(place, node.boxes) for place, node in enumerate(gloved.published)],
        "crowds": [node.crowd for node in gloved.published],
        "assignment": list(zip(case.data.people.to_list(), gloved.assignment, strict=True)),
        "losses": gloved.losses,
    }


def both(people, crowd=None, **told):
    """Give the oracle's result for people given by their boxes, after comparing the engine's."""
    case = Case(strategies.crowded(people, crowd), **told)
    assert found(released(case)) == expected(case)
    return oracle(case)


def pairs(gloved):
    return [(older, younger) for older, younger, _ in gloved.merges]


def costs(gloved):
    return [cost for _, _, cost in gloved.merges]


def boxes(gloved):
    return [node.boxes for node in gloved.published]


def losses(**counts):
    return NOTHING | counts


def at(*moments):
    """Make samples of one slot in the same cell."""
    return during(*((moment, moment + 1) for moment in moments))


def during(*spans):
    """Make samples in the same cell that last as long as the spans."""
    return [(0, 1, 0, 1, *span) for span in spans]


@contextlib.contextmanager
def coarse(regions, bins, listed):
    """Let bounds be as coarse, and lists as short, as told; bins may be a single slot."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition, "REGIONS", regions)
        patch.setattr(partition, "BINS", bins)
        patch.setattr(partition, "NARROWEST", 1)
        patch.setattr(engine, "lists_for", lambda _: listed)
        patch.setattr(grouping, "lists_for", lambda _: listed)
        patch.setattr(engine, "TOGETHER", 3)
        patch.setattr(grouping, "FEWEST", 1)
        yield


class TestLikeTheOracle:
    @random_cases(800)
    @given(strategies.cases(strategies.collisions()))
    def test_always(self, case):
        assert found(released(case)) == expected(case)

    @random_cases(330)
    @given(strategies.cases(strategies.collisions(max_crowd=1), k=2, variant="strict"))
    def test_in_pairs(self, case):
        assert found(released(case)) == expected(case)

    @random_cases(260)
    @given(strategies.cases(strategies.grown(copies=0.8, lengths=(1, 2, 3))))
    def test_when_many_are_the_same(self, case):
        assert found(released(case)) == expected(case)

    @random_cases(260)
    @given(strategies.cases(strategies.grown(lengths=(4, 6, 8), rarely=12), suppress=True))
    def test_when_much_is_suppressed(self, case):
        assert found(released(case)) == expected(case)


class TestHowItIsComputed:
    WAYS = (
        {"threads": 2},
        {"block": 1},
        {"block": 7, "threads": 3},
        {"block": 3, "bounds": False},
        {"bounds": False, "threads": 2},
    )

    @random_cases(100)
    @given(strategies.cases(strategies.grown(most=30, rarely=60)))
    def test_does_not_matter(self, case):
        alone = found(released(case, threads=1))
        for way in self.WAYS:
            assert found(released(case, **way)) == alone, way

    @pytest.mark.parametrize("variant", ["strict", "loose"])
    @pytest.mark.parametrize("k", [2, 5])
    def test_does_not_matter_in_a_city(self, k, variant):
        case = Case(incrowd.synthesize("city", users=60, seed=7), k=k, variant=variant)
        alone = found(released(case, threads=1))
        for way in self.WAYS:
            assert found(released(case, **way)) == alone, way

    @random_cases(260)
    @given(
        strategies.cases(strategies.collisions()),
        st.sampled_from([1, 2, 5]),
        st.sampled_from([1, 3, 40]),
        st.sampled_from([1, 2, 7]),
    )
    def test_a_coarse_map_and_short_lists_do_not_matter(self, case, regions, bins, listed):
        with coarse(regions, bins, listed):
            assert found(released(case)) == expected(case)

    @pytest.mark.parametrize("off", ["near", "stop", "small"])
    def test_no_single_shortcut_matters(self, off, monkeypatch):
        case = Case(incrowd.synthesize("city", users=60, seed=8), k=3)
        whole, scale = found(released(case)), Stretch.scale
        monkeypatch.setattr(
            Stretch, "scale", lambda stretch, **on: scale(stretch, **on | {off: type(on[off])(0)})
        )
        assert found(released(case)) == whole

    @pytest.mark.parametrize("k", [*only_deep(2), 3])
    def test_many_do_not_matter(self, k):
        # Several chunks, lists that are used up, slots that are moved together.
        case = Case(incrowd.synthesize("city", users=300, seed=9), k=k)
        slow = found(released(case, bounds=False))
        assert found(released(case)) == slow
        with coarse(8, 50, 2):
            assert found(released(case, block=5)) == slow

    @pytest.mark.parametrize("stretch", [Stretch(), Stretch(max_space=1000, max_time=3000)])
    def test_a_wide_country_does_not_matter(self, stretch):
        # Boxes wider than any threshold, and thresholds that take more than a byte.
        data = incrowd.synthesize("civ", users=120, seed=3)
        ways = [{}, {"threads": 2}, {"bounds": False}]
        one, two, slow = (incrowd.glove(data, 4, stretch=stretch, **way).merges for way in ways)
        assert one.equals(two)
        assert one.equals(slow)

    def test_identifiers_do_not_matter(self):
        rows = {"user": ["z", "a", "m", "z"], "x0": [0, 0, 9, 1], "y0": [0] * 4, "t0": [0, 1, 2, 3]}
        case = Case(incrowd.Trajectories.from_boxes(rows))
        assert found(released(case)) == expected(case)
        assert released(case).assignment["user"].to_list() == ["z", "a", "m"]
        assert released(case).trajectories.people.to_list() == [0]


class TestMerging:
    def test_stage_a_then_stage_b(self):
        longer, shorter = at(10, 12, 30, 33), at(4, 11, 31)
        # 10 and 12 go to 11; 30 and 33 to 31; then 4, left over, joins the first.
        gloved = both([longer, shorter])
        assert boxes(gloved) == [during((4, 13), (30, 34))]
        assert costs(gloved) == [Fraction(1 + 1 + 1 + 2, 4 * 480 * 2)]
        assert boxes(both([shorter, longer])) == boxes(gloved)

    def test_stage_b_weighs_a_result_by_all_its_people(self):
        older, younger = during((0, 9), (1, 9), (15, 16)), during((0, 9), (10, 11), (15, 16))
        # To join [0, 9), the leftover stretches by 10 and two people by 2 each: (10 + 2 * 2) / 3;
        # to join [15, 16) everybody by 5. With equal weights it would be 6 against 5.
        assert boxes(both([older, younger])) == [during((0, 11), (15, 16))]

    def test_stage_b_finds_all_matches_before_it_merges(self):
        twice = [(x, x + 1, 0, 1, t, t + 1) for t in (0, 20) for x in (0, 1)]
        # Had 9 joined 0 already, 11 would follow.
        gloved = both([twice, at(0, 9, 11, 20)])
        assert boxes(gloved) == [[(0, 2, 0, 1, 0, 10), (0, 2, 0, 1, 11, 21)]]

    def test_of_equally_cheap_samples_the_first_is_taken(self):
        # In stage A 5 is as far from 0 as from 10, in stage B 20 from [9, 11) as from [30, 32).
        assert boxes(both([at(0, 5, 10), at(0, 10)])) == [during((0, 6), (10, 11))]
        older, younger = at(9, 10, 30, 31), at(10, 20, 30)
        assert boxes(both([older, younger])) == [during((9, 21), (30, 32))]

    def test_of_equal_length_the_older_is_the_longer(self):
        # Both of the first go to 0; from the second, 9 would be merged with 1 alone.
        gloved = both([at(0, 1), at(0, 9)])
        assert boxes(gloved) == [during((0, 10))]
        gloved = both([at(0, 9), at(0, 1)])
        assert boxes(gloved) == [during((0, 1), (1, 10))]

    # Both of the younger's samples grow into the same box.
    DOUBLE = (
        [(2, 3, 0, 2, 0, 1), (2, 3, 0, 2, 0, 3), (0, 1, 1, 2, 2, 3)],
        [(0, 1, 0, 3, 0, 1), (0, 3, 2, 3, 0, 3)],
    )

    @pytest.mark.parametrize("reshape", ["split", "union", "none"])
    def test_equal_boxes_are_one(self, reshape):
        assert boxes(both(self.DOUBLE, reshape=reshape)) == [[(0, 3, 0, 3, 0, 3)]]

    def test_equal_boxes_are_suppressed_one_by_one(self):
        gloved = both(self.DOUBLE, max_space=2)
        assert gloved.losses == losses(
            people_emptied=2, people_dropped=2, samples_dropped=5, boxes_suppressed=2
        )


class TestReshaping:
    HERE, THERE = (0, 1, 0, 1), (100, 101, 0, 1)
    ACROSS = (0, 101, 0, 1)

    @pytest.mark.parametrize(
        ("reshape", "boxes_of_one"),
        [
            ("split", [(*HERE, 1, 2), (*ACROSS, 2, 4), (*HERE, 4, 5)]),
            ("union", [(*ACROSS, 1, 5)]),
            ("none", [(*HERE, 1, 5), (*THERE, 2, 4)]),
        ],
    )
    def test_overlaps(self, reshape, boxes_of_one):
        # Places are so far apart that each is merged with itself, over the other's time.
        first = [(*self.HERE, 1, 2), (*self.THERE, 3, 4)]
        second = [(*self.HERE, 4, 5), (*self.THERE, 2, 3)]
        assert boxes(both([first, second], reshape=reshape)) == [boxes_of_one]

    @pytest.mark.parametrize("reshape", ["split", "union", "none"])
    def test_touching_is_no_overlap(self, reshape):
        walk = [(*self.HERE, 0, 5), (*self.HERE, 5, 6), (*self.THERE, 6, 9)]
        assert boxes(both([walk, walk], reshape=reshape)) == [walk]

    @pytest.mark.parametrize(
        ("reshape", "spans"),
        [
            ("split", [(0, 2), (2, 3), (3, 4), (4, 6), (8, 9)]),
            ("union", [(0, 6), (8, 9)]),
            ("none", [(0, 3), (2, 4), (3, 6), (8, 9)]),
        ],
    )
    def test_overlaps_through_others(self, reshape, spans):
        chain = during((0, 3), (2, 4), (3, 6), (8, 9))
        assert boxes(both([chain, chain], reshape=reshape)) == [during(*spans)]

    @pytest.mark.parametrize("reshape", ["split", "union"])
    def test_is_done_before_the_next_merge(self, reshape):
        chain = during((0, 3), (2, 4))
        gloved = both([chain, chain, at(2)], k=3, reshape=reshape)
        # The third joins what the reshaping of the first two gave.
        assert pairs(gloved) == [(0, 1), (2, 3)]
        pieces = {"split": during((0, 2), (2, 3), (3, 4)), "union": during((0, 4))}[reshape]
        assert costs(gloved)[1] == naive.trajectory_stretch(at(2), pieces, 1, 2)


class TestGreedy:
    def test_takes_the_cheapest_though_it_bars_the_best(self):
        # b and c are 10 apart, a and b, c and d 11; so a and d, 32 apart, have no choice.
        gloved = both([at(0), at(11), at(21), at(32)])
        assert pairs(gloved) == [(1, 2), (0, 3)]
        assert costs(gloved) == [Fraction(10, 960), Fraction(32, 960)]
        assert gloved.assignment == [1, 0, 0, 1]

    def test_of_equal_costs_the_oldest_pair_is_first(self):
        assert pairs(both([at(10), at(0), at(5), at(15)])) == [(0, 2), (1, 3)]
        assert pairs(both([at(0)] * 5)) == [(0, 1), (2, 3)]
        assert pairs(both([at(0)] * 6, k=3)) == [(0, 1), (2, 3), (4, 5), (6, 7)]
        assert pairs(both([at(0)] * 5, k=3, variant="loose")) == [(0, 1), (2, 3), (4, 5), (6, 7)]

    def test_strict_drops_who_is_left(self):
        gloved = both([at(0), at(1), at(10)])
        assert pairs(gloved) == [(0, 1)]
        assert gloved.assignment == [0, 0, None]
        assert gloved.losses == losses(people_left_over=1, people_dropped=1, samples_dropped=1)

    def test_loose_takes_in_who_is_left(self):
        gloved = both([at(0), at(1), at(10)], variant="loose")
        assert pairs(gloved) == [(0, 1), (2, 3)]
        # One stretches by 10 and two by 9 each.
        assert costs(gloved)[1] == Fraction(10 + 2 * 9, 3) / 480 / 2
        assert gloved.assignment == [0, 0, 0]
        assert gloved.published[0].crowd == 3
        assert gloved.losses == NOTHING

    def test_published_are_in_the_order_of_the_merges(self):
        gloved = both([at(0), at(50), at(2), at(51)])
        assert boxes(gloved) == [during((50, 52)), during((0, 3))]
        assert gloved.assignment == [1, 0, 1, 0]

    def test_strict_leaves_crowds_as_they_are(self):
        people = [at(0), at(0, 3), at(1), at(40)]
        gloved = both(people, [3, 1, 2, 1], k=3)
        assert pairs(gloved) == [(1, 2)]
        assert boxes(gloved) == [at(0), during((0, 4))]
        assert [node.crowd for node in gloved.published] == [3, 3]
        assert gloved.losses == losses(people_left_over=1, people_dropped=1, samples_dropped=1)

    def test_loose_lets_crowds_take_in_others(self):
        gloved = both([at(0), at(1), at(40)], [3, 1, 5], k=3, variant="loose")
        assert pairs(gloved) == [(0, 1)]
        assert boxes(gloved) == [at(40), during((0, 2))]
        assert [node.crowd for node in gloved.published] == [5, 4]

    def test_crowds_are_done_at_once(self):
        gloved = both([at(0), at(0)], [2, 2])
        assert (gloved.merges, gloved.assignment) == ([], [0, 1])

    def test_far_apart_does_not_overflow(self):
        far = 2**31 - 2
        ends = [[(-far, 1 - far) * 3], [(far, far + 1) * 3], [(0, 1) * 3]]
        gloved = both(ends, k=3)
        assert costs(gloved) == [1, 1]
        assert boxes(gloved) == [[(-far, far + 1) * 3]]


class TestSuppression:
    @pytest.mark.parametrize(("max_time", "kept"), [(11, True), (10, False)])
    def test_empties_a_merge(self, max_time, kept):
        gloved = both([at(0), at(10)], max_time=max_time)
        assert boxes(gloved) == [during((0, 11))] * kept
        assert gloved.assignment == [0 if kept else None] * 2
        assert gloved.losses == (
            NOTHING
            if kept
            else losses(people_emptied=2, people_dropped=2, samples_dropped=2, boxes_suppressed=1)
        )

    @pytest.mark.parametrize("axis", [0, 2])
    @pytest.mark.parametrize(("max_space", "kept"), [(4, True), (3, False)])
    def test_looks_at_each_axis(self, axis, max_space, kept):
        box = [0, 1, 0, 1, 0, 1]
        moved = list(box)
        moved[axis : axis + 2] = 3, 4
        gloved = both([[tuple(box)], [tuple(moved)]], max_space=max_space, max_time=1)
        assert len(gloved.published) == kept

    def test_leaves_an_index_out(self):
        # The first two are cheapest, but 4 cells wide; nothing is left of what would be 5.
        apart = [[(0, 1, 0, 1, 0, 1)], [(3, 4, 0, 1, 0, 1)]]
        people = [*apart, at(400), at(450), at(520)]
        gloved = both(people, variant="loose", max_space=3)
        assert pairs(gloved) == [(0, 1), (2, 3), (4, 6)]
        assert [node.index for node in gloved.published] == [7]
        assert gloved.assignment == [None, None, 0, 0, 0]

    def test_drops_what_is_too_large_and_keeps_the_rest(self):
        gloved = both([at(0, 100), at(1, 150)], max_time=20)
        assert boxes(gloved) == [during((0, 2))]
        assert gloved.assignment == [0, 0]
        assert gloved.losses == losses(samples_suppressed=2, boxes_suppressed=1)

    def test_is_before_reshaping(self):
        # Two overlap and together are too long; neither is alone.
        chain = during((0, 3), (2, 5))
        gloved = both([chain, chain], reshape="union", max_time=3)
        assert boxes(gloved) == [during((0, 5))]
        assert gloved.losses == NOTHING
        # Cut into pieces it would be short enough.
        chain = during((0, 4), (1, 3))
        gloved = both([chain, chain], max_time=3)
        assert boxes(gloved) == [during((1, 3))]
        assert gloved.losses == losses(samples_suppressed=2, boxes_suppressed=1)

    def test_a_sample_in_another_box_is_not_lost(self):
        # The box [0, 12) goes, but the second person's 8 lies in [8, 10) as well.
        wide = [(0, 1, 0, 1, 0, 12), (0, 3, 0, 1, 8, 10)]
        inside = [(0, 1, 0, 1, 8, 9), (0, 3, 0, 1, 8, 10)]
        gloved = both([wide, inside], max_time=11, reshape="none")
        assert boxes(gloved) == [[(0, 3, 0, 1, 8, 10)]]
        assert gloved.losses == losses(samples_suppressed=1, boxes_suppressed=1)

    def test_a_sample_of_which_a_part_is_left_is_lost(self):
        here, there, across = (0, 1, 0, 1), (100, 101, 0, 1), (0, 101, 0, 1)
        first = [(*here, 0, 10), (*there, 4, 6)]
        third = [(*here, 0, 4), (*across, 4, 6), (*here, 100, 101)]
        # The first two are cut at 4 and 6; what comes after 6 is lost by merging it with 100.
        gloved = both([first, first, third], k=3, max_time=50)
        assert boxes(gloved) == [[(*here, 0, 4), (*across, 4, 6)]]
        assert gloved.losses == losses(samples_suppressed=3, boxes_suppressed=1)

    def test_does_not_touch_who_is_not_merged(self):
        gloved = both([during((0, 9)), at(0), at(1)], [2, 1, 1], max_time=3)
        assert boxes(gloved) == [during((0, 9)), during((0, 2))]
        assert gloved.losses == NOTHING

    def test_may_leave_nobody(self):
        gloved = both([at(0), at(10), at(30)], variant="loose", max_time=5)
        assert gloved.published == []
        assert gloved.losses == losses(
            people_left_over=1,
            people_emptied=2,
            people_dropped=3,
            samples_dropped=3,
            boxes_suppressed=1,
        )

    @pytest.mark.parametrize(
        ("told", "text"),
        [
            ({"suppress": "odd", "max_time": 5}, "must be one of"),
            ({"suppress": "samples"}, "needs max_metres or max_minutes"),
        ],
    )
    def test_is_refused_where_it_makes_no_sense(self, told, text):
        with pytest.raises(ArgumentError, match=text):
            incrowd.glove(strategies.crowded([at(0), at(1)]), **told)

    def test_of_single_samples(self):
        # Both go to 0; only the far one is left out, and what they share is published.
        gloved = both([at(1, 30), at(0)], max_time=5, suppress="samples")
        assert boxes(gloved) == [during((0, 2))]
        assert gloved.losses == losses(samples_suppressed=1, boxes_suppressed=1)
        assert boxes(both([at(1, 30), at(0)], max_time=5)) == []

    def test_of_single_samples_lets_boxes_grow_on_both_sides(self):
        gloved = both([at(0, 8), at(4)], max_time=5, suppress="samples")
        assert boxes(gloved) == [during((0, 9))]
        assert gloved.losses == NOTHING

    def test_of_single_samples_in_the_second_stage(self):
        # All go to 1. Of those to whom nobody came, 20 is too far away, and 3 is not.
        gloved = both([at(0, 1, 2), at(1, 3, 20)], max_time=4, suppress="samples")
        assert boxes(gloved) == [during((0, 4))]
        assert gloved.losses == losses(samples_suppressed=1, boxes_suppressed=1)

    def test_of_single_samples_may_leave_nothing(self):
        gloved = both([at(0, 1), at(30, 40)], max_time=5, suppress="samples")
        assert gloved.published == []
        assert gloved.losses == losses(
            people_emptied=2, people_dropped=2, samples_dropped=4, boxes_suppressed=4
        )

    def test_people_count_by_their_crowd_and_samples_once(self):
        gloved = both([at(0, 1), at(10), at(40)], [3, 4, 2], k=7, max_time=5)
        assert gloved.losses == losses(
            people_left_over=2,
            people_emptied=7,
            people_dropped=9,
            samples_dropped=4,
            boxes_suppressed=1,
        )


class TestFineGrids:
    def test_costs_that_are_large_numbers_are_divided_by_what_they_share(self):
        # Nothing reaches these thresholds, so that one in the same proportion gives the same.
        city = incrowd.synthesize("city", users=40, seed=7)
        fine, usual = (
            incrowd.glove(city, 3, variant="loose", stretch=Stretch(n, 48 * n))
            for n in (10**7, 10**4)
        )
        assert fine.trajectories == usual.trajectories
        names = ["older", "younger"]
        assert fine.merges.select(names).equals(usual.merges.select(names))
        costs = (fine.merges["cost"] * 1000).to_list()
        assert costs == pytest.approx(usual.merges["cost"].to_list())


class TestWhatIsRefused:
    PEOPLE = strategies.crowded([at(0), at(1), at(9)])

    @pytest.mark.parametrize("k", [1, 0, -2, 2.0, 2.5, float("nan"), None, "2", True, [2]])
    def test_what_is_no_crowd(self, k):
        with pytest.raises(ArgumentError, match="k must be an integer of at least 2, not"):
            incrowd.glove(self.PEOPLE, k)

    def test_fewer_people_than_a_crowd_has(self):
        with pytest.raises(ArgumentError, match="3 people cannot hide in a crowd of 4"):
            incrowd.glove(self.PEOPLE, 4)
        with pytest.raises(ArgumentError, match="one person cannot hide in a crowd of 2"):
            incrowd.glove(self.PEOPLE[:1], 2)

    @pytest.mark.parametrize("name", ["max_space", "max_time"])
    @pytest.mark.parametrize("value", [0, -1, 0.5, 150.0, True, float("nan"), "9"])
    def test_thresholds_below_the_grid(self, name, value):
        with pytest.raises(ArgumentError, match=f"{name} must be .* no sample is smaller"):
            incrowd.glove(self.PEOPLE, 2, **{name: value})

    @pytest.mark.parametrize(
        ("told", "text"),
        [
            ({"variant": "odd"}, "variant must be one of"),
            ({"reshape": "odd"}, "reshape must be one of"),
            ({"stretch": (200, 480)}, "stretch must be a Stretch"),
            ({"stretch": {}}, "stretch must be a Stretch"),
            ({"stretch": Stretch(200, 480, 10**14)}, "weights of 100,000,000,000,000 and 1"),
            ({"block": 0}, "block must be an integer of at least 1"),
            ({"threads": 0}, "threads must be a positive integer, or None for all cores, not 0"),
        ],
    )
    def test_what_makes_no_sense(self, told, text):
        with pytest.raises(ArgumentError, match=text):
            incrowd.glove(self.PEOPLE, 2, **told)

    @pytest.mark.parametrize("data", [PEOPLE.boxes(), [1, 2], "calls.csv", None])
    def test_what_is_no_trajectories(self, data):
        with pytest.raises(ArgumentError, match="data must be Trajectories, not"):
            incrowd.glove(data, 2)


class TestNumbersOfNumpy:
    def test_are_as_good_as_others_and_leave_no_trace(self, tmp_path):
        people, number = strategies.crowded([at(0), at(1), at(9)]), np.int64
        stretch = Stretch(number(200), np.uint16(480), number(1), number(1))
        told = {"max_space": number(150), "max_time": np.int32(360), "stretch": stretch}
        release = incrowd.glove(people, number(2), checkpoint=tmp_path / "merges", **told)
        plain = incrowd.glove(people, 2, max_space=150, max_time=360)
        assert found(release) == found(plain)
        assert json.dumps(release.settings) == json.dumps(plain.settings)


class TestFarApart:
    def test_people_do_not_overflow(self):
        far = 2**30 + 2**29
        both([[(-far, 1 - far, 0, 1, 0, 1)], [(0, 1, far, far + 1, 0, 1)]], k=2)


class TestWords:
    def test_thresholds_hold_for_what_is_published_or_it_is_said_that_they_do_not(self):
        larger = "published ones can be larger than the thresholds"
        says = lambda **how: larger in " ".join(incrowd.Glove(2, **how).explanation)  # noqa: E731
        assert says(max_metres=15_000, merge="two-stage")
        assert says(max_minutes=360, reshape="union")
        assert not says(max_minutes=360, reshape="none")
        assert not says(max_metres=15_000)
        assert not says(merge="two-stage")
