"""`attack_release`, on files: which attacks, beside what, and what it says."""

import json

import polars as pl
import pytest

import incrowd
from incrowd.errors import ArgumentError, UnreadableError
from incrowd.evaluate import RELEASE_ATTACKS


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacked")
    drawn = incrowd.synthesize("city", users=40, seed=7)
    names = pl.Series([f"somebody-{i}" for i in range(40)])
    city = incrowd.Trajectories(drawn.columns, drawn.offsets, drawn.frame, people=names)
    incrowd.publish(
        incrowd.glove(city, 3), folder / "release", original=city, record=folder / "who.parquet",
        draws=20,
    )  # fmt: skip
    return folder / "release", folder / "who.parquet", city


class TestRegistry:
    def test_every_attack_has_words_and_a_name_of_its_own(self):
        for name, attack in RELEASE_ATTACKS.items():
            assert name == attack.name
            for what in ("label", "knows", "gains", "helps"):
                assert getattr(attack, what)
            assert attack.knows.endswith(".")

    def test_are_these(self):
        assert list(RELEASE_ATTACKS) == [
            "insider", "minimality", "edges", "which_crowd", "presence", "absence", "composition",
            "inference",
        ]  # fmt: skip


class TestAttackRelease:
    def test_tries_all_unless_told_otherwise(self, made):
        path, who, city = made
        found = incrowd.attack_release(path, record=who, original=city)
        assert [each.attack for each in found.findings] == list(RELEASE_ATTACKS)
        assert [each.attack for each in found.findings if not each.made] == ["composition"]
        for each in found.findings:
            assert each.share is None or 0 <= each.share <= 1
            assert all((each.knows, each.helps, each.says))
        published = int(pl.read_parquet(who)["person"].is_not_null().sum())
        assert f"Attacks on a release: {published} of {published} people" in str(found)

    def test_names_nobody(self, made):
        path, who, city = made
        found = incrowd.attack_release(path, record=who, original=city)
        told = json.dumps(found.as_dict()) + str(found) + str(found.findings[0])
        assert not [name for name in city.people if name in told]
        published = pl.read_parquet(who)["person"].drop_nulls()
        assert not [name for name in published if name in told]

    def test_one_by_name(self, made):
        path, who, city = made
        found = incrowd.attack_release(path, "presence", record=who, original=city)
        assert list(found.by_name) == ["presence"]

    def test_draws_people_and_says_how_many(self, made):
        path, who, city = made
        how = {"record": who, "original": city, "sample": 7}
        first = incrowd.attack_release(path, ["edges", "insider"], seed=1, **how)
        again = incrowd.attack_release(path, ["edges", "insider"], seed=1, threads=1, **how)
        assert first.attacked == first["edges"]["found_4"].of == 7
        assert first.as_dict() == again.as_dict()

    def test_the_record_may_be_a_frame(self, made):
        path, who, city = made
        found = incrowd.attack_release(path, "presence", record=pl.read_parquet(who), original=city)
        assert found["presence"].made

    def test_another_reference_on_the_same_grid(self, made):
        path, who, city = made
        some = city[list(range(0, 40, 2))]
        found = incrowd.attack_release(
            path, "insider", record=who, original=city, reference=lambda _: some
        )["insider"]
        assert 0 < found["named_by_one_knowing_all"].number <= 20

    def test_progress_rises_to_all(self, made):
        path, who, city = made
        told = []
        incrowd.attack_release(
            path, ["edges", "presence"], record=who, original=city,
            progress=lambda done, total: told.append(done / total),
        )  # fmt: skip
        assert told == sorted(told)
        assert told[-1] == 1

    def test_what_is_recorded_is_read(self, tmp_path):
        city = incrowd.synthesize("city", users=20, seed=7)
        incrowd.write(city, tmp_path / "city.csv")
        data = incrowd.read(tmp_path / "city.csv", tz="Africa/Abidjan")
        incrowd.publish(
            incrowd.glove(data, 2), tmp_path / "r", original=data, record=tmp_path / "w.parquet",
            draws=20,
        )  # fmt: skip
        found = incrowd.attack_release(tmp_path / "r", "presence", record=tmp_path / "w.parquet")
        assert found["presence"]["certain_all"].of == 20


class TestBadInput:
    @pytest.mark.parametrize(
        ("how", "text"),
        [
            ({"attacks": "insiders"}, "did you mean 'insider'"),
            ({"attacks": "x"}, "no attack 'x' on a release: insider, "),
            ({"sample": 0}, "sample must be an integer of at least 1"),
            ({"others": ["june"]}, "private record"),
            ({"others": [("june",)]}, "private record"),
            ({"record": None}, "give it"),
            ({"later": 7}, "later must be Trajectories"),
            ({"places": {"lat": 1}}, "places must be a DataFrame"),
        ],
    )
    def test_is_refused(self, made, how, text):
        path, who, city = made
        with pytest.raises(ArgumentError, match=text):
            incrowd.attack_release(path, **{"record": who, "original": city} | how)

    def test_data_is_no_release(self, tmp_path, made):
        with pytest.raises(UnreadableError, match="is no release"):
            incrowd.attack_release(tmp_path, record=made[1], original=made[2])

    def test_a_record_of_somebody_else(self, made, tmp_path):
        path, who, city = made
        other = pl.read_parquet(who).with_columns(pl.lit("x").alias("person"))
        with pytest.raises(ArgumentError, match="belongs to another release"):
            incrowd.attack_release(path, record=other, original=city)


@pytest.mark.parametrize(
    ("mechanism", "tried"),
    [
        (incrowd.GeoI(epsilon=0.01), {"which_crowd", "inference"}),
        (
            incrowd.Cloak(minutes=60),
            {"edges", "presence", "absence", "which_crowd", "inference"},
        ),
    ],
)
def test_releases_of_single_people(tmp_path, mechanism, tried):
    city = incrowd.synthesize("city", users=20, seed=7)
    with pytest.warns(incrowd.errors.PrivacyWarning):
        incrowd.publish(
            mechanism.protect(city), tmp_path / "r", original=city, record=tmp_path / "w.parquet",
            draws=20,
        )  # fmt: skip
    found = incrowd.attack_release(tmp_path / "r", record=tmp_path / "w.parquet", original=city)
    assert {each.attack for each in found.findings if each.made} == tried
