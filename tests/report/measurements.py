"""Measurements for tests: the thesis's applications with made-up numbers of a plausible size."""

from __future__ import annotations

from itertools import combinations_with_replacement

from lpsched.measure.evidence import AdditiveCheck, Failed, Measured, Saving, Setting, Spread
from lpsched.measure.measurements import (
    BY_MISSES,
    BY_SLOWDOWN,
    MeasuredApplication,
    MeasuredMachine,
    Measurements,
    Meters,
)
from lpsched.model.fields import FrozenDict

IDLE_WATTS = 44.0
FASTEST_MHZ = 3400.0
APPLICATIONS = {  # class, misses per instruction, seconds at the fastest clock, share of them that memory takes
    "canneal": ("III", 2.25e-2, 112.0, 0.6),
    "streamcluster": ("III", 1.64e-2, 318.0, 0.5),
    "blackscholes": ("II", 2.29e-5, 137.0, 0.05),
    "bodytrack": ("I", 7.44e-6, 141.0, 0.02),
}
BY_CLASS = {"I": 0.004, "II": 0.012, "III": 0.13}  # how much longer for each core, at most
GROUPS = (
    ("canneal", "canneal", "streamcluster", "streamcluster"),
    ("blackscholes", "bodytrack", "bodytrack", "canneal"),
    ("bodytrack", "bodytrack", "canneal", "streamcluster"),
)


def spread(mean, share=0.01, count=9):
    return Spread(mean, count, mean * share, mean * (1 - 0.77 * share), mean * (1 + 0.77 * share))


FAILED = (Failed.of(Setting("streamcluster", ("bodytrack",), 1700.0), "took longer than 600 s and was killed"),)


class Made:
    """A machine whose times, powers and misses are known by formula."""

    def __init__(self, applications, *, energy=True, counters=True):
        self.of = {**applications}
        self.energy, self.counters = energy, counters

    def degradation(self, name, other):
        return BY_CLASS[self.of[name][0]] * (1.0 if self.of[other][0] == "III" else 0.1)

    def alone(self, name, mhz):
        _, _, seconds, memory = self.of[name]
        return seconds * (memory + (1 - memory) * FASTEST_MHZ / (mhz or FASTEST_MHZ))

    def seconds(self, setting):
        slower = sum(self.degradation(setting.application, other) for other in setting.beside)
        several = 1 + 0.03 * (len(setting.beside) > 1)  # what sums of pairs do not know
        return self.alone(setting.application, setting.mhz) * (1 + slower) * several

    def watts(self, together, mhz):
        return IDLE_WATTS + 24.0 * ((mhz or FASTEST_MHZ) / FASTEST_MHZ) ** 2.2 * len(together) ** 0.9

    def batch(self, setting):
        names = setting.together
        beside = {name: [other for at, other in enumerate(names) if at != names.index(name)] for name in names}
        return max(self.seconds(Setting(name, tuple(beside[name]), setting.mhz)) for name in names)

    def together(self, setting):
        """Energy until all have ended: static power for as long as that, and what each takes on top of it."""
        alone = [(self.alone(n, setting.mhz), self.watts((n,), setting.mhz)) for n in setting.together]
        return IDLE_WATTS * self.batch(setting) + sum(s * (watts - IDLE_WATTS) for s, watts in alone)

    def measured(self, setting):
        seconds = self.batch(setting) if setting.batch else self.seconds(setting)
        joules = seconds * self.watts(setting.together, setting.mhz)
        if setting.batch:
            joules = 1.02 * self.together(setting)
        intense = sum(self.of[other][0] == "III" for other in setting.beside)
        misses = self.of[setting.application][1] * (1 + 0.12 * intense)
        return Measured.of(
            setting,
            spread(seconds),
            spread(joules, 0.02) if self.energy else None,
            spread(misses, 0.05) if self.counters and not setting.batch else None,
        )

    def saving(self, setting):
        alone = [(self.alone(n, setting.mhz), self.watts((n,), setting.mhz)) for n in setting.together]
        together = self.together(setting)
        return Saving(
            setting.together, sum(seconds * watts for seconds, watts in alone), 1.02 * together, together, setting.mhz
        )


def changed(part, **changes):
    """Return a copy with other values, which need not fit the rest: a report draws whatever it is given."""
    return type(part).model_construct(**dict(part) | changes)


def made_measurements(
    applications=APPLICATIONS,
    *,
    clocks=(3400.0, 2600.0, 1700.0),
    groups=GROUPS,
    energy=True,
    counters=True,
    classes=True,
    failed=FAILED,
):
    """Return measurements of a quad-core machine: each alone, every pair, some larger groups."""
    made = Made(applications, energy=energy, counters=counters)
    settings, batches = [], []
    for mhz in clocks or (None,):
        settings += [Setting(name, (), mhz) for name in applications]
        for group in (*combinations_with_replacement(sorted(applications), 2), *groups):
            for name in dict.fromkeys(group):
                others = list(group)
                others.remove(name)
                settings.append(Setting(name, tuple(others), mhz))
            batches.append(Setting(group[0], tuple(group[1:]), mhz, batch=True))
    if not energy:
        batches = []
    skipped = {each.setting for each in failed}
    measured = [made.measured(each) for each in (*settings, *batches) if each not in skipped]
    additive = [
        AdditiveCheck.of(
            each.setting,
            each.seconds.mean / made.alone(each.setting.application, each.setting.mhz),
            1 + sum(made.degradation(each.setting.application, other) for other in each.setting.beside),
        )
        for each in measured
        if len(each.setting.beside) > 1 and not each.setting.batch
    ]
    return Measurements(
        name="i7-bench",
        machine_type="i7-3770",
        machine=MeasuredMachine(
            "Intel(R) Core(TM) i7-3770 CPU @ 3.40GHz", "Linux 6.8", ((0, 4), (1, 5), (2, 6), (3, 7))
        ),
        meters=Meters(
            "monotonic clock",
            "a program that prints watts: wall-meter --watts" if energy else None,
            "the whole node, at the outlet" if energy else "",
            "perf stat: LLC-load-misses, instructions" if counters else None,
            "cpufreq, governor userspace" if clocks else None,
        ),
        applications=tuple(_application(name, each, counters, classes) for name, each in applications.items()),
        seconds=FrozenDict({n: tuple(made.alone(n, mhz) for mhz in clocks or (None,)) for n in applications}),
        watts=FrozenDict(
            {n: tuple(made.watts((n,), mhz) for mhz in clocks or (None,)) for n in applications} if energy else {}
        ),
        frequencies_mhz=tuple(clocks),
        idle_watts=IDLE_WATTS if energy else None,
        idle_watts_before=IDLE_WATTS - 0.4 if energy else None,
        idle_watts_after=IDLE_WATTS + 0.4 if energy else None,
        degradation_in_full=FrozenDict(
            {n: FrozenDict({other: made.degradation(n, other) for other in applications}) for n in applications}
        ),
        degradation=_by_class(made) if classes else FrozenDict({}),
        measured=tuple(measured),
        failed=tuple(failed),
        savings=tuple(made.saving(each) for each in batches),
        additive=tuple(additive),
        taken="2026-11-16T05:00:00+00:00",
        lpsched="0.11",
    )


def _application(name, facts, counters, classes):
    memory_class, misses, _, memory = facts
    return MeasuredApplication(
        name,
        (f"bin/{name}", "--input", "native"),
        memory_class=memory_class if classes else None,
        classified_by=(BY_MISSES if counters else BY_SLOWDOWN) if classes else None,
        intensity=misses if counters else None,
        suffers=None if counters else memory,
        causes=None if counters else memory / 2,
    )


def _by_class(made):
    first: dict[str, str] = {}
    for name, facts in made.of.items():
        first.setdefault(facts[0], name)
    return FrozenDict(
        {a: FrozenDict({b: made.degradation(first[a], first[b]) for b in sorted(first)}) for a in sorted(first)}
    )


def many_applications(count):
    """Return the facts of so many applications, of all three classes."""
    facts = list(APPLICATIONS.values())
    return {f"application-{at:02}": facts[at % len(facts)] for at in range(count)}
