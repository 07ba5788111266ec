"""People under several identifiers: a table of persons, or a column that names them."""

import polars as pl
import pytest

import incrowd
from incrowd.data._io import fast_csv
from incrowd.errors import ArgumentError, SamePersonWarning, UnreadableError

ROWS = [
    "user,person,time,lat,lon,cell",
    "0700000001,ann,2012-03-05T07:31Z,5.33,-4.02,A",
    "0700000002,bob,2012-03-05T07:40Z,5.36,-4.03,B",
    "+2250700000001,ann,2012-03-05T07:31Z,5.33,-4.02,A",
    "+2250700000001,ann,2012-03-06T09:00Z,5.36,-4.03,B",
]
TABLE = ["user,person", "0700000001,0700000001", "+2250700000001,0700000001", "999,888"]


@pytest.fixture
def calls(tmp_path):
    file = tmp_path / "calls.csv"
    file.write_text("\n".join(ROWS) + "\n")
    return file


@pytest.fixture
def persons(tmp_path):
    file = tmp_path / "persons.csv"
    file.write_text("\n".join(TABLE) + "\n")
    return file


def write(file, *lines):
    file.write_text("\n".join(lines) + "\n")
    return file


class TestTable:
    def test_people_have_the_samples_of_all_their_identifiers(self, calls, persons):
        data = incrowd.read(calls, same_person=persons)
        assert data.people.to_list() == ["0700000001", "0700000002"]
        assert data.lengths().tolist() == [2, 1]
        assert data.reading.collapsed == 1
        who = data.reading.persons
        assert who.identifiers == who.count(data.people) == 3
        assert who.of(data.people)["identifiers"].to_list() == [
            ["0700000001", "+2250700000001"],
            ["0700000002"],
        ]

    def test_is_what_the_same_file_with_one_identifier_gives(self, calls, persons, tmp_path):
        one = [line.replace("+225", "") for line in ROWS]
        assert incrowd.read(calls, same_person=persons) == incrowd.read(
            write(tmp_path / "one.csv", *one)
        )

    def test_by_the_fast_path_as_by_the_general_one(self, monkeypatch, calls, persons):
        slow = incrowd.read(calls, same_person=persons)
        monkeypatch.setattr(fast_csv, "MIN_BYTES", 0)
        assert incrowd.read(calls, same_person=persons) == slow

    def test_may_be_a_frame_or_a_parquet_file(self, calls, persons, tmp_path):
        table = pl.read_csv(persons, infer_schema=False)
        table.write_parquet(tmp_path / "persons.parquet")
        expected = incrowd.read(calls, same_person=persons)
        assert incrowd.read(calls, same_person=table) == expected
        assert incrowd.read(calls, same_person=tmp_path / "persons.parquet") == expected

    def test_visits_as_well(self, calls, persons):
        visits = incrowd.read_visits(calls, place="cell", same_person=persons)
        assert visits.people.to_list() == ["0700000001", "0700000002"]
        assert visits.reading.persons.identifiers == 3

    def test_a_person_may_be_called_otherwise(self, calls, tmp_path):
        table = write(tmp_path / "t.csv", "msisdn,person_id", "0700000001,x", "+2250700000001,x")
        assert incrowd.read(calls, same_person=table).people.to_list() == ["x", "0700000002"]

    @pytest.mark.parametrize(
        ("lines", "line", "says"),
        [
            (["user,person"], None, "has no rows"),
            (["user,who", "1,2"], None, "has no column person; it needs user"),
            (["number,person", "1,2"], None, "has no column user; it needs user"),
            (["user,person", "1,a", "2,b", "", "1,b"], 5, "'1' is 'b', and in line 2 it is 'a'"),
            (["user,person", "1,a", "2,"], 3, "no person for '2'"),
            (["user,person", ",a"], 2, "no user"),
            (["user,person", "0700000001,0700000002"], 2, "add the row 0700000002,0700000002"),
        ],
    )
    def test_refused(self, calls, tmp_path, lines, line, says):
        with pytest.raises(ArgumentError, match=says) as error:
            incrowd.read(calls, same_person=write(tmp_path / "t.csv", *lines))
        assert error.value.line == line
        assert line is None or f"line {line}" in str(error.value)

    def test_a_table_that_names_nobody_is_told(self, calls, tmp_path):
        table = write(tmp_path / "t.csv", "user,person", "700000001,x")
        with pytest.warns(SamePersonWarning, match="none of the 1 identifiers"):
            assert len(incrowd.read(calls, same_person=table)) == 3

    def test_a_table_that_is_not_there(self, calls, tmp_path):
        with pytest.raises(UnreadableError, match="does not exist"):
            incrowd.read(calls, same_person=tmp_path / "no.csv")

    def test_not_of_trajectories_that_were_saved(self, calls, persons, tmp_path):
        incrowd.read(calls).save(tmp_path / "saved.parquet")
        with pytest.raises(ArgumentError, match="where the original is read"):
            incrowd.read(tmp_path / "saved.parquet", same_person=persons)


class TestColumn:
    def test_people_are_counted_by_it(self, calls):
        data = incrowd.read(calls, person_of="person")
        assert data.people.to_list() == ["ann", "bob"]
        assert data.lengths().tolist() == [2, 1]
        assert data.reading.persons.count(data.people) == 3

    def test_visits_as_well(self, calls):
        visits = incrowd.read_visits(calls, place="cell", person_of="person")
        assert visits.people.to_list() == ["ann", "bob"]

    def test_a_blank_is_refused_with_its_line(self, calls):
        write(calls, *ROWS, "", "0700000002,,2012-03-06T09:00Z,5.36,-4.03,B")
        with pytest.raises(ArgumentError, match=r"calls.csv, line 7: .*is empty") as error:
            incrowd.read(calls, person_of="person")
        assert error.value.line == 7

    def test_an_identifier_of_two_people_is_refused_with_its_line(self, calls):
        write(calls, *ROWS, "0700000001,bob,2012-03-06T09:00Z,5.36,-4.03,B")
        with pytest.raises(ArgumentError, match=r"calls.csv, line 6: .*another person") as error:
            incrowd.read(calls, person_of="person")
        assert error.value.line == 6

    def test_bad_rows_are_still_bad_rows(self, calls):
        write(calls, *ROWS, "0700000002,bob,noon,5.36,-4.03,B")
        data = incrowd.read(calls, person_of="person", max_bad=0.5)
        assert data.reading.rejects.counts == {"time not understood": 1}
        assert len(data) == 2

    def test_not_with_a_table(self, calls, persons):
        for read in (incrowd.read, incrowd.read_visits):
            with pytest.raises(ArgumentError, match="either a table of persons"):
                read(calls, person_of="person", same_person=persons)

    def test_a_column_that_is_not_there(self, calls):
        with pytest.raises(incrowd.errors.ColumnError, match="no column 'persons'"):
            incrowd.read(calls, person_of="persons")
