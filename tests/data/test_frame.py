import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import Frame
from incrowd.data._frame import check_crs, laea
from incrowd.errors import ArgumentError, InputError
from strategies import random_cases

ABIDJAN = Frame(crs=laea(5.35, -4.02))


def centres(frame, x, y):
    """Give the degrees of the middle of cells."""
    return frame.degrees(
        frame.metres(x) + frame.cell / 2,
        frame.metres(y) + frame.cell / 2,
    )


class TestLaea:
    def test_names_the_centre_to_four_decimals(self):
        assert laea(5.35, -4.0212345) == (
            "+proj=laea +lat_0=5.35 +lon_0=-4.0212 +datum=WGS84 +units=m +no_defs"
        )


class TestFrame:
    def test_defaults_to_the_papers_grid_without_a_place(self):
        frame = Frame()
        assert (frame.crs, frame.cell, frame.slot, frame.origin) == (None, 100.0, 60, 0)

    def test_whole_numbers_of_other_types_become_plain(self):
        frame = Frame(cell=np.int64(50), slot=60.0, origin=np.int32(7))
        assert [type(value) for value in (frame.cell, frame.slot, frame.origin)] == [
            float,
            int,
            int,
        ]

    def test_is_compared_by_value(self):
        assert Frame(cell=100) == Frame(cell=100.0)
        assert Frame(slot=30) != Frame(slot=60)
        assert len({Frame(), Frame()}) == 1

    def test_cannot_be_changed(self):
        with pytest.raises(AttributeError):
            Frame().cell = 5.0

    @pytest.mark.parametrize("cell", [0, -1, float("nan"), float("inf"), "wide", None])
    def test_refuses_a_cell_that_is_no_length(self, cell):
        with pytest.raises(ArgumentError, match="cell must be a positive number of metres"):
            Frame(cell=cell)

    @pytest.mark.parametrize("slot", [1.5, "short", None, float("nan"), float("inf")])
    def test_refuses_a_slot_that_is_no_whole_second(self, slot):
        with pytest.raises(ArgumentError, match="slot must be an integer number of seconds, not"):
            Frame(slot=slot)

    @pytest.mark.parametrize("slot", [0, -60])
    def test_refuses_a_slot_that_does_not_last(self, slot):
        with pytest.raises(ArgumentError, match=f"slot must be at least 1 second, not {slot}"):
            Frame(slot=slot)

    def test_refuses_an_origin_between_seconds(self):
        with pytest.raises(
            ArgumentError, match=r"origin must be an integer number of seconds, not 0\.5"
        ):
            Frame(origin=0.5)

    @pytest.mark.parametrize("crs", [2154, ["EPSG:2154"], b"EPSG:2154"])
    def test_refuses_a_crs_that_is_no_text(self, crs):
        with pytest.raises(ArgumentError, match="crs must be text such as 'EPSG:2154'"):
            Frame(crs=crs)


class TestCheckCrs:
    @pytest.mark.parametrize("crs", ["EPSG:2154", "EPSG:32630", "EPSG:3857", laea(90, 0)])
    def test_takes_a_plane_in_metres(self, crs):
        check_crs(crs)

    @pytest.mark.parametrize("crs", ["EPSG:0", "Lambert", ""])
    def test_refuses_what_nobody_knows(self, crs):
        with pytest.raises(ArgumentError, match=f"unknown .*{crs!r}; give one such as EPSG:2154"):
            check_crs(crs)

    def test_refuses_degrees(self):
        with pytest.raises(ArgumentError, match=r"not a projection in metres .*degree"):
            check_crs("EPSG:4326")

    def test_refuses_feet(self):
        with pytest.raises(ArgumentError, match=r"not a projection in metres .*US survey foot"):
            check_crs("EPSG:2263")


class TestCells:
    def test_the_centre_of_the_projection_is_where_cell_0_starts(self):
        x, y = ABIDJAN.cells([-4.0195, -4.0205], [5.3505, 5.3495])
        assert (x.tolist(), y.tolist()) == ([0, -1], [0, -1])
        assert x.dtype == y.dtype == np.int32

    @pytest.mark.parametrize(
        ("lat", "lon"), [(0, 180), (0, -180), (-17.7, 178.1), (90, 0), (-90, 0), (89.99, 45)]
    )
    @pytest.mark.parametrize("cell", [1.0, 100.0])
    def test_gives_back_the_cell_of_a_centre_in_odd_corners(self, lat, lon, cell):
        frame = Frame(crs=laea(lat, lon), cell=cell)
        x, y = np.meshgrid(np.arange(-300, 300, 7), np.arange(-300, 300, 7))
        back = frame.cells(*centres(frame, x, y))
        np.testing.assert_array_equal(back, (x, y))

    @random_cases(100)
    @given(
        lat=st.floats(-90, 90),
        lon=st.floats(-180, 180),
        x=st.integers(-5000, 5000),
        y=st.integers(-5000, 5000),
    )
    def test_gives_back_the_cell_of_a_centre_anywhere(self, lat, lon, x, y):
        frame = Frame(crs=laea(lat, lon))
        back = frame.cells(*centres(frame, [x], [y]))
        assert (int(back[0][0]), int(back[1][0])) == (x, y)

    def test_neighbours_across_the_antimeridian_are_neighbours(self):
        frame = Frame(crs=laea(0, 180))
        x, _ = frame.cells([179.9995, -179.9995], [0, 0])
        assert x.tolist() == [-1, 0]

    @pytest.mark.parametrize(
        ("lon", "lat"), [(float("nan"), 0), (0, float("inf")), (0, 91), (176, -5.3)]
    )
    def test_refuses_what_has_no_place_on_the_plane(self, lon, lat):
        frame = Frame(crs="+proj=gnom +lat_0=5.35 +lon_0=-4.02 +datum=WGS84 +units=m")
        with pytest.raises(InputError, match="outside the area that the projection can show"):
            frame.cells([lon], [lat])

    def test_needs_a_crs(self):
        with pytest.raises(ArgumentError, match="grid has no projection"):
            Frame().cells([0], [0])

    def test_nothing_gives_nothing(self):
        x, y = ABIDJAN.cells([], [])
        assert len(x) == len(y) == 0


class TestSnap:
    def test_a_cell_is_half_open(self):
        assert Frame().snap([-100.1, -100, -0.1, 0, 99.9, 100]).tolist() == [-2, -1, -1, 0, 0, 1]

    @pytest.mark.parametrize("metres", [np.nan, np.inf, -np.inf, 3e11])
    def test_refuses_what_does_not_fit(self, metres):
        with pytest.raises(InputError, match="outside the area that the projection can show"):
            Frame().snap([metres])


class TestMetres:
    def test_is_where_a_cell_starts(self):
        assert Frame(cell=2.5).metres([-1, 0, 3]).tolist() == [-2.5, 0, 7.5]


class TestDegrees:
    def test_the_centre_of_the_projection_is_where_it_was_put(self):
        lon, lat = ABIDJAN.degrees([0], [0])
        assert (round(lon[0], 9), round(lat[0], 9)) == (-4.02, 5.35)

    def test_needs_a_crs(self):
        with pytest.raises(ArgumentError, match="give a Frame with a crs"):
            Frame().degrees([0], [0])


class TestTimes:
    def test_is_when_a_slot_starts(self):
        frame = Frame(slot=90, origin=86400)
        assert frame.times([0, -1, 2]).astype(str).tolist() == [
            "1970-01-02T00:00:00",
            "1970-01-01T23:58:30",
            "1970-01-02T00:03:00",
        ]

    def test_does_not_overflow(self):
        assert Frame(slot=3600).times(np.array([2**31 - 1], np.int32)).astype(np.int64) == [
            3600 * (2**31 - 1)
        ]


class TestToJson:
    def test_is_one_line_of_plain_values(self):
        text = Frame(cell=50).to_json()
        assert json.loads(text) == {"crs": None, "cell": 50.0, "slot": 60, "origin": 0}
        assert "\n" not in text


class TestFromJson:
    @pytest.mark.parametrize("frame", [Frame(), ABIDJAN, Frame("EPSG:2154", 0.1, 7, -3)])
    def test_gives_back_what_was_put(self, frame):
        assert Frame.from_json(frame.to_json()) == frame
        assert Frame.from_json(frame.to_json().encode()) == frame

    @pytest.mark.parametrize("text", ["", "[1]", "7", '{"mesh": 1}', '{"cell": -1}', b"\xff"])
    def test_refuses_anything_else(self, text):
        with pytest.raises(InputError, match="not the description of a grid"):
            Frame.from_json(text)
