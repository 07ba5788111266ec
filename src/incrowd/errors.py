"""All errors and warnings.

::

    IncrowdError
    ├── ArgumentError          an argument or option is invalid, whatever the data
    ├── InputError             the data cannot be used
    │   ├── UnreadableError    a file is missing, not permitted, truncated, or of another format
    │   ├── ColumnError        a column is missing, duplicated, or of an unusable type
    │   ├── RowError           too many rows cannot be used (or one, if none may be bad)
    │   └── PlaceError         the positions cannot be projected without distortion
    ├── OutputError            the output could not be written; nothing incomplete was left behind
    ├── VerificationError      a release does not keep its promises; it was not published
    └── LossError              a release has lost more than was allowed; it was not published

    IncrowdWarning
    ├── DataWarning            the data looks odd; the result may be misleading
    ├── PrivacyWarning         people may be exposed; nothing in incrowd ever silences this one
    │   └── SamePersonWarning  several identifiers may be one person, so that crowds are too small
    └── IncrowdDeprecationWarning    an old name; the text says what to write instead

An error's text says what is wrong, where, and what would be right. The command line prints it as
one message; its exit status is 4 for an `InputError`, 1 for a `VerificationError` or a `LossError`,
2 for others.
For programs an error has a `code` (that of its class, like ``"column"``) and, where they are known,
a `hint`, a `file` and a `line`.
"""

import os
import warnings
from collections.abc import Iterable
from typing import Any, ClassVar

from incrowd._visible import masked, shortened, visible

__all__ = [
    "ArgumentError",
    "ColumnError",
    "DataWarning",
    "IncrowdDeprecationWarning",
    "IncrowdError",
    "IncrowdWarning",
    "InputError",
    "LossError",
    "OutputError",
    "PlaceError",
    "PrivacyWarning",
    "RowError",
    "SamePersonWarning",
    "UnreadableError",
    "VerificationError",
]


class IncrowdError(Exception):
    """The base class of all errors that incrowd raises on purpose.

    Attributes
    ----------
    code
        What kind of error it is, in one word that does not change.
    hint
        What to do about it, if that is known.
    file, line
        Where it is, if it is in a file.
    values
        Values of the input that its text quotes. `masked` gives the text without them.

    Its text has a limited length, and no character in it does anything to a terminal.

    Examples
    --------
    >>> from incrowd.errors import RowError
    >>> error = RowError("calls.csv, line 7: no time", file="calls.csv", line=7)
    >>> error.code, error.file, error.line
    ('row', 'calls.csv', 7)
    """

    _code: ClassVar[str] = "error"

    def __init__(
        self,
        *arguments: Any,
        code: str | None = None,
        hint: str | None = None,
        file: str | os.PathLike[str] | None = None,
        line: int | None = None,
        values: Iterable[str] = (),
    ) -> None:
        super().__init__(*arguments)
        self.values = tuple(values)
        self.code = code or self._code
        self.hint = hint
        self.file = None if file is None else os.fspath(file)
        self.line = line

    def __str__(self) -> str:
        return shortened(visible(super().__str__(), lines=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def masked(self) -> str:
        """Return the text with the values of the input masked that it, or its cause, quotes.

        Examples
        --------
        >>> from incrowd.errors import RowError
        >>> RowError("line 7: no time: 0771234567", values=["0771234567"]).masked()
        "line 7: no time: '0...' (10 characters)"
        """
        values: list[str] = []
        error: BaseException | None = self
        while error is not None:
            values += getattr(error, "values", ())
            error = error.__cause__ or error.__context__
        return shortened(visible(masked(super().__str__(), values), lines=True))


class ArgumentError(IncrowdError, ValueError):
    """An argument or option is invalid, whatever the data."""

    _code = "argument"


class InputError(IncrowdError, ValueError):
    """The data cannot be used."""

    _code = "input"


class UnreadableError(InputError):
    """A file is missing, not permitted, truncated, or of another format than its name says."""

    _code = "unreadable"


class ColumnError(InputError):
    """A column is missing, duplicated, or of a type that cannot be used."""

    _code = "column"


class RowError(InputError):
    """More rows than allowed cannot be used (one is enough if none may be bad)."""

    _code = "row"


class PlaceError(InputError):
    """The positions cannot be projected without a distortion that would mislead."""

    _code = "place"


class OutputError(IncrowdError, OSError):
    """The output could not be written; nothing incomplete was left under its name."""

    _code = "output"


class VerificationError(IncrowdError):
    """A release does not keep its promises, and was not published.

    Attributes
    ----------
    verification
        The result of each check: an `incrowd.Verification`.
    """

    _code = "verification"

    def __init__(self, text: str, verification: Any, **about: Any) -> None:
        super().__init__(text, **about)
        self.verification = verification


class LossError(IncrowdError):
    """A release has lost a larger share of the people or samples than allowed; not published."""

    _code = "loss"


class IncrowdWarning(UserWarning):
    """The base class of all warnings of incrowd."""


class DataWarning(IncrowdWarning):
    """The data looks odd; the result may be misleading."""


class PrivacyWarning(IncrowdWarning):
    """People may be exposed. Nothing in incrowd ever silences this warning.

    It is shown each time, and not once for each line as others are; filters of your own come first.
    """


class SamePersonWarning(PrivacyWarning):
    """Several identifiers may be one person, who is then hidden in a crowd with herself."""


warnings.filterwarnings("always", category=PrivacyWarning, append=True)


class IncrowdDeprecationWarning(IncrowdWarning, DeprecationWarning):
    """A name that goes on working for now; the text says what to write instead."""
