"""lpsched: proved bounds, verified schedules and prices for heterogeneous computing systems.

>>> import lpsched
>>> bag = lpsched.Bag.model_validate({
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
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lpsched.auditing import audit as verify
    from lpsched.bag.certificate.claim import Certificate
    from lpsched.bag.certify import export
    from lpsched.bag.exact_front import front
    from lpsched.bag.model import Bag
    from lpsched.bag.parts import MachineType, Prices, Site, TaskType
    from lpsched.bag.pricing.price_curve import price_curve
    from lpsched.bag.pricing.result import PriceCurve, WhatIf
    from lpsched.bag.pricing.sensitivity import sensitivity
    from lpsched.bag.pricing.what_if import what_if
    from lpsched.bag.result import FrontResult, Result
    from lpsched.bag.schedule import MachineGroup, Run, Schedule, TaskRow
    from lpsched.bag.solve import solve
    from lpsched.errors import (
        InfeasibleError,
        InputIssue,
        InstanceError,
        InvalidScheduleError,
        LpschedError,
        LpschedWarning,
        MissingExtraError,
        NotFoundError,
        OutputError,
        SolverError,
    )
    from lpsched.facility.model import Facility
    from lpsched.facility.parts import CoreAllocation, GangAllocation
    from lpsched.facility.result import FacilityResult
    from lpsched.facility.solve import facility
    from lpsched.instances import certify, compare_fronts, read, risk_of, validate, write
    from lpsched.lp.solvers import solver_named
    from lpsched.model.risk import RiskOptions
    from lpsched.model.table import Table
    from lpsched.online.clusters import Clusters
    from lpsched.online.compare.simulations import simulate
    from lpsched.online.compare.what_if import what_if_clusters
    from lpsched.online.day import ArrivingTasks, Day
    from lpsched.online.result.simulation import Simulation
    from lpsched.online.schedule import ClustersSchedule, DaySchedule, PlacedOnNodes, PlacedTask
    from lpsched.online.simulate.options import ClusterOptions, SimulationOptions
    from lpsched.online.utility import UtilityFunction
    from lpsched.studies.report import study_report
    from lpsched.studies.running import run_study

_NAMES: Final = {  # of each module; where a public name differs from its own: public=own
    "auditing": "verify=audit",
    "bag.certificate.claim": "Certificate",
    "bag.certify": "export",
    "bag.exact_front": "front",
    "bag.model": "Bag",
    "bag.parts": "MachineType Prices Site TaskType",
    "bag.pricing.what_if": "what_if",
    "bag.pricing.price_curve": "price_curve",
    "bag.pricing.result": "PriceCurve WhatIf",
    "bag.pricing.sensitivity": "sensitivity",
    "bag.result": "FrontResult Result",
    "bag.schedule": "MachineGroup Run Schedule TaskRow",
    "bag.solve": "solve",
    "errors": "InfeasibleError InputIssue InstanceError InvalidScheduleError LpschedError LpschedWarning "
    "MissingExtraError NotFoundError OutputError SolverError",
    "facility.model": "Facility",
    "facility.parts": "CoreAllocation GangAllocation",
    "facility.result": "FacilityResult",
    "facility.solve": "facility",
    "instances": "certify compare_fronts read risk_of validate write",
    "lp.solvers": "solver_named",
    "model.risk": "RiskOptions",
    "model.table": "Table",
    "online.clusters": "Clusters",
    "online.compare.simulations": "simulate",
    "online.compare.what_if": "what_if_clusters",
    "online.day": "ArrivingTasks Day",
    "online.result.simulation": "Simulation",
    "online.schedule": "ClustersSchedule DaySchedule PlacedOnNodes PlacedTask",
    "online.simulate.options": "ClusterOptions SimulationOptions",
    "online.utility": "UtilityFunction",
    "studies.report": "study_report",
    "studies.running": "run_study",
}
_DEPRECATED: Final = {  # names that were public, by module; they load with a warning
    "auditing": "audit",
    "bag.certificate.claim": "check_certificate=check",
    "bag.files": "read_certificate read_schedule write_certificate write_schedule",
    "bag.compare.result": "FrontComparison Validation",
    "bag.exact_front": "feasible_region",
    "bag.model": "bag_from_dict",
    "bag.pricing.one_more": "with_one_more",
    "bag.pricing.result": "Sensitivity",
    "bag.relaxation": "Regime",
    "bag.result": "FeasibleRegion OneMore Worth=MarginalValues",
    "bag.schedule": "expand",
    "errors": "Fault=InputIssue",
    "facility.certificate.boxes": "check_proof=check",
    "facility.files": "read_allocation read_proof write_allocation write_proof",
    "facility.compare": "allocate validate_facility",
    "facility.model": "facility_from_dict",
    "facility.result": "FacilityValidation FacilityWorth=FacilityMarginalValues MethodResult",
    "model.provenance": "Status",
    "model.risk": "Risk",
    "online.clusters": "clusters_from_dict",
    "online.compare.day_fronts": "compare_day_fronts",
    "online.compare.schedules": "validate_clusters validate_day",
    "online.day": "day_from_dict",
    "online.result.comparisons": "ClustersValidation DayFront DayValidation",
    "online.files": "read_clusters_schedule read_day_schedule write_clusters_schedule write_day_schedule",
    "online.utility": "Interval",
    "studies.study": "StudyRun StudySummary read_runs read_study",
    "studies.report": "StudyReport",
}
_INSTEAD: Final = (
    {  # public names that do the work of deprecated ones
        "Fault": "InputIssue",
        "allocate": "facility(..., scheduler='ga')",
        "audit": "verify",
        "bag_from_dict": "Bag.model_validate",
        "clusters_from_dict": "Clusters.model_validate",
        "day_from_dict": "Day.model_validate",
        "facility_from_dict": "Facility.model_validate",
        "compare_day_fronts": "compare_fronts",
        "with_one_more": "solve(..., marginals='top')",
    }
    | {f"validate_{kind}": "validate" for kind in ("clusters", "day", "facility")}
    | {
        f"{verb}_{kind}": verb
        for verb in ("read", "write")
        for kind in ("allocation", "certificate", "clusters_schedule", "day_schedule", "proof", "schedule", "study")
    }
)


def _places(names: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return module and own name of each public name."""
    return {
        name.partition("=")[0]: (module, name.rpartition("=")[2])
        for module, all_ in names.items()
        for name in all_.split()
    }


_PLACES: Final = _places(_NAMES)
_OLD_PLACES: Final = _places(_DEPRECATED)
_PARTS: Final = ("heuristics", "horizon", "simulation")  # loaded on use as a whole: lpsched.heuristics.register

__all__ = [
    "ArrivingTasks",
    "Bag",
    "Certificate",
    "ClusterOptions",
    "Clusters",
    "ClustersSchedule",
    "CoreAllocation",
    "Day",
    "DaySchedule",
    "Facility",
    "FacilityResult",
    "FrontResult",
    "GangAllocation",
    "InfeasibleError",
    "InputIssue",
    "InstanceError",
    "InvalidScheduleError",
    "LpschedError",
    "LpschedWarning",
    "MachineGroup",
    "MachineType",
    "MissingExtraError",
    "NotFoundError",
    "OutputError",
    "PlacedOnNodes",
    "PlacedTask",
    "PriceCurve",
    "Prices",
    "Result",
    "RiskOptions",
    "Run",
    "Schedule",
    "Simulation",
    "SimulationOptions",
    "Site",
    "SolverError",
    "Table",
    "TaskRow",
    "TaskType",
    "UtilityFunction",
    "WhatIf",
    "certify",
    "compare_fronts",
    "export",
    "facility",
    "front",
    "price_curve",
    "read",
    "risk_of",
    "run_study",
    "sensitivity",
    "simulate",
    "solve",
    "solver_named",
    "study_report",
    "validate",
    "verify",
    "what_if",
    "what_if_clusters",
    "write",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Load a public name when it is first used."""
    if name in _PARTS:
        return importlib.import_module(f"lpsched.{name}")
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("lpsched")
    if name in _OLD_PLACES:
        module, attribute = _OLD_PLACES[name]
        moved = f"'from lpsched.{module} import {attribute}'"
        instead = f"lpsched.{_INSTEAD[name]}" if name in _INSTEAD else moved
        warnings.warn(f"lpsched.{name} is deprecated; use {instead}", DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module(f"lpsched.{module}"), attribute)
    if name not in _PLACES:
        raise AttributeError(f"module 'lpsched' has no attribute {name!r}")
    module, attribute = _PLACES[name]
    value = getattr(importlib.import_module(f"lpsched.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(["__doc__", "__version__", *_PARTS, *__all__])


class _Package(ModuleType):
    """lpsched itself: loading the package `lpsched.facility` does not hide the function of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute, unless it is a module with the name of a public function."""
        if name not in _PLACES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
