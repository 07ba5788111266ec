import base64
import hashlib
import html as entities
import json
import re
from html.parser import HTMLParser

import pytest

from incrowd.evaluate._compare.words import in_unit
from incrowd.report._comparison_page import comparison_page
from incrowd.report._comparison_text import KINDS, TERMS
from report.browsing import EVIL
from report.comparisons import COLUMNS, ROWS, WHY, comparison, many, undone


@pytest.fixture(scope="module")
def text():
    return comparison_page(comparison())


def shown(page):
    """Give what is read on a page: without its script, style and data, and without tags."""
    body = page[page.index("<body>") :]
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", body, flags=re.DOTALL)
    return " ".join(entities.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def part(page, name):
    """Give a section of a page, in HTML."""
    return page.split(f'<section id="{name}"', 1)[1].split("</section>", 1)[0]


def cells(page, section, label):
    """Give what stands in the cells of a row."""
    (row,) = [
        row
        for row in re.findall(r"<tr>(.*?)</tr>", part(page, section), flags=re.DOTALL)
        if re.sub("<.*?>", "", row.split("</th>")[0]).strip().startswith(label)
    ]
    found = re.findall(r"<td[^>]*>(.*?)</td>", row, flags=re.DOTALL)
    return [" ".join(entities.unescape(re.sub("<.*?>", " ", each)).split()) for each in found]


def card(page, kind):
    """Give what the summary says of columns of a kind."""
    found = part(page, "summary").split(f'<li class="kind-{kind}">')
    return found[1].split('<li class="kind-')[0] if len(found) > 1 else None


class TestSealed:
    def test_the_policy_is_strict_and_its_hashes_are_true(self, text):
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        rules = dict(rule.split(" ", 1) for rule in entities.unescape(policy).split("; "))
        assert rules["default-src"] == "'none'"
        assert "unsafe" not in policy
        for element, rule in (("script", "script-src"), ("style", "style-src")):
            assert text.count(f"<{element}>") == 1
            inside = text.split(f"<{element}>", 1)[1].split(f"</{element}>", 1)[0]
            digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
            assert rules[rule] == f"'sha256-{digest}'"

    def test_holds_the_comparison(self, text):
        inside = text.split('id="comparison">', 1)[1].split("</script>", 1)[0]
        assert json.loads(inside) == comparison()

    def test_says_whom_it_is_meant_for_even_if_the_comparison_does_not(self):
        found = comparison()
        del found["meant_for"]
        inside = comparison_page(found).split('id="comparison">', 1)[1].split("</script>", 1)[0]
        assert json.loads(inside)["meant_for"] == "owner"

    def test_needs_nothing_else(self, text):
        body = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
        found = re.findall(r'\b(?:src|href)="([^"]*)"', body)
        assert all(each.startswith("#") for each in found)
        ids = re.findall(r'\bid="([^"]*)"', body)
        assert len(ids) == len(set(ids))
        assert {each[1:] for each in found} <= set(ids)

    def test_is_the_same_each_time_and_small(self, text):
        assert comparison_page(comparison()) == text
        assert len(comparison_page(many(12)).encode()) < 3_000_000


class TestSaysWhatItIs:
    def test_what_was_compared_on_what_and_for_whom(self, text):
        said = shown(text)
        assert "4 mechanisms with 5 choices of settings were tried on one dataset" in said
        assert "200 people with 45,238 samples" in said
        assert "For the owner of the data only: do not publish this page" in said

    def test_never_says_that_a_release_may_be_shared(self):
        found = comparison()
        for each in found["columns"]:
            each["guarantee"] = "k-anonymity"
        said = shown(comparison_page(found)).lower()
        assert not re.search(r"(may|can|fit to|safe to|ready to) (be )?(shared?|publish)", said)

    @pytest.mark.parametrize(
        ("changes", "kind"),
        [
            ({}, "verified"),
            ({"verified": None}, "unverified"),
            ({"verified": False}, "broken"),
            ({"guarantee": "none"}, "none"),
            ({"guarantee": "none", "verified": None}, "none"),
            ({"guarantee": "none", "verified": False}, "broken"),
            ({"guarantee": "(k, delta)-anonymity"}, "own"),
            ({"guarantee": "K-Anonymity"}, "own"),
            ({"guarantee": ""}, "own"),
            ({"guarantee": "(k, delta)-anonymity", "verified": False}, "broken"),
            ({"state": "refused", "why": "too few"}, "refused"),
            ({"state": "failed", "why": "no memory"}, "failed"),
            ({"state": "half done", "why": "stopped"}, "failed"),
        ],
    )
    def test_only_what_was_verified_to_be_k_anonymous_looks_like_it(self, changes, kind):
        found = comparison()
        found["columns"] = [found["columns"][0] | changes]
        page = comparison_page(found)
        level, word, title, _ = KINDS[kind]
        assert title in card(page, kind)
        assert [other for other in KINDS if card(page, other) is not None] == [kind]
        heads = re.findall(r'<span class="badge (\w+)">. ([^<]*)</span>', part(page, "private"))
        assert heads == [(level, word)]
        assert ('class="badge green"' in page) == (kind == "verified")
        marks = re.findall(r'<svg class="mark".*?</svg>', page)
        assert marks
        assert all(('fill="none"' in mark) != (kind == "verified") for mark in marks)

    def test_which_of_those_that_are_verified_loses_least(self, text):
        said = " ".join(re.sub("<.*?>", " ", card(text, "verified")).split())
        assert "Of these, least is lost with 1 GLOVE, k = 2" in said
        assert "27.0%" in said
        assert "least is lost" not in card(text, "none")

    def test_one_that_is_alone_is_not_said_to_lose_least(self):
        found = undone(comparison(), "glove:k=5", "failed", "no memory")
        assert "least is lost" not in comparison_page(found)


class TestTables:
    def test_every_row_and_every_column_is_there(self, text):
        for key, group, section, label, *_ in ROWS:
            assert section in part(text, group)
            found = cells(text, group, label)
            assert len(found) == len(COLUMNS) + (group == "private"), key

    def test_values_are_written_by_their_unit(self, text):
        assert cells(text, "private", "smallest crowd") == ["1", "2", "★ best: 5", "1", "1", "1"]
        assert cells(text, "useful", "samples lost")[3:] == ["< 0.1%", "★ best: 0.0%"]
        assert cells(text, "useful", "position error")[3:] == ["290 m", "★ best: 0 m"]
        assert cells(text, "useful", "time error")[:2] == ["2.32 h", "10.3 h"]
        assert cells(text, "useful", "rank")[:2] == ["0.90", "0.70"]
        assert cells(text, "cost", "time for")[2] == "3.1 s"
        assert cells(text, "cost", "peak of")[2:4] == ["600 MB", "1.5 GB"]

    def test_a_missing_value_has_its_reason_in_the_cell_and_below(self, text):
        found = part(text, "private")
        assert cells(text, "private", "people recognised")[-1] == "n/a 1"
        assert f'<span title="{WHY}">n/a</span>' in found
        (note,) = re.findall(r'<li id="private-note-1">(.*?)</li>', found)
        assert note == f"<b>1</b> {WHY}"
        assert cells(text, "private", "people recognised")[0] == "- not for the original"

    def test_without_a_value_at_all(self):
        found = comparison()
        del found["values"]["cloak:60"]["loss"]
        page = comparison_page(found)
        assert cells(page, "useful", "samples lost")[-1].startswith("n/a")
        assert "It was not measured." in part(page, "useful")

    @pytest.mark.parametrize("value", ["12", True, None, []])
    def test_what_is_no_number_is_none(self, value):
        found = comparison()
        found["values"]["cloak:60"]["loss"] = {"value": value, "why": None, "best": True}
        assert cells(comparison_page(found), "useful", "samples lost")[-1].startswith("n/a")

    def test_what_json_cannot_hold_is_refused(self):
        found = comparison()
        found["values"]["cloak:60"]["loss"]["value"] = float("nan")
        with pytest.raises(ValueError, match="JSON"):
            comparison_page(found)

    def test_nothing_is_best_where_all_are_equal(self):
        found = comparison()
        for of in found["values"].values():
            of["crowd"] = {"value": 2, "why": None, "best": True}
        assert cells(comparison_page(found), "private", "smallest crowd") == ["1"] + ["2"] * 5

    def test_which_way_is_better_is_said_in_words_as_well(self, text):
        assert "(less is better)" in part(text, "private")
        assert "(more is better)" in part(text, "private")
        row = part(text, "useful").split("width, median", 1)[1].split("</th>", 1)[0]
        assert "better" not in row

    def test_what_rows_mean_and_how_it_was_measured(self, text):
        for row in ROWS:
            assert f"What {row[3]} means." in part(text, "meaning")
        said = shown(text)
        assert all(each in said for each in TERMS)
        assert "cells of the grid 100 m slots of the clock 60 s hash of the data efa0" in said
        assert "threads" not in said

    def test_words_that_come_with_the_comparison_win(self):
        found = comparison() | {"terms": "In our own way."}
        found["columns"][0] |= {"promises": ["<who>"], "limits": ["what"], "warnings": ["care"]}
        page = comparison_page(found)
        assert "In our own way." in part(page, "terms")
        assert TERMS[0] not in page
        for words in ("It protects against", "&lt;who&gt;", "It does not protect against", "care"):
            assert words in part(page, "promises")

    def test_limits_that_are_the_same_are_said_once(self):
        found = comparison()
        for each, limits in zip(found["columns"], (["this"], ["this"], ["that"]), strict=False):
            each["limits"] = limits
        said = part(comparison_page(found), "promises")
        assert (said.count("<li>this</li>"), said.count("<li>that</li>")) == (1, 1)
        assert said.count("the same as <b>1</b>") == 1
        found["columns"][0] |= {"state": "failed"}
        said = part(comparison_page(found), "promises")
        assert said.count("<li>this</li>") == 1
        assert "the same as" not in said

    def test_groups_sections_and_units_that_are_not_known(self):
        found = comparison()
        found["rows"][0] |= {"group": "<new>", "section": "", "unit": "<apples>"}
        found["rows"][1] |= {"group": "other", "section": "", "unit": "pears"}
        page = comparison_page(found)
        assert "&lt;new&gt;</h2>" in page
        assert cells(page, "group-3", "smallest crowd")[1:3] == ["2", "★ best: 5"]
        assert 'id="group-4"' in page


class TestPartsMissing:
    def test_one_column(self):
        found = comparison()
        found["columns"] = found["columns"][:1]
        said = shown(comparison_page(found))
        assert "1 mechanism with 1 choice of settings was tried" in said

    def test_twelve_columns(self):
        page = comparison_page(many(12))
        assert len(cells(page, "useful", "samples lost")) == 12
        assert len(set(re.findall(r'data-chart="([^"]*)"', page))) == 1 + 2 * 12

    def test_refused_and_failed_columns(self):
        found = undone(comparison(), "glove:k=5", "refused", "200 people cannot hide")
        found = undone(found, "w4m:k=2", "failed", "there was no memory")
        page = comparison_page(found)
        assert "200 people cannot hide" in card(page, "refused")
        assert "there was no memory" in card(page, "failed")
        assert cells(page, "useful", "samples lost")[1:3] == ["n/a 1", "n/a 2"]
        notes = re.findall(r'<li id="useful-note-\d">(.*?)</li>', page)
        assert notes == [
            "<b>1</b> GLOVE, k = 5: refused. 200 people cannot hide",
            "<b>2</b> W4M, k = 2, delta 2 km: failed. there was no memory",
        ]
        assert 'data-chart="space-2"' not in page
        assert 'data-chart="space-4"' in page

    def test_values_of_a_column_that_failed_are_not_shown(self):
        found = comparison()
        found["columns"][0] |= {"state": "failed", "why": "it broke"}
        page = comparison_page(found)
        assert cells(page, "useful", "samples lost")[0].startswith("n/a")
        assert 'data-chart="space-1"' not in page

    def test_all_failed(self):
        found = comparison()
        for key in COLUMNS:
            found = undone(found, key, "failed", "it broke")
        page = comparison_page(found)
        assert 'data-chart="' not in page
        assert 'href="#trade-off"' not in page
        assert 'href="#curves"' not in page

    @pytest.mark.parametrize("curves", [None, {}, {"glove:k=2": {}}])
    def test_no_curves(self, curves):
        page = comparison_page(comparison() | {"curves": curves})
        assert 'data-chart="trade-off"' in page
        assert 'id="curves"' not in page
        assert 'href="#curves"' not in page

    def test_no_risk_or_no_original(self):
        found = comparison() | {"original": {}}
        assert len(cells(comparison_page(found), "private", "smallest crowd")) == len(COLUMNS)
        found["rows"] = [row for row in found["rows"] if row["key"] != "attack"]
        assert 'id="trade-off"' not in comparison_page(found)

    def test_other_rows_for_the_chart(self):
        found = comparison() | {"trade_off": {"loss": "position_error_mean", "risk": "recall"}}
        said = part(comparison_page(found), "trade-off")
        assert "position error, mean" in said
        assert "people recognised" in said
        assert "worst of the attacks" not in said

    def test_no_rows(self):
        page = comparison_page(comparison() | {"rows": [], "values": {}})
        assert 'id="meaning"' not in page
        assert "GLOVE, k" in part(page, "summary")


def poisoned(value, words):
    """Put hostile text in place of every text, but for what the page is drawn by."""
    if isinstance(value, dict):
        kept = ("key", "group", "better", "state", "unit")
        return {
            name: part if name in kept else poisoned(part, words) for name, part in value.items()
        }
    if isinstance(value, list):
        return [poisoned(part, words) for part in value]
    return next(words) if isinstance(value, str) else value


class Elements(HTMLParser):
    """What a page is made of."""

    def __init__(self, page):
        super().__init__()
        self.names, self.attributes, self.scripts = set(), set(), 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        names = {name for name, _ in attrs}
        self.names.add(tag)
        self.attributes |= names
        self.scripts += tag == "script" and "type" not in names


class TestHostile:
    @pytest.mark.parametrize("evil", EVIL)
    def test_text_is_text_wherever_it_stands(self, evil):
        found = poisoned(comparison(), iter(lambda: evil, None))
        for row in found["rows"]:
            row |= {"section": evil, "unit": evil}
        found["data"][evil] = {evil: [evil]}
        page = comparison_page(undone(found, "cloak:60", "failed", evil))
        elements = Elements(page)
        assert elements.names <= Elements(comparison_page(comparison())).names
        assert not any(name.startswith(("on", "style")) for name in elements.attributes)
        assert elements.scripts == 1
        assert "\u2028" not in page


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [
        (0, "share", "0.0%"),
        (0.00049, "share", "< 0.1%"),
        (0.0005, "share", "0.1%"),
        (0.99951, "share", "> 99.9%"),
        (1.0, "share", "100.0%"),
        (2.829, "share", "282.9%"),
        (119, "s", "120 s"),
        (7200, "s", "2 h"),
        (-0.46, "correlation", "-0.46"),
        (3, "people", "3"),
        (2.5, "people", "2.5"),
        (1234.0, "", "1,234"),
    ],
)
def test_in_unit(value, unit, written):
    assert in_unit(value, unit) == written
