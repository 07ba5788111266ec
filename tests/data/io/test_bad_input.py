"""Files that cannot be used: each ends in one clear message and exit status 4."""

# ruff: noqa: E501  a table, one case a line

import gzip
import os
import random
import subprocess
import sys

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import incrowd
from incrowd.cli._app import app
from incrowd.cli._console import run
from incrowd.errors import IncrowdError
from strategies import only_deep

HEADER = "user,time,lat,lon\n"
ROW = "ann,2012-03-05 07:31:00,48.85,2.35\n"


def rows(count, **changes):
    """Make lines of a file, with fields changed."""
    fields = {"user": "u", "time": "2012-03-05 07:31:00", "lat": "48.85", "lon": "2.35"} | changes
    return "".join(
        ",".join([f"{fields['user']}{i}", *list(fields.values())[1:]]) + "\n" for i in range(count)
    )


def parquet(columns, names=None):
    sink = pa.BufferOutputStream()
    table = pa.table(columns) if names is None else pa.table(columns, names=names)
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def zstd(text):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(text)
    return sink.getvalue().to_pybytes()


LARGE = (HEADER + "".join(f"{n * 7919 % 10**6}{ROW}" for n in range(20_000))).encode()
GOOD = {"user": ["a"], "time": ["2012-03-05"], "lat": [48.85], "lon": [2.35]}
NOISE = random.Random(1).randbytes(10_000)  # noqa: S311

CASES = {
    # name: file, content, words of the message
    "empty": ("x.csv", b"", "the file is empty"),
    "blank": ("x.csv", b"\n\n  \n", "is empty"),
    "empty Parquet": ("x.parquet", b"", "is empty"),
    "byte order mark only": ("x.csv", b"\xef\xbb\xbf", "the file is empty"),
    "byte order mark and blank lines": ("x.csv", b"\xef\xbb\xbf\n\n", "the file is empty"),
    "header of too many columns": ("x.csv", ",".join(f"c{n}" for n in range(5000)) + "\n" + ROW, "there may be 4,096"),
    "header longer than any": ("x.csv", "user" * 20_000, "is longer than"),
    "Parquet of too many columns": ("x.parquet", parquet({f"c{n}": pa.array(["a"]) for n in range(5000)}), "at most 4,096"),
    "header only": ("x.csv", HEADER, "no rows to read"),
    "header without line end": ("x.csv", HEADER.strip(), "no rows to read"),
    "Parquet without rows": ("x.parquet", parquet({n: pa.array([], pa.string()) for n in GOOD}), "no rows"),
    "wrong delimiter": ("x.csv", (HEADER + ROW).replace(",", ":"), "no column for the user"),
    "missing column": ("x.csv", "user,time,lat,lng_deg\n" + ROW, "no column for the longitude (lon). Found: 'user', 'time', 'lat', 'lng_deg'"),
    "misspelt column": ("x.csv", "usr,time,lat,lon\n" + ROW, "If it is 'usr', give user='usr'"),
    "swapped lat and lon": ("x.csv", HEADER + rows(9, lat="-104.9", lon="39.7"), "lat and lon look swapped"),
    "swapped in the cold": ("x.csv", HEADER + rows(9, lat="-74.0", lon="40.7"), "lat and lon look swapped"),
    "nan": ("x.csv", HEADER + ROW + rows(1, lat="nan"), "x.csv:3: lon=2.35, lat=nan"),
    "infinity": ("x.csv", HEADER + ROW + rows(1, lon="-inf"), "position is not finite"),
    "1e9": ("x.csv", HEADER + ROW + rows(1, lat="1e9"), "impossible position"),
    "year 1": ("x.csv", HEADER + ROW + rows(1, time="0001-01-01 00:00:00"), "time outside the window"),
    "year 9999": ("x.csv", HEADER + ROW + rows(1, time="9999-12-31 23:59:59"), "time outside the window"),
    "mixed zones": ("x.csv", HEADER + ROW + rows(1, time="2012-03-05T07:31:00+01:00"), "1 times name their time zone and 1 do not"),
    "thousands separators": ("x.csv", HEADER + rows(2, time='"1,325,376,000"'), "time not understood"),
    "decimal comma": ("x.csv", "user;time;lat;lon\na;2012-03-05;48,85;2,35\n", "position is not a number"),
    "no header": ("x.csv", ROW, "the first line must hold the column names"),
    "no header of numbers": ("x.csv", "1,1325376000,48.85,2.35\n", "the first line must hold the column names"),
    "binary": ("x.csv", NOISE, "not a text table"),
    "binary without zeros": ("x.csv", NOISE.replace(b"\0", b""), "not a text table"),
    "UTF-16": ("x.csv", (HEADER + ROW).encode("utf-16"), "UTF-16"),
    "latin-1": ("x.csv", (HEADER + rows(5, user="é")).encode("latin-1"), "not UTF-8"),
    "gzip with a plain name": ("x.csv", gzip.compress(LARGE), "not a text table"),
    "plain with a gzip name": ("x.csv.gz", HEADER + ROW, "damaged"),
    "plain with a zstd name": ("x.csv.zst", HEADER + ROW, "damaged"),
    "plain with a Parquet name": ("x.parquet", HEADER + ROW, "damaged, or not a Parquet file"),
    "truncated gzip": ("x.csv.gz", gzip.compress(LARGE)[:-2000], "GZIP"),
    "gzip without its last bytes": ("x.csv.gz", gzip.compress(LARGE)[:-3], "GZIP"),
    "gzip with a wrong checksum": ("x.csv.gz", gzip.compress(LARGE)[:-8] + b"abcdefgh", "damaged"),
    "truncated zstd": ("x.csv.zst", zstd(LARGE)[:-2000], "incomplete"),
    "zstd without its last bytes": ("x.csv.zst", zstd(LARGE)[:-2], "incomplete"),
    "truncated Parquet": ("x.parquet", parquet(GOOD)[:-20], "damaged, or not a Parquet file"),
    "Parquet without its middle": ("x.parquet", parquet(GOOD)[:4] + parquet(GOOD)[-200:], ""),
    "list column": ("x.parquet", parquet(GOOD | {"user": [["a"]]}), "column 'user' (user) holds varchar[]"),
    "bytes column": ("x.parquet", parquet(GOOD | {"user": [b"a"]}), "one text or number per row"),
    "doubled column": ("x.csv", "user,time,lat,lon,lat\nann,2012-03-05,48,2,49\n", "two columns are named 'lat'"),
    "doubled but for case": ("x.csv", "user,time,lat,lon,LAT\nann,2012-03-05,48,2,49\n", "two columns are named 'LAT'"),
    "doubled in Parquet": ("x.parquet", parquet([["a"], ["b"], [1.0], [2.0], [3.0]], ["user", "time", "lat", "lon", "lat"]), "two columns are named 'lat'"),
    "unclosed quote": ("x.csv", HEADER + ROW * 3 + '"' + ROW * 3, "x.csv, line 5: a quote"),
    "unclosed quote at the end": ("x.csv", HEADER + ROW * 3 + 'bob,2012-03-05,48,"2', "x.csv, line 5: a quote"),
    "unclosed quote far down": ("x.csv", LARGE + b'"' + LARGE, "a quote"),
    "mixed line ends": ("x.csv", HEADER + ROW + ROW.replace("\n", "\r\n") + ROW, "mixed line endings"),
    "very long line": ("x.csv", HEADER + ROW + rows(1, lon="2" + "0" * 3_000_000), "line 3: this line is longer"),
    "too few fields": ("x.csv", HEADER + ROW + "bob,2012-03-05\n", "too few fields; first x.csv:3: bob,2012-03-05"),
    "too many fields": ("x.csv", HEADER + ROW + "bob,2012-03-05,48,2,9\n", "too many fields"),
    "metres without a plane": ("x.csv", "user,time,x,y\nann,2012-03-05,652000,6862000\n", "need their coordinate reference system"),
    "half the earth": ("x.csv", HEADER + rows(1) + rows(1, lon="150"), "no projection shows them all"),
    "unknown kind": ("x.xlsx", HEADER + ROW, "cannot read files that end in .xlsx"),
    "no kind": ("data", HEADER + ROW, "must end in .csv, .csv.gz, .csv.zst or .parquet"),
    "days as numbers": ("x.csv", HEADER + rows(2, time="20120305"), "could be a date or seconds"),
    "stray grid beside": ("x.csv", HEADER + ROW, "not the description of a grid"),
}  # fmt: skip
STATUS = {"need their coordinate reference system": 2}
"""Where not the data is bad, but an option is missing."""

FINE = {
    "byte order mark": ("x.csv", b"\xef\xbb\xbf" + (HEADER + ROW).encode()),
    "CRLF": ("x.csv", (HEADER + ROW).replace("\n", "\r\n")),
    "CR": ("x.csv", (HEADER + ROW).replace("\n", "\r")),
    "blank lines": ("x.csv", "\n" + HEADER + "\n\n" + ROW + "\n"),
    "quoted line end": ("x.csv", HEADER.replace("lon", 'lon,"no\nte"') + ROW.strip() + ',"x\ny"\n'),
    "name like a pattern": ("data[1].csv", HEADER + ROW),
    "no line end at the end": ("x.csv", HEADER + ROW.strip()),
    "quotes everywhere": ("x.csv", '"' + (HEADER + ROW).strip().replace(",", '","').replace("\n", '"\n"') + '"\n'),
}  # fmt: skip


def make(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def command(monkeypatch, capsys, *words):
    """Run the command line in this process: status, standard output, standard error."""
    monkeypatch.setattr(sys, "argv", ["incrowd", *map(str, words)])
    status = run(app)
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture(params=CASES)
def case(request, tmp_path):
    name, content, words = CASES[request.param]
    if request.param == "stray grid beside":
        make(tmp_path, f"{name}.frame.json", "{}x")
    return make(tmp_path, name, content), words


class TestBadFiles:
    def test_describe_says_why_and_ends_with_4(self, case, monkeypatch, capsys):
        path, words = case
        status, out, err = command(monkeypatch, capsys, "describe", path, "--show-values")
        assert (status, out) == (STATUS.get(words, 4), "")
        assert err.startswith("incrowd: ")
        assert words in err
        assert "Traceback" not in err

    def test_convert_leaves_nothing_behind(self, case, monkeypatch, capsys):
        path, words = case
        before = sorted(path.parent.iterdir())
        output = path.parent / "out.csv"
        status, out, err = command(
            monkeypatch, capsys, "convert", path, "-o", output, "--show-values"
        )
        assert (status, out) == (STATUS.get(words, 4), "")
        assert words in err
        assert sorted(path.parent.iterdir()) == before

    @pytest.mark.parametrize("name", FINE)
    def test_what_only_looks_bad_is_read(self, tmp_path, name):
        data = incrowd.read(make(tmp_path, *FINE[name]), strict=True)
        assert data.people.to_list() == ["ann"]

    @pytest.mark.parametrize(
        "name", ["unclosed quote", *only_deep("truncated gzip", "list column")]
    )
    def test_the_same_from_a_shell(self, tmp_path, name):
        file, content, words = CASES[name]
        path = make(tmp_path, file, content)
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "incrowd", "describe", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (4, "")
        assert words in done.stderr
        assert "Traceback" not in done.stderr


class TestBadFrames:
    @pytest.mark.parametrize(
        ("frame", "words"),
        [
            (pl.DataFrame(GOOD | {"lat": [[1.0]]}), "column 'lat' .lat. holds double"),
            (
                pl.DataFrame(GOOD | {"lat": [True]}),
                "column 'lat' holds boolean; a position must be numbers",
            ),
            (pl.DataFrame(GOOD | {"LAT": [1.0]}), "two columns are named 'LAT'"),
            (
                pl.DataFrame(GOOD).to_pandas().iloc[:, [0, 1, 2, 3, 3]],
                "two columns are named 'lon'",
            ),
            (pl.DataFrame(GOOD).to_pandas().assign(user=[object()]), "cannot read this pandas"),
        ],
    )
    def test_are_refused(self, frame, words):
        with pytest.raises(IncrowdError, match=words):
            incrowd.read(frame)


class TestRelease:
    @pytest.mark.parametrize("name", ["release", "release/trajectories.parquet"])
    def test_says_what_takes_it(self, tmp_path, name):
        city = incrowd.synthesize("city", users=8, seed=7)
        incrowd.publish(incrowd.glove(city, k=2), tmp_path / "release", original=city, draws=20)
        with pytest.raises(
            IncrowdError, match="release is a release, whose rows are boxes"
        ) as told:
            incrowd.read(tmp_path / name)
        assert "incrowd.of_files" in told.value.hint

    def test_whoever_names_its_columns_reads_it(self, tmp_path):
        city = incrowd.synthesize("city", users=8, seed=7)
        incrowd.publish(incrowd.glove(city, k=2), tmp_path / "release", original=city, draws=20)
        data = incrowd.read(tmp_path / "release", user="person", time="t_start")
        assert len(data) == 8


class TestUnreadable:
    def test_a_file_that_may_not_be_read(self, tmp_path, monkeypatch, capsys):
        path = make(tmp_path, "x.csv", HEADER + ROW)
        monkeypatch.setattr(os, "access", lambda *_: False)
        status, _, err = command(monkeypatch, capsys, "describe", path)
        assert (status, "permission denied" in err) == (4, True)

    @pytest.mark.parametrize("name", ["x.csv", "*.csv", "folder"])
    def test_what_is_not_there(self, tmp_path, monkeypatch, capsys, name):
        (tmp_path / "folder").mkdir()
        status, _, err = command(monkeypatch, capsys, "describe", tmp_path / name)
        assert status == 4
        assert any(words in err for words in ("does not exist", "no file matches", "no CSV or"))


class TestFullDisk:
    @pytest.mark.parametrize(
        "name", ["out.csv", "out.parquet", *only_deep("out.csv.gz", "out.csv.zst")]
    )
    def test_leaves_nothing_behind(self, tmp_path, name):
        """No file may grow beyond 20 kB here, which is what a full disk feels like."""
        source = make(tmp_path, "x.csv", LARGE)
        incrowd.read(source)  # what is compiled could not be kept there
        code = (
            "import resource, signal, sys; from incrowd.cli import main;"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); main()"
        )
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code, "convert", str(source), "-o", str(tmp_path / name)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert f"cannot write {tmp_path / name}" in done.stderr
        assert "Traceback" not in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]

    def test_results_that_cannot_be_printed_are_an_error(self, tmp_path):
        source = make(tmp_path, "x.csv", HEADER + ROW)
        with open("/dev/full", "w") as full:  # noqa: PTH123
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-m", "incrowd", "describe", str(source)],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 2
        assert "No space left" in done.stderr
