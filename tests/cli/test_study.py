import json

import pytest

import incrowd as library


class TestStudy:
    def test_tells_what_makes_hiding_cheap(self, incrowd, city):
        status, out, err = incrowd("study", city, "--spans", "1", "--shares", "0.5,1")
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0] == "people                40"
        for title in ("Time span", "Coverage", "Number of people", "Samples per hour"):
            assert sum(line.startswith(title) for line in lines) == 1
        assert any(line.startswith("first day  ") for line in lines)
        assert any(line.startswith("50 % of people  ") for line in lines)
        assert any(line.startswith("The area is ") for line in lines)
        assert any(line.startswith("time deviation  ") for line in lines)
        assert "- The cost of hiding a person " in out
        assert max(map(len, lines)) <= 98

    def test_figures_are_those_of_the_library(self, incrowd, city):
        words = ("--only", "span,correlations", "--spans", "2", "-k", "3", "--json")
        found = json.loads(incrowd("study", city, *words)[1])
        expected = library.study(
            library.read(city), 3, spans=[2], only=["span", "correlations"]
        ).as_dict()
        assert found | json.loads(json.dumps(expected)) == found
        assert found["coverage"] is found["frequency"] is None

    def test_parts_that_are_too_small_are_said(self, incrowd, city):
        status, out, _ = incrowd("study", city, "--only", "people", "--shares", "0.01,1")
        assert status == 0
        assert "- 1 % of people: left out, since one person cannot hide in a crowd of 2." in out


class TestHelp:
    def test_has_an_example(self, incrowd):
        status, out, _ = incrowd("study", "--help")
        assert status == 0
        assert "incrowd study cdr.csv --only span,people" in out


class TestWrongUse:
    @pytest.mark.parametrize(
        ("words", "text"),
        [
            (["-k", "1"], "k must be an integer of at least 2"),
            (["--spans", "a"], "--spans must be numbers separated by commas, like 1,2,7, not 'a'"),
            (["--shares", "2"], "shares must be numbers above 0 and up to 1"),
            (["--area", "1,2"], "--area must be west, south, east and north in degrees"),
            (["--area", "1,9,2,8"], "bbox must be (west, south, east, north) in degrees"),
            (["--only", "size"], "features are span, coverage, people, frequency, correlations"),
            (["-k", "41"], "40 people cannot hide in a crowd of 41"),
        ],
    )
    def test_is_one_message_and_2(self, incrowd, city, words, text):
        status, out, err = incrowd("study", city, *words)
        assert (status, out) == (2, "")
        assert err.startswith("incrowd: ")
        assert text in err
        assert err.count("\n") == 1
