"""What `lpsched new` writes: a commented example of each kind of file."""

from __future__ import annotations

from typing import Final

# A commented bench file to start from; it runs as it is, in a few seconds, wherever there is Python.

BENCH: Final = """\
format: lpsched-bench/1      # the first key of every file
name: my-node                # of this bench; all below but cores and applications is optional
# description: a text that says what was measured, and why
# machine_type: my-node      # what this machine is called in a bag or facility; without it, the name

# Where applications run, one in each place: how many places, or which processors: [0, 2], or several each,
# such as the two threads of a core: [[0, 1], [2, 3]]. At least 2 to see what neighbours cost.
cores: 2

# Clocks to set, where the system permits that; without it, the machine's own.
# frequencies_mhz: [3400, 1700]

# Programs whose runs are all alike, each a task type to come. A command is a list of words, or one text that
# is split as a shell would; no shell runs it. What looks like a number needs quotes unless it is whole. What
# a program prints is thrown away; a run that takes too long or fails is told, and does not count.
applications:
  - name: count              # computes, and hardly looks at memory
    command: [python3, -c, "sum(range(2000000))"]
    count: 100               # tasks of this type in a bag
    timeout_seconds: 60      # without it, 3600
    # folder: work           # where it runs, relative to this file; without it, beside this file
    # environment: {OMP_NUM_THREADS: 1}   # added to yours
  - name: scan               # goes through 8 MB again and again
    command: [python3, -c, "b = bytearray(8000000); [b.count(1) for _ in range(6)]"]
    count: 50
    timeout_seconds: 60
  # - {name: sort, command: "sort -n big.txt", count: 20}

pairs: all                   # who runs beside whom: all, none, or a list such as [[count, scan]]
# groups: [[count, count, scan, scan]]   # three or more, no more than cores: they check sums of pairs
batches: true                # pairs and groups also until all have ended: what sharing static power saves

# How often: until the mean is known within 20 % each way at 95 % confidence, but from 2 to 4 times.
# Without this: {least: 3, most: 9, within: 0.05, confidence: 0.95, warm_ups: 1}
repeats: {least: 2, most: 4, within: 0.2, confidence: 0.95, warm_ups: 1}

# Where energy is read: auto (RAPL where it can be read), rapl or none; or a program of yours that prints the
# watts of this moment, for a wall meter, IPMI or nvidia-smi.
energy: none
# energy:
#   command: [./watts.sh]    # prints once and ends; or, in its place:
#   stream: [./watts.sh, -f] # goes on and prints line by line; or: meter: rapl
#   every_seconds: 1         # between two calls of the command
#   covers: the whole node, at the outlet
#   idle_seconds: 10         # how long the idle machine is measured, before all runs and after them

counters: auto               # cache misses and instructions, by perf where permitted; or: none
# lpsched's own memory-bound and compute-bound programs beside yours, to see how memory-intensive yours are:
# always, never (here, to be quick), or auto (without this line): where cache misses cannot be counted.
companions: never

# Where a class of memory intensity ends and the next begins: misses per instruction; and slowdown beside the
# memory-bound companion, as a share of its own.
# class_bounds: [1.0e-5, 1.0e-3]
# share_bounds: [0.1, 0.5]

seed: 0                      # of the random order of runs
limit_seconds: 300           # of everything; what was measured by then counts
"""


# A commented file of measurements to start from, for those who have times and powers already.

MEASUREMENTS: Final = """\
format: lpsched-measurements/1   # 'lpsched measure' writes such a file; this is one by hand
name: my-node                # all below but applications and seconds is optional
# description: a text that says where the numbers come from
machine_type: my-node        # what this machine is called in a bag or facility; without it, the name
# taken: 2026-01-31
machine: {processor: some processor, system: some system, cores: 4}   # cores: as many tasks at once
meters: {time: the log of our batch system, energy: a wall meter, energy_covers: the whole node}
idle_watts: 45               # of the machine that does nothing
# frequencies_mhz: [3400, 1700]   # clocks, fastest first; each is a P-state with numbers of its own

applications:                # one task type each; memory classes go from calm (I) to intensive
  - {name: render, count: 400, memory_class: I}
  - {name: encode, count: 1500, memory_class: III}
  # command: the program and its arguments

# Seconds of an application alone on the machine; with clocks a list, one number for each.
seconds: {render: 62.0, encode: 18.5}

# Watts meanwhile, of all that the meter sees, idle power included.
watts: {render: 145.0, encode: 150.0}

# How much longer the first takes for each core that runs the second, as a share of its time alone: by memory
# class, as a facility has it; or by application, as degradation_in_full.
degradation:
  I: {I: 0.0, III: 0.02}
  III: {I: 0.01, III: 0.15}
# degradation_in_full: {render: {render: 0.0, encode: 0.02}, encode: {render: 0.01, encode: 0.15}}

# What 'lpsched measure' adds as evidence: confidence, measured, failed, savings, additive; see
# 'lpsched schema measurements'. Where it is there, the numbers above must be what it says.
"""


# Commented files to start from.

BAG: Final = """\
format: lpsched-bag/1        # the first key of every file
name: my-bag

machine_types:               # identical machines; everything but name and count is optional
  - {name: general, count: 8, idle_watts: 45}
  - {name: gpu, count: 2, idle_watts: 60, p_states: [fast, saving]}
  # wear_per_busy_hour: money for each hour that a machine works
  # purchase_price and mean_hours_to_failure: depreciation, needed together

task_types:                  # identical tasks
  - {name: render, count: 400}
  - {name: encode, count: 1500}

# Seconds of one task on one machine. What is not named cannot run. A machine type with P-states has a
# list, one number for each. Other forms: a list of rows in the order of the lists above, null where a
# pair cannot run; or {file: seconds.csv} (.csv, .npz, .parquet) beside this file.
seconds:
  render: {general: 62.0, gpu: [4.0, 5.5]}
  encode: {general: 18.5}

# Average watts of the machine while it runs that task. Optional as a whole.
watts:
  render: {general: 145.0, gpu: [290.0, 180.0]}
  encode: {general: 150.0}

prices:                      # optional, like everything in it
  per_bag: 95.0              # what the whole bag earns
  # per_task: {render: 0.10} # earned in addition, for each task
  electricity_per_kwh: 0.12
  overhead_per_bag: 1.5
  currency: USD

site:                        # optional, like everything in it
  pue: 1.3                   # power usage effectiveness of the building
  # average_power_cap_watts: 2500
  # cap_measured_at: facility  # or: it
  # deadline_seconds: 3600
"""

FACILITY: Final = """\
format: lpsched-facility/1   # the first key of every file
name: my-facility
# description: a text that says where the numbers come from; optional

node_types:                  # nodes that are alike; p_states is optional
  - {name: blade, cores: 4, overhead_watts: 30, airflow_m3_per_second: 0.1, redline_celsius: 27,
     p_states: [fast, saving]}
  - {name: tower, cores: 2, overhead_watts: 60, airflow_m3_per_second: 0.1, redline_celsius: 27}

nodes:                       # in the order of the mixing matrix: a type's name, or so many in a row
  - {type: blade, count: 3}
  - tower

crac_units:                  # count: 3 would make three units of one entry
  - name: crac
    airflow_m3_per_second: 0.4
    outlet_celsius: [12, 24]        # lowest and highest
    # cop: [0.458, 0.0008, 0.0068]  # coefficient of performance: constant, linear, quadratic in the outlet
    # redline_celsius: 40           # of the air that it draws in

task_types:                  # deadline_seconds and memory_class are optional
  - {name: render, arrivals_per_second: 0.5, reward: 4.0, deadline_seconds: 60, memory_class: heavy}
  - {name: encode, arrivals_per_second: 1.5, reward: 1.0, memory_class: light}

# Tasks per second of one core, and its watts. What is not named cannot run. A node type with P-states has a
# list, one number for each. Other forms, as in a bag: a list of rows, or {file: speeds.csv}.
speeds:
  render: {blade: [0.05, 0.03], tower: 0.04}
  encode: {blade: [0.2, 0.12]}
watts:
  render: {blade: [25.0, 12.0], tower: 30.0}
  encode: {blade: [22.0, 10.0]}

# How much longer a task of the row's class takes for each other core of its node that runs one of the
# column's: 0.4 is 40 % more. Optional. Rows and columns may be task types instead of memory classes.
degradation:
  heavy: {heavy: 0.4, light: 0.05}
  light: {heavy: 0.1, light: 0.0}

# How air gets around, nodes first, then CRAC units; one of three:
#   inlet_mix[v][u]                      share of the air that v draws in that left u; rows sum to 1
#   alpha[u][v]                          share of the air that leaves u that goes to v; rows sum to 1
#   recirculation_kelvin_per_watt[v][w]  nodes only, with one CRAC unit: inlets = its outlet + matrix x watts
# Each as rows, or {file: mixing.npz} (or .csv) beside this file. As much air must leave a place as enters it.
mixing:
  inlet_mix:
    - [0.0, 0.2, 0.0, 0.0, 0.8]
    - [0.0, 0.0, 0.2, 0.0, 0.8]
    - [0.0, 0.0, 0.0, 0.2, 0.8]
    - [0.2, 0.0, 0.0, 0.0, 0.8]
    - [0.2, 0.2, 0.2, 0.2, 0.2]

power_cap_watts: 500         # nodes and cooling together

# air: {density_kg_per_m3: 1.205, joules_per_kg_kelvin: 1005}
"""

LEVELS: Final = """\
# What a task is worth when it ends, the later the less. Three levels of each task say it, by these names:
priorities: {high: 4, low: 1}   # the most that it is worth
urgencies:                      # how fast that decays, and for which share of its mean seconds it stays
  urgent: {decay_per_minute: 0.2, steady_share: 0.9}
  patient: {decay_per_minute: 0.02, steady_share: 1.1}
utility_classes:                # from then on: minutes, share of the most there, what multiplies the decay
  A:
    - {after_minutes: 0, share: 1.0, rate: 1.1}
    - {after_minutes: 30, share: 0.5}
    - {after_minutes: 600, share: 0}

# Or a function of its own, by the seconds since the task arrived: where utility starts in each interval and,
# if it does not stay there, what it falls to and how fast.
"""  # of days and of clusters
DAY: Final = (
    """\
format: lpsched-day/1        # the first key of every file
name: my-day

machine_types:               # identical machines, each running one task at a time; p_states is optional
  - {name: general, count: 8}
  - {name: gpu, count: 2, p_states: [fast, saving]}

task_types:                  # tasks that take equally long
  - {name: render}
  - {name: encode}

# Seconds of one task on one machine, and average watts while it runs. What is not named cannot run. A machine
# type with P-states has a list, one number for each. Other forms, as in a bag: a list of rows in the order of
# the lists above, or {file: seconds.csv} (.csv, .npz, .parquet) beside this file.
seconds:
  render: {general: 620.0, gpu: [40.0, 55.0]}
  encode: {general: 185.0}
watts:
  render: {general: 145.0, gpu: [290.0, 180.0]}
  encode: {general: 150.0}

# What of all this counts; without it, everything does.
# period:
#   warm_up_seconds: 7200      # time at the beginning that does not count; by default 0
#   length_seconds: 86400      # so much does, and nothing starts later; without it, all the rest
#   edge: prorated             # a task that runs across an edge counts by the share of its run within;
#                              # or: completed, if only tasks that end within count, and these wholly
#   energy_constraint_joules: 1.0e+9   # more may not be taken in the period; idle machines take none

"""
    + LEVELS
    + """\
utility_functions:
  deadline: [{after_seconds: 0, starts_at: 3}, {after_seconds: 900, starts_at: 0}]
  fading: [{after_seconds: 0, starts_at: 3, falls_to: 1, rate_per_second: 0.001}]

# One row per task, by arrival: three levels, or the name of an own function. Many tasks belong into a file
# beside this one, {file: tasks.csv} (.csv, .parquet), with these columns.
tasks:
  - {arrival_seconds: 0, task_type: render, priority: high, urgency: urgent, utility_class: A}
  - {arrival_seconds: 12.5, task_type: encode, priority: low, urgency: patient, utility_class: A}
  - {arrival_seconds: 30, task_type: encode, utility: deadline}
  - {arrival_seconds: 30, task_type: render, utility: fading}

# What 'lpsched generate day' notes of itself, to draw other days of the same kind:
# made_by: {generator: NAME, seed: 1}
"""
)

CLUSTERS: Final = (
    """\
format: lpsched-clusters/1   # the first key of every file
name: my-clusters

clusters:                    # identical nodes, each running one task at a time; p_states is optional,
  - {name: thin, nodes: 64, cores_per_node: 16}                          # and cores_per_node: by default 1
  - {name: fat, nodes: 8, cores_per_node: 64, p_states: [fast, saving]}

task_types:                  # tasks that take equally long on as many nodes
  - {name: flow}
  - {name: mesh}

# Seconds of one task by the number of nodes that it takes: as many nodes of one cluster as have its cores.
# Between two numbers of nodes the value is on the straight line; outside them no task may be. A cluster with
# P-states has a list, one number for each. A number alone is the same for any number of nodes. What is not
# named cannot run.
seconds:
  flow:
    thin: {1: 5000, 4: 1400, 16: 500, 64: 300}
    fat: {1: [1500, 2100], 4: [420, 600], 8: [260, 370]}
  mesh:
    fat: {1: [900, 1300], 2: [800, 1150]}

# Average watts of all its nodes together while the task runs, likewise. Optional as a whole.
watts:
  flow:
    thin: {1: 250, 64: 16000}
    fat: {1: [900, 600], 8: [7200, 4800]}
  mesh:
    fat: {1: [950, 640], 2: [1900, 1280]}

# What of all this counts; without it, everything does.
# period:
#   warm_up_seconds: 14400     # time at the beginning that does not count; by default 0
#   length_seconds: 86400      # so much does, and nothing starts later; without it, all the rest
#   edge: prorated             # a task that runs across an edge counts by the share of its run within;
#                              # or: completed, if only tasks that end within count, and these wholly
#   energy_constraint_joules: 1.0e+9   # more may not be taken in the period; idle nodes take none

"""
    + LEVELS
    + """\
utility_functions:
  deadline: [{after_seconds: 0, starts_at: 3}, {after_seconds: 7200, starts_at: 0}]

# In place of utility (these four keys, those of the tasks, and the period) a cost of waiting, and all tasks
# must run: what traces of real systems have.
# waiting:
#   measure: bounded-slowdown  # (wait + run) / run; or: slowdown, seconds, points
#   weight: task               # each task counts once; or: cores, core-seconds
#   at_least_seconds: 10       # of bounded-slowdown: runs that are shorter count as this
#   points: [[0, 0], [3600, 1]]  # of points: seconds waited, cost

# One row per task, by arrival: its cores, and three levels or the name of an own function. Many tasks belong
# into a file beside this one, {file: tasks.csv} (.csv, .parquet), with these columns. Optional: work, by
# which its seconds are multiplied, 1 by default; requested_work, at least that: what schedulers are told;
# job, its number elsewhere.
tasks:
  - {arrival_seconds: 0, task_type: flow, cores: 64, priority: high, urgency: urgent, utility_class: A}
  - {arrival_seconds: 30, task_type: mesh, cores: 100, priority: low, urgency: patient, utility_class: A}
  - {arrival_seconds: 30, task_type: flow, cores: 7, work: 0.5, requested_work: 2, utility: deadline}

# What 'lpsched generate clusters' notes of itself, to draw others of the same kind:
# made_by: {generator: NAME, seed: 1}
"""
)

STUDY: Final = """\
format: lpsched-study/1      # the first key of every file
name: my-study
# description: a text that says what it is about; optional

# Every combination of instance, method, parameters and seed is one run: one line of JSON.
instances:                   # files, relative to this one; or generators, one instance for each seed
  # - {file: my-bag.yaml}
  - {generate: bag, seeds: {from: 0, count: 5}, task_types: 6, tasks: 300, machines: [4, 4, 2]}
  - {generate: bag, seeds: [5, 6], task_types: 6, tasks: 3000, machines: [4, 4, 2]}
  # generators: bag, resampled, facility, day, clusters; options as in 'lpsched generate'
  # - {generate: resampled, from: my-bag.yaml, tasks_per_machine: 10, seeds: {count: 100}}

methods:                     # a name, or a name with parameters and limits of its own
  - lp                       # 'lpsched solve --effort fast', the papers' method
  - balanced                 # 'lpsched solve --effort balanced'
  - min-min                  # any heuristic of 'lpsched validate'
  # - {name: tight, gap: 0.001, limits: {seconds: 5}}
  # of bags also: solve, front, price, nsga2; of facilities: lp, greedy, ga, nlp; of days, clusters: policies

parameters:                  # lists of values, all combinations, for the methods that know them; optional
  objective: [makespan, energy]
  effort: balanced           # for the bound of min-min; auto, the default, takes about a second more
  # profit_ratio: [1.01, 1.2, 1.5]
  # power_cap: [null, 2500]  # null: as the file says

seeds: [0]                   # of methods that leave something to chance; optional, as is all below
limits: {seconds: 60}        # of methods that can stop early
"""

TEMPLATES: Final = {
    "bag": BAG,
    "facility": FACILITY,
    "day": DAY,
    "clusters": CLUSTERS,
    "study": STUDY,
    "bench": BENCH,
    "measurements": MEASUREMENTS,
}
