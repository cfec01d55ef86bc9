from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.traces.bags import bag_of, cells_as_csv, cells_of, connected, estimates
from lpsched.traces.jobs import Jobs, most_at_once

NAN = float("nan")


def jobs_of(*rows):
    """Return jobs of (group, machine, width, seconds, joules)."""
    group, machine, width, seconds, joules = zip(*rows, strict=True)
    zeros = np.zeros(len(rows))
    return Jobs(
        number=np.arange(len(rows)),
        submit_seconds=zeros,
        start_seconds=zeros,
        run_seconds=np.array(seconds, float),
        requested_seconds=np.full(len(rows), NAN),
        width=np.array(width),
        joules=np.array(joules, float),
        machine=np.array(machine),
        group=np.array(group),
        machines=tuple(f"m{j}" for j in range(max(machine) + 1)),
        groups=tuple(f"t{i}" for i in range(max(group) + 1)),
    )


def test_means_keep_node_seconds_and_joules():
    jobs = jobs_of((0, 0, 1, 100, 20_000), (0, 0, 2, 300, 120_000), (0, 1, 1, 50, NAN))
    cells = cells_of(jobs)
    assert cells.tasks.tolist() == [[3, 1]]
    assert cells.seconds.samples.tolist() == [[2, 1]]
    assert cells.seconds.mean[0, 0] == pytest.approx(700 / 3)  # 1 x 100 + 2 x 300 node-seconds, 3 nodes
    # (1 x (100 - 233.3)^2 + 2 x (300 - 233.3)^2) / 3 = 8,888.9, times 2 / (2 - 1)
    assert cells.seconds.deviation[0, 0] == pytest.approx((2 * 80_000 / 9) ** 0.5)
    assert cells.seconds.variation[0, 0] == pytest.approx((2 * 80_000 / 9) ** 0.5 / (700 / 3))
    assert np.isnan(cells.seconds.deviation[0, 1])  # one job has no spread
    assert cells.watts.samples.tolist() == [[2, 0]]
    assert cells.watts.mean[0, 0] == pytest.approx(200.0)  # 140,000 J in 700 node-seconds
    assert cells.watts.deviation[0, 0] == pytest.approx(0.0)
    assert np.isnan(cells.watts.mean[0, 1])


def test_a_pair_that_no_job_tells_of_is_absent_unless_it_is_filled():
    jobs = jobs_of((0, 0, 1, 100, 100), (0, 1, 1, 300, 600), (1, 0, 1, 50, 200))
    plain = bag_of("b", jobs, [2, 3])
    assert plain.bag.seconds.row(1) == [50.0, None]
    assert not plain.estimated_seconds.any()
    filled = bag_of("b", jobs, [2, 3], fill=True)
    # m1 takes three times as long as m0, at twice the power: 1 W and 2 W for t0, 4 W and so 8 W for t1.
    assert filled.bag.seconds.row(1) == pytest.approx([50.0, 150.0])
    assert filled.bag.watts.row(1) == pytest.approx([4.0, 8.0])
    assert filled.estimated_seconds.tolist() == [[False, False], [False, True]]
    assert filled.estimated_watts.tolist() == [[False, False], [False, True]]
    assert filled.bag.seconds.row(0) == [100.0, 300.0]  # samples stay what they are


def test_a_pair_that_nothing_connects_stays_absent():
    jobs = jobs_of((0, 0, 1, 100, NAN), (1, 1, 1, 50, NAN))
    filled = bag_of("b", jobs, [1, 1], fill=True)
    assert filled.bag.seconds.row(0) == [100.0, None]
    assert filled.bag.watts is None
    measured = bag_of("b", jobs_of((0, 0, 1, 100, 100), (1, 1, 1, 50, 100)), [1, 1], fill=True)
    assert measured.bag.watts.row(0) == [1.0, None]  # though 2 W would be typical there
    assert not measured.estimated_watts.any()


def test_times_without_powers_are_refused_filled_or_left_out_as_a_whole():
    jobs = jobs_of((0, 0, 1, 100, 100), (0, 1, 1, 300, NAN), (1, 0, 1, 50, 200), (1, 1, 1, 150, 1200))
    with pytest.raises(InstanceError) as caught:
        bag_of("b", jobs, [1, 1])
    (issue,) = caught.value.issues
    assert issue.location == "watts.t0.m1"
    assert "no sample of 't0' on 'm1' with its energy" in issue.got
    assert "--fill" in issue.hint
    assert "--no-watts" in issue.hint
    filled = bag_of("b", jobs, [1, 1], fill=True)
    assert filled.bag.watts.row(0) == pytest.approx([1.0, 2.0])  # m1: 8 W where m0 takes 4 W
    assert filled.estimated_watts.tolist() == [[False, True], [False, False]]
    assert not filled.estimated_seconds.any()
    assert bag_of("b", jobs, [1, 1], watts=False).bag.watts is None


def test_a_task_type_that_was_never_measured_takes_what_is_typical():
    jobs = jobs_of((0, 0, 1, 100, 200), (1, 0, 1, 100, 800), (2, 0, 1, 300, NAN))
    filled = bag_of("b", jobs, [1], fill=True)
    assert filled.bag.watts.row(2) == pytest.approx([4.0])  # the geometric mean of 2 W and 8 W
    assert filled.estimated_watts.tolist() == [[False], [False], [True]]


def test_a_machine_type_of_which_nobody_knows_a_power_is_refused():
    jobs = jobs_of((0, 0, 1, 100, 100), (0, 1, 1, 300, NAN), (1, 0, 1, 50, 200))
    with pytest.raises(InstanceError, match=r"'t0' on 'm1'.*; leave all powers out .--no-watts"):
        bag_of("b", jobs, [1, 1], fill=True)
    times = bag_of("b", jobs, [1, 1], fill=True, watts=False).bag
    assert times.seconds.row(1) == pytest.approx([50.0, 150.0])
    assert times.watts is None


def test_jobs_of_more_nodes_than_anybody_has_are_refused():
    with pytest.raises(InstanceError, match=r"jobs with 1.8e\+16 nodes or processors in all"):
        bag_of("b", jobs_of((0, 0, 2**53, 1, NAN), (0, 0, 2**53, 1, NAN)), [1])


def test_the_file_of_cells_tells_samples_spread_and_estimates():
    jobs = jobs_of((0, 0, 1, 100, 100), (0, 0, 3, 100, 300), (0, 1, 1, 300, 600), (1, 0, 1, 50, 200))
    rows = list(csv.DictReader(io.StringIO(cells_as_csv(bag_of("b", jobs, [1, 1], fill=True)).decode())))
    assert [(row["task_type"], row["machine_type"], row["jobs"], row["tasks"]) for row in rows] == [
        ("t0", "m0", "2", "4"),
        ("t0", "m1", "1", "1"),
        ("t1", "m0", "1", "1"),
        ("t1", "m1", "0", "0"),
    ]
    assert (rows[0]["seconds"], rows[0]["seconds_deviation"], rows[0]["seconds_variation"]) == ("100.0", "0.0", "0.0")
    assert (rows[1]["seconds_deviation"], rows[1]["estimated"]) == ("", "")
    assert (rows[3]["jobs_with_energy"], rows[3]["estimated"]) == ("0", "seconds and watts")


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_a_table_that_is_a_product_is_restored_wherever_it_is_connected(rows, columns, data):
    factors = st.floats(0.01, 100.0)
    row = np.array(data.draw(st.lists(factors, min_size=rows, max_size=rows)))
    column = np.array(data.draw(st.lists(factors, min_size=columns, max_size=columns)))
    samples = np.array(
        data.draw(
            st.lists(st.lists(st.integers(0, 3), min_size=columns, max_size=columns), min_size=rows, max_size=rows)
        )
    )
    whole = row[:, None] * column
    found = estimates(np.where(samples > 0, whole, np.nan), samples)
    there = connected(samples > 0)
    assert (np.isnan(found) == ~there).all()
    assert found[there] == pytest.approx(whole[there], rel=1e-6)
    assert there[samples > 0].all()


def test_an_estimate_weighs_samples():
    # Rows 0 and 1 see m1 at 2 and at 8 times m0; nine jobs against one: exp of the weighted mean logarithm.
    values = np.array([[1.0, 2.0], [1.0, 8.0], [1.0, np.nan]])
    samples = np.array([[9, 9], [1, 1], [1, 0]])
    assert estimates(values, samples)[2, 1] == pytest.approx(2.0**0.9 * 8.0**0.1)


def test_the_most_nodes_at_once_counts_no_job_that_has_just_ended():
    starts, seconds, widths = (
        np.array([0.0, 5.0, 10.0, 10.0]),
        np.array([10.0, 6.0, 5.0, 1.0]),
        np.array([2, 3, 1, 4]),
    )
    assert most_at_once(starts, seconds, widths) == 8  # at 10: the second, third and fourth
    assert most_at_once(np.array([]), np.array([]), np.array([], int)) == 0
