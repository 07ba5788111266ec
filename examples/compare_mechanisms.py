"""A researcher compares mechanisms: what each hides, and what it costs.

Every mechanism is applied to the same people. What an adversary still finds: random points that
are one person's alone, and people whom four well-chosen visits give away. What an analyst still
has: how fine the published samples are.

    python examples/compare_mechanisms.py                       a synthetic city
    python examples/compare_mechanisms.py cdr.parquet
"""

import sys

import polars as pl

import incrowd


def main() -> int:
    """Print a table: a row for each mechanism."""
    data = (
        incrowd.read(sys.argv[1])
        if len(sys.argv) > 1
        else incrowd.synthesize("city", users=400, seed=7)
    )
    gaps = incrowd.k_gap(data, k=[2, 5]).group_by("k", maintain_order=True)
    print(data)
    print("How much must be lost to hide a person (0 nothing, 1 everything), half of people up to:")
    for (k,), of_k in gaps:
        print(f"  k = {k}: {of_k['k_gap'].median():.3f}")

    mechanisms = {
        "nothing": None,
        "GLOVE, k = 2": lambda: incrowd.glove(data, k=2),
        "GLOVE, k = 5": lambda: incrowd.glove(data, k=5),
        "cloaking, 6 hours": lambda: incrowd.Cloak(minutes=360).protect(data),
        "grid of 2 km and 2 h": lambda: incrowd.Generalise(metres=2000, minutes=120).protect(data),
        "filtering, 3 people": lambda: incrowd.Filter(at_most=3).protect(data),
        "Geo-I, 0.004 per metre": lambda: incrowd.GeoI(epsilon=0.004).protect(data),
    }
    rows = []
    for name, protect in mechanisms.items():
        print(f"... {name}", file=sys.stderr)
        rows.append({"mechanism": name, **measured(data, protect() if protect else None)})
    with pl.Config(
        tbl_rows=-1, tbl_cols=-1, tbl_width_chars=120, tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True, tbl_formatting="MARKDOWN", float_precision=2,
    ):  # fmt: skip
        print(pl.DataFrame(rows))
    print("unique: four random places and hours are one record's alone; at risk: share of people")
    print("whom four visits, chosen to hurt, give away; km, h: half of published samples up to.")
    return 0


def measured(
    data: incrowd.Trajectories, made: "incrowd.Protected | incrowd.Release | None"
) -> dict:
    """Measure what is hidden and what is left; of the data as it is, if nothing was made."""
    after = data if made is None else made.trajectories
    hour = 3600 // data.frame.slot
    visits = incrowd.visits(after)
    risk = incrowd.risk(visits, "visit", k=4, precision=hour)["risk"]
    found = {
        "unique": incrowd.uniqueness(visits, points=4, precision=hour).share,
        "at risk": float((risk == 1).mean()),
    }
    if made is None:
        return found | {"km": data.frame.cell / 1000, "h": data.frame.slot / 3600, "lost": 0.0}
    left = incrowd.accuracy(incrowd.of_release(data, made))
    return found | {
        "km": left.space.median / 1000,
        "h": left.time.median / 60,
        "lost": left.samples_deleted / left.samples,
    }


if __name__ == "__main__":
    sys.exit(main())
