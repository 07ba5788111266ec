"""A chart of trade-offs: what several settings or mechanisms leave, beside each other."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from incrowd._charts import BLUE, GREEN, ORANGE, data_of, share_axis, styled
from incrowd.errors import ArgumentError
from incrowd.evaluate._utility.accuracy import Accuracy

if TYPE_CHECKING:
    import altair as alt

__all__ = ["plot_trade_off"]


PUBLISHED, KEPT, DETAIL = (
    "people published",
    "samples kept",
    "samples in boxes up to 2 km and 2 h",
)


def plot_trade_off(accuracies: "Mapping[Any, Accuracy]") -> "alt.Chart":
    """Return a chart (Altair) of what is left with several settings: more privacy, less detail.

    Parameters
    ----------
    accuracies
        What :func:`incrowd.accuracy` gave, by what was asked for: ``{2: ..., 5: ...}`` for several
        k, or by the names of mechanisms. In the order in which they are to be drawn.

    Returns
    -------
    altair.Chart
        For each the share of people who are published, of samples that are kept, and of samples
        that lie in a box of up to 2 km and 2 h. The latter two need to know who became whom, and
        are left out otherwise.

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
    chart = (
        alt.Chart(data_of(rows))
        .mark_line(point=alt.OverlayMarkDef(size=60))
        .encode(
            x=alt.X("with:N", sort=None, title=None, axis=alt.Axis(labelAngle=0)),
            y=share_axis("share", "left of the original"),
            color=alt.Color("what:N", scale=scale),
            strokeDash=alt.StrokeDash("what:N", scale=alt.Scale(domain=drawn)),
            tooltip=[
                alt.Tooltip("with:N"),
                alt.Tooltip("what:N"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    found: alt.Chart = styled(chart, "What is left, by what was asked for")
    return found
