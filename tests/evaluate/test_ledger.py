"""The guarantee over all releases, and publishing with a ledger: all of it, or nothing."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd import _renames
from incrowd.data._ledger import ABSENT, Ledger
from incrowd.errors import ArgumentError, OutputError, PrivacyWarning, VerificationError
from incrowd.evaluate import _ledger as module
from incrowd.evaluate._ledger import check_guarantee, companions, find_release
from naive import ledger as naive
from strategies import random_cases

CITY = incrowd.synthesize("city", users=24, seed=3)
BARE = {"method": "", "settings": {}, "held_back": 0, "place": "", "manifest_sha256": ""}


@st.composite
def matrices(draw):
    """Draw who was in which crowd in each release: as it happens, not as it should be."""
    people, releases = draw(st.integers(0, 9)), draw(st.integers(0, 4))
    crowd = st.sampled_from([ABSENT, 0, 0, 0, 1, 2])
    row = st.lists(crowd, min_size=releases, max_size=releases)
    matrix = draw(st.lists(row, min_size=people, max_size=people))
    return np.array(matrix, np.int32).reshape(people, releases)


class TestGuarantee:
    @random_cases(1000)
    @given(matrices())
    def test_is_that_over_all_sets_of_releases(self, matrix):
        history = [
            {person: int(crowd) for person, crowd in enumerate(column) if crowd != ABSENT}
            for column in matrix.T
        ]
        expected = naive.fewest_in_common(history)
        assert companions(matrix).tolist() == [expected.get(p, 0) for p in range(len(matrix))]

    def test_in_parts_is_the_same(self, monkeypatch):
        matrix = np.random.default_rng(1).integers(-1, 3, (300, 4)).astype(np.int32)
        whole = companions(matrix)
        monkeypatch.setattr(module, "PAIRS", 7)
        assert companions(matrix).tolist() == whole.tolist()

    def test_is_not_claimed_where_it_does_not_hold(self, tmp_path):
        ledger = Ledger.open(tmp_path / "ledger.parquet", 2)
        for number in range(2):
            made = incrowd.glove(CITY[number : 20 + number], 2 + number)
            ledger = ledger.with_release(made.assignment, **BARE, rows_sha256=str(number))
        check = check_guarantee(ledger)
        assert check.ok is False
        assert check.figures["people_below_k"] == int((companions(ledger.crowds) == 1).sum()) > 0
        ledger.write()
        history = incrowd.ledger_history(ledger.path)
        assert not history.ok
        assert "FAILED" in repr(history)

    def test_history_counts_who_comes_and_goes(self, tmp_path):
        ledger = Ledger.open(tmp_path / "ledger.parquet", 2)
        for some in (range(12), range(2, 14), range(14)):
            made = incrowd.glove(CITY[np.array(some)], 2, ledger=ledger, ledger_spare=4)
            ledger = ledger.with_release(made.assignment, **BARE, rows_sha256="")
        rows = incrowd.ledger_history(ledger).rows
        names = ("people", "newcomers", "returned", "left")
        assert [[row[name] for name in names] for row in rows] == [
            [12, 12, 0, 0], [12, 2, 0, 2], [14, 0, 2, 0],
        ]  # fmt: skip


def published(folder, name, data=CITY, k=2, *, overwrite=False, **how):
    """Make and publish a release with the ledger of a folder."""
    ledger = Ledger.open(folder / "ledger.parquet", k)
    if overwrite:
        ledger = ledger.before(folder / name)
    made = incrowd.glove(data, k, ledger=ledger, **how)
    return incrowd.publish(
        made, folder / name, original=data, ledger=ledger, draws=20, overwrite=overwrite
    )


def kept(folder):
    return sorted(path.name for path in folder.iterdir())


class TestPublish:
    def test_enters_the_release(self, tmp_path):
        done = published(tmp_path, "march", CITY[:20])
        published(tmp_path, "april", CITY[2:])
        ledger = Ledger.read(tmp_path / "ledger.parquet")
        assert [(e.sequence, e.people) for e in ledger.entries] == [(1, 20), (2, 22)]
        assert ledger.entries[0].place == str(tmp_path / "march")
        assert find_release(ledger, done.path)[0] == ledger.entries[0]
        assert done.verification["ledger"].ok
        assert kept(tmp_path) == ["april", "ledger.parquet", "march"]

    def test_the_manifest_tells_neither_how_many_nor_who(self, tmp_path):
        one, two = (published(tmp_path, name) for name in ("march", "april"))
        texts = [json.loads(m.to_json()) for m in (one.manifest, two.manifest)]
        assert texts[0]["verified"]["checks"][-1] == texts[1]["verified"]["checks"][-1]
        assert texts[0]["settings"] == texts[1]["settings"]
        assert texts[0]["explanation"] == texts[1]["explanation"]
        assert (texts[0]["settings"]["ledger_k"], texts[0]["settings"]["ledger_spare"]) == (2, 2)
        assert "ledger.parquet" not in one.manifest.to_json()
        assert any("several releases" in promise for promise in one.manifest.holds_against)
        assert not any("a second release" in limit for limit in one.manifest.fails_against)

    def test_who_is_held_back_is_counted_and_verified(self, tmp_path):
        first = published(tmp_path, "march", ledger_spare=0)
        ledger = Ledger.read(tmp_path / "ledger.parquet")
        crowd = np.flatnonzero(ledger.crowds[:, 0] == ledger.crowds[0, 0])
        there = np.setdiff1d(np.arange(len(CITY)), crowd[1:])
        second = published(tmp_path, "april", CITY[there])
        assert first.manifest.losses["people_held_back"] == 0
        assert second.manifest.losses["people_held_back"] == "fewer than 10"
        assert second.verification["membership"].ok
        assert Ledger.read(tmp_path / "ledger.parquet").entries[1].held_back == 1

    def test_is_checked_apart_from_what_made_it(self, tmp_path):
        """A release that was made without the ledger is refused where it breaks the guarantee."""
        published(tmp_path, "march", ledger_spare=0)
        other = incrowd.glove(CITY, 3)
        with pytest.raises(VerificationError, match="with fewer than 2 people in common"):
            incrowd.publish(
                other, tmp_path / "april", original=CITY, ledger=tmp_path / "ledger.parquet",
                draws=20,
            )  # fmt: skip
        assert kept(tmp_path) == ["ledger.parquet", "march"]
        assert len(Ledger.read(tmp_path / "ledger.parquet").entries) == 1

    def test_any_k_anonymous_release_may_be_the_first(self, tmp_path):
        made = incrowd.glove(CITY, 3)
        ledger = tmp_path / "ledger.parquet"
        incrowd.publish(made, tmp_path / "march", original=CITY, ledger=ledger, draws=20)
        assert Ledger.read(ledger).k == 3

    def test_needs_the_ledger_with_which_it_was_made(self, tmp_path):
        made = incrowd.glove(CITY, 2, ledger=tmp_path / "ledger.parquet")
        with pytest.raises(ArgumentError, match=r"was made with a ledger.* give the same ledger"):
            incrowd.publish(made, tmp_path / "march", original=CITY)
        assert kept(tmp_path) == []

    def test_refuses_methods_without_k(self, tmp_path):
        made = incrowd.Cloak(minutes=60).protect(CITY)
        with pytest.raises(ArgumentError, match="promises no k-anonymity, and a ledger keeps"):
            incrowd.publish(
                made, tmp_path / "march", original=CITY, ledger=tmp_path / "ledger.parquet"
            )

    @pytest.mark.parametrize(
        ("place", "says"),
        [("march/ledger.parquet", "lies in a release"), ("march", "lies in a release"),
         ("ledger.csv", "is a Parquet file"), ("nowhere/ledger.parquet", "does not exist")],
    )  # fmt: skip
    def test_refuses_places(self, tmp_path, place, says):
        made = incrowd.glove(CITY, 2, ledger=tmp_path / place)
        with pytest.raises((ArgumentError, OutputError), match=says):
            incrowd.publish(made, tmp_path / "march", original=CITY, ledger=tmp_path / place)
        assert kept(tmp_path) == []

    def test_refuses_to_lie_in_another_release(self, tmp_path):
        published(tmp_path, "march")
        inside = tmp_path / "march" / "ledger.parquet"
        made = incrowd.glove(CITY, 2, ledger=inside)
        with pytest.raises(ArgumentError, match="lies in a release"):
            incrowd.publish(made, tmp_path / "april", original=CITY, ledger=inside)

    def test_a_ledger_that_has_changed_publishes_nothing(self, tmp_path):
        ledger = Ledger.open(tmp_path / "ledger.parquet", 2)
        made = incrowd.glove(CITY, 2, ledger=ledger)
        published(tmp_path, "march")
        before = ledger.path.read_bytes()
        with pytest.raises(OutputError, match="has changed since it was read"):
            incrowd.publish(made, tmp_path / "april", original=CITY, ledger=ledger, draws=20)
        assert kept(tmp_path) == ["ledger.parquet", "march"]
        assert ledger.path.read_bytes() == before

    @pytest.mark.parametrize("fails", [0, 1, 2])
    def test_all_get_their_names_or_none(self, tmp_path, monkeypatch, fails):
        published(tmp_path, "march")
        before, calls = (tmp_path / "ledger.parquet").read_bytes(), []
        rename, exchange = type(tmp_path).rename, _renames.exchange

        def broken(self, target, usual=rename):
            if ".incrowd-unverified-" in self.name or ".incrowd-part-" in self.name:
                calls.append(self.name)
                if len(calls) == fails + 1:
                    raise OSError(5, "Input/output error")
            return usual(self, target)

        ledger = Ledger.read(tmp_path / "ledger.parquet")
        made = incrowd.glove(CITY, 2, ledger=ledger)
        with monkeypatch.context() as patch:
            patch.setattr(type(tmp_path), "rename", broken)
            patch.setattr(_renames, "exchange", lambda one, other: broken(one, other, exchange))
            with pytest.raises(OutputError):
                incrowd.publish(
                    made, tmp_path / "april", original=CITY, record=tmp_path / "who.parquet",
                    ledger=ledger, draws=20,
                )  # fmt: skip
        assert kept(tmp_path) == ["ledger.parquet", "march"]
        assert (tmp_path / "ledger.parquet").read_bytes() == before

    def test_the_ledger_is_there_before_the_release(self, tmp_path, monkeypatch):
        order = []
        rename = type(tmp_path).rename
        monkeypatch.setattr(
            type(tmp_path), "rename",
            lambda self, target: (order.append(target.name), rename(self, target))[1],
        )  # fmt: skip
        published(tmp_path, "march")
        assert order == ["ledger.parquet", "march"]


class TestAgain:
    def test_the_last_release_can_be_replaced(self, tmp_path):
        published(tmp_path, "march", ledger_spare=0)
        published(tmp_path, "april", ledger_spare=0)
        with pytest.warns(PrivacyWarning, match=r"release 2 .* is replaced .* ever seen it"):
            done = published(tmp_path, "april", CITY[1:], ledger_spare=0, overwrite=True)
        ledger = Ledger.read(tmp_path / "ledger.parquet")
        assert [e.sequence for e in ledger.entries] == [1, 2]
        assert find_release(ledger, done.path)[0] == ledger.entries[1]
        assert ledger.crowds[0, 1] == ABSENT

    def test_publish_knows_what_it_replaces(self, tmp_path):
        published(tmp_path, "march")
        made = incrowd.glove(CITY, 2, ledger=tmp_path / "ledger.parquet")
        with pytest.warns(PrivacyWarning, match="release 1"):
            incrowd.publish(
                made, tmp_path / "march", original=CITY, ledger=tmp_path / "ledger.parquet",
                overwrite=True, draws=20,
            )  # fmt: skip
        assert len(Ledger.read(tmp_path / "ledger.parquet").entries) == 1

    def test_an_earlier_one_cannot(self, tmp_path):
        published(tmp_path, "march")
        published(tmp_path, "april")
        with pytest.raises(ArgumentError, match=r"release 1 of the ledger .* --withdraw 1 first"):
            published(tmp_path, "march", overwrite=True)
        made = incrowd.glove(CITY, 2, ledger=tmp_path / "ledger.parquet")
        with pytest.raises(ArgumentError, match="only the last can be replaced"):
            incrowd.publish(
                made, tmp_path / "march", original=CITY, ledger=tmp_path / "ledger.parquet",
                overwrite=True,
            )  # fmt: skip

    def test_under_another_name_it_counts_as_well(self, tmp_path):
        published(tmp_path, "march")
        published(tmp_path, "march-again")
        assert len(Ledger.read(tmp_path / "ledger.parquet").entries) == 2

    def test_a_replaced_release_that_the_ledger_does_not_know(self, tmp_path):
        made = incrowd.glove(CITY, 2)
        incrowd.publish(made, tmp_path / "march", original=CITY, draws=20)
        published(tmp_path, "march", overwrite=True)
        assert len(Ledger.read(tmp_path / "ledger.parquet").entries) == 1


def test_a_release_is_found_by_its_rows(tmp_path):
    done = published(tmp_path, "march")
    ledger = Ledger.read(tmp_path / "ledger.parquet")
    assert find_release(ledger, done.path)[1].endswith("are those that were entered")
    other = replace(ledger.entries[0], manifest_sha256="0")
    entry, says = find_release(replace(ledger, entries=(other,)), done.path)
    assert (entry, "its manifest was changed since" in says) == (other, True)
    assert "was withdrawn on" in find_release(ledger.withdraw(1), done.path)[1]
    assert "is not in this ledger" in find_release(ledger.without(1), done.path)[1]
