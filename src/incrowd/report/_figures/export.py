"""The figures of a report as files, in the colours of the light page, and its numbers."""

import json
import os
from collections.abc import Callable

from incrowd._atomic import replacing
from incrowd.report._figures import charts
from incrowd.report._figures.chart import solid
from incrowd.report._numbers import Numbers

__all__ = [
    "write_figures",
]


SCALE = 2.0
PAPER = "#ffffff"


def write_figures(
    numbers: Numbers,
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
    import vl_convert

    figures = [
        (name, _on_paper(solid(svg)))
        for chart in charts(numbers)
        for name, svg in chart.svgs().items()
    ]
    names: list[str] = []
    with replacing(folder, directory=True) as part:
        for done, (name, svg) in enumerate(figures):
            if progress:
                progress(done, len(figures))
            (part / f"{name}.svg").write_text(svg, encoding="utf-8")
            (part / f"{name}.png").write_bytes(vl_convert.svg_to_png(svg, scale=SCALE))
            names += [f"{name}.svg", f"{name}.png"]
        text = json.dumps(numbers.as_dict(), indent=2, allow_nan=False) + "\n"
        (part / "numbers.json").write_text(text, encoding="utf-8")
    return [*names, "numbers.json"]


def _on_paper(svg: str) -> str:
    """Give a drawing a ground, for what is transparent is black in some readers."""
    head, rest = svg.split(">", 1)
    box = head.split('viewBox="', 1)[1].split('"', 1)[0].split()
    x, y, wide, high = box
    ground = f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" fill="{PAPER}"/>'
    return f"{head}>{ground}{rest}"
