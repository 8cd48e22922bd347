"""A made-up method on flows, as a file that could stand among the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tripcloak.flows.methods.oigh import OIGH
from tripcloak.ground.options import option

ABOUT_MANNER: dict[str, Any] = {
    "help": "How it goes round.",
    "metavar": "MANNER",
    "values": ("calm", "brisk"),
}


@dataclass(frozen=True, kw_only=True)
class Roundabout(OIGH):
    """OIGH with options that it does not heed."""

    name: ClassVar[str] = "roundabout"
    summary: ClassVar[str] = "goes round"
    source: ClassVar[str] = "made up"

    manner: str = option("calm", **ABOUT_MANNER)
    rounds: int = option(2, help="Times it goes round.", metavar="N", least=1)
    patience: float | None = option(
        None, help="When it gives up.", unset="never", metavar="TIME", reads="duration"
    )
