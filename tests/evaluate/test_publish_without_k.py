"""Releases that promise no k: verified for what they do promise, and honest about the rest."""

import json
import os
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from evaluate.makers import FRAME, Case, cell, trajectories
from incrowd import Frame, Trajectories, glove, synthesize
from incrowd.data._frame import laea
from incrowd.data._manifest import read_manifest
from incrowd.data._release import recorded_losses, write_release
from incrowd.errors import ArgumentError, DataWarning, PrivacyWarning, VerificationError
from incrowd.evaluate._publish import _merge_identical, publish
from incrowd.evaluate._verify import promises
from incrowd.evaluate._verify.run import verify
from incrowd.protect import _geo_indistinguishability as geo_indistinguishability
from incrowd.protect._generalisation import Cloak, Generalise
from incrowd.protect._geo_indistinguishability import GeoI
from incrowd.protect._spatial_filtering import Filter
from strategies import random_cases

MECHANISMS = (Filter(3), Cloak(60), Cloak(None), Generalise(1000, 30), GeoI(0.004))
BY_METHOD = pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
PEOPLE = {
    "ann-1": [cell(0, 0, 10), cell(5, 5, 100)],
    "bob-2": [cell(0, 0, 12), cell(5, 5, 103)],
    "cat-3": [cell(20, 3, 10), cell(20, 3, 50)],
    "dan-4": [cell(21, 4, 11)],
}


@pytest.fixture(scope="module")
def city():
    return synthesize("city", users=40, seed=5)


@pytest.fixture
def few():
    return trajectories(PEOPLE)


def published(data, mechanism, folder, **how):
    """Publish, and give what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = publish(mechanism.protect(data), folder / "release", original=data, draws=20, **how)
    assert {one.category for one in caught} <= {DataWarning, PrivacyWarning}
    return done, [str(one.message) for one in caught if one.category is PrivacyWarning]


class TestPublish:
    @BY_METHOD
    @pytest.mark.parametrize("form", ["parquet", "csv"])
    def test_is_written_and_verified_for_what_it_promises(self, city, tmp_path, mechanism, form):
        record = tmp_path / "who.parquet"
        done, warned = published(city, mechanism, tmp_path, format=form, record=record)
        found, manifest = done.verification, done.manifest
        assert found.ok
        assert found.k is None
        assert found["membership"].ok
        assert sorted(entry.name for entry in tmp_path.iterdir()) == ["release", "who.parquet"]
        assert len(warned) == 1
        assert manifest.method == mechanism.method
        assert "k" not in manifest.settings
        assert manifest.guarantee == "none"
        assert "hides nobody in a crowd" in manifest.explanation[-1]
        assert manifest.verified == json.loads(json.dumps(found.to_dict()))
        assert list(manifest.holds_against) == list(mechanism.promises)
        assert any(text.startswith("record linkage") for text in manifest.fails_against)
        again = verify(done.path, original=city, record=record, draws=20)
        assert again.ok
        assert again.claims == found.claims

    @BY_METHOD
    def test_no_check_fails_beside_the_original_and_those_that_make_sense_are_made(
        self, city, tmp_path, mechanism
    ):
        done, _ = published(city, mechanism, tmp_path)
        noisy = isinstance(mechanism, GeoI)
        for name in ("files", "rows", "sizes", "names", "membership"):
            assert done.verification[name].ok
        for name in ("promise", "coverage", "witness"):
            assert done.verification[name].ok is (None if noisy else True)
        no_edges = None if not isinstance(mechanism, Filter) else True
        assert done.verification["no invention"].ok is no_edges
        assert done.verification["linkage"].ok is None

    @BY_METHOD
    def test_says_how_many_stand_alone_and_claims_no_more(self, city, tmp_path, mechanism):
        done, [warned] = published(city, mechanism, tmp_path)
        rows = pl.read_parquet(done.path / "trajectories.parquet")
        records = rows.group_by("person").agg(pl.exclude("person")).drop("person")
        alone = int(records.map_rows(repr).to_series().is_unique().sum())
        figures = done.verification["k-anonymity"].figures
        assert figures["people_alone"] == alone
        assert (f"{alone} of 40 people" if alone else "is a coincidence") in warned
        claims = done.verification.claims
        assert f"{alone} of 40 people have a record that nobody shares" in claims
        assert "It is not promised" in claims
        assert "is identical to" not in claims
        assert done.manifest.sizes["smallest_crowd"] == figures["smallest"]

    def test_people_with_identical_records_are_a_crowd(self, few, tmp_path):
        done, [warned] = published(few, Cloak(1440), tmp_path, record=tmp_path / "who.parquet")
        assert done.manifest.sizes == {
            "people": 4, "samples": 6, "trajectories": 3, "smallest_crowd": 1,
        }  # fmt: skip
        assert warned == "k = 1: 2 of 4 people have a record that nobody shares"
        who = pl.read_parquet(tmp_path / "who.parquet")
        assert who["user"].to_list() == list(PEOPLE)
        assert who["trajectory"].to_list() == [0, 0, 1, 2]
        assert who["person"].n_unique() == 4

    def test_warns_even_where_nobody_is_alone_by_chance(self, tmp_path):
        data = trajectories({"ann-1": [cell(0, 0, 10)], "bob-2": [cell(0, 0, 12)]})
        done, warned = published(data, Cloak(60), tmp_path)
        chance = "that 2 people or more share every record is a coincidence"
        assert warned == [f"temporal cloaking promises no k-anonymity; {chance}"]
        assert done.verification["k-anonymity"].figures["smallest"] == 2
        assert verify(done.path, k=2).ok
        assert not verify(done.path, k=3).ok

    def test_people_who_were_dropped_are_counted(self, few, tmp_path):
        record = tmp_path / "who.parquet"
        done, _ = published(few, Filter(1), tmp_path, record=record)
        assert done.manifest.losses == {
            "people_dropped": "fewer than 10",
            "samples_dropped": "not shown, because it would be that of few people",
            "samples_suppressed": 0, "samples_collapsed": 0, "places_filtered": 2,
        }  # fmt: skip
        assert recorded_losses(record) == {
            "people_dropped": 2, "samples_dropped": 3, "samples_suppressed": 0,
            "samples_collapsed": 0, "places_filtered": 2,
        }  # fmt: skip
        assert pl.read_parquet(record)["person"].is_null().to_list() == [False, False, True, True]

    def test_samples_that_were_filtered_are_covered_by_their_count(self, tmp_path):
        data = trajectories(PEOPLE | {"cat-3": [cell(0, 0, 10), cell(20, 3, 50)]})
        done, _ = published(data, Filter(1), tmp_path)
        assert done.manifest.losses["samples_suppressed"] == 1
        assert done.verification["coverage"].figures["missed"] == 1

    @pytest.mark.parametrize(("counted", "ok"), [(0, False), (1, True), (2, True)])
    def test_no_more_samples_are_missing_than_are_counted(self, tmp_path, counted, ok):
        """What was filtered may lie in another box all the same; what is missing is counted."""
        data = trajectories(PEOPLE | {"cat-3": [cell(0, 0, 10), cell(20, 3, 50)]})
        record = tmp_path / "who.parquet"
        done, _ = published(data, Filter(1), tmp_path, record=record)
        losses = dict(done.manifest.losses) | {"samples_suppressed": counted}
        resealed(done.path, losses=losses)
        found = verify(done.path, original=data, record=record, draws=20)
        assert (found["coverage"].ok, found.ok) == (ok, ok)

    def test_nothing_left_is_an_error_that_says_so(self, few, tmp_path):
        why = "spatial filtering left nothing to publish .at_most = 9, places = cells."
        with pytest.raises(ArgumentError, match=why):
            publish(Filter(9).protect(few), tmp_path / "release", original=few)
        assert list(tmp_path.iterdir()) == []

    def test_one_that_fails_is_removed(self, few, tmp_path, monkeypatch):
        protected = Cloak(60).protect(few)
        protected.settings["minutes"] = 1440.0
        with (
            pytest.warns(PrivacyWarning),
            pytest.raises(VerificationError, match="6 rows of 6 are finer than slots of 1,440 min"),
        ):
            publish(protected, tmp_path / "release", original=few)
        assert list(tmp_path.iterdir()) == []

    def test_seeded_noise_is_said_to_be_no_release(self, few, tmp_path):
        done, warned = published(few, GeoI(0.01, seed=987654), tmp_path)
        assert len(warned) == 2
        manifest = (done.path / "manifest.json").read_text()
        assert '"noise": "seeded, not for release"' in manifest
        assert "987654" not in manifest
        assert list(done.manifest.holds_against) == []
        assert "drawn from a seed" in done.manifest.fails_against[0]
        assert any("this release is a test" in text for text in done.verification.limits)

    def test_names_of_places_are_nowhere_in_it(self, tmp_path):
        base = trajectories(PEOPLE)
        names = pl.Series(["Marcory-Zone-4"])
        data = Trajectories(
            base.columns, base.offsets, FRAME, place=np.zeros(base.samples, np.int32), places=names
        )
        done, _ = published(data, Filter(1), tmp_path)
        assert done.verification["promise"].ok
        assert all(b"Marcory" not in file.read_bytes() for file in done.path.iterdir())

    def test_glove_says_nothing_of_the_kind(self, city, tmp_path, recwarn):
        done = publish(glove(city, k=2), tmp_path / "release", original=city, draws=20)
        assert not recwarn
        assert done.verification.k == 2
        assert "promise" not in [check.name for check in done.verification.checks]


class TestMergeIdentical:
    @random_cases(50)
    @given(
        st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=3), min_size=1, max_size=8),
        st.lists(st.integers(1, 3), min_size=8, max_size=8),
    )
    def test_is_a_dict_of_records(self, people, crowds):
        data = trajectories(
            {i: [cell(0, 0, t) for t in times] for i, times in enumerate(people)},
            crowd=crowds[: len(people)],
        )
        table = pl.DataFrame(
            {"user": [*range(len(people)), 99], "trajectory": [*range(len(people)), None]},
            schema_overrides={"trajectory": pl.Int32},
        )
        made, assignment = _merge_identical(data, table)
        expected = {}
        for times, crowd in zip(people, crowds, strict=False):
            key = tuple(sorted(set(times)))
            expected[key] = expected.get(key, 0) + crowd
        found = {tuple(one.t0.tolist()): one.crowd for one in made}
        assert found == expected
        for i, index in enumerate(assignment["trajectory"][:-1]):
            assert made[index].t0.tolist() == sorted(set(people[i]))
        assert assignment["trajectory"][-1] is None


class TestVerify:
    def test_k_is_answered_honestly(self, city, tmp_path):
        done, _ = published(city, Cloak(60), tmp_path)
        found = verify(done.path, k=2)
        assert not found.ok
        assert [check.name for check in found.failed] == ["k-anonymity"]
        assert found.claims.startswith("Nothing can be claimed of this release")
        beside = verify(done.path, k=2, original=city, draws=20)
        assert beside["linkage"].ok is False

    def test_true_samples_say_nothing_about_noise(self, city, tmp_path):
        done, _ = published(city, GeoI(0.01), tmp_path)
        assert verify(done.path, k=2, original=city, draws=20)["linkage"].ok is None

    def test_a_release_that_hides_its_k_is_not_taken_for_one_without(self, tmp_path):
        case = Case(tmp_path, settings={"k": "gone"})
        with pytest.raises(ArgumentError, match="states no k"):
            verify(case.path)

    @pytest.mark.parametrize("k", [2, None, "two"])
    def test_one_that_states_a_k_is_held_to_it(self, city, tmp_path, k):
        done, _ = published(city, Cloak(60), tmp_path)
        resealed(done.path, settings=dict(done.manifest.settings) | {"k": k})
        if k == 2:
            assert not verify(done.path).ok
        else:
            with pytest.raises(ArgumentError, match="states no k"):
                verify(done.path)

    def test_a_changed_file_leaves_nothing_to_be_claimed(self, city, tmp_path):
        done, _ = published(city, Cloak(60), tmp_path)
        rows = done.path / "trajectories.parquet"
        rows.write_bytes(rows.read_bytes()[:-1] + b"x")
        found = verify(done.path)
        assert not found.ok
        assert found.claims.startswith("Nothing can be claimed")

    @pytest.mark.parametrize(
        ("mechanism", "settings", "says"),
        [
            (Cloak(60), {"minutes": 120.0}, "finer than slots of 120 min"),
            (Cloak(60), {"minutes": "all"}, "finer than the whole span"),
            (Cloak(60), {"minutes": None}, "states no coarser grid"),
            (Cloak(60), {"minutes": True}, "states no coarser grid"),
            (Generalise(1000, 30), {"metres": 2000.0}, "finer than cells of 2,000 m"),
            (Filter(1), {"at_most": 3}, "places have 3 visitors or fewer"),
            (Filter(1), {"at_most": "few"}, "states at_most 'few'"),
            (GeoI(0.01), {"epsilon": 0}, "states epsilon 0"),
        ],
    )  # fmt: skip
    def test_finds_promises_that_are_not_kept(self, tmp_path, mechanism, settings, says):
        data = trajectories(PEOPLE | {"eve-5": [cell(0, 0, 700)]})
        done, _ = published(data, mechanism, tmp_path)
        resealed(done.path, settings=dict(done.manifest.settings) | settings)
        found = verify(done.path)
        assert [check.name for check in found.failed] == ["promise"]
        assert says in found["promise"].says
        assert not found.ok

    @random_cases(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.sampled_from([0, 61, -90, 1_325_376_061]),
        st.lists(st.integers(0, 400), min_size=1, max_size=5),
        st.sampled_from([30, 60, 1440, None]),
    )
    def test_keeps_promises_on_clocks_that_start_anywhere(self, tmp_path, origin, times, minutes):
        frame = Frame(laea(5, -4), origin=origin)
        data = trajectories({"ann": [cell(0, 0, t) for t in times]}, frame)
        folder = tmp_path / os.urandom(4).hex()
        folder.mkdir()
        done, _ = published(data, Cloak(minutes), folder)
        assert done.verification["promise"].ok

    @random_cases(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=2, max_size=6),
        st.integers(1, 3),
    )
    def test_counts_visitors_as_the_filter_does(self, tmp_path, people, at_most):
        data = trajectories(
            {str(i): [cell(x, 0, t) for t, x in enumerate(one)] for i, one in enumerate(people)}
        )
        folder = tmp_path / os.urandom(4).hex()
        visitors = [sum(x in one for one in people) for x in range(4)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write_release(
                folder, data, method="spatial filtering",
                settings={"at_most": at_most, "places": "cells"}, losses={},
            )  # fmt: skip
        found = verify(folder)["promise"]
        assert found.figures["rare"] == sum(0 < number <= at_most for number in visitors)
        assert found.figures["fewest"] == min(number for number in visitors if number)

    def test_knows_the_methods_by_the_names_that_they_have(self):
        names = Filter.method, Cloak.method, Generalise.method, GeoI.method
        assert names == tuple(promises.PROMISES)
        assert promises._ENTROPY == geo_indistinguishability.TRUE

    def test_says_it_in_lines(self, city, tmp_path):
        done, _ = published(city, Cloak(60), tmp_path)
        text = str(verify(done.path))
        assert "k-anonymity   none         It is not promised." in text
        assert "Nobody is hidden in a crowd" in text


def resealed(path, **changes):
    """Change the manifest, and seal it as its maker would."""
    file = path / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    file.write_text(read_manifest(path).to_json())
