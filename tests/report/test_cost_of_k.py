"""What larger crowds would cost: measured with the release's settings, on people drawn."""

import pytest

import incrowd
from incrowd.report._collect import settings_in
from incrowd.report._cost_of_k import cost_of_k, mechanism_in
from incrowd.report._numbers import Method

FRAME = {"cell": 100.0, "slot": 60}


@pytest.fixture(scope="module")
def town():
    return incrowd.synthesize("city", users=60, seed=5)


def settings(**of):
    return Method("GLOVE", {"k": 2, "variant": "strict", **of}, FRAME, {}, "random")


class TestCost:
    def test_is_what_the_method_leaves_for_each_k(self, town):
        found = cost_of_k(town, settings(), tz="UTC")
        assert found.people == 60
        assert [row["k"] for row in found.rows] == [2, 3, 5, 10]
        for row in found.rows:
            pair = incrowd.of_release(town, incrowd.glove(town, int(row["k"])))
            precise = incrowd.accuracy(pair)
            assert row["within_both"] == precise.samples_coarse
            assert row["deleted"] == precise.deleted
            assert row["homes"] == incrowd.utility(pair).persons.home.found_within(1)

    def test_has_the_k_of_the_release_and_its_thresholds(self, town):
        known = settings(k=4, max_space=20, max_time=120, merge="optimal")
        found = cost_of_k(town, known, tz="UTC")
        assert [row["k"] for row in found.rows] == [2, 3, 4, 5, 10]
        mechanism = mechanism_in(known, 5)
        assert (mechanism.k, mechanism.max_metres, mechanism.max_minutes) == (5, 2000, 120)
        assert found.rows[-1]["deleted"] > 0

    def test_the_same_people_are_drawn_again(self, town, monkeypatch):
        monkeypatch.setattr("incrowd.report._cost_of_k.PEOPLE", 20)
        first, again = (cost_of_k(town, settings(), tz="UTC", seed=3) for _ in range(2))
        assert first == again
        assert first.people == 20
        assert first != cost_of_k(town, settings(), tz="UTC", seed=4)

    def test_only_for_methods_with_a_k_and_people_enough(self, town):
        assert cost_of_k(town, Method("Cloaking", {}, FRAME, {}, "random"), tz="UTC") is None
        assert cost_of_k(town, Method("another", {"k": 2}, FRAME, {}, "random"), tz="UTC") is None
        assert cost_of_k(town[[0, 1]], settings(), tz="UTC") is None

    def test_settings_are_read_off_a_manifest(self, town, tmp_path):
        hidden = incrowd.glove(town, k=3, merge="two-stage", max_metres=5000)
        incrowd.publish(hidden, tmp_path / "release", original=town, draws=20)
        about = settings_in(incrowd.data._manifest.read_manifest(tmp_path / "release"))
        mechanism = mechanism_in(about, 3)
        again = mechanism.protect(town)
        assert again.trajectories.boxes().equals(hidden.trajectories.boxes())
