"""`lpsched new`, `schema`, `show`, `convert`, `expand`, `certify` and `verify`: commands about files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli import horizon as over_time
from lpsched.cli import options
from lpsched.cli.console import Console, cancellable, console_of, exit_with_status, header, print_json, write_and_print
from lpsched.cli.options import ENDINGS, Kind, Output, TablesOption, output_option, require_output

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day


ROWS = (".csv", ".parquet")
TRACES = (".swf", ".swf.gz")  # logs of days and clusters


def new(
    context: typer.Context,
    kind: Annotated[Kind, typer.Argument(help="The kind of file.")],
    output: Annotated[
        Path | None, output_option("-o", "--output", endings=ENDINGS[:2], help="The file to write; else it is printed.")
    ] = None,
) -> None:
    """Write a commented template of a file, with every key.

    Examples
    --------
    lpsched new bag -o my.yaml
    """
    from importlib.metadata import version

    from lpsched.io.content import write_files
    from lpsched.io.templates import template

    text = template(kind)
    content: dict[str, object] = {"format": "lpsched-new/1", "lpsched": version("lpsched"), "kind": kind}
    if output is None:
        console_of(context).answer(content | {"text": text}, lines=text.splitlines())
        return
    then = "study run" if kind == "study" else "show"
    write_files({output: text.encode()})
    lines = [f"{output}: edit it, then 'lpsched {then} {output}'"]
    console_of(context).answer(content | {"files": [str(output)]}, lines=lines)


def schema(kind: Annotated[Kind, typer.Argument(help="The kind of file.")]) -> None:
    """Print the JSON Schema of a kind of file.

    Examples
    --------
    lpsched schema bag > bag.schema.json
    """
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
    """Show the content of a file: sizes, heterogeneity, load.

    Examples
    --------
    lpsched show instances/ai-service.yaml
    """
    from lpsched.instances import read_with_kind
    from lpsched.model.kinds import kinds_with

    shown, kind = read_with_kind(file, kinds_with("show"))
    content, tables = kind.load("show")(shown)
    console_of(context).answer(header("lpsched-show/1", shown) | content, tables)


def convert(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="A bag, a facility, a day, clusters or measurements: .yaml or .json.", readable=False)
    ],
    output: Output,
    tables: TablesOption = None,
    *,
    merge: Annotated[bool, typer.Option("--merge", help="Bags: join types that differ only in name.")] = False,
) -> None:
    """Write a file in another format or with tables in another form.

    Examples
    --------
    lpsched convert instances/tiny.yaml -o tiny.json
    lpsched convert instances/spec-2010.yaml -o spec.yaml --tables csv
    """
    from lpsched.instances import read_with_kind
    from lpsched.model.kinds import INSTANCES, kinds_with

    instance, kind = read_with_kind(file, kinds_with("write"))
    if kind.name not in INSTANCES:
        options.reject({"--tables": tables}, f"for {kind.phrase}", "an instance")
    if kind.name != "bag":
        options.reject({"--merge": merge or None}, f"for {kind.phrase}", "a bag")
    write_and_print(console_of(context), instance.merged() if merge else instance, output, tables)


def expand(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A bag, a day or clusters: a .yaml or .json file.", readable=False)],
    schedule: Annotated[
        Path,
        typer.Argument(
            help="A schedule of a bag in groups of machines (.json, .yaml), of a day or clusters one row per task "
            "(.csv, .parquet, .json).",
            readable=False,
        ),
    ],
    output: Annotated[
        Path,
        output_option(
            "-o",
            "--output",
            endings=(*ROWS, *TRACES),
            help="The rows. Days and clusters: also .swf, and _jobs.csv as Batsim writes it.",
        ),
    ],
) -> None:
    """Write a schedule with one row per task.

    Examples
    --------
    lpsched solve instances/tiny.yaml -o plan.json
    lpsched expand instances/tiny.yaml plan.json -o plan.csv
    """
    from lpsched.instances import read_with_kind
    from lpsched.model.kinds import kinds_with

    read, kind = read_with_kind(instance, kinds_with("schedule"))
    require_output(output, (*ROWS, *TRACES) if kind.read_schedule else ROWS)
    if kind.read_schedule:
        from lpsched.traces.export import export_schedule

        export_schedule(read, kind.load("read_schedule")(read, schedule), output)
        tasks = read.tasks
    else:
        tasks = _expand_bag(read, schedule, output)
    answer = header("lpsched-written/1", read) | {"files": [str(output)], "tasks": tasks}
    console_of(context).answer(answer, lines=[f"{output}: {tasks:,} tasks"])


def _expand_bag(bag: Bag, schedule: Path, output: Path) -> int:
    """Write the rows of a valid schedule; return how many tasks it has."""
    from lpsched.bag.files import read_schedule, write_schedule_rows
    from lpsched.bag.verify import examine
    from lpsched.errors import InvalidScheduleError
    from lpsched.text import printable

    compact = read_schedule(schedule)
    broken = examine(bag, compact, may_wait=True).violations
    if broken:
        sentences = "".join(f"\n  {printable(each.sentence)}" for each in broken[:20])
        raise InvalidScheduleError(f"{printable(str(schedule))} is not a schedule of {bag.name}:{sentences}")
    return write_schedule_rows(compact, bag, output)


# `lpsched certify` and `lpsched verify`: write a certificate, and check files without a solver.
def certify(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A bag, a day or clusters: a .yaml or .json file.", readable=False)],
    output: Annotated[Path, output_option("-o", "--output", endings=(".json",), help="The certificate.")],
    objective: options.ObjectiveOption = None,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    effort: Annotated[
        options.Effort | None,
        typer.Option(help="Bags: prove the bound that 'lpsched solve' finds with this effort.", show_default="auto"),
    ] = None,
    time_limit: Annotated[
        float | None,
        options.time_limit_option("Time limit in seconds or with a unit; then the best bound so far is certified."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Bags: random seed, as for 'lpsched solve'.", min=0, show_default="0")
    ] = None,
    solver: options.SolverName = "highs",
) -> None:
    """Write a proof of the bound that can be checked without a solver.

    Examples
    --------
    lpsched certify instances/tiny.yaml -o proof.json
    lpsched certify instances/clusters-small.yaml -o proof-of-clusters.json
    """
    from lpsched.instances import read_with_kind
    from lpsched.model.kinds import kinds_with

    read, kind = read_with_kind(instance, kinds_with("certify"))
    of_bag = {"objective": objective, **options.terms_of(price, profit_ratio, power_cap, deadline), "effort": effort}
    if kind.simulate:
        unfit = of_bag | {"seed": seed, "solver": None if solver == "highs" else solver}
        named = {options.flags_of([name]): value for name, value in unfit.items()}
        options.reject(named, f"for {kind.phrase}", "a bag")
        _certify_arriving(console_of(context), read, output, time_limit)
    else:
        from lpsched.lp.solvers import solver_named

        if effort is None:
            del of_bag["effort"]  # the library's own
        given = of_bag | {"seed": seed or 0, "solver": solver_named(solver)}
        _certify_bag(console_of(context), read, output, time_limit, given)


def _certify_bag(console: Console, bag: Bag, output: Path, time_limit: float | None, given: dict[str, Any]) -> None:
    from lpsched.bag.certify import certify as certify_bag
    from lpsched.bag.files import certificate_as_dict, write_certificate
    from lpsched.model.provenance import version_of_lpsched
    from lpsched.report.answers import certificate_line

    with cancellable(console, time_limit) as cancel:
        made = certify_bag(bag, **given, cancel=cancel)
    write_certificate(made, output, version_of_lpsched())
    answer = certificate_as_dict(made, version_of_lpsched()) | {"files": [str(output)]}
    console.answer(answer, lines=[certificate_line(made, str(output))])
    exit_with_status(cancel)


def _certify_arriving(console: Console, instance: Day | Clusters, output: Path, time_limit: float | None) -> None:
    from lpsched.auditing import claim_text
    from lpsched.model.kinds import kind_of
    from lpsched.model.provenance import version_of_lpsched
    from lpsched.online.certificate.claim import objective_of
    from lpsched.online.files import certificate_as_dict, write_day_certificate

    with cancellable(console, None) as cancel:
        made = kind_of(instance).load("certify")(instance, time_limit=time_limit, cancel=cancel)
    write_day_certificate(made, output, version_of_lpsched())
    answer = certificate_as_dict(made, version_of_lpsched()) | {"files": [str(output)]}
    claim = f"{claim_text(objective_of(instance), made.bound)} is proved for {instance.name}"
    console.answer(answer, lines=[f"{output}: {claim}; check it with 'lpsched verify'"])
    exit_with_status(cancel)


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
    tariff: over_time.TariffOption = None,
    carbon: over_time.CarbonOption = None,
    caps: over_time.CapsOption = None,
    grid_fee: over_time.GridFeeOption = None,
    switch_off: over_time.SwitchOffOption = None,
    fill: over_time.FillOption = False,  # noqa: FBT002 - an option
    *,
    price: options.Price = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    horizon: over_time.HorizonOption = None,
    start: over_time.StartOption = None,
    carbon_price: over_time.CarbonPriceOption = None,
    outlets: Annotated[str | None, typer.Option(help="Facilities: the fixed outlet temperatures of a proof.")] = None,
) -> None:
    """Check proofs, schedules and allocations without a solver.

    A proof under other terms than the file's (price, cap, deadline, horizon, outlets) is accepted only with the same
    options here. Plans over a horizon also need the same --tariff, --carbon, --caps, --grid-fee and --switch-off.

    Examples
    --------
    lpsched certify instances/tiny.yaml -o proof.json
    lpsched verify instances/tiny.yaml proof.json
    lpsched certify instances/tiny.yaml --deadline 20s -o within.json
    lpsched verify instances/tiny.yaml within.json --deadline 20s
    """
    from lpsched.auditing import audit
    from lpsched.cli.facility import temperatures
    from lpsched.instances import read_with_kind
    from lpsched.report.tables import audit_tables

    read, kind = read_with_kind(instance)
    given = over_time.TimeOptions(horizon, start, tariff, carbon, caps, grid_fee, carbon_price, switch_off, fill)
    terms: dict[str, Any] = {"price": price, "power_cap": power_cap, "deadline": deadline}
    if kind.name == "bag":
        from lpsched.bag.horizon.slots import with_switch_off

        read = with_switch_off(given.bag(read), switch_off)
        per_kilogram = None if carbon_price is None else carbon_price / over_time.KILOGRAMS
        terms |= {"horizon": horizon, "start": start, "carbon_price": per_kilogram}
    else:
        of_bag = {options.flags_of([name]): value for name, value in terms.items()}
        options.reject(given.flags() | of_bag, f"for {kind.phrase}", "a bag")
        terms = {}
    if kind.name != "facility":
        options.reject({"--outlets": outlets}, f"for {kind.phrase}", "a facility")
    elif outlets is not None:
        terms["outlets"] = temperatures(outlets, len(read.crac_units))
    result = audit(read, files, **terms)
    console_of(context).answer(result.to_dict(), audit_tables(result))
    if not result.accepted:
        raise typer.Exit(1)
