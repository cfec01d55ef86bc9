"""The servers and benchmarks of the Heat paper, and how they are thought to behave.

Names, overheads, cores, P-states and watts are those of its table II, the degradation is its table I; lbm and
povray scale with the clock as it says. The other shares, and which benchmark is in which memory class, are
ours, after the order of memory intensity that is known of SPEC CPU2006.

Source: Oxley, Jonardi, Pasricha, Maciejewski, Koenig and Siegel, Thermal, power, and co-location aware
resource allocation in heterogeneous high performance computing systems, 2014.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Server(NamedTuple):
    """A column of table II."""

    name: str
    overhead_watts: float
    cores: int
    p_states: int
    core_watts: float  # in P-state 0


class Benchmark(NamedTuple):
    """A task type: its memory class, and how much of its time scales with the clock."""

    name: str
    memory_class: str
    clock_share: float


SERVERS: Final = (
    Server("tx140", 18.9, 4, 14, 9.1),
    Server("x3200", 75.2, 2, 4, 20.9),
    Server("rx100", 35.0, 4, 11, 22.4),
    Server("at110", 21.3, 4, 16, 18.55),
)
BENCHMARKS: Final = (
    Benchmark("lbm", "heavy", 0.30),
    Benchmark("bwaves", "heavy", 0.45),
    Benchmark("sphinx3", "medium", 0.60),
    Benchmark("milc", "heavy", 0.40),
    Benchmark("cactusADM", "medium", 0.65),
    Benchmark("calculix", "light", 0.95),
    Benchmark("wrf", "medium", 0.70),
    Benchmark("tonto", "light", 0.90),
    Benchmark("povray", "light", 1.00),
    Benchmark("dealII", "light", 0.80),
    Benchmark("zeusmp", "medium", 0.65),
    Benchmark("gromacs", "light", 0.95),
    Benchmark("leslie3d", "heavy", 0.40),
    Benchmark("namd", "light", 0.98),
    Benchmark("soplex", "heavy", 0.45),
    Benchmark("GemsFDTD", "heavy", 0.40),
)
CLASSES: Final = ("heavy", "medium", "light")
# how much longer a task of the row's class takes for each other core that runs one of the column's
DEGRADATION: Final = ((1.00, 0.30, 0.05), (0.50, 0.20, 0.03), (0.06, 0.04, 0.01))
