"""Benches and runs whose numbers are known."""

from __future__ import annotations

from lpsched.measure.bench import Application, Bench
from lpsched.measure.evidence import COMPUTE_PROBE, MEMORY_PROBE, Sample, Setting
from lpsched.measure.measurements import MeasuredMachine, Meters
from lpsched.measure.summary import measurements_of

M, C = MEMORY_PROBE, COMPUTE_PROBE
MACHINE = MeasuredMachine("a processor", "a system", ((0,), (1,), (2,), (3,)))


def bench_of(*names, cores=4, **changes):
    applications = tuple(Application(name, (name, "--go")) for name in names)
    return Bench(name="bench", machine_type="node", applications=applications, cores=cores, **changes)


def runs(text, *seconds, mhz=None, batch=False, **told):
    """Return runs of a setting: "a" alone, "a|b c" beside others; `None` for a run that failed."""
    application, _, beside = text.partition("|")
    setting = Setting(application, tuple(sorted(beside.split())), mhz, batch)
    return [Sample(setting, each, failure="exit code 1" if each is None else None, **told) for each in seconds]


def summed_up(bench, *samples, clocks=(), **told):
    return measurements_of(
        bench,
        machine=MACHINE,
        meters=Meters("a clock"),
        frequencies_mhz=clocks,
        samples=[each for some in samples for each in some],
        **told,
    )


def beside_companions(name, *, by_memory, by_compute, on_memory):
    """Return two equal runs of each setting of an application and a companion."""
    return [
        *runs(f"{name}|{M}", by_memory, by_memory),
        *runs(f"{name}|{C}", by_compute, by_compute),
        *runs(f"{M}|{name}", on_memory, on_memory),
    ]


# The memory companion takes 10 s beside the compute companion and 14 s beside itself: own = 0.4.
OWN = [*runs(f"{M}|{M}", 14.0, 14.0), *runs(f"{M}|{C}", 10.0, 10.0)]
