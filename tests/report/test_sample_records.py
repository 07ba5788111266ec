from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import Trajectories
from incrowd.data._frame import Frame, laea
from incrowd.report._sample_records import DAYS, MOST, RECORDS, sample_records

FRAME = Frame(laea(7.5, -5.5), 100.0, 60)


def records(*crowds, lengths=None, frame=FRAME):
    """Make a record for each crowd: its boxes are as wide as its number says."""
    lengths = lengths or [3] * len(crowds)
    columns = [[] for _ in range(6)]
    for number, length in enumerate(lengths, 1):
        for i in range(length):
            for column, value in zip(
                columns, (i, i + number, 10, 10 + number, 100 * i, 100 * i + 30), strict=True
            ):
                column.append(value)
    return Trajectories(
        tuple(np.array(column, np.int32) for column in columns),
        np.cumsum([0, *lengths]),
        frame,
        crowd=np.array(crowds, np.int32),
    )


class TestSampleRecords:
    @given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.integers(2, 5))
    def test_a_crowd_below_the_least_is_never_sample_records(self, crowds, least):
        found = sample_records(records(*crowds), least=least)
        assert all(record.crowd >= least for record in found)
        enough = sum(crowd >= least for crowd in crowds)
        assert min(enough, 1) <= len(found) <= min(enough, RECORDS)

    def test_of_many_those_in_the_middle(self):
        found = sample_records(records(*[2] * 9), least=2)
        widths = [round(record.boxes[0].east_to, 3) for record in found]
        assert widths == [0.3, 0.5, 0.7]

    def test_nobody_is_drawn_by_one_sample(self):
        assert sample_records(records(2, 3, lengths=[1, 1]), least=2) == ()

    def test_counts_from_the_corner_and_the_midnight(self):
        boxes = sample_records(records(5), least=2)[0].boxes
        assert min(box.east for box in boxes) == min(box.north for box in boxes) == 0
        assert boxes[0].hour == 0
        assert asdict(boxes[1]) == {
            "east": 0.1, "east_to": 0.2, "north": 0.0, "north_to": 0.1,
            "hour": pytest.approx(100 / 60, abs=1e-3), "hour_to": pytest.approx(130 / 60, abs=1e-3),
        }  # fmt: skip

    def test_where_on_earth_it_is_does_not_matter(self):
        here, there = records(4), records(4)
        moved = Trajectories(
            tuple(column + shift for column, shift in
                  zip(there.columns, (700, 700, -90, -90, 1440, 1440), strict=True)),
            there.offsets, FRAME, crowd=there.crowd,
        )  # fmt: skip
        assert sample_records(here, least=2) == sample_records(moved, least=2)

    def test_only_the_first_days(self):
        found = sample_records(records(2, lengths=[100]), least=2)
        assert max(box.hour for box in found[0].boxes) < 24 * DAYS

    def test_not_more_boxes_than_can_be_seen(self):
        frame = Frame(laea(7.5, -5.5), 100.0, 1)
        found = sample_records(records(2, lengths=[400], frame=frame), least=2)
        assert len(found[0].boxes) == MOST
