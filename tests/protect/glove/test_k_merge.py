import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from incrowd.errors import ArgumentError
from incrowd.measure._stretch.definition import Stretch
from incrowd.protect._glove.k_merge import boxes_of_crowds
from incrowd.protect._glove.merge import ANY
from incrowd.protect._glove.samples import FEWEST, KEEP_ALL, Limits
from strategies import only_deep, random_cases


@st.composite
def crowds(draw, *, longest=1, most=9, members=7):
    """Draw the samples of some people, few enough to try all sets of boxes."""
    number = draw(st.integers(1, members))
    slots = draw(st.sampled_from([3, 8, 20]))
    cells = draw(st.sampled_from([1, 3, 9]))
    side = lambda most: st.tuples(st.integers(0, most), st.integers(1, longest)).map(  # noqa: E731
        lambda s: (s[0], s[0] + s[1])
    )
    sample = st.tuples(side(cells), side(cells), side(slots)).map(lambda s: (*s[0], *s[1], *s[2]))
    everybody = [draw(sample) for _ in range(number)]
    more = draw(st.lists(st.tuples(st.integers(0, number - 1), sample), max_size=most - number))
    people = [[one] for one in everybody]
    for m, one in more:
        people[m].append(one)
    return [sorted(set(boxes), key=naive.in_time) for boxes in people]


def settings():
    return st.builds(
        naive.Settings,
        st.sampled_from([1, 3, 8, 200]),
        st.sampled_from([1, 4, 10, 480]),
        st.integers(0, 2),
        st.integers(1, 2),
    )


def found(people, crowd, stretch, price=KEEP_ALL, max_space=None, max_time=None, *, stop=True):
    """Give the boxes of a crowd, its loss as a fraction, and the weight of what is deleted."""
    data = strategies.crowded(people, crowd)
    scale = Stretch(*stretch).scale(stop=stop)
    limits = Limits(
        ANY if max_space is None else max_space, ANY if max_time is None else max_time, price
    )
    everybody, groups = np.arange(len(people)), np.array([0, len(people)])
    boxed = boxes_of_crowds(data, everybody, groups, scale, limits, threads=1)
    boxes = list(zip(*(side.tolist() for side in boxed.columns), strict=True))
    assert boxed.lengths.tolist() == [len(boxes)]
    return boxes, Fraction(int(boxed.loss[0]), scale.whole), int(boxed.deleted[0])


def weighed(people, crowd, gone):
    """Give the weight of deleted samples."""
    left = list(gone)
    total = 0
    for boxes, n in zip(people, crowd, strict=True):
        for box in boxes:
            if box in left:
                left.remove(box)
                total += n
    return total


class TestNothingDeleted:
    @random_cases(2000)
    @given(crowds(), settings())
    def test_is_the_best_of_all_cuts(self, people, stretch):
        crowd = [1] * len(people)
        boxes, loss, _ = naive.k_merge(people, settings=stretch)
        assert found(people, crowd, stretch) == (boxes, loss, 0)

    @random_cases(1000)
    @given(crowds(longest=4), settings(), st.data())
    def test_is_the_best_of_all_cuts_of_boxes(self, people, stretch, data):
        crowd = data.draw(st.lists(st.integers(1, 3), min_size=len(people), max_size=len(people)))
        boxes, loss, _ = naive.k_merge(people, crowd, settings=stretch)
        assert found(people, crowd, stretch) == (boxes, loss, 0)


class TestDeletion:
    @random_cases(2000)
    @given(
        crowds(most=8),
        settings(),
        st.sampled_from([0, 1, 5, 50, 400, FEWEST]),
        st.sampled_from([None, 1, 2, 5]),
        st.sampled_from([None, 1, 3, 8]),
    )
    def test_is_the_best_of_all_sets(self, people, stretch, percent, max_space, max_time):
        self.same(people, [1] * len(people), stretch, percent, max_space, max_time)

    @random_cases(1000)
    @given(
        crowds(longest=4, most=7),
        settings(),
        st.sampled_from([0, 1, 5, 50, 400, FEWEST]),
        st.sampled_from([None, 2, 5]),
        st.sampled_from([None, 3, 8]),
        st.data(),
    )
    def test_is_the_best_of_all_sets_of_boxes(
        self, people, stretch, percent, max_space, max_time, data
    ):
        crowd = data.draw(st.lists(st.integers(1, 3), min_size=len(people), max_size=len(people)))
        self.same(people, crowd, stretch, percent, max_space, max_time)

    def same(self, people, crowd, stretch, percent, max_space, max_time):
        whole = Stretch(*stretch).scale().whole
        price = FEWEST if percent == FEWEST else percent * whole // 100
        asked = naive.FEWEST if percent == FEWEST else Fraction(price, whole)
        boxes, loss, gone = naive.k_merge(people, crowd, asked, max_space, max_time, stretch)
        mine = found(people, crowd, stretch, price, max_space, max_time)
        if boxes is None:
            assert mine[0] == []
        else:
            assert mine == (boxes, loss, weighed(people, crowd, gone))

    @random_cases(1500)
    @given(
        crowds(most=40, members=3) | crowds(longest=3, most=25, members=3),
        settings(),
        st.sampled_from([0, 1, 5, 20, 60, 110, 400, FEWEST]),
        st.sampled_from([None, 2, 5]),
        st.sampled_from([None, 3, 8]),
    )
    def test_what_is_not_looked_at_does_not_matter(
        self, people, stretch, percent, max_space, max_time
    ):
        whole = Stretch(*stretch).scale().whole
        price = FEWEST if percent == FEWEST else percent * whole // 100
        crowd = [1] * len(people)
        how = people, crowd, stretch, price, max_space, max_time
        assert found(*how) == found(*how, stop=False)
        assert found(*how[:3]) == found(*how[:3], stop=False)


class TestLong:
    """One member has far more samples than the others."""

    @pytest.mark.parametrize("often", [12, *only_deep(3, 70)])
    @pytest.mark.parametrize("cells", [4, *only_deep(1, 300)])
    @pytest.mark.parametrize("stretch", [(200, 480, 1, 1), (3, 9, 1, 2), (20, 100, 1, 0)])
    def test_blocks_do_not_matter(self, often, cells, stretch):
        dice = np.random.default_rng(often)
        people = []
        for number in (6000, often, often + 1):
            at = np.sort(dice.choice(20_000, number, replace=False))
            x, y = (dice.integers(0, cells, number) for _ in range(2))
            people.append(
                [(a, a + 1, b, b + 1, t, t + 1) for a, b, t in zip(x, y, at, strict=True)]
            )
        crowd = [1, 1, 1]
        boxes, loss, _ = found(people, crowd, stretch)
        assert (boxes, loss, 0) == found(people, crowd, stretch, stop=False)
        assert len(boxes) > 1


class TestACity:
    """People of real sizes, in crowds as GLOVE makes them."""

    @pytest.mark.parametrize("k", [2, 5])
    @pytest.mark.parametrize(
        "limits",
        [
            (ANY, ANY, KEEP_ALL),
            (150, 360, FEWEST),
            (30, 120, 192_000),
            (ANY, 240, 20_000),
            (50, 900, 60_000),
        ],
    )
    def test_what_is_not_looked_at_does_not_matter(self, k, limits):
        data = incrowd.synthesize("city", users=15, seed=4)
        order = np.random.default_rng(1).permutation(len(data))
        groups = np.arange(0, len(data) + 1, k)
        ways = [
            boxes_of_crowds(
                data, order, groups, Stretch().scale(stop=stop), Limits(*limits), threads=threads
            )
            for stop, threads in ((True, 1), (True, 2), (False, 2))
        ]
        for other in ways[1:]:
            for mine, theirs in zip(
                (*ways[0].columns, *ways[0][1:]), (*other.columns, *other[1:]), strict=True
            ):
                assert mine.tolist() == theirs.tolist()


@st.composite
def small_cases(draw, **how):
    """Draw people with so few samples that all sets of boxes of a crowd can be tried."""
    people = draw(
        st.lists(
            st.lists(strategies.boxes(**how), min_size=1, max_size=2, unique=True),
            min_size=2,
            max_size=6,
        )
    )
    crowd = draw(st.lists(st.integers(1, 2), min_size=len(people), max_size=len(people)))
    k = draw(st.integers(2, 3))
    data = strategies.noted([sorted(boxes, key=naive.in_time) for boxes in people], crowd)
    return data, k, draw(st.sampled_from(["strict", "loose"])), draw(strategies.settings())


class TestGlove:
    def same(self, case, price=None, **limits):
        data, k, variant, stretch = case
        crowd = data.crowd.tolist()
        if sum(crowd) < k:
            return
        told = {"suppress_price": price} | limits
        whole = Stretch(*stretch).scale().whole
        exact = naive.FEWEST if limits else None
        if price is not None:
            exact = Fraction(round(Fraction(price) * whole), whole)
        boxes, place = naive.glove_optimal(
            naive.people_of(data),
            k,
            variant,
            exact,
            limits.get("max_space"),
            limits.get("max_time"),
            stretch,
            crowd,
        )
        release = incrowd.glove(data, k, variant=variant, stretch=Stretch(*stretch), **told)
        assert [person for _, person in naive.people_of(release.trajectories)] == boxes
        assert release.assignment["trajectory"].to_list() == place
        assert release.settings["merge"] == "optimal"

    @random_cases(400)
    @given(small_cases(longest=1))
    def test_boxes_are_the_best(self, case):
        self.same(case)

    @random_cases(300)
    @given(small_cases())
    def test_of_boxes_too(self, case):
        self.same(case)

    @random_cases(400)
    @given(
        small_cases(longest=1),
        st.sampled_from([None, 0, 0.1, 0.5, 2]),
        st.sampled_from([{"max_space": 2}, {"max_time": 3}, {"max_space": 1, "max_time": 2}, {}]),
    )
    def test_with_thresholds_and_prices(self, case, price, limits):
        self.same(case, price, **limits)

    @pytest.mark.parametrize("k", [2, 3])
    def test_threads_do_not_matter(self, k):
        data = incrowd.synthesize("city", users=30, seed=2)
        how = {"max_metres": 3000, "max_minutes": 300, "suppress_at_most": 0.5}
        one, two = (incrowd.glove(data, k, threads=n, **how) for n in (1, 2))
        assert naive.people_of(one.trajectories) == naive.people_of(two.trajectories)
        assert one.settings == two.settings

    def test_crowds_are_those_of_the_papers(self):
        data = incrowd.synthesize("city", users=60, seed=3)
        papers, best = (incrowd.glove(data, 3, merge=merge) for merge in ("two-stage", "optimal"))
        assert papers.merges.equals(best.merges)
        assert papers.assignment.equals(best.assignment)

    def test_reshape_alone_means_two_stages(self):
        data = incrowd.synthesize("city", users=20, seed=3)
        assert incrowd.glove(data, reshape="split").settings["merge"] == "two-stage"
        assert incrowd.glove(data).settings["merge"] == "optimal"


class TestShare:
    DATA = incrowd.synthesize("city", users=40, seed=5)

    def deleted(self, **how):
        release = incrowd.glove(self.DATA, 2, **how)
        return release.losses.samples_suppressed + release.losses.samples_dropped, release

    @pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
    def test_the_lowest_price_that_keeps_to_it(self, share):
        number, release = self.deleted(suppress_at_most=share)
        assert number <= share * self.DATA.samples
        price, whole = release.settings["price_found"], Stretch().scale().whole
        assert self.deleted(suppress_price=price)[0] == number
        assert self.deleted(suppress_price=price - 1 / whole)[0] > share * self.DATA.samples

    def test_nothing_is_deleted_for_a_share_of_nothing(self):
        number, release = self.deleted(suppress_at_most=0)
        assert number == 0
        assert naive.people_of(release.trajectories) == naive.people_of(
            incrowd.glove(self.DATA, 2).trajectories
        )

    def test_thresholds_that_ask_for_more(self):
        with pytest.raises(ArgumentError, match=r"take at least .*% of the samples"):
            incrowd.glove(self.DATA, 2, max_metres=200, suppress_at_most=0.01)

    def test_boxes_keep_to_the_thresholds(self):
        _, release = self.deleted(max_metres=1500, max_minutes=90)
        x0, x1, y0, y1, t0, t1 = release.trajectories.columns
        assert max((x1 - x0).max(), (y1 - y0).max()) <= 15
        assert (t1 - t0).max() <= 90

    def test_thresholds_that_leave_nothing_of_somebody(self):
        far = [[(0, 1, 0, 1, 0, 1)], [(90, 91, 0, 1, 0, 1)], [(0, 1, 0, 1, 500, 501)],
               [(0, 1, 0, 1, 501, 502)]]  # fmt: skip
        release = incrowd.glove(strategies.crowded(far), 2, max_metres=1000)
        assert release.assignment["trajectory"].to_list() == [None, None, 0, 0]
        assert release.losses.people_emptied == 2
        assert release.losses.samples_dropped == 2


class TestBadInput:
    DATA = strategies.crowded([[(0, 1, 0, 1, 0, 1)], [(1, 2, 0, 1, 0, 1)]])

    @pytest.mark.parametrize(
        ("how", "text"),
        [
            ({"merge": "best"}, "merge must be one of optimal, two-stage, not 'best'"),
            ({"merge": "optimal", "reshape": "split"}, "reshape belongs to merge='two-stage'"),
            ({"merge": "optimal", "suppress": "boxes"}, "suppress belongs to merge='two-stage'"),
            ({"merge": "two-stage", "suppress_price": 1}, "suppress_price belongs to merge='opti"),
            ({"reshape": "none", "suppress_at_most": 0.1}, "suppress_at_most belongs to merge='o"),
            ({"suppress_price": -0.1}, "suppress_price must be a finite number from 0 on, not -0"),
            ({"suppress_price": float("nan")}, "must be a finite number from 0 on, not nan"),
            ({"suppress_price": float("inf")}, "must be a finite number from 0 on, not inf"),
            ({"suppress_price": "1"}, "must be a finite number from 0 on, not '1'"),
            ({"suppress_price": 1e18}, "too much for exact arithmetic"),
            ({"suppress_at_most": 1}, "suppress_at_most must be from 0 to below 1, not 1"),
            ({"suppress_at_most": -0.01}, "must be from 0 to below 1, not -0.01"),
            ({"suppress_price": 1, "suppress_at_most": 0}, "leave suppress_price out"),
            ({"max_metres": 50}, "max_metres must be at least one cell of the grid"),
            ({"max_minutes": 0.5}, "max_minutes must be at least one slot of the grid"),
        ],
    )
    def test_is_refused(self, how, text):
        with pytest.raises(ArgumentError, match=re.escape(text)):
            incrowd.glove(self.DATA, 2, **how)
        if "too much" not in text and "of the grid" not in text:
            with pytest.raises(ArgumentError, match=re.escape(text)):
                incrowd.Glove(2, **how)
