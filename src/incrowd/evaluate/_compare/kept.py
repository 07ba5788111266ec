"""Columns on disk, so that an interrupted comparison goes on: each in a file, whole or not there.

A file is named by all that decides what is in it: data, settings, version, rows, mechanism.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import incrowd
from incrowd._atomic import replacing, writing_error
from incrowd._hidden import temporary_folder
from incrowd.data._trajectories import Trajectories
from incrowd.evaluate._compare.column import Cell
from incrowd.evaluate._compare.context import KNOWN, Settings
from incrowd.evaluate._compare.measures import measures
from incrowd.evaluate._compare.methods import Column
from incrowd.evaluate._compare.result import DONE

__all__ = ["KEPT", "ORIGINAL", "Kept", "fingerprint"]


KEPT = "columns"
"""The folder of what is kept."""
ORIGINAL = "original"


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
        how = settings.as_dict() | {"known": KNOWN}
        self._about = {
            "incrowd": incrowd.__version__,
            "data": data,
            "settings": how,
            "rows": [row.key for row in measures(settings.rows)],
        }
        if self.folder is not None:
            try:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise writing_error(self.folder, error) from error

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
