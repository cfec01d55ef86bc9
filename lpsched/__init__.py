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
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lpsched.auditing import audit
    from lpsched.bag.certificate.claim import Certificate
    from lpsched.bag.certificate.claim import check as check_certificate
    from lpsched.bag.certificate.files import read_certificate, write_certificate
    from lpsched.bag.certify import certify, export
    from lpsched.bag.compare.fronts import compare_fronts
    from lpsched.bag.compare.result import FrontComparison, Validation
    from lpsched.bag.compare.schedules import validate
    from lpsched.bag.exact_front import feasible_region, front
    from lpsched.bag.files import read_schedule, write_schedule
    from lpsched.bag.front_result import FeasibleRegion, FrontResult
    from lpsched.bag.model import Bag, MachineType, Prices, Site, TaskType
    from lpsched.bag.pricing.one_more import with_one_more
    from lpsched.bag.pricing.price_curve import price_curve
    from lpsched.bag.pricing.result import PriceCurve, Sensitivity
    from lpsched.bag.pricing.sensitivity import sensitivity
    from lpsched.bag.pricing.what_if import what_if
    from lpsched.bag.pricing.what_if_result import WhatIf
    from lpsched.bag.pricing.worth import OneMore, Worth
    from lpsched.bag.reading import bag_from_dict
    from lpsched.bag.relaxation import Regime
    from lpsched.bag.result import Result
    from lpsched.bag.schedule import MachineGroup, Run, Schedule, TaskRow, expand
    from lpsched.bag.solve import solve
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
    from lpsched.facility.certificate.boxes import check as check_proof
    from lpsched.facility.certificate.files import read_proof, write_proof
    from lpsched.facility.compare import allocate, validate_facility
    from lpsched.facility.files import read_allocation, write_allocation
    from lpsched.facility.model import Facility
    from lpsched.facility.reading import facility_from_dict
    from lpsched.facility.result import FacilityResult, FacilityValidation, FacilityWorth, MethodResult
    from lpsched.facility.schedule import CoreAllocation, GangAllocation
    from lpsched.facility.solve import facility
    from lpsched.instances import read_instance as read
    from lpsched.instances import risk_of
    from lpsched.instances import write_instance as write
    from lpsched.lp.solvers import solver_named
    from lpsched.model.provenance import Status
    from lpsched.model.risk import Risk, RiskOptions
    from lpsched.model.table import Table
    from lpsched.online.cluster_reading import clusters_from_dict
    from lpsched.online.clusters import Clusters
    from lpsched.online.compare.clusters import validate_clusters
    from lpsched.online.compare.day_fronts import compare_day_fronts
    from lpsched.online.compare.days import validate_day
    from lpsched.online.compare.simulations import simulate
    from lpsched.online.day import ArrivingTasks, Day
    from lpsched.online.day_reading import day_from_dict
    from lpsched.online.nodes.options import ClusterOptions
    from lpsched.online.result.clusters_validation import ClustersValidation
    from lpsched.online.result.day_validation import DayValidation
    from lpsched.online.result.fronts import DayFront
    from lpsched.online.result.simulation import Simulation
    from lpsched.online.schedule import ClustersSchedule, DaySchedule, PlacedOnNodes, PlacedTask
    from lpsched.online.schedule_files import (
        read_clusters_schedule,
        read_day_schedule,
        write_clusters_schedule,
        write_day_schedule,
    )
    from lpsched.online.simulate.options import SimulationOptions
    from lpsched.online.utility import Interval, UtilityFunction
    from lpsched.studies.lines import StudyRun, StudySummary, read_runs
    from lpsched.studies.report import StudyReport, study_report
    from lpsched.studies.running import run_study
    from lpsched.studies.study import read_study

_PLACES: Final = {
    "ArrivingTasks": "online.day",
    "Bag": "bag.model",
    "Certificate": "bag.certificate.claim",
    "ClusterOptions": "online.nodes.options",
    "Clusters": "online.clusters",
    "ClustersSchedule": "online.schedule",
    "ClustersValidation": "online.result.clusters_validation",
    "CoreAllocation": "facility.schedule",
    "Day": "online.day",
    "DayFront": "online.result.fronts",
    "DaySchedule": "online.schedule",
    "DayValidation": "online.result.day_validation",
    "Facility": "facility.model",
    "FacilityResult": "facility.result",
    "FacilityValidation": "facility.result",
    "FacilityWorth": "facility.result",
    "Fault": "errors",
    "FeasibleRegion": "bag.front_result",
    "FrontComparison": "bag.compare.result",
    "FrontResult": "bag.front_result",
    "GangAllocation": "facility.schedule",
    "InfeasibleError": "errors",
    "InstanceError": "errors",
    "Interval": "online.utility",
    "InvalidScheduleError": "errors",
    "LpschedError": "errors",
    "LpschedWarning": "errors",
    "MachineGroup": "bag.schedule",
    "MachineType": "bag.model",
    "MethodResult": "facility.result",
    "MissingExtraError": "errors",
    "NotFoundError": "errors",
    "OneMore": "bag.pricing.worth",
    "OutputError": "errors",
    "PlacedOnNodes": "online.schedule",
    "PlacedTask": "online.schedule",
    "PriceCurve": "bag.pricing.result",
    "Prices": "bag.model",
    "Regime": "bag.relaxation",
    "Result": "bag.result",
    "Risk": "model.risk",
    "RiskOptions": "model.risk",
    "Run": "bag.schedule",
    "Schedule": "bag.schedule",
    "Sensitivity": "bag.pricing.result",
    "Simulation": "online.result.simulation",
    "SimulationOptions": "online.simulate.options",
    "Site": "bag.model",
    "SolverError": "errors",
    "Status": "model.provenance",
    "StudyReport": "studies.report",
    "StudyRun": "studies.lines",
    "StudySummary": "studies.lines",
    "Table": "model.table",
    "TaskRow": "bag.schedule",
    "TaskType": "bag.model",
    "UtilityFunction": "online.utility",
    "Validation": "bag.compare.result",
    "WhatIf": "bag.pricing.what_if_result",
    "Worth": "bag.pricing.worth",
    "allocate": "facility.compare",
    "audit": "auditing",
    "bag_from_dict": "bag.reading",
    "certify": "bag.certify",
    "check_certificate": "bag.certificate.claim:check",
    "check_proof": "facility.certificate.boxes:check",
    "clusters_from_dict": "online.cluster_reading",
    "compare_day_fronts": "online.compare.day_fronts",
    "compare_fronts": "bag.compare.fronts",
    "day_from_dict": "online.day_reading",
    "expand": "bag.schedule",
    "export": "bag.certify",
    "facility": "facility.solve",
    "facility_from_dict": "facility.reading",
    "feasible_region": "bag.exact_front",
    "front": "bag.exact_front",
    "price_curve": "bag.pricing.price_curve",
    "read": "instances:read_instance",
    "read_allocation": "facility.files",
    "read_certificate": "bag.certificate.files",
    "read_clusters_schedule": "online.schedule_files",
    "read_day_schedule": "online.schedule_files",
    "read_proof": "facility.certificate.files",
    "read_runs": "studies.lines",
    "read_schedule": "bag.files",
    "read_study": "studies.study",
    "risk_of": "instances",
    "run_study": "studies.running",
    "sensitivity": "bag.pricing.sensitivity",
    "simulate": "online.compare.simulations",
    "solve": "bag.solve",
    "solver_named": "lp.solvers",
    "study_report": "studies.report",
    "validate": "bag.compare.schedules",
    "validate_clusters": "online.compare.clusters",
    "validate_day": "online.compare.days",
    "validate_facility": "facility.compare",
    "what_if": "bag.pricing.what_if",
    "with_one_more": "bag.pricing.one_more",
    "write": "instances:write_instance",
    "write_allocation": "facility.files",
    "write_certificate": "bag.certificate.files",
    "write_clusters_schedule": "online.schedule_files",
    "write_day_schedule": "online.schedule_files",
    "write_proof": "facility.certificate.files",
    "write_schedule": "bag.files",
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


class _Package(ModuleType):
    """lpsched itself: loading the package `lpsched.facility` does not hide the function of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute, unless it is a module with the name of a public function."""
        if name not in _PLACES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
