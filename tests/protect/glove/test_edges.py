"""Edges that are nobody's: finished boxes rounded outwards, beside plain Python."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from incrowd import Frame, Glove, Trajectories
from incrowd.data._frame import laea
from incrowd.errors import ArgumentError, DataWarning
from incrowd.protect._glove.edges import as_setting, edges_of_text
from strategies import in_deep, random_cases

WAYS = ("optimal", "two-stage")


@st.composite
def grids(draw):
    """A grid of the data, and a coarser one in cells and slots."""
    frame = Frame(
        laea(5, -4),
        cell=draw(st.sampled_from([100, 0.5, 1000])),
        slot=draw(st.sampled_from([60, 7, 3600, 86_400])),
        origin=draw(st.sampled_from([0, 60, -5, 1_325_376_061])),
    )
    wide, long = draw(st.sampled_from([(2, 1), (5, 1), (1, 2), (1, 7), (2, 3), (3, 2), (5, 15)]))
    return frame, wide, long


def told(frame, wide, long):
    """Give the coarser grid as GLOVE takes it."""
    metres = None if wide == 1 else wide * frame.cell
    return metres, None if long == 1 else long * frame.slot / 60


def on_grid(data, frame):
    """Give the same boxes on another grid."""
    return Trajectories(data.columns, data.offsets, frame, people=data.people, crowd=data.crowd)


def how_of(case, merge):
    """Give what GLOVE is told of a case."""
    cells = case.data.frame.cell
    how = {
        "k": case.k, "variant": case.variant, "stretch": case.told()["stretch"], "threads": 1,
        "max_metres": None if case.max_space is None else case.max_space * cells,
        "max_minutes": None if case.max_time is None else
        case.max_time * case.data.frame.slot / 60,
    }  # fmt: skip
    return how | (
        {"merge": "optimal"}
        if merge == "optimal"
        else {"reshape": case.reshape, "suppress": case.suppress}
    )


@pytest.mark.filterwarnings("ignore::incrowd.errors.DataWarning")
class TestAgainstNaive:
    @pytest.mark.parametrize("merge", WAYS)
    @random_cases(800)
    @given(case=strategies.cases(strategies.collisions()), grid=grids())
    def test_boxes_are_rounded_and_losses_counted_on_them(self, case, grid, merge):
        frame, wide, long = grid
        case = case._replace(data=on_grid(case.data, frame))
        how = how_of(case, merge)
        fine = incrowd.glove(case.data, **how)
        coarse = incrowd.glove(case.data, **how, edges=told(*grid))
        records = [
            naive.rounded_record(boxes, wide, long, frame.slot, frame.origin)
            for _, boxes in naive.people_of(fine.trajectories)
        ]
        assert [boxes for _, boxes in naive.people_of(coarse.trajectories)] == records
        # Who is together does not depend on it, nor who is left out.
        assert coarse.trajectories.crowd.tolist() == fine.trajectories.crowd.tolist()
        assert coarse.assignment.equals(fine.assignment)
        assert coarse.merges.equals(fine.merges)
        place = fine.assignment["trajectory"].to_list()
        missed = sum(
            not naive.held_by(sample, records[mine])
            for (_, samples), mine in zip(naive.people_of(case.data), place, strict=True)
            if mine is not None
            for sample in samples
        )
        assert coarse.losses.samples_suppressed == missed
        for name in dict(fine.losses).keys() - {"samples_suppressed"}:
            assert coarse.losses[name] == fine.losses[name]

    @pytest.mark.parametrize("merge", WAYS)
    @random_cases(300)
    @given(case=strategies.cases(strategies.grown(original=True, max_crowd=1)), grid=grids())
    def test_what_is_rounded_passes_its_verification(self, case, grid, merge, tmp_path_factory):
        case = case._replace(data=on_grid(case.data, grid[0]))
        coarse = incrowd.glove(case.data, **how_of(case, merge), edges=told(*grid))
        if not len(coarse.trajectories):
            return
        folder = tmp_path_factory.mktemp("any")
        done = incrowd.publish(
            coarse, folder / "release", original=case.data, record=folder / "who.parquet", draws=5
        )
        assert done.verification.ok
        assert done.manifest.settings["edges"] == as_setting(told(*grid))
        assert "rounded outwards to" in done.verification["no invention"].says

    @random_cases(300)
    @given(grid=grids(), size=st.floats(1.01, 40), both=st.booleans())
    def test_sizes_are_rounded_up_to_whole_cells_and_slots(self, grid, size, both):
        frame = grid[0]
        city = on_grid(incrowd.synthesize("city", users=2, seed=7), frame)
        metres, minutes = size * frame.cell, size * frame.slot / 60
        asked = (metres, minutes) if both else (metres, None)
        found = edges_of_text(incrowd.glove(city, 2, edges=asked).settings["edges"])
        assert found[0] == pytest.approx(math.ceil(size - 1e-9) * frame.cell)
        assert (found[1] is None) is not both
        if both:
            assert found[1] == pytest.approx(math.ceil(size - 1e-9) * frame.slot / 60)


@pytest.fixture(scope="module")
def city():
    return incrowd.synthesize("city", users=40, seed=7)


class TestByHand:
    def test_times_are_those_of_a_clock_and_lines_those_of_the_plane(self, city):
        release = incrowd.glove(city, 2, edges=(500, 15))
        made = release.trajectories
        for side in (made.t0, made.t1):
            assert not np.any(made.frame.times(side).astype(int) % 900)
        for side in (made.x0, made.x1, made.y0, made.y1):
            assert not np.any(side % 5)

    @pytest.mark.parametrize(
        ("edges", "setting"),
        [((500, 15), "500m,15min"), ((500, None), "500m"), ([None, 7.5], "8min")],
    )
    def test_settings_say_it(self, city, edges, setting):
        release = incrowd.glove(city, 2, edges=edges)
        assert release.settings["edges"] == setting
        assert "edges" not in incrowd.glove(city, 2).settings
        assert Glove(edges=edges).protect(city).settings == release.settings

    def test_crowds_of_one_checkpoint_serve_other_edges(self, city, tmp_path):
        file = tmp_path / "crowds.checkpoint"
        for how in ({}, {"crowds": "refined", "refine_rounds": 2}):
            file.unlink(missing_ok=True)
            incrowd.glove(city, 3, checkpoint=file, **how)
            noted = file.read_bytes()
            kept = incrowd.glove(city, 3, checkpoint=file, edges=(500, 15), **how)
            assert file.read_bytes() == noted
            afresh = incrowd.glove(city, 3, edges=(500, 15), **how)
            assert naive.people_of(kept.trajectories) == naive.people_of(afresh.trajectories)

    def test_words_say_to_what_edges_were_rounded_and_what_is_left(self):
        words = Glove(edges=(500, 15))
        assert "rounded outwards to 500 m and 15 min" in words.explanation[-1]
        assert "Others may overlap in time" in words.explanation[-1]
        assert "place or time of a true sample off one edge" in words.promises[-1]
        (extremes,) = (limit for limit in words.limits if "extremes" in limit)
        assert "still learns of edges" in extremes
        only = Glove(edges=(500, None), max_metres=3000)
        assert "overlap" not in only.explanation[-1]
        assert "Thresholds of size held before" in only.explanation[-1]
        assert "place of a true sample" in only.promises[-1]
        assert any("in space rounded outwards to 500 m;" in limit for limit in only.limits)
        assert any("in time rounded" in limit for limit in Glove(edges=(None, 15)).limits)

    def test_sizes_that_are_rounded_are_noted_before(self, city):
        assert Glove(k=3, edges=(500, 15)).advice(city) == ()
        assert Glove(k=3, edges=(250, 1.5)).advice(city) == (
            "edges is rounded up from 250 m to 300 m (3 cells of the grid)",
            "edges is rounded up from 1.5 min to 2 min (2 slots of the grid)",
        )

    def test_a_grid_that_is_larger_than_the_data_is_told(self, city):
        with pytest.warns(DataWarning, match="the grid of 500000 m for edges is wider than"):
            incrowd.glove(city, 2, edges=(500_000, None))
        with pytest.warns(DataWarning, match="min for edges is longer than"):
            incrowd.glove(city, 2, edges=(None, 60 * 24 * 365))

    @pytest.mark.parametrize(
        ("edges", "says"),
        [
            (500, r"edges must be like \(500, 15\)"),
            ((500,), "edges must be like"),
            ("500m", "edges must be like"),
            ((None, None), "neither is given"),
            ((0, 15), "edges in metres must be a number above 0"),
            ((500, -1), "edges in minutes must be a number above 0"),
            ((500, "soon"), "edges in minutes"),
            ((float("nan"), 15), "edges in metres"),
            ((True, 15), "edges in metres"),
        ],
    )
    def test_what_are_no_edges_is_refused(self, city, edges, says):
        for make in (lambda: Glove(edges=edges), lambda: incrowd.glove(city, 2, edges=edges)):
            with pytest.raises(ArgumentError, match=says):
                make()

    @pytest.mark.parametrize(("edges", "unit"), [((100, 15), "100 m"), ((500, 0.5), "0.5 min")])
    def test_edges_no_coarser_than_the_grid_are_refused(self, city, edges, unit):
        with pytest.raises(ArgumentError, match=f"at least two .* not {unit}: one .* rounds no"):
            incrowd.glove(city, 2, edges=edges)

    @pytest.mark.parametrize(
        "text", ["", "500", "m", "500m,200m", "15min,", "-5m", "1e3m", "0m", "5 miles", "15min;5m"]
    )
    def test_what_cannot_be_understood_is_refused(self, text):
        with pytest.raises(ValueError):  # noqa: PT011  its text is that of the command line
            edges_of_text(text)

    @in_deep
    def test_whatever_is_stated_is_read_back(self):
        for number in (0.1, 1 / 3, 7 / 60, 12345.678, 1e7):
            (metres, minutes) = edges_of_text(as_setting((number, number)))
            assert (metres, minutes) == pytest.approx((number, number), rel=1e-10)
