import pytest

from incrowd.report._verdict import judge
from report.samples import numbers, rows, sharp, within


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
            "This release may be shared: everybody in it is in a crowd of 3 or more."
        )

    def test_a_yes_needs_no_reason(self):
        assert judge(numbers()).because == ()

    def test_conditions_name_their_reason(self):
        verdict = judge(numbers(2, 2))
        assert "with conditions" in verdict.headline
        assert [reason.split(":")[0] for reason in verdict.because] == ["Smallest crowd (2)"]

    @pytest.mark.parametrize("check", ["files", "k_anonymity", "linkage", "membership"])
    def test_a_check_that_failed_is_a_no(self, check):
        verdict = judge(numbers(ok=False, **{check: False}))
        assert verdict.answer == "no"
        assert verdict.headline == "Do not share this release: its verification failed."
        assert verdict.threat == "No protection can be claimed."
        assert light(verdict, "Proof").level == "red"
        assert light(verdict, "Proof").value == "7 of 8 checks passed"
        assert verdict.because[0].startswith(check.replace("_", "-"))

    def test_a_verification_that_is_not_ok_is_a_no_even_where_no_check_failed(self):
        verdict = judge(numbers(ok=False, k_anonymity=None, smallest=None))
        assert verdict.answer == "no"
        assert light(verdict, "Proof").level == "red"

    def test_checks_that_were_not_made_are_conditions(self):
        verdict = judge(numbers(linkage=None, coverage=None))
        assert verdict.answer == "conditions"
        assert light(verdict, "Proof").level == "amber"
        assert light(verdict, "Proof").value == "6 of 8 checks passed"
        assert light(verdict, "Proof").says.endswith("Not checked: coverage, linkage.")

    @pytest.mark.parametrize("smallest", [1, 2, 9])
    def test_without_a_promised_k_it_is_a_no_however_large_crowds_are(self, smallest):
        verdict = judge(numbers(smallest, None, k_anonymity=None))
        assert verdict.answer == "no"
        assert "as anonymous" in verdict.headline
        assert light(verdict, "Smallest crowd").level == "red"
        assert ("by chance" in light(verdict, "Smallest crowd").says) == (smallest > 1)

    def test_crowds_that_were_not_counted_are_red(self):
        verdict = judge(numbers(None, ok=False, rows=False))
        assert light(verdict, "Smallest crowd").value == "not known"
        assert light(verdict, "Smallest crowd").level == "red"
        assert verdict.three[0]["value"] == "?"
        assert verdict.loss == "What was lost cannot be said: the files did not pass."
        assert light(verdict, "Homes").says == "Cannot be said: the files did not pass."

    def test_one_of_two_losses_is_called_so(self):
        known = numbers()
        known["sizes"] |= {"dropped_share": 0.01}
        assert light(judge(known), "Left out").says.startswith("The share of people who")
        both = known | {"accuracy": sharp(deleted=0.0)}
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

    def test_what_was_lost_is_no_matter_of_sharing(self):
        lossy = numbers() | {"accuracy": sharp(0.0, 0.0, deleted=1.0)}
        assert judge(lossy).answer == "yes"


class TestUse:
    @pytest.mark.parametrize(
        ("share", "level"),
        [(1.0, "green"), (0.7, "green"), (0.6999, "amber"), (0.4, "amber"), (0.3999, "red"),
         (0.0, "red")],
    )  # fmt: skip
    def test_levels_of_detail_and_places(self, share, level):
        known = {"accuracy": sharp(share, share), "utility": within(share, share)}
        verdict = judge(numbers() | known)
        for about in ("Detail in space", "Detail in time", "Homes", "Workplaces"):
            assert light(verdict, about).level == level

    @pytest.mark.parametrize(
        ("dropped", "deleted", "level", "value"),
        [
            (0.0, 0.0, "green", "none"),
            (0.0, 0.0005, "green", "less than 0.1%"),
            (0.05, 0.01, "green", "5.0%"),
            (0.01, 0.0501, "amber", "5.0%"),
            (0.2, 0.0, "amber", "20.0%"),
            (0.2001, 0.0, "red", "20.0%"),
            (None, 0.3, "red", "30.0%"),
            (None, None, "grey", "not known"),
        ],
    )
    def test_the_larger_loss_counts(self, dropped, deleted, level, value):
        known = numbers() | {"accuracy": sharp(**({} if deleted is None else {"deleted": deleted}))}
        if dropped is not None:
            known["sizes"] |= {"dropped_share": dropped}
        assert light(judge(known), "Left out").level == level
        assert light(judge(known), "Left out").value == value

    def test_what_is_not_known_is_grey_and_said_so(self):
        verdict = judge(numbers())
        use = [light for light in verdict.lights if light.group == "use"]
        assert {light.level for light in use} == {"grey"}
        assert {light.word for light in use} == {"not known"}
        assert verdict.loss == "What was lost cannot be said without the original."

    def test_a_person_without_home_is_not_known(self):
        verdict = judge(numbers() | {"utility": within(None, 0.5)})
        assert light(verdict, "Homes").level == "grey"
        assert light(verdict, "Workplaces").value == "50%"


class TestThreeNumbers:
    def test_all_three(self):
        known = numbers(unique=(0.0, 0.0, 0.0, 0.004)) | {"accuracy": sharp(0.9, 0.5)}
        known["before"] = {"uniqueness": rows(0.1, 0.5, 0.7, 0.856)}
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
        assert f"{three[0]['value']} {three[0]['what']}" == "1 person alone has a record, at least"

    def test_other_kinds_of_points_do_not_count(self):
        known = numbers(unique=(0.0,))
        known["after"]["uniqueness"] += rows(1, 1, 1, 1, kind="spatial")
        assert judge(known).three[1]["value"] == "?"

    def test_is_plain(self):
        assert judge(numbers()).as_dict()["lights"][0]["about"] == "Smallest crowd"
