"""Options that several commands share, and their defaults in help texts."""

from __future__ import annotations

import inspect
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_origin

import typer

from lpsched.cli.commands import FIGURES, PAGES, Command, output_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from matplotlib.figure import Figure as Figures

    from lpsched.generate.options import Options
    from lpsched.model.risk import RiskOptions
    from lpsched.units import Quantity


# The words that options take are those of the library, which is not loaded for them.
Kind = Literal["bag", "facility", "day", "clusters", "study", "bench", "measurements"]
Tables = Literal["names", "matrix", "csv", "npz", "parquet"]  # `lpsched.io.instance_files.TableForm`
Objective = Literal["profit", "makespan", "energy"]  # `lpsched.bag.problem.OBJECTIVES`
Effort = Literal["fast", "balanced", "auto", "tight"]  # `lpsched.bag.result.Effort`
Marginals = Literal["lp", "top", "proved"]  # `lpsched.bag.pricing.one_more.Marginals`
Device = Literal["cpu", "cuda"]  # `lpsched.lp.program.Device`
Cost = Literal["bounded-slowdown", "slowdown", "seconds"]  # of waiting: `lpsched.online.utility.WaitingCost`
Weight = Literal["task", "cores", "core-seconds"]

ENDINGS = (".yaml", ".yml", ".json")
EXTRA = "Needs the extra 'report'."


# Values with units: a plain number means what the option's help says.
def quantity_option(*names: str, kind: Quantity, help: str, unit: int = 1, least: float | None = None) -> Any:  # noqa: A002, ANN401 - as Typer has it
    """Return the option of a time, power or energy, in units of `unit` seconds, watts or joules."""

    def parse(text: str | float) -> float:
        from lpsched.units import parse_quantity

        if not isinstance(text, str):  # a default
            return text
        try:
            return parse_quantity(text, kind, unit=unit, least=least)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    return typer.Option(*names, help=help, parser=parse, metavar=f"<{kind}>")


def time_option(*names: str, help: str, unit: int = 1, least: float | None = None) -> Any:  # noqa: A002, ANN401 - as Typer has it
    """Return the option of a time."""
    return quantity_option(*names, kind="time", help=help, unit=unit, least=least)


def time_limit_option(help: str) -> Any:  # noqa: A002, ANN401 - as Typer has it
    """Return the option `--time-limit` with its help."""
    return time_option("--time-limit", help=help, least=0.0)


BagFile = Annotated[Path, typer.Argument(help="The bag of tasks: a .yaml or .json file.", readable=False)]
Output = Annotated[Path, output_option("-o", "--output", endings=ENDINGS, help="The file to write.")]
TablesOption = Annotated[
    Tables | None,
    typer.Option(
        "--tables",
        help="Tables inside the file, by name or as a matrix, or in files beside it. "
        "By default: by name up to 1,000 pairs, a matrix up to 100,000, else .npz.",
    ),
]
ObjectiveOption = Annotated[
    Objective | None, typer.Option(help="What to optimise. By default profit where a price is known, else makespan.")
]
Price = Annotated[float | None, typer.Option("--price", help="Price of the whole bag; replaces the file's prices.")]
ProfitRatio = Annotated[
    float | None, typer.Option("--profit-ratio", help="Price of the bag as a multiple of the cost of its least energy.")
]
PowerCap = Annotated[
    float | None,
    quantity_option(
        "--power-cap", kind="power", help="Average-power cap in watts or with a unit, e.g. 30kW; replaces the file's."
    ),
]
Deadline = Annotated[
    float | None,
    time_option("--deadline", help="Deadline in seconds or with a unit, e.g. 5h; all tasks must finish by then."),
]
EFFORT_HELP = (
    "fast: one linear program, rounded. balanced: also balances loads, in milliseconds. auto: balanced, "
    "then about 1 s of search where the gap is above 0.1 %. tight: up to 30 s of search."
)
EffortOption = Annotated[Effort, typer.Option("--effort", help=EFFORT_HELP)]
EffortOfBag = Annotated[  # for commands that take other instances as well
    Effort | None, typer.Option("--effort", help=f"Bags only. {EFFORT_HELP}", show_default="auto")
]
MarginalsOption = Annotated[
    Marginals,
    typer.Option(
        "--marginals",
        help="lp: marginal values of the linear program. top: also the proved effect of one more machine or task, "
        "for the three types of largest value. proved: for all types.",
    ),
]
SolverName = Annotated[str, typer.Option("--solver", help="highs, or pulp:NAME for a solver that PuLP finds.")]
Seed = Annotated[int, typer.Option(help="Random seed; the same seed gives the same answer.", min=0)]
Generations = Annotated[
    int | None,
    typer.Option(help="ga, nsga2: generation limit; unlike a time limit, it gives the same answer everywhere.", min=0),
]
Jobs = Annotated[int, typer.Option(help="Number of processes that share the work.", min=1)]
Figure = Annotated[Path | None, output_option("--figure", endings=FIGURES, help=f"Draw a figure. {EXTRA}")]
Report = Annotated[Path | None, output_option("--report", endings=PAGES, help=f"Write a report page. {EXTRA}")]


def words_of(given: list[str] | None) -> tuple[str, ...]:
    """Read words that come with commas, with repetition, or both; each once, none empty."""
    return tuple(dict.fromkeys(filter(None, (word.strip() for part in given or [] for word in part.split(",")))))


def reject(options: Mapping[str, object], why: str) -> None:
    """Reject options that are given and do not go with the rest."""
    for name, value in options.items():
        if value is not None:
            raise typer.BadParameter(why, param_hint=name)


def terms_of(
    price: float | None, profit_ratio: float | None, power_cap: float | None, deadline: float | None
) -> dict[str, Any]:
    """Return the terms of a bag as the library's functions take them."""
    return {"price": price, "profit_ratio": profit_ratio, "power_cap": power_cap, "deadline": deadline}


def write_figure_and_page(
    figure: Path | None, report: Path | None, draw: Callable[[], Figures], page: Callable[[], str]
) -> None:
    """Draw the figure and write the page that are asked for."""
    if figure is not None:
        from lpsched.io.figure_files import write_figure

        write_figure(draw(), figure)
    if report is not None:
        from lpsched.io.content import write_files

        write_files({report: page().encode()})


# Schedulers by name, or of a user's own file: heuristics of bags and days, policies, methods of facilities.
def scheduler_words(given: list[str] | None) -> tuple[str, ...]:
    """Read the option `--scheduler`; without it there are none."""
    words = words_of(given)
    if given and not words:
        message = f"got {','.join(given)!r}, expected names of schedulers with commas between them"
        raise typer.BadParameter(message, param_hint="--scheduler")
    return words


def scheduler_named(word: str) -> Any:  # noqa: ANN401 - a name, or a function
    """Return a name as it is; of `file.py:function` the function."""
    path, colon, name = word.rpartition(":")
    return function_in(Path(path), name) if colon and path.endswith(".py") else word


def function_in(path: Path, name: str) -> Callable[..., Any]:
    """Load a function from a Python file.

    Raises
    ------
    InstanceError
        If there is no such file or function, or the file cannot be run.
    """
    import sys
    from importlib.util import module_from_spec, spec_from_file_location

    from lpsched.errors import InputIssue, InstanceError

    def issue(got: str, expected: str, hint: str) -> InstanceError:
        return InstanceError(str(path), (InputIssue(("--scheduler",), got, expected, hint),))

    if not path.is_file():
        raise issue("no file of this name", "a Python file", "correct the path")
    spec = spec_from_file_location(f"lpsched_scheduler_{path.stem}", path)
    assert spec is not None, "the name ends in .py"
    assert spec.loader is not None, "so that there is a loader"
    module = sys.modules[spec.name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a user's file may raise anything
        raise issue(f"{type(error).__name__}: {error}", "a file that Python can run", "fix the file") from error
    except SystemExit as stop:
        raise issue(f"a file that exits ({stop})", "one that only defines functions", "fix the file") from stop
    found = getattr(module, name, None)
    if not callable(found):
        defined = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise issue(f"no function {name!r}", f"one of {', '.join(defined) or 'the functions it defines'}", "name one")
    return found  # type: ignore[no-any-return]


# The option `--risk` of several commands: what to sample, in one text.
RiskOption = Annotated[
    str | None,
    typer.Option(
        "--risk",
        metavar="samples=N,cov=X",
        help="Sample times and powers around the tables' means: samples=1000,cov=0.3, or a range, "
        "cov=0.1-1.5; also power-cov=0.1 and percentiles=5/50/95.",
    ),
]


def parse_risk(text: str | None, *, ranks: bool = False) -> RiskOptions | None:
    """Read the option; `ranks` says whether the command may rank by a percentile."""
    from lpsched.model.risk import RiskOptions

    return None if text is None else RiskOptions.read(text, ranks=ranks)


# Options of generators, made of their models: name, type, help and default.
LONGEST_COUNT = 18  # digits
NONE = "none"
FoundOptions: TypeAlias = "Mapping[str, Iterable[Parameter]]"


def options_of(model: type[Options], **shown: str) -> dict[str, Parameter]:
    """Return the options of a command by name; `shown` are defaults that the help puts in other words.

    Those that are not given are None, so that a command knows. A field without a description is no option.
    """
    kinds, found = model.types(), {}
    for name, field in model.model_fields.items():
        if field.description is not None:
            kind = list[str] if get_origin(kinds[name]) is tuple else kinds[name]
            default = shown.get(name) or as_typed(field.default)
            option = typer.Option(help=f"{field.description} [default: {default}]")
            found[name] = Parameter(
                name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
            )
    return found


def command_with(function: Callable[..., None], find: Callable[[], FoundOptions]) -> type[Command]:
    """Return a class of commands that call `function`, with more options than those in its signature.

    `find` says which come after which of its own; it is asked when the command is used, for models take time to load.
    """

    class WithOptions(Command):
        def get_params(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer hides their classes
            if not self.params:
                app = typer.Typer(add_completion=False, rich_markup_mode=None)
                app.command()(_extended(function, find()))
                whole = typer.main.get_command(app)
                self.params, self.callback = whole.params, whole.callback
            return super().get_params(ctx)

    return WithOptions


def _extended(function: Callable[..., None], found: FoundOptions) -> Callable[..., None]:
    """Return a function whose signature has the options that were found in place of any."""
    own = inspect.signature(function, eval_str=True)
    parameters = [
        option
        for each in own.parameters.values()
        if each.kind is not Parameter.VAR_KEYWORD
        for option in (each.replace(kind=Parameter.KEYWORD_ONLY), *found.get(each.name, ()))
    ]

    def extended(**given: object) -> None:
        function(**given)

    extended.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]  # for Typer
    return extended


def as_typed(value: object) -> str:
    """Return a value as a user would type it."""
    if value is None or value == ():
        return NONE
    if isinstance(value, tuple):
        return ",".join(map(as_typed, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def given_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given, with numbers for lists of words."""
    given = {name: value for name, value in options.items() if value is not None and value != []}
    return {name: counts_of(name, value) if isinstance(value, list) else value for name, value in given.items()}


def flags_of(names: Iterable[str]) -> str:
    """Return options as they are typed."""
    return ", ".join(f"--{name.replace('_', '-')}" for name in names)


def counts_of(name: str, given: list[str]) -> tuple[int, ...]:
    """Read the counts of an option that come with commas, with repetition, or both; `none` are none."""
    if given == [NONE]:
        return ()
    words = [word for part in given for word in part.split(",")]
    if not all(word.strip().isascii() and word.strip().isdigit() and len(word) <= LONGEST_COUNT for word in words):
        raise typer.BadParameter(f"{flags_of([name])}: got {','.join(words)[:60]!r}, expected counts such as 40,40,20")
    return tuple(int(word) for word in words)
