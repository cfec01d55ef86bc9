"""`lpsched new`, `schema`, `show`, `convert`, `expand`, `certify` and `verify`: commands about files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli import options
from lpsched.cli.console import Talk, header, leave, print_json, talk_of, watched, write_and_tell
from lpsched.cli.options import Kind, Output, TablesOption, require_output

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day


def new(
    context: typer.Context,
    kind: Annotated[Kind, typer.Argument(help="What to start.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A new file; printed if not given.")] = None,
) -> None:
    """Start a file: a commented template with every key."""
    from importlib.metadata import version

    from lpsched.io.content import write_files
    from lpsched.io.templates import template

    text = template(kind)
    content: dict[str, object] = {"format": "lpsched-new/1", "lpsched": version("lpsched"), "kind": kind}
    if output is None:
        talk_of(context).answer(content | {"text": text}, text=text)
        return
    then = "study run" if kind == "study" else "show"
    write_files({output: text.encode()}, replace=False)
    talk_of(context).answer(
        content | {"files": [str(output)]}, text=f"{output}: edit it, then 'lpsched {then} {output}'\n"
    )


def schema(kind: Annotated[Kind, typer.Argument(help="Of which kind of file.")]) -> None:
    """Print the JSON Schema of a kind of file."""
    from lpsched.model.kinds import KINDS

    print_json(KINDS[kind].load("model").model_json_schema())


def show(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help="A bag, a facility, a day, clusters, a bench or measurements: .yaml or .json.", readable=False
        ),
    ],
) -> None:
    """Show what is in a file: sizes, heterogeneity, air, load; what a bench will run, what one found out."""
    from lpsched.instances import read_with_kind
    from lpsched.model.kinds import SHOWN

    shown, kind = read_with_kind(file, SHOWN)
    content, tables = kind.load("show")(shown)
    talk_of(context).answer(header("lpsched-show/1", shown) | content, tables)


def convert(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="A bag, a facility, a day, clusters or measurements: .yaml or .json.", readable=False)
    ],
    output: Output,
    tables: TablesOption = None,
    *,
    merge: Annotated[bool, typer.Option("--merge", help="Join types of a bag that differ only in name.")] = False,
) -> None:
    """Write a file in another format or table form, without loss."""
    from lpsched.instances import read_with_kind
    from lpsched.model.kinds import INSTANCES, SHOWN

    instance, kind = read_with_kind(file, SHOWN)
    if not kind.write:
        raise typer.BadParameter(f"{file} is {kind.phrase}, which is written by hand only; copy it")
    if kind.name not in INSTANCES and tables is not None:
        raise typer.BadParameter(f"--tables: {file} is no instance; leave the option out")
    if merge and kind.name != "bag":
        raise typer.BadParameter(f"--merge: {file} is no bag; leave the option out")
    write_and_tell(talk_of(context), instance.merged() if merge else instance, output, tables)


def expand(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A bag, a day or clusters: a .yaml or .json file.", readable=False)],
    schedule: Annotated[
        Path,
        typer.Argument(
            help="Of a bag: a compact schedule, .json or .yaml. Of a day or clusters: .csv or .parquet.", readable=False
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="The rows: .csv or .parquet. Of a day or clusters also .swf, .swf.gz, "
            "and _jobs.csv as Batsim writes it.",
        ),
    ],
) -> None:
    """Write a schedule task by task: where it runs, and when; of days and clusters also what it took."""
    from lpsched.instances import read_with_kind

    read, kind = read_with_kind(instance)
    if kind.name == "facility":
        raise typer.BadParameter("is a facility, whose allocations have no tasks", param_hint="INSTANCE")
    endings = (".csv", ".parquet", ".swf", ".gz") if kind.read_schedule else (".csv", ".parquet")
    require_output(output, endings, instance, schedule)
    if kind.read_schedule:
        from lpsched.traces.export import export_schedule

        export_schedule(read, kind.load("read_schedule")(read, schedule), output)
        tasks = read.tasks
    else:
        tasks = _expand_bag(read, schedule, output)
    answer = header("lpsched-written/1", read) | {"files": [str(output)], "tasks": tasks}
    talk_of(context).answer(answer, text=f"{output}: {tasks:,} tasks\n")


def _expand_bag(bag: Bag, schedule: Path, output: Path) -> int:
    """Write the rows of a valid schedule; return how many tasks it has."""
    from lpsched.bag.files import read_schedule, write_rows
    from lpsched.bag.schedule import expand as rows_of
    from lpsched.bag.verify import examine
    from lpsched.errors import InvalidScheduleError, LpschedWarning

    compact = read_schedule(schedule)
    broken = examine(bag, compact, may_wait=True).violations
    if broken:
        sentences = "".join(f"\n  {each.sentence}" for each in broken[:20])
        raise InvalidScheduleError(f"{schedule} is not a schedule of {bag.name}:{sentences}")
    if compact.makespan_seconds is not None:
        waits = f"the schedule ends at {compact.makespan_seconds:g} s, which rows of tasks cannot say"
        warnings.warn(f"{waits}; keep {schedule.name} to validate it", LpschedWarning, stacklevel=1)
    tasks = bag.tasks if compact.groups else 0
    write_rows(rows_of(bag, compact), tasks, output)
    return tasks


# `lpsched certify` and `lpsched verify`: write a certificate, and check files without a solver.
def certify(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A bag, a day or clusters: a .yaml or .json file.", readable=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="The certificate: a .json file.")],
    objective: options.ObjectiveOption = None,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    effort: Annotated[
        options.Effort | None,
        typer.Option(help="Prove the bound that 'lpsched solve' finds with this effort; bags only."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; then the best bound so far is certified.", min=0.0)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed, as for 'lpsched solve'; bags only.", min=0)] = None,
    solver: options.SolverName = "highs",
) -> None:
    """Write the bound and the prices that prove it, for anybody to check."""
    from lpsched.instances import read_with_kind

    options.require_output(output, (".json",), instance)
    read, kind = read_with_kind(instance)
    of_bag = {"objective": objective, **options.terms_of(price, profit_ratio, power_cap, deadline), "effort": effort}
    if kind.simulate:
        unfit = of_bag | {"seed": seed, "solver": None if solver == "highs" else solver}
        named = {options.flags_of([name]): value for name, value in unfit.items()}
        options.refuse(named, f"goes with a bag, and this is {kind.phrase}")
        _certify_arriving(talk_of(context), read, output, time_limit)
    else:
        if not kind.certify:
            from lpsched.bag.files import read_bag

            read_bag(instance)  # which refuses anything else
        from lpsched.lp.solvers import solver_named

        if effort is None:
            del of_bag["effort"]  # the library's own
        given = of_bag | {"seed": seed or 0, "solver": solver_named(solver)}
        _certify_bag(talk_of(context), read, output, time_limit, given)


def _certify_bag(talk: Talk, bag: Bag, output: Path, time_limit: float | None, given: dict[str, Any]) -> None:
    from lpsched.bag.certificate.files import as_dict, write_certificate
    from lpsched.bag.certify import certify as certify_bag
    from lpsched.model.provenance import version_of_lpsched
    from lpsched.report.answers import certificate_line

    with watched(talk, time_limit) as watch:
        made = certify_bag(bag, **given, watch=watch)
    write_certificate(made, output, version_of_lpsched())
    answer = as_dict(made, version_of_lpsched()) | {"files": [str(output)]}
    talk.answer(answer, text=certificate_line(made, str(output)))
    leave(watch, valid=True)


def _certify_arriving(talk: Talk, instance: Day | Clusters, output: Path, time_limit: float | None) -> None:
    from lpsched.model.kinds import kind_of
    from lpsched.model.provenance import version_of_lpsched
    from lpsched.online.certificate.claim import WAITING, objective_of
    from lpsched.online.certificate.files import as_dict, write_day_certificate
    from lpsched.units import lower_text, upper_text

    with watched(talk, None) as watch:
        made = kind_of(instance).load("certify")(instance, time_limit=time_limit, watch=watch)
    write_day_certificate(made, output, version_of_lpsched())
    answer = as_dict(made, version_of_lpsched()) | {"files": [str(output)]}
    told = f"utility {upper_text(made.bound)}"
    if objective_of(instance) == WAITING:
        told = f"a cost of waiting of at least {lower_text(-made.bound)}"
    claim = f"{told} is proved for {instance.name}"
    talk.answer(answer, text=f"{output}: {claim}; check it with 'lpsched verify'\n")
    leave(watch, valid=True)


def verify(
    context: typer.Context,
    instance: Annotated[
        Path, typer.Argument(help="A bag, a facility, a day or clusters: a .yaml or .json file.", readable=False)
    ],
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Certificates and schedules of a bag, proofs and allocations of a facility, "
            "or certificates and schedules of a day or of clusters.",
            readable=False,
        ),
    ],
) -> None:
    """Check certificates, schedules, proofs and allocations, without any solver."""
    from lpsched.auditing import audit
    from lpsched.instances import read_instance
    from lpsched.report.tables import audit_tables

    result = audit(read_instance(instance), files)
    talk_of(context).answer(result.to_dict(), audit_tables(result))
    if not result.accepted:
        raise typer.Exit(1)
