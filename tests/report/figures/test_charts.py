import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import altair as alt
import pytest

from incrowd.report._figures import charts
from incrowd.report._figures.chart import LIGHT, WIDTH, Chart, solid, with_fixed_width
from incrowd.report._html import TEMPLATES
from report.samples import before, numbers, within

ALL = [
    "k-gap", "uniqueness", "attacks", "accuracy-space", "accuracy-time", "people-space",
    "people-time", "places", "ratio-travelled", "ratio-gyration", "ratio-hull", "together",
    "map", "records",
]  # fmt: skip


@pytest.fixture(scope="module")
def drawn(made):
    return {chart.name: chart for chart in charts(made.numbers)}


class TestCharts:
    def test_all_are_there(self, drawn):
        assert list(drawn) == ALL

    def test_each_is_valid_vega_lite(self, drawn):
        for chart in drawn.values():
            for spec in chart.drawings.values():
                alt.Chart.from_dict(json.loads(json.dumps(spec))).to_dict(validate=True)

    def test_each_has_a_sentence_and_its_numbers(self, drawn):
        for chart in drawn.values():
            assert chart.title
            assert chart.says.endswith(".")
            assert chart.rows
            assert {len(row) for row in chart.rows} == {len(chart.head)}

    def test_each_is_drawn(self, drawn):
        for name in ("uniqueness", "attacks", "places", "ratio-hull"):
            svg = ET.fromstring(drawn[name].svgs()[name])  # noqa: S314
            groups = [g for g in svg.iter() if "role-mark" in (g.get("class") or "")]
            assert groups
            assert all(len(list(group)) for group in groups)

    def test_a_width_of_its_own_where_there_is_no_page(self, drawn):
        spec = drawn["k-gap"].drawings["k-gap"]
        assert spec["width"] == "container"
        assert with_fixed_width(spec)["width"] == WIDTH
        assert spec["width"] == "container"

    def test_series_differ_by_more_than_colour(self, drawn):
        for name in ("uniqueness", "people-space", "people-time", "places"):
            assert '"strokeDash"' in json.dumps(drawn[name].drawings)

    def test_shares_are_those_of_the_numbers(self, drawn, made):
        after = {row.points: row.share for row in made.numbers.before.known()}
        assert [(int(row[0]), row[1]) for row in drawn["uniqueness"].rows] == [
            (points, f"{share:.1%}") for points, share in after.items()
        ]


class TestWithPartsMissing:
    def test_nothing_known(self):
        assert charts(numbers()) == []

    def test_only_the_release(self):
        known = numbers(unique=(0.0, 0.1))
        found = charts(known)
        assert [chart.name for chart in found] == ["uniqueness"]
        assert found[0].head == ("known", "release")
        assert "original" not in found[0].says

    def test_series_of_different_lengths(self):
        known = replace(numbers(unique=(0.0,)), before=before(0.1, 0.9))
        assert charts(known)[0].rows == (("1", "10.0%", "0.0%"), ("2", "90.0%", ""))

    def test_nobody_has_a_home(self):
        nobody = within(None, None)
        found = charts(replace(numbers(), utility=nobody))
        assert [chart.name for chart in found] == ["together"]


class TestColours:
    def test_solid_leaves_no_name_of_a_colour(self, drawn):
        for name in ("uniqueness", "places"):
            svg = drawn[name].svgs()[name]
            assert "var(" in svg
            assert "var(" not in solid(svg)

    def test_are_those_of_the_page(self):
        style = (TEMPLATES / "report.css").read_text()
        light = style[: style.index("@media")]
        assert {f"var({name})": value for name, value in re.findall(r"(--\w+): (#\w+)", light)
                if f"var({name})" in LIGHT} == LIGHT  # fmt: skip

    def test_every_name_is_known(self, drawn):
        named = re.findall(
            r"var\(--\w+\)", json.dumps([chart.drawings for chart in drawn.values()])
        )
        assert set(named) <= set(LIGHT)

    def test_a_chart_is_frozen(self, drawn):
        assert isinstance(drawn["k-gap"], Chart)
        with pytest.raises(AttributeError):
            drawn["k-gap"].title = ""
