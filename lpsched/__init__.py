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
    from lpsched.bag.model import Bag, bag_from_dict
    from lpsched.bag.parts import MachineType, Prices, Site, TaskType
    from lpsched.bag.pricing.one_more import what_if, with_one_more
    from lpsched.bag.pricing.price_curve import price_curve
    from lpsched.bag.pricing.result import PriceCurve, Sensitivity, WhatIf
    from lpsched.bag.pricing.sensitivity import sensitivity
    from lpsched.bag.relaxation import Regime
    from lpsched.bag.result import FeasibleRegion, FrontResult, OneMore, Result, Worth
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
    from lpsched.facility.model import Facility, facility_from_dict
    from lpsched.facility.parts import CoreAllocation, GangAllocation
    from lpsched.facility.result import FacilityResult, FacilityValidation, FacilityWorth, MethodResult
    from lpsched.facility.solve import facility
    from lpsched.instances import read_instance as read
    from lpsched.instances import risk_of
    from lpsched.instances import write_instance as write
    from lpsched.lp.solvers import solver_named
    from lpsched.model.provenance import Status
    from lpsched.model.risk import Risk, RiskOptions
    from lpsched.model.table import Table
    from lpsched.online.clusters import Clusters, clusters_from_dict
    from lpsched.online.compare.day_fronts import compare_day_fronts
    from lpsched.online.compare.schedules import validate_clusters, validate_day
    from lpsched.online.compare.simulations import simulate
    from lpsched.online.day import ArrivingTasks, Day, day_from_dict
    from lpsched.online.result.fronts import DayFront
    from lpsched.online.result.simulation import Simulation
    from lpsched.online.result.validation import ClustersValidation, DayValidation
    from lpsched.online.schedule import ClustersSchedule, DaySchedule, PlacedOnNodes, PlacedTask
    from lpsched.online.schedule_files import (
        read_clusters_schedule,
        read_day_schedule,
        write_clusters_schedule,
        write_day_schedule,
    )
    from lpsched.online.simulate.options import ClusterOptions, SimulationOptions
    from lpsched.online.utility import Interval, UtilityFunction
    from lpsched.studies.lines import StudyRun, StudySummary, read_runs
    from lpsched.studies.report import StudyReport, study_report
    from lpsched.studies.running import run_study
    from lpsched.studies.study import read_study

_NAMES: Final = {  # of each module; where a public name differs from its own: public=own
    "auditing": "audit",
    "bag.certificate.claim": "Certificate check_certificate=check",
    "bag.certificate.files": "read_certificate write_certificate",
    "bag.certify": "certify export",
    "bag.compare.fronts": "compare_fronts",
    "bag.compare.result": "FrontComparison Validation",
    "bag.compare.schedules": "validate",
    "bag.exact_front": "feasible_region front",
    "bag.files": "read_schedule write_schedule",
    "bag.model": "Bag bag_from_dict",
    "bag.parts": "MachineType Prices Site TaskType",
    "bag.pricing.one_more": "what_if with_one_more",
    "bag.pricing.price_curve": "price_curve",
    "bag.pricing.result": "PriceCurve Sensitivity WhatIf",
    "bag.pricing.sensitivity": "sensitivity",
    "bag.relaxation": "Regime",
    "bag.result": "FeasibleRegion FrontResult OneMore Result Worth",
    "bag.schedule": "MachineGroup Run Schedule TaskRow expand",
    "bag.solve": "solve",
    "errors": "Fault InfeasibleError InstanceError InvalidScheduleError LpschedError LpschedWarning "
    "MissingExtraError NotFoundError OutputError SolverError",
    "facility.certificate.boxes": "check_proof=check",
    "facility.certificate.files": "read_proof write_proof",
    "facility.compare": "allocate validate_facility",
    "facility.files": "read_allocation write_allocation",
    "facility.model": "Facility facility_from_dict",
    "facility.parts": "CoreAllocation GangAllocation",
    "facility.result": "FacilityResult FacilityValidation FacilityWorth MethodResult",
    "facility.solve": "facility",
    "instances": "read=read_instance risk_of write=write_instance",
    "lp.solvers": "solver_named",
    "model.provenance": "Status",
    "model.risk": "Risk RiskOptions",
    "model.table": "Table",
    "online.clusters": "Clusters clusters_from_dict",
    "online.compare.day_fronts": "compare_day_fronts",
    "online.compare.schedules": "validate_clusters validate_day",
    "online.compare.simulations": "simulate",
    "online.day": "ArrivingTasks Day day_from_dict",
    "online.result.validation": "ClustersValidation DayValidation",
    "online.result.fronts": "DayFront",
    "online.result.simulation": "Simulation",
    "online.schedule": "ClustersSchedule DaySchedule PlacedOnNodes PlacedTask",
    "online.schedule_files": "read_clusters_schedule read_day_schedule write_clusters_schedule write_day_schedule",
    "online.simulate.options": "ClusterOptions SimulationOptions",
    "online.utility": "Interval UtilityFunction",
    "studies.lines": "StudyRun StudySummary read_runs",
    "studies.report": "StudyReport study_report",
    "studies.running": "run_study",
    "studies.study": "read_study",
}
_PLACES: Final = {
    name.partition("=")[0]: (module, name.rpartition("=")[2])
    for module, names in _NAMES.items()
    for name in names.split()
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
    module, attribute = _PLACES[name]
    value = getattr(importlib.import_module(f"lpsched.{module}"), attribute)
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
