"""Operations: what each request of the API computes. They run in worker processes.

An answer is the JSON object that the command of the same name prints with `--json`, made by the same functions of the
library. Work in progress ends with the token: at its time limit with the best answer so far.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import InputIssue, InstanceError
from lpsched.model.provenance import version_of_lpsched
from lpsched.model.table import Table
from lpsched.serve import requests
from lpsched.serve.requests import Given, Options
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken

JSON: Final = "application/json"
HTML: Final = "text/html; charset=utf-8"
KILOGRAMS: Final = 1000.0  # of a tonne
CUT: Final = b'"status": "limit"'  # in an answer, or in a part of it, that the clock decided


def solve(given: Given, cancel: CancelToken) -> dict[str, Any]:
    """Find a verified schedule of a bag of tasks and a proved bound; with a horizon, a plan over time."""
    return _solved(given, cancel).to_dict()  # type: ignore[no-any-return]


def _solved(given: Given, cancel: CancelToken) -> Any:  # noqa: ANN401 - a result or a plan
    from lpsched.bag.solve import solve as solve_bag

    asked: requests.SolveOptions = given.options
    if _is_plan(asked):
        return _planned(given, cancel)
    for name in ("start", "carbon_price", "switch_off"):
        if getattr(asked, name) is not None:
            raise _rejected(name, "the option without a horizon", "both", "add 'horizon', or leave it out")
    return solve_bag(
        given.instance,
        objective=asked.objective,
        effort=asked.effort,
        gap=asked.gap,
        seed=asked.seed,
        marginals=asked.marginals,
        cancel=cancel,
        **asked.terms(),
    )


def _is_plan(asked: requests.SolveOptions) -> bool:
    return asked.horizon is not None or asked.objective in {"cost", "carbon"}


def _planned(given: Given, cancel: CancelToken) -> Any:  # noqa: ANN401 - a result of a horizon
    from lpsched.bag.horizon.solve import plan

    asked: requests.SolveOptions = given.options
    if asked.objective in {"makespan", "energy"}:
        hint = "use 'deadline' in place of 'horizon'"
        raise _rejected("objective", asked.objective, "cost, carbon or profit with a horizon", hint)
    for name in ("price", "profit_ratio", "power_cap"):
        if getattr(asked, name) is not None:
            hint = "see site.power_cap and prices.per_task of the document"
            raise _rejected(name, "the option with a horizon", "other terms", hint)
    return plan(
        given.instance,
        objective=asked.objective or "cost",
        horizon=asked.horizon if asked.horizon is not None else asked.deadline,
        start=asked.start,
        carbon_price=(asked.carbon_price or 0.0) / KILOGRAMS,
        switch_off=asked.switch_off,
        effort="fast" if asked.effort == "balanced" else asked.effort,
        gap=asked.gap,
        marginals=asked.marginals,
        seed=asked.seed,
        cancel=cancel,
    )


def _rejected(option: str, got: str, expected: str, hint: str) -> InstanceError:
    return InstanceError("", (InputIssue((option,), got, expected, hint),))


def schedule(given: Given, cancel: CancelToken) -> dict[str, Any]:
    """Find what `solve` finds, and answer with the file of the schedule or plan, as 'solve -o' writes it."""
    result = _solved(given, cancel)
    if _is_plan(given.options):
        from lpsched.bag.horizon.files import HorizonPlan, plan_as_dict

        made = HorizonPlan(result.plan, result.horizon_seconds, result.start)
        return plan_as_dict(made, result.bag, version_of_lpsched())
    from lpsched.bag.files import schedule_as_dict

    return schedule_as_dict(result.schedule, given.instance, version_of_lpsched())


def front(given: Given, cancel: CancelToken) -> dict[str, Any]:
    """Find the exact energy/makespan front of a bag, with a verified schedule near each vertex."""
    from lpsched.bag.exact_front import front as exact_front

    asked = dict(given.options)
    return exact_front(given.instance, **asked, cancel=cancel).to_dict()


def price(given: Given, cancel: CancelToken) -> dict[str, Any]:  # noqa: ARG001 - the curve is not cut
    """Find the most profit of a bag at every price, and the break-even price."""
    from lpsched.bag.pricing.price_curve import price_curve
    from lpsched.bag.pricing.sensitivity import sensitivity

    asked: requests.PriceOptions = given.options
    searched: dict[str, Any] = {"effort": asked.effort, "seed": asked.seed} | asked.terms()
    curve = price_curve(
        given.instance, from_ratio=asked.from_ratio, to_ratio=asked.to_ratio, points=asked.points, **searched
    )
    if not asked.sensitivity:
        return curve.to_dict()
    hours = None if asked.lifetime is None else asked.lifetime / SECONDS_PER_HOUR
    needs = sensitivity(given.instance, lifetime_hours=hours, marginals=asked.marginals, **searched)
    return curve.to_dict() | {"sensitivity": needs.to_dict()}


def whatif(given: Given, cancel: CancelToken) -> dict[str, Any]:
    """Solve a bag as it is, and with other machines, tasks, prices or limits."""
    from lpsched.bag.pricing.what_if import what_if

    asked: requests.WhatIfOptions = given.options
    remaining = cancel.remaining()
    limits = [each for each in (asked.time_limit, None if remaining is None else remaining / 2) if each is not None]
    try:
        return what_if(
            given.instance,
            asked.changes,
            objective=asked.objective,
            effort=asked.effort,
            seed=asked.seed,
            time_limit=min(limits, default=None),
            **asked.terms(),
        ).to_dict()
    except InstanceError as error:
        named = (
            replace(each, path=("set", *each.path[1:])) if each.path[:1] == ("changes",) else each
            for each in error.issues
        )
        raise InstanceError(error.source, tuple(named)) from None


def certify(given: Given, cancel: CancelToken) -> dict[str, Any]:
    """Prove the bound that `solve` finds, and answer with the file of the proof, for 'verify'."""
    asked: requests.SolveOptions = given.options
    if _is_plan(asked):
        from lpsched.bag.horizon.files import horizon_certificate_as_dict

        return horizon_certificate_as_dict(_planned(given, cancel).certificate, version_of_lpsched())
    from lpsched.bag.certify import certify as certify_bag
    from lpsched.bag.files import certificate_as_dict

    made = certify_bag(
        given.instance, objective=asked.objective, effort=asked.effort, seed=asked.seed, cancel=cancel, **asked.terms()
    )
    return certificate_as_dict(made, version_of_lpsched())


def validate(given: Given, cancel: CancelToken) -> dict[str, Any]:
    """Check schedules, run schedulers, and compare all with the bound."""
    from lpsched.cli.validate import DEFAULT, REJECTED, TAKEN
    from lpsched.instances import document_of

    asked: requests.ValidateOptions = given.options
    kind, said = given.kind, asked.model_fields_set
    for names, expected in REJECTED[kind.name]:
        for name in names:
            if name in said or (name == "scheduler" and asked.schedulers):
                raise _rejected(name, f"the option for {kind.phrase}", expected, "leave it out")
    options = {name: getattr(asked, name) for name in TAKEN[kind.name].split() if hasattr(asked, name)}
    names = asked.schedulers
    if not names and not given.named:
        if kind.name not in DEFAULT:
            raise _rejected("schedules", "none", f"schedules of {kind.phrase}", "add some")
        names = DEFAULT[kind.name]
    if kind.name != "clusters":
        options["methods" if kind.name == "facility" else "heuristics"] = names
    schedules = {name: document_of(document, Path(name), given.instance) for name, document in given.named.items()}
    result = kind.load("validate")(given.instance, schedules, **options, cancel=cancel)
    return result.to_dict()  # type: ignore[no-any-return]


def verify(given: Given, cancel: CancelToken) -> dict[str, Any]:  # noqa: ARG001 - takes little time
    """Check proofs, schedules and allocations without a solver."""
    from lpsched.auditing import audit

    asked: requests.VerifyOptions = given.options
    instance = given.instance
    if not given.named:
        raise _rejected("files", "none", "schedules or proofs by name", "add some")
    if asked.switch_off is not None:
        from lpsched.bag.horizon.slots import with_switch_off

        if given.kind.name != "bag":
            raise _rejected("switch_off", f"the option for {given.kind.phrase}", "a bag", "leave it out")
        instance = with_switch_off(instance, asked.switch_off)
    named = ("price", "power_cap", "deadline", "horizon", "start", "carbon_price", "outlets")
    terms = {name: value for name in named if (value := getattr(asked, name)) is not None}
    if "carbon_price" in terms:
        terms["carbon_price"] /= KILOGRAMS
    if given.kind.name == "facility" and len(terms.get("outlets", ())) == 1:
        terms["outlets"] *= len(instance.crac_units)
    return audit(instance, given.named, **terms).to_dict()


def facility(given: Given, cancel: CancelToken) -> dict[str, Any]:
    """Find an allocation of a facility under its power cap and redlines, and a proved bound."""
    asked: requests.FacilityOptions = given.options
    common: dict[str, Any] = {"colocation": asked.colocation, "gap": asked.gap, "cancel": cancel}
    if asked.scheduler == "lp":
        from lpsched.facility.solve import facility as solve_facility

        if asked.generations is not None:
            raise _rejected("generations", "the option with the scheduler lp", "the scheduler ga", "leave it out")
        outlets = asked.outlets
        if outlets is not None and len(outlets) == 1:
            outlets *= len(given.instance.crac_units)
        return solve_facility(given.instance, outlets=outlets, **common).to_dict()
    from lpsched.facility.compare import allocate

    if asked.outlets is not None:
        raise _rejected("outlets", f"the option with {asked.scheduler}", "the scheduler lp", "leave it out")
    return allocate(
        given.instance,
        method=asked.scheduler,
        seed=asked.seed,
        generations=asked.generations,
        time_limit=asked.time_limit,
        **common,
    ).to_dict()


def simulate(given: Given, cancel: CancelToken) -> dict[str, Any]:
    """Run policies on tasks that arrive over time, on machines or clusters."""
    from lpsched.cli.simulate import DEFAULT
    from lpsched.online.compare.simulations import simulate as simulate_arrivals

    asked: requests.SimulateOptions = given.options
    instance, kind = given.instance, given.kind.name
    if asked.trials > 1 and instance.made_by is None:
        raise _rejected("trials", str(asked.trials), "1, as no generator made this document", "leave it out")
    has_utility = kind == "clusters" and instance.waiting is None
    names = asked.schedulers or DEFAULT["clusters with utilities" if has_utility else kind]
    return simulate_arrivals(
        instance,
        names,
        bound=asked.bound,
        offline=asked.offline,
        trials=asked.trials,
        seed=asked.seed,
        time_limit=asked.time_limit,
        cancel=cancel,
    ).to_dict()


def show(given: Given, cancel: CancelToken) -> dict[str, Any]:  # noqa: ARG001 - takes little time
    """Show the content of a document: sizes, heterogeneity, load."""
    from lpsched.cli.console import header

    content, _ = given.kind.load("show")(given.instance)
    shown: dict[str, Any] = header("lpsched-show/1", given.instance) | content
    return shown


def convert(given: Given, cancel: CancelToken) -> dict[str, Any]:  # noqa: ARG001 - takes little time
    """Check a document, and answer with it as JSON and, of a bag, as YAML."""
    from lpsched.cli.console import header

    document, text = {}, None
    if given.kind.name == "bag":
        from lpsched.bag.files import as_dict
        from lpsched.io.instance_files import yaml_text

        document = as_dict(given.instance)
        text = yaml_text(document)
    said = {"kind": given.kind.name, "document": document or None, "yaml": text, "warnings": list(given.warnings)}
    return header("lpsched-converted/1", given.instance) | said


def report(given: Given, cancel: CancelToken) -> str:
    """Find what `solve` finds, and answer with the report page, as 'solve --report' writes it."""
    from lpsched.io.figure_files import load_jinja, load_matplotlib

    load_matplotlib()
    load_jinja()
    result = _solved(given, cancel)
    if _is_plan(given.options):
        from lpsched.report.html.horizon import plan_page

        return plan_page(result, commands=[])
    from lpsched.bag.model import Terms
    from lpsched.bag.overview import overview
    from lpsched.lp.solvers import solver_named
    from lpsched.report.html.bag import solve_page

    terms = Terms(None, *given.options.terms().values())
    return solve_page(
        overview(given.instance, terms, solver=solver_named("highs"), result=result, seed=given.options.seed)
    )


@dataclass(frozen=True, slots=True)
class Operation:
    """A request of the API: what it takes, what it computes, and whether it is always a job."""

    name: str
    options: type[Options]
    compute: Callable[[Given, CancelToken], dict[str, Any] | str]
    is_job: bool = False
    example: str = "bag"  # which document the documentation shows

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return (self.compute.__doc__ or "").strip()


OPERATIONS: Final = {
    each.name: each
    for each in (
        Operation("solve", requests.SolveOptions, solve),
        Operation("front", requests.FrontOptions, front),
        Operation("price", requests.PriceOptions, price),
        Operation("whatif", requests.WhatIfOptions, whatif),
        Operation("validate", requests.ValidateOptions, validate),
        Operation("verify", requests.VerifyOptions, verify),
        Operation("schedule", requests.SolveOptions, schedule),
        Operation("certify", requests.SolveOptions, certify),
        Operation("report", requests.SolveOptions, report),
        Operation("show", requests.ShowOptions, show),
        Operation("convert", requests.ConvertOptions, convert),
        Operation("facility", requests.FacilityOptions, facility, is_job=True, example="facility"),
        Operation("simulate", requests.SimulateOptions, simulate, is_job=True, example="clusters"),
    )
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request, or the error: a status of HTTP, a media type and the body."""

    status: int
    media: str
    body: bytes
    is_cut: bool = False  # whether the clock decided it: another run may give another answer


def answered(operation: Operation, given: Given, cancel: CancelToken) -> Answer:
    """Compute the answer of a request that was read."""
    found = operation.compute(given, cancel)
    if isinstance(found, str):
        return Answer(200, HTML, found.encode(), cancel.is_cut())
    body = json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    return Answer(200, JSON, body, cancel.is_cut() or CUT in body)


def require_pairs(given: Given, most: int) -> None:
    """Reject an instance with more pairs than the server takes."""
    table = getattr(given.instance, "seconds", None)
    pairs = table.rows * table.columns if isinstance(table, Table) else 0  # clusters and facilities have none
    if pairs > most:
        issue = InputIssue(("seconds",), f"{pairs:,} pairs", f"at most {most:,}", "use the command line")
        raise InstanceError("", (issue,))


def with_time_limit(given: Given, seconds: float | None) -> Given:
    """Return the request with a time limit of at most this."""
    own = getattr(given.options, "time_limit", None)
    if seconds is None or "time_limit" not in type(given.options).model_fields:
        return given
    least = seconds if own is None else min(own, seconds)
    return replace(given, options=given.options.model_copy(update={"time_limit": least}))
