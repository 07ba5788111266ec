"""A chart: its title, one sentence, its drawing by Altair, and its numbers as a table.

Colours are names of the page's style (``var(--before)``), so that one drawing serves light and
dark; where there is no page around it, `solid` puts real colours in. Series differ by more than
their colour: by dash, by shape, or by place.
"""

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt

__all__ = [
    "AFTER",
    "BEFORE",
    "CLASSES",
    "LIGHT",
    "STROKE",
    "THIRD",
    "Chart",
    "finish",
    "on_paper",
    "one",
    "solid",
    "values",
    "with_fixed_width",
]


BEFORE, AFTER, THIRD = "var(--before)", "var(--after)", "var(--third)"
CLASSES = [f"var(--map{i})" for i in range(1, 6)]
LIGHT = {
    "var(--before)": "#b34700",
    "var(--after)": "#0068a8",
    "var(--third)": "#007a5a",
    "var(--ink)": "#1b1f24",
    "var(--soft)": "#57606a",
    "var(--line)": "#d0d7de",
    "var(--map1)": "#d6e4ef",
    "var(--map2)": "#9ec5de",
    "var(--map3)": "#5b9dc6",
    "var(--map4)": "#2270a3",
    "var(--map5)": "#0b3f66",
}
"""The colours of the light page; the style sheet has the same."""
WIDTH, HEIGHT = 640, 260
PAPER_FONT, PAPER_TITLE = 8.5, 36
"""On paper: the size of text, and how long a line of an axis's title is in a narrow drawing."""
PAPER_TWO, PAPER_THREE = (335, 0.31), (218, 0.38)
"""On paper: how wide a drawing is in one of two and of three columns, and its share of height."""
PAPER_NARROW = ("exposure",)
"""Sections whose charts stand on paper in three columns, as the style has it."""
CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--ink)",
        "gridColor": "var(--line)",
        "domainColor": "var(--soft)",
        "tickColor": "var(--soft)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 220,
    },
    "legend": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--ink)",
        "labelFontSize": 12,
        "orient": "top",
        "title": None,
        "symbolStrokeWidth": 2.5,
        "symbolSize": 200,
    },
    "header": {"labelColor": "var(--ink)", "titleColor": "var(--ink)", "labelFontSize": 12},
    "title": {"color": "var(--ink)", "fontSize": 13, "anchor": "start", "fontWeight": "normal"},
    "text": {"color": "var(--ink)"},
}
STROKE = alt.Legend(symbolType="stroke")


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart, of one drawing or of several that belong together.

    Attributes
    ----------
    name
        For files and links.
    section
        Where it stands on the page.
    title, says
        What it shows, and what is to be seen in it.
    drawings
        Each in Vega-Lite, by a name of its own.
    head, rows
        The same as a table, for those who do not see it.
    labels
        What stands over each drawing, by its name, where they are many small ones.
    width
        How wide drawings are that fit their place, before they are fitted to it.
    """

    name: str
    section: str
    title: str
    says: str
    drawings: Mapping[str, Mapping[str, Any]]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    width: float = WIDTH

    def svgs(self, *, paper: bool = False) -> dict[str, str]:
        """Draw everything, in the colours of the page's style; small, for columns of paper."""
        import vl_convert

        many = len(self.drawings) > 2  # noqa: PLR2004  they stand in one row
        narrow = self.section in PAPER_NARROW
        sized = {
            name: on_paper(spec, many=many, narrow=narrow)
            if paper
            else with_fixed_width(spec, self.width)
            for name, spec in self.drawings.items()
        }
        return {name: vl_convert.vegalite_to_svg(spec) for name, spec in sized.items()}


def one(name: str, section: str, title: str, says: str, spec: Mapping[str, Any],
        head: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Chart:  # fmt: skip
    """Return a chart of one drawing, which has its name."""
    return Chart(name, section, title, says, {name: spec}, head, rows)


def with_fixed_width(spec: Mapping[str, Any], width: float = WIDTH) -> dict[str, Any]:
    """Return a specification with a width of its own, for where there is no page."""
    fixed: dict[str, Any] = json.loads(json.dumps(spec))
    if fixed.get("width") == "container":
        fixed["width"] = width
    return fixed


def on_paper(
    spec: Mapping[str, Any], *, many: bool = False, narrow: bool = False
) -> dict[str, Any]:
    """Return a specification that is read at its own size in a column of a printed page.

    Drawings with a width of their own become half as large, and smaller if there are many.
    """
    small: dict[str, Any] = json.loads(json.dumps(spec))
    if small.get("width") == "container":
        small["width"], share = PAPER_THREE if narrow else PAPER_TWO
        small["height"] *= share
        small["autosize"] = {"type": "fit-x", "contains": "padding"}
    else:
        share = 0.26 if many else 0.5
        small["width"], small["height"] = share * small["width"], share * small["height"]
    for part in ("axis", "legend", "header", "title"):
        sizes = (name for name in small["config"][part] if name.lower().endswith("fontsize"))
        small["config"][part] |= dict.fromkeys(sizes, PAPER_FONT)
    small["config"]["axis"] |= {"labelOverlap": "greedy", "labelSeparation": 3, "labelLimit": 140}
    # The title of a short axis lies on top of it, for along it there is no room.
    small["config"]["axisY"] = {
        "titleAngle": 0, "titleAlign": "left", "titleBaseline": "bottom", "titleX": 0, "titleY": -5,
    }  # fmt: skip
    if narrow:
        _break_titles(small)
    small["padding"] = {"left": 14, "right": 8, "top": 4, "bottom": 4}
    small["config"]["legend"] |= {"symbolSize": 90, "columnPadding": 5, "labelOffset": 2}
    return small


def _break_titles(part: Any) -> None:
    """Break long titles of horizontal axes into lines, wherever they are in a specification."""
    for each in part.values() if isinstance(part, dict) else part:
        if isinstance(each, dict | list):
            _break_titles(each)
    x = part.get("x") if isinstance(part, dict) else None
    if isinstance(x, dict) and isinstance(x.get("title"), str):
        x["title"] = textwrap.wrap(x["title"], PAPER_TITLE)


def solid(text: str) -> str:
    """Put real colours in place of names."""
    for name, colour in LIGHT.items():
        text = text.replace(name, colour)
    return text


def finish(chart: Any, *, height: float = HEIGHT, width: float | None = None) -> dict[str, Any]:
    """Return the specification of a chart: as wide as its place on the page, or of a width.

    A drawing with a width of its own, such as a map, keeps its proportions when it is scaled.
    """
    chart = chart.properties(width="container" if width is None else width, height=height)
    # Checked against the schema by a test, and not for every reader: that takes longer than all.
    spec: dict[str, Any] = chart.configure(**CONFIG).to_dict(validate=False)
    return spec


def values(rows: Sequence[Mapping[str, Any]]) -> alt.Data:
    """Give rows as the data of a chart."""
    return alt.Data(  # type: ignore[no-untyped-call]
        values=[dict(row) for row in rows]
    )
