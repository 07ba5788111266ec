"""How to make a release and its report again: commands, versions, hashes."""

from collections.abc import Mapping
from typing import Any

__all__ = ["commands_of", "versions_of"]

Rows = list[tuple[str, str]]
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
    drawn = f" --targets {given['targets']} --seed {given['seed']}"
    if given["original"]:
        record = " --record WHO.parquet" if given["record"] else ""
        lines.append(f"incrowd verify RELEASE --original DATA{record}")
        zone = "" if given["tz"] == "UTC" else f" --local {given['tz']}"
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
