"""The decision about a release: who decided what, when, on which files; and whether it still holds.

::

    release, report ──> sign ──> decision.json ──> verify: same release, same report, same decision
    (a page that was filled in on screen brings its answers along)

A decision lies beside the release, not in it: it names the person who signed, and the recipient
needs no such thing. It holds the SHA-256 of every file of the release and of the report, and of
itself, so that a later change of any of them shows. It is no cryptographic signature: whoever can
write the file can write another one. Where that matters, sign the file with what the organisation
uses for documents.
"""

import hashlib
import html.parser
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import incrowd
from incrowd._atomic import replacing
from incrowd._file_errors import read_json, read_text, reading_file
from incrowd._format import several
from incrowd._summary import Summarised, Summary
from incrowd.data._manifest import MANIFEST, read_release, seal
from incrowd.errors import ArgumentError, UnreadableError
from incrowd.evaluate._verify.result import Check, failed

__all__ = [
    "DECISIONS",
    "Decision",
    "check_decision",
    "decision_beside",
    "read_decision",
    "report_beside",
    "sign",
]

KIND, VERSION = "incrowd decision", 1
DECISIONS = {
    "share": "share it",
    "conditions": "share it with conditions",
    "refuse": "do not share it",
}
_ALLOWED = {"yes": ("share", "conditions"), "conditions": ("conditions",), "no": ()}
"""What may be decided without a reason, by the report's answer; to refuse always may be."""
_ANSWERS = {
    "yes": "it may be shared",
    "conditions": "it may be shared with conditions",
    "no": "do not share it",
}
LEAST_REASON = 10
"""Letters of a reason, at least."""
BLANK = "______"
FILLED_BY = {
    "The recipient is named here and bound by a contract: ______.": "recipient",
    "The data is deleted when the task is done, on this date at the latest: ______.": "retention",
    "The data is deleted on this date at the latest: ______.": "retention",
}
"""What is asked for elsewhere fills the blank of a condition that the report proposes."""
_HEADLINES = {
    "yes": re.compile(r"This release may be shared (?!.*, with conditions: )"),
    "conditions": re.compile(r"This release may be shared .*, with conditions: "),
    "no": re.compile("Do not share this release"),
}
_BLANK = re.compile("__")
_SHARED = re.compile(r"\A\s*\d+\.\s*")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Decision(Summarised):
    """What was decided about a release.

    Attributes
    ----------
    decision
        ``"share"``, ``"conditions"`` or ``"refuse"``.
    name, date
        Who decided, and when (UTC).
    conditions, recipient, retention
        What was asked of the recipient, who that is and what for, and until when it is kept.
    verdict, headline, purpose, thresholds
        What the report said, for which purpose, and by which thresholds: for each light and
        question, when it is green, amber and red, and who says so.
    reason
        Why it was decided so, if that was said; always where it is decided otherwise than the
        report says.
    signature
        What was typed where the page asks for date and signature.
    release, report
        The files that were decided on: name, size and SHA-256.
    """

    kind: str = KIND
    version: int = VERSION
    incrowd: str = incrowd.__version__
    decision: str
    name: str
    date: str
    conditions: tuple[str, ...] = ()
    recipient: str | None = None
    retention: str | None = None
    verdict: str
    headline: str
    purpose: str
    thresholds: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
    signature: str | None = None
    release: Mapping[str, Mapping[str, Any]]
    report: Mapping[str, Any]
    sha256: str | None = field(default=None, compare=False)

    @property
    def follows(self) -> bool:
        """Whether it is decided as the report says, or more carefully."""
        return self.decision == "refuse" or self.decision in _ALLOWED.get(self.verdict, ())

    def to_json(self) -> str:
        """Return all of it, sealed by its own hash."""
        fields = asdict(self) | {"sha256": None}
        digest = hashlib.sha256(_text(fields).encode()).hexdigest()
        return _text(fields | {"sha256": digest})

    def _summary(self) -> Summary:
        facts = {
            "decision": DECISIONS[self.decision],
            "by": self.name,
            "on": self.date,
            "report": f"{_ANSWERS.get(self.verdict, self.verdict)} ({self.purpose})",
        }
        facts |= {
            name: value
            for name, value in (
                ("recipient", self.recipient),
                ("until", self.retention),
                ("because" if self.follows else "against the report, because", self.reason),
            )
            if value
        }
        return Summary("Decision about a release", facts, notes=list(self.conditions))


def report_beside(release: str | os.PathLike[str]) -> Path:
    """Return where the report of a release lies unless another place is named: beside it.

    Examples
    --------
    >>> from incrowd.evaluate._decision import report_beside
    >>> report_beside("shared/march").as_posix()
    'shared/march-report.html'
    """
    return _beside(Path(release), "report.html")


def _usual_report(release: Path) -> Path:
    """Return the report of a release: the page beside it, also if it is called report.html."""
    page, other = report_beside(release), release.with_name("report.html")
    return page if page.is_file() or not other.is_file() else other


def decision_beside(release: str | os.PathLike[str]) -> Path:
    """Return where the decision about a release lies unless another place is named: beside it."""
    return _beside(Path(release), "decision.json")


def _beside(release: Path, name: str) -> Path:
    # A run keeps release, report and decision in a folder of its own.
    folder = release.absolute().parent
    if release.name == "release" and (folder / "run.json").is_file():
        return release.parent / name
    return release.with_name(f"{release.name}-{name}")


def sign(
    path: str | os.PathLike[str],
    *,
    decision: str | None = None,
    name: str | None = None,
    report: str | os.PathLike[str] | None = None,
    conditions: Iterable[str] = (),
    recipient: str | None = None,
    retention: str | None = None,
    reason: str | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Decision:
    """Write down what was decided about a release, with the hashes of what was decided on.

    Parameters
    ----------
    path
        The release.
    decision
        ``"share"``, ``"conditions"`` or ``"refuse"``.
    name
        Who decides: name and role.
    report
        The report that was read: the page beside the release unless given. If it was filled in on
        screen and saved, its answers hold for whatever is not given here.
    conditions, recipient, retention
        What is asked of the recipient, who that is and what for, and when the data is deleted.
    reason
        Why it is decided otherwise than the report says.
    output
        The file to write; beside the release unless given.
    overwrite
        Whether a decision that is there may be replaced.

    Raises
    ------
    UnreadableError
        If the release or the report cannot be read, or the release was changed.
    ArgumentError
        If something is missing, the report is of another release, or it advises against what was
        decided and no reason is given.

    Examples
    --------
    >>> import tempfile
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=12, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release, page = f"{folder}/release", f"{folder}/report.html"
    ...     _ = incrowd.publish(incrowd.glove(city, k=3), release, original=city, draws=50)
    ...     _ = incrowd.report.make(release, targets=5).save(page)
    ...     made = incrowd.sign(release, decision="refuse", name="A. Diop", report=page)
    >>> made.decision, made.verdict
    ('refuse', 'conditions')
    """
    folder = Path(path)
    files = dict(read_release(folder).manifest.files) | {MANIFEST: seal(folder / MANIFEST)}
    page = _usual_report(folder) if report is None else Path(report)
    numbers, filled = _read_report(page)
    _refuse_other(numbers, files, page, folder)
    verdict = numbers.get("verdict") or {}
    chosen = _given("decision", decision, filled)
    if chosen not in DECISIONS:
        raise ArgumentError(f"decision must be one of {', '.join(DECISIONS)}, not {chosen!r}")
    asked = tuple(conditions) or tuple(_lines(filled.get("conditions", "")))
    answer = str(verdict.get("answer"))
    _refuse_changed(page, answer, str(verdict.get("headline")))
    reason = reason or filled.get("reason")
    if reason is not None and len(reason.strip()) < LEAST_REASON:
        raise ArgumentError(f"{reason!r} is no reason; say it in a sentence")
    if chosen != "refuse" and chosen not in _ALLOWED.get(answer, ()) and not reason:
        raise ArgumentError(
            f"the report says: {verdict.get('headline')} To decide otherwise ({chosen}), give the "
            "reason (--reason)"
        )
    if chosen == "conditions" and not asked:
        raise ArgumentError("a decision with conditions must name them (--condition)")
    recipient = recipient or filled.get("recipient") or None
    retention = retention or filled.get("retention") or None
    if chosen == "conditions":
        asked = _filled_in(asked, recipient=recipient, retention=retention)
    given = numbers.get("given") or {}
    found = Decision(
        decision=chosen,
        name=_given("name", name, filled),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        conditions=asked if chosen == "conditions" else (),
        recipient=recipient,
        retention=retention,
        verdict=answer,
        headline=str(verdict.get("headline")),
        purpose=str(given.get("purpose")),
        thresholds=_thresholds(verdict),
        reason=reason,
        signature=filled.get("date"),
        release=files,
        report={"name": page.name, **seal(page)},
    )
    place = decision_beside(folder) if output is None else Path(output)
    if (place.absolute().parent / MANIFEST).exists():
        raise ArgumentError(f"{place} lies in a release; a decision lies outside of it")
    with replacing(place, overwrite=overwrite) as part:
        part.write_text(found.to_json(), encoding="utf-8")
    return found


def read_decision(path: str | os.PathLike[str]) -> Decision:
    """Read a decision; what it says is not checked against anything but its form.

    Raises
    ------
    UnreadableError
        If it is none.
    """
    file = Path(path)
    with reading_file(file, "the decision", document=True):
        fields = read_json(file, "the decision")
        if not isinstance(fields, dict) or fields.get("kind") != KIND:
            raise UnreadableError(f"{file} is no decision of incrowd", file=file)
        if fields.get("version") != VERSION:
            raise UnreadableError(
                f"{file} is a decision of version {fields.get('version')!r}; this incrowd reads "
                f"version {VERSION}",
                file=file,
            )
        found = Decision(**fields | {"conditions": tuple(fields.get("conditions", ()))})
        _refuse_malformed(found, file)
        return found


def _refuse_malformed(found: Decision, file: Path) -> None:
    """Refuse a decision whose values are not what they should be."""
    maps = found.thresholds, found.release, found.report, *dict(found.release).values()
    texts = found.decision, found.name, found.date, found.verdict, found.headline, found.purpose
    if (
        found.decision not in DECISIONS
        or not all(isinstance(each, Mapping) for each in maps)
        or not all(isinstance(each, str) for each in (*texts, *found.conditions))
        or not all(isinstance(each, str | None) for each in (found.reason, found.recipient))
    ):
        raise UnreadableError(
            f"{file} is damaged: it is no decision as incrowd writes it", file=file
        )


def check_decision(
    release: str | os.PathLike[str],
    path: str | os.PathLike[str],
    report: str | os.PathLike[str] | None = None,
) -> Check:
    """Check whether a decision is about this release as it is, and allows to share it.

    Parameters
    ----------
    release
        The release.
    path
        The decision.
    report
        The report; beside the decision, under the name that it had, unless given. If it is not
        there, that is said and does not fail.

    Examples
    --------
    >>> import tempfile
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=12, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release, page = f"{folder}/release", f"{folder}/report.html"
    ...     _ = incrowd.publish(incrowd.glove(city, k=3), release, original=city, draws=50)
    ...     _ = incrowd.report.make(release, targets=5).save(page)
    ...     _ = incrowd.sign(release, decision="refuse", name="A. Diop", report=page)
    ...     incrowd.evaluate.check_decision(release, f"{folder}/release-decision.json").says
    'Does not hold: it was decided by A. Diop not to share this release.'
    """
    file, folder = Path(path), Path(release)
    found = read_decision(file)
    wrong: list[str] = []
    if file.read_text(encoding="utf-8") != found.to_json():
        wrong.append("the decision was changed after it was written")
    here = {entry.name for entry in folder.iterdir() if entry.is_file()}
    for name, known in found.release.items():
        if name not in here or seal(folder / name) != dict(known):
            wrong.append(f"{name} is not the file that was decided on")
    wrong += [f"{name} was added after the decision" for name in sorted(here - {*found.release})]
    page = file.with_name(str(found.report.get("name"))) if report is None else Path(report)
    seen = "the report is not here"
    if page.is_file():
        seen = "the report is the one that was read"
        known = {name: found.report.get(name) for name in ("bytes", "sha256")}
        if seal(page) != known:
            wrong.append("the report is not the one that was read")
    if found.decision == "refuse":
        why = f", because: {found.reason.rstrip('.')}" if found.reason else ""
        wrong.append(f"it was decided by {found.name} not to share this release{why}")
    figures = {"decision": found.decision, "date": found.date, "wrong": len(wrong)}
    if wrong:
        return failed("decision", f"Does not hold: {'; '.join(wrong)}.", figures)
    how = f"{DECISIONS[found.decision]}, {found.purpose}"
    if found.conditions:
        how += f" ({several(len(found.conditions), 'condition')})"
    if found.reason and not found.follows:
        how += (
            f"; AGAINST the report, which says: {_ANSWERS.get(found.verdict, found.verdict)}; "
            f"because: {found.reason.rstrip('.')}"
        )
    says = f"Decided by {found.name} on {found.date[:10]}: {how}. Every file is as it was; {seen}."
    noted = not found.follows or not page.is_file()
    return Check("decision", ok=True, says=says, figures=figures, noted=noted)


class _Page(html.parser.HTMLParser):
    """Takes the numbers and the answers out of a report."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers, self.answers = "", dict[str, str]()
        self._into: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = dict(attrs)
        if tag == "script" and of.get("id") == "numbers":
            self._into = "numbers"
        elif tag == "textarea":
            self._into = of.get("name")
        elif tag == "input" and of.get("name"):
            radio = of.get("type") == "radio"
            if not radio or "checked" in of:
                self.answers[str(of["name"])] = of.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "textarea"):
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._into == "numbers":
            self.numbers += data
        elif self._into is not None:
            self.answers[self._into] = self.answers.get(self._into, "") + data


def _read_report(page: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the numbers of a report, and the answers that were filled in."""
    if not page.exists():
        raise UnreadableError(
            f"there is no report {page}; make one with incrowd report, or name it with --report",
            file=page,
        )
    text = read_text(page, "the report")
    found = _Page()
    found.feed(text)
    try:
        numbers = read_json(page, "the report", text=found.numbers)
    except UnreadableError as error:
        raise UnreadableError(f"{page} is no report of incrowd", file=page) from error
    if not isinstance(numbers, dict):
        raise UnreadableError(f"{page} is no report of incrowd", file=page)
    return numbers, {name: text.strip() for name, text in found.answers.items() if text.strip()}


def _refuse_other(
    numbers: Mapping[str, Any], files: Mapping[str, Any], page: Path, folder: Path
) -> None:
    """Refuse a report that is of another release."""
    known = (numbers.get("made") or {}).get("files") or {}
    tables = [name for name in known if name.startswith("trajectories")]
    if not tables or any(
        (known[name] or {}).get("sha256") != (files.get(name) or {}).get("sha256")
        for name in tables
    ):
        raise ArgumentError(
            f"{page} is the report of another release than {folder}: the hashes of the rows differ"
        )


def _refuse_changed(page: Path, answer: str, headline: str) -> None:
    """Refuse a page whose answer is not the one of its own headline: somebody has changed it."""
    if answer not in _HEADLINES or not _HEADLINES[answer].match(headline):
        raise ArgumentError(
            f"{page} was changed: its answer ({answer}) is not that of its headline ({headline})"
        )


def _thresholds(verdict: Mapping[str, Any]) -> dict[str, str]:
    """Return by which thresholds a report judged: those of its lights and questions."""
    found = {}
    for each in (*(verdict.get("lights") or ()), *(verdict.get("questions") or ())):
        source = f" ({each['source']})" if each.get("source") else ""
        if each.get("thresholds"):
            found[str(each.get("about") or each.get("name"))] = f"{each['thresholds']}{source}"
    return found


def _given(what: str, value: str | None, filled: Mapping[str, str]) -> str:
    found = value or filled.get(what)
    option = "signer" if what == "name" else what
    if not found:
        raise ArgumentError(
            f"the {what} is missing: give --{option}, or fill it in on the page, save that, and "
            "name it with --report"
        )
    return found


def _filled_in(conditions: tuple[str, ...], **given: str | None) -> tuple[str, ...]:
    """Fill the blanks of proposed conditions with what is given; refuse those that stay."""
    found, missing = [], []
    for each in conditions:
        option = FILLED_BY.get(each)
        value = given.get(option) if option else None
        text = each if value is None else each.replace(BLANK, value.rstrip(". "))
        found.append(text)
        if _BLANK.search(text):
            how = (
                f"give --{option}" if option else "give every condition, filled in, by --condition"
            )
            missing.append(f"{text} ({how})")
    if missing:
        raise ArgumentError(
            f"a condition has a blank that is not filled in: {'; '.join(missing)}",
            hint="fill it in by the options that are named, or on the page, and save that",
        )
    return tuple(found)


def _lines(text: str) -> list[str]:
    """Return conditions that were written line by line, without their numbers."""
    return [_SHARED.sub("", line).strip() for line in text.splitlines() if line.strip()]


def _text(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
