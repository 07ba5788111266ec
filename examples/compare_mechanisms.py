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

    mechanisms = [
        incrowd.Glove(k=2),
        incrowd.Glove(k=5),
        incrowd.Cloak(minutes=360),
        incrowd.Generalise(metres=2000, minutes=120),
        incrowd.Filter(at_most=3),
        incrowd.GeoI(epsilon=0.004),
    ]
    rows = [{"mechanism": "nothing", **measured(data, None)}]
    for mechanism in mechanisms:
        print(f"... {mechanism}", file=sys.stderr)
        rows.append({"mechanism": named(mechanism), **measured(data, mechanism.protect(data))})
    with pl.Config(
        tbl_rows=-1, tbl_cols=-1, tbl_width_chars=120, tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True, tbl_formatting="MARKDOWN", float_precision=2,
    ):  # fmt: skip
        print(pl.DataFrame(rows))
    print("unique: four random places and hours are one record's alone; at risk: share of people")
    print("whom four visits, chosen to hurt, give away; km, h: half of published samples up to;")
    print("lost: samples that no published box holds.")
    return 0


def named(mechanism: incrowd.Mechanism) -> str:
    """Name a mechanism with those of its settings that are numbers."""
    numbers = {
        name: value for name, value in mechanism.settings.items() if isinstance(value, int | float)
    }
    return " ".join([type(mechanism).__name__, *(f"{name}={numbers[name]:g}" for name in numbers)])


def measured(data: incrowd.Trajectories, made: "incrowd.ProtectionResult | None") -> dict:
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
