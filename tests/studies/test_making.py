from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lpsched.bag.compare.schedules import validate
from lpsched.bag.exact_front import front
from lpsched.bag.files import read_bag
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.solve import solve
from lpsched.generate.bags import cov_bag, grow, resampled
from lpsched.generate.options import CovOptions, GrowOptions
from lpsched.studies.plan import gather, plan
from lpsched.studies.running import make_run
from lpsched.studies.study import Study, run_from
from tests.studies.declared import TINY, declared, study_file

INSTANCES = Path(__file__).parents[2] / "instances"


def made(folder, **changes):
    """Make all runs of a study."""
    study_file(folder)
    study = Study.read(declared(**changes))
    return [make_run(task) for task in plan(study, gather(study, folder))]


def bag_of(folder):
    study_file(folder)
    return read_bag(folder / "bag.json")


@pytest.mark.parametrize(
    ("method", "effort"),
    [("solve", "auto"), ({"name": "solve", "effort": "tight"}, "tight"), ("lp", "fast"), ("tight", "tight")],
)
def test_a_run_says_what_solve_says_but_for_the_times(tmp_path, method, effort):
    (run,) = made(tmp_path, instances=[{"file": "bag.json"}], methods=[method], parameters={"profit_ratio": [1.3]})
    bag = bag_of(tmp_path)
    told = solve(bag, profit_ratio=1.3, effort=effort).to_dict()
    assert set(run.outcome) == set(told) - {"format", "lpsched", "solver", "instance", "timings"}
    assert json.loads(json.dumps(told)) | dict(run.outcome) == json.loads(json.dumps(told))
    assert (run.instance_name, run.instance_hash, run.kind) == ("sound", bag.content_hash, "bag")
    assert (run.lpsched, run.solver) == (told["lpsched"], told["solver"])
    assert run.timings["total"] >= run.timings["relax"] > 0
    assert set(run.where) == {"machine", "process", "ended"}


def test_each_effort_is_a_method(tmp_path):
    asked = {"instances": [{"file": "bag.json"}], "parameters": {"objective": "makespan", "gap": 0.5}}
    runs = made(tmp_path, methods=["lp", "balanced", "tight"], **asked)
    assert [run.outcome["effort"] for run in runs] == ["fast", "balanced", "tight"]


def test_a_front_and_a_price_curve_are_told_whole(tmp_path):
    asked = {"instances": [{"file": "bag.json"}], "parameters": {}}
    methods = ["front", {"name": "price", "points": 3, "to_ratio": 2}, "region"]
    along, priced, region = made(tmp_path, methods=methods, **asked)
    bag = bag_of(tmp_path)
    assert along.outcome["vertices"] == front(bag).to_dict()["vertices"]
    assert len(along.outcome["schedules"]) == len(along.outcome["vertices"])
    curve = price_curve(bag, points=3, to_ratio=2.0).to_dict()
    assert priced.outcome["break_even_price"] == curve["break_even_price"]
    assert priced.outcome["points"] == curve["points"]
    assert region.reason is None


def test_a_heuristic_is_held_against_the_bound_with_its_own_seed(tmp_path):
    asked = {"instances": [{"file": "bag.json"}], "methods": ["random"], "seeds": [1, 2]}
    first, second = made(tmp_path, parameters={"objective": "makespan"}, **asked)
    bag = bag_of(tmp_path)
    for run, seed in ((first, 1), (second, 2)):
        (entry,) = validate(bag, heuristics=["random"], objective="makespan", seed=seed).entries
        assert (run.outcome["value"], run.outcome["gap"]) == (entry.value, entry.gap)
        assert run.outcome["value"] >= run.outcome["bound"] > 0
        assert set(run.outcome) == {
            *("objective", "unit", "bound", "value", "gap"),
            *("makespan_seconds", "energy_joules", "profit_per_hour"),
        }


def test_generators_make_what_their_commands_make(tmp_path):
    bag = bag_of(tmp_path)
    asked = {"methods": ["min-min"], "parameters": {"objective": "makespan"}}
    sources = [
        {"generate": "bag", "seeds": [7], **TINY},
        {"generate": "bag", "seeds": [7], "method": "grow", "from": "bag.json", "task_types": 4, "tasks": 9},
        {"generate": "resampled", "seeds": [7], "from": "bag.json", "tasks": 9},
        {"generate": "resampled", "seeds": [7], "from": "bag.json", "tasks_per_machine": 2.5},
    ]
    runs = made(tmp_path, instances=sources, **asked)
    options = CovOptions(task_types=2, tasks=6, machines=(1, 2))
    rngs = [np.random.default_rng(7) for _ in sources]
    expected = [
        cov_bag("cov-7", rngs[0], options),
        grow("grow-7", bag, rngs[1], GrowOptions(task_types=4, tasks=9)).bag,
        resampled(bag, 9, rngs[2]),
        resampled(bag, 8, rngs[3]),  # 2.5 x 3 machines is 7.5, and half a task goes to the even number
    ]
    assert [run.instance_hash for run in runs] == [each.content_hash for each in expected]
    assert [run.instance_seed for run in runs] == [7] * 4


def test_a_run_that_fails_is_a_run_with_its_reason(tmp_path):
    (run,) = made(tmp_path, instances=[{"file": "bag.json"}], methods=["lp"], parameters={"deadline": 1e-9})
    assert run.failed
    assert run.outcome is None
    assert "deadline" in run.reason
    assert (run.instance_name, run.kind) == ("sound", "bag")


def test_an_instance_that_cannot_be_made_is_a_run_with_its_reason(tmp_path):
    sources = [{"generate": "bag", "seeds": [0], "method": "grow", "from": "bag.json", "task_types": 1}]
    run = made(tmp_path, instances=sources)[0]
    assert run.failed
    assert run.instance_name is None
    assert "task_types" in run.reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError(), "not enough memory"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (ZeroDivisionError(), "ZeroDivisionError: "),
        (ValueError("a\x1b[31mred"), "ValueError: a\\x1b[31mred"),
    ],
)
def test_whatever_goes_wrong_in_a_run_is_its_reason(tmp_path, monkeypatch, error, reason):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr("lpsched.studies.methods.solve", broken)
    run = made(tmp_path, methods=["lp"])[0]
    assert (run.outcome, run.reason) == (None, reason)


def test_a_number_that_json_cannot_say_is_a_failure(tmp_path, monkeypatch):
    endless = SimpleNamespace(to_dict=lambda: {"value": math.inf}, provenance=SimpleNamespace(solver="s"), timings={})
    monkeypatch.setattr("lpsched.studies.methods.front", lambda _bag: endless)
    (run,) = made(tmp_path, instances=[{"file": "bag.json"}], methods=["front"], parameters={})
    assert "Out of range float values" in run.reason


def test_a_task_that_was_sent_gives_the_same_outcome_in_any_order(tmp_path):
    study_file(tmp_path)
    study = Study.read(declared(methods=["balanced", "random"], instances=[{"file": "bag.json"}]))
    tasks = plan(study, gather(study, tmp_path))
    sent = [pickle.loads(pickle.dumps(task)) for task in tasks]  # noqa: S301 - our own
    here, there = [make_run(task) for task in tasks], [make_run(task) for task in reversed(sent)]
    assert {run.key: run.outcome for run in here} == {run.key: run.outcome for run in there}


def test_a_line_tells_all_of_a_run(tmp_path):
    run = made(tmp_path)[0]
    assert run_from(json.loads(json.dumps(run.to_dict()))) == run


def test_facilities_have_our_method_and_the_papers(tmp_path):
    source = {"file": str(INSTANCES / "facility-tiny.yaml")}
    ours, greedy = made(tmp_path, instances=[source], methods=["lp", "greedy"], parameters={})
    for run in (ours, greedy):
        assert run.kind == "facility"
        assert run.outcome["value"] == run.outcome["reward_rate"] <= run.outcome["bound"]
        assert not any("seconds" in name for name in run.outcome if name != "task_rates_per_second")
    assert greedy.outcome["value"] < ours.outcome["value"]


def test_days_and_clusters_have_policies(tmp_path):
    day = {"generate": "day", "seeds": [1], "from": "bag.json", "tasks": 6, "minutes": 2}
    clusters = {"file": str(INSTANCES / "clusters-small.yaml")}
    parameters = {"drop_below": [0.5], "every_seconds": 30}
    asked = {"methods": ["random"], "parameters": parameters, "seeds": [2]}
    on_day, on_clusters = made(tmp_path, instances=[day, clusters], **asked)
    assert (on_day.kind, on_clusters.kind) == ("day", "clusters")
    for run in (on_day, on_clusters):
        assert run.reason is None
        assert run.outcome["value"] == run.outcome["utility"] <= run.outcome["naive_bound"]
        assert run.outcome["bound"] is None
        assert not {"seconds", "milliseconds_per_event"} & set(run.outcome)
        assert run.timings["method"] > 0


def test_a_scheduler_that_finds_nothing_valid_is_a_failure(tmp_path, monkeypatch):
    entry = SimpleNamespace(violations=(SimpleNamespace(sentence="it broke a rule"),))
    monkeypatch.setattr("lpsched.studies.methods.validate", lambda *_, **__: SimpleNamespace(entries=[entry]))
    assert made(tmp_path, methods=["min-min"])[0].reason == "it broke a rule"


def test_a_policy_that_fails_is_a_failure(tmp_path, monkeypatch):
    entry = SimpleNamespace(reasons=((0, "it stalled"),))
    monkeypatch.setattr("lpsched.studies.methods.simulate", lambda *_, **__: SimpleNamespace(policies=[entry]))
    day = {"generate": "day", "seeds": [1], "from": "bag.json", "tasks": 6, "minutes": 2}
    (run,) = made(tmp_path, instances=[day], methods=["fcfs"], parameters={"every_arrivals": 3})
    assert run.reason == "it stalled"
