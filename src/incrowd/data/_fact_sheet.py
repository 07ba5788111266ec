"""The fact sheet of a release: what its recipient needs to read, use and verify it.

It is made from the manifest and nothing else, so that it tells no more about the original.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields as dataclass_fields
from types import SimpleNamespace
from typing import Any

from incrowd._format import duration, length
from incrowd._visible import visible_in

__all__ = [
    "fact_sheet",
    "losses_in_words",
    "settings_in_words",
]

Rows = list[tuple[str, str]]

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


SETTINGS = {
    "k": "people per record, at least (k)",
    "variant": "variant",
    "merge": "how the samples of a crowd become boxes",
    "crowds": "who is together: as merged (greedy), or exchanged from there on (refined)",
    "refine_rounds": "rounds of exchanges, at most",
    "reshape": "samples that overlap in time",
    "max_space": "samples are left out that would be wider than",
    "max_time": "samples are left out that would be longer than",
    "diverse": "distinct homes in every crowd, at least, the width of their squares, and the zone",
    "stretch": "a sample counts as lost entirely from this growth on, and weights of both",
    "suppress": "what is suppressed: larger boxes, or samples that were stretched more",
    "suppress_price": "price of deleting a sample (1: what a kept one loses at most)",
    "suppress_at_most": "share of samples that may be deleted",
    "edges": "edges of samples are rounded outwards to",
    "price_found": "price of deleting a sample that keeps to this share",
    "ledger_k": "people whom releases of the same ledger leave in common, at least",
    "ledger_spare": "by how many people new crowds are larger than k",
    "version": "version of incrowd",
    "epsilon": "epsilon: how much noise, the smaller the more",
    "unit": "unit of epsilon",
    "noise": "where the noise comes from",
    "at_most": "samples go at places that so many people visited, or fewer",
    "minutes": "times are blurred to, in minutes",
    "metres": "positions are blurred to, in metres",
    "k_together": "trajectories in one cylinder at all times, at least",
    "delta": "diameter of a cylinder, in metres",
    "radius_max": "largest distance in a cluster at first, in metres, as asked for",
    "radius_first": "largest distance in a cluster at first, in metres",
    "radius_reached": "largest distance in a cluster in the end, in metres",
    "trash": "share of the people who may be left out",
    "cap": "the most that a step between two points costs, in units of delta",
    "chunked": "clusters are made in chunks of similar people",
    "mean_moved_metres": "points were moved in space by, on average, in metres",
    "mean_moved_seconds": "points were moved in time by, on average, in seconds",
}
LOSSES = {
    "people_dropped": "people left out, in all",
    "people_left_over": "of these: left over at the end, too few people, or homes, for a crowd",
    "people_emptied": "of these: none of their samples was left",
    "people_held_back": "of these: left out because of earlier releases",
    "samples_dropped": "samples of people who were left out",
    "people_joined_late": "people left over at the end, who joined a crowd of the others",
    "samples_suppressed": "samples of others left out",
    "samples_unmatched": "samples without a match, also if they lie in another published sample",
    "boxes_suppressed": "published samples left out, because they would have become too large",
    "samples_collapsed": "samples that became equal to another of the same person, and one with it",
    "places_collapsed": "of these: samples that had named another place",
    "places_filtered": "places whose samples were left out",
    "samples_same_time": "of these: another of the same person is in the same time slot",
    "samples_created": "published points that repeat a sample that was used already",
    "samples_deleted": "samples of published people that no published point was made of",
    "samples_created_net": "points by which records are longer than their originals, in all",
    "samples_deleted_net": "points by which records are shorter than their originals, in all",
    "samples_clamped": "samples whose noise left the map, moved back to its edge",
}
IDENTICAL = (
    "One row is one sample: it states that the person was in the rectangle at some time from start "
    "to end. People with identical records are a crowd."
)
CHANGED = (
    "One row is one sample as the method left it, which is said above: where it moves or blurs "
    "samples, the person need not have been in the rectangle."
)


def fact_sheet(manifest: Any) -> str:
    """Return the fact sheet of a release as Markdown.

    Parameters
    ----------
    manifest
        The release's manifest.
    """
    # Nothing that a manifest holds may begin a line of its own, or turn the direction of others.
    names = [one.name for one in dataclass_fields(manifest)]
    manifest = SimpleNamespace(**{name: visible_in(getattr(manifest, name)) for name in names})
    frame = manifest.frame
    table = next((name for name in manifest.files if name.startswith("trajectories")), "the rows")
    sizes = [(NAMES.get(name, name), value) for name, value in _items(manifest.sizes)]
    columns = [(f"`{name}`", text) for name, text in COLUMNS.items()]
    settings = [
        *settings_in_words(dict(_items(manifest.settings)), frame),
        *losses_in_words(dict(_items(manifest.losses))),
    ]
    row = IDENTICAL if manifest.guarantee == "k-anonymity" else CHANGED
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

{row} The rows of a person are in the order of time; the order of people is random.

Plane of x and y: `{frame.get("crs")}`. Sides are multiples of {_plain(frame.get("cell"))} m, times
of {_plain(frame.get("slot"))} s.

## Settings and losses

{_table("setting or loss", "value", settings)}

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


def settings_in_words(settings: Mapping[str, Any], frame: Mapping[str, Any]) -> Rows:
    """Return settings of a mechanism, and the grid, by their names in words and with units."""
    cell, slot = frame.get("cell"), frame.get("slot")
    sizes: dict[str, str] = {}
    if isinstance(cell, int | float) and isinstance(slot, int | float):
        wide, long, stretch = (settings.get(n) for n in ("max_space", "max_time", "stretch"))
        if isinstance(wide, int):
            sizes["max_space"] = length(wide * cell)
        if isinstance(long, int):
            sizes["max_time"] = duration(long * slot / 60)
        if isinstance(stretch, Mapping) and isinstance(stretch.get("max_space"), int):
            sizes["stretch"] = (
                f"{length(stretch['max_space'] * cell)}, "
                f"{duration(stretch.get('max_time', 0) * slot / 60)}; "
                f"{stretch.get('space_weight', 1)} to {stretch.get('time_weight', 1)}"
            )
    return [
        *(
            (SETTINGS.get(name, name), sizes.get(name) or _plain(value))
            for name, value in settings.items()
            if value is not None
        ),
        ("grid", f"cells of {_plain(cell)} m, slots of {_plain(slot)} s"),
    ]


def losses_in_words(losses: Mapping[str, Any]) -> Rows:
    """Return what was lost, by its name in words."""
    return [(LOSSES.get(name, name), _plain(value)) for name, value in losses.items()]


def _items(values: Any) -> list[tuple[str, Any]]:
    return [(str(n), v) for n, v in values.items()] if isinstance(values, Mapping) else []


def _table(first: str, second: str, rows: Sequence[tuple[str, Any]]) -> str:
    lines = [(first, second), ("---", "---"), *((name, _plain(value)) for name, value in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _list(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _plain(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value).replace("|", "\\|")
