"""A log of six nodes that jobs share: `sacct_shared.txt`, the same as JSON, and two lists of its nodes.

cn01 to cn04 have 16 CPUs and are the partition batch; cn01 is also the partition debug. gn01 and gn02 have 32 CPUs and
4 GPUs each, and are the partition gpu.
"""

from __future__ import annotations

import contextlib
import json
import re
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.io import limits
from lpsched.traces import slurm_units
from lpsched.traces.sacct import delimiter_of, read_sacct
from lpsched.traces.slurm import SlurmChoice, SlurmSize, bag_of_slurm, clusters_of_slurm, slurm_jobs
from lpsched.traces.slurm_cells import memory_of, node_names
from lpsched.traces.slurm_system import read_system
from lpsched.traces.slurm_units import Allocations, joined_groups, sharing_of

DATA = Path(__file__).parent.parent / "data"
SHARED = DATA / "sacct_shared.txt"
NODES = {"cn[01-02]": {"cn01", "cn02"}} | {name: {name} for name in ("cn01", "cn02", "cn03", "cn04", "gn01", "gn02")}
ENDED = {"COMPLETED", "FAILED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", "REQUEUED"}
STAR = "JobID|JobName|State|ElapsedRaw|AllocNodes\n"


def counted_by_hand():
    """Return the rows of jobs with a node, read from their right end, where no cell has a bar."""
    text = SHARED.read_text()
    starts = [found.start() for found in re.finditer(r"(?m)^\d+(?:_\S*?|\+\d)?\|", text)]
    rows = []
    for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
        job = re.sub(r"(?m)^\d+\.(batch|extern|0)\|.*\n", "", text[begin:end]).strip("\n")  # without its steps
        if job.startswith("520|"):
            continue  # cut off
        _, partition, qos, state, submit, start, _, seconds, limit, nodes, cpus, tres, listed, _ = job.rsplit("|", 13)
        if nodes == "0":
            continue
        gpus = re.search(r"gres/gpu=(\d+)", tres)
        moments = [datetime.fromisoformat(each).replace(tzinfo=UTC).timestamp() for each in (submit, start)]
        rows.append(
            {
                "job": job.split("|")[0], "raw": int(job.split("|")[1]), "partition": partition, "qos": qos,
                "state": state.split()[0], "submit": moments[0], "start": moments[1], "seconds": int(seconds),
                "limit": 60 * int(limit), "nodes": int(nodes), "cpus": int(cpus),
                "gpus": int(gpus[1]) if gpus else 0, "on": NODES[listed],
            }
        )  # fmt: skip
    return rows


ROWS = counted_by_hand()
KEPT = sorted((row for row in ROWS if row["state"] in ENDED), key=lambda row: row["submit"])


def peak(rows, width):
    """Return the most at one second, by looking at every one of them."""
    first = min(row["start"] for row in rows)
    last = max(row["start"] + row["seconds"] for row in rows)
    return max(
        sum(row[width] for row in rows if row["start"] <= second < row["start"] + row["seconds"])
        for second in np.arange(first, last)
    )


@pytest.fixture(scope="module")
def log():
    return read_sacct(SHARED)


@pytest.fixture(scope="module")
def system():
    return read_system(DATA / "scontrol_nodes.txt")


def test_the_rows_counted_by_hand_are_those_of_the_log():
    # 22 jobs; 514, 515 and 517 never had a node; 513 still runs.
    assert (len(ROWS), len(KEPT)) == (19, 18)


def test_odd_names_are_repaired_and_a_row_that_was_cut_off_is_skipped(log):
    names = {line.cells[0]: line.cells[2] for line in log.read()}
    assert (names["505"], names["510"], names["501.0"]) == ("post|proc", "mesh|a||b", "mpirun|tee")
    assert names["506"] == "two\nlines"
    assert log.repaired == {"the delimiter in a name": 4, "a newline in a name": 1}  # 510 has two rows
    assert log.skipped == {"another number of cells than the header": 1}
    assert "520" not in names


def test_jobs_on_shared_nodes_count_by_their_cores(log):
    clusters, account = clusters_of_slurm("log", log)
    assert (clusters.unit, account.kept, account.read) == ("core", 18, 22)
    assert account.left_out == {"state PENDING": 2, "state RUNNING": 1, "never ran": 1}
    # 509, 510 and 511 ran twice each
    assert [count for note, count in account.notes.items() if "of a requeued job" in note] == [3]
    tasks = clusters.arriving
    assert list(tasks.job_numbers) == [row["raw"] for row in KEPT]
    assert list(tasks.core_counts) == [row["cpus"] for row in KEPT]
    assert list(tasks.work_factors) == [row["seconds"] for row in KEPT]
    assert list(tasks.requested_factors) == [max(row["limit"], row["seconds"]) for row in KEPT]
    first = KEPT[0]["submit"]
    assert list(tasks.arrival_seconds) == [row["submit"] - first for row in KEPT]
    assert list(tasks.logged_start_seconds) == [row["start"] - first for row in KEPT]
    assert clusters.epoch == "2024-03-04T08:00:03Z"
    assert account.totals.width_seconds == sum(row["cpus"] * row["seconds"] for row in KEPT)
    cpus = [row for row in ROWS if row["partition"] != "gpu"]
    gpus = [row for row in ROWS if row["partition"] == "gpu"]
    assert [(each.name, each.nodes) for each in clusters.clusters] == [
        ("batch+debug", peak(cpus, "cpus")),
        ("gpu", peak(gpus, "cpus")),
    ]
    assert all(capacity["source"] == "peak" for capacity in account.capacity.values())
    assert [clusters.task_types[i].name for i in tasks.type_numbers] == [row["partition"] for row in KEPT]


def test_jobs_that_ran_beside_others_are_counted_as_pairs_are(log):
    beside = set()
    for one, other in combinations(range(len(ROWS)), 2):
        a, b = ROWS[one], ROWS[other]
        at_once = a["start"] < b["start"] + b["seconds"] and b["start"] < a["start"] + a["seconds"]
        if at_once and a["on"] & b["on"]:
            beside |= {one, other}
    _, account = clusters_of_slurm("log", log)
    (sentence,) = (fact for fact in account.facts if fact.startswith("jobs share nodes"))
    assert sentence.startswith(
        f"jobs share nodes: {len(beside)} of {len(ROWS)} jobs ran on a node while another job did"
    )
    assert "so the unit is a core" in sentence


def test_whole_nodes_are_said_to_be_too_much(log):
    clusters, account = clusters_of_slurm("log", log, choice=SlurmChoice(states=None, unit="node"))
    assert (clusters.unit, list(clusters.arriving.core_counts)) == ("node", [row["nodes"] for row in KEPT])
    (warning,) = account.warnings
    assert "jobs share nodes" in warning
    assert "--unit core" in warning
    assert clusters.nodes > 6  # what the warning is about


def test_gpus_are_a_unit_and_jobs_without_one_are_left_out(log, system):
    choice = SlurmChoice(states=None, unit="gpu")
    clusters, account = clusters_of_slurm("log", log, choice=choice, size=SlurmSize(system=system))
    gpus = [row["gpus"] for row in KEPT if row["gpus"]]
    assert list(clusters.arriving.core_counts) == gpus == [2, 2, 4, 4]  # the types' counts are not added to the whole
    assert account.left_out["no GPUs"] == len(KEPT) - 4
    assert [(each.name, each.nodes) for each in clusters.clusters] == [("gpu", 8)]
    clusters, _ = clusters_of_slurm("log", log, choice=choice)
    assert clusters.nodes == peak([row for row in ROWS if row["gpus"]], "gpus")
    logged, _ = bag_of_slurm("log", log, choice=SlurmChoice(unit="gpu", group_by=("name",)), watts=False)
    assert [(each.name, each.count) for each in logged.bag.task_types] == [("train", 4), ("infer", 4)]


@pytest.mark.parametrize("name", ["sacct_shared_2205.json", "sacct_shared_2311.json"])
def test_json_of_old_and_new_slurm_makes_the_same_clusters(log, system, name):
    size = SlurmSize(system=system)
    one, _ = clusters_of_slurm("log", log, size=size)
    other, account = clusters_of_slurm("log", read_sacct(DATA / name), size=size)
    assert one == other
    assert "UTC" not in " ".join(account.facts)  # its moments are seconds since 1970


@pytest.mark.parametrize("name", ["sacct_shared_2205.json", "sacct_shared_2311.json"])
def test_json_has_the_identifiers_of_jobs_and_steps(log, name):
    cells = [line.cells[0] for line in log.read()]
    expected = ["517" if cell == "517_[5-9]" else cell for cell in cells]  # a whole array that waits has no task yet
    assert [line.cells[0] for line in read_sacct(DATA / name).read()] == expected


def test_numbers_of_json_may_be_unset_or_infinite(tmp_path):
    number = {"set": True, "infinite": False, "number": 0}
    job = {
        "job_id": 9, "array": {"job_id": 8, "task_id": number}, "state": {"current": ["COMPLETED"]},
        "allocation_nodes": 1, "time": {"elapsed": 5, "limit": number | {"infinite": True}, "submission": 1, "start": 2},
    }  # fmt: skip
    single = job | {"job_id": 10, "array": {"job_id": 10, "task_id": number | {"set": False}}}
    (tmp_path / "a.json").write_text(json.dumps({"jobs": [job, single]}))
    first, second = read_sacct(tmp_path / "a.json").read()
    assert (first.cells[:2], second.cells[:2]) == (("8_0", "9"), ("10", "10"))
    assert (first.values["requested_seconds"], first.values["start"]) == (None, 2)


@pytest.mark.parametrize("name", ["scontrol_nodes.txt", "sinfo_nodes.txt"])
def test_a_list_of_nodes_says_how_large_the_system_is(log, name):
    read = read_system(DATA / name)
    assert len(read.nodes) == 6
    assert [read.capacity(unit) for unit in ("node", "core", "gpu")] == [6, 4 * 16 + 2 * 32, 8]
    assert [read.capacity("core", {part}) for part in ("batch", "debug", "gpu")] == [64, 16, 64]
    assert read.capacity("core", {"batch", "debug"}) == 64  # cn01 is in both, and counts once
    assert read.unusable == 1  # cn02
    clusters, account = clusters_of_slurm("log", log, size=SlurmSize(system=read))
    assert [(each.name, each.nodes) for each in clusters.clusters] == [("batch+debug", 64), ("gpu", 64)]
    assert {capacity["source"] for capacity in account.capacity.values()} == {"system"}


def test_lists_of_nodes_come_in_other_shapes_too(tmp_path):
    text = (DATA / "scontrol_nodes.txt").read_text()
    blocks = [" ".join(block.split()) for block in text.split("NodeName=") if block]
    (tmp_path / "o.txt").write_text("".join(f"NodeName={block}\n" for block in blocks))  # scontrol -o
    assert read_system(tmp_path / "o.txt") == read_system(DATA / "scontrol_nodes.txt")
    lines = (DATA / "sinfo_nodes.txt").read_text().splitlines()
    (tmp_path / "h.txt").write_text("\n".join(lines[1:]))  # sinfo -h
    assert read_system(tmp_path / "h.txt") == read_system(DATA / "sinfo_nodes.txt")
    turned = ["|".join(reversed(line.split("|"))) for line in lines]
    (tmp_path / "t.txt").write_text("\n".join(turned))
    assert read_system(tmp_path / "t.txt") == read_system(DATA / "sinfo_nodes.txt")
    (tmp_path / "r.txt").write_text("n[1-3]|8|(null)|all*|idle\nx|8|(null)||idle\ny|8|gpu:2|all|future\n")
    assert [node.name for node in read_system(tmp_path / "r.txt").nodes] == ["n1", "n2", "n3"]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", "an empty file"),
        ("PARTITION AVAIL TIMELIMIT NODES STATE NODELIST\n", "'PARTITION AVAIL"),
        ("n1|eight|(null)|all|idle\n", "'eight' of 'n1'"),
        ("n[1-|8|(null)|all|idle\n", "of 'n[1-'"),
        ("n1|8\n", "2 cells"),
        ("NodeName=n1 CPUTot=8 State=IDLE\n", "no node in a partition"),
    ],
)
def test_what_is_no_list_of_nodes_is_rejected(tmp_path, content, found):
    (tmp_path / "a.txt").write_text(content)
    with pytest.raises(InstanceError) as caught:
        read_system(tmp_path / "a.txt")
    assert found in caught.value.issues[0].got


def test_other_signs_of_shared_nodes_are_few_cpus_and_more_nodes_than_there_are(system, tmp_path):
    header = "JobID|Partition|State|Submit|Start|ElapsedRaw|AllocNodes|AllocCPUS|NodeList\n"
    (tmp_path / "a.txt").write_text(header + "1|gpu|COMPLETED|0|0|9|1|4|gn01\n2|gpu|COMPLETED|0|10|9|1|32|gn01\n")
    alone = read_sacct(tmp_path / "a.txt")
    assert clusters_of_slurm("log", alone)[0].unit == "node"  # not at one time
    clusters, account = clusters_of_slurm("log", alone, size=SlurmSize(system=system))
    assert clusters.unit == "core"
    assert any("1 of 2 jobs had fewer CPUs than their nodes have" in fact for fact in account.facts)
    rows = "".join(f"{n}|gpu|COMPLETED|0|0|9|1|4|\n" for n in range(7))
    (tmp_path / "b.txt").write_text(header + rows)
    _, account = clusters_of_slurm("log", read_sacct(tmp_path / "b.txt"), size=SlurmSize(system=system))
    assert any("7 nodes of gpu were in use at one time, of 2" in fact for fact in account.facts)
    # Of each cluster, not of all: three of two nodes are more than there are, though the system has six.
    (tmp_path / "c.txt").write_text(header + rows[: 3 * len("0|gpu|COMPLETED|0|0|9|1|4|\n")])
    clusters, account = clusters_of_slurm("log", read_sacct(tmp_path / "c.txt"), size=SlurmSize(system=system))
    assert clusters.unit == "core"
    assert any("3 nodes of gpu were in use at one time, of 2" in fact for fact in account.facts)


def test_a_number_without_its_unit_is_asked_for_where_nodes_are_shared(log):
    with pytest.raises(InstanceError, match=r"a number of units, where jobs share nodes.*--unit core"):
        clusters_of_slurm("log", log, size=SlurmSize(total=6))
    cores = SlurmChoice(states=None, unit="core")
    clusters, account = clusters_of_slurm("log", log, choice=cores, size=SlurmSize(total=128))
    assert [(each.name, each.nodes) for each in clusters.clusters] == [("cluster", 128)]
    assert {each.name for each in clusters.task_types} == {"batch", "debug", "gpu"}
    _, account = clusters_of_slurm("log", log, choice=cores, counts={"batch+debug": 64, "gpu": 40})
    highest = peak([row for row in KEPT if row["partition"] == "gpu"], "cpus")
    had = f"gpu has 40 cores, and jobs of the log had up to {highest} at one time"
    assert account.warnings == [f"{had}: the log's own schedule does not fit"]


def test_a_system_that_is_one_has_all_nodes_of_the_list(log, system, tmp_path):
    choice = SlurmChoice(states=None, machines_by="all")
    clusters, _ = clusters_of_slurm("log", log, choice=choice, size=SlurmSize(system=system))
    assert [(each.name, each.nodes) for each in clusters.clusters] == [("cluster", 128)]
    (tmp_path / "a.txt").write_text("JobID|State|Submit|Start|ElapsedRaw|AllocNodes\n1|COMPLETED|0|0|9|1\n")
    clusters, account = clusters_of_slurm("log", read_sacct(tmp_path / "a.txt"), size=SlurmSize(system=system))
    assert [(each.name, each.nodes) for each in clusters.clusters] == [("cluster", 6)]
    assert "the system is one cluster: there is no column Partition" in account.facts


def test_partitions_with_nodes_in_common_can_be_kept_apart_with_a_warning(log):
    clusters, account = clusters_of_slurm("log", log, choice=SlurmChoice(states=None, machines_by="partition"))
    assert [each.name for each in clusters.clusters] == ["batch", "gpu", "debug"]
    assert any("partitions batch, debug have nodes in common" in warning for warning in account.warnings)


def test_watts_are_the_joules_of_a_type_by_its_core_seconds(log):
    clusters, account = clusters_of_slurm("log", log)
    watts = {
        each.name: clusters.watts.at(i, 1 if each.name == "gpu" else 0, 1) for i, each in enumerate(clusters.task_types)
    }
    # 501: 480 kJ on 32 cores for 1,200 s; 507 and 508: 2,520 and 900 kJ on 8 and 16 cores for 3,600 and 1,800 s
    expected = {"batch": 480e3 / (32 * 1200), "gpu": 3420e3 / (8 * 3600 + 16 * 1800), "debug": 480e3 / (32 * 1200)}
    assert watts == pytest.approx(expected)
    assert account.notes["task types without energy: the mean of others is used"] == 1
    assert clusters_of_slurm("log", log, watts=False)[0].watts is None
    given, _ = clusters_of_slurm("log", log, watts_per_node=7.0)
    assert given.watts.at(0, 0, 2) == 14.0


def test_types_by_queue_and_size(log):
    clusters, _ = clusters_of_slurm("log", log, choice=SlurmChoice(states=None, group_by=("qos", "size")))
    names = {each.name for each in clusters.task_types}
    classes = {1: 1, 4: 4, 8: 8, 16: 16, 32: 32}
    cluster = {"batch": "batch+debug", "debug": "batch+debug", "gpu": "gpu"}
    assert names == {f"{row['qos']}, size {classes[row['cpus']]}, {cluster[row['partition']]}" for row in KEPT}


def test_starts_are_kept_for_all_jobs_or_for_none(tmp_path):
    header = "JobID|Partition|State|Submit|Start|ElapsedRaw|AllocNodes\n"
    (tmp_path / "a.txt").write_text(header + "1|p|COMPLETED|100|90|9|1\n2|p|COMPLETED|110|120|9|1\n")
    clusters, account = clusters_of_slurm("log", read_sacct(tmp_path / "a.txt"))
    assert list(clusters.arriving.logged_start_seconds) == [0, 20]  # 90 is before 100, when it was submitted
    assert account.notes["jobs that started before their submission: the start is raised to it"] == 1
    (tmp_path / "b.txt").write_text("JobID|State|Submit|ElapsedRaw|AllocNodes\n1|COMPLETED|100|9|1\n")
    clusters, account = clusters_of_slurm("log", read_sacct(tmp_path / "b.txt"), size=SlurmSize(total=4))
    assert clusters.arriving.logged_starts is None
    assert "the log's own starts are not kept: 1 of 1 jobs have none" in account.facts


def test_a_job_that_depends_on_another_arrives_when_it_could_start(tmp_path):
    header = "JobID|State|Submit|Eligible|Start|ElapsedRaw|AllocNodes\n"
    rows = "1|COMPLETED|100|100|100|50|1\n2|COMPLETED|110|150|160|9|1\n3|COMPLETED|120|Unknown|130|9|1\n"
    odd = "4|COMPLETED|125|900|130|9|1\n"  # it started before
    (tmp_path / "a.txt").write_text(header + rows + odd)
    clusters, account = clusters_of_slurm("log", read_sacct(tmp_path / "a.txt"))
    assert list(zip(clusters.arriving.job_numbers, clusters.arriving.arrival_seconds, strict=True)) == [
        (1, 0),
        (3, 20),
        (4, 25),
        (2, 50),
    ]
    assert [count for note, count in account.notes.items() if "could not start when submitted" in note] == [1]


def test_what_a_job_asks_for_in_memory_is_said(tmp_path):
    header = "JobID|State|Submit|Start|ElapsedRaw|AllocNodes|AllocCPUS|ReqMem\n"
    (tmp_path / "a.txt").write_text(header + "1|COMPLETED|0|0|9|2|8|4Gc\n2|COMPLETED|0|0|9|2|8|1Gn\n")
    _, account = clusters_of_slurm("log", read_sacct(tmp_path / "a.txt"))
    assert "memory of jobs at one time: at most 34 GiB (2 jobs with data)" in account.facts  # 8 x 4 + 2 x 1
    assert memory_of("?", 1, 1) is None


# Rows that are broken


def test_a_delimiter_is_seen_in_the_header_or_given(tmp_path):
    (tmp_path / "a.txt").write_text("JobID;;State;;ElapsedRaw;;JobName\n1;;COMPLETED;;5;;a|b\n")
    (line,) = read_sacct(tmp_path / "a.txt").read()
    assert line.cells == ("1", "COMPLETED", "5", "a|b")
    assert [delimiter_of(text) for text in ("JobID,State", "JobID\tState", "JobID")] == [",", "\t", "|"]
    (tmp_path / "b.txt").write_text("JobID_State_ElapsedRaw\n1_COMPLETED_5\n")
    (line,) = read_sacct(tmp_path / "b.txt", delimiter="_").read()
    assert line.values["seconds"] == 5


def test_a_row_that_was_cut_off_never_takes_cells_of_the_next(tmp_path):
    (tmp_path / "a.txt").write_text(
        STAR + "1|a|COMPLETED\n2|b|COMPLETED|20|2\n3|c|d|COMPLETED|30|3\n4|e|COMPLETED|40|4\n"
    )
    log = read_sacct(tmp_path / "a.txt")
    assert [line.cells for line in log.read()] == [
        ("2", "b", "COMPLETED", "20", "2"),
        ("3", "c|d", "COMPLETED", "30", "3"),
        ("4", "e", "COMPLETED", "40", "4"),
    ]
    assert log.skipped == {"another number of cells than the header": 1}


def test_a_row_that_could_be_repaired_in_two_ways_is_not(tmp_path):
    header = "JobID|JobName|Comment|State|ElapsedRaw\n"
    (tmp_path / "a.txt").write_text(header + "1|a|b|c|COMPLETED|5\n2|a|c|COMPLETED|5\n3|a|c|COMPLETED|5\n")
    log = read_sacct(tmp_path / "a.txt")
    assert ([line.cells[0] for line in log.read()], sum(log.skipped.values())) == (["2", "3"], 1)
    apart = "JobID|JobName|State|Comment|ElapsedRaw\n"
    (tmp_path / "b.txt").write_text(apart + "1|a|b|COMPLETED|c|5\n2|a|COMPLETED|b|c|5\n3|a|COMPLETED|c|5\n")
    rows = [line.cells for line in read_sacct(tmp_path / "b.txt").read()]
    assert rows[:2] == [("1", "a|b", "COMPLETED", "c", "5"), ("2", "a", "COMPLETED", "b|c", "5")]


def test_a_name_at_the_end_goes_on_in_the_next_lines(tmp_path):
    text = "JobID|State|ElapsedRaw|JobName\n1|COMPLETED|5|a\nb\n\nc|d\n2|COMPLETED|6|e\n"
    (tmp_path / "a.txt").write_text(text)
    log = read_sacct(tmp_path / "a.txt")
    assert [line.cells[3] for line in log.read()] == ["a\nb\nc|d", "e"]
    assert log.repaired == {"a newline in a name": 1}


names = st.text("ab |\n", max_size=8)


@settings(max_examples=300, deadline=None)
@given(st.lists(names, min_size=1, max_size=6))
@example(["|||\n"])  # the first line alone has as many cells as a row, and no state
@example(["|a||\n"])  # or one that is none
def test_odd_names_never_change_other_cells(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("names") / "a.txt"
    path.write_text(STAR + "".join(f"{n}|{name}|COMPLETED|{n}0|{n}\n" for n, name in enumerate(written, start=1)))
    log = read_sacct(path, skip_dirty=True)
    found = {int(line.cells[0]): line for line in log.read()}
    for n, name in enumerate(written, start=1):
        cells = found[n].cells
        assert (cells[2:], found[n].values["seconds"]) == (("COMPLETED", f"{n}0", f"{n}"), n * 10.0)
        assert re.sub(r"\s+", "", cells[1]) == re.sub(r"\s+", "", name)
    assert not log.skipped


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*SHARED.read_text().splitlines(), "|||", "501", "x|y", "\x00|" * 17]), max_size=12))
def test_lines_in_any_order_never_crash(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_text("\n".join([SHARED.read_text().splitlines()[0], *lines]))
    log = read_sacct(path, skip_dirty=True)
    assert len(list(log.read())) == len(log.lines)
    with contextlib.suppress(InstanceError):
        clusters_of_slurm("log", log)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 20_000), st.binary(max_size=12), st.integers(0, 40))
def test_broken_json_never_crashes(tmp_path_factory, at, noise, cut):
    content = (DATA / "sacct_shared_2311.json").read_bytes()
    at %= len(content)
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_bytes(content[:at] + noise + content[at + cut :])
    with contextlib.suppress(InstanceError):
        clusters_of_slurm("log", read_sacct(path, skip_dirty=True))


def test_jobs_of_json_that_make_no_sense_are_left_out_one_by_one(tmp_path):
    whole = json.loads((DATA / "sacct_shared_2205.json").read_text())
    whole["jobs"][3:3] = [7, {"job_id": "x"}, None]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(whole))  # on one line
    log = read_sacct(path)
    assert sum(log.skipped.values()) == 3
    assert log.issues[0].location == "jobs[3]"
    assert set(log.skipped) == {"JobID that cannot be read"}
    assert slurm_jobs(log, SlurmChoice(states=None), "log")[2].read == 22
    (tmp_path / "b.json").write_text('{"nodes": []}')
    with pytest.raises(InstanceError, match='no list called "jobs"'):
        read_sacct(tmp_path / "b.json")


@pytest.mark.parametrize("elapsed", ["abc", True, -5, 10.25, 1e30, 4_294_967_295])
def test_a_run_time_of_json_that_cannot_be_read_is_counted_as_such(tmp_path, elapsed):
    whole = json.loads((DATA / "sacct_shared_2205.json").read_text())
    whole["jobs"][0]["time"]["elapsed"] = elapsed
    whole["jobs"][1]["time"]["elapsed"] = str(whole["jobs"][1]["time"]["elapsed"])  # digits can be
    whole["jobs"][2]["time"]["elapsed"] = {"set": True, "infinite": True, "number": 0}  # says nothing
    (tmp_path / "a.json").write_text(json.dumps(whole))
    log = read_sacct(tmp_path / "a.json")
    assert log.skipped == {"ElapsedRaw that cannot be read": 1}
    second = next(line for line in log.read() if line.number == 2)
    assert second.values["seconds"] is None


@pytest.mark.parametrize("rest", ["", "]", "] }\n{}", '], "meta": {"a": }}', "]} garbage", ']}{"jobs": []}'])
def test_json_must_be_one_whole_document(tmp_path, rest):
    job = json.dumps(json.loads((DATA / "sacct_shared_2205.json").read_text())["jobs"][0])
    (tmp_path / "a.json").write_text(f'{{"jobs": [{job}{rest}')
    with pytest.raises(InstanceError, match="broken JSON"):
        read_sacct(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("JobID;State;ElapsedRaw", r"names between which stands ','.*--delimiter"),
        ("JobIDRaw,State,ElapsedRaw", r"a header with JobID.*--format"),
        ("State,ElapsedRaw", "without --noheader"),
    ],
)
def test_a_header_that_cannot_be_read_says_why(tmp_path, header, said):
    (tmp_path / "a.txt").write_text(f"{header}\n")
    with pytest.raises(InstanceError, match=said):
        read_sacct(tmp_path / "a.txt", delimiter=",")


def test_nodes_to_come_do_not_count(tmp_path):
    (tmp_path / "nodes.txt").write_text("g1|64|gpu:4|gpu|idle\ng2|64|gpu:4|gpu|futr\ng3|64|gpu:4|gpu|FUTURE\n")
    assert read_system(tmp_path / "nodes.txt").capacity("node") == 1


# Lists of nodes and who is beside whom, against plain loops


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        ("a", ["a"]),
        ("n[1,3-4]", ["n1", "n3", "n4"]),
        ("n[098-101]", ["n098", "n099", "n100", "n101"]),
        ("r[1-2]c[0-1]x,z", ["r1c0x", "r1c1x", "r2c0x", "r2c1x", "z"]),
        ("", []),
        ("None assigned", []),
    ],
)
def test_lists_of_nodes(listed, names):
    assert list(node_names(listed)) == names


@pytest.mark.parametrize(
    "listed", ["n[", "n]", "n[a]", "n[3-1]", "n[1-2000000000]", "n[1-999999][1-999999]", ",", "a,,b"]
)
def test_lists_of_nodes_that_are_none(listed):
    with pytest.raises(ValueError, match=re.escape(listed)):
        node_names(listed)


jobs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5), st.sets(st.integers(0, 3), min_size=1)), max_size=9)


@settings(max_examples=300, deadline=None)
@given(jobs)
def test_who_ran_beside_whom_is_what_pairs_say(written):
    held = Allocations(
        np.array([start for start, _, _ in written], np.float64),
        np.array([seconds for _, seconds, _ in written], np.float64),
        np.array([len(nodes) for _, _, nodes in written], np.int64),
        np.zeros(len(written), np.int64),
        [f"n[{','.join(map(str, sorted(nodes)))}]" for _, _, nodes in written],
        [f"p{n % 2}" for n in range(len(written))],
    )
    beside = set()
    for a, b in combinations(range(len(written)), 2):
        (s, t, on), (u, v, at) = written[a], written[b]
        first, second = (max(each - 2, each / 2) for each in (t, v))  # up to 2 seconds do not count
        if t and v and s < u + second and u < s + first and on & at:
            beside |= {a, b}
    assert sharing_of(held, None).beside == len(beside)


def test_groups_are_joined_by_way_of_others():
    links = [frozenset(each) for each in ("ab", "cd", "bc", "e")]
    assert joined_groups(links) == (("a", "b", "c", "d"),)


@pytest.mark.parametrize(("name", "module"), [("MOST_VISITS", slurm_units), ("MOST_NODES", limits)])
def test_few_nodes_of_jobs_are_looked_at_for_shared_ones(monkeypatch, name, module):
    starts, seconds = np.array([0.0, 100.0, 200.0, 210.0]), np.full(4, 50.0)
    nodes, cpus = np.ones(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    held = Allocations(starts, seconds, nodes, cpus, ["a", "b", "c", "c"], ["p"] * 4)
    assert sharing_of(held, None).beside == 2
    monkeypatch.setattr(module, name, 1)
    assert sharing_of(held, None).beside == 0
