"""Errors: what went wrong, whose turn it is, and the exit code that says so.

Messages are read by people who may not see the data, so they never carry a person's id, a raw
coordinate or an unreleased number.
"""

from __future__ import annotations


class TripcloakError(Exception):
    """Base of every error this package raises on purpose."""

    __module__ = "tripcloak"

    exit_code = 3


class InputError(TripcloakError):
    """The file, the columns or the options are wrong: the caller can mend it (exit code 2)."""

    __module__ = "tripcloak"

    exit_code = 2


class MissingFileError(InputError):
    """A file or a folder that was named is not there."""

    __module__ = "tripcloak"


class UnreadableFileError(InputError):
    """A file is damaged, empty, closed, too large or of a kind that is not read."""

    __module__ = "tripcloak"


class MissingColumnError(InputError):
    """A needed column was not found; the message lists what was found and the flag that names it."""

    __module__ = "tripcloak"


class EmptyInputError(InputError):
    """No usable record is left; the message says what was dropped and why."""

    __module__ = "tripcloak"


class MissingExtraError(InputError, ImportError):
    """A library is needed that is no part of the bare installation; the message says how to get it."""

    __module__ = "tripcloak"


class HierarchyError(InputError):
    """A tree that is not one: a cycle, a second root, an unknown parent."""

    __module__ = "tripcloak"


class CutError(InputError):
    """Zones that do not cover every tile exactly once."""

    __module__ = "tripcloak"


class OutputExistsError(InputError):
    """The output folder already holds a release and may not be replaced."""

    __module__ = "tripcloak"


class ImpossibleRequestError(TripcloakError):
    """The answer is no: the request cannot be met on this data; the message says what can (exit code 1)."""

    __module__ = "tripcloak"

    exit_code = 1


class TooFewError(ImpossibleRequestError):
    """Even all flows together, in one group, would not be safe; ``needs`` says what a group must hold."""

    __module__ = "tripcloak"

    def __init__(self, message: str, needs: str) -> None:
        super().__init__(message)
        self.needs = needs


class AuditFailedError(TripcloakError):
    """An audit found a rule broken (exit code 1)."""

    __module__ = "tripcloak"

    exit_code = 1


class InternalError(TripcloakError):
    """Our own bug: an invariant does not hold, and nothing was released (exit code 3)."""

    __module__ = "tripcloak"
