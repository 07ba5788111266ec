"""A privacy officer decides whether a file may leave the company.

Reads a file of who was where and when, says how exposed people are in it, hides everybody in a
crowd of three or more, has the written release verified, and puts a report into it: the page that
she reads and signs.

    python examples/privacy_officer.py                          a synthetic city, in a new folder
    python examples/privacy_officer.py calls.csv --tz Africa/Dakar --folder decision/
"""

import argparse
import sys
import tempfile
from pathlib import Path

import incrowd

STATES = {True: "ok", False: "failed", None: "not checked"}


def main() -> int:
    """Take a file to a decision; the status is 0 if it may be shared, 1 if not."""
    parser = argparse.ArgumentParser(description="From a file to a verdict and a report.")
    parser.add_argument("data", nargs="?", help="CSV or Parquet; a synthetic city unless given")
    parser.add_argument("--tz", default="Africa/Abidjan", help="the time zone of the people")
    parser.add_argument("--k", type=int, default=3, help="people in every crowd, at least")
    parser.add_argument("--folder", type=Path, help="where to write; a new folder unless given")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="privacy-officer-"))
    folder.mkdir(exist_ok=True)

    source = asked.data
    if source is None:
        source = folder / "city.csv"
        incrowd.write(incrowd.synthesize("city", users=400, seed=7), source)
    data = incrowd.read(source, tz=asked.tz)
    print(f"The data: {data}")

    # Before: how few places and hours single somebody out?
    hour = 3600 // data.frame.slot
    before = incrowd.uniqueness(incrowd.visits(data), points=4, precision=hour).share
    print(f"Four known places and hours single out {before:.0%} of people: names removed or not,")
    print("this file must not be shared as it is.\n")

    # Hide, write, verify: the release is there only if its verification passed.
    hidden = incrowd.glove(data, k=asked.k)
    release, record = folder / "release", folder / "who-became-whom.parquet"
    done = incrowd.publish(hidden, release, original=data, record=record)
    for check in done.verification.checks:
        print(f"  {check.name:<13} {STATES[check.ok]}")
    print()

    # The page that she reads and signs; the same on a terminal.
    report = incrowd.report.make(release, original=data, record=record, tz=asked.tz)
    page = report.save(release.with_name(f"{release.name}-report.html"), overwrite=True)
    print("\n".join(report.lines()))
    print(f"\nTo read and sign:     {page}")
    print(f"To share:             {release}")
    print(f"To keep, in private:  {record}")
    return int(report.verdict.answer == "no")


if __name__ == "__main__":
    sys.exit(main())
