"""``incrowd clean``: find and remove what runs that were killed have left."""

import contextlib
import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd._format import duration, several
from incrowd._hidden import (
    KINDS,
    is_used,
    kind_of,
    remove_unused,
    size_and_age,
    temporary_folders,
    temporary_place,
)
from incrowd._renames import JOURNAL, settle_all
from incrowd.cli._messages import print_json
from incrowd.cli._options import AsJson
from incrowd.cli._run_folder import RUN, STATE, alone
from incrowd.cli.anonymize import itself
from incrowd.errors import OutputError, UnreadableError

__all__ = ["clean"]


_RUN, _LOCK = "unfinished run", "lock of a run"
_TEMPORARY, _RENAMES = "temporary files, with rows of the input", "unfinished renaming"
_SIZES = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


@dataclass(slots=True)
class _Leftover:
    """Something that a run has left, or still uses."""

    path: Path
    what: str
    bytes: int
    age: float
    used: bool | None
    """Whether a process uses it; None if nobody can tell."""
    removed: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": str(self.path), "what": self.what, "bytes": self.bytes,
            "age_seconds": round(self.age), "used": self.used, "removed": self.removed,
        }  # fmt: skip


def clean(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Folders to look in, with all folders in them.",
            metavar="DIR",
            show_default="the current folder",
        ),
    ] = None,
    temp_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder for temporary files to look in as well.",
            metavar="DIR",
            show_default="that of the system",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove what no process uses any more.")
    ] = False,
    runs: Annotated[
        bool,
        typer.Option(
            "--unfinished-runs",
            help="With --yes, also remove unfinished runs of incrowd run, which the same command "
            "would otherwise go on from.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List what runs that were killed have left, and remove it with --yes.

    Finds releases that were never verified, incomplete files, what was replaced, and temporary
    files with rows of the input. What had only its renaming to do is finished first. What another
    process still uses, and checkpoints, stay.

    Example:  `incrowd clean out/ --yes`
    """
    places = folders or [Path()]
    for place in places:
        if not place.is_dir():
            raise UnreadableError(f"{place} is no folder", file=place)
    found = list(_find(places, temporary_place() if temp_dir is None else temp_dir))
    for one in found if yes else ():
        if _should_go(one, runs=runs):
            one.removed = _remove(one)
    stays = [one for one in found if _should_go(one, runs=runs) and not one.removed]
    if as_json:
        print_json({"found": [one.as_dict() for one in found]})
    else:
        print("\n".join(_lines(found, places, yes=yes, runs=runs)))
    if yes and stays:
        raise OutputError(
            f"cannot remove {stays[0].path}: permission denied, or a process began to use it",
            file=stays[0].path,
        )


def _should_go(one: _Leftover, *, runs: bool) -> bool:
    return one.used is False and one.what != _RENAMES and (runs or one.what != _RUN)


def _find(places: list[Path], temporary: Path) -> Iterator[_Leftover]:
    """Yield what is left in some folders, each once; finish renames before."""
    seen: set[Path] = set()
    for place in places:
        for each in _walk(place):
            for path, what in _in(each):
                if path.resolve() not in seen:
                    seen.add(path.resolve())
                    yield _about(path, what)
    for path in temporary_folders(temporary):
        if path.resolve() not in seen:
            yield _about(path, _TEMPORARY)


def _walk(place: Path) -> Iterator[Path]:
    """Yield a folder and all folders in it that are no leftovers themselves."""
    for root, names, _ in os.walk(place):
        folder = Path(root)
        settle_all(folder)
        names[:] = sorted(name for name in names if _what(folder / name) is None)
        yield folder


def _in(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.iterdir()) if os.access(folder, os.R_OK) else ():
        what = _what(path)
        if what is not None:
            yield path, what


def _what(path: Path) -> str | None:
    """Return what something is, if a run has left it or uses it; None if it is none of ours."""
    if not path.name.startswith(".") or path.is_symlink():
        return None
    kind = kind_of(path)
    if kind is not None:
        return KINDS[kind]
    if path.name.endswith(f".{JOURNAL}"):
        return _RENAMES
    name = path.with_name(path.name[1:])
    if path.suffix == ".part" and (path / STATE).is_file():
        return _RUN
    if path.suffix == ".lock" and _is_empty(path):
        final = name.with_suffix("")
        part = final.with_name(f".{final.name}.part")
        if (part / STATE).is_file() or (final / RUN).is_file():
            return _LOCK
    return None


def _is_empty(path: Path) -> bool:
    about = path.lstat()
    return stat.S_ISREG(about.st_mode) and about.st_size == 0


def _about(path: Path, what: str) -> _Leftover:
    size, age = size_and_age(path)
    if what == _RUN:
        lock = path.with_suffix(".lock")
        used = is_used(lock) if lock.exists() else False
    else:
        used = is_used(path)
    return _Leftover(path, what, size, age, used)


def _remove(one: _Leftover) -> bool:
    if one.what == _RUN:
        with contextlib.suppress(OutputError), alone(_run_of(one.path)):
            shutil.rmtree(one.path, ignore_errors=True)
    elif one.what == _LOCK:
        with contextlib.suppress(OutputError), alone(_run_of(one.path)):
            pass  # it is removed with the lock
    else:
        remove_unused(one.path)
    return not os.path.lexists(one.path)


def _run_of(path: Path) -> Path:
    """Return the folder of the run to which a working folder or a lock belongs."""
    return path.with_name(path.stem[1:])


def _lines(found: list[_Leftover], places: list[Path], *, yes: bool, runs: bool) -> list[str]:
    if not found:
        return ["Nothing is left over."]
    lines = []
    for one in found:
        state = "removed" if one.removed else _STATES[one.used]
        lines += [
            str(one.path),
            f"    {one.what}, {_size(one.bytes)}, last changed {_age(one.age)} ago: {state}",
        ]
    todo = [one for one in found if _should_go(one, runs=runs) and not one.removed]
    done = [one for one in found if one.removed]
    lines.append("")
    if done:
        lines.append(f"Removed {_counted(done)}.")
    elif todo and not yes:
        words = shlex.join([itself(), "clean", *map(str, places), "--yes"])
        lines.append(f"{_counted(todo)} can be removed:  {words}")
    else:
        lines.append("Nothing of it can be removed by itself.")
    if not runs and any(one.what == _RUN and one.used is False for one in found):
        lines.append(
            "The same incrowd run goes on from an unfinished run; --unfinished-runs removes it."
        )
    if any(one.used is None for one in found):
        lines.append("Whether a process uses it cannot be told on this file system.")
    return lines


_STATES = {
    True: "a process uses it",
    False: "left over",
    None: "not removed, for nobody can tell whether a process uses it",
}


def _counted(some: list[_Leftover]) -> str:
    return f"{several(len(some), 'leftover')} ({_size(sum(one.bytes for one in some))})"


def _size(number: int) -> str:
    for unit, name in _SIZES:
        if number >= unit:
            return f"{number / unit:.1f} {name}"
    return f"{number} bytes"


def _age(seconds: float) -> str:
    return duration(seconds / 60) if seconds >= 60 else f"{seconds:.0f} s"  # noqa: PLR2004
