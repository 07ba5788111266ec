"""What is handed on with a release is walked over, number by number, for counts of few people."""

import json
import re
import warnings

import pytest

import incrowd
from incrowd.errors import PrivacyWarning
from incrowd.evaluate import publish
from incrowd.report import make
from report.disclosed import SHOWN, made, numbers_in, original, page_numbers
from strategies import only_deep

NO_COUNT = re.compile(
    r"\.(k|k_gap\.k|known|points|seed|epsilon|hour|samples_a_person|minutes|version|bytes|day|days"
    r"|days_shown|least|crowd|smallest_crowd|smallest|stated|files|columns|threshold|lengths"
    r"|known\[\]\.(fewest|median|samples))$"
    # Coordinates of squares; and the keys of tables, which are kilometres or shares.
    r"|cells\[\]\[\]$|disclosures\[\]\.cells$|within\.<\d+>$|cumulative|curve|boxes\[\]|date~|python~|incrowd~|crs~"
    # Settings, lights that count checks, and the promise, which is that of the release.
    r"|lights\[\]|questions\[\]\.says~|thresholds~|frame\."
    # How large the crowds of the release are is what is promised.
    r"|sizes\.<\d+>$|figures\.(sizes|largest)"
)
PEOPLE = re.compile(r"people|\.of$|\.(before|after|original|alone|attacked|dropped|number)$|~$")


@pytest.fixture(params=[
    ("lost", 1), ("lost", 8), ("lost", 11), ("alone", 8), ("group", 4),
    *only_deep(*(("lost", n) for n in (0, 2, 4, 9, 10)),
               *(("alone", n) for n in (1, 2, 4, 9, 10, 11)),
               *(("group", n) for n in (2, 8, 9, 10, 11))),
], ids=str, scope="module")  # fmt: skip
def handed_on(request, tmp_path_factory):
    """Publish and report; give what happens to how many, and everything that is handed on."""
    what, number = request.param
    folder = tmp_path_factory.mktemp(f"{what}{number}")
    data, release, record = original(**{what: number}), folder / "release", folder / "who.parquet"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        done = publish(
            made(data, **{what: number}), release, original=data, record=record, draws=50
        )
    report = make(release, original=data, record=record, tz="UTC")
    report.save(folder / "release-report.html")
    signed = incrowd.sign(release, decision="refuse", name="A. Diop")
    return what, number, {
        "manifest": json.loads((release / "manifest.json").read_text()),
        "fact sheet": (release / "fact-sheet.md").read_text().replace("\n", " "),
        "report": json.loads(report.json()),
        "page": page_numbers(report.html()),
        "terminal": [*report.lines(), *incrowd.verify(release).for_recipients().lines()],
        "decision": json.loads(signed.to_json()),
    }, done  # fmt: skip


def told(handed_on):
    """Give every number that is told, but those that count something else, with its place."""
    for name, document in handed_on[2].items():
        for path, number in numbers_in(document):
            if not NO_COUNT.search(path):
                yield f"{name}{path}", number


class TestEveryNumber:
    def test_a_small_count_is_nowhere_and_a_large_one_is_told(self, handed_on):
        what, number, _, _ = handed_on
        # 1 and 2 are in every sentence; what is looked for there is whom they count.
        words = r"(people|persons?|others?) (are|is|have|has|were|was)|of \d[\d,]* people"
        counted = re.compile(rf"(?<![\d.,%])\b{number} ({words})")
        found = {
            path for path, value in told(handed_on)
            if value == number and isinstance(value, int) and path[-1] != "~"
        }  # fmt: skip
        said = {
            text for document in handed_on[2].values() for text in texts(document)
            if counted.search(text)
        }  # fmt: skip
        if 0 < number < 10:
            assert not found
            assert not said
        elif number and what != "group":
            assert found

    def test_nothing_tells_it_by_one_subtraction(self, handed_on):
        what, number, _, _ = handed_on
        if not 0 < number < 10:
            return
        total = 2 * SHOWN + (number if what != "lost" else 0)
        others = {total - number, total + number} - {total}
        assert not {
            (path, value) for path, value in told(handed_on)
            if PEOPLE.search(path) and value in others
        }  # fmt: skip

    def test_it_is_said_that_they_are_few(self, handed_on):
        what, number, documents, _ = handed_on
        if 0 < number < 10 and what != "group":
            assert "fewer than 10" in json.dumps(documents["manifest"])
            assert "fewer than 10" in json.dumps(documents["report"])
        elif what == "lost" and number:
            assert documents["manifest"]["losses"]["people_dropped"] == number
            assert documents["manifest"]["losses"]["samples_dropped"] == 23 * number

    def test_the_owner_is_told_exactly(self, handed_on):
        what, number, _, done = handed_on
        if what == "lost":
            assert done.verification["membership"].figures["people_dropped"] == number
        if what == "alone":
            assert done.verification["k-anonymity"].figures["people_alone"] == number


def texts(value):
    """Give all texts in plain values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)
