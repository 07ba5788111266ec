"""Rows that do not fit into memory go to the disk: privately, and a full one is named."""

import resource
import stat

import pytest

from incrowd._memory import Memory, duckdb_connection
from incrowd.errors import OutputError

ROWS = "CREATE TABLE a AS SELECT range AS x, hash(range) AS y, random() AS z FROM range(4_000_000)"
SORT = "CREATE TABLE b AS SELECT * FROM a ORDER BY z"


@pytest.fixture
def small_files():
    """Let this process write no large file, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def spill(folder, *settings):
    with duckdb_connection(Memory.of("800MB"), 1, folder) as connection:
        for each in ("SET memory_limit = '40MB'", *settings, ROWS, SORT):
            connection.execute(each)
        (place,) = folder.iterdir()
        assert any(place.iterdir())
        assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_nobody_else_may_read_them_and_they_go(tmp_path):
    spill(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_is_named(tmp_path):
    with pytest.raises(OutputError, match=r"cannot write temporary files in .*disk is full") as one:
        spill(tmp_path, "SET max_temp_directory_size = '1MB'")
    assert one.value.file == str(tmp_path)
    assert "--temp-dir" in one.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small_files")
def test_and_so_is_a_limit_of_the_system(tmp_path):
    with pytest.raises(OutputError, match=r"cannot write temporary files in .*ulimit -f"):
        spill(tmp_path)
    assert list(tmp_path.iterdir()) == []
