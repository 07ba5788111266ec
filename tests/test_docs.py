"""What the documentation shows is true: code runs, commands print it, links lead somewhere.

`make docs` checks links and headings of the site, and that every public name is on it.

A ``console`` block is run line by line, in a folder of its own for each page; what is shown below a
command must be what it prints (``...`` stands for anything). After a change of texts::

    INCROWD_WRITE_DOCS=1 .venv/bin/pytest tests/test_docs.py -n 0

writes what is printed now into the pages; read the difference before you commit it.
"""

import ast
import fnmatch
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import incrowd
from strategies import DEEP, only_deep

ROOT = Path(__file__).parents[1]
PAGES = [
    *ROOT.glob("*.md"),
    *(path for path in (ROOT / "docs").rglob("*.md")),
]
GENERATED = ("api/", "commands/", "changelog.md", "contributing.md", "security.md")
"""Pages that are there only when the site is built."""
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
RUN = ["README.md", "docs/how-to/read-your-data.md", "docs/how-to/add-an-attack.md"]
RUN += only_deep("docs/index.md", "docs/how-to/choose-k.md")  # much as in the README
CALLS = """msisdn;datetime;lat;lng
0700000001;2012-03-05 07:31;5.3364;-4.0267
0700000002;2012-03-05 09:02;6.8206;-5.2767
0700000001;2012-03-06 18:40;5.3599;-4.0083
0700000002;yesterday;6.8206;-5.2767
"""
SCANS = """user,time,bssid
ann,2012-03-05 07:31,a4:12
ann,2012-03-05 07:31,a4:13
bob,2012-03-05 09:02,a4:12
bob,2012-03-06 18:40,b0:77
"""
TWICE = """user,time,lat,lon
0700000001,2012-03-05T07:31Z,5.3364,-4.0267
0700000002,2012-03-05T09:02Z,6.8206,-5.2767
+2250700000001,2012-03-06T18:40Z,5.3599,-4.0083
"""


def name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", RUN)
def test_code_runs(page, tmp_path, monkeypatch):
    """In a process of its own: an attack that is registered stays registered."""
    (tmp_path / "calls.csv").write_text(CALLS, encoding="utf-8")
    blocks = PYTHON.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks
    command = [sys.executable, "-W", "error::DeprecationWarning", "-c", "\n".join(blocks)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)  # noqa: PLW1510, S603
    assert done.returncode == 0, done.stderr


SLOW = () if DEEP else ("docs/tutorial.md",)
"""Pages whose commands take minutes: run by ``make test-deep``."""


@pytest.mark.parametrize(
    "page",
    [
        name(page)
        for page in PAGES
        if CONSOLE.search(page.read_text(encoding="utf-8")) and name(page) not in SLOW
    ],
)
def test_commands_print_what_is_shown(page, tmp_path):
    text = (ROOT / page).read_text(encoding="utf-8")
    (tmp_path / "calls.csv").write_text(CALLS, encoding="utf-8")
    (tmp_path / "scans.csv").write_text(SCANS, encoding="utf-8")
    (tmp_path / "twice.csv").write_text(TWICE, encoding="utf-8")

    def replaced(block):
        shown = "".join(
            f"$ {command}\n{_as_shown(output, _printed(command, tmp_path))}"
            for command, output in _commands(block[1])
        )
        return f"```console\n{shown.rstrip()}\n```"

    true = CONSOLE.sub(replaced, text)
    if os.environ.get("INCROWD_WRITE_DOCS"):
        (ROOT / page).write_text(true, encoding="utf-8")
    assert true == text


def test_the_monthly_job_runs_and_can_be_started_again(tmp_path):
    """The script of the page, with the project file that its first command writes."""
    text = (ROOT / "docs/how-to/every-month.md").read_text(encoding="utf-8")
    [first] = re.findall(r"```\n(incrowd init .*)\n```", text)
    [script] = re.findall(r"```sh\n(#!/bin/sh\n.*?)```", text, re.DOTALL)
    (tmp_path / "job.sh").write_text(script, encoding="utf-8")
    for month in ("2024-03", "2024-04"):
        (tmp_path / "data" / month).mkdir(parents=True)
        city = incrowd.synthesize("city", users=12, seed=int(month[-1]))
        incrowd.write(city, tmp_path / "data" / month / "calls.csv.gz")
    _printed(first, tmp_path)
    project = tmp_path / "incrowd.toml"
    project.write_text(project.read_text("utf-8").replace("k = 3", "k = 2"), encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def job(month):
        done = subprocess.run(  # noqa: S603
            ["/bin/sh", "job.sh", month], cwd=tmp_path, env=os.environ | {"PATH": path},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 3), done.stderr
        return json.loads((tmp_path / "log" / f"{month}.json").read_text("utf-8"))

    made = {month: job(month) for month in ("2024-03", "2024-04")}
    for month, found in made.items():
        assert (tmp_path / "out" / month / "release" / "manifest.json").is_file()
        assert job(month) == found
        assert "answer: " in (tmp_path / "log" / f"{month}.log").read_text("utf-8")


def _commands(block):
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command += f"\n{more}"
        yield command, output


def _printed(command, folder):
    """Give what a command prints for those who pipe it: results, no progress; and its status."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "100"}
    done = subprocess.run(  # noqa: S602  the commands are those of our own pages
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True,
        timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1, 3), done.stderr  # 3: may be shared with conditions
    printed = done.stdout.replace(f"{Path(sys.executable).parent}{os.sep}incrowd", "incrowd")
    return "\n".join(line.rstrip() for line in printed.splitlines()) + "\n"


def _as_shown(shown, printed):
    """Keep what is shown if it matches what is printed, ``...`` being anything."""
    pattern = re.sub(r"^\.\.\.$", "*", shown.strip().replace("[", "[[]"), flags=re.MULTILINE)
    same = fnmatch.fnmatchcase(printed.strip(), pattern)
    return shown if same else f"{printed.strip()}\n\n"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_names_what_is_there(page):
    """Also on pages whose code takes too long to be run here."""
    for block in PYTHON.findall(page.read_text(encoding="utf-8")):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "incrowd":
                module = importlib.import_module(node.module)
                assert all(hasattr(module, alias.name) for alias in node.names)
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "incrowd"
            ):
                assert node.attr in incrowd.__all__


class TestLinks:
    """Of pages that are read as files, too; the site checks its own, with their headings."""

    @pytest.mark.parametrize("page", PAGES, ids=name)
    def test_lead_somewhere(self, page):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target, heading in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", text):
            if target.startswith(("http:", "https:")):
                continue
            if page.is_relative_to(ROOT / "docs"):
                there = name(page.parent / target) if not target.startswith("..") else target
                if any(one in there for one in GENERATED):
                    continue
            path = (page.parent / target).resolve() if target else page
            assert path.exists(), target
            if heading and path.suffix == ".md":
                assert heading[1:] in _headings(path), heading

    @pytest.mark.parametrize("page", PAGES, ids=name)
    def test_benchmarks_exist(self, page):
        for one in re.findall(r"python -m benchmarks[. ](\w+)", page.read_text(encoding="utf-8")):
            places = (ROOT / "benchmarks" / f"{one}.py", ROOT / "benchmarks" / one / "__main__.py")
            assert one == "NAME" or any(place.exists() for place in places), one


def _headings(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        plain = re.sub(r"[^\w\s-]", "", title.lower()).strip()
        yield re.sub(r"\s+", "-", plain)


class TestReadme:
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    def test_is_short(self):
        assert len(self.text.splitlines()) < 150

    def test_names_every_command(self):
        import typer

        from incrowd.cli._app import app

        for command in typer.main.get_command(app).commands:
            assert command in self.text, command

    def test_names_only_what_is_there(self):
        rows = [row.split("|") for row in self.text.splitlines() if row.startswith("| ")]
        for row in rows:
            for one in re.findall(r"`([\w.]+)`", row[3]):
                found = incrowd
                for part in one.split("."):
                    found = getattr(found, part)

    def test_eight_lines(self):
        [block] = PYTHON.findall(self.text)
        assert len([line for line in block.splitlines() if line.strip()]) <= 8


class TestArchitecture:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

    def test_fits_one_screen(self):
        assert len(self.text.splitlines()) <= 65

    def test_names_only_what_is_there(self):
        source = ROOT / "src" / "incrowd"
        for row in re.findall(r"^\| .* \| (.*) \| .* \|$", self.text, re.MULTILINE)[1:]:
            layer = source
            for one in re.findall(r"`([\w./]+[./]\w*)`", row):
                assert (source / one).exists() or (layer / one).exists(), one
                layer = source / one.split("/")[0] if (source / one).exists() else layer


def test_public_functions_document_their_parameters():
    """Every parameter of a public function is in its docstring."""
    missing = []
    for owner in (incrowd, *(getattr(incrowd, layer) for layer in ("predict", "report"))):
        for public in owner.__all__:
            function = getattr(owner, public)
            if inspect.isfunction(function) and "Parameters\n" in (function.__doc__ or ""):
                section = function.__doc__.split("Parameters\n", 1)[1].split("\n\n    ---")[0]
                missing += [
                    f"{public}({one})"
                    for one in inspect.signature(function).parameters
                    if not re.search(rf"^\s+.*\b{one}\b", section, re.MULTILINE)
                ]
    assert not missing
