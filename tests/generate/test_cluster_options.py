from __future__ import annotations

from typing import get_origin

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.generate.clusters import draw_types
from lpsched.generate.options import MachovecOptions

NAN = float("nan")


@pytest.mark.parametrize(
    ("options", "issue"),
    [
        ({"tasks": 0}, "tasks: got 0, expected 1 to 1e+07; change the option"),
        ({"hours": 0.0}, "hours: got 0.0, expected 0.01 to 8784; change the option"),
        ({"hours": NAN}, "hours: got nan, expected 0.01 to 8784; change the option"),
        ({"warm_up_hours": -1.0}, "warm_up_hours: got -1.0, expected 0, or 1e-06 to 8784; change the option"),
        ({"begins_at_hour": 25.0}, "begins_at_hour: got 25.0, expected 0 to 24; change the option"),
        ({"energy_gigajoules": -1.0}, "energy_gigajoules: got -1.0, expected 0, or 1e-12 to 1e+12"),
        ({"p_states": 4}, "p_states: got 4, expected 1 to 3; change the option"),
        ({"nodes": (1, 0, 1, 1)}, "nodes: got 0, expected 1 to 1e+07; change the option"),
        ({"nodes": (1, 1)}, "cores_per_node: got 4 numbers, expected 2, one for each of nodes; change the option"),
        (
            {"special_nodes": ()},
            "special_cores_per_node: got 2 numbers, expected 0, one for each of special_nodes; change the option",
        ),
        (
            {"nodes": (1,) * 1_001, "cores_per_node": (1,) * 1_001},
            "nodes: got 1,001 clusters, expected at most 1,000; ask for fewer",
        ),
        (
            {"nodes": (), "cores_per_node": ()},
            "nodes: got none, expected a general-purpose cluster for its task types; add one",
        ),
        (
            {"general_task_types": 0, "special_task_types": 0},
            "general_task_types: got no task type at all, expected at least one; ask for one",
        ),
        (
            {"general_task_types": 10_000},
            "general_task_types: got 180,720 cells of a table, expected at most 100,000; ask for fewer",
        ),
        ({"core_steps": (4, 4, 9)}, "core_steps: got (4, 4, 9), expected three rising numbers; change the option"),
        ({"core_steps": (4, 9)}, "core_steps: got (4, 9), expected three rising numbers; change the option"),
        ({"single_core": "x"}, "single_core: got 'x', expected one of home, mean; change the option"),
        ({"sigma_least": 11.0}, "sigma_least: got 11.0, expected at most sigma_most, 10.0; lower it"),
        (
            {"parallelism_share_most": 0.001},
            "parallelism_share_least: got 0.005, expected at most parallelism_share_most, 0.001; lower it",
        ),
        ({"shortest_hours": 20.0}, "shortest_hours: got 20.0, expected at most longest_hours, 18.0; lower it"),
        ({"time_cov": 0.31}, "time_cov: got 0.31, expected 0 to 0.3; change the option"),
        ({"wave_amplitude": 1.1}, "wave_amplitude: got 1.1, expected 0 to 1; change the option"),
        (
            {"tasks": 9_000_000},
            "tasks: got 9,000,000 a day, 1.05e+07 in all, expected at most 10,000,000 in all; ask for fewer",
        ),
        (
            {"tasks": 12, "hours": 0.1, "warm_up_hours": 0.05},
            "tasks: got 12 a day, 0.075 in all, expected at least 0.1 on average; ask for more, or longer",
        ),
    ],
)
def test_options_out_of_range_are_told(options, issue):
    with pytest.raises(InstanceError) as caught:
        MachovecOptions(**options)
    assert issue in "\n".join(str(each) for each in caught.value.issues)


def test_all_faults_are_told_at_once():
    with pytest.raises(InstanceError) as caught:
        MachovecOptions(tasks=0, p_states=0, single_core="x", sigma_least=11.0)
    assert [each.path for each in caught.value.issues] == [
        ("tasks",),
        ("p_states",),
        ("single_core",),
        ("sigma_least",),
    ]


@pytest.mark.parametrize("name", [name for name in MachovecOptions.model_fields if name != "single_core"])
def test_every_number_has_a_range(name):
    for number in (-1, 10**18):
        with pytest.raises(InstanceError) as caught:
            MachovecOptions(**{name: (number,) if get_origin(MachovecOptions.types()[name]) is tuple else number})
        assert any(each.path == (name,) and each.hint == "change the option" for each in caught.value.issues)


def test_no_energy_and_no_warm_up_are_options():
    period = MachovecOptions(energy_gigajoules=0.0, warm_up_hours=0.0).period
    assert (period.energy_constraint_joules, period.warm_up_seconds) == (0.0, 0.0)


def test_one_p_state_has_no_name():
    assert {cluster.p_states for cluster in MachovecOptions(p_states=1).clusters} == {None}


def test_a_range_may_be_a_single_number():
    options = MachovecOptions(sigma_least=5.0, sigma_most=5.0, parallelism_share_least=0.1, parallelism_share_most=0.1)
    types = draw_types(np.random.default_rng(1), options)
    assert set(types.sigmas.tolist()) == {5.0}
    assert types.parallelism.tolist() == np.maximum(1.0, 0.1 * types.cores).tolist()


def test_options_of_another_type_and_unknown_ones_are_told_alone():
    wrong = {"taks": 3, "tasks": 2.5, "hours": "long", "nodes": [3], "single_core": 1, "energy_gigajoules": True}
    with pytest.raises(InstanceError) as caught:
        MachovecOptions(**wrong, p_states=9)
    assert [str(each).partition("; ")[0] for each in caught.value.issues] == [
        f"taks: got an unknown name, expected one of {', '.join(MachovecOptions.model_fields)}",
        "tasks: got 2.5, expected a whole number",
        "hours: got the text 'long', expected a number",
        "nodes: got a list of 1, expected a list, each a whole number",
        "single_core: got 1, expected a word",
        "energy_gigajoules: got true (a yes/no value), expected a number or null",
    ]


def test_a_copy_is_checked_too():
    assert MachovecOptions().model_copy(update={"tasks": 7}) == MachovecOptions(tasks=7)
    with pytest.raises(InstanceError, match="p_states: got 9, expected 1 to 3"):
        MachovecOptions().model_copy(update={"p_states": 9})


def test_numbers_of_numpy_are_numbers():
    assert MachovecOptions(tasks=np.int64(7), nodes=tuple(np.array([1, 2, 3, 4])), hours=np.float64(2.5)).tasks == 7
