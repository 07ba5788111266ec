"""Whatever moment a process is killed at: the old ones or the new ones, and nothing lies about."""

import json
import os
import signal
import warnings

import pytest
from benchmarks.torture.children import at_change

from incrowd import _renames as module
from incrowd._hidden import Lock, claim
from incrowd._renames import JOURNAL, exchange, give_names, journal_of, settle, settle_all, tidy
from incrowd.errors import IncrowdWarning, OutputError

KILLED = -signal.SIGKILL
OFFERED = module._renameat2() is not None


@pytest.fixture(params=[True, False], ids=["exchange", "no exchange"], autouse=True)
def offered(request, monkeypatch):
    """Try with what Linux offers, and without."""
    if not request.param:
        monkeypatch.setattr(module, "exchange", lambda *_: False)
    return request.param and OFFERED


def killed_at(number, work):
    """Run something in a process of its own, killed before its n-th change of the file system."""
    child = os.fork()
    if not child:
        status = 99
        try:
            warnings.simplefilter("ignore")
            at_change(number, lambda: os.kill(os.getpid(), signal.SIGKILL))
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def release(path, text):
    path.mkdir()
    (path / "manifest.json").write_text(text)
    (path / "trajectories.csv").write_text(text * 3)


def publish(folder):
    """Give a release and a record their names, as `publish` does."""
    new, _, _ = claim(folder / "release", "unverified", directory=True)
    (new / "manifest.json").write_text("new")
    (new / "trajectories.csv").write_text("new" * 3)
    record, _, _ = claim(folder / "who.parquet", "part")
    record.write_text("new")
    give_names(
        [(record, folder / "who.parquet"), (new, folder / "release")],
        at=folder / "release",
        overwrite=True,
    )


def seen(folder):
    """Give what is under each name: "old", "new", None; fail if it is half of each."""
    found = []
    if (folder / "release").exists():
        texts = {
            (folder / "release" / "manifest.json").read_text(),
            (folder / "release" / "trajectories.csv").read_text()[:3],
        }
        assert len(texts) == 1
        found += texts
    else:
        found.append(None)
    record = folder / "who.parquet"
    return [*found, record.read_text() if record.exists() else None]


def laid_out(folder, taken):
    folder.mkdir()
    if taken:
        release(folder / "release", "old")
        (folder / "who.parquet").write_text("old")
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def quietly(work, *words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncrowdWarning)
        work(*words)


@pytest.mark.parametrize("taken", [True, False])
class TestKilled:
    def test_at_any_moment_it_is_all_old_or_all_new_after_the_next_look(
        self, tmp_path, taken, offered
    ):
        ends = set()
        for number in range(1, 99):
            folder = laid_out(tmp_path / str(number), taken)
            status = killed_at(number, lambda folder=folder: publish(folder))
            if offered or not taken:
                assert set(seen(folder)) <= {"old" if taken else None, "new"}
            quietly(tidy, folder / "release", folder / "who.parquet")
            assert len(set(seen(folder))) == 1
            ends.add(seen(folder)[0])
            assert names(folder) in ([], ["release", "who.parquet"])
            if status == 0:
                break
            assert status == KILLED
        assert status == 0
        assert ends == {"old" if taken else None, "new"}

    @pytest.mark.parametrize("first", ["release", "who.parquet"])
    def test_whoever_finishes_it_may_be_killed_too(self, tmp_path, taken, first):
        """The next look may begin at either name."""
        begins, done = range(8, 40, 3), 0
        for number in begins:
            for again in range(1, 60, 2):
                folder = laid_out(tmp_path / f"{number}-{again}", taken)
                killed_at(number, lambda folder=folder: publish(folder))
                status = killed_at(again, lambda folder=folder: settle(folder / first))
                quietly(tidy, folder / first)
                quietly(tidy, folder / "release", folder / "who.parquet")
                assert len(set(seen(folder))) == 1
                assert names(folder) in ([], ["release", "who.parquet"])
                if status == 0:
                    done += 1
                    break
        assert done == len(begins)


class TestSettle:
    def interrupted(self, folder):
        """Leave a whole journal, with nothing renamed yet."""
        laid_out(folder, taken=True)

        def stop(*_, **__):
            os.kill(os.getpid(), signal.SIGKILL)

        def work():
            module._Step.do = stop
            publish(folder)

        assert killed_at(-1, work) == KILLED
        assert journal_of(folder / "release").exists()
        assert seen(folder) == ["old", "old"]
        return folder

    def test_what_is_complete_is_finished_and_told(self, tmp_path):
        folder = self.interrupted(tmp_path / "a")
        with pytest.warns(IncrowdWarning, match=r"release; what it had made was complete, and"):
            settle(folder / "release")
        assert seen(folder) == ["new", "new"]
        assert names(folder) == ["release", "who.parquet"]

    def test_settling_a_folder_finds_every_journal(self, tmp_path):
        folder = self.interrupted(tmp_path / "a")
        with pytest.warns(IncrowdWarning, match="was put in place"):
            settle_all(folder)
        assert seen(folder) == ["new", "new"]

    @pytest.mark.parametrize("name", ["trajectories.csv", "manifest.json"])
    def test_what_was_changed_since_its_verification_never_gets_a_name(self, tmp_path, name):
        folder = self.interrupted(tmp_path / "a")
        (hidden,) = folder.glob(".release.incrowd-unverified-*")
        (hidden / name).write_text("xxx")
        with pytest.warns(IncrowdWarning, match="what was there before was put back"):
            settle(folder / "release")
        assert seen(folder) == ["old", "old"]
        assert names(folder) == ["release", "who.parquet"]

    def test_what_was_put_there_since_is_not_replaced(self, tmp_path):
        folder = self.interrupted(tmp_path / "a")
        (folder / "who.parquet").write_text("mine")
        with pytest.raises(OutputError, match="can neither be finished nor undone") as error:
            settle(folder / "release")
        assert str(journal_of(folder / "release")) in str(error.value)
        assert seen(folder) == ["old", "mine"]
        assert len(names(folder)) == 6  # both, both hidden, the journal and the note

    def test_a_journal_that_was_cut_short_is_removed_and_nothing_renamed(self, tmp_path):
        folder = self.interrupted(tmp_path / "a")
        journal = journal_of(folder / "release")
        text = journal.read_text()
        for end in (0, 1, len(text) // 2, len(text) - 2):
            journal.write_text(text[:end])
            settle(folder / "release")
            assert not journal.exists()
            assert seen(folder) == ["old", "old"]
        quietly(tidy, folder / "release", folder / "who.parquet")
        assert names(folder) == ["release", "who.parquet"]

    def test_a_folder_that_was_moved_is_settled_where_it_is(self, tmp_path):
        self.interrupted(tmp_path / "a").rename(tmp_path / "b")
        with pytest.warns(IncrowdWarning, match="was put in place"):
            settle(tmp_path / "b" / "who.parquet")
        assert seen(tmp_path / "b") == ["new", "new"]

    def test_one_that_lives_is_waited_for(self, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "_PATIENCE", 0.05)
        folder = self.interrupted(tmp_path / "a")
        lock = Lock(journal_of(folder / "release"))
        with pytest.raises(OutputError, match=r"another run is writing .*release"):
            settle(folder / "release")
        lock.release()
        quietly(settle, folder / "release")
        assert seen(folder) == ["new", "new"]

    def test_what_a_journal_speaks_of_is_no_leftover(self, tmp_path, monkeypatch):
        """Also if another command begins with the record alone."""
        folder = self.interrupted(tmp_path / "a")
        quietly(tidy, folder / "who.parquet")
        assert seen(folder) == ["new", "new"]

    def test_a_name_without_one_costs_nothing(self, tmp_path):
        settle(tmp_path / "release")
        settle("release")
        settle("/")
        assert names(tmp_path) == []

    def test_the_journal_is_private_and_names_no_place(self, tmp_path):
        folder = self.interrupted(tmp_path / "a")
        journal = journal_of(folder / "release")
        assert journal.stat().st_mode & 0o777 == 0o600
        said = json.loads(journal.read_text().split("\n")[0])
        assert [step["name"] for step in said["steps"]] == ["who.parquet", "release"]
        assert str(tmp_path) not in journal.read_text()


class TestGiveNames:
    def test_a_failure_undoes_all(self, tmp_path, monkeypatch):
        folder, real = laid_out(tmp_path / "a", taken=True), module._Step.do

        def failing(self, **how):
            if self.name.name == "release":
                raise OSError(28, "No space left on device")
            return real(self, **how)

        monkeypatch.setattr(module._Step, "do", failing)
        with pytest.raises(OSError, match="No space"):
            publish(folder)
        assert seen(folder) == ["old", "old"]
        assert not list(folder.glob(f".*{JOURNAL}"))

    def test_a_taken_name_is_refused(self, tmp_path):
        (tmp_path / "a").write_text("old")
        new, _, _ = claim(tmp_path / "a", "part")
        with pytest.raises(OutputError, match="exists already"):
            give_names([(new, tmp_path / "a")])
        assert (tmp_path / "a").read_text() == "old"
        assert not journal_of(tmp_path / "a").exists()

    def test_names_may_go(self, tmp_path):
        (tmp_path / "a").write_text("old")
        (tmp_path / "b").write_text("old")
        new, _, _ = claim(tmp_path / "a", "part")
        new.write_text("new")
        give_names([(new, tmp_path / "a"), (None, tmp_path / "b")], overwrite=True)
        assert names(tmp_path) == ["a"]
        assert (tmp_path / "a").read_text() == "new"


@pytest.mark.skipif(not OFFERED, reason="the system does not exchange names")
def test_exchange(tmp_path):
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").mkdir()
    assert exchange(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a").is_dir()
    assert (tmp_path / "b").read_text() == "a"
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "a", tmp_path / "missing")
