"""Make the instances that ship with lpsched: `python scripts/make_instances.py [FOLDER]`.

The files are written as people read them: comments first, then the bag. Numbers have six digits.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.files import as_dict
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.facility.files import as_dict as facility_as_dict
from lpsched.generate.bags import cov_bag, six_digits
from lpsched.generate.facility import generate_facility
from lpsched.generate.options import CovOptions
from lpsched.io.content import csv_bytes, write_files
from lpsched.io.instance_files import TableForm, yaml_text
from lpsched.io.tables import write_npz_matrix
from lpsched.model.table import Table
from lpsched.online.files import clusters_as_dict, day_as_dict
from scripts.figures.shared.data_sets import (
    CLUSTERS_SEED,
    DAY_SEEDS,
    ENERGY_SEED,
    ESSC_SEED,
    FRONT_SEED,
    GROWTH_SEED,
    SMALL_CLUSTERS_SEED,
    chapter_2,
    chapter_5,
    chapter_6_first,
    chapter_6_second,
    jobs_paper,
    small_chapter_3,
    small_jobs_paper,
)
from scripts.figures.shared.desktop import desktop_bag

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day

PROFIT_SEED: Final = 2014
VIDEO_SEED: Final = 30
FACILITY_SEED: Final = 1

TINY: Final = """\
# Two task types on two machine types; every answer can be checked on paper.
#
# Makespan. All 6 scans on 'fast' take 6 x 2 = 12 s; all 6 prints on the two 'slow' take 6 x 4 / 2 = 12 s.
# Nobody is faster: at the prices 2 for a second of 'fast' and 1 for a second of 'slow', a scan costs at
# least min(2 x 2, 6 x 1) = 4 and a print at least min(3 x 2, 4 x 1) = 4, so the bag costs 6 x 4 + 6 x 4 = 48;
# in t seconds the machines can be paid for t x (1 x 2 + 2 x 1) = 4 t, hence t >= 12.
#
# Energy of that schedule: 6 x 2 x 500 + 6 x 4 x 100 = 8,400 J (no machine ever waits).
# Least energy. Above idle, a scan takes 2 x (500 - 20) = 960 J on 'fast', 6 x (100 - 10) = 540 J on 'slow',
# a print 3 x 480 = 1,440 J and 4 x 90 = 360 J. All on 'slow': 6 x 540 + 6 x 360 = 5,400 J, in
# (36 + 24) / 2 = 30 s; the idle floor of 20 + 2 x 10 = 40 W adds 40 x 30 = 1,200 J: 6,600 J.
# In between, each scan moved to 'fast' saves 3 s and costs 420 - 3 x 40 = 300 J: the front is the straight
# line from (6,600 J, 30 s) to (8,400 J, 12 s).
#
# Profit. At 3.6 USD per kWh a megajoule costs 1 USD. The fast end earns (0.02 - 0.0084) / 12 s = 3.48 USD an
# hour, the thrifty end (0.02 - 0.0066) / 30 s = 1.608 USD an hour.
format: lpsched-bag/1
name: tiny
machine_types:
  - {name: fast, count: 1, idle_watts: 20}
  - {name: slow, count: 2, idle_watts: 10}
task_types:
  - {name: scan, count: 6}
  - {name: print, count: 6}
seconds:
  scan: {fast: 2, slow: 6}
  print: {fast: 3, slow: 4}
watts:
  scan: {fast: 500, slow: 100}
  print: {fast: 500, slow: 100}
prices: {per_bag: 0.02, electricity_per_kwh: 3.6, currency: USD}
"""

AI: Final = """\
# An AI service: 901 jobs of a morning on machines with one H100, A100 or L40S each, and on plain servers. Not
# measured: the numbers are ours, of the order of what such cards and servers did and cost around 2025. An
# H100 or A100 cannot encode video; the large model needs the 80 GB of memory that only these two have.
#
# Makespan. The two fine-tunings of the large model take 9,000 s on an H100 and longer elsewhere, and no
# machine can take over half of one: no schedule is shorter. Jobs that could be split would take 2,991 s.
format: lpsched-bag/1
name: ai-service
machine_types:
  - {name: H100, count: 12, idle_watts: 190, wear_per_busy_hour: 0.05,
     purchase_price: 34000, mean_hours_to_failure: 35000}
  - {name: A100, count: 16, idle_watts: 160, wear_per_busy_hour: 0.03,
     purchase_price: 16000, mean_hours_to_failure: 35000}
  - {name: L40S, count: 16, idle_watts: 120, wear_per_busy_hour: 0.02,
     purchase_price: 11000, mean_hours_to_failure: 40000}
  - {name: CPU, count: 20, idle_watts: 140, wear_per_busy_hour: 0.01,
     purchase_price: 8000, mean_hours_to_failure: 60000}
task_types:
  - {name: fine-tune-70b, count: 2}
  - {name: fine-tune-8b, count: 9}
  - {name: chat-batch-70b, count: 60}
  - {name: chat-batch-8b, count: 180}
  - {name: embeddings, count: 200}
  - {name: evaluation, count: 40}
  - {name: image-generation, count: 110}
  - {name: speech-to-text, count: 120}
  - {name: video-transcoding, count: 100}
  - {name: data-preparation, count: 80}
seconds:
  fine-tune-70b: {H100: 9000, A100: 19800}
  fine-tune-8b: {H100: 1440, A100: 2640, L40S: 4500}
  chat-batch-70b: {H100: 240, A100: 465}
  chat-batch-8b: {H100: 42, A100: 78, L40S: 105}
  embeddings: {H100: 18, A100: 30, L40S: 33, CPU: 420}
  evaluation: {H100: 300, A100: 540, L40S: 810}
  image-generation: {H100: 60, A100: 108, L40S: 114}
  speech-to-text: {H100: 39, A100: 69, L40S: 72, CPU: 900}
  video-transcoding: {L40S: 156, CPU: 780}
  data-preparation: {CPU: 600}
watts:
  fine-tune-70b: {H100: 890, A100: 610}
  fine-tune-8b: {H100: 860, A100: 590, L40S: 480}
  chat-batch-70b: {H100: 720, A100: 520}
  chat-batch-8b: {H100: 650, A100: 480, L40S: 430}
  embeddings: {H100: 560, A100: 430, L40S: 390, CPU: 380}
  evaluation: {H100: 690, A100: 510, L40S: 440}
  image-generation: {H100: 830, A100: 580, L40S: 470}
  speech-to-text: {H100: 600, A100: 450, L40S: 400, CPU: 390}
  video-transcoding: {L40S: 310, CPU: 410}
  data-preparation: {CPU: 370}
prices: {per_bag: 260, electricity_per_kwh: 0.15, overhead_per_bag: 4, currency: USD}
site: {pue: 1.25}
"""

VIDEO: Final = f"""\
# A video transcoding service: one task converts one minute of video from one format to another. General
# machines convert everything; GPU machines convert to a few formats, about ten times faster. The service is
# the one that motivates Tarplee, Maciejewski and Siegel (2014). The paper gives no numbers for it; these are
# ours: seconds = (reading the source + writing the target) / speed of the machine type, watts = idle + load,
# each pair off by a few percent (seed {VIDEO_SEED}). Prices are of the order of 2026.
"""

PROFIT: Final = f"""\
# 30 task types on 9 machine types of 40 machines, 11,000 tasks: the size of the example of Tarplee,
# Maciejewski and Siegel (2014). Their matrices are not public. These come from lpsched's generator by the
# coefficient-of-variation method: times with mean 600 s, variation 0.5 across task types and 0.35 across
# machine types; powers with mean 150 W, variation 0.1 and 0.25; seed {PROFIT_SEED}. {{idle}}
# Prices are left open: give one, or a profit ratio.
"""

SPEC: Final = """\
# Sixteen floating-point benchmarks on four servers of 2009 and 2010. Seconds: reference seconds / ratio of
# SPEC CPU2006 (speed), idle and full power: SPECpower_ssj2008 (active idle and 100 % load), both as published
# by SPEC, https://www.spec.org, the owner of these names and figures. A speed run loads only part of the
# machine, and SPEC does not publish its power. Assumption: idle plus half of the span from idle to full
# load, for every benchmark. The counts (10 machines of each, 100 runs of each) are ours.
"""

FACILITY: Final = f"""\
# 150 nodes, three CRAC units and eight task types: the small platform of Oxley, Jonardi, Pasricha,
# Maciejewski, Koenig and Siegel (2014), seed {FACILITY_SEED}. Which numbers are the paper's and which ours is
# in the description below, and in full at the head of lpsched/generate/facility.py and air_mixing.py. How
# air mixes is in the .npz beside this file.
"""

DESKTOP: Final = """\
# Five programs on nine desktop computers of 2012, one of each. NOT MEASURED: a stand-in for the benchmarks
# that Friese's thesis of 2015 uses (tables 5.1 and 5.2) and that are not published with it. Seconds and
# watts come by one formula from what is generally known of the processors (cores, threads, clock, thermal
# design power) and from assumptions about the programs; formula, facts and assumptions are in
# scripts/figures/shared/desktop.py. Watts are those of the whole computer; machines that are done are off, so
# there is no idle power. The counts are ours. 'FX-8159' is what the thesis prints; the facts are those of
# the FX-8150.
"""

FRONT: Final = f"""\
# 1,000 tasks of 50 types on 50 machines of 10 types: the first investigation of chapter 6 of Friese's
# thesis of 2015. Coefficient-of-variation method: seconds with mean 10, variation 0.1 across task types and
# 0.25 across machine types; watts with mean 200, variation 0.1 and 0.2; no idle power. Tasks per type and
# machines per type are random, at least one. The thesis's own matrices are not public; these come from seed
# {FRONT_SEED}.
"""

GROWN: Final = f"""\
# 1,000 tasks of 30 types on 36 machines of {{types}} types, {{each}} of each: an environment of the second
# investigation of chapter 6 of Friese's thesis of 2015. The tasks are the same in front-30x2, front-30x6
# and front-30x9. Five task types and all machine types are those of desktop-5x9.yaml, which is NOT
# MEASURED; the other 25 are grown from them by Gram-Charlier sampling, seed {GROWTH_SEED}. No idle power.
"""

UTILITY: Final = """\
{tasks:,} tasks that arrive within {minutes} minutes, {machines} machines of {types} types: data set {number}
of chapter 5 of Friese's thesis of 2015. {tables} Arrivals are even at random, seed {seed}; type, priority,
urgency and utility class of each task are drawn, with the values and chances of the thesis's appendices B, C
and D. The tasks are in the .csv beside this file."""
REAL: Final = "Seconds and watts are those of desktop-5x9.yaml, NOT MEASURED."
MADE: Final = f"""\
Five task types and nine machine types are those of desktop-5x9.yaml, NOT MEASURED; 25 task types are grown
from them by Gram-Charlier sampling, and four special-purpose machine types run two or three task types each
in a tenth of their mean seconds, seed {GROWTH_SEED}."""

ESSC: Final = f"""\
33,000 tasks that arrive in 24 hours on average, after two hours of warm-up, and 100 machines of 13
types: a day of chapter 2 of Friese's thesis of 2015, whose own matrices are not public.
Coefficient-of-variation method, 17 of 100 task types special-purpose; waves and bursts of arrivals;
utility by appendices B, C and D. What counts is a task that ends in the 24 hours. Seed {ESSC_SEED},
made by `lpsched generate day --tasks 33000 --seed {ESSC_SEED}`: lpsched/generate/day.py has the
details, `made_by` below the options, and trials are drawn from them. The tasks are in the .csv beside
this file."""
ENERGY: Final = f"""\
2,000 tasks that arrive in four hours on average, after one hour of warm-up, and 24 machines of 11 types
with three P-states: as many tasks an hour for each machine as 50,000 a day on 100, so that it is as
oversubscribed as the days of chapter 3 of Friese's thesis of 2015, and small enough to try things out
in a second. The energy constraint is about 70 % of what Max-Max UPT takes without one, dropping below
0.5 (73 % here, 68 % over eight trials). Seed {ENERGY_SEED}; made as essc-33k.yaml is, with the options
that `made_by` tells. The tasks are in the .csv beside this file."""

CLUSTERS: Final = f"""\
5,000 tasks that arrive in 24 hours on average, after four hours of warm-up, and take 2 to 19,200 cores of
one of six clusters with 1,900 nodes and 100,000 cores in all: the Jobs paper (Machovec and others, 2016),
whose own draws are not public. Tables I and II, Downey's speed-up and 12 GJ a day are the paper's. Cores
per node, the average parallelism of task types, the swing of arrivals, the hour of the day and the 20
utility classes are not in it: they are ours, as lpsched/generate/options.py and arrivals.py say.
Seed {CLUSTERS_SEED}, made by `lpsched generate clusters --tasks 5000 --energy-gigajoules 12 --seed
{CLUSTERS_SEED}`; `made_by` below has the options, and trials are drawn from them. The tasks are in the .csv
beside this file."""
SMALL_CLUSTERS: Final = f"""\
A small relative of clusters-5k.yaml, to try things out: 380 tasks a day on average, of which these arrive in
the nine hours from 8:00, and 36 nodes with 352 cores in three clusters, one of them special-purpose. The
first hour is warm-up. 0.08 GJ are about 60 % of what all nodes would take in the other eight. Seed
{SMALL_CLUSTERS_SEED}, with the options that `made_by` tells. The tasks are in the .csv beside this file."""

SERVERS: Final = {  # idle watts, watts at 100 % load
    "IBM-x3200-M3-X3470": (45.8, 118.0),
    "Fujitsu-RX100-S6-X3470": (35.0, 130.0),
    "IBM-x3200-M2-X3360": (56.7, 119.0),
    "IBM-x3200-M2-E3110": (75.2, 117.0),
}
BENCHMARKS: Final = """\
bwaves    13590   76.1   79.2   29.9   31.9
milc       9180   36.4   47.5   12.7   13.6
zeusmp     9100   35.5   37.6   18.7   19.8
gromacs    7140   24.9   24.1   18.4   19.3
cactusADM 11950  102    104     47.7   35.8
leslie3d   9400   31.2   32.0   18.9   19.4
namd       8020   21.1   20.7   15.0   15.9
dealII    11440   35.8   39.6   28.8   30.6
soplex     8340   28.5   27.7   17.4   18.4
povray     5320   30.1   30.3   23.7   25.1
calculix   8250   30.8   31.5   15.7   16.7
GemsFDTD  10610   38.9   38.8   15.4   16.4
tonto      9840   27.0   25.7   20.5   22.0
lbm       13740   48.1   47.9   19.9   21.4
wrf       11170   41.7   43.6   23.9   25.3
sphinx3   19490   45.2   45.2   27.3   29.5
"""  # reference seconds, then the ratio of each server

SOURCES: Final = {"mov": (4.0, 0.34), "avi": (3.0, 0.22), "mkv": (5.0, 0.28), "mxf": (9.0, 0.16)}  # seconds, share
TARGETS: Final = {  # seconds on the older general machine, minutes of video, and which GPU machines write it
    "mpeg4": (58.0, 21_000, ("gpu-media", "gpu-av1")),
    "h265": (140.0, 14_500, ("gpu-media", "gpu-av1")),
    "av1": (310.0, 5_200, ("gpu-av1",)),
    "webm": (95.0, 9_800, ()),
    "prores": (33.0, 3_600, ()),
    "gif": (12.0, 2_400, ()),
}
FARM: Final = {  # machine type: speed, watts of load above idle
    "general-2019": (1.0, 118.0),
    "general-2023": (1.9, 165.0),
    "gpu-media": (11.0, 205.0),
    "gpu-av1": (16.0, 260.0),
}


def video() -> Bag:
    """Return the transcoding service."""
    rng = np.random.default_rng(VIDEO_SEED)
    machines = (
        MachineType(name="general-2019", count=24, idle_watts=62, wear_per_busy_hour=0.01,
                    purchase_price=2600, mean_hours_to_failure=45000),
        MachineType(name="general-2023", count=32, idle_watts=71, wear_per_busy_hour=0.01,
                    purchase_price=4100, mean_hours_to_failure=60000),
        MachineType(name="gpu-media", count=6, idle_watts=88, wear_per_busy_hour=0.03,
                    purchase_price=7900, mean_hours_to_failure=40000),
        MachineType(name="gpu-av1", count=4, idle_watts=97, wear_per_busy_hour=0.04,
                    purchase_price=11800, mean_hours_to_failure=40000),
    )  # fmt: skip
    tasks, seconds, watts = [], [], []
    for source, (read, share) in SOURCES.items():
        for target, (write, minutes, gpus) in TARGETS.items():
            tasks.append(TaskType(name=f"{source}-to-{target}", count=round(share * minutes)))
            noise = rng.normal(1.0, 0.04, size=(2, len(machines))).tolist()
            times, powers = [], []
            for machine, off_time, off_power in zip(machines, *noise, strict=True):
                speed, load = FARM[machine.name]
                runs = machine.name.startswith("general") or machine.name in gpus
                times.append(six_digits((read + write) / speed * off_time) if runs else None)
                powers.append(six_digits(machine.idle_watts + load * off_power) if runs else None)
            seconds.append(times)
            watts.append(powers)
    prices = Prices(per_bag=240, electricity_per_kwh=0.14, overhead_per_bag=1.5, currency="USD")
    return Bag("video-transcoding", machines, tuple(tasks), Table.of(seconds), Table.of(watts), prices, Site(pue=1.3))


def profit() -> Bag:
    """Return the bag of the size of the Profit paper's, without idle power."""
    options = CovOptions(
        task_types=30, machines=(40,) * 9, tasks=11_000, mean_seconds=600.0, task_cov=0.5, machine_cov=0.35,
        idle_watts=0.0, dynamic_watts=150.0,
    )  # fmt: skip
    bag = cov_bag("profit-30x9", np.random.default_rng(PROFIT_SEED), options)
    return bag.model_copy(update={"prices": Prices(electricity_per_kwh=0.12)})


def with_idle_power(bag: Bag) -> Bag:
    """Return the bag with idle power: 5 % of each machine type's mean power over the task types."""
    assert bag.watts is not None
    machines = []
    for machine, column in zip(bag.machine_types, zip(*bag.watts, strict=True), strict=True):
        powers = [power for power in column if power is not None]
        machines.append(machine.model_copy(update={"idle_watts": six_digits(0.05 * sum(powers) / len(powers))}))
    return bag.model_copy(update={"name": f"{bag.name}-idle", "machine_types": tuple(machines)})


def spec() -> Bag:
    """Return the SPEC benchmarks on real servers."""
    names, seconds = [], []
    for line in BENCHMARKS.splitlines():
        name, reference, *ratios = line.split()
        names.append(name)
        seconds.append([six_digits(float(reference) / float(ratio)) for ratio in ratios])
    watts = [six_digits(idle + 0.5 * (full - idle)) for idle, full in SERVERS.values()]
    return Bag(
        "spec-2010",
        tuple(MachineType(name=name, count=10, idle_watts=idle) for name, (idle, _) in SERVERS.items()),
        tuple(TaskType(name=name, count=100) for name in names),
        Table.of(seconds),
        Table.of([watts] * len(names)),
        Prices(electricity_per_kwh=0.12),
    )


def instances() -> dict[str, bytes]:
    """Return every file's name and content."""
    plain = profit()
    with_comments = {
        "video-transcoding.yaml": (VIDEO, video()),
        "profit-30x9.yaml": (PROFIT.format(idle="No idle power."), plain),
        "profit-30x9-idle.yaml": (
            PROFIT.format(idle="Idle power: 5 % of\n# each machine type's mean power, as in section V-C of the paper."),
            with_idle_power(plain),
        ),
        "spec-2010.yaml": (SPEC, spec()),
        "desktop-5x9.yaml": (DESKTOP, desktop_bag()),
        "front-50x10.yaml": (FRONT, chapter_6_first()),
    } | {
        f"{bag.name}.yaml": (GROWN.format(types=len(bag.machine_types), each=bag.machine_types[0].count), bag)
        for bag in map(chapter_6_second, (2, 6, 9))
    }
    texts = {name: comment + yaml_text(as_dict(bag, TableForm.NAMES)) for name, (comment, bag) in with_comments.items()}
    contents = {name: text.encode() for name, text in ({"tiny.yaml": TINY, "ai-service.yaml": AI} | texts).items()}
    online = day(chapter_2(), ESSC) | day(small_chapter_3(), ENERGY)
    online |= clusters(jobs_paper(), CLUSTERS) | clusters(small_jobs_paper(), SMALL_CLUSTERS)
    utility = [file for tasks in DAY_SEEDS for file in utility_day(tasks).items()]
    return contents | facility("facility-small.yaml") | online | dict(utility)


def utility_day(tasks: int) -> dict[str, bytes]:
    """Return a data set of chapter 5."""
    made = chapter_5(tasks)
    comment = UTILITY.format(
        tasks=tasks,
        minutes=60 if tasks == max(DAY_SEEDS) else 15,
        machines=made.machines,
        types=len(made.machine_types),
        number=list(DAY_SEEDS).index(tasks) + 1,
        tables=REAL if tasks == min(DAY_SEEDS) else MADE,
        seed=DAY_SEEDS[tasks],
    )
    return day(made, comment)


def day(made: Day, comment: str) -> dict[str, bytes]:
    """Return a day: its tasks, and the file that names them."""
    name = f"{made.name}.yaml"
    beside = f"{name}.tasks.csv"
    text = wrapped(comment) + yaml_text(day_as_dict(made, files={"tasks": beside}))
    return {
        beside: csv_bytes(made.task_columns(), zip(*made.task_columns().values(), strict=True)),
        name: text.encode(),
    }


def clusters(made: Clusters, comment: str) -> dict[str, bytes]:
    """Return clusters: their tasks, and the file that names them."""
    name = f"{made.name}.yaml"
    beside = f"{name}.tasks.csv"
    text = wrapped(comment) + yaml_text(clusters_as_dict(made, beside))
    return {
        beside: csv_bytes(made.task_columns(), zip(*made.task_columns().values(), strict=True)),
        name: text.encode(),
    }


def wrapped(comment: str) -> str:
    """Return a text as the comment that a file begins with."""
    sharp = "# "
    lines = textwrap.fill(comment, 110, initial_indent=sharp, subsequent_indent=sharp, break_on_hyphens=False)
    return f"{lines}\n"


def facility(name: str) -> dict[str, bytes]:
    """Return the small platform: its matrix, and the file that names it."""
    small = generate_facility("small", np.random.default_rng(FACILITY_SEED))
    beside = f"{name}.mixing.npz"
    text = FACILITY + yaml_text(facility_as_dict(small, files={"mixing": beside}))
    return {beside: write_npz_matrix(small.mixing.matrix), name: text.encode()}


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "instances"
    write_files({folder / name: content for name, content in instances().items()})


if __name__ == "__main__":
    main()
