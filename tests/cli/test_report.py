import hashlib
import json
import shlex
import shutil

import polars as pl
import pytest

import incrowd as library
from incrowd.data._manifest import read_manifest
from incrowd.evaluate._publish import publish

EVIL = "<script>window.hacked=1</script>"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Write a town, its release, its private record and its k-gaps."""
    folder = tmp_path_factory.mktemp("town")
    town = library.synthesize("city", users=16, seed=5)
    library.write(town, folder / "town.parquet")
    release = library.glove(town, k=2)
    publish(release, folder / "release", original=town, record=folder / "who.parquet", draws=20)
    library.k_gap(town, 2).drop("nearest").write_csv(folder / "gaps.csv")
    return folder


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    """Leave the script away, which takes seconds to put together; browsers are tested elsewhere."""
    monkeypatch.setattr("incrowd.report._page._script", lambda: "")


@pytest.fixture
def release(made, tmp_path):
    """Give a copy that may be changed."""
    return shutil.copytree(made / "release", tmp_path / "release")


@pytest.fixture
def beside(made, release):
    """Name the original, the record and the k-gaps."""
    original = ["--original", made / "town.parquet"]
    return [release, *original, "--record", made / "who.parquet", "--k-gaps", made / "gaps.csv"]


class TestReport:
    def test_puts_a_page_into_the_release_twice_and_it_stays_whole(self, incrowd, release):
        for title in ("first", "second"):
            words = ("--attack-sample", 5, "--title", title, "--in-release", "--overwrite")
            status, out, err = incrowd("report", release, *words)
            assert (status, err) == (3, "")
            assert out.startswith("This release may be shared with a named recipient under a")
            assert "with conditions: " in out
            assert out.endswith(f"\nThe report is in {release / 'report.html'}.\n")
            assert f"Privacy report: {title}" in (release / "report.html").read_text()
            assert incrowd("verify", release)[0] == 0
        assert set(read_manifest(release).files) == {
            "fact-sheet.md", "trajectories.parquet", "report.html",
        }  # fmt: skip

    def test_the_command_to_sign_names_the_page_that_was_written(self, incrowd, release, tmp_path):
        for words, page in (
            ((), release.parent / "release-report.html"),
            (("-o", tmp_path / "read by her.html"), tmp_path / "read by her.html"),
        ):
            _, out, _ = incrowd("report", release, "--attack-sample", 5, *words)
            assert f"The report is in {page}." in out
            said = next(line for line in out.splitlines() if line.startswith("When you have"))
            command = shlex.split(said.partition(":")[2])
            command = command[command.index("sign") :]
            assert ("--report" in command) == bool(words)
            filled = {"WORD": "refuse", "NAME": "A. Diop"}
            status, _, err = incrowd(*(filled.get(each, each) for each in command))
            assert (status, err) == (0, "")
            decision = release.parent / "release-decision.json"
            signed = json.loads(decision.read_text())["report"]
            assert signed["sha256"] == hashlib.sha256(page.read_bytes()).hexdigest()
            decision.unlink()

    def test_beside_the_original_for_machines(self, incrowd, beside, release):
        status, out, _ = incrowd(
            "report", *beside, "--json", "--attack-sample", 5, "--local-tz", "Asia/Tokyo"
        )
        found = json.loads(out)
        assert status == 3
        assert found["given"] == {
            "original": True, "record": True, "tz": "Asia/Tokyo", "targets": 5, "seed": 0,
            "reading": "", "zone_known": True, "purpose": "contract", "thresholds": {},
        }  # fmt: skip
        assert found["verification"]["ok"]
        assert found["before"]["risk"]["attacked"] == 5
        assert (release.parent / "release-report.html").exists()

    def test_figures(self, incrowd, release, tmp_path):
        status, out, err = incrowd(
            "report", release, "--attack-sample", 5, "--figures", tmp_path / "figures",
            "-o", tmp_path / "page.html",
        )  # fmt: skip
        assert status == 3
        names = {file.name for file in (tmp_path / "figures").iterdir()}
        assert f"wrote {len(names)} files" in err
        assert {"uniqueness.svg", "uniqueness.png", "numbers.json"} <= names
        assert not (release / "report.html").exists()
        assert f"The report is in {tmp_path / 'page.html'}." in out

    def test_a_hostile_title_is_text(self, incrowd, release):
        assert incrowd("report", release, "--attack-sample", 5, "--title", EVIL)[0] == 3
        page = (release.parent / "release-report.html").read_text()
        assert EVIL not in page
        assert "&lt;script&gt;window.hacked=1&lt;/script&gt;" in page


class TestNo:
    def test_tampered_is_1_and_the_release_is_left_alone(self, incrowd, release, tmp_path):
        rows = release / "trajectories.parquet"
        rows.write_bytes(rows.read_bytes()[:-1] + b"?")
        before = (release / "manifest.json").read_bytes()
        status, out, err = incrowd("report", release, "--in-release")
        assert status == 1
        assert out.startswith("Do not share this release: its verification failed.")
        assert "was not added to a release that failed" in err
        assert {file.name for file in release.iterdir()} == {
            "fact-sheet.md",
            "trajectories.parquet",
            "manifest.json",
        }
        assert (release / "manifest.json").read_bytes() == before
        assert incrowd("report", release, "-o", tmp_path / "page.html")[0] == 1
        assert "Do not share" in (tmp_path / "page.html").read_text()

    def test_a_plain_yes_is_0(self, incrowd, made, tmp_path):
        town, who = made / "town.parquet", tmp_path / "who.parquet"
        words = ["--k", 3, "-o", tmp_path / "three", "--record", who]
        assert incrowd("anonymize", town, *words)[0] == 0
        given = ["--original", town, "--record", who, "--attack-sample", 5]
        status, out, _ = incrowd("report", tmp_path / "three", *given, "--purpose", "internal")
        assert status == 0
        assert out.startswith("This release may be shared within the organisation: everybody")
        assert "conditions: " not in out

    def test_another_mechanism_is_1(self, incrowd, made, tmp_path):
        words = ["--method", "cloak", "--cloak", 60, "-o", tmp_path / "cloaked"]
        assert incrowd("anonymize", made / "town.parquet", *words)[0] == 0
        status, out, _ = incrowd("report", tmp_path / "cloaked", "--attack-sample", 5)
        assert status == 1
        assert "as anonymous" in out


class TestWrongUse:
    def refused(self, incrowd, *words, status=2):
        found, out, err = incrowd("report", *words)
        assert (found, out) == (status, "")
        assert "Traceback" not in err
        return " ".join(err.split())

    def test_no_release(self, incrowd, tmp_path):
        assert "is no release" in self.refused(incrowd, tmp_path, status=4)
        assert "is no release" in self.refused(incrowd, tmp_path / "none", status=4)

    def test_another_version(self, incrowd, release):
        text = (release / "manifest.json").read_text()
        (release / "manifest.json").write_text(text.replace('"version": 1,', '"version": 99,'))
        assert "version 99" in self.refused(incrowd, release, status=4)

    def test_a_file_that_is_there_is_not_replaced_unless_asked(self, incrowd, release, tmp_path):
        (tmp_path / "mine.html").write_text("mine")
        words = [release, "--attack-sample", 5, "-o", tmp_path / "mine.html"]
        assert "exists already" in self.refused(incrowd, *words)
        assert (tmp_path / "mine.html").read_text() == "mine"
        assert incrowd("report", *words, "--overwrite")[0] == 3
        assert (tmp_path / "mine.html").read_text().startswith("<!doctype html>")

    def test_a_folder_of_figures_that_is_there(self, incrowd, release, tmp_path):
        (tmp_path / "figures").mkdir()
        assert "exists already" in self.refused(
            incrowd, release, "--figures", tmp_path / "figures", "--overwrite"
        )
        assert list((tmp_path / "figures").iterdir()) == []
        assert not (release / "report.html").exists()

    @pytest.mark.parametrize("words", [["-o", "page.html"], ["--figures", "figures"]])
    def test_nothing_is_written_into_a_release_beside_its_manifest(self, incrowd, release, words):
        option, name = words
        assert "lies in a release" in self.refused(incrowd, release, option, release / name)
        assert incrowd("verify", release)[0] == 0

    def test_a_record_without_the_original(self, incrowd, made, release):
        assert "beside the original" in self.refused(
            incrowd, release, "--record", made / "who.parquet"
        )

    def test_a_record_of_another_release(self, incrowd, made, release, tmp_path):
        who = pl.read_parquet(made / "who.parquet").with_columns(pl.col("person").str.reverse())
        who.write_parquet(tmp_path / "other.parquet")
        assert "belongs to another" in self.refused(
            incrowd, release, "--original", made / "town.parquet",
            "--record", tmp_path / "other.parquet", "--attack-sample", 5,
        )  # fmt: skip
        assert not (release / "report.html").exists()

    def test_gaps_of_other_data(self, incrowd, made, release, tmp_path):
        pl.read_csv(made / "gaps.csv").head(3).write_csv(tmp_path / "gaps.csv")
        original = ["--original", made / "town.parquet"]
        words = [release, *original, "--k-gaps", tmp_path / "gaps.csv", "--attack-sample", 5]
        assert "it is of other data" in self.refused(incrowd, *words, status=4)

    def test_a_zone_that_nobody_knows(self, incrowd, release):
        assert "Atlantis" in self.refused(incrowd, release, "--local-tz", "Sea/Atlantis")

    def test_everything_suppressed_leaves_nothing_to_report(self, incrowd, tmp_path):
        lines = ["user,time,lat,lon", "a,2012-03-05 07:31,5.3,-4.0", "b,2012-03-09 07:31,9.3,-7.0"]
        (tmp_path / "far.csv").write_text("\n".join(lines) + "\n")
        status, _, err = incrowd(
            "anonymize", tmp_path / "far.csv", "--max-space", 1000, "-o", tmp_path / "release"
        )
        assert status in (1, 2)
        assert "nothing" in err or "no " in err
        assert "is no release" in self.refused(incrowd, tmp_path / "release", status=4)
