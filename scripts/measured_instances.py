"""Make the measured instances from published files: `python scripts/measured_instances.py RAW [FOLDER]`.

RAW holds one folder for each source, with the files that `FILES` names, as they were published (or packed by gzip).
Numbers are rounded to six digits. What is measured, modelled and assumed stands at the head of each instance.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.bag.files import as_dict
from lpsched.bag.parts import Prices, Site
from lpsched.facility.files import as_dict as facility_as_dict
from lpsched.facility.model import Facility
from lpsched.generate.bags import six_digits
from lpsched.io.content import csv_bytes, write_files
from lpsched.io.instance_files import TableForm, yaml_text
from lpsched.model.table import Table
from lpsched.online.clusters import Clusters
from lpsched.online.files import clusters_as_dict
from lpsched.traces.published import SharedGpus, read_gavel, read_runs
from lpsched.traces.runs import RunChoice, bag_of_runs, records
from scripts.make_instances import wrapped

if TYPE_CHECKING:
    from lpsched.bag.model import Bag

FILES: Final = {
    "zeus": [f"summary_power_{gpu}.csv" for gpu in ("a40", "p100", "rtx6000", "v100")],
    "veed": [
        f"{codec}-{machine}.csv.gz"
        for codec in ("avc", "hevc")
        for machine in ("c5_large", "c5_xlarge", "c5_2xlarge", "c5_9xlarge", "m5_2xlarge", "r5_2xlarge")
    ],
    "mlperf-power": ["inference-closed-power.csv.gz"],
    "smc-training": ["seconds-by-nodes.csv", "node-power.csv"],
    "gavel": ["physical_cluster_throughputs.json.gz"],
}

ZEUS: Final = """\
34 configurations of deep learning training on four types of GPUs, each at six to nine power limits. A task is
one epoch.
MEASURED: seconds of an epoch and mean watts of the GPU (by NVML: without processors, memory, fans and power
supply of its node), at every power limit, which are the P-states. One measurement a cell. Those 34 of 74
configurations that were measured on all four GPUs at all limits.
ASSUMED: 100 epochs of each configuration, 10 GPUs of each type; epochs of one training may run at the same
time; a GPU without work draws nothing; the electricity price.
Source: ml-energy/zeus on GitHub, commit 75a8b93, examples/research_reproducibility/zeus_nsdi23/trace; You,
Chung and Chowdhury, "Zeus: Understanding and Optimizing GPU Energy Consumption of DNN Training", NSDI 2023.
Licence: Apache-2.0."""

VEED: Final = """\
Video encoding on six types of EC2 instances: 500 segments, in six resolutions each by two codecs (AVC and HEVC,
preset medium). A task is a segment in one resolution and codec.
MEASURED: seconds of an encoding; means, and coefficients of variation over the 500 segments.
MODELLED, by the source: the watts, from TDP and utilisation of the processor. Nothing was metered. By the
source's descriptions, m5.2xlarge and r5.2xlarge had another processor for each codec, so that their powers seem
exchanged.
RENT: wear_per_busy_hour is the price of an instance as the source has it (eu-central-1), paid while it works. The
source rounds it to a millionth of a USD per second: 2 to 4 % of the price of the two smallest types.
ASSUMED: how many instances of each type there are. Electricity is part of the rent.
Source: cd-athena/VEED-dataset on GitHub, commit 2273a58. Licence: BSD-3-Clause, Copyright
(c) 2024, ATHENA Christian Doppler (CD) Laboratory."""

MLPERF: Final = """\
Eleven benchmarks of MLPerf Inference v3.1, seven models of which four are at two accuracy targets, on four types of
systems with eight or sixteen accelerators each: datacenter, closed division, offline scenario. A task is the number
of samples that its name ends with. Three of the four pairs of targets have the same results.
MEASURED: samples per second, of which the seconds are made, and watts at the wall while running.
ASSUMED: how many tasks and systems there are; a system without work is switched off and draws nothing; the
prices.
Source: results of MLPerf Inference v3.1 Closed Power, as in mlcommons/cm4mlperf-results on GitHub, commit
84d8b84; their places there are closed/NVIDIA/results/DGX-H100_H100-SXM-80GBx8_TRT_MaxQ,
closed/NVIDIA/results/H100-PCIe-80GBx8_TRT_MaxQ, closed/Qualcomm/results/g292_z43_q16e and r282_z93_q8e (the IDs
of the results are not there).
Licence: Apache-2.0. What is computed from them here, such as seconds, schedules and profits, is not verified by
MLCommons. MLPerf is a trademark of MLCommons."""

TRAINING: Final = """\
Seven training benchmarks of MLPerf Training v4.0 on 64 nodes with eight H100 each, as tasks that arrive over a
day.
MEASURED: seconds to train by number of nodes, and the power of all nodes of a run at the plug (AC, of every
node, mean over the time metered and over runs). The time metered is not the time to train: of short runs it is up
to twice as long, start and end included, so that their powers, and energies made of them, are probably too low.
Tasks ask for numbers of nodes that were measured only, so nothing is interpolated.
ASSUMED: the arrivals: 960 tasks in 24 hours, uniformly at random, seed 64, of each benchmark and number of nodes as
often as `MIX` in scripts/measured_instances.py says. The tasks are in the .csv beside this file.
Source: MLPerf Training v4.0 results by Supermicro, mlcommons/training_results_v4.0 on GitHub, commit 6fe9543,
smc-ac-power; the means were computed from its node logs. Licence: Apache-2.0. What is computed from them here
is not verified by MLCommons. MLPerf is a trademark of MLCommons."""

GAVEL: Final = """\
26 types of training jobs on 16 V100, of which each can run two jobs at a time. A task is a step of training.
MEASURED: steps per second of each job alone and beside each other one on the same GPU. Of the 676
entries, one for each job and each one beside it, 636 have a throughput; the others are taken for jobs that do not
fit into memory together, with a degradation of 1000, which never pays. 51 are the same as alone in every digit, so
probably capped by the source. Two jobs are faster beside another by up to 1.2 %, which is noise, and written as 0.
ASSUMED: all powers (40 W idle, 250 W with two jobs), the room, arrivals of twice what all GPUs could do without
sharing, evenly among job types, and rewards of the seconds that a step takes alone, so that the reward rate is the
number of GPUs that would do the same work without sharing.
Source: stanford-futuredata/gavel on GitHub, commit c4fa400, scheduler/physical_cluster_throughputs.json;
Narayanan and others, "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning Workloads", OSDI 2020.
Licence: MIT,
Copyright (c) 2020 Stanford Future Data Systems."""

EC2: Final = {"c5.large": 32, "c5.xlarge": 16, "c5.2xlarge": 8, "c5.9xlarge": 4, "m5.2xlarge": 8, "r5.2xlarge": 8}
SYSTEMS: Final = {  # of MLPerf, with shorter names
    "DGX-H100_H100-SXM-80GBx8_TRT_MaxQ": ("DGX-H100", 4),
    "H100-PCIe-80GBx8_TRT_MaxQ": ("H100-PCIe-x8", 4),
    "g292_z43_q16e": ("QAIC100-x16", 8),
    "r282_z93_q8e": ("QAIC100-x8", 8),
}
NAMES: Final = {  # of benchmarks: in the summary of seconds, and in the table of powers
    "ssd": "ssd",
    "llama2": "llama2_70b_lora",
    "dlrm": "dlrm_dcnv2",
    "unet3d": "unet3d",
    "bert": "bert",
    "resnet": "resnet",
    "gpt3": "gpt3",
}
MIX: Final = {  # how many tasks of each benchmark and number of nodes
    ("llama2_70b_lora", 1): 200,
    ("llama2_70b_lora", 8): 120,
    ("llama2_70b_lora", 64): 16,
    ("resnet", 1): 120,
    ("resnet", 8): 40,
    ("ssd", 1): 120,
    ("ssd", 8): 40,
    ("unet3d", 1): 80,
    ("unet3d", 9): 40,
    ("bert", 1): 96,
    ("dlrm_dcnv2", 1): 80,
    ("gpt3", 64): 8,
}
TRAINING_SEED: Final = 64
DAY_SECONDS: Final = 24 * 3600


def rounded(bag: Bag, **update: Any) -> Bag:  # noqa: ANN401 - fields of a bag
    """Return the bag with six digits in its tables, and some other fields."""
    tables = {
        key: Table.of([[None if cell is None else six_digits(cell) for cell in row] for row in table])
        for key, table in bag.tables.items()
    }
    return bag.model_copy(update=tables | update)


def zeus(raw: Path) -> Bag:
    """Return training on GPUs."""
    runs = read_runs([raw / "zeus" / name for name in FILES["zeus"]], "zeus")
    choice = RunChoice(tasks_each=100, machines_each=10, complete=True)
    bag = bag_of_runs("zeus-34x4", runs, choice)[0].bag
    return rounded(bag, prices=Prices(electricity_per_kwh=0.15))


def veed(raw: Path) -> Bag:
    """Return video encoding on rented machines."""
    runs = read_runs([raw / "veed" / name for name in FILES["veed"]], "veed")
    bag = bag_of_runs("veed-12x6", runs, RunChoice(tasks_each=500, machines=EC2))[0].bag
    machines = tuple(
        machine.model_copy(update={"wear_per_busy_hour": six_digits(3600 * rent_per_second(raw, machine.name))})
        for machine in bag.machine_types
    )
    return rounded(bag, machine_types=machines, prices=Prices(electricity_per_kwh=0.0))


def rent_per_second(raw: Path, machine: str) -> float:
    """Return the rent of an instance in USD: the cost of an encoding by its seconds, the same in every row."""
    _, row = next(records(raw / "veed" / f"avc-{machine.replace('.', '_')}.csv.gz"))
    return round(float(row["cost [$]"]) / float(row["duration [s]"]), 9)


def mlperf(raw: Path) -> Bag:
    """Return inference on systems with accelerators."""
    where = {"version": "v3.1", "SystemType": "datacenter", "Scenario": "Offline"}
    runs = read_runs([raw / "mlperf-power" / FILES["mlperf-power"][0]], "mlperf", where=where)
    columns = tuple((SYSTEMS[system][0], state) for system, state in runs.columns)
    choice = RunChoice(tasks_each=1000, machines=dict(SYSTEMS.values()))
    bag = bag_of_runs("mlperf-power", replace(runs, columns=columns), choice)[0].bag
    return rounded(bag, prices=Prices(per_bag=200.0, electricity_per_kwh=0.15), site=Site(pue=1.2))


def training(raw: Path) -> Clusters:
    """Return training on many nodes, as arriving tasks."""
    folder = raw / "smc-training"
    with (folder / "seconds-by-nodes.csv").open(encoding="utf-8-sig", newline="") as file:
        (_, *counts), *rows = csv.reader(file)
    seconds = {
        (NAMES[name], int(count)): six_digits(float(cell))
        for name, *cells in rows
        for count, cell in zip(counts, cells, strict=True)
        if cell and name in NAMES
    }
    powers: dict[tuple[str, int], list[float]] = defaultdict(list)
    with (folder / "node-power.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            powers[row["benchmark"], int(row["nodes"])].append(float(row["sum_of_mean_watts"]))
    watts = {place: six_digits(sum(each) / len(each)) for place, each in powers.items()}
    rng = np.random.default_rng(TRAINING_SEED)
    asked = [place for place, count in MIX.items() for _ in range(count)]
    order = rng.permutation(len(asked)).tolist()
    arrivals = np.sort(rng.integers(0, DAY_SECONDS, len(asked))).tolist()
    names = list(dict.fromkeys(name for name, _ in MIX))
    curves = {
        key: {name: {"H100": {nodes: table[name, nodes] for each, nodes in MIX if each == name}} for name in names}
        for key, table in (("seconds", seconds), ("watts", watts))
    }
    return Clusters.read(
        {
            "format": "lpsched-clusters/1",
            "name": "h100-training",
            "clusters": [{"name": "H100", "nodes": 64}],
            "task_types": [{"name": name} for name in names],
            **curves,
            "tasks": [
                {"arrival_seconds": at, "task_type": asked[each][0], "cores": asked[each][1]}
                for at, each in zip(arrivals, order, strict=True)
            ],
            "waiting": {"measure": "bounded-slowdown"},
        },
        "h100-training",
    )


def gavel(raw: Path) -> Facility:
    """Return jobs that share GPUs."""
    made = facility_as_dict(read_gavel(raw / "gavel" / FILES["gavel"][0], "gavel-v100", SharedGpus()))
    for key in ("task_types", "speeds", "degradation"):
        made[key] = with_six_digits(made[key])
    return Facility.read(made, "gavel-v100")


def with_six_digits(value: Any) -> Any:  # noqa: ANN401 - whatever a file holds
    """Return numbers with six digits, wherever they are."""
    if isinstance(value, dict):
        return {key: with_six_digits(each) for key, each in value.items()}
    if isinstance(value, list):
        return [with_six_digits(each) for each in value]
    return six_digits(value) if isinstance(value, float) else value


def instances(raw: Path) -> dict[str, bytes]:
    """Return every file's name and content."""
    bags = {"zeus-34x4": (ZEUS, zeus(raw)), "veed-12x6": (VEED, veed(raw)), "mlperf-power": (MLPERF, mlperf(raw))}
    texts = {
        f"{name}.yaml": commented(text) + yaml_text(as_dict(bag, TableForm.NAMES)) for name, (text, bag) in bags.items()
    }
    shared, nodes = gavel(raw), training(raw)
    texts["gavel-v100.yaml"] = commented(GAVEL) + yaml_text(facility_as_dict(shared))
    beside = "h100-training.yaml.tasks.csv"
    texts["h100-training.yaml"] = commented(TRAINING) + yaml_text(clusters_as_dict(nodes, beside))
    tasks = nodes.task_columns()
    return {beside: csv_bytes(tasks, zip(*tasks.values(), strict=True))} | {
        name: text.encode() for name, text in texts.items()
    }


def commented(text: str) -> str:
    """Return paragraphs as the comment that a file begins with; one begins after a line that ends with a full stop."""
    paragraphs = text.replace(".\n", ".\n\n").split("\n\n")
    return "".join(wrapped(" ".join(each.split())) for each in paragraphs)


def main() -> None:
    """Write the files."""
    raw = Path(sys.argv[1])
    folder = Path(sys.argv[2]) if sys.argv[2:] else Path(__file__).parent.parent / "instances"
    write_files({folder / name: content for name, content in instances(raw).items()})


if __name__ == "__main__":
    main()
