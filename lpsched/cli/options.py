"""Commands as this package registers them, and options that several share.

A command is a function; its docstring ends with `Examples`, which the help shows last. Options that name a file to
write are made by `output_option`: its endings are shown in the help, and before the command begins the file is checked,
for all commands alike. It must have one of the endings, must not be one that is read or that another option names, must
not exist (except with `--force`), and its folder must be writable. Files that are continued (`--state`, the lines of a
study with `--resume`) may exist. What is read is known while it is read: `io.content.files_apart` looks at that.
"""

from __future__ import annotations

import contextlib
import glob
import inspect
import re
from dataclasses import replace
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypeAlias, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from lpsched.cli.console import console_of
from lpsched.errors import InputIssue, InstanceError, OutputError, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure as Figures

    from lpsched.generate.options import Options
    from lpsched.model.risk import RiskOptions
    from lpsched.units import Quantity


GLOBAL: Final = ("--json", "--quiet", "--verbose", "--force")
EVERYWHERE: Final = "--json, --quiet, --verbose and --force may stand anywhere; see 'lpsched --help'."
EXAMPLES: Final = "\n\nExamples\n--------\n"
OUTPUT: Final = "Output files"  # the section of the help for files that a command writes
FIGURES: Final = (".png", ".svg", ".pdf")
PAGES: Final = (".html",)
STATE, LINES = ".npz", ".jsonl"  # endings of files that are continued: populations, and lines of a study
RESUMING: Final = ("resume", "retry_failed")
SIDECARS: Final = (".csv", ".npz", ".parquet")  # endings of files that are written with an instance: NAME.yaml.npz
TYPES: Final = {  # how the help shows types
    "<list[Path]>": "<path>",
    "<list[str]>": "<text>",
    "<str>": "<text>",
    "<int range>": "<int>",
    "<float range>": "<float>",
}
DISPLAYED: Final = re.compile("|".join(map(re.escape, TYPES)))
DEFAULT: Final = re.compile(r"(?<=\[default: )\((.*?)\)")  # which Typer puts in parentheses where it is a text


class Command(TyperCommand):
    """A command that knows its old option names and checks its output files before it begins."""

    aliases: ClassVar[Mapping[str, str]] = {}  # from old names of options, which the help does not show

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer hides its class
        """Parse arguments; old option names mean the new ones."""
        try:
            return super().parse_args(ctx, [self._renamed(word) for word in args])
        except typer.TyperException as error:
            error.__dict__["ctx"] = getattr(error, "ctx", None) or ctx  # which the parser leaves out
            raise

    def _renamed(self, word: str) -> str:
        name, equals, value = word.partition("=")
        return f"{self.aliases.get(name, name)}{equals}{value}"

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer hides its class
        """Check the output files, then run the command."""
        outputs = _check_outputs(self.get_params(ctx), ctx.params, force=console_of(ctx).force)
        if not outputs:
            return super().invoke(ctx)
        from lpsched.io.content import files_apart

        with files_apart(outputs):
            return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer hides their classes
        """Write arguments, options and output files, each in a section."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], OUTPUT: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                own = "Arguments" if param.param_type_name == "argument" else "Options"
                name, text = DISPLAYED.sub(lambda found: TYPES[found[0]], record[0]), DEFAULT.sub(r"\1", record[1])
                sections[getattr(param, "rich_help_panel", None) or own].append((name, text))
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class Group(TyperGroup):
    """A group of commands whose help lists them by section, with whole summaries."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer hides their classes
        """Write the sections."""
        width = max(map(len, self.list_commands(ctx)))
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            row = name.ljust(width), command.get_short_help_str(limit=formatter.width)
            sections.setdefault(command.rich_help_panel or "Commands", []).append(row)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def new_app(**settings: Any) -> typer.Typer:  # noqa: ANN401 - of Typer
    """Return a group of commands with plain help."""
    return typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None, **settings)


def add_command(
    app: typer.Typer,
    function: Callable[..., None],
    name: str | None = None,
    *,
    section: str | None = None,
    aliases: Mapping[str, str] | None = None,
    base: type[Command] = Command,
) -> None:
    """Register a command: its docstring is the help, and the examples in it come last."""
    text, _, examples = (inspect.getdoc(function) or "").partition(EXAMPLES)
    known = {"aliases": aliases or {}, "__doc__": base.__doc__}
    app.command(
        name,
        cls=type(base.__name__, (base,), known),
        help=text,
        epilog=epilog_of(*examples.splitlines()),
        rich_help_panel=section,
    )(function if base is Command else lambda: None)


def epilog_of(*examples: str) -> str:
    """Return the end of a help text: examples, and options that all commands have."""
    lines = "".join(f"\n  {line}" for line in examples)
    return f"\b\nExamples:{lines}\n\n{EVERYWHERE}"


def output_option(*names: str, endings: Sequence[str], help: str) -> Any:  # noqa: A002, ANN401 - as Typer has it
    """Return the option of a file to write, with one of these endings."""
    return typer.Option(*names, help=help, metavar=f"<{'|'.join(endings)}>", rich_help_panel=OUTPUT)


def _check_outputs(params: Iterable[Any], values: Mapping[str, Any], *, force: bool) -> list[Path]:
    """Check all files that a command will write, and what it needs to draw them; return those that it does not read."""
    outputs = {
        param.name: param
        for param in params
        if getattr(param, "rich_help_panel", None) == OUTPUT and values[param.name]
    }
    if not outputs:
        return []
    from lpsched.io.content import identity

    inputs = list(_paths(value for name, value in values.items() if name not in outputs))
    seen: dict[object, Path] = {}
    for name, param in outputs.items():
        path: Path = values[name]
        require_output(path, endings_of(param), *inputs)
        if identity(path) in seen:
            raise OutputError(f"cannot write {path}: two options name it; choose another name for one of them")
        seen[identity(path)] = path
        resumes = any(values.get(each) for each in RESUMING)
        if not (force or resumes or endings_of(param) == [STATE]):
            require_new(path, "add --resume or --force" if "resume" in values else "add --force")
    suffixes = {path.suffix.lower() for path in seen.values()}
    if suffixes & {*FIGURES, *PAGES}:
        from lpsched.io.figure_files import load_jinja, load_matplotlib

        load_matplotlib()
        if suffixes & {*PAGES}:
            load_jinja()
    return [path for path in seen.values() if not path.name.endswith((STATE, LINES))]


def endings_of(param: Any) -> list[str]:  # noqa: ANN401 - Typer hides the class
    """Return the endings that the file of an output option may have."""
    found: list[str] = param.metavar.strip("<>").split("|")
    return found


def _paths(values: Iterable[object]) -> Iterator[Path]:
    for value in values:
        if isinstance(value, Path):
            yield value
        elif isinstance(value, list | tuple):
            yield from _paths(value)


def require_output(output: Path, endings: Iterable[str], *inputs: Path) -> None:
    """Reject a file to write that has another ending, that is one of the inputs, or that cannot be written."""
    from lpsched.io.content import require_place

    if not output.name.lower().endswith(tuple(endings)):
        raise OutputError(f"cannot write {output}: expected the ending {' or '.join(endings)}; choose one")
    require_place(output)  # first: a name may be too long to ask whether it exists
    for given in inputs:
        if output.exists() and given.exists() and output.samefile(given):
            raise OutputError(f"cannot write {output}: it is what is read; choose another name")


def require_new(path: Path, hint: str) -> None:
    """Reject a file that exists, or whose sidecar with tables or tasks exists."""
    beside = [Path(found) for found in glob.glob(f"{glob.escape(str(path))}.*") if found.lower().endswith(SIDECARS)]  # noqa: PTH207 - the path may be absolute
    for each in (path, *sorted(beside)):
        if each.exists():
            raise OutputError(f"{each} exists; choose another name or {hint}")


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
UNITS: Final = {"time": "seconds", "power": "watts", "energy": "joules"}
QUANTITIES: Final[dict[str, Quantity]] = {"<time>": "time", "<power>": "power", "<energy>": "energy"}  # by metavar


def quantity_option(*names: str, kind: Quantity, help: str, unit: int = 1, least: float | None = None) -> Any:  # noqa: A002, ANN401 - as Typer has it
    """Return the option of a time, power or energy, in units of `unit` seconds, watts or joules."""

    def parse(text: str | float) -> float:
        from lpsched.units import parse_quantity

        if not isinstance(text, str):  # a default
            return text
        try:
            return parse_quantity(text, kind, unit=unit, least=least)
        except ValueError as error:
            plain = {3_600: "hours", 10**9: "gigajoules"}.get(unit, UNITS[kind])
            raise typer.BadParameter(f"{error}; a number without a unit means {plain}") from None

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
SolveObjectiveOption = Annotated[
    Literal["profit", "makespan", "energy", "cost", "carbon"] | None,
    typer.Option(
        "--objective",
        help="What to optimise. By default profit where a price is known, else makespan; with --horizon cost.",
    ),
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
MARGINALS_HELP: Final = (
    "lp: marginal values of the linear program. top: also the proved effect of one more machine or task, for the three "
    "types of largest value. proved: for all types."
)
MarginalsOption = Annotated[Marginals, typer.Option("--marginals", help=MARGINALS_HELP)]
SolverName = Annotated[str, typer.Option("--solver", help="highs, or pulp:NAME for a solver that PuLP finds.")]
Seed = Annotated[int, typer.Option(help="Random seed; the same seed gives the same answer.", min=0)]


def generations_option(schedulers: str) -> Any:  # noqa: ANN401 - as Typer has it
    """Return the option `--generations` for these schedulers."""
    text = f"{schedulers}: generation limit; unlike a time limit, it gives the same answer everywhere."
    return typer.Option("--generations", help=text, min=0)


Jobs = Annotated[int, typer.Option(help="Number of processes that share the work.", min=1)]
Figure = Annotated[Path | None, output_option("--figure", endings=FIGURES, help=f"Draw a figure. {EXTRA}")]
Report = Annotated[Path | None, output_option("--report", endings=PAGES, help=f"Write a report page. {EXTRA}")]


def words_of(given: list[str] | None) -> tuple[str, ...]:
    """Read words that come with commas, with repetition, or both; each once, none empty."""
    return tuple(dict.fromkeys(filter(None, (word.strip() for part in given or [] for word in part.split(",")))))


SCHEDULERS: Final = (("heuristic",), ("policy",), ("method",))  # what the library calls them in its errors


# Usage errors: where, what was got, what is expected, and a hint. `cli/main.py` translates those of Typer likewise.
def usage_error(place: str, got: str, expected: str, hint: str) -> typer.BadParameter:
    """Return the error about an option or an argument."""
    return typer.BadParameter(f"got {got}, expected {expected}; {hint}", param_hint=place)


def reject(options: Mapping[str, object], where: str, expected: str, hint: str = "leave it out") -> None:
    """Reject options that are given and do not go with the rest: those of another kind of file, say."""
    for name, value in options.items():
        if value is not None:
            raise usage_error(name, f"the option {where}", expected, hint)


def reject_without(options: Mapping[str, object], needed: str) -> None:
    """Reject options that are given without another one that they need."""
    reject(options, f"without {needed}", "both", f"add {needed}, or leave it out")


@contextlib.contextmanager
def errors_about(option: str, *more: str) -> Iterator[None]:
    """Let errors about names of schedulers be about this option; `more` are names that only the command knows."""
    try:
        yield
    except InstanceError as error:
        first = error.issues[0]
        if error.source or first.path not in SCHEDULERS:
            raise
        known = ", ".join((first.expected, *more)) if first.expected.startswith("one of ") else first.expected
        hint = "choose one" if "register" in first.hint else first.hint
        raise InstanceError("", (replace(first, path=(option,), expected=known, hint=hint),)) from error


def place_of(param: Any) -> str:  # noqa: ANN401 - Typer hides the class
    """Return what an option or argument is called in messages: as it is typed, or as the help names it."""
    name: str = max(param.opts, key=len) if param.param_type_name == "option" else param.display_name_raw
    return name


def expected_of(param: Any) -> str:  # noqa: ANN401 - Typer hides the class
    """Return what an option or argument takes."""
    kind, metavar = param.type_descriptor, param.metavar or ""
    if kind.choices:
        return f"one of {', '.join(map(str, kind.choices))}"
    if param.rich_help_panel == OUTPUT:
        return f"a file name that ends in {' or '.join(endings_of(param))}"
    if metavar in QUANTITIES:
        from lpsched.units import EXPECTED

        return EXPECTED[QUANTITIES[metavar]]
    if kind.annotation in (int, float):
        return f"a {'whole ' if kind.annotation is int else ''}number{_range(param.min, param.max)}"
    if kind.is_path or kind.envvar_list_splitter is not None:
        return "a file"
    return metavar if param.param_type_name == "option" and metavar else "a text"


def _range(least: float | None, most: float | None) -> str:
    if least is None:
        return "" if most is None else f" of at most {most:g}"
    return f" of at least {least:g}" if most is None else f" from {least:g} to {most:g}"


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
        names = "names of schedulers with commas between them"
        raise usage_error("--scheduler", repr(",".join(given)), names, "name one, or leave it out")
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

    from lpsched.io.content import require_file

    def issue(got: str, expected: str, hint: str) -> InstanceError:
        return InstanceError("", (InputIssue((f"--scheduler {path}",), got, expected, hint),))

    if not path.exists():
        raise issue("no file of this name", "a Python file", "correct the path")
    require_file(path)
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
        "cov=0.1-1.5, or cov=file for the bag's own tables; also power-cov=0.1 and percentiles=5/50/95.",
    ),
]


def parse_risk(text: str | None, *, ranks: bool = False) -> RiskOptions | None:
    """Read the option; `ranks` says whether the command may rank by a percentile."""
    from lpsched.model.risk import RiskOptions

    try:
        return None if text is None else RiskOptions.read(text, ranks=ranks)
    except InstanceError as error:
        issues = (replace(each, path=("risk", *each.path)) for each in error.issues)
        raise InstanceError("", tuple(issues)) from error


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
        raise usage_error(flags_of([name]), quote(",".join(words)), "counts such as 40,40,20", "correct it")
    return tuple(int(word) for word in words)
