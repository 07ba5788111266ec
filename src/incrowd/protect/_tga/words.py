"""What TGA says of itself: what it does, what it protects against and what not.

These words go into the manifest of a release, and from there into the command line's output and the
report.
"""

__all__ = [
    "LIMITS",
    "explanation_of",
    "promises_of",
]


LIMITS = (
    (
        "attribute inference: everybody in a crowd has the same record, so whoever knows that a "
        "person is in it learns where she was without knowing which record is hers (k-anonymity "
        "is not l-diversity)"
    ),
    (
        "a second release of the same people: laid over this one, crowds that differ leave what "
        "both have in common, which may be one person"
    ),
    (
        "reading off extremes: every edge of a published box is that of a true sample of somebody "
        "in the crowd"
    ),
    (
        "members of the crowd: each knows her own samples, and what is left of a record is the "
        "others'; whoever has the complete data with names, and the seed, can make the crowds again"
    ),
    (
        "knowledge beyond positions and times, and the question whether a person is in the data "
        "at all"
    ),
)


def promises_of(k: int) -> tuple[str, ...]:
    """Return what a release for this k protects against."""
    linkage = (
        "record linkage: an adversary who knows any part, or all, of a person's original "
        f"trajectory and wants to single out her record finds {k} identical records or more, or "
        "none"
    )
    return (linkage,)


def explanation_of(k: int, variant: str) -> tuple[str, ...]:
    """Return what was done to the data, in plain sentences."""
    others = (
        "one by one, each time whoever costs least to add to the crowd as it is by then"
        if variant == "multi"
        else "those who cost least to put together with the first"
    )
    return (
        (
            f"TGA draws a person at random and adds others until there are {k} in a crowd: "
            f"{others}. So it goes on with those who are left. Whoever is left over at the end "
            "joins a crowd, so nobody is left out."
        ),
        (
            "Each crowd gets one record. Samples of its people are matched one to one, in the "
            "order of time, and a match becomes one sample, just so wide and so long that it holds "
            "one of everybody. Samples without a match are left out (suppressed); the losses count "
            "them. What is to cost least is the sum of the logarithms of widths, heights and "
            "lengths, in cells and slots, where a suppressed sample counts as the whole domain of "
            "the data."
        ),
        "In every published sample, everybody of the crowd was seen. Samples may overlap in time.",
    )
