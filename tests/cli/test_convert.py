import pytest

import incrowd as library

PARIS = ("--tz", "Europe/Paris", "--max-bad", "0.5")


class TestConvert:
    @pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.csv.zst", "out.parquet"])
    def test_writes_what_was_read(self, incrowd, calls, tmp_path, name):
        status, out, err = incrowd("convert", calls, "-o", tmp_path / name, *PARIS)
        assert (status, out) == (0, "")
        assert err == f"wrote 2 samples of 2 people to {tmp_path / name}\n"
        assert library.read(tmp_path / name) == library.read(calls, tz="Europe/Paris", max_bad=0.5)

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
