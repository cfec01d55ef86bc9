"""`lpsched whatif`: what other machines, nodes, tasks, prices, limits or schedulers would change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli import options
from lpsched.cli.console import cancellable, console_of, exit_with_status
from lpsched.errors import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.cli.console import Console
    from lpsched.online.clusters import Clusters

BAGS_ONLY = "for clusters", "a bag"
CLUSTERS_ONLY = "for a bag", "clusters"


def whatif(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A bag or clusters: a .yaml or .json file.", readable=False)],
    changes: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A change, with commas or repeated. NAME: a machine type or task type (or machines.TYPE, tasks.TYPE; "
            "0 drops it), price (of the bag), price.TASK, electricity (per kWh), power-cap, deadline. Of clusters: a "
            "cluster (its nodes), speed, speed.CLUSTER, scheduler. VALUE: new (8, 30kW, 5h, none), or a change (+4, "
            "-2, +10%).",
        ),
    ],
    objective: options.ObjectiveOption = None,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    effort: options.EffortOfBag = None,
    scheduler: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Clusters: scheduling policies, on both systems. [default: easy]"),
    ] = None,
    bound: Annotated[
        bool | None,
        typer.Option(
            "--bound/--no-bound",
            help="Clusters: prove a bound before and after. [default: clusters where waiting has a cost]",
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(help="Clusters: number of draws; the file's, and others by its generator. [default: 1]", min=1),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Clusters: number of processes that share the work. [default: 1]", min=1)
    ] = None,
    time_limit: Annotated[
        float | None, options.time_limit_option("Time limit of each of the two solves, in seconds or with a unit.")
    ] = None,
    seed: options.Seed = 0,
    solver: Annotated[
        str | None, typer.Option("--solver", help="Bags: highs, or pulp:NAME for a solver that PuLP finds.")
    ] = None,
) -> None:
    """Solve or simulate again with other machines, prices or limits.

    Examples
    --------
    lpsched whatif instances/tiny.yaml --set fast=+1
    lpsched whatif instances/ai-service.yaml --set price=-10%,H100=9
    lpsched whatif instances/clusters-small.yaml --set general-1=+8
    """
    from lpsched.bag.pricing.what_if import what_if
    from lpsched.instances import read_with_kind
    from lpsched.lp.solvers import solver_named
    from lpsched.report.solution import what_if_tables

    read, kind = read_with_kind(instance, ("bag", "clusters"))
    of_bag: dict[str, object] = {"--objective": objective, "--price": price, "--profit-ratio": profit_ratio}
    of_bag |= {"--power-cap": power_cap, "--deadline": deadline, "--effort": effort, "--solver": solver}
    of_clusters: dict[str, object] = {"--scheduler": scheduler, "--bound": bound, "--trials": trials, "--jobs": jobs}
    console = console_of(context)
    if kind.name == "clusters":
        options.reject(of_bag, *BAGS_ONLY)
        asked: dict[str, Any] = {"bound": read.waiting is not None if bound is None else bound, "trials": trials or 1}
        asked |= {"jobs": jobs or 1, "seed": seed, "time_limit": time_limit}
        names = [each.name for each in read.clusters]
        _clusters(console, read, _changes(changes, names), options.scheduler_words(scheduler) or ("easy",), asked)
        return
    options.reject(of_clusters, *CLUSTERS_ONLY)
    result = what_if(
        read,
        _changes(changes, [*(each.name for each in read.machine_types), *(each.name for each in read.task_types)]),
        objective=objective,
        effort=effort or "auto",
        time_limit=time_limit,
        seed=seed,
        solver=solver_named(solver or "highs"),
        **options.terms_of(price, profit_ratio, power_cap, deadline),
    )
    console.answer(result.to_dict(), what_if_tables(result))


def _clusters(
    console: Console, clusters: Clusters, changes: dict[str, str], names: Sequence[str], asked: dict[str, Any]
) -> None:
    from lpsched.online.compare.what_if import what_if_clusters
    from lpsched.report.online_answers import clusters_what_if_tables

    with cancellable(console, None) as cancel, options.errors_about("--scheduler"):
        result = what_if_clusters(clusters, changes, policies=names, cancel=cancel, **asked)
    console.answer(result.to_dict(), clusters_what_if_tables(result))
    exit_with_status(cancel, valid=any(each.quantities for each in result.policies))


def _changes(words: list[str], names: list[str]) -> dict[str, str]:
    """Read NAME=VALUE; a name that has a comma in it must have an option of its own."""
    prefixes = ("", "machines.", "tasks.", "price.", "nodes.", "speed.")
    changes: dict[str, str] = {}
    for given in words:
        whole = given.rpartition("=")[0]
        own = any(whole == f"{prefix}{name}" for name in names for prefix in prefixes)
        for word in [given] if own else given.split(","):
            name, _, value = (part.strip() for part in word.rpartition("="))
            if not name or not value:
                expected = "NAME=VALUE, e.g. gpu=8, gpu=+4 or price=-10%"
                raise options.usage_error("--set", quote(word), expected, "correct it")
            if name in changes:
                raise options.usage_error("--set", f"{quote(name)} twice", "each name once", "leave one out")
            changes[name] = value
    return changes
