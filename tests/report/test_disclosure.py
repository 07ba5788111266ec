import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.data._frame import Frame, laea
from incrowd.evaluate import BeforeAfter, publish
from incrowd.evaluate._utility.distributions import Bin, Ratios, errors_of
from incrowd.evaluate._utility.inference import Share
from incrowd.evaluate._verify.result import Check
from incrowd.report._disclosure import area_of, days_of, of_published, suppress_small_counts
from incrowd.report._make import make
from incrowd.report._verdict import judge
from report.samples import numbers, squares, told, with_settings, with_sizes, within


def seen(*people, origin=0):
    """Make people who are seen at these hours."""
    hours = np.array([hour for person in people for hour in person], np.int32)
    zero = np.zeros_like(hours)
    columns = (zero, zero + 1, zero, zero + 1, hours, hours + 1)
    frame = Frame(laea(7.5, -5.5), 100.0, 3600, origin)
    return incrowd.Trajectories(columns, np.cumsum([0, *map(len, people)]), frame)


def pairs_and_one(alone):
    """Make twelve pairs of people who are nearly alike, and one far away who is seen then."""
    rng = np.random.default_rng(3)
    people = []
    for _ in range(12):
        at = np.sort(rng.choice(14 * 24, 30, replace=False)) * 60
        x, y = rng.integers(0, 60, 2)[:, None] + rng.integers(0, 9, (2, 30))
        people += [(x, y, at), (x + 1, y, at + 1)]
    alone = np.array(alone)
    people.append((4000 + 0 * alone, 4000 + 0 * alone, alone))
    x, y, at = (np.concatenate(each).astype(np.int32) for each in zip(*people, strict=True))
    offsets = np.cumsum([0, *(len(who[0]) for who in people)])
    names = pl.Series("user", [f"person{number:03}" for number in range(25)])
    columns = (x, x + 1, y, y + 1, at, at + 1)
    return incrowd.Trajectories(columns, offsets, Frame(laea(7.5, -5.5)), people=names)


class TestDays:
    def test_a_day_counts_by_its_people_and_not_by_their_samples(self):
        data = seen([0, 1, 2, 24], [25, 26], [24, 49])
        assert days_of(data, 3) == {
            "start": "1970-01-02",
            "end": "1970-01-02",
            "days": 1,
            "days_shown": 1,
        }
        assert days_of(data, 1) == {
            "start": "1970-01-01",
            "end": "1970-01-03",
            "days": 3,
            "days_shown": 3,
        }

    def test_everybody_is_counted_afresh(self):
        assert days_of(seen([5], [5], [5]), 3)["days"] == 1

    def test_days_without_anybody_in_between(self):
        assert days_of(seen([0, 240], [0, 240]), 2)["days"] == 11

    def test_days_are_those_of_where_people_live(self):
        found = days_of(seen([23], [23], origin=0), 2, "Africa/Lagos")
        assert (found["start"], found["days"]) == ("1970-01-02", 1)

    def test_days_with_few_people_are_not_counted_as_shown(self):
        found = days_of(seen([0, 24, 240], [0, 241]), 2)
        assert (found["days"], found["days_shown"]) == (11, 2)

    def test_nobody(self):
        assert set(days_of(seen([0]), 2).values()) == {None}
        assert days_of(seen(), 1)["days"] is None

    def test_on_the_clock_of_the_data(self):
        assert days_of(seen([0], [0], origin=-3600), 2)["start"] == "1969-12-31"


class TestMap:
    def test_area_is_that_of_squares_with_people_enough_in_the_original(self):
        assert area_of(squares((5, 5, 10, None), (7, 6, None, 20))) == pytest.approx(0.25)
        assert area_of(squares()) is None


class TestSmallCounts:
    @staticmethod
    def numbers(dropped, k=3):
        figures = {"people_dropped": dropped, "samples_dropped": 77, "trajectories": 5}
        check = Check("membership", ok=True, says=f"{dropped} with 77", figures=figures)
        losses = {"people_dropped": dropped, "people_left_over": dropped, "samples_dropped": 77}
        known = with_settings(numbers(k=k), losses=losses | {"people_emptied": 0})
        return replace(known, verification=replace(known.verification, checks=(check,)))

    @pytest.mark.parametrize("dropped", [1, 2])
    def test_hides_what_is_counted_of_few(self, dropped):
        known = suppress_small_counts(self.numbers(dropped))
        assert "77" not in str(known)
        losses = known.settings.losses
        assert losses["people_dropped"] == losses["people_left_over"] == "fewer than 10"
        assert losses["people_emptied"] == 0
        [check] = known.verification.checks
        assert check.figures == {"trajectories": 5}
        assert "fewer than 10 people" in check.says

    @pytest.mark.parametrize("ok", [True, False])
    def test_people_under_identifiers_are_not_counted(self, ok):
        known = self.numbers(2)
        says = (
            "2 of 40 crowds hold somebody under two identifiers (82 people under 99 identifiers)."
        )
        figures = {"people": 82, "identifiers": 99, "smallest": 2}
        check = Check("people", ok=ok, says=says, figures=figures)
        proof = replace(known.verification, checks=(check,))
        [check] = suppress_small_counts(replace(known, verification=proof)).verification.checks
        assert check.figures == {"smallest": 2}
        assert "82" not in check.says
        assert "99" not in check.says
        assert check.says.endswith("identifiers.")

    def test_a_part_that_would_tell_another_is_not_told(self):
        known = with_settings(
            numbers(k=3),
            losses={"people_dropped": 109, "people_left_over": 2, "people_emptied": 107},
        )
        losses = suppress_small_counts(known).settings.losses
        assert losses["people_dropped"] == 109
        hidden = "not shown, because it would tell another count"
        assert losses["people_left_over"] == losses["people_emptied"] == hidden

    def test_few_who_are_held_back_are_not_counted(self):
        losses = {"people_dropped": 20, "people_left_over": 0, "people_emptied": 17}
        known = with_settings(numbers(k=3), losses=losses | {"people_held_back": 3})
        losses = suppress_small_counts(known).settings.losses
        assert losses["people_held_back"] == "not shown, because it would tell another count"
        assert losses["people_emptied"] == "not shown, because it would tell another count"

    @pytest.mark.parametrize("dropped", range(1, 10))
    def test_a_round_number_of_people_tells_nothing_of_how_few_are_left_out(self, dropped):
        known = with_sizes(self.numbers(dropped), original_people=90 + dropped)
        sizes = suppress_small_counts(known).sizes
        assert (sizes.original_people, sizes.dropped_share) == (100, None)
        assert sizes.dropped_at_most == pytest.approx(9 / 99)

    def test_the_light_shows_the_most_that_few_can_be(self):
        known = suppress_small_counts(
            with_sizes(self.numbers(3), original_people=93, dropped_share=3 / 93)
        )
        verdict = judge(known)
        [light] = [each for each in verdict.lights if each.about == "Left out"]
        assert (light.value, light.level) == ("up to 9.1%", "amber")
        assert "the most that they can be" in light.says

    @pytest.mark.parametrize(("dropped", "k"), [(0, 3), (10, 3), (12, None)])
    def test_leaves_the_rest(self, dropped, k):
        known = self.numbers(dropped, k)
        assert suppress_small_counts(known) == known == self.numbers(dropped, k)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Report two releases of people who differ in the samples of the one who is left out."""
    found = []
    for number, alone in enumerate(([5, 300, 700], [17, 18, 19, 20, 4000])):
        folder, data = tmp_path_factory.mktemp(f"few{number}"), pairs_and_one(alone)
        release, who = folder / "release", folder / "who.parquet"
        publish(incrowd.glove(data, k=2), release, original=data, record=who, draws=50)
        gaps = incrowd.k_gap(data, [2, 3])
        found.append(make(release, original=data, record=who, gaps=gaps, tz="UTC"))
    return found


class TestFewLeftOut:
    """One person is not published; two datasets differ in her samples only."""

    def test_nothing_that_is_told_depends_on_her(self, reports):
        told = [json.loads(report.json()) for report in reports]
        for each in told:
            del each["made"]["files"], each["drawn"]  # of the release alone; names are random
        assert told[0] == told[1]

    def test_what_is_told_is_of_the_others_and_says_so(self, reports):
        told = json.loads(reports[0].json())
        assert told["before"]["data"]["people"] == told["sizes"]["people"] == 24
        assert told["sizes"]["original_people"] == 30
        text = " ".join(reports[0].lines())
        assert "fewer than 10 people are left out, and all shares are of the others" in text
        assert "24 who are published; few others are left out" in reports[0].html()

    def test_trials_that_fit_none_are_not_counted(self, reports):
        check = reports[0].numbers.verification["linkage"]
        assert "no_record" not in check.figures
        assert all("none" not in row for row in check.figures["known"])
        assert check.says.endswith(
            "fitted 2 records or more, or none, of people or samples left out."
        )

    def test_a_table_of_gaps_without_names_is_not_used(self):
        data = pairs_and_one([5])
        became = np.append(np.repeat(np.arange(12), 2), -1)
        pair = BeforeAfter(data, data, became)
        gaps = incrowd.k_gap(data, 2)
        alone, kept = of_published(pair, gaps)
        assert (len(alone.before), len(kept)) == (24, 24)
        assert of_published(pair, gaps.drop("user"))[1] is None
        unknown = BeforeAfter(data, data, None)
        assert of_published(unknown, gaps) == (unknown, gaps)


class TestInference:
    def test_a_number_of_few_is_withheld_and_not_rounded(self):
        known = suppress_small_counts(replace(numbers(), inference=told(6, 25)), 10)
        share = known.inference.at(1000).home
        assert (share.number, share.of, share.fewer_than) == (10, 25, 10)
        assert share.words == "fewer than 10 people"
        nobody, most = Share(0, 25), Share(12, 25)
        assert (nobody.words, most.words) == ("nobody", "48% of people")

    @pytest.mark.parametrize(("number", "few"), [(91, True), (99, True), (90, False), (100, False)])
    def test_all_but_few_are_not_told_either(self, number, few):
        share = suppress_small_counts(replace(numbers(), inference=told(number))).inference
        home = share.at(1000).home
        assert (home.number, home.all_but) == ((100, 10) if few else (number, None))
        if few:
            assert home.words == "all but fewer than 10 people"

    def test_of_few_who_have_such_a_place_nothing_is_told(self):
        known = replace(told(3, 4), people=60)
        home = suppress_small_counts(replace(numbers(), inference=known)).inference.at(1000).home
        assert (home.number, home.of, home.fewer_than) == (10, 60, 10)

    def test_of_how_many_something_is_not_known_is_not_told_if_they_are_few(self):
        told_of = replace(told(600, 1000), people=1003)
        home = suppress_small_counts(replace(numbers(), inference=told_of), 10).inference.at(1000)
        assert (home.home.number, home.home.of) == (602, 1003)
        told_of = replace(told(600, 1000), people=1020)
        home = suppress_small_counts(replace(numbers(), inference=told_of), 10).inference.at(1000)
        assert (home.home.number, home.home.of) == (600, 1000)


class TestGroups:
    @staticmethod
    def shown(*people, everybody=60, moving=60):
        useful = within(0.5, 0.5)
        bins = tuple(Bin(1.0, 2.0, number, 1.0, 1.0, 1.0) for number in people)
        ratios = Ratios("km", everybody, 0, 0, moving, 0, None, None, {}, bins, (), 0)
        places = errors_of(57, 55, [0.0] * 55, original=everybody)
        persons = replace(
            useful.persons, people=everybody, travelled=ratios, home=places, gyration=None,
            hull=None,
        )  # fmt: skip
        known = suppress_small_counts(replace(numbers(), utility=replace(useful, persons=persons)))
        return known.utility.persons

    @pytest.mark.parametrize(
        ("people", "kept"),
        [((20, 30, 10), [20, 30, 10]), ((20, 30), [20, 30]), ((25, 12, 20), [25, 20]), ((52,), [])],
    )
    def test_where_one_is_missing_a_second_one_is_too(self, people, kept):
        assert [group.people for group in self.shown(*people).travelled.bins] == kept

    def test_few_who_stay_where_they_are_count_as_missing(self):
        shown = self.shown(30, 25, moving=55).travelled.bins
        assert [group.people for group in shown] == [30]

    def test_how_many_have_a_home_does_not_tell_how_few_have_none(self):
        home = self.shown(60).home
        assert (home.original, home.before, home.after) == (60, 60, 60)


class TestRecipients:
    def test_a_check_of_a_rarest_place_says_no_more_than_its_setting(self):
        figures = {"places": 40, "rare": 0, "at_most": 2, "fewest": 3}
        check = Check("promise", ok=True, says="... at least 3 visitors.", figures=figures)
        known = replace(numbers(k=None).verification, checks=(check,)).for_recipients()
        assert known["promise"].says == "Each of 40 published places has more than 2 visitors."
        assert known["promise"].figures["fewest"] == "fewer than 10"

    @pytest.mark.parametrize("ok", [None, False])
    def test_few_who_are_not_hidden_are_not_counted(self, ok):
        name = "people_alone" if ok is None else "people_below_k"
        figures = {"k": 3, "people": 60, name: 4, "smallest": 1, "largest": 9, "crowds": 20,
                   "sizes": {"1": 4}}  # fmt: skip
        check = Check("k-anonymity", ok=ok, says="4 of 60 ...", figures=figures)
        known = replace(numbers().verification, checks=(check,)).for_recipients()["k-anonymity"]
        assert known.ok is ok
        assert "ewer than 10 of 60 people have a record that" in known.says
        assert known.figures == {"k": 3, "people": 60, name: "fewer than 10", "smallest": 1}

    def test_that_all_are_not_hidden_is_told(self):
        figures = {"k": 3, "people": 2, "people_below_k": 2, "smallest": 2}
        check = Check("k-anonymity", ok=False, says="2 of 2", figures=figures)
        known = replace(numbers().verification, checks=(check,)).for_recipients()
        assert known["k-anonymity"] == check


class TestJson:
    def test_has_no_counts_that_the_page_does_not_show(self):
        plain = replace(numbers(), utility=within(0.5, 0.5), inference=told(50)).as_dict()
        assert not {"both", "moving", "static"} & set(str(plain["utility"]).split("'"))
        assert "words" not in plain["utility"]
        assert "words" not in plain["inference"]

    def test_few_who_are_left_out_are_null_and_not_zero(self):
        known = with_settings(numbers(), losses={"people_dropped": 3})
        known = suppress_small_counts(replace(known, utility=within(0.5, 0.5)), 10)
        assert known.as_dict()["utility"]["persons"]["dropped"] is None
