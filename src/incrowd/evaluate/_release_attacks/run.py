"""`attack_release`: what adversaries gain who hold a release.

::

    release, original, record ──> KnownRelease ──> Adversary ──> each attack ──> ReleaseAttacks
    other releases, later data, sensitive places ───┘
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import polars as pl

from incrowd._arguments import must_be, whole
from incrowd._parallel import cores
from incrowd._progress import Progress, Stages
from incrowd.data._frame import Frame
from incrowd.data._trajectories import Trajectories
from incrowd.data._zone import zone_or_utc
from incrowd.errors import ArgumentError
from incrowd.evaluate._release_attacks.adversary import Adversary, KnownRelease, on_clock
from incrowd.evaluate._release_attacks.base import ReleaseAttack
from incrowd.evaluate._release_attacks.findings import ReleaseAttacks
from incrowd.evaluate._release_attacks.inferred import checked_places
from incrowd.evaluate._release_attacks.registry import RELEASE_ATTACKS
from incrowd.evaluate._verify.alignment import align

__all__ = [
    "attack_release",
    "release_attacks_of",
]


Original = Trajectories | Callable[[Frame], Trajectories] | None
SAMPLE = 1000
"""How many people are attacked unless told otherwise."""


def attack_release(
    path: str | os.PathLike[str],
    attacks: str | Iterable[str] | None = None,
    *,
    record: Any,
    original: Original = None,
    others: Sequence[tuple[Any, ...]] = (),
    reference: Original = None,
    later: Original = None,
    places: Any = None,
    tz: str | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ReleaseAttacks:
    """Attack a release as somebody would who holds it.

    Every attack uses the published files and what its adversary is said to know; the original and
    the private record only tell whether she is right. Each is exact for the people who are
    attacked, who are drawn at random.

    Parameters
    ----------
    path
        The directory of the release.
    attacks
        Names of `incrowd.RELEASE_ATTACKS`; all unless given.
    record
        The private record of who became whom: a Parquet file or a frame.
    original
        What the release was made from, or a function that reads it on a grid; unless given, it is
        read as the private record says.
    others
        Other releases of the same people, for *composition*: for each its directory, its private
        record and, unless that says how to read it, its original.
    reference
        The dataset with names in which insiders look for the others of their crowd, or a function
        that reads it on a grid. Unless given, the original: it is then as if all were known of
        everybody, or ten random samples.
    later
        Later data of the same people with names, for *which_crowd*; or a function that reads it.
        Unless given, the last three tenths of the original, and the rest of the release.
    places
        Sensitive places, for *inference*: a frame with lat and lon in degrees.
    tz
        The zone in which it is night; that with which the original was read unless given.
    sample, seed
        How many people are attacked, at most, and the seed with which they are drawn.
    threads
        All cores unless given; the result is the same.
    progress
        Called with how much is done, and how much there is.

    Returns
    -------
    ReleaseAttacks
        What each attack found: of which share of people an adversary learns something, the figures
        behind it, and what it means.

    Raises
    ------
    UnreadableError
        If it is no release, or its rows are not what they should be.
    ArgumentError
        If an attack is not known, or the original or the record belong to another release.

    References
    ----------
    - Wong et al., 2007: "Minimality Attack in Privacy Preserving Data Publishing", VLDB 2007;
      minimality.
    - Ganta et al., 2008: "Composition Attacks and Auxiliary Information in Data Privacy", KDD 2008,
      DOI 10.1145/1401890.1401926; composition.
    - Machanavajjhala et al., 2006: "l-Diversity: Privacy Beyond k-Anonymity", ICDE 2006, DOI
      10.1109/ICDE.2006.1; homogeneity.

    Examples
    --------
    >>> import tempfile
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release, who = f"{folder}/release", f"{folder}/who.parquet"
    ...     hidden = incrowd.glove(city, k=2)
    ...     _ = incrowd.publish(hidden, release, original=city, record=who, draws=50)
    ...     found = incrowd.attack_release(release, "presence", record=who, original=city)
    >>> found["presence"]["certain_all"].of
    40
    """
    kinds = release_attacks_of(attacks)
    whole("sample", sample, 1)
    release = KnownRelease.open(path, original, record)
    grid = release.published.frame
    adversary = Adversary(
        release=release,
        others=tuple(_other(each) for each in others),
        named=_beside(release, reference, grid, "reference"),
        later=_beside(release, later, grid, "later"),
        places=None if places is None else checked_places(_table(places)),
        tz=zone_or_utc(tz, release.original),
        sample=int(sample),
        seed=seed,
        threads=cores(threads),
    )
    stages = Stages(progress, list(kinds))
    findings = []
    for name, kind in kinds.items():
        stages.begin(name)
        attack = kind()
        why = attack.unfit(adversary)
        tell = lambda share: stages.within(round(1000 * share), 1000)  # noqa: E731
        findings.append(attack.not_tried(why) if why else attack.run(adversary, tell))
    stages.finish()
    return ReleaseAttacks(
        tuple(findings), len(release.published.people), len(adversary.targets), seed
    )


def release_attacks_of(names: str | Iterable[str] | None) -> dict[str, type[ReleaseAttack]]:
    """Return attacks by name; refuse a name that is not known."""
    import difflib

    asked = [names] if isinstance(names, str) else list(names or RELEASE_ATTACKS)
    for name in asked:
        if name not in RELEASE_ATTACKS:
            near = difflib.get_close_matches(str(name), RELEASE_ATTACKS, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]!r}?" if near else f": {', '.join(RELEASE_ATTACKS)}"
            raise ArgumentError(f"there is no attack {name!r} on a release{hint}")
    return {name: RELEASE_ATTACKS[name] for name in dict.fromkeys(asked)}


def _other(given: tuple[Any, ...]) -> KnownRelease:
    """Open another release, from its directory, its private record and perhaps its original."""
    if not isinstance(given, tuple | list) or len(given) not in (2, 3):
        raise ArgumentError(
            "each of others is (directory, private record) or (directory, private record, "
            f"original), not {given!r}"
        )
    path, record, *rest = given
    return KnownRelease.open(path, rest[0] if rest else None, record)


def _beside(release: KnownRelease, given: Original, grid: Frame, name: str) -> Trajectories | None:
    """Return another dataset of the same people, on the clock of the release."""
    if given is None:
        return None
    data = Trajectories.of(given(grid) if callable(given) else given, name)
    return on_clock(data, grid, align(release.published, data).shift)


def _table(places: Any) -> pl.DataFrame:
    return must_be("places", places, pl.DataFrame, "polars.read_csv reads one")
