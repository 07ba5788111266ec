"""Running a command by itself, and what it took."""

import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd import Frame

FOLDER = Path(os.environ.get("INCROWD_BENCH", ".benchmarks"))
"""Where the data of benchmarks is kept, and made when it is not there."""


@dataclass(frozen=True)
class Run:
    """What a process took, from its start to its end: imports and all."""

    seconds: float
    gigabytes: float
    output: str
    cpu: float = 0.0
    """Processor time of all its threads, in user and system mode."""


def run(*command: str) -> Run:
    """Run a command to its end; measure its time and the most memory it held."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"{' '.join(command)[:200]} failed with {process.returncode}")
    cpu = usage.ru_utime + usage.ru_stime
    return Run(seconds, usage.ru_maxrss * 1024 / 1e9, output.strip(), cpu)


def python(code: str) -> Run:
    """Run some Python in a process of its own."""
    return run(sys.executable, "-c", code)


def compared(*codes: str, times: int = 3) -> list[Run]:
    """Run pieces of Python in turns, several times; give the run of median time of each."""
    runs = [[python(code) for code in codes] for _ in range(times)]
    return [
        sorted(own, key=lambda run_: run_.seconds)[times // 2] for own in zip(*runs, strict=True)
    ]


def incrowd(*arguments: str) -> Run:
    """Run the command line in a process of its own."""
    return run(sys.executable, "-m", "incrowd", *arguments)


def thresholds(frame: "Frame", cells: int | None, slots: int | None) -> dict[str, Any]:
    """Give the thresholds of suppression, counted in cells and slots, as GLOVE takes them."""
    return {
        "max_metres": None if cells is None else cells * frame.cell,
        "max_minutes": None if slots is None else slots * frame.slot / 60,
    }


def dataset(preset: str, users: int, kind: str) -> Path:
    """Give a synthetic dataset, made if it is not there yet."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{preset}-{users}.{kind}"
    if not path.exists():
        incrowd("synth", preset, "-o", str(path), "--users", str(users), "--seed", "1")
    return path


def row(what: str, run_: Run, claim: str) -> None:
    """Print a line of a table."""
    print(f"| {what} | {run_.seconds:.1f} s | {run_.gigabytes:.2f} GB | {claim} |", flush=True)


def machine() -> None:
    """Say where the figures come from."""
    with Path("/proc/cpuinfo").open() as lines:
        model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    version = platform.python_version()
    print(f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {version}\n", flush=True)
