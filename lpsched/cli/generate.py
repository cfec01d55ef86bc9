"""`lpsched generate`: instances from a seed."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli.generate_clusters import clusters_defaults, generate_clusters
from lpsched.cli.generate_day import day_defaults, generate_day
from lpsched.cli.given import as_typed, command_with, counts_of, defaults_of, given_of
from lpsched.cli.options import Output, TablesOption, form_of, require_output
from lpsched.cli.talk import Talk, talk_of

if TYPE_CHECKING:
    from lpsched.files.instance_files import TableForm

ENDINGS = (".yaml", ".yml", ".json")

generate_app = typer.Typer(
    help="Generate an instance from a seed.", no_args_is_help=True, rich_markup_mode=None
)


@generate_app.callback()
def _kinds() -> None:
    """Generate an instance from a seed."""


class Method(StrEnum):
    """How to make the tables of a bag."""

    COV = "cov"
    GROW = "grow"


def bag_defaults() -> dict[str, str]:
    """Return the defaults of both methods: those of cov, and what differs with grow."""
    from lpsched.generate.cov import CovOptions
    from lpsched.generate.grow_options import GrowOptions

    by_cov, grown = defaults_of(CovOptions), defaults_of(GrowOptions)
    differs = {key: f"; grow: {text}" for key, text in grown.items() if text not in {"none", by_cov.get(key)}}
    return {key: text + differs.get(key, "") for key, text in by_cov.items()}


@generate_app.command("bag", cls=command_with(bag_defaults))
def generate_bag(
    context: typer.Context,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bag.", min=0)],
    output: Output,
    method: Annotated[
        Method, typer.Option(help="cov: coefficients of variation; grow: like the tables of a small bag.")
    ] = Method.COV,
    source: Annotated[
        Path | None, typer.Option("--from", help="grow: the small bag, a .yaml or .json file.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The bag's name; from the seed if not given.")] = None,
    task_types: Annotated[
        int | None,
        typer.Option(help="Number of task types; grow: with the small bag's."),
    ] = None,
    tasks: Annotated[int | None, typer.Option(help="Tasks in all.")] = None,
    machines: Annotated[
        list[str] | None,
        typer.Option(
            help="Machines of each general-purpose type, e.g. 40,40,20; "
            "grow: if not given, those of the small bag."
        ),
    ] = None,
    special_machines: Annotated[
        list[str] | None, typer.Option(help="Machines of each special-purpose type, e.g. 2,2,3,3.")
    ] = None,
    special_speedup: Annotated[float | None, typer.Option(help="How much faster they run their own.")] = None,
    special_least: Annotated[int | None, typer.Option(help="Fewest task types of their own.")] = None,
    special_most: Annotated[int | None, typer.Option(help="Most task types of their own.")] = None,
    special_cov: Annotated[
        float | None, typer.Option(help="cov: coefficient of variation of their times.")
    ] = None,
    mean_seconds: Annotated[
        float | None, typer.Option(help="cov: mean time on a general-purpose machine.")
    ] = None,
    task_cov: Annotated[
        float | None, typer.Option(help="cov: coefficient of variation across task types.")
    ] = None,
    machine_cov: Annotated[float | None, typer.Option(help="cov: the same across machine types.")] = None,
    power_task_cov: Annotated[
        float | None, typer.Option(help="cov: the same of power, across task types.")
    ] = None,
    power_machine_cov: Annotated[
        float | None, typer.Option(help="cov: the same of power, across machine types.")
    ] = None,
    idle_watts: Annotated[float | None, typer.Option(help="cov: mean idle power.")] = None,
    dynamic_watts: Annotated[
        float | None, typer.Option(help="cov: mean power above idle while running.")
    ] = None,
    p_states: Annotated[int | None, typer.Option(help="cov: P-states of each machine, 1 to 3.")] = None,
    tables: TablesOption = None,
) -> None:
    """Generate a bag, by coefficients of variation or by growth of a small one."""
    both = {
        "task_types": task_types,
        "tasks": tasks,
        "machines": counts_of("--machines", machines) if machines else None,
        "special_machines": counts_of("--special-machines", special_machines) if special_machines else None,
        "special_speedup": special_speedup,
        "special_least": special_least,
        "special_most": special_most,
    }
    of_cov = {
        "special_cov": special_cov,
        "mean_seconds": mean_seconds,
        "task_cov": task_cov,
        "machine_cov": machine_cov,
        "power_task_cov": power_task_cov,
        "power_machine_cov": power_machine_cov,
        "idle_watts": idle_watts,
        "dynamic_watts": dynamic_watts,
        "p_states": p_states,
    }
    named = name if name is not None else f"{method.value}-{seed}"
    written = (talk_of(context), output, form_of(tables), seed)
    if method is Method.GROW:
        _refuse_foreign(given_of(of_cov), Method.COV)
        if source is None:
            raise typer.BadParameter("--method grow needs --from: the small bag whose tables are grown")
        _grow(named, source, given_of(both), *written)
    else:
        _refuse_foreign({} if source is None else {"from": source}, Method.GROW)
        _by_cov(named, given_of(both | of_cov), *written)


def _refuse_foreign(given: dict[str, Any], method: Method) -> None:
    """Refuse options of the other method, all in one message."""
    if given:
        options = ", ".join(f"--{key.replace('_', '-')}" for key in given)
        raise typer.BadParameter(
            f"{options}: only with --method {method.value}; drop it or choose that method"
        )


def _by_cov(
    name: str, options: dict[str, Any], talk: Talk, output: Path, form: TableForm | None, seed: int
) -> None:
    import numpy as np

    from lpsched.cli.answers import write_and_tell
    from lpsched.generate.cov import CovOptions, cov_bag

    bag = cov_bag(name, np.random.default_rng(seed), CovOptions(**options))
    write_and_tell(talk, bag, output, form, seed=seed)


def _grow(
    name: str,
    source: Path,
    options: dict[str, Any],
    talk: Talk,
    output: Path,
    form: TableForm | None,
    seed: int,
) -> None:
    import numpy as np

    from lpsched.cli.answers import write_and_tell
    from lpsched.cli.growth import growth_as_json, tell_growth
    from lpsched.files.bags import read_bag
    from lpsched.generate.grow import grow
    from lpsched.generate.grow_options import GrowOptions

    require_output(output, ENDINGS, source)
    growth = grow(name, read_bag(source), np.random.default_rng(seed), GrowOptions(**options))
    write_and_tell(talk, growth.bag, output, form, seed=seed, growth=growth_as_json(growth))
    if not talk.quiet:
        tell_growth(growth)


generate_app.command("day", cls=command_with(day_defaults))(generate_day)
generate_app.command("clusters", cls=command_with(clusters_defaults))(generate_clusters)


class Platform(StrEnum):
    """Platforms of the Heat paper; the names of `lpsched.generate.facility.PLATFORMS`, without loading it."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


def facility_defaults() -> dict[str, str]:
    """Return the defaults of a facility; its sizes are those of the platforms."""
    from lpsched.generate.facility import PLATFORMS, FacilityOptions

    sizes = {
        key: ", ".join(f"{name} {as_typed(getattr(platform, key))}" for name, platform in PLATFORMS.items())
        for key in ("nodes", "crac_units", "task_types", "node_types")
    }
    return defaults_of(FacilityOptions) | sizes


@generate_app.command("facility", cls=command_with(facility_defaults))
def generate_facility(
    context: typer.Context,
    seed: Annotated[int, typer.Option(help="The same seed gives the same facility.", min=0)],
    output: Output,
    platform: Annotated[Platform, typer.Option(help="The sizes of the paper.")] = Platform.SMALL,
    name: Annotated[
        str | None, typer.Option(help="The facility's name; platform and seed if not given.")
    ] = None,
    recirculation: Annotated[
        float | None,
        typer.Option(help="Share of the nodes' air that comes straight from nodes, 0 to 0.6."),
    ] = None,
    cap_share: Annotated[float | None, typer.Option(help="The power cap, as a share of full power.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Number of nodes.")] = None,
    crac_units: Annotated[int | None, typer.Option(help="Number of CRAC units.")] = None,
    task_types: Annotated[int | None, typer.Option(help="Number of task types, 1 to 16.")] = None,
    node_types: Annotated[int | None, typer.Option(help="Number of node types, 1 to 4.")] = None,
    tables: TablesOption = None,
) -> None:
    """Generate a facility after the platforms of Oxley and others, 2014."""
    from dataclasses import replace

    import numpy as np

    from lpsched.cli.answers import write_and_tell
    from lpsched.generate.facility import PLATFORMS, facility_of

    given = given_of(
        {
            "recirculation": recirculation,
            "cap_share": cap_share,
            "nodes": nodes,
            "crac_units": crac_units,
            "task_types": task_types,
            "node_types": node_types,
        }
    )
    options = replace(PLATFORMS[platform.value], **given)
    named = name if name is not None else f"{platform.value}-{seed}"
    facility = facility_of(named, np.random.default_rng(seed), options)
    write_and_tell(talk_of(context), facility, output, form_of(tables), seed=seed)
