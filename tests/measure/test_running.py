"""The loop of a bench, on a stage whose numbers are known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest

from lpsched.cancellation import CancelToken, Progress
from lpsched.measure.bench import Application, Bench, Repeats
from lpsched.measure.evidence import Sample, Setting
from lpsched.measure.measurements import MeasuredMachine, Meters
from lpsched.measure.session import run_bench, settings_of

BENCH = Bench(
    name="node",
    applications=(Application("calm", ("calm",)), Application("wild", ("wild",))),
    cores=2,
    repeats=Repeats(least=3, most=5, within=0.05, warm_ups=2),
    companions="never",
)
MACHINE, METERS = MeasuredMachine("processor", "system", ((0,), (1,))), Meters("clock")
CALM, WILD = Setting("calm"), Setting("wild")
SETTINGS = settings_of(BENCH, frequencies_mhz=(), energy=False, counters=False)


@dataclass
class KnownStage:
    """A machine on which calm takes 1 s and wild 1, 2, 1, 2 ... s, whatever runs beside them."""

    broken: frozenset[str] = frozenset()
    failing: frozenset[Setting] = frozenset()
    stop_after: int | None = None
    machine: MeasuredMachine = MACHINE
    meters: Meters = METERS
    frequencies_mhz: tuple[float, ...] = ()
    absent: tuple[str, ...] = ()
    done: list[str | Setting] = field(default_factory=list)

    def warm_up(self, application, cancel):  # noqa: ARG002
        self.done.append(application)
        return "ended with exit code 1" if application in self.broken else None

    def idle_watts(self, cancel):  # noqa: ARG002
        self.done.append("idle")
        return 40.0 + self.done.count("idle")

    def perform(self, setting, cancel):
        if self.stop_after is not None and len(self.runs) >= self.stop_after:
            cancel.stop()
            return None
        self.done.append(setting)
        if setting in self.failing:
            return Sample(setting, None, failure="took longer than 5 seconds")
        odd = self.runs.count(setting) % 2
        return Sample(setting, 1.0 if setting.application == "calm" or odd else 2.0)

    @property
    def runs(self):
        return [each for each in self.done if isinstance(each, Setting)]


@dataclass
class KeptInMemory:
    samples: tuple[Sample, ...] = ()
    idle_watts_before: float | None = None

    def add(self, sample):
        self.samples += (sample,)

    def add_idle_before(self, watts):
        self.idle_watts_before = watts


def ran(stage=None, kept=None, *, bench=BENCH, settings=SETTINGS, cancel=None):
    return run_bench(
        bench,
        KnownStage() if stage is None else stage,
        settings,
        KeptInMemory() if kept is None else kept,
        cancel or CancelToken(),
    )


def test_the_plan_of_these_tests_has_both_alone_and_every_pair():
    assert {str(each) for each in SETTINGS} == {
        "calm alone", "wild alone", "calm beside calm", "wild beside wild", "calm beside wild", "wild beside calm",
    }  # fmt: skip


def test_a_setting_that_is_known_well_is_run_least_times_and_one_that_scatters_most_times():
    counts = Counter(sample.setting for sample in ran().samples)
    assert dict(counts) == {setting: 3 if setting.application == "calm" else 5 for setting in SETTINGS}


def test_programs_are_warmed_up_first_and_idle_power_is_measured_around_the_runs():
    stage = KnownStage()
    run = ran(stage)
    assert stage.done[:5] == ["calm", "calm", "wild", "wild", "idle"]
    assert stage.done[-1] == "idle"
    assert (run.idle_before, run.idle_after) == (41.0, 42.0)


def test_each_round_runs_every_setting_once_and_rounds_have_different_orders():
    stage = KnownStage()
    ran(stage)
    rounds = [stage.runs[start : start + 6] for start in (0, 6, 12)]
    assert all(set(each) == set(SETTINGS) for each in rounds)
    assert len({tuple(each) for each in rounds}) == 3  # 1 / 720 that two of them are alike, and the seed is 0


def test_the_seed_decides_the_order():
    orders = []
    for seed in (0, 0, 1):
        stage = KnownStage()
        ran(stage, bench=BENCH.model_copy(update={"seed": seed}))
        orders.append(tuple(stage.runs))
    assert orders[0] == orders[1] != orders[2]


def test_a_setting_that_fails_is_run_once_and_the_others_go_on():
    stage = KnownStage(failing=frozenset({CALM}))
    run = ran(stage)
    assert stage.runs.count(CALM) == 1
    assert stage.runs.count(WILD) == 5
    assert [each.failure for each in run.samples if each.setting == CALM] == ["took longer than 5 seconds"]
    assert run.unfinished == ()


def test_what_a_program_that_fails_its_warm_up_is_part_of_is_not_run():
    stage = KnownStage(broken=frozenset({"wild"}))
    run = ran(stage)
    assert set(stage.runs) == {CALM, Setting("calm", ("calm",))}
    assert stage.done.count("wild") == 1  # and not warmed up a second time
    failures = {each.setting: each.failure for each in run.samples if each.failure}
    assert set(failures) == set(SETTINGS) - set(stage.runs)
    assert set(failures.values()) == {"wild, when it was warmed up, ended with exit code 1"}


@pytest.mark.parametrize("after", [0, 1, 7, 23])
def test_a_bench_that_was_stopped_goes_on_without_measuring_anything_twice(after):
    kept, first, cancel = KeptInMemory(), KnownStage(stop_after=after), CancelToken()
    run = ran(first, kept, cancel=cancel)
    assert cancel.is_stopped
    assert run.unfinished
    assert run.idle_after is None
    assert len(kept.samples) == after
    second = KnownStage()
    whole = ran(second, KeptInMemory(kept.samples, kept.idle_watts_before))
    counts = Counter(sample.setting for sample in whole.samples)
    assert counts[CALM] == 3
    assert counts[WILD] == 5
    assert len(first.runs) + len(second.runs) == len(whole.samples)
    assert whole.idle_before == 41.0  # of the first
    assert second.done.count("idle") == 1  # the one after


def test_going_on_with_a_finished_bench_runs_nothing():
    kept = KeptInMemory()
    ran(kept=kept)
    stage = KnownStage()
    assert ran(stage, kept).samples
    assert stage.done == ["idle"]


def test_what_failed_before_is_tried_again():
    kept = KeptInMemory()
    ran(KnownStage(failing=frozenset({CALM})), kept)
    run = ran(KnownStage(), KeptInMemory(kept.samples))
    assert [each.failure for each in run.samples if each.setting == CALM] == [None] * 3


def test_runs_of_settings_that_are_no_longer_asked_for_stay():
    old = Sample(Setting("calm", mhz=1700.0), 9.0)
    assert old in ran(kept=KeptInMemory((old,))).samples


def test_the_limit_of_the_bench_ends_it_without_stopping_whoever_runs_it():
    cancel = CancelToken()
    stage = KnownStage()
    at_once = Bench.model_construct(**dict(BENCH) | {"limit_seconds": 1e-9})
    run = ran(stage, bench=at_once, cancel=cancel)
    assert (stage.done, run.samples, run.unfinished) == ([], (), SETTINGS)
    assert not cancel.is_stopped


def test_progress_counts_runs_and_ends_at_the_total():
    told: list[Progress] = []
    ran(cancel=CancelToken(listener=told.append))
    counted = [(each.done, each.total) for each in told if each.done is not None]
    assert counted[0] == (0, 18)  # six settings, three times each at least
    assert counted[-1] == (24, 24)
    assert [done for done, _ in counted] == sorted(done for done, _ in counted)
