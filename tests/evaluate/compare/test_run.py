"""`compare`: what is measured, what is kept, and what happens when something goes wrong."""

import json
import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd import (
    MECHANISMS,
    RELEASE_ATTACKS,
    Comparison,
    Generalise,
    GeoI,
    Glove,
    Trajectories,
    compare,
    synthesize,
)
from incrowd.attack import ATTACKS
from incrowd.errors import (
    ArgumentError,
    DataWarning,
    InputError,
    OutputError,
    PrivacyWarning,
    UnreadableError,
)
from incrowd.evaluate._compare import column as column_module
from incrowd.evaluate._compare.kept import KEPT
from incrowd.evaluate._compare.measures import MEASURES, docs_table, measures
from incrowd.protect._mechanism import Changed, Mechanism, setting

ALONE = pytest.mark.filterwarnings("ignore::incrowd.errors.PrivacyWarning")
ZONE = "Africa/Abidjan"


@pytest.fixture(scope="module")
def city():
    return synthesize("city", users=20, seed=7)


def nobody(data):
    """Give everybody without a sample."""
    none = np.zeros(len(data) + 1, np.int64)
    return Trajectories(tuple(c[:0] for c in data.columns), none, data.frame, people=data.people)


@dataclass(frozen=True)
class Toy(Mechanism):
    """Publishes the data as it is, or does something wrong on the way."""

    wrong: str = setting("What.", default="nothing", choices=("nothing", "fault", "memory", "disk",
                         "stop", "refuse", "empty", "lie"))  # fmt: skip
    runs: ClassVar[list] = []
    method: ClassVar[str] = "toy"
    paper: ClassVar[str] = "none"
    summary: ClassVar[str] = "does nothing"
    promises = limits = ()

    @property
    def guarantee(self):
        return "k-anonymity" if self.wrong == "lie" else "none"

    @property
    def settings(self):
        return {"wrong": self.wrong} | ({"k": 2} if self.wrong == "lie" else {})

    def _change(self, data, threads):
        self.runs.append(self.wrong)
        errors = {
            "fault": ZeroDivisionError("by nought"), "memory": MemoryError(),
            "disk": OutputError("the disk is full"), "refuse": ArgumentError("not of this data"),
            "stop": KeyboardInterrupt(),
        }  # fmt: skip
        if self.wrong in errors:
            raise errors[self.wrong]
        return Changed(nobody(data) if self.wrong == "empty" else data)


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(MECHANISMS, "toy", Toy)
    monkeypatch.setattr(Toy, "runs", [])
    return Toy


def numbers(found, key):
    return {row: one.value for row, one in found.values[key].items()}


@pytest.fixture(scope="module")
def found(city):
    methods = ["glove", Generalise(minutes=60), GeoI(0.01)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return compare(city, methods, k=(2, 3), tz=ZONE, threads=1)


@ALONE
class TestWhatIsMeasured:
    def test_every_column_has_every_row(self, found):
        keys = ["glove:k=2", "glove:k=3", "generalise:minutes=60", "geo-i:epsilon=0.01"]
        assert [column.key for column in found.columns] == keys == list(found.values)
        rows = [row.key for row in found.rows]
        alone = [name for name, one in RELEASE_ATTACKS.items() if not one.needs_others]
        assert set(RELEASE_ATTACKS) - set(alone) == {"composition"}
        assert len(set(rows)) == len(rows) == len(MEASURES) + len(ATTACKS) + 1 + len(alone)
        assert all(list(found.values[key]) == rows for key in keys)
        assert not found.failed
        assert all(column.verified for column in found.columns)

    def test_attacks_on_the_release_are_those_of_the_library(self, city, found, tmp_path):
        files = tmp_path / "release", tmp_path / "who.parquet"
        incrowd.publish(incrowd.glove(city, 2), files[0], original=city, record=files[1])
        known = incrowd.attack_release(
            files[0], record=files[1], original=city, tz=ZONE, sample=100, seed=0
        )
        values = found.values["glove:k=2"]
        for finding in known.findings:
            if finding.made:
                assert values[f"release_{finding.attack}"].value == finding.share
        noisy = found.values["geo-i:epsilon=0.01"]
        assert noisy["release_edges"].value is None
        assert "Points were moved" in noisy["release_edges"].why

    def test_promises_and_limits_are_those_of_the_mechanism(self, found):
        first, second, *_ = found.columns
        assert first.promises == incrowd.Glove(k=2).promises
        assert second.limits == incrowd.Glove(k=3).limits

    def test_figures_are_those_of_the_library(self, city, found):
        pair = incrowd.of_release(city, incrowd.glove(city, 2))
        accurate, useful = incrowd.accuracy(pair), incrowd.utility(pair, tz=ZONE, grid=0.5)
        told, mine = incrowd.inference(pair, tz=ZONE), numbers(found, "glove:k=2")
        assert found.settings["grid"] == 0.5
        assert mine["crowd"] == 2
        assert mine["discarded"] == 0
        assert mine["held"] == 1 - accurate.deleted
        assert mine["unwitnessed"] == accurate.rows_unseen / accurate.rows
        assert mine["wide"] == accurate.space.median
        assert mine["long"] == accurate.time.median
        assert mine["home"] == useful.persons.home.found_within(1)
        assert mine["gyration"] == useful.persons.gyration.twofold
        assert mine["flows"] == useful.together.flows.moved
        assert mine["home_shown"] == told.at(1000).home.share

    def test_attacks_are_those_of_the_release(self, city, found):
        noisy = numbers(found, "geo-i:epsilon=0.01")
        assert noisy["attack"] == max(noisy[f"attack_{name}"] for name in ATTACKS)
        slots = 3600 // city.frame.slot
        table = incrowd.risk(incrowd.visits(city), "visit", 4, precision=slots)
        share = (table["risk"] == 1).mean()
        assert found.original["attack_visit"].value == share
        assert not any(numbers(found, "glove:k=3")[f"attack_{name}"] for name in ATTACKS)

    def test_whoever_has_the_original_recognises_who_only_has_coarser_times(self, found):
        assert numbers(found, "generalise:minutes=60")["recall"] > 0.9
        hidden = found.values["glove:k=2"]
        assert hidden["recall"].value == 0
        assert hidden["precision"].value is None
        assert hidden["precision"].why == "nobody was matched with a record"

    def test_points_and_boxes_have_the_same_rows(self, found):
        noisy, coarse = (
            numbers(found, "geo-i:epsilon=0.01"),
            numbers(found, "generalise:minutes=60"),
        )
        assert noisy["deleted"] == noisy["created"] == coarse["deleted"] == coarse["created"] == 0
        assert noisy["time_error_mean"] == coarse["position_error_mean"] == 0
        assert 150 < noisy["position_error_mean"] < 250
        assert 10 < coarse["time_error_mean"] < 20
        assert noisy["held"] < 0.3 < coarse["held"] == 1

    def test_the_best_of_each_row_are_marked(self, found):
        for row in found.rows:
            of = {key: values[row.key] for key, values in found.values.items()}
            known = [one.value for one in of.values() if one.value is not None]
            marked = {one.value for one in of.values() if one.best}
            if row.better is None:
                assert not marked
            elif len(known) > 1:
                assert marked == {(min if row.better == "less" else max)(known)}
                assert sum(one.best for one in of.values()) == known.count(marked.pop())

    def test_distributions_rise_to_what_is_not_deleted(self, found):
        for key, curves in found.curves.items():
            assert set(curves) == {"space", "time", "wide", "long"}
            for name, curve in curves.items():
                shares = [share for _, share in curve]
                assert shares == sorted(shares)
                kept = 1 - numbers(found, key)["deleted"] if name in ("space", "time") else 1
                assert shares[-1] <= kept + 1e-12
        assert found.curves["geo-i:epsilon=0.01"]["time"][0] == [0, 1]

    def test_the_original_is_there_to_compare_with(self, found):
        assert set(found.original) == {row.key for row in measures() if row.original}
        assert found.original["crowd"].value == 1
        assert found.table["original"][0] == 1

    def test_time_and_memory(self, found):
        mine = numbers(found, "glove:k=2")
        assert 0 < mine["seconds"] < 600
        assert mine["memory"] is None or 0 <= mine["memory"] < 10**10

    def test_it_prints_itself(self, found):
        text = str(found)
        assert text.startswith("4 columns compared, on 20 people and ")
        assert "GLOVE, k = 2" in text
        assert "`table` has all" in text
        assert max(map(len, text.splitlines())) <= 98

    def test_the_table(self, found):
        table = found.table
        assert table.columns[:7] == ["group", "section", "key", "label", "unit", "better",
                                     "original"]  # fmt: skip
        assert table.filter(key="crowd")["glove:k=3"].item() == 3
        assert table["geo-i:epsilon=0.01"].dtype == pl.Float64

    def test_goes_to_files_and_back(self, found, tmp_path):
        found.write(tmp_path)
        again = Comparison.read(tmp_path)
        assert again.as_dict() == found.as_dict()
        assert json.loads((tmp_path / "comparison.json").read_text())["version"] == 1
        assert pl.read_csv(tmp_path / "comparison.csv").height == len(found.rows)
        assert (tmp_path / "comparison.json").stat().st_mode & 0o077 == 0
        with pytest.raises(OutputError, match="exists already"):
            found.write(tmp_path)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"format": "x"}, "this is no comparison"),
            ({"version": 2}, "has the version 2, and this incrowd reads version 1"),
            ({"columns": [{}]}, "the comparison is damaged"),
        ],
    )
    def test_other_files_are_refused(self, found, tmp_path, change, said):
        (tmp_path / "comparison.json").write_text(json.dumps(found.as_dict() | change))
        with pytest.raises(UnreadableError, match=said):
            Comparison.read(tmp_path)

    def test_the_chart_has_a_point_a_column(self, found):
        points = found.plot().to_dict()["data"]["values"]
        assert [one["with"] for one in points] == [column.label for column in found.columns]
        assert points[0]["risk"] == 0
        assert found.plot("unique_temporal", "discarded")
        with pytest.raises(ArgumentError, match="no row 'x'"):
            found.plot("x")


@ALONE
class TestWhatGoesWrong:
    @pytest.mark.parametrize(
        ("wrong", "state", "why"),
        [
            ("fault", "failed", "a fault in the mechanism or in incrowd: ZeroDivisionError: by"),
            ("memory", "failed", "out of memory"),
            ("refuse", "refused", "not of this data"),
            ("empty", "refused", "toy left nothing to publish"),
        ],
    )
    def test_does_not_end_the_others(self, toy, city, wrong, state, why):
        found = compare(city, [f"toy:{wrong}", "toy"], tz=ZONE, threads=1)
        bad, good = found.columns
        assert (bad.state, bad.verified, good.state) == (state, None, "done")
        assert bad.why.startswith(why)
        assert found.failed == (bad,)
        values = found.values[bad.key]
        assert all(one.value is None and one.why.startswith(state) for one in values.values())
        assert str(found).count(why) == 1

    def test_a_release_that_does_not_pass_is_not_measured(self, toy, city):
        (bad,) = compare(city, ["toy:lie"], tz=ZONE, threads=1).columns
        assert (bad.state, bad.verified) == ("failed", False)
        assert "k-anonymity" in bad.why

    def test_a_full_disk_ends_it(self, toy, city):
        with pytest.raises(OutputError, match="the disk is full"):
            compare(city, ["toy:disk", "toy"], tz=ZONE)

    def test_a_measure_that_cannot_be_taken_says_why(self, toy, city, monkeypatch):
        def refuse(*_, **__):
            raise InputError("nothing there")

        monkeypatch.setattr(incrowd, "uniqueness", refuse)
        found = compare(city, ["toy"], tz=ZONE, threads=1)
        value = found.values["toy"]["unique_spatial"]
        assert (value.value, value.why) == (None, "nothing there")
        assert found.values["toy"]["crowd"].value == 1

    def test_a_measure_beside_k_above_the_people(self, city):
        found = compare(city, ["glove"], k=(2, 21), tz=ZONE, threads=1)
        assert [column.state for column in found.columns] == ["done", "refused"]
        assert found.columns[1].why == "20 people cannot hide in a crowd of 21"


class TestWrongUse:
    def test_data_without_samples(self, city):
        with pytest.raises(InputError, match="the data has no samples"):
            compare(city[:0], ["glove"])

    def test_crowds(self, city):
        with pytest.raises(ArgumentError, match="one person a trajectory"):
            compare(incrowd.glove(city, 2).trajectories, ["glove"])

    @pytest.mark.parametrize(
        "how", [{"targets": 0}, {"seed": -1}, {"grid": 0}, {"grid": math.inf}, {"tz": "Nowhere"}]
    )
    def test_settings_that_make_no_sense(self, city, how):
        with pytest.raises(ArgumentError):
            compare(city, ["glove"], **how)


class TestWarnings:
    def test_of_people_alone_come_for_each_column_also_where_it_was_kept(self, city, tmp_path):
        for _ in range(2):
            with pytest.warns(PrivacyWarning, match="^temporal cloaking, 60 min: k = 1: 20 of 20"):
                compare(city, ["cloak:60"], folder=tmp_path, tz=ZONE)

    def test_of_what_looks_odd_come_as_well(self, city):
        with pytest.warns(DataWarning, match="^GLOVE, k = 2, max 100 m: little is left: "):
            (column,) = compare(
                city, ["glove:max-metres=100"], k=2, rows=["crowd"], tz=ZONE
            ).columns
        assert not column.warnings
        assert len(column.notes) == 1


@ALONE
class TestKept:
    def test_an_interrupted_comparison_goes_on(self, toy, city, tmp_path, monkeypatch):
        methods = ["toy", "toy:stop", "glove"]
        with pytest.raises(KeyboardInterrupt):
            compare(city, methods, folder=tmp_path, tz=ZONE)
        assert toy.runs == ["nothing", "stop"]
        left = {path.suffix for path in (tmp_path / KEPT).iterdir()}
        assert left == {".json"}  # no release is left
        # Names of a release are random, and so is the order of its records: figures are not.
        errors = []
        monkeypatch.setattr(
            toy, "_change", lambda self, data, _: errors.append(self.wrong) or Changed(data)
        )
        found = compare(city, methods, folder=tmp_path, tz=ZONE)
        assert errors == ["stop"]
        assert not found.failed
        whole = compare(city, methods, tz=ZONE)
        for key, values in whole.values.items():
            timed = {"seconds", "memory"}
            assert {row: one.value for row, one in values.items() if row not in timed} == {
                row: one.value for row, one in found.values[key].items() if row not in timed
            }
        assert found.curves == whole.curves
        assert found.original == whole.original

    def test_it_is_made_anew_where_something_differs(self, toy, city, tmp_path, monkeypatch):
        def runs(data=city, methods=("toy",), **how):
            toy.runs.clear()
            compare(data, methods, folder=tmp_path, **{"tz": ZONE} | how)
            return len(toy.runs)

        assert runs() == 1
        assert runs() == 0
        assert runs(threads=1) == 0
        assert runs(seed=1) == runs(targets=7) == runs(tz="UTC") == runs(grid=1) == 1
        assert runs(city[:19]) == 1
        later = incrowd.Trajectories(
            tuple(np.array(column) for column in city.columns), city.offsets,
            incrowd.Frame(cell=50, crs=city.frame.crs), people=city.people, reading=city.reading,
        )  # fmt: skip
        assert runs(later) == 1
        assert runs() == 0
        monkeypatch.setattr(incrowd, "__version__", "99")
        assert runs() == 1

    def test_what_failed_is_tried_again(self, toy, city, tmp_path):
        for _ in range(2):
            compare(city, ["toy:fault"], folder=tmp_path, tz=ZONE)
        assert toy.runs == ["fault", "fault"]

    @pytest.mark.parametrize("damage", ["", "{", "[]", '{"key": "x"}'])
    def test_a_damaged_column_is_made_anew(self, toy, city, tmp_path, damage):
        compare(city, ["toy"], folder=tmp_path, tz=ZONE)
        for file in (tmp_path / KEPT).iterdir():
            file.write_text(damage)
        found = compare(city, ["toy"], folder=tmp_path, tz=ZONE)
        assert len(toy.runs) == 2
        assert found.values["toy"]["crowd"].value == 1

    def test_only_the_owner_reads_it(self, toy, city, tmp_path):
        compare(city, ["toy"], folder=tmp_path / "new", tz=ZONE)
        kept = tmp_path / "new" / KEPT
        assert kept.stat().st_mode & 0o077 == 0
        assert all(file.stat().st_mode & 0o077 == 0 for file in kept.iterdir())

    def test_a_folder_that_cannot_be_made(self, toy, city, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(OutputError):
            compare(city, ["toy"], folder=tmp_path / "file", tz=ZONE)


class TestRows:
    def test_only_those_asked_for_are_measured(self, city, monkeypatch):
        monkeypatch.setattr(incrowd, "risk", None)
        monkeypatch.setattr(incrowd, "deanonymize", None)
        found = compare(city, ["glove"], k=2, rows=["created", "cost", "crowd"], tz=ZONE)
        keys = ["crowd", "created", "seconds", "memory"]
        assert [row.key for row in found.rows] == keys == list(found.values["glove:k=2"])
        assert list(found.original) == ["crowd"]
        assert found.settings["rows"] == keys
        assert found.curves["glove:k=2"]["space"]
        assert "samples created" in str(found)
        assert Comparison.from_dict(json.loads(found.to_json())).as_dict() == found.as_dict()

    def test_a_group_is_all_of_its_rows(self):
        keys = [row.key for row in measures(["private"])]
        assert keys == [row.key for row in measures() if row.group == "private"]
        assert "attack_visit" in keys

    def test_others_are_refused(self, city):
        with pytest.raises(ArgumentError, match="no row 'create'; did you mean created"):
            compare(city, ["glove"], rows=["create"], tz=ZONE)

    def test_columns_with_other_rows_are_not_those_that_are_kept(self, city, tmp_path):
        for rows in (["crowd"], ["crowd", "deleted"]):
            found = compare(city, ["glove"], folder=tmp_path, rows=rows, tz=ZONE)
            assert list(found.values["glove:k=3"]) == rows
            assert all(one.value is not None for one in found.values["glove:k=3"].values())


@ALONE
def test_progress_names_the_column_and_the_stage(city):
    seen = []
    compare(city, ["glove", "cloak:60"], k=2, tz=ZONE, progress=lambda *told: seen.append(told))
    names = list(dict.fromkeys(what for what, _, _ in seen))
    assert names[0].startswith("original: measuring ")
    assert "1 of 2, GLOVE, k = 2: protecting" in names
    assert "1 of 2, GLOVE, k = 2: writing and verifying" in names
    assert names[-1] == "2 of 2, temporal cloaking, 60 min: done"
    assert all(0 <= done <= total for _, done, total in seen)


@ALONE
def test_without_a_way_to_reset_the_peak_memory_has_a_reason(city, monkeypatch, tmp_path):
    monkeypatch.setattr(column_module, "_RESET", tmp_path / "no" / "file")
    found = compare(city, [Glove(k=2)], tz=ZONE)
    value = found.values["glove:k=2"]["memory"]
    assert value.value is None
    assert "peak" in value.why


def test_the_page_has_every_row_as_it_is():
    page = Path(__file__).parents[3] / "docs" / "comparison.md"
    assert docs_table() in page.read_text("utf-8")
