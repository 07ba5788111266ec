"""Run benchmarks: those named, or all that take minutes.

Those in `LONG` take long, and are run only when they are named.
"""

import sys

from benchmarks import (
    accuracy,
    compare,
    compiling,
    corners,
    glove,
    learning,
    mechanisms,
    reading,
    recognition,
    report,
    risk,
    startup,
    synth,
    tga,
    uniqueness,
    w4m,
)

ALL = {
    "startup": startup.main,
    "compiling": compiling.main,
    "synth": synth.main,
    "reading": reading.main,
    "glove": glove.main,
    "corners": corners.main,
    "risk": risk.main,
    "learning": learning.main,
    "uniqueness": uniqueness.main,
    "recognition": recognition.main,
    "mechanisms": mechanisms.main,
    "w4m": w4m.main,
    "tga": tga.main,
    "accuracy": accuracy.main,
    "compare": compare.main,
    "report": report.main,
}
LONG = (
    "glove", "corners", "risk", "learning", "uniqueness", "recognition", "mechanisms", "report",
    "w4m", "tga",
)  # fmt: skip

wanted = sys.argv[1:] or [name for name in ALL if name not in LONG]
unknown = [name for name in wanted if name not in ALL]
if unknown:
    raise SystemExit(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(ALL)}")
for name in wanted:
    print(f"\n## {name}\n", flush=True)
    ALL[name]()
for name in set(LONG) - set(wanted):
    print(f"\n{name} takes long and was not run: python -m benchmarks {name}")
