"""The passes give on a GPU what they give on the CPU; the memory that they need is counted everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.column_generation import Pairs
from lpsched.cancellation import CancelToken
from lpsched.errors import LpschedError, SolverError
from lpsched.lp import soft_kernels
from lpsched.lp.program import Device, array_module
from lpsched.lp.soft_prices import CLOSE, NEAR, climb


def gpu():
    try:
        return array_module(Device.CUDA)
    except LpschedError as error:
        pytest.skip(f"no GPU: {error}")


def random_pairs() -> Pairs:
    rng = np.random.default_rng(0)
    loads = rng.gamma(8.0, 1.0 / 8.0, (3_000, 30)) / 1_000.0
    return Pairs(np, loads, rng.random((3_000, 30)) / 3_000.0, rng.random((3_000, 30)) / 50.0, 2.0, np.arange(0, 30, 2))


def test_a_pass_on_the_gpu_equals_one_on_the_cpu():
    xp, own = gpu(), random_pairs()
    prices = np.random.default_rng(1).random(len(own.supply))
    here, there = own.single(), own.single(xp)
    cpu = here.soften(prices, 0.01 * here.sizes(prices))
    device = there.soften(prices, 0.01 * there.sizes(prices))
    assert device.value == pytest.approx(cpu.value, rel=1e-5)
    assert device.slope == pytest.approx(cpu.slope, rel=1e-3)
    assert there.cheapest(prices)[0] == pytest.approx(here.cheapest(prices)[0], rel=1e-5)


@pytest.mark.parametrize("cooling", [NEAR, CLOSE])
def test_prices_found_on_the_gpu_prove_as_much(cooling):
    xp, own = gpu(), random_pairs()
    proofs = []
    for module in (np, xp):
        soft = climb(own.single(module), cooling, budget=1.0, cancel=CancelToken())
        prices = soft.prices / float(own.supply @ soft.prices)
        proofs.append(float(own.cheapest(prices)[0].sum()))
    assert proofs[1] == pytest.approx(proofs[0], rel=1e-3)


def with_tables(columns: int, machines: int, tables: str, types: int = 2_003) -> Pairs:
    """Return pairs with some tables beside loads: costs, of which some are infinite, and a cap with negative loads."""
    rng = np.random.default_rng(columns)
    shape = (types, columns)
    costs = np.where(rng.random(shape) < 0.1, np.inf, rng.random(shape) / types)
    costs[:, 0] = 1.0 / types
    firsts = np.sort(rng.choice(columns - 1, machines - 1, replace=False)) + 1
    return Pairs(
        np,
        rng.gamma(8.0, 1.0 / 8.0, shape) / types,
        costs if "costs" in tables else None,
        (rng.random(shape) - 0.2) / types if "cap" in tables else None,
        2.0,
        np.append(0, firsts),
    )


CASES = [  # few columns, many, more than prices in shared memory; rows of whole vectors and not
    (30, 30, "", 0.01),
    (31, 15, "costs cap", 0.1),
    (1_000, 1_000, "", 0.01),
    (1_000, 400, "costs cap", 0.01),
    (1_001, 1_001, "costs", 0.2),  # most rows are wide
    (9_000, 300, "costs cap", 0.01),
]


@pytest.mark.parametrize(("columns", "machines", "tables", "temperature"), CASES)
def test_the_kernel_of_a_pass_equals_the_plain_operations_in_double(columns, machines, tables, temperature):
    xp, own = gpu(), with_tables(columns, machines, tables, types=203 if columns > 2_000 else 2_003)
    prices = 0.5 + np.random.default_rng(1).random(len(own.supply))
    device = own.single(xp)
    assert xp.asnumpy(device.sizes(prices)) == pytest.approx(own.sizes(prices), rel=1e-5)
    local = temperature * own.sizes(prices)
    exact, found = own.soften(prices, local), device.soften(prices, xp.asarray(local, dtype=np.float32))
    assert found.value == pytest.approx(exact.value, rel=1e-6)
    assert found.slope == pytest.approx(exact.slope, rel=1e-4, abs=1e-5 * np.abs(exact.slope).max())
    scale = np.sqrt(np.abs(np.diag(exact.curvature)).max())
    assert xp.asnumpy(found.curvature) / scale**2 == pytest.approx(exact.curvature / scale**2, abs=1e-3)


def test_a_pass_on_the_gpu_is_the_same_to_the_last_bit_every_time():
    xp, own = gpu(), with_tables(1_000, 400, "costs cap", types=20_000)
    prices = 0.5 + np.random.default_rng(1).random(len(own.supply))
    device = own.single(xp)
    local = 0.01 * device.sizes(prices)
    first, *others = [device.soften(prices, local) for _ in range(5)]
    for other in others:
        assert other.value == first.value
        assert np.array_equal(other.slope, first.slope)
        assert bool((other.curvature == first.curvature).all())


def test_tables_that_do_not_fit_are_copied_in_parts_and_give_the_same(monkeypatch):
    xp, own = gpu(), with_tables(100, 40, "costs cap", types=20_000)
    prices = 0.5 + np.random.default_rng(1).random(len(own.supply))
    whole = own.single(xp)
    monkeypatch.setattr("lpsched.bag.column_generation.ON_DEVICE", 150_000)
    parts = own.single(xp, room=own.memory.total - 1)
    assert isinstance(whole.loads, xp.ndarray)
    assert isinstance(parts.loads, np.ndarray)
    local = 0.01 * whole.sizes(prices)
    assert bool((parts.sizes(prices) == whole.sizes(prices)).all())
    here, there = whole.soften(prices, local), parts.soften(prices, local)
    assert there.value == pytest.approx(here.value, rel=1e-12)
    assert there.slope == pytest.approx(here.slope, rel=1e-9)
    assert np.array_equal(parts.shares(prices, 0.01), whole.shares(prices, 0.01))
    assert climb(parts, NEAR, budget=1.0, cancel=CancelToken()).prices == pytest.approx(
        climb(whole, NEAR, budget=1.0, cancel=CancelToken()).prices, rel=1e-6
    )


def test_the_tables_of_all_pairs_are_counted_in_single_precision():
    # 2,003 x 1,000 numbers of 4 bytes, in three tables
    assert with_tables(1_000, 400, "costs cap").memory.tables == 3 * 2_003 * 1_000 * 4
    assert with_tables(1_000, 400, "").memory.tables == 2_003 * 1_000 * 4


def test_a_table_on_the_device_needs_all_of_its_memory_and_one_in_parts_only_the_rest():
    memory = soft_kernels.memory((10**7, 10**3), 1, 10**3, 1 << 24)
    assert memory.tables == 4 * 10**10
    assert memory.working < memory.tables / 10
    assert memory.fits(memory.total)
    assert not memory.fits(memory.total - 1)
    assert not memory.fits(memory.working)


def test_a_device_that_is_too_small_even_for_parts_is_rejected_with_the_numbers():
    memory = soft_kernels.Memory(tables=10 * soft_kernels.GIB, working=soft_kernels.GIB)
    with pytest.raises(SolverError, match=r"has 0\.50 GiB free, expected at least 1\.00 GiB; leave --device out"):
        memory.fits(soft_kernels.GIB // 2)
