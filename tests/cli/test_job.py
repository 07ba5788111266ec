"""What keeps a monthly job from publishing the wrong thing, and what it is told."""

import json

import pytest

import incrowd as library


class TestFailAbove:
    @pytest.mark.parametrize("lost", [0.01, 0.0])
    def test_publishes_nothing_if_more_is_lost(self, incrowd, city, tmp_path, lost):
        words = ("--merge", "optimal", "--max-metres", "200", "--max-minutes", "5")
        release, record = tmp_path / "release", tmp_path / "who.parquet"
        status, out, err = incrowd(
            "anonymize", city, "-o", release, "--record", record, "--fail-above", lost, *words
        )
        assert (status, out) == (1, "")
        assert "are lost, more than the" in err
        assert list(tmp_path.iterdir()) == []

    def test_publishes_if_no_more_is_lost_and_tells_json(self, incrowd, city, tmp_path):
        release = tmp_path / "release"
        status, out, _ = incrowd("anonymize", city, "-o", release, "--fail-above", 1, "--json")
        assert (status, json.loads(out)["status"]) == (0, 0)
        assert release.is_dir()

    def test_of_python_has_a_code(self, tmp_path):
        city = library.synthesize("city", users=40, seed=7)
        hidden = library.glove(city, k=2, max_metres=200, max_minutes=5)
        with pytest.raises(library.errors.LossError, match="allowed; nothing was published") as one:
            library.publish(hidden, tmp_path / "release", original=city, max_lost=0)
        assert one.value.code == "loss"
        with pytest.raises(library.errors.ArgumentError, match="max_lost must be"):
            library.publish(hidden, tmp_path / "release", original=city, max_lost=3)
        assert list(tmp_path.iterdir()) == []


class TestRecord:
    def test_what_cannot_be_checked_without_it_is_said_before_the_work(self, incrowd, tmp_path):
        _, _, err = incrowd("anonymize", "gone.csv", "-o", tmp_path / "release")
        assert err.startswith("note: without --record nobody can ever check again")
        _, _, err = incrowd(
            "anonymize", "gone.csv", "-o", tmp_path / "release", "--record", tmp_path / "w.parquet"
        )
        assert "without --record" not in err


class TestTrade:
    def test_cells_without_positions_ask_for_their_table(self, incrowd, tmp_path):
        file = tmp_path / "cdr.csv"
        file.write_text("user,time,cell_id\na,2024-03-18 00:00:15,7\n")
        status, out, err = incrowd("describe", file, "--json")
        assert status == 4
        assert "cell_id names cells: give --antennas FILE" in err
        assert json.loads(out)["error"]["hint"].startswith("cell_id names cells")

    def test_times_tell_their_format(self, incrowd, tmp_path):
        file = tmp_path / "cdr.csv"
        file.write_text("user,time,lat,lon\na,18/03/2024 00:00:15,48.8,2.3\n")
        for more in ([], ["--fail-on-bad-row"]):
            status, _, err = incrowd("describe", file, *more)
            assert status == 4
            assert "looks like %d/%m/%Y %H:%M:%S: give --time-format" in err
            assert "18/03/2024" not in err

    def test_a_table_of_cells_may_call_them_cgi_and_what_it_lacks_is_listed(
        self, incrowd, tmp_path
    ):
        file, cells = tmp_path / "cdr.csv", tmp_path / "cells.csv"
        rows = [f"a,2024-03-18 00:{minute:02}:15,c{minute % 30}" for minute in range(60)]
        file.write_text("\n".join(["user,time,cgi", *rows, "a,2024-03-18 02:00:00,c29"]) + "\n")
        cells.write_text("cgi,lat,lon\nc0,48.8,2.3\n")
        status, out, _ = incrowd("describe", file, "--cells", cells, "--max-bad", 1, "--json")
        assert status == 0
        found = json.loads(out)["reading"]["unknown_cells"]
        assert (found["cells"], found["rows"]) == (29, 59)
        assert len(found["most"]) == 20
        assert next(iter(found["most"].items())) == ("c29", 3)
        _, out, _ = incrowd("describe", file, "--cells", cells, "--max-bad", 1)
        assert "29 cells are not in the table of cells (59 rows):\n  c29: 3\n" in out
        status, _, err = incrowd("describe", file, "--cells", cells)
        assert status == 4
        assert "c29: 3" in err
        assert "and 9 more" in err


class TestTold:
    """An error names file and line, and what to do, also for programs."""

    ROWS = (
        "user,time,lat,lon",
        *(f"a{n % 7},2024-03-05 0{n % 10}:31:00,14.7,-17.4" for n in range(40)),
    )

    @pytest.mark.parametrize("usual", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("other", ["\n", "\r\n", "\r"])
    def test_lines_that_end_otherwise(self, incrowd, tmp_path, usual, other):
        file = tmp_path / "mixed.csv"
        text = usual.join(self.ROWS[:30]) + other + other.join(self.ROWS[30:]) + other
        file.write_bytes(text.encode())
        status, out, err = incrowd("describe", file, "--tz", "UTC", "--json")
        found = json.loads(out)
        if usual == other:
            assert status == 0, err
        elif status:  # some are read all the same
            assert status == 4
            assert found["error"]["file"] == str(file)
            assert found["error"]["line"] == 30
            assert "mixed.csv, line 30: mixed line endings" in err

    def test_too_many_bad_rows_name_the_first(self, incrowd, tmp_path):
        file = tmp_path / "bad.csv"
        rows = list(self.ROWS)
        rows[5:28] = ["a,noon,14.7,-17.4"] * 23
        rows[30] = "a,2024-03-05 01:31:00,99,-17.4"
        file.write_text("\n".join(rows) + "\n")
        status, out, _ = incrowd("describe", file, "--tz", "UTC", "--json")
        error = json.loads(out)["error"]
        assert (status, error["code"]) == (4, "row")
        assert (error["file"], error["line"]) == ("bad.csv", 6)

    def test_all_of_the_file_tells_days_from_months(self, incrowd, tmp_path):
        file = tmp_path / "cdr.csv"
        days = [f"{day:02}/03/2024" for day in range(1, 32) for _ in range(20)]
        file.write_text("user,time,lat,lon\n" + "".join(f"a,{d} 07:30,14.7,-17.4\n" for d in days))
        _, _, err = incrowd("describe", file)
        assert "looks like %d/%m/%Y %H:%M: give --time-format" in err

    def test_no_folder_for_temporary_files(self, incrowd, tmp_path, monkeypatch):
        def nowhere():
            raise FileNotFoundError(2, "No usable temporary directory found")

        monkeypatch.setattr("incrowd._hidden.temporary_place", nowhere)
        (tmp_path / "c.csv").write_text("\n".join(self.ROWS) + "\n")
        status, _, err = incrowd("describe", tmp_path / "c.csv")
        assert status == 2
        assert "--temp-dir" in err
