"""Extras: libraries that only one feature needs, and what to type where one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tripcloak.ground.errors import MissingExtraError


@contextmanager
def needing(extra: str, what: str, instead: str = "") -> Iterator[None]:
    """Turn the error of an import that an extra would bring into one that says what to install.

    Parameters
    ----------
    extra
        The extra of this package that brings what is imported within.
    what
        What cannot be done without it, in the words of the sentence "... needs".
    instead
        What else one may do.

    Raises
    ------
    MissingExtraError
        Something that is imported within is not installed.

    Examples
    --------
    >>> with needing("signing", "signing a verdict"):
    ...     import a_library_that_nobody_has
    Traceback (most recent call last):
    tripcloak.MissingExtraError: signing a verdict needs a_library_that_nobody_has, which is not ...
    """
    try:
        yield
    except ImportError as error:
        missing = (error.name or "a library").partition(".")[0]
        told = f"{what} needs {missing}, which is not installed: pip install 'tripcloak[{extra}]'"
        raise MissingExtraError(f"{told}, or {instead}" if instead else told) from None
