"""The standing trial in short: a few tries of each kind with a fixed seed."""

import itertools
import subprocess
import sys
from pathlib import Path

from benchmarks.torture.__main__ import run
from benchmarks.torture.trials import TRIALS

ROOT = Path(__file__).parents[1]


def test_all_trials_are_there():
    assert list(TRIALS) == ["kill", "disk", "fuzz", "identifiers"]


def test_killed_and_full_disks_in_short():
    words = [sys.executable, "-m", "benchmarks.torture.short"]
    done = subprocess.run(  # noqa: S603
        words, cwd=ROOT, check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split("\n")[:-1] == [
        "killed: convert --overwrite", "killed: synth --overwrite", "full: convert --overwrite",
        "full: synth --overwrite", "noticed",
    ]  # fmt: skip


def test_a_trial_counts_and_keeps_what_fails(tmp_path, capsys):
    def tries(seed, scratch):
        for number in itertools.count():
            (scratch / "seen.txt").write_text(str(number))
            yield "odd: one" if number % 2 else "even: one", "wrong" if number == 2 else None

    tried, wrong = run("mine", tries, 7, tmp_path, 60, 4)
    assert (dict(tried), dict(wrong)) == ({"even": 2, "odd": 2}, {"even": 1})
    (kept,) = tmp_path.iterdir()
    assert (kept / "seen.txt").read_text() == "2"
    assert "seed 7, try 3, even: one\nwrong" in (kept / "failure.txt").read_text()
    assert "FAILED seed 7, try 3" in capsys.readouterr().out
