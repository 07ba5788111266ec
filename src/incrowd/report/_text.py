"""What the page says in words, from the numbers: for a reader who is no expert.

An example of what an adversary would need to know, of somebody who does not exist.

How to make a release and its report again: commands, versions, hashes.
"""

from collections.abc import Mapping
from typing import Any

__all__ = [
    "commands_of",
    "example_of",
    "versions_of",
    "words",
]

Rows = list[tuple[str, str]]


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


USUAL = {"variant": "strict", "reshape": "split", "suppress": "boxes"}
"""What need not be said."""


def commands_of(numbers: Mapping[str, Any]) -> str:
    """Give the commands, without the places of private files."""
    settings = numbers["settings"]["settings"]
    k = settings.get("k")
    if numbers["settings"]["method"] == "GLOVE" and k is not None:
        how = f"--k {k}"
        how += "".join(
            f" --{name} {settings[name]}"
            for name, usual in USUAL.items()
            if settings.get(name) not in (None, usual)
        )
        how += _thresholds(numbers)
        first = f"incrowd anonymize DATA {how} -o RELEASE --record WHO.parquet"
    else:
        first = "incrowd anonymize DATA --method METHOD -o RELEASE   # settings as above"
    lines, given = [first], numbers["given"]
    drawn = f" --attack-sample {given['targets']} --seed {given['seed']}"
    if given["original"]:
        record = " --record WHO.parquet" if given["record"] else ""
        lines.append(f"incrowd verify RELEASE --original DATA{record}")
        zone = "" if given["tz"] == "UTC" else f" --local-tz {given['tz']}"
        lines.append(f"incrowd report RELEASE --original DATA{record}{zone}{drawn}")
    else:
        lines += ["incrowd verify RELEASE", f"incrowd report RELEASE{drawn}"]
    return "\n".join(lines)


def _thresholds(numbers: Mapping[str, Any]) -> str:
    """Give the options of suppression, in metres and minutes as the command takes them."""
    settings, frame = numbers["settings"]["settings"], numbers["settings"]["frame"]
    text = ""
    for name, unit in (("space", frame.get("cell")), ("time", frame.get("slot"))):
        most = settings.get(f"max_{name}")
        if isinstance(most, int) and isinstance(unit, int | float):
            text += f" --max-{name} {most * unit / (1 if name == 'space' else 60):g}"
    return text


def versions_of(numbers: Mapping[str, Any]) -> Rows:
    """Give versions, and the hashes of the release's own files."""
    made = numbers["made"]
    rows = [
        ("report made on", f"{made['date']} (UTC)"),
        ("report made with", f"incrowd {made['incrowd']}, Python {made['python']}"),
        ("release made with", f"incrowd {made['release_made_with']}"),
    ]
    return rows + [
        (f"SHA-256 of {name}", str(known.get("sha256"))) for name, known in made["files"].items()
    ]


GLOSSARY = (
    ("record", "All that is published of one person: a list of samples, under a random name."),
    ("sample", "A statement that a person was in a certain rectangle during a certain time."),
    ("crowd", "The people who have exactly the same record, sample for sample."),
    ("k-anonymous", "Every crowd has k people or more."),
    (
        "k-gap",
        (
            "What it would cost to hide a person among k: 0 if k-1 others have the same samples "
            "already, 1 if nothing would be left of hers."
        ),
    ),
    (
        "record linkage",
        "Looking for the record of a person of whom something is known: where she was, and when.",
    ),
    ("private record", "The list of who became whom. It stays with the owner of the data."),
)
SETTINGS = {
    "k": "people a record, at least (k)",
    "variant": "variant",
    "reshape": "samples that overlap in time",
    "max_space": "suppression begins at this width, in cells",
    "max_time": "suppression begins at this length, in slots",
    "suppress": "what is suppressed: boxes that are larger, or samples stretched by more",
    "version": "version of incrowd",
}
LOSSES = {
    "people_dropped": "people left out, because no crowd was left for them",
    "people_left_over": "of these, people left over at the end, alone or too few",
    "people_emptied": "people left out, because none of their samples was left",
    "samples_dropped": "samples of people who were left out",
    "samples_suppressed": "samples left out, because they would have become too large",
    "boxes_suppressed": "published samples left out for the same reason",
}


def words(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Give everything that the page says in words, by the place where it stands."""
    least = max(10, numbers["verification"]["k"] or 0)
    name = numbers.get("title")
    return {
        "title": f"Privacy report: {name}" if name else "Privacy report of a release",
        "subtitle": _subtitle(numbers),
        "exposure": _exposure(numbers),
        "data": _data(numbers),
        "example": example_of(numbers),
        "done": _done(numbers),
        "settings": _settings(numbers),
        "proof": _proof(numbers),
        "left": _left(numbers),
        "limits": numbers["verification"]["limits"],
        "unsaid": _unsaid(numbers),
        "commands": commands_of(numbers),
        "versions": versions_of(numbers),
        "glossary": GLOSSARY,
        "least": least,
    }


def _subtitle(numbers: Mapping[str, Any]) -> str:
    sizes, method = numbers["sizes"], numbers["settings"]["method"]
    people, samples = sizes.get("people", "?"), sizes.get("samples", "?")
    return f"{_number(people)} people, {_number(samples)} published samples, made with {method}."


def _number(value: Any) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if whole else str(value)


def _exposure(numbers: Mapping[str, Any]) -> list[str]:
    before = numbers.get("before")
    if not before:
        why = (
            "The files did not pass, and were not looked at any further"
            if numbers["given"]["original"]
            else "The original was not at hand"
        )
        return [f"{why}; nothing can be said about how exposed people were before."]
    texts = [
        (
            "This is about the original data with the names removed, which is what would leave the "
            "house if nothing were done."
        )
    ]
    gap = before.get("k_gap")
    if gap:
        text = f"{_share(gap['hidden_already'], 'of people', 'Nobody')} had a twin in the data."
        if "median_km" in gap:
            text += (
                f" To give the median person one, her samples would have to grow by "
                f"{gap['median_km']:.2g} km (width and height together) and "
                f"{gap['median_minutes']:.0f} minutes each; for {gap['time_above_space']:.0%} of "
                f"people, time is the harder part."
            )
        texts.append(text)
    risk = before.get("risk")
    if risk:
        worst = max(risk["attacks"], key=lambda row: row["told_apart"])
        if risk["attacked"] < risk["people"]:
            drawn = f"on {risk['attacked']:,} people, drawn at random and hidden among all"
        else:
            drawn = f"on all {risk['people']:,} people"
        texts.append(
            f"Nine kinds of attackers were tried {drawn}. Each knows the {risk['known']} points "
            f"that give a person away best; the strongest singles out "
            f"{worst['told_apart']:.0%} of people."
        )
    return texts


def _share(share: float, of: str, nobody: str) -> str:
    return nobody if share == 0 else f"{share:.1%} {of}"


def _data(numbers: Mapping[str, Any]) -> Rows:
    about = (numbers.get("before") or {}).get("data")
    if not about:
        return []
    return [
        ("people", _number(about["people"])),
        ("samples", f"{_number(about['samples'])} (median {about['samples_a_person']:,.0f} each)"),
        *_days(about),
        *_area(numbers, about.get("area_km2")),
        ("grid", f"cells of {about['cell_m']:g} m, slots of {about['slot_s'] / 60:g} min"),
        ("median radius of gyration", f"{about['gyration_km']:.2g} km"),
    ]


def _days(about: Mapping[str, Any]) -> Rows:
    """Say on which days people enough were seen to say so."""
    if about["days"] is None:
        return []
    number = f"{about['days']:,} day{'' if about['days'] == 1 else 's'}"
    return [("time", f"{about['start']} to {about['end']}, {number}")]


def _area(numbers: Mapping[str, Any], km2: float | None) -> Rows:
    """Say how large the area is in which there are people enough to say so."""
    if km2 is None:
        return []
    about = numbers["utility"]["together"]["map"]
    side = f"{about['side_m'] / 1000:g} km"
    return [("area", f"{km2:,.3g} km², in squares of {side} with {about['least']} people or more")]


def _done(numbers: Mapping[str, Any]) -> list[str]:
    method, settings = numbers["settings"]["method"], numbers["settings"]["settings"]
    if method == "GLOVE":
        texts = [
            (
                f"GLOVE puts people together who moved most alike, until everybody is in a crowd "
                f"of {settings.get('k', '?')} or more. Each crowd gets one record: samples of its "
                "people that are near to each other become one, just so wide and so long that it "
                "holds them all. Everybody's record is then that of her crowd. No place or time is "
                "made up: every edge of a published sample is that of a true one."
            )
        ]
        if settings.get("reshape") == "split":
            texts.append(
                "Published samples that overlapped in time were cut so that they do not. A piece "
                "can therefore state a place and time at which some of the crowd were not seen; "
                "the check 'witness' below counts these."
            )
        return texts
    return [f"The method is {method}. It changes samples one by one and hides nobody in a crowd."]


def _settings(numbers: Mapping[str, Any]) -> Rows:
    about = numbers["settings"]
    rows = [("method", str(about["method"]))]
    rows += [(SETTINGS.get(name, name), _plain(value)) for name, value in about["settings"].items()]
    frame = about["frame"]
    rows.append(
        ("grid", f"cells of {_plain(frame.get('cell'))} m, slots of {_plain(frame.get('slot'))} s")
    )
    rows += [(LOSSES.get(name, name), _plain(value)) for name, value in about["losses"].items()]
    rows.append(("names of people", str(about["names"])))
    return rows


def _plain(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return _number(value)


def _proof(numbers: Mapping[str, Any]) -> str:
    scope = numbers["verification"]["scope"]
    return (
        "For this report the written files were read again and checked by a program of its own, "
        f"which shares no code with the one that made them ({scope})."
    )


def _left(numbers: Mapping[str, Any]) -> list[str]:
    sharp = (numbers.get("accuracy") or {}).get("figures")
    if not sharp:
        return ["What is left of the original could not be measured."]
    texts = []
    if "space_median" in sharp:
        texts.append(
            f"Half of the published samples are at most {_metres(sharp['space_median'])} wide and "
            f"{_minutes(sharp['time_median'])} long. A sample of the original is one cell and one "
            "slot of the grid."
        )
    if "space_error" in sharp:
        texts.append(
            f"Where the release says that a person was, the middle of the rectangle is on average "
            f"{_metres(sharp['space_error'])} and {_minutes(sharp['time_error'])} off."
        )
    return texts + list((numbers.get("utility") or {}).get("words") or ())


def _metres(metres: float) -> str:
    return f"{metres / 1000:.2g} km" if metres >= 1000 else f"{metres:.0f} m"  # noqa: PLR2004


def _minutes(minutes: float) -> str:
    if minutes < 120:  # noqa: PLR2004
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h"


def _unsaid(numbers: Mapping[str, Any]) -> list[str]:
    """Say what is missing, and what for."""
    given, texts = numbers["given"], []
    if not given["original"]:
        texts += [
            "How exposed people were before: the original was not given.",
            (
                "Whether the release is true of its people, whether samples were lost that are not "
                "counted, and whether true samples of a person lead to her record: the original "
                "was not given."
            ),
            (
                "What is left of the data, beyond the size of published samples: the original was "
                "not given."
            ),
        ]
    elif not given["record"]:
        texts.append(
            "What became of each person (errors of position and time, homes, workplaces, "
            "distances): the private record of who became whom was not given. What is true of "
            "everybody together is said."
        )
    before = numbers.get("before")
    if before and before.get("k_gap") is None:
        texts.append("How hard people were to hide: there is nobody to hide among.")
    if given["original"] and not before:
        return ["Anything about people, before or after: the files of the release did not pass."]
    return texts
