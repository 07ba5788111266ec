"""Charts of results: Altair objects that show the numbers of the result, and nobody."""

import json
import subprocess
import sys

import altair as alt
import polars as pl
import pytest

import incrowd
from incrowd.errors import ArgumentError, ColumnError, InputError

NAME = "somebody-known"


@pytest.fixture(scope="module")
def city():
    made = incrowd.synthesize("city", users=24, seed=7)
    boxes = made.boxes().with_columns(
        user=pl.format(f"{NAME}-{{}}", pl.col("user").cast(pl.String))
    )
    return incrowd.Trajectories.from_boxes(boxes, made.frame)


@pytest.fixture(scope="module")
def pair(city):
    return incrowd.of_release(city, incrowd.glove(city, 2))


def shown(chart):
    """Give the rows of the data that a chart holds; it is checked against Altair's schema."""
    spec = chart.to_dict()
    assert NAME not in json.dumps(spec)
    assert spec["config"]["background"] == "transparent"
    parts = [spec, *spec.get("hconcat", []), *spec.get("layer", [])]
    return [row for part in parts for row in part.get("data", {}).get("values", [])]


def svg(chart):
    import vl_convert

    return vl_convert.vegalite_to_svg(chart.to_dict())


class TestKGap:
    def test_shows_the_share_of_people_up_to_each_gap(self, city):
        gaps = incrowd.k_gap(city, [2, 4])
        rows = shown(incrowd.plot_k_gap(gaps))
        assert len(rows) == 2 * 101
        for row in rows:
            mine = gaps.filter(pl.format("k = {}", "k") == row["k"])["k_gap"]
            assert row["share"] == sum(gap <= row["gap"] for gap in mine) / len(mine)

    def test_one_k_is_known_from_the_neighbours(self, city):
        assert {row["k"] for row in shown(incrowd.plot_k_gap(incrowd.k_gap(city, 3)))} == {"k = 3"}

    def test_is_that_of_anonymizability(self, city):
        about = incrowd.anonymizability(city, [2], [])
        rows = shown(about.plot())
        assert [row["share"] for row in rows] == list(about.distribution)

    def test_is_drawn(self, city):
        assert "k-gap" in svg(incrowd.plot_k_gap(incrowd.k_gap(city, 2)))

    def test_many_k_look_different(self, city):
        gaps = incrowd.k_gap(city, [2, 3, 4, 5, 6, 7, 8, 9])
        encoding = incrowd.plot_k_gap(gaps).to_dict()["encoding"]
        looks = zip(
            encoding["color"]["scale"]["range"],
            map(str, encoding["strokeDash"]["scale"]["range"]),
            strict=True,
        )
        assert len(set(looks)) == 8
        assert len(set(encoding["color"]["scale"]["range"][:7])) == 7

    def test_takes_pandas(self, city):
        gaps = incrowd.k_gap(city, [2, 4])
        assert shown(incrowd.plot_k_gap(gaps.to_pandas())) == shown(incrowd.plot_k_gap(gaps))

    def test_is_called_no_price(self, city):
        title = incrowd.plot_k_gap(incrowd.k_gap(city, 2)).to_dict()["title"]
        assert title == "How far people are from those who are most like them"

    def test_other_things_are_refused(self):
        with pytest.raises(ColumnError, match="no column 'k_gap'; found: x"):
            incrowd.plot_k_gap(pl.DataFrame({"x": [1]}))
        with pytest.raises(ArgumentError, match="gaps must be a DataFrame, not list"):
            incrowd.plot_k_gap([1])


class TestUniqueness:
    def test_shows_the_table(self, city):
        found = incrowd.uniqueness(city, [1, 2, 4])
        chart = found.plot()
        assert isinstance(chart, alt.LayerChart)
        rows = shown(chart)
        assert [row["share"] for row in rows[:3]] == found.share
        assert "known points" in svg(chart)
        assert "slots of 1 min" in svg(chart)

    def test_of_nobody_is_refused(self, city):
        with pytest.raises(InputError, match="nobody has so many points"):
            incrowd.uniqueness(city, 100_000).plot()


class TestAccuracy:
    def test_shows_how_wide_and_how_long_rows_are(self, pair):
        found = incrowd.accuracy(pair)
        chart = found.plot()
        rows = shown(chart)
        drawn = [row["share"] for row in rows]
        both = [*found.space.cumulative, *found.time.cumulative]
        assert set(drawn) <= {share for _, share in both}
        assert drawn.count(1) == 2
        assert "km" in svg(chart)

    def test_of_nothing_is_refused(self, city):
        nothing = incrowd.of_release(city, incrowd.glove(city, 20, max_metres=100, max_minutes=1))
        with pytest.raises(InputError, match="nothing is published"):
            incrowd.accuracy(nothing).plot()


class TestUtility:
    def test_shows_what_is_still_right(self, pair):
        found = incrowd.utility(pair)
        rows = {row["what"]: row["share"] for row in shown(found.plot())}
        assert rows["home within 1 km"] == found.persons.home.found_within(1)
        trips = found.together.flows
        assert rows["trips that are left"] == min(1, trips.after / trips.before)
        assert rows["trips left, in the right square of 5 km"] == 1 - trips.moved
        assert len(rows) == 7

    def test_without_knowing_who_became_whom(self, pair):
        unknown = incrowd.BeforeAfter(pair.before, pair.after, None)
        chart = incrowd.utility(unknown).plot()
        assert {row["of"] for row in shown(chart)} == {"everybody together"}
        assert chart.to_dict()["encoding"]["color"]["scale"]["domain"] == ["everybody together"]
        assert len(shown(chart)) == 4

    def test_who_is_lost_is_not_found(self, city):
        lossy = incrowd.of_release(city, incrowd.glove(city, 2, max_metres=300, max_minutes=60))
        found = incrowd.utility(lossy)
        assert 0 < found.persons.people < len(city)
        for row in shown(found.plot()):
            if row["of"] != "everybody together":
                assert row["share"] <= found.persons.people / len(city)


class TestTradeOff:
    def test_shows_each_setting(self, city, pair):
        other = incrowd.of_release(city, incrowd.glove(city, 5, max_minutes=120))
        found = {2: incrowd.accuracy(pair), 5: incrowd.accuracy(other)}
        rows = shown(incrowd.plot_trade_off(found))
        shares = {(row["with"], row["what"]): row["share"] for row in rows}
        assert len(shares) == 6
        assert shares["2", "samples kept"] == 1
        assert shares["5", "samples kept"] == 1 - found[5].deleted
        assert shares["5", "people published"] == found[5].people_published / 24

    def test_joins_numbers_in_order_alone(self, pair):
        one = incrowd.accuracy(pair)
        marks = {
            name: [layer["mark"]["type"] for layer in incrowd.plot_trade_off(of).to_dict()["layer"]]
            for name, of in {
                "k": {2: one, 5: one},
                "down": {500.0: one, 100.0: one},
                "unordered": {2: one, 10: one, 5: one},
                "mechanisms": {"Glove": one, "GeoI": one},
            }.items()
        }
        assert marks["k"] == marks["down"] == ["line", "point"]
        assert marks["unordered"] == marks["mechanisms"] == ["point"]

    def test_all_marks_and_names_are_seen(self, pair):
        chart = incrowd.plot_trade_off({2: incrowd.accuracy(pair)})
        for layer in chart.to_dict()["layer"]:
            assert layer["encoding"]["xOffset"]["field"] == "what"
        assert "samples in boxes up to 2 km and 2 h</text>" in svg(chart)

    @pytest.mark.parametrize("wrong", [{}, {2: 0.5}, [1]])
    def test_other_things_are_refused(self, wrong):
        with pytest.raises(ArgumentError, match="accuracies"):
            incrowd.plot_trade_off(wrong)


def test_altair_is_loaded_when_a_chart_is_drawn():
    code = (
        "import sys, incrowd; city = incrowd.synthesize('city', users=9, seed=7);"
        "found = incrowd.uniqueness(city, 1); before = 'altair' in sys.modules; found.plot();"
        "print(before, 'altair' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)  # noqa: S603
    assert done.stdout.split() == [b"False", b"True"]
