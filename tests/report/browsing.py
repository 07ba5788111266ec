"""Opening a page in a real browser, and noting everything that it should not do."""

import contextlib
import os
import shutil
from dataclasses import dataclass, field
from typing import Any

import pytest

MISSING = "there is no Chromium: apt-get install chromium, or name one in $CHROMIUM"
NOTE = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (e) =>
  window.violations.push(e.violatedDirective + " " + e.blockedURI + " " + e.sample));
"""

EVIL = (
    "<script>window.hacked=1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "</script><script>window.hacked=1</script>",
    "{{7*7}}{% raw %}",
    "javascript:window.hacked=1",
    "a\u2028b\u2029c<!--",
    "' onmouseover='window.hacked=1",
    "</title></style><svg onload=window.hacked=1>",
)
MARKS = """
() => Object.fromEntries([...document.querySelectorAll("[data-chart]")].map((chart) => {
  const marks = [...chart.querySelectorAll("g[class*=role-mark]")].flatMap(
    (group) => [...group.querySelectorAll("path, rect, line")]);
  const seen = marks.filter((mark) => {
    const box = mark.getBBox();
    return box.width + box.height > 0;
  });
  return [chart.dataset.chart, seen.length];
}))
"""
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa")
CUT_OFF = """() => [...document.querySelectorAll("[data-chart] svg")].flatMap((svg) => {
  const all = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((text) => {
    const its = text.getBoundingClientRect();
    return text.textContent.trim() && its.width > 0 && (its.left < all.left - 1 ||
      its.right > all.right + 1 || its.top < all.top - 1 || its.bottom > all.bottom + 1);
  }).map((text) => text.textContent);
})"""


@dataclass
class Opened:
    """A page, and what it did."""

    page: Any
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def violations(self):
        """What the page's policy stopped."""
        return self.page.evaluate("window.violations")

    def is_quiet(self, file):
        """Tell whether it asked for nothing but itself, and nothing went wrong."""
        found = (self.requests, self.said, self.errors, self.violations)
        return found == ([file.as_uri()], [], [], [])

    def text(self, selector):
        return " ".join(self.page.locator(selector).inner_text().split())


@contextlib.contextmanager
def browsing():
    """Start a browser; skip the tests where there is none."""
    found = [os.environ.get("CHROMIUM"), *map(shutil.which, ("chromium", "chromium-browser"))]
    path = next(filter(None, found), None)
    if path is None:
        pytest.skip(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def opening(browser, file, *, drawn=True, **how):
    """Open a file in a context of its own; nothing else is let through."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | how)
    context.set_default_timeout(20_000)
    context.add_init_script(NOTE)
    opened = Opened(context.new_page())
    own = file.as_uri()

    def route(route):
        address = route.request.url.split("#")[0]
        opened.requests.append(address)
        if address == own:
            route.continue_()
        else:
            route.abort()

    context.route("**/*", route)
    opened.page.on("console", lambda message: opened.said.append(message.text))
    opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
    try:
        opened.page.goto(own)
        if drawn:
            opened.page.wait_for_selector("html[data-drawn]", state="attached")
        yield opened
    finally:
        context.close()


def barriers(browser, file, scheme):
    """Give what axe finds on a page, wide and narrow: rules of levels A and AA that it breaks."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]}
    told = []
    with opening(browser, file, bypass_csp=True, color_scheme=scheme) as seen:
        for width in (1280, 390):
            seen.page.set_viewport_size({"width": width, "height": 900})
            found = Axe().run(seen.page, options=options).response["violations"]
            told += [(each["id"], each["nodes"][0]["html"][:99]) for each in found]
    return told


def widths(browser, file):
    """Give how wide a page is in windows of some widths, with everything opened that can be."""
    found = {}
    with opening(browser, file) as seen:
        for width in (1280, 390):
            seen.page.set_viewport_size({"width": width, "height": 900})
            seen.page.evaluate(
                "document.querySelectorAll('details').forEach((d) => { d.open = true; })"
            )
            found[width] = seen.page.evaluate("document.documentElement.scrollWidth")
    return found
