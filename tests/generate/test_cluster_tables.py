from __future__ import annotations

import numpy as np
import pytest

from lpsched.generate.clusters import (
    TypeDraws,
    draw_curves,
    draw_single,
    draw_states,
    draw_types,
    seconds_curves,
    watts_curves,
)
from lpsched.generate.options import MachovecOptions
from lpsched.online.parts import Cluster

MANY = MachovecOptions(general_task_types=2_400, special_task_types=800)


@pytest.fixture(scope="module")
def types():
    return draw_types(np.random.default_rng(4), MANY)


def one_type(cores, parallelism, sigma=0.0):
    numbers = np.array([1.0])
    return TypeDraws(
        ["low"], ["low"], numbers, np.array([0]), numbers, np.array([cores]), np.array([parallelism]), np.array([sigma])
    )


def test_seconds_have_points_at_powers_of_two_at_the_types_own_nodes_and_at_all():
    # 5 nodes of 4 cores. 10 cores take 3 nodes and use 10 of their 12 cores; elsewhere 4, 8, 16 and 20 cores.
    # Without variation, 10 at once is the most: 100 s / 4, 8, 10, 10, 10, and half as much in the second P-state.
    curves = seconds_curves(Cluster("c", 5, 4), one_type(10, 10.0), 0, np.array([100.0, 50.0]))
    assert curves == (
        ((1, 25.0), (2, 12.5), (3, 10.0), (4, 10.0), (5, 10.0)),
        ((1, 12.5), (2, 6.25), (3, 5.0), (4, 5.0), (5, 5.0)),
    )


def test_a_type_on_its_own_nodes_uses_its_cores_and_not_all_that_nodes_have():
    (curve,) = seconds_curves(Cluster("c", 4, 64), one_type(2, 100.0), 0, np.array([100.0]))
    assert curve == ((1, 50.0), (2, 1.0), (4, 1.0))  # 2 cores of 64; then min(128, 100) and 100 at once


def test_a_type_that_is_too_large_has_a_curve_for_those_that_are_smaller():
    (curve,) = seconds_curves(Cluster("c", 6, 4), one_type(1_000, 1_000.0), 0, np.array([100.0]))
    assert curve == ((1, 25.0), (2, 12.5), (4, 6.25), (6, 4.16667))


def test_watts_are_those_of_one_node_times_nodes():
    assert watts_curves(Cluster("c", 400, 4), np.array([133.4567, 70.1])) == (
        ((1, 133.457), (400, 53_382.8)),
        ((1, 70.1), (400, 28_040.0)),
    )
    assert watts_curves(Cluster("c", 1, 4), np.array([133.4567])) == (((1, 133.457),),)


def test_p_states_scale_power_and_the_root_of_it_speed(types):
    speed, power = draw_states(np.random.default_rng(1), MANY, types)
    special = types.home >= 4
    for rows, cov in ((~special, 0.3), (special, 0.2)):
        # Powers of a P-state: mean f, variation of the pair and, a tenth of that, its own.
        for k, scaling in enumerate((1.0, 0.75, 0.5)):
            drawn = power[rows][:, :, k]
            assert drawn.mean() == pytest.approx(scaling, rel=4 * cov / drawn.size**0.5)
            assert drawn.std() / drawn.mean() == pytest.approx(cov * 1.01**0.5, rel=0.05)
            # In a pair, power over squared speed is near 1: their own variations are V/10 and twice V/10.
            ratio = drawn / speed[rows][:, :, k] ** 2
            assert ratio.mean() == pytest.approx(1, abs=0.005)
            assert ratio.std() == pytest.approx(5**0.5 * cov / 10, rel=0.05)
        # The pair's variation cancels between P-states: half the power, 1 / sqrt(2) of the speed.
        assert (power[rows][:, :, 2] / power[rows][:, :, 0]).mean() == pytest.approx(0.5, rel=0.01)
        assert (speed[rows][:, :, 2] / speed[rows][:, :, 0]).mean() == pytest.approx(0.5**0.5, rel=0.01)
        assert (power[rows][:, :, 2] / power[rows][:, :, 0]).std() == pytest.approx(0.5 * 2**0.5 * cov / 10, rel=0.05)


def test_randomness_is_drawn_for_each_pair(types):
    _, power = draw_states(np.random.default_rng(1), MANY, types)
    pairs = np.corrcoef(power[:, 0, 0], power[:, 1, 0])[0, 1]
    assert abs(pairs) < 4 / 4_000**0.5


@pytest.mark.parametrize("single_core", ["home", "mean"])
def test_times_vary_around_that_of_the_home_cluster_or_around_the_mean(types, single_core):
    options = MANY.model_copy(update={"single_core": single_core})
    rng, again = np.random.default_rng(3), np.random.default_rng(3)
    seconds, _ = draw_single(rng, options, types)
    # The same random numbers without variation across clusters tell what P-states did.
    other, _ = draw_single(again, options.model_copy(update={"single_core": "home"}), types)
    at_home = np.arange(6) == types.home[:, np.newaxis]
    assert (seconds[~at_home] == other[~at_home]).all()
    assert (seconds[at_home] == other[at_home]).all() == (single_core == "home")


def test_times_vary_across_clusters_by_the_cov_method(types):
    # With one P-state: t / s, s the gamma with the root of the pair's randomness; log t = log t_ic - log s. At home
    # only s varies, elsewhere t_ic too. The logarithm of a gamma of variation V has a variance of psi'(1 / V^2):
    # V = 0.3, shape 100 / 9: psi'(x) = 1/x + 1/(2 x^2) + 1/(6 x^3) = 0.0900 + 0.00405 + 0.00012 = 0.0942.
    options = MANY.model_copy(update={"p_states": 1})
    seconds, _ = draw_single(np.random.default_rng(3), options, types)
    logs = np.log(seconds[:, :, 0] / types.single_core_seconds[:, np.newaxis])
    at_home = np.arange(6) == types.home[:, np.newaxis]
    general = (types.home < 4)[:, np.newaxis] & np.ones(6, dtype=bool)
    elsewhere, home = logs[general & ~at_home].var(), logs[general & at_home].var()
    assert elsewhere - home == pytest.approx(0.0942, rel=0.07)
    # At home a quarter of the variance of log r, 0.0942 / 4, and 0.03^2.
    assert home == pytest.approx(0.0942 / 4 + 0.0009, rel=0.12)


def test_a_p_state_of_less_power_is_slower(types):
    # At half the power, 1 / sqrt(2) of the speed.
    seconds, watts = draw_single(np.random.default_rng(3), MANY, types)
    assert (seconds[:, :, 2] / seconds[:, :, 0]).mean() == pytest.approx(2**0.5, rel=0.01)
    assert (watts[:, :, 2] / watts[:, :, 0]).mean() == pytest.approx(0.5, rel=0.01)


def test_watts_come_by_the_cov_method(types):
    # Each factor has a mean of 1 and its own variation: 0.2 of the type, 0.2 of the pair, 0.3 of the randomness of
    # general-purpose types, 0.03 of the P-state. Variances of their logarithms, as above: 0.0408, 0.0408, 0.0942
    # and 0.0009; in the ratio of two clusters the type cancels, and the others count twice: 0.2718.
    _, watts = draw_single(np.random.default_rng(3), MANY, types)
    assert watts[:, :, 0].mean() == pytest.approx(133, rel=4 * 0.25 / 4_000**0.5)
    general = np.log(watts[types.home < 4][:, :, 0])
    assert (general[:, 0] - general[:, 1]).var() == pytest.approx(0.2718, rel=0.1)
    assert general[:, 0].var() == pytest.approx(0.0408 + 0.2718 / 2, rel=0.1)


def test_types_run_where_they_may_and_any_number_of_nodes_there_is_known():
    options = MachovecOptions()
    types = draw_types(np.random.default_rng(2), options)
    seconds, watts = draw_curves(np.random.default_rng(3), options, types)
    columns = [c for c in range(6) for _ in range(3)]
    for i in range(100):
        runs = {c for cell, c in zip(seconds.cells[i], columns, strict=True) if cell is not None}
        assert runs == ({0, 1, 2, 3} if i < 60 else {4 if i < 80 else 5})
        assert [cell is None for cell in watts.cells[i]] == [cell is None for cell in seconds.cells[i]]
    for c, cluster in enumerate(options.clusters):
        i = 0 if c < 4 else (60 if c == 4 else 80)
        for table in (seconds, watts):
            assert table.at(i, 3 * c, 1) is not None
            assert table.at(i, 3 * c, cluster.nodes) is not None
            assert table.at(i, 3 * c, cluster.nodes + 1) is None
