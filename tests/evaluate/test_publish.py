import errno
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import strategies
from evaluate.makers import FRAME
from incrowd import Trajectories
from incrowd.data._manifest import read_manifest, read_release
from incrowd.errors import ArgumentError, OutputError, VerificationError
from incrowd.evaluate import _publish as module
from incrowd.evaluate._publish import publish
from incrowd.evaluate._verify.result import failed
from incrowd.evaluate._verify.run import verify
from strategies import random_cases

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    """Make a small city of people with telling identifiers."""
    file = tmp_path_factory.mktemp("city") / "city.parquet"
    incrowd.write(incrowd.synthesize("city", users=41, seed=3), file)
    user = pl.format("msisdn-{}", pl.col("user").cast(pl.String).str.zfill(9)).alias("user")
    return incrowd.read(pl.read_parquet(file).with_columns(user))


@pytest.fixture(scope="module")
def release(city):
    """Hide everybody in a crowd of two; one of 41 is left over."""
    return incrowd.glove(city, k=2)


@pytest.fixture
def put(city, release, tmp_path):
    """Publish the city, quickly."""

    def command(name="release", **how):
        return publish(release, tmp_path / name, original=city, draws=20, **how)

    return command


def failing(*_, **__):
    raise FULL


def refuted(*words, **how):
    """Verify, and find something wrong."""
    found = verify(*words, **how)
    checks = [failed(one.name, "Torn.", {}) if one.name == "rows" else one for one in found.checks]
    return replace(found, checks=tuple(checks))


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


class TestPublish:
    @pytest.mark.parametrize("form", ["parquet", "csv"])
    def test_gives_a_verified_release(self, city, release, put, tmp_path, form):
        done = put(format=form, record=tmp_path / "who.parquet")
        assert names(tmp_path) == ["release", "who.parquet"]
        assert names(done.path) == [
            "fact-sheet.md", "manifest.json", f"trajectories.{form}",
        ]  # fmt: skip
        manifest = read_release(done.path).manifest
        assert manifest == done.manifest
        assert manifest.method == "GLOVE"
        assert manifest.settings == release.settings | {"version": incrowd.__version__}
        assert manifest.losses["people_dropped"] == "fewer than 10"
        assert manifest.guarantee == "k-anonymity"
        assert "everybody is in a crowd of 2 or more" in manifest.explanation[0]
        assert "everybody of the crowd was seen" in manifest.explanation[0]
        assert manifest.verified == done.verification.for_recipients().to_dict()
        assert all(check.ok for check in done.verification.checks)
        assert done.verification.path == done.path == tmp_path / "release"
        again = incrowd.verify(done.path, original=city, record=tmp_path / "who.parquet", draws=20)
        assert again.ok

    @pytest.mark.parametrize("form", ["parquet", "csv"])
    def test_no_identifier_is_in_any_byte(self, put, form):
        for file in put(format=form).path.iterdir():
            assert b"msisdn" not in file.read_bytes()

    def test_the_record_is_only_written_when_asked_for(self, put, tmp_path):
        put()
        assert names(tmp_path) == ["release"]

    def test_what_is_verified_is_what_is_published(self, put, monkeypatch):
        seen = {}

        def looking(path, **how):
            seen[Path(path).name] = (Path(path) / "trajectories.parquet").read_bytes()
            return verify(path, **how)

        monkeypatch.setattr(module, "verify", looking)
        done = put()
        assert [name[:-12] for name in seen] == [".release.incrowd-unverified-"]
        assert list(seen.values()) == [(done.path / "trajectories.parquet").read_bytes()]

    def test_tells_how_far_it_is(self, put):
        calls = []
        put(progress=lambda *step: calls.append(step))
        assert calls[-1][0] == calls[-1][1]


class TestRefused:
    def test_what_does_not_pass_is_removed(self, put, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "verify", refuted)
        with pytest.raises(VerificationError, match=r"was removed: rows: Torn\.") as caught:
            put(record=tmp_path / "who.parquet")
        assert names(tmp_path) == []
        assert [check.name for check in caught.value.verification.failed] == ["rows"]
        assert caught.value.verification.path == tmp_path / "release"

    def test_a_release_of_other_people_is_no_release(self, release, tmp_path):
        other = incrowd.synthesize("city", users=41, seed=4)
        with pytest.raises(VerificationError, match="membership"):
            publish(release, tmp_path / "release", original=other, draws=20)
        assert names(tmp_path) == []

    def test_nothing_left_is_no_release(self, city, tmp_path):
        empty = incrowd.glove(city, k=20, max_space=1, max_time=1)
        assert len(empty.trajectories) == 0
        with pytest.raises(ArgumentError, match=r"left nothing.*no release was written"):
            publish(empty, tmp_path / "release", original=city)
        assert names(tmp_path) == []

    @pytest.mark.parametrize("where", ["write_release", "verify", "amend_release", "write_record"])
    def test_a_full_disk_leaves_nothing(self, put, tmp_path, monkeypatch, where):
        monkeypatch.setattr(module, where, failing)
        file = "who.parquet" if where == "write_record" else "release"
        with pytest.raises(OutputError, match=rf"cannot write \S+/{file}: the disk is full"):
            put(record=tmp_path / "who.parquet")
        assert names(tmp_path) == []

    def test_a_full_disk_under_the_record_is_one_too(self, put, tmp_path, monkeypatch):
        def writing(*_, **__):
            raise pl.exceptions.ComputeError("underlying IO error: No space left on device")

        monkeypatch.setattr(module, "write_record", writing)
        with pytest.raises(OutputError, match="the disk is full"):
            put(record=tmp_path / "who.parquet")
        assert names(tmp_path) == []

    def test_a_full_disk_under_the_rows_is_said_of_the_release(self, put, tmp_path, monkeypatch):
        monkeypatch.setattr("incrowd.data._release._write_parquet", failing)
        with pytest.raises(OutputError, match=r"cannot write \S+/release: the disk is full"):
            put()
        assert names(tmp_path) == []

    @pytest.mark.parametrize("name", ["release", "who.parquet"])
    def test_a_failing_rename_leaves_nothing(self, put, tmp_path, monkeypatch, name):
        real = Path.rename

        def moving(self, target):
            if Path(target).name == name:
                raise FULL
            return real(self, target)

        monkeypatch.setattr(Path, "rename", moving)
        with pytest.raises(OutputError, match=r"cannot write \S+/release: the disk is full"):
            put(record=tmp_path / "who.parquet")
        assert names(tmp_path) == []

    def test_the_record_gets_its_name_first(self, put, tmp_path, monkeypatch):
        real, named = Path.rename, []

        def moving(self, target):
            named.append(Path(target).name)
            return real(self, target)

        put(record=tmp_path / "who.parquet")
        monkeypatch.setattr(Path, "rename", moving)
        monkeypatch.setattr("incrowd._renames.exchange", lambda *_: False)
        put(record=tmp_path / "who.parquet", overwrite=True)
        assert [name for name in named if name[0] != "."] == ["who.parquet", "release"]
        assert names(tmp_path) == ["release", "who.parquet"]

    def test_an_interruption_leaves_nothing(self, put, tmp_path, monkeypatch):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(module, "verify", interrupted)
        with pytest.raises(KeyboardInterrupt):
            put()
        assert names(tmp_path) == []

    def test_no_folder(self, put):
        with pytest.raises(OutputError, match=r"the folder .* does not exist"):
            put("no/release")

    @pytest.mark.parametrize("name", ["release/who.parquet", "release/sub/who.parquet", "release"])
    def test_a_record_in_the_release(self, put, tmp_path, name):
        with pytest.raises(ArgumentError, match="must stay outside"):
            put(record=tmp_path / name)
        assert names(tmp_path) == []

    def test_a_record_in_another_release(self, put, tmp_path):
        put("other")
        with pytest.raises(ArgumentError, match="must stay outside"):
            put(record=tmp_path / "other" / "who.parquet")
        assert names(tmp_path) == ["other"]

    def test_a_record_that_is_no_parquet(self, put, tmp_path):
        with pytest.raises(ArgumentError, match=r"name it like who\.parquet, not 'who\.csv'"):
            put(record=tmp_path / "who.csv")

    def test_a_record_that_is_there(self, put, tmp_path):
        (tmp_path / "who.parquet").write_text("mine")
        with pytest.raises(OutputError, match="exists already"):
            put(record=tmp_path / "who.parquet")
        assert (tmp_path / "who.parquet").read_text() == "mine"

    @pytest.mark.parametrize("name", ["", "..", "."])
    def test_a_folder_without_a_name(self, put, name, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(OutputError):
            publish(None, Path(name), original=None, overwrite=True)


class TestTakenNames:
    def test_are_refused_before_any_work(self, put, tmp_path, monkeypatch):
        (tmp_path / "release").mkdir()
        monkeypatch.setattr(module, "write_release", failing)
        with pytest.raises(OutputError, match="exists already"):
            put()

    def test_are_refused_when_taken_meanwhile(self, put, tmp_path, monkeypatch):
        def taking(*words, **how):
            (tmp_path / "release").mkdir()
            (tmp_path / "release" / "mine").touch()
            return verify(*words, **how)

        monkeypatch.setattr(module, "verify", taking)
        with pytest.raises(OutputError, match="exists already"):
            put()
        assert names(tmp_path) == ["release"]
        assert names(tmp_path / "release") == ["mine"]

    def test_a_release_is_replaced_with_its_record(self, city, put, tmp_path):
        record = tmp_path / "who.parquet"
        first, _ = put(record=record).manifest, record.read_bytes()
        second = put(record=record, overwrite=True).manifest
        assert names(tmp_path) == ["release", "who.parquet"]
        assert read_manifest(tmp_path / "release") == second != first
        assert incrowd.verify(tmp_path / "release", original=city, record=record, draws=9).ok

    def test_an_empty_directory_is_replaced(self, put, tmp_path):
        (tmp_path / "release").mkdir()
        put(overwrite=True)
        assert names(tmp_path) == ["release"]

    def test_the_old_release_stays_until_the_new_one_is_verified(self, put, tmp_path, monkeypatch):
        first = put().manifest
        monkeypatch.setattr(module, "verify", refuted)
        with pytest.raises(VerificationError):
            put(overwrite=True)
        assert names(tmp_path) == ["release"]
        assert read_manifest(tmp_path / "release") == first

    def test_the_old_release_comes_back_when_renaming_fails(self, put, tmp_path, monkeypatch):
        first, real = put().manifest, Path.rename

        def moving(self, target):
            if "unverified" in self.name:
                raise FULL
            return real(self, target)

        monkeypatch.setattr(Path, "rename", moving)
        with pytest.raises(OutputError):
            put(overwrite=True)
        assert names(tmp_path) == ["release"]
        assert read_manifest(tmp_path / "release") == first

    def test_what_is_no_release_is_never_replaced(self, put, tmp_path):
        (tmp_path / "release").mkdir()
        (tmp_path / "release" / "thesis.txt").write_text("years of work")
        with pytest.raises(OutputError, match=r"is no release.*not replaced"):
            put(overwrite=True)
        assert names(tmp_path / "release") == ["thesis.txt"]

    def test_more_than_a_release_is_never_replaced(self, put, tmp_path):
        (put().path / "thesis.txt").write_text("years of work")
        with pytest.raises(OutputError, match=r"holds more than a release \(thesis\.txt\)"):
            put(overwrite=True)

    def test_a_link_or_a_file_is_never_replaced(self, put, tmp_path):
        put()
        (tmp_path / "link").symlink_to(tmp_path / "release")
        (tmp_path / "file").touch()
        for name in ("link", "file"):
            with pytest.raises(OutputError, match="is no release"):
                put(name, overwrite=True)


class TestThreats:
    def test_say_what_k_promises(self):
        told = incrowd.Glove(k=5, reshape="union")
        assert "5 identical records" in told.promises[0]
        assert len(told.limits) == 4

    def test_say_that_cut_pieces_may_be_unseen(self):
        assert "not seen there" in incrowd.Glove(k=2, merge="two-stage").limits[-1]
        assert not any("not seen there" in limit for limit in incrowd.Glove(k=2).limits)


class TestWhateverGloveMakes:
    @random_cases(100)
    @given(case=strategies.cases(st.one_of(strategies.collisions(max_crowd=1), strategies.grown())))
    def test_passes_its_verification(self, case, tmp_path_factory):
        data = Trajectories(case.data.columns, case.data.offsets, FRAME, people=case.data.people)
        if len(data) < case.k:
            return
        told = case.told()
        for names in ((), ("reshape", "suppress")):  # as in the papers; the best boxes
            how = {name: value for name, value in told.items() if name not in names}
            self.passes(incrowd.glove(data, **how), data, tmp_path_factory)

    def passes(self, release, data, tmp_path_factory):
        if len(release.trajectories):
            done = publish(
                release, tmp_path_factory.mktemp("any") / "release", original=data, draws=5
            )
            assert done.verification.ok
            alone = verify(done.path, original=data, draws=5)
            assert alone.ok, alone.failed

    @random_cases(100)
    @given(
        case=strategies.cases(strategies.grown(), suppress=True),
        price=st.sampled_from([0, 0.05, 0.4, 1, 3]),
    )
    def test_passes_its_verification_at_any_price(self, case, price, tmp_path_factory):
        data = Trajectories(case.data.columns, case.data.offsets, FRAME, people=case.data.people)
        if len(data) >= case.k:
            told = {name: case.told()[name] for name in ("k", "variant", "max_space", "stretch")}
            release = incrowd.glove(data, **told, suppress_price=price)
            self.passes(release, data, tmp_path_factory)
