"""What is drawn is what the numbers say: marks are read off the axes, as a reader does."""

import math
from dataclasses import replace

import numpy as np
import pytest
import vl_convert

from incrowd.evaluate._utility.distributions import Bin
from incrowd.report._figures import charts
from incrowd.report._figures.chart import with_fixed_width
from report.samples import numbers, within


def walk(node):
    yield node
    for item in node.get("items", ()):
        yield from walk(item)


def drawn(spec):
    """Give the marks of a drawing, by layer, and how its two axes are labelled."""
    nodes = list(walk(vl_convert.vegalite_to_scenegraph(with_fixed_width(spec))["scenegraph"]))
    labels = [node["items"] for node in nodes if node.get("role") == "axis-label"]
    axes = {}
    for items in labels:
        channel = "y" if len({item["x"] for item in items}) == 1 and items[0]["x"] < 0 else "x"
        axes[channel] = [(item[channel], item["text"]) for item in items]
    marks = {}
    for node in nodes:
        if node.get("role") == "mark" and node["marktype"] != "group":
            marks.setdefault(node["name"], []).extend(node["items"])
    return list(marks.values()), axes


def read_off(labels):
    """Give what a pixel means on a labelled axis, linear or logarithmic."""
    known = []
    for pixel, text in labels:
        plain = text.replace("\N{MINUS SIGN}", "-").replace(",", "")
        if not plain:  # of a logarithmic axis some have no room
            continue
        value = float(plain.removesuffix("%")) / (100 if plain.endswith("%") else 1)
        known.append((pixel, value))
    pixels, values = np.array(sorted(set(known))).T
    assert len(pixels) > 1, "an axis with one label tells nothing"
    for to, back in ((lambda v: v, lambda v: v), (np.log10, lambda v: 10**v)):
        if to is np.log10 and (values <= 0).any():
            continue
        slope, start = np.polyfit(pixels, to(values), 1)
        if np.allclose(slope * pixels + start, to(values), atol=0.02 * np.ptp(to(values))):
            return lambda pixel, slope=slope, start=start, back=back: back(slope * pixel + start)
    raise AssertionError(f"labels that are neither linear nor logarithmic: {known}")


def units(spec):
    """Give the layers of a drawing with what they are drawn from."""
    data = spec.get("datasets", {})
    for layer in spec.get("layer", [spec]):
        source = layer.get("data", spec.get("data", {}))
        rows = source["values"] if "values" in source else data[source["name"]]
        if "transform" in layer:  # squares of a map are numbered
            side = float(layer["transform"][0]["calculate"].rsplit("*", 1)[1])
            rows = [
                {name: row[name] * side for name in ("east", "north")}
                | {f"{name}_to": (row[name] + 1) * side for name in ("east", "north")}
                for row in rows
            ]
        mark = layer["mark"]
        yield layer, rows
        if isinstance(mark, dict) and mark.get("point"):
            yield layer, rows  # the dots of a line are marks of their own


def check(spec):
    """Compare every mark with its number."""
    marks, axes = drawn(spec)
    laid = list(units(spec))
    assert len(marks) == len(laid)
    seen = 0
    for items, (layer, rows) in zip(marks, laid, strict=True):
        for channel in ("x", "y"):
            how = layer["encoding"].get(channel, {})
            if how.get("type") != "quantitative" or "field" not in how:
                continue
            read = read_off(axes[channel])
            other = layer["encoding"].get(f"{channel}2", {}).get("field")
            wanted = [row[how["field"]] for row in rows] + [row[other] for row in rows if other]
            edges = [item.get(end) for item in items for end in (channel, f"{channel}2")]
            far = [read(edge) for edge in edges if edge is not None]
            if other is None and items and f"{channel}2" in items[0]:  # bars begin at 0
                far = [max(pair) for pair in zip(far[::2], far[1::2], strict=True)]
            assert sorted(far) == pytest.approx(sorted(wanted), rel=0.03, abs=0.01)
            seen += len(far)
    assert seen


def test_every_mark_is_its_number(made):
    for chart in charts(made.numbers):
        for spec in chart.drawings.values():
            check(spec)


class TestRatios:
    """Of a release in which something has vanished."""

    @staticmethod
    def charted(*ratios):
        known = within(0.5, 0.5)
        hull = replace(known.persons.hull, unit="km2", twofold=0.5)
        bins = tuple(Bin(10.0**i, 10.0 ** (i + 1), 12, *ratio) for i, ratio in enumerate(ratios))
        persons = replace(known.persons, hull=replace(hull, bins=bins))
        found = charts(replace(numbers(), utility=replace(known, persons=persons)))
        return next(chart for chart in found if chart.name == "ratio-hull")

    @pytest.mark.parametrize(
        "ratios",
        [
            [(0.5, 0.9, 1.1), (0.0, 0.43, 2.6)],
            [(0.0, 0.0, 0.4), (0.2, 2.6, 3.0), (0.0, 0.0, 0.0)],
            [(0.0, 0.0, 0.0)],
            [(0.3, 0.5, 0.8)],
            [(1.0, 1.0, 1.0)],
        ],
    )
    def test_vanished_values_are_drawn_as_such(self, ratios):
        chart = self.charted(*ratios)
        (spec,) = chart.drawings.values()
        marks, axes = drawn(spec)
        read = read_off(axes["y"])
        dots = [row for row in ratios if row[1] > 0]
        gone = [row for row in ratios if row[1] == 0]
        assert read(marks[0][0]["y"]) == pytest.approx(1, rel=0.02)
        assert len(marks) == 2 + bool(dots) + bool(gone)
        if dots:
            found = [read(item["y"]) for item in marks[2]]
            assert found == pytest.approx([row[1] for row in dots], rel=0.02)
        lowest = max(pixel for pixel, _ in axes["y"])
        if gone:
            assert {item["shape"] for item in marks[-1]} == {"triangle-down"}
            assert all(item["y"] >= lowest for item in marks[-1])
        assert ("a median of 0" in chart.says) == bool(gone)
        assert [row[3] for row in chart.rows] == [f"{row[1]:.2f}" for row in ratios]
        assert not any(math.isnan(item["y"]) for items in marks for item in items)
