"""`lpsched generate clusters`: the Jobs paper's clusters, and tasks that take many of their nodes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from lpsched.cli.console import talk_of
from lpsched.cli.options import (
    Output,
    TablesOption,
    as_typed,
    counts_of,
    defaults_of,
    form_of,
    given_of,
    require_output,
)

ENDINGS = (".yaml", ".yml", ".json")
NONE = "none"


class SingleCoreOption(StrEnum):
    """Whose single-core time is Gaussian; words of `lpsched.generate.cluster_options`, without loading it."""

    HOME = "home"
    MEAN = "mean"


def clusters_defaults() -> dict[str, str]:
    """Return the defaults; where none is given, a wave's amplitude is drawn."""
    from lpsched.generate.arrivals import AMPLITUDES
    from lpsched.generate.cluster_options import MachovecOptions

    drawn = f"drawn, {' to '.join(map(as_typed, AMPLITUDES))}"
    return defaults_of(MachovecOptions) | {"wave_amplitude": drawn}


def generate_clusters(
    context: typer.Context,
    seed: Annotated[int, typer.Option(help="The same seed gives the same clusters.", min=0)],
    output: Output,
    tasks: Annotated[int | None, typer.Option(help="How many tasks arrive in 24 hours on average.")] = None,
    name: Annotated[str | None, typer.Option(help="Their name; from the seed if not given.")] = None,
    hours: Annotated[float | None, typer.Option(help="Length of the period that counts.")] = None,
    warm_up_hours: Annotated[float | None, typer.Option(help="Hours before it that do not count.")] = None,
    begins_at_hour: Annotated[
        float | None, typer.Option(help="Time of day when the period begins; 0 is midnight.")
    ] = None,
    energy_gigajoules: Annotated[float | None, typer.Option(help="Energy constraint of the period.")] = None,
    p_states: Annotated[int | None, typer.Option(help="P-states of each node, 1 to 3.")] = None,
    nodes: Annotated[list[str] | None, typer.Option(help="Nodes of each general-purpose cluster.")] = None,
    cores_per_node: Annotated[list[str] | None, typer.Option(help="Cores of each of these nodes.")] = None,
    special_nodes: Annotated[
        list[str] | None, typer.Option(help="Nodes of each special-purpose cluster, or none.")
    ] = None,
    special_cores_per_node: Annotated[list[str] | None, typer.Option(help="Cores of each of these nodes.")] = None,
    general_task_types: Annotated[
        int | None, typer.Option(help="Task types of general-purpose clusters, in all.")
    ] = None,
    special_task_types: Annotated[int | None, typer.Option(help="Task types of each special-purpose cluster.")] = None,
    core_steps: Annotated[
        list[str] | None,
        typer.Option(help="Cores at most of small, middle and large tasks; larger ones arrive in work hours."),
    ] = None,
    shortest_hours: Annotated[float | None, typer.Option(help="On one core, of tasks worth 1, on average.")] = None,
    longest_hours: Annotated[float | None, typer.Option(help="The same of tasks worth 8.")] = None,
    time_cov: Annotated[float | None, typer.Option(help="Coefficient of variation around that.")] = None,
    cluster_cov: Annotated[float | None, typer.Option(help="The same of times across clusters.")] = None,
    single_core: Annotated[
        SingleCoreOption | None, typer.Option(help="Whose time that is: one cluster's, or the mean of all.")
    ] = None,
    node_watts: Annotated[float | None, typer.Option(help="Mean power of a node that runs a task.")] = None,
    watts_cov: Annotated[float | None, typer.Option(help="Coefficient of variation of power.")] = None,
    parallelism_share_least: Annotated[
        float | None, typer.Option(help="Least average parallelism, as a share of a task type's cores.")
    ] = None,
    parallelism_share_most: Annotated[float | None, typer.Option(help="The most of it, as a share.")] = None,
    sigma_least: Annotated[float | None, typer.Option(help="Least variation of parallelism, Downey's sigma.")] = None,
    sigma_most: Annotated[float | None, typer.Option(help="The most of it.")] = None,
    wave_amplitude: Annotated[
        float | None, typer.Option(help="How far arrivals swing around their mean, 0 to 1.")
    ] = None,
    tables: TablesOption = None,
) -> None:
    """Generate clusters and tasks on many nodes, as in Machovec and others, 2016."""
    from lpsched.cli.console import write_and_tell
    from lpsched.generate.cluster_options import MachovecOptions
    from lpsched.generate.clusters import machovec_clusters

    if special_nodes == [NONE]:
        special_cores_per_node = special_cores_per_node or [NONE]
    counts = {
        "nodes": nodes,
        "cores_per_node": cores_per_node,
        "special_nodes": special_nodes,
        "special_cores_per_node": special_cores_per_node,
        "core_steps": core_steps,
    }
    read: dict[str, Any] = {
        key: () if words == [NONE] else counts_of(f"--{key.replace('_', '-')}", words)
        for key, words in given_of(counts).items()
        if words  # none given is an empty list
    }
    numbers = given_of(
        {
            "tasks": tasks,
            "hours": hours,
            "warm_up_hours": warm_up_hours,
            "begins_at_hour": begins_at_hour,
            "energy_gigajoules": energy_gigajoules,
            "p_states": p_states,
            "general_task_types": general_task_types,
            "special_task_types": special_task_types,
            "shortest_hours": shortest_hours,
            "longest_hours": longest_hours,
            "time_cov": time_cov,
            "cluster_cov": cluster_cov,
            "single_core": None if single_core is None else single_core.value,
            "node_watts": node_watts,
            "watts_cov": watts_cov,
            "parallelism_share_least": parallelism_share_least,
            "parallelism_share_most": parallelism_share_most,
            "sigma_least": sigma_least,
            "sigma_most": sigma_most,
            "wave_amplitude": wave_amplitude,
        }
    )
    require_output(output, ENDINGS)
    options = MachovecOptions(**read, **numbers)
    made = machovec_clusters(name if name is not None else f"clusters-{seed}", seed, options)
    write_and_tell(talk_of(context), made, output, form_of(tables), seed=seed)
