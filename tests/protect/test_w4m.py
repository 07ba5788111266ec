"""W4M, beside plain Python, and that beside what the authors' program gave."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from incrowd import W4M, Frame, Trajectories
from incrowd.errors import ArgumentError
from incrowd.protect._w4m import edit
from strategies import random_cases


@st.composite
def cases(draw):
    """People of few cells and slots, with ties, copies and one-point trajectories; and settings."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, chunked = draw(st.integers(2, 4)), draw(st.booleans())
    number = draw(st.integers(k, draw(st.sampled_from([k, 5, 9, 20]))))
    lengths = [1, 3, 6, 12]
    if chunked and draw(st.booleans()):
        # Two chunks or three.
        k, number, lengths = 2, 80 + draw(st.integers(0, 45)), [1, 3, 6]
    wide, long = draw(st.sampled_from([(3, 4), (20, 6), (400, 60), (1, 5), (40, 1)]))
    most, repeated = draw(st.sampled_from(lengths)), draw(st.sampled_from([0, 0.3]))
    users, places = [], []
    for user in range(number):
        if user and rng.random() < repeated:
            copied = [place for who, place in zip(users, places, strict=True) if who == user - 1]
        else:
            length = rng.integers(1, most + 1)
            copied = rng.integers([-wide, -wide, 0], [wide, wide, long], (length, 3)).tolist()
        users += [user] * len(copied)
        places += copied
    x0, y0, t0 = zip(*places, strict=True)
    frame = Frame(cell=draw(st.sampled_from([100, 37.5, 0.1])), slot=draw(st.sampled_from([60, 7])))
    data = Trajectories.from_boxes({"user": users, "x0": x0, "y0": y0, "t0": t0}, frame)
    cells = draw(st.sampled_from([0.5, 1, 2, 3.7, 10, 1000]))
    settings = {
        "k": k,
        "delta": frame.cell * cells,
        "radius_max": draw(st.sampled_from([1.4, 2, 2 * frame.cell + 2, 200, 500, 1e6])),
        "trash": draw(st.sampled_from([0, 0.1, 0.3, 0.9])),
        "cap": draw(st.sampled_from([1, 3, 10, 1000])),
        "chunked": chunked,
        "seed": draw(st.integers(0, 2**70)),
    }
    return data, settings


def single(data):
    """Give rows (id, t, x, y) in metres and seconds, the first sample of each slot alone."""
    cell, slot, seen = data.frame.cell, float(data.frame.slot), set()
    for user, x0, _, y0, _, t0, _ in data.boxes().rows():
        if (user, t0) not in seen:
            seen.add((user, t0))
            yield user, t0 * slot, (x0 + 0.5) * cell, (y0 + 0.5) * cell


def plainly(data, settings):
    """Give what plain Python publishes, as rows of cells and slots, and its counts."""
    cell, slot = data.frame.cell, data.frame.slot
    trash_max = math.floor(Fraction(str(settings["trash"])) * len(data))
    rows, counts = naive.w4m(
        list(single(data)), settings["k"], settings["delta"], settings["radius_max"], trash_max,
        settings["cap"], settings["chunked"],
        draw=naive.splitmix(settings["seed"]), pull=naive.on_grid(cell),
    )  # fmt: skip
    published = [
        (user, round(t / slot), round(x / cell - 0.5), round(y / cell - 0.5))
        for user, t, x, y in rows
    ]
    return sorted(published), counts


def published(protected):
    boxes = protected.trajectories.boxes().rows()
    assert all((x1, y1, t1) == (x0 + 1, y0 + 1, t0 + 1) for _, x0, x1, y0, y1, t0, t1 in boxes)
    return [(user, t0, x0, y0) for user, x0, _, y0, _, t0, _ in boxes]


GOLDEN = json.loads(Path(__file__).with_name("w4m_golden.json").read_text())
"""Inputs (id, t, x, y), and what the authors' program gave for them, coordinates to 0.001."""
RUNS = [
    ("f1", "published", (2, 20, 1000, 0), {
        "clusters": [[4, 3], [1, 2]], "space": 180, "time": 0, "moved": 6, "net_created": 0,
        "net_deleted": 0, "really_created": 0, "really_deleted": 0, "trash": [],
    }),
    ("f2", "published", (2, 100, 600, 0), {
        "clusters": [[4, 3], [2, 1]], "space": 2444.735, "moved": 7, "time": 2750, "waited": 7,
        "net_created": 2, "net_deleted": 2, "mean_space": 174.624, "mean_time": 196.429,
    }),
    ("f3", "published", (2, 200, 100, 1), {
        "clusters": [[2, 1], [4, 3]], "trash": [5], "space": 1350, "moved": 6, "time": 30,
        "waited": 3, "trashed": 1, "trashed_points": 3, "discernibility": 13,
    }),
    ("f4", "published", (3, 150, 500, 0), {
        "clusters": [[2, 3, 1, 7], [4, 6, 5]], "space": 19522.582, "moved": 25, "time": 400,
        "waited": 4, "net_created": 4, "net_deleted": 0,
    }),
    ("f5", "published", (2, 200, 100, 8), {
        "trashed": 3, "trashed_points": 10, "net_created": 28, "net_deleted": 18,
        "mean_space": 294.844, "mean_time": 33.890,
    }),
    ("f5", "chunked", (2, 200, 100, 8), {
        "trashed": 2, "trashed_points": 7, "net_created": 23, "net_deleted": 23,
        "mean_space": 236.204, "mean_time": 26.061,
    }),
]  # fmt: skip


class TestPlainVersion:
    """As the authors' program does it, where it is asked to; and what is meant otherwise."""

    @pytest.mark.parametrize(("name", "kind", "arguments", "counts"), RUNS)
    def test_gives_what_the_authors_program_gave(self, name, kind, arguments, counts):
        rows, golden = GOLDEN[name]["rows"], GOLDEN[name][kind]
        chunked = kind == "chunked"
        found, counted = naive.w4m(rows, *arguments, chunked=chunked, as_distributed=True)
        assert [(one, t) for one, t, *_ in sorted(found)] == [
            (one, t) for one, t, *_ in sorted(golden)
        ]
        for ours, theirs in zip(sorted(found), sorted(golden), strict=True):
            assert ours[2:] == pytest.approx(theirs[2:], rel=0, abs=1e-3)
        for count, expected in counts.items():
            close = expected if isinstance(expected, list) else pytest.approx(expected, abs=5e-4)
            assert counted[count] == close

    def test_has_the_numbers_of_the_c_library(self):
        """The first of rand() after srand(1), as every C program on Linux prints them."""
        draw = naive.Glibc()
        assert [draw(0) for _ in range(5)] == [
            1804289383, 846930886, 1681692777, 1714636915, 1957747793
        ]  # fmt: skip

    def test_is_better_without_the_defect(self):
        """Far clusters are accepted, and near ones refused, where the wrong one is looked at."""
        errors = {True: [], False: []}
        for seed in range(12):
            rng = np.random.default_rng(seed)
            rows = []
            for user in range(30):
                spot = rng.uniform(0, 3000, 2)
                for i in range(8):
                    spot = spot + rng.normal(0, 150, 2)
                    rows.append((user, 60 * i + user % 7, float(spot[0]), float(spot[1])))
            for flawed, found in errors.items():
                _, counts = naive.w4m(rows, 2, 200, 100, 3, as_distributed=flawed)
                found.append(counts["mean_space"])
        assert np.mean(errors[False]) < 0.9 * np.mean(errors[True])

    def test_random_numbers_of_chunks_are_those_of_splitmix(self):
        """The first numbers from state 0, as published; and each chunk has its own."""
        draw = naive.splitmix(0)
        assert draw(0) == 0xE220A8397B1DCDAF
        assert draw(0) == 0x6E789E6AA1B965F4
        assert (
            len({naive.splitmix(seed)(chunk) for seed in range(40) for chunk in range(40)}) == 1600
        )


class TestW4M:
    @random_cases(1000)
    @given(cases())
    def test_is_what_plain_python_says(self, case):
        data, settings = case
        expected, counts = plainly(data, settings)
        protected = W4M(**settings).protect(data)
        assert published(protected) == expected
        assert (protected.trajectories.crowd == 1).all()
        losses, lengths = protected.losses, dict(zip(data.people, data.lengths(), strict=True))
        gone = sum(int(lengths[user]) for user in counts["trash"])
        again = data.samples - len(list(single(data)))
        assert losses["people_dropped"] == counts["trashed"]
        assert losses["samples_dropped"] == gone
        assert losses["samples_same_time"] == again
        assert losses["samples_created"] == counts["really_created"]
        assert losses["samples_deleted"] == counts["really_deleted"]
        assert losses["samples_created_net"] == counts["net_created"]
        assert losses["samples_deleted_net"] == counts["net_deleted"]
        # What is published: of the originals less what went, and what was made up.
        kept = data.samples - gone - losses["samples_suppressed"]
        assert kept + losses["samples_created"] == protected.trajectories.samples
        found = protected.settings
        assert found["mean_moved_metres"] == pytest.approx(counts["mean_space"], abs=6e-4)
        assert found["mean_moved_seconds"] == pytest.approx(counts["mean_time"], abs=6e-4)
        assert protected.assignment["user"].to_list() == data.people.to_list()
        trashed = protected.assignment.filter(protected.assignment["trajectory"].is_null())
        assert sorted(trashed["user"]) == sorted(counts["trash"])

    def test_is_the_same_on_any_number_of_threads(self):
        data = incrowd.synthesize("city", users=85, seed=3)
        for chunked in (True, False):
            made = [
                W4M(k=2, delta=500, chunked=chunked).protect(data, threads=threads)
                for threads in (1, 2, 5)
            ]
            assert made[0].trajectories == made[1].trajectories == made[2].trajectories
            assert made[0].settings == made[1].settings == made[2].settings
            assert made[0].losses == made[2].losses

    def test_another_seed_makes_other_clusters(self):
        data = incrowd.synthesize("city", users=60, seed=3)
        one, other = (W4M(k=2, delta=500, seed=seed).protect(data) for seed in (0, 1))
        assert one.trajectories != other.trajectories
        assert "seed" not in one.settings

    def test_rows_walked_in_many_calls_are_the_same(self, monkeypatch):
        data = incrowd.synthesize("city", users=40, seed=3)
        whole = W4M(k=2, delta=500).protect(data)
        monkeypatch.setattr("incrowd.protect._w4m.edit._BLOCK", 1)
        monkeypatch.setattr("incrowd.protect._w4m.chunks._BLOCK", 1)
        assert W4M(k=2, delta=500).protect(data).trajectories == whole.trajectories

    def test_leaves_its_input_and_tells_how_far_it_is(self, monkeypatch):
        monkeypatch.setattr("incrowd.protect._w4m.edit._BLOCK", 1 << 20)
        data, told = incrowd.synthesize("city", users=100, seed=3), []
        before = data.boxes()
        for chunked in (True, False):
            told.clear()
            made = W4M(k=2, delta=500, chunked=chunked)
            made.protect(data, threads=1, progress=lambda *how: told.append(how))
            assert told[0] == ("Protecting", 0, data.samples)
            assert told[-1] == ("Protecting", data.samples, data.samples)
            assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
            assert len(told) > 3
        assert data.boxes().equals(before)

    def test_all_in_one_cluster(self):
        """K may be the number of people; one point each, and all of them the same."""
        table = {"user": [1, 2, 3], "x0": [4, 4, 4], "y0": [4, 4, 4], "t0": [9, 9, 9]}
        made = W4M(k=3, delta=10, radius_max=2).protect(Trajectories.from_boxes(table))
        assert made.trajectories.boxes().rows() == Trajectories.from_boxes(table).boxes().rows()
        assert not any(made.losses.values())

    def test_pulls_no_farther_out_than_delta_has_it_where_floats_round_up(self):
        """Five cells are 500 m, which is more than half of a delta just below 1,000."""
        delta, cell, far = math.nextafter(1000, 0), 100, np.arange(6, 400)
        assert edit.farthest(delta, cell) == 24
        none = np.zeros(len(far), np.int64)
        for sign in (-1, 1):
            for x, y in ((sign * far, none), (none, sign * far)):
                dx, dy = edit.pulled(x.copy(), y.copy(), delta, cell)
                assert (dx + dy == 4 * sign).all()
                assert (dx * dy == 0).all()
        pulled = naive.on_grid(cell)
        for x in far.tolist():
            assert pulled((0, 50, 50), (0, 50 + cell * x, 50), delta) == (450, 50)

    def test_takes_the_share_of_trash_as_it_is_written(self):
        """0.29 of 100 people are 29, and not the 28.999999999999996 of binary numbers."""
        alone = [4**number for number in range(15)]
        spots = [0] * 71 + alone[:15] + [-spot for spot in alone[:14]]
        table = {"user": range(100), "x0": spots, "y0": [0] * 100, "t0": [0] * 100}
        data = Trajectories.from_boxes(table)
        made = W4M(k=2, delta=10, radius_max=2, trash=0.29, chunked=False).protect(data)
        assert (made.losses["people_dropped"], made.settings["radius_reached"]) == (29, 2)

    def test_says_which_samples_are_in_the_slot_of_another(self):
        table = {
            "user": [1, 1, 1, 2, 2],
            "x0": [4, 9, 4, 4, 5],
            "y0": [4, 4, 5, 4, 5],
            "t0": [9, 9, 20, 9, 20],
        }
        made = W4M(k=2, delta=1000, radius_max=5000).protect(Trajectories.from_boxes(table))
        assert made.losses["samples_same_time"] == made.losses["samples_suppressed"] == 1
        assert any("1 samples" in limit or "1 sample " in limit for limit in made.limits)


class TestBadInput:
    @pytest.mark.parametrize(
        ("settings", "says"),
        [
            ({"k": 1}, "k must be an integer of at least 2, not 1"),
            ({"k": 2.0}, "k must be an integer"),
            ({"delta": 0}, "delta must be a finite number of metres above 0, not 0"),
            ({"delta": -5}, "delta must be"),
            ({"delta": math.inf}, "delta must be"),
            ({"delta": math.nan}, "delta must be"),
            ({"delta": "2 km"}, "delta must be"),
            ({"delta": True}, "delta must be"),
            ({"radius_max": 0}, "radius_max must be"),
            ({"radius_max": math.inf}, "radius_max must be"),
            ({"radius_max": 1}, "radius_max = 1 m can never grow"),
            ({"radius_max": 0.7}, "can never grow"),
            ({"radius_max": 1.333}, "can never grow"),
            ({"trash": 1}, "trash must be a share from 0 to below 1, not 1"),
            ({"trash": -0.1}, "trash must be"),
            ({"trash": math.nan}, "trash must be"),
            ({"cap": 0}, "cap must be an integer from 1"),
            ({"cap": 2**31}, "cap must be an integer from 1"),
            ({"cap": 1.5}, "cap must be"),
            ({"chunked": 1}, "chunked must be True or False"),
            ({"seed": -1}, "seed must be an integer of at least 0"),
        ],
    )
    def test_settings(self, settings, says):
        with pytest.raises(ArgumentError, match=says):
            W4M(**{"k": 2, "delta": 2000} | settings)

    @pytest.mark.parametrize("radius", [1.334, 1.5, 2, 3])
    def test_radii_that_grow_are_taken(self, radius):
        assert math.floor(1.5 * radius) > radius
        assert W4M(k=2, delta=1, radius_max=radius).radius_max == radius

    def test_fewer_people_than_k(self):
        data = incrowd.synthesize("city", users=10, seed=3)
        with pytest.raises(ArgumentError, match="k is 11 and the data has only 10 people"):
            W4M(k=11, delta=100).protect(data)

    @pytest.mark.parametrize(
        "side", [{"x1": [3, 4]}, {"y1": [9, 4]}, {"t1": [9, 6]}], ids=["x", "y", "t"]
    )
    def test_areas_and_spans(self, side):
        table = {"user": [1, 2], "x0": [2, 2], "y0": [3, 3], "t0": [5, 5]}
        ends = {"x1": [3, 3], "y1": [4, 4], "t1": [6, 6]}
        with pytest.raises(ArgumentError, match="1 of 2 samples are wider than a cell or longer"):
            W4M(k=2, delta=9).protect(Trajectories.from_boxes(table | ends | side))

    def test_crowds(self):
        data = incrowd.synthesize("city", users=10, seed=3)
        crowds = incrowd.glove(data, k=2).trajectories
        with pytest.raises(ArgumentError, match="this data has crowds"):
            W4M(k=2, delta=9).protect(crowds)

    def test_data_that_is_too_small_for_the_usual_radius(self):
        table = {"user": [1, 2], "x0": [2, 3], "y0": [3, 3], "t0": [5, 5]}
        data = Trajectories.from_boxes(table)
        with pytest.raises(ArgumentError, match=r"radius_max = 0.25 m, 0.5 % of .* give a larger"):
            W4M(k=2, delta=500).protect(data)
        assert len(W4M(k=2, delta=500, radius_max=500).protect(data).trajectories) == 2

    def test_data_wider_than_can_be_counted(self):
        table = {"user": [1, 2], "x0": [-(2**30), 2**30], "y0": [3, 3], "t0": [5, 5]}
        with pytest.raises(ArgumentError, match=r"more than 2\*\*30 cells wide"):
            W4M(k=2, delta=500).protect(Trajectories.from_boxes(table))

    def test_all_pairs_of_too_many_people(self):
        spots = {"x0": range(6000), "y0": [0] * 6000, "t0": [0] * 6000}
        data = Trajectories.from_boxes({"user": range(6000), **spots})
        with pytest.raises(ArgumentError, match=r"6,000 people with all needs 0.6 GB, and 0.4 GB"):
            W4M(k=2, delta=500, chunked=False).protect(data, memory="800MB")
        with pytest.raises(
            ArgumentError, match=r"3,980 people with all, in 2 chunks at a time, ne"
        ):
            W4M(k=101, delta=500).protect(data, memory="800MB", threads=2)

    def test_a_trajectory_of_100_000_points(self):
        rng, n = np.random.default_rng(0), 100_000
        x = rng.integers(-3, 4, n).cumsum()
        table = {
            "user": [1] * n + [2, 3, 3],
            "x0": [*x, 5, 0, 9],
            "y0": [*x[::-1], 5, 0, 9],
            "t0": [*range(n), 50, 0, 7000],
        }
        made = W4M(k=3, delta=500).protect(Trajectories.from_boxes(table))
        assert made.trajectories.lengths().tolist() in ([n] * 3, [1] * 3, [2] * 3)
        losses = made.losses
        assert losses["samples_created"] - losses["samples_deleted"] == (
            made.trajectories.samples - n - 3
        )
