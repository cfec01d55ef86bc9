"""What `lpsched front` is asked for, of a bag or a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lpsched.instance import Bag
    from lpsched.instance.day import Day
    from lpsched.schedule.genes import TaskPopulation


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for, of a bag or a day."""

    file: Path
    methods: tuple[str, ...]
    generations: int | None
    time_limit: float | None
    seed: int
    seed_with: tuple[str, ...] | None
    state: Path | None
    figure: Path | None


def saved(
    state: Path | None, instance: Bag | Day
) -> tuple[TaskPopulation | None, Callable[[TaskPopulation], object] | None]:
    """Return the population to go on from, if there is one, and the function that saves it."""
    if state is None:
        return None, None
    from lpsched.files.task_populations import read_task_population, write_task_population

    found = read_task_population(state, instance) if state.exists() else None
    return found, lambda population: write_task_population(population, instance, state)
