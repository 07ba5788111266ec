"""The fact sheet of a release: what a recipient needs, and nothing that the manifest has not."""

import re

import pytest

import incrowd
from incrowd.data._fact_sheet import COLUMNS, fact_sheet
from incrowd.data._manifest import SCHEMA, read_manifest

CITY = incrowd.synthesize("city", users=20, seed=5)


@pytest.fixture(scope="module", params=["parquet", "csv"])
def release(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts") / "release"
    hidden = incrowd.glove(CITY, k=3, max_metres=5000)
    incrowd.publish(hidden, folder, original=CITY, format=request.param, draws=20)
    return folder


def test_is_that_of_the_manifest(release):
    """It was made before its own hash was known, and before the release was verified."""
    text = (release / "fact-sheet.md").read_text()
    assert fact_sheet(read_manifest(release)) == text


def test_every_column_is_explained(release):
    named = {name for names in COLUMNS for name in names.split(", ")}
    assert named == set(SCHEMA.names())
    table = "trajectories.parquet" if (release / "trajectories.parquet").exists() else (
        "trajectories.csv"
    )  # fmt: skip
    assert f"## Columns of `{table}`" in (release / "fact-sheet.md").read_text()


def test_every_number_is_in_the_manifest(release):
    known = (release / "manifest.json").read_text()
    text = (release / "fact-sheet.md").read_text().replace(",", "")
    own = {"84"}  # WGS 84
    for number in set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", text)) - own:
        assert number in known, number


def test_limits_and_promises_are_all_there(release):
    manifest, text = read_manifest(release), (release / "fact-sheet.md").read_text()
    assert all(f"- {each}" in text for each in manifest.holds_against)
    assert all(f"- {each}" in text for each in manifest.fails_against)


def test_a_sheet_that_was_changed_is_noticed(release):
    sheet = release / "fact-sheet.md"
    before = sheet.read_bytes()
    sheet.write_bytes(before + b"Nothing to fear.\n")
    found = incrowd.verify(release)
    sheet.write_bytes(before)
    assert not found.ok
    assert "fact-sheet.md is not the file that was released" in found["files"].says


def test_releases_without_one_are_still_verified(release, tmp_path):
    import shutil

    from incrowd.data._manifest import Manifest

    old = shutil.copytree(release, tmp_path / "old")
    (old / "fact-sheet.md").unlink()
    manifest = read_manifest(old)
    files = {name: of for name, of in manifest.files.items() if name != "fact-sheet.md"}
    fields = {name: getattr(manifest, name) for name in Manifest.__dataclass_fields__}
    (old / "manifest.json").write_text(Manifest(**fields | {"files": files}).to_json())
    assert incrowd.verify(old).ok
