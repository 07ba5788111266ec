"""What the page says in words, from the numbers: for a reader who is no expert.

`words` gives every text by the place where it stands on the page. Beside the sentences these are
an example of what an adversary would need to know (of somebody who does not exist), and how to
make the release and its report again: commands, versions, hashes.
"""

import shlex
from typing import Any

from incrowd._format import (
    count_of,
    duration,
    length,
    percent,
    rounded_percent,
    several,
    significant,
)
from incrowd.data._fact_sheet import losses_in_words, settings_in_words
from incrowd.protect import MECHANISMS
from incrowd.protect._mechanism import options_of
from incrowd.report._glossary import GLOSSARY
from incrowd.report._numbers import Method, Numbers, OriginalData
from incrowd.report._purposes import purpose_of

__all__ = [
    "commands_of",
    "example_of",
    "versions_of",
    "words",
]

Rows = list[tuple[str, str]]

PAIR = 2
MOST_PEOPLE = 0.9
"""The example takes as many points as single out this share of people."""


def words(numbers: Numbers) -> dict[str, Any]:
    """Return everything that the page says in words, by the place where it stands."""
    return {
        "title": f"Privacy report: {numbers.title}"
        if numbers.title
        else "Privacy report of a release",
        "subtitle": _subtitle(numbers),
        "foot": _foot(numbers),
        "exposure": _exposure(numbers),
        "data": _data(numbers),
        "example": example_of(numbers),
        "done": _done(numbers),
        "settings": _settings(numbers.settings),
        "cost": _cost(numbers),
        "purpose": purpose_of(numbers.given.purpose).label,
        "own": bool(numbers.given.thresholds),
        "proof": _proof(numbers),
        "left": _left(numbers),
        "limits": numbers.verification.limits,
        "unsaid": _unsaid(numbers),
        "commands": commands_of(numbers),
        "versions": versions_of(numbers),
        "glossary": GLOSSARY,
        "least": max(10, numbers.verification.k or 0),
    }


def _subtitle(numbers: Numbers) -> str:
    people, samples = (numbers.sizes.stated.get(name, "?") for name in ("people", "samples"))
    made = f"made with {numbers.settings.method}"
    return f"{_number(people)} people, {_number(samples)} published samples, {made}."


def _foot(numbers: Numbers) -> str:
    """Return what stands at the foot of every printed page: title, date, and the release's hash."""
    made = numbers.made
    rows = next((of.get("sha256") for of in made.files.values() if of.get("sha256")), None)
    title = f"Privacy report: {numbers.title}" if numbers.title else "Privacy report of a release"
    seal = f", release SHA-256 {str(rows)[:16]}" if rows else ""
    return f"{title}, {made.date}{seal}"


def _number(value: Any) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if whole else str(value)


def _exposure(numbers: Numbers) -> list[str]:
    before = numbers.before
    if before is None:
        why = (
            "The files did not pass verification and were not examined any further"
            if numbers.given.original
            else "The original was not given"
        )
        return [f"{why}; nothing can be said about how exposed people were before."]
    texts = [
        (
            "This is about the original data with the names removed, which is what would be shared "
            "if nothing else were done."
        )
    ]
    gap = before.k_gap
    if gap is not None:
        hidden = gap.hidden_already
        who = f"{percent(hidden)} of people" if hidden else "Nobody"
        others = "somebody else" if gap.k == PAIR else f"{gap.k - 1} others or more"
        text = f"{who} had a record that {others} had as well."
        if gap.parts is not None:
            one = "another" if gap.k == PAIR else f"those of the {gap.k - 1} nearest"
            text += (
                f" To make the median person's record equal to {one}, her samples would have to "
                f"grow by {length(1000 * gap.parts.median_km, 2)} (width and height together) and "
                f"{duration(gap.parts.median_minutes)} each; for "
                f"{percent(gap.parts.time_above_space, 0)} of people, time costs more than space."
            )
        texts.append(text)
    risk = before.risk
    if risk is not None:
        worst = max(risk.attacks, key=lambda row: row.told_apart)
        if risk.attacked < risk.people:
            drawn = f"on {risk.attacked:,} people, drawn at random and hidden among all"
        else:
            drawn = f"on all {_about(numbers, risk.people)} people"
        texts.append(
            f"{len(risk.attacks)} kinds of attackers were tried {drawn}. Each knows the "
            f"{risk.known} points that give a person away best; the strongest uniquely "
            f"re-identifies {percent(worst.told_apart, 0)} of people."
        )
    return texts


def _data(numbers: Numbers) -> Rows:
    about = None if numbers.before is None else numbers.before.data
    if about is None:
        return []
    return [
        ("people", _people(numbers, about.people)),
        *_rejected(about),
        ("samples", f"{_number(about.samples)} (median {about.samples_a_person:,.0f} per person)"),
        *_days(about),
        ("time zone", _zone(numbers)),
        *_area(numbers, about.area_km2),
        ("grid", f"cells of {about.cell_m:g} m, slots of {duration(about.slot_s / 60)}"),
        ("median radius of gyration", length(1000 * about.gyration_km, 2)),
    ]


def _about(numbers: Numbers, people: int) -> str:
    rough = numbers.rounded and people != numbers.sizes.stated.get("people")
    return f"{'about ' * rough}{people:,}"


def _people(numbers: Numbers, people: int) -> str:
    """Say how many people this is about; roughly, where few of them are left out."""
    if not numbers.rounded or people != numbers.sizes.stated.get("people"):
        return _about(numbers, people)
    return f"{people:,} who are published; few others are left out, also of what is said here"


def _days(about: OriginalData) -> Rows:
    """Say on which days people enough were seen to say so."""
    if about.days is None:
        return []
    days = several(about.days, "day")
    if about.days_shown != about.days:
        days = f"{about.days_shown:,} of {days}"
    return [
        (f"days on which {about.least:,} people or more were seen",
         f"{about.start} to {about.end}, {days}"),
    ]  # fmt: skip


def _rejected(about: OriginalData) -> Rows:
    """Say how many rows could not be used, if that is known."""
    if not about.rows:
        return []
    return [("rows that could not be used", count_of(about.rejected, about.rows))]


def _zone(numbers: Numbers) -> str:
    """Say whose clock days, nights and working hours are of."""
    if numbers.given.zone_known:
        return numbers.given.tz
    return (
        "not given: days, nights and working hours are taken in UTC, and are wrong where people "
        "live elsewhere"
    )


def _area(numbers: Numbers, km2: float | None) -> Rows:
    """Say how large the area is in which there are people enough to say so."""
    if km2 is None or numbers.utility is None:
        return []
    about = numbers.utility.together.map
    side = f"{about.side_m / 1000:g} km"
    return [
        ("area", f"{significant(km2)} km², in squares of {side} with {about.least} people or more")
    ]


def example_of(numbers: Numbers) -> list[str]:
    """Tell what an adversary would need to know, of somebody who does not exist."""
    rows = () if numbers.before is None else numbers.before.known()
    if not rows:
        return []
    enough = next((row for row in rows if row.share >= MOST_PEOPLE), rows[-1])
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
    few = enough.points
    texts = [
        (
            f"A colleague of Alma's gets the data, without names. He remembers {_times(few)} about "
            f"her: {'; '.join(facts[:few])}. He looks for records that fit."
        ),
        (
            f"In the original, {_times(few)} of that kind, picked at random, leave one person only "
            f"for {percent(enough.share, 0)} of people. He has found Alma, and with her record "
            "everything else: where she sleeps, whom she visits, when she is at the doctor's."
        ),
    ]
    k, proof = numbers.identical, numbers.verification
    after = () if numbers.after is None else numbers.after.known()
    if k and proof.ok:
        texts.append(
            f"In the release he finds {k} or more records that are exactly alike, or none, and "
            "cannot tell which is hers."
        )
    else:
        texts += [
            f"In the release, as many points leave one record only in {percent(row.share, 0)} of "
            "cases."
            for row in after
            if row.points == few
        ]
    return texts


def _times(number: int) -> str:
    small = ("", "one thing", "two things", "three things", "four things")
    return small[number] if number < len(small) else f"{number} things"


def _done(numbers: Numbers) -> list[str]:
    """Say what was done: what the manifest says of it, or what its settings show."""
    about, k = numbers.settings, numbers.verification.k
    if about.explanation:
        return list(about.explanation)
    if k is None:
        does = "It changes samples one by one and hides nobody in a crowd."
    else:
        does = f"It makes records equal until each is that of {k} people or more."
    return [f"The method is {about.method}. {does}"]


def _settings(about: Method) -> Rows:
    return [
        ("method", str(about.method)),
        *settings_in_words(about.settings, about.frame),
        *losses_in_words(about.losses),
        ("names of people", str(about.names)),
    ]


def _proof(numbers: Numbers) -> str:
    return (
        "For this report the written files were read again and checked by a part of incrowd that "
        "uses nothing of the part that made them: it decides by itself who is in which crowd and "
        "what is true. Both use the same reader of the original, the same grid, and the same "
        "libraries for files and maps; a fault in these would not show. Checked "
        f"{numbers.verification.scope}."
    )


def _left(numbers: Numbers) -> list[str]:
    precise = numbers.accuracy
    if precise is None:
        return ["What is left of the original could not be measured."]
    wide, long = (precise.sizes(axis).median for axis in ("space", "time"))
    unit = "A sample of the original is one cell and one slot of the grid."
    if wide is None or long is None:
        texts = [f"Half of the original samples or more lie in no published one. {unit}"]
    elif precise.of_samples:
        halves = f"at most {length(wide, 2)} wide, half in one at most {duration(long)} long"
        texts = [f"Half of the original samples lie in a published one {halves}. {unit}"]
    else:
        halves = f"at most {length(wide, 2)} wide, half at most {duration(long)} long"
        texts = [f"Half of the published samples are {halves}. {unit}"]
    if precise.errors is not None and precise.deleted is not None:
        (metres, minutes), held = precise.errors, 1 - precise.deleted
        texts.append(
            f"Of original samples that lie in a published one ({rounded_percent(held)}), the "
            f"middle of its rectangle is on average {length(metres, 2)} and {duration(minutes)} "
            "off."
        )
    return texts + (numbers.utility.words if numbers.utility else [])


def _cost(numbers: Numbers) -> dict[str, Any]:
    """Say what larger crowds would cost, as a table."""
    found = numbers.cost_of_k
    if found is None:
        return {}
    drawn = f"{_about(numbers, found.people)} people"
    who = (
        f"all {drawn}"
        if found.people == (numbers.sizes.original_people or found.people)
        else f"{drawn} drawn at random, who hide among themselves: they are farther apart than all "
        "are, so figures differ from those of the release"
    )
    heads = {
        "within_both": "precise to 2 km and 2 h",
        "within_2_km": "to 2 km",
        "within_2_hours": "to 2 h",
        "deleted": "left out",
        "homes": "homes within 1 km",
    }
    of = "of original samples, the last of people who have a home in the original"
    if all(row["homes"] is None for row in found.rows):
        del heads["homes"]  # nobody has one
        of = "of original samples"
    return {
        "says": (
            f"Measured on {who}, with the settings of this release and another k. How figures "
            f"fall from k to k is what to look at. Shares are {of}."
        ),
        "head": ("k", *heads.values()),
        "rows": [
            (
                f"{row['k']:g}",
                *("-" if row[name] is None else rounded_percent(row[name]) for name in heads),
            )
            for row in found.rows
        ],
    }


def _unsaid(numbers: Numbers) -> list[str]:
    """Say what is missing, and what for."""
    given, before = numbers.given, numbers.before
    texts: list[str] = []
    if not given.original:
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
    elif not given.record:
        texts.append(
            "What became of each person (errors of position and time, homes, workplaces, "
            "distances): the private record of who became whom was not given. What is true of "
            "everybody together is said."
        )
    if before is not None and before.k_gap is None:
        texts.append("How hard people were to hide: there is nobody to hide among.")
    if given.original and before is None:
        return ["Anything about people: the files of the release did not pass verification."]
    return texts


def commands_of(numbers: Numbers) -> str:
    """Give the commands, without the places of private files."""
    given = numbers.given
    how = f" {given.reading}" if given.reading else ""
    drawn = f" --attack-sample {given.targets} --seed {given.seed} --purpose {given.purpose}"
    drawn += f" --title {shlex.quote(numbers.title)}" if numbers.title else ""
    if not given.original:
        made = f"{_anonymize(numbers.settings)} READING -o RELEASE --record WHO.parquet"
        report = f"incrowd report RELEASE{drawn}{_own(numbers)}"
        return f"{made}\nincrowd verify RELEASE\n{report}"
    zone = f" --local-tz {given.tz}" if given.zone_known else ""
    if given.record:
        # The private record knows the original and how it was read.
        made = f"{_anonymize(numbers.settings)}{how} -o RELEASE --record WHO.parquet"
        beside = " --record WHO.parquet"
        zone = "" if f"--tz {given.tz}" in given.reading else zone
        beside += "" if given.reading else " --original DATA"
    else:
        made = f"{_anonymize(numbers.settings)} -o RELEASE --record WHO.parquet"
        beside = " --original DATA"
    report = f"incrowd report RELEASE{beside}{zone}{drawn}"
    return "\n".join([made, f"incrowd verify RELEASE{beside}", f"{report}{_own(numbers)}"])


def _own(numbers: Numbers) -> str:
    """Give the project file that sets the thresholds which were set for this report."""
    own = numbers.given.thresholds
    if not own:
        return ""
    lines = [f"{name} = [{green:g}, {amber:g}]" for name, (green, amber) in own.items()]
    return "\n".join([" --project incrowd.toml", "", "# in incrowd.toml", "[thresholds]", *lines])


def _anonymize(about: Method) -> str:
    """Give the command of a method that is registered, with every setting that has an option."""
    known = (each for each in MECHANISMS.items() if each[1].method == about.method)
    name, mechanism = next(known, (None, None))
    if mechanism is None:
        return "incrowd anonymize DATA --method METHOD SETTINGS"
    stated = about.in_metres_and_minutes()
    text = f"incrowd anonymize DATA --method {name}"
    for setting, option in options_of(mechanism).items():
        value = stated.get(option.stated or setting)
        if isinstance(value, bool):
            value = "yes" if value else "no"
        if isinstance(value, str | int | float):
            flag = option.flags[0] if option.flags else f"--{setting.replace('_', '-')}"
            text += f" {flag} {shlex.quote(value) if isinstance(value, str) else f'{value:.10g}'}"
    return text


def versions_of(numbers: Numbers) -> Rows:
    """Give versions, and the hashes of the release's own files."""
    made = numbers.made
    return [
        ("report made on", f"{made.date} (UTC)"),
        ("report made with", f"incrowd {made.incrowd}, Python {made.python}"),
        ("release made with", f"incrowd {made.release_made_with}"),
        *((f"SHA-256 of {name}", str(of.get("sha256"))) for name, of in made.files.items()),
    ]
