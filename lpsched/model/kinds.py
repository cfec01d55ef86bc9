"""Kinds of files, and what can be done with each: the only place that distinguishes them.

A file's `format` (`lpsched-bag/1`) and an instance's class (`Bag`) both lead to a `Kind`. It names functions by their
places and loads them on use, so that work on one slice loads no other. A new kind of file is an entry in `KINDS`.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Kind:
    """What can be done with one kind of file; of all functions the places, empty where there is none."""

    name: str  # as in `lpsched-NAME/1`; the model is called so, too
    phrase: str  # what it is called in a sentence
    command: str  # the command it is made for
    model: str  # the class of what is read, which has the format and the JSON Schema
    write: str = ""  # from an instance and a path to files
    show: str = ""  # from an instance to JSON and tables
    size: str = ""  # how large it is: a text with attributes of the instance in braces; see `size_of`
    validate: str = ""  # holds schedules against the bound
    validation_tables: str = ""  # and the tables of that
    front: str = ""  # holds fronts against the proved one
    simulate: str = ""  # runs policies
    certify: str = ""  # proves a bound
    verify: str = ""  # checks one file that was made for the instance
    schedule: str = ""  # the class of a schedule or allocation
    examine: str = ""  # its verifier
    risk: str = ""  # what becomes of it if times and powers scatter
    read_schedule: str = ""  # from an instance and a path to a schedule of single tasks

    def load(self, what: str) -> Any:  # noqa: ANN401 - whatever is there
        """Return what one of the places names."""
        return pkgutil.resolve_name(f"lpsched.{getattr(self, what)}")


_ON_MACHINES: Final = (
    "{tasks:,} tasks on {machines:,} machines ({task_types:,} task types, {machine_types:,} machine types)"
)
_ALL: Final = (
    Kind(
        name="bag",
        phrase="a bag",
        command="lpsched solve",
        model="bag.model:Bag",
        write="bag.files:write_bag",
        show="report.answers:bag_shown",
        size=_ON_MACHINES,
        validate="bag.compare.schedules:validate",
        validation_tables="report.answers:validation_tables",
        front="bag.compare.fronts:compare_fronts",
        certify="bag.certify:certify",
        verify="auditing:verdict_of_bag",
        schedule="bag.schedule:Schedule",
        examine="bag.verify:examine",
        risk="bag.risk:bag_risk",
    ),
    Kind(
        name="facility",
        phrase="a facility",
        command="lpsched facility",
        model="facility.model:Facility",
        write="facility.files:write_facility",
        show="report.facility:facility_shown",
        size="{nodes:,} nodes with {cores:,} cores, {crac_units:,} CRAC units "
        "({task_types:,} task types, {node_types:,} node types)",
        validate="facility.compare:validate_facility",
        validation_tables="report.facility:methods_tables",
        verify="auditing:verdict_of_facility",
        examine="facility.verify:examine",
    ),
    Kind(
        name="day",
        phrase="a day",
        command="lpsched simulate",
        model="online.day:Day",
        write="online.files:write_day",
        show="report.files:day_shown",
        size=_ON_MACHINES,
        validate="online.compare.schedules:validate_day",
        validation_tables="report.online_answers:day_validation_tables",
        front="online.compare.day_fronts:compare_day_fronts",
        simulate="online.compare.simulations:simulate",
        certify="online.bound.solve:certify",
        verify="auditing:verdict_of_arrivals",
        schedule="online.schedule:DaySchedule",
        examine="online.verify.day:examine",
        risk="online.risk:day_risk",
        read_schedule="online.files:read_day_schedule",
    ),
    Kind(
        name="clusters",
        phrase="clusters",
        command="lpsched simulate",
        model="online.clusters:Clusters",
        write="online.files:write_clusters",
        show="report.files:clusters_shown",
        size="{tasks:,} tasks on {room} ({task_types:,} task types, {clusters:,} clusters)",
        validate="online.compare.schedules:validate_clusters",
        validation_tables="report.online_answers:clusters_validation_tables",
        simulate="online.compare.simulations:simulate",
        certify="online.bound.solve:certify",
        verify="auditing:verdict_of_arrivals",
        schedule="online.schedule:ClustersSchedule",
        examine="online.verify.clusters:examine",
        read_schedule="online.files:read_clusters_schedule",
    ),
    Kind(name="study", phrase="a study", command="lpsched study run", model="studies.study:Study"),
    Kind(
        name="bench",
        phrase="a bench",
        command="lpsched measure",
        model="measure.bench:Bench",
        show="report.facility:bench_shown",
    ),
    Kind(
        name="measurements",
        phrase="measurements",
        command="lpsched import measurements",
        model="measure.measurements:Measurements",
        write="measure.files:write_measurements",
        show="report.measured_tables:measurements_shown",
        size="{seconds:,} applications on {machine_type} ({measured:,} settings measured, {failed:,} failed)",
    ),
)
KINDS: Final = {kind.name: kind for kind in _ALL}
HINTS: Final = {f"lpsched-{kind.name}": f"use '{kind.command}' for {kind.phrase}" for kind in _ALL}
INSTANCES: Final = ("bag", "facility", "day", "clusters")  # what has schedules or allocations


def kinds_with(what: str) -> tuple[str, ...]:
    """Return the names of the kinds with which this can be done.

    >>> kinds_with("simulate")
    ('day', 'clusters')
    """
    return tuple(kind.name for kind in _ALL if getattr(kind, what))


def name_of(format: str) -> str:  # noqa: A002 - what the key is called
    """Return what a format is the format of.

    >>> name_of("lpsched-bag/1")
    'bag'
    """
    return format.partition("/")[0].removeprefix("lpsched-")


def format_of(content: object) -> str | None:
    """Return the format that the content of a file names, if it names one."""
    found = content.get("format") if isinstance(content, Mapping) else None
    return found if isinstance(found, str) else None


def kind_of(instance: object) -> Kind:
    """Return the kind of an instance, a bench or measurements, by the name of its class or of one that it extends."""
    names = (each.__name__.lower() for each in type(instance).__mro__)
    return next((KINDS[name] for name in names if name in KINDS), KINDS["bag"])


def size_of(instance: object) -> str:
    """Return how large an instance is; a list or mapping counts by its length."""
    kind = kind_of(instance)
    values = {name: getattr(instance, name) for _, name, _, _ in Formatter().parse(kind.size) if name}
    sizes = {name: len(value) if isinstance(value, Mapping | tuple) else value for name, value in values.items()}
    return re.sub(r"\b1 ([A-Za-z ]*?)s\b", r"1 \1", kind.size.format_map(sizes))  # 1 machine
