"""The scripts of the thesis's figures of chapters 2 to 4: they run, draw, and print what was measured."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial

import pytest

from lpsched.generate.options import EsscOptions
from lpsched.model.provenance import Estimate
from lpsched.online.bound.solve import arrival_bound
from lpsched.online.simulate.options import SimulationOptions
from scripts.benches import online as bench_online
from scripts.figures import thesis_2_8 as figure_thesis_2_8
from scripts.figures import thesis_3_4 as figure_thesis_3_4
from scripts.figures import thesis_3_7 as figure_thesis_3_7
from scripts.figures import thesis_3_8 as figure_thesis_3_8
from scripts.figures import thesis_4_5 as figure_thesis_4_5
from scripts.figures.shared import arriving_days, dropped_shares
from scripts.figures.shared.arriving_days import BOUND, NAIVE, Case, Runs, best_place, chapter_3, day_of, ran

pytestmark = [pytest.mark.unwatched, pytest.mark.slow]  # scripts are not covered code

TINY = EsscOptions(tasks=500, hours=0.25, warm_up_hours=0.1)
FULL = Case(TINY, "min-min", SimulationOptions())


quick_bound = partial(arrival_bound, time_limit=0.1)


def asking(path=None, **changed):
    given = {"trials": 2, "jobs": 1, "seed": 0, "part": 0.2, "runs": path} | changed
    return argparse.Namespace(**given)


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run a script on a tiny part of its days, and return what it printed."""

    def call(main, *more):
        figure = tmp_path / "figure.svg"
        plain = ["--part", "0.004", "--trials", "1", "--jobs", "1", "--figure", str(figure)]
        monkeypatch.setattr(sys, "argv", ["figure", *plain, *more])
        main()
        assert figure.read_text(encoding="utf-8").startswith("<?xml")
        return capsys.readouterr().out

    return call


def rows(printed: str) -> list[str]:
    return [line.split(" | ")[0].removeprefix("| ") for line in printed.splitlines() if line.startswith("| ")]


def test_a_part_of_a_day_has_that_part_of_hours_tasks_and_energy():
    day = day_of(chapter_3(1.11), 0, 0, 0.01)
    # 1 % of 24 hours of warm-up and 24 that count, of 1.11 GJ, and of 50,000 tasks in each.
    assert (day.period.begins_at, day.period.ends_at) == pytest.approx((864.0, 1728.0))
    assert day.period.energy_constraint_joules == pytest.approx(1.11e7)
    assert 800 < day.tasks < 1200


def test_what_has_run_is_kept_and_not_run_again(tmp_path, monkeypatch):
    path = tmp_path / "runs.jsonl"
    first = Runs(asking(path)).lines(FULL)
    assert len(path.read_text().splitlines()) == 2
    monkeypatch.setattr(arriving_days, "ran", None)
    assert Runs(asking(path)).lines(FULL) == json.loads(json.dumps(first))


def test_trials_are_other_days_and_their_mean_is_told():
    runs = Runs(asking())
    first, second = (line["utility"] for line in runs.lines(FULL))
    assert first != second
    assert runs.mean(FULL).mean == pytest.approx((first + second) / 2)


def test_a_policy_earns_no_more_than_the_bound():
    # Less than the naive figure is no law: a run counts that begins in the warm-up and ends in the period.
    earned, bound, naive = (
        ran((Case(TINY, name, SimulationOptions()), 0), seed=0, part=0.2)["utility"]
        for name in ("min-min", BOUND, NAIVE)
    )
    assert 0.0 < earned <= bound
    assert naive > 0.0


def test_more_is_the_mean_of_the_trials_shares():
    runs = Runs(asking())
    other = Case(TINY, "max-max-upt", SimulationOptions())
    pairs = zip(runs.lines(other), runs.lines(FULL), strict=True)
    shares = [a["utility"] / b["utility"] - 1 for a, b in pairs]
    assert runs.over(other, FULL).mean == pytest.approx(sum(shares) / 2)


def test_the_best_place_is_that_of_the_largest_mean():
    estimates = [Estimate(each) for each in (1.0, 3.0, 3.0)]
    assert best_place(("a", "b", "c"), estimates) == "b"


def test_thresholds_have_a_row_for_each_policy(run, monkeypatch):
    monkeypatch.setattr(dropped_shares, "CHAPTER_2", ("max-util", "max-max-upt"))
    printed = run(lambda: dropped_shares.draw_thresholds("x", "y", 33_000, "As printed."))
    assert rows(printed) == 2 * ["policy", "---", "Max Util", "Max-Max UPT"]
    assert "As printed." in printed


def test_triggers_are_told_with_their_events(run):
    printed = run(figure_thesis_2_8.main, "--part", "0.02")  # an event every ten minutes needs twenty
    assert rows(printed) == ["arrivals, or minutes", "---", *figure_thesis_2_8.TRIGGERS]


def test_seven_policies_ours_and_the_bound_are_told(run, monkeypatch):
    monkeypatch.setattr(arriving_days, "arrival_bound", quick_bound)
    monkeypatch.setattr(figure_thesis_3_4, "FEW_LENIENCIES", (1.0,))
    monkeypatch.setattr(figure_thesis_3_4, "FEW_WEIGHTS", (0.5,))
    printed = run(figure_thesis_3_4.main)
    assert "Energy constraint: " in printed
    assert "prices (ours)" in rows(printed)
    assert "bound, proved" in rows(printed)
    assert "| Weighted Util above Max-Max UPE | " in printed


def test_traces_and_leniencies_are_drawn(run):
    assert "weight 0.5" in rows(run(figure_thesis_3_7.main))
    assert "none" in rows(run(figure_thesis_3_8.main))


def test_portions_of_two_priorities_are_told(run):
    assert "Max UPE" in rows(run(figure_thesis_4_5.main))


def test_the_bench_tells_speed_and_distance(capsys, monkeypatch):
    monkeypatch.setattr(bench_online, "arrival_bound", quick_bound)
    monkeypatch.setattr(bench_online, "PUBLISHED", bench_online.PUBLISHED[:1])
    monkeypatch.setattr(bench_online, "OURS", bench_online.OURS[:1])
    bench_online.main(["--part", "0.004", "--twin-hours", "0.05"])
    printed = capsys.readouterr().out
    assert printed.count("  equal") == 2
    assert "DIFFERENT" not in printed
    assert "offline, from the bound's prices" in printed
    assert "removed of the distance to the best policy of all" in printed
