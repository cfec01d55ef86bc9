"""The parts of a bag as users write them, and what they must satisfy together. Units are in the names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from lpsched.errors import MOST_ISSUES, InputIssue, Place, nearest, quote
from lpsched.model.base import Part, Rule
from lpsched.model.fields import (
    MOST,
    Count,
    FrozenDict,
    Hours,
    Money,
    Name,
    OneOf,
    PositiveWatts,
    PStates,
    Ratio,
    Seconds,
    Several,
    Watts,
    WholeMoment,
    WithPStates,
    check_money,
    check_yes,
    describe,
    rejection,
)
from lpsched.model.problems import MOST_ADVISED, problems, repeats
from lpsched.model.series import CARBON, POWER_CAP, TARIFF, Series, Varying, check_zone
from lpsched.model.table import Table, labels_differ

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

Side = Annotated[Literal["facility", "it"], OneOf(("facility", "it"), "say on which side of the PUE the cap is")]
Tariff = Annotated[float | Series, Varying(TARIFF)]  # money per kWh at the meter
Carbon = Annotated[float | Series, Varying(CARBON)]  # grams of CO2 per kWh
PowerCap = Annotated[float | Series, Varying(POWER_CAP)]  # a number is in kW, a series in watts
TimeZone = Annotated[str, check_zone]


class MachineType(WithPStates, Part):
    """Identical machines: how many, and what they cost when idle, worn and replaced."""

    name: Name
    count: Count
    idle_watts: Watts = 0.0
    wear_per_busy_hour: Money = 0.0
    purchase_price: Money = 0.0
    mean_hours_to_failure: Hours | None = None
    p_states: PStates | None = None
    site: Name | None = None  # one of the sites of a bag that has several
    may_be_off: Annotated[bool, check_yes] = False  # when idle, over a horizon of hours
    switch_on_cost: Money = 0.0  # each time that it is switched on


class TaskType(Part):
    """Identical tasks: how many."""

    name: Name
    count: Count


class Prices(Part):
    """What a bag earns and what electricity costs. A missing price is unknown, not zero."""

    per_bag: Money | None = None
    per_task: Annotated[FrozenDict[str, Money], Several()] = Field(
        default=FrozenDict({}), description="a mapping from task types to money"
    )
    electricity_per_kwh: Money | None = None
    overhead_per_bag: Money = 0.0
    currency: Name = "USD"


class Site(Part):
    """The building: its power usage effectiveness, caps, service agreement, and what electricity is there over time."""

    pue: Ratio = 1.0
    average_power_cap_watts: PositiveWatts | None = None
    cap_measured_at: Side = "facility"
    deadline_seconds: Seconds | None = None
    tariff: Tariff | None = None
    carbon: Carbon | None = None
    power_cap: PowerCap | None = None
    demand_charge_per_kw: Money = 0.0  # of the slot with the highest average power
    time_zone: TimeZone | None = None  # of times without an offset
    start: WholeMoment | None = None  # of the horizon
    grid_fee_per_kwh: Money = 0.0  # grid fees and taxes at the meter, on top of the tariff


class _CostByTaskType:
    """Metadata of money for each task: one number, or one for each task type that has any."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return what Pydantic checks, and how it writes a mapping: as a plain one."""
        plain = core_schema.plain_serializer_function_ser_schema(
            lambda cost: dict(cost) if isinstance(cost, dict) else cost
        )
        return core_schema.no_info_plain_validator_function(self._valid, serialization=plain)

    def _valid(self, raw: object) -> float | FrozenDict[str, float]:
        if not isinstance(raw, Mapping):
            if isinstance(raw, int | float):
                return check_money(raw)
            raise rejection(describe(raw), "money: a number, or a mapping from task types to numbers", "correct it")
        found, wrong = {}, []
        for name, cost in raw.items():
            try:
                found[str(name)] = check_money(cost)
            except PydanticCustomError as error:
                why = error.context or {}
                wrong.append(((str(name),), why["got"], why["expected"], why["hint"]))
        if wrong:
            raise problems(wrong[:MOST_ISSUES])
        return FrozenDict(found)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema of both forms."""
        number = {"type": "number", "minimum": check_money.least, "maximum": check_money.most}
        return {"anyOf": [number, {"type": "object", "additionalProperties": number}]}


class NamedSite(Part):
    """One of several sites: what electricity is there, and what it costs to move tasks to it."""

    name: Name
    pue: Ratio = 1.0
    tariff: Tariff | None = None
    carbon: Carbon | None = None
    power_cap: PowerCap | None = None
    cap_measured_at: Side = "facility"
    demand_charge_per_kw: Money = 0.0
    time_zone: TimeZone | None = None
    moving_cost_per_task: Annotated[float | FrozenDict[str, float], _CostByTaskType()] = 0.0
    grid_fee_per_kwh: Money = 0.0

    def moving_cost(self, task_type: str) -> float:
        """Return the money for each task of a type that runs here."""
        cost = self.moving_cost_per_task
        return cost.get(task_type, 0.0) if isinstance(cost, dict) else cost


MachineTypes = tuple[MachineType, ...]
TaskTypes = tuple[TaskType, ...]
NamedSites = tuple[NamedSite, ...]
MOST_SITES: Final = 1_000
OF_SITES: Final = (  # keys of `site` that a bag with several sites has in these
    *("pue", "average_power_cap_watts", "cap_measured_at", "tariff", "carbon", "power_cap"),
    *("demand_charge_per_kw", "grid_fee_per_kwh", "time_zone"),
)
NO_PRICES: Final = Prices()
PLAIN_SITE: Final = Site()


# Rules: one small function each, named for what it holds.
def machine_types_differ(machine_types: MachineTypes) -> Iterator[InputIssue]:
    """Check the names of machine types and P-states."""
    return labels_differ(machine_types, "machine_types", "machine type")


def task_types_have_names_of_their_own(task_types: TaskTypes) -> Iterator[InputIssue]:
    """Check the names of task types."""
    return repeats([each.name for each in task_types], ("task_types",), ("name",))


def machines_can_be_counted(machine_types: MachineTypes) -> Iterator[InputIssue]:
    """Check that the number of machines is exact in a double."""
    return _countable("machine_types", "machines", sum(each.count for each in machine_types))


def tasks_can_be_counted(task_types: TaskTypes) -> Iterator[InputIssue]:
    """Check that the number of tasks is exact in a double."""
    return _countable("task_types", "tasks", sum(each.count for each in task_types))


def _countable(key: str, word: str, total: int) -> Iterator[InputIssue]:
    if total > MOST:
        yield InputIssue((key,), f"{total:,} {word} in total", "at most 10^15", "scale the instance down")


def depreciation_has_price_and_life(machine_types: MachineTypes) -> Iterator[InputIssue]:
    """Check that what is bought has a life."""
    for j, machine in enumerate(machine_types):
        if machine.purchase_price > 0 and machine.mean_hours_to_failure is None:
            found = f"a purchase price but no life of {quote(machine.name)}"
            do = "add mean_hours_to_failure, or drop purchase_price"
            yield InputIssue(("machine_types", j, "purchase_price"), found, "both", do)


def every_task_type_can_run(seconds: Table, task_types: TaskTypes) -> Iterator[InputIssue]:
    """Check that each row has a time."""
    absent = Counter(flat // seconds.columns for flat in seconds.absent())
    for i, task in enumerate(task_types):
        if absent[i] == seconds.columns:
            found = f"no machine type that can run task type {quote(task.name)} ({task.count} tasks)"
            yield InputIssue(("seconds", i), found, "at least one time", "give one a time, or drop the task type")


def times_and_powers_go_together(
    seconds: Table, watts: Table | None, machine_types: MachineTypes, task_types: TaskTypes
) -> Iterator[InputIssue]:
    """Check that the tables have the same cells."""
    lonely = set(seconds.absent()) ^ set(watts.absent()) if watts is not None else set()
    places = [(j, k) for j, machine in enumerate(machine_types) for k in range(machine.modes)]
    for flat in islice(sorted(lonely), MOST_ISSUES):
        i, column = divmod(flat, len(places))
        j, k = places[column]
        machine, task = machine_types[j], task_types[i]
        pair = f"{quote(task.name)} on {quote(machine.name)}"
        if machine.p_states is not None:
            pair += f" at {quote(machine.p_states[k])}"
        has, lacks, word = ("time", "power", "watts")
        if seconds[i, column] is None:
            has, lacks, word = ("power", "time", "seconds")
        path: Place = (word, i, j) if machine.p_states is None else (word, i, j, k)
        do = f"give it {word}, or remove its {has}"
        yield InputIssue(path, f"a {has} but no {lacks} for {pair}", "both or neither", do)


def covs_are_complete(
    seconds: Table, seconds_cov: Table | None, watts_cov: Table | None, task_types: TaskTypes
) -> Iterator[InputIssue]:
    """Check that whatever can run has its coefficients of variation; others may have some, which do not matter."""
    for key, table in (("seconds_cov", seconds_cov), ("watts_cov", watts_cov)):
        lacking = sorted(set(table.absent()) - set(seconds.absent())) if table is not None else []
        if lacking:
            i = lacking[0] // seconds.columns
            found = f"none for {quote(task_types[i].name)}, which can run there; {len(lacking):,} such in all"
            yield InputIssue((key, i), found, "one for each time", "0 means certain; or leave out the table")


def watts_that_scatter_are_there(watts: Table | None, watts_cov: Table | None) -> Iterator[InputIssue]:
    """Check that a spread of powers has powers."""
    if watts is None and watts_cov is not None:
        yield InputIssue(("watts_cov",), "a table, but no watts", "both or neither", "add watts, or leave it out")


def priced_tasks_exist(prices: Prices, task_types: TaskTypes) -> Iterator[InputIssue]:
    """Check that prices are of task types that there are."""
    names = [task.name for task in task_types]
    for number, unknown in enumerate(sorted(set(prices.per_task) - set(names))):
        advice = nearest(unknown, names) if number < MOST_ADVISED else ""
        path = ("prices", "per_task", unknown)
        yield InputIssue(path, "no task type of that name", "one of task_types", advice or "correct or remove it")


def switched_on_where_it_may_be_off(machine_types: MachineTypes) -> Iterator[InputIssue]:
    """Check that what costs money when it is switched on can be off."""
    for j, machine in enumerate(machine_types):
        if machine.switch_on_cost > 0 and not machine.may_be_off:
            found = f"{machine.switch_on_cost:g} for {quote(machine.name)}, which is always on"
            do = "add may_be_off: true, or drop switch_on_cost"
            yield InputIssue(("machine_types", j, "switch_on_cost"), found, "machines that may be off", do)


def sites_have_names_of_their_own(sites: NamedSites) -> Iterator[InputIssue]:
    """Check the names of sites."""
    return repeats([each.name for each in sites], ("sites",), ("name",))


def machine_types_are_at_sites(machine_types: MachineTypes, sites: NamedSites) -> Iterator[InputIssue]:
    """Check that each machine type is at a site, if there are several."""
    names = [each.name for each in sites]
    for j, machine in enumerate(machine_types):
        if machine.site is None and names:
            needed = f"one of {', '.join(map(quote, names[:MOST_ADVISED]))}"
            found = f"no site of {quote(machine.name)}"
            yield InputIssue(("machine_types", j, "site"), found, needed, "say where these machines are")
        elif machine.site is not None and machine.site not in names:
            needed, do = "a name of the list sites", nearest(machine.site, names) or "correct or remove it"
            yield InputIssue(("machine_types", j, "site"), f"no site {quote(machine.site)}", needed, do)


def moved_tasks_exist(sites: NamedSites, task_types: TaskTypes) -> Iterator[InputIssue]:
    """Check that moving costs are of task types that there are."""
    names = [task.name for task in task_types]
    for s, site in enumerate(sites):
        costs = site.moving_cost_per_task
        for number, unknown in enumerate(sorted(set(costs) - set(names)) if isinstance(costs, dict) else ()):
            advice = nearest(unknown, names) if number < MOST_ADVISED else ""
            path = ("sites", s, "moving_cost_per_task", unknown)
            yield InputIssue(path, "no task type of that name", "one of task_types", advice or "correct or remove it")


def one_site_or_several(site: Site, sites: NamedSites) -> Iterator[InputIssue]:
    """Check that what differs among sites is given for each of them."""
    for key in OF_SITES if sites else ():
        if getattr(site, key) != type(site).model_fields[key].default:
            found = f"a value for all of {len(sites)} sites" if len(sites) > 1 else "a value beside sites"
            do = "each site has its own power_cap" if key == "average_power_cap_watts" else "put it into the sites"
            yield InputIssue(("site", key), found, "none, since the bag has sites", do)


RULES: Final[tuple[Rule, ...]] = (
    machine_types_differ,
    task_types_have_names_of_their_own,
    machines_can_be_counted,
    tasks_can_be_counted,
    depreciation_has_price_and_life,
    every_task_type_can_run,
    times_and_powers_go_together,
    covs_are_complete,
    watts_that_scatter_are_there,
    priced_tasks_exist,
    switched_on_where_it_may_be_off,
    sites_have_names_of_their_own,
    machine_types_are_at_sites,
    moved_tasks_exist,
    one_site_or_several,
)
