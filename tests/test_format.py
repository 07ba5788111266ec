import math

import pytest

from incrowd._format import QUANTILES, count_of, length, percent, rounded_percent


class TestPercent:
    @pytest.mark.parametrize("missing", [None, math.nan])
    def test_of_nothing_is_a_dash_or_what_is_asked_for(self, missing):
        assert percent(missing) == "-"
        assert percent(missing, missing="") == ""

    @pytest.mark.parametrize(
        ("share", "digits", "text"),
        [(0, 1, "0.0%"), (1, 0, "100%"), (0.12345, 2, "12.35%"), (0.005, 0, "0%")],
    )
    def test_digits(self, share, digits, text):
        assert percent(share, digits) == text
        assert percent(share, digits, sign=False) == text.rstrip("%")


class TestRoundedPercent:
    @pytest.mark.parametrize(
        ("share", "text"),
        [
            (None, "0%"),
            (1e-9, "less than 0.1%"),
            (0.001, "0.1%"),
            (0.0999, "10%"),
            (0.5, "50%"),
            (0.991, "99.1%"),
            (0.9995, "more than 99.9%"),
            (1, "100%"),
        ],
    )
    def test_some_are_never_none_and_most_never_all(self, share, text):
        assert rounded_percent(share) == text


def test_counts():
    assert count_of(0, 9) == "none of 9"
    assert count_of(1200, 4800) == "1,200 of 4,800 (25.0%)"


@pytest.mark.parametrize(
    ("metres", "digits", "text"),
    [(0, 3, "0 m"), (999.4, 3, "999 m"), (1000, 3, "1 km"), (12345, 2, "12 km")],
)
def test_lengths(metres, digits, text):
    assert length(metres, digits) == text


def test_heads_of_quantiles_differ():
    assert len(set(QUANTILES.values())) == len(QUANTILES)
