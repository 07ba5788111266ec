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
    └── VerificationError      a release does not keep its promises; it was not published

    IncrowdWarning
    ├── DataWarning            the data looks odd; the result may be misleading
    ├── PrivacyWarning         people may be exposed; nothing in incrowd ever silences this one
    └── IncrowdDeprecationWarning    an old name; the text says what to write instead

An error's text says what is wrong, where, and what would be right. The command line prints it as
one message; its exit status is 4 for an `InputError`, 1 for a `VerificationError`, 2 for others.
"""

from typing import Any

__all__ = [
    "ArgumentError",
    "ColumnError",
    "DataWarning",
    "IncrowdDeprecationWarning",
    "IncrowdError",
    "IncrowdWarning",
    "InputError",
    "OutputError",
    "PlaceError",
    "PrivacyWarning",
    "RowError",
    "UnreadableError",
    "VerificationError",
]


class IncrowdError(Exception):
    """The base class of all errors that incrowd raises on purpose."""


class ArgumentError(IncrowdError, ValueError):
    """An argument or option is invalid, whatever the data."""


class InputError(IncrowdError, ValueError):
    """The data cannot be used."""


class UnreadableError(InputError):
    """A file is missing, not permitted, truncated, or of another format than its name says."""


class ColumnError(InputError):
    """A column is missing, duplicated, or of a type that cannot be used."""


class RowError(InputError):
    """More rows than allowed cannot be used (one is enough if none may be bad)."""


class PlaceError(InputError):
    """The positions cannot be projected without a distortion that would mislead."""


class OutputError(IncrowdError, OSError):
    """The output could not be written; nothing incomplete was left under its name."""


class VerificationError(IncrowdError):
    """A release does not keep its promises, and was not published.

    Attributes
    ----------
    verification
        The result of each check: an `incrowd.Verification`.
    """

    def __init__(self, text: str, verification: Any) -> None:
        super().__init__(text)
        self.verification = verification


class IncrowdWarning(UserWarning):
    """The base class of all warnings of incrowd."""


class DataWarning(IncrowdWarning):
    """The data looks odd; the result may be misleading."""


class PrivacyWarning(IncrowdWarning):
    """People may be exposed. Nothing in incrowd ever silences this warning."""


class IncrowdDeprecationWarning(IncrowdWarning, DeprecationWarning):
    """A name that goes on working for now; the text says what to write instead."""
