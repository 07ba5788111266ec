"""Characters that do something to a screen are written out; messages are cut, and mask values."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd._visible import MOST, mask, masked, shortened, visible, visible_in
from incrowd.errors import ArgumentError, OutputError, RowError

HOSTILE = (
    *map(chr, (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))),
    "\u200e", "\u200f", "\u061c", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u2028",
    "\u2029", "\xad", "\U000e0041",
)  # fmt: skip
"""Every character that is asked for by name; more are escaped."""


class TestVisible:
    @pytest.mark.parametrize("sign", HOSTILE, ids=lambda sign: f"{ord(sign):x}")
    def test_each_is_written_out_and_can_be_read_as_json(self, sign):
        shown = visible(f"a{sign}b")
        assert shown.isprintable()
        assert sign not in shown
        assert json.loads(f'"{shown}"') == f"a{sign}b"

    @given(st.text())
    def test_nothing_is_left_that_is_not_shown(self, text):
        shown = visible(text)
        kinds = {unicodedata.category(sign) for sign in shown}
        assert not kinds & {"Cc", "Cs", "Zl", "Zp"}
        assert not set(shown) & set(HOSTILE)

    @given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs"])))
    def test_letters_of_all_languages_stay(self, text):
        assert visible(text) == text

    def test_lines_stay_lines_if_they_may(self):
        assert visible("a\n\tb\r", lines=True) == "a\n\tb\\u000d"

    def test_in_names_and_values(self):
        assert visible_in({"a\x1b": ["\u202e", 1, None]}) == {"a\\u001b": ["\\u202e", 1, None]}


class TestShortened:
    @given(st.text(max_size=60), st.integers(10, 50))
    def test_is_no_longer_and_else_the_same(self, text, most):
        shown = shortened(text, most)
        assert len(shown) <= most + len(" ... ")
        assert shown == text or len(text) > most

    def test_keeps_what_is_said_after_a_long_value(self):
        assert shortened("'" + "x" * 10**6 + "' is no time").endswith("xxx' is no time")


class TestMask:
    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            ("0771234567", "'0...' (10 characters)"),
            ("'0771234567'", "'0...' (10 characters)"),
            ("7", "'...' (1 character)"),
            ("time=noon", "time='n...' (4 characters)"),
            ("lon=-17.4, lat=914.7", "lon='-...' (5 characters), lat='9...' (5 characters)"),
            ("user=", "user="),
            ("", ""),
        ],
    )
    def test_first_letter_and_length(self, value, shown):
        assert mask(value) == shown

    def test_a_short_value_is_a_word(self):
        assert masked("c2, c29 and c2", ["c2"]) == (
            "'c...' (2 characters), c29 and 'c...' (2 characters)"
        )

    @given(st.lists(st.text("abc0123'", min_size=5), max_size=4), st.text("xyz ", max_size=9))
    def test_no_value_is_left(self, values, text):
        told = masked(text.join(["", *values, ""]), values)
        assert not any(value in told for value in values)


class TestErrors:
    def test_a_text_does_nothing_to_a_screen_and_has_a_length(self):
        error = ArgumentError(f"no column {'x' * 10**6}\x1b[2J\u202e")
        assert str(error).endswith("xxx\\u001b[2J\\u202e")
        assert len(str(error)) < MOST + 10
        assert len(repr(error)) < MOST + 100
        assert str(OutputError("a\x07b")) == "a\\u0007b"

    def test_values_are_masked_through_causes(self):
        inner = RowError("line 7: 0771234567", values=["0771234567"])
        outer = ArgumentError(f"cannot do it: {inner}")
        outer.__cause__ = inner
        assert "0771234567" in str(outer)
        assert outer.masked() == "cannot do it: line 7: '0...' (10 characters)"
