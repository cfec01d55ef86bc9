"""The shipped instances are what the scripts make, and what their README says."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import statistics
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import lpsched
from lpsched.bag.files import read_bag
from lpsched.bag.front import MAKESPAN
from lpsched.bag.model import Bag
from lpsched.bag.problem import relaxed_front
from lpsched.bag.solve import solve
from lpsched.facility.air import dense, facility_arrays, heat_map, inlets
from lpsched.facility.files import read_facility
from lpsched.facility.model import Facility
from lpsched.generate.facility import generate_facility
from lpsched.io.documents import read_document
from lpsched.lp.solvers import default_solver
from lpsched.online.arrays import cluster_arrays
from lpsched.online.clusters import Clusters
from lpsched.online.day import Day
from lpsched.online.files import read_clusters, read_day
from lpsched.units import lower_text, number, upper_text
from scripts import measured_instances
from scripts.benches.rcmax import read_matrix
from scripts.figures.shared.data_sets import chapter_2, chapter_5, jobs_paper, small_chapter_3, small_jobs_paper
from scripts.make_instances import BENCHMARKS, FACILITY_SEED, instances, main
from tests.naive import naive_utility

FOLDER = Path(__file__).parent.parent / "instances"
WEEK = ["ai-week.yaml", "carbon-de-2024-01-08.csv", "prices-de-2024-01-08.csv"]
BY_HAND = {"README.md", "facility-tiny.yaml", "render-day.yaml", "licences", "rcmax", *WEEK}
MEASURED_BAGS = ["mlperf-power.yaml", "veed-12x6.yaml", "zeus-34x4.yaml"]
MEASURED = sorted([*MEASURED_BAGS, "gavel-v100.yaml", "h100-training.yaml", "h100-training.yaml.tasks.csv"])
SHIPPED = sorted(path.name for path in FOLDER.iterdir() if path.name not in {*BY_HAND, *MEASURED})
RAW = "LPSCHED_RAW_DATA"  # where the published files are that measured instances are made of
UTILITY = [name for name in SHIPPED if name.startswith("utility") and name.endswith(".yaml")]
ONLINE = {"essc-33k.yaml": chapter_2, "energy-2k.yaml": small_chapter_3}
CLUSTERS = {"clusters-5k.yaml": jobs_paper, "clusters-small.yaml": small_jobs_paper}
BAGS = [
    name
    for name in SHIPPED
    if not name.startswith(("facility", "utility", "essc", "energy", "clusters")) and name.endswith(".yaml")
] + [*MEASURED_BAGS, WEEK[0], "render-day.yaml"]


def test_the_script_makes_every_instance_again(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make_instances.py", str(tmp_path)])
    main()
    assert sorted(path.name for path in tmp_path.iterdir()) == SHIPPED == sorted(instances())
    for name in SHIPPED:
        if name.endswith((".yaml", ".csv")):
            assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), name


needs_raw = pytest.mark.skipif(RAW not in os.environ, reason=f"set {RAW} to where the published files are")


@needs_raw
def test_the_measured_instances_are_made_of_the_published_files(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["measured_instances.py", os.environ[RAW], str(tmp_path)])
    measured_instances.main()
    assert sorted(path.name for path in tmp_path.iterdir()) == MEASURED
    for name in MEASURED:
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), name


def records():
    """Return the makespans of the README of `rcmax`: published, of the schedule and proved, by instance."""
    text = (FOLDER / "rcmax" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\S+)` \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    return {name: tuple(map(int, numbers)) for name, *numbers in rows}


def test_each_new_makespan_has_a_schedule_and_a_certificate():
    files = {f"{name}.{kind}.json" for name in records() for kind in ("schedule", "certificate")}
    assert {path.name for path in (FOLDER / "rcmax").iterdir()} == {"README.md", *files}
    for name, (before, value, bound) in records().items():
        assert bound <= value < before
        about, claim = (
            json.loads((FOLDER / "rcmax" / f"{name}.{each}.json").read_text(encoding="utf-8"))
            for each in ("schedule", "certificate")
        )
        assert about["instance"] == claim["instance"]
        assert claim["claim"]["bound"] == str(bound)


@needs_raw
@pytest.mark.slow
def test_new_makespans_are_those_of_their_schedules_and_certificates():
    best = {row["file"].removesuffix(".txt"): int(row["best_known"]) for row in published("rcmax/known.csv")}
    for name, (before, value, bound) in records().items():
        assert best[name] == before
        seconds = read_matrix(Path(os.environ[RAW]) / "rcmax" / f"{name}.txt.gz")
        bag = Bag.from_arrays(seconds, tasks=[1] * len(seconds), machines=[1] * len(seconds[0]), name=name)
        schedule, certificate = lpsched.verify(
            bag, [FOLDER / "rcmax" / f"{name}.{each}.json" for each in ("schedule", "certificate")]
        ).files
        assert schedule.accepted
        assert schedule.measured.makespan_seconds == value
        assert certificate.accepted
        assert certificate.proved >= bound


def published(name):
    """Return the rows of a published table, read without lpsched."""
    path = Path(os.environ[RAW]) / name
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return list(csv.DictReader(file))


def cells_of(bag):
    """Return seconds and watts by task type and column."""
    labels = [label for machine in bag.machine_types for label in machine.columns]
    return {
        (task.name, label): (bag.seconds[i, j], bag.watts[i, j])
        for i, task in enumerate(bag.task_types)
        for j, label in enumerate(labels)
    }


@needs_raw
def test_the_cells_of_measured_bags_are_the_published_numbers():
    zeus, checked = cells_of(read_bag(FOLDER / "zeus-34x4.yaml")), 0
    for row in published("zeus/summary_power_v100.csv"):
        task = f"{row['network']}-{row['dataset']}-{row['optimizer']}-{row['batch_size']}"
        if cell := zeus.get((task, f"v100:{row['power_limit']}W")):
            assert cell == pytest.approx((float(row["time_per_epoch"]), float(row["average_power"])), rel=1e-5)
            checked += 1
    assert checked == 34 * 7  # seven power limits
    veed = read_bag(FOLDER / "veed-12x6.yaml")
    rows = [row for row in published("veed/hevc-c5_9xlarge.csv.gz") if row["height"] == "720"]
    times = [float(row["duration [s]"]) for row in rows]
    kwh = sum(float(row["model_cpu_energy [kWh]"]) for row in rows)
    expected = (statistics.mean(times), 3.6e6 * kwh / sum(times))
    assert cells_of(veed)["hevc-720p", "c5.9xlarge"] == pytest.approx(expected, rel=1e-5)
    place = [each.name for each in veed.task_types].index("hevc-720p"), 3
    assert veed.machine_types[3].name == "c5.9xlarge"
    assert veed.seconds_cov is not None
    assert veed.seconds_cov[place] == pytest.approx(statistics.stdev(times) / statistics.mean(times), rel=1e-5)
    # The fastest system does 125,479 samples/s of rnnt: 10 s of that are more than a million, so it is ten.
    mlperf = cells_of(read_bag(FOLDER / "mlperf-power.yaml"))
    assert mlperf["rnnt x 10M", "H100-PCIe-x8"] == pytest.approx((1e7 / 98_684.6, 2235.987), rel=1e-5)


@pytest.mark.parametrize("name", [name for name in MEASURED if name.endswith(".yaml")])
def test_measured_instances_say_what_is_measured_and_where_it_is_from(name):
    head = " ".join(line for line in (FOLDER / name).read_text().splitlines() if line.startswith("# "))
    assert all(word in head for word in ("MEASURED: ", "ASSUMED: ", "Source: ", "Licence: "))
    row = next(line for line in (FOLDER / "README.md").read_text().splitlines() if line.startswith(f"| `{name}`"))
    licence = re.search(r"Licence: ([\w.-]+?)[.,]? ", head + " ")
    assert licence is not None
    assert licence[1] in row
    assert ("modelled: watts" in row, "MODELLED" in head) in {(True, True), (False, False)}


def test_the_readme_tells_bound_and_value_of_the_measured_facility():
    result = lpsched.facility(FOLDER / "gavel-v100.yaml")
    end = f"| {upper_text(result.bound, 5)} reward/s | {number(result.reward_rate, 5)} reward/s |"
    assert re.search(rf"\| `gavel-v100.yaml` .*{re.escape(end)}\n", (FOLDER / "README.md").read_text())


def test_the_readme_tells_bound_and_value_of_the_measured_clusters():
    path = FOLDER / "h100-training.yaml"
    jsonschema.Draft202012Validator(Clusters.model_json_schema()).validate(read_document(path).value)
    answer = lpsched.simulate(path, ["conservative"], bound=True).to_dict()
    assert answer["naive_cost"] == read_clusters(path).tasks == 960  # a task that waits not has a slowdown of 1
    end = f"| {lower_text(answer['cost_bound'], 4)} | {number(answer['policies'][0]['cost'], 4)} |"
    assert re.search(rf"\| `{path.name}` \| 960 tasks .*{re.escape(end)}\n", (FOLDER / "README.md").read_text())


def test_the_script_makes_the_same_air_again():
    # Shares have all their digits, and the last ones depend on the processor's exponential.
    small = read_facility(FOLDER / "facility-small.yaml")
    again = generate_facility("small", np.random.default_rng(FACILITY_SEED))
    assert dense(small.mixing.matrix) == pytest.approx(dense(again.mixing.matrix), abs=1e-12)
    assert small.model_copy(update={"mixing": again.mixing}) == again


@pytest.mark.parametrize("name", ["facility-tiny.yaml", "facility-small.yaml", "gavel-v100.yaml"])
def test_each_facility_satisfies_the_schema_and_is_in_the_readme(name):
    jsonschema.Draft202012Validator(Facility.model_json_schema()).validate(read_document(FOLDER / name).value)
    assert f"| `{name}` |" in (FOLDER / "README.md").read_text()


def test_the_redlines_of_the_small_platform_bind():
    name = "facility-small.yaml"
    facility = read_facility(FOLDER / name)
    assert (len(facility.nodes), len(facility.crac_units), len(facility.task_types)) == (150, 3, 8)
    # Even idle nodes cannot have the warmest air that the units could blow, which would be the cheapest.
    idle = np.array([facility.node_types[j].overhead_watts for j in facility.nodes])
    arrays, heat = facility_arrays(facility), heat_map(facility)
    assert (inlets(heat, idle, arrays.outlet_high) > arrays.redline).any()


@pytest.mark.parametrize("name", [*UTILITY, *ONLINE])
def test_each_day_satisfies_the_schema_and_is_in_the_readme(name):
    jsonschema.Draft202012Validator(Day.model_json_schema()).validate(read_document(FOLDER / name).value)
    day = read_day(FOLDER / name)
    assert f"| `{name}` | {day.tasks:,} tasks" in (FOLDER / "README.md").read_text()
    assert day == (ONLINE[name]() if name in ONLINE else chapter_5(day.tasks))


@pytest.mark.parametrize("name", CLUSTERS)
def test_clusters_satisfy_the_schema_and_are_in_the_readme(name):
    jsonschema.Draft202012Validator(Clusters.model_json_schema()).validate(read_document(FOLDER / name).value)
    made = read_clusters(FOLDER / name)
    assert made == CLUSTERS[name]()
    assert f"| `{name}` | {made.tasks:,} tasks" in (FOLDER / "README.md").read_text()


@pytest.mark.parametrize("name", [*ONLINE, *CLUSTERS])
def test_the_readme_tells_the_naive_bound_of_each(name):
    row = next(line for line in (FOLDER / "README.md").read_text().splitlines() if line.startswith(f"| `{name}`"))
    given = read_clusters(FOLDER / name) if name in CLUSTERS else read_day(FOLDER / name)
    assert row.endswith(f"| {upper_text(naive_utility(given), 6)} |")


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_part_of_the_shipped_clusters_has_about_as_much_to_do_as_it_can_or_more(name):
    # In the period, each task where it is fastest, node-seconds over those of its part of the system: the
    # general-purpose clusters together, and each special-purpose one. Tasks that wait for many nodes leave some
    # idle, so that all of a part's time is never used.
    made = read_clusters(FOLDER / name)
    arrays, period = cluster_arrays(made), made.period
    best = np.where(arrays.can_run, arrays.seconds, np.inf).argmin(axis=1)
    taken = (arrays.nodes * arrays.seconds)[np.arange(len(best)), best]
    inside = arrays.arrivals >= period.begins_at
    general = sum(cluster.name.startswith("general") for cluster in made.clusters)
    part = np.maximum(arrays.column_cluster[best] - general + 1, 0)  # 0: any general-purpose one
    nodes = [arrays.node_counts[:general].sum(), *arrays.node_counts[general:]]
    assert period.length_seconds is not None
    for which, available in enumerate(nodes):
        asked = taken[arrays.kind][inside & (part[arrays.kind] == which)].sum()
        assert 0.9 < asked / (available * period.length_seconds) < 2


def test_the_small_day_is_as_oversubscribed_as_50_000_tasks_on_100_machines():
    day = read_day(FOLDER / "energy-2k.yaml")
    assert day.made_by is not None
    # 50,000 tasks / 24 hours / 100 machines = 20.8 tasks an hour for each machine.
    assert day.made_by["tasks"] / day.made_by["hours"] / day.machines == pytest.approx(50_000 / 24 / 100)
    assert day.period.energy_constraint_joules == pytest.approx(0.045e9)
    assert (day.period.edge, len(day.machine_types[0].p_states or ())) == ("prorated", 3)


@pytest.mark.parametrize("name", BAGS)
def test_each_satisfies_the_schema(name):
    jsonschema.Draft202012Validator(Bag.model_json_schema()).validate(read_document(FOLDER / name).value)


@pytest.mark.rotate(2)
@pytest.mark.parametrize("name", BAGS)
def test_the_readme_tells_the_bound_and_the_value_of_each(name):
    result = solve(read_bag(FOLDER / name), objective="makespan")
    row = next(line for line in (FOLDER / "README.md").read_text().splitlines() if line.startswith(f"| `{name}`"))
    bound, value = re.findall(r"\| ([\d,.]+) s", row)
    assert bound == lower_text(result.bound, 6)
    shown = float(value.replace(",", ""))  # of a search, which the last digits of a processor may turn
    assert shown == pytest.approx(result.value, rel=1e-2)


def test_the_profit_bag_has_the_size_of_the_papers():
    bag = read_bag(FOLDER / "profit-30x9.yaml")
    assert (len(bag.task_types), bag.tasks) == (30, 11_000)
    assert [machine.count for machine in bag.machine_types] == [40] * 9
    assert {machine.idle_watts for machine in bag.machine_types} == {0.0}


def test_the_idle_twin_differs_by_five_percent_of_each_machines_mean_power():
    plain, idle = read_bag(FOLDER / "profit-30x9.yaml"), read_bag(FOLDER / "profit-30x9-idle.yaml")
    assert (plain.seconds, plain.watts, plain.task_types) == (idle.seconds, idle.watts, idle.task_types)
    assert idle.watts is not None
    for j, machine in enumerate(idle.machine_types):
        column = [row[j] for row in idle.watts]
        assert machine.idle_watts == pytest.approx(0.05 * sum(x for x in column if x is not None) / 30, rel=1e-5)


def test_the_spec_seconds_are_reference_over_ratio():
    bag = read_bag(FOLDER / "spec-2010.yaml")
    assert len(BENCHMARKS.splitlines()) == len(bag.task_types) == 16
    # bwaves on the IBM x3200 M3: 13,590 / 76.1; sphinx3 on the E3110: 19,490 / 29.5.
    assert bag.seconds[0, 0] == pytest.approx(13590 / 76.1, rel=1e-5)
    assert bag.seconds[15, 3] == pytest.approx(19490 / 29.5, rel=1e-5)
    assert bag.watts is not None
    assert bag.watts[0, 0] == pytest.approx((45.8 + 118) / 2)


@pytest.mark.parametrize("objective", ["makespan", "energy", "profit"])
def test_the_ai_service_is_solved_to_the_end_since_no_fine_tuning_is_split(objective):
    bag = read_bag(FOLDER / "ai-service.yaml")
    assert (bag.tasks, bag.task_types[0].count, bag.seconds.row(0)) == (901, 2, [9000.0, 19_800.0, None, None])
    result = solve(bag, objective=objective, effort="fast")
    assert result.gap <= 1e-3
    assert result.measured.makespan_seconds == 9000.0


def test_the_ai_service_would_take_a_third_of_the_time_if_jobs_were_split():
    # The work of each job type where it is done soonest fills the machines for no more than 2,991 s.
    bag = read_bag(FOLDER / "ai-service.yaml")
    split = relaxed_front(bag, MAKESPAN, default_solver(), whole=False).makespan_seconds
    assert 2_990 < split < 2_991


def test_gpu_machines_transcode_some_formats_about_ten_times_faster():
    bag = read_bag(FOLDER / "video-transcoding.yaml")
    for i, task in enumerate(bag.task_types):
        old, _, media, av1 = bag.seconds.row(i)
        target = task.name.split("-to-")[1]
        assert (media is not None) == (target in {"mpeg4", "h265"})
        assert (av1 is not None) == (target in {"mpeg4", "h265", "av1"})
        assert old is not None
        if media is not None:
            assert 8 < old / media < 14


def test_the_path_of_a_file_is_as_good_as_what_is_in_it():
    room = FOLDER / "facility-tiny.yaml"
    assert lpsched.facility(room).bound == lpsched.facility(lpsched.read(room)).bound
    with pytest.raises(lpsched.InstanceError, match="got the text 'lpsched-facility/1', expected 'lpsched-day/1'"):
        lpsched.simulate(str(room), ["max-util"])
    with pytest.raises(lpsched.InstanceError, match="expected 'lpsched-bag/1'; use 'lpsched "):
        lpsched.solve(room)
