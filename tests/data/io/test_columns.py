import pytest

from incrowd.data._io.columns import USUAL, find_by_usual_name, find_columns, refuse_doubled
from incrowd.errors import ColumnError


def found(*names, cells=False, **given):
    return find_columns(names, given, where="x.csv", cells=cells)


class TestFindColumns:
    @pytest.mark.parametrize("role", ["user", "time", "lat", "lon", "place"])
    def test_every_usual_name_is_found(self, role):
        base = {"user": "uid", "time": "ts", "lat": "lat", "lon": "lon"}
        for name in USUAL[role]:
            columns = [column for other, column in base.items() if other != role]
            assert found(*columns, name)[role] == name

    @pytest.mark.parametrize("name", ["User ID", "user_id", "userId", "USERID", "user-id"])
    def test_case_and_punctuation_do_not_matter(self, name):
        assert found(name, "time", "lat", "lon")["user"] == name

    def test_the_likeliest_wins(self):
        assert found("id", "user", "time", "lat", "lon")["user"] == "user"

    def test_degrees_come_before_a_geometry_and_metres(self):
        assert set(found("user", "time", "x", "y", "geom", "lat", "lon")) == {
            "user", "time", "lat", "lon",
        }  # fmt: skip
        assert set(found("user", "time", "x", "y", "geom")) == {"user", "time", "geometry"}
        assert set(found("user", "time", "x", "y")) == {"user", "time", "x", "y"}

    def test_what_is_given_comes_first(self):
        columns = found("user", "who", "time", "lat", "lon", "x", "y", user="who", x="x")
        assert columns == {"user": "who", "time": "time", "x": "x", "y": "y"}

    def test_what_is_given_may_be_spelt_differently(self):
        assert found("Caller Nr", "time", "lat", "lon", user="caller_nr")["user"] == "Caller Nr"

    def test_a_given_name_in_another_script_is_not_taken_for_any_other(self):
        with pytest.raises(ColumnError, match="no column '用户'"):
            found("时间", "time", "lat", "lon", user="用户")

    def test_cells_need_a_place_and_no_position(self):
        assert set(found("user", "time", "antenna", "lat", cells=True)) == {"user", "time", "place"}

    @pytest.mark.parametrize(
        ("names", "words"),
        [
            (("usr", "time", "lat", "lon"), r"who \(user\).*'usr', 'time'.*nearest is 'usr'"),
            (("user", "tme", "lat", "lon"), r"when \(time\).*nearest is 'tme'"),
            (("user", "time", "lattitude", "lon"), r"where \(lat\).*nearest is 'lattitude'"),
            (("user", "time"), r"where \(lat\).*Usual names are lat, latitude"),
            (("user", "time", "x"), r"where \(lat\)"),
        ],
    )
    def test_a_missing_one_is_named_with_the_nearest(self, names, words):
        with pytest.raises(ColumnError, match=words):
            found(*names)

    def test_a_given_one_that_is_missing_is_named_with_the_nearest(self):
        with pytest.raises(ColumnError, match="no column 'calller'; did you mean 'caller'"):
            found("caller", "time", "lat", "lon", user="calller")

    def test_many_columns_are_not_all_listed(self):
        with pytest.raises(ColumnError, match="'c19' and 30 more"):
            found(*(f"c{i}" for i in range(50)))


class TestFindByUsualName:
    def test_gives_none_when_there_is_none(self):
        assert find_by_usual_name(["a", "b"], ["lat"]) is None

    def test_leaves_out_what_is_taken(self):
        assert find_by_usual_name(["id", "uid"], ["uid", "id"], taken={"uid"}) == "id"


class TestRefuseDoubled:
    @pytest.mark.parametrize("names", [["lat", "lon", "lat"], ["lat", "LAT"]])
    def test_refuses_names_that_are_the_same_but_for_case(self, names):
        with pytest.raises(ColumnError, match="two columns are named"):
            refuse_doubled(names, "x.csv")

    def test_columns_without_a_name_are_nobodys(self):
        refuse_doubled(["lat", "", "lon", ""], "x.csv")
