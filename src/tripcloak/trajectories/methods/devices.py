"""Where the heavy work on trajectories is done: on processors, or on a GPU; the result is the same."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError, MissingExtraError
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.ground.threads import blocks, in_threads, processors
from tripcloak.trajectories.methods.kmerge import merge_sets, pair_costs
from tripcloak.trajectories.methods.partners import SparseCosts, sparse_costs
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import Boxes


class Chains(NamedTuple):
    """Who picked whom so far: the picks of one picker are chained from its last one.

    Attributes
    ----------
    last : array of int64
        By person, their latest pick; -1: none.
    before : array of int64
        By pick, the pick before it of the same picker; -1: none.
    picked : array of int64
        By pick, the person who was picked.
    samples, members : array of int64
        By person, how many samples, and how many people, they and those whom they picked are.
    """

    last: Any
    before: Any
    picked: Any
    samples: Any
    members: Any


class Device:
    """The machine's processors: compiled loops, in threads. Every other device does what this one does.

    Parameters
    ----------
    jobs
        Threads that work at a time; all there are if not given.
    """

    name: ClassVar[str] = "cpu"

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = processors(jobs)

    @property
    def arrays(self) -> Any:
        """Return the library that arrays on this device are of; those of :class:`Chains` are."""
        return np

    def fetch(self, array: Any) -> Any:
        """Return an array of this device as NumPy has it."""
        return array

    def sparse_costs(
        self,
        trajectories: Trajectories,
        *,
        neighbours: int,
        kept: int,
        by_total: bool = False,
        progress: Progress,
    ) -> SparseCosts:
        """Return the cheapest partners of everybody: see :func:`partners.sparse_costs`."""
        return sparse_costs(
            trajectories,
            neighbours=neighbours,
            kept=kept,
            by_total=by_total,
            jobs=self.jobs,
            progress=progress,
        )

    def pair_costs(self, trajectories: Trajectories, first: Ints, second: Ints) -> Floats:
        """Return the cost of merging each pair, a sample: see :func:`kmerge.pair_costs`."""
        return pair_costs(trajectories, first, second, jobs=self.jobs)

    def lay_out(self, trajectories: Trajectories, partners: Ints) -> None:
        """Get ready for questions on who is picked by which of their partners; here nothing is needed."""

    def costs_of_picking(self, trajectories: Trajectories, chains: Chains, pickers: Any, also: Any) -> Any:
        """Return what each picker's own samples cost, merged with all it picked and one more (-1: none)."""
        from tripcloak.trajectories.methods._kernels import kscale as _kernels

        made = trajectories
        fixed = made.t, made.x, made.y, made.offsets, chains.last, chains.before, chains.picked
        pickers, also = np.ascontiguousarray(pickers), np.ascontiguousarray(also)

        def of_block(block: slice) -> Floats:
            return _kernels.costs_of_picking(*fixed, pickers[block], also[block])

        return np.concatenate(list(in_threads(of_block, blocks(len(pickers), 512), self.jobs)))

    def least(self, keys: Any, rows: Any, many: int) -> Any:
        """Return the rows of the least keys of each line, least first, ties by row.

        Examples
        --------
        >>> Device().least(np.array([[2.0, 1.0, 2.0]]), np.array([[9, 5, 7]]), 2).tolist()
        [[5, 7]]
        """
        return np.take_along_axis(rows, np.lexsort((rows, keys), axis=1)[:, :many], axis=1)

    def merge_sets(
        self, trajectories: Trajectories, set_offsets: Ints, members: Ints
    ) -> tuple[Ints, Boxes, Ints, Floats]:
        """Return one generalised trajectory a set: see :func:`kmerge.merge_sets`."""
        return merge_sets(trajectories, set_offsets, members, jobs=self.jobs)


def find_device(name: str, jobs: int | None = None) -> Device:
    """Return the device of a name, or raise where it is not there; ``auto`` is a GPU if there is one.

    Examples
    --------
    >>> find_device("cpu", jobs=2).jobs
    2
    """
    if name == "cpu" or (name == "auto" and find_spec("cupy") is None):
        return Device(jobs)
    try:
        return _gpu(jobs)
    except InputError:
        if name == "gpu":
            raise
        return Device(jobs)


def _gpu(jobs: int | None) -> Device:
    """Return a GPU, or raise an error that says what is missing."""
    wanted = f"{spelt('device', 'gpu')} needs an NVIDIA GPU and CuPy"
    instead = f"or use {spelt('device', 'cpu')}, which gives the same release"
    if find_spec("cupy") is None:
        raise MissingExtraError(
            f"{wanted}, and CuPy is not installed; install it with: pip install 'tripcloak[gpu]', {instead}"
        )
    from tripcloak.trajectories.methods.gpu import Gpu, cuda_machine

    try:
        machine = cuda_machine()
    except RuntimeError as missing:
        raise InputError(
            f"{wanted}, and CuPy found none that it can use ({missing}); look at its driver, {instead}"
        ) from missing
    return Gpu(machine, jobs)
