from dataclasses import replace

import numpy as np
import pytest

import incrowd
from incrowd.data._frame import Frame, laea
from incrowd.evaluate._utility.inference import Share
from incrowd.evaluate._verify.result import Check
from incrowd.report._disclosure import area_of, days_of, suppress_small_counts
from report.samples import numbers, squares, told, with_settings, within


def seen(*people, origin=0):
    """Make people who are seen at these hours."""
    hours = np.array([hour for person in people for hour in person], np.int32)
    zero = np.zeros_like(hours)
    columns = (zero, zero + 1, zero, zero + 1, hours, hours + 1)
    frame = Frame(laea(7.5, -5.5), 100.0, 3600, origin)
    return incrowd.Trajectories(columns, np.cumsum([0, *map(len, people)]), frame)


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

    def test_a_part_that_would_tell_another_is_not_told(self):
        known = with_settings(
            numbers(k=3),
            losses={"people_dropped": 109, "people_left_over": 2, "people_emptied": 107},
        )
        losses = suppress_small_counts(known).settings.losses
        assert losses["people_dropped"] == 109
        assert losses["people_left_over"] == "fewer than 10"
        assert losses["people_emptied"] == "not shown, because it would tell another count"

    def test_people_with_a_home_do_not_tell_how_many_are_left_out(self):
        useful = within(0.5, 0.5)
        home = replace(useful.persons.home, before=10_000, original=10_003)
        useful = replace(useful, persons=replace(useful.persons, dropped=3, home=home))
        hidden = suppress_small_counts(replace(self.numbers(3), utility=useful)).utility.persons
        # Rounded up: a share of more people is never too good.
        assert (hidden.dropped, hidden.home.original) == (0, 10_010)

    @pytest.mark.parametrize(("dropped", "k"), [(0, 3), (10, 3), (12, None)])
    def test_leaves_the_rest(self, dropped, k):
        known = self.numbers(dropped, k)
        assert suppress_small_counts(known) == known == self.numbers(dropped, k)


class TestInference:
    def test_a_number_of_few_is_withheld_and_not_rounded(self):
        known = suppress_small_counts(replace(numbers(), inference=told(6, 25)), 10)
        share = known.inference.at(1000).home
        assert (share.number, share.of, share.fewer_than) == (10, 25, 10)
        assert share.words == "fewer than 10 people"
        nobody, most = Share(0, 25), Share(12, 25)
        assert (nobody.words, most.words) == ("nobody", "48% of people")

    def test_of_how_many_something_is_not_known_is_not_told_if_they_are_few(self):
        told_of = replace(told(600, 1000), people=1003)
        home = suppress_small_counts(replace(numbers(), inference=told_of), 10).inference.at(1000)
        assert (home.home.number, home.home.of) == (602, 1003)
        told_of = replace(told(600, 1000), people=1020)
        home = suppress_small_counts(replace(numbers(), inference=told_of), 10).inference.at(1000)
        assert (home.home.number, home.home.of) == (600, 1000)


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
