"""Decisions: what is written, what is refused, what verification notices."""

import json
import shutil

import pytest

import incrowd
from incrowd.errors import ArgumentError, OutputError, UnreadableError
from incrowd.evaluate._decision import (
    BLANK,
    FILLED_BY,
    check_decision,
    decision_beside,
    read_decision,
    report_beside,
    sign,
)
from incrowd.evaluate._publish import publish
from incrowd.report._purposes import PURPOSES

SIGNER = "A. Diop, data protection officer"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make a release of pairs, one of threes, and their reports."""
    folder = tmp_path_factory.mktemp("town")
    town = incrowd.synthesize("city", users=12, seed=5)
    monkey = pytest.MonkeyPatch()
    monkey.setattr("incrowd.report._page._script", lambda: "")
    for name, k in (("pairs", 2), ("threes", 3)):
        who = folder / f"{name}.parquet"
        publish(incrowd.glove(town, k), folder / name, original=town, record=who, draws=20)
        report = incrowd.report.make(
            folder / name, original=town, record=who, tz="Africa/Abidjan", targets=5,
            purpose="internal" if k == 3 else "contract",
        )  # fmt: skip
        report.save(report_beside(folder / name))
    monkey.undo()
    return folder


@pytest.fixture
def town(made, tmp_path):
    """Give a copy that may be changed."""
    return shutil.copytree(made, tmp_path / "town")


def filled(page, **answers):
    """Fill in a page as a browser saves it."""
    text = page.read_text(encoding="utf-8")
    for name, value in answers.items():
        if name == "decision":
            text = text.replace(f'value="{value}"', f'value="{value}" checked=""')
        elif name == "conditions":
            start = text.index('<textarea name="conditions"')
            begin, end = text.index(">", start) + 1, text.index("</textarea>", start)
            text = text[:begin] + value + text[end:]
        else:
            text = text.replace(f'<input name="{name}">', f'<input name="{name}" value="{value}">')
    page = page.with_name("filled.html")
    page.write_text(text, encoding="utf-8")
    return page


class TestBlanks:
    """What is given fills the blanks of the conditions that the report proposes."""

    def test_are_those_of_the_report(self):
        proposed = {each for one in PURPOSES.values() for each in one.conditions}
        assert set(FILLED_BY) <= proposed
        left = {each for each in proposed if BLANK in each} - set(FILLED_BY)
        assert left == {
            "What everybody can learn of a whole crowd was judged acceptable, because: ______."
        }

    def test_recipient_and_date_fill_them(self, town):
        made = sign(
            town / "pairs", decision="conditions", name=SIGNER, recipient="The ministry of health.",
            retention="2027-01-31",
        )  # fmt: skip
        assert made.conditions[0] == (
            "The recipient is named here and bound by a contract: The ministry of health."
        )
        assert made.conditions[-1] == "The data is deleted on this date at the latest: 2027-01-31."
        assert len(made.conditions) == len(PURPOSES["contract"].conditions)

    def test_what_stays_is_said_with_what_to_give(self, town):
        with pytest.raises(ArgumentError, match=r"at the latest: ______\. \(give --retention\)"):
            sign(town / "pairs", decision="conditions", name=SIGNER, recipient="The ministry")
        own = ["Why it is good: __"]
        with pytest.raises(ArgumentError, match="by --condition"):
            sign(town / "pairs", decision="conditions", name=SIGNER, conditions=own)


class TestSign:
    def test_writes_who_what_when_and_hashes(self, town):
        made = sign(town / "threes", decision="share", name=SIGNER, recipient="The ministry")
        place = town / "threes-decision.json"
        found = json.loads(place.read_text())
        assert (found["decision"], found["name"], found["recipient"]) == (
            "share", SIGNER, "The ministry",
        )  # fmt: skip
        assert (found["verdict"], found["purpose"]) == ("yes", "internal")
        assert set(found["release"]) == {"manifest.json", "trajectories.parquet", "fact-sheet.md"}
        assert found["report"]["name"] == "threes-report.html"
        assert found["thresholds"]["Smallest crowd"].startswith("green from 2 people, red below (")
        assert found["thresholds"]["inference"] == "green up to 5%, amber above (our choice)"
        assert read_decision(place) == made
        assert check_decision(town / "threes", place).ok
        assert {file.name for file in (town / "threes").iterdir()} == set(found["release"])

    def test_takes_the_answers_of_a_page_that_was_filled_in(self, town):
        page = filled(
            report_beside(town / "pairs"), decision="conditions", name="B. Ndiaye &amp; C.",
            conditions="1. Never linked\n2. Deleted in 2030\n\n", retention="2030",
        )  # fmt: skip
        made = sign(town / "pairs", report=page)
        assert made.decision == "conditions"
        assert made.name == "B. Ndiaye & C."
        assert made.conditions == ("Never linked", "Deleted in 2030")
        assert made.retention == "2030"
        assert check_decision(town / "pairs", decision_beside(town / "pairs")).ok

    def test_what_is_given_wins(self, town):
        page = filled(report_beside(town / "pairs"), decision="conditions", name="somebody")
        made = sign(town / "pairs", report=page, decision="refuse", name=SIGNER)
        assert (made.decision, made.name, made.conditions) == ("refuse", SIGNER, ())

    def test_against_the_report_it_needs_a_reason(self, town):
        with pytest.raises(ArgumentError, match=r"with conditions.*give the reason"):
            sign(town / "pairs", decision="share", name=SIGNER)
        assert not decision_beside(town / "pairs").exists()
        with pytest.raises(ArgumentError, match="is no reason"):
            sign(town / "pairs", decision="share", name=SIGNER, reason=".")
        made = sign(town / "pairs", decision="share", name=SIGNER, reason="It is a test city.")
        assert made.reason == "It is a test city."
        found = check_decision(town / "pairs", decision_beside(town / "pairs"))
        assert found.noted
        assert "AGAINST the report, which says: it may be shared with conditions" in found.says

    def test_blanks_must_be_filled_in(self, town):
        with pytest.raises(ArgumentError, match="a blank that is not filled in: The recipient"):
            sign(town / "pairs", decision="conditions", name=SIGNER)

    def test_a_page_whose_answer_was_changed(self, town):
        page = report_beside(town / "pairs")
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace('"answer":"conditions"', '"answer":"yes"'), encoding="utf-8")
        with pytest.raises(ArgumentError, match="is not that of its headline"):
            sign(town / "pairs", decision="share", name=SIGNER)

    def test_prints_what_was_decided(self, town):
        made = sign(town / "pairs", decision="conditions", name=SIGNER, conditions=["Be kind."])
        assert "share it with conditions" in str(made)
        assert "Be kind." in made._repr_html_()

    @pytest.mark.parametrize(
        ("how", "error", "says"),
        [
            ({"name": SIGNER}, ArgumentError, "the decision is missing"),
            ({"decision": "share"}, ArgumentError, "the name is missing: give --signer"),
            ({"decision": "maybe", "name": SIGNER}, ArgumentError, "one of share, conditions"),
            ({"decision": "share", "name": SIGNER, "report": "none.html"}, UnreadableError,
             "there is no report none.html"),
        ],
    )  # fmt: skip
    def test_refuses(self, town, how, error, says):
        with pytest.raises(error, match=says):
            sign(town / "threes", **how)
        assert not decision_beside(town / "threes").exists()

    def test_conditions_must_be_named(self, town):
        page = filled(report_beside(town / "pairs"), conditions="")
        with pytest.raises(ArgumentError, match="must name them"):
            sign(town / "pairs", decision="conditions", name=SIGNER, report=page)

    def test_the_report_of_another_release(self, town):
        with pytest.raises(ArgumentError, match="the report of another release"):
            sign(
                town / "threes", decision="share", name=SIGNER, report=report_beside(town / "pairs")
            )

    def test_a_page_that_is_no_report(self, town, tmp_path):
        (tmp_path / "page.html").write_text("<p>hello</p>")
        with pytest.raises(UnreadableError, match="no report of incrowd"):
            sign(town / "threes", decision="refuse", name=SIGNER, report=tmp_path / "page.html")

    def test_never_into_a_release_nor_over_another(self, town):
        how = {"decision": "share", "name": SIGNER}
        with pytest.raises(ArgumentError, match="lies in a release"):
            sign(town / "threes", output=town / "threes" / "decision.json", **how)
        sign(town / "threes", **how)
        with pytest.raises(OutputError, match="exists already"):
            sign(town / "threes", **how)
        sign(town / "threes", overwrite=True, **how)

    def test_a_release_that_was_changed(self, town):
        rows = town / "threes" / "trajectories.parquet"
        rows.write_bytes(rows.read_bytes() + b"?")
        with pytest.raises(UnreadableError, match="is not the file that was released"):
            sign(town / "threes", decision="share", name=SIGNER)


class TestCheck:
    @pytest.fixture
    def signed(self, town):
        sign(town / "threes", decision="share", name=SIGNER)
        return town

    def check(self, folder):
        return check_decision(folder / "threes", decision_beside(folder / "threes"))

    def test_holds(self, signed):
        found = self.check(signed)
        assert found.ok
        assert f"Decided by {SIGNER} on" in found.says
        assert "the report is the one that was read" in found.says

    def test_without_the_report(self, signed):
        report_beside(signed / "threes").unlink()
        assert "the report is not here" in self.check(signed).says

    def test_another_report(self, signed):
        report_beside(signed / "threes").write_text("another")
        assert self.check(signed).says == "Does not hold: the report is not the one that was read."

    def test_a_changed_decision(self, signed):
        place = decision_beside(signed / "threes")
        place.write_text(place.read_text().replace(SIGNER, "Somebody else"))
        assert "was changed after it was written" in self.check(signed).says

    @pytest.mark.parametrize("name", ["manifest.json", "trajectories.parquet", "fact-sheet.md"])
    def test_a_changed_release(self, signed, name):
        file = signed / "threes" / name
        file.write_bytes(file.read_bytes() + b"\n")
        says = f"Does not hold: {name} is not the file that was decided on."
        assert self.check(signed).says == says

    def test_a_file_more(self, signed):
        (signed / "threes" / "more.txt").write_text("")
        assert "was added after the decision" in self.check(signed).says

    def test_a_refusal_fails(self, town):
        sign(town / "threes", decision="refuse", name=SIGNER)
        assert self.check(town).ok is False
        assert "not to share this release" in self.check(town).says

    def test_a_refusal_keeps_its_reason(self, town):
        why = "We have no legal basis for this."
        assert sign(town / "threes", decision="refuse", name=SIGNER, reason=why).reason == why
        assert f"because: {why.rstrip('.')}" in self.check(town).says

    @pytest.mark.parametrize(
        ("name", "value"),
        [("release", [1]), ("release", {"a": 1}), ("report", 5), ("decision", "maybe"),
         ("conditions", [1]), ("thresholds", "no"), ("name", None)],
    )  # fmt: skip
    def test_a_damaged_decision(self, signed, name, value):
        place = decision_beside(signed / "threes")
        place.write_text(json.dumps(json.loads(place.read_text()) | {name: value}))
        with pytest.raises(UnreadableError, match=r"damaged|cannot read"):
            self.check(signed)

    @pytest.mark.parametrize("text", ["", "{}", "[]", '{"kind": "incrowd decision"}', "\x00"])
    def test_what_is_no_decision(self, tmp_path, text):
        (tmp_path / "decision.json").write_text(text)
        with pytest.raises(UnreadableError):
            read_decision(tmp_path / "decision.json")


class TestPlaces:
    def test_a_page_called_report_is_found(self, town):
        report_beside(town / "threes").rename(town / "report.html")
        assert sign(town / "threes", decision="share", name=SIGNER).report["name"] == "report.html"

    def test_beside_a_release(self, tmp_path):
        assert report_beside(tmp_path / "march") == tmp_path / "march-report.html"
        assert decision_beside(tmp_path / "march") == tmp_path / "march-decision.json"

    def test_in_the_folder_of_a_run(self, tmp_path):
        (tmp_path / "run.json").write_text("{}")
        assert report_beside(tmp_path / "release") == tmp_path / "report.html"
        assert decision_beside(tmp_path / "release") == tmp_path / "decision.json"
