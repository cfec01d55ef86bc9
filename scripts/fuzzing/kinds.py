"""What is broken, and which commands follow: kinds of files, how a valid one is made, and what reads it.

Samples are made by the commands themselves, so they are always files of this version. A command may be followed by
others (`&&`): where the first succeeds, these must succeed too.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Final

SHORT: Final = "--effort fast --time-limit 2"
OFFLINE: Final = "version=v3.1,SystemType=datacenter,Scenario=Offline"
HOURS: Final = "--horizon 2h --start 2024-01-09T03:00Z --effort fast"
MADE: Final = {  # sample: a file of the checkout, or the command that makes it of other samples
    "bag.yaml": "@instances/tiny.yaml",
    "service.yaml": "@instances/ai-service.yaml",
    "render.yaml": "@instances/render-day.yaml",
    "prices-de-2024-01-08.csv": "@instances/prices-de-2024-01-08.csv",
    "carbon-de-2024-01-08.csv": "@instances/carbon-de-2024-01-08.csv",
    "prices.csv.gz": "@gzip prices-de-2024-01-08.csv",
    "prices.parquet": "@parquet prices-de-2024-01-08.csv",
    "bag.json": "convert bag.yaml -o bag.json",
    "table.yaml": "convert bag.yaml -o table.yaml --tables csv",
    "table.yaml.seconds.csv": "@table.yaml",
    "table.yaml.watts.csv": "@table.yaml",
    "packed.yaml": "convert bag.yaml -o packed.yaml --tables npz",
    "packed.yaml.npz": "@packed.yaml",
    "columns.yaml": "convert bag.yaml -o columns.yaml --tables parquet",
    "columns.yaml.seconds.parquet": "@columns.yaml",
    "columns.yaml.watts.parquet": "@columns.yaml",
    "plan.json": f"solve bag.yaml {SHORT} -o plan.json",
    "plan.csv": "expand bag.yaml plan.json -o plan.csv",
    "plan.parquet": "expand bag.yaml plan.json -o plan.parquet",
    "short.json": f"solve bag.yaml --objective makespan {SHORT} -o short.json",
    "frugal.json": f"solve bag.yaml --objective energy {SHORT} -o frugal.json",
    "profit-proof.json": "certify bag.yaml -o profit-proof.json",
    "makespan-proof.json": "certify bag.yaml --objective makespan -o makespan-proof.json",
    "energy-proof.json": "certify bag.yaml --objective energy -o energy-proof.json",
    "capped-proof.json": "certify bag.yaml --objective makespan --power-cap 40.000001 -o capped-proof.json",
    "dear-proof.json": "certify bag.yaml --price 0.001 -o dear-proof.json",
    "late-proof.json": "certify bag.yaml --objective energy --deadline 12 -o late-proof.json",
    "hours.json": "solve bag.yaml --horizon 2h --start 20240108 --objective cost --effort fast -o hours.json",
    "hours-proof.json": "solve bag.yaml --horizon 2h --start 20240108 --objective cost --effort fast "
    "--certificate hours-proof.json",
    "room.yaml": "@instances/facility-tiny.yaml",
    "room-packed.yaml": "convert room.yaml -o room-packed.yaml --tables npz",
    "room-packed.yaml.npz": "@room-packed.yaml",
    "room-packed.yaml.mixing.npz": "@room-packed.yaml",
    "allocation.json": "facility room.yaml -o allocation.json",
    "room-proof.json": "facility room.yaml --certificate room-proof.json",
    "cold-proof.json": "facility room.yaml --outlets 15 --certificate cold-proof.json",
    "room-state.npz": "facility room.yaml --scheduler ga --generations 2 --no-bound --state room-state.npz",
    "front-state.npz": "front bag.yaml --scheduler nsga2 --generations 2 --state front-state.npz",
    "day.yaml": "generate day -o day.yaml --seed 1 --tasks 30 --task-types 6 --machines 2,1,1 --special-machines 1 "
    "--special-task-types 3",
    "days.yaml": "convert day.yaml -o days.yaml --tables csv",
    "days.yaml.tasks.csv": "@days.yaml",
    "days.yaml.seconds.csv": "@days.yaml",
    "days.yaml.watts.csv": "@days.yaml",
    "day-plan.csv": "simulate day.yaml --scheduler fcfs -o day-plan.csv",
    "day-plan.parquet": "simulate day.yaml --scheduler fcfs -o day-plan.parquet",
    "day-plan.json": "simulate day.yaml --scheduler fcfs -o day-plan.json",
    "day-proof.json": "certify day.yaml -o day-proof.json",
    "grid.yaml": "@instances/clusters-small.yaml",
    "clusters-small.yaml.tasks.csv": "@instances/clusters-small.yaml.tasks.csv",
    "grid-plan.csv": "simulate grid.yaml --scheduler easy -o grid-plan.csv",
    "grid-proof.json": "certify grid.yaml -o grid-proof.json",
    "log.swf": "@tests/data/small.swf",
    "log.swf.gz": "@gzip log.swf",
    "sacct.txt": "@tests/data/sacct_with_steps.txt",
    "sacct.txt.gz": "@gzip sacct.txt",
    "shared.txt": "@tests/data/sacct_shared.txt",
    "sacct.json": "@tests/data/sacct_shared_2311.json",
    "nodes.txt": "@tests/data/scontrol_nodes.txt",
    "sinfo.txt": "@tests/data/sinfo_nodes.txt",
    "queue.yaml": "import swf log.swf -o queue.yaml",
    "queues.yaml": "convert queue.yaml -o queues.yaml --tables parquet",
    "queues.yaml.tasks.parquet": "@queues.yaml",
    "queue-proof.json": "certify queue.yaml -o queue-proof.json",
    "queue-plan.csv": "simulate queue.yaml --scheduler easy -o queue-plan.csv",
    "runs.csv": "@tests/data/runs.csv",
    "runs.parquet": "@parquet runs.csv",
    "etc.csv.gz": "@gzip table.yaml.seconds.csv",
    "mlperf.csv": "@tests/data/mlperf.csv",
    "gavel.json": "@tests/data/gavel.json",
    "bench.yaml": "@tests/data/bench.yaml",
    "node.yaml": "@tests/data/node_new.yaml",
    "quick.yaml": "@text",
    "quick-node.samples.jsonl": "measure quick.yaml -o quick-node.yaml",
    "summary_power_toy.csv": "@tests/data/summary_power_toy.csv",
    "avc-c5_large.csv": "@tests/data/avc-c5_large.csv",
    "study.yaml": "@text bag.yaml",
    "study.runs.jsonl": "study run study.yaml",
}


@dataclass(frozen=True)
class Kind:
    """A kind of file: its samples, files that must be beside it, and the commands that follow."""

    name: str
    files: tuple[str, ...]
    commands: tuple[str, ...]
    beside: tuple[str, ...] = ()
    seconds: float = field(default=20.0)  # of a processor, that a command may take

    def needed(self) -> set[str]:
        """Return the samples that its commands name, besides the broken file."""
        words = {word for command in self.commands for word in shlex.split(command)}
        return {*(words & MADE.keys()), *self.beside}


OUT: Final = "out"
KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind(
            "bag",
            ("bag.yaml", "bag.json", "service.yaml"),
            (
                "show FILE",
                "show FILE --json",
                "convert FILE -o out/bag.json && show out/bag.json",
                "convert FILE -o out/bag.yaml --tables npz && show out/bag.yaml",
                f"solve FILE {SHORT} -o out/a.json && verify FILE out/a.json && expand FILE out/a.json -o out/b.csv",
                f"solve FILE --objective makespan {SHORT} --json",
                f"solve FILE --objective energy {SHORT} --report out/page.html",
                "certify FILE -o out/proof.json --effort fast --time-limit 2 && verify FILE out/proof.json",
                "front FILE --json",
                "price FILE",
                f"whatif FILE --set price=+1% {SHORT}",
                "validate FILE --scheduler mct,min-energy --time-limit 2 --effort fast",
                "export FILE -o out/bag.lp",
            ),
        ),
        Kind(
            "bag-tables",
            ("table.yaml.seconds.csv", "packed.yaml.npz", "columns.yaml.seconds.parquet", "table.yaml"),
            ("show MAIN", "show MAIN --json", f"solve MAIN {SHORT}", "convert MAIN -o out/bag.json"),
            ("table.yaml.watts.csv", "columns.yaml.watts.parquet", "table.yaml.seconds.csv"),
        ),
        Kind(
            "series",
            ("prices-de-2024-01-08.csv", "prices.csv.gz", "prices.parquet"),
            (
                f"solve bag.yaml {HOURS} --tariff FILE --objective cost -o out/a.json --certificate out/b.json",
                f"front bag.yaml {HOURS} --axes cost,deadline --tariff FILE --json",
                f"offer bag.yaml {HOURS} --hours 3-4 --tariff FILE",
                f"price render.yaml {HOURS} --tariff FILE --json",
                f"simulate bag.yaml {HOURS} --tariff FILE --forecast previous-day",
                f"simulate bag.yaml {HOURS} --tariff prices-de-2024-01-08.csv --forecast FILE",
            ),
        ),
        Kind(
            "series-carbon",
            ("carbon-de-2024-01-08.csv",),
            (
                f"solve bag.yaml {HOURS} --carbon FILE --objective carbon --json",
                f"front bag.yaml {HOURS} --axes cost,carbon --tariff prices-de-2024-01-08.csv --carbon FILE",
            ),
        ),
        Kind(
            "bag-of-hours",
            ("render.yaml",),
            ("show FILE", f"solve FILE {HOURS} --objective profit --json", f"price FILE {HOURS}"),
            ("prices-de-2024-01-08.csv", "carbon-de-2024-01-08.csv"),
        ),
        Kind(
            "bag-schedule",
            ("plan.json", "plan.csv", "plan.parquet", "short.json", "frugal.json"),
            (
                "verify bag.yaml FILE profit-proof.json makespan-proof.json energy-proof.json --json",
                "verify bag.yaml FILE",
                "validate bag.yaml FILE --effort fast",
                "expand bag.yaml FILE -o out/rows.csv && verify bag.yaml out/rows.csv",
            ),
        ),
        Kind(
            "bag-certificate",
            (
                "profit-proof.json",
                "makespan-proof.json",
                "energy-proof.json",
                "capped-proof.json",
                "dear-proof.json",
                "late-proof.json",
            ),
            (
                "verify bag.yaml FILE plan.json short.json frugal.json --json",
                "verify bag.yaml FILE",
                "verify bag.yaml FILE plan.json short.json frugal.json --json --price 1 --deadline 1h --power-cap 2kW",
            ),
        ),
        Kind(
            "horizon",
            ("hours.json", "hours-proof.json"),
            (
                "verify bag.yaml FILE hours.json hours-proof.json --json --horizon 2h",
                "verify bag.yaml FILE",
                "verify bag.yaml FILE hours.json hours-proof.json --json --horizon 2h --carbon-price 80",
            ),
        ),
        Kind(
            "facility",
            ("room.yaml", "room-packed.yaml.mixing.npz"),
            (
                "show MAIN",
                "show MAIN --json",
                "facility MAIN --gap 0.5 -o out/a.json --certificate out/b.json && verify MAIN out/b.json out/a.json",
                "facility MAIN --scheduler greedy --no-bound --report out/page.html",
                "convert MAIN -o out/room.json && show out/room.json",
            ),
            ("room-packed.yaml.npz",),
        ),
        Kind(
            "facility-answer",
            ("allocation.json", "room-proof.json", "cold-proof.json"),
            (
                "verify room.yaml FILE allocation.json room-proof.json --json",
                "verify room.yaml FILE",
                "verify room.yaml FILE allocation.json cold-proof.json --json --outlets 15",
            ),
        ),
        Kind(
            "population",
            ("room-state.npz", "front-state.npz"),
            (
                "facility room.yaml --scheduler ga --generations 3 --no-bound --state FILE",
                "front bag.yaml --scheduler nsga2 --generations 3 --state FILE",
            ),
        ),
        Kind(
            "day",
            ("day.yaml", "days.yaml.tasks.csv", "days.yaml.seconds.csv"),
            (
                "show MAIN",
                "simulate MAIN --scheduler fcfs,max-max-upt --json",
                "simulate MAIN --scheduler min-min -o out/plan.csv && verify MAIN out/plan.csv",
                "certify MAIN -o out/proof.json && verify MAIN out/proof.json",
                "validate MAIN --scheduler mct",
                "convert MAIN -o out/day.json",
            ),
            ("days.yaml.tasks.csv", "days.yaml.seconds.csv", "days.yaml.watts.csv"),
        ),
        Kind(
            "clusters",
            ("grid.yaml", "clusters-small.yaml.tasks.csv", "queue.yaml", "queues.yaml.tasks.parquet"),
            (
                "show MAIN",
                "simulate MAIN --scheduler easy,fcfs --json",
                "simulate MAIN --scheduler easy -o out/plan.csv && verify MAIN out/plan.csv",
                "certify MAIN -o out/proof.json --time-limit 2 && verify MAIN out/proof.json",
                "convert MAIN -o out/grid.json",
            ),
            ("clusters-small.yaml.tasks.csv",),
        ),
        Kind(
            "arrivals-answer",
            ("day-plan.csv", "day-plan.parquet", "day-plan.json", "day-proof.json"),
            (
                "verify day.yaml FILE day-plan.csv day-proof.json --json",
                "verify day.yaml FILE",
                "validate day.yaml FILE",
            ),
        ),
        Kind(
            "clusters-answer",
            ("grid-plan.csv", "grid-proof.json"),
            ("verify grid.yaml FILE grid-plan.csv grid-proof.json --json", "verify grid.yaml FILE"),
            ("clusters-small.yaml.tasks.csv",),
        ),
        Kind(
            "queue-answer",
            ("queue-plan.csv", "queue-proof.json"),
            ("verify queue.yaml FILE queue-plan.csv queue-proof.json --json", "verify queue.yaml FILE"),
        ),
        Kind(
            "swf",
            ("log.swf", "log.swf.gz"),
            (
                "import swf FILE -o out/grid.yaml && show out/grid.yaml",
                "import swf FILE -o out/grid.yaml --skip-dirty && simulate out/grid.yaml --scheduler easy",
                "import swf FILE -o out/bag.yaml --to bag && show out/bag.yaml",
            ),
        ),
        Kind(
            "slurm",
            ("sacct.txt", "sacct.txt.gz", "shared.txt", "sacct.json"),
            (
                "import slurm FILE -o out/grid.yaml && show out/grid.yaml",
                "import slurm FILE -o out/grid.yaml --skip-dirty --json",
                "import slurm FILE -o out/bag.yaml --to bag --fill && show out/bag.yaml",
            ),
        ),
        Kind(
            "slurm-nodes",
            ("nodes.txt", "sinfo.txt"),
            (
                "import slurm sacct.txt --system FILE -o out/grid.yaml",
                "import slurm shared.txt --system FILE -o out/grid.yaml",
            ),
        ),
        Kind(
            "etc",
            ("table.yaml.seconds.csv", "etc.csv.gz"),
            (
                "import etc FILE -o out/bag.yaml && show out/bag.yaml",
                "import etc FILE --power FILE --zero-as 1 -o out/bag.yaml",
            ),
        ),
        Kind(
            "runs",
            ("runs.csv", "runs.parquet", "mlperf.csv", "summary_power_toy.csv", "avc-c5_large.csv"),
            (
                "import runs FILE -o out/bag.yaml --fill && show out/bag.yaml",
                f"import runs FILE -o out/bag.yaml --source mlperf --json --where {OFFLINE}",
                "import runs FILE -o out/bag.yaml --source veed && show out/bag.yaml",
                "import runs FILE -o out/bag.yaml --source zeus && show out/bag.yaml",
            ),
        ),
        Kind("gavel", ("gavel.json",), ("import gavel FILE -o out/room.yaml --count 4 && show out/room.yaml",)),
        Kind("bench", ("bench.yaml",), ("show FILE", "show FILE --json")),
        Kind(
            "samples",  # which stand beside the output
            ("quick-node.samples.jsonl",),
            ("measure quick.yaml -o quick-node.yaml --resume && show quick-node.yaml",),
        ),
        Kind(
            "measurements",
            ("node.yaml",),
            (
                "show FILE",
                "measure FILE",
                "import measurements FILE -o out/bag.yaml && show out/bag.yaml",
                "import measurements FILE -o out/room.yaml --to facility && show out/room.yaml",
                "measure FILE --facility out/room.yaml --report out/page.html",
                "convert FILE -o out/node.json",
            ),
        ),
        Kind("study", ("study.yaml",), ("study report FILE",), ("bag.yaml", "study.runs.jsonl")),
        Kind(
            "study-lines",
            ("study.runs.jsonl",),
            (
                "study report FILE",
                "study report FILE --json",
                "study report FILE -o out/table.csv --report out/page.html",
                "study report FILE --by method --value seconds",
            ),
        ),
    )
}
MAINS: Final = {  # the file that a command is given where the broken one is beside it
    "clusters-small.yaml.tasks.csv": "grid.yaml"
}


def main_of(file: str) -> str:
    """Return the instance to which a broken file belongs: itself, or the one whose table it is.

    >>> main_of("days.yaml.tasks.csv"), main_of("bag.json")
    ('days.yaml', 'bag.json')
    """
    found = re.fullmatch(r"(.+\.yaml)(\.\w+)?\.(csv|npz|parquet)", file)
    return MAINS.get(file) or (found[1] if found else file)


TEXTS: Final = {
    "study.yaml": """\
format: lpsched-study/1
name: fuzz
instances:
  - {file: bag.yaml}
methods: [lp, mct]
parameters: {objective: [makespan, energy]}
seeds: [0, 1]
limits: {seconds: 5}
""",
    "quick.yaml": """\
format: lpsched-bench/1
name: quick
cores: 1
applications:
  - {name: nothing, command: ["true"], count: 2}
repeats: {least: 2, most: 2}
""",
}
