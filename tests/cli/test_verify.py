import json

import pytest

import incrowd as library
from incrowd.data._release import write_record, write_release

LINES = [
    "msisdn,timestamp,lat,lon",
    "0700000001,2012-03-05 07:31,5.3364,-4.0267",
    "0700000002,2012-03-05 07:31,5.3364,-4.0267",
    "0700000003,2012-03-06 18:40,5.3599,-4.0083",
]
LOSSES = {"people_dropped": 1, "samples_dropped": 1, "samples_suppressed": 0}


@pytest.fixture
def release(tmp_path):
    """Make calls, and a release of two people who did the same."""
    calls = tmp_path / "calls.csv"
    calls.write_text("\n".join(LINES) + "\n")
    data = library.read(calls, slot=120, cell=50)
    import numpy as np
    import polars as pl

    pair = library.Trajectories(
        tuple(column[:1] for column in data.columns),
        np.array([0, 1]),
        data.frame,
        crowd=np.array([2], np.int32),
    )
    settings = {"k": 2, "reshape": "union"}
    _, names = write_release(
        tmp_path / "release", pair, method="by hand", settings=settings, losses=LOSSES
    )
    assignment = pl.DataFrame({"user": data.people, "trajectory": [0, 0, None]})
    write_record(tmp_path / "who.parquet", assignment, names)
    return tmp_path / "release"


def beside(release, *words):
    """Name the original and the record."""
    folder = release.parent
    return [release, "--original", folder / "calls.csv", "--record", folder / "who.parquet", *words]


class TestVerify:
    def test_says_check_by_check_what_holds(self, incrowd, release):
        status, out, err = incrowd("verify", release)
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0].startswith("files         ok           All 3 files")
        assert lines[5].startswith("membership    not checked  Not checked (needs the original)")
        assert "What a release like this cannot promise:" in lines

    def test_reads_the_original_on_the_grid_of_the_release(self, incrowd, release):
        status, out, _ = incrowd("verify", *beside(release, "--json", "--draws", 9, "--seed", 1))
        found = json.loads(out)
        assert status == 0
        assert found["ok"]
        assert [check["ok"] for check in found["checks"]] == [True] * 10
        assert found["scope"] == "with the original and the private record"

    @pytest.mark.parametrize("words", [["--slot", 120], ["--cell", 50, "--user", "msisdn"]])
    def test_takes_the_options_of_reading(self, incrowd, release, words):
        assert incrowd("verify", *beside(release, *words))[0] == 0

    def test_another_grid_is_wrong_use(self, incrowd, release):
        status, out, err = incrowd("verify", *beside(release, "--cell", 100))
        assert (status, out) == (2, "")
        assert "does not lie on the grid of the release" in err
        assert "cell=50, slot=120" in err

    def test_no_is_1(self, incrowd, release):
        status, out, _ = incrowd("verify", release, "--k", 3)
        assert status == 1
        assert "k-anonymity   FAILED       2 of 2 people" in out

    def test_a_changed_file_is_1_and_nothing_else_is_read(self, incrowd, release):
        (release / "trajectories.parquet").write_bytes(b"")
        status, out, _ = incrowd("verify", *beside(release))
        assert status == 1
        assert "files         FAILED       trajectories.parquet is not the file" in out

    @pytest.mark.parametrize("words", [["--k", 1], ["--record", "who.parquet"]])
    def test_wrong_use_is_2(self, incrowd, release, words, monkeypatch):
        monkeypatch.chdir(release.parent)  # its record does not say how the original was read
        assert incrowd("verify", release, *words)[0] == 2

    def test_a_record_that_is_not_there_is_4(self, incrowd, release):
        status, _, err = incrowd("verify", release, "--record", "nobody.parquet")
        assert status == 4
        assert "there is no such file" in err

    def test_what_is_no_release_is_4(self, incrowd, tmp_path):
        status, _, err = incrowd("verify", tmp_path)
        assert status == 4
        assert "is no release" in err
