"""Making and reading a dataset of the size of d4d-civ, and four times that.

Side by side with pandas: the same CSV, parsed, projected by pyproj, put on the same grid, repeats
dropped, sorted and grouped by person. Both in processes of their own, imports included; the
answers are compared.
"""

from benchmarks.common import FOLDER, dataset, incrowd, machine, python, row

PEOPLE = 82_728
SUM = (
    "from zlib import crc32\n"
    "import numpy as np\n"
    "print(len(t), crc32(np.ascontiguousarray(t, np.int64).tobytes()),"
    " crc32(np.ascontiguousarray(x, np.int64).tobytes()),"
    " crc32(np.ascontiguousarray(y, np.int64).tobytes()))\n"
)
READ = """
import incrowd
data = incrowd.read({path!r}, memory={memory!r})
frame = data.frame
t, x, y = data.t0, data.x0, data.y0
"""
PANDAS = """
import numpy as np, pandas as pd, pyproj
rows = pd.read_csv({path!r}, parse_dates=["timestamp"])
plane = pyproj.Transformer.from_crs("EPSG:4326", {crs!r}, always_xy=True)
x, y = plane.transform(rows["lon"].to_numpy(), rows["lat"].to_numpy())
rows["x"] = np.floor(x / 100).astype(np.int32)
rows["y"] = np.floor(y / 100).astype(np.int32)
rows["t"] = (rows["timestamp"].dt.as_unit("s").astype("int64") - {origin}) // 60
rows = rows[["user", "t", "x", "y"]].drop_duplicates().sort_values(["user", "t", "x", "y"])
people = {{user: person for user, person in rows.groupby("user", sort=False)}}
t, x, y = rows["t"].to_numpy(), rows["x"].to_numpy(), rows["y"].to_numpy()
"""


def main() -> None:
    """Print the table."""
    machine()
    print("| what | time | peak memory | claim |\n|---|---|---|---|")
    fresh = FOLDER / "fresh.parquet"
    fresh.unlink(missing_ok=True)
    FOLDER.mkdir(exist_ok=True)
    row(
        "`synth civ` to Parquet",
        incrowd("synth", "civ", "-o", str(fresh), "--seed", "1"),
        "at most 90 s",
    )
    fresh.replace(FOLDER / f"civ-{PEOPLE}.parquet")
    csv = dataset("civ", PEOPLE, "csv")
    parquet = dataset("civ", PEOPLE, "parquet")
    from_parquet = python(READ.format(path=str(parquet), memory=None) + SUM)
    row("`read` civ from Parquet", from_parquet, "at most 30 s, 4 GB")
    from_csv = python(READ.format(path=str(csv), memory=None) + SUM)
    row("`read` civ from CSV", from_csv, "at most 90 s, 4 GB")
    code = READ.format(path=str(csv), memory=None) + "print(frame.crs, frame.origin, sep=';')"
    crs, origin = python(code).output.split(";")
    baseline = PANDAS.format(path=str(csv), crs=crs, origin=origin)
    pandas = python(baseline + SUM)
    row("the same with pandas, pyproj, groupby", pandas, "")
    large = dataset("civ", 4 * PEOPLE, "csv")
    row(
        "`read` of a CSV four times as large, `memory='4GB'`",
        python(READ.format(path=str(large), memory="4GB") + SUM),
        "within 4 GB",
    )
    print(f"\nCSV against pandas: {pandas.seconds / from_csv.seconds:.1f} times faster", end=", ")
    print(f"{pandas.gigabytes / from_csv.gigabytes:.1f} times less memory")
    same = from_csv.output == pandas.output == from_parquet.output
    print("the same samples" if same else "DIFFERENT SAMPLES", from_csv.output, pandas.output)


if __name__ == "__main__":
    main()
