"""An attack is added in one place, and is then everywhere: in Python, commands, models, reports."""

import json
import sys

import pytest

import incrowd
from incrowd.attack import ATTACKS, Attack, register
from incrowd.attack._attacks import Location
from incrowd.cli._app import app
from incrowd.cli._console import run
from incrowd.errors import ArgumentError
from incrowd.evaluate._publish import publish
from incrowd.report._figures import charts
from incrowd.report._make import make
from incrowd.report._terminal import attack_lines
from incrowd.report._text import words

NINE = [
    "location", "location_sequence", "visit", "frequent_location", "frequent_location_sequence",
    "frequency", "home_work", "proportion", "probability",
]  # fmt: skip


@pytest.fixture
def toy():
    """Add a tenth attack, the way CONTRIBUTING says; take it away afterwards."""

    @register
    class Toy(Attack):
        name = "toy"
        label = "districts of a toy town"
        summary = "The adversary knows k districts of a toy town."
        multiset = True

        def codes(self, visits):
            return visits.place // 7

    yield Toy
    del ATTACKS["toy"]


@pytest.fixture(scope="module")
def town():
    return incrowd.synthesize("city", users=16, seed=5)


@pytest.fixture
def command(monkeypatch, capsys):
    """Run a command in this process: standard output."""

    def command(*given):
        monkeypatch.setattr(sys, "argv", ["incrowd", *map(str, given)])
        assert run(app) == 0
        return capsys.readouterr().out

    return command


class TestRegistry:
    def test_has_the_nine_with_what_is_known(self):
        assert list(ATTACKS) == NINE
        labels = [kind.label for kind in ATTACKS.values()]
        assert len(set(labels)) == len(labels)
        for name, kind in ATTACKS.items():
            assert kind.name == name
            assert kind.summary.startswith("The adversary knows ")
            assert kind.summary.endswith(".")

    @pytest.mark.parametrize("missing", ["name", "label", "summary"])
    def test_refuses_an_attack_that_help_could_not_explain(self, missing):
        about = {"name": "odd", "label": "odd", "summary": "The adversary knows k odd points."}
        kind = type("Odd", (Attack,), about | {missing: ""})
        with pytest.raises(ArgumentError, match=f"Odd has no {missing}"):
            register(kind)
        assert list(ATTACKS) == NINE

    def test_refuses_a_name_that_is_taken(self):
        with pytest.raises(ArgumentError, match="there is an attack 'location' already"):
            register(type("Other", (Location,), {}))
        assert ATTACKS["location"] is Location


class TestToy:
    def test_is_found_by_its_name(self, toy, town):
        visits = incrowd.visits(town)
        found = incrowd.risk(visits, "toy", 2, instances=True)
        assert found.equals(incrowd.risk(visits, toy(), 2, instances=True))
        assert incrowd.risk(visits, list(ATTACKS), 2)["attack"].unique(maintain_order=True)[-1] == (
            "toy"
        )

    @pytest.mark.usefixtures("toy")
    def test_is_learned(self, town):
        assert incrowd.predict.training_sets(town, k=2)[-1].attack == "toy"

    @pytest.mark.usefixtures("toy")
    @pytest.mark.parametrize("name", ["attack", "learn"])
    def test_is_in_the_help(self, command, name):
        listed = " ".join(command(name, "--help").split())
        assert "toy The adversary knows k districts of a toy town." in listed

    @pytest.mark.usefixtures("toy")
    def test_is_run_by_its_name_and_among_all(self, command, town, tmp_path):
        incrowd.write(town, tmp_path / "town.parquet")
        given = ("attack", tmp_path / "town.parquet", "--k", "2", "--json")
        [alone] = json.loads(command(*given, "--attack", "toy"))["risk"]
        assert json.loads(command(*given))["risk"][-1] == alone
        assert alone["attack"] == "toy"

    def test_is_in_the_report(self, toy, town, tmp_path):
        folder, who = tmp_path / "release", tmp_path / "who.parquet"
        publish(incrowd.glove(town, k=2), folder, original=town, record=who, draws=20)
        made = make(folder, original=town, record=who, targets=5)
        numbers = made.numbers
        for exposure in (numbers.before, numbers.after):
            assert [row.attack for row in exposure.risk.attacks] == [*NINE, "toy"]
        [chart] = [each for each in charts(numbers) if each.name == "attacks"]
        assert chart.title == "What 10 kinds of attackers find who know 4 points"
        assert chart.rows[-1][0] == f"{toy.label}: {toy.summary}"
        assert any(line.startswith("toy ") for line in attack_lines(numbers))
        page = made.save(tmp_path / "report.html").read_text("utf-8")
        assert page.count(toy.label) >= 2  # in the chart and in the table beside it
        assert "10 kinds of attackers were tried" in str(words(numbers))
