"""What results print: a readable summary, and no identifier of a person."""

import re
from html.parser import HTMLParser

import polars as pl
import pytest

import incrowd
from incrowd._summary import ROWS, Summary

NAME = "somebody-known"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One of every result that a function gives, made from people whose names would be seen."""
    made = incrowd.synthesize("city", users=24, seed=7)
    boxes = made.boxes().with_columns(
        user=pl.format(f"{NAME}-{{}}", pl.col("user").cast(pl.String))
    )
    city = incrowd.Trajectories.from_boxes(boxes, made.frame)
    seen, release = incrowd.visits(city), incrowd.glove(city, 2, max_minutes=360)
    pair = incrowd.of_release(city, release)
    folder = tmp_path_factory.mktemp("summary")
    published = incrowd.publish(release, folder / "out", original=city)
    [training] = incrowd.predict.training_sets(city, "location", 2)
    tested = incrowd.predict.cross_validate(training, folds=3)
    return {
        "Trajectories": city,
        "Trajectory": city[0],
        "Visits": seen,
        "PersonVisits": seen[0],
        "Release": release,
        "Protected": incrowd.Generalise(metres=500, minutes=60).protect(city),
        "BeforeAfter": pair,
        "Accuracy": incrowd.accuracy(pair),
        "Utility": incrowd.utility(pair),
        "Inference": incrowd.inference(pair),
        "Uniqueness": incrowd.uniqueness(city, [1, 2]),
        "Recognition": incrowd.deanonymize(city, matches=True),
        "Description": incrowd.describe(city),
        "VisitsDescription": incrowd.describe(seen),
        "PointsOfInterest": incrowd.points_of_interest(city),
        "Anonymizability": incrowd.anonymizability(city, [2], []),
        "Publication": published,
        "Verification": published.verification,
        "Report": incrowd.report.make(folder / "out"),
        "Training": training,
        "Scores": tested,
        "Model": incrowd.predict.learn(training, tested=tested),
    }


NAMES = [
    "Trajectories", "Trajectory", "Visits", "PersonVisits", "Release", "Protected", "BeforeAfter",
    "Accuracy", "Utility", "Inference", "Uniqueness", "Recognition", "Description",
    "VisitsDescription",
    "PointsOfInterest", "Anonymizability", "Publication", "Verification", "Report", "Training",
    "Scores", "Model",
]  # fmt: skip
SHORT = ("Trajectory", "PersonVisits", "Training", "Scores")
"""One line says it all, in notebooks too."""


class Balanced(HTMLParser):
    """Refuses tags that are not closed in order, and gathers the text."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("name", NAMES)
class TestEveryResult:
    def test_names_nobody(self, results, name):
        one = results[name]
        texts = [repr(one), str(one)]
        if name not in SHORT:
            texts.append(one._repr_html_())
        for text in texts:
            assert NAME not in text
            assert "array(" not in text
            assert "DataFrame" not in text
            assert 0 < len(text) < 12_000

    def test_says_how_much_there_is(self, results, name):
        assert re.search(r"\d", repr(results[name]))

    def test_is_a_table_in_a_notebook(self, results, name):
        if name in SHORT:
            return
        page = Balanced()
        page.feed(results[name]._repr_html_())
        assert page.open == []
        assert results[name]._summary().title in "".join(page.text)


class TestSummary:
    TABLE = Summary("A <b> & more", {"x": "<script>"}, ("n", "share"), [("1", "2")], ["Done."])

    def test_is_aligned(self):
        assert str(self.TABLE).splitlines() == [
            "A <b> & more", "  x  <script>", "  n  share", "  1      2", "  Done.",
        ]  # fmt: skip

    def test_is_escaped(self):
        page = self.TABLE.html()
        assert "<script>" not in page
        assert "A &lt;b&gt; &amp; more" in page

    def test_has_no_colours_of_its_own(self):
        """So that it is read on a dark page as on a light one."""
        assert set(re.findall(r"(?<![-\w])color:(\w+)", self.TABLE.html())) == {"inherit"}
        assert set(re.findall(r"background:(\w+)", self.TABLE.html())) == {"none"}

    def test_long_tables_are_cut_and_counted(self):
        long = Summary("many", head=["n"], rows=[[f"row{i}"] for i in range(ROWS + 3)])
        for text in (str(long), long.html()):
            assert "... and 3 rows more" in text
            assert f"row{ROWS - 1}" in text
            assert f"row{ROWS}" not in text


def test_thresholds_of_a_release_are_in_metres_and_minutes(results):
    assert "max_minutes=360" in repr(results["Release"])
    assert "max_time" not in repr(results["Release"])
