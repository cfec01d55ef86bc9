"""`lpsched generate day`: the thesis's day, or tasks that arrive for the machines of a bag."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli.given import as_typed, counts_of, defaults_of, given_of
from lpsched.cli.options import Output, TablesOption, form_of, require_output
from lpsched.cli.talk import talk_of

if TYPE_CHECKING:
    from lpsched.instance.day import Day

ENDINGS = (".yaml", ".yml", ".json")


class AffinityOption(StrEnum):
    """Environments; the names of `lpsched.generate.affinity.Affinity`, without loading it."""

    EXAMPLE = "example"
    LOW = "low"
    HIGH = "high"


class EdgeOption(StrEnum):
    """How a period cuts tasks at its edges; the words of `lpsched.instance.period`, without loading it."""

    COMPLETED = "completed"
    PRORATED = "prorated"


def day_defaults() -> dict[str, str]:
    """Return the defaults; some follow from others."""
    from lpsched.generate.essc_options import EsscOptions

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
        typer.Option(
            help="How many tasks arrive in the period on average; the warm-up's come on top. --from: in all."
        ),
    ],
    name: Annotated[str | None, typer.Option(help="The day's name; from the seed if not given.")] = None,
    hours: Annotated[float | None, typer.Option(help="Length of the period that counts.")] = None,
    warm_up_hours: Annotated[float | None, typer.Option(help="Hours before it that do not count.")] = None,
    p_states: Annotated[int | None, typer.Option(help="P-states of each machine, 1 to 3.")] = None,
    affinity: Annotated[
        AffinityOption | None,
        typer.Option(help="How much tasks differ in which machines suit them."),
    ] = None,
    edge: Annotated[
        EdgeOption | None,
        typer.Option(
            help="What counts of a task at the period's edges: all if it ends within, or the part within."
        ),
    ] = None,
    energy_gigajoules: Annotated[float | None, typer.Option(help="Energy constraint of the period.")] = None,
    task_types: Annotated[int | None, typer.Option(help="Number of task types.")] = None,
    machines: Annotated[
        list[str] | None,
        typer.Option(help="Machines of each general-purpose type."),
    ] = None,
    special_machines: Annotated[
        list[str] | None, typer.Option(help="Machines of each special-purpose type.")
    ] = None,
    special_task_types: Annotated[int | None, typer.Option(help="Task types that they run, in all.")] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A bag with watts: its machines, task types and tables, even arrivals."),
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="--from: in which span tasks arrive.")] = None,
    tables: TablesOption = None,
) -> None:
    """Generate a day: tasks that arrive and lose utility, as in Friese's thesis of 2015."""
    from lpsched.cli.answers import write_and_tell

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
            "special_machines": counts_of("--special-machines", special_machines)
            if special_machines
            else None,
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
            raise typer.BadParameter(
                f"{options}: not with --from, whose bag has machines and tables; drop it"
            )
        if minutes is None:
            raise typer.BadParameter("--from needs --minutes: the span in which tasks arrive")
        day = _of_a_bag(named, seed, source, tasks, minutes, output)
    write_and_tell(talk_of(context), day, output, form_of(tables), seed=seed)


def _of_the_thesis(name: str, seed: int, options: dict[str, Any], output: Path) -> Day:
    from lpsched.generate.essc import essc_day
    from lpsched.generate.essc_options import EsscOptions

    require_output(output, ENDINGS)
    return essc_day(name, seed, EsscOptions(**options))


def _of_a_bag(name: str, seed: int, source: Path, tasks: int, minutes: float, output: Path) -> Day:
    import numpy as np

    from lpsched.files.bags import read_bag
    from lpsched.generate.day import day_of

    require_output(output, ENDINGS, source)
    return day_of(name, read_bag(source), np.random.default_rng(seed), tasks=tasks, minutes=minutes)
