from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given, settings

from lpsched.bag.files import as_dict
from lpsched.bag.model import Bag
from lpsched.io.instance_files import TableForm
from tests.support import SOUND, bags, sound

VALIDATOR = jsonschema.Draft202012Validator(Bag.model_json_schema())


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(Bag.model_json_schema())


@settings(deadline=None)
@given(bags())
def test_every_bag_we_write_satisfies_it(bag):
    for form in (TableForm.NAMES, TableForm.MATRIX):
        VALIDATOR.validate(as_dict(bag, form))
    VALIDATOR.validate(as_dict(bag, TableForm.NPZ, {"seconds": "x.npz", "watts": "x.npz"}))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "lpsched-bag/2"},
        {"sight": {}},
        {"seconds": ...},
        {"seconds": [["fast"]]},
        {"machine_types": []},
        {"machine_types": [{"name": "cpu", "count": 0}]},
        {"task_types": [{"name": "zip", "count": 2, "colour": 3}]},
        {"prices": {"per_bag": -1}},
        {"site": {"pue": 0.5}},
    ],
)
def test_it_refuses_what_the_door_refuses(change):
    assert VALIDATOR.is_valid(SOUND)
    assert not VALIDATOR.is_valid(sound(**change))
