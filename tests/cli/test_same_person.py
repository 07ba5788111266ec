"""The same person under two identifiers, as a user of the command line meets it."""

import json
import tomllib

import polars as pl
import pytest

import incrowd as library


@pytest.fixture
def twice(tmp_path, monkeypatch):
    """Make calls of people of whom each has two numbers; and go where they are."""
    monkeypatch.chdir(tmp_path)
    city = library.synthesize("city", users=12, seed=3).to_pandas()
    rows = pl.from_pandas(city[["user", "t_start", "lat", "lon"]]).rename({"t_start": "time"})
    rows = rows.with_columns(pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    number = pl.col("user").cast(pl.String).str.zfill(8)
    first = rows.with_columns(user="07" + number, customer="c" + number)
    second = rows.with_columns(user="+22507" + number, customer="c" + number)
    pl.concat([first, second]).write_csv("calls.csv")
    return tmp_path


class TestDescribe:
    def test_tells_and_writes_a_table_that_can_be_read(self, twice, incrowd):
        status, out, err = incrowd("describe", "calls.csv", "--same-person-table", "persons.csv")
        assert status == 0
        assert "same person twice?    24 identifiers may be 12 people" in out
        assert "12 numbers or names written in several ways" in out
        assert "12 pairs with nearly the same trace" in out
        assert "0700000001" not in out + err
        assert "persons.csv names 24 identifiers" in err
        assert (twice / "persons.csv").stat().st_mode & 0o077 == 0
        status, out, _ = incrowd("describe", "calls.csv", "--same-person", "persons.csv")
        assert status == 0
        assert "people                12\n" in out
        assert "identifiers           24, counted as people\n" in out
        assert "twice?" not in out

    def test_says_nothing_and_writes_nothing_where_nobody_is_suspected(self, twice, incrowd):
        how = ("--person-of", "customer")
        status, out, err = incrowd("describe", "calls.csv", *how, "--same-person-table", "t.csv")
        assert status == 0
        assert "twice" not in out
        assert "no two identifiers look like the same person; t.csv was not written" in err
        assert not (twice / "t.csv").exists()

    def test_tells_programs_counts_only(self, twice, incrowd):
        status, out, _ = incrowd("describe", "calls.csv", "--json")
        assert status == 0
        assert json.loads(out)["same_person"] == {
            "people": 24, "identifiers": 24, "suspected_identifiers": 24, "suspected_people": 12,
            "by_identifier": 12, "by_trace": 12, "too_few_samples": 0,
        }  # fmt: skip

    def test_by_name_has_no_positions_to_compare(self, calls, incrowd):
        status, _, err = incrowd("describe", calls, "--by-name", "--same-person-table", "t.csv")
        assert status == 2
        assert "leave out --by-name" in err


class TestWrongUse:
    @pytest.mark.parametrize(
        ("lines", "says"),
        [
            (["user,person", "1,a", "1,b"], "line 3: '1' is 'b', and in line 2 it is 'a'"),
            (["user,person"], "has no rows"),
            (["a,b", "1,2"], "has no column user"),
        ],
    )
    def test_a_table_that_cannot_be_used_is_2(self, twice, incrowd, lines, says):
        (twice / "t.csv").write_text("\n".join(lines) + "\n")
        status, _, err = incrowd("describe", "calls.csv", "--same-person", "t.csv")
        assert (status, says in err) == (2, True)

    def test_both_options_are_2(self, twice, incrowd):
        how = ("--same-person", "calls.csv", "--person-of", "customer")
        status, _, err = incrowd("describe", "calls.csv", *how)
        assert (status, "but not both" in err) == (2, True)

    def test_a_blank_is_2(self, twice, incrowd):
        with (twice / "calls.csv").open("a") as file:
            file.write("0799,2012-03-05T07:31:00Z,7.49,-5.5,\n")
        status, _, err = incrowd("describe", "calls.csv", "--person-of", "customer")
        lines = (twice / "calls.csv").read_text().count("\n")
        assert status == 2
        assert f"calls.csv, line {lines}: the column 'customer' is empty" in err


class TestRelease:
    def test_is_warned_of_and_not_fit_to_share(self, twice, incrowd):
        status, _, err = incrowd("anonymize", "calls.csv", "-o", "r", "--record", "who.parquet")
        assert status == 0
        assert "PRIVACY WARNING: 24 of 24 identifiers may be only 12 people" in err
        assert "0700000001" not in err
        status, out, _ = incrowd(
            "report", "r", "--record", "who.parquet", "-o", "r.html", "--attack-sample", "3"
        )
        assert status == 1
        assert "Do not share this release: people may be in it under several identifiers" in out
        assert "[X] Same person twice 12" in " ".join(out.split())
        (twice / "t.csv").write_text(
            "user,person\n"
            + "".join(f"{mark}07{n:08},{n}\n" for n in range(1, 13) for mark in ("", "+225"))
        )
        status, out, _ = incrowd("verify", "r", "--record", "who.parquet", "--same-person", "t.csv")
        assert status == 1
        assert "reach 3 only by counting identifiers (12 people under 24 identifiers)" in out

    def test_by_the_project_file(self, twice, incrowd):
        status, out, _ = incrowd("init", "calls.csv", "--tz", "Africa/Abidjan")
        assert status == 0
        assert "12 or more numbers or names are written in several ways" in out
        assert "column 'customer' may name the person" in out
        text = (twice / "incrowd.toml").read_text()
        assert '# same_person = "persons.csv"' in text
        assert "person_of" not in tomllib.loads(text)["data"]
        assert '# person_of = "customer"' in text
        text = text.replace("# person_of", "person_of").replace("k = 3", "k = 2")
        (twice / "incrowd.toml").write_text(text)
        status, out, err = incrowd("run", "--attack-sample", "3")
        assert status in (0, 3)
        assert "may be only" not in err
        assert "[+] Same person twice 0" in " ".join(out.split())
        status, out, _ = incrowd("verify", "out/2012-03/release")
        assert status == 0
        assert "12 people under 24 identifiers; every crowd has 2 people or more" in out

    def test_the_project_file_takes_a_table_beside_it(self, twice, incrowd):
        incrowd("describe", "calls.csv", "--same-person-table", "persons.csv")
        (twice / "incrowd.toml").write_text(
            '[data]\npath = "calls.csv"\nsame_person = "persons.csv"\n'
        )
        status, out, _ = incrowd("describe")
        assert status == 0
        assert "people                12\n" in out
