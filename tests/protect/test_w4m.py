"""W4M, beside plain Python, and that beside what the authors' program gave."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from incrowd import W4M, Frame, Trajectories
from strategies import random_cases


@st.composite
def cases(draw):
    """People of few cells and slots, with ties, copies and one-point trajectories; and settings."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k = draw(st.integers(2, 4))
    chunked = draw(st.booleans())
    many = 20 * k * draw(st.integers(1, 3)) + draw(st.integers(0, 9)) if chunked else 9
    number = draw(st.integers(k, max(k, draw(st.sampled_from([k, 5, 9, many])))))
    wide, long = draw(st.sampled_from([(3, 4), (20, 6), (400, 60), (1, 5), (40, 1)]))
    most = draw(st.sampled_from([1, 3, 6, 12]))
    users, places = [], []
    for user in range(number):
        if user and rng.random() < draw(st.sampled_from([0, 0.3])):
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
        "radius_max": draw(st.sampled_from([1.4, 2, 150, 1e6])),
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
