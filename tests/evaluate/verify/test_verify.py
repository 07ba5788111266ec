"""The verifier on releases made by hand: what holds passes, and everything else is found."""

import datetime as dt
import json
import os
import struct
import subprocess
import sys
import warnings
from dataclasses import replace
from typing import ClassVar

import polars as pl
import pyarrow.parquet as pq
import pytest

import incrowd
from evaluate.makers import FRAME, ORIGINAL, PUBLISHED, Case, cell, trajectories
from incrowd import Frame, verify
from incrowd.data._frame import laea
from incrowd.data._manifest import amend_release, read_manifest, read_release
from incrowd.errors import ArgumentError, ColumnError, InputError, PrivacyWarning, UnreadableError
from incrowd.evaluate._verify.result import NAMES
from incrowd.evaluate._verify.rows import _midnight_before
from strategies import DEEP

FORMATS = pytest.mark.parametrize("format_", ["parquet", "csv"])
HOURS = dt.timedelta(hours=1)


@pytest.fixture
def case(tmp_path):
    """Give a release that holds all it claims."""
    return Case(tmp_path)


def all_of(case, **how):
    """Verify with everything at hand."""
    how = {"original": case.original, "record": case.record, "draws": 20, "seed": 1} | how
    return verify(case.path, **how)


def failed(verification):
    """Name the checks that failed."""
    return [check.name for check in verification.failed]


class TestWhatHolds:
    @FORMATS
    def test_everything_passes_beside_the_original(self, tmp_path, format_):
        found = all_of(Case(tmp_path, format=format_))
        assert [(check.name, check.ok) for check in found.checks] == [(n, True) for n in NAMES]
        assert found.ok
        assert found.k == 2
        assert found.scope == "with the original and the private record"

    def test_files_alone(self, case):
        found = verify(case.path)
        assert [check.ok for check in found.checks] == [True] * 5 + [None] * 5
        assert found.ok
        assert "the files alone" in found.claims
        assert "Not checked: membership, coverage, witness, no invention, linkage" in found.claims

    def test_without_the_record(self, case):
        found = all_of(case, record=None)
        assert [check.ok for check in found.checks] == [True] * 5 + [None] * 4 + [True]
        assert "needs the private record" in found["coverage"].says
        assert found.scope == "with the original, without the private record"

    def test_nothing_is_written(self, case):
        before = {file: file.read_bytes() for file in case.path.iterdir()}
        all_of(case)
        assert {file: file.read_bytes() for file in case.path.iterdir()} == before

    def test_is_plain_json_without_the_path(self, case):
        text = json.dumps(all_of(case).to_dict(), allow_nan=False)
        assert str(case.path.parent) not in text
        assert not any(user in text for user in ORIGINAL)

    def test_what_was_found_can_be_noted_and_verified_again(self, case):
        amend_release(case.path, verified=all_of(case).to_dict(), files={"report.html": b"<p>"})
        assert all_of(case).ok

    def test_the_same_seed_gives_the_same(self, case):
        assert all_of(case).to_dict() == all_of(case).to_dict()
        fresh = [all_of(case, seed=None)["linkage"].figures["seed"] for _ in range(2)]
        assert fresh[0] != fresh[1]

    def test_counts_crowds(self, case):
        figures = verify(case.path)["k-anonymity"].figures
        assert (figures["smallest"], figures["largest"], figures["crowds"]) == (2, 3, 2)
        assert figures["sizes"] == {"2": 1, "3": 1}

    def test_original_may_be_a_function_of_the_grid(self, case):
        def read(grid):
            assert (grid.crs, grid.cell, grid.slot) == (FRAME.crs, FRAME.cell, FRAME.slot)
            return case.original

        assert all_of(case, original=read).ok

    def test_an_original_with_another_origin(self, tmp_path):
        case = Case(tmp_path)
        shifted = {u: [(*b[:4], b[4] + 60, b[5] + 60) for b in s] for u, s in ORIGINAL.items()}
        frame = Frame(FRAME.crs, origin=FRAME.origin - 3600)
        assert all_of(case, original=trajectories(shifted, frame)).ok

    def test_crowds_with_the_same_record_look_like_one(self, tmp_path):
        boxes = PUBLISHED[0]
        original = {**ORIGINAL, "cat-3": ORIGINAL["ann-1"], "dan-4": ORIGINAL["bob-2"]}
        who = {"ann-1": 0, "bob-2": 0, "cat-3": 1, "dan-4": 1}
        original.pop("eve-5")
        found = all_of(Case(tmp_path, original, {0: boxes, 1: boxes}, who))
        assert found.ok
        assert found["k-anonymity"].figures["crowds"] == 1
        assert "look like one" in found["sizes"].says

    def test_limits_are_said(self, case, tmp_path):
        assert len(verify(case.path).limits) == 5
        other = tmp_path / "other"
        other.mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            found = verify(Case(other, settings={"reshape": "split"}, seed=1).path)
        assert "split" in found.limits[5]
        assert "seed" in found.limits[6]

    def test_progress_rises_to_all(self, case):
        seen = []
        all_of(case, progress=lambda done, total: seen.append((done, total)))
        assert seen == sorted(seen)
        assert seen[-1] == (256, 256)

    def test_lines_for_a_terminal(self, case):
        lines = str(all_of(case)).splitlines()
        assert [line.split()[0] for line in lines[:4]] == ["files", "rows", "sizes", "names"]
        assert all(line[14:16] == "ok" for line in lines[: len(NAMES)])
        assert verify(case.path).lines()[5][14:].startswith("not checked  Not checked (needs")


class TestFiles:
    def test_an_extra_file(self, case):
        (case.path / ".notes").write_text("")
        found = all_of(case)
        assert failed(found) == ["files"]
        assert found["files"].says == ".notes is not named in the manifest."
        assert found["k-anonymity"].ok is None
        assert "Nothing can be claimed" in found.claims

    def test_a_file_that_has_no_place_in_a_release(self, case):
        (case.path / "who.parquet").write_bytes(case.record.read_bytes())
        (case.path / "fact-sheet.md").unlink()
        case.reseal(files={"trajectories.parquet": {}, "who.parquet": {}})
        assert verify(case.path)["files"].says == "who.parquet has no place in a release."

    @pytest.mark.parametrize("name", ["x" * 300, "../who.parquet", "."])
    def test_a_name_that_no_file_of_a_release_can_have(self, case, name):
        manifest = read_manifest(case.path)
        files = {name: {"bytes": 1, "sha256": "0" * 64}, **manifest.files}
        (case.path / "manifest.json").write_text(replace(manifest, files=files).to_json())
        assert verify(case.path)["files"].says.startswith(
            f"{name[:1].upper()}{name[1:]} is missing"
        )
        with pytest.raises(UnreadableError):
            read_release(case.path)

    def test_a_link(self, case):
        outside = case.path.parent / "rows.parquet"
        case.file.rename(outside)
        (case.path / "trajectories.parquet").symlink_to(outside)
        found = verify(case.path)["files"].says
        assert found == "trajectories.parquet is a link, and not the file itself."

    def test_a_manifest_that_is_no_file_or_too_deep(self, case):
        file = case.path / "manifest.json"
        file.write_text("[" * 200_000)
        with pytest.raises(UnreadableError, match="cannot read"):
            verify(case.path)
        file.unlink()
        os.mkfifo(file)
        with pytest.raises(UnreadableError, match="it is no file"):
            verify(case.path)

    def test_a_missing_file(self, case):
        case.file.unlink()
        assert "is missing" in verify(case.path)["files"].says

    def test_a_changed_manifest(self, case):
        file = case.path / "manifest.json"
        file.write_text(file.read_text().replace("by hand", "by magic"))
        found = verify(case.path)
        assert failed(found) == ["files"]
        assert "manifest.json was changed" in found["files"].says

    def test_notes_in_the_metadata(self, case):
        table = pq.read_table(case.file)
        pq.write_table(table.replace_schema_metadata({"who": "ann-1"}), case.file)
        case.reseal()
        assert "notes beside its rows" in verify(case.path)["files"].says

    def test_two_tables(self, case):
        (case.path / "trajectories.csv").write_text("")
        fields = json.loads((case.path / "manifest.json").read_text())
        case.reseal(files=fields["files"] | {"trajectories.csv": {}})
        assert "one file of trajectories, not 2" in verify(case.path)["files"].says

    def test_what_is_no_release(self, tmp_path):
        with pytest.raises(UnreadableError, match="is no release"):
            verify(tmp_path)

    @FORMATS
    def test_every_flipped_bit_of_the_manifest_is_found(self, tmp_path, format_):
        case = Case(tmp_path, format=format_)
        file = case.path / "manifest.json"
        self.flip(case, file, range(0, 8 * file.stat().st_size, 1 if DEEP else 5))

    @FORMATS
    def test_flipped_bits_of_the_rows_are_found(self, tmp_path, format_):
        case = Case(tmp_path, format=format_)
        self.flip(case, case.file, range(0, 8 * case.file.stat().st_size, 7 if DEEP else 35))

    def flip(self, case, file, bits):
        content = file.read_bytes()
        assert verify(case.path).ok
        for bit in bits:
            changed = bytearray(content)
            changed[bit // 8] ^= 1 << bit % 8
            file.write_bytes(changed)
            try:
                assert not verify(case.path).ok, bit
            except UnreadableError:
                assert file.name == "manifest.json"
        file.write_bytes(content)
        assert verify(case.path).ok


class TestRows:
    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"x_min": pl.col("x_min") + 1}, "grid of cells"),
            ({"x_min": pl.lit(float("nan"))}, "grid of cells"),
            ({"y_max": pl.lit(float("inf"))}, "grid of cells"),
            ({"x_max": pl.col("x_min")}, "empty, ending"),
            ({"t_end": pl.col("t_start")}, "empty, ending"),
            ({"t_start": pl.col("t_start") + pl.duration(seconds=1)}, "grid of time slots"),
            ({"t_end": pl.col("t_end") + pl.duration(milliseconds=1)}, "grid of time slots"),
            ({"lon": pl.col("lon") + 0.000002}, "centre"),
            ({"lat": pl.col("lat") - 0.001}, "centre"),
            ({"lat": pl.lit(float("nan"))}, "centre"),
            ({"lon": pl.col("lon") + 1e-9}, "centre"),
        ],
    )
    def test_a_row_that_is_no_box(self, case, change, text):
        table = case.rows()
        first = table.with_row_index().with_columns(
            pl.when(pl.col("index") == 1).then(value).otherwise(pl.col(name)).alias(name)
            for name, value in change.items()
        )
        case.rewrite(first.drop("index"))
        found = all_of(case)
        assert failed(found) == ["rows"]
        assert text in found["rows"].says

    def test_rows_out_of_order_or_twice(self, case):
        table = case.rows().sort("person", "t_start", descending=[False, True])
        case.rewrite(table)
        assert "out of order" in verify(case.path)["rows"].says
        case.rewrite(pl.concat([table, table]).sort("person", "t_start"))
        assert "a repeat of" in verify(case.path)["rows"].says

    def test_zero_below_zero_is_another_number(self, case):
        table = case.rows().with_columns(
            pl.when(pl.col("x_min") == 0).then(-0.0).otherwise(pl.col("x_min")).alias("x_min")
        )
        case.rewrite(table)
        assert "grid of cells" in verify(case.path)["rows"].says

    def test_degrees_just_below_zero_round_to_minus_zero(self, tmp_path):
        frame = Frame(laea(0, 0), cell=0.01)
        case = Case(
            tmp_path, published={0: [(-2, 1, -2, 1, 0, 1)], 1: [cell(0, 0, 0)]}, frame=frame
        )
        assert "-0.0" in case.rows().write_csv()
        assert verify(case.path).ok

    def test_numbers_written_in_another_way(self, tmp_path):
        case = Case(tmp_path, format="csv")
        lines = case.file.read_text().splitlines()
        lines[1] = lines[1].replace(".0,", ".00,", 1)
        case.file.write_text("\n".join(lines) + "\n")
        case.reseal()
        assert "another way" in verify(case.path)["rows"].says

    def test_other_columns(self, case):
        pq.write_table(pq.read_table(case.file).drop_columns("lat"), case.file, store_schema=False)
        case.reseal()
        found = verify(case.path)
        assert failed(found) == ["rows"] or "notes" in found["files"].says

    def test_no_rows(self, case):
        case.rewrite(case.rows()[:0])
        assert "has no rows" in verify(case.path)["rows"].says

    @pytest.mark.parametrize("frame", [{}, {"crs": "nowhere", "cell": 100, "slot": 60}])
    def test_a_grid_that_is_none(self, case, frame):
        case.reseal(frame=frame)
        assert failed(verify(case.path)) == ["rows"]

    @pytest.mark.parametrize(("slot", "late"), [(60, 0), (300, 0), (7 * 60, 240), (7200, 0)])
    def test_slots_are_counted_from_midnight(self, slot, late):
        """Whoever counts hours must not count from the record that happens to come first."""
        for moment in (0, 13 * 3600 // slot, 3 * 86400 // slot, 20 * 86400 // slot + 1):
            start = _midnight_before(late + moment * slot, slot)
            assert (late + moment * slot - start) % slot == 0
            assert 0 <= start % 86400 < slot
            assert 0 <= late + moment * slot - start < 86400

    @FORMATS
    def test_batches_do_not_matter(self, tmp_path, monkeypatch, format_):
        case = Case(tmp_path, format=format_)
        whole = all_of(case).to_dict()
        for rows in (1, 2, 3) if format_ == "parquet" else (4, 6, 9):
            monkeypatch.setattr("incrowd.evaluate._verify.rows.ROWS", rows)
            assert all_of(case).to_dict() == whole


class TestStatistics:
    """Least and greatest values of groups of rows, which Parquet files state beside the rows."""

    def forge(self, case, column, edge):
        """Change what the file states of a column, and no row."""
        case.rewrite(case.rows())
        content = case.file.read_bytes()
        cut = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        old = struct.pack("<d", getattr(case.rows()[column], edge)())
        rows, about = content[:cut], content[cut:]
        assert old in about
        case.file.write_bytes(rows + about.replace(old, struct.pack("<d", 7_777_777.0)))
        case.reseal()
        return case

    def test_a_release_states_none(self, case):
        about = pq.read_metadata(case.file)
        groups = [about.row_group(n) for n in range(about.num_row_groups)]
        stated = [group.column(n).statistics for group in groups for n in range(about.num_columns)]
        assert stated == [None] * len(stated)

    def test_true_ones_do_no_harm(self, case):
        case.rewrite(case.rows())
        assert pq.read_metadata(case.file).row_group(0).column(3).statistics.has_min_max
        assert verify(case.path).ok

    @pytest.mark.parametrize(("column", "edge"), [("x_max", "max"), ("lat", "min")])
    def test_false_ones_do_not_verify(self, case, column, edge):
        found = verify(self.forge(case, column, edge).path)
        assert not found.ok
        assert failed(found) == ["rows"]
        assert "statistics" in found["rows"].says

    def test_rows_are_read_whatever_is_stated_of_them(self, case):
        expected = len(case.rows().filter(pl.col("lat") < 1e6))
        self.forge(case, "lat", "min")
        table = read_release(case.path).table
        assert len(table.filter(pl.col("lat") < 1e6).collect()) == expected


class TestSizesAndNames:
    @pytest.mark.parametrize("name", ["people", "samples", "trajectories", "smallest_crowd"])
    @pytest.mark.parametrize("step", [-1, 1])
    def test_a_size_that_is_wrong(self, case, name, step):
        sizes = json.loads((case.path / "manifest.json").read_text())["sizes"]
        case.reseal(sizes=sizes | {name: sizes[name] + step})
        assert failed(verify(case.path)) == ["sizes"]

    def test_sizes_that_are_not_stated(self, case):
        case.reseal(sizes={})
        assert "not stated" in verify(case.path)["sizes"].says

    def test_names_out_of_order(self, case):
        case.rewrite(case.rows().sort("person", "t_start", descending=[True, False]))
        assert failed(verify(case.path)) == ["names"]

    def test_names_of_other_lengths(self, case):
        first = case.rows()["person"][0]
        case.rewrite(case.rows().with_columns(pl.col("person").replace(first, first[:-1])))
        assert failed(verify(case.path)) == ["names"]

    def test_a_name_that_returns(self, case):
        table = case.rows()
        first, last = table["person"][0], table["person"][-1]
        case.rewrite(table.with_columns(pl.col("person").replace(last, first)))
        assert "names" in failed(verify(case.path))


class TestK:
    def test_one_row_that_differs_is_found(self, case):
        table = case.rows().with_row_index()
        later = pl.when(pl.col("index") == 0).then(pl.col("t_end") + HOURS)
        case.rewrite(table.with_columns(later.otherwise(pl.col("t_end")).alias("t_end"))[:, 1:])
        found = verify(case.path)
        assert "k-anonymity" in failed(found)
        assert set(failed(found)) <= {"k-anonymity", "sizes"}
        assert found["k-anonymity"].figures["people_below_k"] >= 1

    def test_a_centre_that_differs_within_its_rounding_is_found(self, case):
        table = case.rows().with_row_index()
        moved = [pl.col("lon") + 1e-6, pl.col("lon") - 1e-6]
        seen = set()
        for lon in moved:
            other = pl.when(pl.col("index") == 0).then(lon.round(6)).otherwise(pl.col("lon"))
            case.rewrite(table.with_columns(other.alias("lon"))[:, 1:])
            found = verify(case.path)
            assert not found.ok
            seen |= set(failed(found))
        assert "k-anonymity" in seen

    def test_k_above_the_smallest_crowd(self, case):
        found = all_of(case, k=3)
        assert failed(found) == ["k-anonymity", "linkage"]
        assert "2 of 5 people" in found["k-anonymity"].says

    def test_k_above_what_the_manifest_states(self, tmp_path):
        who = dict.fromkeys("abc", 0)
        original = dict.fromkeys("abc", ORIGINAL["ann-1"])
        case = Case(tmp_path, original, {0: ORIGINAL["ann-1"]}, who)
        found = all_of(case, k=3)
        assert failed(found) == ["k-anonymity"]
        assert "the manifest states k = 2" in found["k-anonymity"].says

    def test_k_when_the_manifest_states_none(self, tmp_path):
        case = Case(tmp_path, settings={"k": "gone"})
        assert verify(case.path, k=2).ok
        with pytest.raises(ArgumentError, match="states no k"):
            verify(case.path)

    def test_somebody_alone(self, tmp_path):
        with pytest.warns(PrivacyWarning):
            case = Case(tmp_path, {"ann-1": [cell(0, 0, 1)]}, {0: [cell(0, 0, 1)]}, {"ann-1": 0})
        assert failed(all_of(case)) == ["k-anonymity", "linkage"]

    def test_a_stated_k_of_one_is_no_promise(self, tmp_path):
        case = Case(tmp_path, settings={"k": 1})
        assert failed(verify(case.path)) == ["k-anonymity"]


class TestWrongUse:
    @pytest.mark.parametrize(
        ("how", "text"),
        [
            ({"k": 1}, "k must be at least 2"),
            ({"draws": 0}, "must be at least 1"),
            ({"points": 0}, "must be at least 1"),
            ({"original": None}, "give the original as well"),
            ({"original": trajectories(ORIGINAL, Frame(laea(6, -4), origin=86400))}, "the grid"),
            ({"original": trajectories(ORIGINAL, Frame(FRAME.crs, cell=50))}, "the grid"),
            ({"original": trajectories(ORIGINAL, Frame(FRAME.crs, origin=86430))}, "the grid"),
            ({"original": trajectories(PUBLISHED, crowd=[2, 3])}, "this one has crowds"),
        ],
    )
    def test_is_refused(self, case, how, text):
        with pytest.raises(ArgumentError, match=text):
            all_of(case, **how)

    def test_a_record_that_is_none(self, case):
        with pytest.raises(UnreadableError, match="cannot read the private record"):
            all_of(case, record=case.path / "manifest.json")
        with pytest.raises(ColumnError, match="no column 'person'"):
            all_of(case, record=pl.DataFrame({"user": ["a"], "trajectory": [0]}))
        with pytest.raises(InputError, match="a Parquet file or a frame, not int"):
            all_of(case, record=3)


class TestIndependence:
    def test_shares_no_code_with_what_makes_releases(self):
        code = (
            "import sys, incrowd.evaluate._verify.run;"
            "print([m for m in sys.modules if m.startswith(('incrowd.protect', "
            "'incrowd.measure', 'incrowd.attack', 'incrowd.report'))])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)  # noqa: S603
        assert done.stdout.strip() == b"[]"

    def test_is_public(self):
        assert incrowd.verify is verify


class TestSettings:
    """What the manifest states of the making must fit what is there."""

    OVERLAPPING = PUBLISHED | {1: [*PUBLISHED[1], (20, 23, 3, 5, 50, 52)]}

    @pytest.mark.parametrize(
        ("reshape", "ok"), [("split", False), ("union", False), ("none", True)]
    )
    def test_boxes_that_overlap_in_time(self, tmp_path, reshape, ok):
        case = Case(tmp_path, published=self.OVERLAPPING, settings={"reshape": reshape})
        found = verify(case.path)
        assert found["sizes"].ok is ok
        assert found["sizes"].figures.get("overlap", 0) == (0 if ok else 3)

    @pytest.mark.parametrize(
        ("settings", "ok"),
        [
            ({"max_time": 41}, True),
            ({"max_time": 40}, False),
            ({"max_time": 40, "suppress": "samples"}, True),
            ({"max_time": 40, "reshape": "union"}, True),
            ({"max_space": 1}, True),
            ({"max_space": 1, "reshape": "none"}, False),
            ({"max_space": 3, "reshape": "none"}, True),
        ],
    )
    def test_boxes_beyond_the_thresholds(self, tmp_path, settings, ok):
        case = Case(tmp_path, settings={"reshape": "split"} | settings)
        assert verify(case.path)["sizes"].ok is ok

    OPTIMAL: ClassVar = {"merge": "optimal", "reshape": "gone"}

    def test_the_best_boxes_do_not_overlap_in_time(self, tmp_path):
        case = Case(tmp_path, published=self.OVERLAPPING, settings=self.OPTIMAL)
        found = verify(case.path)["sizes"]
        assert not found.ok
        assert "which optimal merging rules out" in found.says

    @pytest.mark.parametrize(
        ("settings", "ok"),
        [({"max_time": 41}, True), ({"max_time": 40}, False), ({"max_space": 3}, True),
         ({"max_space": 2}, False)],
    )  # fmt: skip
    def test_the_best_boxes_keep_to_the_thresholds(self, tmp_path, settings, ok):
        case = Case(tmp_path, settings=self.OPTIMAL | settings)
        assert verify(case.path)["sizes"].ok is ok

    def test_names_that_nobody_drew(self, case):
        case.rewrite(case.rows().with_columns(pl.col("person").str.to_uppercase()))
        found = verify(case.path)
        assert failed(found) == ["names"]
        assert "not 16 hexadecimal digits" in found["names"].says
