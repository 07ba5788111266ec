"""The examples run, on synthetic data, and say what they are there to say."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import incrowd
from strategies import in_deep, only_deep

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


def run(name, folder, *arguments):
    command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)  # noqa: PLW1510, S603


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_only_public_names(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (getattr(node, "module", None) or alias.name).startswith("incrowd")
    }
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "incrowd"
    }
    assert imported == {"incrowd"}
    assert used <= set(incrowd.__all__)


@pytest.mark.parametrize("users", [60, *only_deep(None)])
def test_privacy_officer(tmp_path, users):
    data = []
    if users is not None:
        data = ["calls.csv"]
        incrowd.write(incrowd.synthesize("city", users=users, seed=7), tmp_path / "calls.csv")
    done = run("privacy_officer", tmp_path, *data, "--folder", "decision")
    assert done.returncode == 0, done.stderr
    assert "single out" in done.stdout
    assert "k-anonymity" in done.stdout
    release = tmp_path / "decision" / "release"
    assert (tmp_path / "decision" / "release-report.html").exists()
    assert incrowd.verify(release, k=3).ok
    assert (tmp_path / "decision" / "who-became-whom.parquet").exists()


class TestMonthlyJob:
    def test_publishes_once(self, tmp_path):
        data = tmp_path / "calls.csv"
        incrowd.write(incrowd.synthesize("city", users=60, seed=11), data)
        first = run("monthly_job", tmp_path, "calls.csv", "release")
        assert first.returncode == 0, first.stderr
        assert "published release: 60 people" in first.stdout
        manifest = (tmp_path / "release" / "manifest.json").read_bytes()
        assert not (tmp_path / "private" / "merges.checkpoint").exists()

        again = run("monthly_job", tmp_path, "calls.csv", "release")
        assert again.returncode == 0
        assert "is there, and holds" in again.stdout
        assert (tmp_path / "release" / "manifest.json").read_bytes() == manifest

        stricter = run("monthly_job", tmp_path, "calls.csv", "release", "--k", "5")
        assert stricter.returncode == 1
        assert "DOES NOT HOLD" in stricter.stdout

    def test_bad_input(self, tmp_path):
        (tmp_path / "calls.csv").write_text("user,time,lat,lon\n1,never,0,0\n", encoding="utf-8")
        done = run("monthly_job", tmp_path, "calls.csv", "release")
        assert done.returncode == 4
        assert "the input cannot be used" in done.stdout
        assert not (tmp_path / "release").exists()

    @in_deep
    def test_without_arguments(self, tmp_path):
        done = run("monthly_job", tmp_path)
        assert done.returncode == 0, done.stderr
        assert "checks passed" in done.stdout


def test_compare_mechanisms(tmp_path):
    done = run("compare_mechanisms", tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {
        cells[0].strip(): [cell.strip() for cell in cells[1:]]
        for line in done.stdout.splitlines()
        if line.startswith("| ") and (cells := line.strip("|").split("|"))
    }
    unique, at_risk = map(float, rows["Glove k=2"][:2])
    assert (unique, at_risk) == (0, 0)
    assert float(rows["nothing"][0]) > 0.5
    assert float(rows["Cloak minutes=360"][1]) > 0.5
