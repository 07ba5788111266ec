import errno
import json
import pathlib
import shutil
from dataclasses import replace

import polars as pl
import pytest

import incrowd as library
from incrowd import _renames
from incrowd._hidden import Lock
from incrowd.data._manifest import read_manifest
from incrowd.evaluate._verify.result import failed
from incrowd.evaluate._verify.run import verify

PEOPLE = 41


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Make a small city of people with telling identifiers, as a network would write it."""
    folder = tmp_path_factory.mktemp("city")
    library.write(library.synthesize("city", users=PEOPLE, seed=3), folder / "city.parquet")
    rows = pl.read_parquet(folder / "city.parquet").select(
        pl.format("msisdn-{}", pl.col("user").cast(pl.String).str.zfill(9)).alias("who"),
        pl.col("timestamp").dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "lat",
        "lon",
    )
    rows.write_csv(folder / "calls.csv")
    return folder / "calls.csv"


@pytest.fixture
def calls(original, tmp_path, monkeypatch):
    """Go to a folder with nothing but the data."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(original, "calls.csv")
    return tmp_path


@pytest.fixture
def anonymize(incrowd, calls):
    """Anonymize the data into `release`; leave out what is noted without a record."""

    def command(*words):
        run = incrowd("anonymize", "calls.csv", "-o", "release", "--user", "who", *words)
        lines = run[2].splitlines(keepends=True)
        said = "".join(line for line in lines if not line.startswith("note: without --record"))
        return run[0], run[1], said

    return command


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def refuted(*words, **how):
    """Verify, and find something wrong."""
    found = verify(*words, **how)
    checks = [failed(one.name, "Torn.", {}) if one.name == "rows" else one for one in found.checks]
    return replace(found, checks=tuple(checks))


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupted(*_, **__):
    raise KeyboardInterrupt


def grouped(folder):
    """Give the records of a release without their names."""
    rows = pl.read_parquet(folder / "trajectories.parquet").drop("lon", "lat")
    records = rows.group_by("person").agg(pl.all()).drop("person")
    return sorted(map(repr, records.rows()))


class TestAnonymize:
    def test_publishes_what_was_verified_and_says_so(self, anonymize, calls):
        status, out, err = anonymize("--record", "who.parquet")
        assert (status, err) == (0, "")
        assert names(calls) == ["calls.csv", "release", "who.parquet"]
        lines = out.splitlines()
        assert (
            lines[0]
            == "people                39 of 41 are published, in 12 crowds of 3 to 4 people"
        )
        assert lines[1] == "people dropped        2 of 41 (4.9%)"
        assert "  k-anonymity   ok  Every record is identical" in out
        assert "  linkage       ok  In 27,500 trials" in out
        assert "It protects against\n- record linkage" in out
        assert "It does not protect against\n- attribute inference" in out
        assert "The release is in release.\nThe private record is who.parquet." in out
        assert lines[-1] == "Verify it again with:  incrowd verify release --record who.parquet"

    def test_the_next_command_works(self, anonymize, incrowd):
        _, out, _ = anonymize("--record", "who.parquet", "--tz", "Europe/Paris", "--every-day")
        words = out.splitlines()[-1].split("incrowd ")[1].split()
        assert words == ["verify", "release", "--record", "who.parquet"]
        status, out, _ = incrowd(*words)
        assert status == 0
        assert "not checked" not in out

    def test_the_next_command_without_a_record_names_how_to_read(self, anonymize, incrowd):
        _, out, _ = anonymize("--tz", "Europe/Paris", "--every-day")
        words = out.splitlines()[-1].split("incrowd ")[1].split()
        assert words[-5:] == ["--user", "who", "--tz", "Europe/Paris", "--every-day"]
        assert incrowd(*words)[0] == 0

    @pytest.mark.parametrize("form", ["parquet", "csv"])
    def test_no_identifier_is_in_any_byte(self, anonymize, calls, form):
        assert anonymize("--format", form)[0] == 0
        assert names(calls / "release") == [
            "fact-sheet.md", "manifest.json", f"trajectories.{form}",
        ]  # fmt: skip
        for file in (calls / "release").iterdir():
            content = file.read_bytes()
            assert b"msisdn" not in content
            assert b"calls" not in content

    def test_json_is_one_object(self, anonymize):
        status, out, err = anonymize("--json", "--k", 3, "--reshape", "union", "--variant", "loose")
        found = json.loads(out)
        assert (status, err, found["ok"], found["release"]) == (0, "", True, "release")
        assert found["people"] == found["published"]["people"] == PEOPLE
        assert found["losses"]["people_dropped"] == 0
        assert found["verification"]["ok"]
        assert found["record"] is None
        settings = found["settings"]
        assert (settings["k"], settings["reshape"], settings["variant"]) == (3, "union", "loose")

    def test_where_people_live_is_kept_in_the_record(self, anonymize, incrowd):
        words = ("--record", "who.parquet", "--tz", "UTC", "--local-tz", "Africa/Dakar")
        assert anonymize(*words)[0] == 0
        *_, err = incrowd("report", "release", "--record", "who.parquet", "--attack-sample", 5)
        assert "time zone" not in err
        assert "Africa/Dakar" in pathlib.Path("release-report.html").read_text()
        assert "--local-tz Africa/Dakar" in pathlib.Path("release-report.html").read_text()

    def test_times_without_a_zone_are_noted(self, anonymize, calls):
        text = (calls / "calls.csv").read_text()
        (calls / "calls.csv").write_text(text.replace("Z,", ","))
        status, _, err = anonymize()
        assert status == 0
        assert "times name no time zone: they are taken to be in UTC, and published so" in err

    def test_thresholds_are_metres_and_minutes(self, anonymize, calls):
        status, out, err = anonymize("--max-metres", 1250, "--max-minutes", 90, "--slot", 120)
        assert status == 0
        assert err == "note: --max-metres is rounded down to 1200 m (12 cells of the grid)\n"
        settings = read_manifest(calls / "release").settings
        assert (settings["max_space"], settings["max_time"]) == (12, 45)
        assert "samples suppressed    none" not in out

    def test_single_samples_may_be_suppressed(self, anonymize, calls):
        words = ("--k", 2, "--max-metres", 1000, "--max-minutes", 60)
        assert anonymize(*words, "--merge", "two-stage")[0] == 0
        boxes = read_manifest(calls / "release")
        assert anonymize(*words, "--suppress", "samples", "--overwrite")[0] == 0
        samples = read_manifest(calls / "release")
        assert (boxes.settings["suppress"], samples.settings["suppress"]) == ("boxes", "samples")
        lost = [one.losses["samples_suppressed"] for one in (boxes, samples)]
        assert lost[0] > lost[1] > 0

    def test_the_best_boxes_keep_to_thresholds_and_delete_less(self, anonymize, calls):
        words = ("--k", 2, "--max-metres", 1000, "--max-minutes", 60)
        lost = []
        for more in (("--merge", "two-stage"), (), ("--suppress-price", 0.1)):
            assert anonymize(*words, *more, "--overwrite")[0] == 0
            lost.append(read_manifest(calls / "release").losses["samples_suppressed"])
        assert lost[0] > lost[1]
        assert lost[2] > lost[1] > 0

    def test_crowds_can_be_refined(self, anonymize, calls):
        status, out, _ = anonymize("--k", 3, "--crowds", "refined", "--refine-rounds", 3)
        assert status == 0
        assert "people dropped        none" in out
        settings = read_manifest(calls / "release").settings
        assert (settings["crowds"], settings["refine_rounds"]) == ("refined", 3)
        status, _, err = anonymize("--merge", "two-stage", "--crowds", "refined", "--overwrite")
        assert status == 2
        assert "--crowds belongs to --merge='optimal'" in err

    def test_a_share_that_thresholds_cannot_keep_to(self, anonymize, calls):
        words = ("--max-metres", 100, "--max-minutes", 1, "--suppress-at-most", 0.01)
        status, _, err = anonymize(*words)
        assert status == 2
        assert "--suppress-at-most=0.01 cannot be kept to" in err
        assert not (calls / "release").exists()

    def test_a_threshold_beyond_everything_suppresses_nothing(self, anonymize):
        status, out, _ = anonymize("--max-metres", "1e300", "--max-minutes", "1e300")
        assert status == 0
        assert "samples suppressed    none" in out

    def test_rows_that_were_not_understood_are_counted(self, anonymize, calls):
        with (calls / "calls.csv").open("a") as file:
            file.write("msisdn-000000001,noon,7.5,-5.5\n")
        assert "rows not understood   1 of" in anonymize()[1]

    def test_a_release_can_be_replaced(self, anonymize, calls):
        assert anonymize()[0] == 0
        first = read_manifest(calls / "release")
        assert anonymize("--overwrite", "--k", 2)[0] == 0
        second = read_manifest(calls / "release")
        assert (first.settings["k"], second.settings["k"]) == (3, 2)
        assert names(calls) == ["calls.csv", "release"]

    def test_pairs_are_noted_once(self, anonymize):
        status, _, err = anonymize("--k", 2)
        assert status == 0
        assert err.startswith(
            "note: --k = 2 makes pairs: each of a pair can subtract her own trace"
        )
        assert err.count("subtract") == 1
        # By its settings: nothing is noted without an option, nor in Python.
        assert anonymize("--overwrite")[2] == ""

    def test_edges_are_rounded(self, anonymize, calls):
        status, out, err = anonymize("--edges", "450m,15min")
        assert status == 0
        assert err == "note: --edges is rounded up from 450 m to 500 m (5 cells of the grid)\n"
        assert read_manifest(calls / "release").settings["edges"] == "500m,15min"
        assert "rounded outwards to 500 m and 15 min" in " ".join(out.split())
        sheet = (calls / "release" / "fact-sheet.md").read_text("utf-8")
        assert "| edges of samples are rounded outwards to | 500m,15min |" in sheet
        rows = pl.read_parquet(calls / "release" / "trajectories.parquet")
        assert (
            (rows.select(pl.col("x_min", "x_max", "y_min", "y_max") % 500) == 0).to_series().all()
        )
        assert (rows["t_end"].dt.epoch("s") % 900 == 0).all()

    def test_a_large_k_is_noted(self, anonymize):
        status, _, err = anonymize("--k", 1001)
        assert status == 2
        assert err.startswith("note: --k = 1,001 is large")


class TestHelp:
    def test_has_an_example(self, incrowd):
        status, out, _ = incrowd("anonymize", "--help")
        assert status == 0
        assert "incrowd anonymize cdr.csv --k 3 -o release" in out


class TestWrongUse:
    @pytest.mark.parametrize(
        ("words", "text"),
        [
            (
                ["--edges", "100m"],
                "--edges must be at least two cells of the grid (200 m), not 100 m",
            ),
            (
                ["--edges", "500"],
                "--edges takes metres and minutes like 500m,15min, or one of them",
            ),
            (
                ["--method", "cloak", "--cloak", 60, "--edges", "1h"],
                "--edges belongs to --method gl",
            ),
            (["--k", 42], "41 people cannot hide in a crowd of 42"),
            (["--k", 1], "--k must be at least 2, not 1"),
            (["--k", 0], "--k must be at least 2, not 0"),
            (["--k", -3], "--k must be at least 2, not -3"),
            (["--max-metres", 0], "--max-metres must be above 0, not 0"),
            (["--max-metres", -5], "--max-metres must be above 0, not -5"),
            (["--max-metres", "nan"], "--max-metres must be above 0, not nan"),
            (["--max-minutes", 0], "--max-minutes must be above 0, not 0"),
            (["--max-minutes", "inf"], "--max-minutes must be finite, not inf"),
            (["--suppress", "samples"], "='samples' needs --max-metres or --max-minutes"),
            (["--max-metres", 99], "--max-metres must be at least one cell of the grid (100 m)"),
            (["--max-minutes", 0.5], "--max-minutes must be at least one slot of the grid (1 min)"),
            (["--record", "release/who.parquet"], "the private record must stay outside"),
            (["--record", "no/who.parquet"], "the folder no does not exist"),
            (["--record", "who.csv"], "name it like who.parquet"),
            (["--checkpoint", "release/journal"], "the checkpoint must stay outside"),
            (["--checkpoint", "no/journal"], "the folder no does not exist"),
            (["-o", "no/release"], "the folder no does not exist"),
            (["-o", "calls.csv"], "calls.csv exists already"),
            (["-o", "."], "is no name for a release"),
            (["--k", 20, "--max-metres", 100, "--max-minutes", 1], "GLOVE left nothing to publish"),
            (["--user", "nobody"], "nobody"),
        ],
    )
    def test_is_one_message_and_leaves_nothing(self, anonymize, calls, words, text):
        status, out, err = anonymize(*words)
        assert (status, out) == (4 if words == ["--user", "nobody"] else 2, "")
        assert text in err
        assert err.startswith("incrowd: ")
        assert err.count("\n") == 1
        assert names(calls) == ["calls.csv"]

    def test_comes_before_any_word_of_the_compiler(self, anonymize, said):
        anonymize("--k", 42)
        assert said == []
        anonymize("--k", 2)
        assert said == ["compiler"]

    @pytest.mark.parametrize(
        "words",
        [
            ["--k", "x"],
            ["--variant", "odd"],
            ["--reshape", "odd"],
            ["--suppress", "odd"],
            ["--format", "xls"],
        ],
    )
    def test_is_2_where_the_word_is_unknown(self, anonymize, calls, words):
        status, out, err = anonymize(*words)
        assert (status, out) == (2, "")
        assert f"Invalid value for '{words[0]}'" in err
        assert names(calls) == ["calls.csv"]

    @pytest.mark.parametrize("words", [[], ["--overwrite"]])
    def test_what_is_there_is_refused_before_reading(self, incrowd, calls, words):
        (calls / "release").mkdir()
        (calls / "release" / "mine").touch()
        status, _, err = incrowd("anonymize", "missing.csv", "-o", "release", *words)
        assert status == 2
        assert "missing" not in err
        assert names(calls / "release") == ["mine"]

    @pytest.mark.parametrize("where", ["write_release", "amend_release", "give_names"])
    def test_a_full_disk_is_2(self, anonymize, calls, monkeypatch, where):
        monkeypatch.setattr(f"incrowd.evaluate._publish.{where}", full)
        status, out, err = anonymize("--record", "who.parquet")
        assert (status, out) == (2, "")
        assert err.count("incrowd: cannot write release: the disk is full") == 1
        assert set(names(calls)) <= {"calls.csv", "release.checkpoint"}

    def test_the_checkpoint_of_another_run_is_refused_and_kept(self, anonymize, calls):
        (calls / "release.checkpoint").write_bytes(b"of another run")
        status, out, err = anonymize()
        assert (status, out) == (2, "")
        assert "release.checkpoint" in err
        assert (calls / "release.checkpoint").read_bytes() == b"of another run"
        assert names(calls) == ["calls.csv", "release.checkpoint"]


class TestRefuted:
    def test_is_1_and_nothing_is_published(self, anonymize, calls, monkeypatch):
        monkeypatch.setattr("incrowd.evaluate._publish.verify", refuted)
        status, out, err = anonymize("--record", "who.parquet")
        assert status == 1
        assert "rows          FAILED       Torn." in out
        assert err == (
            "incrowd: the release did not pass its verification (rows) and was removed; "
            "nothing is under release\n"
        )
        assert names(calls) == ["calls.csv"]

    def test_is_said_to_machines(self, anonymize, monkeypatch):
        monkeypatch.setattr("incrowd.evaluate._publish.verify", refuted)
        status, out, _ = anonymize("--json")
        found = json.loads(out)
        assert (status, found["ok"], found["release"]) == (1, False, None)
        assert not found["verification"]["ok"]


class TestInterrupted:
    def test_is_130_and_the_same_command_goes_on(self, anonymize, calls, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr("incrowd.evaluate._publish.write_release", interrupted)
            status, out, err = anonymize("--json")
        assert (status, json.loads(out)["error"]["code"]) == (130, "interrupted")
        assert "interrupted; no incomplete output was left behind" in err
        assert "release.checkpoint keeps what was done: run the same command again" in err
        assert names(calls) == ["calls.csv", "release.checkpoint"]
        status, _, err = anonymize("--json")
        assert (status, err) == (0, "going on from release.checkpoint\n")
        assert names(calls) == ["calls.csv", "release"]
        resumed = grouped(calls / "release")
        assert anonymize("--json", "--overwrite")[0] == 0
        assert grouped(calls / "release") == resumed

    def test_before_anything_was_done_keeps_nothing(self, anonymize, calls, monkeypatch):
        monkeypatch.setattr("incrowd.protect._glove.api.glove", interrupted)
        status, _, err = anonymize()
        assert (status, err) == (
            130,
            "incrowd: interrupted; no incomplete output was left behind\n",
        )
        assert names(calls) == ["calls.csv"]

    def test_the_checkpoint_can_be_elsewhere(self, anonymize, calls, monkeypatch):
        monkeypatch.setattr("incrowd.evaluate._publish.write_release", interrupted)
        assert anonymize("--checkpoint", "journal")[0] == 130
        assert names(calls) == ["calls.csv", "journal"]

    def test_is_143_when_told_to_end(self, anonymize, calls, monkeypatch):
        def told(*_, **__):
            raise SystemExit(143)

        monkeypatch.setattr("incrowd.evaluate._publish.write_release", told)
        status, out, err = anonymize()
        assert (status, out) == (143, "")
        assert "release.checkpoint keeps what was done" in err
        assert "terminated; no incomplete output was left behind" in err
        assert names(calls) == ["calls.csv", "release.checkpoint"]

    def test_what_a_killed_run_left_is_removed_and_told(self, anonymize, calls):
        left = [
            ".release.incrowd-unverified-0123456789ab",
            ".who.parquet.incrowd-part-0123456789ab",
        ]
        for name in left:
            (calls / name).mkdir()
        status, _, err = anonymize("--record", "who.parquet")
        assert status == 0
        for name in left:
            assert f"{name} was left by a run that was killed; it was removed" in err
        assert names(calls) == ["calls.csv", "release", "who.parquet"]

    def test_what_another_run_uses_stays(self, anonymize, calls):
        used = calls / ".release.incrowd-unverified-0123456789ab"
        used.mkdir()
        lock = Lock(used)
        assert anonymize()[0] == 0
        assert used.is_dir()
        lock.release()

    def test_what_an_earlier_version_left_is_told_and_stays(self, anonymize, calls):
        left = [
            ".release.unverified-0123abcd",
            "..release.unverified-0123abcd.89ab.part",
            ".who.parquet.part-0123abcd",
        ]
        for name in left:
            (calls / name).mkdir()
        status, _, err = anonymize("--record", "who.parquet")
        assert status == 0
        for name in left:
            assert f"{name} was left by a run of an earlier version that was killed" in err
            assert (calls / name).is_dir()


class TestKilledBetweenItsNames:
    """The record has its name and the release has not, and nothing could be cleaned up."""

    @pytest.fixture(params=[False, True], ids=["new", "overwrite"])
    def killed(self, request, anonymize, calls, monkeypatch):
        words = ("--record", "who.parquet", *(["--overwrite"] if request.param else []))
        if request.param:
            assert anonymize(*words)[0] == 0
        real = _renames._Step.do

        def stop(self, **how):
            if self.name.name == "release":
                raise KeyboardInterrupt
            real(self, **how)

        with monkeypatch.context() as patch:
            patch.setattr(_renames._Step, "do", stop)
            patch.setattr(_renames._Step, "undo", interrupted)
            assert anonymize(*words)[0] == 130
        assert (calls / "who.parquet").exists()
        assert (calls / "release").exists() == request.param
        assert any(calls.glob(".release.incrowd-unverified-*"))
        return words

    def test_the_same_command_finishes_both(self, anonymize, incrowd, calls, killed):
        status, _, err = anonymize(*killed)
        assert "what it had made was complete, and was put in place" in err
        if "--overwrite" in killed:
            assert status == 0
        else:
            assert status == 2
            assert "release exists already; choose another name, or allow overwriting" in err
            (calls / "release.checkpoint").unlink()
        assert names(calls) == ["calls.csv", "release", "who.parquet"]
        assert incrowd("verify", "release", "--record", "who.parquet")[0] == 0

    @pytest.mark.parametrize("name", ["release", "who.parquet"])
    def test_so_does_whoever_looks(self, incrowd, calls, killed, name):
        if name == "release":
            status, out, err = incrowd("verify", "release", "--record", "who.parquet")
            assert "membership    ok" in out
        else:
            status, _, err = incrowd("clean", "--temp-dir", calls)
        assert status == 0
        assert "what it had made was complete, and was put in place" in err
        assert set(names(calls)) == {"calls.csv", "release", "release.checkpoint", "who.parquet"}

    def test_one_that_was_changed_since_never_gets_the_name(self, incrowd, calls, killed):
        (hidden,) = calls.glob(".release.incrowd-unverified-*")
        (hidden / "fact-sheet.md").write_text("Trust me.")
        status, _, err = incrowd("verify", "release")
        assert "what is there" not in err
        assert "what was there before was put back" in err
        assert status == (0 if "--overwrite" in killed else 4)
        assert (calls / "who.parquet").exists() == ("--overwrite" in killed)
        assert not any(calls.glob(".*"))


class TestNamesThatAreTaken:
    @pytest.mark.parametrize("option", ["--record", "--checkpoint"])
    def test_the_input_is_never_written_over(self, incrowd, calls, option):
        pl.read_csv(calls / "calls.csv").write_parquet(calls / "calls.parquet")
        before = (calls / "calls.parquet").read_bytes()
        words = ("-o", "release", option, "calls.parquet", "--overwrite")
        status, out, err = incrowd("anonymize", "calls.parquet", *words)
        assert (status, out) == (2, "")
        assert "is the input; the" in err
        assert (calls / "calls.parquet").read_bytes() == before
        assert names(calls) == ["calls.csv", "calls.parquet"]

    def test_one_name_for_two_files(self, anonymize, calls):
        words = ("--record", "who.parquet", "--checkpoint", "who.parquet", "--overwrite")
        status, out, err = anonymize(*words)
        assert (status, out) == (2, "")
        assert "cannot be both the private record and the checkpoint" in err
        assert names(calls) == ["calls.csv"]

    def test_nothing_is_put_among_the_input(self, incrowd, calls):
        (calls / "in").mkdir()
        (calls / "calls.csv").rename(calls / "in" / "calls.csv")
        status, out, err = incrowd("anonymize", "in", "-o", "in/release")
        assert (status, out) == (2, "")
        assert "lies in in, all of which is the input" in err
        assert names(calls / "in") == ["calls.csv"]


class TestDiverse:
    @pytest.mark.filterwarnings("ignore:.* people live in one square")
    def test_every_crowd_has_its_homes_at_night_where_people_live(self, anonymize, incrowd):
        diverse = ("--k", "3", "--diverse", "home:2:2km", "--local-tz", "Africa/Dakar")
        status, out, err = anonymize(*diverse, "--record", "who.parquet")
        assert status == 0, err
        assert "2 distinct homes on a grid of 2 km" in out
        stated = {"homes": 2, "metres": 2000, "tz": "Africa/Dakar"}
        assert read_manifest(pathlib.Path("release")).settings["diverse"] == stated
        status, out, _ = incrowd("verify", "release", "--record", "who.parquet")
        assert status == 0
        assert "diversity     ok           The people of every crowd have at least 2" in out
        status, out, _ = incrowd("verify", "release")
        assert status == 0
        assert "diversity     not checked" in out

    @pytest.mark.parametrize(
        ("diverse", "says"),
        [
            ("home:0", "--diverse is 'home:0', but fewer than 2 distinct homes protect nothing"),
            ("home:x", "--diverse is 'home:x'; write it as home:3 or home:3:5km"),
            ("town:3", "--diverse is 'town:3', but only homes can be asked for"),
            ("home:3:10m", "but the data has cells of 100 m"),
            ("home:90", "--diverse asks for 90 distinct homes in every crowd, but there are"),
        ],
    )
    def test_bad_input_is_refused_and_nothing_written(self, anonymize, calls, diverse, says):
        status, _, err = anonymize("--k", "3", "--diverse", diverse, "--local-tz", "UTC")
        assert status == 2
        assert says in err
        assert not (calls / "release").exists()

    def test_not_with_refined_crowds_or_other_methods(self, anonymize):
        status, _, err = anonymize("--diverse", "home:2", "--crowds", "refined")
        assert status == 2
        assert "--diverse does not go with --crowds='refined'" in err
        status, _, err = anonymize("--method", "cloak", "--cloak", "60", "--diverse", "home:2")
        assert status == 2
        assert "--diverse belongs to --method glove" in err
