import json

import pytest

PARIS = ("--tz", "Europe/Paris", "--max-bad", "0.5")


class TestDescribe:
    def test_says_what_there_is_and_what_was_rejected(self, incrowd, calls):
        status, out, err = incrowd("describe", calls, *PARIS)
        assert (status, err) == (0, "")
        assert "people                2\nsamples               2  (" in out
        assert "1 x time not understood" in out
        assert "calls.csv:5: timestamp='n...' (4 characters)" in out
        assert "2 local times that occur twice" in out
        assert "user from 'msisdn'" in out

    def test_json_has_the_same_for_machines(self, incrowd, calls):
        status, out, err = incrowd("describe", calls, *PARIS, "--json")
        found = json.loads(out)
        assert (status, err) == (0, "")
        assert {"people", "samples", "start", "end", "days", "area_km2", "cell_m", "slot_s"} <= set(
            found
        )
        assert {"places", "places_are", "samples_a_person", "gyration_km"} <= set(found)
        assert (found["people"], found["samples"], found["places_are"]) == (2, 2, "places")
        assert found["reading"] == {
            "files": ["calls.csv"],
            "columns": {
                "user": "msisdn", "time": "timestamp", "lat": "lat", "lon": "lon", "place": "cell",
            },
            "rows": 4,
            "rejected": {
                "time not understood": {
                    "rows": 1, "examples": ["calls.csv:5: timestamp='n...' (4 characters)"],
                }
            },
            "outside": 0,
            "collapsed": 1,
            "folded_places": 0,
            "clock_change": {"ambiguous": 2, "missing": 0},
            "zoneless": 3,
            "zone": "Europe/Paris",
            "spilled": False,
            "unknown_cells": {"cells": 0, "rows": 0, "most": {}},
        }  # fmt: skip

    def test_too_many_bad_rows_are_4(self, incrowd, calls):
        status, out, err = incrowd("describe", calls)
        assert (status, out) == (4, "")
        assert "1 of 4 rows (25.0 %) cannot be used, more than the 5 % allowed" in err

    def test_the_first_bad_row_is_named(self, incrowd, calls):
        status, _, err = incrowd("describe", calls, "--fail-on-bad-row", "--show-values")
        assert (status, err) == (
            4, "incrowd: calls.csv, line 5: time not understood: timestamp=noon\n",
        )  # fmt: skip

    def test_a_part_can_be_taken(self, incrowd, calls):
        options = (*PARIS, "--json", "--from", "2012-10-28T08:00Z")
        assert json.loads(incrowd("describe", calls, *options)[1])["people"] == 1

    def test_nothing_left_is_4(self, incrowd, calls):
        status, out, err = incrowd("describe", calls, *PARIS, "--from", "2020-01-01")
        assert (status, out) == (4, "")
        assert "nothing" in err

    def test_columns_and_grid_can_be_told(self, incrowd, tmp_path):
        (tmp_path / "x.txt").write_text("7|05.03.2012|652000|6862000\n")
        status, out, _ = incrowd(
            "describe", tmp_path / "x.txt", "--column-names", "who,day,east,north", "--user", "who",
            "--time", "day", "--x", "east", "--y", "north", "--crs", "EPSG:2154", "--cell", "50",
            "--slot", "3600", "--time-format", "%d.%m.%Y", "--separator", "|", "--json",
        )  # fmt: skip
        found = json.loads(out)
        assert (status, found["cell_m"], found["slot_s"], found["crs"]) == (
            0,
            50,
            3600,
            "EPSG:2154",
        )


@pytest.fixture
def scans(tmp_path):
    """Make a file that names places and has no coordinates."""
    lines = ["user,time,bssid", "ann,2012-03-05 07:31,A", "ann,2012-03-05 07:31,B",
             "ann,2012-03-05 07:31,A", "bob,2012-03-06 09:02,A", "bob,noon,A",
             "bob,2012-03-06 09:02,"]  # fmt: skip
    (tmp_path / "scans.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "scans.csv"


class TestDescribeByName:
    def test_says_what_there_is_and_what_was_rejected(self, incrowd, scans):
        status, out, err = incrowd("describe", scans, "--by-name", "--max-bad", "0.5")
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[:5] == [
            "people                2",
            "visits                3",
            "time                  2012-03-05T07:31 to 2012-03-06T09:03 UTC  (1.1 days)",
            "time step             1 min; a place counts once in each",
            "places                2, by name",
        ]
        assert [line.split()[:5] for line in lines[7:10]] == [
            ["visits", "per", "person", "1", "1.5"],
            ["places", "per", "person", "1", "1.5"],
            ["people", "per", "place", "1", "1.5"],
        ]
        assert "rows read             6" in lines
        assert "duplicates            1 rows that repeat a visit of the same person" in lines
        assert "rejected              2" in lines
        assert "      scans.csv:6: time='n...' (4 characters)" in lines

    def test_json_has_the_same_for_machines(self, incrowd, scans):
        words = ("--by-name", "--max-bad", "0.5", "--slot", "3600", "--json")
        status, out, _ = incrowd("describe", scans, *words)
        found = json.loads(out)
        assert (status, found["people"], found["visits"], found["places"]) == (0, 2, 3, 2)
        assert (found["start"], found["slot_s"]) == ("2012-03-05T07:00:00Z", 3600)
        assert found["days"] == pytest.approx(27 / 24)
        assert found["visits_a_person"]["most"] == found["places_a_person"]["most"] == 2
        assert found["reading"]["rows"] == 6
        assert set(found["reading"]["rejected"]) == {"time not understood", "no place"}

    def test_a_part_cannot_be_taken(self, incrowd, scans):
        status, _, err = incrowd("describe", scans, "--by-name", "--from", "2012-03-06")
        assert (status, "--from or --to cannot be used" in err) == (2, True)

    def test_without_it_the_error_names_it(self, incrowd, scans):
        status, _, err = incrowd("describe", scans)
        assert status == 4
        assert "for describe, attack, uniqueness and deanonymize, --by-name will do" in err

    def test_it_is_not_named_to_whom_has_said_it(self, incrowd, scans):
        status, _, err = incrowd("describe", scans, "--by-name", "--bbox", "1,2,3,4")
        assert (status, "no column for the latitude" in err, "--by-name" in err) == (4, True, False)


class TestRejects:
    def test_all_rows_are_in_the_file(self, incrowd, calls, tmp_path):
        status, _, err = incrowd("describe", calls, *PARIS, "--rejects", tmp_path / "bad.csv")
        assert (status, err) == (
            0, f"note: 1 row that cannot be used is in {tmp_path / 'bad.csv'}\n",
        )  # fmt: skip
        assert (tmp_path / "bad.csv").read_text() == (
            f"file,line,reason,value\n{calls},5,time not understood,timestamp=noon\n"
        )

    def test_also_if_they_are_too_many_and_the_error_says_so(self, incrowd, calls, tmp_path):
        for _ in range(2):  # a job runs again
            status, _, err = incrowd("describe", calls, "--rejects", tmp_path / "bad.csv")
            assert status == 4
            assert f"\nAll of them are in {tmp_path / 'bad.csv'}\n" in err
            assert len((tmp_path / "bad.csv").read_text().splitlines()) == 2

    def test_no_other_file_is_replaced(self, incrowd, calls):
        before = calls.read_text()
        status, _, err = incrowd("describe", calls, "--rejects", calls)
        assert (status, "is no file of rejected rows" in err) == (2, True)
        assert calls.read_text() == before

    def test_a_project_file_may_name_it(self, incrowd, calls, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "incrowd.toml").write_text(
            '[data]\npath = "calls.csv"\nmax_bad = 0.5\nrejects = "bad.csv"\n'
        )
        assert incrowd("describe")[0] == 0
        assert len((tmp_path / "bad.csv").read_text().splitlines()) == 2
