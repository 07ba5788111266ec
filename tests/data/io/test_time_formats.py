"""Formats of times are guessed from values, and all that fit are told."""

import polars as pl
import pytest

import incrowd
from incrowd.data._io.time_formats import guess_time_formats, time_format_hint


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["18/03/2024 00:00:15"], ["%d/%m/%Y %H:%M:%S"]),
        (["03/18/2024 00:00:15"], ["%m/%d/%Y %H:%M:%S"]),
        (["03/04/2024 00:00", "18/04/2024 10:00"], ["%d/%m/%Y %H:%M"]),
        (["18.03.24 07:30"], ["%d.%m.%y %H:%M"]),
        (["99/03/18 07:30"], ["%y/%m/%d %H:%M"]),
        (["3/18/2024 1:05:09 PM"], ["%m/%d/%Y %I:%M:%S %p"]),
        (["18-Mar-2024 01:02:03.123"], ["%d-%b-%Y %H:%M:%S.%f"]),
        (["18 March 2024 01:02"], ["%d %B %Y %H:%M"]),
        (["18/03/2024 00:00:15+01:00"], ["%d/%m/%Y %H:%M:%S%z"]),
        (["18/03/2024 00:00:15 UTC"], ["%d/%m/%Y %H:%M:%S %Z"]),
        (["20240318000015"], ["%Y%m%d%H%M%S"]),
        (["20240318"], ["%Y%m%d"]),
        (["18/03/2024"], ["%d/%m/%Y"]),
        (["2024-03-18 00:00:15"], []),
        (["2024-03-18T00:00:15Z"], []),
        (["2024-03-18 00:00:15+01:00"], []),
        (["1710720015"], []),
        (["1710720015000"], []),
        (["yesterday"], []),
        (["18/03/2024 00:00:15", "never"], []),
        (["99/99/2024 00:00"], []),
        (["", "  "], []),
        ([], []),
    ],
)
def test_the_formats_that_fit_all_values(values: list[str], expected: list[str]) -> None:
    assert [guess.format for guess in guess_time_formats(values)] == expected


def test_day_and_month_that_cannot_be_told_apart_are_both_given_the_likelier_first() -> None:
    days = [f"{day:02}/03/2024 08:00" for day in range(1, 13)]
    guesses = guess_time_formats(days)
    assert [guess.format for guess in guesses] == ["%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"]
    assert [guess.day_first for guess in guesses] == [True, False]
    assert guesses[0].last == "2024-03-12T08:00:00"
    months_first = [f"03/{day:02}/2024 08:00" for day in range(1, 13)]
    assert guess_time_formats(months_first)[0].format == "%m/%d/%Y %H:%M"


def test_three_examples_say_how_values_would_be_read() -> None:
    guess = guess_time_formats([f"{day}.12.2023 08:00" for day in (13, 14, 15, 16)])[0]
    assert guess.examples[0] == ("13.12.2023 08:00", "2023-12-13T08:00:00")
    assert len(guess.examples) == 3


def test_what_is_guessed_is_what_the_reader_takes() -> None:
    text = "18-Mar-2024 01:02:03.5"
    table = pl.DataFrame({"user": ["a"], "time": [text], "lat": [48.8], "lon": [2.3]})
    data = incrowd.read(table, time_format=guess_time_formats([text])[0].format, tz="UTC")
    assert data.samples == 1


def test_the_hint_names_both_where_both_fit() -> None:
    assert time_format_hint(["2024-03-18"]) is None
    hint = time_format_hint(["03/04/2024 07:30"])
    assert hint is not None
    assert "'%d/%m/%Y %H:%M' or '%m/%d/%Y %H:%M'" in hint


class TestBadValues:
    DAYS = tuple(f"{day:02}/03/2024 07:30" for day in range(1, 13))

    def test_a_few_need_not_fit(self):
        values = [*(f"{day:02}/03/2024 07:30" for day in range(1, 32)), "00/00/0000 00:00"]
        assert guess_time_formats(values) == []
        [guess] = guess_time_formats(values, bad=0.05)
        assert guess.format == "%d/%m/%Y %H:%M"
        assert all(not text.startswith("00/00") for text, _ in guess.examples)
        [guess] = guess_time_formats(values[::-1], bad=0.05)
        assert guess.format == "%d/%m/%Y %H:%M"

    def test_a_day_that_is_no_month_is_no_bad_value(self):
        assert len(guess_time_formats(self.DAYS, bad=0.05)) == 2
        [guess] = guess_time_formats([*self.DAYS, *self.DAYS, "13/03/2024 07:30"], bad=0.2)
        assert guess.format == "%d/%m/%Y %H:%M"

    def test_iso_with_a_few_bad_ones_needs_no_format(self):
        values = [f"2024-03-{day:02} 07:30:00" for day in range(1, 31)]
        assert guess_time_formats([*values, "0000-00-00 00:00:00"], bad=0.05) == []
