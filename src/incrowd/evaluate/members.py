"""Whether everybody is accounted for, and nobody is named."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.data.manifest import MANIFEST, Manifest
from incrowd.evaluate.beside import Beside, Record
from incrowd.evaluate.verification import Check, failed, passed, several

__all__ = ["check_membership", "stated_loss"]

_LOSSES = ("people_dropped", "samples_dropped")
_SHORT, _SHORT_DIGITS = 4, 10
"""Shorter identifiers (or shorter ones that could be digits of a number) occur by chance."""
_DIGITS = frozenset("0123456789abcdef")


def stated_loss(manifest: Manifest, name: str) -> int | None:
    """Give a loss as the manifest states it; None if it does not, or not as a whole number."""
    losses = manifest.losses if isinstance(manifest.losses, Mapping) else {}
    value = losses.get(name)
    return value if type(value) is int else None


def check_membership(beside: Beside, record: Record, file: Path, manifest: Manifest) -> Check:
    """See whether everybody of the original is in the record once, and every record is somebody's.

    Losses are compared with what the manifest states: people who are not published, and their
    samples. No identifier of the input may be a published name; a text of some length may not occur
    in the manifest or in the metadata of the rows' file either.
    """
    table, original = record.table, beside.original
    users, names = original.people.cast(pl.String), beside.published.people
    persons = table["person"].drop_nulls()
    dropped = record.crowd_of < 0
    figures: dict[str, Any] = {
        "people": len(users),
        "not_in_record": len(users) - int(users.is_in(table["user"].implode()).sum()),
        "in_record_twice": len(table) - table["user"].n_unique(),
        "unknown_in_record": int((~table["user"].is_in(users.implode())).sum()),
        "names_of_two": len(persons) - persons.n_unique(),
        "names_of_nobody": len(names) - int(names.is_in(persons.implode()).sum()),
        "names_not_published": int((~persons.is_in(names.implode())).sum()),
        "torn_trajectories": _torn(beside, table),
        "trajectories": table["trajectory"].drop_nulls().n_unique(),
        "people_dropped": int(dropped.sum()),
        "samples_dropped": int(original.lengths()[dropped].sum()),
        "identifiers_as_names": int(users.is_in(names.implode()).sum()),
        "identifiers_in_files": _named_in(original.people, _texts(file)),
    }
    sentences = {
        "not_in_record": "{:,} people of the original are not in the record",
        "in_record_twice": "{:,} lines of the record repeat a person",
        "unknown_in_record": "{:,} people of the record are not in the original",
        "names_of_two": "{:,} published records are said to be of two people",
        "names_of_nobody": "{:,} published records are nobody's",
        "names_not_published": "{:,} names of the record are not published",
        "torn_trajectories": "{:,} crowds of the record do not have one record in common",
        "identifiers_as_names": "{:,} identifiers of the input are published as names",
        "identifiers_in_files": "{:,} identifiers of the input occur in the release",
    }
    wrong = [text.format(figures[name]) for name, text in sentences.items() if figures[name]]
    unstated = []
    for name in _LOSSES:
        stated = stated_loss(manifest, name)
        if stated is None:
            unstated.append(name)
        elif stated != figures[name]:
            what = name.replace("_", " ")
            wrong.append(f"the manifest states {what} {stated:,}, found {figures[name]:,}")
    parts = [stated_loss(manifest, name) for name in ("people_left_over", "people_emptied")]
    known = [part for part in parts if part is not None]
    if len(known) == len(parts) and sum(known) != figures["people_dropped"]:
        wrong.append("people left over and people emptied do not add up to those dropped")
    wrong += _impossible(manifest, *parts)
    crowds = manifest.sizes.get("trajectories")
    if crowds != figures["trajectories"]:
        wrong.append(f"the manifest states {crowds} crowds, the record {figures['trajectories']:,}")
    if wrong:
        text = "; ".join(wrong)
        return failed("membership", f"{text[:1].upper()}{text[1:]}.", figures)
    said = f" (the manifest does not state {' and '.join(unstated)})" if unstated else ""
    says = (
        f"Each of {len(users):,} people is published once, or counted as dropped: "
        f"{figures['people_dropped']:,} {'person' if figures['people_dropped'] == 1 else 'people'} "
        f"with {several(figures['samples_dropped'], 'sample')}"
        f"{said}; no identifier of the input is a name, or stands as text in the manifest or "
        "the metadata."
    )
    return passed("membership", says, figures)


def _impossible(manifest: Manifest, left_over: int | None, emptied: int | None) -> list[str]:
    """Find losses of people that GLOVE cannot have with the settings that the manifest states."""
    settings = manifest.settings
    k, variant, wrong = settings.get("k"), settings.get("variant"), []
    if left_over and variant == "loose":
        wrong.append(f"{left_over:,} people are left over, and the loose variant leaves nobody")
    elif left_over and variant == "strict" and type(k) is int and left_over >= k:
        wrong.append(f"{left_over:,} people are left over, who are a crowd of {k} by themselves")
    limits = [settings.get(name) for name in ("max_space", "max_time")]
    if emptied and variant is not None and limits == [None, None]:
        wrong.append(f"{emptied:,} people are emptied, although nothing was to be suppressed")
    return wrong


def _torn(beside: Beside, table: pl.DataFrame) -> int:
    """Count trajectories of the record whose people are not published with identical records."""
    crowds = {"person": beside.published.people, "crowd": beside.published.crowd_of}
    placed = table.join(pl.DataFrame(crowds), on="person", how="inner")
    each = placed.group_by("trajectory").agg(pl.col("crowd").n_unique())
    return int((each["crowd"] > 1).sum())


def _texts(file: Path) -> list[bytes]:
    """Give the bytes of the manifest and of a Parquet file's metadata."""
    texts = [(file.parent / MANIFEST).read_bytes()]
    if file.suffix == ".parquet":
        with file.open("rb") as rows:
            # A Parquet file ends with its metadata, their length and four letters.
            rows.seek(-8, 2)
            length = int.from_bytes(rows.read(4), "little")
            rows.seek(-8 - length, 2)
            texts.append(rows.read(length))
    return texts


def _named_in(people: pl.Series, texts: list[bytes]) -> int:
    """Count identifiers that occur in texts, those aside that would do so by chance."""
    told = [name.encode() for name in people.cast(pl.String).to_list() if _is_telling(name)]
    found: set[bytes] = set()
    for length in sorted(set(map(len, told))):
        alike = {name for name in told if len(name) == length}
        for text in texts:
            found |= alike & {text[i : i + length] for i in range(len(text) - length + 1)}
    return len(found)


def _is_telling(name: str) -> bool:
    return len(name) >= (_SHORT_DIGITS if set(name) <= _DIGITS else _SHORT)
