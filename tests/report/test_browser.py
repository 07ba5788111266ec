import base64
import dataclasses
import hashlib
import itertools
import json
import re
from collections.abc import Mapping

import polars as pl
import pytest

import incrowd
from incrowd._visible import visible
from incrowd.data._manifest import read_release
from incrowd.evaluate._decision import _read_report
from incrowd.evaluate._publish import publish
from incrowd.report._glossary import GLOSSARY
from incrowd.report._page import SECTIONS, page
from incrowd.report._thresholds import LIGHTS
from incrowd.report._verdict import judge
from report.browsing import CUT_OFF, EVIL, MARKS, barriers, browsing, opening, widths
from strategies import in_deep, only_deep

FOCUS = """
() => {
  const some = "a[href], summary, [tabindex='0'], button, textarea, input:not([type='radio'])";
  // The keyboard goes to a group of radio buttons once.
  const all = [...document.querySelectorAll(`${some}, [value='share']`)];
  return all.filter((each) => each.checkVisibility()).length;
}
"""


@pytest.fixture(scope="module")
def browser():
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def file(html, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def opened(browser, file):
    with opening(browser, file, color_scheme="light") as opened:
        yield opened


@pytest.fixture(scope="module")
def told(opened):
    """Read the numbers that are on the page."""
    return json.loads(opened.page.locator("#numbers").text_content())


SMALLEST_TEXT = """() => {
  const sizes = (where) => [...document.querySelectorAll(where)].flatMap((svg) => {
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return [...svg.querySelectorAll("text")].map(
      (text) => scale * parseFloat(getComputedStyle(text).fontSize));
  });
  return {charts: sizes(".chart:not(.pair) svg"), pairs: sizes(".pair svg")};
}"""


class TestAlone:
    def test_asks_nobody_and_nothing_goes_wrong(self, opened, file):
        assert opened.is_quiet(file)

    def test_the_policy_is_strict_and_its_hashes_are_true(self, html):
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
        rules = dict(
            rule.split(" ", 1) for rule in policy.replace("&#39;", "'").split("; ") if rule
        )
        assert rules["default-src"] == "'none'"
        assert "unsafe" not in policy
        assert set(rules) == {
            "default-src", "script-src", "style-src", "img-src", "base-uri", "form-action",
        }  # fmt: skip
        for element, rule in (("script", "script-src"), ("style", "style-src")):
            inside = html.split(f"<{element}>", 1)[1].split(f"</{element}>", 1)[0]
            digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
            assert rules[rule] == f"'sha256-{digest}'"

    def test_is_small(self, html):
        assert len(html.encode()) < 3_000_000

    def test_points_nowhere(self, opened):
        addresses = opened.page.evaluate(
            "[...document.querySelectorAll('[href], [src]')].map("
            "(e) => e.getAttribute('href') || e.getAttribute('src'))"
        )
        sections = {f"#{name}" for name, _ in SECTIONS}
        assert set(addresses) == sections
        for name in sections:
            assert opened.page.locator(name).count() == 1


class TestCharts:
    def test_each_has_marks(self, opened):
        marks = opened.page.evaluate(MARKS)
        assert len(marks) == 12 + 2 + 6  # charts, the map before and after, three records twice
        assert all(marks.values()), marks

    def test_each_has_marks_before_the_script_has_run(self, browser, file):
        with opening(browser, file, drawn=False, java_script_enabled=False) as still:
            for chart in still.page.locator("[data-chart]").all():
                assert chart.locator("svg g[class*=role-mark] >> css=path, rect").count()
            assert still.page.locator("#headline").is_visible()
            assert (still.requests, still.said, still.errors) == ([file.as_uri()], [], [])

    def test_the_first_is_in_the_file_as_delivered(self, html):
        body = html.split('data-chart="k-gap">', 1)[1]
        assert body.startswith("<svg")
        assert "mark-line role-mark" in body.split("</svg>")[0]
        assert html.index('data-chart="k-gap"') < html.index("<script")

    def test_the_map_has_squares_and_records_have_boxes(self, opened, told):
        cells = told["utility"]["together"]["map"]["cells"]
        marks = opened.page.evaluate(MARKS)
        for index, name in ((2, "map-original"), (3, "map-release")):
            shown = sum(cell[index] is not None for cell in cells)
            assert marks[name] == shown > 0
        for number, record in enumerate(told["drawn"], 1):
            assert marks[f"records-{number}-space"] == len(record["boxes"])
            assert marks[f"records-{number}-time"] >= 1

    def test_each_has_its_numbers_as_a_table(self, opened):
        for figure in opened.page.locator("figure").all():
            assert figure.locator("details table tbody tr").count() > 0
            title = figure.locator("h3").inner_text()
            label = figure.locator("[role=img]").get_attribute("aria-label")
            assert label.startswith(f"{title}. ")


class TestWords:
    def test_the_verdict_is_that_of_the_numbers(self, opened, told, made):
        verdict = judge(made.numbers)
        assert verdict == made.verdict
        assert told == json.loads(made.json())
        assert opened.text("#headline") == verdict.headline
        assert opened.text("#use") == verdict.use
        use = opened.page.locator(".verdict.use").get_attribute("class")
        assert use == f"verdict use {verdict.use_level}"
        lights = opened.page.locator(".lights > li")
        assert lights.count() == len(verdict.lights) == len(LIGHTS)
        for shown, light in zip(lights.all_inner_texts(), verdict.lights, strict=True):
            for text in (light.about, light.word, light.value, light.says, light.thresholds):
                assert text in " ".join(shown.split())
        three = [
            " ".join(text.split()) for text in opened.page.locator(".three > li").all_inner_texts()
        ]
        assert three == [f"{each['value']} {each['what']}" for each in verdict.three]
        assert verdict.loss in opened.text(".verdict.use")

    def test_levels_are_seen(self, opened, told):
        classes = opened.page.evaluate(
            "[...document.querySelectorAll('.lights .badge')].map((e) => e.className)"
        )
        assert classes == [f"badge {light['level']}" for light in told["verdict"]["lights"]]

    def test_numbers_are_those_of_the_files(self, opened, told, release, city):
        rows = read_release(release).table.collect()
        wide = pl.max_horizontal(
            pl.col("x_max") - pl.col("x_min"), pl.col("y_max") - pl.col("y_min")
        )
        long = pl.col("t_end") - pl.col("t_start")
        space, time = wide <= 2000, long <= pl.duration(hours=2)
        # Best boxes do not overlap in time: a sample lies in the last that began before it.
        who = pl.read_parquet(release.parent / "who.parquet").select("user", "person")
        moment = pl.col("t0").cast(pl.Int64) * city.frame.slot + city.frame.origin
        at = pl.from_epoch(moment, "s").dt.replace_time_zone("UTC")
        held = (
            city.boxes()
            .join(who, on="user")
            .select("person", at.cast(rows["t_start"].dtype).alias("at"))
            .sort("at")
            .join_asof(
                rows.sort("t_start"), left_on="at", right_on="t_start", by="person",
                check_sortedness=False,
            )
        )  # fmt: skip
        assert len(held) == city.samples
        shares = held.select(
            space.mean(), (space & time).mean().alias("both"), time.mean().alias("t")
        )
        in_space, both, in_time = shares.row(0)
        loss = opened.text(".verdict.use")
        said = f"{in_space:.0%} of the original samples lie in a published one of up to 2 km, "
        assert said + f"{in_time:.0%} in one of up to 2 hours" in loss
        records = rows.group_by("person").agg(pl.struct(pl.exclude("person")).alias("all"))
        crowds = records.group_by("all").len()["len"]
        known = {
            row["points"]: row["share"]
            for row in told["before"]["uniqueness"]
            if row["kind"] == "spatio_temporal"
        }
        three = opened.page.locator(".three b").all_inner_texts()
        assert three == [f"{crowds.min()}", f"{known[4]:.0%} → 0%", f"{both:.0%}"]
        assert opened.text("header").startswith(
            f"Privacy report of a release {rows['person'].n_unique()} people, {len(rows):,} "
        )
        assert f"{city.samples:,}" in opened.text("#exposure")

    def test_every_share_of_exposure_is_in_the_numbers(self, opened, told):
        risk = max(row["told_apart"] for row in told["before"]["risk"]["attacks"])
        said = opened.text("#exposure")
        assert f"the strongest uniquely re-identifies {risk:.0%} of people" in said
        gap = told["before"]["k_gap"]
        assert f"of {gap['spread']['median']:.3f} or less; nobody was hidden already" in said
        assert f"for {gap['time_above_space']:.0%} of people, time costs more than space" in said

    def test_every_check_is_shown(self, opened, told):
        shown = opened.page.locator("#proof tbody tr").all_inner_texts()
        assert len(shown) == len(told["verification"]["checks"]) == 10
        for text, check in zip(shown, told["verification"]["checks"], strict=True):
            assert " ".join(text.split()) == f"{check['name']} ✓ ok {check['says']}"


class TestDecision:
    def test_what_is_filled_in_travels_into_the_saved_page(self, browser, file, tmp_path):
        with opening(browser, file) as seen:
            seen.page.get_by_label("Share it with the conditions below").check()
            seen.page.get_by_label("Name and role").fill('A. "Diop" & <b>co</b>')
            seen.page.get_by_role("textbox", name="Conditions").fill(
                "1. No linkage\n2. Deleted in 2030"
            )
            with seen.page.expect_download() as saving:
                seen.page.get_by_role("button").click()
            saved = tmp_path / "saved.html"
            saving.value.save_as(saved)
            assert seen.is_quiet(file)
        _, answers = _read_report(saved)
        assert answers["decision"] == "conditions"
        assert answers["name"] == 'A. "Diop" & <b>co</b>'
        assert answers["conditions"] == "1. No linkage\n2. Deleted in 2030"
        with opening(browser, saved) as seen:
            assert seen.page.get_by_label("Name and role").input_value() == answers["name"]
            assert seen.page.get_by_label("Share it with the conditions below").is_checked()
            assert seen.page.evaluate("document.querySelectorAll('form b').length") == 0
            assert all(seen.page.evaluate(MARKS).values())

    def test_conditions_are_proposed(self, opened, made):
        text = opened.page.get_by_role("textbox", name="Conditions").input_value()
        assert all(condition in text for condition in made.verdict.conditions)

    def test_the_three_questions_are_answered(self, opened, made):
        shown = opened.page.locator("#questions tbody tr").all_inner_texts()
        assert len(shown) == len(made.verdict.questions) == 3
        for row, question in zip(shown, made.verdict.questions, strict=True):
            assert question.name in row
            assert question.figure in row

    def test_every_term_of_the_glossary_is_said_on_the_page_and_explained(self, opened):
        page = opened.page.evaluate(
            "() => {const all = document.body.cloneNode(true); all.querySelector('dl').remove();"
            "all.querySelectorAll('script, style').forEach((each) => each.remove());"
            "return all.textContent.toLowerCase()}"
        )
        known = {term for names, _ in GLOSSARY for term in names.lower().split(", ")}
        terms = (
            "k-gap", "record linkage", "radius of gyration", "centre of mass", "private record",
            "witness", "sha-256", "singling out", "linkability", "inference", "cell", "slot",
            "sample", "crowd", "median", "strict", "glove", "manifest", "release", "home",
            "workplace",
        )  # fmt: skip
        assert all(term in page for term in terms)
        assert set(terms) <= known


class TestEverywhere:
    @pytest.mark.parametrize("scheme", ["light", *only_deep("dark")])
    def test_no_barrier_of_level_a_or_aa(self, browser, file, scheme):
        assert barriers(browser, file, scheme) == []

    def test_nothing_is_wider_than_the_window(self, browser, file):
        assert all(wide <= width for width, wide in widths(browser, file).items())

    @pytest.mark.parametrize("width", [1280, 390])
    def test_no_text_of_a_chart_is_cut_off(self, browser, file, width):
        # A page of that width from the start: charts are drawn when it opens.
        with opening(browser, file, viewport={"width": width, "height": 900}) as seen:
            assert seen.page.evaluate(CUT_OFF) == []

    def test_on_paper_no_text_of_a_chart_is_cut_off_or_too_small(self, browser, made, tmp_path):
        sheet = tmp_path / "paper.html"
        sheet.write_text(page(made.numbers, paper=True), encoding="utf-8")
        with opening(browser, sheet, drawn=False) as seen:
            seen.page.emulate_media(media="print")
            seen.page.set_viewport_size({"width": 695, "height": 1000})  # A4 within its margins
            assert seen.page.evaluate(CUT_OFF) == []
            small = seen.page.evaluate(SMALLEST_TEXT)
            assert min(small["charts"]) >= 8
            assert min(small["pairs"]) >= 6

    def test_light_and_dark(self, browser, file):
        colours = []
        with opening(browser, file) as seen:
            for scheme in ("light", "dark"):
                seen.page.emulate_media(color_scheme=scheme)
                found = "getComputedStyle(document.body)"
                ground, text = (f"{found}.{name}" for name in ("backgroundColor", "color"))
                colours.append(seen.page.evaluate(f"[{ground}, {text}]"))
            (light, ink), (dark, chalk) = colours
            assert light == "rgb(255, 255, 255)"
            assert len({light, dark, ink, chalk}) == 4

    def test_paper_is_white_and_has_everything(self, browser, file):
        with opening(browser, file, color_scheme="dark") as seen:
            seen.page.emulate_media(media="print")
            ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert ground == "rgb(255, 255, 255)"
            assert seen.page.locator("#headline").is_visible()
            assert all(chart.is_visible() for chart in seen.page.locator(".chart svg").all())
            assert not seen.page.locator("nav").is_visible()
            pdf = seen.page.pdf()
        assert pdf.startswith(b"%PDF-")
        assert len(pdf) > 50_000


class TestKeyboard:
    def test_reaches_everything_the_skip_link_first(self, browser, file):
        with opening(browser, file) as seen:
            expected = seen.page.evaluate(FOCUS)
            reached = []
            for _ in range(expected):
                seen.page.keyboard.press("Tab")
                reached.append(
                    seen.page.evaluate(
                        "[document.activeElement.tagName, document.activeElement.innerText]"
                    )
                )
            assert reached[0] == ["A", "Skip to the verdict"]
            names = [name for _, name in SECTIONS]
            assert [text for _, text in reached[1 : 1 + len(names)]] == names
            assert "BODY" not in [tag for tag, _ in reached]
            assert (
                sum(tag == "SUMMARY" for tag, _ in reached) == seen.page.locator("summary").count()
            )
            seen.page.keyboard.press("Tab")
            assert seen.page.evaluate("document.activeElement.tagName") in ("BODY", "A")

    def test_details_open_with_enter(self, browser, file):
        with opening(browser, file) as seen:
            summary = seen.page.locator("summary").first
            table = seen.page.locator("details table").first
            assert not table.is_visible()
            summary.focus()
            seen.page.keyboard.press("Enter")
            assert table.is_visible()
            seen.page.keyboard.press("Enter")
            assert not table.is_visible()


KEPT = ("kind", "attack", "level", "group", "answer", "sha256", "name", "ok")
"""What the page is drawn by; everything else is text that somebody else may have written."""


def poisoned(value, words):
    """Put hostile text in place of every text, and beside every name that somebody else chose."""
    if dataclasses.is_dataclass(value):
        parts = ((each.name, getattr(value, each.name)) for each in dataclasses.fields(value))
        return dataclasses.replace(
            value, **{name: poisoned(of, words) for name, of in parts if name not in KEPT}
        )
    if isinstance(value, Mapping):
        return {name: poisoned(part, words) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(poisoned(part, words) for part in value)
    return next(words) if isinstance(value, str) else value


class TestHostile:
    def test_text_is_text_wherever_it_stands(self, browser, made, tmp_path):
        known = poisoned(made.numbers, itertools.cycle(EVIL))
        evil = {text: text for text in EVIL}
        settings = dict(known.settings.settings) | evil
        checks = tuple(
            dataclasses.replace(check, name=f"{check.name}{EVIL[0]}")
            if check.name in ("sizes", "names")
            else check
            for check in known.verification.checks
        )
        known = dataclasses.replace(
            known,
            title=EVIL[0],
            given=dataclasses.replace(known.given, purpose="contract"),
            settings=dataclasses.replace(
                known.settings,
                settings=settings | {"nested": {EVIL[1]: [EVIL[2], evil]}},
                losses=dict(known.settings.losses) | evil,
            ),
            made=dataclasses.replace(known.made, files={text: {"sha256": text} for text in EVIL}),
            verification=dataclasses.replace(known.verification, limits=EVIL, checks=checks),
        )
        file = tmp_path / "evil.html"
        file.write_text(page(known), encoding="utf-8")
        with opening(browser, file) as seen:
            assert seen.page.evaluate("window.hacked") is None
            assert seen.is_quiet(file)
            shown = seen.page.locator("#limits li").all_inner_texts()
            assert [" ".join(text.split()) for text in shown[: len(EVIL)]] == [
                " ".join(visible(text).split()) for text in EVIL
            ]
            assert seen.page.title() == f"Privacy report: {EVIL[0]}"
            told = json.loads(seen.page.locator("#numbers").text_content())
            assert told == json.loads(json.dumps(known.as_dict()))
            assert all(seen.page.evaluate(MARKS).values())

    @in_deep
    def test_people_and_places_of_any_name(self, browser, tmp_path):
        town = incrowd.synthesize("city", users=24, seed=5).boxes()
        names = pl.Series([f"{EVIL[i % len(EVIL)]}{i}" for i in range(24)])
        rows = town.select(
            names.gather(pl.Series(town["user"]) - 1).alias("user"),
            pl.from_epoch(pl.col("t0").cast(pl.Int64) * 60).alias("time"),
            (pl.col("x0") * 100.0).alias("x"),
            (pl.col("y0") * 100.0).alias("y"),
            pl.concat_str(pl.lit(EVIL[1]), "x0", "y0").alias("place"),
        )
        rows.write_csv(tmp_path / "evil.csv")
        frame = incrowd.synthesize("city", users=1, seed=5).frame
        data = incrowd.read(tmp_path / "evil.csv", crs=frame.crs, separator=",")
        who = tmp_path / "who.parquet"
        publish(incrowd.glove(data, k=2), tmp_path / "release", original=data, record=who, draws=20)
        made = incrowd.report.make(
            tmp_path / "release", original=data, record=who, title=EVIL[2], targets=5
        )
        assert "hacked" not in json.dumps(made.numbers.as_dict() | {"title": None})
        file = made.add()
        with opening(browser, file) as seen:
            assert seen.page.evaluate("window.hacked") is None
            assert seen.is_quiet(file)
            assert seen.text("h1") == f"Privacy report: {EVIL[2]}"
