import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from incrowd.report._figures.chart import CLASSES
from incrowd.report._figures.maps import _breaks, map_charts
from incrowd.report._numbers import Box, PublishedRecord
from report.samples import numbers, squares, useful

BOX = Box(east=0.0, east_to=1.0, north=0.0, north_to=0.5, hour=7.0, hour_to=8.0)


def charts(known):
    return [chart for chart in map_charts(known) if chart is not None]


def of(*cells, **size):
    """Draw a map of these squares."""
    return charts(replace(numbers(), utility=useful(about=squares(*cells, **size))))[0]


def recorded(*boxes, number=1):
    """Draw records of a pair with these boxes."""
    drawn = (PublishedRecord(2, boxes),) * number
    return charts(replace(numbers(), drawn=drawn))[0]


def marks(chart, name):
    """Give every mark of a drawing, in the order of the data: its path and its colour."""
    svg = ET.fromstring(chart.svgs()[name])  # noqa: S314
    group = next(each for each in svg.iter() if "mark-rect role-mark" in (each.get("class") or ""))
    return [(path.get("d"), path.get("fill")) for path in group]


def corner(path):
    """Give where a path starts."""
    x, y = path[1:].split("h")[0].split("l")[0].split("L")[0].split(",")
    return float(x), float(y.split("H")[0].split("V")[0])


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
        chart = of((1, 0, 12, None))
        assert len(marks(chart, "map-original")) == 1
        assert marks(chart, "map-release") == []
        assert chart.rows == (("east 1, north 0", "12", "fewer than 10"),)

    def test_groups_that_are_too_small_are_not_in_the_drawing(self):
        chart = of((1, 0, 12, None), (2, 1, None, 34))
        for name, people in (("map-original", 12), ("map-release", 34)):
            assert [row["people"] for row in chart.drawings[name]["data"]["values"]] == [people]

    def test_equal_squares(self):
        chart = of((0, 0, 10, 10), (1, 0, 10, 10), (2, 1, 10, 10))
        assert {colour for _, colour in marks(chart, "map-release")} == {CLASSES[-1]}

    def test_north_is_up_and_east_is_right(self):
        (south, _), (north, _), (east, _) = marks(
            of((0, 0, 10, 50), (0, 1, 20, 50), (1, 1, 20, 50)), "map-original"
        )
        assert corner(north)[1] < corner(south)[1]
        assert corner(north)[0] < corner(east)[0]

    def test_a_kilometre_is_as_long_to_the_north_as_to_the_east(self):
        for columns, rows in ((3, 2), (10, 60)):
            spec = of((0, 0, 10, 10), columns=columns, rows=rows).drawings["map-release"]
            assert spec["width"] / columns == pytest.approx(spec["height"] / rows)
            assert max(spec["width"], spec["height"]) == 320

    def test_fuller_squares_have_later_colours(self):
        chart = of(*((i % 3, i // 3, 10 * (i + 1), None) for i in range(6)))
        colours = [CLASSES.index(colour) for _, colour in marks(chart, "map-original")]
        assert colours == sorted(colours)
        assert colours[-1] == len(CLASSES) - 1

    def test_nothing_is_drawn_of_nothing(self):
        assert charts(numbers()) == charts(replace(numbers(), utility=useful())) == []


class TestRecords:
    def test_two_drawings_each(self):
        chart = recorded(BOX, BOX, number=3)
        names = [f"records-{i}-{kind}" for i in (1, 2, 3) for kind in ("space", "time")]
        assert list(chart.drawings) == names
        assert all(len(marks(chart, name)) == 2 for name in names)
        assert chart.rows[0] == ("Record 1, of 2 people", "2", "1 km", "60 min")

    def test_a_box_over_midnight_is_on_both_days(self):
        chart = recorded(replace(BOX, hour=23.0, hour_to=26.0))
        rows = chart.drawings["records-1-time"]["data"]["values"]
        assert rows == [{"day": 1, "from": 23.0, "to": 24}, {"day": 2, "from": 0, "to": 2.0}]
        assert len(marks(chart, "records-1-time")) == 2

    def test_everything_lies_within_the_frame(self):
        chart = recorded(BOX, replace(BOX, east_to=900.0, hour_to=500.0))
        plane, clock = (chart.drawings[f"records-1-{kind}"] for kind in ("space", "time"))
        for axis in ("x", "y"):
            assert plane["encoding"][axis]["scale"]["domain"] == [0, 900.0]
        assert all(0 <= row["from"] < row["to"] <= 24 for row in clock["data"]["values"])
        assert clock["encoding"]["y"]["scale"]["domain"] == [1, 2, 3]
