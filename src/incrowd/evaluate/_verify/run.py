"""`verify`: look at a written release as an outsider would, and say what holds.

Nothing here is shared with what makes releases; only reading files is. Checks build on each other:
where one fails, those that could not mean anything then are not made.

::

    files ──> rows ──> sizes, names                         every release
                │
                ├──> guarantee: k-anonymity, promise, ...   the release alone, by what it guarantees
                ├──> linkage                                with the original
                └──> membership, coverage,                  with the original and the private
                     witness, no invention, diversity       record
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._progress import Stages
from incrowd.data._frame import Frame
from incrowd.data._manifest import Manifest, read_manifest
from incrowd.data._original import as_recorded, refuse_other_original
from incrowd.data._release import recorded_losses
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, IncrowdError, UnreadableError
from incrowd.evaluate._verify.alignment import (
    BLOCKS,
    AlignedRelease,
    align,
    match_record,
    read_record,
)
from incrowd.evaluate._verify.diversity import check_diversity, check_stated, promises_homes
from incrowd.evaluate._verify.guarantees import (
    GUARANTEES,
    LEAST,
    Guarantee,
    guarantee_of,
    unknown_guarantee,
)
from incrowd.evaluate._verify.integrity import (
    check_files,
    check_names,
    check_rows,
    check_sizes,
    rows_file,
)
from incrowd.evaluate._verify.linkage import check_linkage
from incrowd.evaluate._verify.people import PEOPLE, check_people, names_identifiers
from incrowd.evaluate._verify.promises import EdgeGrid, edge_grid
from incrowd.evaluate._verify.result import SEEDED, Check, Verification, failed
from incrowd.evaluate._verify.rows import Published, load
from incrowd.evaluate._verify.truthfulness import check_boxes, check_coverage, check_membership

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "verify",
]


def verify(
    path: str | os.PathLike[str],
    *,
    original: Trajectories | Callable[[Frame], Trajectories] | None = None,
    record: str | os.PathLike[str] | Any = None,
    k: int | None = None,
    draws: int = 2500,
    points: int = 10,
    seed: int | None = None,
    losses: Mapping[str, Any] | None = None,
    progress: Callable[..., None] | None = None,
) -> Verification:
    """Verify a written release, from its files alone or with the original.

    The release is only read. What is claimed depends on what was given: with the files alone, that
    they are whole and every record is shared by k people; with the original, that knowing true
    samples of a person leaves k records; with the private record as well, that the release is true.

    Parameters
    ----------
    path
        The directory of the release.
    original
        The trajectories from which it was made, on the same grid; or a function that is given the
        grid of the release and reads them.
    record
        The private record of who became whom: its Parquet file, or a frame (user, trajectory,
        person).
    k
        How many people must share each record; what the manifest states unless given. Data that
        was filtered, cloaked, generalised or made noisy promises no k: unless one is given, such
        a release is verified for what it does promise, and `claims` says that this is no
        anonymity. A release that states a guarantee which is not known does not pass.
    draws, points
        How often an adversary is tried for each number of samples that she knows, and up to how
        many; she is also tried with everything that there is of a person.
    seed
        Makes the trials repeatable.
    losses
        The exact losses, which the manifest does not tell where they are of few people; those that
        the file of the private record keeps, unless given.
    progress
        Called with the steps done and the number of all.

    Returns
    -------
    Verification
        `ok` tells whether it holds; `checks` what was found, one by one.

    Raises
    ------
    UnreadableError
        If the directory is no release.
    ArgumentError
        If no k is known where there must be one, or the original lies on another grid.

    Examples
    --------
    >>> import tempfile
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hidden = incrowd.glove(city, k=2)
    ...     _ = incrowd.publish(hidden, f"{folder}/release", original=city, draws=50)
    ...     found = incrowd.verify(f"{folder}/release")
    >>> found.ok, found.scope
    (True, 'the files alone')
    >>> found["k-anonymity"].figures["smallest"]
    2
    """
    _refuse_numbers(k, draws, points)
    if record is not None and original is None:
        original = as_recorded(record)
    table = None if record is None else read_record(record)
    losses = recorded_losses(record) if losses is None else losses
    folder = Path(path)
    manifest = read_manifest(folder)
    checks = {"files": check_files(folder, manifest)}
    guarantee = guarantee_of(manifest)
    if not checks["files"].ok:
        why = "the files are not those released"
        return _verified(folder, manifest, guarantee, k or 0, checks, why)
    if guarantee is None:
        checks["guarantee"] = unknown_guarantee(manifest)
        return _verified(folder, manifest, None, k or 0, checks, "the guarantee is not known")
    if not isinstance(manifest.settings, dict):
        raise UnreadableError("the manifest is damaged: its settings have no names")
    k = guarantee.read_k(manifest) if k is None else k
    stages = 1 + (original is not None) + 2 * (table is not None)
    steps = Stages(progress, stages, parts=BLOCKS).advance
    try:
        published = _load(folder, manifest, steps)
    except (IncrowdError, OverflowError) as error:
        checks["rows"] = failed("rows", f"{error}.", {})
        return _verified(folder, manifest, guarantee, k, checks, "the rows cannot be read")
    checks["rows"] = check_rows(published)
    if not checks["rows"].ok:
        why = "the rows are not what they should be"
        return _verified(folder, manifest, guarantee, k, checks, why)
    checks["sizes"] = check_sizes(published, manifest, guarantee.shared)
    checks["names"] = check_names(published)
    checks |= {check.name: check for check in guarantee.decide(published, manifest, k)}
    unclear = check_stated(manifest) if promises_homes(manifest) else None
    checks |= {} if unclear is None else {unclear.name: unclear}
    if original is None:
        return _verified(folder, manifest, guarantee, k, checks, "needs the original")
    data = original if isinstance(original, Trajectories) else original(published.frame)
    who = check_people(published, data, table, k)
    checks |= {} if who is None else {PEOPLE: who}
    why = "the record names identifiers, and the original was read by person"
    if not names_identifiers(data, table):  # otherwise it was not known who is who
        why = "needs the private record"
        refuse_other_original(record, data)
        aligned = align(published, data)
        file = rows_file(folder, manifest)
        how = {"draws": draws, "points": points, "seed": seed}
        checks |= _compared(aligned, table, losses, file, manifest, guarantee, k, steps, how)
    return _verified(folder, manifest, guarantee, k, checks, why)


def _refuse_numbers(k: int | None, draws: int, points: int) -> None:
    if k is not None and k < LEAST:
        raise ArgumentError(f"k must be at least {LEAST}, not {k!r}: nobody is hidden alone")
    if min(draws, points) < 1:
        raise ArgumentError(f"draws and points must be at least 1, not {draws!r} and {points!r}")


def _compared(
    aligned: AlignedRelease,
    table: "pl.DataFrame | None",
    losses: Mapping[str, Any] | None,
    file: Path,
    manifest: Manifest,
    guarantee: Guarantee,
    k: int | None,
    steps: Callable[[float], None],
    how: dict[str, Any],
) -> dict[str, Check]:
    """Make the checks that need the original, and those that need the private record as well."""
    checks = {check.name: check for check in guarantee.compare(aligned, manifest)}
    skipped, found = guarantee.not_applicable(manifest), None
    if k is None:
        skipped["linkage"] = "nothing is promised against it"
    if table is not None:
        found = match_record(aligned, table, steps)
        checks["membership"] = check_membership(aligned, found, file, manifest, losses)
        if "coverage" not in skipped:
            exact = guarantee.exact_losses
            checks["coverage"] = check_coverage(aligned, found, manifest, exact=exact)
        if "witness" not in skipped or "no invention" not in skipped:
            cut = guarantee.cut_in_time(manifest)
            frame = aligned.published.frame
            # What is stated and cannot be has failed already, by the check of sizes.
            grid = edge_grid(manifest, frame.cell, frame.slot) or EdgeGrid()
            checks["witness"], checks["no invention"] = check_boxes(
                aligned, found, steps, cut=cut, grid=grid
            )
        if promises_homes(manifest) and check_stated(manifest) is None:
            checks["diversity"] = check_diversity(aligned, found, manifest)
    if k is not None and "linkage" not in skipped:
        checks["linkage"] = check_linkage(aligned, found, manifest, k, progress=steps, **how)
    return checks | {
        name: Check(name, None, f"Not checked ({why}).") for name, why in skipped.items()
    }


def _load(folder: Path, manifest: Manifest, steps: Callable[[float], None]) -> Published:
    """Read the rows on the grid that the manifest names."""
    grid, sizes = manifest.frame, manifest.sizes
    if not isinstance(grid, dict) or not isinstance(sizes, dict):
        raise UnreadableError("the manifest names neither the grid nor the sizes")
    if grid.keys() != {"crs", "cell", "slot"} or grid["crs"] is None:
        raise UnreadableError("the manifest does not name the grid: crs, cell and slot")
    stated = sizes.get("samples")
    total = stated if isinstance(stated, int) and stated > 0 else 1
    return load(
        rows_file(folder, manifest), Frame(**grid), lambda rows: steps(BLOCKS * rows / total)
    )


def _verified(
    folder: Path,
    manifest: Manifest,
    guarantee: Guarantee | None,
    k: int | None,
    checks: dict[str, Check],
    why: str,
) -> Verification:
    """Put the checks in order; say of those not made why."""
    asked = guarantee or GUARANTEES["k-anonymity"]
    names = asked.checks if guarantee else ("files", "guarantee", *asked.checks[1:])
    if promises_homes(manifest):
        names = (*names, "diversity")
    # A check that fails counts, also where the guarantee forgets to ask for it.
    names += tuple(
        name
        for name, check in checks.items()
        if name not in names and (check.ok is False or name == PEOPLE)
    )
    made = (checks.get(name, Check(name, None, f"Not checked ({why}).")) for name in names)
    guessed = () if manifest.names == "random" else (SEEDED,)
    return Verification(
        folder,
        k,
        tuple(made),
        (*asked.limits(manifest), *guessed),
        required=asked.required(k),
        claim=asked.claim(k),
    )
