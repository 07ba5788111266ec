"""kill -9 at any moment of everything that writes.

Each try kills one command (most just before a change of the file system drawn at random, some after
a time drawn at random; the repetition may be killed as well, and again), and looks at the disk
after each kill:

- under each name is what was there before, whole, or the new one, whole, or nothing if there was
  nothing;
- the same command, given again, ends well (or says that the name is taken, by something whole);
- the result passes its check (a release: `incrowd verify` with its record);
- nothing is left in any folder, nor in the one for temporary files.
"""

import hashlib
import itertools
import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.torture.children import command, in_child, warm

__all__ = ["WRITERS", "Writer", "attempt", "prepare", "tries"]

MOST_KILLS, AGAIN = 6, 2 / 3
RELEASE, RECORD = "release", "who.parquet"
REPORT, DECISION = "release-report.html", "release-decision.json"
GLOVE = ("anonymize", "city.csv", "--k", "2")
RUN = ("run", "city.csv", "--tz", "UTC", "--attack-sample", "5", "--no-project")
SIGN = ("sign", RELEASE, "--decision", "refuse", "--signer", "A. Diop")


@dataclass(frozen=True)
class Writer:
    """A command that writes.

    Attributes
    ----------
    words
        The command line.
    makes
        The names that it makes, or replaces.
    needs
        What must be there before, by names of `MADE`.
    check
        A command line that must end with 0 (or 3) when all is done; or a function.
    statuses
        With which it may end.
    """

    words: tuple[str, ...]
    makes: tuple[str, ...]
    needs: tuple[str, ...] = ()
    check: tuple[tuple[str, ...], ...] = ()
    statuses: tuple[int, ...] = (0,)
    keeps: tuple[str, ...] = field(default=())
    """What an interruption may leave to go on from, beside what is hidden."""


VERIFY = (("verify", RELEASE, "--draws", "20"),)
VERIFY_RECORD = (("verify", RELEASE, "--record", RECORD, "--draws", "20"),)
CHECKPOINT = ("release.checkpoint",)
WRITERS = {
    "anonymize": Writer((*GLOVE, "-o", RELEASE), (RELEASE,), (), VERIFY, (0,), CHECKPOINT),
    "anonymize --record": Writer(
        (*GLOVE, "-o", RELEASE, "--record", RECORD, "--format", "csv"),
        (RELEASE, RECORD), (), VERIFY_RECORD, (0,), CHECKPOINT,
    ),
    "anonymize --record --overwrite": Writer(
        (*GLOVE, "-o", RELEASE, "--record", RECORD, "--overwrite"),
        (RELEASE, RECORD), (RELEASE, RECORD), VERIFY_RECORD, (0,), CHECKPOINT,
    ),
    "anonymize --method cloak --overwrite": Writer(
        ("anonymize", "city.csv", "--method", "cloak", "--cloak", "60", "-o", RELEASE, "--record",
         RECORD, "--overwrite"),
        (RELEASE, RECORD), (RELEASE, RECORD), VERIFY_RECORD,
    ),
    "convert": Writer(
        ("convert", "city.csv", "-o", "copy.csv"), ("copy.csv", "copy.csv.frame.json"), (),
        (("describe", "copy.csv"),),
    ),
    "convert --overwrite": Writer(
        ("convert", "city.csv", "-o", "copy.csv", "--overwrite", "--cell", "200"),
        ("copy.csv", "copy.csv.frame.json"), ("copy.csv", "copy.csv.frame.json"),
        (("describe", "copy.csv"),),
    ),
    "convert to Parquet --overwrite": Writer(
        ("convert", "city.csv", "-o", "copy.parquet", "--overwrite"), ("copy.parquet",), (),
        (("describe", "copy.parquet"),),
    ),
    "synth --overwrite": Writer(
        ("synth", "city", "--users", "9", "-o", "copy.csv", "--overwrite"),
        ("copy.csv", "copy.csv.frame.json"), ("copy.csv", "copy.csv.frame.json"),
        (("describe", "copy.csv"),),
    ),
    "learn --overwrite": Writer(
        ("learn", "city.csv", "--attack", "location", "--k", "2", "-o", "model.zip", "--overwrite"),
        ("model.zip",), (), (("predict", "city.csv", "--model", "model.zip"),),
    ),
    "report --overwrite": Writer(
        ("report", RELEASE, "--attack-sample", "5", "--overwrite"), (REPORT,), (RELEASE,), (),
        (0, 1, 3),
    ),
    "report --in-release --overwrite": Writer(
        ("report", RELEASE, "--attack-sample", "5", "--in-release", "--overwrite"), (RELEASE,),
        (RELEASE,), VERIFY, (0, 1, 3),
    ),
    "sign --overwrite": Writer((*SIGN, "--overwrite"), (DECISION,), (RELEASE, REPORT, DECISION)),
    "run": Writer((*RUN, "--k", "2", "--name", "march"), ("out",), (), (), (0, 1, 3)),
    "run --overwrite": Writer(
        (*RUN, "--k", "3", "--name", "march", "--overwrite"), ("out",), ("out",), (), (0, 1, 3)
    ),
}  # fmt: skip
OFTEN = {"run": 1, "report": 1, "convert": 12, "synth": 12, "sign": 12}
"""How often commands are tried, by the time that they take."""


def prepare(scratch: Path, names: Iterable[str] = WRITERS) -> Path:
    """Make once what the tries of some writers begin from; import what they need."""
    made = scratch / "made"
    made.mkdir()
    (made / "tmp").mkdir()
    needed = {need for name in names for need in WRITERS[name].needs}
    lines: list[tuple[str, ...]] = [
        ("synth", "city", "--users", "14", "--seed", "5", "-o", "city.csv")
    ]
    if "copy.csv" in needed:
        lines.append(("convert", "city.csv", "-o", "copy.csv"))
    if RELEASE in needed:
        lines.append((*GLOVE, "-o", RELEASE, "--record", RECORD))
    if DECISION in needed:
        lines += [("report", RELEASE, "--attack-sample", "5"), SIGN]
    if "out" in needed:
        lines.append((*RUN, "--k", "2", "--name", "march"))
    warm(made, lines)
    return made


def tries(seed: int, scratch: Path) -> Iterator[tuple[str, str | None]]:
    """Kill, look, repeat; without end."""
    made = prepare(scratch)
    draw = random.Random(seed)
    changes: dict[str, tuple[int, float]] = {}
    # Those that take long are drawn less often.
    names = [name for name in WRITERS for _ in range(OFTEN.get(name.partition(" ")[0], 6))]
    for _ in itertools.count():
        name = draw.choice(names)
        if name not in changes:
            changes[name] = measure(made, scratch / "try", WRITERS[name])
        what, wrong, kills = attempt(name, made, scratch / "try", changes[name], draw)
        for _ in range(kills - 1):
            yield what, None
        yield (what if kills else f"ended before the kill: {what}"), wrong


def start(made: Path, place: Path, writer: Writer, *, anew: bool = True) -> dict[str, str]:
    """Lay out a folder as it is before the command; give the hashes of what it will replace."""
    if anew:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
    (place / "tmp").mkdir()
    shutil.copy2(made / "city.csv", place)
    for name in writer.needs:
        copy = shutil.copytree if (made / name).is_dir() else shutil.copy2
        copy(made / name, place / name)
    return {name: digest(place / name) for name in writer.makes}


def measure(made: Path, place: Path, writer: Writer) -> tuple[int, float]:
    """Count the changes of the file system that a command makes, and its seconds."""
    from benchmarks.torture.children import at_change

    start(made, place, writer)

    def work() -> int:
        count = at_change(-1, lambda: None)
        status = command(writer.words)()
        (place / "count.txt").write_text(str(count()))
        return status

    ended = in_child(work, place)
    if ended.status not in writer.statuses:
        raise SystemExit(f"{writer.words} ends with {ended.status}:\n{ended.said}")
    return int((place / "count.txt").read_text()), ended.seconds


def attempt(
    name: str, made: Path, place: Path, changes: tuple[int, float], draw: random.Random
) -> tuple[str, str | None, int]:
    """Kill a command once or more; give what was tried, what is wrong, and the number of kills."""
    writer, (number, seconds) = WRITERS[name], changes
    before = start(made, place, writer)
    history: list[str] = []
    log: list[str] = []
    kills = 0
    for kill in range(MOST_KILLS):
        if kill and draw.random() > AGAIN:
            break
        if draw.random() < 0.8:
            # Some of them more often: the last changes are those that give names.
            last = draw.random() < 0.5
            at = draw.randint(max(1, number - 40) if last else 1, number + 2)
            ended = in_child(command(writer.words), place, kill_at=at)
            history.append(f"before change {at}")
        else:
            after = draw.uniform(0, seconds)
            ended = in_child(command(writer.words), place, kill_after=after)
            history.append(f"after {after:.3f} s")
        log.append(f"--- {history[-1]}: {ended.status}\n{ended.said}")
        kills += ended.killed
        if not ended.killed:
            history[-1] += f" (ended with {ended.status} before)"
            taken = ended.status == 2 and "exists already" in ended.said
            if ended.status not in writer.statuses and not taken:
                return f"{name}: killed {', '.join(history)}", "\n".join(log), kills
        wrong = look(writer, place, before)
        if wrong:
            return f"{name}: killed {', '.join(history)}", "\n".join([wrong, *log]), kills
    what = f"{name}: killed {', '.join(history)}"
    wrong = finish(writer, place, log)
    return what, "\n".join([wrong, *log]) if wrong else None, kills


def look(writer: Writer, place: Path, before: dict[str, str]) -> str | None:
    """Say what is neither the old one nor whole, right after the kill."""
    for name in writer.makes:
        path = place / name
        if digest(path) == before[name]:
            continue
        if before[name] and not path.exists() and not name.endswith(".frame.json"):
            return f"{name} was there and is gone"
        check = whole(path)
        if path.exists() and check is not None:
            ended = in_child(check, place)
            if ended.status:
                return f"{name} is half written: {ended.said}"
    return None


def finish(writer: Writer, place: Path, log: list[str]) -> str | None:
    """Give the same command again, and say what is wrong at the end."""
    ended = in_child(command(writer.words), place)
    log.append(f"--- again: {ended.status}\n{ended.said}")
    if ended.status == 2 and "exists already" in ended.said and "--overwrite" not in writer.words:
        # Complete before it was killed. A checkpoint may be there, which the next run uses.
        for name in writer.keeps:
            (place / name).unlink(missing_ok=True)
    elif ended.status not in writer.statuses:
        return f"the same command ends with {ended.status}"
    for line in writer.check:
        ended = in_child(command(line), place)
        log.append(f"--- {line}: {ended.status}\n{ended.said}")
        if ended.status not in (0, 3):
            return f"{' '.join(line)} ends with {ended.status}"
    for name in writer.makes:
        check = whole(place / name)
        if check is not None and (place / name).exists() and in_child(check, place).status:
            return f"{name} is not whole at the end"
    return left_over(writer, place)


def left_over(writer: Writer, place: Path, *, keeps: bool = False) -> str | None:
    """Say what lies about that belongs there neither before nor after.

    If the command `keeps` something to go on from, and says so, that is not counted.
    """
    known = {"city.csv", "tmp", "said.txt", "count.txt", *writer.needs, *writer.makes}
    extra = {path.name for path in place.iterdir()} - known
    hidden = {str(path.relative_to(place)) for path in place.rglob(".*")}
    temporary = {f"tmp/{path.name}" for path in (place / "tmp").iterdir()}
    if "out" in writer.makes:
        hidden |= {path.name for path in (place / "out").iterdir()} - {"march"}
        hidden |= {path.name for path in (place / "out" / "march").glob("state.json")}
    found = extra | hidden | temporary
    if keeps:
        found -= {*writer.keeps, ".march.part", "out", "out/.march.part"}
        found = {each for each in found if not each.startswith("out/.march.part/")}
    return f"left over: {', '.join(sorted(found))}" if found else None


def whole(path: Path) -> Callable[[], int] | None:
    """Give what checks, in a child, whether something is complete; None if nothing has to."""

    def release() -> int:
        from incrowd.data._manifest import read_release

        verified = read_release(path).manifest.verified
        return 0 if verified is not None and verified["ok"] else 1

    def table() -> int:
        import polars as pl

        return 0 if len(pl.read_parquet(path)) else 1

    def text() -> int:
        content = path.read_text("utf-8")
        return (
            0
            if content.endswith(("\n", ">")) and (path.suffix != ".html" or "</html>" in content)
            else 1
        )

    def runs() -> int:
        import json

        from incrowd.cli._run_folder import _damage

        folder = path / "march"
        if not folder.exists():
            return 0
        files = json.loads((folder / "run.json").read_text("utf-8"))["files"]
        damage = list(_damage(folder, files))
        print(damage)
        return len(damage)

    def model() -> int:
        import incrowd

        return 0 if incrowd.predict.load(path) else 1

    if path.name == RELEASE:
        return release
    return {".parquet": table, "": runs, ".zip": model}.get(path.suffix, text)


NOTHING = hashlib.sha256().hexdigest()
"""The digest of a folder in which nothing is visible."""


def digest(path: Path) -> str:
    """Give a hash of a file, or of all that is visible in a folder; nothing if it is not there."""
    if not path.exists():
        return ""
    found = hashlib.sha256()
    for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
        hidden = any(part.startswith(".") for part in each.relative_to(path).parts)
        if each.is_file() and not hidden:
            found.update(each.relative_to(path.parent).as_posix().encode() + each.read_bytes())
    return found.hexdigest()
