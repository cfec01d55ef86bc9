"""Allocation files: what is written is read back, bit by bit; what is not one is refused in words."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.facility.files import allocation_as_dict, read_allocation, write_allocation
from lpsched.facility.parts import CoreAllocation, CoreFraction, CoreRun, GangAllocation, PatternShare
from tests.documents import replaced
from tests.facility.small_facility import SMALL
from tests.support import AWKWARD

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
STATES = st.none() | AWKWARD
RUNS = st.builds(CoreRun, AWKWARD, st.integers(1, 9), STATES)
PATTERNS = st.builds(PatternShare, NUMBERS, st.lists(RUNS, max_size=3).map(tuple))
PARTS = st.builds(CoreFraction, AWKWARD, NUMBERS, STATES)
OUTLETS = st.lists(NUMBERS, max_size=3).map(tuple)
GANGS = st.builds(GangAllocation, OUTLETS, st.lists(st.lists(PATTERNS, max_size=2).map(tuple), max_size=4).map(tuple))
CORES = st.lists(st.lists(PARTS, max_size=2).map(tuple), max_size=2).map(tuple)
INDEPENDENT = st.builds(CoreAllocation, OUTLETS, st.lists(CORES, max_size=4).map(tuple))
ONE = (PatternShare(0.5, (CoreRun("render", 2, "P0"),)),)
GANG = GangAllocation((20.0,), (ONE,))
BY_CORE = CoreAllocation((20.0,), (((CoreFraction("render", 0.5, "P0"),), ()),))


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(GANGS | INDEPENDENT)
def test_an_allocation_comes_back_as_it_was_written(tmp_path, allocation):
    write_allocation(allocation, SMALL, tmp_path / "a.json", "1")
    assert read_allocation(tmp_path / "a.json") == allocation


def test_nodes_that_do_the_same_stand_in_one_entry():
    content = allocation_as_dict(GangAllocation((20.0,), (ONE, ONE, (), ONE)), SMALL, "1")
    assert [entry["count"] for entry in content["nodes"]] == [2, 1, 1]


def test_the_file_says_which_facility_it_is_of(tmp_path):
    write_allocation(BY_CORE, SMALL, tmp_path / "a.json", "1")
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["instance"] == {"name": "paper", "hash": SMALL.content_hash}
    assert content["form"] == "cores"


def test_yaml_is_read_as_well(tmp_path):
    (tmp_path / "a.yaml").write_text(
        "format: lpsched-allocation/1\nform: gang\noutlets_celsius: [20]\n"
        "nodes:\n  - {count: 2, patterns: [{share: 1, runs: [{task_type: zip, cores: 2, p_state: null}]}]}\n"
    )
    zips = (PatternShare(1.0, (CoreRun("zip", 2),)),)
    assert read_allocation(tmp_path / "a.yaml") == GangAllocation((20.0,), (zips, zips))


def test_all_faults_are_told_at_once(tmp_path):
    changes = {"nodes.0.patterns.0.share": "half", "outlets_celsius": ["cold"]}
    content = replaced(allocation_as_dict(GANG, SMALL, "1"), changes)
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(InstanceError) as refused:
        read_allocation(tmp_path / "a.json")
    assert [issue.location for issue in refused.value.issues] == ["outlets_celsius[0]", "nodes[0].patterns[0].share"]
