"""What commands say of the accuracy and the utility of a release, in words for everybody."""

from typing import TYPE_CHECKING

from incrowd.cli.telling import share, wrapped

if TYPE_CHECKING:
    from incrowd.evaluate.accuracy import Accuracy
    from incrowd.evaluate.spreads import Errors, Ratios
    from incrowd.evaluate.together import Together
    from incrowd.evaluate.utility import Persons

__all__ = ["accuracy_lines", "person_lines", "together_lines"]

NEAR = (1, 2, 7)
"""Kilometres that the paper names."""


def accuracy_lines(found: "Accuracy") -> list[str]:
    """Say how accurate a release is."""
    rows = {"people": f"{share(found.people_published, found.people)} are published"}
    if found.space is not None and found.time is not None:
        rows["published samples"] = (
            f"half are up to {_km(found.space.median)} wide and {_minutes(found.time.median)} "
            f"long; {_cent(found.fine)} up to 100 m and 30 min, {_cent(found.coarse)} up to 2 km "
            "and 2 h"
        )
    if found.samples_deleted is not None:
        rows["samples lost"] = share(found.samples_deleted, found.samples)
    for name, errors, say in (
        ("position", found.position_error, _km),
        ("time", found.time_error, _minutes),
    ):
        if errors is not None:
            rows[name] = (
                f"off by up to {say(errors.median)} for half of the samples, and by "
                f"{say(errors.mean)} on average"
            )
    if found.rows_created is not None:
        rows["samples made up"] = share(found.rows_created, found.rows)
    if found.rows_unseen is not None:
        rows["where nobody was"] = (
            f"{share(found.rows_unseen, found.rows)} say a place and time at which none of their "
            "people was seen"
        )
    return ["How accurate it is", "", *_rows(rows)]


def person_lines(found: "Persons") -> list[str]:
    """Say how each person has changed."""
    lines = [
        f"Person by person ({found.people:,} compared), in the release and in truth",
        "",
        f"{'place':<20}{'people':>10}{'the same':>11}"
        + "".join(f"{f'within {km} km':>14}" for km in NEAR)
        + f"{'half within':>14}",
    ]
    places = {
        "centre of all": found.centre_of_mass,
        "home (22 to 6 h)": found.home,
        "work (9 to 17 h)": found.work,
    }
    lines += [_error_line(name, errors) for name, errors in places.items()]
    lines += _without(places)
    heads = f"{'right':>11}{'within x 2':>14}{'a quarter':>14}{'median':>14}{'3 quarters':>14}"
    lines += ["", f"{'measure':<20}{'people':>10}{heads}"]
    measures = {
        "way travelled": found.travelled,
        "radius of gyration": found.gyration,
        "area of the hull": found.hull,
    }
    lines += [_ratio_line(name, ratios) for name, ratios in measures.items()]
    lines += wrapped(
        "",
        "Quarter, median and three quarters are of the value in the release over the true one (1: "
        "right; right is 0.9 to 1.1), of people whose true value is not 0.",
    )
    for name, ratios in measures.items():
        if ratios.static:
            lines += wrapped(
                "",
                f"{name}: {share(ratios.static, ratios.people)} is 0 in truth; "
                f"{ratios.static_kept:,} of them still.",
            )
    return lines


def together_lines(found: "Together") -> list[str]:
    """Say how everybody together has changed."""
    from incrowd.evaluate.words import words_of_together

    return ["Everybody together", "", *_rows(words_of_together(found))]


def _rows(rows: dict[str, str]) -> list[str]:
    return [line for name, value in rows.items() for line in wrapped(f"{name:<22}", value)]


def _error_line(name: str, errors: "Errors") -> str:
    shares = [errors.unaffected, *(errors.within[km] for km in NEAR)]
    widths = (11, 14, 14, 14)
    half = errors.quantiles[0.5]
    return (
        f"{name:<20}{errors.both:>10,}"
        + "".join(f"{_cent(value):>{width}}" for value, width in zip(shares, widths, strict=True))
        + f"{'-' if half is None else _km(1000 * half):>14}"
    )


def _without(places: dict[str, "Errors"]) -> list[str]:
    """Say who has no home or no work, because nothing was recorded in these hours."""
    lines = []
    for name, errors in places.items():
        most = max(errors.before, errors.after)
        if errors.both < most:
            lines += wrapped(
                "",
                f"{name}: {errors.before:,} have one in truth, {errors.after:,} in the release, "
                f"{errors.both:,} in both.",
            )
    return lines


def _ratio_line(name: str, ratios: "Ratios") -> str:
    cuts = (ratios.quantiles[cut] for cut in (0.25, 0.5, 0.75))
    return (
        f"{name:<20}{ratios.moving:>10,}{_cent(ratios.near):>11}{_cent(ratios.twofold):>14}"
        + "".join(f"{'-' if cut is None else f'{cut:.2f}':>14}" for cut in cuts)
    )


def _cent(part: float | None) -> str:
    return "-" if part is None else f"{part:.1%}"


def _km(metres: float) -> str:
    kilometre = 1000
    return f"{metres:.0f} m" if metres < kilometre else f"{metres / kilometre:.3g} km"


def _minutes(minutes: float) -> str:
    return f"{minutes:.0f} min"
