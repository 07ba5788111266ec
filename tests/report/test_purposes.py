"""Purposes and own thresholds: what they change, what they say, what is refused."""

from dataclasses import replace

import pytest

from incrowd.errors import ArgumentError
from incrowd.report._lights import Threshold
from incrowd.report._purposes import (
    PURPOSES,
    checked_thresholds,
    key_of,
    purpose_of,
    thresholds_for,
)
from incrowd.report._thresholds import INFERENCE, LIGHTS
from incrowd.report._verdict import judge
from report.samples import numbers, sharp, told


def meant(known, purpose, **own):
    """Give the verdict on numbers for a purpose."""
    given = replace(known.given, purpose=purpose, thresholds=checked_thresholds(own))
    return judge(replace(known, given=given))


def crowd(verdict):
    return next(light for light in verdict.lights if light.about == "Smallest crowd")


class TestPurposes:
    @pytest.mark.parametrize(
        ("purpose", "smallest", "answer"),
        [
            ("internal", 2, "yes"), ("contract", 2, "conditions"), ("contract", 3, "yes"),
            ("open", 3, "no"), ("open", 5, "conditions"), ("open", 11, "conditions"),
        ],
    )  # fmt: skip
    def test_the_fewer_rules_the_larger_crowds(self, purpose, smallest, answer):
        assert meant(numbers(smallest, smallest), purpose).answer == answer

    def test_open_data_needs_an_answer_to_all_three_questions(self):
        unknown = replace(numbers(11, 11), inference=None)
        verdict = meant(unknown, "open")
        names = [reason.partition(":")[0].lower() for reason in verdict.because]
        assert names == ["linkability", "inference"]
        names = [each.partition(":")[0].lower() for each in meant(unknown, "contract").because]
        assert names == ["inference"]
        assert not meant(unknown, "internal").because

    def test_open_data_that_tells_homes_is_refused(self):
        known = replace(numbers(11, 11), inference=told(80))
        assert "as open data" in meant(known, "open").headline
        assert meant(known, "open").answer == "no"
        assert meant(known, "contract").answer == "conditions"
        assert meant(known, "internal").answer == "yes"

    def test_a_crowd_that_is_too_small_for_the_purpose_is_said_so(self):
        headline = meant(numbers(3, 3), "open").headline
        assert headline == (
            "Do not share this release as open data: its smallest crowd has 3 people, which is "
            "too few for that."
        )

    def test_conditions_are_proposed_where_there_must_be_some(self):
        assert meant(numbers(2, 2), "contract").conditions == PURPOSES["contract"].conditions
        assert meant(numbers(3, 3), "contract").conditions == PURPOSES["contract"].conditions
        assert meant(numbers(1, 2), "contract").conditions == ()

    @pytest.mark.parametrize("purpose", PURPOSES.values(), ids=lambda each: each.name)
    def test_names_known_lights_and_a_source(self, purpose):
        known = {light.light for light in (*LIGHTS, INFERENCE)}
        assert set(purpose.thresholds) <= known
        for light in thresholds_for(purpose):
            assert light.source
        assert purpose.conditions

    def test_another_is_refused(self):
        with pytest.raises(ArgumentError, match="one of internal, contract, open, not 'public'"):
            purpose_of("public")


class TestOwnThresholds:
    def test_win_and_say_whose_they_are(self):
        verdict = meant(numbers(4, 4), "contract", smallest_crowd=[6, 4])
        light = crowd(verdict)
        assert light.level == "amber"
        assert light.thresholds == "green from 6 people, amber from 4, red below"
        assert light.source == (
            "set for this report; for the purpose contract: green from 3 people, amber from 2, "
            "red below"
        )
        assert verdict.answer == "conditions"

    def test_one_threshold_for_green_and_red(self):
        light = crowd(meant(numbers(4, 4), "contract", smallest_crowd=[5, 5]))
        assert (light.level, light.thresholds) == ("red", "green from 5 people, red below")

    def test_every_light_with_a_number_can_be_set(self):
        for light in LIGHTS:
            if isinstance(light, Threshold):
                own = {key_of(light): [light.green, light.amber]}
                assert checked_thresholds(own) == {key_of(light): (light.green, light.amber)}

    @pytest.mark.parametrize(
        ("own", "says"),
        [
            ({"smalest_crowd": [3, 2]}, "is smallest_crowd meant"),
            ({"proof": [1, 0]}, "no light 'proof'"),
            ({"smallest_crowd": 3}, "must be two numbers, like"),
            ({"smallest_crowd": "32"}, "must be two numbers"),
            ({"smallest_crowd": [2, 3]}, r"green \(2\) must be at least amber \(3\)"),
            ({"left_out": [0.5, 0.1]}, r"green \(0.5\) must be at most amber \(0.1\)"),
            ({"left_out": [5, 20]}, "lie between 0 and 1"),
            ({"left_out": [True, False]}, "must be two numbers"),
        ],
    )
    def test_refuses(self, own, says):
        with pytest.raises(ArgumentError, match=says):
            checked_thresholds(own)


class TestQuestions:
    @staticmethod
    def answers(known, purpose="contract"):
        return {each.name: each for each in meant(known, purpose).questions}

    def test_what_was_not_measured_is_amber_and_says_so(self):
        found = self.answers(replace(numbers(linkage=None), inference=None))
        assert (found["linkability"].level, found["linkability"].word) == ("amber", "not assessed")
        assert (found["inference"].level, found["inference"].figure) == ("amber", "not assessed")

    def test_singling_out_is_the_worst_light_of_privacy(self):
        assert self.answers(numbers(3, 3))["singling out"].level == "green"
        assert self.answers(numbers(2, 2))["singling out"].level == "amber"
        assert self.answers(numbers(2, 2), "internal")["singling out"].level == "green"
        alone = self.answers(numbers(1, None, k_anonymity=None))["singling out"]
        assert alone.level == "red"

    def test_linkability_is_never_green(self):
        found = self.answers(numbers())["linkability"]
        assert (found.level, found.figure) == ("amber", "partly assessed")
        assert "each release is judged alone" in found.says

    def test_linkability_tells_of_a_ledger(self):
        known = numbers()
        made = replace(known.settings, settings={**known.settings.settings, "ledger_k": 3})
        found = self.answers(replace(known, settings=made))["linkability"]
        assert (found.level, found.figure) == ("amber", "partly assessed")
        assert "leave 3 people or more in the same crowds" in found.says
        assert "each release is judged alone" not in found.says

    @pytest.mark.parametrize(
        ("homes", "purpose", "level"),
        [(0, "contract", "green"), (5, "open", "green"), (6, "contract", "amber"),
         (100, "contract", "amber"), (50, "open", "amber"), (51, "open", "red")],
    )  # fmt: skip
    def test_inference_is_measured(self, homes, purpose, level):
        found = self.answers(replace(numbers(), inference=told(homes)), purpose)["inference"]
        assert found.level == level
        who = f"{homes}% of people" if homes else "nobody"
        assert found.figure == f"the home of {who} to 1 km"
        assert found.thresholds.startswith("green up to 5%, amber ")
        assert "to 100 m" in found.says

    def test_nobody_at_night(self):
        found = self.answers(replace(numbers(), inference=told(0, of=0)))["inference"]
        assert (found.level, found.figure) == ("amber", "not assessed")

    def test_do_not_change_the_use(self):
        known = replace(numbers(), accuracy=sharp(0.8, 0.8, deleted=0))
        assert meant(known, "open").use == meant(known, "contract").use
