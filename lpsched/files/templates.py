"""Commented files to start from."""

from __future__ import annotations

from typing import Final

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

TEMPLATES: Final = {"bag": BAG}
