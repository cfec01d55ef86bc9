"""Commands as this package registers them: examples in the help, old option names, and checks of output files.

A command is a function; its docstring ends with `Examples`, which the help shows last. Options that name a file to
write are made by `output_option`: its endings are shown in the help, and before the command begins the file is checked,
for all commands alike. It must have one of the endings, must not be one that is read, must not exist (except with
`--force`), and its folder must be writable.
"""

from __future__ import annotations

import glob
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import typer
from typer.core import TyperCommand, TyperGroup

from lpsched.cli.console import console_of
from lpsched.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

GLOBAL: Final = ("--json", "--quiet", "--verbose", "--force")
EVERYWHERE: Final = "--json, --quiet, --verbose and --force may stand anywhere; see 'lpsched --help'."
EXAMPLES: Final = "\n\nExamples\n--------\n"
OUTPUT: Final = "Output files"  # the section of the help for files that a command writes
FIGURES: Final = (".png", ".svg", ".pdf")
PAGES: Final = (".html",)
SIDECARS: Final = (".csv", ".npz", ".parquet")  # endings of files that are written with an instance: NAME.yaml.npz


class Command(TyperCommand):
    """A command that knows its old option names and checks its output files before it begins."""

    aliases: ClassVar[Mapping[str, str]] = {}  # from old names of options, which the help does not show

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer hides its class
        """Parse arguments; old option names mean the new ones."""
        return super().parse_args(ctx, [self._renamed(word) for word in args])

    def _renamed(self, word: str) -> str:
        name, equals, value = word.partition("=")
        return f"{self.aliases.get(name, name)}{equals}{value}"

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer hides its class
        """Check the output files, then run the command."""
        _check_outputs(self.get_params(ctx), ctx.params, force=console_of(ctx).force)
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer hides their classes
        """Write arguments, options and output files, each in a section."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], OUTPUT: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                own = "Arguments" if param.param_type_name == "argument" else "Options"
                sections[getattr(param, "rich_help_panel", None) or own].append(record)
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
    lines = "".join(f"\n  {line}" for line in examples.splitlines())
    known = {"aliases": aliases or {}, "__doc__": base.__doc__}
    app.command(
        name,
        cls=type(base.__name__, (base,), known),
        help=text,
        epilog=f"\b\nExamples:{lines}\n\n{EVERYWHERE}",
        rich_help_panel=section,
    )(function if base is Command else lambda: None)


def output_option(*names: str, endings: Sequence[str], help: str) -> Any:  # noqa: A002, ANN401 - as Typer has it
    """Return the option of a file to write, with one of these endings."""
    return typer.Option(*names, help=help, metavar=f"<{'|'.join(endings)}>", rich_help_panel=OUTPUT)


def _check_outputs(params: Iterable[Any], values: Mapping[str, Any], *, force: bool) -> None:
    """Check all files that a command will write, and what it needs to draw them."""
    outputs = {
        param.name: param
        for param in params
        if getattr(param, "rich_help_panel", None) == OUTPUT and values[param.name]
    }
    inputs = list(_paths(value for name, value in values.items() if name not in outputs))
    seen: set[Path] = set()
    for name, param in outputs.items():
        path: Path = values[name]
        require_output(path, param.metavar.strip("<>").split("|"), *inputs)
        if path.absolute() in seen:
            raise OutputError(f"cannot write {path}: two options name it; choose another name for one of them")
        seen.add(path.absolute())
        if not force and not values.get("resume"):
            require_new(path, "add --resume or --force" if "resume" in values else "add --force")
    if any(path.suffix.lower() in (*FIGURES, *PAGES) for path in seen):
        from lpsched.io.figure_files import load_jinja, load_matplotlib

        load_matplotlib()
        if any(path.suffix.lower() in PAGES for path in seen):
            load_jinja()


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
    for given in inputs:
        if output.exists() and given.exists() and output.samefile(given):
            raise OutputError(f"cannot write {output}: it is what is read; choose another name")
    require_place(output)


def require_new(path: Path, hint: str) -> None:
    """Reject a file that exists, or whose sidecar with tables or tasks exists."""
    beside = [Path(found) for found in glob.glob(f"{glob.escape(str(path))}.*") if found.lower().endswith(SIDECARS)]  # noqa: PTH207 - the path may be absolute
    for each in (path, *sorted(beside)):
        if each.exists():
            raise OutputError(f"{each} exists; choose another name or {hint}")
