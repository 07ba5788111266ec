import errno

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

import strategies
from incrowd import Frame, Trajectories
from incrowd.data._frame import laea
from incrowd.data._parquet import KIND, metadata_of
from incrowd.errors import InputError, OutputError, UnreadableError
from strategies import random_cases

COLUMNS = ("x0", "x1", "y0", "y1", "t0", "t1")


def three(**rest):
    rows = {
        "user": ["é", "b", "é", "c"],
        "x0": [3, 7, 4, 1],
        "y0": [1, 1, 2, 8],
        "t0": [6, 9, 0, 5],
    }
    boxes = Trajectories.from_boxes(rows)
    return Trajectories(
        boxes.columns, boxes.offsets, Frame(laea(5, -4)), people=boxes.people, **rest
    )


def with_places(names=("bar", '"zoo"', "2012-01-01", "7")):
    return three(place=np.array([1, 0, 3, 2], np.int32), places=pl.Series("place", names))


def address(column):
    """Give where the values of a column of lists lie in memory."""
    return column.chunk(0).buffers()[3].address


class TestToArrow:
    def test_gives_a_row_a_person_and_a_list_a_column(self):
        table = three().to_arrow()
        assert table.column_names == ["user", "crowd", *COLUMNS]
        assert table["t0"].to_pylist() == [[0, 6], [9], [5]]

    @pytest.mark.parametrize("name", COLUMNS)
    def test_does_not_copy(self, name):
        data = three()
        assert address(data.to_arrow()[name]) == getattr(data, name).ctypes.data

    def test_names_its_kind(self):
        assert three().to_arrow().schema.metadata[KIND] == b"trajectories"


class TestFromPolars:
    @given(data=strategies.trajectories(max_crowd=3))
    def test_gives_back_what_was_put(self, data):
        assert Trajectories.from_polars(data.to_polars(), data.frame, data.places) == data

    def test_gives_back_places_with_their_names(self):
        data = with_places()
        assert Trajectories.from_polars(data.to_polars(), data.frame, data.places) == data

    @pytest.mark.parametrize("name", COLUMNS)
    def test_does_not_copy(self, name):
        data = three()
        again = Trajectories.from_polars(data.to_polars(), data.frame)
        assert getattr(again, name).ctypes.data == getattr(data, name).ctypes.data

    def test_refuses_a_frame_that_holds_something_else(self):
        with pytest.raises(InputError, match="damaged"):
            Trajectories.from_polars(pl.DataFrame({"user": [1], "crowd": [1], "x0": [[1]]}))


class TestFromArrow:
    @given(data=strategies.trajectories(max_crowd=3))
    def test_gives_back_what_was_put(self, data):
        assert Trajectories.from_arrow(data.to_arrow()) == data

    @pytest.mark.parametrize("name", COLUMNS)
    def test_does_not_copy(self, name):
        data = three()
        table = data.to_arrow()
        assert getattr(Trajectories.from_arrow(table), name).ctypes.data == address(table[name])

    def test_takes_a_part(self):
        data = three()
        assert Trajectories.from_arrow(data.to_arrow().slice(1, 1)) == data[1:2]

    def test_takes_several_chunks(self):
        data = three()
        parts = [data[:1].to_arrow(), data[1:].to_arrow()]
        assert Trajectories.from_arrow(pa.concat_tables(parts)) == data

    def test_places_come_along(self):
        data = with_places()
        back = Trajectories.from_arrow(data.to_arrow())
        assert back == data
        assert back.place_names().to_list() == ['"zoo"', "bar", "7", "2012-01-01"]

    def test_no_places_at_all(self):
        data = with_places()[[]]
        none = Trajectories(
            data.columns, data.offsets, place=data.place, places=pl.Series([], dtype=pl.String)
        )
        assert Trajectories.from_arrow(none.to_arrow()) == none

    @pytest.mark.parametrize("metadata", [None, {KIND: b"visits"}])
    def test_refuses_other_tables(self, metadata):
        table = three().to_arrow().replace_schema_metadata(metadata)
        with pytest.raises(InputError, match="does not hold trajectories saved by incrowd"):
            Trajectories.from_arrow(table)

    @pytest.mark.parametrize(
        "damage",
        [
            lambda table: table.drop_columns(["t1"]),
            lambda table: table.select(["user", "crowd"]),
            lambda table: table.drop_columns(["user"]),
            lambda table: table.set_column(2, "x0", pa.array([1, 2, 3])),
            lambda table: table.set_column(2, "x0", pa.array([[1, None], [2], [3]])),
            lambda table: table.replace_schema_metadata({KIND: b"trajectories"}),
            lambda table: table.set_column(1, "crowd", pa.array([0, 1, 1], pa.int32())),
            lambda table: table.set_column(
                6, "t0", pa.array([[8, 6], [9], [5]], pa.large_list(pa.int32()))
            ),
        ],
    )
    def test_says_when_it_is_damaged(self, damage):
        with pytest.raises(InputError, match="the saved trajectories are damaged"):
            Trajectories.from_arrow(damage(three().to_arrow()))

    def test_says_when_columns_are_cut_differently(self):
        cut = pa.array([[0], [6, 9], [5]], pa.large_list(pa.int32()))
        with pytest.raises(InputError, match="have different lengths"):
            Trajectories.from_arrow(three().to_arrow().set_column(6, "t0", cut))


class TestSave:
    @random_cases(50)
    @given(data=strategies.trajectories(max_crowd=3))
    def test_load_gives_back_what_was_saved(self, data, tmp_path_factory):
        path = tmp_path_factory.getbasetemp() / "round.parquet"
        data.save(path, overwrite=True)
        assert Trajectories.load(path) == data

    def test_places_and_frame_come_along(self, tmp_path):
        with_places().save(tmp_path / "a.parquet")
        back = Trajectories.load(str(tmp_path / "a.parquet"))
        assert back == with_places()
        assert back.frame == Frame(laea(5, -4))

    def test_a_file_that_is_there_is_kept(self, tmp_path):
        three().save(tmp_path / "a.parquet")
        with pytest.raises(OutputError, match="exists already"):
            three()[[0]].save(tmp_path / "a.parquet")
        assert Trajectories.load(tmp_path / "a.parquet") == three()

    def test_a_full_disk_is_our_error_and_leaves_nothing(self, tmp_path, monkeypatch):
        def fill(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(pq, "write_table", fill)
        with pytest.raises(OutputError, match="the disk is full"):
            three().save(tmp_path / "a.parquet")
        assert list(tmp_path.iterdir()) == []


class TestLoad:
    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(UnreadableError, match=r"cannot read .*none\.parquet"):
            Trajectories.load(tmp_path / "none.parquet")

    @pytest.mark.parametrize("content", [b"", b"user,x0\n", b"PAR1 and nothing else PAR1"])
    def test_what_is_no_parquet_file_is_named(self, tmp_path, content):
        (tmp_path / "a.parquet").write_bytes(content)
        with pytest.raises(UnreadableError, match=r"cannot read .*a\.parquet"):
            Trajectories.load(tmp_path / "a.parquet")

    def test_half_a_file_is_refused(self, tmp_path):
        three().save(tmp_path / "a.parquet")
        whole = (tmp_path / "a.parquet").read_bytes()
        (tmp_path / "a.parquet").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(UnreadableError, match=r"cannot read .*a\.parquet"):
            Trajectories.load(tmp_path / "a.parquet")

    def test_another_table_is_refused(self, tmp_path):
        pq.write_table(pa.table({"user": [1]}), tmp_path / "a.parquet")
        with pytest.raises(InputError, match=r"a\.parquet: this table does not hold trajectories"):
            Trajectories.load(tmp_path / "a.parquet")


class TestMetadataOf:
    def test_tells_ours_from_others(self, tmp_path):
        three().save(tmp_path / "ours.parquet")
        pq.write_table(pa.table({"user": [1]}), tmp_path / "other.parquet")
        assert metadata_of(tmp_path / "ours.parquet")[KIND] == b"trajectories"
        assert KIND not in metadata_of(tmp_path / "other.parquet")
