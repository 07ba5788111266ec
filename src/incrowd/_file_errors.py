"""What other libraries raise while a file is read, as an error of incrowd that names the file.

::

    reading_file(path)        around whatever reads a file: OSError, Arrow, Polars, DuckDB, ...
    read_text, read_json      small documents: of a size that they can have, and of text that can be
                              written again

Libraries raise what they like of a damaged file, and not always the same. Every reader has one of
these at its border, so that whoever calls it needs to know our errors only.
"""

import contextlib
import csv
import errno
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from incrowd.errors import IncrowdError, InputError, OutputError, UnreadableError

__all__ = [
    "MOST_TEXT",
    "foreign_error",
    "is_foreign",
    "read_json",
    "read_text",
    "reading_file",
]


MOST_TEXT = 1 << 26
"""Bytes that a document of text may have: 64 MB, far more than any has that incrowd writes."""
_LIBRARIES = ("_duckdb", "duckdb", "polars", "pyarrow", "pyo3_runtime", "pyproj")
_DAMAGE = (
    OSError,
    EOFError,
    OverflowError,
    RecursionError,
    UnicodeError,
    csv.Error,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What Python's own library raises of files."""
_DOCUMENT = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What is raised of a document whose values are not what they should be."""
_LONGEST = 300
"""Letters of what a library says."""


@contextlib.contextmanager
def reading_file(
    path: str | os.PathLike[str] | None, what: str = "", *, document: bool = False
) -> Iterator[None]:
    """Turn what other libraries raise into an error that names the file.

    Errors of incrowd stay what they are; one about the input learns the file, if it names none.

    Parameters
    ----------
    path
        The file; None for a table in memory.
    what
        What it is, as in "the private record".
    document
        Whether values of any other kind are damage as well: KeyError, TypeError and the like.

    Raises
    ------
    UnreadableError
        If the file cannot be read, or is damaged.
    OutputError
        If a disk is full, which temporary files need.

    Examples
    --------
    >>> from incrowd._file_errors import reading_file
    >>> with reading_file("calls.parquet"):
    ...     raise EOFError("ended early")
    Traceback (most recent call last):
    incrowd.errors.UnreadableError: cannot read calls.parquet: ended early
    """
    try:
        yield
    except IncrowdError as error:
        if isinstance(error, InputError) and error.file is None and path is not None:
            error.file = os.fspath(path)
        raise
    except BaseException as error:
        if is_foreign(error) or (document and isinstance(error, _DOCUMENT)):
            raise foreign_error(error, path, what) from error
        raise


def is_foreign(error: BaseException) -> bool:
    """Return whether an error comes from a library that reads files."""
    # Polars ends in a panic at times, which is no Exception; it is told by where it comes from.
    kinds = type(error).__mro__
    libraries = any(kind.__module__.partition(".")[0] in _LIBRARIES for kind in kinds)
    return libraries or isinstance(error, (*_DAMAGE, MemoryError))


def foreign_error(
    error: BaseException, path: str | os.PathLike[str] | None, what: str = ""
) -> InputError | OutputError:
    """Return the error of incrowd that says what a library has raised of a file."""
    name, text = f"{what} {path or ''}".strip() or "the data", str(error)
    if getattr(error, "errno", None) == errno.ENOSPC or "No space left" in text:
        first = " ".join(text.split())[:_LONGEST]
        return OutputError(f"the disk is full, and temporary files need space on it ({first})")
    if type(error).__name__ == "OutOfMemoryException":
        first = text.partition("\n")[0]
        return InputError(
            f"the memory limit is too low for this data; raise it ({first})", file=path
        )
    return UnreadableError(f"cannot read {name}: {_in_words(error)}", file=path)


def _in_words(error: BaseException) -> str:
    """Return what a library says, as one line that can be printed."""
    for kind, said in (
        (FileNotFoundError, "there is no such file"),
        (PermissionError, "permission denied"),
        (RecursionError, "its values are nested too deeply"),
        (
            MemoryError,
            "it asks for more memory than there is; it is damaged, or too large for this machine",
        ),
    ):
        if isinstance(error, kind):
            return said
    words = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror and not error.strerror.isspace():
        words = error.strerror
    elif isinstance(error, KeyError):
        words = f"it has no {words}"
    elif "invalid state" in words:  # as DuckDB says it
        words = "lines differ in their CSV format (mixed line endings, or unbalanced quotes)"
    for start in ("Invalid Input Error: ", "IO Error: "):
        words = words.removeprefix(start)
    words = "".join(letter if letter.isprintable() else "\ufffd" for letter in words)
    shown = words if len(words) <= _LONGEST else f"{words[:_LONGEST]} ..."
    return shown or f"it is damaged ({type(error).__name__})"


def read_text(path: str | os.PathLike[str], what: str, *, most: int = MOST_TEXT) -> str:
    """Return a document of text in UTF-8.

    Raises
    ------
    UnreadableError
        If it is missing, larger than such a document can be, or not text.
    """
    with reading_file(path, what), Path(path).open("rb") as file:
        content = file.read(most + 1)
        if len(content) > most:
            raise UnreadableError(
                f"cannot read {what} {path}: it is larger than {most:,} bytes, and no such file is",
                file=path,
            )
        return content.decode("utf-8")


def read_json(path: str | os.PathLike[str], what: str, *, text: str | bytes | None = None) -> Any:
    r"""Return what a document of JSON says; its texts can be written and printed again.

    Parameters
    ----------
    path
        The file.
    what
        What it is, as in "the manifest".
    text
        What it says, where that is read already.

    Raises
    ------
    UnreadableError
        If it is missing, too large or damaged; or holds half a character, as ``"\ud800"`` is.
    """
    said = read_text(path, what) if text is None else text
    with reading_file(path, what, document=True):
        found = json.loads(said)
        # A lone surrogate is in no text that can be written: not on a terminal, nor to a file.
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found
