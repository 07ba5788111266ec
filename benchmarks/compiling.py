"""What compiling costs on a fresh install: the first release of the city of 2,000 people.

The command runs with an empty cache directory on all cores, on one core with another one, and once
more with all kernels compiled. On one core every kernel is timed: there nothing is compiled
elsewhere. A kernel that others call is optimised with its callers, whose time that is.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import FOLDER, incrowd, machine

PEOPLE, SEED = "2000", "7"
SHOWN = 25
ONE_CORE = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
LISTEN = """
import atexit, collections, sys, threading, time
import numba.core.event as event

taken, number, mine = collections.Counter(), collections.Counter(), threading.local()

class Listener(event.Listener):
    def on_start(self, _):
        mine.__dict__.setdefault("open", []).append([time.thread_time(), 0.0])

    def on_end(self, compiled):
        start, inner = mine.open.pop()
        whole = time.thread_time() - start
        if mine.open:
            mine.open[-1][1] += whole
        function = compiled.data["dispatcher"].py_func
        name = f"{function.__module__}.{function.__qualname__}".replace(".<locals>", "")
        taken[name] += whole - inner
        number[name] += 1

def tell():
    print(f"ALL {sum(taken.values()):.1f} {sum(number.values())} {len(taken)}")
    for name, seconds in taken.most_common():
        print(f"KERNEL {seconds:.2f} {number[name]} {name}")

event.register("numba:compile", Listener())
atexit.register(tell)
"""
RUN = """
import sys
sys.argv[0] = "incrowd"
from incrowd.cli import main
main()
"""


def timed(code: str, *arguments: str, home: str) -> tuple[float, float, str]:
    """Run Python with a cache directory; give its seconds, processor seconds and output."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"XDG_CACHE_HOME": home},
        stdout=subprocess.PIPE,
        text=True,
    )
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"incrowd {' '.join(arguments)} failed with {process.returncode}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, output


def main() -> None:
    """Print the times."""
    machine()
    FOLDER.mkdir(exist_ok=True)
    city = FOLDER / "city-2000-7.parquet"
    if not city.exists():
        incrowd("synth", "city", "-o", str(city), "--users", PEOPLE, "--seed", SEED)
    words = ("anonymize", str(city), "--k", "2", "-o")
    with tempfile.TemporaryDirectory() as home:
        cold = timed(RUN, *words, str(Path(home) / "first"), home=home)
        warm = timed(RUN, *words, str(Path(home) / "second"), home=home)
    with tempfile.TemporaryDirectory() as home:
        alone = timed(ONE_CORE + LISTEN + RUN, *words, str(Path(home) / "first"), home=home)
    print("| first release of the city of 2,000 people, k = 2 | time | processor time |")
    print("|---|---|---|")
    print(f"| with nothing compiled before | {cold[0]:.0f} s | {cold[1]:.0f} s |")
    print(f"| the same on one core | {alone[0]:.0f} s | {alone[1]:.0f} s |")
    print(f"| with everything compiled before | {warm[0]:.0f} s | {warm[1]:.0f} s |")
    lines = [line.split() for line in alone[2].splitlines()]
    [(seconds, number, kernels)] = [line[1:] for line in lines if line[:1] == ["ALL"]]
    print(f"\nCompiling took {seconds} s: {number} specialisations of {kernels} kernels.\n")
    print("| kernel, without those that it calls | specialisations | processor time |")
    print("|---|---|---|")
    for _, own, times, name in [line for line in lines if line[:1] == ["KERNEL"]][:SHOWN]:
        print(f"| `{name}` | {times} | {own} s |")


if __name__ == "__main__":
    main()
