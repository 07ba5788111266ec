"""The project file: init writes it, every command takes it, run does all of it."""

import json
import stat
import tomllib
from pathlib import Path

import polars as pl
import pytest

from incrowd import _renames
from incrowd.cli.init import look_at

from .conftest import FORMAT


def without(out, *names):
    return {name: value for name, value in json.loads(out).items() if name not in names}


class TestInit:
    @pytest.mark.parametrize("rows", ["", "ann,,48.85,2.35\n"])
    def test_needs_a_row_with_a_time(self, tmp_path, incrowd, rows):
        data, output = tmp_path / "head.csv", tmp_path / "incrowd.toml"
        data.write_text("user,timestamp,lat,lon\n" + rows)
        status, _, err = incrowd("init", data, "-o", output, "--tz", "Europe/Paris")
        assert status == 4
        assert "no row has a time" in err
        assert not output.exists()

    def test_pairs_are_noted_once(self, project, incrowd):
        words = ("init", "calls.csv", "--tz", "Europe/Paris", "--k", "2")
        status, _, err = incrowd(*words)
        assert status == 0
        assert err.startswith("note: --k = 2 makes pairs")
        assert err.count("note:") == 1

    def test_finds_columns_times_and_antennas(self, project, incrowd):
        status, out, err = incrowd("init", "calls.csv", "--tz", "Europe/Paris")
        assert (status, err) == (0, "")
        assert f"time format   {FORMAT}" in out
        assert "is read as 2012-03-05T" in out
        found = tomllib.loads((project / "incrowd.toml").read_text())
        assert found["data"] == {
            "path": "calls.csv",
            "user": "msisdn",
            "time": "call_time",
            "place": "cell_id",
            "time_format": FORMAT,
            "tz": "Europe/Paris",
            "antennas": "sites.csv",
        }
        assert found["anonymize"] == {"method": "glove", "k": 3}

    def test_columns_of_other_names_are_given_as_the_message_says(
        self, tmp_path, monkeypatch, incrowd
    ):
        monkeypatch.chdir(tmp_path)
        rows = "".join(f"{n},2024-03-{n:02} 10:00:00,14.7,-17.4\n" for n in range(1, 10))
        Path("c.csv").write_text(f"abonne,date_heure,nord,est\n{rows}")
        status, _, err = incrowd("init", "c.csv", "--tz", "UTC")
        assert (status, "--user on the command line" in err) == (4, True)
        names = {"user": "abonne", "time": "date_heure", "lat": "nord", "lon": "est"}
        words = [word for role, name in names.items() for word in (f"--{role}", name)]
        assert incrowd("init", "c.csv", "--tz", "UTC", *words)[0] == 0
        found = tomllib.loads(Path("incrowd.toml").read_text())["data"]
        assert {role: found[role] for role in names} == names
        assert incrowd("describe")[0] == 0

    def test_tells_programs(self, project, incrowd):
        status, out, _ = incrowd("init", "calls.csv", "--tz", "Europe/Paris", "--json")
        found = json.loads(out)
        assert (status, found["status"], found["command"]) == (0, 0, "init")
        assert found["columns"]["user"] == "msisdn"
        assert (found["time_format"], found["formats"]) == (FORMAT, [FORMAT])
        assert found["tables"] == [str(project / "sites.csv")]

    def test_names_all_tables_that_fit(self, project, incrowd):
        (project / "sites2.csv").write_bytes((project / "sites.csv").read_bytes())
        status, out, _ = incrowd("init", "calls.csv", "--tz", "Europe/Paris")
        assert status == 0
        assert "sites.csv and sites2.csv would fit: say which it is with --antennas FILE" in out
        status, _, err = incrowd("run")
        assert (status, "[data] antennas: not filled in" in err) == (2, True)

    def test_data_with_place_names_only_can_be_taken_by_name(self, project, incrowd):
        (project / "sites.csv").unlink()
        status, out, _ = incrowd("init", "calls.csv", "--tz", "Europe/Paris")
        assert status == 0
        assert "antennas      none was found beside the data" in out
        assert "--by-name" in out

    def test_a_folder_with_another_table_gets_a_pattern(self, project, incrowd):
        for words in (("init", "."), ("describe", ".", "--antennas", "sites.csv")):
            status, out, _ = incrowd(*words, "--json")
            error = json.loads(out)["error"]
            assert status == 4
            assert error["message"].startswith("sites.csv: no column")
            assert "by a quoted pattern, like 'calls.csv'" in error["hint"]

    def test_runs_do_not_lie_in_the_data(self, tmp_path, monkeypatch, incrowd):
        (tmp_path / "in").mkdir()
        monkeypatch.chdir(tmp_path / "in")
        (tmp_path / "in" / "c.csv").write_text("user,time,lat,lon\na,1709623860,5.3,-4.0\n")
        assert incrowd("init", ".", "--tz", "Africa/Dakar")[0] == 0
        found = tomllib.loads((tmp_path / "in" / "incrowd.toml").read_text())
        assert found["output"]["folder"] == "../in-out"

    def test_says_that_no_zone_is_known(self, project, incrowd):
        status, _, err = incrowd("init", "calls.csv")
        assert status == 0
        assert "the times name no zone" in err
        assert "# tz =" in (project / "incrowd.toml").read_text()

    def test_says_that_a_day_may_be_a_month(self, tmp_path, monkeypatch, incrowd):
        monkeypatch.chdir(tmp_path)
        rows = [f"a,0{day}/04/2024 07:30,5.3,-4.0" for day in (3, 4, 5)]
        (tmp_path / "c.csv").write_text("\n".join(["user,time,lat,lon", *rows]) + "\n")
        status, _, err = incrowd("init", "c.csv", "--tz", "UTC")
        assert status == 0
        assert "can be read in several ways" in err
        text = (tmp_path / "incrowd.toml").read_text()
        assert 'time_format = "%d/%m/%Y %H:%M"' in text
        assert "CHECK THIS: %m/%d/%Y %H:%M would fit as well" in text

    def test_a_few_bad_times_do_not_matter(self, project, incrowd):
        lines = (project / "calls.csv").read_text().splitlines()
        lines[5] = "s1,00/00/0000,c0"
        lines[1] = "s1,00/00/0000 00:00:00,c0"
        lines[9] = "s1,,c0"
        (project / "calls.csv").write_text("\n".join(lines) + "\n")
        assert incrowd("init", "calls.csv", "--tz", "Europe/Paris")[0] == 0
        found = tomllib.loads((project / "incrowd.toml").read_text())
        assert found["data"]["time_format"] == FORMAT

    def test_never_replaces_a_file_without_being_told(self, ready, incrowd):
        before = (ready / "incrowd.toml").read_bytes()
        status, _, err = incrowd("init", "calls.csv")
        assert status == 2
        assert "exists already" in err
        assert (ready / "incrowd.toml").read_bytes() == before

    def test_data_that_is_not_there_is_an_error(self, project, incrowd):
        status, _, err = incrowd("init", "nothing.csv")
        assert status == 4
        assert "nothing.csv does not exist" in err
        assert not (project / "incrowd.toml").exists()

    def test_times_with_a_zone_or_numbers_need_none(self, tmp_path):
        for times in (["2024-03-05T07:31:00Z"], ["1709623860"], ["2024-03-05 07:31:00+0100"]):
            file = tmp_path / "c.csv"
            file.write_text("user,time,lat,lon\n" + "".join(f"a,{t},5.3,-4.0\n" for t in times))
            assert look_at(str(file)).zoned, times

    def test_times_in_utc_do_not_say_where_people_live(self, tmp_path, monkeypatch, incrowd):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "c.csv").write_text("user,time,lat,lon\na,1709623860,5.3,-4.0\n")
        status, _, err = incrowd("init", "c.csv")
        assert status == 0
        assert "set local_tz in the project file" in err
        assert incrowd("init", "c.csv", "--tz", "Asia/Tokyo", "--overwrite")[0] == 0
        found = tomllib.loads((tmp_path / "incrowd.toml").read_text())
        assert found["data"]["local_tz"] == "Asia/Tokyo"
        assert "tz" not in found["data"]


class TestDefaults:
    def test_commands_need_no_options(self, ready, incrowd):
        status, out, _ = incrowd("describe", "--json")
        assert status == 0
        assert json.loads(out)["people"] == 30

    def test_options_on_the_command_line_win(self, ready, incrowd):
        _, usual, _ = incrowd("describe", "--json")
        status, out, _ = incrowd("describe", "--json", "--cell", "500")
        assert status == 0
        assert json.loads(out)["cell_m"] == 500
        assert json.loads(usual)["cell_m"] == 100

    def test_another_file_can_be_named(self, ready, incrowd, tmp_path_factory, monkeypatch):
        monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
        status, out, _ = incrowd("describe", "--json", "--project", ready / "incrowd.toml")
        assert status == 0
        assert json.loads(out)["people"] == 30
        assert incrowd("describe")[0] == 2

    def test_or_none(self, ready, incrowd):
        assert incrowd("describe", "--no-project", "calls.csv")[0] == 4
        assert incrowd("describe", "--no-project")[0] == 2

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("time_format", "time_formt", r"[data] has no option 'time_formt' (is time_format"),
            ("[anonymize]", "[anonymise]", "no section [anonymise] (is anonymize meant?)"),
            ("[data]", "[data", "cannot read the project file incrowd.toml"),
            ("k = 2", "kk = 2", "[anonymize] has no option 'kk'"),
        ],
    )
    def test_what_is_wrong_is_said(self, ready, incrowd, old, new, says):
        file = ready / "incrowd.toml"
        file.write_text(file.read_text().replace(old, new))
        status, _, err = incrowd("anonymize", "-o", "release")
        assert status in (2, 4)
        assert says in err
        assert not (ready / "release").exists()

    @pytest.mark.parametrize("command", ["describe", "run", "measure"])
    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("k = 2", "kk = 2", "[anonymize] has no option 'kk' (is k meant?)"),
            ("purpose =", "purpouse =", "[report] has no option 'purpouse' (is purpose meant?)"),
            ("# format", "fromat", "[output] has no option 'fromat' (is format meant?)"),
            ("# left_out", "left_oot", "no light 'left_oot' (is left_out meant?)"),
            ("[output]", "[measure]\ncurv = 1\n[output]", "[measure] has no option 'curv'"),
        ],
    )
    def test_every_section_is_checked_for_every_command(
        self, ready, incrowd, command, old, new, says
    ):
        file = ready / "incrowd.toml"
        file.write_text(file.read_text().replace(old, new))
        status, _, err = incrowd(command)
        assert status == 2
        assert says in err
        assert not (ready / "out").exists()

    @pytest.mark.parametrize(
        ("old", "new", "status", "says"),
        [
            ("k = 2", 'k = "two"', 2, "Invalid value for incrowd.toml, [anonymize] k:"),
            ('"Europe/Paris"', '"Mars/X"', 2, "(set in incrowd.toml, [data] tz)"),
            ('"sites.csv"', '"gone.csv"', 4, "(set in incrowd.toml, [data] antennas)"),
            ('"calls.csv"', '"gone.csv"', 4, "(set in incrowd.toml, [data] path)"),
            ('"msisdn"', '"msisdnn"', 4, "(set in incrowd.toml, [data] user)"),
            ('"sites.csv"', '"FILL IN.csv"', 2, "incrowd.toml, [data] antennas: not filled in"),
        ],
    )
    def test_an_error_names_the_key(self, ready, incrowd, old, new, status, says):
        file = ready / "incrowd.toml"
        file.write_text(file.read_text().replace(old, new))
        found, _, err = incrowd("run")
        assert (found, says in err) == (status, True), err

    def test_an_error_of_the_file_names_its_line(self, ready, incrowd):
        file = ready / "incrowd.toml"
        file.write_text("[data]\nk = 3 3\n")
        _, out, _ = incrowd("describe", "--json")
        error = json.loads(out)["error"]
        assert (error["file"], error["line"]) == ("incrowd.toml", 2)

    def test_commands_of_several_sensors_take_one_table(self, ready, incrowd):
        for command in ("uniqueness", "deanonymize"):
            status, out, err = incrowd(command, "--json")
            assert status == 0, err
            assert json.loads(out)["command"] == command

    def test_a_file_for_each_sensor_is_not_one_table(self, ready, incrowd):
        file = ready / "incrowd.toml"
        file.write_text('[data]\npath = {gsm = "calls.csv"}\n')
        status, _, err = incrowd("describe")
        assert status == 2
        assert "incrowd.toml, [data] path: names a file for each sensor" in err

    def test_a_file_that_is_not_there_is_an_error(self, ready, incrowd):
        status, _, err = incrowd("describe", "--project", "other.toml")
        assert status == 4
        assert "there is no project file other.toml" in err


class TestRun:
    def test_does_all_of_it_into_one_folder(self, ready, incrowd):
        status, out, _ = incrowd("run")
        assert status == 3  # a crowd of two
        run = ready / "out" / "2012-03"
        assert {path.name for path in (ready / "out").iterdir()} == {"2012-03"}
        assert {path.name for path in run.iterdir()} == {
            "release", "report.html", "run.json", "private",
        }  # fmt: skip
        assert stat.S_IMODE((run / "private").stat().st_mode) == 0o700
        assert stat.S_IMODE((run / "private" / "who.parquet").stat().st_mode) == 0o600
        assert "The release is in out/2012-03/release; share nothing else." in out
        for command in ("verify", "evaluate"):  # the last run, read as it was
            status, out, _ = incrowd(command)
            assert status == 0, command

    def test_the_same_again_is_nothing_to_do(self, ready, incrowd):
        assert incrowd("run", "--attack-sample", "5")[0] == 3
        file = ready / "out" / "2012-03" / "run.json"
        before = file.stat().st_mtime_ns
        status, out, _ = incrowd("run", "--attack-sample", "5")
        assert status == 3
        assert out.startswith("Nothing to do: out/2012-03 ")
        assert file.stat().st_mtime_ns == before

    def test_a_file_for_rejected_rows_changes_nothing_of_it(self, ready, incrowd):
        words = ("--rejects", ready / "bad.csv")
        assert incrowd("run", "--attack-sample", "5", *words)[0] == 3
        header = "file,line,reason,value\n"
        assert (ready / "bad.csv").read_text() == header
        _, out, _ = incrowd("run", "--attack-sample", "5")
        assert out.startswith("Nothing to do: out/2012-03 ")
        (ready / "bad.csv").unlink()
        assert incrowd("verify", *words)[0] == 0  # still read as the private record says
        assert (ready / "bad.csv").read_text() == header

    def test_other_settings_do_not_replace_it_unless_told(self, ready, incrowd):
        assert incrowd("run", "--attack-sample", "5")[0] == 3
        status, _, err = incrowd("run", "--attack-sample", "5", "--k", "3")
        assert status == 2
        assert "--overwrite" in err
        status, out, _ = incrowd("run", "--attack-sample", "5", "--k", "3", "--overwrite", "--json")
        assert status in (0, 3)
        assert json.loads(out)["options"]["k"] == 3
        assert {path.name for path in (ready / "out").iterdir()} == {"2012-03"}

    def test_takes_the_purpose_and_thresholds_and_is_signed(self, ready, incrowd):
        text = (ready / "incrowd.toml").read_text()
        text = text.replace('purpose = "contract"', 'purpose = "internal"')
        text = text.replace("# left_out = [0.05, 0.2]", "left_out = [0.5, 0.6]")
        (ready / "incrowd.toml").write_text(text)
        status, _, _ = incrowd("run", "--attack-sample", "5", "--name", "first")
        assert status == 0  # pairs will do within the organisation
        page = (ready / "out" / "first" / "report.html").read_text()
        assert "set for this report; for the purpose internal" in page
        words = ("--decision", "share", "--signer", "A. Diop")
        status, out, _ = incrowd("sign", "out/first", *words)
        assert status == 0
        assert "The decision is in out/first/decision.json." in out
        status, out, _ = incrowd("verify")
        assert status == 0
        assert "Decided by A. Diop" in out
        again = ("run", "--attack-sample", "5", "--name", "first", "--k", "3", "--overwrite")
        status, _, err = incrowd(*again)
        assert status == 2
        assert "holds a decision" in err
        (ready / "out" / "first" / "report.html").write_text("another")
        status, out, _ = incrowd("verify", "--json")
        assert status == 1
        assert json.loads(out)["checks"][-1]["says"].endswith(
            "the report is not the one that was read."
        )

    def test_a_threshold_that_is_no_light_is_said(self, ready, incrowd):
        text = (ready / "incrowd.toml").read_text()
        (ready / "incrowd.toml").write_text(text.replace("# left_out", "lost"))
        status, _, err = incrowd("run", "--attack-sample", "5")
        assert status == 2
        assert "there is no light 'lost'" in err
        assert not (ready / "out" / "2012-03").exists()

    def test_goes_on_after_an_interruption(self, ready, incrowd, monkeypatch):
        def stop(*_, **__):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("incrowd.report._make.make", stop)
            words = ("--attack-sample", "5", "--rejects", ready / "bad.csv")
            assert incrowd("run", *words)[0] == 130
        out = ready / "out"
        assert {path.name for path in out.iterdir()} == {".2012-03.part"}
        release = out / ".2012-03.part" / "release" / "trajectories.parquet"
        before = release.read_bytes()
        status, _, err = incrowd("run", *words)
        assert status == 3
        assert "going on with what an interrupted run has finished" in err
        assert (out / "2012-03" / "release" / "trajectories.parquet").read_bytes() == before
        assert {path.name for path in out.iterdir()} == {"2012-03"}

    def test_what_another_run_left_is_removed(self, ready, incrowd, monkeypatch):
        def stop(*_, **__):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("incrowd.report._make.make", stop)
            assert incrowd("run", "--attack-sample", "5")[0] == 130
        status, _, err = incrowd("run", "--attack-sample", "5", "--k", "3")
        assert status in (0, 3)
        assert "it is removed" in err

    def test_the_same_input_gives_the_same_bytes_but_for_names(self, ready, incrowd):
        for name in ("one", "two"):
            # Threads are the machine's business and change no result.
            assert incrowd("run", "--attack-sample", "5", "--folder", name, "--threads", 1)[0] == 3
        one, two = (ready / name / "2012-03" for name in ("one", "two"))
        for file in ("k_gaps.parquet", "evaluation.json", "reading.json"):
            same = [(run / "private" / file).read_bytes() for run in (one, two)]
            assert same[0] == same[1], file
        boxes = [
            pl.read_parquet(run / "release" / "trajectories.parquet").drop("person")
            for run in (one, two)
        ]
        assert boxes[0].sort(pl.all()).equals(boxes[1].sort(pl.all()))

    def test_publishes_nothing_if_more_is_lost_than_the_file_allows(self, ready, incrowd):
        text = (ready / "incrowd.toml").read_text()
        text = text.replace("# fail_above = 0.2", "fail_above = 0.01")
        text = text.replace("# max_metres = 15000", "max_metres = 300")
        (ready / "incrowd.toml").write_text(text)
        status, _, err = incrowd("run", "--attack-sample", "5")
        assert status == 1
        assert "are lost, more than the 1.0% allowed; nothing was published" in err
        assert list((ready / "out").iterdir()) == []

    def test_killed_before_it_gets_its_name_it_goes_on(self, ready, incrowd, monkeypatch):
        def killed(*_):
            raise KeyboardInterrupt

        words = ("run", "--attack-sample", "5")
        with monkeypatch.context() as patch:
            patch.setattr("incrowd.cli.run.give_name", killed)
            assert incrowd(*words)[0] == 130
        part = ready / "out" / ".2012-03.part"
        made = (part / "release" / "trajectories.parquet").read_bytes()
        status, out, err = incrowd(*words)
        assert status == 3
        assert "Nothing to do" not in out
        assert "going on with what an interrupted run has finished" in err
        run = ready / "out" / "2012-03"
        assert (run / "release" / "trajectories.parquet").read_bytes() == made
        assert not (run / "state.json").exists()
        assert {path.name for path in (ready / "out").iterdir()} == {"2012-03"}

    def test_killed_while_it_gets_its_name_it_is_finished(self, ready, incrowd, monkeypatch):
        """The old one is moved away, the new one has no name yet, and nothing is cleaned up."""

        real = _renames._Step.do

        def moved_away(step, **how):
            if step.name.name != "2012-03":
                real(step, **how)
                return
            step.name.rename(step.old)
            raise KeyboardInterrupt

        def killed(*_):
            raise KeyboardInterrupt

        words = ("run", "--attack-sample", "5")
        assert incrowd(*words, "--k", "3")[0] in (0, 3)
        with monkeypatch.context() as patch:
            patch.setattr("incrowd._renames._Step.do", moved_away)
            patch.setattr("incrowd._renames._Step.undo", killed)
            assert incrowd(*words, "--overwrite")[0] == 130
        out = ready / "out"
        assert not (out / "2012-03").exists()
        made = (out / ".2012-03.part" / "release" / "trajectories.parquet").read_bytes()
        status, said, err = incrowd(*words, "--overwrite")
        assert (status, "Nothing to do" in said) == (3, True)
        assert "what it had made was complete, and was put in place" in err
        assert (out / "2012-03" / "release" / "trajectories.parquet").read_bytes() == made
        assert not (out / "2012-03" / "state.json").exists()
        assert {path.name for path in out.iterdir()} == {"2012-03"}

    def test_needs_a_project_or_data(self, project, incrowd):
        assert incrowd("run")[0] == 2

    def test_refuses_a_folder_in_the_input(self, project, incrowd):
        (project / "in").mkdir()
        (project / "calls.csv").rename(project / "in" / "calls.csv")
        words = ("--antennas", "sites.csv", "--time-format", FORMAT, "--tz", "UTC")
        status, _, err = incrowd("run", "in", *words, "--folder", "in/out")
        assert status == 2
        assert "choose another --folder" in err
