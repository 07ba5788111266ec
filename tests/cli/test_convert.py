import json
import stat

import pytest

import incrowd as library

PARIS = ("--tz", "Europe/Paris", "--max-bad", "0.5")


class TestConvert:
    @pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.csv.zst", "out.parquet"])
    def test_writes_what_was_read(self, incrowd, calls, tmp_path, name):
        status, out, err = incrowd("convert", calls, "-o", tmp_path / name, *PARIS)
        assert (status, out) == (0, "")
        assert err.startswith(
            f"wrote 2 samples of 2 people to {tmp_path / name}\nPRIVACY WARNING: "
        )
        assert "it names everybody, with all positions; do not share it" in err
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
        assert library.read(tmp_path / name) == library.read(calls, tz="Europe/Paris", max_bad=0.5)

    def test_tells_programs(self, incrowd, calls, tmp_path):
        output = tmp_path / "out.csv"
        _, out, _ = incrowd("convert", calls, "-o", output, *PARIS, "--json")
        found = json.loads(out)
        assert (found["status"], found["file"], found["people"]) == (0, str(output), 2)
        status, out, _ = incrowd("convert", "nofile.csv", "-o", tmp_path / "x.csv", "--json")
        assert (status, json.loads(out)["error"]["file"]) == (4, "nofile.csv")
        status, out, _ = incrowd("convert", calls, "-o", output, *PARIS, "--json")
        assert (status, "--overwrite" in json.loads(out)["error"]["hint"]) == (2, True)

    def test_refuses_an_existing_file_without_overwrite(self, incrowd, calls, tmp_path):
        output = tmp_path / "out.parquet"
        output.write_text("mine")
        status, _, err = incrowd("convert", calls, "-o", output, *PARIS)
        assert (status, output.read_text()) == (2, "mine")
        assert "exists already" in err
        assert incrowd("convert", calls, "-o", output, *PARIS, "--overwrite")[0] == 0
        assert len(library.read(output)) == 2

    @pytest.mark.parametrize("name", ["out.txt", "no/such/folder/out.csv"])
    def test_a_wrong_name_is_said_before_anything_is_read(self, incrowd, tmp_path, name):
        status, _, err = incrowd("convert", tmp_path / "missing.csv", "-o", tmp_path / name)
        assert status == 2
        assert "missing.csv" not in err

    def test_nothing_left_is_4_and_leaves_nothing(self, incrowd, calls, tmp_path):
        output = tmp_path / "out.csv"
        status, _, err = incrowd("convert", calls, "-o", output, *PARIS, "--to", "2000-01-01")
        assert status == 4
        assert "there is nothing to write" in err
        assert list(tmp_path.iterdir()) == [calls]
