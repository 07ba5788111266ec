"""The kernel of the fast lane: plain lines of text to columns of numbers, in one pass.

Each field is parsed up to the first byte that does not belong to it; that byte must be the one
that ends the field. What is not plain gives -1, and the lane gives way.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = ["parse_lines"]

_NEWLINE, _RETURN, _QUOTE, _SPACE, _MINUS, _DOT, _ASCII = 10, 13, 34, 32, 45, 46, 128
_ZERO, _NINE, _COLON, _T, _Z = 48, 57, 58, 84, 90
_USER, _TIME, _EAST, _NORTH, _PLACE = 1, 2, 3, 4, 5
_DIGITS = 15
"""Numbers of so many digits are exact as doubles, and so are the powers of ten up to there."""
_LONGEST = 1 << 20
_HALF_TURN, _QUARTER_TURN = 180.0, 90.0
_SECOND = 1_000_000

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]


@njit(cache=True, nogil=True, error_model="numpy")
def parse_lines(  # noqa: C901, PLR0911, PLR0912  one pass over the bytes
    text: Bytes,
    separator: int,
    roles: npt.NDArray[np.int8],
    degrees: bool,  # noqa: FBT001
    moment: npt.NDArray[np.int64],
    zoned: npt.NDArray[np.bool_],
    a: npt.NDArray[np.float64],
    b: npt.NDArray[np.float64],
    who: Ints,
    who_ends: Ints,
    who_text: Bytes,
    spot: Ints,
    spot_ends: Ints,
    spot_text: Bytes,
) -> int:
    """Parse whole lines.

    Parameters
    ----------
    text
        The bytes of the lines, the last of which is a newline.
    separator
        The byte between fields.
    roles
        What each field is: 1 user, 2 time, 3 east, 4 north, 5 place, 0 nothing of interest.
    degrees
        Whether positions are degrees, and to be checked as such.
    moment, zoned, a, b
        Microseconds since 1970, whether UTC was said, and the position; filled in.
    who, who_ends, who_text, spot, spot_ends, spot_text
        Users and places, as runs of equal neighbours; filled in.

    Returns
    -------
    int
        The number of rows; -1 if a line is not plain.
    """
    inside = np.ones(256, np.bool_)
    inside[0] = inside[_NEWLINE] = inside[_RETURN] = inside[_QUOTE] = False
    inside[separator] = False
    inside[_ASCII:] = False
    end, fields = len(text), len(roles)
    position = row = 0
    who_run = spot_run = -1
    while position < end:
        line = position
        for field in range(fields):
            role = roles[field]
            if role == _TIME:
                # A time and a byte behind it must be there before anything is looked at.
                if position + 20 > end:
                    return -1
                seconds = _seconds(text, position)
                if seconds < 0:
                    return -1
                position += 19
                zoned[row] = text[position] == _Z
                position += zoned[row]
                moment[row] = seconds * _SECOND
            elif role in (_EAST, _NORTH):
                number, position = _number(text, position)
                if position < 0:
                    return -1
                if role == _EAST:
                    a[row] = number
                else:
                    b[row] = number
            else:
                start = position
                while inside[text[position]]:
                    position += 1
                if role == _USER:
                    who_run = _name(text, start, position, who_ends, who_text, who_run)
                    who[row] = who_run
                elif role == _PLACE:
                    spot_run = _name(text, start, position, spot_ends, spot_text, spot_run)
                    spot[row] = spot_run
            if text[position] != (_NEWLINE if field == fields - 1 else separator):
                return -1
            position += 1
        if who_run < 0 or (spot_run < 0 and len(spot_text) > 0) or position - line > _LONGEST:
            return -1
        if degrees and (
            abs(a[row]) > _HALF_TURN or abs(b[row]) > _QUARTER_TURN or (a[row] == 0 and b[row] == 0)
        ):
            return -1
        row += 1
    return row


@njit(nogil=True, error_model="numpy", inline="always")
def _name(text: Bytes, start: int, stop: int, ends: Ints, names: Bytes, run: int) -> int:
    """Give the run to which a name belongs, a new one unless it is the last; -1 if not plain."""
    length = stop - start
    if length == 0 or text[start] == _SPACE or text[stop - 1] == _SPACE:
        return -1
    if run >= 0 and ends[run + 1] - ends[run] == length:
        same = True
        for i in range(length):
            if names[ends[run] + i] != text[start + i]:
                same = False
                break
        if same:
            return run
    first = ends[run + 1]
    for i in range(length):
        names[first + i] = text[start + i]
    ends[run + 2] = first + length
    return run + 1


@njit(nogil=True, error_model="numpy", inline="always")
def _number(text: Bytes, position: int) -> tuple[float, int]:
    """Give a decimal number and where it ends; -1 if it is not plain or has too many digits."""
    negative = text[position] == _MINUS
    position += negative
    value, start = 0, position
    while _ZERO <= text[position] <= _NINE:
        value = value * 10 + text[position] - _ZERO
        position += 1
    digits, scale = position - start, 1
    if digits > 0 and text[position] == _DOT:
        position += 1
        while _ZERO <= text[position] <= _NINE and digits <= _DIGITS:
            value = value * 10 + text[position] - _ZERO
            scale *= 10
            position += 1
            digits += 1
        if scale == 1:
            return 0.0, -1
    if digits == 0 or digits > _DIGITS:
        return 0.0, -1
    # Both numbers are exact, so that the one rounding of the division gives the nearest double.
    number = float(value) / float(scale)
    return -number if negative else number, position


@njit(nogil=True, error_model="numpy", inline="always")
def _seconds(text: Bytes, start: int) -> int:
    """Give the seconds since 1970 of 2012-03-05T07:31:00; -1 if it is not plain."""
    marks = text[start + 4] == _MINUS and text[start + 7] == _MINUS
    marks = marks and (text[start + 10] == _T or text[start + 10] == _SPACE)
    marks = marks and text[start + 13] == _COLON and text[start + 16] == _COLON
    century, year = _two(text, start), _two(text, start + 2)
    month, day = _two(text, start + 5), _two(text, start + 8)
    hour, minute = _two(text, start + 11), _two(text, start + 14)
    second = _two(text, start + 17)
    year = century * 100 + year if century > 0 and year >= 0 else -1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = 31 - (month in (4, 6, 9, 11))
    days = 28 + leap if month == 2 else days  # noqa: PLR2004
    dated = year >= 1970 and 1 <= month <= 12 and 1 <= day <= days  # noqa: PLR2004
    timed = 0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59  # noqa: PLR2004
    if not (marks and dated and timed):
        return -1
    # Days since 1970 with March as the first month, so that a leap day is the last of a year.
    late = month > 2  # noqa: PLR2004
    years = year if late else year - 1
    months = month - 3 if late else month + 9
    days = 365 * years + years // 4 - years // 100 + years // 400 + (153 * months + 2) // 5 + day
    return (days - 719_469) * 86_400 + hour * 3600 + minute * 60 + second


@njit(nogil=True, error_model="numpy", inline="always")
def _two(text: Bytes, start: int) -> int:
    """Give the number of two digits; below 0 if they are no digits."""
    tens, ones = int(text[start]) - _ZERO, int(text[start + 1]) - _ZERO
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else -1  # noqa: PLR2004
