"""A release: the directory that is published.

::

    release/
      trajectories.parquet   a record for each person (or trajectories.csv)
      manifest.json          what was done, what was lost, what holds, and the hash of every file
      report.html            where one was added

A trajectory that stands for a crowd becomes as many identical records, each under a fresh random
name. Records are sorted by name, so that their order is as random as the names. Identifiers of
the input are never looked at here, nor are its paths, its clock or its order: what a release says
about the input is what its boxes, its settings and its losses say. The times of its files tell
when it was made, which is no secret.

`write_release` gives the names of each trajectory back, so that whoever may know can keep a
private record of who became whom (`write_record`), outside the release.
"""

import contextlib
import json
import os
import secrets
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from incrowd._atomic import replacing
from incrowd._format import people as _people
from incrowd._outside import outside
from incrowd.data._columns import samples_of
from incrowd.data._fact_sheet import fact_sheet
from incrowd.data._manifest import FACTS, MANIFEST, MOMENT, SCHEMA, Manifest, seal
from incrowd.data._original import ORIGINAL
from incrowd.data._parquet import KIND
from incrowd.errors import ArgumentError, PlaceError, PrivacyWarning, UnreadableError

if TYPE_CHECKING:
    from incrowd.data._io.persons import Persons
    from incrowd.data._original import OriginalReading
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "recorded_losses",
    "write_record",
    "write_release",
]


LOSSES = "incrowd.losses"
"""The key of the record's metadata under which exact losses are kept."""
NAME_BYTES = 8
ROWS = 1 << 19
"""How many rows are written at a time, which bounds the memory needed."""
UNNAMED = ("any threat: the maker of this release names none that it protects against",)


def write_release(
    path: str | os.PathLike[str],
    trajectories: "Trajectories",
    *,
    method: str,
    settings: Mapping[str, Any],
    losses: Mapping[str, Any],
    holds_against: Sequence[str] = (),
    fails_against: Sequence[str] = UNNAMED,
    guarantee: str | None = None,
    explanation: Sequence[str] = (),
    format: str = "parquet",  # noqa: A002  the word that users know
    seed: int | None = None,
    into: bool = False,
) -> tuple[Manifest, pl.DataFrame]:
    """Write a release, whole or not at all; a directory that is there already is never replaced.

    Parameters
    ----------
    path
        The directory to make.
    trajectories
        What to publish; `crowd` says for how many people each one stands. Their identifiers are
        not used.
    method, settings, losses
        What was done and what it cost, for the manifest. They are published as they are: leave
        out whatever names the input or anyone in it, and small counts of people
        (`incrowd._disclosure.losses_to_tell`, as `publish` does).
    holds_against, fails_against
        The threats that the method withstands, and those that it does not. Nothing is claimed
        unless it is said here.
    guarantee
        The name of what the method guarantees, such as ``"k-anonymity"`` or ``"none"``. Unless it
        is stated, the verifier infers it from the settings.
    explanation
        What was done to the data, in plain sentences that may be published.
    format
        ``"parquet"`` or ``"csv"``.
    seed
        For tests only: names that can be guessed. The manifest says so.
    into
        Whether the directory is there already, empty and hidden, and its maker cares for the rest.

    Returns
    -------
    The manifest, and a private table (trajectory, person) of the names under which each
    trajectory was published. The table must not be published.

    Warns
    -----
    PrivacyWarning
        If somebody stands alone, or if the names are seeded.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from incrowd.data._frame import Frame, laea
    >>> from incrowd.data._manifest import read_release
    >>> from incrowd.data._release import write_release
    >>> from incrowd.data._trajectories import Trajectories
    >>> box = [np.array([side], np.int32) for side in (0, 2, 0, 3, 10, 15)]
    >>> pair = Trajectories(tuple(box), np.array([0, 1]), Frame(laea(7.5, -5.5)),
    ...                     crowd=np.array([2], np.int32))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manifest, names = write_release(f"{folder}/release", pair, method="by hand",
    ...                                     settings={"k": 2}, losses={"people": 0})
    ...     read_release(f"{folder}/release").table.collect().shape
    (2, 9)
    >>> manifest.sizes
    {'people': 2, 'samples': 2, 'trajectories': 1, 'smallest_crowd': 2}
    """
    if format not in ("parquet", "csv"):
        raise ArgumentError(f"the format must be 'parquet' or 'csv', not {format!r}")
    _check(trajectories)
    crowd = trajectories.crowd.astype(np.int64)
    if crowd.min() == 1:
        alone = int((crowd == 1).sum())
        _warn(f"k = 1: {alone} of {crowd.sum()} people have a record that nobody shares")
    if seed is not None:
        _warn("seeded names can be guessed; this is a test and no release")
    owner = np.repeat(np.arange(len(crowd)), crowd)
    names = _names(len(owner), seed)
    frame = trajectories.frame
    manifest = Manifest(
        method=method,
        settings=settings,
        frame={"crs": frame.crs, "cell": frame.cell, "slot": frame.slot},
        sizes={
            "people": len(owner),
            "samples": int((crowd * trajectories.lengths()).sum()),
            "trajectories": len(crowd),
            "smallest_crowd": int(crowd.min()),
        },
        losses=losses,
        holds_against=list(holds_against),
        fails_against=list(fails_against),
        names="random" if seed is None else "seeded, not for release",
        files={},
        guarantee=guarantee,
        explanation=list(explanation),
    )
    manifest.to_json()  # what cannot be written must fail before the work is done
    with contextlib.nullcontext(Path(path)) if into else replacing(path, directory=True) as part:
        rows = part / f"trajectories.{format}"
        order = np.argsort(names)
        write = _write_parquet if format == "parquet" else _write_csv
        write(rows, _batches(trajectories, owner[order], _hex(names[order])))
        manifest = replace(manifest, files={rows.name: seal(rows)})
        facts = part / FACTS
        facts.write_text(fact_sheet(manifest), encoding="utf-8")
        manifest = replace(manifest, files={**manifest.files, FACTS: seal(facts)})
        (part / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    table = {"trajectory": owner.astype(np.int32), "person": _hex(names)}
    return manifest, pl.DataFrame(table)


def write_record(
    path: str | os.PathLike[str],
    assignment: pl.DataFrame,
    names: pl.DataFrame,
    reading: "OriginalReading | None" = None,
    persons: "Persons | None" = None,
    losses: Mapping[str, Any] | None = None,
    *,
    into: bool = False,
) -> None:
    """Write the private record of who became whom: user, trajectory, person (null: dropped).

    The user is the person that the data counts. Where she has several identifiers, a fourth column,
    identifiers, lists them as text.

    Members of a crowd have identical records, so which of its names each one gets says nothing.
    The file is for its owner's eyes (mode 0600) and is refused inside a release.

    Parameters
    ----------
    path
        The Parquet file to write.
    assignment
        The columns user and trajectory (null: dropped).
    names
        What `write_release` gave.
    reading
        How the original was read, to be kept in the file's metadata.
    persons
        Who is behind the identifiers, where a table or a column said it.
    losses
        What was lost, exactly, to be kept there as well: the manifest does not tell small counts.
    into
        Whether the file is there already, empty and hidden, and its maker cares for the rest.
    """
    final = Path(path)
    if (final.absolute().parent / MANIFEST).exists():
        raise ArgumentError(f"{final} lies in a release; the private record must stay outside")
    keys = ["trajectory", "member"]
    member = pl.int_range(pl.len()).over("trajectory").alias("member")
    placed = assignment.with_columns(pl.col("trajectory").cast(pl.Int32), member)
    record = placed.join(names.with_columns(member), on=keys, how="left", maintain_order="left")
    lost = record.filter(pl.col("trajectory").is_not_null() & pl.col("person").is_null())
    if len(lost):
        raise ArgumentError(f"{_people(len(lost))} of the assignment without a name in the release")
    with contextlib.nullcontext(final) if into else replacing(final, private=True) as part:
        kept = {} if reading is None else {ORIGINAL: reading.to_json()}
        kept |= {} if losses is None else {LOSSES: json.dumps(dict(losses), default=int)}
        record = record.select("user", "trajectory", "person")
        if persons is not None:
            record = record.with_columns(persons.of(record["user"])["identifiers"])
        record.write_parquet(part, metadata=kept)


def recorded_losses(record: Any) -> dict[str, Any] | None:
    """Return what was lost, exactly, as a private record's file has it; None if it does not say.

    Raises
    ------
    UnreadableError
        If what it says is damaged.
    """
    if not isinstance(record, str | os.PathLike):
        return None
    try:
        text = (pq.read_metadata(record).metadata or {}).get(LOSSES.encode())
        found = None if text is None else json.loads(text)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise UnreadableError(f"cannot read the private record {record}: {error}") from error
    if found is not None and not isinstance(found, dict):
        raise UnreadableError(f"the private record {record} is damaged: its losses have no names")
    return found


def _check(trajectories: "Trajectories") -> None:
    if trajectories.frame.crs is None:
        raise ArgumentError(
            "a release needs positions on earth; these boxes lie on a grid without a crs"
        )
    if not len(trajectories):
        raise ArgumentError("there is nothing to release: no trajectory was left")
    empty = np.flatnonzero(trajectories.lengths() == 0)
    if len(empty):
        raise ArgumentError(f"trajectory {empty[0]} has no sample; leave it out and count the loss")


def _warn(text: str) -> None:
    warnings.warn(text, PrivacyWarning, stacklevel=outside())


def _names(number: int, seed: int | None) -> npt.NDArray[np.uint64]:
    """Draw distinct names, from the operating system's entropy unless seeded."""
    draw = secrets.token_bytes if seed is None else np.random.default_rng(seed).bytes
    while True:
        names = np.frombuffer(draw(NAME_BYTES * number), np.uint64)
        if len(np.unique(names)) == number:
            return names


def _hex(names: npt.NDArray[np.uint64]) -> pl.Series:
    # Fixed length makes the order of the text that of the numbers.
    return pl.Series("person", [f"{name:0{2 * NAME_BYTES}x}" for name in names.tolist()])


def _batches(
    trajectories: "Trajectories", owner: npt.NDArray[np.int64], names: pl.Series
) -> Iterator[pl.DataFrame]:
    """Give the rows of the records, some at a time: record i has trajectory `owner[i]`."""
    frame, lengths = trajectories.frame, trajectories.lengths()[owner]
    batch = (np.cumsum(lengths) - lengths) // ROWS
    starts = np.flatnonzero(np.diff(batch, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(owner)], strict=True):
        row, _ = samples_of(owner[start:end], trajectories.offsets)
        x0, x1, y0, y1, t0, t1 = (column[row] for column in trajectories.columns)
        sides = [frame.metres(side) for side in (x0, x1, y0, y1)]
        degrees = frame.degrees((sides[0] + sides[1]) / 2, (sides[2] + sides[3]) / 2)
        if not np.isfinite(degrees).all():
            raise PlaceError("the centre of a box lies outside the projection; nothing was written")
        moments = [pl.Series(frame.times(t).astype("datetime64[ms]")) for t in (t0, t1)]
        columns: list[Any] = [
            names[start:end].gather(np.repeat(np.arange(end - start), lengths[start:end])),
            *(moment.dt.replace_time_zone("UTC") for moment in moments),
            *sides,
            *(np.round(degree, 6) for degree in degrees),
        ]
        yield pl.DataFrame(dict(zip(SCHEMA, columns, strict=True)))


def _write_parquet(path: Path, batches: Iterator[pl.DataFrame]) -> None:
    kinds = {pl.String: pa.string(), MOMENT: pa.timestamp("ms", "UTC"), pl.Float64: pa.float64()}
    fields = [pa.field(name, kinds[dtype], nullable=False) for name, dtype in SCHEMA.items()]
    schema = pa.schema(fields)
    # Without statistics: people are in a random order, and what is not written tells nothing.
    with pq.ParquetWriter(
        path, schema, compression="zstd", store_schema=False, write_statistics=False
    ) as writer:
        for batch in batches:
            writer.write_table(batch.to_arrow().cast(schema))
        writer.add_key_value_metadata({KIND: b"release"})


def _write_csv(path: Path, batches: Iterator[pl.DataFrame]) -> None:
    iso = pl.col("t_start", "t_end").dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    with path.open("wb") as file:
        for batch in batches:
            batch.with_columns(iso).write_csv(file, include_header=file.tell() == 0)
