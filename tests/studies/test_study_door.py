from __future__ import annotations

import jsonschema
import pytest

from lpsched.errors import InstanceError
from lpsched.studies.study import FileSource, GeneratorSource, Limits, MethodChoice, Study
from tests.studies.declared import declared


def issues_of(raw):
    with pytest.raises(InstanceError) as refused:
        Study.read(raw)
    return [str(issue) for issue in refused.value.issues]


def test_a_study_is_read_as_it_stands():
    study = Study.read(
        declared(
            instances=[{"file": "a.yaml"}, {"generate": "bag", "seeds": {"from": 2, "count": 3}, "tasks": 5}],
            methods=["lp", {"name": "tight", "gap": [0.1, 0.2], "limits": {"seconds": 2}}],
            parameters={"price": 5, "objective": ["energy", None]},
            seeds=[1, 1, 0],
            limits={"seconds": 9},
        )
    )
    generated = GeneratorSource.model_validate({"generate": "bag", "seeds": [2, 3, 4], "tasks": 5})
    tight = MethodChoice.model_validate({"name": "tight", "limits": Limits(2.0), "gap": [0.1, 0.2]})
    assert study.instances == (FileSource("a.yaml"), generated)
    assert study.methods == (MethodChoice("lp"), tight)
    assert study.parameters == {"price": (5,), "objective": ("energy", None)}
    assert (study.seeds, study.limits) == ((1, 0), Limits(9.0))


def test_a_study_is_dumped_as_it_is_read():
    study = Study.read(declared(seeds={"from": 1, "count": 2}, methods=["lp", {"name": "tight", "gap": 0.1}]))
    assert Study.model_validate(study.model_dump()) == study
    assert study.model_dump()["methods"][1] == {"name": "tight", "limits": None, "gap": (0.1,)}


def test_whole_floats_are_seeds_and_a_million_wrong_ones_are_told_in_time():
    assert Study.read(declared(seeds=[3.0])).seeds == (3,)
    assert len(issues_of(declared(seeds=["a"] * 1_000_000))) == 1000


def test_all_faults_come_at_once_and_in_file_order():
    told = issues_of(declared(name=1, methods=[], seeds="x", limits=[]))
    assert [each.split(":")[0] for each in told] == ["name", "methods", "seeds", "limits"]


def test_another_format_is_refused_by_its_name():
    (found,) = issues_of(declared(format="lpsched-bag/1"))
    assert "got the text 'lpsched-bag/1', expected 'lpsched-study/1'" in found


def test_the_schema_takes_a_sound_study():
    jsonschema.Draft202012Validator.check_schema(Study.model_json_schema())
    jsonschema.validate(declared(seeds={"from": 1, "count": 2}, limits={"seconds": 1}), Study.model_json_schema())


@pytest.mark.parametrize("changes", [{"seeds": [-1]}, {"limits": {"hours": 1}}, {"instances": []}, {"methods": [3]}])
def test_the_schema_refuses_what_the_door_refuses(changes):
    assert issues_of(declared(**changes))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(declared(**changes), Study.model_json_schema())
