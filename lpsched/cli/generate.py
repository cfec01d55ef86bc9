"""`lpsched generate`: instances from a seed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from lpsched.cli.options import Output, TablesOption, form_of
from lpsched.cli.talk import talk_of

LONGEST_COUNT = 18  # digits

generate_app = typer.Typer(
    help="Generate an instance from a seed.", no_args_is_help=True, rich_markup_mode=None
)


@generate_app.callback()
def _kinds() -> None:
    """Generate an instance from a seed."""


@generate_app.command("bag")
def generate_bag(
    context: typer.Context,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bag.", min=0)],
    output: Output,
    name: Annotated[str | None, typer.Option(help="The bag's name; from the seed if not given.")] = None,
    task_types: Annotated[int, typer.Option(help="Number of task types.")] = 100,
    tasks: Annotated[int, typer.Option(help="Tasks in all.")] = 11_000,
    machines: Annotated[
        list[str] | None,
        typer.Option(
            help="Machines of each general-purpose type, e.g. 40,40,20. [default: the thesis's nine]"
        ),
    ] = None,
    special_machines: Annotated[
        list[str] | None, typer.Option(help="Machines of each special-purpose type, e.g. 2,2,3,3.")
    ] = None,
    special_speedup: Annotated[float, typer.Option(help="How much faster they run their own.")] = 10.0,
    special_cov: Annotated[float, typer.Option(help="Coefficient of variation of their times.")] = 0.1,
    special_least: Annotated[int, typer.Option(help="Fewest task types of their own.")] = 3,
    special_most: Annotated[int, typer.Option(help="Most task types of their own.")] = 5,
    mean_seconds: Annotated[float, typer.Option(help="Mean time on a general-purpose machine.")] = 600.0,
    task_cov: Annotated[float, typer.Option(help="Coefficient of variation across task types.")] = 0.1,
    machine_cov: Annotated[float, typer.Option(help="Coefficient of variation across machine types.")] = 0.25,
    power_task_cov: Annotated[float, typer.Option(help="The same of power, across task types.")] = 0.1,
    power_machine_cov: Annotated[float, typer.Option(help="The same of power, across machine types.")] = 0.25,
    idle_watts: Annotated[float, typer.Option(help="Mean idle power.")] = 66.0,
    dynamic_watts: Annotated[float, typer.Option(help="Mean power above idle while running.")] = 133.0,
    p_states: Annotated[int, typer.Option(help="P-states of each machine, 1 to 3.")] = 1,
    tables: TablesOption = None,
) -> None:
    """Generate a bag by the coefficient-of-variation method."""
    import numpy as np

    from lpsched.cli.answers import write_and_tell
    from lpsched.generate.cov import CovOptions, cov_bag

    options = CovOptions(
        task_types=task_types,
        tasks=tasks,
        machines=_counts("--machines", machines) if machines else CovOptions().machines,
        special_machines=_counts("--special-machines", special_machines or []),
        special_speedup=special_speedup,
        special_cov=special_cov,
        special_least=special_least,
        special_most=special_most,
        mean_seconds=mean_seconds,
        task_cov=task_cov,
        machine_cov=machine_cov,
        power_task_cov=power_task_cov,
        power_machine_cov=power_machine_cov,
        idle_watts=idle_watts,
        dynamic_watts=dynamic_watts,
        p_states=p_states,
    )
    bag = cov_bag(name if name is not None else f"cov-{seed}", np.random.default_rng(seed), options)
    write_and_tell(talk_of(context), bag, output, form_of(tables), seed=seed)


class Platform(StrEnum):
    """Platforms of the Heat paper; the names of `lpsched.generate.facility.PLATFORMS`, without loading it."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


@generate_app.command("facility")
def generate_facility(
    context: typer.Context,
    seed: Annotated[int, typer.Option(help="The same seed gives the same facility.", min=0)],
    output: Output,
    platform: Annotated[Platform, typer.Option(help="The sizes of the paper.")] = Platform.SMALL,
    name: Annotated[
        str | None, typer.Option(help="The facility's name; platform and seed if not given.")
    ] = None,
    recirculation: Annotated[
        float, typer.Option(help="Share of the nodes' air that comes straight from nodes, 0 to 0.6.")
    ] = 0.2,
    cap_share: Annotated[float, typer.Option(help="The power cap, as a share of full power.")] = 0.6,
    nodes: Annotated[int | None, typer.Option(help="Nodes, in place of the platform's.")] = None,
    crac_units: Annotated[int | None, typer.Option(help="CRAC units, likewise.")] = None,
    task_types: Annotated[int | None, typer.Option(help="Task types, likewise; 1 to 16.")] = None,
    node_types: Annotated[int | None, typer.Option(help="Node types, likewise; 1 to 4.")] = None,
    tables: TablesOption = None,
) -> None:
    """Generate a facility after the platforms of Oxley and others, 2014."""
    from dataclasses import replace

    import numpy as np

    from lpsched.cli.answers import write_and_tell
    from lpsched.generate.facility import PLATFORMS, facility_of

    sizes = {"nodes": nodes, "crac_units": crac_units, "task_types": task_types, "node_types": node_types}
    given = {key: size for key, size in sizes.items() if size is not None}
    options = replace(PLATFORMS[platform.value], recirculation=recirculation, cap_share=cap_share, **given)
    named = name if name is not None else f"{platform.value}-{seed}"
    facility = facility_of(named, np.random.default_rng(seed), options)
    write_and_tell(talk_of(context), facility, output, form_of(tables), seed=seed)


def _counts(option: str, given: list[str]) -> tuple[int, ...]:
    """Read counts that come with commas, with repetition, or both."""
    words = [word for part in given for word in part.split(",")]
    if not all(
        word.strip().isascii() and word.strip().isdigit() and len(word) <= LONGEST_COUNT for word in words
    ):
        raise typer.BadParameter(f"{option}: found {','.join(words)[:60]!r}, needs counts such as 40,40,20")
    return tuple(int(word) for word in words)
