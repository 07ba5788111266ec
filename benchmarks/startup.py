"""``incrowd --help`` answers at once: nothing heavy is imported before it is needed."""

from benchmarks.common import incrowd, machine, python


def main() -> None:
    """Print the times."""
    machine()
    helps = sorted(incrowd("--help").seconds for _ in range(10))
    bare = sorted(python("pass").seconds for _ in range(10))
    heavy = python("import duckdb, numba, polars, pyarrow, pyproj").seconds
    print(f"incrowd --help: median {helps[5]:.2f} s, slowest {helps[9]:.2f} s (claim: under 0.4 s)")
    print(f"Python alone: {bare[5]:.2f} s; importing all that incrowd uses: {heavy:.2f} s")


if __name__ == "__main__":
    main()
