from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.online.logged import logged_schedule
from lpsched.traces.export import export_schedule
from lpsched.traces.slurm import Energy, SlurmChoice, bag_of_slurm, clusters_of_slurm, label_of, read_sacct, slurm_jobs

DATA = Path(__file__).parent.parent / "data"
BY_NAME = SlurmChoice(group_by=("partition", "name"))


@pytest.fixture
def log():
    return read_sacct(DATA / "sacct_with_steps.txt")


@pytest.fixture
def of_text(tmp_path):
    def read(text):
        path = tmp_path / "sacct.txt"
        path.write_text(text)
        return read_sacct(path)

    return read


def test_energy_is_counted_once(log):
    jobs, _, _ = slurm_jobs(log, BY_NAME, "log")
    # 101 tells its own; 102 only its steps: 60,000 of batch on one node, or 50,000 + 70,000 on both;
    # 103_4 has extern; nothing was measured for 104+0.
    assert jobs.number.tolist() == [101, 102, 103, 104]
    assert jobs.joules.tolist()[:3] == [20_000, 120_000, 25_500]
    assert jobs.joules[3] != jobs.joules[3]  # NaN
    assert jobs.width.tolist() == [1, 2, 1, 1]
    assert jobs.requested_seconds.tolist()[:2] == [3600, 3600]


def test_jobs_of_other_states_are_left_out_with_a_count_by_state(log):
    _, ran, account = slurm_jobs(log, BY_NAME, "log")
    assert (account.read, account.kept) == (8, 4)
    assert account.left_out == {"state CANCELLED": 1, "state FAILED": 1, "state PENDING": 1, "state TIMEOUT": 1}
    assert ran.number.tolist() == [101, 102, 103, 104, 106, 107]  # failed ones took nodes too
    more = SlurmChoice(states=("COMPLETED", "TIMEOUT", "CANCELLED"))
    _, _, account = slurm_jobs(log, more, "log")
    assert account.kept == 5
    assert account.left_out == {"state FAILED": 1, "state PENDING": 1, "never ran": 1}


def test_jobs_become_a_bag_by_partition_and_name(log):
    logged, account = bag_of_slurm("log", log, choice=BY_NAME, fill=True)
    bag, watts = logged.bag, logged.bag.watts
    assert watts is not None
    assert [(each.name, each.count) for each in bag.task_types] == [("lammps", 3), ("gromacs", 2)]
    # batch: 101 has one node till 1:50, 102 two from 1:00, 104+0 one from 2:30: three, then three again.
    # gpu: 103_4 from 2:00 to 2:50 and the failed 106 from 2:10 to 2:20.
    assert [(each.name, each.count) for each in bag.machine_types] == [("batch", 3), ("gpu", 2)]
    assert bag.seconds[0, 0] == pytest.approx(700 / 3)  # 1 x 100 + 2 x 300 node-seconds on 3 nodes
    assert bag.seconds[1, 0] == 200.0
    assert bag.seconds[1, 1] == 50.0
    assert bag.seconds[0, 1] == pytest.approx(700 / 12)  # gpu takes a quarter of the time
    assert watts[0, 0] == pytest.approx(200.0)  # 140,000 J in 700 node-seconds
    assert watts[1, 1] == pytest.approx(510.0)
    # Measured on batch is lammps alone, on gpu gromacs alone: that is what is typical of each.
    assert (watts[0, 1], watts[1, 0]) == pytest.approx((510.0, 200.0))
    assert logged.estimated_seconds.tolist() == [[False, True], [False, False]]
    assert logged.estimated_watts.tolist() == [[False, True], [True, False]]
    assert account.totals.joules == 165_500
    assert account.totals.jobs_with_joules == 3


def test_a_cell_without_energy_is_refused_without_fill(log):
    with pytest.raises(InstanceError, match="no sample of 'gromacs' on 'batch' with its energy"):
        bag_of_slurm("log", log, choice=BY_NAME)
    logged, _ = bag_of_slurm("log", log, choice=BY_NAME, watts=False)
    assert logged.bag.watts is None
    assert logged.bag.seconds[0, 1] is None


def test_accounting_without_steps_makes_the_same_bag(log):
    short = read_sacct(DATA / "sacct_allocations.txt")
    counts = {"batch": 3, "gpu": 2}
    one, _ = bag_of_slurm("log", log, choice=BY_NAME, counts=counts, watts=False)
    other, account = bag_of_slurm("log", short, choice=BY_NAME, counts=counts, watts=False)
    assert one.bag == other.bag
    assert account.left_out == {"state CANCELLED": 1}
    assert account.totals.joules == 165_500  # 20K, 0.12M and 25.50K


def test_counts_are_said_or_seen_or_refused(log):
    logged, _ = bag_of_slurm("log", log, choice=BY_NAME, counts={"gpu": 40}, watts=False)
    assert [each.count for each in logged.bag.machine_types] == [3, 40]
    with pytest.raises(InstanceError, match=r"a count for 'gpus'.*did you mean 'gpu'"):
        bag_of_slurm("log", log, choice=BY_NAME, counts={"gpus": 4})
    with pytest.raises(InstanceError, match=r"no start times on 'batch'.*--count batch=N"):
        bag_of_slurm("log", read_sacct(DATA / "sacct_allocations.txt"), choice=BY_NAME)


def test_a_system_can_be_taken_as_one_and_types_made_of_classes(log):
    choice = SlurmChoice(group_by=("size", "time"), machines_by="all")
    logged, _ = bag_of_slurm("log", log, choice=choice, watts=False)
    # At 2:30: two nodes of 102, 103_4 and 104+0; at 2:10 two, 103_4 and 106.
    assert [(each.name, each.count) for each in logged.bag.machine_types] == [("cluster", 4)]
    # 101: 100 s, 102: 2 nodes for 300 s, 103_4: 50 s, 104+0: 200 s
    assert [each.name for each in logged.bag.task_types] == [
        "size 1, time 128",
        "size 2, time 512",
        "size 1, time 64",
        "size 1, time 256",
    ]


def test_a_log_becomes_clusters_with_limits_as_requests(log):
    clusters, account = clusters_of_slurm("log", log)
    assert [(each.name, each.nodes) for each in clusters.clusters] == [("batch", 3), ("gpu", 2)]
    tasks = clusters.arriving
    assert list(tasks.job_numbers) == [101, 102, 103, 106, 104, 107]
    assert list(tasks.arrival_seconds) == [0, 60, 120, 120, 150, 240]
    assert list(tasks.work_factors) == [100, 300, 50, 10, 200, 600]
    assert list(tasks.requested_factors) == [3600, 3600, 50, 600, 86_400, 600]  # UNLIMITED: the run time
    assert [clusters.task_types[i].name for i in tasks.type_numbers] == ["batch", "batch", "gpu", "gpu", "batch", "gpu"]
    assert account.left_out == {"state PENDING": 1, "never ran": 1}


def test_clusters_need_submit_times_and_columns_must_be_there(log):
    with pytest.raises(InstanceError, match=r"4 jobs without a submit time.*--format"):
        clusters_of_slurm("log", read_sacct(DATA / "sacct_allocations.txt"), counts={"batch": 3, "gpu": 2})
    with pytest.raises(InstanceError, match=r"no column 'user', expected one of JobID, JobName"):
        slurm_jobs(log, SlurmChoice(group_by=("user",)), "log")
    jobs, _, _ = slurm_jobs(log, SlurmChoice(group_by=("nodes",)), "log")
    assert jobs.groups == ("1", "2")
    with pytest.raises(InstanceError, match=r"no column 'Partitions'.*did you mean 'Partition'"):
        slurm_jobs(log, SlurmChoice(machines_by="Partitions"), "log")


def test_a_job_that_ran_twice_is_two_and_a_step_alone_is_none(of_text):
    log = of_text(
        "JobID|State|ElapsedRaw|ConsumedEnergyRaw\n"
        "6.0|COMPLETED|5|50\n"
        "7|NODE_FAIL|10|100\n7.0|NODE_FAIL|10|90\n"
        "7|COMPLETED|20|\n7.0|COMPLETED|20|300\n"
    )
    jobs, _, account = slurm_jobs(log, SlurmChoice(machines_by="all"), "log")
    assert jobs.joules.tolist() == [300]
    assert account.left_out == {"state NODE_FAIL": 1}
    assert account.notes == {"jobs without AllocNodes and NNodes: each counts as one node": 1}
    assert "1 step without the line of the job: left out" in account.facts


def test_a_run_that_is_listed_twice_is_one(of_text):
    # Two exports in one file: job 7 ran still in the first, 8 is the same in both, 9 ran twice.
    log = of_text(
        "JobID|State|Submit|Start|ElapsedRaw|AllocNodes|ConsumedEnergyRaw\n"
        "7|RUNNING|0|10|5|1|\n8|COMPLETED|0|20|30|2|\n8.0|COMPLETED|||30||500\n"
        "9|PREEMPTED|0|40|7|1|\n9|COMPLETED|0|50|8|1|\n"
        "JobID|State|Submit|Start|ElapsedRaw|AllocNodes|ConsumedEnergyRaw\n"
        "7|COMPLETED|0|10|90|1|\n8|COMPLETED|0|20|30|2|\n8.0|COMPLETED|||30||500\n"
    )
    jobs, _, account = slurm_jobs(log, SlurmChoice(states=None), "log")
    assert jobs.number.tolist() == [7, 8, 9, 9]
    assert jobs.run_seconds.tolist() == [90, 30, 7, 8]
    assert jobs.joules[1] == 500
    assert (account.read, account.left_out) == (6, {"the same run (JobID and Start) as in a later line": 2})


def test_states_that_are_not_known_have_not_ended(of_text):
    states = ("COMPLETED", "OUT_OF_ME+", "R", "PD", "", "FOO", "CANCELLED by 7")
    rows = "".join(f"{n}|{state}|0|10|5|1\n" for n, state in enumerate(states))
    log = of_text("JobID|State|Submit|Start|ElapsedRaw|AllocNodes\n" + rows)
    assert log.skipped == {"State that cannot be read": 1}
    jobs, _, account = slurm_jobs(log, SlurmChoice(states=None), "log")
    assert jobs.number.tolist() == [0, 1, 6]
    assert account.left_out == {"state FOO": 1, "state PD": 1, "state R": 1}


def test_jobs_without_a_submit_time_are_left_out_one_by_one(of_text):
    header = "JobID|Partition|State|Submit|Start|ElapsedRaw|AllocNodes\n"
    clusters, account = clusters_of_slurm(
        "log", of_text(header + "1|p|COMPLETED|0|0|5|1\n2|q|COMPLETED|Unknown|3|5|1\n")
    )
    assert list(clusters.arriving.job_numbers) == [1]
    assert account.left_out == {"no submit time": 1}
    assert [each.name for each in clusters.clusters] == ["p"]


def test_most_at_once_counts_jobs_that_are_too_wide(of_text):
    rows = "".join(f"{n}|p|COMPLETED|0|0|5|{8 if n == 3 else 1}\n" for n in range(4))
    log = of_text("JobID|Partition|State|Submit|Start|ElapsedRaw|AllocNodes\n" + rows)
    _, account = clusters_of_slurm("log", log, counts={"p": 4})
    assert account.left_out == {"wider than the system it ran on": 1}
    had = "p has 4 nodes, and jobs of the log had up to 11 at one time"
    assert account.warnings == [f"{had}: the log's own schedule does not fit"]


def test_of_few_jobs_without_cpus_the_others_are_counted_in_cores(of_text):
    header = "JobID|State|Submit|Start|ElapsedRaw|AllocNodes|AllocCPUS|NodeList\n"
    rows = [f"{n}|COMPLETED|0|0|50|1|{4 if n else ''}|n1\n" for n in range(20)]
    clusters, account = clusters_of_slurm("log", of_text(header + "".join(rows)))
    assert (clusters.unit, account.left_out) == ("core", {"no CPUs": 1})
    clusters, account = clusters_of_slurm("log", of_text(header + "".join(rows[:9])))
    assert clusters.unit == "node"
    assert "since the CPUs of 1 of 9 jobs are not known (AllocCPUS)" in account.warnings[0]


def test_steps_alone_are_no_log(of_text):
    with pytest.raises(InstanceError, match=r"2 lines of steps alone, expected lines of jobs"):
        slurm_jobs(of_text("JobID|State|ElapsedRaw\n6.0|COMPLETED|5\n6.1|COMPLETED|5\n"), SlurmChoice(), "log")


def test_run_times_that_slurm_does_not_know_cannot_be_read(of_text):
    log = of_text(
        "JobID|State|ElapsedRaw\n1|COMPLETED|5\n2|COMPLETED|4294967295\n3|COMPLETED|4294967294\n4|COMPLETED|9\n5|COMPLETED|9\n"
    )
    assert log.skipped == {"ElapsedRaw that cannot be read": 2}


def test_names_with_commas_do_not_make_two_types_one(of_text):
    log = of_text(
        "JobID|User|JobName|Partition|State|ElapsedRaw|Submit|Start\n"
        "1|a, b|c|p|COMPLETED|5|0|0\n2|a|b, c|p|COMPLETED|9|0|0\n3|a|b, c|q|COMPLETED|9|0|0\n4|a|b|c, q|COMPLETED|9|0|0\n"
    )
    logged, _ = bag_of_slurm("log", log, choice=SlurmChoice(group_by=("user", "name"), machines_by="all"))
    assert [each.name for each in logged.bag.task_types] == ["a, b, c", "a, b, c (2)", "a, b"]
    clusters, _ = clusters_of_slurm("log", log, choice=SlurmChoice(group_by=("name",)))
    assert [each.name for each in clusters.task_types] == ["c, p", "b, c, p", "b, c, q", "b, c, q (2)"]


def test_a_job_of_no_time_still_had_a_node(of_text):
    log = of_text("JobID|State|ElapsedRaw|AllocNodes|Start\n1|COMPLETED|0|3|100\n")
    logged, account = bag_of_slurm("log", log, choice=SlurmChoice(machines_by="all"))
    assert [machine.count for machine in logged.bag.machine_types] == [3]
    assert logged.bag.seconds[0, 0] == 0.5
    assert account.notes == {"jobs of 0 seconds: half a second stands for it": 1}


def test_the_raw_number_of_a_job_is_taken_if_it_is_there(of_text):
    log = of_text("JobID|JobIDRaw|State|ElapsedRaw\n5_1|9|COMPLETED|1\n5_2|10|COMPLETED|2\n")
    jobs, _, _ = slurm_jobs(log, SlurmChoice(machines_by="all"), "log")
    assert jobs.number.tolist() == [9, 10]


def test_a_log_in_which_nothing_ended_is_refused(of_text):
    with pytest.raises(InstanceError, match=r"no job that can be used, of 1 .1 left out: state RUNNING"):
        bag_of_slurm("log", of_text("JobID|State|ElapsedRaw\n1|RUNNING|5\n"), choice=SlurmChoice(machines_by="all"))
    with pytest.raises(InstanceError, match="no job that can be used, of 0"):
        bag_of_slurm("log", of_text("JobID|State|ElapsedRaw\n"), choice=SlurmChoice(machines_by="all"))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([None, "batch", "extern", "0", "1"]), st.floats(1, 1e6))))
def test_energy_is_never_more_than_all_lines_nor_less_than_the_best_of_its_kind(lines):
    energy = Energy()
    for step, joules in lines:
        energy.take(step, joules)
    if not lines:
        assert energy.joules is None
        return
    own = [joules for step, joules in lines if step is None]
    extern = [joules for step, joules in lines if step == "extern"]
    numbered = sum(joules for step, joules in lines if step in {"0", "1"})
    script = max((joules for step, joules in lines if step == "batch"), default=0.0)
    expected = own[-1] if own else extern[-1] if extern else max(numbered, script)
    assert energy.joules == pytest.approx(expected)


def test_labels_can_be_printed():
    assert label_of("x" * 300) == "x" * 80 + "..."
    assert label_of("  ") == "unknown"
    assert label_of("tab\there").isprintable()


def test_runs_of_one_job_have_numbers_of_their_own_in_swf(of_text, tmp_path):
    log = of_text(
        "JobID|State|Submit|Start|ElapsedRaw|AllocNodes\n"
        "9|PREEMPTED|0|4|7|1\n9|COMPLETED|0|50|8|1\n12|COMPLETED|1|60|8|1\n"
    )
    clusters, _ = clusters_of_slurm("log", log)
    schedule = logged_schedule(clusters).schedule
    for name in ("out.swf", "out.csv", "out_jobs.csv"):
        export_schedule(clusters, schedule, tmp_path / name)
    assert "Note: jobs are numbered from 1" in (tmp_path / "out.swf").read_text()
    lines = [line for line in (tmp_path / "out.swf").read_text().splitlines() if not line.startswith(";")]
    assert [line.split()[0] for line in lines] == ["1", "2", "3"]
    for name, column, numbers in (("out.csv", 1, ["9", "9", "12"]), ("out_jobs.csv", 0, ["0", "1", "2"])):
        rows = (tmp_path / name).read_text().splitlines()[1:]
        assert [row.split(",")[column] for row in rows] == numbers
