"""The folder of a run: is it there and as it was left, who works on it, and how it gets its name.

::

    find_same ──> there and intact: nothing to do
                  damaged: refused, or made anew with --overwrite
    alone ──> working_folder (.NAME.part) ──> give_name (NAME)
              what an interrupted run has finished is kept; what it has half done is not

A run that is killed while the folder gets its name leaves the old or the new one under it, whole
(`incrowd._renames`). ``run.json`` holds the SHA-256 of every file of the folder. Nothing but the
files that a run makes ever gets a name.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._atomic import replacing, writing_error
from incrowd._lock import locked
from incrowd._renames import give_names, tidy
from incrowd.cli import noted
from incrowd.cli._console import say
from incrowd.cli._messages import messages
from incrowd.errors import ArgumentError, IncrowdError, OutputError

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "DECISION",
    "EVALUATION",
    "GAPS",
    "JOURNAL",
    "OWNER_ONLY",
    "PRIVATE",
    "READING",
    "RECORD",
    "RELEASE",
    "REPORT",
    "RUN",
    "Found",
    "alone",
    "check_name",
    "find_same",
    "give_name",
    "leave_nothing",
    "make_folder",
    "period_of",
    "refuse",
    "refuse_damaged",
    "seals_of",
    "working_folder",
    "working_name",
]

RELEASE, PRIVATE, RECORD, GAPS = "release", "private", "who.parquet", "k_gaps.parquet"
REPORT, EVALUATION, READING, RUN = "report.html", "evaluation.json", "reading.json", "run.json"
DECISION = "decision.json"
STATE, JOURNAL = "state.json", "glove.checkpoint"
_MADE = {RELEASE, PRIVATE, REPORT, RUN, STATE}
_MADE_PRIVATE = {RECORD, GAPS, EVALUATION, READING, JOURNAL}
OWNER_ONLY = 0o700
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A run that had the same input and settings.

    Attributes
    ----------
    folder
        Where it is.
    damage
        What of it is not as the run left it, in words.
    """

    folder: Path
    damage: tuple[str, ...]


def period_of(data: "Trajectories", tz: str) -> str:
    """Return the month of the data, where people live; the first and the last, if there are more.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.cli._run_folder import period_of
    >>> period_of(incrowd.synthesize("city", users=5, seed=1), "Africa/Abidjan")
    '2012-03'
    """
    import datetime as dt

    from incrowd.data._select import find_zone

    zone = find_zone(tz)
    frame = data.frame
    ends = (int(data.t0.min()), int(data.t1.max()) - 1) if data.samples else (0, 0)
    first, last = (
        dt.datetime.fromtimestamp(end * frame.slot + frame.origin, zone).strftime("%Y-%m")
        for end in ends
    )
    return first if first == last else f"{first}_{last}"


def check_name(name: str | None) -> None:
    """Refuse a name that would not be that of a visible folder in the folder of all runs."""
    if name is not None and (
        not name or name != Path(name).name or name.startswith(".") or "\\" in name
    ):
        raise ArgumentError(
            f"--name must be the name of one folder, like march, not {name!r}; --folder says in "
            "which folder it lies"
        )


def make_folder(folder: Path) -> None:
    """Make the folder in which results lie."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise writing_error(folder, error) from error


def find_same(folder: Path, name: str | None, key: str) -> Found | None:
    """Return the run that had the same input and settings; one that is intact, if there is one."""
    damaged = None
    for file in sorted(folder.glob(f"{name or '[!.]*'}/{RUN}")):
        with contextlib.suppress(OSError, ValueError):
            told = json.loads(file.read_text("utf-8"))
            if told.get("key") == key:
                found = Found(file.parent, tuple(_damage(file.parent, told.get("files"))))
                if not found.damage:
                    return found
                damaged = damaged or found
    return damaged


def seals_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Return size and SHA-256 of every file of a run, by its path in the folder."""
    from incrowd.data._manifest import seal

    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    places = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: seal(path) for name, path in places.items() if name not in (RUN, STATE)}


def _damage(folder: Path, files: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what is missing or was changed since the run."""
    from incrowd.data._manifest import MANIFEST, seal

    release, kept = folder / RELEASE, files is not None
    if files is None:  # of a run that kept no hashes
        files = dict.fromkeys((f"{RELEASE}/{MANIFEST}", REPORT, f"{PRIVATE}/{RECORD}"))
    amended = _amended(release)
    for name, known in files.items():
        path = folder / name
        if not path.is_file():
            yield f"{name} is missing"
        elif (
            known is not None
            and name not in amended
            and seal(path) not in (known, _decided_on(folder, name))
        ):
            yield f"{name} was changed"
    for path in sorted(release.iterdir()) if kept and release.is_dir() else ():
        if (name := f"{RELEASE}/{path.name}") not in {*files, *amended}:
            yield f"{name} was added"


def _amended(release: Path) -> set[str]:
    """Return what `incrowd report --in-release` has changed: the page, which the manifest names."""
    from incrowd.data._manifest import MANIFEST, PAGE, read_release

    with contextlib.suppress(IncrowdError, OSError):
        if PAGE in read_release(release).manifest.files:
            return {f"{RELEASE}/{MANIFEST}", f"{RELEASE}/{PAGE}"}
    return set()


def _decided_on(folder: Path, name: str) -> dict[str, Any] | None:
    """Return the hash of the page that was signed: it may have been filled in on screen."""
    if name != REPORT:
        return None
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        page = json.loads((folder / DECISION).read_text("utf-8"))["report"]
        return {key: page.get(key) for key in ("bytes", "sha256")}
    return None


def refuse_damaged(found: Found, *, overwrite: bool) -> None:
    """Refuse a run that is not as it was left, unless it is to be made anew."""
    shown = "; ".join(found.damage[:_SHOWN])
    if len(found.damage) > _SHOWN:
        shown += f"; and {len(found.damage) - _SHOWN:,} more"
    said = f"{found.folder} has the results for this data and these settings, but damaged: {shown}"
    if (found.folder / DECISION).exists():
        raise OutputError(
            f"{said}. It holds a decision ({DECISION}) and is not replaced; restore the files, or "
            "move the folder",
            file=found.folder,
        )
    if not overwrite:
        hint = "make them anew with --overwrite"
        raise OutputError(f"{said}; {hint}", file=found.folder, hint=hint)
    say(f"{said}; they are made anew")


def refuse(final: Path, data: str, *, overwrite: bool) -> None:
    """Refuse a folder that holds something else, or the input."""
    source = Path(data).resolve()
    if source.is_dir() and source in (final.resolve(), *final.resolve().parents):
        raise ArgumentError(
            f"{final} lies in {data}, all of which is the input; choose another --folder"
        )
    if not os.path.lexists(final):
        return
    if not (final / RUN).is_file():
        raise OutputError(f"{final} is no result of incrowd run and is not replaced; use --name")
    if (final / DECISION).exists():
        raise OutputError(
            f"{final} holds a decision ({DECISION}) and is not replaced, for a decision is about "
            "the files that it names; give this run another --name, or move the folder"
        )
    if not overwrite:
        raise OutputError(
            f"{final} holds the results of other data or settings; replace them with --overwrite, "
            "or give this run another --name"
        )


def alone(final: Path) -> contextlib.AbstractContextManager[None]:
    """Hold a lock while a run works on a name; refuse where another run holds it."""
    busy = f"another run is working on {final}; wait for it, or give this one another --name"
    return locked(final, busy=busy)


def working_name(final: Path) -> Path:
    """Return the hidden name of the folder of a run, until it gets its own."""
    return final.with_name(f".{final.name}.part")


@contextlib.contextmanager
def working_folder(final: Path, key: str) -> Iterator[Path]:
    """Give the hidden folder of this run: that of an interrupted one, if it was the same.

    It is removed if the same run would end in the same way again, and kept after anything else.
    """
    part = working_name(final)
    _begin(part, key)
    messages.kept = f"what is done is kept in {part}: start it again to go on"
    try:
        yield part
    except OSError:  # a full disk; also an OutputError
        say(messages.kept)
        raise
    except IncrowdError:
        # Some libraries make an error of their own of a signal.
        if not noted:
            shutil.rmtree(part, ignore_errors=True)
        raise
    finally:
        if not part.exists():
            messages.kept = None


def _begin(part: Path, key: str) -> None:
    from incrowd.data._manifest import settle_release

    with contextlib.suppress(OSError, ValueError):
        if json.loads((part / STATE).read_text("utf-8")).get("key") == key:
            say(f"going on with what an interrupted run has finished ({part})")
            settle_release(part / RELEASE)
            for path in _foreign(part):
                say(f"{path} was left half done; it is removed")
                _remove(path)
            return
    if part.exists():
        say(f"{part} was left by a run of other data or settings; it is removed")
        shutil.rmtree(part)
    part.mkdir(mode=OWNER_ONLY)
    with replacing(part / STATE) as file:
        file.write_text(json.dumps({"key": key}), "utf-8")


def _foreign(part: Path) -> list[Path]:
    """Return what no step of a run has finished."""
    from incrowd.data._manifest import MANIFEST, read_manifest

    private = part / PRIVATE
    found = [path for path in part.iterdir() if path.name not in _MADE]
    if private.is_dir():
        found += [path for path in private.iterdir() if path.name not in _MADE_PRIVATE]
    release = part / RELEASE
    with contextlib.suppress(IncrowdError, OSError):  # one that is no release is made again
        known = {MANIFEST, *read_manifest(release).files}
        found += [path for path in release.iterdir() if path.name not in known]
    return sorted(found)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def give_name(part: Path, final: Path) -> None:
    """Give the folder its name; what had it before is removed afterwards."""
    if foreign := _foreign(part):
        raise OutputError(
            f"{foreign[0]} is nothing that a run makes, and is not published; remove it, and start "
            "it again",
            file=foreign[0],
        )
    part.chmod(0o777 & ~_umask())
    give_names([(part, final)], overwrite=True)
    (final / STATE).unlink(missing_ok=True)


def leave_nothing(final: Path) -> None:
    """Remove what a run has left that was killed when all was done."""
    with contextlib.suppress(OutputError), alone(final):
        tidy(final)
        (final / STATE).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
