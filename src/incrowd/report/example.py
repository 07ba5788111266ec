"""An example of what an adversary would need to know, of somebody who does not exist."""

from collections.abc import Mapping
from typing import Any

__all__ = ["example_of"]


def example_of(numbers: Mapping[str, Any]) -> list[str]:
    """Tell what an adversary would need to know, of somebody who does not exist."""
    rows = [
        row
        for row in (numbers.get("before") or {}).get("uniqueness") or ()
        if row["kind"] == "spatio_temporal"
    ]
    if not rows:
        return []
    enough = next((row for row in rows if row["share"] >= 0.9), rows[-1])  # noqa: PLR2004
    facts = (
        "on Monday about eight she was near the station",
        "on Tuesday about one she had lunch by the river",
        "on Wednesday about seven she was at the gym",
        "on Friday about six she was in the shopping street",
        "on Saturday about ten she was at the market",
        "on Saturday about nine in the evening she was in the old town",
        "on Sunday about three she visited somebody in the suburbs",
        "on Monday about six she was at the school",
        "on Tuesday about ten in the evening she was near the cinema",
        "on Thursday about noon she was at the town hall",
    )
    known = "; ".join(facts[: enough["points"]])
    few = enough["points"]
    texts = [
        (
            f"A colleague of Alma's gets the data, without names. He remembers {_times(few)} about "
            f"her: {known}. He looks for records that fit."
        ),
        (
            f"In the original, {_times(few)} of that kind, picked at random, leave one person only "
            f"for {enough['share']:.0%} of people. He has found Alma, and with her record "
            "everything else: where she sleeps, whom she visits, when she is at the doctor's."
        ),
    ]
    after = {
        row["points"]: row["share"]
        for row in (numbers.get("after") or {}).get("uniqueness") or ()
        if row["kind"] == "spatio_temporal"
    }
    k = numbers["verification"]["k"]
    if k and numbers["verification"]["ok"]:
        texts.append(
            f"In the release he finds {k} or more records that are exactly alike, or none, and "
            "cannot tell which is hers."
        )
    elif few in after:
        texts.append(
            f"In the release, as many points leave one record only in {after[few]:.0%} of cases."
        )
    return texts


def _times(number: int) -> str:
    small = ("", "one thing", "two things", "three things", "four things")
    return small[number] if number < len(small) else f"{number} things"
