from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lpsched.errors import InfeasibleError, InstanceError
from lpsched.facility.air import crac_inlets, facility_arrays, heat_map, hottest_common_outlet, inlets, total_watts
from lpsched.facility.files import read_facility, write_facility
from lpsched.generate.facility import BENCHMARKS, SERVERS, facility_of, full_power, generate_facility
from lpsched.generate.options import MOST_BENCHMARKS, MOST_SERVERS, PLATFORMS, FacilityOptions


def small(seed=1, **options):
    return generate_facility("small", np.random.default_rng(seed), **options)


def tiny(seed=1, **options):
    sizes = FacilityOptions(nodes=6, crac_units=2, task_types=3, node_types=2)
    return facility_of("tiny", np.random.default_rng(seed), sizes.model_copy(update=options))


def test_the_same_seed_gives_the_same_facility():
    assert small(1) == small(1)
    assert small(1).content_hash != small(2).content_hash


@pytest.mark.parametrize(
    ("platform", "nodes", "units", "tasks", "kinds"), [("small", 150, 3, 8, 2), ("medium", 500, 4, 10, 3)]
)
def test_the_platforms_have_the_sizes_of_the_paper(platform, nodes, units, tasks, kinds):
    facility = generate_facility(platform, np.random.default_rng(3))
    assert (len(facility.nodes), len(facility.crac_units)) == (nodes, units)
    assert (len(facility.task_types), len(facility.node_types)) == (tasks, kinds)
    assert set(facility.nodes) == set(range(kinds))
    assert PLATFORMS["large"] == FacilityOptions(nodes=5000, crac_units=60, task_types=16, node_types=4)


@pytest.mark.parametrize("seed", range(5))
def test_every_node_type_occurs_even_among_few_nodes(seed):
    assert set(
        facility_of(
            "few", np.random.default_rng(seed), FacilityOptions(nodes=4, crac_units=1, task_types=1, node_types=4)
        ).nodes
    ) == {0, 1, 2, 3}


def test_node_types_are_those_of_table_two():
    four = facility_of(
        "four", np.random.default_rng(1), FacilityOptions(nodes=8, crac_units=1, task_types=16, node_types=4)
    )
    found = [
        (kind.name, kind.overhead_watts, kind.cores, kind.modes, most)
        for kind, most in zip(four.node_types, (9.1, 20.9, 22.4, 18.55), strict=True)
    ]
    assert found == [
        ("tx140", 18.9, 4, 14, 9.1),
        ("x3200", 75.2, 2, 4, 20.9),
        ("rx100", 35.0, 4, 11, 22.4),
        ("at110", 21.3, 4, 16, 18.55),
    ]
    # povray is the one that takes all of a core's power in P-state 0
    povray = [task.name for task in four.task_types].index("povray")
    first = np.cumsum([0, 14, 4, 11])
    assert [four.watts[povray, int(column)] for column in first] == [9.1, 20.9, 22.4, 18.55]


def test_time_and_power_follow_the_clock():
    facility = small()
    # lbm on the x3200, four P-states: clocks 1, 0.8, 0.6, 0.4; times x 1 + 0.3 (1 / c - 1), so at 0.4 x 1.45.
    slow = facility.speeds[0, 14] / facility.speeds[0, 17]
    assert slow == pytest.approx(1 + 0.3 * (1 / 0.4 - 1), rel=1e-5)
    # watts: 20.9 (0.1 + 0.9 c^3) (0.75 + 0.25 x 0.3)
    assert facility.watts[0, 17] == pytest.approx(20.9 * (0.1 + 0.9 * 0.064) * 0.825, rel=1e-5)
    for i in range(facility.speeds.rows):
        speeds, watts = facility.speeds.row(i)[:14], facility.watts.row(i)[:14]
        assert speeds == sorted(speeds, reverse=True)
        assert watts == sorted(watts, reverse=True)


def test_draws_are_in_their_ranges():
    facility = small(5)
    quickest = [1 / max(row) for row in facility.speeds]
    assert all(0.5 <= task.reward <= 1.0 for task in facility.task_types)
    assert all(task.deadline_seconds > each for task, each in zip(facility.task_types, quickest, strict=True))
    work = sum(task.arrivals_per_second / facility.speeds[i, 0] for i, task in enumerate(facility.task_types))
    assert 0.3 * facility.cores < work < 2.0 * facility.cores  # about what the cores can do


def test_the_cap_is_a_share_of_full_power_at_the_warmest_outlets_that_keep_the_redlines():
    facility = small(2, cap_share=0.7)
    arrays, heat = facility_arrays(facility), heat_map(facility)
    hardest = max(BENCHMARKS[:8], key=lambda task: task.clock_share)
    load = 0.75 + 0.25 * hardest.clock_share
    most = [each.overhead_watts + each.cores * each.core_watts * load for each in SERVERS[:2]]
    powers = np.array([most[j] for j in facility.nodes])
    outlet = hottest_common_outlet(arrays, heat, powers)
    outlets = np.full(3, outlet)
    assert 10.0 < outlet < 25.0
    assert (inlets(heat, powers, outlets) <= 25.0 + 1e-9).all()
    assert facility.power_cap_watts == pytest.approx(0.7 * total_watts(arrays, heat, powers, outlets), rel=1e-5)
    # full power that cannot be cooled in range is taken at the coldest outlets
    matrix, flow = facility.mixing.matrix, arrays.airflow[arrays.node_type]
    hot = full_power(20 * powers, flow, arrays.crac_airflow, matrix)
    assert hot == pytest.approx(total_watts(arrays, heat, 20 * powers, np.full(3, 10.0)))


def test_redlines_bind_before_the_units_are_at_their_warmest():
    facility = small()
    heat = heat_map(facility)
    idle = np.array([facility.node_types[j].overhead_watts for j in facility.nodes])
    warmest = np.full(3, 25.0)
    assert inlets(heat, idle, warmest).max() > 25.0
    assert (crac_inlets(heat, idle, warmest) > warmest).all()


def test_numbers_have_six_digits():
    facility = small()
    cells = [x for table in (facility.speeds, facility.watts) for row in table for x in row]
    cells += [task.arrivals_per_second for task in facility.task_types] + [facility.power_cap_watts]
    assert all(cell == float(f"{cell:.6g}") for cell in cells)


def test_the_file_says_what_is_the_papers_and_what_is_ours():
    text = small(1, recirculation=0.3).description
    assert "Oxley" in text
    assert "recirculation 0.3" in text
    assert "0.6 of full power" in text


def test_a_small_choice_of_tasks_has_only_their_classes():
    assert tiny(task_types=1).memory_classes == ("heavy",)
    assert tiny(task_types=3).memory_classes == ("heavy", "medium")
    assert tiny(task_types=1).remarks() == ()


def test_every_fault_of_the_options_is_told():
    with pytest.raises(InstanceError) as caught:
        FacilityOptions(nodes=2, crac_units=0, task_types=17, node_types=3, recirculation=0.7, cap_share=math.nan)
    assert [str(issue) for issue in caught.value.issues] == [
        "crac_units: got 0, expected 1 to 1000; change the option",
        "task_types: got 17, expected 1 to 16; change the option",
        "recirculation: got 0.7, expected 0 to 0.6; change the option",
        "cap_share: got nan, expected 1e-06 to 10; change the option",
        "nodes: got 2, expected at least 3, one of each node type; ask for more",
    ]
    with pytest.raises(InstanceError, match=r"recirculation: got 1e-09, expected 0, or at least 0\.001; change"):
        tiny(recirculation=1e-9)
    with pytest.raises(InstanceError, match="platform: got 'huge', expected one of small, medium, large; choose one"):
        generate_facility("huge", np.random.default_rng(0))


def test_the_options_know_how_many_servers_and_benchmarks_there_are():
    assert (len(SERVERS), len(BENCHMARKS)) == (MOST_SERVERS, MOST_BENCHMARKS)


def test_a_cap_that_covers_not_even_idle_nodes_is_infeasible():
    with pytest.raises(InfeasibleError, match=r"no allocation keeps the power cap of [\d,.]+ W: idle nodes draw"):
        small(1, cap_share=0.3)


def test_a_thousand_nodes_take_no_minute():
    start = time.perf_counter()
    facility_of(
        "many", np.random.default_rng(1), FacilityOptions(nodes=1000, crac_units=10, task_types=16, node_types=4)
    )
    assert time.perf_counter() - start < 15


EXTREMES = st.builds(
    FacilityOptions,
    nodes=st.integers(4, 30),
    crac_units=st.sampled_from((1, 2, 60)),
    task_types=st.sampled_from((1, len(BENCHMARKS))),
    node_types=st.sampled_from((1, 2, len(SERVERS))),
    rack=st.sampled_from((1, 25, 1000)),
    recirculation=st.sampled_from((0.0, 0.001, 0.2, 0.6)),
    cap_share=st.sampled_from((0.6, 10.0)),
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(options=EXTREMES, seed=st.integers(0, 9))
@example(
    options=FacilityOptions(nodes=2, crac_units=1, task_types=1, node_types=2, recirculation=0.0), seed=6
)  # all air of a node from one unit
def test_whatever_is_generated_is_read_again(tmp_path, options, seed):
    try:
        made = facility_of("extreme", np.random.default_rng(seed), options)
    except InstanceError:  # idle nodes alone break the cap or a redline: the generator says so
        return
    write_facility(made, tmp_path / "extreme.yaml")
    assert read_facility(tmp_path / "extreme.yaml") == made
