"""Membership, coverage, witnesses, invention and linkage: by hand, and against slow oracles."""

import json
import warnings
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.makers import (
    ORIGINAL,
    PUBLISHED,
    WHO,
    Case,
    boxes_of,
    cell,
    held,
    inside,
    invented,
    trajectories,
    witnesses,
)
from incrowd import verify
from incrowd.errors import PrivacyWarning, UnreadableError
from incrowd.evaluate._verify.linkage import draw
from strategies import random_cases


def look(case, **how):
    """Verify with everything at hand."""
    return verify(
        case.path,
        **{"original": case.original, "record": case.record, "draws": 20, "seed": 1} | how,
    )


def failed(found):
    """Name the checks that failed."""
    return [check.name for check in found.failed]


def without(user):
    """Give who became whom, with somebody dropped."""
    return WHO | {user: None}


class TestMembership:
    def test_people_dropped_are_counted(self, tmp_path):
        losses = {"people_dropped": 1, "samples_dropped": 2}
        published = {0: PUBLISHED[0], 1: [(21, 23, 4, 5, 11, 16)]}
        found = look(Case(tmp_path, ORIGINAL, published, without("cat-3"), losses=losses))
        assert found.ok
        assert found["membership"].figures["samples_dropped"] == 2

    @pytest.mark.parametrize(
        "losses",
        [
            {},
            {"people_dropped": 2, "samples_dropped": 2},
            {"people_dropped": 1, "samples_dropped": 1},
            {"people_dropped": 1, "samples_dropped": 2, "people_left_over": 1, "people_emptied": 1},
        ],
    )
    def test_losses_that_are_wrong(self, tmp_path, losses):
        published = {0: PUBLISHED[0], 1: [(21, 23, 4, 5, 11, 16)]}
        found = look(Case(tmp_path, ORIGINAL, published, without("cat-3"), losses=losses))
        assert failed(found) == ["membership"]

    FEW: ClassVar = {
        "people_dropped": "fewer than 10",
        "samples_dropped": "not shown, because it would be that of few people",
    }
    """What a manifest states of few."""

    @pytest.mark.parametrize(
        ("more", "ok"),
        [
            ({}, True),
            ({"people_dropped": "fewer than 1000000"}, False),
            ({"people_left_over": "fewer than 10"}, True),
            ({"people_left_over": "fewer than 10", "people_emptied": 0}, True),
        ],
    )
    def test_few_are_fewer_than_ten(self, tmp_path, more, ok):
        published = {0: PUBLISHED[0], 1: [(21, 23, 4, 5, 11, 16)]}
        losses = self.FEW | more
        case = Case(tmp_path, ORIGINAL, published, without("cat-3"), losses=losses)
        found = look(case)
        assert failed(found) == ([] if ok else ["membership"])
        # Without the record, the number of people decides.
        assert verify(case.path, original=case.original, draws=20, seed=1).ok == ok

    def test_few_are_not_nobody(self, tmp_path):
        case = Case(tmp_path, losses=self.FEW)
        assert failed(look(case)) == ["membership"]
        alone = verify(case.path, original=case.original, draws=20, seed=1)
        assert failed(alone) == ["linkage"]
        assert (
            "5 people are published and fewer than 10 counted as dropped" in alone["linkage"].says
        )

    @pytest.mark.parametrize(
        ("exact", "ok"),
        [
            ({"people_dropped": 1, "samples_dropped": 2}, True),
            ({"people_dropped": 2, "samples_dropped": 2}, False),
            ({"people_dropped": 1, "samples_dropped": 3}, False),
            ({"people_dropped": 12, "samples_dropped": 2}, False),
            ({"people_dropped": 1, "samples_dropped": 2, "people_left_over": 1}, False),
        ],
    )
    def test_exact_losses_of_the_record_are_checked(self, tmp_path, exact, ok):
        published = {0: PUBLISHED[0], 1: [(21, 23, 4, 5, 11, 16)]}
        case = Case(tmp_path, ORIGINAL, published, without("cat-3"), losses=self.FEW)
        table = pl.read_parquet(case.record)
        table.write_parquet(case.record, metadata={"incrowd.losses": json.dumps(exact)})
        assert failed(look(case)) == ([] if ok else ["membership"])
        assert look(case, record=table, losses=exact).ok == ok

    def test_exact_losses_that_are_damaged(self, tmp_path):
        case = Case(tmp_path)
        table = pl.read_parquet(case.record)
        for text in ("[1]", "{"):
            table.write_parquet(case.record, metadata={"incrowd.losses": text})
            with pytest.raises(UnreadableError, match="private record"):
                look(case)

    @pytest.mark.parametrize(
        ("settings", "losses", "text"),
        [
            ({"variant": "loose"}, {"people_left_over": "fewer than 10"}, "loose variant leaves"),
            ({"variant": "strict", "k": 2}, {"people_left_over": 2}, "a crowd of 2 by themselves"),
            ({"variant": "loose"}, {"people_left_over": 2}, "the loose variant leaves nobody"),
            ({"variant": "strict"}, {"people_emptied": 2}, "although nothing was to be suppressed"),
        ],
    )
    def test_people_whom_glove_cannot_have_lost(self, tmp_path, settings, losses, text):
        who = WHO | {"ann-1": None, "bob-2": None}
        losses = {"people_left_over": 0, "people_emptied": 0} | losses
        losses |= {"people_dropped": 2, "samples_dropped": 4}
        how = {"settings": settings, "losses": losses}
        found = look(Case(tmp_path, ORIGINAL, {1: PUBLISHED[1]}, who, **how))
        assert failed(found) == ["membership"]
        assert text in found["membership"].says

    def test_losses_that_are_not_stated_are_said(self, tmp_path):
        losses = dict.fromkeys(("people_dropped", "samples_dropped", "samples_suppressed"), "gone")
        found = look(Case(tmp_path, losses=losses))
        assert found.ok
        assert "does not state people_dropped and samples_dropped" in found["membership"].says
        assert "does not state how many" in found["coverage"].says

    @pytest.mark.parametrize(
        ("change", "figure"),
        [
            (lambda t: t.filter(pl.col("user") != "ann-1"), "not_in_record"),
            (lambda t: pl.concat([t, t[:1]]), "in_record_twice"),
            (lambda t: t.with_columns(pl.col("user").replace("ann-1", "zoe")), "unknown_in_record"),
            (lambda t: t.with_columns(pl.col("person").replace(t["person"][0], t["person"][1])),
             "names_of_two"),
            (lambda t: t.with_columns(pl.col("person").replace(t["person"][0], None)),
             "names_of_nobody"),
            (lambda t: t.with_columns(pl.col("person").replace(t["person"][0], "x")),
             "names_not_published"),
            (lambda t: t.with_columns(trajectory=pl.lit(0)), "torn_trajectories"),
        ],
    )  # fmt: skip
    def test_a_record_that_does_not_fit(self, tmp_path, change, figure):
        case = Case(tmp_path)
        found = look(case, record=change(pl.read_parquet(case.record)))
        assert "membership" in failed(found)
        assert found["membership"].figures[figure] == 1

    def test_more_crowds_stated_than_recorded(self, tmp_path):
        boxes = PUBLISHED[0]
        original = dict.fromkeys(("ann-1", "bob-2", "cat-3", "dan-4"), boxes)
        who = {"ann-1": 0, "bob-2": 0, "cat-3": 1, "dan-4": 1}
        case = Case(tmp_path, original, {0: boxes, 1: boxes}, who)
        assert look(case).ok
        record = pl.read_parquet(case.record).with_columns(trajectory=pl.lit(0))
        assert failed(look(case, record=record)) == ["membership"]

    def test_an_identifier_in_the_manifest(self, tmp_path):
        found = look(Case(tmp_path, settings={"note": "for bob-2"}))
        assert failed(found) == ["membership"]
        assert found["membership"].figures["identifiers_in_files"] == 1

    def test_an_identifier_as_a_name(self, tmp_path):
        case = Case(tmp_path)
        name = case.rows()["person"][0]
        users = pl.Series([name if user == "ann-1" else user for user in ORIGINAL])
        object.__setattr__(case.original, "people", users)
        record = pl.read_parquet(case.record).with_columns(pl.col("user").replace("ann-1", name))
        found = look(case, record=record)
        assert found["membership"].figures["identifiers_as_names"] == 1
        assert "membership" in failed(found)

    def test_a_number_in_the_manifest_that_is_an_identifier(self, tmp_path):
        original = {22501234567890: ORIGINAL["ann-1"], 22501234567891: ORIGINAL["bob-2"]}
        who = dict.fromkeys(original, 0)
        how = {"settings": {"note": "see 22501234567891"}}
        found = look(Case(tmp_path, original, {0: PUBLISHED[0]}, who, **how))
        assert failed(found) == ["membership"]
        assert found["membership"].figures["identifiers_in_files"] == 1

    def test_short_identifiers_occur_by_chance(self, tmp_path):
        original = {"100": ORIGINAL["ann-1"], "2025": ORIGINAL["bob-2"]}
        who = {"100": 0, "2025": 0}
        case = Case(tmp_path, original, {0: PUBLISHED[0]}, who, settings={"note": "2025"})
        assert look(case).ok


class TestCoverage:
    def test_a_sample_that_is_lost(self, tmp_path):
        original = ORIGINAL | {"dan-4": [*ORIGINAL["dan-4"], cell(90, 90, 90)]}
        found = look(Case(tmp_path, original))
        assert failed(found) == ["coverage"]
        assert "although nothing was to be suppressed" in found["coverage"].says

    @pytest.mark.parametrize(("stated", "ok"), [(0, False), (1, True), (2, False), ("gone", True)])
    def test_a_sample_that_was_suppressed(self, tmp_path, stated, ok):
        original = ORIGINAL | {"dan-4": [*ORIGINAL["dan-4"], cell(90, 90, 90)]}
        how = {"losses": {"samples_suppressed": stated}, "settings": {"max_space": 50}}
        found = look(Case(tmp_path, original, **how))
        assert found["coverage"].ok is ok
        assert found["coverage"].figures["missed"] == 1

    def test_losses_without_suppression(self, tmp_path):
        assert failed(look(Case(tmp_path, losses={"samples_suppressed": 1}))) == ["coverage"]

    def test_pieces_together_hold_a_long_sample(self, tmp_path):
        original = {"a": [(0, 1, 0, 1, 0, 10)], "b": [(1, 2, 0, 1, 3, 6)]}
        published = {0: [(0, 2, 0, 1, 0, 3), (0, 2, 0, 1, 3, 6), (0, 2, 0, 1, 6, 10)]}
        case = Case(tmp_path, original, published, {"a": 0, "b": 0}, settings={"reshape": "split"})
        assert look(case).ok
        assert look(case)["witness"].figures["unwitnessed"] == 2


def made_by(reshape):
    """Give the settings of two-stage merging with a way of reshaping, or of optimal merging."""
    return {"merge": "optimal", "reshape": "gone"} if reshape is None else {"reshape": reshape}


class TestBoxes:
    @pytest.mark.parametrize(("stated", "ok"), [(1, True), (0, False), (2, False)])
    @pytest.mark.parametrize("setting", ["max_time", "suppress_price", "suppress_at_most"])
    def test_what_is_deleted_is_just_what_was_counted(self, tmp_path, setting, stated, ok):
        original = {"a": [cell(0, 0, 0), cell(5, 5, 9)], "b": [cell(0, 1, 0)]}
        how = {"settings": made_by(None) | {setting: 1}, "losses": {"samples_suppressed": stated}}
        case = Case(tmp_path, original, {0: [(0, 1, 0, 2, 0, 1)]}, {"a": 0, "b": 0}, **how)
        assert look(case)["coverage"].ok is ok

    def test_a_box_without_a_witness(self, tmp_path):
        original = {"a": [cell(0, 0, 0), cell(5, 5, 9)], "b": [cell(0, 1, 0), cell(5, 5, 7)]}
        published = {0: [(0, 1, 0, 2, 0, 1), cell(5, 5, 9)]}
        who = {"a": 0, "b": 0}
        for reshape, ok in (("union", False), ("none", False), ("split", True), (None, False)):
            folder = tmp_path / str(reshape)
            folder.mkdir()
            found = look(Case(folder, original, published, who, settings=made_by(reshape)))
            assert found["witness"].ok is ok
            assert found["witness"].figures["unwitnessed"] == 1
            assert found["witness"].figures["share"] == 0.5
            assert found["no invention"].ok

    def test_a_box_where_somebody_never_was(self, tmp_path):
        # Her exact trace under two names, and all of the other's samples counted as suppressed.
        original = {"a": [cell(0, 0, 0), cell(5, 5, 9)], "b": [cell(0, 1, 0)]}
        published = {0: [cell(0, 0, 0), cell(5, 5, 9)]}
        how = {"settings": {"reshape": "split", "max_time": 9}, "losses": {"samples_suppressed": 1}}
        found = look(Case(tmp_path, original, published, {"a": 0, "b": 0}, **how))
        assert failed(found) == ["witness"]
        assert found["witness"].figures["never_there"] == 2
        assert "one of their people or more never was" in found["witness"].says

    @pytest.mark.parametrize("side", range(6))
    @pytest.mark.parametrize("reshape", ["union", "none", "split", None])
    def test_a_box_that_reaches_too_far(self, tmp_path, side, reshape):
        box = list(PUBLISHED[1][0])
        box[side] += 1 if side % 2 else -1
        published = {0: PUBLISHED[0], 1: [tuple(box)]}
        found = look(Case(tmp_path, ORIGINAL, published, settings=made_by(reshape)))
        assert failed(found) == ["no invention"]
        assert found["no invention"].figures["invented"] == 1

    def test_a_cut_in_time_where_nothing_starts_or_ends(self, tmp_path):
        # Others have ended before, and one that is longer goes on.
        seen = [(0, 1, 0, 1, 10, 12), (0, 1, 0, 1, 10, 20)]
        original = {"a": seen, "b": seen}
        for moment, ok in ((12, True), (15, False), (20, True)):
            times = sorted({10, 12, moment, 20})
            published = {0: [(0, 1, 0, 1, *piece) for piece in pairwise(times)]}
            folder = tmp_path / str(moment)
            folder.mkdir()
            case = Case(folder, original, published, {"a": 0, "b": 0}, settings=made_by("split"))
            assert look(case)["no invention"].ok is ok


class TestLinkage:
    def test_fewer_than_k_is_found(self, tmp_path):
        found = look(Case(tmp_path), k=3)["linkage"]
        assert found.ok is False
        assert found.figures["below_k"] > 0
        assert found.figures["known"][0]["fewest"] == 2

    def test_people_left_out_fit_no_record(self, tmp_path):
        losses = {"people_dropped": 1, "samples_dropped": 2}
        original = ORIGINAL | {"zoe-6": [cell(70, 0, 0), cell(70, 0, 1)]}
        case = Case(tmp_path, original, PUBLISHED, WHO | {"zoe-6": None}, losses=losses)
        for record in (case.record, None):
            found = look(case, record=record, draws=200)["linkage"]
            assert found.ok
            assert found.figures["no_record"] > 0
            assert found.figures["unexplained"] == 0

    def test_people_who_fit_no_record_without_a_reason(self, tmp_path):
        original = ORIGINAL | {"zoe-6": [cell(70, 0, 0), cell(70, 0, 1)]}
        case = Case(tmp_path, original, PUBLISHED, WHO | {"zoe-6": None})
        found = look(case, record=None, draws=200)
        assert failed(found) == ["linkage"]
        assert "fitted no record" in found["linkage"].says

    def test_more_people_than_the_original_has(self, tmp_path):
        case = Case(tmp_path)
        found = look(case, original=case.original[:4], record=None)
        assert failed(found) == ["linkage"]
        assert "5 people are published and 0 counted as dropped, but the original has 4" in str(
            found["linkage"].says
        )

    def test_a_few_who_were_dropped_do_not_excuse_all(self, tmp_path):
        case = Case(tmp_path, losses={"people_dropped": 1})
        others = {f"other-{i}": [cell(50 + i, 50, 5 * i)] for i in range(6)}
        found = look(case, original=trajectories(others), record=None)
        assert failed(found) == ["linkage"]
        assert "what was left out does not explain it" in found["linkage"].says

    def test_draws_distinct_samples_of_one_person(self):
        offsets = np.array([0, 3, 3, 10])
        trials = draw(offsets, 30, 4, 7)
        assert len(trials.points) == 30 * 5
        for points, which in zip(trials.points, trials.which, strict=True):
            known = trials.known[trials.cuts[which] : trials.cuts[which + 1]]
            person = np.searchsorted(offsets, known, side="right") - 1
            size = 3 if person[0] == 0 else 7
            assert len(set(person)) == 1
            assert len(set(known)) == len(known) == (min(points, size) if points else size)
        # All that there is of a person is looked at once, however often it is drawn.
        spans = [tuple(sorted(trials.known[a:b])) for a, b in pairwise(trials.cuts)]
        assert max(spans.count(tuple(range(a, b))) for a, b in ((0, 3), (3, 10))) == 1


def sides(high, longest):
    return st.tuples(st.integers(0, high), st.integers(1, longest)).map(
        lambda side: (side[0], side[0] + side[1])
    )


def some_boxes(longest, most):
    box = st.tuples(sides(3, longest), sides(2, longest), sides(6, longest))
    return st.lists(box.map(lambda b: (*b[0], *b[1], *b[2])), min_size=1, max_size=most)


@st.composite
def releases(draw):
    """Draw people, published boxes and who became whom, without rhyme or reason."""
    longest = draw(st.sampled_from([1, 3]))
    people = draw(st.lists(some_boxes(longest, 5), min_size=2, max_size=5))
    published = draw(st.lists(some_boxes(7, 5), min_size=1, max_size=2))
    owner = draw(
        st.lists(
            st.sampled_from([None, *range(len(published))]),
            min_size=len(people),
            max_size=len(people),
        ).filter(lambda who: set(range(len(published))) <= set(who))
    )
    names = [f"user-{index}" for index in range(len(people))]
    return (
        dict(zip(names, people, strict=True)),
        dict(enumerate(published)),
        dict(zip(names, owner, strict=True)),
    )


class TestAgainstTheObvious:
    @random_cases(60)
    @given(case=releases(), reshape=st.sampled_from(["union", "split"]), seed=st.integers(0, 99))
    def test_counts_are_those_of_plain_loops(self, case, reshape, seed, tmp_path_factory):
        _, published, who = case
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            made = Case(
                tmp_path_factory.mktemp("any"), *case, settings={"reshape": reshape, "max_time": 1}
            )
        whole = reshape == "union"
        found = look(made, draws=5, points=3, seed=seed)
        people = boxes_of(made.original)
        records = {user: sorted(set(boxes)) for user, boxes in published.items()}
        owner = list(who.values())

        missed = sum(
            not held(sample, records[index])
            for samples, index in zip(people, owner, strict=True)
            if index is not None
            for sample in samples
        )
        assert found["coverage"].figures["missed"] == missed

        # People with the same record are one crowd, whatever the maker meant.
        groups = {}
        for index, boxes in records.items():
            members = [m for m, one in zip(people, owner, strict=True) if one == index]
            groups.setdefault(tuple(boxes), []).extend(members)
        boxes = [(box, members) for record, members in groups.items() for box in record]
        unseen = [
            sum(not any(witnesses(s, box, whole=whole) for s in m) for m in members)
            for box, members in boxes
        ]
        assert found["witness"].figures["unwitnessed"] == sum(map(bool, unseen))
        assert found["witness"].figures["unwitnessed_rows"] == sum(unseen)
        never = sum(
            any(not any(inside(s, box) for s in m) for m in members) for box, members in boxes
        )
        assert found["witness"].figures["never_there"] == never
        wrong = sum(
            invented(box, [s for m in members for s in m], whole=whole) for box, members in boxes
        )
        assert found["no invention"].figures["invented"] == wrong

        trials = draw(made.original.offsets, 5, 3, seed)
        samples = [sample for person in people for sample in person]
        fits = [
            sum(
                len(members)
                for record, members in groups.items()
                if all(held(samples[i], record) for i in trials.known[start:end])
            )
            for start, end in zip(
                trials.cuts[trials.which], trials.cuts[trials.which + 1], strict=True
            )
        ]
        told = found["linkage"].figures
        assert told["no_record"] == fits.count(0)
        assert told["below_k"] == fits.count(1)
        for known in told["known"]:
            points = 0 if known["samples"] == "all" else known["samples"]
            mine = [n for n, p in zip(fits, trials.points, strict=True) if p == points and n]
            assert known["fewest"] == (min(mine) if mine else None)
            assert known["median"] == (float(np.median(mine)) if mine else None)

    @pytest.mark.parametrize("number", [63, 64, 65, 128, 500])
    def test_places_are_found_in_long_traces(self, tmp_path, number):
        """However far from a box in time its place was visited."""
        dice = np.random.default_rng(number)
        walks = []
        for _ in range(2):
            x, y = (np.cumsum(dice.integers(-2, 3, number)).tolist() for _ in range(2))
            walks.append([cell(*place) for place in zip(x, y, range(number), strict=True)])
        boxes = set()
        for t in range(0, number, 7):
            (x, _, y, _, _, _), wide = walks[0][dice.integers(number)], dice.integers(1, 6)
            boxes.add((x, int(x + wide), y, int(y + wide), t, t + 3))
        published = {0: sorted(boxes, key=lambda box: box[4])}
        original, who = {"a": walks[0], "b": walks[1]}, {"a": 0, "b": 0}
        found = look(Case(tmp_path, original, published, who, settings=made_by("split")))
        both = [*walks[0], *walks[1]]
        never = sum(any(not any(inside(s, b) for s in w) for w in walks) for b in boxes)
        assert found["witness"].figures["never_there"] == never > 0
        wrong = sum(invented(box, both, whole=False) for box in boxes)
        assert found["no invention"].figures["invented"] == wrong
