"""Hostile files: a manifest, a header, an identifier, a name of a file; nothing is repainted."""

import json
import sys

import pytest

import incrowd as library
from evaluate.makers import Case
from incrowd._visible import MOST
from incrowd.cli import _screen
from incrowd.cli._messages import say
from incrowd.data._fact_sheet import fact_sheet
from incrowd.data._manifest import read_manifest
from test_visible import HOSTILE

EVIL = "\x1b[2J\x9b1m\u202eok\u2066\u200b\u200f\x7f\r\u2028"
FORGED = f"{EVIL}\nverified: yes"
SIGNS = set(HOSTILE) - {"\n"}
NUMBER = "0771234567"


def harmless(*texts):
    """Tell that no text has a sign that does something, and no line that is not of ours."""
    return not any(set(text) & SIGNS or "\nverified: yes" in text for text in texts)


@pytest.fixture
def release(tmp_path):
    """A release whose manifest was written by somebody who wants to be believed."""
    case = Case(tmp_path, explanation=["Made by hand."], guarantee="k-anonymity")
    case.reseal(
        method=FORGED, explanation=[FORGED], holds_against=[FORGED], fails_against=[FORGED],
        names=FORGED, settings={"k": 2, FORGED: FORGED}, losses={FORGED: FORGED},
        incrowd=FORGED,
    )  # fmt: skip
    return case


class TestScreen:
    def test_a_manifest_on_the_terminal(self, incrowd, release):
        for words in (["verify", release.path], ["verify", release.path, "--json"],
                      ["report", release.path, "--overwrite"]):  # fmt: skip
            _, out, err = incrowd(*words)
            assert harmless(out, err)
            assert out

    def test_a_guarantee_that_nobody_knows(self, incrowd, release):
        release.reseal(guarantee=FORGED)
        status, out, err = incrowd("verify", release.path)
        assert status == 1
        assert "\\x1b[2J" in out
        assert harmless(out, err)

    def test_a_manifest_on_the_page_and_in_its_numbers(self, release):
        made = library.report.make(release.path, targets=5, title=f"calls {EVIL}")
        page = made.html()
        assert "\\u202eok" in page
        assert not set(page) & (SIGNS - {"\t", "\r"})
        assert harmless(made.json(), "\n".join(made.lines()), str(made), repr(made))
        assert harmless(made._repr_html_())

    def test_a_manifest_in_the_fact_sheet(self, release):
        text = fact_sheet(read_manifest(release.path))
        assert "\\u202eok" in text
        assert harmless(text)

    @pytest.mark.parametrize("words", [[], ["--json"]])
    def test_a_header(self, incrowd, tmp_path, words):
        file = tmp_path / "calls.csv"
        file.write_text(f'"{FORGED}",time,lat,lon\nann,2024-03-05 07:31,14.7,-17.4\n')
        status, out, err = incrowd("describe", file, *words)
        assert status == 4
        assert harmless(out, err)
        assert "\\u202e" in out + err

    def test_an_identifier(self, incrowd, tmp_path):
        file, log = tmp_path / "calls.csv", tmp_path / "log.txt"
        rows = [f'"{FORGED}{n}",2024-03-0{n} 07:31,14.7,-17.{n}' for n in range(1, 5)]
        file.write_text("user,time,lat,lon\n" + "\n".join(rows) + "\n")
        for words in (["attack", "--most-at-risk", 3], ["describe", "--time-format", "%H"],
                      ["describe", "--time-format", "%H", "--show-values", "--log-file", log],
                      ["attack", "--targets", f"{EVIL}5", "--show-values"]):  # fmt: skip
            _, out, err = incrowd(words[0], file, *words[1:])
            assert harmless(out, err)
        assert harmless(log.read_text())

    @pytest.mark.parametrize("name", ["calls\x1b[2J\u202e.csv", "calls\udcff.csv"])
    def test_the_name_of_a_file(self, incrowd, tmp_path, name):
        file = tmp_path / name
        status, out, err = incrowd("describe", file)
        assert status == 4
        assert harmless(out, err)
        err.encode()

    def test_the_name_of_a_file_that_is_read(self, incrowd, tmp_path):
        file = tmp_path / "calls\x1b[2J\u202e.csv"
        file.write_text("user,time,lat,lon\nann,noon,14.7,-17.4\n")
        status, out, err = incrowd("describe", file)
        assert status == 4
        assert harmless(out, err)
        assert "calls\\u001b[2J\\u202e.csv:2" in err

    def test_the_project_file(self, incrowd, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "incrowd.toml").write_text('[data]\n"\\u001b[2J\\u202e" = 1\n')
        status, out, err = incrowd("run", "--config", tmp_path / "incrowd.toml")
        assert status
        assert harmless(out, err)

    def test_a_decision(self, incrowd, tmp_path):
        case = Case(tmp_path)
        incrowd("report", case.path)
        incrowd("sign", case.path, "--decision", "refuse", "--signer", FORGED)
        status, out, err = incrowd("verify", case.path)
        assert status == 1
        assert "it was decided by \\u001b[2J" in out
        assert harmless(out, err)

    def test_warnings_and_what_is_said_in_between(self, capsys):
        with _screen.screens():
            sys.stderr.write(f"a{EVIL}\n")
            sys.stdout.write(f"b{EVIL}\n")
        say(f"c{EVIL}")
        assert harmless(*capsys.readouterr())

    def test_help_may_be_bold_and_nothing_else_may(self, capsys, monkeypatch):
        bold = "\x1b[1mOptions\x1b[0m:"
        with _screen.screens():
            sys.stdout.write(_screen.let_pass(f"{bold} {EVIL}") + "\n")
            sys.stdout.write(f"{bold}!\n")
        first, second = capsys.readouterr().out.splitlines()
        assert first.startswith(bold)
        assert harmless(first.replace("\x1b[1m", "").replace("\x1b[0m", ""), second)


class TestValues:
    @pytest.fixture
    def calls(self, tmp_path):
        file = tmp_path / "calls.csv"
        file.write_text(f"user,time,lat,lon\n{NUMBER},2024-03-05 07:31,14.7,-17.4\n{NUMBER}\n")
        return file

    @pytest.mark.parametrize(
        "words", [["describe"], ["attack", "--targets", f"{NUMBER}9", "--max-bad", 0.9]]
    )
    def test_are_masked_unless_asked_for(self, incrowd, calls, tmp_path, words):
        log = tmp_path / "log.txt"
        words = [words[0], calls, *words[1:], "--log-file", log]
        for more in ([], ["--json"]):
            status, out, err = incrowd(*words, *more)
            assert status
            assert NUMBER not in out + err + log.read_text()
            assert "'0...' (1" in out + err
        assert "--show-values shows them" in err
        _, _, err = incrowd(*words, "--show-values")
        assert NUMBER in err
        assert NUMBER in log.read_text()

    def test_the_line_and_the_file_stay(self, incrowd, calls):
        assert f"{calls.name}:3" in incrowd("describe", calls)[2]
        _, out, _ = incrowd("describe", calls, "--json")
        assert json.loads(out)["error"]["line"] == 3

    def test_of_rows_that_are_told_of_with_the_result(self, incrowd, calls):
        for words in ([], ["--json"]):
            _, out, err = incrowd("describe", calls, "--max-bad", 0.9, *words)
            assert NUMBER not in out + err
            out = incrowd("describe", calls, "--max-bad", 0.9, "--show-values", *words)[1]
            assert NUMBER in out

    def test_of_a_file_without_a_header(self, incrowd, tmp_path):
        file = tmp_path / "calls.csv"
        file.write_text(f"{NUMBER},2024-03-05 07:31,14.7,-17.4\n")
        assert NUMBER not in incrowd("describe", file)[2]

    def test_the_library_says_them(self, calls):
        with pytest.raises(library.errors.RowError, match=NUMBER):
            library.read(calls)


class TestLength:
    @pytest.mark.parametrize("where", ["identifier", "time", "header"])
    def test_a_value_of_a_megabyte_is_cut(self, incrowd, tmp_path, where):
        long = "x" * 1_000_000
        row = {"identifier": f"{long},noon", "time": f"ann,{long}"}.get(where, "ann,noon")
        head = f"user,time,lat,{long}" if where == "header" else "user,time,lat,lon"
        file = tmp_path / "calls.csv"
        file.write_text(f"{head}\n{row},14.7,-17.4\n")
        status, out, err = incrowd("describe", file, "--show-values")
        assert status == 4
        assert len(out + err) < 3 * MOST
        with pytest.raises(library.errors.InputError) as found:
            library.read(file)
        assert len(str(found.value)) < 2 * MOST

    def test_of_an_option(self, incrowd, tmp_path):
        status, _, err = incrowd("describe", tmp_path, "--bbox", "9" * 10_000)
        assert status == 2
        assert len(err) < 3 * MOST
        assert " ... " in err
