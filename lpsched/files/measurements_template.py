"""A commented file of measurements to start from, for those who have times and powers already."""

from __future__ import annotations

from typing import Final

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
