"""What a job that nobody watches relies on: one document, a log, quiet, a status."""

import json
import re
import stat

import pytest

from incrowd.cli._app import app
from incrowd.errors import ColumnError, OutputError, RowError, VerificationError

COMMANDS = [one.callback.__name__ for one in app.registered_commands]


class TestEveryCommand:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_an_unknown_option_is_2(self, incrowd, command):
        status, out, err = incrowd(command, "--nonsense")
        assert (status, out) == (2, "")
        assert "Traceback" not in err

    @pytest.mark.parametrize("command", COMMANDS)
    def test_has_quiet_and_a_log_file(self, incrowd, command):
        status, out, _ = incrowd(command, "--help")
        assert status == 0
        assert "--quiet" in out
        assert "--log-file FILE" in out

    @pytest.mark.parametrize(
        "words",
        [
            ["describe", "gone.csv"],
            ["convert", "gone.csv", "-o", "out.csv"],
            ["measure", "gone.csv"],
            ["uniqueness", "gone.csv"],
            ["study", "gone.csv"],
            ["attack", "gone.csv"],
            ["deanonymize", "gone.csv"],
            ["learn", "gone.csv"],
            ["anonymize", "gone.csv", "-o", "release"],
            ["verify", "gone"],
            ["evaluate", "gone"],
            ["report", "gone"],
        ],
        ids=lambda words: words[0],
    )
    def test_data_that_is_not_there_is_4(self, incrowd, words, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        status, out, err = incrowd(*words)
        assert (status, out) == (4, "")
        assert err.splitlines()[-1].startswith("incrowd: ")
        assert list(tmp_path.iterdir()) == []


class TestJson:
    def test_is_one_document_that_says_what_it_is(self, incrowd, calls):
        status, out, _ = incrowd("describe", calls, "--json", "--max-bad", 1)
        document = json.loads(out)
        assert status == 0
        assert list(document)[:3] == ["schema", "command", "status"]
        assert (document["schema"], document["command"], document["status"]) == (
            "incrowd/1",
            "describe",
            0,
        )
        assert document["people"] == 2

    def test_of_bad_data_has_file_and_line(self, incrowd, calls):
        status, out, err = incrowd("describe", calls, "--json", "--fail-on-bad-row")
        document = json.loads(out)
        assert (status, document["status"]) == (4, 4)
        error = document["error"]
        assert (error["code"], error["line"]) == ("row", 5)
        assert error["file"].endswith("calls.csv")
        assert error["message"] in err

    def test_of_wrong_use(self, incrowd, calls):
        status, out, err = incrowd("describe", calls, "--json", "--cell", "wide")
        document = json.loads(out)
        assert (status, document["status"], document["error"]["code"]) == (2, 2, "usage")
        assert "--cell" in err

    def test_is_asked_for_by_the_command_that_runs_only(self, incrowd, calls):
        incrowd("describe", calls, "--json")
        status, out, _ = incrowd("describe", calls.with_name("gone.csv"))
        assert (status, out) == (4, "")


class TestQuiet:
    def test_keeps_errors(self, incrowd):
        _, _, err = incrowd("describe", "gone.csv", "--quiet")
        assert "does not exist" in err

    def test_keeps_privacy_warnings_and_drops_the_rest(self, incrowd, city, tmp_path):
        file = tmp_path / "gaps.csv"
        _, _, err = incrowd("measure", city, "-o", file, "--quiet")
        assert re.fullmatch(r"PRIVACY WARNING: .*gaps\.csv contains .*\n", err)

    def test_holds_for_what_is_renamed_too(self, incrowd, calls):
        _, _, err = incrowd("describe", calls, "--strict", "--quiet")
        assert "is now" not in err


class TestLogFile:
    def test_has_all_that_was_said_with_the_time(self, incrowd, calls, tmp_path):
        log = tmp_path / "job.log"
        incrowd("describe", "gone.csv", "--log-file", log)
        incrowd("describe", calls, "--strict", "--quiet", "--log-file", log)
        lines = log.read_text().splitlines()
        time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d"
        assert all(re.match(time, line) for line in lines)
        assert lines[0].endswith("incrowd describe begins")
        assert "gone.csv does not exist" in lines[1]
        assert lines[2].endswith("incrowd describe ends with status 4")
        assert any("--strict is now --fail-on-bad-row" in line for line in lines)

    def test_is_for_its_owner_only(self, incrowd, tmp_path):
        log = tmp_path / "job.log"
        incrowd("describe", "gone.csv", "--log-file", log)
        assert stat.S_IMODE(log.stat().st_mode) == 0o600

    def test_that_cannot_be_written_is_2(self, incrowd, calls, tmp_path):
        status, _, err = incrowd("describe", calls, "--log-file", tmp_path / "no" / "job.log")
        assert status == 2
        assert "cannot write the log" in err

    def test_has_wrong_use(self, incrowd, calls, tmp_path):
        log = tmp_path / "job.log"
        incrowd("describe", calls, "--log-file", log, "--cell", "wide")
        assert "--cell" in log.read_text()


class TestPeople:
    def test_a_table_of_people_is_for_its_owner_only(self, incrowd, city, tmp_path):
        for name in ("gaps.csv", "gaps.parquet", "gaps.csv.gz"):
            status, _, _ = incrowd("measure", city, "-o", tmp_path / name)
            assert status == 0
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


class TestErrors:
    def test_have_the_code_of_their_class(self):
        assert ColumnError("x").code == "column"
        assert RowError("x", file="a.csv", line=3).line == 3
        assert VerificationError("x", None).code == "verification"

    def test_of_the_system_keep_their_number(self):
        error = OutputError("cannot write", hint="mend it")
        assert (str(error), error.hint, error.code) == ("cannot write", "mend it", "output")


class TestCompletion:
    def test_completes_commands_and_options(self, monkeypatch, capsys):
        from incrowd.cli._console import run

        for words, index, expected in (
            ("incrowd des", 1, "describe"),
            ("incrowd describe --qui", 2, "--quiet"),
        ):
            monkeypatch.setenv("_INCROWD_COMPLETE", "complete_bash")
            monkeypatch.setenv("COMP_WORDS", words)
            monkeypatch.setenv("COMP_CWORD", str(index))
            monkeypatch.setattr("sys.argv", ["incrowd"])
            assert run(app) == 0
            assert expected in capsys.readouterr().out
