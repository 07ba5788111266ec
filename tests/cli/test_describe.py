import json

PARIS = ("--tz", "Europe/Paris", "--max-bad", "0.5")


class TestDescribe:
    def test_says_what_there_is_and_what_was_rejected(self, incrowd, calls):
        status, out, err = incrowd("describe", calls, *PARIS)
        assert (status, err) == (0, "")
        assert "people                2\nsamples               2  (" in out
        assert "1 x time not understood" in out
        assert "calls.csv:5: timestamp=noon" in out
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
                "time not understood": {"rows": 1, "examples": ["calls.csv:5: timestamp=noon"]}
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
        status, _, err = incrowd("describe", calls, "--fail-on-bad-row")
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
