"""What a run leaves: whole and as it was, or nothing; and what it tells those who watch no job."""

import json
import shutil

import polars as pl
import pytest

QUICK = ("run", "--attack-sample", "5")


@pytest.fixture
def done(ready, incrowd):
    """Run it once."""
    assert incrowd(*QUICK)[0] == 3
    return ready / "out" / "2012-03"


def stop(*_, **__):
    raise KeyboardInterrupt


class TestDamage:
    @pytest.mark.parametrize(
        "name",
        [
            "release",
            "release/manifest.json",
            "report.html",
            "private/who.parquet",
        ],
    )
    def test_is_told_and_made_good_with_overwrite(self, done, incrowd, name):
        before = (done / "report.html").read_bytes()
        path = done / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        status, out, err = incrowd(*QUICK)
        assert status == 2
        assert "Nothing to do" not in out
        assert f"{name}" in err
        assert "is missing; make them anew with --overwrite" in err or "more" in err
        status, out, err = incrowd(*QUICK, "--overwrite")
        assert status == 3
        assert "Nothing to do" not in out
        assert path.exists()
        assert len((done / "report.html").read_bytes()) == pytest.approx(len(before), rel=0.01)
        assert incrowd(*QUICK)[1].startswith("Nothing to do")
        assert incrowd(*QUICK, "--overwrite")[1].startswith("Nothing to do")

    def test_a_changed_byte_and_an_added_file_are_told(self, done, incrowd):
        file = done / "release" / "trajectories.parquet"
        content = bytearray(file.read_bytes())
        content[100] ^= 1
        file.write_bytes(content)
        (done / "release" / "more.txt").write_text("")
        status, out, _ = incrowd(*QUICK, "--json")
        error = json.loads(out)["error"]
        assert (status, error["code"]) == (2, "output")
        assert (
            "release/trajectories.parquet was changed; release/more.txt was added"
            in (error["message"])
        )
        assert "--overwrite" in error["hint"]

    def test_of_what_was_signed_is_never_made_anew(self, done, incrowd):
        words = ("--decision", "refuse", "--signer", "A. Diop")
        assert incrowd("sign", done, *words)[0] == 0
        assert incrowd(*QUICK)[1].startswith("Nothing to do")
        (done / "report.html").write_text("")
        status, _, err = incrowd(*QUICK, "--overwrite")
        assert status == 2
        assert "is not replaced" in err

    def test_is_none_where_a_page_was_added_to_the_release_or_beside_it(self, done, incrowd):
        release = done / "release"
        assert incrowd("report", release, "--in-release", "--attack-sample", "5")[0] in (0, 3)
        (done / "page.pdf").write_text("")
        assert incrowd(*QUICK)[1].startswith("Nothing to do")


class TestInterrupted:
    def test_what_was_half_written_is_not_published(self, ready, incrowd, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr("incrowd.report._make.make", stop)
            status, _, err = incrowd(*QUICK)
        assert status == 130
        assert "what is done is kept in out/.2012-03.part: start it again to go on" in err
        assert "no incomplete output" not in err
        part = ready / "out" / ".2012-03.part"
        shutil.copytree(part / "release", part / ".release.unverified-12ab34cd")
        (part / "private" / ".who.parquet.part-12ab34cd").write_text("x")
        (part / "release" / ".manifest.json.12ab34cd.part").write_text("x")
        status, _, err = incrowd(*QUICK)
        assert status == 3
        assert ".release.unverified-12ab34cd was left half done; it is removed" in err
        found = {path.name for path in (ready / "out" / "2012-03").rglob("*")}
        assert not [name for name in found if name.startswith(".")]

    def test_a_release_that_was_changed_meanwhile_is_made_again(self, ready, incrowd, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr("incrowd.report._make.make", stop)
            assert incrowd(*QUICK)[0] == 130
        part = ready / "out" / ".2012-03.part"
        (part / "release" / "fact-sheet.md").write_text("")
        assert incrowd(*QUICK)[0] == 3
        assert (ready / "out" / "2012-03" / "release" / "fact-sheet.md").read_text()

    def test_nothing_foreign_gets_a_name(self, ready, incrowd, monkeypatch):
        from incrowd.report._make import make

        def making(*words, **options):
            (ready / "out" / ".2012-03.part" / "notes.txt").write_text("")
            return make(*words, **options)

        monkeypatch.setattr("incrowd.report._make.make", making)
        status, _, err = incrowd(*QUICK)
        assert status == 2
        assert "notes.txt is nothing that a run makes" in err
        assert not (ready / "out" / "2012-03").exists()


class TestWrongUse:
    def test_leaves_nothing(self, ready, incrowd):
        status, _, err = incrowd(*QUICK, "--k", "200")
        assert status == 2
        assert "200" in err
        assert list((ready / "out").iterdir()) == []

    @pytest.mark.parametrize("name", ["../x", "a/b", "..", ".hidden", ""])
    def test_a_name_is_one_folder(self, ready, incrowd, name):
        status, _, err = incrowd(*QUICK, "--name", name)
        assert status == 2
        assert "--name must be the name of one folder" in err
        assert not (ready / "out").exists()

    def test_crowds_larger_than_the_k_gap_allows_are_run(self, ready, incrowd, monkeypatch):
        monkeypatch.setattr("incrowd.measure._k_gap.MAX_K", 3)
        assert incrowd(*QUICK, "--k", "5")[0] in (0, 1, 3)
        gaps = pl.read_parquet(ready / "out" / "2012-03" / "private" / "k_gaps.parquet")
        assert gaps["nearest"].list.len().max() == 2

    def test_a_folder_that_cannot_be_made_is_said(self, ready, incrowd):
        (ready / "taken").write_text("")
        status, _, err = incrowd(*QUICK, "--folder", "taken/out")
        assert status == 2
        assert "cannot write taken/out: " in err
        assert "Errno" not in err


class TestTold:
    def test_json_and_log_have_rows_losses_checks_and_answer(self, ready, incrowd):
        with (ready / "calls.csv").open("a") as file:
            file.write("s1,noon,c0\n")
        words = ("--json", "--quiet", "--log-file", ready / "job.log")
        _, out, _ = incrowd(*QUICK, *words)
        told = json.loads(out)
        assert told["reading"]["rejected"]["time not understood"]["rows"] == 1
        assert told["reading"]["unknown_cells"]["rows"] == 0
        assert "samples_dropped" in told["losses"]
        assert told["verification"] == {"ok": True, "failed": []}
        assert told["verdict"]["answer"] == "conditions"
        assert told["verdict"]["headline"].startswith("This release may be shared")
        assert told["verdict"]["because"]
        assert told["verdict"]["lights"]["Smallest crowd"] == "amber"
        log = (ready / "job.log").read_text()
        for said in ("1 rejected", "lost: ", "verified: ok", "answer: conditions. This release"):
            assert said in log
        again = json.loads(incrowd(*QUICK, "--json")[1])
        assert again == told
