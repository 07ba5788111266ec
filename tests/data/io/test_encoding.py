"""Codes for names against a dict; codes for positions lead back to the position."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.data._io import encoding
from incrowd.data._io.encoding import NameEncoder, PositionEncoder

few = st.text(alphabet="ab0", max_size=3)
name_batches = st.lists(st.lists(few | st.text(max_size=8), max_size=40), max_size=6)
coordinate = st.sampled_from([0.0, -0.0, 1.5, -1.5, 2.25]) | st.floats(-180, 180)
position_batches = st.lists(
    st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=30), min_size=1, max_size=5
)


def encoded(batch, known):
    """Number names in the order of their first appearance, one by one."""
    return [known.setdefault(name, len(known)) for name in batch]


def coordinates(found, codes):
    return [
        np.concatenate([side[part] for part in encoding.chunks(len(found))])[codes]
        for side in (found.east, found.north)
    ]


class TestNameEncoder:
    @given(batches=name_batches)
    def test_numbers_as_a_dict_does(self, batches):
        known, names = {}, NameEncoder()
        for batch in batches:
            assert names.encode(pa.array(batch, pa.string())).tolist() == encoded(batch, known)
        assert len(names) == len(known)
        assert names.names_from(0) == list(known)
        assert names.names_from(2) == list(known)[2:]

    @given(batches=name_batches)
    def test_numbers_runs_as_a_dict_does(self, batches):
        known, names = {}, NameEncoder()
        for batch in batches:
            runs = pa.DictionaryArray.from_arrays(
                pa.array(range(len(batch)), pa.int32()), pa.array(batch, pa.string())
            )
            assert names.encode(runs).tolist() == encoded(batch, known)

    def test_numbers_only_the_runs_that_are_left(self):
        runs = pa.DictionaryArray.from_arrays(
            pa.array([0, 0, 2, 2], pa.int32()), ["x", "gone", "y"]
        )
        names = NameEncoder()
        assert names.encode(runs).tolist() == [0, 0, 1, 1]
        assert names.names_from(0) == ["x", "y"]

    def test_gives_whole_numbers_only_if_all_are(self):
        for text, expected in ((["7", "12"], [7, 12]), (["7", "012"], ["7", "012"])):
            names = NameEncoder()
            names.encode(pa.array(text))
            assert names.names().to_list() == expected

    def test_grows_with_its_names(self):
        names, many = NameEncoder(), [f"name {i}" for i in range(200_000)]
        for start in range(0, len(many), 50_000):
            found = names.encode(pa.array(many[start : start + 50_000]))
            assert found.tolist() == list(range(start, start + 50_000))
        assert names.encode(pa.array(many[::-1])).tolist() == list(range(199_999, -1, -1))
        assert names.names().to_list() == many

    def test_takes_slices(self):
        assert NameEncoder().encode(pa.array(["a", "b", "c", "b"])[1:]).tolist() == [0, 1, 0]

    def test_knows_the_empty_name(self):
        assert NameEncoder().encode(pa.array(["", "a", ""])).tolist() == [0, 1, 0]


class TestPositionEncoder:
    @pytest.mark.parametrize("few", [0, 1000])
    @pytest.mark.parametrize("trial", [0, 20, 10**6])
    @given(batches=position_batches)
    def test_lead_back_to_the_position(self, few, trial, batches):
        found, codes = PositionEncoder(), []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(encoding, "MIN_POSITIONS", few)
            patch.setattr(encoding, "TRIAL", trial)
            for batch in batches:
                a, b = (np.array(side) for side in zip(*batch, strict=True))
                codes.append(found.encode(a, b))
        a, b = coordinates(found, np.concatenate(codes))
        assert [*zip(a, b, strict=True)] == [position for batch in batches for position in batch]

    def test_keep_a_position_that_comes_back_once(self, monkeypatch):
        monkeypatch.setattr(encoding, "MIN_POSITIONS", 0)
        found = PositionEncoder()
        for _ in range(3):
            found.encode(np.array([1.0, 2.0, 2.0, 1.0]), np.array([5.0, 6.0, 6.0, 5.0]))
        assert len(found) == 2

    def test_stop_looking_where_positions_never_come_back(self, monkeypatch):
        monkeypatch.setattr(encoding, "MIN_POSITIONS", 0)
        monkeypatch.setattr(encoding, "TRIAL", 100)
        found, values = PositionEncoder(), np.arange(500.0)
        found.encode(values, values)
        found.encode(values, values)
        assert len(found) == 1000
        assert np.array_equal(found.encode(values, values), np.arange(1000, 1500))

    def test_grow_beyond_the_first_table(self, monkeypatch):
        monkeypatch.setattr(encoding, "TRIAL", 10**9)
        found, values = PositionEncoder(), np.arange(100_000.0)
        first = found.encode(values, -values)
        assert np.array_equal(first, np.arange(100_000))
        assert np.array_equal(found.encode(values[::-1].copy(), -values[::-1]), first[::-1])
