from __future__ import annotations

import jsonschema
import pytest

from lpsched.errors import InstanceError
from lpsched.studies.study import InstanceSource, MethodChoice, study_from, study_schema
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
    assert study.instances == (InstanceSource(file="a.yaml"), InstanceSource(None, "bag", {"tasks": 5}, (2, 3, 4)))
    assert study.methods == (MethodChoice("lp"), MethodChoice("tight", {"gap": (0.1, 0.2)}, {"seconds": 2.0}))
    assert study.parameters == {"price": (5,), "objective": ("energy", None)}
    assert (study.seeds, study.limits) == ((1, 0), {"seconds": 9.0})


def test_all_faults_come_at_once_and_in_file_order():
    told = faults_of(declared(name=1, methods=[], seeds="x", limits=[]))
    assert [each.split(":")[0] for each in told] == ["name", "methods", "seeds", "limits"]


def test_another_format_is_refused_by_its_name():
    (found,) = faults_of(declared(format="lpsched-bag/1"))
    assert "found the text 'lpsched-bag/1', needs 'lpsched-study/1'" in found


def test_the_schema_takes_a_sound_study():
    jsonschema.Draft202012Validator.check_schema(study_schema())
    jsonschema.validate(declared(seeds={"from": 1, "count": 2}, limits={"seconds": 1}), study_schema())


@pytest.mark.parametrize("changes", [{"seeds": [-1]}, {"limits": {"hours": 1}}, {"instances": []}, {"methods": [3]}])
def test_the_schema_refuses_what_the_door_refuses(changes):
    assert faults_of(declared(**changes))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(declared(**changes), study_schema())
