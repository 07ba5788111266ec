"""Whatever file is thrown at it, incrowd answers with a result or a typed error that names it.

::

    samples ──> mutated ──> worker, reused ──> read, verify, load ... ──> what failed, or nothing

A file of every kind that incrowd reads is damaged at random (`mutations`). A failure is an error
that is no `IncrowdError`, one about the input that does not name the file, a process that dies, or
one that takes more than `SECONDS` or `BYTES`.

    python -m benchmarks.torture.fuzz 5000 [SEED]     prints a table by kind of file
"""

import collections
import contextlib
import json
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.torture.mutations import mutated, packed

__all__ = ["KINDS", "SECONDS", "attempt", "make_samples", "tries"]

SECONDS, BYTES = 20.0, 1_500_000_000
"""What an attempt may take: processor time, and memory; `read` is given 1 GB."""
WAITED = 600.0
"""Seconds after which a process that does nothing is given up."""
REUSED = 500
"""Attempts after which a worker is replaced."""


def make_samples(folder: Path) -> None:
    """Write a whole file of each kind."""
    import incrowd
    from incrowd import predict

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        city = incrowd.synthesize("city", users=12, seed=7)
        incrowd.write(city, folder / "data.csv")
        (folder / "data.csv.frame.json").unlink(missing_ok=True)
        incrowd.write(city, folder / "data.parquet")
        city.save(folder / "saved.parquet")
        original = incrowd.read(folder / "data.csv")
        hidden = incrowd.glove(original, k=2, checkpoint=folder / "journal")
        _journal(original, folder / "journal")
        for form in ("parquet", "csv"):
            incrowd.publish(
                hidden, folder / f"release-{form}", original=original, format=form, draws=20,
                record=folder / f"who-{form}.parquet",
            )  # fmt: skip
        months = incrowd.glove(original, k=2, ledger=folder / "ledger.parquet")
        incrowd.publish(
            months, folder / "release-ledger", original=original, draws=20,
            ledger=folder / "ledger.parquet",
        )  # fmt: skip
        (folder / "persons.csv").write_text(
            "user,person\n" + "".join(f"{who},p{who // 2}\n" for who in range(12))
        )
        page = folder / "report.html"
        incrowd.report.make(folder / "release-parquet", targets=5).save(page)
        incrowd.sign(
            folder / "release-parquet", decision="refuse", name="A. Diop", report=page,
            output=folder / "decision.json",
        )  # fmt: skip
        (training,) = predict.training_sets(
            incrowd.synthesize("pisa", users=150, seed=1), "location", k=2
        )
        predict.save(predict.learn(training, "boosting"), folder / "model")
        (folder / "incrowd.toml").write_text(
            '[data]\npath = "data.csv"\ntz = "Africa/Dakar"\nmax_bad = 0.05\n\n[anonymize]\nk = 3\n'
            'record = "who.parquet"\n\n[report]\npurpose = "contract"\n'
        )


def _journal(data: Any, path: Path) -> None:
    """Keep a checkpoint as a run that was killed leaves it."""
    import incrowd
    from incrowd.protect._glove import checkpoint

    closed = checkpoint.Journal.close

    def stop(self: Any) -> None:
        shutil.copy(self.path, f"{path}.kept")
        closed(self)

    path.unlink(missing_ok=True)
    checkpoint.Journal.close = stop  # type: ignore[method-assign]
    try:
        incrowd.glove(data, k=2, checkpoint=path)
    finally:
        checkpoint.Journal.close = closed  # type: ignore[method-assign]
        path.unlink(missing_ok=True)


def _read(file: Path, _: Path) -> None:
    import incrowd

    incrowd.read(file, memory="1GB", threads=2)


def _visits(file: Path, _: Path) -> None:
    import incrowd
    from incrowd.data._io import sensors_of

    sensors_of(file)
    incrowd.read_visits(file, memory="1GB", threads=2, place="user")


def _describe(file: Path, _: Path) -> None:
    _command("describe", str(file), "--memory", "1GB", "--no-project")


def _command(*words: str) -> None:
    from incrowd.cli._app import app
    from incrowd.cli._console import run

    before, sys.argv = sys.argv, ["incrowd", *words]
    try:
        with (
            Path(os.devnull).open("w", encoding="utf-8") as nowhere,
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
        ):
            status = run(app)
    finally:
        sys.argv = before
    if status not in (0, 1, 2, 3, 4):
        raise AssertionError(f"incrowd {words[0]} ended with {status}")


def _load(file: Path, _: Path) -> None:
    from incrowd import Trajectories

    Trajectories.load(file)


def _release(file: Path, samples: Path, name: str, form: str) -> Path:
    folder = file.with_name("release")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(samples / f"release-{form}", folder)
    shutil.copy(file, folder / name)
    return folder


def _manifest(file: Path, samples: Path) -> None:
    import incrowd

    folder = _release(file, samples, "manifest.json", "parquet")
    incrowd.verify(folder, record=samples / "who-parquet.parquet", draws=5)


def _manifest_command(file: Path, samples: Path) -> None:
    folder = _release(file, samples, "manifest.json", "csv")
    _command("verify", str(folder), "--no-project")


def _sealed_manifest(file: Path, samples: Path) -> None:
    """Seal the damaged manifest anew, as somebody would who wants it to go unnoticed."""
    import incrowd
    from incrowd.data._manifest import read_manifest

    folder = _release(file, samples, "manifest.json", "csv")
    (folder / "manifest.json").write_text(read_manifest(folder).to_json(), "utf-8")
    incrowd.verify(folder, record=samples / "who-csv.parquet", draws=5)


def _rows(form: str) -> Callable[[Path, Path], None]:
    def check(file: Path, samples: Path) -> None:
        import incrowd
        from incrowd.data._manifest import read_manifest, read_release, seal

        name = f"trajectories.{form}"
        folder = _release(file, samples, name, form)
        about = json.loads((folder / "manifest.json").read_bytes())
        about["files"][name] = seal(folder / name)
        (folder / "manifest.json").write_text(json.dumps(about))
        (folder / "manifest.json").write_text(read_manifest(folder).to_json(), "utf-8")
        incrowd.verify(folder, record=samples / f"who-{form}.parquet", draws=5)
        read_release(folder)

    return check


def _record(file: Path, samples: Path) -> None:
    import incrowd

    incrowd.verify(samples / "release-parquet", record=file, draws=5)


def _record_command(file: Path, samples: Path) -> None:
    _command("verify", str(samples / "release-parquet"), "--record", str(file), "--no-project")


def _ledger(file: Path, _: Path) -> None:
    import incrowd

    incrowd.ledger_history(file)


def _ledger_command(file: Path, _: Path) -> None:
    _command("ledger", str(file))


def _ledger_used(file: Path, samples: Path) -> None:
    import incrowd

    incrowd.glove(incrowd.read(samples / "data.csv"), k=2, ledger=file)


def _persons(file: Path, samples: Path) -> None:
    import incrowd

    incrowd.read(samples / "data.csv", same_person=file)


def _checkpoint(file: Path, samples: Path) -> None:
    import incrowd

    journal = file.with_name("journal")
    shutil.copy(file, journal)
    data = incrowd.read(samples / "data.csv")
    incrowd.glove(data, k=2, checkpoint=journal)


def _model(file: Path, _: Path) -> None:
    from incrowd import predict

    predict.load(file)


def _project(file: Path, samples: Path) -> None:
    _command("describe", str(samples / "data.csv"), "--project", str(file))


def _decision(file: Path, samples: Path) -> None:
    from incrowd.evaluate import check_decision

    check_decision(samples / "release-parquet", file, samples / "report.html")


def _report(file: Path, samples: Path) -> None:
    import incrowd

    incrowd.sign(
        samples / "release-parquet", decision="refuse", name="A. Diop", report=file,
        output=file.with_name("decision.json"), overwrite=True,
    )  # fmt: skip


KINDS: dict[str, tuple[str, str, tuple[Callable[[Path, Path], None], ...]]] = {
    "csv": ("data.csv", "x.csv", (_read, _read, _visits, _describe)),
    "csv.gz": ("data.csv", "x.csv.gz", (_read, _describe)),
    "csv.zst": ("data.csv", "x.csv.zst", (_read, _visits)),
    "parquet": ("data.parquet", "x.parquet", (_read, _read, _visits, _describe)),
    "saved": ("saved.parquet", "x.parquet", (_load, _read)),
    "manifest": (
        "release-parquet/manifest.json", "manifest.json",
        (_manifest, _manifest_command, _sealed_manifest),
    ),
    "rows.parquet": (
        "release-parquet/trajectories.parquet", "trajectories.parquet", (_rows("parquet"),)
    ),
    "rows.csv": ("release-csv/trajectories.csv", "trajectories.csv", (_rows("csv"),)),
    "record": ("who-parquet.parquet", "who.parquet", (_record, _record_command)),
    "ledger": (
        "ledger.parquet", "ledger.parquet", (_ledger, _ledger_command, _ledger_used)
    ),
    "persons": ("persons.csv", "persons.csv", (_persons,)),
    "checkpoint": ("journal.kept", "journal.x", (_checkpoint,)),
    "model": ("model", "model", (_model,)),
    "project": ("incrowd.toml", "incrowd.toml", (_project,)),
    "decision": ("decision.json", "decision.json", (_decision,)),
    "report": ("report.html", "report.html", (_report,)),
}  # fmt: skip
"""Of each kind: the whole file, the name that a damaged one gets, and what is done with it."""


def attempt(kind: str, number: int, seed: int, samples: Path, scratch: Path) -> tuple[str, Path]:
    """Write a damaged file; return how it was damaged, and where it is."""
    dice = random.Random(f"{seed}/{kind}/{number}")
    whole, name, _ = KINDS[kind]
    content, suffix = (samples / whole).read_bytes(), kind.partition("csv.")[2]
    if suffix and dice.random() < 0.5:
        how, content = mutated(content, "csv", dice)
        how, content = f"inside {how}", packed(content, suffix)
    else:
        how, content = mutated(packed(content, suffix) if suffix else content, kind, dice)
    path = scratch / name
    path.write_bytes(content)
    return how, path


def judged(kind: str, number: int, path: Path, samples: Path) -> str | None:
    """Do with a damaged file what is done with such files; return what failed."""
    from incrowd.errors import IncrowdError, InputError

    uses = KINDS[kind][2]
    use = uses[number % len(uses)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            use(path, samples)
        except IncrowdError as error:
            names = (path.name, path.parent.name)
            known = f"{error} {error.file}"
            if isinstance(error, InputError) and not any(name in known for name in names):
                return f"{use.__name__}: does not name the file: {error}"
        except BaseException as error:  # noqa: BLE001  that is what is looked for
            trace, last = error.__traceback__, ""
            while trace is not None:
                code = trace.tb_frame.f_code
                if "incrowd" in code.co_filename:
                    last = f"{Path(code.co_filename).name}:{trace.tb_lineno}"
                trace = trace.tb_next
            return f"{use.__name__}: {type(error).__name__} at {last}: {str(error)[:200]}"
    return None


def serve() -> None:
    """Answer attempts, one line each, until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        asked = json.loads(line)
        found = judged(asked["kind"], asked["number"], Path(asked["path"]), Path(asked["samples"]))
        answers.write(json.dumps(found) + "\n")
        answers.flush()


class Worker:
    """A process that is reused for attempts."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.torture.fuzz", "--serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            cwd=Path(__file__).parents[2],
        )  # fmt: skip
        # The first attempt loads libraries and kernels.
        self._is_new = True

    def ask(self, **about: Any) -> str | None:
        """Give a failure, if there was one; afterwards the process may be dead."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(about, default=str) + "\n")
        self._process.stdin.flush()
        begun, spent = time.monotonic(), self._spent()
        most = SECONDS * (3 if self._is_new else 1)
        while not select.select([self._process.stdout], [], [], 0.1)[0]:
            # Processor time, for other work on the machine is no fault of the file.
            if self._spent() - spent > most or time.monotonic() - begun > WAITED:
                self.close()
                return f"took more than {most:.0f} s"
            if self._resident() > BYTES:
                self.close()
                return f"took more than {BYTES / 1e9:.1f} GB"
        self._is_new = False
        line = self._process.stdout.readline()
        if not line:
            return f"the process died ({self._process.wait()})"
        found: str | None = json.loads(line)
        return found

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked again."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _spent(self) -> float:
        """Give the processor time of the process so far, in seconds."""
        try:
            words = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def _resident(self) -> int:
        try:
            pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


def tries(seed: int, scratch: Path) -> Iterator[tuple[str, str | None]]:
    """Damage a file and see what is made of it, again and again.

    Yields
    ------
    tuple
        What was tried, and what failed; None if nothing did.
    """
    samples = scratch / "samples"
    if not (samples / "model").exists():
        make_samples(samples)
    worker, asked, number = Worker(), 0, 0
    try:
        while True:
            for kind in KINDS:
                if asked == REUSED or not worker.is_alive:
                    worker.close()
                    worker, asked = Worker(), 0
                asked += 1
                how, path = attempt(kind, number, seed, samples, scratch)
                failed = worker.ask(kind=kind, number=number, path=path, samples=samples)
                if failed is not None:
                    kept = scratch / "found"
                    kept.mkdir(exist_ok=True)
                    shutil.copy(path, kept / f"{seed}-{number}-{path.name}")
                yield f"{kind}: {how} (seed {seed}, number {number})", failed
            number += 1
    finally:
        worker.close()


def main() -> None:
    """Try as many files as are asked for, and print a table."""
    if sys.argv[1:2] == ["--serve"]:
        serve()
        return
    total, seed = int(sys.argv[1]), int(sys.argv[2] if sys.argv[2:] else "1")
    counts: collections.Counter[str] = collections.Counter()
    failures: dict[str, list[str]] = collections.defaultdict(list)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        scratch = Path(os.environ.get("FUZZ_FOLDER", folder))
        scratch.mkdir(exist_ok=True)
        for number, (what, failed) in enumerate(tries(seed, scratch), 1):
            kind = what.partition(":")[0]
            counts[kind] += 1
            if failed is not None:
                failures[kind].append(failed)
                print(f"{what}\n    {failed}", flush=True)
            if number == total:
                break
    print(f"\n{'kind of file':<16}{'tried':>8}{'failed':>8}")
    for kind, tried in counts.items():
        print(f"{kind:<16}{tried:>8,}{len(failures[kind]):>8,}")
    failed_all = sum(map(len, failures.values()))
    took = time.monotonic() - begun
    print(f"{'all':<16}{counts.total():>8,}{failed_all:>8,}   in {took:.0f} s, seed {seed}")


if __name__ == "__main__":
    main()
