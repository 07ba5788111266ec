"""A run that was interrupted goes on to the same result; what does not belong is refused."""

import json

import numpy as np
import pytest

import incrowd
from incrowd.errors import ArgumentError, OutputError
from incrowd.protect._glove import grouping as module
from incrowd.protect._glove.checkpoint import RECORD, Journal
from strategies import only_deep

OPTIONS = [
    {"k": 2},
    {"k": 4, "variant": "loose"},
    {"k": 3, "diverse": "home:2"},
    *only_deep({"k": 3, "reshape": "union"}, {"k": 3, "max_space": 20, "max_time": 240}),
]


@pytest.fixture(scope="module")
def city():
    return incrowd.synthesize("city", users=80, seed=7)


def same(one, other):
    assert one.trajectories == other.trajectories
    assert one.assignment.equals(other.assignment)
    assert one.merges.equals(other.merges)
    assert one.losses == other.losses


@pytest.mark.parametrize("options", OPTIONS)
class TestResuming:
    def test_gives_the_same_from_any_merge_on(self, city, options, tmp_path):
        whole = incrowd.glove(city, **options, checkpoint=tmp_path / "whole")
        same(whole, incrowd.glove(city, **options))
        content = (tmp_path / "whole").read_bytes()
        head = content.index(b"\n") + 1
        merges = (len(content) - head) // RECORD.itemsize
        assert merges == len(whole.merges)
        for done in {0, 1, merges // 3, merges - 1, merges}:
            part = tmp_path / f"part-{done}"
            part.write_bytes(content[: head + done * RECORD.itemsize])
            same(whole, incrowd.glove(city, **options, checkpoint=part))
            assert part.read_bytes() == content

    def test_goes_on_after_an_interruption(self, city, options, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "STEP", 7)
        monkeypatch.setattr(module, "PATIENCE", 0.0)

        def stop(stage, done, total):
            if stage == "Merging" and done > 20:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            incrowd.glove(city, **options, checkpoint=tmp_path / "c", progress=stop)
        assert (tmp_path / "c").stat().st_size > 20 * RECORD.itemsize
        same(
            incrowd.glove(city, **options),
            incrowd.glove(city, **options, checkpoint=tmp_path / "c"),
        )


class TestJournal:
    def test_leaves_out_what_was_cut_short_or_damaged(self, city, tmp_path):
        whole = incrowd.glove(city, checkpoint=tmp_path / "c")
        content = (tmp_path / "c").read_bytes()
        head = content.index(b"\n") + 1
        for damaged in (content[:-5], content[:-5] + b"\0\0\0\0\0", content[: head + 3]):
            (tmp_path / "c").write_bytes(damaged)
            same(whole, incrowd.glove(city, checkpoint=tmp_path / "c"))
            assert (tmp_path / "c").read_bytes() == content

    @pytest.mark.parametrize(
        "change",
        [
            {"k": 3},
            {"variant": "loose"},
            {"reshape": "none"},
            {"merge": "two-stage", "max_minutes": 60},
            {"crowds": "refined"},
            {"stretch": incrowd.Stretch(time_weight=3)},
        ],
    )
    def test_of_other_settings_is_refused(self, city, tmp_path, change):
        incrowd.glove(city, checkpoint=tmp_path / "c")
        with pytest.raises(ArgumentError, match="another input, setting or version"):
            incrowd.glove(city, **{"k": 2} | change, checkpoint=tmp_path / "c")

    @pytest.mark.parametrize(
        "boxes",
        [{"max_minutes": 60}, {"suppress_price": 0.3}, {"merge": "two-stage"}],
    )
    def test_serves_other_boxes_of_the_same_crowds(self, city, tmp_path, boxes):
        incrowd.glove(city, 3, checkpoint=tmp_path / "c")
        content = (tmp_path / "c").read_bytes()
        same(
            incrowd.glove(city, 3, **boxes),
            incrowd.glove(city, 3, **boxes, checkpoint=tmp_path / "c"),
        )
        assert (tmp_path / "c").read_bytes() == content

    def test_of_another_input_is_refused(self, city, tmp_path):
        incrowd.glove(city, checkpoint=tmp_path / "c")
        with pytest.raises(ArgumentError, match="another input"):
            incrowd.glove(city[1:], checkpoint=tmp_path / "c")

    def test_of_another_version_is_refused(self, city, tmp_path, monkeypatch):
        incrowd.glove(city, checkpoint=tmp_path / "c")
        monkeypatch.setattr(incrowd, "__version__", "99")
        with pytest.raises(ArgumentError, match="version"):
            incrowd.glove(city, checkpoint=tmp_path / "c")

    def test_does_not_write_over_another_file(self, city, tmp_path):
        (tmp_path / "c").write_text("my thesis")
        with pytest.raises(ArgumentError, match="no checkpoint"):
            incrowd.glove(city, checkpoint=tmp_path / "c")
        assert (tmp_path / "c").read_text() == "my thesis"

    @pytest.mark.parametrize("length", [0, 1, 60, -1])
    def test_a_head_that_was_cut_short_is_written_anew(self, city, tmp_path, length):
        whole = incrowd.glove(city, checkpoint=tmp_path / "c")
        content = (tmp_path / "c").read_bytes()
        head = content[: content.index(b"\n") + 1]
        (tmp_path / "c").write_bytes(head[:length])
        same(whole, incrowd.glove(city, checkpoint=tmp_path / "c"))
        assert (tmp_path / "c").read_bytes() == content

    def test_a_full_disk_at_its_head_leaves_nothing(self, city, tmp_path, monkeypatch):
        def full(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Journal, "_sync", full)
        with pytest.raises(OutputError, match=r"cannot write the checkpoint .*: the disk is full"):
            incrowd.glove(city, checkpoint=tmp_path / "c")
        assert list(tmp_path.iterdir()) == []

    def test_a_full_disk_keeps_what_is_there(self, city, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "STEP", 10)
        monkeypatch.setattr(module, "PATIENCE", 0.0)
        append, calls = Journal.append, []

        class Full:
            def __init__(self, file):
                self.file = file

            def __getattr__(self, name):
                return getattr(self.file, name)

            def write(self, content):
                raise OSError(28, "No space left on device")

            def close(self):  # what is left in its buffer finds no space either
                self.file.close()
                raise OSError(28, "No space left on device")

        def fill(self, *records):
            calls.append(len(records[0]))
            if len(calls) == 2:
                self._file = Full(self._file)
            append(self, *records)

        monkeypatch.setattr(Journal, "append", fill)
        with pytest.raises(OutputError, match=r"cannot go on writing .*: the disk is full;"):
            incrowd.glove(city, checkpoint=tmp_path / "c")
        monkeypatch.setattr(Journal, "append", append)
        assert (
            len(np.frombuffer((tmp_path / "c").read_bytes().split(b"\n", 1)[1], RECORD)) == calls[0]
        )
        same(incrowd.glove(city), incrowd.glove(city, checkpoint=tmp_path / "c"))


class TestForged:
    @pytest.mark.parametrize(
        "pairs",
        [
            [(-3, 1)],
            [(1, 1)],
            [(2, 1)],
            [(0, 80)],
            [(0, 1), (1, 2)],
            [(0, 1), (0, 2)],
            [(0, 10**6)],
        ],
    )
    def test_merges_that_cannot_be_are_refused(self, city, tmp_path, pairs):
        incrowd.glove(city, 2, checkpoint=tmp_path / "c")
        head = json.loads((tmp_path / "c").read_bytes().split(b"\n")[0])
        (tmp_path / "c").unlink()
        journal = Journal(tmp_path / "c", city, head["settings"])
        older, younger = np.array(pairs, np.int32).T
        journal.append(older, younger, np.ones(len(pairs), int), np.ones(len(pairs), int))
        journal.close()
        before = (tmp_path / "c").read_bytes()
        with pytest.raises(ArgumentError, match="merges that cannot be"):
            incrowd.glove(city, 2, checkpoint=tmp_path / "c")
        assert (tmp_path / "c").read_bytes() == before

    def test_nobody_else_can_read_it(self, city, tmp_path):
        incrowd.glove(city, 2, checkpoint=tmp_path / "c")
        assert (tmp_path / "c").stat().st_mode & 0o777 == 0o600
