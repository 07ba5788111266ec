"""The standing trial in short: a few tries of each kind with a fixed seed."""

import itertools
import random

import pytest
from benchmarks.torture import disk, kill
from benchmarks.torture.__main__ import run
from benchmarks.torture.children import command, in_child
from benchmarks.torture.trials import TRIALS

QUICK = ("convert --overwrite", "synth --overwrite")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return kill.prepare(tmp_path_factory.mktemp("torture"), QUICK)


def test_all_trials_are_there():
    assert {"kill", "disk"} <= set(TRIALS)


@pytest.mark.parametrize("name", QUICK)
def test_a_killed_command_leaves_the_old_or_the_new_and_nothing_else(made, tmp_path, name):
    changes = kill.measure(made, tmp_path / "try", kill.WRITERS[name])
    draw = random.Random(2)  # noqa: S311  no secret
    what, wrong, kills = kill.attempt(name, made, tmp_path / "try", changes, draw)
    assert wrong is None, f"{what}\n{wrong}"
    assert kills


@pytest.mark.parametrize(("name", "size"), [("convert --overwrite", 3_000), (QUICK[1], 100)])
def test_a_full_disk_is_named_and_leaves_nothing(made, tmp_path, name, size):
    what, wrong = disk.attempt(name, made, tmp_path / "try", size)
    assert wrong is None, f"{what}\n{wrong}"


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


def test_a_trial_notices_what_is_left(made, tmp_path):
    """Where nothing could fail, nothing would be tried."""
    writer = kill.WRITERS["convert --overwrite"]
    before = kill.start(made, tmp_path / "try", writer)
    assert in_child(command(writer.words), tmp_path / "try").status == 0
    assert kill.look(writer, tmp_path / "try", before) is None
    (tmp_path / "try" / ".left.part").touch()
    assert kill.left_over(writer, tmp_path / "try") == "left over: .left.part"
    (tmp_path / "try" / "copy.csv").unlink()
    assert "is gone" in kill.look(writer, tmp_path / "try", before)
