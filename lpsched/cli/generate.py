"""`lpsched generate`: random bags, facilities, days and clusters."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli.console import Talk, talk_of
from lpsched.cli.generate_clusters import clusters_defaults, generate_clusters
from lpsched.cli.options import (
    Output,
    TablesOption,
    as_typed,
    command_with,
    counts_of,
    defaults_of,
    form_of,
    given_of,
    require_output,
)

if TYPE_CHECKING:
    from rich.table import Table

    from lpsched.generate.gram_charlier import Moments
    from lpsched.generate.grow import Growth, Shape
    from lpsched.io.instance_files import TableForm
    from lpsched.online.day import Day


# How well a grown bag keeps the shape of the small one: a table for people, keys for programs.
HEADERS = ("moments of", "", "mean", "variation", "skewness", "kurtosis")


def growth_as_json(growth: Growth) -> list[dict[str, Any]]:
    """Return the moments of everything that was sampled."""
    return [
        {
            "table": shape.table,
            "ratios_of": shape.of,
            "real": _as_json(shape.real),
            "density": _as_json(shape.density),
            "new": None if shape.new is None else _as_json(shape.new),
        }
        for shape in growth.shapes
    ]


def _as_json(moments: Moments) -> dict[str, float]:
    return {
        "mean": moments.mean,
        "standard_deviation": moments.deviation,
        "skewness": moments.skewness,
        "kurtosis": moments.kurtosis,
    }


def tell_growth(growth: Growth) -> None:
    """Print the moments on stderr, after what is on stdout."""
    from rich.console import Console

    from lpsched.cli.console import PIPE_WIDTH

    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    with console.capture() as captured:
        console.print(growth_table(growth))
    sys.stdout.flush()
    sys.stderr.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def growth_table(growth: Growth) -> Table:
    """Return the moments of the row means, and of the ratios whose density is farthest off."""
    from lpsched.report.answers import table

    rows = []
    for key in ("seconds", "watts"):
        shapes = [shape for shape in growth.shapes if shape.table == key]
        ratios = [shape for shape in shapes if shape.of is not None]
        for shape in shapes[:1] + sorted(ratios, key=_misfit)[-1:]:
            what = "row means" if shape.of is None else f"ratios of {shape.of} (least well kept)"
            rows += _rows(f"{key}: {what}", shape)
    return table(HEADERS, rows, numbers=(2, 3, 4, 5))


def _misfit(shape: Shape) -> float:
    real, density = shape.real, shape.density
    return abs(real.skewness - density.skewness) + abs(real.kurtosis - density.kurtosis)


def _rows(what: str, shape: Shape) -> list[tuple[str, ...]]:
    numbers = [("real", shape.real), ("density", shape.density)]
    if shape.new is not None:
        numbers.append(("new", shape.new))
    return [(what if k == 0 else "", label, *_cells(moments)) for k, (label, moments) in enumerate(numbers)]


def _cells(moments: Moments) -> tuple[str, ...]:
    from lpsched.units import number

    variation = moments.deviation / moments.mean if moments.mean else 0.0
    if moments.deviation == 0:
        return number(moments.mean, 5), "0", "-", "-"
    return (number(moments.mean, 5), *(f"{each + 0.0:.3f}" for each in (variation, moments.skewness, moments.kurtosis)))


# `lpsched generate day`: the thesis's day, or tasks that arrive for the machines of a bag.
ENDINGS = (".yaml", ".yml", ".json")


class AffinityOption(StrEnum):
    """Environments; the names of `lpsched.generate.day.Affinity`, without loading it."""

    EXAMPLE = "example"
    LOW = "low"
    HIGH = "high"


class EdgeOption(StrEnum):
    """How a period cuts tasks at its edges; the words of `lpsched.online.parts`, without loading it."""

    COMPLETED = "completed"
    PRORATED = "prorated"


def day_defaults() -> dict[str, str]:
    """Return the defaults; some follow from others."""
    from lpsched.generate.day import EsscOptions

    usual, with_states = EsscOptions(), EsscOptions(p_states=2)
    derived = {
        "edge": f"{usual.period.edge}; with P-states: {with_states.period.edge}",
        "special_task_types": as_typed(usual.tables.special_task_types),
    }
    of_class = defaults_of(EsscOptions)
    del of_class["tasks"]  # this one must be given
    return of_class | derived


def generate_day(
    context: typer.Context,
    seed: Annotated[int, typer.Option(help="The same seed gives the same day.", min=0)],
    output: Output,
    tasks: Annotated[
        int,
        typer.Option(help="How many tasks arrive in the period on average; the warm-up's come on top. --from: in all."),
    ],
    name: Annotated[str | None, typer.Option(help="The day's name; from the seed if not given.")] = None,
    hours: Annotated[float | None, typer.Option(help="Length of the period that counts.")] = None,
    warm_up_hours: Annotated[float | None, typer.Option(help="Hours before it that do not count.")] = None,
    p_states: Annotated[int | None, typer.Option(help="P-states of each machine, 1 to 3.")] = None,
    affinity: Annotated[
        AffinityOption | None, typer.Option(help="How much tasks differ in which machines suit them.")
    ] = None,
    edge: Annotated[
        EdgeOption | None,
        typer.Option(help="What counts of a task at the period's edges: all if it ends within, or the part within."),
    ] = None,
    energy_gigajoules: Annotated[float | None, typer.Option(help="Energy constraint of the period.")] = None,
    task_types: Annotated[int | None, typer.Option(help="Number of task types.")] = None,
    machines: Annotated[list[str] | None, typer.Option(help="Machines of each general-purpose type.")] = None,
    special_machines: Annotated[list[str] | None, typer.Option(help="Machines of each special-purpose type.")] = None,
    special_task_types: Annotated[int | None, typer.Option(help="Task types that they run, in all.")] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A bag with watts: its machines, task types and tables, even arrivals."),
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="--from: in which span tasks arrive.")] = None,
    tables: TablesOption = None,
) -> None:
    """Generate a day: tasks that arrive and lose utility, as in Friese's thesis of 2015."""
    from lpsched.cli.console import write_and_tell

    own = given_of(
        {
            "hours": hours,
            "warm_up_hours": warm_up_hours,
            "p_states": p_states,
            "affinity": None if affinity is None else affinity.value,
            "edge": None if edge is None else edge.value,
            "energy_gigajoules": energy_gigajoules,
            "task_types": task_types,
            "machines": counts_of("--machines", machines) if machines else None,
            "special_machines": counts_of("--special-machines", special_machines) if special_machines else None,
            "special_task_types": special_task_types,
        }
    )
    named = name if name is not None else f"day-{seed}"
    if source is None:
        if minutes is not None:
            raise typer.BadParameter("--minutes: only with --from; use --hours, or give a bag")
        day = _of_the_thesis(named, seed, own | {"tasks": tasks}, output)
    else:
        if own:
            options = ", ".join(f"--{key.replace('_', '-')}" for key in own)
            raise typer.BadParameter(f"{options}: not with --from, whose bag has machines and tables; drop it")
        if minutes is None:
            raise typer.BadParameter("--from needs --minutes: the span in which tasks arrive")
        day = _of_a_bag(named, seed, source, tasks, minutes, output)
    write_and_tell(talk_of(context), day, output, form_of(tables), seed=seed)


def _of_the_thesis(name: str, seed: int, options: dict[str, Any], output: Path) -> Day:
    from lpsched.generate.day import EsscOptions, essc_day

    require_output(output, ENDINGS)
    return essc_day(name, seed, EsscOptions(**options))


def _of_a_bag(name: str, seed: int, source: Path, tasks: int, minutes: float, output: Path) -> Day:
    import numpy as np

    from lpsched.bag.files import read_bag
    from lpsched.generate.day import day_of

    require_output(output, ENDINGS, source)
    return day_of(name, read_bag(source), np.random.default_rng(seed), tasks=tasks, minutes=minutes)


# `lpsched generate`: instances from a seed.
generate_app = typer.Typer(help="Generate an instance from a seed.", no_args_is_help=True, rich_markup_mode=None)


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
    from lpsched.generate.grow import GrowOptions

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
    source: Annotated[Path | None, typer.Option("--from", help="grow: the small bag, a .yaml or .json file.")] = None,
    name: Annotated[str | None, typer.Option(help="The bag's name; from the seed if not given.")] = None,
    task_types: Annotated[int | None, typer.Option(help="Number of task types; grow: with the small bag's.")] = None,
    tasks: Annotated[int | None, typer.Option(help="Tasks in all.")] = None,
    machines: Annotated[
        list[str] | None,
        typer.Option(
            help="Machines of each general-purpose type, e.g. 40,40,20; grow: if not given, those of the small bag."
        ),
    ] = None,
    special_machines: Annotated[
        list[str] | None, typer.Option(help="Machines of each special-purpose type, e.g. 2,2,3,3.")
    ] = None,
    special_speedup: Annotated[float | None, typer.Option(help="How much faster they run their own.")] = None,
    special_least: Annotated[int | None, typer.Option(help="Fewest task types of their own.")] = None,
    special_most: Annotated[int | None, typer.Option(help="Most task types of their own.")] = None,
    special_cov: Annotated[float | None, typer.Option(help="cov: coefficient of variation of their times.")] = None,
    mean_seconds: Annotated[float | None, typer.Option(help="cov: mean time on a general-purpose machine.")] = None,
    task_cov: Annotated[float | None, typer.Option(help="cov: coefficient of variation across task types.")] = None,
    machine_cov: Annotated[float | None, typer.Option(help="cov: the same across machine types.")] = None,
    power_task_cov: Annotated[float | None, typer.Option(help="cov: the same of power, across task types.")] = None,
    power_machine_cov: Annotated[
        float | None, typer.Option(help="cov: the same of power, across machine types.")
    ] = None,
    idle_watts: Annotated[float | None, typer.Option(help="cov: mean idle power.")] = None,
    dynamic_watts: Annotated[float | None, typer.Option(help="cov: mean power above idle while running.")] = None,
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
        raise typer.BadParameter(f"{options}: only with --method {method.value}; drop it or choose that method")


def _by_cov(name: str, options: dict[str, Any], talk: Talk, output: Path, form: TableForm | None, seed: int) -> None:
    import numpy as np

    from lpsched.cli.console import write_and_tell
    from lpsched.generate.cov import CovOptions, cov_bag

    bag = cov_bag(name, np.random.default_rng(seed), CovOptions(**options))
    write_and_tell(talk, bag, output, form, seed=seed)


def _grow(
    name: str, source: Path, options: dict[str, Any], talk: Talk, output: Path, form: TableForm | None, seed: int
) -> None:
    import numpy as np

    from lpsched.bag.files import read_bag
    from lpsched.cli.console import write_and_tell
    from lpsched.generate.grow import GrowOptions, grow

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
    name: Annotated[str | None, typer.Option(help="The facility's name; platform and seed if not given.")] = None,
    recirculation: Annotated[
        float | None, typer.Option(help="Share of the nodes' air that comes straight from nodes, 0 to 0.6.")
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

    from lpsched.cli.console import write_and_tell
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
