"""Exchanges between crowds: never worse, everybody in, the best where all can be tried."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import strategies
from incrowd.errors import ArgumentError
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.index import scale_for
from incrowd.protect._glove import refine as module
from incrowd.protect._glove.checkpoint import RECORD
from incrowd.protect._glove.engine import Run
from incrowd.protect._glove.greedy import Rules
from incrowd.protect._glove.k_merge import Objective, losses_of_crowds
from incrowd.protect._glove.merge import ANY
from incrowd.protect._glove.refine import NEAREST, neighbours, refine
from incrowd.protect._glove.samples import FEWEST, KEEP_ALL, Limits
from strategies import only_deep, random_cases

KEPT = Limits(ANY, ANY, KEEP_ALL)


def lost(data, crowds, limits=KEPT):
    """Give what is lost in the best boxes of crowds, and the weight of what is deleted."""
    members = np.array([person for crowd in crowds for person in crowd])
    groups = np.cumsum([0, *map(len, crowds)])
    scale = scale_for(data, Stretch(), bounds=True)
    loss, deleted = losses_of_crowds(data, members, groups, scale, limits, threads=1)
    return int(loss.sum()), int(deleted.sum())


def crowds_in(place):
    return [np.flatnonzero(place == crowd).tolist() for crowd in np.unique(place)]


def everybody(data):
    """Let everybody be near everybody; who begins nearest is nearest."""
    near, first = np.full((len(data), NEAREST), -1), data.x0[data.offsets[:-1]]
    for person in range(len(data)):
        order = np.argsort(abs(first - first[person]), kind="stable")
        near[person, : len(data) - 1] = order[order != person]
    return near


def refined(data, place, k, limits=KEPT, price=0, **how):
    objective = Objective(scale_for(data, Stretch(), bounds=True), limits, price)
    how = {"threads": 1, "rounds": 50} | how
    with patch.object(module, "LITTLE", 1 << 60):  # to the end
        return refine(data, np.asarray(place), k, objective, everybody(data), **how)


def matchings(people):
    """Give all ways to make pairs."""
    if not people:
        yield []
        return
    first, *rest = people
    for other in rest:
        for pairs in matchings([person for person in rest if person != other]):
            yield [[first, other], *pairs]


@st.composite
def groups(draw, *, most=9, crowd=1):
    """Draw people, few enough to try everything."""
    boxes = st.lists(strategies.boxes(cells=40, slots=60, longest=2), min_size=1, max_size=5)
    number = draw(st.integers(2, most))
    people = [draw(boxes) for _ in range(number)]
    return strategies.crowded(people, [draw(st.integers(1, crowd)) for _ in range(number)])


class TestPairs:
    @random_cases(500)
    @given(st.data())
    def test_are_the_best_of_all(self, data):
        number = data.draw(st.sampled_from([2, 4, 6, 8]))
        boxes = st.lists(strategies.boxes(cells=40, slots=60, longest=2), min_size=1, max_size=5)
        people = strategies.crowded([data.draw(boxes) for _ in range(number)])
        order = data.draw(st.permutations(range(number)))
        place = np.empty(number, np.int64)
        place[list(order)] = np.arange(number) // 2
        found = refined(people, place, 2)
        best = min(lost(people, pairs) for pairs in matchings(list(range(number))))
        assert lost(people, crowds_in(found)) == best


class TestAnyCrowds:
    @random_cases(500)
    @given(groups(crowd=3), st.integers(2, 4), st.data())
    def test_are_large_enough_and_no_worse_after_each_round(self, people, k, data):
        if people.crowd.sum() < k:
            return
        # Crowds of k as they come; whoever is left is in none.
        place, crowd, weight = np.full(len(people), -1), 0, 0
        for person in data.draw(st.permutations(range(len(people)))):
            if people.crowd[[p for p in range(len(people)) if place[p] < 0]].sum() + weight < k:
                break
            place[person] = crowd
            weight += people.crowd[person]
            if weight >= k:
                crowd, weight = crowd + 1, 0
        place = np.where(place == crowd, -1, place) if weight else place
        limits, price = data.draw(
            st.sampled_from(
                [
                    (KEPT, 0),
                    (Limits(20, 30, FEWEST), 10**12),
                    (Limits(ANY, 30, 50_000), 50_000),
                ]
            )
        )
        now, before = place.copy(), []

        def note(who, where):
            now[who] = where
            if (now >= 0).all():
                loss, deleted = lost(people, crowds_in(now), limits)
                before.append(loss + price * deleted)

        found = refined(people, place, k, limits, price, note=note)
        assert (found == now).all()
        assert before == sorted(before, reverse=True)
        weights = np.bincount(np.unique(found, return_inverse=True)[1], people.crowd)
        assert weights.min() >= k

    def test_of_more_than_k_are_divided(self):
        # Four alike here and four alike there, all in one crowd of eight.
        here, there = [(0, 1, 0, 1, 0, 1)], [(900, 901, 900, 901, 0, 1)]
        people = strategies.crowded([here, there] * 4)
        found = refined(people, np.zeros(8, np.int64), 4)
        assert sorted(crowds_in(found)) == [[0, 2, 4, 6], [1, 3, 5, 7]]
        assert lost(people, crowds_in(found)) == (0, 0)

    def test_of_many_people_each(self):
        here, there = [(0, 1, 0, 1, 0, 1)], [(900, 901, 900, 901, 0, 1)]
        people = strategies.crowded([here, there, here, there], [150] * 4)
        assert crowds_in(refined(people, [0, 0, 1, 1], 300)) in (
            [[0, 2], [1, 3]],
            [[1, 3], [0, 2]],
        )

    def test_take_in_who_was_left(self):
        here, there = [(0, 1, 0, 1, 0, 1)], [(900, 901, 900, 901, 0, 1)]
        people = strategies.crowded([here, here, there, there, there])
        assert crowds_in(refined(people, [0, 0, 1, 1, -1], 2)) == [[0, 1], [2, 3, 4]]


@pytest.fixture(scope="module")
def city():
    return incrowd.synthesize("city", users=83, seed=7)


def total(data, release):
    place = release.assignment["trajectory"].fill_null(-1).to_numpy()
    return lost(data, [crowd for crowd in crowds_in(place) if place[crowd[0]] >= 0])[0]


@pytest.mark.parametrize("k", [2, *only_deep(3)])
class TestGlove:
    def test_loses_less_with_every_round(self, city, k):
        greedy = incrowd.glove(city, k)
        some = [incrowd.glove(city, k, crowds="refined", refine_rounds=n) for n in (2, 3)]
        all_ = incrowd.glove(city, k, crowds="refined")
        assert greedy.losses.people_dropped == (1 if k == 2 else 0)
        assert {release.losses.people_dropped for release in (*some, all_)} == {0}
        losses = [total(city, release) for release in (*some, all_)]
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] < total(city, greedy)
        assert all_.trajectories.crowd.min() >= k
        assert all_.settings["crowds"] == "refined"
        assert all_.settings["refine_rounds"] == 20

    def test_threads_and_blocks_do_not_matter(self, city, k):
        one = incrowd.glove(city, k, crowds="refined", threads=1)
        two = incrowd.glove(city, k, crowds="refined", threads=2, block=3)
        assert one.assignment.equals(two.assignment)
        assert one.trajectories == two.trajectories

    def test_goes_on_from_any_record(self, city, k, tmp_path):
        how = {"crowds": "refined", "checkpoint": tmp_path / "whole"}
        whole = incrowd.glove(city, k, **how)
        assert incrowd.glove(city, k, crowds="refined").assignment.equals(whole.assignment)
        content = (tmp_path / "whole").read_bytes()
        head = content.index(b"\n") + 1
        records = np.frombuffer(content[head:], RECORD)
        ends = np.flatnonzero(records["older"] == -1)
        merges = int(np.count_nonzero(records["bottom"]))
        assert merges == len(whole.merges)
        assert len(ends) > 2
        for done in (0, merges // 2, merges, ends[0], ends[0] + 1, ends[1] - 1, len(records)):
            part = tmp_path / f"part-{done}"
            part.write_bytes(content[: head + int(done) * RECORD.itemsize + 5])
            again = incrowd.glove(city, k, crowds="refined", checkpoint=part)
            assert again.assignment.equals(whole.assignment)
            assert part.read_bytes() == content

    def test_with_thresholds_deletes_no_more(self, city, k):
        how = {"max_metres": 3000, "max_minutes": 240}
        greedy, better = (
            incrowd.glove(city, k, crowds=word, **how) for word in ("greedy", "refined")
        )
        gone = [
            release.losses.samples_suppressed + release.losses.samples_dropped
            for release in (greedy, better)
        ]
        assert gone[1] < gone[0]

    def test_a_record_of_nobody_is_damage(self, city, k, tmp_path):
        path = tmp_path / "c"
        whole = incrowd.glove(city, k, crowds="refined", checkpoint=path)
        assert len(whole.trajectories)
        others = incrowd.synthesize("city", users=60, seed=7)
        with pytest.raises(ArgumentError, match="another input"):
            incrowd.glove(others, k, crowds="refined", checkpoint=path)


class TestNeighbours:
    def test_are_so_both_ways(self, city):
        rules = Rules(2, False, 0, ANY, ANY, False)  # noqa: FBT003
        run = Run(city, rules, scale_for(city, Stretch(), bounds=True), threads=2)
        run.start(lambda *_: None)
        near = neighbours(run)
        pairs = {(a, int(b)) for a in range(len(city)) for b in near[a] if b >= 0}
        assert all(a != b for a, b in pairs)
        # Unless somebody is near more people than are listed.
        short = {a for a in range(len(city)) if near[a, -1] < 0}
        assert all((b, a) in pairs for a, b in pairs if b in short)
        assert all((near[a] >= 0).any() for a in range(len(city)))


class TestWrongUse:
    @pytest.mark.parametrize(
        ("how", "said"),
        [
            ({"crowds": "best"}, "crowds must be one of greedy, refined"),
            ({"crowds": "refined", "merge": "two-stage"}, "crowds belongs to merge='optimal'"),
            ({"crowds": "refined", "reshape": "union"}, "crowds belongs to merge='optimal'"),
            ({"crowds": "greedy", "refine_rounds": 3}, "refine_rounds belongs to crowds='refined'"),
            ({"refine_rounds": 0}, "refine_rounds must be"),
            ({"refine_rounds": 2.5}, "refine_rounds must be"),
        ],
    )
    def test_is_refused(self, city, how, said):
        with pytest.raises(ArgumentError, match=said):
            incrowd.glove(city, 2, **how)
        with pytest.raises(ArgumentError, match=said):
            incrowd.Glove(2, **how)

    def test_a_number_of_rounds_means_refined(self):
        assert incrowd.Glove(2, refine_rounds=3).settings["crowds"] == "refined"
