"""A made-up method on trajectories, as a file that could stand among the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tripcloak.ground.options import option
from tripcloak.trajectories.methods.kscale import KScale

ABOUT_MANNER: dict[str, Any] = {
    "help": "How it goes round.",
    "metavar": "MANNER",
    "values": ("calm", "brisk"),
}


@dataclass(frozen=True, kw_only=True)
class Carousel(KScale):
    """k-scale with options that it does not heed."""

    name: ClassVar[str] = "carousel"
    summary: ClassVar[str] = "goes round and round"
    source: ClassVar[str] = "made up"

    manner: str = option("calm", **ABOUT_MANNER)
    rounds: int = option(2, help="Times it goes round.", metavar="N", least=1)
    patience: float | None = option(
        None, help="When it gives up.", unset="never", metavar="TIME", reads="duration"
    )
