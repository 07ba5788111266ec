"""Methods of ``incrowd anonymize`` that hide nobody in a crowd: their options and their words.

What commands say of a release: what was lost, what was verified, what holds and what not.
"""

import textwrap
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._format import count_of as share
from incrowd.cli.measure import WIDTH
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from pathlib import Path

    from incrowd.data._trajectories import Trajectories
    from incrowd.evaluate._publish import Publication
    from incrowd.protect._mechanism import Mechanism, Protected

__all__ = [
    "OPTIONS",
    "AtMost",
    "CloakTo",
    "Epsilon",
    "Method",
    "Metres",
    "Minutes",
    "NoiseSeed",
    "as_plain",
    "blur",
    "lines_of",
    "losses_in",
    "mechanism_of",
    "proof",
    "refuse_options",
    "share",
    "wrapped",
]


def wrapped(start: str, text: str) -> list[str]:
    """Break a text into lines that stand below its own start."""
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))


def losses_in(data: "Trajectories", rows: list[tuple[str, str]]) -> list[str]:
    """Say what was lost, in rows of a name and a value, and what was not understood at all."""
    if data.reading is not None and data.reading.rejects.total:
        rejected = share(data.reading.rejects.total, data.reading.rows)
        rows = [*rows, ("rows not understood", f"{rejected}; incrowd describe tells why")]
    return [line for name, value in rows for line in wrapped(f"{name:<22}", value)]


def blur(trajectories: "Trajectories") -> list[str]:
    """Say how wide and how long published samples are."""
    import numpy as np

    x0, x1, y0, y1, t0, t1 = trajectories.columns
    weight = np.repeat(trajectories.crowd, trajectories.lengths())
    wide = np.repeat(np.maximum(x1 - x0, y1 - y0), weight) * trajectories.frame.cell / 1000
    long = np.repeat(t1 - t0, weight) * trajectories.frame.slot / 60
    ends = [np.quantile(of, (0.5, 0.9)) for of in (wide, long)]
    (km, kms), (minutes, most) = ends
    return wrapped(
        f"{'published samples':<22}",
        f"half are up to {km:.3g} km wide and {minutes:,.0f} min long, nine in ten up to "
        f"{kms:.3g} km and {most:,.0f} min",
    )


def proof(done: "Publication") -> list[str]:
    """Say what was verified, and against what the release holds and does not hold."""
    manifest, found = done.manifest, done.verification
    lines = ["", f"Verified, on the written files, {found.scope}:"]
    for check in found.checks:
        lines += wrapped(f"  {check.name:<14}{'ok' if check.ok else '-':<4}", check.says)
    lines += ["", "It holds against"]
    for threat in manifest.holds_against or ["nothing"]:
        lines += wrapped("- ", threat)
    lines.append("It does not hold against")
    for threat in manifest.fails_against:
        lines += wrapped("- ", threat)
    return lines


def as_plain(data: "Trajectories", done: "Publication", record: "Path | None") -> dict[str, Any]:
    """Give everything for machines."""
    manifest = done.manifest
    return {
        "ok": True,
        "release": str(done.path),
        "record": None if record is None else str(record),
        "people": len(data),
        "samples": data.samples,
        "published": dict(manifest.sizes),
        "losses": dict(manifest.losses),
        "method": manifest.method,
        "settings": dict(manifest.settings),
        "frame": dict(manifest.frame),
        "verification": done.verification.to_dict(),
        "holds_against": list(manifest.holds_against),
        "fails_against": list(manifest.fails_against),
        "reading": None if data.reading is None else data.reading.as_dict(),
    }


_PANEL = "Other methods; none of them hides anybody in a crowd"

Method = StrEnum(
    "Method",
    [
        ("glove", "glove"),
        ("filter", "filter"),
        ("cloak", "cloak"),
        ("generalise", "generalise"),
        ("geo_i", "geo-i"),
    ],
)
OPTIONS = {
    "glove": ("k", "variant", "reshape", "max_space", "max_time", "suppress", "checkpoint"),
    "filter": ("at_most",),
    "cloak": ("cloak",),
    "generalise": ("metres", "minutes"),
    "geo-i": ("epsilon", "noise_seed"),
}
"""The options that belong to one method and to no other."""


def _option(text: str, name: str, show: str) -> Any:
    return typer.Option(name, help=text, rich_help_panel=_PANEL, metavar=show)


AtMost = Annotated[
    int | None,
    _option("filter: places visited by at most N people go.", "--at-most", "N"),
]
CloakTo = Annotated[
    str | None,
    _option(
        "cloak: times become slots of so many minutes, or an hour, day, week, month (30 days); "
        "all: no time is left.",
        "--cloak",
        "MIN",
    ),
]
Metres = Annotated[
    float | None, _option("generalise: positions become cells of this side.", "--metres", "M")
]
Minutes = Annotated[
    float | None, _option("generalise: times become slots of this length.", "--minutes", "MIN")
]
Epsilon = Annotated[
    str | None,
    _option(
        "geo-i: noise on every position, in 1/m; low, medium, high are 0.01, 0.004, 0.001.",
        "--epsilon",
        "E",
    ),
]
NoiseSeed = Annotated[
    int | None,
    _option(
        "geo-i: for tests, noise that anybody can draw again; marked as not for release.",
        "--noise-seed",
        "N",
    ),
]


def refuse_options(context: typer.Context, method: str) -> None:
    """Refuse options that belong to another method than the chosen one."""
    named = {option.name: option.opts[0] for option in context.command.params}
    for owner, options in OPTIONS.items():
        for name in options:
            source = context.get_parameter_source(name)
            if owner != method and source is not None and source.name == "COMMANDLINE":
                own = " or ".join(named[option] for option in OPTIONS[method])
                why = ", which hides nobody in a crowd" if name == "k" else ""
                raise ArgumentError(
                    f"{named[name]} belongs to --method {owner}, not to {method}{why}; "
                    f"{method} takes {own}"
                )


def mechanism_of(context: typer.Context, method: str) -> "Mechanism":
    """Make the mechanism that was asked for; refuse it without its settings."""
    given = context.params
    if all(given[name] is None for name in OPTIONS[method]):
        examples = {
            "filter": "--at-most 3",
            "cloak": "--cloak 60",
            "generalise": "--metres 1000 or --minutes 60 or both",
            "geo-i": "--epsilon 0.01",
        }
        raise ArgumentError(f"--method {method} needs {examples[method]}")
    if method == "filter":
        from incrowd.protect._spatial_filtering import Filter

        if given["at_most"] < 1:
            raise ArgumentError(f"--at-most must be at least 1, not {given['at_most']}")
        return Filter(given["at_most"])
    if method == "cloak":
        return _cloak(given["cloak"])
    if method == "generalise":
        from incrowd.protect._generalisation import Generalise

        return Generalise(given["metres"], given["minutes"])
    return _noise(given["epsilon"], given["noise_seed"])


def _cloak(text: str) -> "Mechanism":
    from incrowd.protect._generalisation import SPANS, Cloak

    if text == "all":
        return Cloak(None)
    try:
        return Cloak(SPANS[text] if text in SPANS else float(text))
    except ValueError as error:
        raise ArgumentError(
            f"--cloak takes minutes above 0, or {', '.join(SPANS)}, or all, not {text!r}"
        ) from error


def _noise(text: str | None, seed: int | None) -> "Mechanism":
    from incrowd.protect._geo_indistinguishability import LEVELS, GeoI

    if text is None:
        raise ArgumentError("--method geo-i needs --epsilon 0.01 (in 1/m), or low, medium, high")
    if seed is not None and seed < 0:
        raise ArgumentError(f"--noise-seed is a whole number from 0 on, not {seed}")
    try:
        return GeoI(LEVELS[text] if text in LEVELS else float(text), seed=seed)
    except ValueError as error:
        raise ArgumentError(
            f"--epsilon takes a finite number above 0, in 1/m, or {', '.join(LEVELS)}, not {text!r}"
        ) from error


def lines_of(data: "Trajectories", protected: "Protected", done: "Publication") -> list[str]:
    """Say in lines what was published and lost, how many stand alone, and what is promised."""
    people, samples, sizes = len(data), data.samples, done.manifest.sizes
    crowds = done.verification["k-anonymity"].figures
    losses = dict(protected.losses)
    alone = (
        f"{share(crowds['people_alone'], sizes['people'])} have a record that nobody shares; "
        "k-anonymity is not promised"
    )
    rows = [
        ("people", f"{sizes['people']:,} of {people:,} are published"),
        ("people alone", alone),
        ("people dropped", share(losses.pop("people_dropped"), people)),
    ]
    rows += [
        (name.replace("_", " "), share(count, samples) if "sample" in name else f"{count:,}")
        for name, count in losses.items()
    ]
    return [*losses_in(data, rows), *blur(protected.trajectories), *proof(done)]
