"""An engineer's monthly job: read, anonymize, verify, publish; a log, and an exit status.

It can be started again at any time: a release that is there and holds is left alone, an interrupted
run goes on from its checkpoint, and nothing half-written is ever found under the final name.

    python examples/monthly_job.py                              a synthetic month, in a new folder
    python examples/monthly_job.py 'data/2026-05/*.csv.gz' releases/2026-05 --private private

Status: 0 published (or there already), 1 not published because a check failed or too much is lost,
4 the input cannot be used. The private folder has the record of who became whom: it must not lie in
the release.
"""

import argparse
import logging
import sys
import tempfile
import warnings
from pathlib import Path

import incrowd

log = logging.getLogger("monthly")

PUBLISHED, REFUSED, BAD_INPUT = 0, 1, 4
MOST_LOST = 0.2  # of the people, and of the samples


def main() -> int:
    """Run the job as it was asked for."""
    parser = argparse.ArgumentParser(description="Anonymize one month and publish it.")
    parser.add_argument("data", nargs="?", help="a file, a folder or a quoted pattern")
    parser.add_argument("release", nargs="?", type=Path, help="the directory to publish")
    parser.add_argument("--private", type=Path, help="where checkpoint and record are kept")
    parser.add_argument("--k", type=int, default=3, help="people in every crowd, at least")
    asked = parser.parse_args()

    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(levelname)-7s %(message)s")
    logging.captureWarnings(capture=True)  # what incrowd warns of goes to the log, never away
    warnings.simplefilter("always", incrowd.errors.IncrowdWarning)

    if asked.data is None:
        folder = Path(tempfile.mkdtemp(prefix="monthly-job-"))
        data, release, private = folder / "calls.csv.gz", folder / "release", folder / "private"
        incrowd.write(incrowd.synthesize("city", users=300, seed=11), data)
        for attempt in ("first run", "started again by mistake"):
            log.info("--- %s", attempt)
            status = run(str(data), release, private, k=asked.k)
        return status
    if asked.release is None:
        parser.error("the release needs a name")
    return run(
        asked.data, asked.release, asked.private or asked.release.parent / "private", asked.k
    )


def run(source: str, release: Path, private: Path, k: int) -> int:
    """Publish one month, once."""
    try:
        if release.exists():
            found = incrowd.verify(release, k=k)
            log.info("%s is there, and %s", release.name, "holds" if found.ok else "DOES NOT HOLD")
            return PUBLISHED if found.ok else REFUSED
        return publish(source, release, private, k)
    except (incrowd.errors.VerificationError, incrowd.errors.LossError) as error:
        log.error("not published: %s", error)  # noqa: TRY400  the message is all there is to say
        return REFUSED
    except incrowd.errors.InputError as error:
        log.error("the input cannot be used: %s", error)  # noqa: TRY400
        return BAD_INPUT


def publish(source: str, release: Path, private: Path, k: int) -> int:
    """Read, hide everybody, write, verify, and only then give the release its name."""
    private.mkdir(exist_ok=True)
    data = incrowd.read(source, max_bad=0.01)  # more bad rows than 1 % is an error
    log.info("read %s", data)
    for reason, rows in data.reading.rejects.counts.items():
        log.warning("%d rows rejected: %s", rows, reason)

    checkpoint = private / "merges.checkpoint"
    hidden = incrowd.glove(data, k=k, checkpoint=checkpoint)
    log.info("lost: %s", dict(hidden.losses))

    done = incrowd.publish(
        hidden,
        release,
        original=data,
        record=private / "who-became-whom.parquet",
        max_lost=MOST_LOST,
    )
    passed = sum(check.ok is True for check in done.verification.checks)
    log.info("%d of %d checks passed on the written files", passed, len(done.verification.checks))

    pair = incrowd.of_release(data, hidden)
    figures = incrowd.accuracy(pair)
    log.info("%.0f%% of samples are precise to 2 km and 2 h", 100 * figures.samples_coarse)
    checkpoint.unlink()
    log.info("published %s: %s people", release.name, f"{done.manifest.sizes['people']:,}")
    return PUBLISHED


if __name__ == "__main__":
    sys.exit(main())
