"""How much memory reading may use, and a DuckDB connection that keeps to its share of it."""

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd._atomic import disk_error, reason_of
from incrowd._file_errors import foreign_error
from incrowd._hidden import temporary_folder
from incrowd.errors import ArgumentError, InputError, OutputError

__all__ = [
    "MORE",
    "Memory",
    "duckdb_connection",
    "temporary_full",
]


_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_BASE = 340 * 10**6
"""What Python and its libraries take before any data, and rows on their way between them."""
_START = 300 * 10**6
"""What Python and its libraries take, alone."""
_BEYOND = 1.25
"""How much more than its limit DuckDB takes: what it frees comes back late."""
_LEAST = 800 * 10**6
MORE = "raise the limit (memory=, --memory), or read fewer people or days"
"""What helps where a limit is too low."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A limit in bytes, shared between DuckDB and the rows that wait to be sorted."""

    limit: int

    @classmethod
    def of(cls, given: str | float | None) -> "Memory":
        """Take a limit such as "4GB", or bytes; None is three quarters of the machine's."""
        if given is None:
            return cls(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4)
        match = re.fullmatch(r"\s*([\d.]+)\s*([kmg]i?b)?\s*", str(given).lower())
        try:
            limit = int(float(match[1]) * _UNITS[match[2] or ""]) if match else 0
        except ValueError:
            limit = 0
        if limit < _LEAST:
            raise ArgumentError(
                f"the memory limit must be a size of at least 800MB, like 4GB, not {given!r}"
            )
        return cls(limit)

    @property
    def for_duckdb(self) -> int:
        """The bytes that DuckDB may take."""
        return min(max(self.limit // 5, 200 * 10**6), 4 * 10**9)

    @property
    def for_notes(self) -> int:
        """The bytes that DuckDB may take besides, for notes of lines that it cannot parse."""
        return min(self.for_duckdb // 2, 10**9)

    @property
    def for_rows(self) -> int:
        """The bytes that rows that wait to be sorted may take."""
        return self.limit - int(_BEYOND * self.for_duckdb) - _BASE

    @property
    def for_samples(self) -> int:
        """The bytes that the samples may take, once they are sorted and DuckDB has less to do."""
        return self.limit - self.for_duckdb - _START

    def refuse_below(self, need: int, path: Path) -> None:
        """Refuse a file that needs more bytes than there are, before it is read."""
        if need + _BASE > self.limit:
            raise InputError(
                f"{path}: the samples need {(need + _BASE) / 1e9:.1f} GB, and the memory limit is "
                f"{self.limit / 1e9:.1f} GB; {MORE}",
                file=path,
                hint=MORE,
            )


@contextlib.contextmanager
def duckdb_connection(
    memory: Memory, threads: int, folder: str | os.PathLike[str] | None
) -> Iterator[Any]:
    """Open a DuckDB that spills into a temporary folder; its errors become incrowd's."""
    import duckdb

    if folder is not None and not Path(folder).is_dir():
        raise ArgumentError(f"the folder for temporary files does not exist: {folder}")
    with _spill(folder) as spill:
        connection = duckdb.connect(
            config={
                "threads": threads,
                "memory_limit": f"{memory.for_duckdb}B",
                "temp_directory": str(spill),
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        try:
            # Lets the scan go on while Python works on the batch before.
            connection.execute("SET streaming_buffer_size = '64MB'")
            # Long queries would draw a bar on standard output, among the results.
            connection.execute("SET enable_progress_bar = false")
            # What a Parquet file says of its rows may be wrong: every row is looked at.
            connection.execute("SET disabled_optimizers = 'filter_pushdown,statistics_propagation'")
            yield connection
        except duckdb.Error as error:
            # Input is only read: what cannot be written is a temporary file.
            full = disk_error(error)
            if full is not None or "max_temp_directory_size" in str(error):
                raise temporary_full(spill.parent, full or OSError(errno.ENOSPC, "")) from error
            raise foreign_error(error, None) from error
        finally:
            connection.close()


@contextlib.contextmanager
def _spill(folder: str | os.PathLike[str] | None) -> Iterator[Path]:
    with contextlib.ExitStack() as made:
        try:
            place = made.enter_context(temporary_folder(folder))
        except OSError as error:
            where = "there is no folder for temporary files" if folder is None else f"{folder}"
            hint = "name a folder that can be written with --temp-dir (temp_dir=), or set TMPDIR"
            raise OutputError(f"{where}: {reason_of(error)}; {hint}", hint=hint) from error
        yield place


def temporary_full(folder: str | os.PathLike[str], error: OSError) -> OutputError:
    """Return an error that says that temporary files could not be written, and where."""
    hint = "make room there, or name another folder with --temp-dir (temp_dir=)"
    return OutputError(
        f"cannot write temporary files in {folder}: {reason_of(error)}; {hint}",
        hint=hint,
        file=folder,
    )
