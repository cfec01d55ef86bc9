"""The JSON Schema of clusters files: all that we write satisfies it, and what is wrong by itself does not."""

from __future__ import annotations

import json

import jsonschema
import pytest
import yaml
from hypothesis import given, settings

from lpsched.io.templates import template
from lpsched.online.clusters import Clusters
from lpsched.online.files import clusters_as_dict
from tests.parallel import SOUND, sound_clusters, waiting_clusters
from tests.property.parallel import parallel_clusters

VALIDATOR = jsonschema.Draft202012Validator(Clusters.model_json_schema())
TASK = SOUND["tasks"][1]


def as_json(raw):
    return json.loads(json.dumps(raw))  # numbers of nodes are texts there


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(Clusters.model_json_schema())


@settings(deadline=None, max_examples=15)
@given(parallel_clusters())
def test_all_clusters_we_write_satisfy_it(clusters):
    VALIDATOR.validate(as_json(clusters_as_dict(clusters)))
    VALIDATOR.validate(as_json(clusters_as_dict(clusters, "t.csv")))


def test_the_template_and_clusters_by_hand_satisfy_it():
    VALIDATOR.validate(as_json(yaml.safe_load(template("clusters"))))
    VALIDATOR.validate(as_json(SOUND))
    VALIDATOR.validate(as_json(waiting_clusters()))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "lpsched-clusters/2"},
        {"machine_types": []},
        {"name": ...},
        {"clusters": []},
        {"clusters": [{"name": "a"}]},
        {"clusters": [{"name": "a", "nodes": 0}]},
        {"clusters": [{"name": "a", "nodes": 1, "count": 1}]},
        {"seconds": ...},
        {"seconds": [[1]]},
        {"seconds": {"flow": {"thin": {}}}},
        {"seconds": {"flow": {"thin": {"x": 1}}}},
        {"seconds": {"flow": {"thin": {"1": 0}}}},
        {"watts": {"flow": {"thin": {"1": [-1]}}}},
        {"waiting": 3},
        {"waiting": {"measure": "x"}},
        {"waiting": {"points": [[1]]}},
        {"waiting": {"points": [[1, -1]]}},
        {"tasks": ...},
        {"tasks": []},
        {"tasks": {"file": 3}},
        {"tasks": [TASK | {"cores": 0}]},
        {"tasks": [TASK | {"cores": None}]},
        {"tasks": [TASK | {"work": 0}]},
        {"tasks": [TASK | {"job": 1.5}]},
        {"tasks": [TASK | {"nodes": 1}]},
    ],
)
def test_what_is_wrong_by_itself_is_refused(change):
    assert not VALIDATOR.is_valid(as_json(sound_clusters(**change)))
