"""What every page has: one HTML file that needs nothing else and asks nobody; its policy.

Text is escaped by the template, data is kept as JSON beside it, and the content security policy
names the one script and the one style by their hashes: nothing else runs, nothing is fetched,
wherever the text of a name or a setting came from.

::

    report.html, comparison.html      a page each; figure.html: a chart with its numbers, in both
    report.css                        the style of both; comparison.css: what that one needs besides
    charts.js                         draws the charts anew, in both; report.js: the decision
"""

import base64
import functools
import hashlib
import json
from pathlib import Path
from typing import Any

import jinja2

from incrowd._visible import visible

__all__ = [
    "TEMPLATES",
    "bundle",
    "css_text",
    "drawn",
    "environment",
    "json_text",
    "policy",
    "safe",
    "style_of",
]


TEMPLATES = Path(__file__).with_name("templates")


def drawn(chart: Any, *, paper: bool = False) -> dict[str, Any]:
    """Return the drawings of a chart, as they stand on the page before its script has run."""
    svgs = chart.svgs(paper=paper).items()
    return {name: safe(visible(svg, lines=True)) for name, svg in svgs}


def style_of(*names: str, foot: str) -> str:
    """Return style sheets in one, with what stands at the foot of printed pages."""
    sheets = [(TEMPLATES / name).read_text(encoding="utf-8") for name in names]
    return "\n".join([*sheets, f'@page {{ @bottom-left {{ content: "{css_text(foot)}"; }} }}\n'])


def safe(text: str) -> Any:
    """Return text that is not escaped again: it was made here, of escaped parts."""
    import markupsafe

    return markupsafe.Markup(text)  # noqa: S704


def css_text(text: str) -> str:
    """Return text that cannot end the string of a style sheet in which it stands."""
    return "".join(sign if sign.isalnum() or sign in " :,.-" else f"\\{ord(sign):x} "
                   for sign in text)  # fmt: skip


def json_text(value: Any) -> str:
    """Return JSON that cannot end the element in which it stands."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029\x7f":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@functools.cache
def bundle(*names: str) -> str:
    """Return Vega, Vega-Lite and scripts of ours, in one."""
    import vl_convert

    own = "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)
    script: str = vl_convert.javascript_bundle(own)
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def policy(script: str, style: str) -> str:
    """Return the content security policy of a page with one script and one style."""
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
def environment() -> jinja2.Environment:
    """Return what makes pages of templates: text is escaped, and what is missing is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
