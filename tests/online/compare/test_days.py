"""Schedulers and schedules of a day in one table: measured, held against the bound, refused where wrong."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from rich.console import Console

from lpsched.cancellation import CancelToken
from lpsched.errors import InstanceError, InvalidScheduleError
from lpsched.instances import risk_of
from lpsched.model.risk import RiskOptions
from lpsched.online.bound.no_waiting import NoWaitingFront
from lpsched.online.compare import schedules
from lpsched.online.compare.schedules import mean_gap, validate_day
from lpsched.online.day import day_from_dict
from lpsched.online.files import write_day_schedule
from lpsched.online.heuristics import forget_for_days, names_for_days, register_for_days
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.report.online_answers import day_validation_tables
from tests.days import decaying, simple_day, sound_day

HALVING = decaying(8.0, math.log(2.0) / 10.0)  # 8, after 10 s 4, after 20 s 2, after 40 s 0.5


@pytest.fixture
def two_tasks():
    """Two tasks at once: m0 takes 10 s at 100 W (1,000 J), m1 takes 20 s at 20 W (400 J)."""
    return simple_day([[10.0, 20.0]], [[100.0, 20.0]], [1, 1], [(0.0, 0, HALVING), (0.0, 0, HALVING)])


def printed(result):
    console = Console(width=200)
    with console.capture() as capture:
        for part in day_validation_tables(result):
            console.print(part)
    return capture.get()


def test_a_heuristic_is_measured_and_held_against_the_bound_at_its_own_energy(two_tasks):
    # min-energy: both on m1, one after the other: 2 + 0.5 for 800 J. With 800 J, 2 tasks of 400 J could earn 4.
    (entry,) = validate_day(two_tasks, heuristics=["min-energy"]).entries
    assert entry.measured.utility == pytest.approx(2.5)
    assert entry.bound == pytest.approx(4.0)
    assert entry.share_of_bound == pytest.approx(0.625)
    assert entry.utility_per_megajoule == pytest.approx(2.5 / 0.0008)
    assert (entry.kind, entry.valid, entry.measured.completed) == ("heuristic", True, 2)
    assert entry.seconds >= 0.0


def test_the_naive_bound_is_all_tasks_at_once_where_they_earn_most(two_tasks):
    result = validate_day(two_tasks)
    assert result.naive_bound == pytest.approx(8.0)  # 4 each on m0
    assert (result.naive_joules, result.least_joules) == (2000.0, 800.0)
    assert result.entries == ()
    assert result.valid


def test_tasks_below_the_limit_are_dropped(two_tasks):
    (entry,) = validate_day(two_tasks, heuristics=["min-energy"], drop_below=1.0).entries
    assert (entry.measured.completed, entry.measured.dropped) == (1, 1)
    assert entry.share_of_bound == pytest.approx(1.0)  # 2 for 400 J


def test_schedules_come_by_name_or_from_files(two_tasks, tmp_path):
    schedule = DaySchedule((PlacedTask(1, "m0", 1, 0.0),))
    write_day_schedule(schedule, tmp_path / "mine.csv")
    by_name = validate_day(two_tasks, {"mine": schedule}).entries[0]
    from_file = validate_day(two_tasks, [tmp_path / "mine.csv"]).entries[0]
    assert by_name.measured == from_file.measured
    assert (by_name.kind, from_file.kind) == ("schedule", "file")
    # With 1,000 J: 4 for the first 800 J, and 1/300 for each of the other 200 J.
    assert by_name.share_of_bound == pytest.approx(4.0 / (4.0 + 200.0 / 300.0))
    assert from_file.seconds is None


def test_a_file_that_cannot_be_read_and_a_schedule_that_is_wrong_are_entries(two_tasks, tmp_path):
    early = simple_day([[10.0]], [[1.0]], [1], [(5.0, 0, HALVING)])
    result = validate_day(early, {"early": DaySchedule((PlacedTask(0, "m0", 1, 0.0),))})
    assert [each.code for each in result.entries[0].violations] == ["before-arrival"]
    missing = validate_day(two_tasks, [tmp_path / "none.csv"])
    assert [each.code for each in missing.entries[0].violations] == ["unreadable"]
    assert not missing.valid
    assert missing.to_dict()["entries"][0]["share_of_naive"] is None


def nonsense(day, rng, *, drop_below=None):  # noqa: ARG001
    return 3


def broken(day, rng, *, drop_below=None):  # noqa: ARG001
    raise ZeroDivisionError("of mine")


def twice(day, rng, *, drop_below=None):  # noqa: ARG001
    one = PlacedTask(np.int64(0), "m0", np.int64(1), np.float64(0.0))
    return DaySchedule((one, one))


@pytest.mark.parametrize(
    ("function", "code", "sentence"),
    [
        (nonsense, "failed", "TypeError: it handed back int, where a DaySchedule is needed"),
        (broken, "failed", "ZeroDivisionError: of mine"),
        (twice, "task-twice", "task 0 is placed more than once"),
    ],
)
def test_a_function_that_fails_is_an_entry_with_the_reason(two_tasks, function, code, sentence):
    result = validate_day(two_tasks, heuristics=[function])
    (entry,) = result.entries
    assert [(each.code, each.sentence) for each in entry.violations] == [(code, sentence)]
    assert (entry.name, entry.kind, entry.valid) == (function.__name__, "function", False)
    assert result.rows()[1][1] == "invalid"


def test_ctrl_c_in_a_heuristic_is_not_swallowed(two_tasks):
    def interrupted(day, rng, *, drop_below=None):  # noqa: ARG001
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        validate_day(two_tasks, heuristics=[interrupted])


def test_a_registered_heuristic_is_one_line_away(two_tasks):
    register_for_days("mine", lambda day, rng, drop_below=None: DaySchedule(()))  # noqa: ARG005
    try:
        (entry,) = validate_day(two_tasks, heuristics=["mine"]).entries
    finally:
        forget_for_days("mine")
    assert (entry.measured.utility, entry.measured.dropped, entry.bound) == (0.0, 2, 0.0)
    assert entry.share_of_bound is None
    assert entry.utility_per_megajoule is None


def test_an_unknown_heuristic_is_refused_before_anything_runs(two_tasks):
    def never(day, rng, *, drop_below=None):  # noqa: ARG001
        pytest.fail("it ran")

    with pytest.raises(InstanceError, match="'sufferage', expected one of min-energy"):
        validate_day(two_tasks, heuristics=[never, "sufferage"])


@pytest.mark.parametrize("limit", [-1.0, math.nan, math.inf])
def test_a_limit_that_is_no_utility_is_refused(two_tasks, limit):
    with pytest.raises(InstanceError, match=r"drop_below: got .*, expected a utility"):
        validate_day(two_tasks, drop_below=limit)


def test_after_a_stop_nothing_more_is_run(two_tasks):
    cancel = CancelToken()

    def stopping(day, rng, *, drop_below=None):  # noqa: ARG001
        cancel.stop()
        return DaySchedule(())

    entries = validate_day(two_tasks, heuristics=["mct", stopping, "min-min", "nsga2"], cancel=cancel).entries
    codes = [[each.code for each in entry.violations] for entry in entries]
    assert codes == [[], [], ["not-run"], ["not-run"]]


def test_a_valid_schedule_above_the_bound_is_an_alarm(two_tasks, monkeypatch):
    monkeypatch.setattr(schedules, "no_waiting_front", lambda _: NoWaitingFront((0.0, 800.0), (0.0, 2.4), 800.0))
    with pytest.raises(InvalidScheduleError, match=r"min-energy earns 2.5.* with 800.0 J, more than the bound of 2.4"):
        validate_day(two_tasks, heuristics=["min-energy"])


def test_nsga2_is_at_least_as_good_as_its_seeds(two_tasks):
    # Seeded: max-utility earns 4 + 2 for 1,400 J; of all the most for a joule is one or two tasks on m1.
    most, per_joule = validate_day(two_tasks, heuristics=["nsga2"], generations=3).entries
    assert most.name == "nsga2, most utility"
    assert most.measured.utility >= 6.0 - 1e-9
    seeds = validate_day(two_tasks, heuristics=["min-energy", "utility-per-energy", "min-min"]).entries
    assert per_joule.utility_per_megajoule >= max(each.utility_per_megajoule or 0.0 for each in seeds) * (1.0 - 1e-9)


def test_nsga2_starts_from_the_heuristics():
    # 40 tasks of 1 J on m0 or 1,000 J on m1: among 100 random schedules none has all of them on m0.
    day = simple_day([[1.0, 1.0]], [[1.0, 1000.0]], [40, 40], [(0.0, 0, decaying(8.0))] * 40)
    _, per_joule = validate_day(day, heuristics=["nsga2"], generations=1).entries
    assert per_joule.measured.energy_joules == 40.0


def test_nsga2_repeats_itself_and_drops_what_is_below_the_limit():
    day = day_from_dict(sound_day())
    runs = [
        validate_day(day, heuristics=["nsga2"], generations=3, drop_below=limit).entries for limit in (1.5, 1.5, None)
    ]
    first, again, complete = ([each.measured for each in entries] for entries in runs)
    assert first == again
    assert all(each.dropped for each in first)  # one task is worth 1 at most
    assert not any(each.dropped for each in complete)


def test_the_gap_of_a_front_that_earns_nothing_where_nothing_is_to_be_had_is_none():
    assert mean_gap(np.array([[0.0, -0.0], [1.0, -1.0]]), lambda joules: 2.0 * joules) == 0.25


def test_every_name_is_a_row_of_one_table():
    day = day_from_dict(sound_day())
    result = validate_day(day, heuristics=names_for_days(), seed=3)
    text = printed(result)
    assert result.valid
    assert "seed 3" in text
    for name in names_for_days():
        assert f"\n{name} " in text
    assert "bound, any energy" in text


def test_odd_names_are_printed_as_they_stand(two_tasks):
    result = validate_day(two_tasks, {"[red]x <b>": DaySchedule((PlacedTask(7, "m0", 1, 0.0),))}, drop_below=0.5)
    text = printed(result)
    assert "[red]x <b>" in text
    assert "there is no task 7, only 0 to 1" in text
    assert "tasks below 0.5 dropped" in text
    assert "&lt;b&gt;" in result._repr_html_()


def test_json_has_every_number_with_its_unit(two_tasks):
    result = validate_day(two_tasks, heuristics=["min-energy"], seed=5, drop_below=0.25)
    answer = json.loads(json.dumps(result.to_dict()))
    assert (answer["format"], answer["seed"], answer["drop_below"]) == ("lpsched-validate-day/1", 5, 0.25)
    assert answer["instance"] == {"name": "simple", "hash": two_tasks.content_hash}
    assert (answer["naive_joules"], answer["least_joules"]) == (2000.0, 800.0)
    (entry,) = answer["entries"]
    assert entry["share_of_naive"] == pytest.approx(2.5 / 8.0)
    assert entry["share_of_bound"] == pytest.approx(0.625)
    assert (entry["energy_joules"], entry["makespan_seconds"]) == (800.0, 40.0)
    assert (entry["completed"], entry["dropped"], entry["violations"]) == (2, 0, [])


def test_with_risk_every_valid_schedule_is_sampled(two_tasks):
    found = validate_day(two_tasks, heuristics=["min-min"], risk=RiskOptions(samples=50, cov=0.5), seed=3)
    (entry,) = found.entries
    assert entry.risk == risk_of(two_tasks, entry.schedule, samples=50, cov=0.5, seed=3)
    assert found.to_dict()["entries"][0]["risk"]["utility"]["planned"] == entry.measured.utility
    assert "risk" not in validate_day(two_tasks, heuristics=["min-min"]).to_dict()["entries"][0]
