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
from typing import Any, ClassVar

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
    ) -> None:
        super().__init__(*arguments)
        self.code = code or self._code
        self.hint = hint
        self.file = None if file is None else os.fspath(file)
        self.line = line


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
