"""Distinct homes that a release promises: verified with the private record, anew."""

import pytest

import incrowd
from evaluate.makers import ORIGINAL, PUBLISHED, WHO, Case, cell
from incrowd import verify

# Midnight has passed when samples begin: everybody is seen at night. Ann and Bob live in cells side
# by side, the others in three cells of one square of 1 km.
FINE = {"homes": 2, "metres": 100, "tz": "UTC"}


def case_of(folder, diverse, **how):
    settings = {"merge": "optimal", "variant": "strict", "diverse": diverse}
    return Case(folder, settings=settings | how.pop("settings", {}), **how)


def checked(case, **how):
    """Verify with the original and the private record; give all of it, and the check."""
    how = {"original": case.original, "record": case.record, "draws": 5, "seed": 1} | how
    found = verify(case.path, **how)
    return found, found["diversity"]


class TestWhatHolds:
    def test_homes_are_counted_in_every_crowd(self, tmp_path):
        found, check = checked(case_of(tmp_path, FINE))
        assert found.ok, found.lines()
        assert check.ok
        assert (check.figures["fewest"], check.figures["crowds"]) == (2, 2)
        assert "at least 2 distinct homes on a grid of 100 m (nights of UTC)" in check.says
        assert "the people of every crowd have at least 2 distinct homes" in found.claims

    def test_without_the_record_it_is_not_checked(self, tmp_path):
        case = case_of(tmp_path, FINE)
        for how in ({"record": None}, {"record": None, "original": None}):
            found, check = checked(case, **how)
            assert found.ok
            assert check.ok is None
            assert check.says.startswith("Not checked (needs the ")
            assert "diversity" in found.claims.partition("Not checked: ")[2]
            assert "distinct homes" not in found.claims

    def test_of_other_releases_nothing_is_said(self, tmp_path):
        found = verify(Case(tmp_path).path)
        assert "diversity" not in [check.name for check in found.checks]

    def test_who_has_no_home_counts_for_nothing(self, tmp_path):
        by_day = ORIGINAL | {"dan-4": [cell(21, 4, 720)]}
        published = {0: PUBLISHED[0], 1: [(20, 23, 3, 5, 10, 721)]}
        found, check = checked(case_of(tmp_path, FINE, original=by_day, published=published))
        assert found.ok, found.lines()
        assert (check.figures["without_home"], check.figures["fewest"]) == (1, 2)

    def test_what_glove_makes_passes(self, tmp_path):
        city = incrowd.synthesize("city", users=60, seed=7)
        for variant in ("strict", "loose"):
            hidden = incrowd.glove(city, k=3, variant=variant, diverse="home:2")
            where, who = tmp_path / variant, tmp_path / f"{variant}.parquet"
            done = incrowd.publish(hidden, where, original=city, record=who, draws=20)
            assert done.verification["diversity"].ok
            found = verify(where, original=city, record=who, draws=20)
            assert found.ok
            assert found["diversity"].figures["fewest"] >= 2


class TestWhatDoesNotHold:
    @pytest.mark.parametrize(
        ("diverse", "below"),
        [
            ({"homes": 3, "metres": 100}, 1),
            ({"homes": 4, "metres": 100}, 2),
            ({"homes": 2, "metres": 1000}, 2),
            ({"homes": 2, "metres": 200}, 1),
            ({"tz": "Asia/Tokyo"}, 2),  # where it is day
        ],
    )
    def test_a_promise_that_is_too_high(self, tmp_path, diverse, below):
        found, check = checked(case_of(tmp_path, FINE | diverse))
        assert [each.name for each in found.failed] == ["diversity"]
        assert check.figures["crowds_below"] == below
        assert "fewer than" in check.says
        assert not found.ok

    def test_a_manifest_that_was_changed(self, tmp_path):
        case = case_of(tmp_path, FINE)
        assert checked(case)[0].ok
        case.reseal(settings={"k": 2, "merge": "optimal", "diverse": FINE | {"homes": 3}})
        assert [each.name for each in checked(case)[0].failed] == ["diversity"]

    def test_a_member_who_lives_with_another(self, tmp_path):
        moved = ORIGINAL | {"bob-2": [cell(0, 0, 12), cell(5, 6, 103)]}
        published = PUBLISHED | {0: [(0, 1, 0, 1, 10, 13), (5, 6, 5, 7, 100, 104)]}
        assert checked(case_of(tmp_path, FINE, published=published, original=moved))[1].ok is False

    @pytest.mark.parametrize(
        "diverse",
        [
            "home:2",
            {},
            FINE | {"homes": 1},
            FINE | {"homes": True},
            FINE | {"metres": 50},
            FINE | {"metres": 130},
            FINE | {"metres": "1 km"},
            FINE | {"metres": 10**400},
            FINE | {"tz": "Nowhere"},
            FINE | {"tz": None},
            FINE | {"tz": 7},
            FINE | {"tz": ""},
        ],
    )
    def test_a_promise_that_means_nothing_fails_without_the_record(self, tmp_path, diverse):
        found = verify(case_of(tmp_path, diverse).path)
        assert [check.name for check in found.failed] == ["diversity"]
        assert found["diversity"].says.startswith("The manifest promises distinct homes, but ")

    def test_people_who_could_be_in_a_crowd(self, tmp_path):
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
        who = WHO | {"ann-1": None, "bob-2": None}
        losses = {"people_dropped": 2, "samples_dropped": 4}
        how = {"published": {1: PUBLISHED[1]}, "who": who, "losses": losses}
        found, check = checked(case_of(tmp_path / "a", FINE, **how))
        assert [each.name for each in found.failed] == ["diversity"]
        assert "2 people with 2 distinct homes are left over" in check.says
        # Of squares of 200 m they have one home, and nobody else is left.
        wide = FINE | {"metres": 200}
        found, check = checked(case_of(tmp_path / "b", wide, **how))
        assert found.ok, found.lines()
        assert check.figures["homes_left_over"] == 1
