"""Charts of the k-gap, which comes as a table."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from incrowd._arguments import must_be
from incrowd._charts import DASHES, PALETTE, data_of, share_axis, styled
from incrowd.data._columns import as_polars
from incrowd.errors import ColumnError

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = [
    "gap_chart",
    "plot_k_gap",
]


STEPS = 100


def plot_k_gap(gaps: "pl.DataFrame") -> "alt.Chart":
    """Return a chart (Altair) of how the k-gap is spread (figure 6 of the paper of 2021).

    Parameters
    ----------
    gaps
        What :func:`incrowd.k_gap` gave, for one k or for several; as a frame of pandas, too.

    Returns
    -------
    altair.Chart
        The share of people whose k-gap is at most so much, a line for each k. It holds shares only,
        and nobody's k-gap or name.

    Raises
    ------
    ColumnError
        If the table has no column ``k_gap``.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> chart = incrowd.plot_k_gap(incrowd.k_gap(city, [2, 5]))
    >>> sorted({row["k"] for row in chart.to_dict()["data"]["values"]})
    ['k = 2', 'k = 5']
    """
    import polars as pl

    if type(gaps).__module__.partition(".")[0] in ("pandas", "pyarrow"):
        gaps = as_polars(gaps)
    must_be("gaps", gaps, pl.DataFrame, "give the table that incrowd.k_gap returns")
    if "k_gap" not in gaps.columns:
        raise ColumnError(f"no column 'k_gap'; found: {', '.join(gaps.columns) or 'none'}")
    if "k" not in gaps.columns:
        near = gaps["nearest"].list.len().max() if "nearest" in gaps.columns else None
        gaps = gaps.with_columns(k=pl.lit(None if near is None else int(str(near)) + 1, pl.Int32))
    rows = []
    for part in gaps.sort("k", maintain_order=True).partition_by("k", maintain_order=True):
        name = "everybody" if part["k"][0] is None else f"k = {part['k'][0]}"
        rows += [
            {"k": name, "gap": at / STEPS, "share": (part["k_gap"] <= at / STEPS).mean()}
            for at in range(STEPS + 1)
        ]
    return gap_chart(rows)


def gap_chart(rows: Sequence[Mapping[str, Any]]) -> "alt.Chart":
    """Return a chart of rows of k, gap and share."""
    import altair as alt

    names = list(dict.fromkeys(row["k"] for row in rows))
    colours = [PALETTE[i % len(PALETTE)] for i in range(len(names))]
    dashes = [DASHES[i % len(DASHES)] for i in range(len(names))]
    chart = (
        alt.Chart(data_of(rows))
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("gap:Q", title="k-gap: 0 hidden already, 1 nothing would be left"),
            y=share_axis("share", "people with at most this k-gap"),
            color=alt.Color("k:N", sort=None, scale=alt.Scale(domain=names, range=colours)),
            strokeDash=alt.StrokeDash("k:N", scale=alt.Scale(domain=names, range=dashes)),
            tooltip=[
                alt.Tooltip("k:N"),
                alt.Tooltip("gap:Q", format=".2f"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    found: alt.Chart = styled(chart, "How far people are from those who are most like them")
    return found
