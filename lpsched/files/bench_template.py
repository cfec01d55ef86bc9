"""A commented bench file to start from; it runs as it is, in a few seconds, wherever there is Python."""

from __future__ import annotations

from typing import Final

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
