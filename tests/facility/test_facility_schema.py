from __future__ import annotations

import jsonschema
import pytest
import yaml
from hypothesis import given, settings

from lpsched.facility.files import as_dict
from lpsched.facility.model import Facility
from lpsched.io.instance_files import TableForm
from lpsched.io.templates import template
from tests.facilities import SOUND, facilities, sound_facility, within

VALIDATOR = jsonschema.Draft202012Validator(Facility.model_json_schema())


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(Facility.model_json_schema())


@settings(deadline=None, max_examples=30)
@given(facilities())
def test_every_facility_we_write_satisfies_it(facility):
    for form in (TableForm.NAMES, TableForm.MATRIX):
        VALIDATOR.validate(as_dict(facility, form))
    VALIDATOR.validate(as_dict(facility, None, {"speeds": "x.npz", "watts": "x.npz", "mixing": "y.npz"}))


def test_the_template_satisfies_it():
    VALIDATOR.validate(yaml.safe_load(template("facility")))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "lpsched-facility/2"},
        {"sight": {}},
        {"name": ...},
        {"nodes": [3]},
        {"mixing": {}},
        {"mixing": {"alpha": [[0.1]], "inlet_mix": [[0.1]]}},
        {"mixing": {"alpha": [[-0.1]]}},
        {"power_cap_watts": 0},
        within("node_types.0.cores", 0),
        within("crac_units.0.cop", []),
        within("crac_units.0.count", 0),
        within("degradation.heavy.heavy", -1),
    ],
)
def test_what_the_door_refuses_in_a_single_value_the_schema_refuses(change):
    VALIDATOR.validate(SOUND)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(sound_facility(**change))


def test_a_unit_may_be_counted():
    VALIDATOR.validate(sound_facility(**within("crac_units.0.count", 3)))
