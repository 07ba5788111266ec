"""What commands say of a release: what was lost, what was verified, what holds and what not."""

import textwrap
from typing import TYPE_CHECKING, Any

from incrowd.cli.measure import WIDTH

if TYPE_CHECKING:
    from pathlib import Path

    from incrowd.data.trajectories import Trajectories
    from incrowd.evaluate.publish import Publication

__all__ = ["as_plain", "blur", "losses_in", "proof", "share", "wrapped"]


def wrapped(start: str, text: str) -> list[str]:
    """Break a text into lines that stand below its own start."""
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))


def share(part: int, whole: int) -> str:
    """Say how many of how many."""
    return f"{part:,} of {whole:,} ({part / whole:.1%})" if part else f"none of {whole:,}"


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
