"""How the original of a release was read: kept in the private record, so that it is read so again.

::

    read, select ──> OriginalReading.of ──> private record ──> reading_of ──> read_on(grid)
                      paths, options, hashes     (metadata of the Parquet file)

Whoever verifies, evaluates or reports a release months later has to read its original exactly as
it was read then: the same columns, time zone, table of antennas, part of the data. The private
record keeps all of that beside who became whom, with the SHA-256 of every file and a few facts
about what was read, by which data that is read differently is noticed and said to be.
"""

import hashlib
import inspect
import json
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._file_errors import read_json, reading_file
from incrowd.data._io.sources import files_of
from incrowd.errors import ArgumentError, IncrowdError, UnreadableError

if TYPE_CHECKING:
    from incrowd.data._frame import Frame
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "ORIGINAL",
    "OriginalReading",
    "as_recorded",
    "hash_of_files",
    "reading_as_given",
    "reading_of",
    "refuse_other_original",
]


ORIGINAL = "incrowd.original"
"""The key of the record's metadata."""
VERSION = 1
_MACHINE = ("memory", "threads", "temp_dir", "progress", "rejects")
"""Arguments of `read` that change nothing of the result."""
_FILES = ("cells", "same_person")
"""Arguments of `read` that name a file."""
_FLAGS = {
    "cells": "--antennas",
    "strict": "--fail-on-bad-row",
    "names": "--column-names",
    "share": "--sample-people",
    "seed": "--sample-seed",
}
"""Options of the command line that are not named as the arguments of `read` and `select` are."""
_USUAL: Mapping[str, Any] = {"max_bad": 0.05, "decimal": "."}
_HOUR, _MINUTE, _DAY = 3600, 60, 86_400


@dataclass(frozen=True, slots=True)
class OriginalReading:
    r"""How an original was read, and what was found.

    Attributes
    ----------
    source
        The file, folder or pattern, as an absolute path.
    options, selection
        The arguments of :func:`incrowd.read` and :func:`incrowd.select` that were given.
    sha256
        Of the bytes of all files, in the order of their names.
    people, samples, first, last
        What was read: how many people and samples, the start of the first slot with a sample and
        the end of the last, in seconds since 1970.
    cells_sha256, same_person_sha256
        Of the table of antennas, and of that of persons, where there is one.
    local_tz
        The zone in which people live, where it is not that of the times.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import incrowd
    >>> from incrowd.data._original import OriginalReading
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "calls.csv"
    ...     _ = file.write_text("user,time,lat,lon\nann,2024-03-05 07:31,14.7,-17.4\n")
    ...     data = incrowd.read(file, tz="Europe/Paris")
    ...     known = OriginalReading.of(str(file), {"tz": "Europe/Paris"}, {}, data)
    ...     known.difference(incrowd.read(file))
    'its times are 1 h later than those that the release was made from'
    >>> known.words()
    '--tz Europe/Paris'
    """

    source: str
    options: Mapping[str, Any]
    selection: Mapping[str, Any]
    sha256: str
    people: int
    samples: int
    first: int
    last: int
    cells_sha256: str | None = None
    same_person_sha256: str | None = None
    local_tz: str | None = None
    version: int = field(default=VERSION)

    @classmethod
    def of(
        cls,
        source: str,
        options: Mapping[str, Any],
        selection: Mapping[str, Any],
        data: "Trajectories",
        local_tz: str | None = None,
    ) -> "OriginalReading":
        """Note how data was read; the files are hashed."""
        cells, persons = options.get("cells"), options.get("same_person")
        return cls(
            source=str(Path(source).absolute()),
            options={
                name: str(Path(value).absolute()) if name in _FILES else _plain(value)
                for name, value in options.items()
                if _is_given(name, value) and name not in _MACHINE
            },
            selection={
                name: _plain(value) for name, value in selection.items() if _is_given(name, value)
            },
            sha256=hash_of_files(source),
            cells_sha256=None if cells is None else hash_of_files(cells),
            same_person_sha256=None if persons is None else hash_of_files(persons),
            local_tz=local_tz,
            **_facts(data),
        )

    @property
    def zone(self) -> str | None:
        """The zone in which people live, as far as it was told."""
        zone = self.local_tz or self.options.get("tz")
        return None if zone is None else str(zone)

    def to_json(self) -> str:
        """Return all of it as text."""
        said = asdict(self)
        if self.same_person_sha256 is None:
            del said["same_person_sha256"]  # earlier versions do not know it, and read the rest
        return json.dumps(said)

    def read_on(self, grid: "Frame", **machine: Any) -> "Trajectories":
        """Read the original again as it was read, on the grid of its release.

        Raises
        ------
        UnreadableError
            If it is not there any more, or its files have changed.
        """
        import incrowd

        self._refuse_changed()
        options: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in self.options.items()
        }
        options |= self.grid_options(grid)
        selection = dict(self.selection)
        if selection.get("time") is not None:
            selection["time"] = tuple(selection["time"])
        return incrowd.select(incrowd.read(self.source, **options, **machine), **selection)

    def grid_options(self, grid: "Frame") -> dict[str, Any]:
        """Return the arguments of `read` that put the original on a grid."""
        asked = {name: self.options.get(name) for name in ("crs", "cell", "slot")}
        if any(value is not None for value in asked.values()):
            return {n: getattr(grid, n) if value is None else value for n, value in asked.items()}
        return {"frame": grid}

    def _refuse_changed(self) -> None:
        for what, option, path, known in (
            ("original", "--original", self.source, self.sha256),
            ("table of antennas", "--antennas", self.options.get("cells"), self.cells_sha256),
            (
                "table of persons",
                "--same-person",
                self.options.get("same_person"),
                self.same_person_sha256,
            ),
        ):
            if path is None or known is None:
                continue
            try:
                found = hash_of_files(path)
            except (IncrowdError, OSError) as error:
                raise UnreadableError(
                    f"the private record names {path} as the {what}, which cannot be read "
                    f"({error}); if it was moved, name it with {option}"
                ) from error
            if found != known:
                raise UnreadableError(
                    f"{path} has changed since the release was made (its SHA-256 differs); "
                    f"restore the {what}, or name a copy of it with {option}"
                )

    def difference(self, data: "Trajectories") -> str | None:
        """Return in what data differs from what the release was made from; None if in nothing."""
        found = _facts(data)
        if all(getattr(self, name) == value for name, value in found.items()):
            return None
        if (self.people, self.samples) == (found["people"], found["samples"]):
            early, late = found["first"] - self.first, found["last"] - self.last
            if early == late:
                how = f"{_while(abs(early))} {'later' if early > 0 else 'earlier'}"
                return f"its times are {how} than those that the release was made from"
            return (
                "its times differ from those that the release was made from, at the start by "
                f"{_while(abs(early))}, at the end by {_while(abs(late))}"
            )
        return (
            f"it has {found['people']:,} people with {found['samples']:,} samples, and the release "
            f"was made from {self.people:,} people with {self.samples:,} samples"
        )

    def words(self, *, files: bool = True) -> str:
        """Return the options of the command line that read the same; files by name, or not."""
        words: list[str] = []
        for name, value in {**self.options, **self.selection}.items():
            if name == "time" and name in self.selection and isinstance(value, list):
                ends = zip(("--from", "--to"), value, strict=True)
                words += [word for flag, end in ends if end is not None for word in (flag, end)]
                continue
            if name == "zone" or (name == "seed" and "share" not in self.selection):
                continue
            flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
            if name in _FILES and not files:
                value = name.upper()  # noqa: PLW2901
            words += [flag] if value is True else [flag, _word(value)]
        return shlex.join(words)


def reading_of(record: Any) -> OriginalReading | None:
    """Return how the original was read, as a private record has it; None if it does not say.

    Raises
    ------
    UnreadableError
        If the file is no Parquet file, or what it says is damaged.
    """
    if not isinstance(record, str | os.PathLike):
        return None
    import pyarrow.parquet as pq

    path = Path(record)
    if not path.is_file():
        raise UnreadableError(f"cannot read the private record {path}: there is no such file")
    with reading_file(path, "the private record", document=True):
        text = (pq.read_metadata(path).metadata or {}).get(ORIGINAL.encode())
        known = None
        if text is not None:
            known = OriginalReading(**read_json(path, "the private record", text=text))
    if known is not None and known.version != VERSION:
        return None  # written by a later version; the original has to be named
    if known is not None:
        _refuse_malformed(known, path)
    return known


def _refuse_malformed(known: OriginalReading, path: Path) -> None:
    """Refuse what no record says, before a file that it names is opened."""
    texts = known.source, known.sha256
    maybe = known.cells_sha256, known.local_tz
    numbers = known.people, known.samples, known.first, known.last
    if not (
        all(isinstance(text, str) for text in texts)
        and isinstance(known.options, dict)
        and isinstance(known.selection, dict)
        and all(isinstance(text, str | None) for text in maybe)
        and all(type(number) is int for number in numbers)
        and set(known.options) <= _taken_by("read") - {"source", *_MACHINE}
        and set(known.selection) <= _taken_by("select") - {"data"}
    ):
        raise UnreadableError(
            f"the private record {path} is damaged: it does not say how an original was read",
            file=path,
        )


def _taken_by(function: str) -> set[str]:
    import incrowd

    return set(inspect.signature(getattr(incrowd, function)).parameters)


def reading_as_given(data: "Trajectories") -> OriginalReading | None:
    """Return how data was read by :func:`incrowd.read` and not changed since; None if unknown.

    Of files only, and only if reading them again in the same way gives the same people and samples:
    what was selected afterwards is not known here.
    """
    read = data.reading
    if read is None or read.source is None or read.arguments is None:
        return None
    if (read.people, read.samples) != (len(data), data.samples):
        return None
    return OriginalReading.of(read.source, read.arguments, {}, data)


def as_recorded(record: Any) -> "Callable[[Frame], Trajectories]":
    """Return what reads the original on a grid, as the private record says that it was read.

    Raises
    ------
    ArgumentError
        If the record does not say.
    """
    known = reading_of(record)
    if known is None:
        raise ArgumentError(
            "the private record tells something only beside the original, and does not say how "
            "that was read; give the original as well"
        )
    return known.read_on


def refuse_other_original(record: Any, data: "Trajectories") -> None:
    """Refuse an original that is read differently than the record says.

    Raises
    ------
    ArgumentError
        With what differs, and with the options by which it was read then.
    """
    known = reading_of(record)
    differs = None if known is None else known.difference(data)
    if known is not None and differs is not None:
        how = known.words()
        read = f"It was read with {how}" if how else "It was read without options"
        raise ArgumentError(
            f"the original is not read as it was when the release was made: {differs}. {read}; "
            "without --original and reading options, it is read so again"
        )


def hash_of_files(source: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of the bytes of all files that a path, folder or pattern stands for."""
    total = hashlib.sha256()
    for file in files_of(source):
        with reading_file(file), file.open("rb") as opened:
            total.update(hashlib.file_digest(opened, "sha256").digest())
    return total.hexdigest()


def _is_given(name: str, value: Any) -> bool:
    return value is not None and value is not False and value != _USUAL.get(name)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)


def _facts(data: "Trajectories") -> dict[str, int]:
    frame = data.frame
    first, last = (int(data.t0.min()), int(data.t1.max())) if data.samples else (0, 0)
    return {
        "people": len(data),
        "samples": data.samples,
        "first": first * frame.slot + frame.origin,
        "last": last * frame.slot + frame.origin,
    }


def _while(seconds: int) -> str:
    for unit, name in ((_DAY, "days"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= unit and seconds % unit == 0 and (unit != _DAY or seconds > _DAY):
            return f"{seconds // unit} {name}"
    return f"{seconds} s"


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_word, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
