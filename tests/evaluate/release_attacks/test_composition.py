"""Several releases of the same people: who is left, and which records are linked."""

from itertools import pairwise
from math import lcm

import numpy as np
import polars as pl
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
from incrowd import Frame, Trajectories
from incrowd.data._frame import laea
from incrowd.evaluate._release_attacks.adversary import Rules, match_points, on_clock
from incrowd.evaluate._release_attacks.composition import Composition, left_of, link_records
from strategies import random_cases, table


def records_of(release):
    """Give the boxes of each record."""
    boxes, cuts = release.published.boxes, release.published.cuts
    return [[tuple(map(int, box[:6])) for box in boxes[low:up]] for low, up in pairwise(cuts)]


class TestAgainstNaive:
    @given(releases(), releases(), st.integers(0, 3), st.integers(0, 3))
    @random_cases(1000)
    def test_who_is_left_is_in_a_crowd_that_is_found_in_every_release(
        self, one, other, points, seed
    ):
        # People have the same names in both, as far as they are in both.
        number = {str(name): i for i, name in enumerate(other.original.people)}
        here = [number.get(str(name), -1) for name in one.original.people]
        crowds = [
            one.crowd_of,
            np.array([other.crowd_of[i] if i >= 0 else -1 for i in here], np.int64),
        ]
        targets = np.array([i for i in range(len(here)) if here[i] >= 0], np.int64)
        if not len(targets):
            return
        left, there = left_of([one, other], crowds, targets, points, seed, 1)
        for i, target in enumerate(targets.tolist()):
            still = set(range(len(here)))
            for release, crowd, who in (
                (one, crowds[0], targets),
                (other, crowds[1], np.array([here[t] for t in targets])),
            ):
                matched = match_points(release, who, points, seed, 1)
                known = [
                    tuple(int(side[j]) for side in matched.known)
                    for j in range(matched.starts[i], matched.starts[i + 1])
                ]
                records = records_of(release)
                found = naive.record_found(known, records, rounding(release))
                fits = naive.records_left(known, records) if found is None else [found]
                still &= {person for person, each in enumerate(crowd.tolist()) if each in fits}
            assert left[i] == len(still)
            assert there[i] == (target in still)

    @given(releases(), releases(), st.integers(-2, 2))
    @random_cases(1000)
    def test_records_with_most_sides_in_common_are_linked(self, one, other, later):
        # The clock of the other starts some slots later: the same moments have lower numbers.
        frame = Frame(slot=FRAME.slot, origin=later * FRAME.slot)
        moved = other.published.boxes.copy()
        moved[:, 4:6] -= later
        release = known_release(
            on_clock(other.original, frame, -later),
            Trajectories(
                tuple(np.ascontiguousarray(moved[:, i]) for i in range(6)),
                other.published.cuts,
                frame,
            ),
            other.crowd_of,
            other.rules,
            other.published.sizes,
        )
        # Both on the coarser grid that they have in common.
        wide = lcm(one.rules.wide, other.rules.wide)
        long = lcm(one.rules.long, other.rules.long)
        mine, theirs = (
            [[naive.rounded_out(box, wide, long, FRAME.slot) for box in record] for record in each]
            for each in (records_of(one), records_of(other))
        )
        spans = [
            (min(box[4] for record in records for box in record),
             max(box[5] for record in records for box in record))
            for records in (mine, theirs)
        ]  # fmt: skip
        first, last = max(span[0] for span in spans), min(span[1] for span in spans)
        if first >= last:
            return
        some = np.arange(len(mine))
        found = link_records(one, release, some, "UTC", 1, lambda _: None)
        mine, theirs = (
            [[box for box in record if box[4] >= first and box[5] <= last] for record in records]
            for records in (mine, theirs)
        )
        for number, record in enumerate(mine):
            wanted = naive.linked_record(record, theirs)
            assert found[number] == (-1 if wanted is None else wanted)


def months(tmp_path, **how):
    """Publish two releases of the same people."""
    city, made = incrowd.synthesize("city", users=60, seed=7), []
    for name, settings in how.items():
        who = tmp_path / f"{name}.parquet"
        data = incrowd.select(city, time=settings.pop("time", None))
        incrowd.publish(
            incrowd.glove(data, **settings), tmp_path / name, original=data, record=who, draws=20
        )
        made.append((tmp_path / name, who, data))
    return made


class TestOnFiles:
    def test_the_same_release_twice_tells_no_more(self, tmp_path):
        [(path, who, data)] = months(tmp_path, one={"k": 3})
        found = incrowd.attack_release(
            path, "composition", record=who, original=data, others=[(path, who, data)]
        )["composition"]
        assert (found["alone"].number, found.share) == (0, 0)
        assert found["linked"].share == 1
        assert found["linked_alone"].number == 0

    def test_other_crowds_leave_people_alone(self, tmp_path):
        (path, who, data), other = months(tmp_path, two={"k": 2}, three={"k": 3})
        found = incrowd.attack_release(
            path, "composition", record=who, original=data, others=[other]
        )["composition"]
        tables = [pl.read_parquet(each[1]).drop_nulls() for each in ((path, who), other)]
        both = tables[0].join(tables[1], on="user", suffix="_other")
        sizes = both.group_by("trajectory", "trajectory_other").len()
        alone = int((sizes["len"] == 1).sum())
        assert (found["alone"].number, found["alone"].of) == (alone, len(both))
        assert 0 < found["alone_all"].number <= alone
        assert found["linked"].number > 0

    def test_months_after_each_other_are_linked_by_places(self, tmp_path):
        (path, who, data), other = months(
            tmp_path,
            march={"k": 2, "time": (None, "2012-03-12")},
            april={"k": 2, "time": ("2012-03-12", None)},
        )
        found = incrowd.attack_release(
            path, "composition", record=who, original=data, others=[other]
        )["composition"]
        assert found["linked"].number > 60 / 30
        assert found["alone_10"].number > 0

    def test_nobody_is_in_both(self, tmp_path):
        (path, who, data), _ = months(tmp_path, one={"k": 2}, two={"k": 2})
        strangers = incrowd.synthesize("city", users=20, seed=8)
        renamed = Trajectories(
            strangers.columns, strangers.offsets, strangers.frame,
            people=pl.Series([f"x{i}" for i in range(20)]),
        )  # fmt: skip
        record, release = tmp_path / "x.parquet", tmp_path / "x"
        incrowd.publish(
            incrowd.glove(renamed, 2), release, original=renamed, record=record, draws=20
        )
        found = incrowd.attack_release(
            path, "composition", record=who, original=data, others=[(release, record, renamed)]
        )["composition"]
        assert (found.made, found.says) == (
            False,
            "Nobody is published in all of these releases.",
        )

    def test_another_release_is_needed(self, tmp_path):
        [(path, who, data)] = months(tmp_path, one={"k": 2})
        found = incrowd.attack_release(path, "composition", record=who, original=data)
        assert "needs another release" in found["composition"].says


@pytest.mark.parametrize("cell", [100, 250])
def test_releases_on_other_planes_are_linked_by_places(cell):
    frames = Frame(laea(7.5, -5.5), cell=100, slot=3600), Frame(laea(7.6, -5.4), cell, slot=3600)
    rng, people = np.random.default_rng(1), 5
    lat, lon = 7.5 + rng.random((people, 9)) / 9, -5.5 + rng.random((people, 9)) / 9
    made = []
    for frame in frames:
        x, y = frame.cells(lon.ravel(), lat.ravel())
        rows = [(i // 9, x[i], x[i] + 1, y[i], y[i] + 1, i, i + 1) for i in range(len(x))]
        data = Trajectories.from_boxes(table([tuple(map(int, row)) for row in rows]), frame)
        rules = Rules(held=True, most=0, witness=True, whole=True)
        made.append(known_release(data, data, range(people), rules))
    made[1].published.boxes[:, 4:6] += 50 * 24  # fifty days later
    found = link_records(*made, np.arange(people), "UTC", 1, lambda _: None)
    assert found.tolist() == list(range(people))


def test_positions_that_were_moved_hold_nothing():
    people = Trajectories.from_boxes(table([(0, 0, 1, 0, 1, 0, 1)]), FRAME)
    rules = Rules(held=False, most=-1, witness=False, whole=False)
    moved = known_release(people, people, [0], rules)
    attack = Composition()
    assert "moved" in attack.unfit(adversary(moved, others=(moved,)))
    assert lists(people) == [[(0, 1, 0, 1, 0, 1)]]
