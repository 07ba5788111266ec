"""Renames that belong together: all of them are done, or none, whenever the process is killed.

What has no name yet lies, complete and synced, under a hidden name (`incrowd._hidden`), and its
writer holds the lock on it. Several such things, or one whose name is taken by a folder, get their
names so:

1. The journal ``.NAME.incrowd-names`` is written beside the first name, locked and synced. It says
   which hidden name becomes which name, what there was before, and the SHA-256 of every file of
   what is named. Beside every other name a note of the same name says where the journal is.
2. For each name, what has it and what gets it are exchanged in one step, where the system offers
   that (`renameat2` of Linux); what had the name is then called ``.NAME.incrowd-old-XXXX``. Where
   it does not, the old one is moved aside first.
3. The folders are synced, what had the names is removed, and so are the notes and, last, the
   journal.

A crash leaves one of these states, and whoever looks at any of the names next (`settle`) ends it:

- No journal, or one that is cut short: no rename had begun. The old ones are there, whole; the
  hidden ones are leftovers.
- A whole journal: every name has the old or the new one (without an exchange, one may have
  neither). If each new one is there as the journal says, byte for byte, and what had the names is
  still what the journal says, the rest is done. Otherwise what was done is undone. If neither can
  be, nothing is touched, and an error says so.
- No journal any more: the new ones are there, and nothing else is.

Only what its writer handed over, complete and (a release) verified, is ever in a journal, so
nothing else gets a name. While a process renames, it holds the lock on the journal, and others
wait.
"""

import contextlib
import ctypes
import errno
import functools
import hashlib
import json
import os
import stat
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd._hidden import Lock, entries, hidden_name, kind_of, remove, remove_unused, sweep, tell
from incrowd.errors import OutputError

__all__ = [
    "JOURNAL",
    "exchange",
    "give_names",
    "journal_of",
    "settle",
    "settle_all",
    "sync",
    "tidy",
]


JOURNAL = "incrowd-names"
_HERE, _EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of Linux."""
_PATIENCE = 10.0
"""So many seconds others are waited for: they only rename."""
_LONG = 60.0
"""A journal that is so many seconds old is of a killed process, where files cannot be locked."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One name, and what gets it.

    Attributes
    ----------
    new
        What gets the name; None if nothing does, and what has it goes.
    name, old
        The name, and the hidden name for what had it.
    seal
        The hash of `new`: names and contents of all its files.
    before
        A mark of what had the name; None if nothing had.
    """

    new: Path | None
    name: Path
    old: Path
    seal: str | None
    before: str | None

    def is_done(self) -> bool:
        """Tell whether the name has what it is to have."""
        if self.new is None:
            return not os.path.lexists(self.name)
        return os.path.lexists(self.name) and _seal(self.name) == self.seal

    def can_be_done(self) -> bool:
        """Tell whether `new` is what it was, and nothing foreign has come in between."""
        if self.is_done():
            return True
        there = self.new is None or (os.path.lexists(self.new) and _seal(self.new) == self.seal)
        return there and (not os.path.lexists(self.name) or self._is_before(self.name))

    def do(self, *, again: bool = False) -> None:
        """Give the name; where a killed process may have begun, what is done is left as it is."""
        if again and self.is_done():
            # Killed after the exchange: what had the name has the hidden one.
            if self.new is not None and self._is_before(self.new):
                self.new.rename(self.old)
        elif self.new is None:
            self.name.rename(self.old)
        elif not os.path.lexists(self.name):
            self.new.rename(self.name)
        elif exchange(self.new, self.name):
            self.new.rename(self.old)
        else:
            self.name.rename(self.old)
            self.new.rename(self.name)

    def can_be_undone(self) -> bool:
        """Tell whether what had the name is there, and nothing foreign has it."""
        places = [self.name, self.old, *([] if self.new is None else [self.new])]
        free = not os.path.lexists(self.name) or self._is_before(self.name) or self.is_done()
        return free and (self.before is None or any(map(self._is_before, places)))

    def undo(self) -> None:
        """Give the name back; what was not done, or is undone, is left as it is."""
        if self.before is None:
            if self.new is not None and self.is_done():
                self.name.rename(self.new)
            return
        places = [self.name, self.old, *([] if self.new is None else [self.new])]
        where = next(path for path in places if self._is_before(path))
        if where == self.name or (os.path.lexists(self.name) and exchange(where, self.name)):
            return
        if os.path.lexists(self.name):
            self.name.rename(hidden_name(self.name, "part"))
        where.rename(self.name)

    def clear(self) -> None:
        """Remove what was to get the name, where an exchange has put it aside and it was undone."""
        if self.before is not None and self._is_before(self.name):
            remove(self.old)

    def _is_before(self, path: Path) -> bool:
        return os.path.lexists(path) and _mark(path) == self.before

    def as_dict(self, folder: Path) -> dict[str, Any]:
        """Return all of it as plain values; paths from the journal's folder on."""
        paths = {"new": self.new, "name": self.name, "old": self.old}
        return {
            name: None if path is None else os.path.relpath(path, folder)
            for name, path in paths.items()
        } | {"seal": self.seal, "before": self.before}

    @classmethod
    def of(cls, said: dict[str, Any], folder: Path) -> "_Step":
        """Return what `as_dict` gave."""
        new = None if said["new"] is None else folder / said["new"]
        name, old = folder / said["name"], folder / said["old"]
        return cls(new, name, old, said["seal"], said["before"])


def give_names(
    pairs: Sequence[tuple[Path | None, Path]],
    *,
    at: Path | None = None,
    overwrite: bool = False,
    amended: Collection[Path] = (),
) -> None:
    """Give hidden files and folders their names: all, or none.

    The caller holds the locks on the hidden ones, and has synced them. What had the names is
    removed afterwards.

    Parameters
    ----------
    pairs
        What is hidden, and the name that it gets. None in place of a hidden one: what has the name
        goes.
    at
        The name beside which the journal lies; the first one unless given.
    overwrite
        Whether names that are taken may be replaced.
    amended
        Names that are taken and may be replaced in any case.

    Raises
    ------
    OutputError
        If a name is taken, or another process gives it away for long.
    OSError
        If renaming fails; everything is as it was.
    """
    pairs = [(new, name) for new, name in pairs if new is not None or os.path.lexists(name)]
    if not pairs:
        return
    places = {_place(name): name for _, name in pairs}
    first = _place(pairs[0][1] if at is None else at)
    notes = [name for name in places if name != first and first not in name.parents]
    with contextlib.ExitStack() as held:
        written = [held.enter_context(_Journal.begun(name)) for name in notes]
        for note in written:
            note.write({"at": os.path.relpath(first, note.path.parent)})
        journal = held.enter_context(_Journal.begun(first))
        for new, name in pairs:
            kept = not overwrite and name not in amended
            if new is not None and kept and os.path.lexists(name):
                raise OutputError(f"{name} exists already", file=name)
        steps = [_step(None if new is None else _place(new), _place(name)) for new, name in pairs]
        journal.write({"steps": [step.as_dict(first.parent) for step in steps]})
        try:
            for step in steps:
                step.do()
            _sync_folders(steps)
        except BaseException:
            journal.keep = True
            for step in reversed(steps):
                step.undo()
                step.clear()
            _sync_folders(steps)
            journal.keep = False
            raise
        journal.keep = True
        for step in steps:
            remove(step.old)
        for note in written:
            note.close()
        journal.keep = False


def settle(path: str | os.PathLike[str]) -> None:
    """Finish, or undo, what a killed process had begun to rename to this name, and tell.

    Raises
    ------
    OutputError
        If neither can be done, for something else has the name by now.
    """
    name = Path(path)
    if not name.name or not os.path.lexists(journal_of(name)):
        return
    name = _place(name)
    try:
        with _Journal.found(name) as journal:
            first = None if journal is None else _settle(journal, name)
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise
        tell(
            f"a run that was killed had begun to write {name}, and only its owner can finish "
            f"that, with: incrowd clean {name.parent}"
        )
        return
    if first is not None:
        settle(first)
        # If the journal is gone, all is done, or nothing had begun.
        if not os.path.lexists(journal_of(first)):
            remove_unused(journal_of(name))


def settle_all(folder: Path) -> None:
    """Settle every name in a folder of which a journal was left."""
    for path in entries(folder):
        if path.name.startswith(".") and path.name.endswith(f".{JOURNAL}"):
            settle(path.with_name(path.name[1:].removesuffix(f".{JOURNAL}")))


def tidy(*names: Path | None) -> None:
    """Settle names, and remove what killed processes have left beside them."""
    for name in names:
        if name is not None and name.name:
            settle(name)
            # What a journal that cannot be settled speaks of is no leftover.
            if not os.path.lexists(journal_of(name)):
                sweep(name)


def journal_of(name: Path) -> Path:
    """Return where the journal of a name is, while it is given."""
    return name.with_name(f".{name.name}.{JOURNAL}")


def _settle(journal: "_Journal", name: Path) -> Path | None:
    """Settle what a journal says; for a note, return the name beside which the journal is."""
    said = journal.read()
    journal.keep = True
    if "at" in said:
        return name.parent / str(said["at"])
    steps = [_Step.of(each, name.parent) for each in said.get("steps", ())]
    # Without steps it was cut short, and nothing had begun.
    how = _finish_or_undo(steps, journal.path) if steps else ""
    _forget(steps, name)
    journal.keep = False
    journal.close()
    if steps:
        told = ", ".join(str(step.name) for step in steps)
        tell(f"a run was killed just before it had written {told}; {how}")
    return None


def _finish_or_undo(steps: Sequence[_Step], journal: Path) -> str:
    """Do the rest of the renames, or undo all; return in words what was done."""
    if all(step.can_be_done() for step in steps):
        for step in steps:
            step.do(again=True)
        how = "what it had made was complete, and was put in place"
    elif all(step.can_be_undone() for step in steps):
        for step in reversed(steps):
            step.undo()
        how = "what it had made is not as it was, and what was there before was put back"
    else:
        left = [path for s in steps for path in (s.new, s.old) if path and os.path.lexists(path)]
        told = ", ".join(str(step.name) for step in steps)
        hint = f"move away what you need of {', '.join(map(str, left)) or 'it'}, delete {journal}"
        raise OutputError(
            f"a run was killed just before it had written {told}, and that can neither be finished "
            f"nor undone, for other files were put there since; {hint}",
            hint=hint,
            file=journal,
        )
    _sync_folders(steps)
    return how


def _forget(steps: Sequence[_Step], name: Path) -> None:
    """Remove what had the names, and the notes beside them."""
    for step in steps:
        for path in (step.old, step.new):
            if path is not None and kind_of(path):
                remove_unused(path)
        if step.name != name:
            _remove_note(step.name)


def _remove_note(name: Path) -> None:
    path = journal_of(name)
    with contextlib.suppress(OSError):
        lock = Lock(path)
        if "at" in _Journal(path, lock).read():
            path.unlink()
        lock.release()


class _Journal:
    """The file that says what is renamed, locked while it is open, removed when it is closed."""

    def __init__(self, path: Path, lock: Lock) -> None:
        self.path, self._lock = path, lock
        self.keep = False
        """Whether the file stays when it is closed."""

    @classmethod
    @contextlib.contextmanager
    def begun(cls, name: Path) -> Iterator["_Journal"]:
        """Make an empty one; settle one of a killed process before."""
        path, latest = journal_of(name), time.monotonic() + _PATIENCE
        while True:
            settle(name)
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
                lock = Lock(path)
                break
            except (FileExistsError, BlockingIOError, FileNotFoundError):
                if not path.parent.is_dir() or time.monotonic() > latest:
                    raise
                time.sleep(0.01)
        journal = cls(path, lock)
        try:
            yield journal
        finally:
            journal.close()

    @classmethod
    @contextlib.contextmanager
    def found(cls, name: Path) -> Iterator["_Journal | None"]:
        """Give the one that a killed process has left; None once one that lives is done."""
        path, latest = journal_of(name), time.monotonic() + _PATIENCE
        while (lock := _lock_of_killed(path)) is None:
            if not os.path.lexists(path):
                yield None
                return
            if time.monotonic() > latest:
                raise OutputError(
                    f"another run is writing {name}; wait for it, or choose another name",
                    file=name,
                )
            time.sleep(0.01)
        journal = cls(path, lock)
        try:
            yield journal
        finally:
            journal.close()

    def write(self, said: dict[str, Any]) -> None:
        text = json.dumps(said)
        with self.path.open("w", encoding="utf-8") as file:
            file.write(f"{text}\n{hashlib.sha256(text.encode()).hexdigest()}\n")
            file.flush()
            os.fsync(file.fileno())
        sync(self.path.parent)

    def read(self) -> dict[str, Any]:
        """Return what it says; nothing, if it was cut short."""
        try:
            text, digest, *_ = [*self.path.read_text("utf-8").split("\n"), "", ""]
            if hashlib.sha256(text.encode()).hexdigest() == digest:
                said = json.loads(text)
                return said if isinstance(said, dict) else {}
        except (FileNotFoundError, ValueError):
            pass
        return {}

    def close(self) -> None:
        """Remove it, unless it is kept, and give the lock back."""
        if not self.keep:
            self.path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                sync(self.path.parent)
            self.keep = True
        self._lock.release()


def _lock_of_killed(journal: Path) -> Lock | None:
    """Lock the journal of a process that was killed; None if it lives, or the journal is gone."""
    try:
        lock = Lock(journal)
        if lock.held or time.time() - journal.stat().st_mtime > _LONG:
            return lock
    except (FileNotFoundError, BlockingIOError):
        pass
    return None


def exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; return False where the system cannot."""
    call = _renameat2()
    if call is None:
        return False
    if call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM}:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


@functools.cache
def _renameat2() -> Any:
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # another system, or an old C library
        return None
    path, number = ctypes.c_char_p, ctypes.c_int
    call.argtypes, call.restype = (number, path, number, path, ctypes.c_uint), number
    return call


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folders(steps: Sequence[_Step]) -> None:
    for folder in {path.parent for step in steps for path in (step.name, step.old)}:
        sync(folder)


def _place(path: Path) -> Path:
    """Return a path whose folder is the real one, and its name as it is."""
    return path.parent.resolve() / path.name


def _step(new: Path | None, name: Path) -> _Step:
    seal = None if new is None else _seal(new)
    before = _mark(name) if os.path.lexists(name) else None
    return _Step(new, name, hidden_name(name, "old"), seal, before)


def _files(path: Path) -> list[tuple[str, Path]]:
    inside = sorted(path.rglob("*")) if path.is_dir() and not path.is_symlink() else []
    return [(".", path), *((each.relative_to(path).as_posix(), each) for each in inside)]


def _seal(path: Path) -> str:
    """Return a hash of the names and the contents of all files."""
    digest = hashlib.sha256()
    for name, each in _files(path):
        content = ""
        if each.is_file():
            with each.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{name}\0{content}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()


def _mark(path: Path) -> str:
    """Return a hash of the names, sizes and times of all files, which is found without reading."""
    digest = hashlib.sha256()
    for name, each in _files(path):
        about = each.lstat()
        size = (about.st_size, about.st_mtime_ns) if stat.S_ISREG(about.st_mode) else ()
        digest.update(
            f"{name}\0{stat.S_IFMT(about.st_mode)}\0{size}\0".encode(errors="surrogateescape")
        )
    return digest.hexdigest()
