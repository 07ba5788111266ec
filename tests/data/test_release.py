import errno
import json
import re
import warnings

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import strategies
from incrowd import Frame, Trajectories, _renames
from incrowd.data import _release as release
from incrowd.data._frame import laea
from incrowd.data._manifest import (
    SCHEMA,
    Manifest,
    amend_release,
    read_manifest,
    read_release,
    seal,
)
from incrowd.data._release import write_record, write_release
from incrowd.errors import (
    ArgumentError,
    IncrowdWarning,
    OutputError,
    PlaceError,
    PrivacyWarning,
    UnreadableError,
)
from strategies import random_cases

FRAME = Frame(laea(5, -4), cell=100, slot=60, origin=86400)
SAID = {"method": "by hand", "settings": {"k": 2}, "losses": {"people": 0}}
FORMATS = pytest.mark.parametrize("format_", ["parquet", "csv"])


def crowds(*sizes, users=None, frame=FRAME):
    """Make a trajectory of two samples for each crowd."""
    n = len(sizes)
    rows = {
        "user": np.repeat(users or np.arange(n), 2),
        "x0": np.repeat(np.arange(n) * 10, 2),
        "x1": np.repeat(np.arange(n) * 10 + 3, 2),
        "y0": [0, 7] * n,
        "t0": [0, 90] * n,
        "t1": [30, 95] * n,
    }
    boxes = Trajectories.from_boxes(rows, frame)
    return Trajectories(
        boxes.columns,
        boxes.offsets,
        frame,
        people=boxes.people,
        crowd=np.array(sizes, np.int32),
    )


def records(table):
    """Give the rows of each person, without the name."""
    return {name: rows.drop("person").rows() for (name,), rows in table.group_by("person")}


def quietly(path, data, **how):
    """Write a release although people stand alone in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return write_release(path, data, **SAID | how)


@pytest.fixture
def folder(tmp_path):
    """Give a release of two crowds."""
    write_release(tmp_path / "out", crowds(2, 3), **SAID)
    return tmp_path / "out"


class TestWriteRelease:
    @FORMATS
    def test_each_of_a_crowd_has_an_identical_record(self, tmp_path, format_):
        _, names = write_release(tmp_path / "out", crowds(2, 3), **SAID, format=format_)
        found = records(read_release(tmp_path / "out").table.collect())
        by_crowd = [
            [found[name] for name in names.filter(trajectory=crowd)["person"]] for crowd in (0, 1)
        ]
        assert [len(same) for same in by_crowd] == [2, 3]
        assert all(same == [same[0]] * len(same) for same in by_crowd)
        assert by_crowd[0][0] != by_crowd[1][0]

    @FORMATS
    def test_rows_are_times_metres_and_degrees(self, tmp_path, format_):
        write_release(tmp_path / "out", crowds(2), **SAID, format=format_)
        table = read_release(tmp_path / "out").table.collect()
        assert table.schema == SCHEMA
        row = table.row(0, named=True)
        assert (row["t_start"].isoformat(), row["t_end"].isoformat()) == (
            "1970-01-02T00:00:00+00:00",
            "1970-01-02T00:30:00+00:00",
        )
        assert [row[side] for side in ("x_min", "x_max", "y_min", "y_max")] == [0, 300, 0, 100]
        lon, lat = FRAME.degrees([150], [50])
        assert (row["lon"], row["lat"]) == (round(lon[0], 6), round(lat[0], 6))

    @random_cases(40)
    @given(
        data=strategies.trajectories(frame=FRAME, min_people=1, max_crowd=3),
        rows=st.integers(1, 20),
        format_=st.sampled_from(["parquet", "csv"]),
    )
    def test_publishes_every_box_of_everyone(self, data, rows, format_, tmp_path_factory):
        path = tmp_path_factory.mktemp("any") / "out"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(release, "ROWS", rows)
            _, names = quietly(path, data, format=format_)
        found = records(read_release(path).table.collect())
        boxes = naive.people_of(data)
        expected = {name: boxes[i][1] for i, name in names.rows()}
        assert {
            name: [
                tuple(round(side / FRAME.cell) for side in row[2:6])
                + tuple((int(t.timestamp()) - FRAME.origin) // FRAME.slot for t in row[:2])
                for row in rows
            ]
            for name, rows in found.items()
        } == expected

    def test_names_are_fresh_and_say_nothing(self, tmp_path):
        _, first = write_release(tmp_path / "one", crowds(2, 3), **SAID)
        _, second = write_release(tmp_path / "two", crowds(2, 3), **SAID)
        assert all(re.fullmatch("[0-9a-f]{16}", name) for name in first["person"])
        assert first["person"].n_unique() == 5
        assert not set(first["person"]) & set(second["person"])

    def test_names_that_meet_are_drawn_again(self, tmp_path, monkeypatch):
        draws = [bytes(16), bytes(range(16)), b"part"]
        monkeypatch.setattr(release.secrets, "token_bytes", lambda number: draws.pop(0))
        _, names = write_release(tmp_path / "out", crowds(2), **SAID)
        assert names["person"].n_unique() == 2

    @FORMATS
    def test_records_are_in_the_order_of_their_names(self, tmp_path, format_):
        write_release(tmp_path / "out", crowds(*[2] * 50), **SAID, format=format_)
        table = read_release(tmp_path / "out").table.collect()
        assert table.equals(table.sort("person", "t_start"))

    @FORMATS
    def test_no_identifier_of_the_input_is_in_any_byte(self, tmp_path, format_):
        users = ["ann-0172-55551", "bob-0172-55552"]
        write_release(tmp_path / "out", crowds(2, 2, users=users), **SAID, format=format_)
        files = [file.read_bytes() for file in (tmp_path / "out").iterdir()]
        assert len(files) == 3
        assert not any(word in content for content in files for word in (b"0172", b"ann", b"bob"))

    def test_identifiers_are_never_looked_at(self, tmp_path):
        data = crowds(2)
        object.__setattr__(data, "people", None)
        write_release(tmp_path / "out", data, **SAID)

    @FORMATS
    def test_other_identifiers_do_not_change_a_byte(self, tmp_path, format_):
        for name, users in (("one", ["a", "b"]), ("two", ["xxxx", "yyyy"])):
            quietly(tmp_path / name, crowds(2, 2, users=users), seed=1, format=format_)
        for file in (tmp_path / "one").iterdir():
            assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()

    def test_parquet_carries_its_kind_and_nothing_else(self, folder):
        metadata = pq.read_metadata(folder / "trajectories.parquet").metadata
        assert metadata == {b"incrowd.kind": b"release"}

    def test_the_manifest_says_what_was_done(self, folder):
        said = json.loads((folder / "manifest.json").read_text())
        assert said["kind"] == "incrowd release"
        assert said["version"] == 1
        assert said["method"] == "by hand"
        assert said["settings"] == {"k": 2}
        assert said["losses"] == {"people": 0}
        assert said["frame"] == {"crs": FRAME.crs, "cell": 100, "slot": 60}
        assert said["sizes"] == {
            "people": 5,
            "samples": 10,
            "trajectories": 2,
            "smallest_crowd": 2,
        }
        assert said["names"] == "random"

    def test_the_manifest_claims_nothing_by_itself(self, folder):
        said = json.loads((folder / "manifest.json").read_text())
        assert said["verified"] is None
        assert said["holds_against"] == []
        assert "any threat" in said["fails_against"][0]

    def test_the_manifest_names_threats(self, tmp_path):
        manifest, _ = write_release(
            tmp_path / "out", crowds(2), **SAID, holds_against=["linkage"], fails_against=["guess"]
        )
        assert (manifest.holds_against, manifest.fails_against) == (["linkage"], ["guess"])

    def test_the_manifest_explains_and_names_the_guarantee(self, tmp_path):
        said = {"guarantee": "k-anonymity", "explanation": ["Boxes were drawn by hand."]}
        manifest, _ = write_release(tmp_path / "out", crowds(2), **SAID, **said)
        found = read_release(tmp_path / "out").manifest
        assert found == manifest
        assert (found.guarantee, found.explanation) == tuple(said.values())

    def test_a_manifest_that_states_neither_has_the_text_of_older_ones(self, folder):
        text = (folder / "manifest.json").read_text()
        assert "guarantee" not in json.loads(text)
        assert "explanation" not in json.loads(text)
        found = read_manifest(folder)
        assert (found.guarantee, found.explanation) == (None, [])
        assert found.to_json() == text

    def test_numbers_of_numpy_are_plain_in_the_manifest(self, tmp_path):
        write_release(tmp_path / "out", crowds(2), **SAID | {"losses": {"mean": np.float32(0.5)}})
        assert read_release(tmp_path / "out").manifest.losses == {"mean": 0.5}

    def test_somebody_alone_is_a_warning(self, tmp_path):
        with pytest.warns(PrivacyWarning, match="k = 1: 1 of 3 people have a record that nobody"):
            write_release(tmp_path / "out", crowds(1, 2), **SAID)

    def test_seeded_names_are_a_warning_and_marked(self, tmp_path):
        with pytest.warns(PrivacyWarning, match="seeded names can be guessed"):
            manifest, _ = write_release(tmp_path / "out", crowds(2), **SAID, seed=1)
        assert manifest.names == "seeded, not for release"

    def test_a_directory_that_is_there_is_kept(self, folder):
        before = (folder / "manifest.json").read_bytes()
        with pytest.raises(OutputError, match="out exists already"):
            write_release(folder, crowds(4), **SAID)
        assert (folder / "manifest.json").read_bytes() == before

    def test_a_full_disk_leaves_nothing(self, tmp_path, monkeypatch):
        def fill(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(release, "seal", fill)
        with pytest.raises(OutputError, match="the disk is full; no incomplete output was left"):
            write_release(tmp_path / "out", crowds(2), **SAID)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("data", "how", "text"),
        [
            (crowds(2, frame=Frame()), {}, "needs positions on earth"),
            (crowds(2)[[]], {}, "nothing to release"),
            (crowds(2), {"format": "xlsx"}, "must be 'parquet' or 'csv', not 'xlsx'"),
            (crowds(2), {"settings": {"k": object()}}, "must be plain values: <object"),
            (crowds(2), {"losses": {"mean": float("nan")}}, "must be plain values"),
        ],
    )
    def test_refuses_what_makes_no_release(self, tmp_path, data, how, text):
        with pytest.raises(ArgumentError, match=text):
            write_release(tmp_path / "out", data, **SAID | how)
        assert list(tmp_path.iterdir()) == []

    def test_refuses_a_trajectory_without_samples(self, tmp_path):
        data = crowds(2)
        empty = Trajectories(data.columns, np.array([0, 2, 2]), FRAME)
        with pytest.raises(ArgumentError, match="trajectory 1 has no sample"):
            write_release(tmp_path / "out", empty, **SAID)

    def test_refuses_boxes_that_lie_nowhere(self, tmp_path):
        rows = {"user": [1], "x0": [10**6], "y0": [0], "t0": [0]}
        boxes = Trajectories.from_boxes(rows, FRAME)
        with pytest.raises(PlaceError, match="outside the projection"):
            quietly(tmp_path / "out", boxes)
        assert list(tmp_path.iterdir()) == []


class TestReadRelease:
    @FORMATS
    def test_gives_back_the_manifest(self, tmp_path, format_):
        manifest, _ = write_release(tmp_path / "out", crowds(2), **SAID, format=format_)
        found = read_release(str(tmp_path / "out"))
        assert found.manifest == manifest
        assert found.path == tmp_path / "out"

    @pytest.mark.parametrize("name", ["none", "empty", "file"])
    def test_what_is_no_release_is_named(self, tmp_path, name):
        (tmp_path / "empty").mkdir()
        (tmp_path / "file").write_text("")
        with pytest.raises(UnreadableError, match=rf"{name}\b.*manifest\.json"):
            read_release(tmp_path / name)

    @pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"kind": "other"}'])
    def test_another_manifest_is_refused(self, folder, content):
        (folder / "manifest.json").write_bytes(content)
        with pytest.raises(UnreadableError, match=r"is not the manifest of one|cannot read"):
            read_release(folder)

    def rewrite(self, folder, **changes):
        file = folder / "manifest.json"
        fields = json.loads(file.read_text()) | changes
        file.write_text(json.dumps({k: v for k, v in fields.items() if v != "gone"}))

    @pytest.mark.parametrize("version", [0, 2, "1", None])
    def test_an_unknown_version_is_refused(self, folder, version):
        self.rewrite(folder, version=version)
        with pytest.raises(UnreadableError, match=rf"version {version!r}; .* reads version 1"):
            read_release(folder)

    @pytest.mark.parametrize("change", [{"method": "gone"}, {"extra": 1}, {"files": [1]}])
    def test_a_damaged_manifest_is_refused(self, folder, change):
        self.rewrite(folder, **change)
        with pytest.raises(UnreadableError, match=r"manifest\.json is damaged"):
            read_release(folder)

    def test_a_missing_file_is_named(self, folder):
        (folder / "trajectories.parquet").unlink()
        with pytest.raises(UnreadableError, match=r"incomplete: trajectories\.parquet is missing"):
            read_release(folder)

    def test_files_elsewhere_do_not_count(self, folder):
        (folder.parent / "else").write_bytes(b"")
        self.rewrite(folder, files={"../else": seal(folder.parent / "else")})
        with pytest.raises(UnreadableError, match="incomplete"):
            read_release(folder)

    def test_one_changed_byte_is_found(self, folder):
        file = folder / "trajectories.parquet"
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        with pytest.raises(UnreadableError, match="SHA-256 differs"):
            read_release(folder)

    def test_other_columns_are_refused(self, folder):
        file = folder / "trajectories.parquet"
        pl.DataFrame({"person": ["a"]}).write_parquet(file)
        self.rewrite(folder, files={file.name: seal(file)})
        with pytest.raises(UnreadableError, match="the columns must be"):
            read_release(folder)

    @pytest.mark.parametrize("content", [b"", b"no parquet"])
    def test_what_cannot_be_read_is_refused(self, folder, content):
        file = folder / "trajectories.parquet"
        file.write_bytes(content)
        self.rewrite(folder, files={file.name: seal(file)})
        with pytest.raises(UnreadableError, match="cannot read the trajectories"):
            read_release(folder)


class TestAmendRelease:
    def test_fills_in_what_was_verified(self, folder):
        amend_release(folder, verified={"k": 2, "ok": True})
        assert read_release(folder).manifest.verified == {"k": 2, "ok": True}

    def test_adds_a_file_with_its_hash(self, folder):
        manifest = amend_release(folder, files={"report.html": b"<p>fine"})
        assert manifest == read_release(folder).manifest
        assert manifest.files["report.html"]["bytes"] == 7
        assert manifest.verified is None

    @pytest.mark.parametrize("name", ["report.html", "manifest.json"])
    def test_killed_between_the_page_and_the_manifest_it_is_finished(
        self, folder, monkeypatch, name
    ):
        """Nothing could be cleaned up: the next one that reads the release does."""
        amend_release(folder, files={"report.html": b"old"})
        real = _renames._Step.do

        def stop(self, **how):
            if self.name.name == name:
                raise KeyboardInterrupt
            real(self, **how)

        def killed(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(_renames._Step, "do", stop)
            patch.setattr(_renames._Step, "undo", killed)
            with pytest.raises(KeyboardInterrupt):
                amend_release(folder, files={"report.html": b"newer"})
        with pytest.warns(IncrowdWarning, match="what it had made was complete"):
            assert read_release(folder).manifest.files["report.html"]["bytes"] == 5
        assert not any(folder.glob(".*"))
        assert not any(folder.parent.glob(".*"))

    def test_what_a_killed_run_left_in_it_goes(self, folder):
        left = folder / ".manifest.json.incrowd-part-0123456789ab"
        left.touch()
        with pytest.warns(IncrowdWarning, match="it was removed"):
            read_release(folder)
        assert not left.exists()

    def test_writes_nothing_when_the_finding_is_not_plain(self, folder):
        with pytest.raises(ArgumentError, match="plain values"):
            amend_release(folder, verified={"ok": object()}, files={"report.html": b""})
        assert not (folder / "report.html").exists()

    def test_keeps_what_was_verified_before(self, folder):
        amend_release(folder, verified={"ok": True})
        assert amend_release(folder, files={"report.html": b""}).verified == {"ok": True}

    @pytest.mark.parametrize("name", ["manifest.json", "trajectories.csv", "../a.html", "a/b", ""])
    def test_refuses_other_names(self, folder, name):
        with pytest.raises(ArgumentError, match="cannot be added to a release"):
            amend_release(folder, files={name: b""})

    def test_refuses_a_release_that_was_changed(self, folder):
        (folder / "trajectories.parquet").write_bytes(b"")
        with pytest.raises(UnreadableError, match="SHA-256 differs"):
            amend_release(folder, verified={"ok": True})


class TestWriteRecord:
    ASSIGNMENT = pl.DataFrame({"user": ["a", "b", "c", "d"], "trajectory": [1, 0, None, 1]})
    NAMES = pl.DataFrame(
        {"trajectory": [0, 1, 1], "person": ["n0", "n1", "n2"]},
        schema_overrides={"trajectory": pl.Int32},
    )

    def test_says_who_became_whom(self, tmp_path):
        write_record(tmp_path / "who.parquet", self.ASSIGNMENT, self.NAMES)
        assert pl.read_parquet(tmp_path / "who.parquet").rows() == [
            ("a", 1, "n1"),
            ("b", 0, "n0"),
            ("c", None, None),
            ("d", 1, "n2"),
        ]

    def test_only_its_owner_may_read_it(self, tmp_path):
        write_record(tmp_path / "who.parquet", self.ASSIGNMENT, self.NAMES)
        assert (tmp_path / "who.parquet").stat().st_mode & 0o777 == 0o600

    def test_is_refused_in_a_release(self, folder):
        with pytest.raises(ArgumentError, match="must stay outside"):
            write_record(folder / "who.parquet", self.ASSIGNMENT, self.NAMES)

    def test_somebody_without_a_name_is_an_error(self, tmp_path):
        with pytest.raises(ArgumentError, match="1 person of the assignment without a name"):
            write_record(tmp_path / "who.parquet", self.ASSIGNMENT, self.NAMES[:2])
        assert list(tmp_path.iterdir()) == []


class TestManifest:
    def test_cannot_be_changed(self, folder):
        with pytest.raises(AttributeError):
            read_release(folder).manifest.verified = {"ok": True}

    def test_json_is_text_for_people(self, folder):
        manifest = read_release(folder).manifest
        assert Manifest(**json.loads(manifest.to_json())) == manifest
        assert manifest.to_json().startswith('{\n  "kind": "incrowd release",\n')
