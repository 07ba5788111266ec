"""What is cited: every docstring that names a paper names it as docs/references.md does.

A citation is a line of the section References: ``NAME, YEAR: "TITLE", VENUE, DOI NUMBER; WHERE.``,
of which DOI and WHERE may be missing. NAME, YEAR is the heading on the page.
"""

import importlib
import inspect
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import incrowd

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "incrowd"
PAGE = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
LAYERS = ("data", "measure", "attack", "predict", "protect", "evaluate", "report")
SECTION = re.compile(r"^References\n-+\n(.*?)(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
CITATION = re.compile(
    r'(?P<paper>[^"]+, \d{4}): "(?P<title>[^"]+)", (?P<venue>[^;]+?)'
    r"(, DOI (?P<doi>10\.\S+?))?(; (?P<where>.+))?\."
)
LISTED = re.compile(r"Cited by:((?:\s+\[`[\w.]+`\]\([\w./#]+\)[,.])+)")


class Citation(NamedTuple):
    name: str  # the public name whose docstring has it, as a user writes it after "incrowd."
    package: str
    text: str


def entries():
    """Give what the page says under each heading of the third level, as one line."""
    parts = re.split(r"^##+ (.*)$", PAGE, flags=re.MULTILINE)[1:]
    found = dict(zip(parts[::2], parts[1::2], strict=True))
    return {name: " ".join(text.split()) for name, text in found.items() if "Cited by" in text}


def citations():
    for package in LAYERS:
        module = importlib.import_module(f"incrowd.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            if not (inspect.isfunction(thing) or inspect.isclass(thing)):
                continue
            short = getattr(incrowd, name, None) is thing
            for section in SECTION.findall(inspect.getdoc(thing) or ""):
                for line in re.split(r"^- ", section, flags=re.MULTILINE)[1:]:
                    path = name if short else f"{package}.{name}"
                    yield Citation(path, package, " ".join(line.split()))


ENTRIES = entries()
CITATIONS = list(citations())


@pytest.mark.parametrize("cited", CITATIONS, ids=lambda one: f"{one.name}: {one.text[:20]}")
def test_is_on_the_page(cited):
    found = CITATION.fullmatch(cited.text)
    assert found, f"{cited.name}: {cited.text}"
    entry = ENTRIES[found["paper"]]
    assert f"*{found['title']}*" in entry
    for part in found["venue"].replace("arXiv:", "").split(" hal-"):
        assert part in entry
    assert re.findall(r"DOI \[(.*?)\]", entry) == ([found["doi"]] if found["doi"] else [])


@pytest.mark.parametrize("paper", ENTRIES)
class TestPage:
    def test_has_the_year_of_the_heading(self, paper):
        assert f"{paper[-4:]}." in ENTRIES[paper]

    def test_first_author_is_that_of_the_heading(self, paper):
        first = re.split(",| and | et al", paper)[0]
        assert first in re.split("[,:]", ENTRIES[paper])[0]

    def test_links_to_the_doi_that_it_states(self, paper):
        assert all(
            target == f"https://doi.org/{doi}"
            for doi, target in re.findall(r"DOI \[(.*?)\]\((.*?)\)", ENTRIES[paper])
        )

    def test_lists_who_cites_it(self, paper):
        [listed] = LISTED.findall(ENTRIES[paper])
        cited = [one for one in CITATIONS if one.text.startswith(f"{paper}: ")]
        expected = [f"[`{one.name}`](api/{one.package}.md#incrowd.{one.name})" for one in cited]
        assert expected
        assert listed.strip() == ", ".join(expected) + "."


def test_every_section_of_the_sources_is_looked_at():
    """A citation of something private would be seen by nobody."""
    sections = sum(
        len(re.findall(r"^ +References\n +-+\n", path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in SOURCE.rglob("*.py")
    )
    assert sections == len({one.name for one in CITATIONS})


@pytest.mark.parametrize("mechanism", incrowd.MECHANISMS.values(), ids=lambda one: one.method)
def test_mechanisms_name_papers_of_the_page(mechanism):
    papers = [part.strip() for part in mechanism.paper.split(";")]
    assert papers
    cited = {one.text.split(":")[0] for one in CITATIONS if one.name == mechanism.__name__}
    for paper in papers:
        [name] = re.findall(r"^(.+?, \d{4})", paper)
        assert name in ENTRIES
        assert name in cited
