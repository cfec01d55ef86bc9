"""The passes give on a GPU what they give on the CPU; runs where CuPy finds one."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.column_generation import Pairs
from lpsched.cancellation import CancelToken
from lpsched.errors import LpschedError
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
