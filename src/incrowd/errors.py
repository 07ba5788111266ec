"""Everything that can go wrong, by name.

::

    IncrowdError
    ├── ArgumentError          what was asked for makes no sense
    ├── InputError             what was given cannot be used
    │   ├── UnreadableError    the file is missing, locked, truncated, or not of its kind
    │   ├── ColumnError        a column is missing, doubled, or of an unusable type
    │   ├── RowError           too many rows cannot be used (or one, when strict)
    │   └── PlaceError         the positions cannot be projected without distortion
    ├── OutputError            the output could not be written; nothing was left behind
    └── VerificationError      a release does not hold what it promises; it was not published

    IncrowdWarning
    ├── DataWarning            the data looks odd; the result may not mean what it seems to
    ├── PrivacyWarning         people may be exposed; nothing in incrowd ever silences this one
    └── IncrowdDeprecationWarning    an old name; the text says what to write instead

An error's text says what is wrong, where, and what would be right. The command line prints it
as one message and exits with status 2; with 1 if a release does not pass its verification.
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
    """The root of every error that incrowd raises on purpose."""


class ArgumentError(IncrowdError, ValueError):
    """What was asked for makes no sense, whatever the data."""


class InputError(IncrowdError, ValueError):
    """What was given cannot be used."""


class UnreadableError(InputError):
    """A file is missing, not permitted, truncated, or not of the kind that its name says."""


class ColumnError(InputError):
    """A column is missing, doubled, or of a type that cannot be used."""


class RowError(InputError):
    """More rows than allowed cannot be used (one is enough when reading strictly)."""


class PlaceError(InputError):
    """The positions cannot be projected, or not without a distortion that would mislead."""


class OutputError(IncrowdError, OSError):
    """The output could not be written; nothing was left under its name."""


class VerificationError(IncrowdError):
    """A release does not hold what it promises, and was not published.

    Attributes
    ----------
    verification
        What was found, check by check: an `incrowd.Verification`.
    """

    def __init__(self, text: str, verification: Any) -> None:
        super().__init__(text)
        self.verification = verification


class IncrowdWarning(UserWarning):
    """The root of every warning that incrowd gives."""


class DataWarning(IncrowdWarning):
    """The data looks odd; the result may not mean what it seems to."""


class PrivacyWarning(IncrowdWarning):
    """People may be exposed. Nothing in incrowd ever silences this warning."""


class IncrowdDeprecationWarning(IncrowdWarning, DeprecationWarning):
    """A name that goes on working for now; the text says what to write instead."""
