"""What is built for others: the wheel, and what it says about itself.

`.ci/wheel` installs it into an empty environment and runs it there.
"""

import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import incrowd

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    [path] = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel):
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return Parser().parsestr(wheel.read(name).decode())


class TestWheel:
    def test_has_every_file_of_the_package(self, wheel):
        folder = ROOT / "src"
        there = {
            str(path.relative_to(folder))
            for path in (folder / "incrowd").rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert there <= set(wheel.namelist())
        assert {"incrowd/py.typed", "incrowd/report/templates/report.html"} <= there

    def test_has_nothing_else(self, wheel):
        roots = {name.split("/")[0] for name in wheel.namelist()}
        assert roots == {"incrowd", f"incrowd-{incrowd.__version__}.dist-info"}

    def test_has_the_licence(self, wheel):
        [name] = [name for name in wheel.namelist() if name.endswith("licenses/LICENSE")]
        assert wheel.read(name) == (ROOT / "LICENSE").read_bytes()
        assert b"Apache License" in wheel.read(name)

    def test_starts_the_command(self, wheel):
        [name] = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
        assert "incrowd = incrowd.cli:main" in wheel.read(name).decode()


class TestMetadata:
    def test_version_is_the_package_s(self, metadata):
        assert metadata["Version"] == incrowd.__version__

    def test_licence_is_an_expression(self, metadata):
        assert metadata["License-Expression"] == "Apache-2.0"
        assert not any("License ::" in one for one in metadata.get_all("Classifier"))

    def test_author(self, metadata):
        assert metadata["Author"] == "the incrowd maintainers"
        assert metadata["Author-Email"] is None

    def test_readme_is_the_description(self, metadata):
        assert metadata.get_payload().startswith("# incrowd")


class TestLocks:
    @pytest.mark.parametrize(
        ("lock", "wanted"),
        [
            (
                "requirements.lock",
                PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"],
            ),
            ("requirements-docs.lock", PROJECT["optional-dependencies"]["docs"]),
        ],
    )
    def test_has_what_the_project_names(self, lock, wanted):
        pinned = {name.lower() for name in _pins(lock)}
        assert {re.split(r"[><=\[]", one)[0].lower() for one in wanted} <= pinned

    @pytest.mark.parametrize("lock", ["requirements.lock", "requirements-docs.lock"])
    def test_names_no_host(self, lock):
        text = (ROOT / lock).read_text(encoding="utf-8")
        assert "://" not in text
        assert "index-url" not in text
        assert "find-links" not in text

    def test_agree(self):
        first, second = _pins("requirements.lock"), _pins("requirements-docs.lock")
        assert {name: first[name] for name in first.keys() & second.keys()} == {
            name: second[name] for name in first.keys() & second.keys()
        }

    @pytest.mark.parametrize("lock", ["requirements.lock", "requirements-docs.lock"])
    def test_has_a_hash_for_every_package(self, lock):
        text = (ROOT / lock).read_text(encoding="utf-8")
        for entry in re.split(r"\n(?=\S)", text.strip()):
            assert "--hash=sha256:" in entry, entry.split("\n")[0]


def _pins(lock):
    text = (ROOT / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))
