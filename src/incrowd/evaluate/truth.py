"""Whether what the release says is true of the people in it.

Three questions, with the original and the private record at hand:

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
    beyond all that its members did, in x, y or t.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Ints
from incrowd.data.manifest import Manifest
from incrowd.evaluate.beside import Beside, Record, in_blocks
from incrowd.evaluate.kernels import ALL, examine
from incrowd.evaluate.members import stated_loss
from incrowd.evaluate.plain import is_plain
from incrowd.evaluate.verification import Check, failed, passed

__all__ = ["check_boxes", "check_coverage"]

UNCUT = ("union", "none")
"""The ways of reshaping that cut no sample in time."""


def check_coverage(beside: Beside, record: Record, manifest: Manifest) -> Check:
    """See whether every sample of a published person is held or counted as suppressed."""
    lengths = beside.original.lengths()
    published = np.repeat(record.crowd_of >= 0, lengths)
    samples, missed = int(published.sum()), int((record.missed & published).sum())
    stated = stated_loss(manifest, "samples_suppressed")
    thresholds = [manifest.settings.get(name) for name in ("max_space", "max_time", "at_most")]
    allowed = any(threshold is not None for threshold in thresholds)
    figures = {"samples": samples, "missed": missed, "stated": stated, "suppression": allowed}
    held = f"{samples - missed:,} of {samples:,} samples of published people lie in boxes of theirs"
    if missed and not allowed:
        says = f"Only {held}, although nothing was to be suppressed."
        return failed("coverage", says, figures)
    if stated is None:
        says = f"{held}; {missed:,} were suppressed (the manifest does not state how many)."
        return passed("coverage", says, figures)
    exact = not is_plain(manifest)
    if missed > stated or (stated and not allowed) or (exact and stated != missed):
        says = f"{held}; {missed:,} do not, and the manifest counts {stated:,} as suppressed."
        return failed("coverage", says, figures)
    tail = f"; the other {missed:,} are counted as suppressed" if missed else ""
    if stated > missed:
        tail += f" ({stated:,} are; {stated - missed:,} of them lie in another box all the same)"
    return passed("coverage", f"{held}{tail}.", figures)


def check_boxes(
    beside: Beside, record: Record, manifest: Manifest, progress: Callable[[int], None]
) -> tuple[Check, Check]:
    """See whether every box has a witness in every member, and all its edges from members."""
    published, original = beside.published, beside.original
    whole = manifest.settings.get("reshape") in UNCUT or is_plain(manifest)
    people = np.flatnonzero(record.crowd_of >= 0)
    members = people[np.argsort(record.crowd_of[people], kind="stable")]
    count = np.bincount(record.crowd_of[people], minlength=len(published.sizes))
    groups = np.concatenate([[0], np.cumsum(count)])
    longest = int((original.t1 - original.t0).max(initial=1))
    lacking, absent = (np.zeros(len(published.boxes), np.int32) for _ in range(2))
    edges = np.zeros(len(published.boxes), np.uint8)

    def work(first: int, last: int) -> None:
        examine(
            first, last, members, groups, original.columns, original.offsets, beside.shift,
            longest, published.boxes, published.cuts, int(whole), lacking, absent,
            edges,
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
    return witness, _edges(edges)


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
        says = f"Each of {boxes:,} published boxes holds a true sample of every one of its people."
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
    return passed("witness", f"{says}; cutting in time can do that.", figures)


def _edges(edges: NDArray[np.uint8]) -> Check:
    invented = int((edges != ALL).sum())
    figures = {"boxes": len(edges), "invented": invented}
    if invented:
        says = (
            f"{invented:,} of {len(edges):,} published boxes have an edge that comes from no "
            "sample of their people."
        )
        return failed("no invention", says, figures)
    says = (
        f"Every edge of {len(edges):,} published boxes, in space and time, is that of a true "
        "sample of one of their people."
    )
    return passed("no invention", says, figures)
