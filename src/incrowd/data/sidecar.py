"""The grid that travels with a file, so that reading what was written gives the same boxes.

A Parquet file carries it in its metadata. A CSV file has no place for it, so it lies beside, as
``NAME.frame.json``; without it, reading chooses a grid about the data's centre, as for any file.
"""

from pathlib import Path

from incrowd.data.frame import Frame
from incrowd.data.parquet import FRAME, metadata_of
from incrowd.errors import InputError

__all__ = ["frame_of", "sidecar"]


def sidecar(path: Path) -> Path:
    """Give the name of the file that holds the grid of a CSV file."""
    return path.with_name(f"{path.name}.frame.json")


def frame_of(path: Path) -> Frame | None:
    """Give the grid that travels with a file, or None."""
    if path.suffix.lower() in (".parquet", ".pq"):
        text = metadata_of(path).get(FRAME)
        return None if text is None else Frame.from_json(text)
    beside = sidecar(path)
    if not beside.is_file():
        return None
    try:
        return Frame.from_json(beside.read_text("utf-8"))
    except (InputError, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{beside}: {error}; remove it to read {path.name} without it") from error
