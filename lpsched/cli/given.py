"""Options of generators: which were given, lists of counts, and defaults in help texts."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperOption

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LONGEST_COUNT = 18  # digits


def command_with(defaults: Callable[[], Mapping[str, str]]) -> type[TyperCommand]:
    """Return a command class whose help shows these defaults, read only when the help is printed."""

    class WithDefaults(TyperCommand):
        def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer hides their classes
            shown = defaults()
            for option in self.params:
                if isinstance(option, TyperOption) and option.name in shown:
                    text = (option.help or "").partition(" [default: ")[0]
                    option.help = f"{text} [default: {shown[option.name]}]"
            super().format_options(ctx, formatter)

    return WithDefaults


def defaults_of(options: type) -> dict[str, str]:
    """Return the defaults of a dataclass of options as users would type them; `none` where it is None."""
    return {each.name: as_typed(each.default) for each in fields(options) if each.default is not MISSING}


def as_typed(value: object) -> str:
    """Return a value as a user would type it."""
    if value is None or value == ():
        return "none"
    if isinstance(value, tuple):
        return ",".join(map(as_typed, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def given_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {key: value for key, value in options.items() if value is not None}


def counts_of(option: str, given: list[str]) -> tuple[int, ...]:
    """Read counts that come with commas, with repetition, or both."""
    words = [word for part in given for word in part.split(",")]
    if not all(
        word.strip().isascii() and word.strip().isdigit() and len(word) <= LONGEST_COUNT for word in words
    ):
        raise typer.BadParameter(f"{option}: found {','.join(words)[:60]!r}, needs counts such as 40,40,20")
    return tuple(int(word) for word in words)
