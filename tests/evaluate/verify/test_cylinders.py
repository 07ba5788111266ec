"""(k, delta)-anonymity on the written rows, beside fractions in plain Python; and what is told."""

import warnings
from collections import Counter
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from incrowd import W4M, Frame, Trajectories
from incrowd.data._frame import laea
from incrowd.errors import ArgumentError, PrivacyWarning, VerificationError
from incrowd.evaluate._verify import cylinders
from incrowd.evaluate._verify.cylinders import check_cylinders, check_trash
from incrowd.evaluate._verify.rows import Published
from incrowd.protect._mechanism import Protected
from strategies import random_cases

STATED = {"k_together": 2, "delta": 200.0, "trash": 0.1}


def cell(x, y, t):
    return (x, x + 1, y, y + 1, t, t + 1)


def published(records, cell_size=100):
    """Give records, lists of boxes, as they are read from a release."""
    distinct = list(dict.fromkeys(map(tuple, records)))
    crowd_of = np.array([distinct.index(tuple(record)) for record in records])
    boxes = np.array([(*box, 0, 0) for record in distinct for box in record], np.int32)
    return Published(
        frame=Frame(cell=cell_size),
        people=pl.Series([f"{number:016x}" for number in range(len(records))]),
        crowd_of=crowd_of,
        sizes=np.bincount(crowd_of),
        boxes=boxes,
        cuts=np.cumsum([0, *map(len, distinct)]),
        rows=sum(map(len, records)),
        problems={},
    )


def manifest(losses=None, **settings):
    return SimpleNamespace(
        settings=STATED | settings, losses={"people_dropped": 0} | (losses or {})
    )


@st.composite
def releases(draw):
    """Records with few sequences of times, close together; some of them twice; and k and delta."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    number, wide = draw(st.integers(1, 14)), draw(st.sampled_from([1, 3, 8, 2**31 - 40]))
    sequences = draw(st.sampled_from([1, 2, 3]))
    times = [sorted(rng.choice(9, rng.integers(1, 5), replace=False)) for _ in range(sequences)]
    records = []
    for _ in range(number):
        if records and rng.random() < 0.2:
            records.append(records[rng.integers(len(records))])
            continue
        middle = rng.integers(0, 2, 2) * wide
        spots = middle + rng.integers(-3, 4, (9, 2))
        ends = spots + rng.choice([1, 1, 1, 2], (9, 2))
        sides = np.stack([spots[:, 0], ends[:, 0], spots[:, 1], ends[:, 1]], axis=1).tolist()
        slots = times[rng.integers(sequences)]
        records.append([(*side, int(t), int(t) + 1) for side, t in zip(sides, slots, strict=False)])
    size = draw(st.sampled_from([100, 0.1, 37.5]))
    return records, draw(st.integers(2, 5)), size * draw(st.sampled_from([0.5, 2, 6, 10])), size


class TestCylinders:
    @random_cases(1000)
    @given(releases(), st.sampled_from([0, 64]), st.sampled_from([1, 3, 1 << 22]))
    def test_are_those_of_plain_python(self, release, few, block):
        records, k, delta, size = release
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cylinders, "_FEW", few)
            patch.setattr(cylinders, "_BLOCK", block)
            check = check_cylinders(published(records, size), manifest(k_together=k, delta=delta))
        together = naive.in_cylinders(records, k, delta, size)
        assert check.figures["people_outside"] == together.count(False)
        assert check.ok == all(together)
        again = Counter(map(tuple, records))
        alone = sum(again[tuple(record)] == 1 for record in records)
        assert check.figures["people_unique"] == alone

    @pytest.mark.parametrize(
        ("size", "away", "delta", "fits"),
        [
            (100, (1, 0), 200, True),
            (100, (1, 0), 199.999999, False),
            (100, (3, 4), 1000.0, True),
            (100, (3, 4), 999.9999999999, False),
            (0.1, (3, 0), 0.6, True),  # as it is written: 0.1 * 3 is more than 0.3 in binary
            (0.1, (5, 12), 2.6, True),
            (0.1, (5, 12), 2.59999999, False),
            (100, (0, 2**30 - 1), 100.0 * (2**31 - 2), True),
            (100, (1, 2**30 - 1), 100.0 * (2**31 - 2), False),
            (100, (2**30 - 1, 2**30 - 1), 100.0 * (2**31 - 2), False),
        ],
    )
    def test_end_where_delta_does_exactly(self, size, away, delta, fits):
        low = -(2**29)
        records = [[cell(low, low, 3)], [cell(low + away[0], low + away[1], 3)]]
        assert check_cylinders(published(records, size), manifest(delta=delta)).ok is fits

    def test_stand_around_a_published_trajectory(self):
        """The outer ones are in the cylinder of the middle one, and not in each other's."""
        three = [[cell(x, 0, 1)] for x in (0, 1, 2)]
        assert check_cylinders(published(three), manifest(k_together=3)).ok
        check = check_cylinders(published(three[::2]), manifest(k_together=2))
        assert (check.ok, check.figures["people_outside"]) == (False, 2)
        assert "2 of 2 published trajectories are not with 1 other" in check.says

    def test_ask_for_the_same_times(self):
        other = [[cell(0, 0, 1), cell(0, 0, 2)], [cell(0, 0, 1), cell(0, 0, 3)], [cell(0, 0, 1)]]
        assert check_cylinders(published(other), manifest()).figures["people_outside"] == 3

    @pytest.mark.parametrize("k", [None, "2", 1, 2.0, True])
    def test_need_a_number_of_trajectories(self, k):
        check = check_cylinders(published([[cell(0, 0, 1)]] * 2), manifest(k_together=k))
        assert (check.ok, check.name) == (False, "cylinders")
        assert "in a cylinder" in check.says

    @pytest.mark.parametrize("delta", [None, "200", 0, -3.0, True, float("inf"), float("nan")])
    def test_need_a_diameter(self, delta):
        check = check_cylinders(published([[cell(0, 0, 1)]] * 2), manifest(delta=delta))
        assert check.ok is False
        assert "diameter" in check.says

    def test_that_hold_everything_promise_nothing(self):
        check = check_cylinders(published([[cell(0, 0, 1)]] * 2), manifest(delta=1e15))
        assert check.ok is False
        assert "promises nothing" in check.says


class TestTrash:
    @pytest.mark.parametrize(
        ("dropped", "share", "people", "ok"),
        [
            (10, 0.1, None, True),
            (11, 0.1, None, False),
            (0, 0, None, True),
            (30, 0.25, None, True),
            (31, 0.25, None, False),
            ("fewer than 10", 0.1, None, True),
            ("fewer than 10", 0.05, None, None),
            ("fewer than 10", 0, None, False),
            ("fewer than 10", 0.05, 94, True),
            ("fewer than 10", 0.05, 95, False),
            (0, 0.05, 95, False),  # what is there counts, and not what is stated
            (0, 0.05, 89, False),
            (None, 0.1, None, False),
            ("many", 0.1, None, False),
            (0, 1, None, False),
            (0, "0.1", None, False),
            (0, True, None, False),
        ],
    )
    def test_is_within_its_share(self, dropped, share, people, ok):
        release = published([[cell(0, 0, 1)]] * 90)
        told = manifest({"people_dropped": dropped}, trash=share)
        assert check_trash(release, told, people).ok is ok


FRAME = Frame(laea(7.5, -5.5))


@pytest.fixture(scope="module")
def city():
    """Forty people in pairs who move together, and three who are far away."""
    rng = np.random.default_rng(5)
    rows = []
    for pair in range(20):
        walk = rng.integers(-3, 4, (12, 2)).cumsum(axis=0) + rng.integers(0, 60, 2)
        for who in (0, 1):
            moved = walk + rng.integers(-2, 3, (12, 2))
            slots = np.sort(rng.choice(40, 12, replace=False)) * 30
            rows += [
                (f"person-{pair:02}-{who}", *spot, t) for spot, t in zip(moved, slots, strict=True)
            ]
    for far in range(3):
        rows += [(f"person-far-{far}", 9000 * (far + 1), 0, 40 * t) for t in range(5)]
    user, x0, y0, t0 = zip(*rows, strict=True)
    return Trajectories.from_boxes({"user": user, "x0": x0, "y0": y0, "t0": t0}, FRAME)


def publish(made, data, folder, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return incrowd.publish(made, folder / "release", original=data, draws=5, **how)


class TestReleases:
    def test_are_verified_and_said_to_hide_nobody(self, city, tmp_path):
        made = W4M(k=2, delta=500, radius_max=2000).protect(city)
        assert made.losses["people_dropped"] == 3
        record = tmp_path / "who.parquet"
        done = publish(made, city, tmp_path, record=record)
        found = done.verification
        assert found.ok
        assert found.k is None
        assert found["cylinders"].figures["people_unique"] == 40
        originals = found["originals"]
        assert (originals.ok, originals.noted, originals.mark) == (True, True, "note")
        assert originals.figures["people_unchanged"] == 20
        assert found["trash"].figures == {"share": 0.1, "people_dropped": 3}
        assert {check.name for check in found.checks if check.ok is None} == {
            "k-anonymity", "coverage", "witness", "no invention", "linkage"
        }  # fmt: skip
        assert "That hides nobody: 40 of 40 records are unique as a whole" in found.claims
        assert "anonymous" not in found.claims
        assert any("Trujillo-Rasua" in limit for limit in found.limits)
        alone = incrowd.verify(tmp_path / "release")
        assert alone.ok
        assert alone["originals"].ok is None
        assert incrowd.verify(tmp_path / "release", record=record, original=city).ok
        # Crowds are not promised; who asks for them gets the honest answer.
        asked = incrowd.verify(tmp_path / "release", k=2)
        assert [check.name for check in asked.failed] == ["k-anonymity"]

    def test_tell_no_count_of_few_people(self, city, tmp_path):
        made = W4M(k=2, delta=500, radius_max=2000).protect(city[np.r_[0:16, 40:41]])
        done = publish(made, city[np.r_[0:16, 40:41]], tmp_path)
        told = done.verification.for_recipients()
        assert done.verification["trash"].figures["people_dropped"] == 1
        assert told["trash"].figures == {"share": 0.1}
        assert done.verification["originals"].figures["people_unchanged"] == 8
        assert told["originals"].figures["people_unchanged"] == "fewer than 10"
        assert told["originals"].says.startswith("Fewer than 10 of 16 published records are")
        assert told["cylinders"] == done.verification["cylinders"]  # 16 unique: all of them
        assert done.manifest.losses["people_dropped"] == "fewer than 10"

    @pytest.mark.parametrize(
        ("settings", "wrong"),
        [
            ({"delta": 100.0}, ["cylinders"]),
            ({"k_together": 3}, ["cylinders"]),
            ({"trash": 0.05}, ["trash"]),
        ],
    )
    def test_that_do_not_keep_to_it_are_not_published(self, city, tmp_path, settings, wrong):
        made = W4M(k=2, delta=500, radius_max=2000).protect(city)
        lying = Protected(
            made.mechanism, made.trajectories, made.assignment, made.losses,
            made.settings | settings, made.notes,
        )  # fmt: skip
        with pytest.raises(VerificationError) as raised:
            publish(lying, city, tmp_path)
        assert [check.name for check in raised.value.verification.failed] == wrong
        assert not (tmp_path / "release").exists()

    def test_with_a_point_that_was_moved_do_not_verify(self, city, tmp_path):
        made = W4M(k=2, delta=500, radius_max=2000).protect(city)
        x0 = made.trajectories.x0.copy()
        x0[7] += 40
        columns = (x0, x0 + 1, *made.trajectories.columns[2:])
        boxes = Trajectories(
            columns, made.trajectories.offsets, FRAME, people=made.trajectories.people
        )
        moved = Protected(
            made.mechanism, boxes, made.assignment, made.losses, made.settings, made.notes
        )
        with pytest.raises(VerificationError, match="2 of 40 published trajectories are not with"):
            publish(moved, city, tmp_path)

    def test_are_in_no_ledger(self, city, tmp_path):
        made = W4M(k=2, delta=500, radius_max=2000).protect(city)
        with pytest.raises(ArgumentError, match="promises no k-anonymity, and a ledger keeps"):
            publish(made, city, tmp_path, ledger=tmp_path / "ledger.parquet")

    @pytest.mark.parametrize("purpose", ["internal", "contract", "open"])
    @pytest.mark.parametrize("delta", [500.0, 50.0])
    def test_are_never_said_to_be_fit_to_share(self, city, tmp_path, purpose, delta):
        """Neither as they are, nor where pulling has made records of a cluster equal."""
        data = city[:40]
        made = W4M(k=4, delta=delta, radius_max=5000, trash=0).protect(data)
        publish(made, data, tmp_path, record=tmp_path / "who.parquet")
        record = tmp_path / "who.parquet"
        for how in ({"original": data, "record": record}, {"original": data}, {}):
            report = incrowd.report.make(
                tmp_path / "release", tz="UTC", targets=5, purpose=purpose, **how
            )
            verdict = report.verdict
            if delta == 50:
                assert report.numbers.smallest_crowd >= 4
            assert verdict.answer == "no"
            assert verdict.headline.startswith("Do not share this release as anonymous")
            assert verdict.conditions == ()
            assert "may be shared" not in " ".join(report.lines())
