"""What a release says about itself, as a report repeats it."""

import datetime as dt
import platform
from collections.abc import Mapping
from typing import Any

import incrowd
from incrowd.data.manifest import PAGE, Manifest

__all__ = ["made_with", "settings_in", "sizes_in"]


def made_with(manifest: Manifest) -> dict[str, Any]:
    """Say with what the report was made, and of what."""
    files = {name: _mapping(known) for name, known in manifest.files.items() if name != PAGE}
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "incrowd": incrowd.__version__,
        "python": platform.python_version(),
        "release_made_with": manifest.incrowd,
        "files": files,
    }


def settings_in(manifest: Manifest) -> dict[str, Any]:
    """Say how the release was made, and what was lost."""
    return {
        "method": manifest.method,
        "settings": _mapping(manifest.settings),
        "frame": _mapping(manifest.frame),
        "losses": _mapping(manifest.losses),
        "names": manifest.names,
        "holds_against": _texts(manifest.holds_against),
        "fails_against": _texts(manifest.fails_against),
    }


def _mapping(value: Any) -> dict[str, Any]:
    """Give names and values; none where a manifest that was tampered with has something else."""
    return dict(value) if isinstance(value, Mapping) else {}


def _texts(values: Any) -> list[str]:
    return [str(value) for value in values] if isinstance(values, list | tuple) else []


def sizes_in(
    manifest: Manifest, published: int | None = None, people: int | None = None
) -> dict[str, Any]:
    """Give the sizes of the release, and which share of people is not in it."""
    sizes = _mapping(manifest.sizes)
    if published is not None and people:
        sizes["original_people"] = people
        sizes["dropped_share"] = max(0.0, 1 - published / people)
    return sizes
