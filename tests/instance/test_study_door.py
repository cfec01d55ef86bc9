from __future__ import annotations

import jsonschema
import pytest

from lpsched.errors import InstanceError
from lpsched.instance.study import InstanceSource, MethodChoice
from lpsched.instance.study_door import study_from
from lpsched.instance.study_schema import study_schema
from tests.studies.declared import declared


def faults_of(raw):
    with pytest.raises(InstanceError) as refused:
        study_from(raw)
    return [str(fault) for fault in refused.value.faults]


def test_a_study_is_read_as_it_stands():
    study = study_from(
        declared(
            instances=[{"file": "a.yaml"}, {"generate": "bag", "seeds": {"from": 2, "count": 3}, "tasks": 5}],
            methods=["lp", {"name": "tight", "gap": [0.1, 0.2], "limits": {"seconds": 2}}],
            parameters={"price": 5, "objective": ["energy", None]},
            seeds=[1, 1, 0],
            limits={"seconds": 9},
        )
    )
    assert study.instances == (
        InstanceSource(file="a.yaml"),
        InstanceSource(None, "bag", {"tasks": 5}, (2, 3, 4)),
    )
    assert study.methods == (
        MethodChoice("lp"),
        MethodChoice("tight", {"gap": (0.1, 0.2)}, {"seconds": 2.0}),
    )
    assert study.parameters == {"price": (5,), "objective": ("energy", None)}
    assert (study.seeds, study.limits) == ((1, 0), {"seconds": 9.0})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": 3}, "name: found 3, needs a name"),
        ({"nmae": "x"}, "nmae: found an unknown key"),
        ({"instances": []}, "instances: found a list of 0, needs a list of files and generators, at least"),
        ({"instances": ...}, "instances: found nothing, needs"),
        ({"instances": ["a.yaml"]}, "instances[0]: found the text 'a.yaml', needs {file: PATH} or"),
        ({"instances": [{"file": "a", "generate": "bag"}]}, "instances[0]: found a mapping of 2, needs"),
        (
            {"instances": [{"file": "a", "tasks": 3}]},
            "instances[0].tasks: found an unknown key, needs nothing",
        ),
        ({"instances": [{"file": 3}]}, "instances[0].file: found 3, needs the name of a file"),
        ({"instances": [{"generate": "bag"}]}, "instances[0].seeds: found nothing, needs the key 'seeds'"),
        (
            {"instances": [{"generate": "bag", "seeds": [0], "tasks": {"a": 1}}]},
            "instances[0].tasks: found a mapping of 1, needs a number, a word or a list of numbers",
        ),
        ({"methods": [{"gap": 1}]}, "methods[0]: found a mapping of 1, needs a name, or {name"),
        ({"parameters": [1]}, "parameters: found a list of 1, needs a mapping"),
        ({"parameters": {"price": []}}, "parameters.price: found an empty list, needs a value"),
        ({"parameters": {"price": [[1]]}}, "parameters.price[0]: found a list of 1, needs a number, a word"),
        ({"seeds": []}, "seeds: found a list of 0, needs a list of whole numbers"),
        ({"seeds": [-1]}, "seeds[0]: found -1, needs a whole number from 0"),
        ({"seeds": [True]}, "seeds[0]: found true (a yes/no value), needs a whole number"),
        ({"seeds": {"count": 0}}, "seeds.count: found 0, needs a whole number from 1"),
        ({"seeds": {"count": 10**7}}, "seeds.count: found 10,000,000 of them, needs at most 1,000,000"),
        (
            {"seeds": {"form": 1, "count": 1}},
            "seeds.form: found an unknown key, needs from and count; did you",
        ),
        ({"seeds": {"from": 1.5, "count": 1}}, "seeds.from: found 1.5, needs a whole number"),
        ({"limits": 30}, "limits: found 30, needs a mapping such as {seconds: 30}"),
        ({"limits": {"second": 1}}, "limits.second: found an unknown key, needs seconds"),
        ({"limits": {"seconds": 0}}, "limits.seconds: found 0, needs seconds: a number from 0.001"),
        ({"description": 5}, "description: found 5, needs a text"),
    ],
)
def test_each_fault_is_told_with_its_place_and_the_way_out(changes, sentence):
    (found,) = faults_of(declared(**changes))
    assert found.startswith(sentence)
    assert "; " in found


def test_all_faults_come_at_once_and_in_file_order():
    told = faults_of(declared(name=1, methods=[], seeds="x", limits=[]))
    assert [each.split(":")[0] for each in told] == ["name", "methods", "seeds", "limits"]


def test_another_format_is_refused_by_its_name():
    (found,) = faults_of(declared(format="lpsched-bag/1"))
    assert "found the text 'lpsched-bag/1', needs 'lpsched-study/1'" in found


def test_the_schema_takes_a_sound_study():
    jsonschema.Draft202012Validator.check_schema(study_schema())
    jsonschema.validate(declared(seeds={"from": 1, "count": 2}, limits={"seconds": 1}), study_schema())


@pytest.mark.parametrize(
    "changes", [{"seeds": [-1]}, {"limits": {"hours": 1}}, {"instances": []}, {"methods": [3]}]
)
def test_the_schema_refuses_what_the_door_refuses(changes):
    assert faults_of(declared(**changes))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(declared(**changes), study_schema())
