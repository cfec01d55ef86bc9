"""lpsched: proved bounds, verified schedules and prices for heterogeneous computing systems.

>>> import lpsched
>>> bag = lpsched.bag_from_dict({
...     "format": "lpsched-bag/1",
...     "name": "example",
...     "machine_types": [{"name": "cpu", "count": 2}],
...     "task_types": [{"name": "render", "count": 4}],
...     "seconds": {"render": {"cpu": 3.0}},
... })
>>> result = lpsched.solve(bag, objective="makespan")
>>> result.value, result.bound
(6.0, 6.0)

Names are loaded on use: importing lpsched does nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lpsched.auditing import audit
    from lpsched.certificate.boxes import check as check_proof
    from lpsched.certificate.claim import Certificate
    from lpsched.certificate.claim import check as check_certificate
    from lpsched.compare.allocations import validate_facility
    from lpsched.compare.clusters import validate_clusters
    from lpsched.compare.day_fronts import compare_day_fronts
    from lpsched.compare.days import validate_day
    from lpsched.compare.facility_methods import allocate
    from lpsched.compare.fronts import compare_fronts
    from lpsched.compare.schedules import validate
    from lpsched.compare.simulations import simulate
    from lpsched.errors import (
        Fault,
        InfeasibleError,
        InstanceError,
        InvalidScheduleError,
        LpschedError,
        LpschedWarning,
        MissingExtraError,
        NotFoundError,
        OutputError,
        SolverError,
    )
    from lpsched.files.allocations import read_allocation, write_allocation
    from lpsched.files.certificates import read_certificate, write_certificate
    from lpsched.files.cluster_schedules import read_clusters_schedule, write_clusters_schedule
    from lpsched.files.day_schedules import read_day_schedule, write_day_schedule
    from lpsched.files.instances import read_instance as read
    from lpsched.files.instances import write_instance as write
    from lpsched.files.proofs import read_proof, write_proof
    from lpsched.files.schedules import read_schedule, write_schedule
    from lpsched.files.studies import read_study
    from lpsched.files.study_lines import read_runs
    from lpsched.files.study_reports import study_report
    from lpsched.instance import Bag, MachineType, Prices, Site, Table, TaskType, bag_from_dict
    from lpsched.instance.cluster_door import clusters_from_dict
    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import ArrivingTasks, Day
    from lpsched.instance.day_door import day_from_dict
    from lpsched.instance.facility import Facility
    from lpsched.instance.facility_door import facility_from_dict
    from lpsched.instance.utility import Interval, UtilityFunction
    from lpsched.pipeline import certify, export, facility, front, price_curve, solve, solver_named, what_if
    from lpsched.pipeline.regions import feasible_region
    from lpsched.pipeline.risks import risk_of
    from lpsched.pipeline.sensitivities import sensitivity
    from lpsched.pipeline.steps import with_one_more
    from lpsched.relaxation import Regime
    from lpsched.result import (
        FacilityResult,
        FacilityValidation,
        FacilityWorth,
        FrontResult,
        MethodResult,
        OneMore,
        PriceCurve,
        Result,
        Validation,
        WhatIf,
        Worth,
    )
    from lpsched.result.clusters_validation import ClustersValidation
    from lpsched.result.day_front import DayFront
    from lpsched.result.day_validation import DayValidation
    from lpsched.result.front_comparison import FrontComparison
    from lpsched.result.region import FeasibleRegion
    from lpsched.result.risk import Risk
    from lpsched.result.sensitivity import Sensitivity
    from lpsched.result.simulation import Simulation
    from lpsched.result.status import Status
    from lpsched.result.study_report import StudyReport
    from lpsched.result.study_run import StudyRun
    from lpsched.result.study_summary import StudySummary
    from lpsched.risk.options import RiskOptions
    from lpsched.schedule.bag import MachineGroup, Run, Schedule
    from lpsched.schedule.clusters import ClustersSchedule, PlacedOnNodes
    from lpsched.schedule.day import DaySchedule, PlacedTask
    from lpsched.schedule.facility import CoreAllocation, GangAllocation
    from lpsched.schedule.tasks import TaskRow, expand
    from lpsched.simulation.clusters.options import ClusterOptions
    from lpsched.simulation.options import SimulationOptions
    from lpsched.studies.running import run_study

_PLACES: Final = {
    "ArrivingTasks": "instance.day",
    "Bag": "instance",
    "Certificate": "certificate.claim",
    "ClusterOptions": "simulation.clusters.options",
    "Clusters": "instance.clusters",
    "ClustersSchedule": "schedule.clusters",
    "ClustersValidation": "result.clusters_validation",
    "CoreAllocation": "schedule.facility",
    "Day": "instance.day",
    "DayFront": "result.day_front",
    "DaySchedule": "schedule.day",
    "DayValidation": "result.day_validation",
    "Facility": "instance.facility",
    "FacilityResult": "result",
    "FacilityValidation": "result",
    "FacilityWorth": "result",
    "Fault": "errors",
    "FeasibleRegion": "result.region",
    "FrontComparison": "result.front_comparison",
    "FrontResult": "result",
    "GangAllocation": "schedule.facility",
    "InfeasibleError": "errors",
    "InstanceError": "errors",
    "Interval": "instance.utility",
    "InvalidScheduleError": "errors",
    "LpschedError": "errors",
    "LpschedWarning": "errors",
    "MachineGroup": "schedule.bag",
    "MachineType": "instance",
    "MethodResult": "result",
    "MissingExtraError": "errors",
    "NotFoundError": "errors",
    "OneMore": "result",
    "OutputError": "errors",
    "PlacedOnNodes": "schedule.clusters",
    "PlacedTask": "schedule.day",
    "PriceCurve": "result",
    "Prices": "instance",
    "Regime": "relaxation",
    "Result": "result",
    "Risk": "result.risk",
    "RiskOptions": "risk.options",
    "Run": "schedule.bag",
    "Schedule": "schedule.bag",
    "Sensitivity": "result.sensitivity",
    "Simulation": "result.simulation",
    "SimulationOptions": "simulation.options",
    "Site": "instance",
    "SolverError": "errors",
    "Status": "result",
    "StudyReport": "result.study_report",
    "StudyRun": "result.study_run",
    "StudySummary": "result.study_summary",
    "Table": "instance",
    "TaskRow": "schedule.tasks",
    "TaskType": "instance",
    "UtilityFunction": "instance.utility",
    "Validation": "result",
    "WhatIf": "result",
    "Worth": "result",
    "allocate": "compare.facility_methods",
    "audit": "auditing",
    "bag_from_dict": "instance",
    "certify": "pipeline",
    "check_certificate": "certificate.claim:check",
    "check_proof": "certificate.boxes:check",
    "clusters_from_dict": "instance.cluster_door",
    "compare_day_fronts": "compare.day_fronts",
    "compare_fronts": "compare.fronts",
    "day_from_dict": "instance.day_door",
    "expand": "schedule.tasks",
    "export": "pipeline",
    "facility": "pipeline",
    "facility_from_dict": "instance.facility_door",
    "feasible_region": "pipeline.regions",
    "front": "pipeline",
    "price_curve": "pipeline",
    "read": "files.instances:read_instance",
    "read_allocation": "files.allocations",
    "read_certificate": "files.certificates",
    "read_clusters_schedule": "files.cluster_schedules",
    "read_day_schedule": "files.day_schedules",
    "read_proof": "files.proofs",
    "read_runs": "files.study_lines",
    "read_schedule": "files.schedules",
    "read_study": "files.studies",
    "risk_of": "pipeline.risks",
    "run_study": "studies.running",
    "sensitivity": "pipeline.sensitivities",
    "simulate": "compare.simulations",
    "solve": "pipeline",
    "solver_named": "pipeline",
    "study_report": "files.study_reports",
    "validate": "compare.schedules",
    "validate_clusters": "compare.clusters",
    "validate_day": "compare.days",
    "validate_facility": "compare.allocations",
    "what_if": "pipeline",
    "with_one_more": "pipeline.steps",
    "write": "files.instances:write_instance",
    "write_allocation": "files.allocations",
    "write_certificate": "files.certificates",
    "write_clusters_schedule": "files.cluster_schedules",
    "write_day_schedule": "files.day_schedules",
    "write_proof": "files.proofs",
    "write_schedule": "files.schedules",
}

_PARTS: Final = ("heuristics", "simulation")  # loaded on use as a whole: lpsched.heuristics.register

__all__ = [
    "ArrivingTasks",
    "Bag",
    "Certificate",
    "ClusterOptions",
    "Clusters",
    "ClustersSchedule",
    "ClustersValidation",
    "CoreAllocation",
    "Day",
    "DayFront",
    "DaySchedule",
    "DayValidation",
    "Facility",
    "FacilityResult",
    "FacilityValidation",
    "FacilityWorth",
    "Fault",
    "FeasibleRegion",
    "FrontComparison",
    "FrontResult",
    "GangAllocation",
    "InfeasibleError",
    "InstanceError",
    "Interval",
    "InvalidScheduleError",
    "LpschedError",
    "LpschedWarning",
    "MachineGroup",
    "MachineType",
    "MethodResult",
    "MissingExtraError",
    "NotFoundError",
    "OneMore",
    "OutputError",
    "PlacedOnNodes",
    "PlacedTask",
    "PriceCurve",
    "Prices",
    "Regime",
    "Result",
    "Risk",
    "RiskOptions",
    "Run",
    "Schedule",
    "Sensitivity",
    "Simulation",
    "SimulationOptions",
    "Site",
    "SolverError",
    "Status",
    "StudyReport",
    "StudyRun",
    "StudySummary",
    "Table",
    "TaskRow",
    "TaskType",
    "UtilityFunction",
    "Validation",
    "WhatIf",
    "Worth",
    "allocate",
    "audit",
    "bag_from_dict",
    "certify",
    "check_certificate",
    "check_proof",
    "clusters_from_dict",
    "compare_day_fronts",
    "compare_fronts",
    "day_from_dict",
    "expand",
    "export",
    "facility",
    "facility_from_dict",
    "feasible_region",
    "front",
    "price_curve",
    "read",
    "read_allocation",
    "read_certificate",
    "read_clusters_schedule",
    "read_day_schedule",
    "read_proof",
    "read_runs",
    "read_schedule",
    "read_study",
    "risk_of",
    "run_study",
    "sensitivity",
    "simulate",
    "solve",
    "solver_named",
    "study_report",
    "validate",
    "validate_clusters",
    "validate_day",
    "validate_facility",
    "what_if",
    "with_one_more",
    "write",
    "write_allocation",
    "write_certificate",
    "write_clusters_schedule",
    "write_day_schedule",
    "write_proof",
    "write_schedule",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Load a public name when it is first used."""
    if name in _PARTS:
        return importlib.import_module(f"lpsched.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module 'lpsched' has no attribute {name!r}")
    module, _, attribute = _PLACES[name].partition(":")
    value = getattr(importlib.import_module(f"lpsched.{module}"), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
