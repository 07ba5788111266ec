"""`compare`: all columns, one after another; each is kept as soon as it is done."""

import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import incrowd
from incrowd._arguments import is_number, whole
from incrowd._atomic import replacing
from incrowd._hidden import temporary_folder
from incrowd._outside import outside
from incrowd.data._trajectories import Trajectories
from incrowd.data._zone import living_in, zone_or_utc
from incrowd.errors import ArgumentError, InputError, PrivacyWarning
from incrowd.evaluate._compare.column import Cell, Tell, measured_original, run_column
from incrowd.evaluate._compare.context import KNOWN, Settings
from incrowd.evaluate._compare.measure import Measure
from incrowd.evaluate._compare.measures import measures
from incrowd.evaluate._compare.methods import Column, K, columns_of
from incrowd.evaluate._compare.result import (
    DONE,
    ComparedRow,
    ComparedValue,
    Comparison,
)
from incrowd.evaluate._utility.summary import side_for
from incrowd.protect._mechanism import Mechanism

__all__ = [
    "TARGETS",
    "Kept",
    "compare",
    "fingerprint",
]


TARGETS = 500
"""How many people are attacked, drawn at random; all, if there are fewer."""
KEPT = "columns"
"""The folder of what is kept."""
ORIGINAL = "original"
Progress = Callable[[str, int, int], None]


def compare(
    data: Trajectories,
    methods: Sequence[str | Mechanism] | str | None = None,
    *,
    k: Sequence[int] | int = (K,),
    folder: str | Path | None = None,
    targets: int = TARGETS,
    seed: int = 0,
    tz: str | None = None,
    grid: float | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare mechanisms on one dataset: how private each is, how useful, and what it takes.

    Each mechanism is applied, its result is written and verified as by :func:`incrowd.publish`, and
    what was written is measured beside the original, all by the same rules. No release is left. One
    that fails, or refuses the data, ends only its own column. The result is for whoever has the
    data: it tells exact numbers, also of few people.

    Parameters
    ----------
    data
        The original: one person a trajectory.
    methods
        Mechanisms, or names with settings such as ``"generalise:1000m:30min"``, as ``incrowd
        compare --methods`` takes them, or one text of these with commas; unless given, every
        mechanism of `incrowd.MECHANISMS`, with the settings that it suggests.
    k
        The sizes of crowds: a column for each, of every method that has a k and names none.
    folder
        Where columns are kept as soon as they are done: the same call goes on from there. They are
        made anew where data, settings or version differ. Nothing is kept unless given.
    targets
        How many people are attacked, drawn at random.
    seed
        Of all draws but a mechanism's own.
    tz
        The zone in which it is night, like Africa/Abidjan. Unless given, the zone that the data was
        read with; if it was read with none, UTC is assumed, with a warning.
    grid
        The side of squares in km, for trips and people by hour; chosen by the size of the area
        unless given.
    threads, memory
        As for the mechanisms; all cores unless given.
    progress
        Called with what is being done, how much of it is done, and how much there is.

    Raises
    ------
    ArgumentError
        If a method or a setting is not known, or a column is there twice.
    InputError
        If the data is empty.
    OutputError
        If the disk is full, or the folder cannot be written.

    Warns
    -----
    PrivacyWarning
        For each column what :func:`incrowd.publish` warns of.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 7.3, table 2, figure 15.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=30, seed=7)
    >>> found = incrowd.compare(city, ["glove", incrowd.Generalise(minutes=60)], k=2)
    >>> [column.key for column in found.columns]
    ['glove:k=2', 'generalise:minutes=60']
    >>> found.values["glove:k=2"]["crowd"].value, found.values["glove:k=2"]["created"].value
    (2, 0.0)
    """
    columns = columns_of(methods, k)
    data = Trajectories.of(data)
    _refuse(data, grid)
    tz = zone_or_utc(tz, data)
    data = living_in(data, tz)
    settings = Settings(
        targets=whole("targets", targets, 1),
        seed=whole("seed", seed, 0),
        tz=tz,
        grid=side_for(data) if grid is None else float(grid),
        threads=threads,
    )
    about = fingerprint(data)
    kept = Kept(None if folder is None else Path(folder), about, settings)
    tell = progress or (lambda _what, _done, _total: None)
    cells: list[Cell] = []
    with kept.working() as work:
        before = kept.original(lambda: measured_original(data, settings, _named(tell, ORIGINAL)))
        for number, column in enumerate(columns, 1):
            named = _named(tell, f"{number} of {len(columns)}: {column.label}")
            cell = kept.find(column)
            if cell is None:
                named("protecting", 0, 1)
                cell = run_column(
                    column, data, settings, work, named, memory=memory,
                    checkpoint=kept.checkpoint(column),
                )  # fmt: skip
                kept.keep(column, cell)
            for text in cell.column.warnings:
                said = f"{column.label}: {text}"
                warnings.warn(said, PrivacyWarning, stacklevel=outside())
            named(cell.column.state, 1, 1)
            cells.append(cell)
    return _gathered(data, about, settings, cells, before)


def _refuse(data: Trajectories, grid: float | None) -> None:
    """Refuse what nothing could be compared on."""
    if not data.samples:
        raise InputError("there is nothing to compare on: the data has no samples")
    if bool(np.any(data.crowd != 1)):
        raise ArgumentError("the data must have one person a trajectory; this one has crowds")
    if grid is not None and not (is_number(grid) and 0 < grid < np.inf):
        raise ArgumentError(f"grid must be the side of squares in km, above 0, not {grid!r}")


def _named(tell: Tell, what: str) -> Tell:
    return lambda stage, done, total: tell(f"{what}: {stage[:1].lower()}{stage[1:]}", done, total)


def fingerprint(data: Trajectories) -> str:
    """Return a hash of everything in a dataset that decides what is measured of it."""
    digest = hashlib.sha256(repr(data.frame).encode())
    for column in (*data.columns, data.offsets):
        digest.update(np.ascontiguousarray(column).data)
    if data.place is not None:
        digest.update(np.ascontiguousarray(data.place).data)
    for name in data.people.cast(str).to_list():
        digest.update(f"{name}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class Kept:
    """Columns on disk, each in a file that is there whole or not at all."""

    def __init__(self, folder: Path | None, data: str, settings: Settings) -> None:
        self.folder = None if folder is None else folder / KEPT
        how = asdict(settings) | {"threads": None, "known": KNOWN}
        self._about = {
            "incrowd": incrowd.__version__,
            "data": data,
            "settings": how,
            "rows": [row.key for row in measures()],
        }
        if self.folder is not None:
            self.folder.mkdir(mode=0o700, exist_ok=True)

    def working(self) -> Any:
        """Give a folder for releases while they are measured; it is gone afterwards."""
        return temporary_folder(self.folder)

    def _key(self, what: dict[str, Any]) -> str:
        text = json.dumps(self._about | what, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def _file(self, key: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{key[:24]}.json"

    def _key_of(self, column: Column) -> str:
        return self._key({"column": column.key, "method": repr(column.mechanism)})

    def checkpoint(self, column: Column) -> Path | None:
        """Return where a mechanism that runs for long notes what it has done."""
        file = self._file(self._key_of(column))
        return None if file is None else file.with_suffix(".checkpoint")

    def find(self, column: Column) -> Cell | None:
        """Return what is kept of a column, if it was made of the same."""
        found = self._read(self._key_of(column))
        return None if found is None else Cell.from_dict(found)

    def keep(self, column: Column, cell: Cell) -> None:
        """Keep a column that is done; one that is not is tried again next time."""
        if cell.column.state == DONE:
            self._write(self._key_of(column), cell.as_dict())
        note = self.checkpoint(column)
        if note is not None:
            note.unlink(missing_ok=True)

    def original(self, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return what was measured of the original, and keep it."""
        key = self._key({"column": ORIGINAL})
        found = self._read(key)
        if found is None:
            found = {"values": {row: [*value] for row, value in make().items()}}
            self._write(key, found)
        return {row: tuple(value) for row, value in found["values"].items()}

    def _read(self, key: str) -> dict[str, Any] | None:
        file = self._file(key)
        if file is None:
            return None
        try:
            found = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            return None
        whole = isinstance(found, dict) and found.get("key") == key
        return found if whole else None

    def _write(self, key: str, found: dict[str, Any]) -> None:
        file = self._file(key)
        if file is not None:
            with replacing(file, overwrite=True, private=True) as part:
                part.write_text(json.dumps({"key": key} | found, allow_nan=False), "utf-8")


def _gathered(
    data: Trajectories,
    about: str,
    settings: Settings,
    cells: list[Cell],
    before: dict[str, tuple[float | None, str | None]],
) -> Comparison:
    """Put columns side by side, and mark the best of each row."""
    rows, values = measures(), dict[str, dict[str, ComparedValue]]()
    for cell in cells:
        known = cell.values
        why = f"{cell.column.state}: {cell.column.why}"
        values[cell.column.key] = {
            row.key: ComparedValue(*known.get(row.key, (None, why))) for row in rows
        }
    for row in rows:
        for key in _best(row, {key: of[row.key].value for key, of in values.items()}):
            values[key][row.key] = ComparedValue(values[key][row.key].value, None, best=True)
    return Comparison(
        made_with=f"incrowd {incrowd.__version__}",
        data={
            "people": len(data), "samples": data.samples, "cell": data.frame.cell,
            "slot": data.frame.slot, "hash": about,
        },
        settings=asdict(settings) | {"known": KNOWN},
        columns=tuple(cell.column for cell in cells),
        rows=tuple(
            ComparedRow(one.key, one.group, one.section, one.label, one.unit, one.better, one.help)
            for one in rows
        ),
        values=values,
        original={row: ComparedValue(value, why) for row, (value, why) in before.items()},
        curves={cell.column.key: cell.curves for cell in cells},
    )  # fmt: skip


def _best(row: Measure, found: dict[str, float | None]) -> list[str]:
    """Return the columns that no other one is better than, in rows where there is a better."""
    numbers = {key: value for key, value in found.items() if value is not None}
    if row.better is None or len(numbers) < 2:  # noqa: PLR2004 - one alone is not the best
        return []
    best = (min if row.better == "less" else max)(numbers.values())
    return [key for key, value in numbers.items() if value == best]
