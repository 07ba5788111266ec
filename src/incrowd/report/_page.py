"""The page: one HTML file that needs nothing else, runs only its own script, and asks nobody.

Text is escaped by the template, numbers are kept as JSON beside it, and the content security
policy names the one script and the one style by their hashes: nothing else runs, nothing is
fetched, wherever the text of a name or a setting came from.
"""

import base64
import functools
import hashlib
import json
from pathlib import Path
from typing import Any

import jinja2

from incrowd._visible import visible
from incrowd.report._figures import charts
from incrowd.report._numbers import Numbers
from incrowd.report._text import words

__all__ = [
    "page",
]


TEMPLATES = Path(__file__).with_name("templates")
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

    def drawn(chart: Any) -> dict[str, Any]:
        svgs = chart.svgs(paper=paper).items()
        return {name: _safe(visible(svg, lines=True)) for name, svg in svgs}

    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    script, figures = "" if paper else _script(), charts(numbers)
    said = words(numbers)
    style += f'\n@page {{ @bottom-left {{ content: "{_css_text(said["foot"])}"; }} }}\n'
    return _environment().get_template("report.html").render(
        n=numbers,
        paper=paper,
        verdict=numbers.verdict,
        words=said,
        sections=SECTIONS,
        charts=[(chart, drawn(chart)) for chart in figures],
        style=_safe(style),
        script=_safe(script),
        policy=_policy(script, style),
        numbers_json=_safe(_json(numbers.as_dict())),
        specs={name: _safe(_json(spec)) for chart in figures
               for name, spec in chart.drawings.items()},
    )  # fmt: skip


def _safe(text: str) -> Any:
    import markupsafe

    return markupsafe.Markup(text)  # noqa: S704  made here, of escaped parts


def _css_text(text: str) -> str:
    """Give text that cannot end the string of a style sheet in which it stands."""
    return "".join(sign if sign.isalnum() or sign in " :,.-" else f"\\{ord(sign):x} "
                   for sign in text)  # fmt: skip


def _json(value: Any) -> str:
    """Give JSON that cannot end the element in which it stands."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029\x7f":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@functools.cache
def _script() -> str:
    """Give Vega, Vega-Lite and what draws the charts, in one."""
    import vl_convert

    own = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    bundle: str = vl_convert.javascript_bundle(own)
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _shown(value: Any) -> Any:
    """Write out characters that turn the direction of text or show nothing; not in what is ours."""
    return visible(value, lines=True) if type(value) is str else value


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
