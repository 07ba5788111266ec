"""Filtering, cloaking, generalising and noise, beside plain Python; and what noise must be."""

import math
import os
import warnings
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import naive
import strategies
from incrowd import Frame, Glove, Stretch, Trajectories, glove
from incrowd.data._frame import laea
from incrowd.errors import (
    ArgumentError,
    DataWarning,
    IncrowdDeprecationWarning,
    PlaceError,
    PrivacyWarning,
)
from incrowd.measure._stretch.partition import BINS, CORNER_REGIONS, REGIONS
from incrowd.protect import _normalise as normalise
from incrowd.protect import _planar_laplace as planar_laplace
from incrowd.protect._generalisation import SPANS, Cloak, Generalise
from incrowd.protect._geo_indistinguishability import LEVELS, GeoI
from incrowd.protect._glove.grouping import fit
from incrowd.protect._mechanism import Mechanism
from incrowd.protect._planar_laplace import laplace
from incrowd.protect._spatial_filtering import Filter
from strategies import random_cases

LEVEL = 1e-4
"""Statistical tests reject what is right once in so many times; seeds are fixed, so never twice."""
NAMES = pl.Series(["Marcory", "Plateau", "Yopougon"])
ALL = (Filter(1), Cloak(60), Cloak(None), Generalise(200, 2), GeoI(0.01))


@st.composite
def datasets(draw, **limits):
    """Boxes of few people on grids with odd origins, with and without places and crowds."""
    frame = Frame(
        cell=draw(st.sampled_from([100, 37.5])),
        slot=draw(st.sampled_from([60, 60, 30, 7])),
        origin=draw(st.sampled_from([0, 60, -90, 1_325_376_000, 1_325_376_061])),
    )
    data = draw(strategies.trajectories(frame=frame, max_crowd=3, **limits))
    kind = draw(st.sampled_from(["none", "numbered", "named"]))
    codes = draw(st.lists(st.integers(0, 2), min_size=data.samples, max_size=data.samples))
    place = {"none": None, "numbered": np.array(codes, np.int32) * 7 - 7}.get(
        kind, np.array(codes, np.int32)
    )
    return Trajectories(
        data.columns,
        data.offsets,
        data.frame,
        people=data.people,
        crowd=data.crowd,
        place=place,
        places=NAMES if kind == "named" else None,
    )


def whole_minutes(frame):
    """Minutes that are a multiple of the slots."""
    least = math.lcm(60, frame.slot) // 60
    return st.integers(1, 12).map(lambda times: times * least)


def assert_is(protected, people, data):
    """Compare with people as the oracle gives them, those who have nothing left included."""
    left = [one for one in people if one[2]]
    assert naive.placed_samples(protected.trajectories) == left
    index = {one[0]: i for i, one in enumerate(left)}
    assert protected.assignment.rows() == [(user, index.get(user)) for user in data.people]
    gone = [
        (crowd, len(old))
        for (_, crowd, old), one in zip(naive.placed_samples(data), people, strict=True)
        if not one[2]
    ]
    assert protected.losses["people_dropped"] == sum(crowd for crowd, _ in gone)
    assert protected.losses["samples_dropped"] == sum(number for _, number in gone)


def lost(protected, data):
    """Count all samples that are not there any more."""
    names = ("samples_dropped", "samples_suppressed", "samples_collapsed")
    assert sum(protected.losses[name] for name in names) == (
        data.samples - protected.trajectories.samples
    )
    return protected.losses


class TestFilter:
    @given(datasets(), st.integers(1, 6))
    def test_is_what_plain_python_says(self, data, at_most):
        protected = Filter(at_most).protect(data)
        people, rare = naive.filtered(naive.placed_samples(data), at_most)
        assert_is(protected, people, data)
        assert lost(protected, data)["places_filtered"] == rare
        assert protected.losses["samples_collapsed"] == 0

    @given(datasets(), st.integers(1, 6))
    def test_is_the_same_where_codes_are_too_far_apart_to_be_counted(self, data, at_most):
        expected = Filter(at_most).protect(data)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("incrowd.protect._rare_places.SMALL", 0)
            patch.setattr("incrowd.protect._rare_places.ROOM", 0)
            found = Filter(at_most).protect(data)
        assert found.trajectories == expected.trajectories
        assert found.losses == expected.losses

    def test_cells_at_both_ends_of_the_plane(self):
        end = 2**31 - 2
        far = {"user": [1, 2, 1], "x0": [-end, -end, end], "y0": [end, end, -end], "t0": [0, 0, 1]}
        protected = Filter(1).protect(Trajectories.from_boxes(far))
        assert protected.trajectories.boxes()["x0"].to_list() == [-end, -end]

    def test_what_has_no_name_is_judged_by_its_cell(self):
        data = Trajectories.from_boxes(
            {"user": [1, 1, 2, 2], "x0": [0, 5, 0, 7], "y0": [0] * 4, "t0": [0, 1, 0, 1]}
        )
        named = Trajectories(
            data.columns, data.offsets, place=np.array([0, 1, 0, 1], np.int32),
            places=pl.Series(["mall", ""]),
        )  # fmt: skip
        left = Filter(1).protect(named)
        assert left.trajectories.x0.tolist() == [0, 0]
        assert left.losses["places_filtered"] == 2

    def test_a_name_at_many_places_hides_nobody(self):
        data = Trajectories.from_boxes({"user": [1, 2], "x0": [3, 9], "y0": [0] * 2, "t0": [0, 0]})
        homes = Trajectories(
            data.columns, data.offsets, place=np.zeros(2, np.int32), places=pl.Series(["home"])
        )
        assert len(Filter(1).protect(homes).trajectories) == 0

    def test_says_what_a_place_was(self):
        data = Trajectories.from_boxes({"user": [1], "x0": [0], "y0": [0], "t0": [0]})
        assert Filter(3).protect(data).settings == {"at_most": 3, "places": "cells"}
        named = Trajectories(data.columns, data.offsets, place=np.zeros(1, np.int32))
        assert Filter(3).protect(named).settings["places"] == "places named in the data, and cells"

    @pytest.mark.parametrize("at_most", [0, -1, 2.5, True, "3", None, math.nan])
    def test_refuses_what_is_no_number_of_people(self, at_most):
        with pytest.raises(ArgumentError, match="at_most must be an integer of at least 1"):
            Filter(at_most)


class TestCloak:
    @given(datasets(slots=200), st.data())
    def test_is_what_plain_python_says(self, data, draw):
        minutes = draw.draw(whole_minutes(data.frame) | st.none())
        protected = Cloak(minutes).protect(data)
        people, renamed = naive.cloaked(naive.placed_samples(data), data.frame, minutes)
        assert_is(protected, people, data)
        assert lost(protected, data).get("places_collapsed", 0) == renamed
        assert ("places_collapsed" in protected.losses) == (data.place is not None)

    @pytest.mark.parametrize("minutes", SPANS.values())
    def test_slots_are_counted_from_1970(self, minutes):
        frame = Frame(origin=1_330_905_600)  # 2012-03-05
        data = Trajectories.from_boxes({"user": [1], "x0": [0], "y0": [0], "t0": [754]}, frame)
        [person] = Cloak(minutes).protect(data).trajectories
        start, end = (frame.times(side)[0].astype(int) for side in (person.t0, person.t1))
        assert start % (60 * minutes) == 0
        assert end - start == 60 * minutes
        assert start <= frame.times(754).astype(int) < end

    def test_a_month_is_30_days(self):
        assert SPANS["month"] == 30 * 24 * 60

    def test_slots_of_hours_may_be_cloaked_to_days(self):
        frame = Frame(slot=3600)
        data = Trajectories.from_boxes({"user": [1], "x0": [0], "y0": [0], "t0": [25]}, frame)
        [person] = Cloak(1440).protect(data).trajectories
        assert (person.t0[0], person.t1[0]) == (24, 48)

    @pytest.mark.parametrize(
        ("slot", "minutes", "why"),
        [
            (3600, 30, "30 min is finer than the data, whose slots are 60 min"),
            (60, 0.5, "finer than the data"),
            (60, 90.5, "90.5 min is no whole multiple of the slots of the data, 1 min"),
            (7, 60, "no whole multiple of the slots of the data, 7 s"),
            (86_400, 2000, "the nearest are 1 and 2 slots"),
            (60, 1e12, "32-bit"),
        ],
    )
    def test_refuses_what_the_data_cannot_give(self, slot, minutes, why):
        frame = Frame(slot=slot)
        data = Trajectories.from_boxes({"user": [1], "x0": [0], "y0": [0], "t0": [0]}, frame)
        with pytest.raises(ArgumentError, match=why):
            Cloak(minutes).protect(data)

    @pytest.mark.parametrize("minutes", [0, -60, math.nan, math.inf, "hour", True, [60]])
    def test_refuses_what_is_no_length(self, minutes):
        with pytest.raises(ArgumentError, match="a slot in minutes must be a number above 0"):
            Cloak(minutes)

    def test_refuses_what_does_not_fit_into_32_bits(self):
        last = {"user": [1], "x0": [0], "y0": [0], "t0": [2**31 - 2]}
        with pytest.raises(ArgumentError, match="beyond what 32-bit numbers can say"):
            Cloak(43_200).protect(Trajectories.from_boxes(last))


class TestGeneralise:
    @given(datasets(slots=50, cells=30, longest=9), st.data())
    def test_is_what_plain_python_says(self, data, draw):
        times = draw.draw(st.integers(1, 9) | st.none())
        minutes = draw.draw(
            whole_minutes(data.frame) if times is None else whole_minutes(data.frame) | st.none()
        )
        metres = None if times is None else times * data.frame.cell
        protected = Generalise(metres, minutes).protect(data)
        old = naive.placed_samples(data)
        people, renamed = naive.generalised(old, data.frame, metres, minutes)
        assert_is(protected, people, data)
        assert lost(protected, data).get("places_collapsed", 0) == renamed

    @given(datasets(slots=50, cells=30, longest=9), st.integers(1, 9))
    def test_every_sample_lies_in_a_box_of_its_person(self, data, times):
        metres = times * data.frame.cell
        made = dict(naive.people_of(Generalise(metres=metres).protect(data).trajectories))
        for user, boxes in naive.people_of(data):
            for x0, x1, y0, y1, t0, t1 in boxes:
                assert any(
                    a <= x0 and x1 <= b and c <= y0 and y1 <= d and (t0, t1) == (e, f)
                    for a, b, c, d, e, f in made[user]
                )

    @given(datasets(slots=200))
    def test_of_time_alone_is_cloaking(self, data):
        minutes = math.lcm(60, data.frame.slot) // 60 * 3
        found = Generalise(minutes=minutes).protect(data)
        assert found.trajectories == Cloak(minutes).protect(data).trajectories

    @given(datasets())
    def test_to_its_own_grid_changes_nothing_but_places(self, data):
        found = Generalise(metres=data.frame.cell).protect(data).trajectories
        assert found.place is None
        assert found.places is None
        assert np.array_equal(found.columns, data.columns)

    @pytest.mark.parametrize(
        ("metres", "why"),
        [(50, "50 m is finer than the data, whose cells are 100 m"), (250, "no whole multiple")],
    )
    def test_refuses_what_the_grid_cannot_give(self, metres, why):
        data = Trajectories.from_boxes({"user": [1], "x0": [0], "y0": [0], "t0": [0]})
        with pytest.raises(ArgumentError, match=why):
            Generalise(metres=metres).protect(data)

    def test_takes_multiples_of_lengths_that_are_not_whole(self):
        data = Trajectories.from_boxes(
            {"user": [1], "x0": [4], "y0": [0], "t0": [0]}, Frame(cell=0.1)
        )
        [person] = Generalise(metres=0.3).protect(data).trajectories
        assert (person.x0[0], person.x1[0]) == (3, 6)

    @pytest.mark.parametrize(
        ("how", "says"),
        [
            (
                {"metres": 6000},
                "metres=6000 is wider than the data (5 km): at most four cells are left of it",
            ),
            (
                {"minutes": 20},
                "minutes=20 is longer than the data (10 min): at most two slots are left of it",
            ),
            ({"metres": 5000, "minutes": 10}, None),
        ],
    )
    def test_a_grid_that_is_larger_than_the_data_is_told(self, how, says):
        data = Trajectories.from_boxes({"user": [1, 1], "x0": [0, 9], "y0": [0, 49], "t0": [0, 9]})
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            Generalise(**how).protect(data)
        assert [str(one.message) for one in told] == ([says] if says else [])
        assert all(one.category is DataWarning and one.filename == __file__ for one in told)

    def test_refuses_nothing_at_all(self):
        with pytest.raises(ArgumentError, match="needs metres, minutes or both"):
            Generalise()

    @pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "x"])
    def test_refuses_what_is_no_length(self, value):
        with pytest.raises(ArgumentError, match="a cell in metres must be a number above 0"):
            Generalise(metres=value)


class TestSettle:
    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_long_people_are_sorted_whole_by_any_number_of_threads(self, monkeypatch, threads):
        monkeypatch.setattr(normalise, "BLOCK", 100)
        rng = np.random.default_rng(5)
        number = 5000
        table = {"user": rng.integers(0, 9, number)} | {
            name: rng.integers(0, most, number)
            for name, most in (("x0", 30), ("y0", 30), ("t0", 5000))
        }
        data = Trajectories.from_boxes(table)
        protected = Cloak(None).protect(data, threads=threads)
        people, _ = naive.cloaked(naive.placed_samples(data), data.frame, None)
        assert_is(protected, people, data)

    def test_blocks_hold_everybody_once(self, monkeypatch):
        monkeypatch.setattr(normalise, "BLOCK", 10)
        offsets = np.array([0, 0, 25, 25, 31, 90, 90])
        blocks = normalise._blocks(offsets)
        assert blocks[0][0] == 0
        assert blocks[-1][1] == 6
        assert all(before[1] == after[0] for before, after in pairwise(blocks))


def cells_of(data):
    return list(zip(data.x0.tolist(), data.y0.tolist(), strict=True))


def still(number, **grid):
    """One person who stays in cell (0, 0), for so many minutes."""
    table = {"user": [1] * number, "x0": [0] * number, "y0": [0] * number, "t0": range(number)}
    return Trajectories.from_boxes({k: list(v) for k, v in table.items()}, Frame(**grid))


@pytest.mark.filterwarnings("ignore:seeded noise")
class TestGeoI:
    @given(datasets(original=True), st.sampled_from([0.01, 0.004, 0.001]), st.integers(0, 2**32))
    def test_is_what_plain_python_says(self, data, epsilon, seed):
        protected = GeoI(epsilon, seed=seed).protect(data)
        drawn = np.random.default_rng(seed).bytes(24 * data.samples)
        moved = naive.noisy(cells_of(data), data.frame.cell, epsilon, drawn)
        expected, start = [], 0
        for user, crowd, samples in naive.placed_samples(data):
            boxes = {
                (x, x + 1, y, y + 1, *box[4:])
                for (x, y), (box, _) in zip(moved[start:], samples, strict=False)
            }
            start += len(samples)
            expected.append(
                (user, crowd, [(box, None) for box in sorted(boxes, key=naive.in_time)])
            )
        assert_is(protected, expected, data)
        assert lost(protected, data)["samples_clamped"] == 0

    def test_many_samples_are_moved_in_blocks(self, monkeypatch):
        monkeypatch.setattr(planar_laplace, "BLOCK", 7)
        asked = []

        def urandom(number):
            asked.append(number)
            return np.random.default_rng(len(asked)).bytes(number)

        monkeypatch.setattr(os, "urandom", urandom)
        data = still(20)
        protected = GeoI(0.01).protect(data)
        assert asked == [7 * 24, 7 * 24, 6 * 24]
        parts = [np.random.default_rng(i + 1).bytes(24 * n) for i, n in enumerate((7, 7, 6))]
        moved = [
            cell
            for part in parts
            for cell in naive.noisy([(0, 0)] * (len(part) // 24), 100, 0.01, part)
        ]
        assert cells_of(protected.trajectories) == moved

    def test_without_a_seed_it_is_the_entropy_of_the_system(self, monkeypatch):
        # All ones: u = 1, so the radius is 0 and nothing moves; all zeros: as far as it goes.
        data = still(3)
        monkeypatch.setattr(os, "urandom", lambda number: b"\xff" * number)
        assert cells_of(GeoI(0.01).protect(data).trajectories) == [(0, 0)] * 3
        monkeypatch.setattr(os, "urandom", bytes)
        furthest = 2 * 53 * math.log(2) / 0.01
        assert (
            cells_of(GeoI(0.01).protect(data).trajectories)
            == [(math.floor((50 + furthest) / 100), 0)] * 3
        )

    def test_draws_differ(self):
        data = still(50)
        found = {tuple(cells_of(GeoI(0.001).protect(data).trajectories)) for _ in range(5)}
        assert len(found) == 5

    def test_seeded_draws_are_the_same_and_marked(self):
        data = still(50)
        with pytest.warns(PrivacyWarning, match="a test and no release"):
            first = GeoI(0.001, seed=3).protect(data)
        assert first.trajectories == GeoI(0.001, seed=3).protect(data).trajectories
        assert first.trajectories != GeoI(0.001, seed=4).protect(data).trajectories
        assert first.settings["noise"] == "seeded, not for release"
        assert "3" not in str(first.settings["noise"])
        assert "seed" not in first.settings
        assert "seed=" not in repr(first.mechanism)
        assert first.promises == ()
        assert "drawn from a seed" in first.limits[0]

    @pytest.mark.parametrize("epsilon", LEVELS.values())
    @pytest.mark.parametrize("seed", [1, 2])
    def test_noise_has_the_distribution_of_the_theory(self, epsilon, seed):
        east, north = laplace(200_000, epsilon, np.random.default_rng(seed).bytes)
        radius, angle = np.hypot(east, north), np.arctan2(north, east)

        def within(r):
            return 1 - (1 + epsilon * r) * np.exp(-epsilon * r)

        assert stats.kstest(radius, within).pvalue > LEVEL
        uniform = stats.uniform(-math.pi, 2 * math.pi)
        assert stats.kstest(angle, uniform.cdf).pvalue > LEVEL
        # Independent of each other, and from one draw to the next.
        turned = radius[angle > 0], radius[angle <= 0]
        assert stats.ks_2samp(*turned).pvalue > LEVEL
        assert stats.pearsonr(radius[1:], radius[:-1]).pvalue > LEVEL

    def test_the_entropy_of_the_system_gives_the_same_distribution(self):
        # Without a seed this may fail by chance: once in a thousand million runs.
        epsilon = 0.004
        east, north = laplace(100_000, epsilon, os.urandom)
        found = stats.kstest(
            np.hypot(east, north), lambda r: 1 - (1 + epsilon * r) * np.exp(-epsilon * r)
        )
        assert found.pvalue > 1e-9

    def test_cells_are_as_probable_as_the_theory_says(self):
        # 1 km cells and noise of some hundred metres: the first cell holds a known share.
        epsilon, number = 0.004, 100_000
        found = GeoI(epsilon, seed=8).protect(still(number, cell=1000)).trajectories
        stayed = int(((found.x0 == 0) & (found.y0 == 0)).sum())
        side = np.linspace(-500, 500, 1001)[:-1] + 0.5
        r = np.hypot(side[:, None], side[None, :])
        share = float((epsilon**2 / (2 * math.pi) * np.exp(-epsilon * r)).sum())
        assert stats.binomtest(stayed, number, share).pvalue > LEVEL

    def test_what_two_cells_give_differs_by_no_more_than_the_promise(self):
        # The densities' ratio, and so that of any cells, is at most exp(epsilon d).
        epsilon, number, apart = 0.01, 400_000, 1
        here = GeoI(epsilon, seed=1).protect(still(number)).trajectories
        there = GeoI(epsilon, seed=2).protect(still(number)).trajectories
        for x in range(-4, 5):
            a, b = int((here.x0 == x).sum()), int((there.x0 + apart == x).sum())
            # Four standard errors of the logarithm of a ratio of counts.
            slack = 4 * math.sqrt(1 / a + 1 / b)
            assert abs(math.log(a / b)) <= epsilon * 100 * apart + slack

    @pytest.mark.parametrize(
        "epsilon", [0, -0.01, math.nan, math.inf, -math.inf, "0.01", "most", None, True, [1]]
    )
    def test_refuses_what_is_no_epsilon(self, epsilon):
        with pytest.raises(ArgumentError, match="epsilon must be a finite number above 0"):
            GeoI(epsilon)

    @pytest.mark.parametrize(("name", "epsilon"), LEVELS.items())
    def test_takes_the_names_of_the_paper(self, name, epsilon):
        assert GeoI(name) == GeoI(epsilon)

    @pytest.mark.parametrize("side", ["x1", "y1"])
    def test_refuses_boxes_that_are_wider_than_a_cell(self, side):
        table = {"user": [1, 1], "x0": [0, 0], "y0": [0, 0], "t0": [0, 1], side: [2, 1]}
        with pytest.raises(ArgumentError, match="1 of 2 samples are wider than a cell"):
            GeoI(0.01).protect(Trajectories.from_boxes(table))

    def test_takes_samples_of_any_length_and_keeps_times(self):
        table = {"user": [1, 1], "x0": [0, 0], "y0": [0, 0], "t0": [0, 1], "t1": [60, 4]}
        [person] = GeoI(0.01).protect(Trajectories.from_boxes(table)).trajectories
        assert list(zip(person.t0, person.t1, strict=True)) == [(0, 60), (1, 4)]

    @pytest.mark.parametrize("epsilon", [1e-12, 1e-300, 5e-324])
    def test_noise_beyond_32_bits_ends_at_the_edge_of_the_plane(self, epsilon):
        found = GeoI(epsilon, seed=1).protect(still(500))
        boxes = found.trajectories
        assert found.losses["samples_clamped"] > 400
        assert int(boxes.x0.min()) >= -(2**31 - 2)
        assert int(boxes.x1.max()) <= 2**31 - 2

    @pytest.mark.parametrize(
        "crs", [laea(48.9, 2.4), laea(90, 0), laea(-17.5, 180), "EPSG:32630", "EPSG:2154"]
    )
    @pytest.mark.parametrize("epsilon", [1e-7, 1e-5])
    def test_noise_off_the_projection_comes_back_to_it(self, crs, epsilon):
        data = still(300, crs=crs)
        found = GeoI(epsilon, seed=1).protect(data)
        frame, boxes = data.frame, found.trajectories
        centre = [frame.metres(side + 0.5) for side in (boxes.x0, boxes.y0)]
        assert np.isfinite(frame.degrees(*centre)).all()
        drawn = np.random.default_rng(1).bytes(24 * 300)
        free = naive.noisy([(0, 0)] * 300, 100, epsilon, drawn)
        moved = [
            (x, y)
            for x, y in free
            if not np.isfinite(frame.degrees(100 * (x + 0.5), 100 * (y + 0.5))).all()
            or max(abs(x), abs(y)) > 2**31 - 3
        ]
        assert found.losses["samples_clamped"] == len(moved)
        for (x, y), (to_x, to_y) in zip(free, cells_of(boxes), strict=True):
            if (x, y) != (to_x, to_y):
                # In the same direction from the origin, to within a cell.
                assert abs(x * to_y - y * to_x) <= 2 * math.hypot(x, y)
                assert math.hypot(to_x, to_y) < math.hypot(x, y)

    def test_coming_back_looks_at_nothing_but_the_noisy_cell(self):
        # Whether a cell is moved, and where to, is the same wherever people were.
        frame = Frame(laea(48.9, 2.4))
        x = np.array([3e5, -2e5, 10.0])
        y = np.array([1.0, -2e5, 10.0])
        together = planar_laplace._back(frame, x, y)
        alone = [planar_laplace._back(frame, x[i : i + 1], y[i : i + 1]) for i in range(3)]
        assert np.array_equal(together, np.concatenate(alone, axis=1))

    def test_an_origin_off_the_projection_is_an_error(self, monkeypatch):
        nowhere = lambda _, x, __: np.zeros(len(x), np.bool_)  # noqa: E731
        monkeypatch.setattr(planar_laplace, "_on_earth", nowhere)
        with pytest.raises(PlaceError, match="off the projection"):
            GeoI(0.001, seed=1).protect(still(50, crs=laea(0, 0)))

    def test_says_what_traces_cost(self):
        data = Trajectories.from_boxes(
            {"user": [1] * 200 + [2] * 100 + [3] * 100, "x0": [0] * 400, "y0": [0] * 400,
             "t0": list(range(400))}
        )  # fmt: skip
        [note] = GeoI(0.01).protect(data).notes
        assert "half of the people have 100 samples or more, the one with most 200" in note
        assert "cost 1/m and 2/m" in note
        assert "places 100 m apart stay within a factor of 2.7" in note
        assert "within 1 m and 0.5 m of each other" in note
        assert GeoI(0.01).protect(data).limits[-1] == note


class TestGlove:
    PEOPLE = Trajectories.from_boxes(
        {"user": [1, 2, 3, 4], "x0": [0, 3, 500, 501], "y0": [0] * 4, "t0": [0, 9, 700, 701]}
    )

    def test_is_the_function(self):
        made = Glove(k=2, max_metres=1000, max_minutes=5).protect(self.PEOPLE)
        same = glove(self.PEOPLE, 2, max_metres=1000, max_minutes=5)
        assert made.trajectories == same.trajectories
        assert made.assignment.equals(same.assignment)
        assert made.losses == same.losses
        assert made.settings == same.settings
        assert made.losses.people_dropped == made.losses["people_dropped"] == 2

    def test_a_stretch_is_that_of_the_papers_on_any_grid(self):
        data, grid = self.PEOPLE, Frame(cell=10, slot=600)
        data = Trajectories(data.columns, data.offsets, grid, people=data.people)
        for how in ({}, {"crowds": "refined"}, {"merge": "two-stage"}):
            made = glove(data, 2, **how)
            assert made.settings["stretch"]["max_space"] == 2000
            assert made.settings["stretch"]["max_time"] == 48
            same = glove(data, 2, stretch=Stretch(2000, 48), **how)
            assert made.trajectories == same.trajectories
            assert made.settings == same.settings

    def test_counts_the_people_of_crowds(self):
        first = glove(self.PEOPLE, 2).trajectories
        assert "people           4 of 4" in str(glove(first, 4))
        assert "people           4 of 4" in str(Cloak(60).protect(first))

    def test_thresholds_are_metres_and_minutes(self):
        old = {"max_space": 10, "max_time": 5}
        with pytest.warns(IncrowdDeprecationWarning, match="max_time is deprecated; use max_min"):
            cells = glove(self.PEOPLE, 2, **old)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            metres = glove(self.PEOPLE, 2, max_metres=1049.0, max_minutes=5)
        assert cells.settings == metres.settings
        assert old.items() <= metres.settings.items()

    @pytest.mark.parametrize(
        ("how", "says"),
        [
            (
                {"max_metres": 1_500_000},
                "max_metres=1500000 is wider than the data (50.2 km): it would suppress nothing",
            ),
            (
                {"max_space": 15_000},
                (
                    "max_space=15000 (1,500 km) is wider than the data (50.2 km): "
                    "it would suppress nothing"
                ),
            ),
            (
                {"max_minutes": 703},
                "max_minutes=703 is longer than the data (11.7 h): it would suppress nothing",
            ),
        ],
    )
    def test_a_threshold_that_is_wider_than_the_data_is_told(self, how, says):
        with pytest.warns(DataWarning) as told:
            release = glove(self.PEOPLE, 2, **how)
        assert [str(one.message) for one in told if one.category is DataWarning] == [says]
        assert release.losses.samples_suppressed == 0

    def test_a_threshold_as_wide_as_the_data_is_not(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            glove(self.PEOPLE, 2, max_metres=50_200, max_minutes=702)

    def test_the_old_way_says_what_it_means(self):
        with pytest.warns(IncrowdDeprecationWarning, match=r"max_space=10 \(1 km\)"):
            glove(self.PEOPLE, 2, max_space=10)

    @pytest.mark.parametrize(
        ("how", "says"),
        [
            (
                {"max_metres": 99},
                "max_metres must be at least one cell of the grid .100 m., not 99 m",
            ),
            ({"max_minutes": 0.5}, "at least one slot of the grid .1 min."),
            ({"max_metres": -1}, "max_metres must be a number above 0, not -1"),
            ({"max_metres": 300, "max_space": 3}, "two ways to say the same; give max_metres"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::incrowd.errors.IncrowdDeprecationWarning")
    def test_refuses_thresholds_that_make_no_sense(self, how, says):
        with pytest.raises(ArgumentError, match=says):
            glove(self.PEOPLE, 2, **how)

    @pytest.mark.parametrize(
        ("how", "says"),
        [
            ({"k": 1}, "k must be an integer of at least 2"),
            ({"variant": "odd"}, "variant must be one of strict, loose, not 'odd'"),
            ({"reshape": "odd"}, "reshape must be one of split, union, none"),
            ({"suppress": "odd"}, "suppress must be one of boxes, samples"),
            ({"suppress": "samples"}, "needs max_metres or max_minutes"),
            ({"max_minutes": "x"}, "max_minutes must be a number above 0"),
        ],
    )
    def test_refuses_what_makes_no_sense_whatever_the_data(self, how, says):
        with pytest.raises(ArgumentError, match=says):
            Glove(**how)

    @pytest.mark.parametrize("crowds", [False, True])
    def test_bounds_have_all_their_regions_where_memory_allows(self, crowds):
        sizes = fit(self.PEOPLE, "100GB", crowds=crowds)
        assert (sizes["regions"], sizes["bins"]) == (REGIONS, BINS)
        assert sizes["corner_regions"] == (CORNER_REGIONS if crowds else 0)

    def test_gives_advice_before_work_begins(self):
        assert Glove(k=3, max_metres=1000, max_minutes=5).advice(self.PEOPLE) == ()
        assert Glove(k=3, crowds="refined").advice(self.PEOPLE) == ()
        (pairs,) = Glove(suppress_price=0.5).advice(self.PEOPLE)
        assert pairs.startswith("k = 2 makes pairs")
        (slow,) = Glove(k=3, suppress_at_most=0.05).advice(self.PEOPLE)
        assert slow.startswith("suppress_at_most without max_minutes takes long")
        large, rounded = Glove(k=2000, max_metres=1050).advice(self.PEOPLE)
        assert large.startswith("k = 2,000 is large")
        assert rounded == "max_metres is rounded down to 1000 m (10 cells of the grid)"


class TestEvery:
    @pytest.mark.parametrize("mechanism", ALL, ids=lambda one: one.method)
    @random_cases(25)
    @given(
        data=datasets(original=True, slots=100).filter(
            lambda data: data.frame.slot == 60 and data.frame.cell == 100
        )
    )
    def test_leaves_its_input_as_it_was(self, mechanism, data):
        before = [column.copy() for column in data.columns]
        place = None if data.place is None else data.place.copy()
        mechanism.protect(data)
        assert np.array_equal(before, data.columns)
        assert place is None or np.array_equal(place, data.place)

    @pytest.mark.parametrize("mechanism", ALL[:-1], ids=lambda one: one.method)
    def test_does_the_same_again(self, mechanism):
        data = still(100)
        first, second = mechanism.protect(data), mechanism.protect(data)
        assert first.trajectories == second.trajectories
        assert first.assignment.equals(second.assignment)
        assert first.losses == second.losses

    @pytest.mark.parametrize("mechanism", ALL, ids=lambda one: one.method)
    def test_takes_nobody(self, mechanism):
        nobody = Trajectories.from_boxes({"user": [], "x0": [], "y0": [], "t0": []})
        protected = mechanism.protect(nobody)
        assert len(protected.trajectories) == len(protected.assignment) == 0
        assert not any(protected.losses.values())

    @pytest.mark.parametrize("mechanism", ALL[1:], ids=lambda one: one.method)
    def test_counts_people_without_a_sample_as_dropped(self, mechanism):
        one = still(1)
        data = Trajectories(one.columns, np.array([0, 0, 1]), crowd=np.array([4, 1], np.int32))
        protected = mechanism.protect(data)
        assert protected.losses["people_dropped"] == 4
        assert protected.assignment["trajectory"].to_list() == [None, 0]

    @pytest.mark.parametrize("mechanism", ALL, ids=lambda one: one.method)
    def test_names_its_paper_and_says_what_it_promises_and_what_not(self, mechanism):
        assert isinstance(mechanism, Mechanism)
        assert mechanism.paper
        assert mechanism.promises
        assert any("record linkage" in text for text in mechanism.limits)
        assert "k" not in mechanism.settings

    @pytest.mark.parametrize(
        ("mechanism", "kept"),
        [(Filter(1), True), (Cloak(60), True), (Cloak(None), True), (Generalise(minutes=5), True),
         (Generalise(200), False), (Generalise(200, 5), False), (GeoI(0.01), False)],
    )  # fmt: skip
    def test_names_of_places_stay_only_where_positions_do(self, mechanism, kept):
        table = {"user": [1, 2], "x0": [0, 0], "y0": [0, 0], "t0": [0, 1]}
        data = Trajectories.from_boxes(table)
        named = Trajectories(
            data.columns, data.offsets, place=np.array([2, 2], np.int32), places=NAMES
        )
        names = mechanism.protect(named).trajectories.place_names()
        assert (names is not None) == kept
        assert names is None or names.to_list() == ["Yopougon"] * 2
        assert kept or mechanism.protect(named).trajectories.places is None
