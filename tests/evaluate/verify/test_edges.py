"""Edges that were rounded outwards: no farther than that explains, and on the grid that is said."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from evaluate.makers import FRAME, ORIGINAL, PUBLISHED, WHO, Case, boxes_of, cell, invented
from evaluate.verify.test_truthfulness import failed, look, releases
from incrowd import verify
from incrowd.errors import PrivacyWarning
from strategies import random_cases

GRID = (5, 15, FRAME.slot, FRAME.origin)
EDGES = {"edges": "500m,15min"}
ROUNDED = {user: naive.rounded_record(boxes, *GRID) for user, boxes in PUBLISHED.items()}


def made(folder, published=ROUNDED, **settings):
    """Make a release of which edges are said to be rounded."""
    return Case(folder, ORIGINAL, published, settings=EDGES | settings)


class TestRoundedRelease:
    def test_holds(self, tmp_path):
        case = made(tmp_path)
        found = look(case)
        assert found.ok
        assert found["no invention"].says.endswith("rounded outwards to 500 m and 15 min.")
        assert found["sizes"].figures["edges"] == 0
        assert any("rounded outwards (500m,15min)" in limit for limit in found.limits)
        assert not any("Edges are real" in limit for limit in found.limits)
        assert verify(case.path).ok

    @pytest.mark.parametrize(("edges", "unit"), [("500m", (0, 4)), ("15min", (4, 6))])
    def test_holds_where_one_is_rounded(self, tmp_path, edges, unit):
        grid = (5 if unit[0] == 0 else 1, 15 if unit[0] else 1, *GRID[2:])
        published = {u: naive.rounded_record(boxes, *grid) for u, boxes in PUBLISHED.items()}
        found = look(made(tmp_path, published, edges=edges))
        assert found.ok

    @pytest.mark.parametrize("merge", ["union", "none", "split", "optimal"])
    @pytest.mark.parametrize("side", range(6))
    def test_fails_if_a_box_is_larger_than_rounding_explains(self, tmp_path, side, merge):
        box = list(ROUNDED[1][0])
        box[side] += (1 if side % 2 else -1) * (15 if side > 3 else 5)
        how = {"merge": "optimal", "reshape": "gone"} if merge == "optimal" else {"reshape": merge}
        found = look(made(tmp_path, {0: ROUNDED[0], 1: [tuple(box)]}, **how))
        assert failed(found) == ["no invention"]
        assert found["no invention"].figures["invented"] == 1
        assert "also when that is rounded outwards to 500 m" in found["no invention"].says

    @pytest.mark.parametrize("side", range(6))
    def test_fails_if_an_edge_lies_off_the_grid(self, tmp_path, side):
        # By one cell or slot, outwards: within what rounding explains.
        box = list(ROUNDED[1][0])
        box[side] += 1 if side % 2 else -1
        case = made(tmp_path, {0: ROUNDED[0], 1: [tuple(box)]})
        found = verify(case.path)
        assert failed(found) == ["sizes"]
        assert "3 rows have an edge that is not rounded to 500 m and 15 min" in found["sizes"].says

    @pytest.mark.parametrize("side", [0, 1, 4, 5])
    def test_fails_if_a_box_is_smaller_than_what_it_must_hold(self, tmp_path, side):
        original = ORIGINAL | {"dan-4": [cell(27, 4, 35)]}
        wide = naive.rounded_record([(20, 28, 3, 5, 10, 51)], *GRID)
        assert look(Case(tmp_path, original, {0: ROUNDED[0], 1: wide}, settings=EDGES)).ok
        box = list(wide[0])
        box[side] += (-1 if side % 2 else 1) * (15 if side > 3 else 5)
        (tmp_path / "other").mkdir()
        case = Case(tmp_path / "other", original, {0: ROUNDED[0], 1: [tuple(box)]}, settings=EDGES)
        assert {"coverage", "witness"} & set(failed(look(case)))

    def test_fails_if_it_is_not_rounded(self, tmp_path):
        assert failed(look(made(tmp_path, PUBLISHED))) == ["sizes"]

    def test_fails_if_rounding_is_not_said(self, tmp_path):
        case = Case(tmp_path, ORIGINAL, ROUNDED)
        assert verify(case.path).ok  # nothing of it can be seen on the files alone
        assert failed(look(case)) == ["no invention"]

    def test_fails_if_a_finer_grid_is_said(self, tmp_path):
        assert failed(look(made(tmp_path, edges="300m,5min"))) == ["sizes", "no invention"]

    @pytest.mark.parametrize(
        "edges",
        ["500", 500, "", "250m", "100m", "500m,1min", "0m", "500m,", ",15min", "15min,500m",
         "-500m", "1e3m", "500m,15minutes", "500m,0.1min", ["500m"], "9999999999999999m"],
    )  # fmt: skip
    def test_fails_if_what_is_said_is_no_grid(self, tmp_path, edges):
        found = look(made(tmp_path, edges=edges))
        assert "sizes" in failed(found)
        assert "which it cannot be" in found["sizes"].says

    def test_another_methods_edges_are_its_own_affair(self, tmp_path):
        case = Case(tmp_path, settings={"edges": "round"}, guarantee="k-anonymity")
        assert look(case)["no invention"].ok
        assert verify(case.path)["sizes"].ok


class TestBoxesBesideEachOther:
    @pytest.mark.parametrize("second", [(15, 30), (0, 30), (0, 15), (-15, 15)])
    def test_may_overlap_by_one_slot(self, tmp_path, second):
        # The first one is 0 to 15.
        self.look(tmp_path, [(0, 5, 0, 5, 0, 15), (5, 10, 0, 5, *second)], ok=True)

    @pytest.mark.parametrize(
        ("first", "second"), [((0, 30), (0, 45)), ((0, 60), (15, 30)), ((0, 15), (-15, 30))]
    )
    def test_but_not_by_more(self, tmp_path, first, second):
        self.look(tmp_path, [(0, 5, 0, 5, *first), (5, 10, 0, 5, *second)], ok=False)

    def test_nor_with_one_before_the_last(self, tmp_path):
        boxes = [(0, 5, 0, 5, 0, 60), (0, 5, 0, 5, 45, 75), (0, 5, 0, 5, 60, 90)]
        self.look(tmp_path, boxes, ok=True)
        boxes = [(0, 5, 0, 5, 0, 75), (0, 5, 0, 5, 60, 75), (0, 5, 0, 5, 45, 60)]
        self.look(tmp_path, boxes, ok=False)

    def test_nor_at_all_where_only_space_was_rounded(self, tmp_path):
        boxes = [(0, 5, 0, 5, 0, 15), (5, 10, 0, 5, 10, 30)]
        self.look(tmp_path, boxes, ok=False, edges="500m")

    def look(self, folder, boxes, *, ok, edges="500m,15min"):
        for number, reshape in enumerate(("union", "split", "gone")):
            settings = {"edges": edges, "reshape": reshape}
            settings |= {"merge": "optimal"} if reshape == "gone" else {}
            place = folder / f"{number}-{len(list(folder.iterdir()))}"
            place.mkdir()
            case = Case(place, published={0: PUBLISHED[0], 1: boxes}, settings=settings)
            says = verify(case.path)["sizes"].figures["overlap"]
            assert (says == 0) is ok


class TestThresholds:
    @pytest.mark.parametrize(("space", "ok"), [(2, True), (1, False)])
    def test_of_space_hold_before_rounding(self, tmp_path, space, ok):
        # Ten cells are two, one in each of two coarse ones, or more.
        wide = {0: ROUNDED[0], 1: [(15, 25, 0, 5, 0, 60)]}
        self.look(made(tmp_path, wide, merge="optimal", reshape="gone", max_space=space), ok=ok)

    @pytest.mark.parametrize(("time", "ok"), [(32, True), (31, False)])
    def test_of_time_hold_before_rounding(self, tmp_path, time, ok):
        # Sixty slots are two coarse ones, and one slot at either end.
        self.look(made(tmp_path, merge="optimal", reshape="gone", max_time=time), ok=ok)

    def look(self, case, *, ok):
        found = verify(case.path)
        assert found["sizes"].ok is ok
        if not ok:
            assert "(and than rounding can make what is not)" in found["sizes"].says


class TestAgainstTheObvious:
    @random_cases(100)
    @given(
        case=releases(),
        reshape=st.sampled_from(["union", "split"]),
        sizes=st.sampled_from([(2, 1), (3, 2), (1, 3), (4, 5)]),
    )
    def test_invented_boxes_are_those_of_plain_loops(self, case, reshape, sizes, tmp_path_factory):
        people, published, who = case
        grid = (*sizes, FRAME.slot, FRAME.origin)
        published = {user: naive.rounded_record(boxes, *grid) for user, boxes in published.items()}
        stated = [f"{100 * sizes[0]}m"] * (sizes[0] > 1) + [f"{sizes[1]}min"] * (sizes[1] > 1)
        settings = {"reshape": reshape, "max_time": 1, "edges": ",".join(stated)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            made = Case(tmp_path_factory.mktemp("any"), people, published, who, settings=settings)
        found = look(made, draws=5, points=3)
        groups = {}
        for index, samples in zip(who.values(), boxes_of(made.original), strict=True):
            if index is not None:
                groups.setdefault(tuple(published[index]), []).extend(samples)
        rounded = lambda box: naive.rounded_out(box, *grid)  # noqa: E731
        wrong = sum(
            invented(box, samples, rounded, whole=reshape == "union")
            for record, samples in groups.items()
            for box in record
        )
        assert found["no invention"].figures["invented"] == wrong
        assert found["sizes"].figures["edges"] == 0
        # What users are told was fabricated is the same, where nothing but edges decides.
        if reshape == "split":
            pair = incrowd.evaluate.of_files(made.path, made.original, made.record)
            rows = sum(
                invented(box, samples, rounded, whole=False)
                * sum(tuple(published[i]) == record for i in who.values() if i is not None)
                for record, samples in groups.items()
                for box in record
            )
            assert incrowd.accuracy(pair).rows_created == rows


def test_rows_of_a_release_without_edges_are_fabricated_if_rounded(tmp_path):
    case = Case(tmp_path, ORIGINAL, ROUNDED)
    pair = incrowd.evaluate.of_files(case.path, case.original, case.record)
    assert incrowd.accuracy(pair).rows_created == 7
    assert pl.read_parquet(case.record)["user"].to_list() == list(WHO)
    city = incrowd.synthesize("city", users=20, seed=7)
    rounded = incrowd.of_release(city, incrowd.glove(city, 2, edges=(500, 15)))
    assert rounded.edges == (5, 15)
    assert incrowd.accuracy(rounded).rows_created == 0
    assert np.all(rounded.after.x0 % 5 == 0)
