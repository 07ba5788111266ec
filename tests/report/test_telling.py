import numpy as np
import pytest

import incrowd
from incrowd.data.frame import Frame, laea
from incrowd.report.telling import area_of, cropped, days_of


def seen(*people, origin=0):
    """Make people who are seen at these hours."""
    hours = np.array([hour for person in people for hour in person], np.int32)
    zero = np.zeros_like(hours)
    columns = (zero, zero + 1, zero, zero + 1, hours, hours + 1)
    frame = Frame(laea(7.5, -5.5), 100.0, 3600, origin)
    return incrowd.Trajectories(columns, np.cumsum([0, *map(len, people)]), frame)


class TestDays:
    def test_a_day_counts_by_its_people_and_not_by_their_samples(self):
        data = seen([0, 1, 2, 24], [25, 26], [24, 49])
        assert days_of(data, 3) == {"start": "1970-01-02", "end": "1970-01-02", "days": 1}
        assert days_of(data, 1) == {"start": "1970-01-01", "end": "1970-01-03", "days": 3}

    def test_everybody_is_counted_afresh(self):
        assert days_of(seen([5], [5], [5]), 3)["days"] == 1

    def test_days_without_anybody_in_between(self):
        assert days_of(seen([0, 240], [0, 240]), 2)["days"] == 11

    def test_nobody(self):
        assert days_of(seen([0]), 2) == {"start": None, "end": None, "days": None}
        assert days_of(seen(), 1)["days"] is None

    def test_on_the_clock_of_the_data(self):
        assert days_of(seen([0], [0], origin=-3600), 2)["start"] == "1969-12-31"


class TestMap:
    def test_nothing_shown(self):
        about = {"side_m": 500.0, "west_m": 7.0, "south_m": 7.0, "columns": 9, "rows": 9,
                 "cells": []}  # fmt: skip
        assert cropped(about)["columns"] == 0
        assert cropped(about)["west_m"] is None
        assert area_of(about) is None

    def test_whatever_lies_around_does_not_matter(self):
        cells = [[5, 5, 10, None], [7, 6, None, 20]]
        cut = []
        for shift in (0, 40):
            about = {
                "side_m": 500.0, "west_m": -500.0 * shift, "south_m": 0.0,
                "columns": 8 + shift, "rows": 99,
                "cells": [[cell[0] + shift, *cell[1:]] for cell in cells],
            }  # fmt: skip
            cut.append(cropped(about))
        assert cut[0] == cut[1]
        assert (cut[0]["columns"], cut[0]["rows"]) == (3, 2)
        assert area_of(cut[0]) == pytest.approx(0.25)
