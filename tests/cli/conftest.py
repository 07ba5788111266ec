"""What the tests of all commands share."""

import sys

import polars as pl
import pytest

import incrowd as library
from incrowd.cli._app import app
from incrowd.cli._console import run

FORMAT = "%d/%m/%Y %H:%M:%S"
LINES = [
    "msisdn,timestamp,lat,lon,cell",
    "ann,2012-10-28 02:30:00,48.85,2.35,A",
    "bob,2012-10-28 09:02:00,48.86,2.36,B",
    "ann,2012-10-28 02:30:10,48.85,2.35,A",
    "ann,noon,48.85,2.35,A",
]


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    """Make a small city."""
    file = tmp_path_factory.mktemp("city") / "city.parquet"
    library.write(library.synthesize("city", users=40, seed=3), file)
    return file


@pytest.fixture
def calls(tmp_path):
    """Make a file with a repeat, a bad row and a time that came twice."""
    path = tmp_path / "calls.csv"
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.fixture
def incrowd(monkeypatch, capsys):
    """Run the command line in this process: status, standard output, standard error."""

    def command(*words):
        monkeypatch.setattr(sys, "argv", ["incrowd", *map(str, words)])
        status = run(app)
        out, err = capsys.readouterr()
        return status, out, err

    return command


@pytest.fixture(autouse=True)
def said(monkeypatch):
    """Note when a command would tell of the compiler: here some kernels are kept, some are not."""
    told = []
    for place in ("_console", "demo"):
        monkeypatch.setattr(
            f"incrowd.cli.{place}.warn_first_compile", lambda *_: told.append("compiler")
        )
    return told


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """Show no progress, however long the compiler takes."""
    monkeypatch.setattr("incrowd.cli._console._PATIENCE", float("inf"))


@pytest.fixture(scope="module")
def operator(tmp_path_factory):
    """Make what an operator has: local times, days first, antennas in a table beside the calls."""
    folder = tmp_path_factory.mktemp("operator")
    library.write(library.synthesize("city", users=30, seed=3), folder / "city.csv")
    city = pl.read_csv(folder / "city.csv")
    (folder / "city.csv").unlink()
    places = city.select("lat", "lon").unique(maintain_order=True)
    places = places.with_columns(cell_id=pl.format("c{}", pl.int_range(pl.len())))
    times = pl.col("timestamp").str.to_datetime("%+").dt.strftime(FORMAT)
    calls = city.join(places, on=["lat", "lon"], maintain_order="left").select(
        pl.format("s{}", "user").alias("msisdn"), times.alias("call_time"), "cell_id"
    )
    calls.write_csv(folder / "calls.csv")
    places.select(pl.col("cell_id").alias("id"), "lat", "lon").write_csv(folder / "sites.csv")
    return folder


@pytest.fixture
def project(operator, tmp_path, monkeypatch):
    """Go to a folder with that data."""
    for file in operator.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ready(project, incrowd):
    """Write its project file."""
    assert incrowd("init", "calls.csv", "--tz", "Europe/Paris", "--k", "2")[0] == 0
    return project
