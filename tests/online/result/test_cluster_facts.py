"""Measured facts of clusters in JSON: each under its own key."""

from __future__ import annotations

from typing import Any

from lpsched.online.parts import WHOLE, Cluster
from lpsched.online.result.comparisons import ClustersValidation, ScheduleEntry
from lpsched.online.result.policy import facts_of
from lpsched.online.verify.accounts import Waits
from lpsched.online.verify.clusters import ClustersMeasurement
from tests.report.bags import PROVENANCE

CLUSTERS = (Cluster("thin", 3), Cluster("fat", 2))
WAITS = Waits(5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
MEASURED = ClustersMeasurement(7.0, None, 8.0, 3, 2, 0.5, (0.25, 0.75), WAITS)


def busy_of(measured):
    entry: ScheduleEntry[Any, Any] = ScheduleEntry("a", "file", measured)
    told = ClustersValidation(CLUSTERS, WHOLE, None, 8.0, 9.0, 0.1, (entry,), PROVENANCE).to_dict()
    return told["entries"][0]["busy"]


def test_every_fact_has_its_key():
    assert facts_of(MEASURED) == {
        "utilisation": 0.5,
        "wait_seconds": {"mean": 1.0, "median": 2.0, "p95": 3.0, "longest": 4.0},
        "mean_slowdown": 5.0,
        "mean_bounded_slowdown": 6.0,
    }
    assert busy_of(MEASURED) == {"thin": 0.25, "fat": 0.75}


def test_nothing_measured_has_the_same_keys():
    assert facts_of(None) == dict.fromkeys(facts_of(MEASURED))
    assert busy_of(None) is None
