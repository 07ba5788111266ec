"""What a release guarantees, and what is therefore asked of it. Here k-anonymity is decided.

::

    manifest ──> guarantee_of ──> Guarantee ──┬──> read_k           the k to be verified, or None
                                              ├──> decide           the checks that decide it
                                              ├──> not_applicable   checks that mean nothing here
                                              └──> claim, limits    what may be said, and what not

k-anonymity is decided by `check_k_anonymity`, on the rows as they were read again from the file.

To add a guarantee (a cylinder of (k, delta), say): enter a `Guarantee` in `GUARANTEES` under the
name that mechanisms state in the manifest. A release that names one which is not there does not
pass. Nothing here is shared with what makes releases; names are written down twice on purpose.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.data._manifest import Manifest
from incrowd.errors import ArgumentError
from incrowd.evaluate._verify import cylinders
from incrowd.evaluate._verify.alignment import AlignedRelease
from incrowd.evaluate._verify.promises import (
    PROMISES,
    check_promise,
    glove_settings,
    limits_without_k,
    not_applicable_without_k,
)
from incrowd.evaluate._verify.result import (
    LIMITS,
    NAMES,
    PROMISED,
    ROUNDED,
    SPLIT,
    WHOLE,
    Check,
    failed,
    passed,
    several,
)
from incrowd.evaluate._verify.rows import Published

__all__ = [
    "GUARANTEES",
    "LEAST",
    "Guarantee",
    "check_k_anonymity",
    "count_crowds",
    "guarantee_of",
    "promises_no_k",
    "unknown_guarantee",
]


LEAST = 2
"""The smallest k that hides anybody."""
_MOVED = ("coverage", "witness", "no invention", "linkage")
_OF_POINTS = (cylinders.ORIGINALS, "membership", *_MOVED)
UNCUT = ("union", "none")
"""The ways of reshaping that cut no sample in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What a release may guarantee, and how that is verified.

    Attributes
    ----------
    read_k
        Gives the k that a manifest states; None if the guarantee has none. Raises ArgumentError
        if there must be one.
    decide
        Makes the checks that decide it, from the rows, the manifest and the k to be verified.
    decisive
        The check that must have been made and hold; None if nothing is guaranteed, and the files
        need only be whole.
    checks
        The names of all checks, in the order in which they are reported.
    not_applicable
        Gives the checks that mean nothing for a release, each with the reason.
    claim
        Says, for a k, what may be claimed if the decisive check holds.
    limits
        Says what a release of this kind cannot promise.
    cut_in_time
        Tells whether boxes may be pieces that were cut in time, and need no witness then.
    compare
        Makes the checks that need the original beside the rows, if there are any.
    exact_losses
        Whether suppressed samples are counted exactly as they are missed, not more.
    shared
        What distinct records are called: each stands for a crowd, or is what it is.
    """

    read_k: Callable[[Manifest], int | None]
    decide: Callable[[Published, Manifest, int | None], tuple[Check, ...]]
    decisive: str | None
    checks: tuple[str, ...] = NAMES
    not_applicable: Callable[[Manifest], dict[str, str]] = lambda _: {}
    claim: Callable[[int | None], str] = lambda _: ""
    limits: Callable[[Manifest], list[str]] = lambda _: [*LIMITS]
    cut_in_time: Callable[[Manifest], bool] = lambda _: False
    compare: Callable[[AlignedRelease, Manifest], tuple[Check, ...]] = lambda *_: ()
    exact_losses: bool = True
    shared: str = "crowds"

    def required(self, k: int | None) -> tuple[str, ...]:
        """Return the checks that must have been made and hold."""
        if self.decisive is not None:
            return (self.decisive,)
        return WHOLE if k is None else ("k-anonymity",)


def promises_no_k(manifest: Manifest) -> bool:
    """Tell whether a release promises no k: it states none, and says or implies that it needs none.

    Manifests written before guarantees were stated imply it by their method; one whose method is
    not known must state its k.
    """
    settings = manifest.settings
    if not isinstance(settings, Mapping) or "k" in settings:
        return False  # whoever states a k is held to it
    if manifest.guarantee is None:
        return manifest.method in PROMISES
    return manifest.guarantee == "none"


def guarantee_of(manifest: Manifest) -> Guarantee | None:
    """Return what a release guarantees; None if it names something that is not known here."""
    if promises_no_k(manifest):
        return GUARANTEES["none"]
    if manifest.guarantee in (None, "none"):
        return GUARANTEES["k-anonymity"]
    stated = manifest.guarantee
    return GUARANTEES.get(stated) if isinstance(stated, str) else None


def unknown_guarantee(manifest: Manifest) -> Check:
    """Return the check that a release fails which names a guarantee that is not known."""
    says = (
        f"The release states the guarantee {manifest.guarantee!r}, which this version of incrowd "
        f"cannot verify; it knows {', '.join(GUARANTEES)}."
    )
    return failed("guarantee", says, {"stated": str(manifest.guarantee), "known": [*GUARANTEES]})


def check_k_anonymity(published: Published, manifest: Manifest, k: int) -> Check:
    """Decide whether every record is identical, sample for sample, to at least k - 1 others.

    ``published.sizes`` counts records that are equal byte for byte, as read again from the file
    (`rows.load`); nothing that the maker says of its crowds is used.
    """
    sizes, stated = published.sizes, manifest.settings.get("k")
    exposed = int(sizes[sizes < k].sum())
    size, count = np.unique(sizes, return_counts=True)
    figures = {
        "k": k,
        "stated": stated,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "crowds": len(sizes),
        "people": len(published.people),
        "people_below_k": exposed,
        "sizes": {str(s): int(n) for s, n in zip(size, count, strict=True)},
    }
    if exposed:
        says = (
            f"{exposed:,} of {len(published.people):,} people have a record that fewer than "
            f"{k} share; the smallest crowd has {sizes.min():,}."
        )
        return failed("k-anonymity", says, figures)
    if k < LEAST:
        return failed("k-anonymity", f"The manifest states k = {k}, which hides nobody.", figures)
    if stated is not None and not (isinstance(stated, int) and stated >= k):
        says = f"The smallest crowd has {sizes.min():,}, but the manifest states k = {stated}."
        return failed("k-anonymity", says, figures)
    says = (
        f"Every record is identical, sample for sample, to at least {several(k - 1, 'other')}: "
        f"{several(len(sizes), 'crowd')} of {_range(sizes)} people."
    )
    return passed("k-anonymity", says, figures)


def _range(sizes: Any) -> str:
    least, most = int(sizes.min()), int(sizes.max())
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def count_crowds(published: Published) -> Check:
    """Count how many people share each record, where no k is promised."""
    sizes = published.sizes
    alone, people = int((sizes == 1).sum()), len(published.people)
    size, count = np.unique(sizes, return_counts=True)
    figures = {
        "k": None,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "crowds": len(sizes),
        "people": people,
        "people_alone": alone,
        "sizes": {str(s): int(n) for s, n in zip(size, count, strict=True)},
    }
    says = (
        f"It is not promised. {alone:,} of {several(people, 'person')} have a record that nobody "
        f"shares; the smallest crowd of identical records has {sizes.min():,}."
    ).replace("persons", "people")
    return Check("k-anonymity", ok=None, says=says, figures=figures)


def _read_k(manifest: Manifest) -> int:
    """Return the k that a manifest states; refuse one that states none."""
    stated = manifest.settings.get("k")
    if type(stated) is not int:
        raise ArgumentError(f"the manifest states no k ({stated!r}); say which one to verify")
    return stated


def _decide_k(published: Published, manifest: Manifest, k: int | None) -> tuple[Check, ...]:
    wanted = _read_k(manifest) if k is None else k
    return (check_k_anonymity(published, manifest, wanted),)


def _decide_without_k(published: Published, manifest: Manifest, k: int | None) -> tuple[Check, ...]:
    crowds = count_crowds(published) if k is None else check_k_anonymity(published, manifest, k)
    return crowds, check_promise(published, manifest)


def _decide_cylinders(published: Published, manifest: Manifest, k: int | None) -> tuple[Check, ...]:
    crowds = count_crowds(published) if k is None else check_k_anonymity(published, manifest, k)
    around = cylinders.check_cylinders(published, manifest)
    return around, cylinders.check_trash(published, manifest), crowds


def _compare_cylinders(aligned: AlignedRelease, manifest: Manifest) -> tuple[Check, ...]:
    people = len(aligned.original)
    trash = cylinders.check_trash(aligned.published, manifest, people)
    return trash, cylinders.check_originals(aligned)


def _identical(k: int | None) -> str:
    if k is None:
        return ""
    return f"every published record is identical to at least {several(k - 1, 'other')}"


def _is_cut(manifest: Manifest) -> bool:
    """Tell whether boxes may have been cut in time, as GLOVE's are where it reshapes by cutting.

    Manifests written before guarantees were stated may leave out how boxes were reshaped.
    """
    settings: Any = manifest.settings
    if not isinstance(settings, Mapping):
        return True
    if settings.get("merge") == "optimal":
        return False
    if "reshape" not in settings and manifest.guarantee is not None:
        return False
    return settings.get("reshape") not in UNCUT


def _limits_of_crowds(manifest: Manifest) -> list[str]:
    """Return what a release of crowds cannot promise; of edges, to what they were rounded."""
    stated = glove_settings(manifest).get("edges")
    edges, *others = LIMITS
    first = edges if stated is None else ROUNDED.format(edges=stated)
    return [first, *others, *([SPLIT] if _is_cut(manifest) else [])]


GUARANTEES: dict[str, Guarantee] = {
    "k-anonymity": Guarantee(
        read_k=_read_k,
        decide=_decide_k,
        decisive="k-anonymity",
        claim=_identical,
        limits=_limits_of_crowds,
        cut_in_time=_is_cut,
    ),
    "none": Guarantee(
        read_k=lambda _: None,
        decide=_decide_without_k,
        decisive=None,
        checks=PROMISED,
        not_applicable=not_applicable_without_k,
        claim=_identical,
        limits=limits_without_k,
        exact_losses=False,
        shared="distinct records",
    ),
    "(k, delta)-anonymity": Guarantee(
        read_k=lambda _: None,  # nobody is in a crowd of k
        decide=_decide_cylinders,
        decisive=cylinders.CYLINDERS,
        checks=(*WHOLE, cylinders.CYLINDERS, cylinders.TRASH, "k-anonymity", *_OF_POINTS),
        not_applicable=lambda _: dict.fromkeys(_MOVED, "points are moved in space and time"),
        claim=_identical,
        limits=lambda _: [*cylinders.LIMITS],
        compare=_compare_cylinders,
        exact_losses=False,
        shared="distinct records",
    ),
}
"""Everything that a release may guarantee, by the name that its manifest states."""
