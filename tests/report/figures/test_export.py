import json
import struct
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from incrowd.errors import OutputError
from incrowd.report._figures.export import write_figures
from incrowd.report._numbers import Box, PublishedRecord
from report.samples import numbers, squares, useful

BOX = Box(east=0.0, east_to=1.0, north=0.0, north_to=0.5, hour=7.0, hour_to=8.0)


@pytest.fixture
def known():
    """Give numbers of which one chart, two maps and two drawings are made."""
    about = squares((0, 1, 20, 30), columns=2, rows=2)
    drawn = (PublishedRecord(2, (BOX,)),)
    return replace(numbers(), utility=useful(about=about, moved=0.25), drawn=drawn)


NAMES = ["together", "map-original", "map-release", "records-1-space", "records-1-time"]


def test_every_figure_twice_and_the_numbers(known, tmp_path):
    steps = []
    names = write_figures(known, tmp_path / "figures", progress=lambda *s: steps.append(s))
    assert names == [f"{n}.{kind}" for n in NAMES for kind in ("svg", "png")] + ["numbers.json"]
    assert sorted(names) == sorted(file.name for file in (tmp_path / "figures").iterdir())
    assert json.loads((tmp_path / "figures" / "numbers.json").read_text()) == known.as_dict()
    assert steps == [(i, 5) for i in range(5)]
    for name in NAMES:
        text = (tmp_path / "figures" / f"{name}.svg").read_text()
        svg = ET.fromstring(text)  # noqa: S314
        assert "var(" not in text
        assert float(svg.get("width").removesuffix("px")) > 0
        png = (tmp_path / "figures" / f"{name}.png").read_bytes()
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        wide, high = struct.unpack(">II", png[16:24])
        assert min(wide, high) > 30


def test_a_folder_that_is_there_stays_as_it_is(known, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        write_figures(known, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_all_or_nothing(known, tmp_path, monkeypatch):
    import vl_convert

    done = []

    def fail(svg, **_):
        done.append(svg)
        if len(done) == 3:
            raise OSError(28, "No space left on device")
        return b""

    monkeypatch.setattr(vl_convert, "svg_to_png", fail)
    with pytest.raises(OutputError, match="disk is full"):
        write_figures(known, tmp_path / "figures")
    assert list(tmp_path.iterdir()) == []


def test_of_nothing_there_are_the_numbers(tmp_path):
    assert write_figures(numbers(), tmp_path / "figures") == ["numbers.json"]
