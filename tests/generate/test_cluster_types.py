from __future__ import annotations

import numpy as np
import pytest

from lpsched.generate.arrivals import UTILITY_RANGES
from lpsched.generate.clusters import draw_types, speed_up
from lpsched.generate.options import MachovecOptions

TYPES = 10_000
MANY = MachovecOptions(general_task_types=6_000, special_task_types=2_000, p_states=1)
CORES = np.array([16_800, 14_400, 14_400, 14_400, 20_800, 19_200])  # of the clusters, nodes x cores per node


@pytest.fixture(scope="module")
def types():
    return draw_types(np.random.default_rng(4), MANY)


def close(share, chance):
    """Return whether a share of all types is within four of its deviations."""
    return abs(share - chance) <= 4 * (chance * (1 - chance) / TYPES) ** 0.5


def test_priorities_and_urgencies_come_by_table_1(types):
    table = {
        "critical": (0.02, 0.02, 0.0005, 0.0),
        "high": (0.0345, 0.05, 0.015, 0.03),
        "medium": (0.0, 0.10, 0.10, 0.10),
        "low": (0.0, 0.0, 0.20, 0.33),
    }
    pairs = list(zip(types.priorities, types.urgencies, strict=True))
    for priority, row in table.items():
        for urgency, chance in zip(("extreme", "high", "medium", "low"), row, strict=True):
            assert close(pairs.count((priority, urgency)) / TYPES, chance), (priority, urgency)


def test_utilities_are_even_within_the_range_of_their_priority(types):
    for priority, (low, high) in {"critical": (6, 8), "high": (4, 6), "medium": (2, 4), "low": (1, 2)}.items():
        assert UTILITY_RANGES[priority] == (low, high)
        found = types.utilities[np.array(types.priorities) == priority]
        assert found.min() > low
        assert found.max() <= high
        spread = (high - low) / 12**0.5
        assert found.mean() == pytest.approx((low + high) / 2, abs=4 * spread / len(found) ** 0.5)
        assert found.std() == pytest.approx(spread, rel=0.1)


def test_the_longer_on_one_core_the_more_a_task_is_worth(types):
    hours = types.single_core_seconds / 3_600
    line = 1 + 17 * (types.utilities - 1) / 7
    assert (hours / line).mean() == pytest.approx(1, abs=4 * 0.15 / 100)
    assert (hours / line).std() == pytest.approx(0.15, rel=0.03)
    # Table I: mean utility 0.0405 x 7 + 0.1295 x 5 + 0.3 x 3 + 0.53 x 1.5 = 2.626; mean square, with
    # (a^2 + a b + b^2) / 3 for each range, 0.0405 x 148/3 + 0.1295 x 76/3 + 0.3 x 28/3 + 0.53 x 7/3 = 9.315,
    # so the variance is 2.420. The line has mean 1 + 17/7 x 1.626 = 4.949 h and deviation 17/7 x 1.5555 = 3.778.
    # Around it: variance 0.15^2 (4.949^2 + 3.778^2) = 0.872. Correlation 3.778 / sqrt(3.778^2 + 0.872) = 0.971.
    assert hours.mean() == pytest.approx(4.949, rel=0.03)
    assert np.corrcoef(hours, types.utilities)[0, 1] == pytest.approx(0.971, abs=0.004)


def test_a_time_is_never_below_a_tenth_of_its_mean():
    wide = MachovecOptions(general_task_types=9_960, p_states=1, time_cov=0.3)
    found = draw_types(np.random.default_rng(1), wide)
    share = found.single_core_seconds / 3_600 / (1 + 17 * (found.utilities - 1) / 7)
    assert share.min() == pytest.approx(0.1)  # three deviations below 1: some 13 of 10,000


def test_homes_are_even_among_general_clusters_and_fixed_for_special_types(types):
    assert all(close((types.home == c).mean(), 0.15) for c in range(4))
    assert (types.home[6_000:8_000] == 4).all()
    assert (types.home[8_000:] == 5).all()
    assert (types.home[:6_000] < 4).all()


def test_cores_come_by_table_2(types):
    most = CORES[types.home]
    rows = [(2, 4), (5, 256), (257, 4_096), (4_097, most - 1), (most, most)]
    for (least, last), chance in zip(rows, (0.2, 0.2, 0.4, 0.19, 0.01), strict=True):
        inside = (types.cores >= least) & (types.cores <= last)
        assert close(inside.mean(), chance), least
    middle = types.cores[(types.cores > 256) & (types.cores <= 4_096)]
    spread = 3_840 / 12**0.5
    assert middle.mean() == pytest.approx((257 + 4_096) / 2, abs=4 * spread / len(middle) ** 0.5)
    assert {2, 3, 4} == set(types.cores[types.cores <= 4].tolist())
    large = (types.cores > 4_096) & (types.cores < most)
    along = ((types.cores - 4_097) / (most - 1 - 4_097))[large]
    assert along.mean() == pytest.approx(0.5, abs=4 * (1 / 12 / large.sum()) ** 0.5)


def test_rows_of_table_2_end_where_a_cluster_does():
    # 300 cores: 257 to 300 in place of 257 to 4,096; all 300 for the two rows above.
    options = MachovecOptions(
        nodes=(3,),
        cores_per_node=(100,),
        special_nodes=(),
        special_cores_per_node=(),
        general_task_types=TYPES,
        p_states=1,
    )
    cores = draw_types(np.random.default_rng(1), options).cores
    assert cores.max() == 300
    assert close(((cores > 256) & (cores < 300)).mean(), 0.4 * 43 / 44)
    assert close((cores == 300).mean(), 0.2 + 0.4 / 44)


def test_one_core_is_enough_for_a_cluster():
    options = MachovecOptions(nodes=(1,), cores_per_node=(1,), special_nodes=(), special_cores_per_node=())
    types = draw_types(np.random.default_rng(1), options)
    assert set(types.cores.tolist()) == {1}
    assert set(types.parallelism.tolist()) == {1.0}


def test_parallelism_is_log_even_from_half_to_two_percent_of_the_cores_and_at_least_1(types):
    few = types.cores <= 50  # 2 % of 50 are 1
    assert (types.parallelism[few] == 1).all()
    more = types.cores > 200  # 0.5 % of 200 are 1
    along = np.log(types.parallelism[more] / types.cores[more] / 0.005) / np.log(4)
    assert along.min() >= -1e-12
    assert along.max() <= 1 + 1e-12
    assert along.mean() == pytest.approx(0.5, abs=4 * (1 / 12 / more.sum()) ** 0.5)
    assert along.std() == pytest.approx(12**-0.5, rel=0.03)


def test_parallelism_may_be_all_cores():
    options = MachovecOptions(parallelism_share_least=1.0, parallelism_share_most=1.0)
    types = draw_types(np.random.default_rng(1), options)
    assert (types.parallelism == types.cores).all()


def test_sigmas_are_even_from_4_to_10(types):
    assert 4 <= types.sigmas.min() < 4.01
    assert 9.99 < types.sigmas.max() <= 10
    assert types.sigmas.mean() == pytest.approx(7, abs=4 * 6 / 12**0.5 / 100)


def test_large_tasks_take_108_times_what_they_would_on_one_core(types):
    # Far beyond its parallelism a task is as fast as that: cores / A times the single-core seconds. The mean of
    # 1 / share, log-evenly from 0.005 to 0.02, is (200 - 50) / log 4 = 108.2.
    large = types.cores > 4_096
    faster = [
        speed_up(np.array([n]), a, sigma).item()
        for n, a, sigma in zip(types.cores[large], types.parallelism[large], types.sigmas[large], strict=True)
    ]
    assert (types.cores[large] / faster).mean() == pytest.approx(150 / np.log(4), rel=0.03)
