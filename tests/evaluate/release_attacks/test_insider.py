"""What members of a crowd learn of the others, beside plain Python."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
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
from incrowd.evaluate._release_attacks.adversary import KnownRelease, Rules
from incrowd.evaluate._release_attacks.insider import Insider, insiders_of
from strategies import random_cases, table


def boxes_of(inside):
    """Give the record of the crowd of each target."""
    cuts = zip(inside.cuts[:-1], inside.cuts[1:], strict=True)
    return [[tuple(map(int, box[:6])) for box in inside.boxes[low:up]] for low, up in cuts]


def bits(sides):
    """Give sides as their bits: west, east, south, north, start, end."""
    return sum(1 << side for side in sides)


class TestAgainstNaive:
    @given(releases(least=2), st.booleans(), st.sampled_from([0, 1, 2]), st.integers(0, 3))
    @random_cases(1000)
    def test_sides_of_others_and_who_is_named(self, release, every, some, seed):
        mine = adversary(release, seed=seed)
        inside = insiders_of(mine, every=every)
        people, rules = lists(release.original), release.rules
        reference = lists(mine.reference_of(some)[0])
        named = inside.name_others(some)
        insiders = [inside.known[low:up] for low, up in pairwise(inside.begins)]
        alone = sum(
            crowd >= 0 and (release.crowd_of == crowd).sum() == 1 for crowd in release.crowd_of
        )
        assert len(inside.people) == (release.crowd_of >= 0).sum() - alone
        for i, record in enumerate(boxes_of(inside)):
            person, known = int(inside.people[i]), set(insiders[i].tolist())
            crowd = release.crowd_of[person]
            members = set(np.flatnonzero(release.crowd_of == crowd).tolist())
            assert known <= members - {person}
            assert len(known) == (len(members) - 1 if every else 1)
            rounded = rounding(release)
            wanted = naive.others_sides(
                [people[who] for who in known], record, rounded, whole=rules.whole
            )
            sides = inside.sides[inside.cuts[i] : inside.cuts[i + 1]].tolist()
            assert sides == list(map(bits, wanted))
            unknown = int(release.published.sizes[crowd]) - len(known)
            assert inside.unknown[i] == unknown
            may_be, who = naive.ranked_members(
                reference, record, wanted, known, unknown, rounded, whole=rules.whole,
                witness=rules.witness and not some, alone=rules.whole and not some,
                most=rules.most,
            )  # fmt: skip
            assert named.possible[i] == len(may_be)
            assert set(named.members[i].tolist()) - {-1} == may_be
            assert named.names[i] == len(who)
            assert named.right[i] == len(who & members)
            assert named.target[i] == (person in who)
            assert named.certain[i] == (person in may_be and len(may_be) == unknown)

    @given(releases(least=2))
    @random_cases(400)
    def test_guesses_from_boxes(self, release):
        inside = insiders_of(adversary(release), every=True)
        people, narrow = lists(release.original), inside.narrowed()
        near = total = 0
        for i, record in enumerate(boxes_of(inside)):
            mine = range(inside.cuts[i], inside.cuts[i + 1])
            for b, box in zip(mine, record, strict=True):
                expected = list(box)
                rules = release.rules
                for low, step in ((0, rules.wide), (2, rules.wide), (4, rules.long)):
                    first, last = (inside.sides[b] >> (low + up) & 1 for up in (0, 1))
                    if first and not last:
                        expected[low + 1] = box[low] + step
                    if last and not first:
                        expected[low] = box[low + 1] - step
                assert narrow[b].tolist() == expected
            for sample in people[inside.people[i]]:
                hold = [b for b, box in zip(mine, record, strict=True)
                        if naive.lies_in_box(sample, box, whole=True)]  # fmt: skip
                if hold:
                    known = narrow[hold[-1]].tolist()
                    off = max(
                        abs(sample[low] + sample[low + 1] - known[low] - known[low + 1])
                        for low in (0, 2)
                    )
                    near += off / 2 * FRAME.cell <= 100
                    total += 1
        assert inside.guess_samples(narrow) == (near, total)

    @given(releases(least=2), st.integers(2, 4))
    @random_cases(50)
    def test_threads_and_draws_do_not_matter(self, release, threads):
        alone = insiders_of(adversary(release), every=False).name_others()
        several = insiders_of(adversary(release, threads=threads), every=False).name_others()
        for name in ("possible", "names", "right", "target", "certain", "members"):
            assert np.array_equal(getattr(alone, name), getattr(several, name))


def cell(x, y, t):
    """Give the box of one cell and one slot."""
    return (x, x + 1, y, y + 1, t, t + 1)


def crowd(*people, merge=True):
    """Make a crowd of everybody, with the box around all samples."""
    rows = [(number, *box) for number, boxes in enumerate(people) for box in boxes]
    before = Trajectories.from_boxes(table(rows), FRAME)
    sides = [
        np.array([f(getattr(before, side))], np.int32)
        for side, f in zip(("x0", "x1", "y0", "y1", "t0", "t1"), (min, max) * 3, strict=True)
    ]
    after = Trajectories(tuple(sides), np.array([0, 1]), FRAME)
    rules = Rules(held=True, most=0, witness=merge, whole=True)
    return known_release(before, after, [0] * len(people), rules)


class TestByHand:
    def test_the_corner_that_is_not_hers_is_the_others(self):
        release = crowd([cell(4, 7, 1)], [cell(0, 0, 3)])
        inside = insiders_of(adversary(release), every=True)
        # Ann (0) is attacked by Bob, who touches west, south and the end.
        assert inside.sides.tolist() == [2 + 8 + 16, 1 + 4 + 32]
        assert inside.narrowed().tolist() == [[4, 5, 7, 8, 1, 2], [0, 1, 0, 1, 3, 4]]
        assert inside.guess_samples(inside.narrowed()) == (2, 2)
        assert inside.guess_samples(inside.boxes) == (0, 2)

    def test_somebody_inside_the_box_of_two_is_not_where_the_middle_is(self):
        release = crowd([cell(0, 0, 0)], [cell(6, 6, 6)], [cell(1, 5, 2)])
        inside = insiders_of(adversary(release), every=True)
        assert inside.sides[2] == 0  # nothing is the third one's
        found = Insider().run(adversary(release), lambda _: None)
        assert found["sides_for_all"].of == 18
        assert found["named_by_all_knowing_all"].number == 3

    def test_nobody_alone_is_attacked(self):
        release = crowd([cell(0, 0, 0)])
        assert "Nobody shares a record" in Insider().unfit(adversary(release))

    def test_nor_where_positions_were_moved(self):
        release = crowd([cell(0, 0, 0)], [cell(6, 6, 6)])
        release.__dict__["rules"] = Rules(held=False, most=-1, witness=False, whole=False)
        assert "were moved" in Insider().unfit(adversary(release))

    def test_pairs_are_attacked_by_one_and_larger_crowds_by_all_others_as_well(self):
        pair = Insider().run(adversary(crowd([cell(0, 0, 0)], [cell(6, 6, 6)])), lambda _: None)
        three = Insider().run(
            adversary(crowd([cell(0, 0, 0)], [cell(6, 6, 6)], [cell(1, 5, 2)])), lambda _: None
        )
        names = {each.name for each in three.figures} - {each.name for each in pair.figures}
        assert names == {
            "named_by_all", "right_of_all", "named_by_all_knowing_all", "right_of_all_knowing_all",
            "sides_for_all", "near_all", "homes_all",
        }  # fmt: skip
        assert "by all others of it together" in three.says
        assert "together" not in pair.says


class TestAnotherDataset:
    def test_people_are_looked_for_under_their_names(self):
        release = crowd([cell(4, 7, 1)], [cell(0, 0, 3)])
        strangers = [("1", *cell(0, 0, 3)), ("x", *cell(9, 9, 9)), ("0", *cell(4, 7, 1))]
        named = Trajectories.from_boxes(table(strangers), FRAME)
        found = insiders_of(adversary(release, named=named), every=True).name_others()
        assert found.target.tolist() == [True, True]
        assert found.possible.tolist() == [1, 1]

    def test_whoever_is_not_in_it_is_not_named(self):
        release = crowd([cell(4, 7, 1)], [cell(0, 0, 3)])
        named = Trajectories.from_boxes(table([("0", *cell(4, 7, 1))]), FRAME)
        found = insiders_of(adversary(release, named=named), every=True).name_others()
        assert found.target.tolist() == [True, False]


@pytest.mark.parametrize(
    ("edges", "grid"), [(None, (1, 1)), ((500, 15), (5, 15)), ((None, 15), (1, 15))]
)
def test_edges_that_are_rounded_are_known_from_the_manifest(tmp_path, edges, grid):
    city = incrowd.synthesize("city", users=40, seed=7)
    hidden, who = incrowd.glove(city, k=2, edges=edges), tmp_path / "who.parquet"
    incrowd.publish(hidden, tmp_path / "release", original=city, record=who, draws=20)
    release = KnownRelease.open(tmp_path / "release", city, who)
    assert release.rules == Rules(
        held=True, most=0, witness=True, whole=True, wide=grid[0], long=grid[1]
    )
    assert release.pair.edges == grid
    # Whoever has everybody's traces finds the other of a pair all the same.
    inside = insiders_of(adversary(release), every=True)
    assert inside.name_others().target.all()


@pytest.mark.parametrize("merge", ["optimal", "two-stage"])
def test_who_has_everybodys_traces_finds_the_other_of_a_pair(tmp_path, merge):
    city = incrowd.synthesize("city", users=60, seed=7)
    hidden = incrowd.glove(city, k=2, merge=merge)
    who = tmp_path / "who.parquet"
    incrowd.publish(hidden, tmp_path / "release", original=city, record=who, draws=20)
    found = incrowd.attack_release(tmp_path / "release", "insider", record=who, original=city)
    assert found["insider"]["named_by_one_knowing_all"].share == 1
    assert 0 < found["insider"].share < 1
