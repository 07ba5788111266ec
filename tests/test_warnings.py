"""Warnings: whose line they name, and that nobody is spared one about privacy."""

import re
import subprocess
import sys

import numpy as np
import pytest

import incrowd
from incrowd.errors import DataWarning, PrivacyWarning

RELEASES = """
import tempfile
import incrowd

city = incrowd.synthesize("city", users=6, seed=1)
made = incrowd.Generalise(metres=100, minutes=1).protect(city)
with tempfile.TemporaryDirectory() as folder:
    for number in range(3):
        incrowd.publish(made, f"{folder}/{number}", original=city, draws=5)
"""
LINE = RELEASES.splitlines().index(next(x for x in RELEASES.splitlines() if "publish" in x)) + 1


def told(file, *options):
    """Run the three releases, and give the lines that say that people stand alone."""
    command = [sys.executable, *options, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.returncode, re.findall(
        r"^(.*?):(\d+): PrivacyWarning: .*", done.stderr, re.MULTILINE
    )


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    file = tmp_path_factory.mktemp("script") / "three.py"
    file.write_text(RELEASES)
    return file


class TestPrivacyWarning:
    def test_is_told_of_every_release_at_the_line_that_publishes(self, script):
        assert told(script) == (0, [(str(script), str(LINE))] * 3)

    def test_filters_of_users_win(self, script):
        assert told(script, "-W", "ignore") == (0, [])
        status, lines = told(script, "-W", "error")
        assert (status, lines) == (1, [])


class TestLine:
    def test_of_a_mechanism_is_that_of_the_function(self):
        city = incrowd.synthesize("city", users=6, seed=1)
        with pytest.warns(DataWarning, match="is wider than the data") as first:
            incrowd.glove(city, 2, max_metres=1e6)
        with pytest.warns(DataWarning, match="is wider than the data") as second:
            incrowd.Glove(2, max_metres=1e6).protect(city)
        with pytest.warns(PrivacyWarning, match="seeded noise") as third:
            incrowd.GeoI(0.01, seed=1).protect(city)
        assert {one.filename for one in [*first, *second, *third]} == {__file__}

    def test_of_reading(self):
        table = {"user": [1, 1], "time": np.array([0, 60]), "lat": [80.0, 80.1], "lon": [7.0, 7.0]}
        import polars as pl

        with pytest.warns(DataWarning, match="north of 72 degrees") as caught:
            incrowd.read(pl.DataFrame(table))
        assert [one.filename for one in caught] == [__file__]
