"""The figures of a report as files, in the colours of the light page, and its numbers."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from incrowd._atomic import replacing
from incrowd.report._figures import charts
from incrowd.report._figures.chart import solid
from incrowd.report._figures.maps import drawings

__all__ = [
    "write_figures",
]


SCALE = 2.0
PAPER = "#ffffff"


def write_figures(
    numbers: Mapping[str, Any],
    folder: str | os.PathLike[str],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Write every figure as NAME.svg and NAME.png, and numbers.json; all of them or none.

    Parameters
    ----------
    numbers
        Those of a report.
    folder
        A new directory.
    progress
        Called with the figures written, and all.
    """
    import json

    import vl_convert

    figures = list(_figures(numbers))
    names: list[str] = []
    with replacing(folder, directory=True) as part:
        for done, (name, svg) in enumerate(figures):
            if progress:
                progress(done, len(figures))
            (part / f"{name}.svg").write_text(svg, encoding="utf-8")
            (part / f"{name}.png").write_bytes(vl_convert.svg_to_png(svg, scale=SCALE))
            names += [f"{name}.svg", f"{name}.png"]
        text = json.dumps(numbers, indent=2, allow_nan=False) + "\n"
        (part / "numbers.json").write_text(text, encoding="utf-8")
    return [*names, "numbers.json"]


def _figures(numbers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for chart in charts(numbers):
        yield chart.name, _on_paper(solid(chart.svg()))
    for drawing in drawings(numbers):
        for part, svg in drawing.parts.items():
            yield f"{drawing.name}-{part}", _on_paper(solid(svg))


def _on_paper(svg: str) -> str:
    """Give a drawing a ground, for what is transparent is black in some readers."""
    head, rest = svg.split(">", 1)
    box = head.split('viewBox="', 1)[1].split('"', 1)[0].split()
    x, y, wide, high = box
    if " width=" not in head:
        head += f' width="{wide}" height="{high}"'
    ground = f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" fill="{PAPER}"/>'
    return f"{head}>{ground}{rest}"
