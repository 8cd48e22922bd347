"""Units of privacy: what two inputs differ in that nobody may tell apart, and what it changes."""

from __future__ import annotations

from typing import NamedTuple


class UnitOfPrivacy(NamedTuple):
    """What is hidden: a user, an event, w slots or l visits in a row, or an element.

    A user is left out altogether; of all others something else is put in its place, which changes numbers
    twice: where it was, and where it is.

    Examples
    --------
    >>> UnitOfPrivacy("user").of_visits(12), UnitOfPrivacy("event").of_visits(12)
    (12, 2)
    >>> UnitOfPrivacy("w-event", 3).of_visits(12), UnitOfPrivacy("w-event", 30).of_visits(12)
    (6, 24)
    """

    name: str
    window: int | None = None

    def touched(self, most: int) -> int:
        """Return how many of a person's visits may be other ones, where at most so many are counted.

        There is one visit a slot, so w slots hold w of them at most; to one place all of them may lead.
        """
        if self.name in ("user", "element"):
            return most
        return min(1 if self.window is None else self.window, most)

    @property
    def times(self) -> int:
        """Return how often numbers change by it: once where it is left out, twice where it is replaced."""
        return 1 if self.name == "user" else 2

    def of_visits(self, most: int) -> int:
        """Return by how much it changes numbers of visits, added up, where at most so many are counted."""
        return self.times * self.touched(most)

    def of_moves(self, most: int) -> int:
        """Return the same of numbers of moves from one visit to the next: one fewer than there are visits.

        >>> UnitOfPrivacy("user").of_moves(4), UnitOfPrivacy("event").of_moves(4)
        (3, 4)
        """
        # Noise of no extent is none; of single visits there are no moves to hide.
        return self.times * max(1, min(self.touched(most) + 1, most - 1))

    def of_paths(self) -> int:
        """Return the same of numbers of people by the path they took, of one length.

        Everybody is on one path of a length. Whatever is changed of it, the person is on another one from
        there on: in a tree of paths an event costs as much as a user who is replaced.
        """
        return self.times
