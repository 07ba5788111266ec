"""The ledger: the private file of who was in which crowd in each of several releases.

::

    Ledger.open(FILE) ──> crowds_of(people) ──> GLOVE keeps crowds together
           │                                          │
           └── with_release(who is where now) <───────┘ ──> write: with the release, or not at all

Releases of the same people, each made by itself, can be laid over one another: who is together in
one is not in the next, and what both crowds have in common may be one person. A ledger is what the
maker of releases has to remember so that this does not happen; `incrowd.evaluate` says what it
guarantees, and checks it.

It is one Parquet file: a row for each person who was ever published (``user``, and in
``release_N`` her crowd; null if she was in none), and a header in its metadata. It names everybody:
it is as private as the private record, and stays outside of releases.
"""

import contextlib
import datetime as dt
import glob
import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

import incrowd
from incrowd._arguments import whole
from incrowd._atomic import replacing
from incrowd._format import several
from incrowd._renames import settle
from incrowd._summary import Summarised, Summary
from incrowd.data._manifest import MANIFEST, TABLES, read_manifest
from incrowd.errors import ArgumentError, OutputError, UnreadableError

__all__ = [
    "ABSENT",
    "Ledger",
    "LedgerEntry",
    "hashes_of",
]


HEADER = "incrowd.ledger"
"""The key of the file's metadata."""
VERSION = 1
ABSENT = -1
"""The crowd of who is not in a release."""
FEWEST = 2
"""The smallest crowd that hides anybody."""

Crowds = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """A release that a ledger knows.

    Attributes
    ----------
    sequence
        Its number in the ledger, from 1 on; a number is never given twice.
    moment
        When it was entered, in UTC.
    method, settings
        How it was made.
    people
        How many people it publishes.
    held_back
        How many people of its data were left out, because with them earlier releases would have
        left fewer than k in common.
    manifest_sha256, rows_sha256
        Hashes of its manifest, which changes when a report is added, and of its rows, which stay.
    place
        The directory under which it was published, for people who look for it.
    withdrawn
        When it was withdrawn, in UTC; None if it counts.
    """

    sequence: int
    moment: str
    method: str
    settings: Mapping[str, Any]
    people: int
    held_back: int
    manifest_sha256: str
    rows_sha256: str
    place: str
    withdrawn: str | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ledger(Summarised):
    """Who was in which crowd in each of several releases of the same people.

    Make one with :meth:`open`, hand it to :func:`incrowd.glove` and then to
    :func:`incrowd.publish`, month after month. A person must have the same identifier in every
    month. What is guaranteed is then: whoever holds any of the releases, and knows in which crowd
    of each a person is, finds k people or more who are in all of these crowds.

    Attributes
    ----------
    path
        Its file, outside of all releases.
    k
        How many people are left in common, at least, by any releases.
    entries
        The releases, oldest first.
    people
        The identifiers of everybody who was published, as text.
    crowds
        A row for each of them and a column for each release: the number of her crowd, -1 if she
        was not in it.
    withdrawn
        Releases that were withdrawn and do not count any more.
    on_disk
        The hash of the file as it was read; None if it is not there yet.
    replaced
        The number of the release that a new one is to replace, which is left out here.

    Examples
    --------
    >>> import tempfile
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=60, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for month in ("march", "april"):
    ...         ledger = incrowd.Ledger.open(f"{folder}/ledger.parquet", k=2)
    ...         hidden = incrowd.glove(city, k=2, ledger=ledger)
    ...         done = incrowd.publish(
    ...             hidden, f"{folder}/{month}", original=city, ledger=ledger, draws=50)
    ...     incrowd.Ledger.open(f"{folder}/ledger.parquet").crowds.shape
    (60, 2)
    """

    path: Path
    k: int
    entries: tuple[LedgerEntry, ...]
    people: pl.Series
    crowds: Crowds
    withdrawn: tuple[LedgerEntry, ...] = ()
    on_disk: str | None = None
    replaced: int | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str], k: int | None = None) -> "Ledger":
        """Read a ledger; or begin one, if the file is not there yet.

        Parameters
        ----------
        path
            The file, which is written when a release is published.
        k
            How many people any releases leave in common, at least; 2 unless given. That of a
            ledger that is there already does not change: a smaller one is refused.

        Raises
        ------
        UnreadableError
            If the file is no ledger, is damaged, or was written by a later version; or if it was
            moved away by a run that was killed.
        ArgumentError
            If k is smaller than that of the ledger.
        """
        wanted = FEWEST if k is None else whole("k", k, FEWEST)
        if not os.path.lexists(path):
            _refuse_moved(Path(path))
            empty = np.empty((0, 0), np.int32)
            return cls(Path(path), wanted, (), pl.Series("user", [], pl.String()), empty)
        found = cls.read(path)
        found._refuse_smaller(k)  # noqa: SLF001  our own
        return found

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Ledger":
        """Read a ledger that is there.

        Raises
        ------
        UnreadableError
            If there is none, or the file is no ledger, is damaged, or of a later version.
        """
        file = Path(path)
        settle(file)  # a run that was killed may have had it half way
        if not file.is_file():
            why = "it is no file" if file.exists() else "there is no such file"
            raise UnreadableError(f"cannot read the ledger {file}: {why}", file=file)
        try:
            content = file.read_bytes()
            header = json.loads(
                (pq.read_metadata(io.BytesIO(content)).metadata or {})[HEADER.encode()]
            )
        except KeyError as error:
            raise UnreadableError(
                f"{file} is no ledger of incrowd, but another Parquet file", file=file
            ) from error
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            raise UnreadableError(f"{file} is no ledger, or damaged: {error}", file=file) from error
        version = header.get("version") if isinstance(header, dict) else None
        if version != VERSION:
            raise UnreadableError(
                f"{file} is a ledger of version {version!r}; this incrowd ({incrowd.__version__}) "
                f"reads version {VERSION}",
                file=file,
            )
        try:
            return _parsed(file, content, header)
        except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise UnreadableError(
                f"the ledger {file} is damaged ({error}); restore it from a copy", file=file
            ) from error

    @classmethod
    def of(cls, ledger: "str | os.PathLike[str] | Ledger", k: int | None = None) -> "Ledger":
        """Return the ledger that is meant by a path, or a ledger itself."""
        if not isinstance(ledger, Ledger):
            return cls.open(ledger, k)
        ledger._refuse_smaller(k)  # noqa: SLF001  our own
        return ledger

    def _refuse_smaller(self, k: int | None) -> None:
        if k is not None and k < self.k:
            raise ArgumentError(
                f"the ledger {self.path} keeps {self.k} people in common, and k = {k} is less; "
                f"take k = {self.k} or more"
            )

    def crowds_of(self, people: pl.Series) -> Crowds:
        """Return the crowds of some people: a row each, in their order; -1 where they were in none.

        Raises
        ------
        ArgumentError
            If identifiers are neither text nor whole numbers, or come twice.
        """
        found = np.full((len(people), len(self.entries)), ABSENT, np.int32)
        people = _texts(people)
        if people.n_unique() != len(people):
            raise ArgumentError("an identifier comes twice, and stands for one person in a ledger")
        rows = pl.DataFrame([self.people.alias("user")]).with_row_index("row")
        asked = pl.DataFrame([people.alias("user")])
        at = asked.join(rows, on="user", how="left", maintain_order="left")["row"]
        known = at.is_not_null().to_numpy()
        found[known] = self.crowds[at.drop_nulls().to_numpy()]
        return found

    def with_release(self, assignment: pl.DataFrame, **about: Any) -> "Ledger":
        """Return the ledger with one release more.

        Parameters
        ----------
        assignment
            The columns user and trajectory: her crowd, null if she is not published.
        about
            The other attributes of its `LedgerEntry`.
        """
        placed = assignment.filter(pl.col("trajectory").is_not_null())
        placed = placed.with_columns(_texts(placed["user"]).alias("user"))
        users, crowd = placed["user"], placed["trajectory"].to_numpy().astype(np.int32)
        before = self.crowds_of(users)
        fresh = (before == ABSENT).all(axis=1)
        column = np.full(len(self.people), ABSENT, np.int32)
        rows = pl.DataFrame([self.people.alias("user")]).with_row_index("row")
        old = placed.join(rows, on="user", how="inner", maintain_order="left")
        column[old["row"].to_numpy()] = old["trajectory"].to_numpy()
        new = np.full((int(fresh.sum()), len(self.entries) + 1), ABSENT, np.int32)
        new[:, -1] = crowd[fresh]
        people = users.filter(pl.Series(fresh)).alias("user")
        entry = LedgerEntry(sequence=self._next(), moment=_now(), people=len(users), **about)
        return replace(
            self,
            entries=(*self.entries, entry),
            people=pl.concat([self.people.alias("user"), people]),
            crowds=np.concatenate([np.column_stack([self.crowds, column]), new]),
        )

    def _next(self) -> int:
        return 1 + max((each.sequence for each in (*self.entries, *self.withdrawn)), default=0)

    def without(self, sequence: int) -> "Ledger":
        """Return the ledger without a release, as if that had never been.

        Raises
        ------
        ArgumentError
            If there is none of that number.
        """
        numbers = [each.sequence for each in self.entries]
        if sequence not in numbers:
            known = ", ".join(map(str, numbers)) or "none"
            raise ArgumentError(f"the ledger {self.path} has no release {sequence}; it has {known}")
        at = numbers.index(sequence)
        crowds = np.delete(self.crowds, at, axis=1)
        left = (crowds != ABSENT).any(axis=1)
        return replace(
            self,
            entries=(*self.entries[:at], *self.entries[at + 1 :]),
            people=self.people.filter(pl.Series(left)),
            crowds=crowds[left],
        )

    def withdraw(self, sequence: int) -> "Ledger":
        """Return the ledger without a release, which stays in the list of those withdrawn.

        That is right only if nobody outside has ever seen the release.
        """
        gone = next((each for each in self.entries if each.sequence == sequence), None)
        made = self.without(sequence)
        assert gone is not None  # noqa: S101  refused by `without`
        entry = replace(gone, withdrawn=_now())
        return replace(made, withdrawn=(*self.withdrawn, entry))

    def find(self, release: str | os.PathLike[str]) -> LedgerEntry | None:
        """Return the entry of a release on the disk, by the hash of its rows; None without one.

        Raises
        ------
        UnreadableError
            If it is no release.
        """
        _, rows = hashes_of(release)
        return next((each for each in self.entries if each.rows_sha256 == rows), None)

    def before(self, release: str | os.PathLike[str]) -> "Ledger":
        """Return the ledger as it was before a release that is to be replaced.

        Nothing changes if there is no such release, or the ledger does not know it.

        Raises
        ------
        ArgumentError
            If others came after it.
        """
        try:
            entry = self.find(release)
        except UnreadableError:
            return self
        if entry is None:
            return self
        if entry is not self.entries[-1]:
            raise ArgumentError(
                f"{release} is release {entry.sequence} of the ledger {self.path}, and later ones "
                "were made on it; only the last can be replaced. Choose a new name; if nobody has "
                f"ever seen it, incrowd ledger {self.path} --withdraw {entry.sequence} first"
            )
        return replace(self.without(entry.sequence), replaced=entry.sequence)

    def write(self, path: str | os.PathLike[str] | None = None, *, into: bool = False) -> None:
        """Write the file, whole or not at all; nobody but its owner may read it.

        `into` tells that the file is there already, empty and hidden, and that its maker cares for
        the rest.
        """
        header = {
            "version": VERSION,
            "incrowd": incrowd.__version__,
            "k": self.k,
            "releases": [asdict(each) for each in self.entries],
            "withdrawn": [asdict(each) for each in self.withdrawn],
            "digest": _digest(self.people, self.crowds),
        }
        columns = [
            pl.Series(_column(entry), self.crowds[:, at]) for at, entry in enumerate(self.entries)
        ]
        table = pl.DataFrame([self.people.alias("user"), *columns]).with_columns(
            pl.when(pl.col(each.name) >= 0).then(pl.col(each.name)).alias(each.name)
            for each in columns
        )
        about = {HEADER: json.dumps(header, default=str)}
        final = self.path if path is None else Path(path)
        whole_file = replacing(final, overwrite=True, private=True)
        with contextlib.nullcontext(final) if into else whole_file as part:
            try:
                table.write_parquet(part, metadata=about)
            except pl.exceptions.PolarsError as error:  # its own error for a full disk
                raise OSError(str(error)) from error

    def refuse_changed(self) -> None:
        """Refuse to go on from a file that is not as it was read: a release may have come between.

        Raises
        ------
        OutputError
            If the file has changed.
        """
        now = _hash(self.path.read_bytes()) if os.path.lexists(self.path) else None
        if now != self.on_disk:
            raise OutputError(
                f"the ledger {self.path} has changed since it was read: another release was "
                "entered, or one was withdrawn. Nothing was published; start again",
                file=self.path,
            )

    def _summary(self) -> Summary:
        facts = {
            "file": str(self.path),
            "k": f"{self.k:,}",
            "releases": f"{len(self.entries):,}",
            "people": f"{len(self.people):,}",
        }
        title = f"A ledger of {several(len(self.entries), 'release')}"
        return Summary(title, facts, notes=["It names everybody: do not share it."])


def hashes_of(release: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the hashes of a release by which a ledger knows it: of its manifest, of its rows.

    Raises
    ------
    UnreadableError
        If it is no release.
    """
    folder = Path(release)
    manifest = read_manifest(folder)
    rows = next((manifest.files[name] for name in TABLES if name in manifest.files), None)
    if not isinstance(rows, Mapping) or not isinstance(rows.get("sha256"), str):
        raise UnreadableError(f"{folder} is no release: its manifest names no rows", file=folder)
    return _hash((folder / MANIFEST).read_bytes()), rows["sha256"]


def _refuse_moved(file: Path) -> None:
    """Refuse to begin a ledger where one was, which a run that was killed has left elsewhere."""
    moved = sorted(file.absolute().parent.glob(f".{glob.escape(file.name)}.old-*"))
    if moved:
        raise UnreadableError(
            f"the ledger {file} is not there, but {moved[-1].name} beside it is, to which a run "
            f"moved it that was killed; rename it to {file.name}",
            file=file,
        )


def _parsed(file: Path, content: bytes, header: Mapping[str, Any]) -> Ledger:
    """Return the ledger of a file; whatever does not fit is an error of Python's or Polars'."""
    entries, withdrawn = (
        tuple(LedgerEntry(**each) for each in header[name]) for name in ("releases", "withdrawn")
    )
    table = pl.read_parquet(content)
    if table.columns != ["user", *map(_column, entries)]:
        raise ValueError("its columns are not those of its releases")
    users = table["user"]
    if users.dtype != pl.String or users.null_count() or users.n_unique() != len(users):
        raise ValueError("its people have no identifiers, or the same")
    matrix = table.drop("user").fill_null(ABSENT).cast(pl.Int32)
    crowds = np.ascontiguousarray(matrix.to_numpy(), np.int32).reshape(len(users), len(entries))
    if _digest(users, crowds) != header["digest"]:
        raise ValueError("its rows are not those that were written")
    numbers = [each.sequence for each in entries]
    if numbers != sorted(set(numbers)):
        raise ValueError("its releases are out of order")
    k = whole("k", header["k"], FEWEST)
    return Ledger(file, k, entries, users, crowds, withdrawn, _hash(content))


def _texts(people: pl.Series) -> pl.Series:
    """Return identifiers as text.

    They are read as numbers where all of them are whole numbers as one writes them, and as text in
    another month with one that is not: the text is the same.
    """
    if people.dtype == pl.String:
        return people
    if not people.dtype.is_integer():
        raise ArgumentError(f"identifiers must be text or whole numbers, not {people.dtype}")
    return people.cast(pl.String)


def _column(entry: LedgerEntry) -> str:
    return f"release_{entry.sequence}"


def _digest(people: pl.Series, crowds: Crowds) -> str:
    """Return a hash of who was in which crowd, whatever the file's encoding."""
    digest = hashlib.sha256(json.dumps(people.to_list()).encode())
    digest.update(np.ascontiguousarray(crowds, "<i4").data if crowds.size else b"")
    return digest.hexdigest()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
