"""What generators were asked for: options that were given, and lists of counts."""

from __future__ import annotations

from typing import Any

import typer

LONGEST_COUNT = 18  # digits


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
