"""The file of a ledger: written whole, private, read back, refused when it is something else."""

import json
import stat
import threading

import polars as pl
import pytest

import incrowd
from incrowd._lock import locked
from incrowd.data._ledger import ABSENT, HEADER, Ledger
from incrowd.errors import ArgumentError, OutputError, UnreadableError

ABOUT = {"method": "GLOVE", "settings": {"k": 2}, "held_back": 0, "place": "/out"}


def release(crowds):
    """Give the crowd of each person; None for who is not published."""
    kind = pl.Int64 if all(isinstance(user, int) for user in crowds) else pl.String
    return pl.DataFrame(
        {"user": pl.Series(list(crowds), dtype=kind),
         "trajectory": pl.Series(list(crowds.values()), dtype=pl.Int32)}
    )  # fmt: skip


def with_releases(path, *releases, k=2):
    ledger = Ledger.open(path, k)
    for number, crowds in enumerate(releases):
        ledger = ledger.with_release(
            release(crowds), manifest_sha256=f"m{number}", rows_sha256=f"r{number}", **ABOUT
        )
    return ledger


@pytest.fixture
def file(tmp_path):
    return tmp_path / "ledger.parquet"


@pytest.fixture
def written(file):
    first = {"ann": 0, "bob": 0, "cem": 1, "dan": 1, "eve": None}
    with_releases(file, first, {"bob": 3, "ann": 3, "eve": 3}).write()
    return file


class TestFile:
    def test_is_read_as_it_was_written(self, written):
        found = Ledger.read(written)
        assert found.people.to_list() == ["ann", "bob", "cem", "dan", "eve"]
        assert found.crowds.tolist() == [[0, 3], [0, 3], [1, ABSENT], [1, ABSENT], [ABSENT, 3]]
        assert [(e.sequence, e.people, e.rows_sha256) for e in found.entries] == [
            (1, 4, "r0"), (2, 3, "r1"),
        ]  # fmt: skip
        assert (found.k, found.entries[0].settings) == (2, {"k": 2})

    def test_is_for_its_owner_only(self, written):
        assert stat.S_IMODE(written.stat().st_mode) == 0o600
        written.chmod(0o644)
        Ledger.read(written).write()
        assert stat.S_IMODE(written.stat().st_mode) == 0o600
        assert [path.name for path in written.parent.iterdir()] == ["ledger.parquet"]

    def test_numbers_as_identifiers(self, file):
        with_releases(file, {7: 0, 9: 0}).write()
        found = Ledger.read(file)
        assert found.crowds_of(pl.Series([9, 8, 7])).tolist() == [[0], [ABSENT], [0]]
        # Another month has an identifier that is no number: all of them are read as text.
        assert found.crowds_of(pl.Series(["7", "x", "07"])).tolist() == [[0], [ABSENT], [ABSENT]]
        with pytest.raises(ArgumentError, match="must be text or whole numbers, not Float64"):
            found.crowds_of(pl.Series([7.0]))
        with pytest.raises(ArgumentError, match="an identifier comes twice"):
            found.crowds_of(pl.Series([7, 7]))

    def test_says_nothing_of_people_when_printed(self, written):
        text = repr(Ledger.read(written))
        assert "2 releases" in text
        assert "ann" not in text

    def test_a_new_one_is_begun_and_not_written(self, file):
        assert (Ledger.open(file).k, Ledger.open(file, 5).k, file.exists()) == (2, 5, False)
        with pytest.raises(ArgumentError, match="k must be an integer of at least 2"):
            Ledger.open(file, 1)

    def test_its_k_stays(self, written):
        assert Ledger.open(written, 4).k == 2
        with_releases(written.with_name("three.parquet"), {"a": 0}, k=3).write()
        with pytest.raises(ArgumentError, match="keeps 3 people in common, and k = 2 is less"):
            Ledger.open(written.with_name("three.parquet"), 2)


class TestRefuses:
    def test_to_begin_where_a_killed_run_has_moved_one_away(self, written):
        moved = written.with_name(f".{written.name}.old-0123abcd")
        written.rename(moved)
        with pytest.raises(
            UnreadableError, match=r"\.old-0123abcd .* rename it to ledger\.parquet"
        ):
            Ledger.open(written)
        moved.rename(written)
        assert len(Ledger.open(written).entries) == 2

    def test_what_is_not_there(self, file, tmp_path):
        with pytest.raises(UnreadableError, match="there is no such file"):
            Ledger.read(file)
        with pytest.raises(UnreadableError, match="it is no file"):
            Ledger.open(tmp_path)

    def test_what_is_no_ledger(self, file):
        file.write_text("nothing")
        with pytest.raises(UnreadableError, match="is no ledger, or damaged"):
            Ledger.open(file)
        pl.DataFrame({"user": ["a"]}).write_parquet(file)
        with pytest.raises(UnreadableError, match="but another Parquet file"):
            Ledger.open(file)

    def test_a_later_version(self, written):
        rewritten(written, lambda header: header.update(version=2))
        with pytest.raises(UnreadableError, match=r"a ledger of version 2; this incrowd .* reads"):
            Ledger.read(written)

    @pytest.mark.parametrize(
        "change",
        [
            lambda header: header.pop("k"),
            lambda header: header.update(k=1),
            lambda header: header.pop("releases"),
            lambda header: header["releases"].pop(),
            lambda header: header["releases"].reverse(),
            lambda header: header["releases"][0].pop("moment"),
            lambda header: header["releases"][0].update(more=1),
            lambda header: header.update(digest="0"),
        ],
    )
    def test_a_damaged_header(self, written, change):
        rewritten(written, change)
        with pytest.raises(UnreadableError, match="is damaged"):
            Ledger.read(written)

    @pytest.mark.parametrize(
        "change",
        [
            lambda table: table.with_columns(pl.lit("ann").alias("user")),
            lambda table: table.head(3),
            lambda table: table.with_columns(pl.col("release_1") + 1),
            lambda table: table.drop("release_2"),
            lambda table: table.with_columns(
                pl.when(pl.col("user") != "ann").then("user").alias("user")
            ),
        ],
    )
    def test_changed_rows(self, written, change):
        rewritten(written, lambda header: None, change)
        with pytest.raises(UnreadableError, match="is damaged"):
            Ledger.read(written)

    def test_a_header_that_is_no_header(self, written):
        pl.read_parquet(written).write_parquet(written, metadata={HEADER: "[]"})
        with pytest.raises(UnreadableError, match="of version None"):
            Ledger.read(written)

    def test_a_file_that_has_changed_meanwhile(self, written):
        ledger = Ledger.read(written)
        ledger.refuse_changed()
        with_releases(written.with_name("other.parquet"), {"a": 0}).write(written)
        with pytest.raises(OutputError, match="has changed since it was read"):
            ledger.refuse_changed()
        written.unlink()
        with pytest.raises(OutputError, match="has changed"):
            ledger.refuse_changed()

    def test_a_full_disk_leaves_what_was_there(self, written, monkeypatch):
        def full(*_, **__):
            raise OSError(28, "No space left on device")

        before = written.read_bytes()
        monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
        with pytest.raises(OutputError, match="the disk is full"):
            Ledger.read(written).write()
        assert written.read_bytes() == before


class TestWithout:
    def test_a_withdrawn_release_is_as_if_it_had_never_been(self, written):
        ledger = Ledger.read(written).withdraw(1)
        assert ledger.people.to_list() == ["ann", "bob", "eve"]
        assert ledger.crowds.tolist() == [[3], [3], [3]]
        assert [(e.sequence, e.withdrawn is None) for e in ledger.withdrawn] == [(1, False)]
        ledger.write()
        assert [e.sequence for e in Ledger.read(written).withdrawn] == [1]

    def test_a_number_is_never_given_twice(self, written):
        ledger = Ledger.read(written).withdraw(2)
        assert with_more(ledger).entries[-1].sequence == 3
        assert with_more(Ledger.read(written).without(2)).entries[-1].sequence == 2

    def test_one_that_is_not_there(self, written):
        with pytest.raises(ArgumentError, match="has no release 3; it has 1, 2"):
            Ledger.read(written).withdraw(3)

    def test_all_of_them(self, written):
        ledger = Ledger.read(written).withdraw(2).withdraw(1)
        ledger.write()
        again = Ledger.read(written)
        assert (len(again.people), again.crowds.shape, again.entries) == (0, (0, 0), ())
        assert with_more(again).entries[-1].sequence == 3


def test_only_one_amends_it(written):
    order, begun = [], threading.Event()

    def other():
        begun.set()
        with locked(written):
            order.append("other")

    with locked(written):
        thread = threading.Thread(target=other)
        thread.start()
        begun.wait()
        thread.join(0.1)
        order.append("first")
    thread.join()
    assert order == ["first", "other"]
    assert [path.name for path in written.parent.iterdir()] == ["ledger.parquet"]


def test_is_public():
    assert incrowd.Ledger is Ledger


def with_more(ledger):
    return ledger.with_release(release({"zoe": 0}), manifest_sha256="m", rows_sha256="r", **ABOUT)


def rewritten(file, change, rows=lambda table: table):
    """Write a file anew with another header, or other rows."""
    header = json.loads(pl.read_parquet_metadata(file)[HEADER])
    change(header)
    table = rows(pl.read_parquet(file))
    table.write_parquet(file, metadata={HEADER: json.dumps(header)})
