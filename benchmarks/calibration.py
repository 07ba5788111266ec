"""Measure a synthetic dataset against the figures that it should have.

``python -m benchmarks.calibration civ-v2 --users 5000 --seed 1`` makes the dataset, a block at a
time, and prints one JSON object; with ``--hiding`` also how hard its people are to hide among two,
and how many a grid of 20 km and 480 minutes hides (section 5 of GLOVE, 2021).

Radius of gyration: the root of the mean squared distance of a person's samples to their mean.
Confined to one city: 90 % of the samples or more lie within 20 km of the place where the person was
seen most. Places are cells of a thousandth of a degree, which hold at most one antenna each. Days
are local.
"""

import argparse
import json
from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

import incrowd
from incrowd._numba import Floats
from incrowd.data._synthetic.generate import antennas, stream
from incrowd.data._synthetic.geography import LocalProjection, scale_land
from incrowd.data._synthetic.presets import Preset, find_preset

__all__ = ["main", "measure", "people_figures"]

_CITY = 20_000.0
_MOSTLY = 0.9
_CELLS = 1_000  # a degree


def measure(preset: str, *, users: int | None = None, seed: int = 0) -> dict[str, object]:
    """Make a dataset and give its figures.

    Parameters
    ----------
    preset, users, seed
        As given to `incrowd.data._synthetic.generate.stream`.
    """
    settings = find_preset(preset)
    sensors = settings.kind == "sensors"
    seen: list[pl.DataFrame] = []
    figures: list[pl.DataFrame] = []
    for batch in stream(preset, users=users, seed=seed):
        figures.append(people_figures(batch, settings))
        if sensors:
            seen.append(_records(batch))
    people = pl.concat(figures)
    samples = int(people["samples"].sum())
    radius = people["radius_km"].to_numpy()
    land = scale_land(settings.land, people.height / settings.users)
    return {
        "preset": preset,
        "seed": seed,
        "people": people.height,
        "samples": samples,
        "samples_per_person_hour": samples / (people.height * settings.days * 24),
        "samples_per_person": _spread(people["samples"].cast(pl.Float64).to_numpy()),
        "radius_of_gyration_km": {"mean": float(radius.mean())} | _spread(radius),
        "confined_to_one_city": float(people["confined"].mean()),  # type: ignore[arg-type]
        "places_per_person": _spread(people["places"].cast(pl.Float64).to_numpy()),
        "days_present": _spread(people["days"].cast(pl.Float64).to_numpy()),
        "antennas": antennas(preset, users=users, seed=seed).num_rows,
        "area_km2": land.area,
        **(_sensor_figures(pl.concat(seen), people.height * settings.days) if sensors else {}),
    }


def hiding(preset: str, *, users: int | None = None, seed: int = 0) -> dict[str, object]:
    """Give how hard people are to hide, as section 5 of the paper of 2021 tells it."""
    data = incrowd.synthesize(preset, users=users, seed=seed)
    found = incrowd.anonymizability(data, [2], [(20_000, 480)])
    (gaps,), (level,), causes = found.gaps, found.levels, found.causes
    return {
        "k_gap": {"median": gaps.median, "p80": gaps.percentile_80, "mean": gaps.mean},
        "already_hidden": gaps.already_hidden,
        "hidden_by_20_km_and_480_min": level.hidden,
        "heavy_tails": {"time": causes.time.heavy, "space": causes.space.heavy},
        "no_tail_defined_in_space": causes.space.undefined,
        "time_above_space": causes.time_above_space,
        "mostly_time": causes.mostly_time,
        "only_time": causes.only_time,
    }


def _records(batch: pa.RecordBatch) -> pl.DataFrame:
    """Count the records of each person, sensor and place."""
    rows = pl.DataFrame(pl.from_arrow(batch)).select("user", "sensor", "place")
    return rows.with_columns(pl.col("sensor").cast(pl.String)).group_by(pl.all()).len()


def _sensor_figures(records: pl.DataFrame, person_days: int) -> dict[str, object]:
    """Give what each sensor records, and how many of its places one person only has seen."""
    rates = records.group_by("sensor").agg(pl.col("len").sum() / person_days).sort("sensor")
    places = records.drop_nulls("place").group_by("sensor", "place").agg(pl.len())
    alone = places.group_by("sensor").agg((pl.col("len") == 1).mean()).sort("sensor")
    return {
        "records_per_person_day": dict(rates.iter_rows()),
        "places_seen_by_one_person": dict(alone.iter_rows()),
    }


def _spread(values: Floats) -> dict[str, float]:
    """Give the extremes, the quartiles and the start of the tail."""
    names = {"min": 0, "q1": 25, "median": 50, "q3": 75, "p99": 99, "max": 100}
    return {name: float(np.percentile(values, share)) for name, share in names.items()}


def people_figures(batch: pa.RecordBatch | pa.Table, preset: Preset) -> pl.DataFrame:
    """Give a row of figures for each person of a batch.

    Parameters
    ----------
    batch
        Rows of whole people.
    preset
        Of which dataset they are.

    Returns
    -------
    polars.DataFrame
        Columns `user`, `samples`, `places`, `radius_km`, `confined` and `days`.
    """
    rows = pl.DataFrame(pl.from_arrow(batch)).select("user", "timestamp", "lat", "lon")
    local = pl.col("timestamp").dt.convert_time_zone(preset.timezone)
    days = rows.group_by("user").agg(local.dt.date().n_unique().alias("days"))
    cells = [(pl.col(axis) * _CELLS).floor().alias(f"{axis}_cell") for axis in ("lat", "lon")]
    places = (
        rows.group_by("user", *cells)
        .agg(pl.len(), pl.col("lat").mean(), pl.col("lon").mean())
        .sort("user", "len", "lat_cell", "lon_cell")
    )
    x, y = LocalProjection(preset).metres(places["lat"].to_numpy(), places["lon"].to_numpy())
    places = places.with_columns(pl.Series("x", x / 1e3), pl.Series("y", y / 1e3))
    weight = pl.col("len") / pl.col("len").sum()
    # The last place of each person is the one seen most.
    from_home = (pl.col("x") - pl.col("x").last()) ** 2 + (pl.col("y") - pl.col("y").last()) ** 2
    off_x = pl.col("x") - (pl.col("x") * weight).sum()
    off_y = pl.col("y") - (pl.col("y") * weight).sum()
    figures = places.group_by("user", maintain_order=True).agg(
        pl.col("len").sum().alias("samples"),
        pl.len().alias("places"),
        ((off_x**2 + off_y**2) * weight).sum().sqrt().alias("radius_km"),
        (((from_home <= (_CITY / 1e3) ** 2) * weight).sum() >= _MOSTLY).alias("confined"),
    )
    return figures.join(days, on="user")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures of the dataset that the command line names."""
    parser = argparse.ArgumentParser(description="Measure a synthetic dataset.")
    parser.add_argument("preset")
    parser.add_argument("--users", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hiding", action="store_true")
    given = parser.parse_args(arguments)
    figures = measure(given.preset, users=given.users, seed=given.seed)
    if given.hiding:
        figures |= hiding(given.preset, users=given.users, seed=given.seed)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
