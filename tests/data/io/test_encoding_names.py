"""The table of names against a dict."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.data._io import encoding
from incrowd.data._io.encoding import Codes, Table

few = st.text(alphabet="ab0", max_size=3)
batches = st.lists(st.lists(few | st.text(max_size=8), max_size=40), max_size=6)


def numbered(batch, known):
    """Number names in the order of their first appearance, plainly."""
    return [known.setdefault(name, len(known)) for name in batch]


class TestCodes:
    @pytest.mark.parametrize("few", [0, 10, 10**6])
    @given(batches=batches)
    def test_numbers_as_a_dict_does(self, few, batches):
        known, codes = {}, Codes()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(encoding, "_FEW", few)
            for batch in batches:
                found = codes.number(pa.array(batch, pa.string()))
                assert found.tolist() == numbered(batch, known)
        assert len(codes) == len(known)
        assert codes.since(0) == list(known)
        assert codes.since(2) == list(known)[2:]

    def test_numbers_only_the_runs_that_are_left(self):
        runs = pa.DictionaryArray.from_arrays(
            pa.array([0, 0, 2, 2], pa.int32()), ["x", "gone", "y"]
        )
        codes = Codes()
        assert codes.number(runs).tolist() == [0, 0, 1, 1]
        assert codes.since(0) == ["x", "y"]

    def test_gives_whole_numbers_only_if_all_are(self):
        for text, expected in ((["7", "12"], [7, 12]), (["7", "012"], ["7", "012"])):
            codes = Codes()
            codes.number(pa.array(text))
            assert codes.names().to_list() == expected


class TestTable:
    def test_grows_with_its_names(self):
        table, many = Table(), [f"name {i}" for i in range(200_000)]
        for start in range(0, len(many), 50_000):
            found = table.number(pa.array(many[start : start + 50_000]))
            assert found.tolist() == list(range(start, start + 50_000))
        assert table.number(pa.array(many[::-1])).tolist() == list(range(199_999, -1, -1))
        assert table.names().to_pylist() == many

    def test_takes_slices(self):
        table = Table()
        assert table.number(pa.array(["a", "b", "c", "b"])[1:]).tolist() == [0, 1, 0]

    def test_knows_the_empty_name(self):
        assert Table().number(pa.array(["", "a", ""])).tolist() == [0, 1, 0]
