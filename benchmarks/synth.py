"""Making every preset, whole, as a Parquet file; the kernels are compiled before."""

from benchmarks.common import FOLDER, incrowd, machine, row

PRESETS = (
    ("civ", 82_728),
    ("sen", 286_926),
    ("city", 2_000),
    ("city", 1_000_000),
    ("florence", 9_715),
    ("pisa", 2_280),
    ("campus", 100),
)


def main() -> None:
    """Print the table."""
    machine()
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "fresh.parquet"
    for preset in ("city", "pisa", "campus"):
        incrowd("synth", preset, "-o", str(path), "--users", "3", "--overwrite")
    print("| what | time | peak memory | claim |\n|---|---|---|---|")
    for preset, users in PRESETS:
        run = incrowd("synth", preset, "-o", str(path), "--users", str(users), "--overwrite")
        claim = "at most 90 s" if preset == "civ" else ""
        row(f"`synth {preset}`, {users:,} people", run, claim)
    path.unlink()


if __name__ == "__main__":
    main()
