"""Trajectories as tables of pandas and GeoPandas, against the grid, point by point."""

import sys

import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import shapely
from hypothesis import given

import incrowd
import strategies
from incrowd import Frame, Trajectories
from incrowd.data._frame import laea
from incrowd.errors import ArgumentError, InputError, PlaceError
from strategies import random_cases

CITY = Frame(laea(7.5, -5.5), cell=100, slot=60, origin=1_330_905_600)
BOXES = {
    "user": ["ann", "bob", "ann"],
    "x0": [3, 7, -4],
    "x1": [5, 8, -3],
    "y0": [1, 1, 2],
    "y1": [2, 9, 3],
    "t0": [60, 61, 0],
    "t1": [75, 62, 1],
}


def two():
    return Trajectories.from_boxes(BOXES, CITY)


def crowds():
    data = two()
    return Trajectories(data.columns, data.offsets, CITY, crowd=np.array([2, 3], np.int32))


def placed():
    data = two()
    names = pl.Series("place", ["north", "south"])
    codes = np.array([1, 0, 0], np.int32)
    return Trajectories(
        data.columns, data.offsets, CITY, people=data.people, place=codes, places=names
    )


class TestToPandas:
    def test_columns(self):
        sides = ["x_min", "y_min", "x_max", "y_max"]
        assert list(two().to_pandas()) == ["user", "t_start", "t_end", "lon", "lat", *sides]

    def test_has_a_row_for_each_sample(self):
        assert two().to_pandas()["user"].tolist() == ["ann", "ann", "bob"]

    def test_times_are_in_utc(self):
        table = two().to_pandas()
        assert str(table["t_start"].dt.tz) == str(table["t_end"].dt.tz) == "UTC"
        assert table["t_start"].tolist() == [
            pd.Timestamp("2012-03-05T00:00Z"),
            pd.Timestamp("2012-03-05T01:00Z"),
            pd.Timestamp("2012-03-05T01:01Z"),
        ]
        assert table["t_end"].tolist()[1] == pd.Timestamp("2012-03-05T01:15Z")

    def test_slots_before_1970(self):
        data = Trajectories.from_boxes(
            {"user": [1], "x0": [0], "y0": [0], "t0": [-1]}, Frame(laea(0, 0))
        )
        assert data.to_pandas()["t_start"][0] == pd.Timestamp("1969-12-31T23:59Z")

    def test_sides_are_in_metres(self):
        row = two().to_pandas().iloc[1]
        assert row[["x_min", "y_min", "x_max", "y_max"]].tolist() == [300, 100, 500, 200]

    @given(strategies.trajectories())
    @random_cases(30)
    def test_the_centre_is_the_grid_s(self, data):
        data = Trajectories(data.columns, data.offsets, CITY, people=data.people)
        table = data.to_pandas()
        lon, lat = CITY.degrees((data.x0 + data.x1) * 50.0, (data.y0 + data.y1) * 50.0)
        assert table["lon"].tolist() == lon.tolist()
        assert table["lat"].tolist() == lat.tolist()
        assert table["user"].tolist() == [data.people[i] for i in data.person().tolist()]

    def test_is_read_back_as_it_was(self):
        city = incrowd.synthesize("city", users=20, seed=3)
        table = city.to_pandas()
        again = incrowd.read(
            table, user="user", time="t_start", lon="lon", lat="lat", frame=city.frame
        )
        assert again.boxes().equals(city.boxes())

    def test_has_names_of_places_where_the_input_has(self):
        assert placed().to_pandas()["place"].tolist() == ["south", "north", "north"]

    def test_names_columns_as_a_release_does(self, tmp_path):
        city = incrowd.synthesize("city", users=20, seed=3)
        done = incrowd.publish(incrowd.glove(city, k=2), tmp_path / "release", original=city)
        published = set(pl.read_parquet(done.path / "trajectories.parquet").columns)
        assert set(city.to_pandas()) - {"user"} == published - {"person"}

    def test_of_nobody(self):
        none = two()[np.zeros(2, bool)].to_pandas()
        assert len(none) == 0
        assert str(none["t_start"].dt.tz) == "UTC"

    def test_without_projection(self):
        with pytest.raises(ArgumentError, match=r"boxes\(\).to_pandas\(\) gives cells"):
            Trajectories.from_boxes(BOXES).to_pandas()

    def test_without_pandas(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ArgumentError, match="pip install pandas"):
            two().to_pandas()


class TestCrowds:
    """A trajectory of several people has no user; it says for how many it stands."""

    @pytest.mark.parametrize("method", ["to_pandas", "to_geopandas"])
    def test_columns(self, method):
        table = getattr(crowds(), method)()
        assert list(table)[:4] == ["trajectory", "crowd", "t_start", "t_end"]
        assert table["trajectory"].tolist() == [0, 0, 1]
        assert table["crowd"].tolist() == [2, 2, 3]

    def test_of_a_release(self):
        city = incrowd.synthesize("city", users=20, seed=3)
        release = incrowd.glove(city, k=2)
        table = release.trajectories.to_geopandas()
        assert "user" not in table
        assert table.groupby("trajectory")["crowd"].first().sum() == 20
        assert table["crowd"].min() >= 2
        parts = release.trajectories[3:5].to_geopandas()
        assert sorted(set(parts["trajectory"])) == [3, 4]

    def test_of_a_mechanism_that_makes_none(self):
        city = incrowd.synthesize("city", users=20, seed=3)
        table = incrowd.Cloak(minutes=60).protect(city).trajectories.to_geopandas()
        assert list(table) == ["user", "t_start", "t_end", "geometry"]


class TestToGeopandas:
    def test_boxes_are_not_read_as_if_they_were_points(self):
        with pytest.raises(InputError, match="geometries must be points; here some are Polygons"):
            incrowd.read(two().to_geopandas("EPSG:4326"), user="user", time="t_start")

    def test_is_a_frame_of_polygons(self):
        table = two().to_geopandas()
        assert isinstance(table, gpd.GeoDataFrame)
        assert list(table) == ["user", "t_start", "t_end", "geometry"]
        assert (table.geom_type == "Polygon").all()
        assert table.is_valid.all()

    def test_is_on_the_plane_of_the_data(self):
        table = two().to_geopandas()
        assert table.crs == CITY.crs
        assert table.bounds.to_numpy().tolist() == [
            [-400, 200, -300, 300],
            [300, 100, 500, 200],
            [700, 100, 800, 900],
        ]

    @pytest.mark.parametrize("crs", ["EPSG:4326", 4326])
    def test_degrees(self, crs):
        table = two().to_geopandas(crs)
        assert table.crs == "EPSG:4326"
        for i, box in enumerate(table.geometry):
            x, y = shapely.get_coordinates(two().to_geopandas().geometry[i]).T
            expected = np.column_stack(CITY.degrees(x, y))
            assert np.allclose(shapely.get_coordinates(box), expected, rtol=0, atol=1e-9)
        centre = two().to_pandas()
        points = gpd.points_from_xy(centre["lon"], centre["lat"])
        assert table.geometry.contains(gpd.GeoSeries(points, crs=table.crs)).all()

    @pytest.mark.parametrize("crs", ["EPSG:2154", "EPSG:31467"])
    def test_east_comes_first_whatever_the_system_says(self, crs):
        frame = Frame(crs)
        x, y = frame.cells(lon=[9.0], lat=[49.0])
        box = {"user": [1], "x0": x, "y0": y, "t0": [0]}
        west, south, east, north = (
            Trajectories.from_boxes(box, frame).to_geopandas(4326).total_bounds
        )
        assert west <= 9.0 <= east
        assert south <= 49.0 <= north

    def test_area_is_that_of_the_boxes(self):
        data = incrowd.glove(incrowd.synthesize("city", users=20, seed=3), k=2).trajectories
        cells = (data.x1 - data.x0).astype(np.int64) * (data.y1 - data.y0)
        assert data.to_geopandas().area.tolist() == (cells * 10_000.0).tolist()

    def test_has_names_of_places_where_the_input_has(self):
        assert placed().to_geopandas()["place"].tolist() == ["south", "north", "north"]

    def test_of_nobody(self):
        none = two()[np.zeros(2, bool)].to_geopandas("EPSG:4326")
        assert len(none) == 0
        assert none.crs == "EPSG:4326"

    def test_is_written_and_read(self, tmp_path):
        table = two().to_geopandas("EPSG:4326")
        table.to_file(tmp_path / "boxes.gpkg")
        again = gpd.read_file(tmp_path / "boxes.gpkg")
        assert again.geometry.geom_equals(table.geometry).all()
        assert again["t_start"].tolist() == table["t_start"].tolist()

    def test_unknown_system(self):
        with pytest.raises(ArgumentError, match="unknown coordinate reference system 'EPSG:0'"):
            two().to_geopandas("EPSG:0")

    def test_across_the_180th_meridian(self):
        data = Trajectories.from_boxes(
            BOXES | {"x0": [-2, 7, -4], "x1": [2, 8, -3]}, Frame(laea(-17.7, 180))
        )
        assert len(data.to_geopandas()) == 3
        with pytest.raises(PlaceError, match="crosses the 180th meridian"):
            data.to_geopandas("EPSG:4326")

    def test_outside_of_what_the_system_shows(self):
        far = Trajectories.from_boxes(BOXES, Frame(laea(-90, 0)))
        with pytest.raises(PlaceError, match="outside the area"):
            far.to_geopandas("+proj=gnom +lat_0=90 +type=crs")

    def test_without_projection(self):
        with pytest.raises(ArgumentError, match="a grid without a crs"):
            Trajectories.from_boxes(BOXES).to_geopandas()

    @pytest.mark.parametrize("missing", ["geopandas", "shapely"])
    def test_without_the_library(self, missing, monkeypatch):
        monkeypatch.setitem(sys.modules, missing, None)
        with pytest.raises(ArgumentError, match=f"needs {missing}.*pip install geopandas") as error:
            two().to_geopandas()
        assert error.value.hint == "pip install geopandas"
