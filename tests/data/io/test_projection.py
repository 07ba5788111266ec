import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.data._frame import laea
from incrowd.data._io.projection import _lie, area_of_use, centre, local_projection, refuse_far
from incrowd.errors import ArgumentError, PlaceError


def at(*points):
    """Give positions (lat, lon) the way they are read: longitudes, latitudes and counts."""
    lat, lon = (np.array(side, np.float64) for side in zip(*points, strict=True))
    return lambda: iter([(lon, lat, np.ones(len(lat), np.int64))])


class TestCentre:
    def test_is_the_mean_of_the_degrees(self):
        assert centre(at((48, 2), (50, 4), (49, 3))) == (49, 3)

    def test_weighs_positions_by_their_rows(self):
        lon, lat = np.array([0.0, 10.0]), np.array([20.0, 30.0])
        assert centre(lambda: [(lon, lat, np.array([3, 1]))]) == (22.5, 2.5)

    @pytest.mark.parametrize("lon", [(179, -179), (-179, 179), (178, -178)])
    def test_crosses_the_antimeridian(self, lon):
        lat0, lon0 = centre(at((-17, lon[0]), (-17, lon[1])))
        assert abs(lon0) == 180
        assert lat0 == pytest.approx(-17, abs=0.02)

    def test_lies_at_the_pole(self):
        assert centre(at((89, 0), (89, 120), (89, -120)))[0] == pytest.approx(90, abs=1e-3)

    @given(
        st.lists(st.tuples(st.floats(-60, 60), st.floats(-80, 80)), min_size=1, max_size=30),
        st.integers(1, 30),
    )
    def test_does_not_depend_on_how_the_data_is_cut(self, points, cut):
        lat, lon = (np.array(side) for side in zip(*points, strict=True))
        ones = np.ones(len(lat), np.int64)
        pieces = [(lon[part], lat[part], ones[part]) for part in (slice(cut), slice(cut, None))]
        assert centre(at(*points)) == centre(lambda: [piece for piece in pieces if len(piece[0])])


class TestLocalProjection:
    def test_is_the_papers_projection(self):
        assert local_projection(at((48, 2), (50, 4))) == laea(49, 3)

    @pytest.mark.parametrize(
        "points", [((0, 0), (0, 179)), ((80, 0), (-80, 0)), ((5, -70), (50, 2), (5, 100))]
    )
    def test_refuses_what_reaches_too_far(self, points):
        with pytest.raises(PlaceError, match=r"more than 5,000 km .* distorting distances"):
            local_projection(at(*points))

    def test_takes_what_reaches_just_far_enough(self):
        degrees = 4990 / 6371.0088 * 180 / math.pi
        assert local_projection(at((0, -degrees), (0, degrees))) == laea(0, 0)


class TestRefuseFar:
    def test_takes_what_is_near(self):
        refuse_far(laea(48, 2), 100, at((50, 4)))

    def test_refuses_what_is_not(self):
        with pytest.raises(PlaceError, match="that of another dataset"):
            refuse_far(laea(48, 2), 100, at((50, 4), (-33, 151)))

    def test_takes_any_other_plane(self):
        refuse_far("EPSG:3857", 100, at((-33, 151)))


class TestAreaOfUse:
    def test_in_degrees(self):
        west, south, east, north = area_of_use("EPSG:2154")
        assert (west < 2.35 < east, south < 48.85 < north) == (True, True)

    def test_in_metres(self):
        west, south, east, north = area_of_use("EPSG:2154", metres=True)
        assert (west < 652_000 < east, south < 6_862_000 < north) == (True, True)
        assert not west < 2.35 < east or not south < 48.85 < north

    def test_a_plane_without_one(self):
        assert area_of_use(laea(5, -4)) is None

    def test_an_unknown_plane_is_refused(self):
        with pytest.raises(ArgumentError, match="unknown coordinate reference system"):
            area_of_use("EPSG:nonsense")


@pytest.mark.parametrize(
    ("number", "said"), [(1, "1 position lies"), (1200, "1,200 positions lie")]
)
def test_one_position_is_one(number, said):
    assert _lie(number) == said
