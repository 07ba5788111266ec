import json

import altair as alt
import pytest
import vl_convert

from incrowd.report._comparison_page import _charts, _columns
from incrowd.report._figures.chart import LIGHT, with_fixed_width
from incrowd.report._figures.comparison import (
    SHAPES,
    Axis,
    Setting,
    curve_charts,
    trade_off_chart,
)
from report.comparisons import COLUMNS, CURVES, NUMBERS, comparison, many
from report.figures.test_marks import drawn, read_off

LOSS, RISK = Axis(label="lost", unit="share"), Axis(label="found", unit="share")


def setting(number, *, filled=False, method="m", shape="circle"):
    return Setting(
        number=number,
        label=f"label {number}",
        method=method,
        shape=shape,
        colour="var(--after)",
        filled=filled,
        status="verified" if filled else "no crowd",
    )


def charts(found):
    return {chart.name: chart for chart in _charts(found, _columns(found))}


@pytest.fixture(scope="module")
def all_charts():
    return charts(comparison())


def labels(*points):
    """Give the texts over points, and where they stand."""
    chart = trade_off_chart({setting(i): at for i, at in enumerate(points, 1)}, LOSS, RISK)
    spec = chart.drawings["trade-off"]
    rows = [row for data in spec["datasets"].values() for row in data] if "datasets" in spec else []
    rows = rows or [row for layer in spec["layer"] for row in layer["data"]["values"]]
    return {row["numbers"]: (row["loss"], row["risk"]) for row in rows if "numbers" in row}


class TestAll:
    def test_are_valid_vega_lite_in_colours_of_the_page(self, all_charts):
        assert list(all_charts) == ["trade-off", "off-space", "off-time"]
        for chart in all_charts.values():
            for spec in chart.drawings.values():
                alt.Chart.from_dict(json.loads(json.dumps(spec))).to_dict(validate=True)
                named = {part for part in json.dumps(spec).split('"') if part.startswith("var(")}
                assert named <= set(LIGHT)

    def test_have_a_sentence_and_their_numbers(self, all_charts):
        for chart in all_charts.values():
            assert chart.says.endswith(".")
            assert chart.rows
            assert {len(row) for row in chart.rows} == {len(chart.head)}


class TestTradeOff:
    def test_points_stand_where_their_numbers_are(self, all_charts):
        chart = all_charts["trade-off"]
        marks, axes = drawn(chart.drawings["trade-off"])
        points = next(items for items in marks if items[0].get("shape"))
        x, y = read_off(axes["x"]), read_off(axes["y"])
        found = sorted((x(item["x"]), y(item["y"])) for item in points)
        wanted = sorted((of[3], of[1]) for of in NUMBERS.values())
        for one, other in zip(found, wanted, strict=True):
            assert one == pytest.approx(other, abs=0.01)

    def test_only_what_is_verified_is_filled(self, all_charts):
        marks, _ = drawn(all_charts["trade-off"].drawings["trade-off"])
        points = next(items for items in marks if items[0].get("shape"))
        shapes = {item["shape"]: item["fillOpacity"] for item in points}
        assert shapes == {SHAPES[0]: 1, SHAPES[1]: 0, SHAPES[2]: 0, SHAPES[3]: 0}

    def test_the_table_has_the_same(self, all_charts):
        rows = all_charts["trade-off"].rows
        assert rows[0] == ("1 GLOVE, k = 2", "27.0%", "0.0%", "verified")
        assert rows[2] == ("3 W4M, k = 2, delta 2 km", "41.0%", "62.0%", "not k-anonymous")
        assert len(rows) == len(COLUMNS)

    def test_methods_differ_by_shape_or_colour(self):
        columns = _columns(many(24))
        assert len({(c.setting.shape, c.setting.colour) for c in columns}) == 10

    def test_points_that_lie_together_have_one_label(self):
        assert set(labels((0.1, 0.5), (0.1, 0.5), (0.9, 0.5))) == {"1, 2", "3"}
        assert set(labels((0.14, 0.5), (0.1, 0.5), (0.9, 0.5))) == {"2, 1", "3"}
        assert set(labels((0.1, 0.2), (0.1, 0.5), (0.1, 0.9))) == {"1", "2", "3"}

    def test_no_label_lies_on_another(self):
        found = charts(many(40))["trade-off"].drawings["trade-off"]
        for width in (280, 800):
            spec = with_fixed_width(found, width)
            marks, _ = drawn(spec)
            texts = [item for items in marks for item in items if item.get("text")]
            texts = [item for item in texts if not item["text"].startswith("risk")]
            assert texts
            boxes = [
                (item["x"] - 4 * len(item["text"]), item["x"] + 4 * len(item["text"]),
                 item["y"] + item.get("dy", 0))
                for item in texts
            ]  # fmt: skip
            for i, one in enumerate(boxes):
                for other in boxes[:i]:
                    apart = one[1] < other[0] or other[1] < one[0]
                    assert apart or abs(one[2] - other[2]) > 9

    def test_marks_that_would_cover_each_other_stand_around_each_other(self):
        same = {setting(i, method=f"m{i}"): (0.0, 1.0) for i in (1, 2, 3)}
        chart = trade_off_chart(same, LOSS, RISK)
        marks, _ = drawn(chart.drawings["trade-off"])
        sizes = [item["size"] for item in marks[0]]
        assert len(set(sizes)) == 3
        assert sizes == sorted(sizes, reverse=True)

    def test_the_risk_of_the_original_is_a_line(self):
        one = {setting(1): (0.5, 0.2)}
        without, chart = (trade_off_chart(one, LOSS, RISK, original) for original in (None, 0.75))
        assert "original" not in json.dumps(without.drawings)
        marks, axes = drawn(chart.drawings["trade-off"])
        assert read_off(axes["y"])(marks[0][0]["y"]) == pytest.approx(0.75, abs=0.01)
        assert marks[1][0]["text"] == "risk of the original: 75.0%"

    def test_nothing_at_all(self):
        assert trade_off_chart({}, LOSS, RISK) is None

    def test_all_at_nothing(self):
        chart = trade_off_chart({setting(1, filled=True): (0.0, 0.0)}, LOSS, RISK, 0.0)
        marks, axes = drawn(chart.drawings["trade-off"])
        assert read_off(axes["x"])(marks[2][0]["x"]) == pytest.approx(0, abs=0.001)

    @pytest.mark.parametrize("sign", ["\u2028", "\n", "'", '"', "\\", "</script>", "]"])
    def test_any_sign_in_a_title(self, sign):
        axis = Axis(label=f"a{sign}b", unit="m")
        chart = trade_off_chart({setting(1): (1200.0, 0.5)}, axis, axis)
        assert "mark-symbol" in chart.svgs()["trade-off"]


class TestCurves:
    def test_a_panel_for_each_that_has_a_curve(self, all_charts):
        chart = all_charts["off-space"]
        assert list(chart.drawings) == [f"space-{i}" for i in range(1, 6)]
        assert chart.labels["space-2"] == "2 GLOVE, k = 5"
        some = curve_charts({setting(1): {"space": CURVES["space"]}, setting(2): {}})
        assert [list(each.drawings) for each in some] == [["space-1"]]

    def test_its_own_line_is_its_curve(self):
        own = [[0, 0.0], [1_000, 0.25], [10_000, 1.0]]
        curves = {setting(1): {"space": own}, setting(2): {"space": CURVES["space"]}}
        (chart,) = curve_charts(curves)
        spec = chart.drawings["space-1"]
        marks, axes = drawn(spec)
        read = read_off(axes["y"])
        line, points = marks[-2], marks[-1]
        assert [read(item["y"]) for item in line] == pytest.approx([0, 0.25, 1], abs=0.01)
        assert len(points) == 3
        at = {text: pixel for pixel, text in axes["x"]}
        assert points[1]["x"] == pytest.approx(at["1 km"])
        assert points[2]["x"] == pytest.approx(at["10 km"])

    def test_axes_are_the_same_and_end_where_nothing_more_happens(self):
        long = [[0, 0.0], [100, 0.5], [200_000, 1.0]]
        curves = {setting(1): {"space": long}, setting(2): {"space": CURVES["space"]}}
        (chart,) = curve_charts(curves)
        axes = [drawn(spec)[1]["x"] for spec in chart.drawings.values()]
        assert axes[0] == axes[1]
        assert [text for _, text in axes[0] if text][-1] == "100 km"
        (chart,) = curve_charts({setting(2): {"space": CURVES["space"]}})
        assert [row[0] for row in chart.rows] == ["0 m", "100 m", "1 km", "10 km"]

    def test_thresholds_that_a_curve_does_not_have_are_left_out(self):
        curves = {
            setting(1): {"time": [[0, 0.5], [60, 1.0]]},
            setting(2): {"time": [[0, 0.25], [30, 0.75], [60, 1.0]]},
        }
        (chart,) = curve_charts(curves)
        assert chart.rows == (
            ("0 min", "50.0%", "25.0%"),
            ("30 min", "-", "75.0%"),
            ("60 min", "100.0%", "100.0%"),
        )

    def test_are_drawn_small_before_the_script_has_run(self, all_charts):
        svg = all_charts["off-time"].svgs()["time-1"]
        assert 'width="' in svg
        width = float(svg.split('width="', 1)[1].split('"', 1)[0])
        assert width < 300

    def test_are_drawn_by_vega_as_well(self, all_charts):
        for spec in all_charts["off-time"].drawings.values():
            assert "mark-line" in vl_convert.vegalite_to_svg(with_fixed_width(spec))
