"""No release holds an identifier of the input, a path of it, or the time of day of its making.

::

    people with names that can be recognised ──> read ──> mechanism, settings ──> publish
        ──> every byte of every file, and every value of every column ──> what of it is found

Every release is verified as well, with the original and the private record.

    python -m benchmarks.torture.identifiers 500 [SEED]
"""

import datetime as dt
import random
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

__all__ = ["small_releases"]

LEAST = 7
"""Letters of an identifier, at least: shorter ones occur by chance."""
LETTERS = "abcdefghkmnpqrstuvwxyzABCDEFGHKMNPQRSTUVWXYZ"
ODD = "éßñøæłžşАбвГдЖабв漢字カナ한글ابتஅஆ\U0001f600\U0001f6b6"
START = dt.datetime(2024, 3, 5, tzinfo=dt.UTC)


def small_releases(seed: int, scratch: Path) -> Iterator[tuple[str, str | None]]:
    """Publish random data in random ways and look for what must not be there, again and again.

    Yields
    ------
    tuple
        What was published, and what was found; None if nothing was.
    """
    number = 0
    while True:
        dice = random.Random(f"{seed}/{number}")
        folder = scratch / f"source-{dice.randbytes(6).hex()}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        what, failed = _try(dice, folder)
        kind = what.partition("(")[0]
        yield f"{kind}: {what} (seed {seed}, number {number})", failed
        shutil.rmtree(folder, ignore_errors=True)
        number += 1


def _try(dice: random.Random, folder: Path) -> tuple[str, str | None]:
    import incrowd
    from incrowd.errors import IncrowdError, LossError

    people = _names(dice, dice.randrange(4, 14))
    path = folder / f"calls-{dice.randbytes(5).hex()}{dice.choice(('.csv', '.parquet', '.csv.gz'))}"
    _write(dice, people, path)
    mechanism = _mechanism(dice)
    form = dice.choice(("parquet", "csv"))
    what = f"{mechanism}, {len(people)} people, {path.suffix}, {form}"
    release, record = folder / "release", folder / "who.parquet"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            data = incrowd.read(path, cell=dice.choice((100, 250)), slot=dice.choice((60, 300)))
            begun = dt.datetime.now(dt.UTC)
            incrowd.publish(
                mechanism.protect(data), release, original=data, format=form, record=record,
                draws=5,
            )  # fmt: skip
            ended = dt.datetime.now(dt.UTC)
            found = incrowd.verify(release, record=record, draws=5)
        except (LossError, IncrowdError) as error:
            # Of some people nothing can be left; of a release that does not verify, nothing may.
            refused = "verif" not in type(error).__name__.lower() and not release.exists()
            return f"{what}: refused", None if refused else f"{type(error).__name__}: {error}"
        except Exception as error:  # noqa: BLE001  that is what is looked for
            return what, f"{type(error).__name__}: {error}"
    if not found.ok:
        return what, f"does not verify: {[check.name for check in found.failed]}"
    return what, _told(release, people, path, begun, ended)


def _names(dice: random.Random, number: int) -> list[str]:
    """Give identifiers that nobody could take for anything else."""

    def name() -> str:
        size = dice.randrange(LEAST, 15)
        kind = dice.randrange(4)
        if kind == 0:
            return str(dice.randrange(10**11, 10**12))
        letters = ODD if kind == 1 else LETTERS
        text = "".join(dice.choice(letters) for _ in range(size))
        return f"{text}@{text[:3]}.example" if kind == 2 else text

    return sorted({name() for _ in range(number)})


def _write(dice: random.Random, people: list[str], path: Path) -> None:
    """Write their calls: homes near one another, and days that are alike."""
    rows = []
    for person in people:
        home = 5.3 + dice.random() / 20, -4.0 + dice.random() / 20
        for _ in range(dice.randrange(1, 25)):
            moment = START + dt.timedelta(minutes=dice.randrange(3 * 1440))
            spread = dice.choice((0.0, 0.001, 0.02))
            lat, lon = (side + spread * dice.random() for side in home)
            rows.append((person, moment, round(lat, 5), round(lon, 5)))
    dice.shuffle(rows)
    table = pl.DataFrame(rows, ["user", "time", "lat", "lon"], orient="row")
    if path.suffix == ".parquet":
        table.write_parquet(path)
        return
    text = table.write_csv(datetime_format="%Y-%m-%dT%H:%M:%SZ").encode()
    if path.suffix == ".gz":
        import gzip

        text = gzip.compress(text)
    path.write_bytes(text)


def _mechanism(dice: random.Random) -> Any:
    """Give a mechanism with settings drawn at random."""
    from incrowd.protect import MECHANISMS

    draw: dict[str, Any] = {
        "glove": lambda: {
            "k": dice.choice((2, 2, 3)),
            **dice.choice((
                {}, {"merge": "two-stage"}, {"merge": "two-stage", "reshape": "split"},
                {"max_metres": 20_000.0, "max_minutes": 720.0}, {"crowds": "refined"},
            )),
        },
        "filter": lambda: {"at_most": dice.choice((1, 5, 10))},
        "cloak": lambda: {"minutes": dice.choice((15.0, 60.0, 240.0))},
        "generalise": lambda: {"metres": dice.choice((500.0, 2_000.0)), "minutes": 60.0},
        "geo-i": lambda: {"epsilon": dice.choice((0.001, 0.01))},
        "w4m": lambda: {"k": 2, "delta": dice.choice((500.0, 5_000.0))},
        "tga": lambda: {"k": dice.choice((2, 3))},
    }  # fmt: skip
    name = dice.choice(("glove", "glove", *draw))
    return MECHANISMS[name](**draw[name]())


def _told(
    release: Path, people: list[str], path: Path, begun: dt.datetime, ended: dt.datetime
) -> str | None:
    """Return what a release tells that it must not."""
    contents = {file.name: file.read_bytes() for file in release.rglob("*") if file.is_file()}
    for name in [*contents]:
        if name.endswith(".parquet"):
            rows = pl.read_parquet(release / name)
            contents[f"{name}, unpacked"] = rows.write_csv().encode()
            contents[f"{name}, its metadata"] = str(pq.read_metadata(release / name)).encode()
    secrets = {f"the identifier {person!r}": _forms(person) for person in people}
    for part in (path.name, path.stem, path.parent.name, str(path.parent.parent)):
        secrets[f"the path {part!r}"] = _forms(part)
    times = [begun + dt.timedelta(seconds=s) for s in range(int((ended - begun).seconds) + 2)]
    secrets["the time of its making"] = [
        form.encode()
        for each in (*times, *(one.astimezone() for one in times))
        for form in (f"{each:%Y-%m-%dT%H:%M}", f"{each:%Y-%m-%d %H:%M}", f"{each:%Y%m%d%H%M}")
    ] + [str(int(each.timestamp())).encode() for each in times]
    for name, content in contents.items():
        for what, forms in secrets.items():
            if any(form in content for form in forms):
                return f"{name} holds {what}"
        if re.search(rb"incrowd\.(original|reading|source)", content):
            return f"{name} holds how the original was read"
    return None


def _forms(text: str) -> list[bytes]:
    """Return how a text may be written."""
    escaped = text.encode("unicode_escape"), text.encode("ascii", "xmlcharrefreplace")
    return list({text.encode(), text.encode("utf-16-le"), text.encode("utf-16-be"), *escaped})


def main() -> None:
    """Try as many releases as are asked for."""
    total = int(sys.argv[1])
    seed = int(sys.argv[2] if sys.argv[2:] else "1")
    begun, failures, refused = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (what, failed) in enumerate(small_releases(seed, Path(folder)), 1):
            refused += ": refused" in what
            if failed is not None:
                failures += 1
                print(f"{what}\n    {failed}", flush=True)
            if number == total:
                break
    took = time.monotonic() - begun
    print(f"{total:,} releases ({refused:,} refused), {failures:,} failures, in {took:.0f} s")


if __name__ == "__main__":
    main()
