import errno

import pytest

from incrowd._atomic import refuse_taken, replacing, writing_error
from incrowd.errors import OutputError


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


class TestReplacing:
    def test_a_file_appears_under_its_name_alone(self, tmp_path):
        with replacing(tmp_path / "a.txt") as part:
            part.write_text("whole")
            assert names(tmp_path) == [part.name]
        assert names(tmp_path) == ["a.txt"]
        assert (tmp_path / "a.txt").read_text() == "whole"

    def test_a_directory_appears_with_all_in_it(self, tmp_path):
        with replacing(tmp_path / "out", directory=True) as part:
            (part / "in").mkdir()
            (part / "in" / "a.txt").write_text("whole")
            assert not (tmp_path / "out").exists()
        assert (tmp_path / "out" / "in" / "a.txt").read_text() == "whole"
        assert names(tmp_path) == ["out"]

    def test_a_path_may_be_text(self, tmp_path):
        with replacing(str(tmp_path / "a.txt")) as part:
            part.write_text("")
        assert names(tmp_path) == ["a.txt"]

    @pytest.mark.parametrize("directory", [False, True])
    @pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
    def test_an_error_leaves_nothing(self, tmp_path, directory, error):
        def write():
            with replacing(tmp_path / "out", directory=directory) as part:
                (part / "a.txt" if directory else part).write_text("half")
                raise error

        with pytest.raises(error):
            write()
        assert names(tmp_path) == []

    @pytest.mark.parametrize("directory", [False, True])
    def test_a_full_disk_is_named_and_leaves_nothing(self, tmp_path, directory):
        def write():
            with replacing(tmp_path / "out", directory=directory) as part:
                (part / "a.txt" if directory else part).write_text("half")
                raise OSError(errno.ENOSPC, "No space left on device")

        with pytest.raises(
            OutputError, match=r"out: the disk is full; no incomplete output was left"
        ):
            write()
        assert names(tmp_path) == []

    def test_a_taken_name_is_refused_before_the_block_runs(self, tmp_path):
        (tmp_path / "a.txt").write_text("old")
        with (
            pytest.raises(OutputError, match=r"a\.txt exists already; .* allow overwriting"),
            replacing(tmp_path / "a.txt"),
        ):
            pytest.fail("the block ran")
        assert (tmp_path / "a.txt").read_text() == "old"

    def test_overwriting_replaces_a_file(self, tmp_path):
        (tmp_path / "a.txt").write_text("old")
        with replacing(tmp_path / "a.txt", overwrite=True) as part:
            part.write_text("new")
            assert (tmp_path / "a.txt").read_text() == "old"
        assert (tmp_path / "a.txt").read_text() == "new"

    def test_an_error_while_overwriting_keeps_the_old_file(self, tmp_path):
        (tmp_path / "a.txt").write_text("old")

        def write():
            with replacing(tmp_path / "a.txt", overwrite=True) as part:
                part.write_text("half")
                raise RuntimeError

        with pytest.raises(RuntimeError):
            write()
        assert names(tmp_path) == ["a.txt"]
        assert (tmp_path / "a.txt").read_text() == "old"

    @pytest.mark.parametrize("overwrite", [False, True])
    def test_a_name_taken_during_the_run_is_not_replaced(self, tmp_path, overwrite):
        def write():
            with replacing(tmp_path / "out", directory=True, overwrite=overwrite):
                (tmp_path / "out").mkdir()

        with pytest.raises(OutputError, match="out exists already"):
            write()
        assert names(tmp_path) == ["out"]

    def test_a_block_that_writes_nothing_is_an_error(self, tmp_path):
        with pytest.raises(OutputError, match="No such file"), replacing(tmp_path / "a.txt"):
            pass
        assert names(tmp_path) == []

    def test_a_name_that_is_too_long_is_our_error(self, tmp_path):
        with (
            pytest.raises(OutputError, match="File name too long"),
            replacing(tmp_path / ("a" * 300)),
        ):
            pass


class TestRefuseTaken:
    def test_a_free_name_passes(self, tmp_path):
        refuse_taken(tmp_path / "a.txt")

    def test_a_missing_folder_is_refused(self, tmp_path):
        with pytest.raises(OutputError, match=r"the folder .*none does not exist"):
            refuse_taken(tmp_path / "none" / "a.txt")

    @pytest.mark.parametrize("directory", [False, True])
    def test_a_directory_is_never_replaced(self, tmp_path, directory):
        (tmp_path / "out").mkdir()
        with pytest.raises(OutputError, match="choose another name or remove it first"):
            refuse_taken(tmp_path / "out", directory=directory, overwrite=True)

    def test_a_link_to_nowhere_is_taken(self, tmp_path):
        (tmp_path / "link").symlink_to(tmp_path / "nowhere")
        with pytest.raises(OutputError, match="exists already"):
            refuse_taken(tmp_path / "link")


class TestWritingError:
    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
            (OSError("Error writing bytes: No space left on device"), "the disk is full"),
            (OSError(errno.EACCES, "Permission denied"), "permission denied"),
            (OSError(errno.EROFS, "Read-only file system"), "read-only file system"),
            (OSError(errno.EIO, "Input/output error"), "Input/output error"),
            (OSError("something odd"), "something odd"),
        ],
    )
    def test_says_why(self, tmp_path, error, reason):
        text = str(writing_error(tmp_path / "a.txt", error))
        assert (
            text
            == f"cannot write {tmp_path / 'a.txt'}: {reason}; no incomplete output was left behind"
        )
