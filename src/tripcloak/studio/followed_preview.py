"""What a choice of settings costs on a few trajectories, for the process behind previews."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tripcloak.studio.settings import READING_GROUPS

if TYPE_CHECKING:
    from tripcloak.trajectories.model import Trajectories

PEOPLE = 100
"""People that a preview looks at: methods compare everybody with everybody."""


@dataclass
class Followed:
    """A few people's trajectories, read and kept with what they were read for."""

    key: str
    trajectories: Trajectories


def few_people(path: str, settings: Mapping[str, Any], kept: list[Any]) -> Followed:
    """Return a few people of an input: those that were kept, or else read now."""
    from tripcloak.ground.options import values_of
    from tripcloak.trajectories.keywords import keywords, trajectory_source
    from tripcloak.trajectories.reading import read_trajectories

    asked = keywords("anonymise")
    reading = {one.name for one in asked if one.group in READING_GROUPS or one.name == "memory"}
    chosen = {name: value for name, value in settings.items() if name in reading}
    few = min(PEOPLE, int(chosen.get("sample_users") or PEOPLE))
    key = json.dumps([path, {**chosen, "sample_users": few}], sort_keys=True)
    if not (kept and kept[0].key == key):
        kept.clear()
        given = values_of(asked, {**chosen, "sample_users": few})
        source = trajectory_source([path], given)
        kept.append(Followed(key, read_trajectories(source, memory=given["memory"]).trajectories))
    found: Followed = kept[0]
    return found


def cost_to_people(trajectories: Trajectories, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return how far samples are moved with these settings, and how many of them are withheld."""
    from tripcloak.ground.options import values_of
    from tripcloak.trajectories.keywords import keywords, trajectory_method
    from tripcloak.trajectories.measures.accuracy import sample_errors

    release = trajectory_method(values_of(keywords("anonymise"), settings)).anonymise(trajectories)
    errors = sample_errors(trajectories, release)
    return {
        "people": trajectories.n_users,
        "trajectories": release.n_released,
        "samples": release.n_boxes,
        "km": errors.spatial_km.mean,
        "minutes": errors.time_minutes.mean,
        "deleted": errors.deleted,
    }
