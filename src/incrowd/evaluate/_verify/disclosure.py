"""What a verification tells to those who get the release: the same checks without small counts.

The owner, with the original at hand, is told exactly what was found. What is stored in a manifest,
stands in a report, or is printed of a release alone keeps to the rule of `incrowd._disclosure`.
"""

import re
from dataclasses import replace

from incrowd._disclosure import fewer_than, is_few, least_for, tell
from incrowd.evaluate._verify.cylinders import CYLINDERS, ORIGINALS, TRASH
from incrowd.evaluate._verify.linkage import what_fitted
from incrowd.evaluate._verify.result import Check, Verification, several

__all__ = ["for_recipients"]


_OF_THE_FEW = ("people", "people_dropped", "samples_dropped", "no_record")
"""Figures of the original that are those of few people, or that tell how few they are."""
_CROWDS = ("sizes", "crowds", "largest")
"""Figures from which, with the number of people, it follows how many stand alone."""


def for_recipients(
    found: Verification, *, few: bool = False, least: int | None = None
) -> Verification:
    """Return a verification without counts of few people, and without what would tell them.

    Parameters
    ----------
    found
        What was found, exactly.
    few
        Whether it is known from elsewhere that few people are left out; if the check of membership
        was made, it tells that itself.
    least
        The smallest count that is told; that of the rule for the release's k, unless given.

    Examples
    --------
    >>> from pathlib import Path
    >>> from incrowd.evaluate._verify.disclosure import for_recipients
    >>> from incrowd.evaluate._verify.result import Check, Verification
    >>> figures = {"people": 103, "people_dropped": 3, "samples_dropped": 71, "trajectories": 50}
    >>> check = Check("membership", True, "... 3 people with 71 samples ...", figures)
    >>> found = for_recipients(Verification(Path("release"), 2, (check,), ()))
    >>> found["membership"].figures
    {'trajectories': 50}
    """
    least = least_for(found.k) if least is None else least
    few = few or any(is_few(c.figures.get("people_dropped"), least) for c in found.checks)
    return replace(found, checks=tuple(_told(check, least, few=few) for check in found.checks))


def _people(check: Check, _least: int) -> Check:
    """Withhold how many people and identifiers the original has."""
    known = {n: of for n, of in check.figures.items() if n not in ("people", "identifiers")}
    says = "Crowds are of people, and not of identifiers." if check.ok else check.says
    return replace(check, figures=known, says=f"{says.partition(' (')[0].removesuffix('.')}.")


def _told(check: Check, least: int, *, few: bool) -> Check:
    always = {"k-anonymity": _crowds, CYLINDERS: _counted, ORIGINALS: _counted}
    where_few = {"membership": _membership, "linkage": _linkage, "people": _people, TRASH: _trash}
    rule = always.get(check.name) or (where_few.get(check.name) if few else None)
    if rule is not None:
        return rule(check, least)
    if check.name == "promise" and is_few(check.figures.get("fewest"), least):
        return _rare(check, least)
    return check


def _membership(check: Check, least: int) -> Check:
    """Withhold how many are left out, and how many there are with them."""
    figures = {name: of for name, of in check.figures.items() if name not in _OF_THE_FEW}
    if not check.ok:
        # What is wrong says how many; that it is wrong is told.
        return replace(check, figures=figures, says=_NOT_TOLD)
    says = (
        f"Everybody is published once, or counted as dropped: {fewer_than(least)} people; no "
        "identifier of the input is a name, or stands as text in the manifest or the metadata."
    )
    return replace(check, figures=figures, says=says)


_NOT_TOLD = (
    "Not everybody is published once or counted as dropped, or an identifier of the input occurs; "
    "as few people are left out, the numbers are told to the owner only (incrowd verify with the "
    "private record)."
)


def _linkage(check: Check, _least: int) -> Check:
    """Withhold how many trials fit none because of the few, and how many people there are."""
    figures = {name: of for name, of in check.figures.items() if name not in _OF_THE_FEW}
    if "known" not in figures:
        return replace(check, figures=figures)
    figures["known"] = [
        {name: of for name, of in row.items() if name != "none"} for row in figures["known"]
    ]
    if not check.ok:
        return replace(check, figures=figures)
    return replace(check, figures=figures, says=what_fitted(figures, counted=False))


def _crowds(check: Check, least: int) -> Check:
    """Withhold how few people have a record that nobody shares, or that fewer than k share."""
    for name, what in (
        ("people_alone", "a record that nobody shares"),
        ("people_below_k", f"a record that fewer than {check.figures.get('k')} share"),
    ):
        count, people = check.figures.get(name), check.figures.get("people", 0)
        if not is_few(count, least) or count == people:  # how many all are is told anyway
            continue
        figures = {n: of for n, of in check.figures.items() if n not in _CROWDS}
        promised = "It is not promised. " if check.ok is None else ""
        says = (
            f"{promised}{fewer_than(least).capitalize()} of {several(people, 'person', 'people')} "
            f"have {what}; the smallest crowd has {check.figures.get('smallest', 1):,}."
        )
        return replace(check, figures=figures | {name: tell(figures[name], least)}, says=says)
    return check


def _counted(check: Check, least: int) -> Check:
    """Withhold how few people are in no cylinder, are unique as a whole, or stay as they are."""
    figures, says = dict(check.figures), check.says
    people = figures.get("people", 0)
    for name in ("people_outside", "people_unique", "people_unchanged"):
        count = figures.get(name, 0)
        if is_few(count, least) and count != people:
            figures[name] = tell(count, least)
            says = re.sub(rf"(?<![\d,]){count} of ", f"{fewer_than(least)} of ", says, count=1)
    return replace(check, figures=figures, says=f"{says[:1].upper()}{says[1:]}")


def _trash(check: Check, _least: int) -> Check:
    """Withhold how few people were left out."""
    figures = {name: of for name, of in check.figures.items() if name not in _OF_THE_FEW}
    if check.ok is not False:
        return replace(check, figures=figures)
    says = "More people were left out than the share that may be; as they are few, not how many."
    return replace(check, figures=figures, says=says)


def _rare(check: Check, least: int) -> Check:
    """Withhold how few people visited the rarest published place: more than a setting tells."""
    figures = dict(check.figures) | {"fewest": fewer_than(least)}
    if not check.ok:
        return replace(check, figures=figures)
    most = check.figures.get("at_most", 0)
    says = (
        f"Each of {several(check.figures.get('places', 0), 'published place')} has more than "
        f"{several(most, 'visitor')}."
    )
    return replace(check, figures=figures, says=says)
