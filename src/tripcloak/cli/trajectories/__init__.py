"""tripcloak trajectories: the commands on whole trajectories."""


def root() -> None:
    """Make whole trajectories safe to publish: who was where and when, each hidden among k.

    In goes a table of fixes, check-ins or calls: person, time, place.

    Out come generalised samples, boxes in space and time, under fresh pseudonyms.

    [bold]Examples[/bold]

      tripcloak trajectories describe calls.parquet

      tripcloak trajectories anonymise calls.parquet --method k-scale --k 5 --out out

      tripcloak trajectories audit out --against calls.parquet
    """
