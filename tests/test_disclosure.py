"""One rule: no count of one to nine people is told, nor what tells it by a subtraction."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd._disclosure import (
    LEAST,
    PARTS,
    agrees,
    fewer_than,
    is_few,
    least_for,
    losses_to_tell,
    most_of,
    says_few,
    tell,
)

COUNTS = st.integers(0, 25)


@st.composite
def losses(draw):
    """Draw losses whose parts add up."""
    parts = {name: draw(COUNTS) for name in PARTS}
    dropped = sum(parts.values())
    return {
        "people_dropped": dropped, **parts,
        "samples_dropped": dropped * draw(st.integers(1, 9)), "samples_suppressed": draw(COUNTS),
    }  # fmt: skip


def follow(told):
    """Give all counts of people that follow: those told, their sums and differences."""
    counts = {of for name, of in told.items() if name.startswith("people") and type(of) is int}
    more = {abs(a - b) for a, b in combinations(sorted(counts), 2)}
    return counts | more


class TestLosses:
    @given(losses(), st.integers(1, 30))
    def test_no_small_count_is_told_or_follows(self, lost, k):
        least = least_for(k)
        told = losses_to_tell(lost, least)
        hidden = {lost[name] for name in ("people_dropped", *PARTS) if is_few(lost[name], least)}
        assert not hidden & follow(told)
        assert told.keys() == lost.keys()
        assert told["samples_suppressed"] == lost["samples_suppressed"]

    @given(losses())
    def test_what_is_told_is_true(self, lost):
        for name, value in losses_to_tell(lost).items():
            if type(value) is int or says_few(value):
                assert agrees(value, lost[name])
                assert most_of(value) >= lost[name]

    @given(losses())
    def test_twice_is_once(self, lost):
        told = losses_to_tell(lost)
        assert losses_to_tell(told) == told

    @given(losses())
    def test_samples_of_few_are_not_told_and_of_many_are(self, lost):
        told = losses_to_tell(lost)["samples_dropped"]
        assert isinstance(told, str) == is_few(lost["people_dropped"])

    @pytest.mark.parametrize("part", [1, 9])
    def test_which_part_of_a_total_is_small_is_not_told(self, part):
        one, other = (
            losses_to_tell({"people_dropped": 40, PARTS[0]: a, PARTS[1]: b})
            for a, b in ((part, 40 - part), (40 - part, part))
        )
        assert one == other


class TestCounts:
    def test_edges(self):
        assert [tell(n) for n in (0, 1, LEAST - 1, LEAST)] == [0, *["fewer than 10"] * 2, 10]
        assert [least_for(k) for k in (None, 2, 10, 11, True, "5")] == [10, 10, 10, 11, 10, 10]

    @given(COUNTS, COUNTS)
    def test_a_told_value_is_true_of_what_it_hides_and_of_nothing_else(self, count, other):
        assert agrees(tell(count), other) == (count == other or (is_few(count) and is_few(other)))

    @pytest.mark.parametrize("value", ["fewer than 11", "fewer than 1000000", "few", None, 3.0])
    def test_other_values_are_true_of_nothing(self, value):
        assert not agrees(value, 3)

    def test_words(self):
        assert says_few(fewer_than())
        assert not says_few("fewer than ten")
        assert not says_few("fewer than 10\n")
