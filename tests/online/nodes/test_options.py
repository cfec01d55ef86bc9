"""Options of a simulation of clusters."""

from __future__ import annotations

import re

import pytest

from lpsched.errors import InstanceError
from lpsched.online.simulate.options import ClusterOptions


def test_the_leniency_is_the_papers_where_nothing_is_said():
    assert ClusterOptions(energy_filter="per-task").factor == 2.0
    assert ClusterOptions(energy_filter="per-resource").factor == 4.0
    assert ClusterOptions(energy_filter="per-resource", leniency=3).factor == 3


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"every_seconds": 0.0}, "every_seconds: got 0.0"),
        ({"every_seconds": float("nan")}, "every_seconds: got "),
        ({"every_seconds": True}, "every_seconds: got "),
        ({"every_seconds": "60"}, "every_seconds: got the text '60'"),
        ({"drop_below": -1.0}, "drop_below: got -1.0"),
        ({"drop_below": float("inf")}, "drop_below: got inf"),
        ({"energy_filter": "adaptive"}, "energy_filter: got the text 'adaptive', expected 'per-task', 'per-resource'"),
        ({"energy_filter": 2.0}, "energy_filter: got 2.0"),
        ({"energy_filter": "per-task", "leniency": 0.0}, "leniency: got 0.0, expected a number above 0"),
        ({"energy_filter": "per-task", "leniency": "much"}, "leniency: got the text 'much'"),
        ({"leniency": 2.0}, "leniency: got 2.0 of no filter, expected an energy filter"),
        ({"placeholders": 1}, "placeholders: got 1, expected true or false"),
    ],
)
def test_what_cannot_be_is_refused(options, found):
    with pytest.raises(InstanceError, match=re.escape(found)):
        ClusterOptions(**options)


def test_every_fault_is_told():
    with pytest.raises(InstanceError) as error:
        ClusterOptions(every_seconds=0.0, drop_below=-1.0, energy_filter="none")
    assert len(error.value.issues) == 3
