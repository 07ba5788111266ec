r"""What text of files may do to a screen: nothing. It is shown, cut to a length, and masked.

A column name, an identifier, a file name or a manifest can hold characters that move the cursor,
change colours, turn the direction of writing or show nothing. `visible` writes them out, as
``\u001b``; everything that is printed, and every page that is made, goes through it. The form is
that of JSON, so that a document of ``--json`` stays one and means the same.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["MOST", "mask", "masked", "shortened", "visible", "visible_in"]


MOST = 2_000
"""A message has about so many letters at most."""
_HIDDEN = (
    "\x00-\x1f\x7f-\x9f"  # control characters: C0, DEL, C1
    "\xad\u061c\u180e"  # soft hyphen, Arabic letter mark, a vowel separator that shows nothing
    "\u200b-\u200f\u2028-\u202e"  # zero width, directions; line and paragraph separators
    "\u2060-\u206f\ufeff\ufff9-\ufffb"  # joiners, isolates; byte order mark; annotations
    "\ud800-\udfff"  # bytes of a file name that are no text
    "\U000e0000-\U000e007f"  # tags, which show nothing
)
_ANY = re.compile(f"[{_HIDDEN}]")
_BUT_LINES = re.compile(rf"(?![\n\t])[{_HIDDEN}]")
_BMP = 0xFFFF
SHORT = 4
"""Letters from which a value is masked within words as well."""
_PARTS = re.compile(r", (?=[a-z_]+=)")
"""What stands between the values of several columns."""


def visible(text: str, *, lines: bool = False) -> str:
    r"""Return text in which every character that could do something to a screen is written out.

    Parameters
    ----------
    text
        What is to be shown.
    lines
        Whether it may have several lines, and tabs; otherwise these are written out as well.

    Examples
    --------
    >>> from incrowd._visible import visible
    >>> print(visible("calls\x1b[2J\u202egnp.csv"))
    calls\u001b[2J\u202egnp.csv
    >>> print(visible("one\ntwo"))
    one\u000atwo
    """
    return (_BUT_LINES if lines else _ANY).sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code <= _BMP:
        return f"\\u{code:04x}"
    code -= _BMP + 1
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def visible_in(value: Any) -> Any:
    """Return plain values with all of their texts visible, names included."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible_in(name): visible_in(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [visible_in(part) for part in value]
    return value


def shortened(text: str, most: int = MOST) -> str:
    """Return text of a limited length: its begin and its end, where it is longer.

    Examples
    --------
    >>> from incrowd._visible import shortened
    >>> shortened("a" * 30 + ": no time", most=20)
    'aaaaaaaaaaaaa ... o time'
    """
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - 1]} ... {text[len(text) - end :].lstrip()}"


def mask(value: str) -> str:
    """Return what is shown of a value of the input: its first letter, and how long it is.

    What stands before an equals sign is the role of a column, and stays.

    Examples
    --------
    >>> from incrowd._visible import mask
    >>> mask("0771234567"), mask("'0771234567'")
    ("'0...' (10 characters)", "'0...' (10 characters)")
    >>> mask("lon=7, lat=914.7")
    "lon='...' (1 character), lat='9...' (5 characters)"
    """
    if len(parts := _PARTS.split(value)) > 1:
        return ", ".join(map(mask, parts))
    role, equals, rest = value.partition("=")
    if not (equals and role.isidentifier()):
        role, equals, rest = "", "", value
    quote = rest[:1]
    if len(rest) > 1 and quote in "'\"" and rest.endswith(quote):
        rest = rest[1:-1]
    if not rest:
        return value
    letters = "character" if len(rest) == 1 else "characters"
    return f"{role}{equals}'{rest[0] if len(rest) > 1 else ''}...' ({len(rest):,} {letters})"


def masked(text: str, values: Iterable[str]) -> str:
    """Return text in which values of the input are masked wherever they stand."""
    found = sorted({value for value in values if value}, key=len, reverse=True)
    if not found:
        return text
    # All at once: what stands for a value is not masked once more.
    return re.sub("|".join(map(_anywhere, found)), lambda one: mask(one[0]), text)


def _anywhere(value: str) -> str:
    """Return a pattern that finds a value; a short one as a word: c2 is not masked in c29."""
    found = re.escape(value)
    if len(value) < SHORT:
        found = rf"(?<!\w){found}" if value[0].isalnum() else found
        found = rf"{found}(?!\w)" if value[-1].isalnum() else found
    return found
