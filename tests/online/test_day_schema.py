from __future__ import annotations

import jsonschema
import pytest
import yaml
from hypothesis import given, settings

from lpsched.io.instance_files import TableForm
from lpsched.io.templates import template
from lpsched.online.day import Day
from lpsched.online.files import day_as_dict
from tests.days import SOUND, sound_day
from tests.property.days import days, periods

VALIDATOR = jsonschema.Draft202012Validator(Day.model_json_schema())
TASK = SOUND["tasks"][1]


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(Day.model_json_schema())


@settings(deadline=None, max_examples=20)
@given(days(), periods())
def test_every_day_we_write_satisfies_it(day, period):
    day = day.model_copy(update={"period": period, "made_by": {"generator": "essc", "seed": 3, "counts": [1, 2.5]}})
    for form in (TableForm.NAMES, TableForm.MATRIX):
        VALIDATOR.validate(day_as_dict(day, form))
    VALIDATOR.validate(day_as_dict(day, TableForm.NPZ, {"seconds": "x.npz", "watts": "x.npz", "tasks": "t.csv"}))


def test_the_template_satisfies_it():
    VALIDATOR.validate(yaml.safe_load(template("day")))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "lpsched-day/2"},
        {"warm_up_seconds": 7200},
        {"period": 7200},
        {"period": {"warm_up_seconds": -1}},
        {"period": {"length_seconds": 0}},
        {"period": {"edge": "cut"}},
        {"period": {"energy_constraint_joules": "1 GJ"}},
        {"period": {"length": 3}},
        {"made_by": "me"},
        {"made_by": {"generator": "essc"}},
        {"made_by": {"generator": "essc", "seed": -1}},
        {"made_by": {"generator": "essc", "seed": 1, "counts": [[1]]}},
        {"made_by": {"generator": "essc", "seed": 1, "hours": None}},
        {"name": ...},
        {"watts": ...},
        {"tasks": ...},
        {"tasks": []},
        {"tasks": {"file": 3}},
        {"tasks": [TASK | {"arrival_seconds": -1}]},
        {"tasks": [TASK | {"utility": 3}]},
        {"tasks": [{key: TASK[key] for key in ("arrival_seconds", "task_type")}]},
        {"machine_types": [{"name": "cpu", "count": 1, "idle_watts": 3}]},
        {"priorities": {"high": -1}},
        {"urgencies": {"soon": {"decay_per_minute": 1}}},
        {"utility_classes": {"A": []}},
        {"utility_classes": {"A": [{"after_minutes": 0, "share": 1.5}]}},
        {"utility_functions": {"f": [{"after_seconds": 0}]}},
    ],
)
def test_what_the_door_refuses_in_a_single_value_the_schema_refuses(change):
    VALIDATOR.validate(SOUND)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(sound_day(**change))
