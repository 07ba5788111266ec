"""What a crowd's record tells: sensitive places beside plain Python, and what inference counts."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from evaluate.release_attacks.made import adversary, known_release, lists, releases
from incrowd import Frame, Trajectories
from incrowd.data._frame import laea
from incrowd.errors import ArgumentError, ColumnError
from incrowd.evaluate._release_attacks.adversary import Rules
from incrowd.evaluate._release_attacks.inferred import Inferred, checked_places, people_near
from strategies import random_cases

PLANE = Frame(laea(7.5, -5.5), cell=100, slot=3600)


class TestSensitivePlaces:
    @given(
        releases(frame=PLANE),
        st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=1, max_size=4),
        st.sampled_from([100, 250, 1000]),
    )
    @random_cases(400)
    def test_a_small_box_holds_one(self, release, cells, metres):
        x, y = (np.array(side) for side in zip(*cells, strict=True))
        lon, lat = PLANE.degrees(PLANE.metres(x) + 50, PLANE.metres(y) + 50)
        places = pl.DataFrame({"lat": lat, "lon": lon})
        records = lists(release.pair.after)
        near = sum(
            int(release.published.sizes[number])
            for number, record in enumerate(records)
            if any(
                box[1] - box[0] <= metres // 100
                and box[3] - box[2] <= metres // 100
                and any(box[0] <= x < box[1] and box[2] <= y < box[3] for x, y in cells)
                for box in record
            )
        )
        assert people_near(adversary(release, places=places), metres) == near

    @pytest.mark.parametrize(
        ("table", "error", "text"),
        [
            ({"lat": [1.0]}, ColumnError, "no column 'lon'"),
            ({"lat": [1.0, 2.0], "lon": [1.0, None]}, ArgumentError, "place 2 .* no position"),
            ({"lat": [91.0], "lon": [1.0]}, ArgumentError, "place 1 "),
            ({"lat": ["here"], "lon": [1.0]}, ArgumentError, "place 1 "),
            ({"lat": [], "lon": []}, ArgumentError, "is empty"),
        ],
    )
    def test_a_table_that_is_none(self, table, error, text):
        with pytest.raises(error, match=text):
            checked_places(pl.DataFrame(table))

    def test_names_and_numbers_as_text_are_taken(self):
        found = checked_places(pl.DataFrame({"name": ["clinic"], "lat": ["1.5"], "lon": [2]}))
        assert found.rows() == [(1.5, 2.0)]


class TestInferred:
    def run(self, tmp_path, **how):
        city = incrowd.synthesize("city", users=40, seed=7)
        who = tmp_path / "who.parquet"
        incrowd.publish(incrowd.glove(city, 2), tmp_path / "r", original=city, record=who, draws=20)
        told = incrowd.inference(incrowd.of_files(tmp_path / "r", city, who), tz="Africa/Abidjan")
        found = incrowd.attack_release(
            tmp_path / "r", "inference", record=who, original=city, tz="Africa/Abidjan", **how
        )["inference"]
        return told, found, city

    def test_counts_what_inference_counts(self, tmp_path):
        told, found, _ = self.run(tmp_path)
        for one in told.disclosures:
            for name in ("home", "work", "night"):
                share = getattr(one, name)
                figure = found[f"{name}_{one.metres:.0f}"]
                assert (figure.number, figure.of) == (share.number, share.of)
        assert found.share == max(
            getattr(told.disclosures[-1], name).share for name in ("home", "work", "night")
        )

    def test_sensitive_places_are_counted_where_they_are_given(self, tmp_path):
        city = incrowd.synthesize("city", users=40, seed=7)
        lon, lat = city.frame.degrees(
            city.frame.metres(city.x0[:50]) + 50, city.frame.metres(city.y0[:50]) + 50
        )
        places = pl.DataFrame({"name": "clinic", "lat": lat, "lon": lon})
        _, found, _ = self.run(tmp_path, places=places)
        assert 0 < found["places_1000"].number <= found["places_1000"].of == 40
        assert "near a sensitive place" in found.says

    def test_nobody_is_seen_at_night_or_at_work(self):
        noon = Frame(laea(7.5, -5.5), slot=3600, origin=19 * 3600)
        one = np.ones(1, np.int32)
        data = Trajectories((0 * one, one, 0 * one, one, 0 * one, one), np.array([0, 1]), noon)
        rules = Rules(held=True, most=0, witness=True, whole=True)
        found = Inferred().run(adversary(known_release(data, data, [0], rules)), lambda _: None)
        assert not found.made
        assert "from 22 to 6 h or from 9 to 17 h" in found.says
