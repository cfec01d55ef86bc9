"""The scripts of the Jobs paper's figures and of the bench of clusters: they run, draw, and print."""

from __future__ import annotations

import argparse
import gzip
import sys
from functools import partial

import pytest

from lpsched.generate.options import MachovecOptions
from lpsched.online.bound.solve import arrival_bound
from lpsched.online.simulate.options import PER_RESOURCE, PER_TASK
from lpsched.traces.swf import read_swf
from scripts.benches import clusters as bench_clusters
from scripts.figures.shared import arriving_days, parallel_days, parallel_figures
from scripts.figures.shared.arriving_days import BOUND, Runs, day_of, ran
from scripts.figures.shared.parallel_days import (
    LARGE_NODES,
    OWN,
    PRINTED,
    SMALL_NODES,
    case,
    is_filtered,
    percent,
    tell_constraint,
    titles,
)
from scripts.figures.shared.parallel_figures import draw_leniencies, draw_policies

pytestmark = [pytest.mark.unwatched, pytest.mark.slow]  # scripts are not covered code

PART = 0.02  # of 24 hours: 28.8 minutes with some 100 tasks, after 4.8 of warm-up

quick_bound = partial(arrival_bound, time_limit=0.1)


def asking(**changed):
    given = {"trials": 1, "jobs": 1, "seed": 0, "part": PART, "runs": None, "setting": LARGE_NODES} | changed
    return argparse.Namespace(**given)


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run a script on a tiny part of its days, and return what it printed."""

    def call(main):
        figure = tmp_path / "figure.svg"
        plain = ["--part", str(PART), "--trials", "1", "--jobs", "1", "--figure", str(figure)]
        monkeypatch.setattr(sys, "argv", ["figure", *plain])
        main()
        assert figure.read_text(encoding="utf-8").startswith("<?xml")
        return capsys.readouterr().out

    return call


def rows(printed: str) -> list[list[str]]:
    lines = [line for line in printed.splitlines() if line.startswith("| ") and "---" not in line]
    return [line[2:-2].split(" | ") for line in lines]


def test_a_part_of_clusters_has_that_part_of_hours_and_energy_and_as_many_tasks_an_hour():
    day = day_of(case(10_000, "easy-nodes").day, 0, 0, PART)
    # 2 % of 4 hours of warm-up and of 24 that count, of 15 GJ, and of 10,000 tasks a day for 28 hours: 233.
    assert (day.period.begins_at, day.period.ends_at) == pytest.approx((288.0, 2016.0))
    assert day.period.energy_constraint_joules == pytest.approx(3e8)
    assert 150 < day.tasks < 330


def test_policies_from_the_literature_come_first_and_max_upe_has_no_filter():
    names = list(titles())
    assert names[:4] == ["random", "conservative-nodes", "easy-nodes", "multiple-queues"]
    assert len(names) == 12
    assert [name for name in names if is_filtered(name)] == names[4:10]


def test_a_filter_changes_the_case_and_no_constraint_is_none():
    given = case(5_000, "max-upr", (PER_TASK, 2.5))
    assert (given.options.energy_filter, given.options.leniency, given.options.drop_below) == (PER_TASK, 2.5, 0.5)
    assert given.day.energy_gigajoules == 12.0
    assert case(5_000, "max-upr", constrained=False).day.energy_gigajoules is None


def test_small_nodes_have_24_cores_and_the_cores_of_the_paper():
    day = case(5_000, "easy-nodes", setting=SMALL_NODES).day
    assert isinstance(day, MachovecOptions)
    assert {cluster.cores_per_node for cluster in day.clusters} == {24}
    # 4,166 2/3 nodes of 24 cores would be 100,000 cores.
    assert sum(cluster.nodes for cluster in day.clusters) == 4_167
    assert (day.parallelism_share_least, day.parallelism_share_most) == (0.0125, 0.05)
    assert case(5_000, "easy-nodes") == case(5_000, "easy-nodes", setting=LARGE_NODES)


def test_another_setting_is_run_and_has_a_figure_of_its_own(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(arriving_days, "FIGURES", tmp_path)
    given = ["figure", "--part", str(PART), "--trials", "1", "--jobs", "1", "--setting", SMALL_NODES]
    monkeypatch.setattr(sys, "argv", given)
    draw_leniencies("x", "y", PER_TASK, (2.0,), 2.0)
    assert [path.name for path in tmp_path.iterdir()] == ["y-small-nodes.svg"]
    told = float(rows(capsys.readouterr().out)[1][1])
    # In the table a number has three digits; on the usual nodes the same policy earns something else.
    one, other = (
        percent(Runs(asking()), case(5_000, "max-upr:placeholders", (PER_TASK, 2.0), setting=setting)).mean
        for setting in (SMALL_NODES, LARGE_NODES)
    )
    assert told == pytest.approx(one, rel=5e-3)
    assert told != pytest.approx(other, rel=5e-3)


def test_the_bound_of_clusters_is_above_a_policy(monkeypatch):
    monkeypatch.setattr(arriving_days, "arrival_bound", quick_bound)
    earned, bound = (
        ran((case(5_000, name), 0), seed=0, part=PART)["utility"] for name in ("max-upe:placeholders", BOUND)
    )
    assert 0.0 < earned <= bound


def test_the_constraint_is_told_as_70_percent_of_a_whole_day(capsys):
    runs = Runs(asking())
    tell_constraint(runs, 5_000)
    table = rows(capsys.readouterr().out)
    assert [row[0] for row in table] == ["policy", "Max Util", "Max UPT", "Max UPR", "Max UPE"]
    assert [row[-1] for row in table] == ["printed", "12", "", "", ""]
    free = runs.lines(case(5_000, "max-util:placeholders", constrained=False))[0]["energy_joules"]
    assert float(table[1][3]) == pytest.approx(0.7 * free / 1e9 / PART, rel=1e-3)


def test_leniencies_have_a_row_each_and_the_best_is_told(run):
    printed = run(lambda: draw_leniencies("x", "y", PER_TASK, (0.01, 2.0), 2.0))
    assert [row[0] for row in rows(printed)] == ["leniency", "0.01", "2", "none"]
    tiny, filtered, free = (float(row[1]) for row in rows(printed)[1:])
    assert tiny < filtered  # a hundredth of the fair share lets hardly a task through
    best = "2" if filtered >= free else "none"
    assert f"Best leniency: {best}; printed 2." in printed


def test_all_policies_filters_and_claims_are_told(run, monkeypatch):
    monkeypatch.setattr(arriving_days, "arrival_bound", quick_bound)
    few = {"max-upr": "Max UPR", "max-upe": "Max UPE"}
    for module in (parallel_days, parallel_figures):
        monkeypatch.setattr(module, "UTILITY_AWARE", few)
        monkeypatch.setattr(module, "COMPARED", {"easy-nodes": "EASY Backfilling"})
    filters = {"no filter": None, "per-task, 2": PRINTED[PER_TASK], "per-resource, 2": OWN}
    monkeypatch.setattr(parallel_days, "SETS_IT", {5_000: "max-upr"})
    printed = run(lambda: draw_policies("x", "y", 5_000, filters))
    table = rows(printed)
    # EASY and twice Max UPE once, twice Max UPR with each of three filters.
    shown = [row for row in table if len(row) == 6][1:]
    assert len(shown) == 1 + 2 + 2 * 3 + 1
    assert shown[-1][0] == "bound, proved"
    assert ["utility above EASY Backfilling", *filters] in table
    assert ["utility above reservations", *filters] in table
    # Max UPR above the other filter, twice; Max UPE has none.
    at = table.index(["utility above per-task, 2", "per-resource, 2"])
    assert [row[0] for row in table[at + 1 : at + 3]] == ["Max UPR, reservations", "Max UPR, place-holders"]
    last = table[-1]
    assert last[0] == "Max UPR, place-holders"
    energy = {row[0]: float(row[4]) for row in shown if row[1] == "no filter"}  # in hundredths of a gigajoule
    more = energy["Max UPE, place-holders"] / energy["Max UPR, place-holders"] - 1
    assert float(last[1].split()[0]) == pytest.approx(100 * more, abs=6)


def test_shares_are_percent_of_what_none_waiting_would_earn():
    runs = Runs(asking())
    given = case(5_000, "easy-nodes")
    assert percent(runs, given).mean == pytest.approx(100 * runs.lines(given)[0]["share_of_naive"])
    assert PRINTED[PER_RESOURCE] == (PER_RESOURCE, 4.0)


def test_the_bench_tells_events_logs_and_reading(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(bench_clusters, "CASES", bench_clusters.CASES[:1])
    few = ["--part", "0.01", "--twin-hours", "0.1", "--jobs", "200"]
    bench_clusters.main(few)
    printed = capsys.readouterr().out
    assert "No log was given" in printed
    assert "schedules equal" in printed
    assert printed.count("200 jobs") == 1
    log = tmp_path / "tiny.swf"
    bench_clusters.write_jobs(log, 30)
    bench_clusters.main([*few, str(log)])
    printed = capsys.readouterr().out
    assert "tiny.swf: 30 jobs on 4,096 nodes" in printed
    assert "conservative" in printed


def test_made_up_jobs_are_read_whole_from_both_files(tmp_path):
    plain = tmp_path / "log.swf"
    bench_clusters.write_jobs(plain, 5)
    packed = tmp_path / "log.swf.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        trace = read_swf(path)
        assert trace["job"].tolist() == [1, 2, 3, 4, 5]
        assert trace.size("MaxProcs") == 4096
