"""Is what the release says true of the people in it; is everybody accounted for, nobody named.

Four questions, with the original and the private record at hand:

membership
    Is everybody of the original published once or counted as dropped, every published record
    somebody's, and no identifier of the input in the release?
coverage
    Is every sample of a published person held by a published box of hers, at every slot of its
    time, or counted as suppressed? A sample that was suppressed may lie in another box of hers by
    chance; it is not missed then. GLOVE does not count it as suppressed either, so the manifest
    must count just those that are missed. Other mechanisms count what they left out: no fewer.
witness
    Does every published box hold a sample of every member of its crowd? A sample is a witness if
    it lies in the box (for pieces cut in time: if its place lies in the box and its time meets the
    box's). All samples of a member count, those that were suppressed elsewhere too: what the box
    says of her is true because of any of them. Suppression takes away whole boxes and leaves the
    others as they were, so it takes no witness away. A piece that was cut in time need not have
    one; but every merged sample has a sample of every member, and a piece of it gets its whole
    place. So in the place of every box each member was at some time, however time was cut.
no invention
    Does every edge of a box come from a member's sample? In space from one whose place lies in the
    box and touches the edge from inside; in time from one that starts or ends then. Where nothing
    is cut in time, the sample must lie in the box in time too. It follows that no box reaches
    beyond all that its members did, in x, y or t. Where edges were rounded outwards to a coarser
    grid, within the last coarse cell, or slot, of each edge there must be such a sample's: a box
    reaches no farther than rounding explains.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd._disclosure import (
    NOT_SHOWN,
    PARTS,
    agrees,
    least_for,
    losses_to_tell,
    says_few,
)
from incrowd._numba import Ints
from incrowd.data._manifest import FACTS, MANIFEST, Manifest
from incrowd.data._trajectories import Trajectories
from incrowd.evaluate._verify._kernels import ALL, blocks_of, witnesses_and_edges
from incrowd.evaluate._verify.alignment import AlignedRelease, Record, in_blocks
from incrowd.evaluate._verify.promises import EdgeGrid, glove_settings, may_suppress
from incrowd.evaluate._verify.result import Check, failed, passed, several

__all__ = [
    "check_boxes",
    "check_coverage",
    "check_membership",
    "stated_loss",
]


_LOSSES = ("people_dropped", "samples_dropped")
_SHORT, _SHORT_DIGITS = 4, 10
"""Shorter identifiers (or shorter ones that could be digits of a number) occur by chance."""
_DIGITS = frozenset("0123456789abcdef")


def stated_loss(manifest: Manifest, name: str) -> int | None:
    """Give a loss as the manifest states it; None if it does not, or not as a whole number."""
    losses = manifest.losses if isinstance(manifest.losses, Mapping) else {}
    value = losses.get(name)
    return value if type(value) is int else None


def check_membership(
    aligned: AlignedRelease,
    record: Record,
    file: Path,
    manifest: Manifest,
    losses: Mapping[str, Any] | None = None,
) -> Check:
    """See whether everybody of the original is in the record once, and every record is somebody's.

    Losses are compared with what the manifest states: people who are not published, and their
    samples. Where few are lost, it states "fewer than 10" and must be true; the exact `losses` that
    the private record keeps are then compared as well. No identifier of the input may be a
    published name; a text of some length may not occur in the manifest or in the metadata of the
    rows' file either.
    """
    table, original = record.table, aligned.original
    users, names = original.people.cast(pl.String), aligned.published.people
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
        "torn_trajectories": _torn(aligned, table),
        "trajectories": table["trajectory"].drop_nulls().n_unique(),
        "people_dropped": int(dropped.sum()),
        "samples_dropped": int(original.lengths()[dropped].sum()),
        "identifiers_as_names": int(users.is_in(names.implode()).sum()),
        "identifiers_in_files": _named_in(_identifiers(original), _texts(file)),
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
    odd, unstated = _misstated(manifest, losses, figures)
    wrong += odd
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


def _misstated(
    manifest: Manifest, exact: Mapping[str, Any] | None, found: Mapping[str, int]
) -> tuple[list[str], list[str]]:
    """Compare what is lost with what the manifest states, and the private record.

    Give what is wrong, and the names of losses that are not stated at all.
    """
    wrong: list[str] = []
    unstated: list[str] = []
    told = manifest.losses if isinstance(manifest.losses, Mapping) else {}
    least = least_for(_stated_k(manifest))
    for name in _LOSSES:
        value = told.get(name)
        if type(value) is not int and not says_few(value):
            if value != NOT_SHOWN or not says_few(told.get("people_dropped")):
                unstated.append(name)
        elif not agrees(value, found[name], least):
            stated = f"{value:,}" if isinstance(value, int) else value
            what = name.replace("_", " ")
            wrong.append(f"the manifest states {what} {stated}, found {found[name]:,}")
    if exact is not None:
        may_tell = losses_to_tell(exact, least)
        wrong += [
            f"{name.replace('_', ' ')} of the manifest is not what the private record keeps"
            for name in (*_LOSSES, *PARTS)
            if told.get(name) not in (exact.get(name), may_tell.get(name))
        ]
        wrong += [
            f"the private record keeps {name.replace('_', ' ')} {exact[name]:,}, found "
            f"{found[name]:,}"
            for name in _LOSSES
            if type(exact.get(name)) is int and exact[name] != found[name]
        ]
    known = told if exact is None else exact
    # Without a ledger nobody is held back, and nothing is stated.
    *parts, held_back = (known.get(name) for name in PARTS)
    counts = [part for part in (*parts, held_back or 0) if type(part) is int]
    if len(counts) == len(PARTS) and sum(counts) != found["people_dropped"]:
        held = " (and held back)" if held_back else ""
        wrong.append(f"people left over and people emptied{held} do not add up to those dropped")
    return wrong + _impossible(manifest, *map(_at_least, parts)), unstated


def _stated_k(manifest: Manifest) -> Any:
    return manifest.settings.get("k") if isinstance(manifest.settings, Mapping) else None


def _at_least(value: Any) -> int | None:
    """Return the smallest count that a stated value can be; None if it states none."""
    if says_few(value):
        return 1
    return value if type(value) is int else None


def _impossible(manifest: Manifest, left_over: int | None, emptied: int | None) -> list[str]:
    """Find losses of people that GLOVE cannot have with the settings that the manifest states."""
    settings = glove_settings(manifest)
    k, variant, wrong = settings.get("k"), settings.get("variant"), []
    if left_over and variant == "loose":
        wrong.append(f"{left_over:,} people are left over, and the loose variant leaves nobody")
    elif settings.get("diverse") is not None:
        pass  # they may have too few homes for a crowd: see `check_diversity`
    elif left_over and variant == "strict" and type(k) is int and left_over >= k:
        wrong.append(f"{left_over:,} people are left over, who are a crowd of {k} by themselves")
    limits = [settings.get(name) for name in ("max_space", "max_time")]
    if emptied and variant is not None and limits == [None, None]:
        wrong.append(f"{emptied:,} people are emptied, although nothing was to be suppressed")
    return wrong


def _torn(aligned: AlignedRelease, table: pl.DataFrame) -> int:
    """Count trajectories of the record whose people are not published with identical records."""
    crowds = {"person": aligned.published.people, "crowd": aligned.published.crowd_of}
    placed = table.join(pl.DataFrame(crowds), on="person", how="inner")
    each = placed.group_by("trajectory").agg(pl.col("crowd").n_unique())
    return int((each["crowd"] > 1).sum())


def _texts(file: Path) -> list[bytes]:
    """Give the bytes of the manifest, the fact sheet and a Parquet file's metadata."""
    beside = (file.parent / name for name in (MANIFEST, FACTS))
    texts = [text.read_bytes() for text in beside if text.is_file()]
    if file.suffix == ".parquet":
        with file.open("rb") as rows:
            # A Parquet file ends with its metadata, their length and four letters.
            rows.seek(-8, 2)
            length = int.from_bytes(rows.read(4), "little")
            rows.seek(-8 - length, 2)
            texts.append(rows.read(length))
    return texts


def _identifiers(original: Trajectories) -> pl.Series:
    """Return how people are called, and all identifiers that they were read under."""
    people = original.people.cast(pl.String)
    persons = None if original.reading is None else original.reading.persons
    if persons is None:
        return people
    return pl.concat([people.alias("user"), persons.table["user"]]).unique()


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


def check_coverage(
    aligned: AlignedRelease, record: Record, manifest: Manifest, *, exact: bool
) -> Check:
    """See whether every sample of a published person is held or counted as suppressed.

    `exact` tells that just those are counted that are missed.
    """
    lengths = aligned.original.lengths()
    published = np.repeat(record.crowd_of >= 0, lengths)
    samples, missed = int(published.sum()), int((record.missed & published).sum())
    stated = stated_loss(manifest, "samples_suppressed")
    allowed = may_suppress(manifest, stated)
    figures = {"samples": samples, "missed": missed, "stated": stated, "suppression": allowed}
    held = f"{samples - missed:,} of {samples:,} samples of published people lie in boxes of theirs"
    if missed and not allowed:
        says = f"Only {held}, although nothing was to be suppressed."
        return failed("coverage", says, figures)
    if stated is None:
        says = f"{held}; {missed:,} were suppressed (the manifest does not state how many)."
        return passed("coverage", says, figures)
    if missed > stated or (stated and not allowed) or (exact and stated != missed):
        says = f"{held}; {missed:,} do not, and the manifest counts {stated:,} as suppressed."
        return failed("coverage", says, figures)
    tail = f"; the other {missed:,} are counted as suppressed" if missed else ""
    if stated > missed:
        tail += f" ({stated:,} are; {stated - missed:,} of them lie in another box all the same)"
    return passed("coverage", f"{held}{tail}.", figures)


def check_boxes(
    aligned: AlignedRelease, record: Record, progress: Callable[[int], None], *, cut: bool,
    grid: EdgeGrid,
) -> tuple[Check, Check]:  # fmt: skip
    """See whether every box has a witness in every member, and all its edges from members.

    `cut` tells that boxes may be pieces that were cut in time; `grid`, to what edges were rounded.
    """
    published, original = aligned.published, aligned.original
    whole = not cut
    people = np.flatnonzero(record.crowd_of >= 0)
    members = people[np.argsort(record.crowd_of[people], kind="stable")]
    count = np.bincount(record.crowd_of[people], minlength=len(published.sizes))
    groups = np.concatenate([[0], np.cumsum(count)])
    longest = int((original.t1 - original.t0).max(initial=1))
    blocks, sides = blocks_of(original.columns, original.offsets)
    lacking, absent = (np.zeros(len(published.boxes), np.int32) for _ in range(2))
    edges = np.zeros(len(published.boxes), np.uint8)

    def work(first: int, last: int) -> None:
        witnesses_and_edges(
            first, last, members, groups, original.columns, original.offsets, aligned.shift,
            longest, blocks, sides, published.boxes, published.cuts, int(whole), grid.wide,
            grid.long, lacking, absent, edges,
        )  # fmt: skip

    for _ in in_blocks(len(published.sizes), work, progress):
        pass
    # A record that is nobody's has no witness at all.
    nobody = np.repeat(published.sizes - count, np.diff(published.cuts))
    witness = _witness(
        published.sizes,
        published.cuts,
        nobody + lacking.astype(np.int64),
        nobody + absent.astype(np.int64),
        whole=whole,
    )
    return witness, _edges(edges, grid)


def _witness(sizes: Ints, cuts: Ints, lacking: Ints, absent: Ints, *, whole: bool) -> Check:
    boxes, unseen = len(lacking), lacking > 0
    number, never = int(unseen.sum()), int((absent > 0).sum())
    rows = np.repeat(sizes, np.diff(cuts))
    figures = {
        "boxes": boxes,
        "unwitnessed": number,
        "share": number / boxes,
        "rows": int(rows.sum()),
        "unwitnessed_rows": int(lacking.sum()),
        "never_there": never,
        "must_hold": whole,
    }
    if not number:
        says = f"{_each(boxes)} holds a true sample of every one of its people."
        return passed("witness", says, figures)
    if never and not whole:
        says = (
            f"{never:,} of {boxes:,} published boxes ({never / boxes:.2%}) state a place at which "
            "one of their people or more never was; cutting in time cannot do that."
        )
        return failed("witness", says, figures)
    says = (
        f"{number:,} of {boxes:,} published boxes ({number / boxes:.2%}) state a place and time "
        "at which one of their people or more was not seen"
    )
    if whole:
        return failed("witness", f"{says}, which this way of reshaping rules out.", figures)
    says += "; cutting in time can do that, and no check rules it out."
    return Check("witness", ok=True, says=says, figures=figures, noted=True)


def _each(boxes: int) -> str:
    return "The one published box" if boxes == 1 else f"Each of {boxes:,} published boxes"


def _edges(edges: NDArray[np.uint8], grid: EdgeGrid) -> Check:
    invented = int((edges != ALL).sum())
    figures = {"boxes": len(edges), "invented": invented}
    if invented:
        rounded = f", also when that is rounded outwards to {grid.words}" if grid.words else ""
        says = (
            f"{invented:,} of {len(edges):,} published boxes have an edge that comes from no "
            f"sample of their people{rounded}."
        )
        return failed("no invention", says, figures)
    rounded = f", rounded outwards to {grid.words}" if grid.words else ""
    says = (
        f"Every edge of {several(len(edges), 'published box', 'published boxes')}, in space and "
        f"time, is that of a true sample of one of their people{rounded}."
    )
    return passed("no invention", says, figures)
