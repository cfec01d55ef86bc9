"""Options that several commands share, and their defaults in help texts."""

from __future__ import annotations

import inspect
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_origin

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lpsched.generate.options import Options
    from lpsched.model.risk import RiskOptions


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
PICTURES = (".png", ".svg", ".pdf")

BagFile = Annotated[Path, typer.Argument(help="The bag: a .yaml or .json file.", readable=False)]
Output = Annotated[Path, typer.Option("-o", "--output", help="The file to write: .yaml or .json.")]
TablesOption = Annotated[
    Tables | None,
    typer.Option(
        "--tables",
        help="Inside the file by name or as a matrix, or in files beside it. "
        "By default: by name up to 1,000 pairs, a matrix up to 100,000, else .npz.",
    ),
]
ObjectiveOption = Annotated[
    Objective | None, typer.Option(help="What to optimise. By default profit where a price is known, else makespan.")
]
Price = Annotated[
    float | None, typer.Option("--price", help="What the whole bag sells for, in place of the file's prices.")
]
ProfitRatio = Annotated[
    float | None, typer.Option("--profit-ratio", help="The price, as a multiple of what the least energy costs.")
]
PowerCap = Annotated[
    float | None, typer.Option("--power-cap", help="Average-power cap in watts, in place of the file's.")
]
Deadline = Annotated[
    float | None, typer.Option("--deadline", help="Seconds by which all must be done: forces the work.")
]
EFFORT_HELP = (
    "fast: one linear program, rounded. balanced: and loads evened out, in milliseconds. auto: balanced, "
    "then about 1 s of search where the gap is above 0.1 %. tight: up to 30 s of search."
)
EffortOption = Annotated[Effort, typer.Option("--effort", help=EFFORT_HELP)]
EffortOfBag = Annotated[  # for commands that take other instances as well
    Effort | None, typer.Option("--effort", help=f"Of a bag: {EFFORT_HELP}", show_default="auto")
]
MarginalsOption = Annotated[
    Marginals,
    typer.Option(
        "--marginals",
        help="lp: marginal values of the linear program. top: and what one more machine or task changes, "
        "proved, of the three types of largest value. proved: of all types.",
    ),
]
SolverName = Annotated[str, typer.Option("--solver", help="highs, or pulp:NAME for a solver that PuLP finds.")]
Seed = Annotated[int, typer.Option(help="Of what is left to chance; the same seed, the same answer.", min=0)]
Generations = Annotated[
    int | None, typer.Option(help="ga, nsga2: stop after so many; alike on every machine, unlike a time limit.", min=0)
]
Figure = Annotated[Path | None, typer.Option(help="Draw it: a .png, .svg or .pdf file. Needs the extra 'report'.")]
Report = Annotated[Path | None, typer.Option(help="Write a page to read and look at: .html. Needs the extra 'report'.")]


def words_of(given: list[str] | None) -> tuple[str, ...]:
    """Read words that come with commas, with repetition, or both; each once."""
    return tuple(dict.fromkeys(word.strip() for part in given or [] for word in part.split(",")))


def refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse options that were given, and do not go with the rest."""
    for name, value in options.items():
        if value is not None:
            raise typer.BadParameter(why, param_hint=name)


def require_output(output: Path, endings: tuple[str, ...], *inputs: Path) -> None:
    """Refuse an output of another ending, one that would overwrite what is read, or that cannot be written."""
    from lpsched.errors import OutputError
    from lpsched.io.content import require_place

    if output.suffix.lower() not in endings:
        raise OutputError(f"cannot write {output}: needs the ending {' or '.join(endings)}; choose one")
    for given in inputs:
        if output.exists() and given.exists() and output.samefile(given):
            raise OutputError(f"cannot write {output}: it is what is read; choose another name")
    require_place(output)


def require_looks(*inputs: Path, figure: Path | None = None, report: Path | None = None) -> None:
    """Refuse to begin long work whose picture or page could not be written in the end."""
    for output, endings in ((figure, PICTURES), (report, (".html",))):
        if output is not None:
            require_output(output, endings, *inputs)
    if figure is not None or report is not None:
        from lpsched.io.pictures import load_matplotlib

        load_matplotlib()


def terms_of(
    price: float | None, profit_ratio: float | None, power_cap: float | None, deadline: float | None
) -> dict[str, Any]:
    """Return the terms of a bag as the library's functions take them."""
    return {"price": price, "profit_ratio": profit_ratio, "power_cap": power_cap, "deadline": deadline}


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


def risk_asked(text: str | None, *, ranks: bool = False) -> RiskOptions | None:
    """Read the option; `ranks` says whether the command may rank by a percentile."""
    from lpsched.model.risk import RiskOptions

    return None if text is None else RiskOptions.read(text, ranks=ranks)


# Options of generators, made of their models: name, type, help and default.
LONGEST_COUNT = 18  # digits
NONE = "none"
FoundOptions: TypeAlias = "Mapping[str, Iterable[Parameter]]"


def options_of(model: type[Options], **shown: str) -> dict[str, Parameter]:
    """Return the options of a command by name; `shown` are defaults that the help puts in other words.

    Those that are not given are None, so that a command can tell. A field without a description is no option.
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


def command_with(function: Callable[..., None], find: Callable[[], FoundOptions]) -> type[TyperCommand]:
    """Return a class of commands that call `function`, with more options than those in its signature.

    `find` says which come after which of its own; it is asked when the command is used, for models take time to load.
    """

    class WithOptions(TyperCommand):
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
        raise typer.BadParameter(f"{flags_of([name])}: found {','.join(words)[:60]!r}, needs counts such as 40,40,20")
    return tuple(int(word) for word in words)
