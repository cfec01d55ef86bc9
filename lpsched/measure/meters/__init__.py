"""Meters: what this machine lets us measure besides time, named in the output; `measure/machine.py` chooses them.

energy       RAPL, or a command of the user's that prints watts      energy.py, power.py
counters     last-level cache misses and instructions by perf stat   machine.py
clocks       frequencies set by cpufreq, and put back                machine.py

What cannot be measured is absent, with a sentence: what, what was found, what would make it possible.
"""
