"""The checkpoint of a run: a journal of its merges.

GLOVE is decided by its input and its settings alone, so the merges done so far are all that has to
be kept; a run that was interrupted does them again without searching, and goes on from there. A
line of text says to which input, settings and version the merges belong (only settings that decide
who is merged: the boxes of the same crowds may be asked for in several ways); then follow records
of equal size, each with a checksum over all before it. What a crash cut short is left out.

Behind the merges stand the rounds in which crowds were refined: a record for everybody who moved
(who, where to, and 0 as the denominator), and one that ends the round (-1 for both).
"""

import contextlib
import hashlib
import json
import os
import struct
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import incrowd
from incrowd._atomic import reason_of
from incrowd.errors import ArgumentError, OutputError

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "Journal",
]


FORMAT = 1
RECORD = np.dtype(
    [("older", "<i4"), ("younger", "<i4"), ("top", "<i8"), ("bottom", "<i8"), ("check", "<u4")]
)
_BODY = RECORD.itemsize - 4


class Journal:
    """Merges on disk.

    Parameters
    ----------
    path
        The file. If it is there, it must belong to the same input, settings and version.
    data, settings
        The input, and what decides who is together.
    """

    def __init__(
        self, path: str | os.PathLike[str], data: "Trajectories", settings: dict[str, Any]
    ) -> None:
        self.path = Path(path)
        self._file: IO[bytes]
        head = {
            "kind": "incrowd checkpoint",
            "format": FORMAT,
            "incrowd": incrowd.__version__,
            "settings": settings,
            "input": fingerprint(data),
        }
        line = json.dumps(head, sort_keys=True).encode() + b"\n"
        self._check = zlib.crc32(line)
        self.found = self.rounds = np.empty(0, RECORD)
        try:
            # Not even its head is whole, if a crash or a full disk cut it short.
            if self.path.exists() and not line.startswith(self.path.read_bytes()):
                self._resume(line, len(data))
            else:
                self._begin(line)
        except OSError as error:
            raise OutputError(
                f"cannot write the checkpoint {self.path}: {reason_of(error)}", file=self.path
            ) from error

    def append(
        self,
        older: NDArray[np.int32],
        younger: NDArray[np.int32],
        top: NDArray[np.int64],
        bottom: NDArray[np.int64],
    ) -> None:
        """Write down merges, so that they survive whatever comes."""
        records = np.zeros(len(older), RECORD)
        records["older"], records["younger"] = older, younger
        records["top"], records["bottom"] = top, bottom
        content = bytearray(records.tobytes())
        for start in range(0, len(content), RECORD.itemsize):
            self._check = zlib.crc32(content[start : start + _BODY], self._check)
            struct.pack_into("<I", content, start + _BODY, self._check)
        try:
            self._file.write(content)
            self._sync()
        except OSError as error:
            raise OutputError(
                f"cannot go on writing the checkpoint {self.path}: {reason_of(error)}; what it "
                "holds so far is kept, and the same call goes on from there",
                file=self.path,
            ) from error

    def append_round(self, who: NDArray[np.int64], place: NDArray[np.int64]) -> None:
        """Write down a round: who moved, and to which crowd."""
        moved, crowd = (np.append(each, -1).astype(np.int32) for each in (who, place))
        nothing = np.zeros(len(moved), np.int64)
        self.append(moved, crowd, nothing, nothing)

    def repeat_rounds(self, place: NDArray[np.int64]) -> tuple[int, bool]:
        """Move people as the rounds did that were found.

        Gives how many rounds that were, and whether the last one has left everybody where she was:
        then there is nothing more to be gained.
        """
        moves = self.rounds[self.rounds["older"] >= 0]
        if len(moves) and moves["older"].max() >= len(place):
            raise ArgumentError(
                f"{self.path} is damaged: it tells of people who are not there. Remove it to "
                "start anew"
            )
        for who, where in zip(moves["older"].tolist(), moves["younger"].tolist(), strict=True):
            place[who] = where
        still = np.append(-1, self.rounds["older"])[-2:]
        return len(self.rounds) - len(moves), bool(len(self.rounds) and (still == -1).all())

    def close(self) -> None:
        """Close the file; it stays where it is."""
        # What could not be written was told when it was to be.
        with contextlib.suppress(OSError):
            self._file.close()

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def _begin(self, line: bytes) -> None:
        """Write the head; leave nothing if that fails."""
        self._file = open(self.path, "wb", opener=_for_its_owner)  # noqa: SIM115
        try:
            self._file.write(line)
            self._sync()
        except OSError:
            self.close()
            self.path.unlink(missing_ok=True)
            raise

    def _resume(self, line: bytes, people: int) -> None:
        """Read the records that are whole, and cut off the rest."""
        content = self.path.read_bytes()
        if not content.startswith(line):
            raise ArgumentError(
                f"{self.path} is {_whose(content)}; it cannot be resumed. Name another "
                "checkpoint, or remove this one to start anew"
            )
        start = len(line)
        while start + RECORD.itemsize <= len(content):
            body = content[start : start + _BODY]
            check = zlib.crc32(body, self._check)
            if struct.unpack_from("<I", content, start + _BODY)[0] != check:
                break
            self._check = check
            start += RECORD.itemsize
        records = np.frombuffer(content[len(line) : start], RECORD)
        merges = int(np.count_nonzero(records["bottom"] > 0))
        self.found = records[:merges]
        # A round counts when it is whole.
        ends = merges + np.flatnonzero(records["older"][merges:] == -1)
        whole = int(ends[-1]) + 1 if len(ends) else merges
        self.rounds = records[merges:whole]
        if whole < len(records):
            start = len(line) + whole * RECORD.itemsize
            self._check = int(records["check"][whole - 1]) if whole else zlib.crc32(line)
        if not _is_possible(self.found, people):
            raise ArgumentError(
                f"{self.path} is damaged: it tells of merges that cannot be. Remove it to start "
                "anew"
            )
        self._file = self.path.open("r+b")
        self._file.truncate(start)
        self._file.seek(start)


def _for_its_owner(path: str, flags: int) -> int:
    """Open a file that nobody else may read: it tells about the input."""
    return os.open(path, flags, 0o600)


def _is_possible(records: NDArray[Any], people: int) -> bool:
    """Tell whether every merge is of two who were there then, and everybody is merged once."""
    older, younger = records["older"].astype(np.int64), records["younger"].astype(np.int64)
    merged = np.concatenate([older, younger])
    return bool(
        np.all((older >= 0) & (older < younger) & (younger < people + np.arange(len(records))))
        and len(np.unique(merged)) == len(merged)
        and np.all((records["top"] >= 0) & (records["bottom"] > 0))
    )


def fingerprint(data: "Trajectories") -> str:
    """Give a hash of samples and crowds; not of the grid or identifiers, which decide nothing."""
    digest = hashlib.sha256()
    for column in (*data.columns, data.offsets, data.crowd):
        digest.update(np.ascontiguousarray(column).data)
    return digest.hexdigest()


def _whose(content: bytes) -> str:
    """Say what a file is that cannot be resumed."""
    try:
        head = json.loads(content.split(b"\n", 1)[0])
        if head["kind"] == "incrowd checkpoint":
            return "the checkpoint of another input, setting or version"
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    return "no checkpoint"
