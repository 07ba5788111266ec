from dataclasses import replace

import pytest

from incrowd.report._numbers import Attacked, Exposure, KGap, Risk, Sizes
from incrowd.report._text import words
from report.samples import before, numbers, rows, sharp, with_settings


def original(*shares, **more):
    known = numbers()
    given = replace(known.given, original=True)
    return replace(known, given=given, before=before(*shares, **more))


def gap(hidden_already):
    return KGap(2, 9, {"median": 0.1}, hidden_already, ())


class TestWithPartsMissing:
    def test_files_alone(self):
        said = words(numbers())
        assert said["title"] == "Privacy report of a release"
        assert said["subtitle"] == "90 people, 900 published samples, made with GLOVE."
        assert "original was not given" in said["exposure"][0]
        assert said["data"] == said["example"] == []
        assert said["left"] == ["What is left of the original could not be measured."]
        assert len(said["unsaid"]) == 3
        assert "--original" not in said["commands"]

    def test_with_the_original_but_no_record(self):
        said = words(original(k_gap=gap(0.0)))
        assert [text[:28] for text in said["unsaid"]] == ["What became of each person ("]
        assert said["exposure"][1] == "Nobody had a record that somebody else had as well."
        assert "verify RELEASE --original DATA\n" in said["commands"]

    def test_nobody_to_hide_among(self):
        assert words(original())["unsaid"][-1].endswith("there is nobody to hide among.")

    def test_files_that_did_not_pass_beside_the_original(self):
        said = words(replace(original(), before=None))
        assert said["exposure"][0].startswith("The files did not pass")
        assert said["unsaid"] == [
            "Anything about people: the files of the release did not pass verification."
        ]

    def test_with_everything_nothing_is_unsaid(self):
        known = original(k_gap=gap(0.25))
        given = replace(known.given, record=True, tz="Africa/Abidjan")
        said = words(replace(known, given=given))
        assert said["unsaid"] == []
        assert said["exposure"][1].startswith("25.0% of people had a record that")
        assert "--record WHO.parquet" in said["commands"]
        assert "Africa/Abidjan" in said["commands"]

    def test_the_command_has_the_thresholds_of_suppression(self):
        settings = {"k": 3, "reshape": "union", "max_space": 150, "max_time": 360}
        known = with_settings(numbers(), settings=settings)
        first, *_, last = words(known)["commands"].splitlines()
        assert "--k 3 --reshape union --max-metres 15000 --max-minutes 360 READING -o" in first
        assert last.endswith("--attack-sample 500 --seed 0 --purpose contract")

    def test_a_manifest_that_states_nothing(self):
        known = with_settings(numbers(), settings={}, frame={}, losses={})
        said = words(replace(known, sizes=Sizes({})))
        assert said["subtitle"].startswith("? people, ? published")
        assert ("grid", "cells of none m, slots of none s") in said["settings"]


class TestExample:
    def test_takes_as_few_points_as_single_out_nine_of_ten(self):
        said = words(original(0.2, 0.6, 0.93, 0.99))["example"]
        assert "He remembers three things about her: on Monday" in said[0]
        assert "for 93% of people" in said[1]
        assert "3 or more records that are exactly alike" in said[2]

    def test_takes_most_points_where_few_are_singled_out(self):
        said = words(original(0.0, 0.1))["example"]
        assert "two things" in said[0]
        assert "for 10% of people" in said[1]

    @pytest.mark.parametrize(("k", "failed"), [(None, {}), (3, {"linkage": False})])
    def test_promises_no_crowd_where_there_is_none(self, k, failed):
        known = replace(original(0.95), verification=numbers(k=k, **failed).verification)
        assert len(words(known)["example"]) == 2
        known = replace(known, after=Exposure(rows(0.5), None))
        assert words(known)["example"][2].endswith("one record only in 50% of cases.")


RISK = Risk(
    known=4, attacked=9, people=9,
    attacks=(Attacked("visit", 0.5, 0, 1, 0, 1), Attacked("home_work", 0.7, 0, 1, 0, 1)),
)  # fmt: skip


class TestAttacks:
    def test_the_strongest_is_named(self):
        text = words(original(risk=RISK))["exposure"][-1]
        assert "tried on all 9 people" in text
        assert text.endswith("the strongest uniquely re-identifies 70% of people.")

    def test_a_draw_is_called_one(self):
        text = words(original(risk=replace(RISK, people=1000)))["exposure"][-1]
        assert "tried on 9 people, drawn at random" in text


class TestSettings:
    def said(self, **parts):
        return dict(words(with_settings(numbers(), **parts))["settings"])

    def test_what_is_not_counted_is_said_in_words(self):
        said = self.said(losses={"people_dropped": "fewer than 3", "odd": None})
        assert said["people left out, in all"] == "fewer than 3"
        assert said["odd"] == "none"

    @pytest.mark.parametrize("number", [0, 3, 4000])
    def test_nobody_and_many_are(self, number):
        said = self.said(losses={"people_dropped": number})
        assert said["people left out, in all"] == f"{number:,}"

    def test_values_are_written_for_people(self):
        said = self.said(settings={"odd": {"max_space": 200, "odd": [1, None]}, "r": 0.50})
        assert said["odd"] == "max_space 200, odd 1, none"
        assert said["r"] == "0.5"

    def test_another_method_promises_no_crowd(self):
        said = words(with_settings(numbers(k=None), method="Cloak", settings={}))
        assert said["done"] == [
            "The method is Cloak. It changes samples one by one and hides nobody in a crowd."
        ]
        assert "--method METHOD" in said["commands"]

    @pytest.mark.parametrize(
        ("settings", "words_"),
        [
            ({"k": 5, "reshape": "split"}, "--method glove --k 5 --reshape split READING -o"),
            ({"k": 2, "variant": "loose"}, "--method glove --k 2 --variant loose READING -o"),
            ({"k": 2, "edges": "500m,15min"}, "--method glove --k 2 --edges 500m,15min READING -o"),
            ({"k": 2, "variant": "a; b"}, "--method glove --k 2 --variant 'a; b' READING -o"),
        ],
    )
    def test_commands_say_what_was_chosen(self, settings, words_):
        known = with_settings(numbers(), settings=settings)
        assert f"incrowd anonymize DATA {words_} RELEASE" in words(known)["commands"]


class TestLeft:
    @pytest.mark.parametrize(
        ("metres", "minutes", "said"),
        [
            (100, 1, "at most 100 m wide, half at most 1 min long"),
            (999, 119, "at most 999 m wide, half at most 119 min long"),
            (1000, 120, "at most 1 km wide, half at most 2 h long"),
            (2340, 150, "at most 2.3 km wide, half at most 2.5 h long"),
            (2_910_400, 154_193, "at most 2,900 km wide, half at most 107 days long"),
        ],
    )
    def test_sizes_are_in_words(self, metres, minutes, said):
        known = replace(numbers(), accuracy=sharp(medians=(metres, minutes)))
        assert said in words(known)["left"][0]

    def test_errors_where_they_are_known(self):
        known = replace(numbers(), accuracy=sharp(errors=(511.3, 104.2), deleted=0.25))
        _, text = words(known)["left"]
        assert text == (
            "Of original samples that lie in a published one (more than 99.9%), the middle of its "
            "rectangle is on average 511 m and 104 min off."
        )
