"""Numbers of a report, made by hand."""

from typing import Any

NAMES = ("files", "rows", "sizes", "names", "k-anonymity", "membership", "coverage", "linkage")


def checks(smallest: int | None = 3, **results: bool | None) -> list[dict[str, Any]]:
    """Give checks that hold, but for those that are named."""
    return [
        {
            "name": name,
            "ok": results.get(name.replace("-", "_"), True),
            "says": f"The {name}.",
            "figures": {"smallest": smallest} if name == "k-anonymity" and smallest else {},
        }
        for name in NAMES
    ]


def numbers(
    smallest: int | None = 3,
    k: int | None = 3,
    *,
    ok: bool = True,
    unique: tuple[float, ...] = (),
    **results: bool | None,
) -> dict[str, Any]:
    """Give numbers of a release of which nothing but its files is known."""
    return {
        "title": None,
        "made": {
            "date": "2012-03-19", "incrowd": "1", "python": "3", "release_made_with": "1",
            "files": {},
        },
        "given": {"original": False, "record": False, "tz": "UTC", "targets": 500, "seed": 0},
        "settings": {
            "method": "GLOVE", "settings": {"k": k}, "frame": {"cell": 100.0, "slot": 60},
            "losses": {}, "names": "random", "holds_against": [], "fails_against": [],
        },
        "verification": {
            "ok": ok, "k": k, "scope": "the files alone", "claims": "",
            "checks": checks(smallest, **results), "limits": [],
        },
        "sizes": {"people": 90, "samples": 900},
        "before": None,
        "after": {"uniqueness": rows(*unique)} if unique else None,
        "accuracy": None,
        "utility": None,
        "drawn": [],
    }  # fmt: skip


def rows(*shares: float, kind: str = "spatio_temporal") -> list[dict[str, Any]]:
    """Give uniqueness by one point, two points and so on."""
    return [
        {"kind": kind, "points": points, "share": share, "low": share, "high": share}
        for points, share in enumerate(shares, 1)
    ]


def sharp(space: float = 1.0, time: float = 1.0, **more: float) -> dict[str, Any]:
    """Give the figures of accuracy."""
    return {"figures": {"space_2km": space, "time_2h": time, "both_coarse": space * time} | more}


def within(home: float | None, work: float | None) -> dict[str, Any]:
    """Give what became of homes and workplaces."""
    return {"persons": {name: {"within": {"0.5": 0.0, "1": share, "2": 1.0}}
                        for name, share in (("home", home), ("work", work))}}  # fmt: skip
