"""What GLOVE says of itself: what it does, what it protects against and what not.

The attacker model of section 2.3 of the paper of 2021 (record linkage, whatever part of a
trajectory is known), and the limits of section 2.5. These words go into the manifest of a release,
and from there into the command line's output and the report.
"""

from collections.abc import Mapping
from typing import Any

from incrowd._format import length
from incrowd.protect._glove.edges import edges_of_text, in_words

__all__ = [
    "GUARANTEE",
    "METHOD",
    "explanation_of",
    "limits_of",
    "promises_of",
]


METHOD, GUARANTEE = "GLOVE", "k-anonymity"
SECOND = (
    "a second release of the same people: laid over this one, crowds that differ leave what "
    "both have in common, which may be one person"
)
OTHERS = (
    (
        "a release of the same people that is not in the same ledger, or for which their "
        "identifiers were others: laid over this one, crowds that differ leave what both have in "
        "common, which may be one person"
    ),
    (
        "somebody who knows that a person is absent from a release of the ledger: that rules out "
        "everybody who is in it, and fewer people may be left"
    ),
)
"""What holds of several releases, without a ledger and with one."""
LIMITS = (
    (
        "attribute inference: everybody in a crowd has the same record, so whoever knows that a "
        "person is in it learns where she was without knowing which record is hers (k-anonymity "
        "is not l-diversity)"
    ),
    SECOND,
    (
        "knowledge beyond positions and times, and the question whether a person is in the data "
        "at all"
    ),
)
"""What no release of GLOVE withstands."""
EXTREMES = (
    "reading off extremes: every edge of a published box is that of a true sample of somebody "
    "in the crowd"
)
SUBTRACTED = (
    "; a member of the crowd who knows her own trace still learns of edges to which hers are not "
    "rounded, and whoever knows how boxes are made may conclude more"
)
PRICES = ("suppress_price", "suppress_at_most")
THRESHOLDS = ("max_space", "max_time", "max_metres", "max_minutes")
HOMES = (
    (
        "attribute inference beyond the home: everybody in a crowd has the same record, so whoever "
        "knows that a person is in it learns where she was without knowing which record is hers; "
        "work and other places may be the same for all of the crowd"
    ),
    (
        "guessing the home: most of a crowd may live in one of its squares, squares may be "
        "neighbours, so that homes on either side of an edge count as distinct however near they "
        "are, and whoever knows the homes of others in the crowd can rule these out"
    ),
)
"""What distinct homes do not protect against, in place of the first."""
CUT = (
    "taking every box for seen: pieces cut in time (reshape 'split') can state a time at which a "
    "person was not seen there; the check 'witness' counts them"
)


def promises_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a release with these settings protects against."""
    linkage = (
        "record linkage: an adversary who knows any part, or all, of a person's original "
        f"trajectory and wants to single out her record finds {settings['k']} identical records "
        "or more, or none"
    )
    found = [linkage]
    if diverse := settings.get("diverse"):
        found.append(
            "inference of the home from the crowd alone (the homogeneity attack): the people of "
            f"every crowd have at least {diverse['homes']} distinct homes on a grid of "
            f"{length(diverse['metres'])} (distinct l-diversity), a home being where a person is "
            "most from 22 to 6 h"
        )
    if (edges := settings.get("edges")) is not None:
        found.append(
            f"reading the {_what(edges)} of a true sample off one edge of a published box more "
            f"precisely than to {in_words(edges)}"
        )
    if _with_ledger(settings):
        found.append(
            "several releases: whoever lays releases over one another that were made with the "
            "same ledger, and knows in which crowd of each a person is, finds "
            f"{settings.get('ledger_k') or 'k'} people or more who are in all of these crowds"
        )
    return tuple(found)


def _with_ledger(settings: Mapping[str, Any]) -> bool:
    return settings.get("ledger_spare") is not None


def limits_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a release with these settings does not protect against."""
    edges, rounded = settings.get("edges"), ""
    if edges is not None:
        only = {"place": "in space ", "time": "in time "}.get(_what(edges), "")
        rounded = f", {only}rounded outwards to {in_words(edges)}{SUBTRACTED}"
    attribute, second, *others = LIMITS
    limits = (
        *(HOMES if settings.get("diverse") else (attribute,)),
        *(OTHERS if _with_ledger(settings) else (second,)),
        f"{EXTREMES}{rounded}",
        *others,
    )
    return limits if settings.get("reshape") != "split" else (*limits, CUT)


def _what(edges: str) -> str:
    """Return what is rounded."""
    metres, minutes = edges_of_text(edges)
    if None not in (metres, minutes):
        return "place or time"
    return "place" if minutes is None else "time"


def explanation_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what was done to the data, in plain sentences."""
    together = (
        f"GLOVE puts people together who moved most alike, until everybody is in a crowd of "
        f"{settings['k']} or more. "
    )
    diverse = settings.get("diverse")
    if diverse:
        together += (
            f"Two are put together only where that leads to crowds whose people have at least "
            f"{diverse['homes']} distinct homes: squares of {length(diverse['metres'])} in which "
            "they are most at night. "
        )
    if settings.get("merge") == "optimal":
        texts = [
            (
                f"{together}Each crowd gets one record: the samples of its people, in the order of "
                "time, are cut into groups with a sample of everybody in each, and a group becomes "
                "one sample, just so wide and so long that it holds them all. Of all cuts it is "
                "the one by which least is lost (k-merge). Everybody's record is then that of her "
                "crowd. In every published sample, everybody of the crowd was seen."
            )
        ]
        if settings.get("crowds") == "refined":
            texts.append(
                "Who is together was then improved: people changed crowds wherever less was lost "
                "by it in the published samples, and nobody was left over."
            )
        if _with_ledger(settings):
            texts.append(
                "It was made with a ledger of releases of the same people: who was together in "
                "earlier ones stays together. People of whose earlier crowds too few are left were "
                "left out; the losses count them as held back."
            )
        if any(settings.get(name) is not None for name in PRICES):
            texts.append(
                "Samples were deleted where keeping them would have made published samples too "
                "large; the manifest counts them."
            )
        return tuple(texts) + _rounded(settings)
    texts = [
        (
            f"{together}Each crowd gets one record: samples of its people that are "
            "near to each other become one, just so wide and so long that it holds them all. "
            "Everybody's record is then that of her crowd. Every edge of such a sample, in "
            "space and time, is that of a true one of somebody in the crowd."
        )
    ]
    if settings.get("reshape") == "split":
        texts.append(
            "Published samples that overlapped in time were cut so that they do not. A piece can "
            "therefore state a place and time at which some of the crowd, or all of it, were not "
            "seen; the check 'witness' below counts these."
        )
    limited = any(settings.get(name) is not None for name in THRESHOLDS)
    if limited and settings.get("reshape") != "none":
        texts.append(
            "Samples that would have become too large were left out before overlapping ones were "
            "put in order; that can join samples again, so that published ones can be larger than "
            "the thresholds."
        )
    return tuple(texts) + _rounded(settings)


def _rounded(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Say how finished boxes were rounded, if they were."""
    edges = settings.get("edges")
    if edges is None:
        return ()
    told = (
        f"In the end every edge was rounded outwards to {in_words(edges)} (lines of the plane that "
        "is named, times since 1970-01-01 UTC); a published sample is larger by that, and holds "
        "all that it held. Samples of a record that became equal are one."
    )
    timed = _what(edges) != "place" and settings.get("reshape") != "none"
    if timed:
        told += (
            " Others may overlap in time now, by one such time at most: one ended, and the other "
            "began, within it."
        )
    if any(settings.get(name) is not None for name in THRESHOLDS):
        told += " Thresholds of size held before."
    return (told,)
