"""A chart of trade-offs: what several settings or mechanisms leave, beside each other."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from incrowd._charts import BLUE, GREEN, ORANGE, data_of, share_axis, styled
from incrowd.errors import ArgumentError
from incrowd.evaluate._utility.accuracy import Accuracy

if TYPE_CHECKING:
    import altair as alt

__all__ = ["plot_trade_off"]


SHAPES = ["circle", "square", "triangle-up"]
PUBLISHED, KEPT, DETAIL = (
    "people published",
    "samples kept",
    "samples in boxes up to 2 km and 2 h",
)


def plot_trade_off(accuracies: "Mapping[Any, Accuracy]") -> "alt.LayerChart":
    """Return a chart (Altair) of what is left with several settings: more privacy, less detail.

    Parameters
    ----------
    accuracies
        What :func:`incrowd.accuracy` gave, by what was asked for: ``{2: ..., 5: ...}`` for several
        k, or by the names of mechanisms. In the order in which they are to be drawn.

    Returns
    -------
    altair.LayerChart
        For each the share of people who are published, of samples that are kept, and of samples
        that lie in a box of up to 2 km and 2 h. The latter two need to know who became whom, and
        are left out otherwise. Settings that are numbers are joined by lines; mechanisms, which
        have no order, are not. Marks stand beside each other, so that equal ones are all seen.

    Raises
    ------
    ArgumentError
        If there is nothing to draw, or something else than an `Accuracy`.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> made = {k: incrowd.of_release(city, incrowd.glove(city, k)) for k in (2, 5)}
    >>> chart = incrowd.plot_trade_off({k: incrowd.accuracy(pair) for k, pair in made.items()})
    >>> len(chart.to_dict()["data"]["values"])
    6
    """
    import altair as alt

    if not isinstance(accuracies, Mapping) or not accuracies:
        raise ArgumentError("accuracies must be a mapping such as {2: accuracy, 5: accuracy}")
    rows: list[dict[str, Any]] = []
    for name, one in accuracies.items():
        if not isinstance(one, Accuracy):
            raise ArgumentError(
                f"accuracies[{name!r}] must be an Accuracy, as incrowd.accuracy gives, not "
                f"{type(one).__name__}"
            )
        shares = {
            PUBLISHED: one.people_published / one.people if one.people else None,
            KEPT: None if one.deleted is None else 1 - one.deleted,
            DETAIL: one.samples_coarse,
        }
        rows += [
            {"with": str(name), "what": what, "share": share}
            for what, share in shares.items()
            if share is not None
        ]
    drawn = list(dict.fromkeys(row["what"] for row in rows))
    colours = {PUBLISHED: ORANGE, KEPT: BLUE, DETAIL: GREEN}
    scale = alt.Scale(domain=drawn, range=[colours[what] for what in drawn])
    base = alt.Chart().encode(
        x=alt.X("with:O", sort=None, title=None, axis=alt.Axis(labelAngle=0),
                scale=alt.Scale(type="band", paddingInner=0.6, paddingOuter=0.3)),
        xOffset=alt.XOffset("what:N", sort=drawn),
        y=share_axis("share", "left of the original"),
        color=alt.Color("what:N", scale=scale, legend=alt.Legend(columns=1, symbolOpacity=1)),
        tooltip=[
            alt.Tooltip("with:N"),
            alt.Tooltip("what:N"),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )  # fmt: skip
    shapes = alt.Scale(domain=drawn, range=SHAPES[: len(drawn)])
    parts = [base.mark_point(size=80, filled=True, opacity=1).encode(
        shape=alt.Shape("what:N", scale=shapes)
    )]  # fmt: skip
    ordered = all(isinstance(name, int | float) for name in accuracies)
    if ordered and list(accuracies) in (sorted(accuracies), sorted(accuracies, reverse=True)):
        parts.insert(0, base.mark_line(strokeWidth=2))
    chart = alt.layer(*parts, data=data_of(rows))
    found: alt.LayerChart = styled(chart, "What is left, by what was asked for")
    return found
