import json
import os

import pytest

from incrowd._hidden import Lock, claim, temporary_folder


@pytest.fixture
def left(tmp_path):
    """Lay out what runs leave, what they use, and what is none of theirs."""
    folder = tmp_path / "data"
    (folder / "out").mkdir(parents=True)
    (tmp_path / "tmp").mkdir()
    for name, kind in (("release", "unverified"), ("release", "old"), ("who.parquet", "part")):
        path, lock, _ = claim(folder / name, kind, directory=name == "release")
        (path / "rows" if path.is_dir() else path).write_text("12345")
        lock.release()
    part = folder / "out" / ".2024-03.part"
    part.mkdir()
    (part / "state.json").write_text("{}")
    (folder / "out" / ".2024-03.lock").touch()
    for mine in (".notes.part", ".mine.lock", "release.checkpoint", ".x.old-20240101"):
        (folder / mine).touch()
    return folder


@pytest.fixture
def clean(incrowd, tmp_path):
    def command(*words):
        return incrowd("clean", "--temp-dir", tmp_path / "tmp", *words)

    return command


def found_in(out):
    return {
        one["path"].rpartition("/")[2].partition("-")[0]: one for one in json.loads(out)["found"]
    }


def hidden(folder):
    return sorted(path.name for path in folder.rglob("*"))


class TestClean:
    def test_lists_and_removes_nothing(self, clean, left):
        before = hidden(left)
        status, out, _ = clean(left)
        assert status == 0
        assert out.count(": left over") == 5
        assert "release that was not verified, 5 bytes, last changed " in out
        assert "4 leftovers (15 bytes) can be removed:" in out
        assert out.count("--yes") == 1
        assert "The same incrowd run goes on from an unfinished run" in out
        assert hidden(left) == before

    def test_removes_what_nobody_uses_with_yes(self, clean, left):
        status, out, _ = clean(left, "--yes")
        assert status == 0
        assert "Removed 4 leftovers (15 bytes)." in out
        assert hidden(left) == [
            ".2024-03.part", ".mine.lock", ".notes.part", ".x.old-20240101", "out",
            "release.checkpoint", "state.json",
        ]  # fmt: skip

    def test_unfinished_runs_go_if_they_are_to(self, clean, left):
        assert clean(left, "--yes", "--unfinished-runs")[0] == 0
        assert hidden(left / "out") == []

    def test_never_what_a_process_uses(self, clean, left, tmp_path):
        locks = [Lock(path) for path in left.glob(".*.incrowd-*")]
        locks.append(Lock(left / "out" / ".2024-03.lock"))
        before = hidden(left)
        with temporary_folder(tmp_path / "tmp") as used:
            status, out, _ = clean(left, "--yes", "--unfinished-runs", "--json")
            assert used.is_dir()
        assert status == 0
        found = json.loads(out)["found"]
        assert [(one["used"], one["removed"]) for one in found] == [(True, False)] * 6
        assert hidden(left) == before
        for lock in locks:
            lock.release()

    def test_tells_programs(self, clean, left):
        status, out, _ = clean(left, "--yes", "--json")
        found = found_in(out)
        assert status == 0
        about = found[".who.parquet.incrowd"]
        assert about["what"] == "incomplete file or folder"
        assert (about["bytes"], about["used"], about["removed"]) == (5, False, True)
        assert 0 <= about["age_seconds"] < 600
        assert not found[".2024"]["removed"] or "lock" in found[".2024"]["path"]

    def test_finds_temporary_files(self, clean, tmp_path, left):
        rows = tmp_path / "tmp" / "incrowd-0123456789ab"
        rows.mkdir()
        (rows / "spilled").write_bytes(bytes(2_500_000))
        assert "temporary files, with rows of the input, 2.5 MB" in clean(left)[1]
        assert clean(left, "--yes")[0] == 0
        assert not rows.exists()

    def test_nothing(self, clean, tmp_path, monkeypatch):
        (tmp_path / "tmp").mkdir()
        monkeypatch.chdir(tmp_path)
        assert clean()[:2] == (0, "Nothing is left over.\n")

    def test_needs_a_folder(self, clean, tmp_path):
        status, _, err = clean(tmp_path / "none")
        assert (status, "none is no folder" in err) == (4, True)

    @pytest.mark.skipif(os.name != "posix", reason="links")
    def test_follows_no_links(self, clean, left, tmp_path):
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "link").symlink_to(left)
        (tmp_path / "other" / ".a.incrowd-part-0123456789ab").symlink_to(left)
        before = hidden(left)
        assert clean(tmp_path / "other", "--yes")[:2] == (0, "Nothing is left over.\n")
        assert hidden(left) == before
