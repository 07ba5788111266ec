"""Numbers for positions: whatever they are, they lead back to the position."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.data._io import encoding
from incrowd.data._io.encoding import Spots

coordinate = st.sampled_from([0.0, -0.0, 1.5, -1.5, 2.25]) | st.floats(-180, 180)
batches = st.lists(
    st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=30), min_size=1, max_size=5
)


def coordinates(found, numbers):
    return [
        np.concatenate([side[part] for part in encoding.pieces(len(found))])[numbers]
        for side in (found.a, found.b)
    ]


class TestSpots:
    @pytest.mark.parametrize("few", [0, 1000])
    @pytest.mark.parametrize("trial", [0, 20, 10**6])
    @given(batches=batches)
    def test_lead_back_to_the_position(self, few, trial, batches):
        found, numbers = Spots(), []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(encoding, "_FEW", few)
            patch.setattr(encoding, "_TRIAL", trial)
            for batch in batches:
                a, b = (np.array(side) for side in zip(*batch, strict=True))
                numbers.append(found.number(a, b))
        a, b = coordinates(found, np.concatenate(numbers))
        assert [*zip(a, b, strict=True)] == [position for batch in batches for position in batch]

    def test_keep_a_position_that_comes_back_once(self, monkeypatch):
        monkeypatch.setattr(encoding, "_FEW", 0)
        found = Spots()
        for _ in range(3):
            found.number(np.array([1.0, 2.0, 2.0, 1.0]), np.array([5.0, 6.0, 6.0, 5.0]))
        assert len(found) == 2

    def test_stop_looking_where_positions_never_come_back(self, monkeypatch):
        monkeypatch.setattr(encoding, "_FEW", 0)
        monkeypatch.setattr(encoding, "_TRIAL", 100)
        found, values = Spots(), np.arange(500.0)
        found.number(values, values)
        found.number(values, values)
        assert len(found) == 1000
        assert np.array_equal(found.number(values, values), np.arange(1000, 1500))

    def test_grow_beyond_the_first_table(self, monkeypatch):
        monkeypatch.setattr(encoding, "_TRIAL", 10**9)
        found, values = Spots(), np.arange(100_000.0)
        first = found.number(values, -values)
        assert np.array_equal(first, np.arange(100_000))
        assert np.array_equal(found.number(values[::-1].copy(), -values[::-1]), first[::-1])
