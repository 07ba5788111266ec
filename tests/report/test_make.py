import dataclasses
import json
import re
import shutil

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd._format import rounded_percent
from incrowd.data._frame import Frame, laea
from incrowd.data._manifest import read_manifest, read_release
from incrowd.data._release import write_record, write_release
from incrowd.errors import (
    ArgumentError,
    ColumnError,
    DataWarning,
    OutputError,
    PrivacyWarning,
    UnreadableError,
)
from incrowd.evaluate._publish import publish
from incrowd.report._figures import charts
from incrowd.report._make import make
from incrowd.report._text import words
from incrowd.report._verdict import judge
from report.conftest import ZONE
from strategies import only_deep

NOTHING_LOST = {
    "people_dropped": 0, "people_left_over": 0, "people_emptied": 0, "samples_dropped": 0,
    "samples_suppressed": 0, "boxes_suppressed": 0,
}  # fmt: skip


KEYS = [
    "title", "made", "given", "settings", "verification", "sizes", "same_person", "before", "after",
    "accuracy", "utility", "inference", "attacks", "cost_of_k", "rounded", "drawn", "verdict",
]  # fmt: skip
"""What the JSON has, for whoever reads it."""
RECORDS = [f"records-{number}-{axis}" for number in (1, 2, 3) for axis in ("space", "time")]
"""The drawings of published records."""


@pytest.fixture(scope="module")
def town():
    return incrowd.synthesize("city", users=16, seed=5)


@pytest.fixture(scope="module")
def small(town, tmp_path_factory):
    """Publish a smaller place."""
    folder = tmp_path_factory.mktemp("small")
    who = folder / "who.parquet"
    publish(incrowd.glove(town, k=2), folder / "release", original=town, record=who, draws=20)
    return folder / "release"


@pytest.fixture(scope="module")
def whole(town, small):
    """Report everything that can be said of it."""
    return make(small, original=town, record=small.parent / "who.parquet", tz=ZONE, targets=5)


@pytest.fixture
def copy(small, tmp_path):
    """Give a copy of it that may be changed."""
    return shutil.copytree(small, tmp_path / "copy")


@pytest.fixture
def pair(tmp_path):
    """Give a release of two people."""
    by_hand(tmp_path / "pair", samples([(3, 3, 100), (4, 4, 200)]), [2])
    return tmp_path / "pair"


def text_of(html):
    """Give what a reader sees, without the script."""
    return html[: html.rindex("<script>")]


def by_hand(folder, data, crowd, k=2, **losses):
    """Write crowds as a release, as they are."""
    crowds = incrowd.Trajectories(
        data.columns, data.offsets, data.frame, crowd=np.array(crowd, np.int32)
    )
    settings = {"k": k, "reshape": "union"}
    return write_release(
        folder, crowds, method="by hand", settings=settings, losses=NOTHING_LOST | losses
    )


def samples(*people, slot=60):
    """Make people with samples of one cell and slot, at (x, y, t)."""
    rows = [sample for person in people for sample in person]
    columns = [[row[i] + j for row in rows] for i in range(3) for j in (0, 1)]
    return incrowd.Trajectories(
        tuple(np.array(column, np.int32) for column in columns),
        np.cumsum([0, *map(len, people)]),
        Frame(laea(7.5, -5.5), 100.0, slot),
        people=pl.Series("user", [f"person-{i:04}" for i in range(len(people))]),
    )


class TestWhole:
    def test_says_everything(self, whole):
        assert whole.verdict.answer == "conditions"
        given = whole.numbers.given
        assert given.original is given.record is True
        assert given.tz == ZONE
        plain = whole.numbers.as_dict()
        assert [name for name, part in plain.items() if part is None] == ["title"]
        assert json.loads(whole.json()) == plain
        assert list(plain) == KEYS
        assert "under a contract, with conditions" in " ".join(whole.lines())

    def test_the_same_again_is_the_same_whoever_measures_k_gaps(self, town, copy):
        first = make(copy, original=town, targets=5)
        again = make(copy, original=town, gaps=incrowd.k_gap(town, 2), targets=5)
        assert again.numbers == first.numbers

    def test_reads_the_original_once(self, town, copy):
        asked = []
        make(copy, original=lambda frame: asked.append(frame) or town, targets=5)
        assert len(asked) == 1

    def test_tells_its_steps(self, copy):
        steps = []
        make(copy, targets=5, progress=lambda *step: steps.append(step))
        assert list(dict.fromkeys(step[0] for step in steps))[:2] == ["verifying", "reading"]
        assert steps[-1][0] == "done"
        done = [step[1] for step in steps]
        assert done == sorted(done)

    def test_csv_and_parquet_say_the_same(self, town, copy, tmp_path):
        publish(incrowd.glove(town, k=2), tmp_path / "csv", original=town, format="csv", draws=20)
        first, second = (make(each, targets=5).numbers for each in (copy, tmp_path / "csv"))
        assert first.accuracy == second.accuracy


class TestAdding:
    def test_twice_replaces_the_page_and_the_release_stays_whole(self, copy):
        first = make(copy, targets=5, title="first").add()
        second = make(copy, targets=5, title="second")
        assert second.numbers.verification.ok
        assert second.add() == first
        assert "Privacy report: second" in first.read_text()
        assert set(read_manifest(copy).files) == {
            "fact-sheet.md", "trajectories.parquet", "report.html",
        }  # fmt: skip
        assert incrowd.verify(copy).ok
        assert make(copy, targets=5, title="second").numbers == second.numbers

    def test_a_file_that_is_there_stays(self, copy, tmp_path):
        made = make(copy, targets=5)
        (tmp_path / "mine.html").write_text("mine")
        with pytest.raises(OutputError, match="exists already"):
            made.save(tmp_path / "mine.html")
        assert (tmp_path / "mine.html").read_text() == "mine"
        assert made.save(tmp_path / "mine.html", overwrite=True).stat().st_size > 1000


class TestPartsMissing:
    def test_the_release_alone(self, copy):
        made = make(copy, targets=5)
        assert made.verdict.answer == "conditions"
        assert made.numbers.before is None
        html = made.html()
        assert 'id="unsaid"' in html
        unsaid = html.split('id="unsaid"')[1].split("</ul>")[0]
        assert unsaid.count("<li>") == unsaid.count("the original was not given") == 3
        names = re.findall('data-chart="([^"]+)"', html)
        assert names == ["uniqueness", "attacks", "accuracy-space", "accuracy-time", *RECORDS]

    def test_without_the_record(self, copy, town):
        made = make(copy, original=town, targets=5)
        assert made.numbers.utility.persons is None
        assert made.numbers.accuracy.errors is None
        (unsaid,) = words(made.numbers)["unsaid"]
        assert "the private record of who became whom was not given" in unsaid
        names = [chart.name for chart in charts(made.numbers)]
        assert "places" not in names
        assert "together" in names
        assert made.verdict.answer == "conditions"

    def test_everything_said(self, whole):
        assert words(whole.numbers)["unsaid"] == []


class TestBadInput:
    def test_no_release(self, tmp_path):
        with pytest.raises(UnreadableError, match="is no release"):
            make(tmp_path)
        with pytest.raises(UnreadableError, match="is no release"):
            make(tmp_path / "nowhere")

    def test_another_version(self, copy):
        text = (copy / "manifest.json").read_text()
        (copy / "manifest.json").write_text(text.replace('"version": 1,', '"version": 7,'))
        with pytest.raises(UnreadableError, match="version 7"):
            make(copy)

    def test_an_original_that_is_not_read(self, copy):
        with pytest.raises(ArgumentError, match=r"original must be Trajectories, .* not str"):
            make(copy, original="calls.csv", targets=5)

    def test_another_original(self, copy):
        with pytest.raises(ArgumentError):
            make(copy, original=samples([(0, 0, 0)], slot=90), targets=5)

    def test_a_record_of_another_release(self, town, copy, tmp_path):
        other = samples(*[[(i, 0, 0), (i, 1, 9)] for i in range(4)])
        _, names = by_hand(tmp_path / "other", other, [2] * 4)
        users = pl.DataFrame({"user": other.people, "trajectory": range(4)})
        write_record(tmp_path / "who.parquet", users, names)
        with pytest.raises(ArgumentError, match="belongs to another"):
            make(copy, original=town, record=tmp_path / "who.parquet", targets=5)

    def test_gaps_of_other_data(self, town, copy, tmp_path):
        gaps = incrowd.k_gap(town, 2)
        with pytest.raises(ColumnError, match="other data"):
            make(copy, original=town, gaps=gaps.head(9), targets=5)
        renamed = gaps.with_columns(pl.col("user") + 5000)
        with pytest.raises(ColumnError, match="names other people"):
            make(copy, original=town, gaps=renamed, targets=5)
        (tmp_path / "gaps.parquet").write_text("no")
        with pytest.raises(UnreadableError, match="cannot read the k-gaps"):
            make(copy, original=town, gaps=tmp_path / "gaps.parquet", targets=5)
        with pytest.raises(UnreadableError, match="cannot read the k-gaps"):
            make(copy, original=town, gaps=tmp_path / "none.csv", targets=5)

    @pytest.mark.parametrize(
        ("how", "match"),
        [
            ({"record": pl.DataFrame()}, "only beside the original"),
            ({"gaps": "gaps.parquet"}, "those of the original"),
            ({"tz": "Nowhere/Land"}, "Nowhere/Land"),
            ({"targets": 0}, "at least one person"),
        ],
    )
    def test_what_makes_no_sense(self, copy, how, match):
        with pytest.raises(ArgumentError, match=match):
            make(copy, **how)

    def test_tampered(self, copy, town):
        rows = copy / "trajectories.parquet"
        rows.write_bytes(rows.read_bytes()[:-1] + b"?")
        made = make(copy, original=town, targets=5)
        assert made.verdict.answer == "no"
        assert made.verdict.because[0].startswith("files: ")
        assert made.numbers.after is None
        assert "Do not share this release" in made.html()
        with pytest.raises(UnreadableError, match="not the file that was released"):
            made.add()

    @pytest.mark.parametrize("value", [7, None, "text", ["k"], {"k": {"a": [1]}}])
    @pytest.mark.parametrize("part", ["settings", "losses", "sizes", "holds_against", "frame"])
    def test_a_manifest_that_was_sealed_with_nonsense(self, pair, part, value):
        manifest = dataclasses.replace(read_manifest(pair), **{part: value})
        (pair / "manifest.json").write_text(manifest.to_json())
        try:
            made = make(pair, targets=5)
        except (ArgumentError, UnreadableError):
            return
        assert words(made.numbers)


class TestOtherMechanisms:
    @pytest.mark.parametrize("name", ["cloak", *only_deep("geoi")])
    def test_are_no_anonymity(self, name, tmp_path):
        town = incrowd.synthesize("city", users=12, seed=4)
        mechanism = incrowd.Cloak(1000) if name == "cloak" else incrowd.GeoI(0.01)
        with pytest.warns(PrivacyWarning):
            publish(mechanism.protect(town), tmp_path / "release", original=town, draws=20)
        made = make(tmp_path / "release", original=town, targets=5)
        assert made.verdict.answer == "no"
        assert "as anonymous" in made.verdict.headline
        assert made.numbers.verification.ok
        assert made.numbers.drawn == ()
        assert "hides nobody in a crowd" in words(made.numbers)["done"][0]

    def test_what_noise_has_moved_is_not_left_out(self, tmp_path):
        town = incrowd.synthesize("city", users=30, seed=4)
        who = tmp_path / "who.parquet"
        noisy = incrowd.GeoI(0.01).protect(town)
        with pytest.warns(PrivacyWarning):
            publish(noisy, tmp_path / "release", original=town, record=who, draws=20)
        made = make(tmp_path / "release", original=town, record=who, tz="UTC", targets=5)
        lights = {light.about: light for light in made.verdict.lights}
        assert lights["Left out"].level == "green"
        assert "as whoever made it states it" in lights["Left out"].says
        assert "are not where the release has them" in made.verdict.loss
        assert "the method has fabricated or moved them" in lights["True of somebody"].says
        inference = made.verdict.questions[-1]
        found = made.numbers.utility.persons.home.found_within(1)
        assert inference.level == "red"
        assert inference.figure == f"the home of {rounded_percent(found)} of people to 1 km"
        assert "epsilon: how much noise" in str(words(made.numbers)["settings"])
        sheet = (tmp_path / "release" / "fact-sheet.md").read_text()
        assert "need not have been in the rectangle" in sheet
        assert "states that the person was in" not in sheet


class TestSmall:
    def test_one_person(self, tmp_path):
        one = samples([(0, 0, 0), (5, 5, 60), (0, 0, 600)])
        with pytest.warns(PrivacyWarning):
            by_hand(tmp_path / "release", one, [1])
        made = make(tmp_path / "release", original=one, targets=5)
        assert made.verdict.answer == "no"
        assert made.numbers.before.k_gap is None
        assert "there is nobody to hide among" in " ".join(words(made.numbers)["unsaid"])
        assert made.numbers.drawn == ()

    def test_two_people_with_one_sample_each(self, tmp_path):
        two = samples([(3, 3, 100)], [(3, 3, 100)])
        _, names = by_hand(tmp_path / "release", samples([(3, 3, 100)]), [2])
        record = pl.DataFrame({"user": two.people, "trajectory": [0, 0]})
        write_record(tmp_path / "who.parquet", record, names)
        made = make(tmp_path / "release", original=two, record=tmp_path / "who.parquet")
        assert made.verdict.answer == "conditions"
        assert made.numbers.before.k_gap.hidden_already == 1
        assert words(made.numbers)["exposure"][1].startswith("100.0% of people had a record that")

    def test_an_empty_folder_after_everything_was_suppressed(self, tmp_path):
        far = samples([(0, 0, 0)], [(9000, 9000, 90000)])
        with pytest.raises(ArgumentError):
            publish(incrowd.glove(far, 2, max_space=1), tmp_path / "release", original=far)
        with pytest.raises(UnreadableError, match="is no release"):
            make(tmp_path / "release")


@pytest.fixture(scope="module")
def hermit(tmp_path_factory):
    """Let somebody live alone, 300 km from everybody, and be seen when nobody else is."""
    folder = tmp_path_factory.mktemp("hermit")
    city = incrowd.synthesize("city", users=40, seed=7)
    boxes = city.boxes().with_columns(pl.format("subscriber-{}", "user").alias("user"))
    x, y, t = 3000, 2987, int(city.t1.max()) + 1440 * 9
    places = [(x, y, t), (x + 7, y + 3, t + 123), (x, y, t + 777)]
    alone = pl.DataFrame(
        [("subscriber-hermit", x, x + 1, y, y + 1, t, t + 1) for x, y, t in places],
        schema=boxes.schema, orient="row",
    )  # fmt: skip
    both = pl.concat([boxes, alone]).sort("user", "t0", maintain_order=True)
    users = both["user"].unique(maintain_order=True)
    lengths = both.group_by("user", maintain_order=True).len()["len"]
    data = incrowd.Trajectories(
        tuple(both[name].to_numpy().astype(np.int32) for name in city.boxes().columns[1:]),
        np.concatenate([[0], np.cumsum(lengths.to_numpy())]).astype(np.int64),
        city.frame, people=users,
    )  # fmt: skip
    who = folder / "who.parquet"
    # Too far from anybody to be hidden: her samples cannot be published.
    release = incrowd.glove(data, k=2, max_space=60, max_time=1440 * 3)
    publish(release, folder / "release", original=data, record=who, draws=20)
    made = make(folder / "release", original=data, record=who, tz=ZONE, targets=20)
    return folder / "release", data, made, (x, y)


class TestNobodyIsNamed:
    def test_no_name_of_the_input_or_of_the_release(self, hermit):
        folder, _, made, _ = hermit
        text = text_of(made.html())
        assert "subscriber-" not in text
        names = read_release(folder).table.select("person").unique().collect()["person"]
        assert not [name for name in names if name in text]

    def test_no_original_position(self, hermit):
        _, data, made, _ = hermit
        text = made.json()
        metres = {f"{value:.1f}" for value in np.unique(data.frame.metres(data.x0)) if value > 1000}
        numbers = set(re.findall(r"\d+\.\d+", made.json()))
        assert not metres & numbers
        lon, lat = data.frame.degrees(data.frame.metres(data.x0), data.frame.metres(data.y0))
        for degree in {f"{d:.4f}" for d in (*lon.tolist(), *lat.tolist())}:
            assert degree not in text

    def test_the_map_ends_where_people_are(self, hermit):
        _, _, made, (x, y) = hermit
        about = made.numbers.utility.together.map
        assert all(n is None or n >= about.least >= 10 for c in about.cells for n in c[2:])
        assert {cell[0] for cell in about.cells} >= {0, about.columns - 1}
        assert {cell[1] for cell in about.cells} >= {0, about.rows - 1}
        east = about.west_m + about.columns * about.side_m
        north = about.south_m + about.rows * about.side_m
        assert east < x * 100
        assert north < y * 100

    def test_bins_and_heat_are_of_many(self, hermit):
        _, _, made, _ = hermit
        persons = made.numbers.utility.persons
        for ratios in (persons.travelled, persons.gyration, persons.hull):
            assert all(group.people >= 10 for group in (*ratios.bins, *ratios.heat))

    def test_no_extreme_of_an_error(self, hermit):
        _, _, made, _ = hermit
        for name in ("position_error", "time_error"):
            assert set(json.loads(made.json())["accuracy"][name]) == {
                "mean", "quarter", "median", "three_quarters", "cumulative",
            }  # fmt: skip

    def test_no_quantile_of_the_last_few(self, hermit):
        _, _, made, _ = hermit
        persons = json.loads(made.json())["utility"]["persons"]
        for name in ("centre_of_mass", "home", "work", "travelled", "gyration"):
            assert "0.5" in persons[name]["quantiles"]
            assert set(persons[name]["quantiles"]) <= {"0.25", "0.5", "0.75"}

    def test_records_that_are_drawn_are_published_ones_of_crowds(self, hermit):
        _, _, made, _ = hermit
        drawn = made.numbers.drawn
        assert drawn
        assert all(record.crowd >= 2 for record in drawn)
        assert max(box.east_to for record in drawn for box in record.boxes) < 100

    def test_her_days_and_her_distance_are_not_told(self, hermit):
        _, _, made, _ = hermit
        about = json.loads(made.json())["before"]["data"]
        assert about["people"] == 40  # 41, and it must not be told that one was left out
        days = {"start": "2012-03-05", "end": "2012-03-18", "days": 14, "days_shown": 14}
        assert {name: about[name] for name in days} == days
        assert not {"width_km", "height_km", "per_person_hour"} & set(about)
        assert about["area_km2"] < 10_000  # squares grow with the extent, and are few

    def test_she_is_left_out_of_the_release(self, hermit):
        _, _, made, _ = hermit
        assert made.numbers.settings.losses["people_dropped"] == "fewer than 10"
        said = dict(words(made.numbers)["settings"])
        assert "fewer than 10" in said.values()

    def test_the_k_gap_ends_before_hers(self, hermit):
        _, data, made, _ = hermit
        most = incrowd.k_gap(data, 2)["k_gap"].max()
        curve = made.numbers.before.k_gap.curve
        assert curve[-1][0] < most
        assert curve[-1][1] < 1


class TestZone:
    def test_is_asked_for_where_it_matters(self, town, copy):
        nowhere = incrowd.Trajectories(
            town.columns, town.offsets, town.frame, people=town.people, place=town.place,
            places=town.places,
        )  # fmt: skip
        with pytest.warns(
            DataWarning, match="the time zone in which people live is not known"
        ) as told:
            made = make(copy, original=nowhere, targets=5)
        assert told[0].filename == __file__
        assert (made.numbers.given.tz, made.numbers.given.zone_known) == ("UTC", False)
        said = dict(words(made.numbers)["data"])
        assert said["time zone"].startswith("not given: days, nights and working hours are taken")
        assert "--local-tz" not in words(made.numbers)["commands"]

    def test_is_that_with_which_the_original_was_read(self, town, copy):
        made = make(copy, original=town, targets=5)
        assert (made.numbers.given.tz, made.numbers.given.zone_known) == ("UTC", True)

    def test_is_that_of_the_record(self, tmp_path):
        file, who = tmp_path / "calls.csv", tmp_path / "who.parquet"
        incrowd.write(incrowd.synthesize("city", users=12, seed=3), file)
        data = incrowd.read(file, tz="Asia/Tokyo")
        publish(incrowd.glove(data, k=2), tmp_path / "r", original=data, record=who, draws=20)
        made = make(tmp_path / "r", record=who, targets=5)
        assert (made.numbers.given.tz, made.numbers.given.zone_known) == ("Asia/Tokyo", True)

    def test_lights_of_homes_say_that_it_is_not_known(self, town, copy, whole):
        homes = next(each for each in whole.verdict.lights if each.about == "Homes")
        assert "UTC" not in homes.says
        given = dataclasses.replace(whole.numbers.given, zone_known=False)
        doubtful = judge(dataclasses.replace(whole.numbers, given=given))
        homes = next(each for each in doubtful.lights if each.about == "Homes")
        assert "because no time zone was given" in homes.says


class TestFewLeftOut:
    """Where one or two people are left out, nothing on the page tells how many."""

    @pytest.fixture(scope="class")
    @staticmethod
    def made(tmp_path_factory):
        folder = tmp_path_factory.mktemp("few")
        data = incrowd.synthesize("city", users=41, seed=7)
        who = folder / "who.parquet"
        hidden = incrowd.glove(data, k=2)
        dropped = hidden.losses["people_dropped"]
        assert 0 < dropped < 10
        publish(hidden, folder / "release", original=data, record=who, draws=20)
        made = make(folder / "release", original=data, record=who, tz=ZONE, targets=5)
        return made, data, hidden

    def test_no_number_of_people_is_exact(self, made):
        report, data, _ = made
        told = json.loads(report.json())
        published = told["sizes"]["people"]
        dropped = len(data) - published

        def walk(value, name=""):
            if isinstance(value, dict):
                for key, part in value.items():
                    walk(part, f"{name}/{key}")
            elif isinstance(value, list):
                for part in value:
                    walk(part, name)
            elif isinstance(value, int) and not isinstance(value, bool):
                last = name.rpartition("/")[2]
                if "people" in last or "dropped" in last:
                    assert value != len(data), name
                    assert value != dropped, name

        walk(told)

    def test_nor_what_was_deleted_with_them(self, made):
        report, data, hidden = made
        lost = hidden.losses["samples_dropped"]
        text = report.json()
        told = json.loads(text)
        assert told["accuracy"]["samples_deleted"] == 0  # of the others
        assert f"{lost:,} sample" not in report.html()
        assert str(data.samples) not in text
        assert "fewer than 10 people are left out" in report.verdict.loss
        assert "few others are left out" in dict(words(report.numbers)["data"])["people"]
