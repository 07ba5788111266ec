import json

import pytest

import incrowd as library


class TestSynth:
    def test_writes_a_dataset_that_can_be_read(self, incrowd, tmp_path):
        output = tmp_path / "city.csv.gz"
        status, out, err = incrowd("synth", "city", "-o", output, "--users", 5, "--seed", 7)
        assert (status, out) == (0, "")
        assert f"rows to {output}" in err
        assert len(library.read(output)) == 5

    def test_tells_programs(self, incrowd, tmp_path):
        output = tmp_path / "city.csv"
        _, out, _ = incrowd("synth", "city", "-o", output, "--users", 5, "--json")
        found = json.loads(out)
        assert (found["status"], found["file"], found["antennas"]) == (0, str(output), None)
        assert found["rows"] > 5

    def test_the_same_seed_gives_the_same_bytes(self, incrowd, tmp_path):
        for name, seed in (("a", 7), ("b", 7), ("c", 8)):
            incrowd(
                "synth", "city", "-o", tmp_path / f"{name}.parquet", "--users", 5, "--seed", seed
            )
        a, b, c = ((tmp_path / f"{name}.parquet").read_bytes() for name in "abc")
        assert (a == b, a == c) == (True, False)

    @pytest.mark.parametrize(
        ("words", "text"),
        [(("nowhere", "-o", "x.parquet"), "nowhere"), (("city", "-o", "x.txt"), "must end in")],
    )
    def test_wrong_use_is_2(self, incrowd, tmp_path, monkeypatch, words, text):
        monkeypatch.chdir(tmp_path)
        status, out, err = incrowd("synth", *words, "--users", 5)
        assert (status, out) == (2, "")
        assert text in err
        assert list(tmp_path.iterdir()) == []

    def test_refuses_an_existing_file_without_overwrite(self, incrowd, tmp_path):
        output = tmp_path / "x.parquet"
        output.write_text("mine")
        assert incrowd("synth", "city", "-o", output, "--users", 5)[0] == 2
        assert output.read_text() == "mine"
        assert incrowd("synth", "city", "-o", output, "--users", 5, "--overwrite")[0] == 0
