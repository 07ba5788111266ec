import itertools
import json

import pytest

from incrowd.report._comparison_page import comparison_page
from report.browsing import CUT_OFF, EVIL, MARKS, barriers, browsing, opening, widths
from report.comparisons import WHY, comparison, many, undone
from report.test_comparison_page import poisoned
from strategies import only_deep

FOCUS = """() => [...document.querySelectorAll("a[href], summary, [tabindex='0']")]
  .filter((each) => each.checkVisibility()).length"""
WHY_NOT = "200 people cannot hide in a crowd of 1000"


@pytest.fixture(scope="module")
def browser():
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Give a page with columns of all kinds, and one that was refused."""
    found = undone(comparison(), "glove:k=5", "refused", WHY_NOT)
    path = tmp_path_factory.mktemp("page") / "comparison.html"
    path.write_text(comparison_page(found), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Give a page with so many columns that its tables are wider than a window."""
    path = tmp_path_factory.mktemp("page") / "wide.html"
    path.write_text(comparison_page(many(12)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def opened(browser, file):
    with opening(browser, file, color_scheme="light") as opened:
        yield opened


class TestAlone:
    def test_asks_nobody_and_nothing_goes_wrong(self, opened, file):
        assert opened.is_quiet(file)

    def test_hovering_breaks_nothing(self, browser, file):
        with opening(browser, file) as seen:
            seen.page.locator("[data-chart='trade-off'] .mark-symbol path").last.hover()
            tip = seen.page.locator("#vg-tooltip-element.visible")
            tip.wait_for()
            said = tip.inner_text()
            assert "samples lost, or far off" in said
            assert "worst of the attacks" in said
            assert seen.is_quiet(file)


class TestCharts:
    def test_each_has_marks(self, opened):
        marks = opened.page.evaluate(MARKS)
        panels = [f"{kind}-{i}" for kind in ("space", "time") for i in (1, 3, 4, 5)]
        assert list(marks) == ["trade-off", *panels]
        assert all(marks.values()), marks

    def test_each_has_marks_before_the_script_has_run(self, browser, file):
        with opening(browser, file, drawn=False, java_script_enabled=False) as still:
            charts = still.page.locator("[data-chart]").all()
            assert len(charts) == 9
            for chart in charts:
                assert chart.locator("svg g[class*=role-mark] >> css=path, rect").count()
            assert (still.requests, still.said, still.errors) == ([file.as_uri()], [], [])

    def test_each_has_its_numbers_as_a_table(self, opened):
        figures = opened.page.locator("figure").all()
        assert len(figures) == 3
        for figure in figures:
            assert figure.locator("details table tbody tr").count() > 0
            title = figure.locator("h3").inner_text()
            label = figure.locator("[role=img]").get_attribute("aria-label")
            assert label.startswith(f"{title}. ")

    @pytest.mark.parametrize("width", [1280, 390])
    def test_no_text_of_a_chart_is_cut_off(self, browser, wide, width):
        with opening(browser, wide, viewport={"width": width, "height": 900}) as seen:
            assert seen.page.evaluate(CUT_OFF) == []


class TestTables:
    def test_the_first_column_stays_in_sight(self, browser, wide):
        with opening(browser, wide, viewport={"width": 390, "height": 900}) as seen:
            box = seen.page.locator("#useful .scroll")
            head = box.locator("tbody tr:not(.section) th").first
            before = head.bounding_box()
            moved = box.evaluate("(box) => { box.scrollLeft = 1e6; return box.scrollLeft; }")
            assert moved > 300
            assert head.bounding_box()["x"] == pytest.approx(before["x"], abs=1)
            last = box.locator("tbody tr:not(.section) td").nth(11).bounding_box()
            assert last["x"] >= before["x"] + before["width"] - 1
            assert last["x"] + last["width"] <= 390

    def test_the_best_is_marked_by_a_sign_and_in_words(self, opened):
        best = opened.page.locator("#useful td.best").all()
        assert best
        for each in best:
            assert each.inner_text().startswith("★")
            assert "best:" in each.text_content()

    def test_a_link_leads_to_the_reason(self, browser, file):
        with opening(browser, file) as seen:
            seen.page.get_by_role("link", name="reason 1").first.click()
            assert (
                seen.page.locator(":target").inner_text() == f"1 GLOVE, k = 5: refused. {WHY_NOT}"
            )
            assert seen.page.get_by_text(WHY).first.is_visible()

    def test_what_is_said_is_what_is_in_the_data(self, opened):
        told = json.loads(opened.page.locator("#comparison").text_content())
        assert told["columns"][1]["why"] == WHY_NOT
        assert opened.page.locator("#private thead th").count() == len(told["columns"]) + 2


class TestEverywhere:
    @pytest.mark.parametrize("scheme", ["light", *only_deep("dark")])
    def test_no_barrier_of_level_a_or_aa(self, browser, file, scheme):
        assert barriers(browser, file, scheme) == []

    def test_nothing_is_wider_than_the_window(self, browser, wide):
        assert all(found <= width for width, found in widths(browser, wide).items())

    def test_on_paper_everything_is_there_and_white(self, browser, wide, file):
        for page in (file, wide):
            with opening(browser, page, color_scheme="dark") as seen:
                seen.page.emulate_media(media="print")
                seen.page.set_viewport_size({"width": 1039, "height": 700})  # A4, the long way
                ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
                assert ground == "rgb(255, 255, 255)"
                assert all(chart.is_visible() for chart in seen.page.locator(".chart svg").all())
                assert not seen.page.locator("nav").is_visible()
                assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1039
                assert seen.page.pdf(prefer_css_page_size=True).startswith(b"%PDF-")

    def test_the_keyboard_reaches_every_table(self, browser, file):
        with opening(browser, file) as seen:
            expected = seen.page.evaluate(FOCUS)
            reached = []
            for _ in range(expected):
                seen.page.keyboard.press("Tab")
                reached.append(
                    seen.page.evaluate(
                        "[document.activeElement.tagName, document.activeElement.ariaLabel]"
                    )
                )
            assert "BODY" not in [tag for tag, _ in reached]
            for table in ("Is it private?", "Is it useful?", "What does it cost?"):
                assert ["DIV", table] in reached


class TestHostile:
    def test_text_is_text_wherever_it_stands(self, browser, tmp_path):
        found = poisoned(comparison(), itertools.cycle(EVIL))
        for row, evil in zip(found["rows"], itertools.cycle(EVIL), strict=False):
            row |= {"section": evil}
        found = undone(found, "cloak:60", "failed", EVIL[0])
        file = tmp_path / "evil.html"
        file.write_text(comparison_page(found), encoding="utf-8")
        with opening(browser, file) as seen:
            for mark in seen.page.locator("[data-chart='trade-off'] .mark-symbol path").all():
                mark.hover(force=True)
            assert seen.page.evaluate("window.hacked") is None
            assert seen.is_quiet(file)
            assert all(seen.page.evaluate(MARKS).values())
            told = json.loads(seen.page.locator("#comparison").text_content())
            assert told == found | {"meant_for": "owner"}
