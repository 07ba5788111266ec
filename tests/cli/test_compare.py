"""``incrowd compare``: its table, its files, and wrong use."""

import json

import pytest

from incrowd import MECHANISMS, Cloak, Comparison
from incrowd.errors import ArgumentError

WORDS = ("--tz", "Africa/Abidjan", "--threads", "1", "--attack-sample", "20")


class TestCompare:
    def test_prints_a_table_for_each_question(self, incrowd, city):
        methods = "glove,glove:two-stage,cloak:60,geo-i:low"
        status, out, err = incrowd("compare", city, "--methods", methods, "--k", "2,4", *WORDS)
        assert status == 0
        lines = out.splitlines()
        assert max(map(len, lines)) <= 98
        assert lines[0].startswith("40 people, ")
        assert "  1  GLOVE, k = 2: k-anonymity, verified on the written files" in lines
        assert "  6  Geo-Indistinguishability, epsilon = 0.01: guarantees nobody a crowd; " in out
        for question in ("Is it private?", "Is it useful?", "What it takes"):
            assert sum(line.startswith(question) for line in lines) == (
                2 if question == "Is it private?" else 1
            )
        crowds = [line.split() for line in lines if line.startswith("  smallest crowd")]
        assert crowds == [["smallest", "crowd", "1", "2", "4*", "2"],
                          ["smallest", "crowd", "1", "4*", "1", "1"]]  # fmt: skip
        assert "- of the matches, right (1, 2, 3, 4): nobody was matched with a record" in lines
        assert "This is for whoever has the data" in out
        assert "PRIVACY WARNING: temporal cloaking, 60 min: k = 1: 40 of 40 people" in err
        assert "1 of 6, GLOVE, k = 2 ..." in err
        assert "Traceback" not in err

    def test_seven_mechanisms_are_read_at_98_letters(self, incrowd, city):
        methods = "glove,filter:1,filter:2,cloak:60,cloak:30,generalise:1km,generalise:30min"
        status, out, _ = incrowd("compare", city, "--methods", methods, "-k", "2", *WORDS)
        assert status == 0
        assert max(map(len, out.splitlines())) <= 98

    def test_only_some_rows(self, incrowd, city):
        words = ("--methods", "glove", "--rows", "deleted, cost", *WORDS)
        status, out, _ = incrowd("compare", city, *words)
        assert status == 0
        assert "Is it private?" not in out
        rows = [line for line in out.splitlines() if line.startswith("  ") and "%" in line]
        assert [row.split() for row in rows] == [["samples", "deleted", "0.0%"]]

    def test_as_json(self, incrowd, city):
        words = ("--methods", "glove", "--json", *WORDS)
        status, out, _ = incrowd("compare", city, *words)
        found = json.loads(out)
        assert (status, found["status"], found["command"]) == (0, 0, "compare")
        assert found["meant_for"] == "owner"
        assert (found["format"], found["version"]) == ("incrowd comparison", 1)
        assert found["values"]["glove:k=3"]["crowd"] == {"value": 3, "why": None, "best": False}
        assert found["settings"]["tz"] == "Africa/Abidjan"
        assert found["data"]["people"] == 40

    def test_one_that_is_refused_is_said_and_the_others_are_there(self, incrowd, city, tmp_path):
        words = ("--methods", "glove,filter:2", "--k", "2,41", *WORDS, "-o", tmp_path / "out")
        status, out, err = incrowd("compare", city, *words)
        assert status == 1
        assert "  2  GLOVE, k = 41: refused. 40 people cannot hide in a crowd of 41" in out
        assert "incrowd: GLOVE, k = 41: refused. 40 people cannot hide" in err
        found = Comparison.read(tmp_path / "out")
        assert [column.state for column in found.columns] == ["done", "refused", "done"]


class TestFolder:
    def run(self, incrowd, city, folder, *more, methods="glove"):
        return incrowd("compare", city, "--methods", methods, *WORDS, "-o", folder, *more)

    def test_has_json_csv_and_columns_for_its_owner_only(self, incrowd, city, tmp_path):
        status, _, err = self.run(incrowd, city, tmp_path / "out")
        assert status == 0
        assert "it stays with the owner" in err
        names = sorted(path.name for path in (tmp_path / "out").iterdir())
        assert names == ["columns", "comparison.csv", "comparison.html", "comparison.json"]
        assert (tmp_path / "out").stat().st_mode & 0o077 == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]

    def test_the_same_again_is_not_done_again(self, incrowd, city, tmp_path, monkeypatch):
        _, first, _ = self.run(incrowd, city, tmp_path / "out")
        monkeypatch.setattr(MECHANISMS["glove"], "protect", None)
        status, again, err = self.run(incrowd, city, tmp_path / "out")
        assert (status, again) == (0, first)
        assert "nothing to do: " in err

    def test_a_page_that_is_gone_is_written_again(self, incrowd, city, tmp_path):
        self.run(incrowd, city, tmp_path / "out")
        page = tmp_path / "out" / "comparison.html"
        text = page.read_text("utf-8")
        assert "GLOVE, k = 3" in text
        assert page.stat().st_mode & 0o077 == 0
        page.unlink()
        assert self.run(incrowd, city, tmp_path / "out")[0] == 0
        assert page.read_text("utf-8") == text

    def test_another_one_is_replaced_only_if_asked_for(self, incrowd, city, tmp_path, monkeypatch):
        folder = tmp_path / "out"
        self.run(incrowd, city, folder, methods="filter:2")
        before = (folder / "comparison.json").read_text()
        status, out, err = self.run(incrowd, city, folder, methods="filter:2,cloak:60")
        assert (status, out) == (2, "")
        assert "has the comparison of other data, columns or settings; choose another" in err
        assert (folder / "comparison.json").read_text() == before
        # What is there of it is used.
        monkeypatch.setattr(MECHANISMS["filter"], "protect", None)
        status, out, _ = self.run(incrowd, city, folder, "--overwrite", methods="filter:2,cloak:60")
        assert status == 0
        assert len(Comparison.read(folder).columns) == 2

    def test_an_interruption_keeps_what_is_done(self, incrowd, city, tmp_path, monkeypatch):
        folder, true = tmp_path / "out", Cloak.protect

        def stop(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(Cloak, "protect", stop)
        status, out, err = self.run(incrowd, city, folder, methods="filter:2,cloak:60")
        assert (status, out) == (130, "")
        assert f"what is done is kept in {folder}: start it again to go on" in err
        assert not (folder / "comparison.json").exists()
        monkeypatch.setattr(Cloak, "protect", true)
        monkeypatch.setattr(MECHANISMS["filter"], "protect", None)
        status, _, err = self.run(incrowd, city, folder, methods="filter:2,cloak:60")
        assert status == 0
        assert "1 of 2, spatial filtering, at most = 2: kept from an earlier run\n" in err
        assert "2 of 2, temporal cloaking, 60 min ...\n" in err
        assert not Comparison.read(folder).failed

    def test_with_something_else_in_it_is_refused(self, incrowd, city, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine.txt").write_text("")
        status, _, err = self.run(incrowd, city, tmp_path / "out")
        assert status == 2
        assert "holds something else than a comparison (mine.txt)" in err

    def test_in_no_folder_is_refused(self, incrowd, city, tmp_path):
        status, _, err = self.run(incrowd, city, tmp_path / "no" / "out")
        assert status == 2
        assert "does not exist" in err

    def test_around_the_input_or_in_it_is_refused(self, incrowd, city):
        for folder in (city, city.parent):
            status, _, err = self.run(incrowd, city, folder)
            assert status == 2
            assert "lie in one another" in err


class TestWrongUse:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--methods", "glov"], "there is no mechanism 'glov'; did you mean glove?; there are"),
            (["--methods", "glove:two-stag"], "did you mean two-stage?; it takes k, variant"),
            (["--methods", "glove:max-metre=2"], "did you mean max-metres?"),
            (["--methods", "glove,glove:optimal"], "are the same column twice (GLOVE, k = 3)"),
            (["--methods", "glove,"], "there is no mechanism ''"),
            (["--k", "2,x"], "--k must be whole numbers separated by commas, like 2,5, not '2,x'"),
            (["--k", "1"], "k must be an integer of at least 2, not 1"),
            (["--k", "2,2", "--methods", "glove"], "the same column twice"),
            (["--rows", "create"], "there is no row 'create'; did you mean created?; there are"),
            (["--tile-km", "0"], "grid must be the side of squares in km, above 0"),
        ],
    )
    def test_is_one_message_and_2(self, incrowd, city, words, said):
        status, out, err = incrowd("compare", city, *words, "--tz", "UTC")
        assert (status, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1

    def test_is_told_before_anything_is_read(self, incrowd, tmp_path):
        status, _, err = incrowd("compare", tmp_path / "no.csv", "--methods", "glov")
        assert status == 2
        assert "there is no mechanism 'glov'" in err

    def test_data_that_is_not_there(self, incrowd, tmp_path):
        words = ("--methods", "glove", "-o", tmp_path / "out")
        status, _, err = incrowd("compare", tmp_path / "no.csv", *words)
        assert status == 4
        assert "kept" not in err
        assert not (tmp_path / "out").exists()

    def test_a_mechanism_that_cannot_be_made(self, incrowd, city, monkeypatch):
        def refuse(self):
            raise ArgumentError("never")

        monkeypatch.setattr(Cloak, "__post_init__", refuse)
        status, _, err = incrowd("compare", city, "--methods", "cloak:60")
        assert status == 2
        assert "never" in err


class TestHelp:
    def test_has_an_example(self, incrowd):
        status, out, _ = incrowd("compare", "--help")
        assert status == 0
        assert "incrowd compare cdr.csv --k 2,5 --methods glove" in out
