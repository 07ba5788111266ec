"""Attacks on the release, on the page: lights, what they decide, and what is withheld."""

import dataclasses
import re
from dataclasses import replace
from pathlib import Path

import pytest

import incrowd
from incrowd._format import rounded_percent
from incrowd.evaluate import RELEASE_ATTACKS
from incrowd.evaluate._release_attacks.findings import Figure, Finding
from incrowd.report import make
from incrowd.report._purposes import checked_thresholds, key_of
from incrowd.report._release_attacks import ATTACK_LIGHTS, AttackOnRelease, _without_counts
from incrowd.report._thresholds import lights_of
from incrowd.report._verdict import judge
from report.samples import numbers


def attacked(purpose="contract", **shares):
    """Give numbers of a release of crowds of three, of which attacks gain so much."""
    tried = tuple(
        AttackOnRelease(
            name,
            kind.label,
            shares.get(name, 0.0),
            at_most=False,
            says="Found.",
            knows="All.",
            helps="Edges.",
        )
        for name, kind in RELEASE_ATTACKS.items()
    )
    known = numbers(11 if purpose == "open" else 3, 3)
    return replace(known, attacks=tried, given=replace(known.given, purpose=purpose))


def lights(known):
    return {each.key: each for each in judge(known).lights if each.group == "attack"}


class TestLights:
    def test_every_attack_has_one(self):
        assert list(lights(attacked())) == [key_of(each) for each in ATTACK_LIGHTS]
        assert list(lights(attacked())) == list(RELEASE_ATTACKS)

    def test_there_are_none_where_nothing_was_tried(self):
        assert lights(numbers()) == {}

    def test_says_what_was_found_and_what_helps(self):
        found = lights(attacked(insider=0.4))["insider"]
        assert (found.level, found.value) == ("amber", "40.0%")
        assert found.says == "Found. What helps: Edges."
        assert lights(attacked())["insider"].says == "Found."

    def test_what_was_not_tried_is_grey_and_says_why(self):
        known = attacked()
        tried = tuple(replace(each, share=None, says="It needs more.") for each in known.attacks)
        found = lights(replace(known, attacks=tried))["composition"]
        assert (found.level, found.value, found.says) == ("grey", "not known", "It needs more.")

    def test_who_is_alone_in_several_releases_is_singled_out(self):
        levels = [lights(attacked(composition=share))["composition"].level
                  for share in (0.01, 0.05, 0.051)]  # fmt: skip
        assert levels == ["green", "amber", "red"]

    def test_own_thresholds_name_them_by_attack(self):
        own = checked_thresholds({"insider": [0.5, 0.6]})
        known = attacked(insider=0.4)
        known = replace(known, given=replace(known.given, thresholds=own))
        assert lights(known)["insider"].level == "green"


class TestVerdict:
    def test_little_gained_is_a_yes(self):
        assert judge(attacked()).answer == "yes"

    def test_what_was_not_tried_decides_nothing(self):
        known = attacked()
        none = tuple(replace(each, share=None) for each in known.attacks)
        assert judge(replace(known, attacks=none)).answer == "yes"

    def test_much_gained_is_a_condition_that_names_the_attacks(self):
        verdict = judge(attacked(insider=0.4, edges=0.2))
        assert verdict.answer == "conditions"
        [reason] = verdict.because
        assert reason.startswith(
            "Attacks on what is published gain something: a member of the crowd (40.0% of people), "
            "somebody who knows a few samples (20.0% of people)"
        )

    def test_a_red_one_is_a_no(self):
        verdict = judge(attacked(composition=0.41))
        assert verdict.answer == "no"
        assert "attacks gain too much: several releases together (41.0% of people)" in (
            verdict.headline
        )

    def test_open_data_asks_for_more(self):
        assert judge(attacked("open", insider=0.6)).answer == "no"
        assert judge(attacked("contract", insider=0.6)).answer == "conditions"

    def test_within_the_organisation_they_decide_nothing(self):
        assert judge(attacked("internal", insider=0.6, composition=0.5)).answer == "yes"

    def test_linkability_is_answered_where_other_releases_are_given(self):
        known = attacked(composition=0.2)
        none = tuple(
            replace(each, share=None) if each.attack == "composition" else each
            for each in known.attacks
        )
        answers = [judge(each).questions[1] for each in (known, replace(known, attacks=none))]
        assert [each.level for each in answers] == ["red", "amber"]
        assert answers[0].figure == "20.0% of people are alone in all releases together"
        assert answers[1].word == "partly assessed"
        assert "later data" in answers[1].says

    @pytest.mark.parametrize(
        ("alone", "later", "level"),
        [(0.0, 0.0, "green"), (0.0, 0.5, "amber"), (0.2, 0.0, "red"), (0.2, 0.5, "red")],
    )
    def test_linkability_is_as_good_as_its_worst_part(self, alone, later, level):
        found = judge(attacked(composition=alone, which_crowd=later)).questions[1]
        assert found.level == level

    def test_a_ledger_is_still_told_of_where_later_data_was_tried(self):
        known = attacked()
        tried = tuple(
            replace(each, share=None) if each.attack == "composition" else each
            for each in known.attacks
        )
        settings = replace(known.settings, settings={"k": 3, "ledger_k": 3})
        says = judge(replace(known, attacks=tried, settings=settings)).questions[1].says
        assert "made with a ledger" in says
        assert "or with later data" not in says


class TestWords:
    def test_every_option_that_is_named_is_there(self):
        from typer.main import get_command

        from incrowd.cli._app import app

        commands = get_command(app).commands
        there = {
            option
            for name in ("anonymize", "report", "attack", "run")
            for parameter in commands[name].params
            for option in parameter.opts
        }
        places = Path(incrowd.evaluate.__file__).parent / "_release_attacks"
        for file in places.glob("*.py"):
            named = set(re.findall(r"--[a-z][a-z-]*", file.read_text(encoding="utf-8")))
            assert named <= there, file.name

    def test_what_is_withheld_still_says_what_the_figure_is(self):
        figures = (Figure("found", "people", 100, 200), Figure("more", "others", 3, 200))
        finding = Finding("edges", "Few", "found", "Of 50%, 1.5%.", figures, "All.", "less")
        found = _without_counts(finding, 10)
        assert found.says.startswith("The share of people whose crowd is found. What else")


class TestFewPeople:
    def finding(self, number, other=50):
        figures = (Figure("told", "people", number, 200), Figure("more", "others", other, 200))
        says = f"Of {rounded_percent(number / 200)}; 1.5%."
        return Finding("absence", "What was left out", "told", says, figures, "All.", "Less")

    @pytest.mark.parametrize("number", [0, 10, 200])
    def test_enough_or_nobody_is_told(self, number):
        found = _without_counts(self.finding(number), 10)
        assert (found.share, found.at_most) == (number / 200, False)
        assert found.says == self.finding(number).says

    @pytest.mark.parametrize("number", [1, 4, 9])
    def test_few_are_told_as_the_most_that_they_can_be(self, number):
        found = _without_counts(self.finding(number), 10)
        assert (found.share, found.at_most) == (0.05, True)
        assert rounded_percent(number / 200) not in found.says
        known = attacked()
        absence = replace(known, attacks=(found,))
        [light] = [each for each in lights_of(absence) if each.key == "absence" and each.value]
        assert light.value == "up to 5.0%"

    def test_few_behind_a_sentence_are_not_told(self):
        found = _without_counts(self.finding(100, other=3), 10)
        assert (found.share, found.at_most) == (0.5, False)
        assert "1.5%" not in found.says
        assert "fewer than 10 people" in found.says

    def test_few_of_whom_the_sentence_says_nothing_do_not_withhold_it(self):
        found = _without_counts(self.finding(100, other=4), 10)
        assert found.says == "Of 50%; 1.5%."

    def test_no_count_is_behind_a_light(self):
        kinds = {each.name: each.type for each in dataclasses.fields(AttackOnRelease)}
        assert set(kinds) == {"attack", "label", "share", "at_most", "says", "knows", "helps"}


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """Publish a city in pairs and in threes."""
    folder = tmp_path_factory.mktemp("months")
    city = incrowd.synthesize("city", users=40, seed=7)
    for k in (2, 3):
        incrowd.publish(
            incrowd.glove(city, k), folder / f"k{k}", original=city,
            record=folder / f"k{k}.parquet", draws=20,
        )  # fmt: skip
    return folder, city


class TestPage:
    def test_has_a_section_with_every_attack(self, months):
        folder, city = months
        found = make(folder / "k3", original=city, record=folder / "k3.parquet", tz="UTC",
                     targets=20)  # fmt: skip
        page = found.html()
        assert "What if it is attacked?" in page
        assert all(kind.label.replace("'", "&#39;") in page for kind in RELEASE_ATTACKS.values())
        assert [each["attack"] for each in found.numbers.as_dict()["attacks"]] == (
            list(RELEASE_ATTACKS)
        )

    def test_without_the_record_it_says_that_nothing_was_tried(self, months):
        folder, city = months
        found = make(folder / "k3", original=city, tz="UTC", targets=20)
        assert found.numbers.attacks == ()
        assert "Not assessed: attacks on what is published need" in found.html()

    def test_other_releases_are_laid_over_it(self, months):
        folder, city = months
        other = (folder / "k2", folder / "k2.parquet", city)
        found = make(folder / "k3", original=city, record=folder / "k3.parquet", tz="UTC",
                     targets=20, others=[other])  # fmt: skip
        [light] = [each for each in found.verdict.lights if each.key == "composition"]
        assert light.level != "grey"
