"""Hidden neighbours: private, locked while they are used, removed once they are not."""

import os
import signal
import stat

import pytest

from incrowd import _hidden as module
from incrowd._atomic import replacing, replacing_all
from incrowd._hidden import (
    Lock,
    claim,
    is_used,
    kind_of,
    sweep,
    temporary_folder,
    temporary_folders,
)
from incrowd.errors import IncrowdWarning, OutputError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def permissions(path):
    return stat.S_IMODE(path.stat().st_mode)


def killed(work):
    """Run something in a process of its own that is killed, at the end at the latest."""
    child = os.fork()
    if not child:
        try:
            work()
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


class TestClaim:
    @pytest.mark.parametrize(("directory", "mode"), [(True, 0o700), (False, 0o600)])
    def test_nobody_else_may_read_it(self, tmp_path, directory, mode):
        path, lock, usual = claim(tmp_path / "a", "part", directory=directory)
        assert permissions(path) == mode
        assert usual == (0o777 if directory else 0o666) & ~umask()
        assert kind_of(path) == "part"
        assert is_used(path)
        lock.release()
        assert is_used(path) is False

    def test_one_that_was_taken_for_a_leftover_is_made_again(self, tmp_path, monkeypatch):
        real, calls = Lock, iter([True, False])

        def lock(path):
            if next(calls, False):
                path.rmdir()
            return real(path)

        monkeypatch.setattr(module, "Lock", lock)
        path, _, _ = claim(tmp_path / "a", "part", directory=True)
        assert names(tmp_path) == [path.name]


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


class TestSweep:
    def test_removes_what_nobody_uses_and_tells(self, tmp_path):
        killed(lambda: claim(tmp_path / "a", "part"))
        (left,) = names(tmp_path)
        with pytest.warns(IncrowdWarning, match=f"{left} was left by a run that was killed"):
            sweep(tmp_path / "a")
        assert names(tmp_path) == []

    def test_leaves_what_is_used_and_what_has_another_name(self, tmp_path):
        used, _lock, _ = claim(tmp_path / "a", "unverified", directory=True)
        other, lock, _ = claim(tmp_path / "a.b", "part")
        lock.release()
        mine = tmp_path / ".a.old-20240101"
        mine.touch()
        for name in (".a.incrowd-part-0123", ".a.incrowd-mine-0123456789ab", ".a.part", ".a.lock"):
            (tmp_path / name).touch()
        before = names(tmp_path)
        with pytest.warns(IncrowdWarning, match="delete it"):  # as an earlier version named it
            sweep(tmp_path / "a")
        assert names(tmp_path) == before
        assert {used.name, other.name, mine.name} <= set(before)

    def test_where_nothing_can_be_locked_nothing_is_removed(self, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "_flock", lambda _: False)
        path, _, _ = claim(tmp_path / "a", "part")
        assert is_used(path) is None
        sweep(tmp_path / "a")
        assert names(tmp_path) == [path.name]


class TestReplacing:
    def test_what_a_killed_writer_left_is_removed_by_the_next(self, tmp_path):
        def work():
            with replacing(tmp_path / "a.txt") as part:
                part.write_text("half")
                os.kill(os.getpid(), signal.SIGKILL)

        killed(work)
        assert len(names(tmp_path)) == 1
        with (
            pytest.warns(IncrowdWarning, match="it was removed"),
            replacing(tmp_path / "a.txt") as part,
        ):
            part.write_text("whole")
        assert names(tmp_path) == ["a.txt"]

    @pytest.mark.parametrize("private", [True, False])
    def test_is_private_until_it_has_its_name(self, tmp_path, private):
        with replacing(tmp_path / "a", private=private) as part:
            part.write_text("x")
            assert permissions(part) == 0o600
        assert permissions(tmp_path / "a") == (0o600 if private else 0o666 & ~umask())
        with replacing(tmp_path / "b", directory=True) as part:
            assert permissions(part) == 0o700
        assert permissions(tmp_path / "b") == 0o777 & ~umask()

    def test_files_that_belong_together_are_replaced_together(self, tmp_path):
        for name in "abc":
            (tmp_path / name).write_text("old")
        paths = [tmp_path / "a", tmp_path / "b"]
        with replacing_all(paths, gone=[tmp_path / "c"], overwrite=True) as parts:
            for part in parts:
                part.write_text("new")
            assert [path.read_text() for path in paths] == ["old", "old"]
        assert names(tmp_path) == ["a", "b"]
        assert [path.read_text() for path in paths] == ["new", "new"]

    def test_or_none_of_them(self, tmp_path):
        (tmp_path / "b").mkdir()
        with (
            pytest.raises(OutputError, match="b exists already"),
            replacing_all([tmp_path / "a", tmp_path / "b"], overwrite=True),
        ):
            pytest.fail("the block ran")
        assert names(tmp_path) == ["b"]


class TestTemporaryFolder:
    def test_is_private_and_goes(self, tmp_path):
        with temporary_folder(tmp_path) as folder:
            assert permissions(folder) == 0o700
            (folder / "rows").write_text("x")
            assert temporary_folders(tmp_path) == [folder]
        assert names(tmp_path) == []

    def test_what_a_killed_process_left_goes_with_the_next(self, tmp_path):
        def work():
            with temporary_folder(tmp_path) as folder:
                (folder / "rows").write_text("12345")
                os.kill(os.getpid(), signal.SIGKILL)

        killed(work)
        with (
            pytest.warns(IncrowdWarning, match="with 5 bytes of what it read; it was removed"),
            temporary_folder(tmp_path),
        ):
            pass
        assert names(tmp_path) == []

    def test_one_that_is_used_or_is_somebody_elses_stays(self, tmp_path):
        with temporary_folder(tmp_path) as first, temporary_folder(tmp_path):
            assert first.is_dir()
        (tmp_path / "incrowd-data").mkdir()
        (tmp_path / "incrowd-0123456789ab").touch()
        (tmp_path / "incrowd-0123456789ac").symlink_to(tmp_path)
        assert temporary_folders(tmp_path) == []
        with temporary_folder(tmp_path):
            pass
        assert len(names(tmp_path)) == 3
