"""The page as a PDF: a few pages, the foot on each, the decision on the first."""

import shutil
import subprocess
from dataclasses import replace

import pytest

from incrowd.errors import OutputError
from incrowd.report._page import page
from incrowd.report._pdf import BROWSERS, find_browser, print_pdf

needs_browser = pytest.mark.skipif(
    not any(map(shutil.which, BROWSERS)), reason="there is no browser that prints"
)
PAGE = "<!doctype html><title>a</title><p>one<p style='break-before: page'>two"


def pages_of(file):
    """Give the text of each page of a PDF."""
    words = [shutil.which("pdftotext"), "-layout", file, "-"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout  # noqa: S603
    return text.split("\f")[:-1]


class TestPrinting:
    @needs_browser
    def test_whole_or_not_at_all(self, tmp_path):
        made = print_pdf(PAGE, tmp_path / "page.pdf")
        assert made.read_bytes().startswith(b"%PDF")
        with pytest.raises(OutputError, match="exists already"):
            print_pdf(PAGE, made)
        assert [file.name for file in tmp_path.iterdir()] == ["page.pdf"]

    def test_without_a_browser(self, monkeypatch, tmp_path):
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("CHROMIUM", raising=False)
        with pytest.raises(OutputError, match=r"there is no browser\. Install Chromium"):
            find_browser()

    def test_a_browser_that_is_named_and_not_there(self, monkeypatch):
        monkeypatch.setenv("CHROMIUM", "/no/such/browser")
        with pytest.raises(OutputError, match="CHROMIUM names /no/such/browser"):
            find_browser()

    def test_a_browser_that_fails(self, monkeypatch, tmp_path):
        broken = tmp_path / "broken"
        broken.write_text("#!/bin/sh\necho cannot >&2\nexit 1\n")
        broken.chmod(0o755)
        monkeypatch.setenv("CHROMIUM", str(broken))
        with pytest.raises(OutputError, match="did not print the page: cannot"):
            print_pdf(PAGE, tmp_path / "page.pdf")
        assert not (tmp_path / "page.pdf").exists()


@needs_browser
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="there is no pdftotext")
class TestReport:
    @pytest.fixture(scope="class")
    @staticmethod
    def pages(made, tmp_path_factory):
        file = tmp_path_factory.mktemp("pdf") / "report.pdf"
        made.pdf(file)
        return pages_of(file)

    def test_is_four_to_six_pages_with_a_foot_on_each(self, pages):
        assert 4 <= len(pages) <= 6
        for number, text in enumerate(pages, 1):
            assert f"page {number} of {len(pages)}" in text
            assert "release SHA-256" in text

    def test_is_six_pages_where_there_is_most_to_say(self, made, tmp_path):
        # As long as the sentences of attacks on a release of crowds of different sizes.
        says = " ".join(["Somebody in a crowd finds 55% of people by what she knows."] * 5)
        known = made.numbers
        long = tuple(replace(each, share=0.5, says=says[:300]) for each in known.attacks)
        assert len(long) > 7

        full = replace(known, attacks=long)
        text = pages_of(print_pdf(page(full, paper=True), tmp_path / "full.pdf"))
        assert len(text) <= 6

    def test_the_decision_is_on_the_first(self, pages):
        assert "I have read this report, and decide" in pages[0]
        assert "Conditions" in pages[0]
        assert "Name and role" in pages[0]
        assert not any("I have read this report" in text for text in pages[1:])
