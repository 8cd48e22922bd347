"""How far the destinations of every origin are from everybody's, in SQL."""

from __future__ import annotations

from tripcloak.audit.findings import TOLERANCE


def too_far_sql(flows: str, *, lineage: str, sizes: str, t: float) -> str:
    """Return SQL for the number of origin zones whose destinations differ too much from those of all.

    The difference is the total variation, over the destination zones that are released with the origin
    and the rest of the map. A destination zone has of all volume what was released as it or inside it,
    and an even share, by tiles, of what was released as a zone that holds it.

    Parameters
    ----------
    flows
        SQL for rows of origin, destination and volume.
    lineage
        A table (zone, above): every released destination zone with itself and those that hold it.
    sizes
        SQL for rows of zone and tiles, one for every released destination zone.
    t
        The largest difference that is allowed.
    """
    return f"""
        with flow as ({flows}), size as ({sizes}),
        exact as (select destination as zone, sum(volume)::double as volume from flow group by destination),
        strict as (select zone, above from {lineage} where zone <> above),
        inside as (
            select strict.above as zone, sum(volume) as volume
            from strict join exact on exact.zone = strict.zone group by strict.above
        ),
        spread as (
            select strict.zone, sum(volume * low.tiles / high.tiles) as volume
            from strict join exact on exact.zone = strict.above
            join size low on low.zone = strict.zone join size high on high.zone = strict.above
            group by strict.zone
        ),
        everybody as (
            select zone, exact.volume + coalesce(inside.volume, 0) + coalesce(spread.volume, 0) as volume
            from exact left join inside using (zone) left join spread using (zone)
        ),
        own as (
            select origin, destination as zone, volume / sum(volume) over (partition by origin) as share
            from flow
        )
        select count(*) from (
            select origin from own join everybody using (zone) group by origin
            having sum(greatest(share - volume / (select sum(volume) from exact), 0)) > {t + TOLERANCE!r}
        )
    """
