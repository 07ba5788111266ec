"""The fact sheet of a release: what its recipient needs to read, use and verify it.

It is made from the manifest and nothing else, so that it tells no more about the original.
"""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["fact_sheet"]

COLUMNS = {
    "person": "random name of the person; it says nothing about her, and stands in no other data",
    "t_start, t_end": "start and end of the sample, UTC; the end is not part of it",
    "x_min, x_max, y_min, y_max": "sides of the rectangle, in metres in the plane named below",
    "lon, lat": "centre of the rectangle, in degrees (WGS 84)",
}
NAMES = {
    "people": "people, each with a record",
    "samples": "rows",
    "trajectories": "distinct records",
    "smallest_crowd": "people who share the rarest record",
}


def fact_sheet(manifest: Any) -> str:
    """Return the fact sheet of a release as Markdown.

    Parameters
    ----------
    manifest
        The release's manifest.
    """
    frame = manifest.frame
    table = next((name for name in manifest.files if name.startswith("trajectories")), "the rows")
    sizes = [(NAMES.get(name, name), value) for name, value in _items(manifest.sizes)]
    columns = [(f"`{name}`", text) for name, text in COLUMNS.items()]
    settings = [*_items(manifest.settings), *_items(manifest.losses)]
    return f"""\
# Fact sheet

What is in this release, how it was made, and what to keep in mind. Made from `manifest.json` by
incrowd {manifest.incrowd}.

## What it is

{" ".join(manifest.explanation)}
Method: {manifest.method}. Guarantee: {manifest.guarantee or "see the settings"}.

{_table("size", "number", sizes)}

## Columns of `{table}`

{_table("column", "meaning", columns)}

One row is one sample: it states that the person was in the rectangle at some time from start to
end. People with identical records are a crowd. The rows of a person are in the order of time; the
order of people is random.

Plane of x and y: `{frame.get("crs")}`. Sides are multiples of {_plain(frame.get("cell"))} m, times
of {_plain(frame.get("slot"))} s.

## Settings and losses

{_table("name", "value", [(name, value) for name, value in settings if value is not None])}

## What it protects against

{_list(manifest.holds_against or ["nothing is claimed"])}

## What it does not protect against

{_list(manifest.fails_against)}

Do not try to recognise anybody, and do not link the release with other data about people.

## How to verify it

With incrowd installed, `incrowd verify FOLDER` on this folder checks that its files are intact and
its records shared as promised.

Hashes of the files stand in `manifest.json`.
"""


def _items(values: Any) -> list[tuple[str, Any]]:
    return [(str(n), v) for n, v in values.items()] if isinstance(values, Mapping) else []


def _table(first: str, second: str, rows: Sequence[tuple[str, Any]]) -> str:
    lines = [(first, second), ("---", "---"), *((name, _plain(value)) for name, value in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _list(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value).replace("|", "\\|")
