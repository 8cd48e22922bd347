"""What a GPU does, on a host: its loops against those of processors, bit by bit, in one block and in many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripcloak.ground.errors import InputError
from tripcloak.ground.progress import silent
from tripcloak.trajectories.methods import devices, gpu
from tripcloak.trajectories.methods.devices import Chains, Device, find_device
from tripcloak.trajectories.methods.glove import TrajectoryGlove
from tripcloak.trajectories.methods.kscale import KScale
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from worlds.host_gpu import host_gpu
from worlds.trajectories import made

Kind = Callable[[int], Trajectories]
PROCESSORS = Device(jobs=1)
PEOPLE = made(users=40, samples=10, seed=3, days=2, spread=20)

ROOMY, TIGHT = 1 << 26, 3000
"""Bytes of which all samples take a small part, and so few that they are sent block by block."""


def crowded(seed: int, users: int = 14) -> Trajectories:
    """Return people with few different times and places, so that samples share instants and costs tie."""
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), random.integers(1, 12, users))
    t, x, y = (random.integers(0, most, len(user)) for most in (9, 4, 4))
    _, first = np.unique(np.stack((user, t, x, y)), axis=1, return_index=True)
    return Trajectories.of(user=user[first], t=t[first], x=x[first], y=y[first], grid=Grid())


def waiting(seed: int, users: int = 14) -> Trajectories:
    """Return people with many samples in bursts at times of their own: others wait, and runs are long."""
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), random.integers(1, 70, users))
    begins = random.integers(0, 600, (users, 3))[user, random.integers(0, 3, len(user))]
    t, x, y = begins + random.integers(0, 99, len(user)), *random.integers(0, 50, (2, len(user)))
    _, first = np.unique(np.stack((user, t, x, y)), axis=1, return_index=True)
    return Trajectories.of(user=user[first], t=t[first], x=x[first], y=y[first], grid=Grid())


KINDS = st.sampled_from([crowded, waiting])


@pytest.fixture(params=["rings that do", "short rings"], autouse=True, scope="module")
def rings(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let each test be run with rings that do, and with ones that are too short."""
    with pytest.MonkeyPatch.context() as patched:
        if request.param == "short rings":
            for ring in ("PAIR_RING", "PICK_RING", "MERGE_RING"):
                patched.setattr(gpu, ring, 8)
            patched.setattr(gpu, "ALONE", 2)
        yield


@given(KINDS, st.integers(0, 2**32), st.booleans(), st.sampled_from([ROOMY, TIGHT]))
@settings(max_examples=8, deadline=None)
def test_the_same_partners_at_the_same_costs(kind: Kind, seed: int, by_total: bool, memory: int) -> None:
    people = kind(seed)
    asked = {"neighbours": 8, "kept": 5, "by_total": by_total, "progress": silent}
    expected = PROCESSORS.sparse_costs(people, **asked)
    found = host_gpu(memory).sparse_costs(people, **asked)
    assert found.partners.tolist() == expected.partners.tolist()
    assert found.costs.tolist() == expected.costs.tolist()
    assert found.facts()["candidates"] == expected.facts()["candidates"] == 14 * 8


@given(KINDS, st.integers(0, 2**32), st.sampled_from([ROOMY, TIGHT]))
@settings(max_examples=8, deadline=None)
def test_the_same_costs_of_pairs(kind: Kind, seed: int, memory: int) -> None:
    people = kind(seed)
    first, second = np.triu_indices(people.n_users, 1)
    expected = PROCESSORS.pair_costs(people, first, second)
    assert host_gpu(memory).pair_costs(people, first, second).tolist() == expected.tolist()


@given(KINDS, st.integers(0, 2**32), st.sampled_from([ROOMY, TIGHT]))
@settings(max_examples=8, deadline=None)
def test_the_same_costs_of_picking(kind: Kind, seed: int, memory: int) -> None:
    people = kind(seed)
    # The first picked the next five, one after the other; the eighth the ninth; the others nobody.
    last, before = np.full(14, -1), np.array([-1, 0, 1, 2, 3, -1])
    picked = np.array([1, 2, 3, 4, 5, 8])
    last[0], last[7] = 4, 5
    held = [people.lengths[[i, *picked[mine]]] for i, mine in ((0, slice(5)), (7, slice(5, 6)))]
    samples, members = people.lengths.copy(), np.ones(14, np.int64)
    samples[[0, 7]], members[[0, 7]] = [of.sum() for of in held], [6, 2]
    chains = Chains(last, before, picked, samples, members)
    pickers, also = np.repeat([0, 7, 13], 4), np.tile([-1, 10, 11, 12], 3)
    expected = PROCESSORS.costs_of_picking(people, chains, pickers, also)
    assert host_gpu(memory).costs_of_picking(people, chains, pickers, also).tolist() == expected.tolist()


@given(KINDS, st.integers(0, 2**32), st.sampled_from([ROOMY, TIGHT]), st.sampled_from([256, 3]))
@settings(max_examples=8, deadline=None)
def test_the_same_merges_whoever_does_the_large_ones(kind: Kind, seed: int, memory: int, crowd: int) -> None:
    people = kind(seed)
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 7, 9)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    members = np.concatenate([random.choice(14, size, replace=False) for size in sizes])
    expected = PROCESSORS.merge_sets(people, offsets, members)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gpu, "CROWD", crowd)
        found = host_gpu(memory).merge_sets(people, offsets, members)
    assert found[0].tolist() == expected[0].tolist()
    assert [side.tolist() for side in found[1]] == [side.tolist() for side in expected[1]]
    assert found[2].tolist() == expected[2].tolist()
    assert found[3].tolist() == expected[3].tolist()


def on(device: Device, method: KScale | TrajectoryGlove, patched: pytest.MonkeyPatch) -> TrajectoryRelease:
    """Return what a method makes where there is this device."""
    patched.setattr(devices, "_gpu", lambda jobs: device)
    return replace(method, device="gpu").anonymise(PEOPLE)


@pytest.mark.parametrize("memory", [ROOMY, 4 * TIGHT])
@pytest.mark.parametrize(
    "method",
    [
        KScale(k=2, constraint="nu-k-pick"),
        KScale(k=5, constraint="nu-k-pick", neighbours=25),
        KScale(k=3, constraint="nu-k-pick", picking="alone"),
        KScale(k=3, constraint="k-pick"),
        KScale(k=3),
        TrajectoryGlove(k=3),
    ],
    ids=lambda method: f"{method.name}-{getattr(method, 'constraint', '')}-{method.k}",
)
def test_a_release_is_the_same_on_every_device(
    method: KScale | TrajectoryGlove, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = replace(method, device="cpu").anonymise(PEOPLE)
    found = on(host_gpu(memory), method, monkeypatch)
    assert found.offsets.tolist() == expected.offsets.tolist()
    assert [side.tolist() for side in found.boxes] == [side.tolist() for side in expected.boxes]
    assert found.box_of.tolist() == expected.box_of.tolist()
    assert found.parameters == expected.parameters
    assert "device" not in found.parameters


def test_where_no_gpu_is_there_one_that_is_asked_for_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"install it with: pip install 'tripcloak\[gpu\]'.*device='cpu'"):
        find_device("gpu")
    assert find_device("auto").name == "cpu"


def test_a_gpu_that_cannot_be_used_is_told_and_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_device() -> None:
        raise RuntimeError("no CUDA device")

    monkeypatch.setattr(devices, "find_spec", lambda name: object())
    monkeypatch.setattr(gpu, "cuda_machine", no_device)
    with pytest.raises(InputError, match=r"found none that it can use \(no CUDA device\)"):
        find_device("gpu")
    assert find_device("auto").name == "cpu"
    monkeypatch.setattr(gpu, "cuda_machine", object)
    assert find_device("auto").name == "gpu"


def test_a_device_has_a_name_that_is_known() -> None:
    with pytest.raises(InputError, match="auto, cpu, gpu"):
        KScale(device="tpu")
