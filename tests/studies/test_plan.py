from __future__ import annotations

import json
from pathlib import Path

import pytest

from lpsched.errors import InstanceError
from lpsched.io.templates import template
from lpsched.model.kinds import INSTANCES
from lpsched.studies.methods import find_method, method_names
from lpsched.studies.plan import plan
from lpsched.studies.running import declare
from tests.studies.declared import TINY, study_file


def tasks_of(folder, **changes):
    return plan(*declare(study_file(folder, **changes)))


def issues_of(folder, **changes):
    with pytest.raises(InstanceError) as refused:
        declare(study_file(folder, **changes))
    return [str(issue) for issue in refused.value.issues]


def test_every_combination_is_one_run(tmp_path):
    tasks = tasks_of(tmp_path)
    # 2 bags x 2 methods x 2 objectives; no method of these leaves anything to chance
    assert [(task.instance_seed, task.method, task.parameters["objective"]) for task in tasks] == [
        (3, "lp", "makespan"),
        (3, "lp", "energy"),
        (3, "min-min", "makespan"),
        (3, "min-min", "energy"),
        (4, "lp", "makespan"),
        (4, "lp", "energy"),
        (4, "min-min", "makespan"),
        (4, "min-min", "energy"),
    ]
    assert len({task.key for task in tasks}) == 8


def test_seeds_go_to_methods_of_chance_limits_to_those_that_heed_them_parameters_to_those_that_know(tmp_path):
    tasks = tasks_of(
        tmp_path,
        instances=[{"file": "bag.json"}],
        methods=["lp", "random", {"name": "tight", "objective": "energy", "limits": {"seconds": 2}}, "front"],
        seeds=[0, 1],
        limits={"seconds": 9},
        parameters={"objective": ["makespan"], "power_cap": [None, 500]},
    )
    told = [(task.method, dict(task.parameters), task.seed, dict(task.limits)) for task in tasks]
    capped = {"power_cap": 500.0}
    assert told == [
        ("lp", {"objective": "makespan"}, 0, {"seconds": 9.0}),
        ("lp", {"objective": "makespan"} | capped, 0, {"seconds": 9.0}),
        ("random", {"objective": "makespan"}, 0, {}),
        ("random", {"objective": "makespan"}, 1, {}),
        ("random", {"objective": "makespan"} | capped, 0, {}),
        ("random", {"objective": "makespan"} | capped, 1, {}),
        ("tight", {"objective": "energy"}, 0, {"seconds": 2.0}),
        ("tight", {"objective": "energy"}, 1, {"seconds": 2.0}),
        ("tight", {"objective": "energy"} | capped, 0, {"seconds": 2.0}),
        ("tight", {"objective": "energy"} | capped, 1, {"seconds": 2.0}),
        ("front", {}, 0, {}),
        ("front", capped, 0, {}),
    ]


def keys(folder, **changes):
    return {task.key for task in tasks_of(folder, **changes)}


def test_a_key_depends_on_all_that_decides_the_outcome_and_on_nothing_else(tmp_path):
    one = {"instances": [{"generate": "bag", "seeds": [3], **TINY}], "methods": ["tight"]}
    one |= {"parameters": {"objective": "energy"}, "limits": {"seconds": 2}}
    (key,) = keys(tmp_path, **one)
    same = [
        {"name": "another", "description": "x"},
        {"parameters": {"objective": ["energy", "energy"], "price": None}},
        {"methods": [{"name": "tight", "objective": "energy"}], "parameters": {}},
        {"limits": {"seconds": 2.0}},
    ]
    for changes in same:
        assert keys(tmp_path, **one | changes) == {key}
    others = [
        {"instances": [{"generate": "bag", "seeds": [4], **TINY}]},
        {"instances": [{"generate": "bag", "seeds": [3], **TINY | {"tasks": 7}}]},
        {"methods": ["lp"]},
        {"parameters": {"objective": "makespan"}},
        {"parameters": {"objective": "energy", "gap": 0.5}},
        {"limits": {"seconds": 3}},
        {"limits": {}},
        {"seeds": [1]},
        {"instances": [{"file": "bag.json"}]},
        {"instances": [{"generate": "resampled", "from": "bag.json", "tasks": 6, "seeds": [3]}]},
    ]
    found = [keys(tmp_path, **one | changes) for changes in others]
    assert len(set.union({key}, *found)) == len(others) + 1


def test_a_file_is_known_by_what_it_says_not_by_its_name(tmp_path):
    asked = {"instances": [{"file": "bag.json"}], "methods": ["lp"], "parameters": {}}
    (key,) = keys(tmp_path, **asked)
    text = (tmp_path / "bag.json").read_text()
    (tmp_path / "copy.json").write_text(json.dumps(json.loads(text), indent=3))
    assert keys(tmp_path, **asked | {"instances": [{"file": "copy.json"}, {"file": "bag.json"}]}) == {key}
    drawn = [{"generate": "resampled", "seeds": [0], "from": name, "tasks": 3} for name in ("bag.json", "copy.json")]
    assert len(keys(tmp_path, **asked | {"instances": drawn})) == 1
    (tmp_path / "copy.json").write_text(text.replace("40", "41"))
    assert len(keys(tmp_path, **asked | {"instances": drawn})) == 2
    assert key not in keys(tmp_path, **asked | {"instances": [{"file": "copy.json"}]})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"methods": ["min-mni"]}, "methods[0]: got 'min-mni', expected one of solve, lp, balanced, tight, front"),
        ({"methods": ["max-max-upt"]}, "methods[0]: got 'max-max-upt', expected one of solve"),
        (
            {"parameters": {"profit_ration": [1]}},
            "parameters.profit_ration: got an unknown name, expected a parameter of the methods of this study",
        ),
        (
            {"methods": ["lp", {"name": "front", "price": 3}]},
            "methods[1].price: got an unknown name, expected a parameter of front: power_cap, deadline, effort, sample",
        ),
        (
            {"parameters": {"objective": ["energy", "enrgy"]}},
            "parameters.objective[1]: got the text 'enrgy', expected one of profit, makespan, energy",
        ),
        (
            {"methods": ["solve"], "parameters": {"effort": "hard"}},
            "parameters.effort: got the text 'hard', expected one of fast, balanced, auto, tight",
        ),
        ({"parameters": {"power_cap": "high"}}, "parameters.power_cap: got the text 'high', expected watts"),
        ({"parameters": {"gap": 2}}, "parameters.gap: got 2, expected a relative gap: a number from 0 to 1"),
        (
            {"parameters": {"price": [1], "profit_ratio": [None, 2]}, "methods": ["lp"]},
            "methods[0]: got price and profit_ratio, expected one of them for lp; drop one",
        ),
        ({"methods": [{"name": "nsga2", "generations": 1.5}]}, "methods[0].generations: got 1.5, expected a wh"),
        ({"instances": [{"generate": "bags", "seeds": [0]}]}, "instances[0].generate: got 'bags', expected one"),
        (
            {"instances": [{"generate": "bag", "seeds": [0], "task": 3}]},
            "instances[0].task: got an unknown name, expected one of task_types, machines",
        ),
        (
            {"instances": [{"generate": "bag", "seeds": [0], "tasks": "many"}]},
            "instances[0].tasks: got the text 'many', expected a whole number; correct it",
        ),
        (
            {"instances": [{"generate": "bag", "seeds": [0], "machines": 3}]},
            "instances[0].machines: got 3, expected a list, each a whole number; correct it",
        ),
        (
            {"instances": [{"generate": "bag", "seeds": [0], "p_states": 9}]},
            "instances[0].p_states: got 9, expected 1 to 3",
        ),
        (
            {"instances": [{"generate": "bag", "seeds": [0], "from": "bag.json"}]},
            "instances[0].from: got a key that has no meaning here, expected it only with method: grow",
        ),
        (
            {"instances": [{"generate": "bag", "seeds": [0], "method": "grow"}]},
            "instances[0].from: got nothing, expected the key 'from'",
        ),
        (
            {"instances": [{"generate": "bag", "seeds": [0], "method": "grew"}]},
            "instances[0].method: got 'grew', expected one of cov, grow",
        ),
        (
            {
                "instances": [
                    {"generate": "bag", "seeds": [0], "method": "grow", "from": "bag.json", "special_speedup": 0}
                ]
            },
            "instances[0].special_speedup: got 0, expected 0.001 to 1e+06; change the option",
        ),
        (
            {"instances": [{"generate": "resampled", "seeds": [0], "from": "bag.json"}]},
            "instances[0].tasks: got both or neither, expected tasks or tasks_per_machine",
        ),
        (
            {"instances": [{"generate": "resampled", "seeds": [0], "from": "bag.json", "tasks": 0}]},
            "instances[0].tasks: got a number that is not above 0",
        ),
        (
            {"instances": [{"generate": "facility", "seeds": [0], "platform": "huge"}], "methods": ["lp"]},
            "instances[0].platform: got 'huge', expected one of small, medium, large",
        ),
        (
            {"instances": [{"generate": "day", "seeds": [0], "minutes": 3}], "methods": ["random"]},
            "instances[0].minutes: got a key that has no meaning here, expected it only with from",
        ),
        (
            {"instances": [{"generate": "day", "seeds": [0], "from": "bag.json", "tasks": 3}]},
            "instances[0].minutes: got nothing, expected the key 'minutes'",
        ),
        (
            {"instances": [{"file": "bag.json"}, {"generate": "clusters", "seeds": [0]}], "methods": ["lp"]},
            "instances[1]: got a source of the kind 'clusters', expected a method for it: ",
        ),
        ({"seeds": {"count": 10**6}, "methods": ["random"]}, "the file: got 4,000,000 runs, expected at most 1,"),
        ({"instances": [{"file": "none.yaml"}]}, "instances[0].file: got 'none.yaml', which cannot be used: "),
        (
            {"instances": [{"file": "tiny.json"}]},
            "instances[0].file: got 'tiny.json', which cannot be used: format: got the text",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is(tmp_path, changes, sentence):
    found = issues_of(tmp_path, **changes)
    assert any(each.startswith(sentence) for each in found), found


def test_only_a_bag_can_be_drawn_from(tmp_path):
    facility = Path(__file__).parents[2] / "instances" / "facility-tiny.yaml"
    source = {"generate": "resampled", "seeds": [0], "from": str(facility), "tasks": 3}
    (found,) = issues_of(tmp_path, instances=[source])
    assert found.startswith("instances[0].from: got a file of the kind 'facility', expected a bag")


def test_faults_have_the_line_of_the_file_in_which_they_stand(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(
        "format: lpsched-study/1\nname: a\ninstances:\n  - {generate: bag, seeds: [0]}\n"
        "methods: [lp]\nparameters:\n  price: dear\n  gpa: 1\n"
    )
    with pytest.raises(InstanceError) as refused:
        declare(path)
    assert [issue.location for issue in refused.value.issues] == ["line 7, parameters.price", "line 8, parameters.gpa"]


@pytest.mark.parametrize("kind", INSTANCES)
def test_every_name_of_a_method_has_one(kind):
    for name in method_names(kind):
        method = find_method(name, kind)
        assert method is not None
        assert (method.name, method.kind) == (name, kind)


def test_the_template_is_a_sound_study(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(template("study"))
    assert len(plan(*declare(path))) == (5 + 2) * 3 * 2  # bags, methods, objectives


def test_an_unknown_parameter_is_told_all_that_are_known_and_the_nearest(tmp_path):
    (found,) = issues_of(tmp_path, parameters={"profit_ration": 1})
    assert found.endswith(
        "objective, price, profit_ratio, power_cap, deadline, gap, effort; did you mean 'profit_ratio'?"
    )
