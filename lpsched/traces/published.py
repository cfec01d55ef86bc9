"""Measurements that others have published, as runs of a bag or as a facility whose tasks disturb each other.

zeus     Training on GPUs at several power limits: You, Chung and Chowdhury (NSDI 2023), ml-energy/zeus. A task is an
         epoch, a P-state a power limit. Watts are the GPU's own by NVML, without its node.
veed     Video encoding on EC2: Lachini and others (2024), cd-athena/VEED-dataset. A task is a segment. Seconds are
         measured; the energy is a model of the CPU by utilisation and TDP, nothing was metered.
mlperf   MLPerf Inference with wall power, mlcommons/cm4mlperf-results. A task is a number of samples, its seconds
         are that number by samples per second. Systems are compared within one round, scenario and unit.
gavel    Throughput of training jobs alone and in pairs on one GPU: Narayanan and others (OSDI 2020),
         stanford-futuredata/gavel. No power.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lpsched.errors import nearest, quote
from lpsched.facility.model import FORMAT as FACILITY
from lpsched.facility.model import PLAIN_AIR, Facility
from lpsched.facility.parts import MOST_CLASSES
from lpsched.io.content import one_issue, require_few_values
from lpsched.io.text_files import whole_text
from lpsched.model.fields import SMALLEST
from lpsched.text import json_value
from lpsched.traces.jobs import refused
from lpsched.traces.runs import Record, Row, Run, Runs, amount, each_run, gathered, named, plain_runs, rows_of, word
from lpsched.units import JOULES_PER_KWH, counted

PLAIN: Final = "table"


def read_runs(
    files: Iterable[Path],
    source: str = PLAIN,
    *,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    distinct: bool = False,
) -> Runs:
    """Read files of one source; `columns` names those of a plain table, `where` keeps rows with these values."""
    runs: list[Run] = []
    remarks: list[str] = []
    names = []
    files = list(files)
    if source == "mlperf" and len(files) > 1:
        raise refused("", f"{len(files)} files", "one file of results, which are compared", "join them", ("files",))
    for path in files:
        names.append(path.name)
        rows = rows_of(path, where or {})
        if source == PLAIN:
            found, more = plain_runs(path, rows, columns or {})
            remarks += more
        else:
            found = SOURCES[source](path, rows)
        runs += found
    return gathered(", ".join(names[:3]), runs, distinct=distinct, remarks=remarks)


def _zeus(path: Path, rows: Iterable[Row]) -> list[Run]:
    """Read `summary_power_GPU.csv`; P-states come from the highest power limit down."""
    name = re.fullmatch(r"summary_power_(.+)\.csv(?:\.gz)?", path.name)
    if name is None:
        needed = "summary_power_GPU.csv: the GPU is not in the table"
        raise one_issue(path, f"the name {quote(path.name)}", needed, "keep the name that the file had")

    def run_of(row: Record) -> Run:
        batch, limit = amount(row, "batch_size", least=1), amount(row, "power_limit", least=1)
        took = amount(row, "time_per_epoch", least=SMALLEST)
        task = f"{word(row, 'network')}-{word(row, 'dataset')}-{word(row, 'optimizer')}-{batch:g}"
        return Run(named(task, "network"), name[1], f"{limit:g}W", took, amount(row, "average_power") * took)

    runs = each_run(path, rows, run_of, ("network", "dataset", "optimizer", "batch_size", "power_limit"))
    return sorted(runs, key=lambda run: -float(run.p_state.removesuffix("W")))


VEED_FILE: Final = re.compile(r"(avc|hevc)[-/](\w+?_\w+?)(?:/data)?\.csv(?:\.gz)?")


def _veed(path: Path, rows: Iterable[Row]) -> list[Run]:
    """Read `CODEC-INSTANCE.csv`, or `CODEC/INSTANCE/data.csv` as in the repository."""
    name = VEED_FILE.search(path.as_posix())
    if name is None:
        needed = "CODEC-INSTANCE.csv or CODEC/INSTANCE/data.csv: neither is in the table"
        raise one_issue(path, f"the name {quote(path.name)}", needed, "keep the name that the file had")
    codec, machine = name[1], name[2].replace("_", ".")

    def run_of(row: Record) -> Run:
        task = f"{codec}-{amount(row, 'height', least=1):g}p"
        took = amount(row, "duration [s]", least=SMALLEST)
        return Run(task, machine, "", took, amount(row, "model_cpu_energy [kWh]") * JOULES_PER_KWH)

    return each_run(path, rows, run_of, ("height", "duration [s]", "model_cpu_energy [kWh]"))


# A task of MLPerf has a power of ten of samples, such that the fastest system takes from 10 to 100 s for it; or one.
SAME: Final = ("version", "SystemType", "Scenario", "Result_Units", "Result_Power_Units")
TASK_SECONDS: Final = 10.0


def _mlperf(path: Path, rows: Iterable[Row]) -> list[Run]:
    """Read results with their power; rows that say the same are one."""
    rows = list(rows)
    kinds = list(dict.fromkeys(", ".join(str(row.get(name)) for name in SAME) for _, row in rows))
    if (
        kinds
        and all(name in rows[0][1] for name in SAME)
        and (len(kinds) > 1 or not re.search(r"(Samples|Queries)/s, Watts$", kinds[0]))
    ):
        found = f"results of {counted(len(kinds), 'kind')}: {'; '.join(kinds[:3])}{' ...' if kinds[3:] else ''}"
        needed = "one round, scenario and unit, in samples per second with watts in the same row (before v4.0)"
        do = "choose, such as --where version=v3.1,SystemType=datacenter,Scenario=Offline"
        raise one_issue(path, found, needed, do)
    seen: dict[tuple[str, str], tuple[float, float]] = {}

    def take(row: Record) -> None:
        result = amount(row, "Result", least=SMALLEST), amount(row, "Result_Power")
        if seen.setdefault(where := (word(row, "Model"), word(row, "Platform")), result) != result:
            raise refused("", f"two results of {quote(where[0])} on {quote(where[1])}", "one", "choose with --where")

    each_run(path, rows, take, (*SAME, "Platform", "Model", "Result", "Result_Power"))
    fastest: dict[str, float] = {}
    for (model, _), (rate, _) in seen.items():
        fastest[model] = max(rate, fastest.get(model, 0.0))
    samples = {model: 10 ** max(0, math.ceil(math.log10(TASK_SECONDS * rate))) for model, rate in fastest.items()}
    return [
        Run(f"{model} x {_short(samples[model])}", system, "", samples[model] / rate, watts * samples[model] / rate)
        for (model, system), (rate, watts) in seen.items()
    ]


def _short(count: float) -> str:
    """Write a power of ten.

    >>> _short(100), _short(10_000), _short(10_000_000)
    ('100', '10k', '10M')
    """
    size = next(size for size in (10**9, 10**6, 1000, 1) if count >= size or size == 1)
    return f"{count / size:g}{ {1: '', 1000: 'k', 10**6: 'M', 10**9: 'G'}[size] }"


SOURCES: Final[Mapping[str, Callable[[Path, Iterable[Row]], list[Run]]]] = {
    "zeus": _zeus,
    "veed": _veed,
    "mlperf": _mlperf,
}


# Jobs that share a GPU, as a facility: a node is a GPU with two places, its cores, and a task is a step of training.
#
#     speed of i             steps per second alone
#     degradation of i by j  speed alone / speed beside j, less 1; below 0 is noise, and written as 0
#     reward of i            seconds of a step alone, so that the reward rate counts GPUs' worth of undisturbed work
#     arrivals of i          `load` times what all GPUs could do, shared evenly among job types
#
# Pairs that do not fit into the memory of the GPU have a throughput of 0; they get a degradation so large that it pays
# nowhere. Power is not measured: `idle_watts` and `full_watts` of a GPU are assumed, each place draws half of what is
# between them. The room is assumed to do no harm: one CRAC unit, no recirculation.
JOB_KEY: Final = re.compile(r"^\('(.+)', (\d+)\)$")  # a job type and how many GPUs it takes
APART: Final = 1000.0  # degradation of a pair that does not fit
ROOM: Final = {"redline_celsius": 30.0, "outlet_celsius": [15.0, 25.0]}
RISE_KELVIN: Final = 10.0
COP_AT_15: Final = 2.0  # somewhat less than the default one's: 0.458 + 0.0008 x 15 + 0.0068 x 225


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedGpus:
    """Which GPUs there are, how busy, and what they draw."""

    gpu: str = "v100"
    count: int = 16
    load: float = 2.0
    idle_watts: float = 40.0
    full_watts: float = 250.0


def read_gavel(path: Path, name: str, choice: SharedGpus) -> Facility:
    """Return the facility of job types that take one GPU, as a file of throughputs has them."""
    text = whole_text(path)
    require_few_values(path, text.encode())
    needed, do = 'GPU: {job: {"null": steps per second, other job: [own, the other\'s]}}', "bring Gavel's file"
    try:
        content = json_value(text)
    except (ValueError, RecursionError) as error:
        raise one_issue(path, f"no JSON ({quote(str(error)[:60])})", needed, do) from None
    if not (content and isinstance(content, dict)) or not all(isinstance(jobs, dict) for jobs in content.values()):
        raise one_issue(path, "another layout", needed, do)
    if choice.gpu not in content:
        known = f"one of {', '.join(list(content)[:9])}"
        raise one_issue(path, f"no GPU {quote(choice.gpu)}", known, nearest(choice.gpu, content) or "choose with --gpu")
    try:
        alone, beside = _throughputs(content[choice.gpu])
    except (LookupError, OverflowError, TypeError, ValueError, AttributeError) as error:
        raise one_issue(path, f"another layout ({quote(str(error)[:60])})", needed, do) from None
    if not alone:
        keys = "jobs such as ('ResNet-18', 1) with a throughput"
        raise one_issue(path, f"no job on one {choice.gpu}", keys, f"{do}, or choose with --gpu")
    if len(alone) > MOST_CLASSES:
        raise one_issue(path, f"{len(alone):,} jobs on one {choice.gpu}", f"at most {MOST_CLASSES:,}", "leave some out")
    return _shared(path, name, choice, alone, beside)


def _throughputs(jobs: Mapping[str, Any]) -> tuple[dict[str, float], dict[tuple[str, str], float]]:
    """Return steps per second of each job that takes one GPU, alone and beside each other one."""
    names = {key: job for key in jobs for job, gpus in JOB_KEY.findall(key) if gpus == "1"}
    alone = {names[key]: _throughput(jobs[key]["null"]) for key in names}
    beside = {
        (names[key], names[other]): _throughput(shared[0])
        for key in names
        for other, shared in jobs[key].items()
        if other in names
    }
    return {job: speed for job, speed in alone.items() if speed > 0}, beside  # 0: it does not fit into memory


def _throughput(value: object) -> float:
    speed = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not 0 <= speed < math.inf:
        raise ValueError(f"the throughput {str(value)[:40]}")
    return speed


def _shared(
    path: Path, name: str, choice: SharedGpus, alone: Mapping[str, float], beside: Mapping[tuple[str, str], float]
) -> Facility:
    above = choice.full_watts - choice.idle_watts
    flow = choice.full_watts / (RISE_KELVIN * PLAIN_AIR.density_kg_per_m3 * PLAIN_AIR.joules_per_kg_kelvin)
    slower = {
        job: {
            other: max(0.0, speed / shared - 1.0) if (shared := beside.get((job, other), 0.0)) > 0 else APART
            for other in alone
        }
        for job, speed in alone.items()
    }
    count = choice.count
    straight = [[0.0] * count + [1.0]] * count + [[1.0 / count] * count + [0.0]]
    raw = {
        "format": FACILITY,
        "name": name,
        "description": (
            f"Training jobs that share {choice.gpu} GPUs in pairs: speeds alone and together as Gavel measured them; "
            f"pairs that do not fit into memory have a degradation of {APART:g}. Assumed, not measured: "
            f"{choice.idle_watts:g} W of an idle GPU, {choice.full_watts:g} W of one with two jobs, the room, and "
            f"arrivals of {choice.load:g} times what all GPUs could do, shared evenly. A step is worth its seconds."
        ),
        "node_types": [
            {
                "name": choice.gpu,
                "cores": 2,
                "overhead_watts": choice.idle_watts,
                "airflow_m3_per_second": flow,
                "redline_celsius": ROOM["redline_celsius"],
            }
        ],
        "nodes": [{"type": choice.gpu, "count": count}],
        "crac_units": [
            {"name": "crac", "airflow_m3_per_second": flow * count, "outlet_celsius": ROOM["outlet_celsius"]}
        ],
        "task_types": [
            {
                "name": job,
                "arrivals_per_second": choice.load * count * speed / len(alone),
                "reward": 1.0 / speed,
                "memory_class": job,
            }
            for job, speed in alone.items()
        ],
        "speeds": {job: {choice.gpu: speed} for job, speed in alone.items()},
        "watts": {job: {choice.gpu: above / 2} for job in alone},
        "degradation": slower,
        "mixing": {"inlet_mix": straight},
        "power_cap_watts": count * choice.full_watts * (1.0 + 1.0 / COP_AT_15),
    }
    return Facility.read(raw, str(path))
