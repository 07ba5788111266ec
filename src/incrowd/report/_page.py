"""The page of a report: everything that the numbers say, as one file (`_html`)."""

from incrowd.report._figures import charts
from incrowd.report._html import bundle, drawn, environment, json_text, policy, safe, style_of
from incrowd.report._numbers import Numbers
from incrowd.report._text import words

__all__ = [
    "page",
]


SECTIONS = (
    ("verdict", "Verdict and decision"),
    ("exposure", "Exposure before"),
    ("done", "What was done"),
    ("proof", "Proof"),
    ("left", "What is left"),
    ("limits", "What it does not protect against"),
    ("reproduce", "How to reproduce it"),
)


def page(numbers: Numbers, *, paper: bool = False) -> str:
    """Give the page that says what the numbers say.

    On paper its charts are small and their text is not, and there is no script to draw them anew.
    """
    script, figures = "" if paper else _script(), charts(numbers)
    said = words(numbers)
    style = style_of("report.css", foot=said["foot"])
    return environment().get_template("report.html").render(
        n=numbers,
        paper=paper,
        verdict=numbers.verdict,
        words=said,
        sections=SECTIONS,
        charts=[(chart, drawn(chart, paper=paper)) for chart in figures],
        style=safe(style),
        script=safe(script),
        policy=policy(script, style),
        numbers_json=safe(json_text(numbers.as_dict())),
        specs={name: safe(json_text(spec)) for chart in figures
               for name, spec in chart.drawings.items()},
    )  # fmt: skip


def _script() -> str:
    """Give what draws the charts, and keeps the decision."""
    return bundle("charts.js", "report.js")
