"""The names of schedulers of a bag: heuristics, `lp`, `nsga2`; and `all` of those that can run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.errors import MissingExtraError
from lpsched.heuristics.registry import names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.heuristics.registry import Heuristic
    from lpsched.instance import Bag

ALL, LP, NSGA2 = "all", "lp", "nsga2"
COUNT_JOULES: Final = ("min-energy", NSGA2)


@dataclass(frozen=True, slots=True)
class Everything:
    """All schedulers that can run, and why others were left out."""

    names: tuple[str, ...]
    left_out: tuple[str, ...]


def everything(bag: Bag) -> Everything:
    """Return the names that `all` stands for."""
    from lpsched.evolve.evolving import require_evolution  # noqa: PLC0415 - loads pymoo and a compiler

    found, left_out = (LP, *names(), NSGA2), []
    try:
        require_evolution()
    except MissingExtraError as error:
        found, left_out = found[:-1], [str(error)]
    if bag.watts is None:
        lacking = [name for name in COUNT_JOULES if name in found]
        found = tuple(name for name in found if name not in lacking)
        left_out.append(f"no joules without watts, so no {' and no '.join(lacking)}")
    return Everything(found, tuple(left_out))


def spelled_out(bag: Bag, given: Sequence[str | Heuristic]) -> list[str | Heuristic]:
    """Return the schedulers asked for, with `all` written out and no name twice."""
    asked: list[str | Heuristic] = []
    for each in given:
        if not isinstance(each, str):
            asked.append(each)
            continue
        asked += [name for name in (everything(bag).names if each == ALL else (each,)) if name not in asked]
    return asked
