"""What a release says about itself, and whether what lies on the disk is what it says.

`read_release` opens a release and checks every file against the manifest; `amend_release` adds
what a verifier found, or a report.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import incrowd
from incrowd._atomic import replacing_all
from incrowd._file_errors import read_json, reading_file
from incrowd._renames import settle, tidy
from incrowd.errors import ArgumentError, UnreadableError

__all__ = [
    "FACTS",
    "FILES",
    "MANIFEST",
    "MOMENT",
    "PAGE",
    "SCHEMA",
    "TABLES",
    "Manifest",
    "ReleaseFiles",
    "amend_release",
    "read_manifest",
    "read_release",
    "seal",
    "settle_release",
]


VERSION = 1
"""The version of the layout; one that is not known is not read."""
RELEASE = "incrowd release"
MANIFEST, PAGE, FACTS = "manifest.json", "report.html", "fact-sheet.md"
TABLES = ("trajectories.parquet", "trajectories.csv")
FILES = (*TABLES, FACTS, PAGE)
"""What a release can consist of, beside its manifest: one table, a fact sheet, and a report."""
_KINDS: Mapping[str, Any] = {
    "incrowd": str,
    "method": str,
    "settings": dict,
    "frame": dict,
    "sizes": dict,
    "losses": dict,
    "holds_against": list,
    "fails_against": list,
    "names": str,
    "files": dict,
    "verified": dict | None,
    "guarantee": str | None,
    "explanation": list,
    "sha256": str | None,
}
"""Of what kind the fields of a manifest are."""
MOMENT = pl.Datetime("ms", "UTC")
NUMBERS = ("x_min", "x_max", "y_min", "y_max", "lon", "lat")
SCHEMA = pl.Schema(
    [
        ("person", pl.String()),
        ("t_start", MOMENT),
        ("t_end", MOMENT),
        *((name, pl.Float64()) for name in NUMBERS),
    ]
)
"""The columns of a release: UTC, metres in the plane that the manifest names, degrees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a release says about itself.

    Attributes
    ----------
    method, settings
        How the trajectories were made.
    frame
        The plane (crs), the side of a cell in metres and the length of a slot in seconds.
    sizes
        People, samples (rows), distinct trajectories, and the smallest crowd.
    losses
        What had to be dropped or blurred.
    holds_against, fails_against
        The threats that the method claims to withstand, and those that it does not.
    names
        Where the names of people come from.
    files
        Size and SHA-256 of every file beside the manifest.
    verified
        What a verifier found; None until one has looked. Without it, every claim is the maker's.
    guarantee
        The name of what the method guarantees: ``"k-anonymity"``, ``"none"``, or another that the
        verifier knows. None in manifests that were written before it was stated; the verifier
        then infers it from the settings.
    explanation
        What was done to the data, in plain sentences. Empty in manifests written before.
    sha256
        Of all of the above, as `to_json` wrote it, so that a change of the manifest itself shows.
    """

    kind: str = RELEASE
    version: int = VERSION
    incrowd: str = incrowd.__version__
    method: str
    settings: Mapping[str, Any]
    frame: Mapping[str, Any]
    sizes: Mapping[str, int]
    losses: Mapping[str, Any]
    holds_against: Sequence[str]
    fails_against: Sequence[str]
    names: str
    files: Mapping[str, Mapping[str, Any]]
    verified: Mapping[str, Any] | None = None
    guarantee: str | None = None
    explanation: Sequence[str] = field(default_factory=list)
    sha256: str | None = field(default=None, compare=False)

    def to_json(self) -> str:
        """Give all of it, sealed by its own hash, as text for people to read as well.

        The same manifest gives the same text: a file that differs in any byte was changed.
        """
        fields = asdict(self) | {"sha256": None}
        # Left out where nothing is stated, so that older manifests give their own text back.
        for name in ("guarantee", "explanation"):
            if not fields[name]:
                del fields[name]
        digest = hashlib.sha256(_text(fields).encode()).hexdigest()
        return _text(fields | {"sha256": digest})


@dataclass(frozen=True, slots=True)
class ReleaseFiles:
    """A release as found on the disk, its hashes checked.

    Attributes
    ----------
    path
        Its directory.
    manifest
        What it says about itself.
    table
        Its rows, read when they are collected, with the columns of `SCHEMA`.
    """

    path: Path
    manifest: Manifest
    table: pl.LazyFrame


def read_release(path: str | os.PathLike[str]) -> ReleaseFiles:
    """Open a release and check that it is whole: every file that its manifest names, unchanged.

    Raises
    ------
    UnreadableError
        If it is no release, of a version that is not known, incomplete, or changed.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    _check_seals(folder, manifest.files)
    name = next((name for name in TABLES if name in manifest.files), None)
    if name is None:
        raise UnreadableError(f"{folder} is incomplete: there are no trajectories", file=folder)
    with reading_file(folder / name, "the trajectories"):
        if name.endswith(".parquet"):
            # What is said of the rows beside them is not relied on.
            table = pl.scan_parquet(folder / name, use_statistics=False)
        else:
            text = SCHEMA | dict.fromkeys(("t_start", "t_end"), pl.String())
            table = pl.scan_csv(folder / name, schema=text).with_columns(
                pl.col("t_start", "t_end").str.to_datetime("%+", time_unit="ms", time_zone="UTC")
            )
        found = table.collect_schema()
    if found != SCHEMA:
        raise UnreadableError(f"{folder}: the columns must be {dict(SCHEMA)}, not {dict(found)}")
    return ReleaseFiles(folder, manifest, table)


def amend_release(
    path: str | os.PathLike[str],
    *,
    verified: Mapping[str, Any] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> Manifest:
    """Add to a release what a verifier found, or files such as a report, and note it.

    The rows stay as they are. All files are replaced, or none is.
    """
    folder, added = Path(path), dict(files or {})
    for name in added:
        if name != PAGE:
            raise ArgumentError(f"{name!r} cannot be added to a release; only {PAGE} can")
    manifest = read_manifest(folder)
    kept = {name: known for name, known in manifest.files.items() if name not in added}
    _check_seals(folder, kept)
    fresh = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in added.items()
    }
    manifest = replace(manifest, files=kept | fresh, verified=verified or manifest.verified)
    new = {**added, MANIFEST: manifest.to_json().encode()}
    with replacing_all([folder / name for name in new], at=folder, overwrite=True) as parts:
        for part, content in zip(parts, new.values(), strict=True):
            part.write_bytes(content)
    return manifest


def seal(path: Path) -> dict[str, Any]:
    """Give the size and the hash of a file."""
    with reading_file(path), path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def _check_seals(folder: Path, seals: Mapping[str, Any]) -> None:
    """Refuse files that are missing or are not those that were released."""
    here = {entry.name for entry in folder.iterdir()}
    for name, expected in seals.items():
        file = folder / name
        if name not in here or not file.is_file():
            raise UnreadableError(f"{folder} is incomplete: {name} is missing")
        if seal(file) != expected:
            raise UnreadableError(
                f"{file} is not the file that was released (its SHA-256 differs); "
                "ask for the release again"
            )


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """Read the manifest of a release and nothing else; no file is checked against it."""
    folder = Path(path)
    settle_release(folder)
    file = folder / MANIFEST
    if file.exists() and not file.is_file():
        raise UnreadableError(f"cannot read {file}: it is no file")
    if not file.exists():
        raise UnreadableError(f"{folder} is no release: there is no {MANIFEST} in it", file=file)
    fields = read_json(file, "the manifest")
    if not isinstance(fields, dict) or fields.get("kind") != RELEASE:
        raise UnreadableError(f"{folder} is no release: {file} is not the manifest of one")
    if fields.get("version") != VERSION:
        raise UnreadableError(
            f"{folder} is a release of version {fields.get('version')!r}; this incrowd reads "
            f"version {VERSION}"
        )
    try:
        manifest = Manifest(**fields)
    except TypeError as error:
        raise UnreadableError(f"{file} is damaged: {error}", file=file) from error
    for name, kinds in _KINDS.items():
        if not isinstance(value := getattr(manifest, name), kinds):
            raise UnreadableError(
                f"{file} is damaged: its {name} cannot be {str(value)[:60]!r}", file=file
            )
    if not all(isinstance(known, dict) for known in manifest.files.values()):
        raise UnreadableError(f"{file} is damaged: a file of it has no size or hash", file=file)
    return manifest


def settle_release(folder: Path) -> None:
    """Finish, or undo, what a killed process had begun to do to a release or in it."""
    settle(folder)
    if folder.is_dir():
        tidy(folder / MANIFEST, folder / PAGE)


def _text(fields: Mapping[str, Any]) -> str:
    try:
        return json.dumps(fields, indent=2, allow_nan=False, default=_plain) + "\n"
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"settings and losses must be plain values: {error}") from error


def _plain(value: Any) -> Any:
    """Give the plain number behind one of numpy's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is not")
