"""Methods for days and clusters: the policies of `lpsched simulate`, one run of one policy each.

`value` is the utility, `bound` what no schedule can pass, if `bound: true` asks for it.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from lpsched.compare.cluster_stage import usual_options
from lpsched.compare.simulations import simulate
from lpsched.errors import InstanceError, NotFoundError
from lpsched.instance.clusters import Clusters
from lpsched.instance.fields import refusal
from lpsched.result.status import relative_gap
from lpsched.simulation.clusters.options import PER_TASK, ClusterOptions
from lpsched.simulation.clusters.registry import cluster_policy
from lpsched.simulation.options import SimulationOptions
from lpsched.simulation.registry import policy
from lpsched.studies.method import Answer, Method, Order, plain, yes_or_no

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.instance.day import Day
    from lpsched.studies.method import Check

POLICY_KINDS: Final = ("day", "clusters")
KEPT: Final = (
    "utility",
    "share_of_naive",
    "share_of_bound",
    "energy_joules",
    "completed",
    "dropped",
    "waiting",
    "events",
    "utilisation",
    "mean_bounded_slowdown",
    "cost",
    "cost_per_task",
    "wait_seconds",
    "by_priority",
    "busy",
)


def policy_method(name: str, kind: str) -> Method:
    """Return the method that runs a policy on days or on clusters.

    Raises
    ------
    InstanceError
        If there is no such policy.
    """
    takes: dict[str, Check] = {"bound": yes_or_no}
    if kind == "day":
        policy(name)
        takes |= {each.name: _checked(SimulationOptions, each.name) for each in fields(SimulationOptions)}
    else:
        cluster_policy(name)
        takes |= {each.name: _checked(ClusterOptions, each.name) for each in fields(ClusterOptions)}
    return Method(name, kind, _run(name), takes, seeded=True, limited=True)


def _checked(class_: type[SimulationOptions | ClusterOptions], name: str) -> Check:
    """Return the check of one option: that a run with nothing else can have it."""

    def check(value: object) -> object:
        if class_ is ClusterOptions and name == "every_seconds" and value == 0:
            return value
        given: dict[str, Any] = {name: value} | ({"energy_filter": PER_TASK} if name == "leniency" else {})
        try:
            class_(**given)
        except InstanceError as error:
            fault = error.faults[0]
            raise refusal(fault.found, fault.needed, fault.do) from None
        return value

    return check


def _run(name: str) -> Callable[[Day | Clusters, Order], Answer]:
    def run(instance: Day | Clusters, order: Order) -> Answer:
        given = dict(order.parameters)
        bound = bool(given.pop("bound", False))
        found = simulate(
            instance,
            [name],
            options=_options(instance, given),
            bound=bound,
            seed=order.seed,
            time_limit=order.seconds,
        )
        entry = found.policies[0]
        if entry.reasons:
            raise NotFoundError(entry.reasons[0][1])
        told, took = entry.to_dict(), entry.mean("seconds")
        proved = None if found.bound is None else found.bound.mean
        value = told["utility"]
        outcome: dict[str, Any] = {
            "value": value,
            "bound": proved,
            "gap": None if proved is None else relative_gap(value, proved),
            "naive_bound": None if found.naive_bound is None else found.naive_bound.mean,
        } | {key: plain(told[key]) for key in KEPT if key in told}
        seconds = {} if took is None else {"method": took.mean}
        return Answer(outcome, found.provenance.solver, seconds)

    return run


def _options(instance: Day | Clusters, given: dict[str, Any]) -> SimulationOptions | ClusterOptions:
    """Return how to run: as it is usual for such an instance, but for what is given."""
    if isinstance(instance, Clusters):
        if given.get("every_seconds") == 0:  # as on the command line: at every arrival and end
            given = given | {"every_seconds": None}
        return replace(usual_options(instance), **given)
    if "every_arrivals" in given:
        given = {"every_seconds": None} | given
    return SimulationOptions(**given)
