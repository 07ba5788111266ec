import dataclasses
from dataclasses import replace

import pytest

from incrowd.evaluate import Check
from incrowd.evaluate._utility.inference import Share
from incrowd.report import _thresholds
from incrowd.report._html import TEMPLATES
from incrowd.report._lights import AMBER, GREEN, RED, ChecksPassed, Threshold
from incrowd.report._numbers import CostOfK, Exposure, SamePersons, plain
from incrowd.report._text import words
from incrowd.report._thresholds import LIGHTS, docs_table, lights_of
from incrowd.report._verdict import judge
from report.samples import before, numbers, rows, sharp, with_sizes, within


def light(verdict, about):
    return next(light for light in verdict.lights if light.about == about)


class TestAnswer:
    @pytest.mark.parametrize(
        ("smallest", "k", "answer", "level"),
        [
            (4, 3, "yes", "green"),
            (3, 3, "yes", "green"),
            (3, 2, "yes", "green"),
            (2, 2, "conditions", "amber"),
            (1, 2, "no", "red"),
        ],
    )
    def test_by_the_smallest_crowd(self, smallest, k, answer, level):
        verdict = judge(numbers(smallest, k))
        assert verdict.answer == answer
        assert light(verdict, "Smallest crowd").level == level
        assert light(verdict, "Smallest crowd").value == str(smallest)

    def test_says_the_k_that_was_verified_and_not_the_smallest_crowd(self):
        assert judge(numbers(5, 3)).headline == (
            "This release may be shared with a named recipient under a contract: everybody in it "
            "is in a crowd of 3 or more."
        )

    def test_a_k_that_means_something_else_is_no_crowd(self):
        """As that of (k, delta)-anonymity: verified, and records may be alike by chance."""
        known = numbers(5, 3, k_anonymity=None)
        other = replace(known.verification, required=("cylinders",))
        checked = (*other.checks, Check("cylinders", ok=True, says="They hold."))
        verdict = judge(replace(known, verification=replace(other, checks=checked)))
        assert verdict.answer == "no"
        assert "alike" not in verdict.threat
        assert light(verdict, "Smallest crowd").level == "red"
        assert "by chance" in light(verdict, "Smallest crowd").says

    def test_nobody_is_hidden_with_herself(self):
        known = replace(numbers(), same_person=SamePersons(2, 1))
        verdict = judge(known)
        found = light(verdict, "Same person twice")
        assert (verdict.answer, found.level, found.value) == ("no", "red", "1")
        assert verdict.headline == (
            "Do not share this release: people may be in it under several identifiers, so that its "
            "crowds may hold fewer people than records."
        )
        assert "may all be of one person" in verdict.threat
        assert "same person under several identifiers" in verdict.questions[0].says

    def test_without_the_original_it_is_not_assessed_and_no_plain_yes(self):
        verdict = judge(replace(numbers(), same_person=None))
        found = light(verdict, "Same person twice")
        assert (verdict.answer, found.level, found.value) == ("conditions", "grey", "not assessed")
        assert "was not assessed without the original" in found.says

    def test_a_yes_needs_no_reason(self):
        assert judge(numbers()).because == ()

    def test_conditions_name_their_reason(self):
        verdict = judge(numbers(2, 2))
        assert "with conditions" in verdict.headline
        assert [reason.split(":")[0] for reason in verdict.because] == ["Smallest crowd (2)"]

    @pytest.mark.parametrize("check", ["files", "k_anonymity", "linkage", "membership"])
    def test_a_check_that_failed_is_a_no(self, check):
        verdict = judge(numbers(**{check: False}))
        assert verdict.answer == "no"
        assert verdict.headline == "Do not share this release: its verification failed."
        assert verdict.threat == "No protection can be claimed."
        assert light(verdict, "Proof").level == "red"
        assert light(verdict, "Proof").value == "9 of 10 checks passed"
        assert verdict.because[0].startswith(check.replace("_", "-"))

    def test_a_verification_that_is_not_ok_is_a_no_even_where_no_check_failed(self):
        verdict = judge(numbers(k_anonymity=None, smallest=None))
        assert verdict.answer == "no"
        assert light(verdict, "Proof").level == "red"

    def test_checks_that_were_not_made_are_conditions(self):
        verdict = judge(numbers(linkage=None, coverage=None))
        assert verdict.answer == "conditions"
        assert light(verdict, "Proof").level == "amber"
        assert light(verdict, "Proof").value == "8 of 10 checks passed"
        assert light(verdict, "Proof").says.endswith("Not checked: coverage, linkage.")

    @pytest.mark.parametrize("smallest", [1, 2, 9])
    def test_without_a_promised_k_it_is_a_no_however_large_crowds_are(self, smallest):
        verdict = judge(numbers(smallest, None, k_anonymity=None))
        assert verdict.answer == "no"
        assert "as anonymous" in verdict.headline
        assert light(verdict, "Smallest crowd").level == "red"
        assert ("by chance" in light(verdict, "Smallest crowd").says) == (smallest > 1)

    def test_crowds_that_were_not_counted_are_red(self):
        verdict = judge(numbers(None, rows=False))
        assert light(verdict, "Smallest crowd").value == "not known"
        assert light(verdict, "Smallest crowd").level == "red"
        assert verdict.three[0]["value"] == "?"
        assert verdict.loss == "What was lost cannot be said: the files did not pass verification."
        assert (
            light(verdict, "Homes").says == "Cannot be said: the files did not pass verification."
        )

    @pytest.mark.parametrize(
        ("unwitnessed", "level", "value", "word"),
        [
            (0.0, "green", "100%", "Everybody of a crowd was seen"),
            (0.0004, "green", "99.96%", "somebody was not seen"),
            (0.05, "green", "95%", "somebody was not seen"),
            (0.2, "amber", "80%", "somebody was not seen"),
            (0.34, "red", "66%", "somebody was not seen"),
        ],
    )
    def test_tells_where_somebody_was_not_seen(self, unwitnessed, level, value, word):
        known = numbers()
        checks = tuple(
            replace(check, figures={"share": unwitnessed}) if check.name == "witness" else check
            for check in known.verification.checks
        )
        verdict = judge(replace(known, verification=replace(known.verification, checks=checks)))
        found = light(verdict, "True of everybody")
        assert (found.level, found.value) == (level, value)
        assert word in found.says
        assert verdict.answer == "yes"  # how useful it is decides nothing

    def test_shares_of_published_samples_are_called_so(self):
        """Without the private record nothing is known of the original's samples."""
        verdict = judge(replace(numbers(), accuracy=sharp(0.9, 0.5)))
        assert verdict.three[2]["what"].startswith("of published samples are precise")
        assert "90% of the published samples are within 2 km" in verdict.loss
        assert "of published samples" in light(verdict, "Detail in time").says

    def test_is_useful_by_its_worst_light(self):
        """A release may be private and of no use: the one does not hide the other."""
        assert judge(numbers()).use_level == "grey"
        assert "cannot be said without the original" in judge(numbers()).use
        good = replace(with_sizes(numbers(), dropped_share=0.0), utility=within(0.9, 0.9))
        good = replace(good, accuracy=sharp(0.9, 0.9))
        verdict = judge(good)
        assert (verdict.answer, verdict.use_level) == ("yes", "green")
        assert verdict.use == "It keeps most of its use: all that was measured is good."
        verdict = judge(replace(good, utility=within(0.14, 0.5), accuracy=sharp(0.9, 0.05)))
        assert (verdict.answer, verdict.use_level) == ("yes", "red")
        assert verdict.use == "It has lost much of its use: detail in time 5%, homes 14%."
        verdict = judge(replace(good, utility=within(0.9, 0.5)))
        assert (verdict.use_level, verdict.use) == (
            "amber",
            "It has lost some of its use: workplaces 50%.",
        )

    def test_one_of_two_losses_is_called_so(self):
        known = with_sizes(numbers(), dropped_share=0.01)
        assert light(judge(known), "Left out").says.startswith("The share of people who")
        seen = replace(known.given, original=True, record=True)
        both = replace(known, accuracy=sharp(deleted=0), given=seen)
        assert light(judge(both), "Left out").says.startswith("The larger of two shares")

    @pytest.mark.parametrize(
        ("share", "level", "answer"),
        [(0.01, "green", "yes"), (0.0101, "amber", "conditions"), (0.05, "amber", "conditions"),
         (0.0501, "red", "no")],
    )  # fmt: skip
    def test_by_what_is_unique_in_the_release(self, share, level, answer):
        verdict = judge(numbers(unique=(0.0, share, 0.0)))
        assert light(verdict, "Unique in the release").level == level
        assert verdict.answer == answer

    def test_detail_that_was_lost_is_no_matter_of_sharing(self):
        assert judge(replace(numbers(), accuracy=sharp(0.0, 0.0, deleted=2_000))).answer == "yes"

    def test_where_little_is_left_somebody_has_to_decide(self):
        verdict = judge(replace(numbers(), accuracy=sharp(deleted=9_990)))
        assert verdict.answer == "conditions"
        assert "but 99.9% of the samples are not in it" in verdict.headline
        [reason] = verdict.because
        assert reason.startswith("99.9% of the samples are not in the release: decide whether")


class TestNobodyHasAHome:
    """People who were seen at other times of the day only."""

    def told(self, homes, works):
        known = numbers()
        nobody, half = Share(0, homes), Share(works // 2, works)
        lengths = tuple(
            replace(each, home=nobody, work=half, night=nobody, homogeneous=nobody)
            for each in known.inference.disclosures
        )
        known = replace(known, inference=replace(known.inference, disclosures=lengths))
        return judge(known).questions[2]

    def test_the_question_of_inference_names_the_hours(self):
        asked = self.told(0, 0)
        assert (asked.level, asked.word) == ("amber", "not assessed")
        assert "from 22 to 6 h or from 9 to 17 h" in asked.says
        assert "no place of anybody is known" not in asked.says

    def test_the_question_of_inference_points_at_no_homes(self):
        assert "see the light Homes" in self.told(100, 100).says
        says = self.told(0, 100).says
        assert "see the light Homes" not in says
        assert "Nobody was seen from 22 to 6 h" in says

    def test_the_lights_say_why(self):
        verdict = judge(replace(numbers(), utility=within(None, None)))
        for about, hours in (("Homes", "22 to 6 h"), ("Workplaces", "9 to 17 h")):
            found = light(verdict, about)
            assert (found.level, found.value) == ("grey", "not known")
            assert found.says.startswith(f"Nobody was seen from {hours} in the original")
        without = light(judge(numbers()), "Homes").says
        assert without == "Cannot be said without the original and the private record."

    def test_the_price_of_larger_crowds_has_no_homes(self):
        names = ("within_2_km", "within_2_hours", "within_both", "deleted")
        row = dict.fromkeys(names, 0.5) | {"k": 2, "homes": None}
        for homes in (None, 0.5):
            known = replace(numbers(), cost_of_k=CostOfK(50, (row | {"homes": homes},)))
            cost = words(known)["cost"]
            assert ("home" in cost["says"]) == (homes is not None)
            assert ("homes within 1 km" in cost["head"]) == (homes is not None)
            assert len(cost["rows"][0]) == len(cost["head"])


class TestCostOfLargerCrowds:
    def test_a_little_is_not_nothing(self):
        shares = {"within_2_km": 0.004, "within_2_hours": 0.0, "within_both": 0.0004,
                  "deleted": 0.996, "homes": None}  # fmt: skip
        other = dict.fromkeys(shares) | {"k": 10, "homes": 0.5}
        cost = words(replace(numbers(), cost_of_k=CostOfK(50, (shares | {"k": 5}, other))))["cost"]
        assert cost["rows"] == [
            ("5", "less than 0.1%", "0.4%", "0%", "99.6%", "-"), ("10", *"----", "50%"),
        ]  # fmt: skip


class TestUse:
    @pytest.mark.parametrize(
        ("share", "level"),
        [(1.0, "green"), (0.7, "green"), (0.6999, "amber"), (0.4, "amber"), (0.3999, "red"),
         (0.0, "red")],
    )  # fmt: skip
    def test_levels_of_detail_and_places(self, share, level):
        known = replace(numbers(), accuracy=sharp(share, share), utility=within(share, share))
        verdict = judge(known)
        for about in ("Detail in space", "Detail in time", "Homes", "Workplaces"):
            assert light(verdict, about).level == level

    def test_homes_of_people_who_are_left_out_are_not_found(self):
        known = within(0.9, 0.9)
        lost = replace(known.persons.home, original=10 * known.persons.home.original)
        known = replace(known, persons=replace(known.persons, home=lost))
        verdict = judge(replace(numbers(), utility=known))
        assert light(verdict, "Homes").value == "9%"
        assert light(verdict, "Workplaces").value == "90%"

    @pytest.mark.parametrize(
        ("dropped", "deleted", "level", "value"),
        [
            (0.0, 0, "green", "none"),
            (0.0, 5, "green", "less than 0.1%"),
            (0.05, 100, "green", "5.0%"),
            (0.01, 501, "amber", "5.01%"),
            (0.2, 0, "amber", "20.0%"),
            (0.2001, 0, "red", "20.01%"),
            (None, 3000, "red", "30.0%"),
            (None, None, "grey", "not known"),
        ],
    )
    def test_the_larger_loss_counts(self, dropped, deleted, level, value):
        known = replace(
            with_sizes(numbers(), dropped_share=dropped), accuracy=sharp(deleted=deleted)
        )
        assert light(judge(known), "Left out").level == level
        assert light(judge(known), "Left out").value == value

    def test_what_is_not_known_is_grey_and_said_so(self):
        verdict = judge(numbers())
        use = [light for light in verdict.lights if light.group == "use"]
        assert {light.level for light in use} == {"grey"}
        assert {light.word for light in use} == {"not known"}
        assert verdict.loss == "What was lost cannot be said without the original."

    def test_a_person_without_home_is_not_known(self):
        verdict = judge(replace(numbers(), utility=within(None, 0.5)))
        assert light(verdict, "Homes").level == "grey"
        assert light(verdict, "Workplaces").value == "50%"


class TestThreeNumbers:
    def test_all_three(self):
        known = replace(
            numbers(unique=(0.0, 0.0, 0.0, 0.004)),
            accuracy=sharp(0.9, 0.5),
            before=before(0.1, 0.5, 0.7, 0.856),
        )
        assert [each["value"] for each in judge(known).three] == ["3", "86% → 0%", "45%"]

    def test_without_the_original(self):
        three = judge(numbers(unique=(0.0, 0.0, 0.0, 0.25))).three
        assert three[1]["value"] == "25%"
        assert "in the release" in three[1]["what"]
        assert three[2]["value"] == "?"

    def test_nothing_known(self):
        assert [each["value"] for each in judge(numbers()).three] == ["3", "?", "?"]

    def test_one_alone_is_said_so(self):
        three = judge(numbers(1, 2)).three
        assert (
            f"{three[0]['value']} {three[0]['what']}" == "1 person or more has a record of her own"
        )

    def test_other_kinds_of_points_do_not_count(self):
        after = Exposure(rows(0.0) + rows(1, 1, 1, 1, kind="spatial"), None)
        known = replace(numbers(), after=after)
        assert judge(known).three[1]["value"] == "?"

    def test_is_plain(self):
        assert plain(judge(numbers()))["lights"][0]["about"] == "Smallest crowd"


class TestThresholds:
    @pytest.mark.parametrize(
        ("value", "shown", "level"),
        [(0.397, "39.7%", RED), (0.39996, "39.996%", RED), (0.4, "40%", AMBER),
         (0.404, "40%", AMBER), (0.6999, "69.99%", AMBER), (0.7, "70%", GREEN)],
    )  # fmt: skip
    def test_what_is_shown_is_on_the_side_of_its_level(self, value, shown, level):
        [light] = [each for each in LIGHTS if each.light == "Detail in space"]
        assert (light.shown(value), light.level(value)) == (shown, level)

    @pytest.mark.parametrize(("value", "shown"), [(0.05, "5.0%"), (0.0504, "5.04%"), (0, "none")])
    def test_so_it_is_where_less_is_better(self, value, shown):
        [light] = [each for each in LIGHTS if each.light == "Left out"]
        assert light.shown(value) == shown

    """The level, the sentence and the documentation come from one entry each."""

    def test_a_changed_constant_changes_level_and_sentence_together(self, monkeypatch):
        known = with_sizes(numbers(), dropped_share=0.25)
        left_out = light(judge(known), "Left out")
        assert (left_out.level, left_out.value) == ("red", "25.0%")
        assert left_out.thresholds == "green up to 5%, amber up to 20%, red above"
        changed = tuple(
            replace(each, green=0.25, amber=0.5) if each.light == "Left out" else each
            for each in LIGHTS
        )
        monkeypatch.setattr(_thresholds, "LIGHTS", changed)
        left_out = light(judge(known), "Left out")
        assert (left_out.level, left_out.value) == ("green", "25.0%")
        assert left_out.thresholds == "green up to 25%, amber up to 50%, red above"
        assert "| Left out | people or samples, whichever is more | up to 25% | up to 50% |" in (
            docs_table()
        )

    def test_a_new_light_is_one_entry(self, monkeypatch):
        people = Threshold(
            light="People", group="use", green=100, amber=50, direction="at least", unit="people",
            source="a test", measures="people in the release",
            value=lambda known: known.sizes.stated["people"], says=lambda *_: "Enough to hide in.",
        )  # fmt: skip
        monkeypatch.setattr(_thresholds, "LIGHTS", (*LIGHTS, people))
        found = light(judge(numbers()), "People")
        assert (found.level, found.word, found.value) == ("amber", "caution", "90")
        assert found.thresholds == "green from 100 people, amber from 50, red below"
        assert docs_table().endswith(
            "| People | people in the release | from 100 | from 50 | less | a test |"
        )

    @pytest.mark.parametrize("each", [each for each in LIGHTS if isinstance(each, Threshold)])
    def test_the_sentence_is_true_of_the_level(self, each):
        step = 1 if each.unit in ("people", "groups") else 0.001
        worse = -step if each.direction == "at least" else step
        levels = [each.level(at) for at in (each.green, each.green + worse, each.amber)]
        one = each.green == each.amber  # nothing is amber
        assert levels == (["green", "red", "green"] if one else ["green", "amber", "amber"])
        assert each.never_red or each.level(each.amber + worse) == "red"
        words = [each.written(each.green), "red", "amber", each.written(each.amber)]
        at = [each.sentence.find(word) for word in words]
        assert at[0] >= 0
        assert each.never_red != (at[1] > at[0])
        assert one != (at[2] > at[0])
        assert one or each.never_red or at[0] < at[3] < at[1]

    def test_the_documentation_has_this_table(self):
        docs = TEMPLATES.parents[3] / "docs" / "report.md"
        assert docs_table() in docs.read_text(encoding="utf-8")

    def test_every_light_has_a_source(self):
        assert all(each.source for each in LIGHTS)
        assert sum(isinstance(each, ChecksPassed) for each in LIGHTS) == 1

    def test_is_frozen(self):
        with pytest.raises(dataclasses.FrozenInstanceError):
            LIGHTS[0].green = 9
        # Of the unique, of whom was seen where, and of the order of places nothing is known.
        # Nor was it attacked.
        attacks = sum(each.group == "attack" for each in LIGHTS)
        assert len(lights_of(numbers())) == len(LIGHTS) - 4 - attacks


class TestBusyPlaces:
    @pytest.mark.parametrize(
        ("found", "level", "shown"),
        [(0.8999999999999998, "green", "0.90"), (0.8996, "amber", "0.8996"), (1.0, "green", "1")],
    )
    def test_a_little_less_by_arithmetic_is_no_less(self, found, level, shown):
        useful = within(0.5, 0.5)
        together = dataclasses.replace(useful.together, rank_correlation=found)
        useful = dataclasses.replace(useful, together=together)
        seen = light(judge(replace(numbers(), utility=useful)), "Busy places")
        assert (seen.level, seen.value) == (level, shown)
