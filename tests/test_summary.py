"""What results print: a readable summary, and no identifier of a person."""

import dataclasses
import re
from html.parser import HTMLParser

import polars as pl
import pytest

import incrowd
from incrowd._summary import ROWS, Summary
from incrowd.measure._traces import Trace

NAME = "somebody-known"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One of every result that a function gives, made from people whose names would be seen."""
    made = incrowd.synthesize("city", users=24, seed=7)
    boxes = made.boxes().with_columns(
        user=pl.format(f"{NAME}-{{}}", pl.col("user").cast(pl.String))
    )
    city = incrowd.Trajectories.from_boxes(boxes, made.frame)
    [training] = incrowd.predict.training_sets(city, "location", 2)
    tested = incrowd.predict.cross_validate(training, folds=3)
    seen, release = incrowd.visits(city), incrowd.glove(city, 2, max_minutes=360)
    pair = incrowd.of_release(city, release)
    folder = tmp_path_factory.mktemp("summary")
    published = incrowd.publish(release, folder / "out", original=city)
    rows = pl.DataFrame(
        {
            "user": [NAME] * 4,
            "time": ["2024-03-05 07:31", "2024-03-05 08:31", NAME, "2024-03-05 09:31"],
            "lat": [14.7] * 4,
            "lon": [-17.4, -17.4, -17.4, 4040.4],
        }
    )
    read = incrowd.read(rows, max_bad=0.9).reading
    assert read.rejects.total == 2
    useful = incrowd.utility(pair)
    report = incrowd.report.make(folder / "out")
    told = incrowd.inference(pair)
    [experiment] = incrowd.predict.experiments([[training], [training]], folds=3)
    return {
        "Trajectories": city,
        "Trajectory": city[0],
        "Visits": seen,
        "PersonVisits": seen[0],
        "Release": release,
        "Protected": incrowd.Generalise(metres=500, minutes=60).protect(city),
        "BeforeAfter": pair,
        "Accuracy": incrowd.accuracy(pair),
        "Utility": useful,
        "Inference": told,
        "Uniqueness": incrowd.uniqueness(city, [1, 2]),
        "Recognition": incrowd.deanonymize(city, matches=True),
        "Description": incrowd.describe(city),
        "VisitsDescription": incrowd.describe(seen),
        "PointsOfInterest": incrowd.points_of_interest(city),
        "Anonymizability": incrowd.anonymizability(city, [2], []),
        "Publication": published,
        "Verification": published.verification,
        "Report": report,
        "Verdict": report.verdict,
        "Persons": useful.persons,
        "AggregateUtility": useful.together,
        "Reading": read,
        "Losses": release.losses,
        "Check": published.verification.checks[0],
        "Trace": Trace(seen, fixes=city),
        "Values": incrowd.predict.cross_validate(training, task="values", folds=3),
        "Experiment": experiment,
        "Disclosure": told.at(100),
        "Training": training,
        "Scores": tested,
        "Model": incrowd.predict.learn(training, tested=tested),
    }


NAMES = [
    "Trajectories", "Trajectory", "Visits", "PersonVisits", "Release", "Protected", "BeforeAfter",
    "Accuracy", "Utility", "Inference", "Uniqueness", "Recognition", "Description",
    "VisitsDescription",
    "PointsOfInterest", "Anonymizability", "Publication", "Verification", "Report", "Training",
    "Scores", "Model", "Verdict", "Persons", "AggregateUtility", "Reading", "Losses", "Check",
    "Trace", "Values", "Experiment", "Disclosure",
]  # fmt: skip
SHORT = ("Trajectory", "PersonVisits")
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


@pytest.mark.parametrize(
    "made",
    [
        incrowd.k_gap, incrowd.dispersion, incrowd.features, incrowd.risk,
        incrowd.predict.estimate, incrowd.measure.Uniqueness, incrowd.attack.Recognition,
        incrowd.Release, incrowd.Visits.rows, incrowd.Trajectories.boxes,
        incrowd.Trajectories.to_polars, incrowd.Trajectories.to_pandas,
    ],
    ids=lambda one: one.__qualname__,
)  # fmt: skip
def test_tables_of_people_say_that_they_name_them(made):
    """They are plain frames, which print what they hold."""
    said = " ".join(made.__doc__.split())
    assert (
        "The table names people: do not print or save it where others read, such as in a notebook."
    ) in said


def test_reading_tells_no_row(results):
    """Rows that cannot be used are often those of few; their values may name them."""
    read = results["Reading"]
    for text in (repr(read), read._repr_html_(), repr(read.rejects)):
        assert NAME not in text
        assert "4040" not in text
    assert "4040" in str(read.as_dict())


def test_one_is_no_people(results):
    one, seen = results["Trajectories"][:1], results["Visits"][:1]
    spots = incrowd.points_of_interest(one)
    for made in (one, seen, spots, incrowd.describe(one), incrowd.describe(seen)):
        for text in (repr(made), made._repr_html_()):
            assert not re.search(r"\b1 people", text)
            assert "1 person" in text
    with pytest.raises(incrowd.errors.ArgumentError, match="1 person cannot hide"):
        incrowd.study(one)


def test_uniqueness_says_what_points_are(results):
    city = results["Trajectories"]
    assert "a place and a time each; slots of 1 min; chosen at random" in repr(
        results["Uniqueness"]
    )
    often = incrowd.uniqueness(city, 1, kind="spatial", model="deterministic")
    assert "a place each, without its time; the most frequent of each person" in repr(often)
    hours = incrowd.uniqueness(city, 1, precision=60)
    assert (hours.kind, hours.model, hours.slot) == ("spatio_temporal", "probabilistic", 3600)
    assert "slots of 60 min" in repr(hours)


def test_few_who_are_singled_out_are_not_none(results):
    found = results["Uniqueness"]
    few = found.table.with_columns(share=pl.lit(0.0001), low=pl.lit(0.0), high=pl.lit(0.0002))
    text = repr(dataclasses.replace(found, table=few))
    assert "less than 0.1%" in text
    assert "0.0% to less than 0.1%" in text


def test_rows_in_which_nobody_was_seen_are_told(results):
    found = results["Accuracy"]
    assert "nobody was seen" not in repr(dataclasses.replace(found, rows_unseen=0))
    pieces = dataclasses.replace(found, rows_unseen=7)
    told = " ".join(repr(pieces).split())
    assert f"rows in which nobody was seen 7 of {found.rows:,}" in told


def test_scores_say_what_was_learned_from(results):
    training = results["Training"]
    assert repr(results["Scores"]).endswith(", transductive)")
    inductive = incrowd.predict.cross_validate(training, folds=2, inductive=True)
    assert repr(inductive).endswith(", inductive)")
    values = incrowd.predict.hold_out(training, task="values", inductive=True)
    assert "inductive" in repr(values)
    assert "inductive" not in repr(results["Experiment"].guessed[0])


def test_thresholds_of_a_release_are_in_metres_and_minutes(results):
    assert "max_minutes=360" in repr(results["Release"])
    assert "max_time" not in repr(results["Release"])
