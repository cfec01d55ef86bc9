"""Measurements of all shapes, for tests: drawn from a seed, because a strategy for so many parts is slow."""

from __future__ import annotations

import random
from dataclasses import dataclass

from lpsched.measure.evidence import PROBES, AdditiveCheck, Failed, Measured, Sample, Saving, Setting, Spread
from lpsched.measure.measurements import (
    BY_MISSES,
    BY_SLOWDOWN,
    MeasuredApplication,
    MeasuredMachine,
    Measurements,
    Meters,
)
from lpsched.model.fields import FrozenDict

PLAIN = "abcXYZ019._-"
ODD = " :#'\"{}[],&*!|>%@`~?ü日😀"
UNSHOWN = "\0\t\n\r\x1b\x7f\x85\xa0\xad\u2028\ufeff\ufffe\U000e0001"
WORDS = ("no", "null", "1e3", "0x1F", "12:30", "not told", ".5", "~", "- a", "a" * 150, "word " * 40)


@dataclass
class Drawn:
    """What is drawn from a seed."""

    chance: random.Random

    def text(self, least: int = 0) -> str:
        if self.chance.random() < 0.2:
            return self.chance.choice(WORDS)
        length = self.chance.randint(least, 12)
        return "".join(self.chance.choice(PLAIN * 4 + ODD * 2 + UNSHOWN) for _ in range(length))

    def name(self) -> str:
        letters = (self.chance.choice(PLAIN + ODD) for _ in range(self.chance.randint(1, 6)))
        return "".join(letters).strip() or "no"

    def command(self) -> tuple[str, ...]:
        words = [self.text().replace("\0", "") for _ in range(self.chance.randint(0, 3))]
        return ("program", *words) if words else ()

    def amount(self, least: int = -30, most: int = 29) -> float:
        return self.chance.choice([float(self.chance.randint(1, 9)), 10 ** self.chance.uniform(least, most)])

    def number(self) -> float:
        return self.chance.choice([0.0, self.amount(), -self.amount()])

    def maybe(self, value):
        return value if self.chance.random() < 0.5 else None

    def spread(self) -> Spread:
        mean = self.amount(-9, 12)
        return Spread(
            mean,
            self.chance.randint(1, 99),
            self.maybe(self.chance.choice([0.0, 5e-324, self.amount()])),
            self.maybe(mean - self.amount()),
            self.maybe(mean + self.amount()),
        )

    def table(self, names):
        row = {name: self.chance.choice([0.0, self.chance.random()]) for name in names}
        return FrozenDict({name: FrozenDict({} if self.chance.random() < 0.2 else row) for name in names})


def measurements_of_seed(seed: int) -> Measurements:
    """Draw measurements whose columns are what their evidence says."""
    drawn = Drawn(random.Random(seed))  # noqa: S311 - no secret
    chance = drawn.chance
    names = list(dict.fromkeys(drawn.name() for _ in range(chance.randint(1, 4))))
    clocks = tuple(sorted({float(chance.randint(1, 5000)) for _ in range(chance.randint(0, 3))}, reverse=True))
    together = [*names, *PROBES]

    def beside():
        return tuple(sorted(chance.choices(together, k=chance.randint(1, 3))))

    def setting(*, batch=False):
        mhz = chance.choice(clocks) if clocks else None
        return Setting(chance.choice(names), beside(), mhz, batch)

    alone = {(name, mhz): drawn.spread() for name in names for mhz in clocks or (None,)}
    joules = {key: drawn.spread() for key in alone} if chance.random() < 0.7 else {}
    evidence = [Measured.of(Setting(name, (), mhz), alone[name, mhz], joules.get((name, mhz))) for name, mhz in alone]
    others = list(dict.fromkeys(setting(batch=chance.random() < 0.3) for _ in range(chance.randint(0, 5))))
    cut = chance.randint(0, len(others))
    evidence += [
        Measured.of(each, drawn.spread(), drawn.maybe(drawn.spread()), drawn.maybe(drawn.spread()))
        for each in others[:cut]
    ]
    before, after = drawn.maybe(drawn.amount(-9)), drawn.maybe(drawn.amount(-9))
    idle = [each for each in (before, after) if each is not None]
    return Measurements(
        name=drawn.name(),
        machine_type=drawn.name(),
        machine=MeasuredMachine(drawn.text(), drawn.text(), chance.choice([(), ((0,), (1,)), ((0, 4), (1, 5), (2,))])),
        meters=Meters(
            drawn.text(),
            *(
                drawn.text() if key == "covers" else drawn.maybe(drawn.text())
                for key in ("energy", "covers", "counters", "clocks")
            ),
        ),
        applications=tuple(
            MeasuredApplication(
                name,
                drawn.command(),
                chance.randint(1, 10**15),
                drawn.maybe(drawn.name()),
                chance.choice([None, BY_MISSES, BY_SLOWDOWN]),
                drawn.maybe(drawn.amount()),
                drawn.maybe(drawn.number()),
                drawn.maybe(drawn.number()),
            )
            for name in names
        ),
        seconds=FrozenDict({name: tuple(alone[name, mhz].mean for mhz in clocks or (None,)) for name in names}),
        watts=FrozenDict(
            {
                name: tuple(joules[name, mhz].mean / alone[name, mhz].mean for mhz in clocks or (None,))
                for name in (names if joules else ())
            }
        ),
        frequencies_mhz=clocks,
        idle_watts=sum(idle) / len(idle) if idle else drawn.maybe(drawn.amount()),
        idle_watts_before=before,
        idle_watts_after=after,
        degradation_in_full=drawn.table(names),
        degradation=drawn.table(("I", "II") if chance.random() < 0.5 else ()),
        measured=tuple(evidence) if chance.random() < 0.8 else (),
        failed=tuple(Failed.of(each, drawn.text()) for each in others[cut:]),
        savings=tuple(
            Saving(mhz=mhz, together=together, joules_apart=apart, joules_together=0.0, joules_predicted=predicted)
            for together, mhz, apart, predicted in (
                (beside(), chance.choice(clocks or (None,)), drawn.amount(), drawn.maybe(drawn.number()))
                for _ in range(chance.randint(0, 2))
            )
        ),
        additive=tuple(
            AdditiveCheck.of(setting(), drawn.amount(), drawn.number()) for _ in range(chance.randint(0, 2))
        ),
        confidence=chance.choice([0.95, chance.uniform(0.5, 0.999)]),
        taken=drawn.text(),
        lpsched=drawn.text(),
        description=drawn.text(),
        absent=tuple(drawn.text() for _ in range(chance.randint(0, 2))),
    )


def sample_of_seed(seed: int) -> Sample:
    """Draw one run of a setting, with words and numbers of all kinds."""
    drawn = Drawn(random.Random(seed))  # noqa: S311 - no secret
    chance = drawn.chance
    beside = tuple(sorted(drawn.text() for _ in range(chance.randint(0, 3))))
    return Sample(
        Setting(drawn.text(), beside, drawn.maybe(drawn.amount()), chance.random() < 0.5),
        chance.choice([0.0, drawn.amount()]),
        drawn.maybe(drawn.amount()),
        drawn.maybe(0.0),
        drawn.maybe(drawn.amount()),
        chance.choice([0, chance.randint(0, 10**9)]),
        drawn.maybe(drawn.text()),
    )
