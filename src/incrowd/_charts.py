"""Charts of results, as Altair objects: what the `plot` of every result has in common.

Colours are those of a report, and text is of a grey that is read on light pages and on dark ones;
there is no background. Altair is imported when a chart is drawn. A chart holds what it shows
(shares, by what was asked for), and no person.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

__all__ = [
    "BLUE",
    "DASHES",
    "GREEN",
    "ORANGE",
    "PALETTE",
    "data_of",
    "in_words",
    "share_axis",
    "styled",
]


ORANGE, BLUE, GREEN = "#d9622b", "#2f8ac4", "#1a9c76"
PALETTE = (ORANGE, BLUE, GREEN, "#9467bd", "#b58900", "#d6589f", "#6b7d8c")
"""Of lines, of which there may be any number; their dashes come round at another number."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
GREY = "#7a7f85"
"""Has a contrast of 4 with white and with black."""
WIDTH, HEIGHT = 420, 260
LONGEST = 400
"""So many pixels may the text of a legend take."""


def data_of(rows: Sequence[Mapping[str, Any]]) -> "alt.Data":
    """Return rows as the data of a chart."""
    import altair as alt

    return alt.Data(values=[dict(row) for row in rows])  # type: ignore[no-untyped-call]


def share_axis(name: str, title: str) -> "alt.Y":
    """Return a vertical axis of shares, from none to all."""
    import altair as alt

    return alt.Y(
        f"{name}:Q", title=title, axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
    )


def styled(chart: Any, title: str, *, width: int = WIDTH, height: int = HEIGHT) -> Any:
    """Return a chart with its title, its size, and colours for light and dark pages."""
    text = {"labelColor": GREY, "titleColor": GREY, "titleFontWeight": "normal"}
    if not hasattr(chart, "hconcat"):
        chart = chart.properties(width=width, height=height)
    return (
        chart.properties(title=title)
        .configure(background="transparent")
        .configure_view(stroke=None)
        .configure_axis(**text, gridOpacity=0.3, gridColor=GREY, domainColor=GREY, tickColor=GREY)
        .configure_legend(
            labelColor=GREY, titleColor=GREY, orient="top", title=None, labelLimit=LONGEST
        )
        .configure_header(**text)
        .configure_title(color=GREY, anchor="start", fontWeight="normal")
    )


def in_words(size: float, *, metres: bool) -> str:
    """Return a width in metres or a length in minutes as the label of an axis.

    Examples
    --------
    >>> in_words(2000, metres=True), in_words(30, metres=False), in_words(480, metres=False)
    ('2 km', '30 min', '8 h')
    """
    unit, large, names = (1000, 1000, ("m", "km")) if metres else (60, 60, ("min", "h"))
    return f"{size:g} {names[0]}" if size < large else f"{size / unit:g} {names[1]}"
