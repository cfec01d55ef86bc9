"""Policies on days with 50,000 tasks: how fast they run, and how far the best stay below the proved bound.

speed   a 26-hour day of Max-Max UPT, one core, with tasks below 0.5 dropped and with none dropped; then the
        first hours of such a day by the engine and by its plain twin (`models/`), which looks at every choice
        again after every assignment. Both must make the same schedule. The twin is not run for a whole day:
        it gets slower the more tasks wait.
bound   the day of chapter 3 under 1.11 GJ: naive figure, bound with its seconds, published policies with and
        without a filter, the policy that plans with prices, and a schedule rounded from the bound's prices,
        which knows the whole day. `removed` is (naive - bound) / (naive - best policy).

Compiled code is loaded before the clock starts. Every utility is the verifier's.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.generate.day import essc_day
from lpsched.generate.options import EsscOptions
from lpsched.online.bound.solve import arrival_bound
from lpsched.online.compare.backend import DayBackend
from lpsched.online.compare.simulations import simulate
from lpsched.online.policies import policy
from lpsched.online.simulate.days import simulate_day
from lpsched.online.simulate.options import ADAPTIVE, POLLED, SimulationOptions
from lpsched.online.simulate.state import Policy
from lpsched.online.verify.day import examine
from models.day_simulation import simulate as simulate_plainly
from models.policies import per_time, two_stage

if TYPE_CHECKING:
    from lpsched.online.day import Day
    from lpsched.online.schedule import DaySchedule
    from models.day_simulation import PlainDay

NAME: Final = "max-max-upt"
TASKS: Final = 50_000
ROUNDS: Final = 3
DROPPING: Final = SimulationOptions(drop_below=0.5)
KEEPING: Final = SimulationOptions()
WAYS: Final = {"dropping below 0.5": DROPPING, "dropping none": KEEPING}
POLL: Final = replace(DROPPING, machines=POLLED)
PUBLISHED: Final = (  # with their best settings, as far as figures 3.5, 3.8 and 4.4 tell
    ("min-min", DROPPING),
    ("max-max-util", DROPPING),
    ("max-max-upt", DROPPING),
    ("max-max-upt", replace(DROPPING, energy_filter=0.75)),
    ("max-max-upe", DROPPING),
    ("max-max-upe", replace(DROPPING, energy_filter=1.5)),
    ("max-max-upe", POLL),
    ("max-max-upe", replace(POLL, energy_filter=ADAPTIVE)),
    ("weighted-util:0.5", DROPPING),
    ("weighted-util:0.5", POLL),
    ("weighted-upt:0.1", DROPPING),
    ("weighted-upt:0.1", POLL),
    ("weighted-upe:0.05", DROPPING),
    ("weighted-upe:0.07", DROPPING),
)
OURS: Final = (("prices", DROPPING), ("prices", KEEPING))


def rng() -> np.random.Generator:
    """Return a generator; none of these policies draws anything."""
    return np.random.default_rng(0)


def compare_speed(seed: int, part: float, twin_hours: float) -> None:
    """Print how long a day takes, and how much longer the twin takes for its first hours."""
    whole = essc_day("whole", seed, EsscOptions(tasks=max(1, round(part * TASKS)), hours=24 * part))
    print(f"{NAME}, {whole.tasks:,} tasks in {whole.period.ends_at / 3600:g} hours, one core\n")
    first = EsscOptions(tasks=max(1, round(TASKS * twin_hours / 24)), hours=twin_hours, warm_up_hours=0.0)
    some = essc_day("first hours", seed, first)
    print(f"{'':20}{'events':>8}{'ms/event':>10}{'seconds':>9}   first hours:", end="")
    print(f"{'tasks':>7}{'ours, s':>9}{'twin, s':>9}{'times':>8}  schedules")
    for way, options in WAYS.items():
        DayBackend(whole, options).warm_up(NAME)
        began = time.perf_counter()
        found = simulate_day(whole, policy(NAME), rng(), options)
        seconds = time.perf_counter() - began
        events, each = len(found.event_at), 1e3 * float(found.event_seconds.mean())
        print(f"{way:20}{events:8,}{each:10.2f}{seconds:9.2f}{'':16}", end="", flush=True)
        _compare_twin(some, options)


def _compare_twin(day: Day, options: SimulationOptions) -> None:
    own = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        ours = simulate_day(day, policy(NAME), rng(), options)
        own.append(time.perf_counter() - began)
    began = time.perf_counter()
    plain = simulate_plainly(day, Policy(NAME, lambda state, _rng: two_stage(state, per_time)), rng(), options)
    theirs = time.perf_counter() - began
    same = "equal" if starts_of(day, plain) == starts_in(ours.schedule) else "DIFFERENT"
    print(f"{day.tasks:7,}{min(own):9.3f}{theirs:9.1f}{theirs / min(own):8,.0f}  {same}", flush=True)


def starts_of(day: Day, plain: PlainDay) -> dict[int, float]:
    """Return when each task starts that the twin runs within the period."""
    return {task: start for task, (_, _, start) in plain.ran.items() if start < day.period.ends_at}


def starts_in(schedule: DaySchedule) -> dict[int, float]:
    """Return when each task of a schedule starts."""
    return {task.task: task.start_seconds for task in schedule.placed}


def compare_bound(seed: int, part: float, energy_gigajoules: float) -> None:
    """Print naive figure, bound, policies and offline schedule of one energy-constrained day."""
    options = EsscOptions(
        tasks=max(1, round(part * TASKS)),
        hours=24 * part,
        warm_up_hours=24 * part,
        p_states=3,
        energy_gigajoules=part * energy_gigajoules,
    )
    day = essc_day("constrained", seed, options)
    print(f"\n{day.tasks:,} tasks in {day.period.ends_at / 3600:g} hours, the last {24 * part:g} count, ", end="")
    print(f"at most {part * energy_gigajoules:g} GJ in them\n")
    arrival_bound(essc_day("warm-up", seed, EsscOptions(tasks=50, hours=1.0, p_states=3, energy_gigajoules=0.001)))
    found = arrival_bound(day)
    print(f"{'naive':44}{found.naive:9,.0f}")
    print(f"{'bound, proved':44}{found.bound:9,.0f}{found.seconds:9.1f} s", flush=True)
    best = dict.fromkeys((True, False), 0.0)
    for ours, several in ((False, PUBLISHED), (True, OURS)):
        for name, ways in several:
            earned = _run(day, name, ways, found.bound)
            best[ours] = max(best[ours], earned)
    began = time.perf_counter()
    schedule = DayBackend(day, SimulationOptions()).offline(found.prices, CancelToken())
    seconds = time.perf_counter() - began
    measured = examine(day, schedule).measured
    assert measured is not None, "the offline schedule is not valid"
    _tell("offline, from the bound's prices", measured.utility, found.bound, seconds)
    removed = {
        name: (found.naive - found.bound) / (found.naive - each)
        for name, each in (("published policy", best[False]), ("policy of all", max(best.values())))
    }
    print()
    for name, each in removed.items():
        print(f"removed of the distance to the best {name:18}{each:8.1%}")
    print(f"{'prices above the best published policy':54}{best[True] / best[False] - 1:8.1%}")


def _run(day: Day, name: str, options: SimulationOptions, bound: float) -> float:
    """Run one policy, print its row, and return what it earns."""
    entry = simulate(day, [name], options=options).policies[0]
    run = entry.runs[0]
    assert run.measured is not None, run.reason
    filters = "" if options.energy_filter is None else f", filter {options.energy_filter}"
    kept = "" if options.drop_below else ", none dropped"
    _tell(f"{name}, {options.machines}{filters}{kept}", run.measured.utility, bound, run.seconds)
    return run.measured.utility


def _tell(name: str, utility: float, bound: float, seconds: float) -> None:
    print(f"{name:44}{utility:9,.0f}{seconds:9.1f} s{utility / bound:9.1%} of the bound", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", type=float, default=1.0, help="of the days, their tasks and their energy")
    parser.add_argument("--twin-hours", type=float, default=0.5)
    parser.add_argument("--energy-gigajoules", type=float, default=1.11)
    parser.add_argument("--only", choices=("speed", "bound"))
    asked = parser.parse_args(arguments)
    if asked.only != "bound":
        compare_speed(asked.seed, asked.part, asked.twin_hours)
    if asked.only != "speed":
        compare_bound(asked.seed, asked.part, asked.energy_gigajoules)


if __name__ == "__main__":
    main()
