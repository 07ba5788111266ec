import csv
import gzip
import io

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import incrowd
import strategies
from data.io.tables import table
from incrowd.data._io.line_check import check_lines, count_fields
from incrowd.data._io.lines import exact_lines
from incrowd.data._io.sources import open_bytes, sniff
from incrowd.errors import (
    ArgumentError,
    ColumnError,
    InputError,
    RowError,
    UnreadableError,
)
from strategies import random_cases

ROW = "ann,2012-03-05 07:31:00,48.85,2.35\n"


def file(folder, text, name="x.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


class TestSniff:
    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    def test_finds_the_separator(self, tmp_path, separator):
        table = sniff(file(tmp_path, f"user{separator}time\n1{separator}2\n"), None, None)
        assert (table.separator, table.names, table.skip) == (separator, ("user", "time"), 1)

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_counts_the_blank_lines_before_the_header(self, tmp_path, end):
        table = sniff(file(tmp_path, f"{end}{end}user,time{end}1,2{end}"), None, None)
        assert (table.names, table.skip) == (("user", "time"), 3)

    def test_takes_names_with_quotes_and_a_byte_order_mark(self, tmp_path):
        table = sniff(file(tmp_path, '\ufeff"the ""user""","ti\nme",lat\n1,2,3\n'), None, None)
        assert table.names == ('the "user"', "ti\nme", "lat")

    def test_a_header_ends_at_a_line_end_and_nowhere_else(self, tmp_path):
        table = sniff(file(tmp_path, "user\u2028x,ti\x0bme\n1,2\n"), None, None)
        assert table.names == ("user\u2028x", "ti\x0bme")

    @pytest.mark.parametrize("first", ["1,1325376000,5,4", "a0,2012-01-01 00:00:00,5.0,4"])
    def test_values_are_no_header(self, tmp_path, first):
        with pytest.raises(InputError, match="the first line must hold the column names"):
            sniff(file(tmp_path, first + "\n"), None, None)

    def test_names_can_be_given(self, tmp_path):
        table = sniff(file(tmp_path, "\n1,2\n"), ["user", "time"], None)
        assert (table.names, table.skip) == (("user", "time"), 1)

    def test_as_many_names_as_fields(self, tmp_path):
        with pytest.raises(
            InputError, match="names has 3 columns, but the first line has 2 fields"
        ):
            sniff(file(tmp_path, "1,2\n"), ["a", "b", "c"], None)

    @pytest.mark.parametrize("separator", ["", ",,", '"', "\n"])
    def test_a_separator_is_one_character(self, tmp_path, separator):
        with pytest.raises(ArgumentError, match="separator must be one character"):
            sniff(file(tmp_path, "a,b\n"), None, separator)


class TestExactLines:
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("packed", [False, True])
    def test_counts_blank_broken_and_quoted_lines(self, tmp_path, end, packed):
        lines = [
            "",
            "user,time,lat,lon",
            ROW.strip(),
            "",
            "too,few",
            '"two\nlines",2012-03-05 07:31:00,48.85,2.35',
            "bob,noon,48.85,2.35",  # on lines 8
            "",
            "far,too,many,fields,here",  # 10
            "cyd\u2028\x85,dawn,48.85,2.35",  # 11
            "dan,2012-03-05,48.85,91 E",  # 12
        ]
        text = end.join(lines).replace("two\n", f"two{end}").encode()
        name = "x.csv.gz" if packed else "x.csv"
        path = file(tmp_path, gzip.compress(text) if packed else text, name)
        rejects = incrowd.read(path, max_bad=1).reading.rejects
        assert {reason: [e.line for e in shown] for reason, shown in rejects.examples.items()} == {
            "time not understood": [8, 11],
            "position is not a number": [12],
            "too few fields": [5],
            "too many fields": [10],
        }

    def test_lines_that_are_not_utf_8_are_counted(self, tmp_path):
        bad = "Zo\xe9,2012-03-05 07:31:00,48.85,2.35\n".encode("latin-1")
        text = b"user,time,lat,lon\n" + ROW.encode() * 2 + bad + b"bob,noon,48.85,2.35\n"
        rejects = incrowd.read(file(tmp_path, text), max_bad=1).reading.rejects
        assert rejects.examples["not UTF-8"][0].line == 4
        assert rejects.examples["time not understood"][0].line == 5

    def test_a_field_beyond_what_python_takes_is_no_obstacle(self, tmp_path):
        long = f"{'x' * 200_000},2012-03-05 07:31:00,48.85,2.35\n"
        path = file(tmp_path, "user,time,lat,lon\n" + long + "bob,noon,48.85,2.35\n")
        rejects = incrowd.read(path, max_bad=1).reading.rejects
        assert rejects.examples["time not understood"][0].line == 3

    def test_lines_of_each_file_are_its_own(self, tmp_path):
        for name in "ab":
            (tmp_path / name).mkdir()
            text = "user,time,lat,lon\n" + "\n" * (name == "b") + "bob,noon,48,2\n" + ROW * 5
            file(tmp_path / name, text)
        shown = incrowd.read(tmp_path, max_bad=1).reading.rejects.examples["time not understood"]
        assert [e.line for e in shown] == [2, 3]

    @pytest.mark.parametrize("plain", [True, False])
    def test_far_down_a_large_file(self, tmp_path, plain):
        many = "".join(f"{n},2012-03-05 07:31:00,48.85,2.35\n" for n in range(70_000))
        odd = "" if plain else '"two\nlines",2012-03-05 07:31:00,48.85,2.35\n\n'
        text = "user,time,lat,lon\n" + odd + many + many + odd + "bob,noon,48.85,2.35\n" + many
        data = incrowd.read(file(tmp_path, text))
        shown = data.reading.rejects.examples["time not understood"]
        assert [e.line for e in shown] == [140_002 if plain else 140_008]
        assert data.reading.rows == 210_001 + 2 * (not plain)

    @pytest.mark.parametrize("packed", [False, True])
    @pytest.mark.parametrize("odd", ["", "\n"])
    def test_a_malformed_line_behind_a_buffer_loses_nothing(self, tmp_path, packed, odd):
        header, bad, good = '"user",time,lat,lon\n', "too,few\n", ROW * 4
        rows, rest = divmod(8_000_030 - len(header) - len(bad), len(ROW))
        text = (header + "x" * rest + ROW * rows + bad + odd + good).encode()
        name = "x.csv.gz" if packed else "x.csv"
        path = file(tmp_path, gzip.compress(text, 1) if packed else text, name)
        data = incrowd.read(path, rejects=tmp_path / "bad.out")
        assert data.reading.rows == rows + 5
        assert f",{rows + 2},too few fields," in (tmp_path / "bad.out").read_text()

    def test_stops_at_the_last_one_wanted(self, tmp_path):
        table = sniff(file(tmp_path, "user,time\n" + "1,2\n" * 5), None, None)
        assert exact_lines(table, {0, 3}, {1}, set()) == ({0: 2, 3: 5}, {1: 1})


class TestCheckLines:
    @pytest.mark.parametrize("suffix", ["gz", "zst"])
    @pytest.mark.parametrize("cut", [0.5, 0.999])
    def test_a_file_that_was_cut_short_is_noticed(self, tmp_path, suffix, cut):
        path = tmp_path / f"x.csv.{suffix}"
        with pa.output_stream(str(path), compression={"gz": "gzip", "zst": "zstd"}[suffix]) as out:
            out.write(
                b"user,time,lat,lon\n"
                + b"".join(b"%d,2012-03-05,48.85,2.35\n" % (n * 7919) for n in range(20_000))
            )
        whole = path.read_bytes()
        table = sniff(path, None, None)
        path.write_bytes(whole[: int(len(whole) * cut)])
        with pytest.raises(UnreadableError, match="damaged or incomplete") as caught:
            check_lines(table, 10**9)
        assert caught.value.file == str(path)

    def test_a_wrong_checksum_is_noticed(self, tmp_path):
        packed = bytearray(gzip.compress(b"user,time\n"))
        packed[-8] ^= 1
        with pytest.raises(UnreadableError, match="damaged"):
            check_lines(sniff(file(tmp_path, bytes(packed), "x.csv.gz"), None, None), 10**9)

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("before", ["", "\n\n", '"a\nb",2,"x, y",""\n', 'a"b,2,3,4\n'])
    def test_a_line_of_too_many_fields_is_refused_with_its_number(self, tmp_path, end, before):
        fine = "user,time,lat,lon\n" + ROW * 400 + before
        text = fine + ROW.strip() + ",1" * 70_000 + "\n" + ROW * 400
        path = file(tmp_path, text.replace("\n", end))
        with pytest.raises(RowError, match="more than 4,096 fields") as caught:
            incrowd.read(path)
        assert (caught.value.file, caught.value.line) == (str(path), fine.count("\n") + 1)

    def test_fields_in_quotes_may_hold_any_number_of_separators(self, tmp_path):
        long = '"' + "1," * 10_000 + '""2"'
        rows = "".join(f"u{n},2012-03-05 07:31:00,48.85,2.35,{long}\n" for n in range(3))
        data = incrowd.read(file(tmp_path, f"user,time,lat,lon,shape\n{rows}"))
        assert len(data) == 3

    def test_what_is_noted_of_all_lines_is_bounded(self, tmp_path):
        header = "user,time,lat,lon," + ",".join(f"c{n}" for n in range(1000))
        path = file(tmp_path, f"{header}\n" + ROW * 5000)
        with pytest.raises(RowError, match="another number of fields than the header") as caught:
            incrowd.read(path, memory="2GB")
        assert caught.value.line == 2

    @random_cases(200)
    @given(
        strategies.st.lists(
            strategies.st.lists(strategies.st.text('ab"\n,;', max_size=3), max_size=4)
        ),
        strategies.st.integers(1, 7),
    )
    def test_counts_as_the_csv_module_does(self, records, piece):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(records)
        state = np.zeros(14, np.int64)
        state[[2, 6, 7]] = 1
        raw = text.getvalue().encode() + b"\n"
        for start in range(0, len(raw), piece):
            count_fields(np.frombuffer(raw[start : start + piece], np.uint8), ord(","), 3, state)
        expected = [
            len(record) for record in csv.reader(io.StringIO(text.getvalue(), newline="")) if record
        ]
        assert state[13] == len(expected)
        assert state[8] == max(expected, default=0)
        assert state[10] == sum(number != 3 for number in expected)


class TestOpenBytes:
    def test_unpacks_by_the_name_whatever_its_case(self, tmp_path):
        path = file(tmp_path, gzip.compress(b"hello"), "X.CSV.GZ")
        with open_bytes(path) as stream:
            assert stream.read() == b"hello"


class TestSources:
    def test_csv_parquet_and_frames_are_the_same(self, tmp_path):
        rows = table()
        rows.write_csv(tmp_path / "a.csv")
        rows.write_parquet(tmp_path / "b.parquet")
        plain = (tmp_path / "a.csv").read_bytes()
        (tmp_path / "c.csv.gz").write_bytes(gzip.compress(plain))
        with pa.output_stream(str(tmp_path / "d.csv.zst"), compression="zstd") as file:
            file.write(plain)
        (tmp_path / "E.CSV.GZ").write_bytes(gzip.compress(plain))
        expected = incrowd.read(rows)
        for name in ("a.csv", "b.parquet", "c.csv.gz", "d.csv.zst", "E.CSV.GZ"):
            assert incrowd.read(tmp_path / name) == expected

    @pytest.mark.parametrize(
        "kind",
        [
            pl.DataFrame.lazy,
            pl.DataFrame.to_arrow,
            pl.DataFrame.to_pandas,
            lambda rows: rows.to_arrow().combine_chunks().to_batches()[0],
            lambda rows: rows.to_dict(as_series=False),
            lambda rows: rows.to_pandas().set_index("user"),
            lambda rows: rows.to_pandas().set_index(["user", "time"]),
        ],
    )
    def test_takes_any_frame(self, kind):
        assert incrowd.read(kind(table())) == incrowd.read(table())

    def test_a_folder_is_all_its_tables_in_the_order_of_their_names(self, tmp_path):
        (tmp_path / "2").mkdir()
        table(user=["cyd"] * 3).write_csv(tmp_path / "2" / "x.csv")
        table(user=["bob"] * 3).write_parquet(tmp_path / "1.parquet")
        (tmp_path / "notes.md").write_text("nothing")
        data = incrowd.read(tmp_path)
        assert data.people.to_list() == ["bob", "cyd"]
        assert data.reading.files == ("1.parquet", "x.csv")

    @pytest.mark.parametrize("hidden", [".hidden/x.csv", "_temporary/0/x.csv", ".x.csv", "_x.csv"])
    def test_what_other_programs_hide_in_a_folder_is_left_out(self, tmp_path, hidden):
        (tmp_path / hidden).parent.mkdir(parents=True, exist_ok=True)
        table(user=["eve"] * 3).write_csv(tmp_path / hidden)
        table().write_csv(tmp_path / "y.csv")
        assert incrowd.read(tmp_path).people.to_list() == ["ann", "bob"]

    def test_a_folder_may_itself_be_hidden(self, tmp_path):
        (tmp_path / ".data").mkdir()
        table().write_csv(tmp_path / ".data" / "y.csv")
        assert len(incrowd.read(tmp_path / ".data")) == 2

    def test_hive_folders_are_read_without_the_columns_in_their_names(self, tmp_path):
        for day in ("day=1", "day=2"):
            (tmp_path / day).mkdir()
            table(user=[day] * 3).write_parquet(tmp_path / day / "part-0.parquet")
        assert incrowd.read(tmp_path).people.to_list() == ["day=1", "day=2"]

    def test_a_glob_is_expanded(self, tmp_path):
        for name in ("a1", "a2", "b1"):
            table(user=[name] * 3).write_csv(tmp_path / f"{name}.csv")
        assert incrowd.read(f"{tmp_path}/a*.csv").people.to_list() == ["a1", "a2"]

    def test_a_list_keeps_its_order(self, tmp_path):
        for name in ("a", "b"):
            table(user=[name] * 3).write_csv(tmp_path / f"{name}.csv")
        files = [tmp_path / "b.csv", str(tmp_path / "a.csv")]
        assert incrowd.read(files).people.to_list() == ["b", "a"]

    @pytest.mark.parametrize(
        "name", ["data[1].csv", "da?a.csv", "da*a.csv", "it's.csv", "{a,b}.csv", "back\\slash.csv"]
    )
    def test_a_name_is_no_pattern(self, tmp_path, name):
        for other in ("data1.csv", "daXa.csv", "a.csv", "b.csv"):
            table(user=["eve"] * 3).write_csv(tmp_path / other)
        table().write_csv(tmp_path / name)
        data = incrowd.read(tmp_path / name)
        assert (data.people.to_list(), data.reading.rows) == (["ann", "bob"], 3)

    def test_a_parquet_name_is_no_pattern(self, tmp_path):
        table(user=["eve"] * 3).write_parquet(tmp_path / "data1.parquet")
        table().write_parquet(tmp_path / "data[1].parquet")
        assert incrowd.read(tmp_path / "data[1].parquet").people.to_list() == ["ann", "bob"]

    def test_files_may_name_and_order_their_columns_differently(self, tmp_path):
        table().write_csv(tmp_path / "1.csv")
        other = table(user=["bob", "cyd", "cyd"]).rename({"user": "uid", "lon": "lng"})
        other.select("lng", "time", "lat", "uid").write_csv(tmp_path / "2.csv")
        both = pl.concat([table(), table(user=["bob", "cyd", "cyd"])])
        assert incrowd.read(tmp_path) == incrowd.read(both)

    def test_files_that_tell_different_things_are_refused(self, tmp_path):
        table().write_csv(tmp_path / "1.csv")
        table(cell=[1, 2, 3]).write_csv(tmp_path / "2.csv")
        with pytest.raises(
            ColumnError, match=r"2\.csv has columns for .*place.*read them separately"
        ):
            incrowd.read(tmp_path)

    def test_what_save_wrote_is_loaded(self, tmp_path):
        data = incrowd.read(table())
        data.save(tmp_path / "x.parquet")
        assert incrowd.read(tmp_path / "x.parquet") == data

    @pytest.mark.parametrize("source", [None, 5, [], b"x.csv"])
    def test_refuses_what_is_no_table(self, source):
        with pytest.raises(InputError, match="give a path, or a Polars, Arrow or pandas frame"):
            incrowd.read(source)
