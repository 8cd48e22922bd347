"""Machines that are this very process, to which everything is sent all the same: pickled there and back."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


def sent(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


@dataclass(frozen=True)
class Sending:
    """What is asked of a cluster, done here; ``jobs`` says how many things each job had."""

    jobs: list[int] = field(default_factory=list)

    def spread(self, tasks: Sequence[Any], function: Callable[..., Iterator[Any]], plan: Any) -> SentThere:
        things = [sent(one) for task in tasks for one in sent(function)(sent(plan), iter([sent(task)]))]
        return SentThere(self, things)

    def each_apart(self, pieces: Iterable[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        held = [sent(piece) for piece in pieces]
        self.jobs.append(len(held))
        yield from (sent(sent(work)(piece)) for piece in held)


@dataclass(frozen=True)
class SentThere:
    """Things that wait."""

    cluster: Sending
    things: list[Any]

    def asked(self, function: Callable[..., Iterator[Any]], plan: Any) -> list[Any]:
        self.cluster.jobs.append(len(self.things))
        return [sent(one) for one in sent(function)(sent(plan), iter(self.things))]

    def let_go(self) -> None:
        self.things.clear()
