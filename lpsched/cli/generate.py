"""`lpsched generate`: random bags, facilities, days and clusters."""

from __future__ import annotations

import sys
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lpsched.cli import options
from lpsched.cli.console import console_of, print_tables, write_and_print
from lpsched.cli.options import add_command, new_app

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from rich.table import Table

    from lpsched.generate.bags import Growth, Shape


# How well a grown bag keeps the shape of the small one: a table for people, keys for programs.
HEADERS = ("moments of", "", "mean", "variation", "skewness", "kurtosis")


def growth_as_json(growth: Growth) -> list[dict[str, Any]]:
    """Return the moments of everything that was sampled."""
    return [
        {"table": shape.table, "ratios_of": shape.of}
        | {
            name: None
            if moments is None
            else {
                "mean": moments.mean,
                "standard_deviation": moments.deviation,
                "skewness": moments.skewness,
                "kurtosis": moments.kurtosis,
            }
            for name, moments in (("real", shape.real), ("density", shape.density), ("new", shape.new))
        }
        for shape in growth.shapes
    ]


def growth_table(growth: Growth) -> Table:
    """Return the moments of the row means, and of the ratios whose density is farthest off."""
    from lpsched.report.tables import table

    def misfit(shape: Shape) -> float:
        real, density = shape.real, shape.density
        return abs(real.skewness - density.skewness) + abs(real.kurtosis - density.kurtosis)

    rows = []
    for key in ("seconds", "watts"):
        shapes = [shape for shape in growth.shapes if shape.table == key]
        ratios = [shape for shape in shapes if shape.of is not None]
        for shape in shapes[:1] + sorted(ratios, key=misfit)[-1:]:
            what = "row means" if shape.of is None else f"ratios of {shape.of} (least well kept)"
            rows += _rows(f"{key}: {what}", shape)
    return table(HEADERS, rows, numbers=(2, 3, 4, 5))


def _rows(what: str, shape: Shape) -> list[tuple[str, ...]]:
    from lpsched.units import number

    rows = []
    for label, moments in (("real", shape.real), ("density", shape.density), ("new", shape.new)):
        if moments is not None:
            cells: tuple[str, ...] = ("0", "-", "-")
            if moments.deviation:
                variation = moments.deviation / moments.mean if moments.mean else 0.0
                cells = tuple(f"{each + 0.0:.3f}" for each in (variation, moments.skewness, moments.kurtosis))
            rows.append((what if label == "real" else "", label, number(moments.mean, 5), *cells))
    return rows


# `lpsched generate`: instances from a seed. Options come from the models of `lpsched/generate/options.py`.
Method = Literal["cov", "grow"]  # how to make the tables of a bag
Platform = Literal["small", "medium", "large"]  # `lpsched.generate.options.PLATFORMS`, without loading it
generate_app = new_app(
    help="Generate an instance from a random seed.",
    epilog=options.epilog_of("lpsched generate bag --seed 1 -o bag.yaml"),
)


def _command(
    name: str, find: Callable[[], options.FoundOptions]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command with the options that `find` finds in a model."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        add_command(generate_app, function, name, base=options.command_with(function, find))
        return function

    return register


def _bag_options() -> options.FoundOptions:
    from lpsched.generate.options import CovOptions, GrowOptions

    defaults = {}
    for name, grown in GrowOptions.model_fields.items():
        by_cov = CovOptions.model_fields[name].default
        if grown.default not in {None, by_cov}:
            defaults[name] = f"{options.as_typed(by_cov)}; grow: {options.as_typed(grown.default)}"
    found = options.options_of(CovOptions, **defaults)
    order = dict.fromkeys((*GrowOptions.model_fields, "special_cov", *found))  # what both methods have comes first
    return {"name": [found[each] for each in order]}


@_command("bag", _bag_options)
def generate_bag(
    context: typer.Context,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same bag.", min=0)],
    output: options.Output,
    method: Annotated[
        Method, typer.Option(help="cov: coefficients of variation; grow: like the tables of a small bag.")
    ] = "cov",
    source: Annotated[Path | None, typer.Option("--from", help="grow: the small bag, a .yaml or .json file.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the bag; by default made of the seed.")] = None,
    tables: options.TablesOption = None,
    **more: object,
) -> None:
    """Generate a bag by coefficients of variation, or from a small one.

    Examples
    --------
    lpsched generate bag --seed 1 -o bag.yaml
    """
    import numpy as np

    from lpsched.generate.options import CovOptions, GrowOptions

    given, rng = options.given_of(more), np.random.default_rng(seed)
    named = name if name is not None else f"{method}-{seed}"
    if method == "cov":
        from lpsched.generate.bags import cov_bag

        _reject_foreign(() if source is None else ("from",), "grow")
        bag = cov_bag(named, rng, CovOptions(**given))
        write_and_print(console_of(context), bag, output, tables, seed=seed)
        return
    from lpsched.bag.files import read_bag
    from lpsched.generate.bags import grow

    _reject_foreign([each for each in given if each not in GrowOptions.model_fields], "cov")
    if source is None:
        raise options.usage_error("--from", "nothing", "the small bag that --method grow grows", "add it")
    growth = grow(named, read_bag(source), rng, GrowOptions(**given))
    content = growth_as_json(growth)
    write_and_print(console_of(context), growth.bag, output, tables, seed=seed, growth=content)
    if not console_of(context).quiet:
        sys.stdout.flush()
        print_tables([growth_table(growth)], sys.stderr)  # after what is on stdout


def _reject_foreign(names: Collection[str], method: Method) -> None:
    """Reject options of the other method, all in one message."""
    if names:
        options.reject_without({options.flags_of(names): names}, f"--method {method}")


def _day_options() -> options.FoundOptions:
    from lpsched.generate.options import EsscOptions

    usual, with_states = EsscOptions(), EsscOptions(p_states=2)
    tasks, *others = options.options_of(
        EsscOptions,
        edge=f"{usual.period.edge}; with P-states: {with_states.period.edge}",
        special_task_types=options.as_typed(usual.tables.special_task_types),
    ).values()
    text = f"{EsscOptions.model_fields['tasks'].description} --from: in all."
    required = tasks.replace(default=Parameter.empty, annotation=Annotated[int, typer.Option(help=text)])
    return {"output": [required], "name": others}


@_command("day", _day_options)
def generate_day(
    context: typer.Context,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same day.", min=0)],
    output: options.Output,
    name: Annotated[str | None, typer.Option(help="Name of the day; by default made of the seed.")] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A bag with watts: its machines, task types and tables, even arrivals."),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="--from: length of the span in which tasks arrive, in minutes.")
    ] = None,
    tables: options.TablesOption = None,
    **more: object,
) -> None:
    """Generate a day of arriving tasks, as in Friese's thesis of 2015.

    Examples
    --------
    lpsched generate day --seed 1 --tasks 200 -o day.yaml
    """
    given = options.given_of(more)
    named = name if name is not None else f"day-{seed}"
    if source is None:
        from lpsched.generate.day import essc_day
        from lpsched.generate.options import EsscOptions

        options.reject({"--minutes": minutes}, "without --from", "both", "use --hours, or add --from")
        day = essc_day(named, seed, EsscOptions(**given))
    else:
        import numpy as np

        from lpsched.bag.files import read_bag
        from lpsched.generate.day import day_of

        tasks = given.pop("tasks")
        if given:
            expected = "those of the bag"
            options.reject({options.flags_of(given): given}, "with --from", expected)
        if minutes is None:
            expected = "the span of time in which the tasks of --from arrive"
            raise options.usage_error("--minutes", "nothing", expected, "add it")
        day = day_of(named, read_bag(source), np.random.default_rng(seed), tasks=tasks, minutes=minutes)
    write_and_print(console_of(context), day, output, tables, seed=seed)


def _clusters_options() -> options.FoundOptions:
    from lpsched.generate.options import AMPLITUDES, MachovecOptions

    drawn = f"drawn, {' to '.join(map(options.as_typed, AMPLITUDES))}"
    tasks, *others = options.options_of(MachovecOptions, wave_amplitude=drawn).values()
    return {"output": [tasks], "name": others}


@_command("clusters", _clusters_options)
def generate_clusters(
    context: typer.Context,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same clusters.", min=0)],
    output: options.Output,
    name: Annotated[str | None, typer.Option(help="Name of the clusters; by default made of the seed.")] = None,
    tables: options.TablesOption = None,
    **more: object,
) -> None:
    """Generate clusters with tasks of many nodes, as in Machovec et al. 2016.

    Examples
    --------
    lpsched generate clusters --seed 1 --tasks 200 -o clusters.yaml
    """
    from lpsched.generate.clusters import machovec_clusters
    from lpsched.generate.options import MachovecOptions

    given = options.given_of(more)
    if given.get("special_nodes") == ():
        given.setdefault("special_cores_per_node", ())
    made = machovec_clusters(name if name is not None else f"clusters-{seed}", seed, MachovecOptions(**given))
    write_and_print(console_of(context), made, output, tables, seed=seed)


def _facility_options() -> options.FoundOptions:
    from lpsched.generate.options import PLATFORMS, FacilityOptions

    sizes = {
        key: ", ".join(f"{name} {options.as_typed(getattr(platform, key))}" for name, platform in PLATFORMS.items())
        for key, field in FacilityOptions.model_fields.items()
        if field.is_required()
    }
    found = options.options_of(FacilityOptions, **sizes)
    return {"name": sorted(found.values(), key=lambda option: option.name in sizes)}


@_command("facility", _facility_options)
def generate_facility(
    context: typer.Context,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same facility.", min=0)],
    output: options.Output,
    platform: Annotated[Platform, typer.Option(help="Sizes of the paper.")] = "small",
    name: Annotated[
        str | None, typer.Option(help="Name of the facility; by default made of platform and seed.")
    ] = None,
    tables: options.TablesOption = None,
    **more: object,
) -> None:
    """Generate a facility, as in Oxley et al. 2014.

    Examples
    --------
    lpsched generate facility --seed 1 -o facility.yaml
    """
    import numpy as np

    from lpsched.generate.facility import facility_of
    from lpsched.generate.options import PLATFORMS

    chosen = PLATFORMS[platform].model_copy(update=options.given_of(more))
    named = name if name is not None else f"{platform}-{seed}"
    facility = facility_of(named, np.random.default_rng(seed), chosen)
    write_and_print(console_of(context), facility, output, tables, seed=seed)
