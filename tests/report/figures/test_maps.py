import xml.etree.ElementTree as ET

import pytest

from incrowd.report._figures.chart import CLASSES
from incrowd.report._figures.maps import _breaks, _round, drawings

BOX = {"east": 0.0, "east_to": 1.0, "north": 0.0, "north_to": 0.5, "hour": 7.0, "hour_to": 8.0}


def of(*cells, columns=3, rows=2, least=10):
    about = {
        "side_m": 500.0, "columns": columns, "rows": rows, "least": least, "cells": list(cells),
    }  # fmt: skip
    return {"utility": {"together": {"map": about}}, "drawn": []}


def parts(drawing):
    """Read every part as XML: it is well-formed."""
    return {name: ET.fromstring(svg) for name, svg in drawing.parts.items()}  # noqa: S314


def marks(svg, name):
    return [each for each in svg.iter() if each.get("class") == name]


class TestBreaks:
    def test_five_classes_of_as_many(self):
        assert _breaks(range(10, 110)) == [10, 30, 50, 70, 90]

    @pytest.mark.parametrize("counts", [[10], [10] * 40])
    def test_equal_counts_are_one_class(self, counts):
        assert _breaks(counts) == [10]

    def test_two_values(self):
        assert _breaks([10, 99]) == [10, 99]


class TestMap:
    def test_one_square(self):
        drawing = drawings(of([1, 0, 12, None]))[0]
        svgs = parts(drawing)
        assert len(marks(svgs["original"], "square")) == 1
        assert marks(svgs["release"], "square") == []
        assert drawing.key == ((CLASSES[-1], "12 or more people"),)
        assert drawing.rows == (("east 1, north 0", "12", "fewer than 10"),)

    def test_equal_squares(self):
        drawing = drawings(of([0, 0, 10, 10], [1, 0, 10, 10], [2, 1, 10, 10]))[0]
        assert {square.get("fill") for square in marks(parts(drawing)["release"], "square")} == {
            CLASSES[-1]
        }

    def test_north_is_up(self):
        svg = parts(drawings(of([0, 0, 10, 50], [0, 1, 20, 50]))[0])["original"]
        south, north = marks(svg, "square")
        assert float(north.get("y")) < float(south.get("y"))

    def test_fuller_squares_have_later_colours(self):
        cells = [[i % 3, i // 3, 10 * (i + 1), None] for i in range(6)]
        svg = parts(drawings(of(*cells))[0])["original"]
        colours = [CLASSES.index(square.get("fill")) for square in marks(svg, "square")]
        assert colours == sorted(colours)
        assert colours[-1] == len(CLASSES) - 1

    @pytest.mark.parametrize(
        "numbers",
        [{}, {"utility": None}, {"utility": {"together": None}}, of(), {"drawn": []}],
    )
    def test_nothing_is_drawn_of_nothing(self, numbers):
        assert drawings(numbers) == []


class TestRecords:
    def test_two_parts_each(self):
        drawing = drawings({"drawn": [{"crowd": 2, "boxes": [BOX, BOX]}] * 3})[0]
        svgs = parts(drawing)
        assert list(svgs) == [f"{i}-{kind}" for i in (1, 2, 3) for kind in ("space", "time")]
        assert all(len(marks(svg, "box")) == 2 for svg in svgs.values())
        assert drawing.rows[0] == ("Record 1, of 2 people", "2", "1 km", "60 min")

    def test_a_box_over_midnight_is_on_both_days(self):
        night = BOX | {"hour": 23.0, "hour_to": 26.0}
        svg = parts(drawings({"drawn": [{"crowd": 2, "boxes": [night]}]})[0])["1-time"]
        assert len(marks(svg, "box")) == 2

    def test_everything_lies_within_the_frame(self):
        wide = BOX | {"east_to": 900.0, "hour_to": 500.0}
        svgs = parts(drawings({"drawn": [{"crowd": 2, "boxes": [BOX, wide]}]})[0])
        for svg in svgs.values():
            for box in marks(svg, "box"):
                assert 0 <= float(box.get("x")) <= float(box.get("x")) + 1 <= 301
                assert float(box.get("x")) + float(box.get("width")) <= 301.5


@pytest.mark.parametrize(
    ("km", "length"), [(0.1, 0.1), (0.125, 0.1), (0.25, 0.2), (0.74, 1), (3, 5), (17, 20)]
)
def test_lengths_are_round(km, length):
    assert _round(km) == pytest.approx(length)
