"""Full disks."""

from collections.abc import Iterator
from pathlib import Path


def tries(seed: int, scratch: Path) -> Iterator[tuple[str, str | None]]:
    yield "none", None
