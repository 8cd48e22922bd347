"""Groups that share some of their items (origin, destination, time), counted together."""

from __future__ import annotations

from itertools import combinations

from tripcloak.audit.matrix.case import MatrixCase


def count_shared(case: MatrixCase, known_items: int) -> None:
    """Make ``shared``: trips, travellers and population of all groups that share any so many items."""
    sharing = " union all ".join(
        f"select number, {n} as items, {', '.join(_kept(case, known))} from groups"
        for n, known in enumerate(combinations(case.axes, known_items))
    )
    case.con.execute(
        f"""create or replace temp table sharing as select number,
        dense_rank() over (order by items, {", ".join(case.axes)}) as share from ({sharing})"""
    )
    population = "null" if case.matrix.flows.population is None else "population"
    case.con.execute(
        f"""create or replace temp table shared_volumes as
        select share, sum(trips)::bigint as trips, fsum({population}::double) as population
        from flows join sharing using (number) group by share"""
    )
    case.con.execute(
        f"""create or replace temp table shared as
        select share, coalesce(volumes.trips, 0) as trips, population, {_travellers(case)} as travellers
        from (select distinct share from sharing)
        left join shared_volumes volumes using (share) left join shared_people people using (share)"""
    )


def _kept(case: MatrixCase, known: tuple[str, ...]) -> list[str]:
    return [f"{axis if axis in known else 'null'} as {axis}" for axis in case.axes]


def _travellers(case: MatrixCase) -> str:
    """Return SQL for the number of travellers, after counting them where people are told apart."""
    case.con.execute("create or replace temp table shared_people (share bigint, travellers bigint)")
    if case.matrix.flows.travellers is None:
        return "volumes.trips" if case.matrix.each_trip_is_a_person else "null::bigint"
    for turn, turns in case.passes():
        case.con.register("presence", case.presence())
        case.con.execute(
            f"""insert into shared_people select share, count(*) from (
                select distinct share, person from presence join sharing using (number)
                where share % {turns} = {turn}
            ) group by share"""
        )
        case.con.unregister("presence")
    return "coalesce(people.travellers, 0)"
