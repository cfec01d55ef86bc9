"""Going on from a population as if it had never stopped: its chromosomes, and the state of its chances.

What a population says is not believed: every chromosome is scored again, and one that breaks a limit is
refused, because it could lead the ranking for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.errors import Fault, InstanceError

if TYPE_CHECKING:
    from lpsched.evolve.breeding import Breeder
    from lpsched.evolve.ranking import Chromosome
    from lpsched.schedule.genes import TaskPopulation
    from lpsched.schedule.population import Population

BIT_GENERATORS: Final = {
    each.__name__: each
    for each in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
}


def state_of(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator, with lists in place of arrays, so that it can be written as JSON."""
    return _changed(dict(rng.bit_generator.state), np.ndarray, np.ndarray.tolist)


def generator_of(population: Population | TaskPopulation) -> np.random.Generator:
    """Return a generator that goes on where the population's was.

    Raises
    ------
    InstanceError
        If its state is not one of NumPy's.
    """
    state = population.random_state
    try:
        bits = BIT_GENERATORS[state["bit_generator"]]()
        bits.state = _changed(  # type: ignore[assignment]
            dict(state), list, lambda cells: np.array(cells, dtype=np.uint64)
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        there = f"a state of {state.get('bit_generator')!r} that cannot be set"
        needed = f"the state of one of {', '.join(BIT_GENERATORS)}"
        raise _refusal("random_state", there, needed) from error
    return np.random.Generator(bits)


def members_of(population: Population, breeder: Breeder) -> list[Chromosome]:
    """Return the chromosomes of a population, scored again.

    Raises
    ------
    InstanceError
        If they are not of this facility, are ranked by the other reward, or break a limit.
    """
    _require_same(population, breeder)
    members = []
    for place, (fractions, states, outlets) in enumerate(
        zip(population.fractions, population.states, population.outlets_celsius, strict=True)
    ):
        if not breeder.can_run(fractions, states) or not breeder.keeps_limits(fractions, states, outlets):
            raise _refusal(f"chromosome {place}", "one that breaks a limit", "allocations that keep them all")
        members.append(breeder.scored(fractions.copy(), states.copy(), outlets.copy()))
    return members


def _require_same(population: Population, breeder: Breeder) -> None:
    """Refuse a population of another facility or with another aim."""
    if population.instance_hash != breeder.facility.content_hash:
        there = f"the hash {population.instance_hash[:12]}..."
        raise _refusal("instance_hash", there, f"that of {breeder.facility.name}")
    if population.colocation != breeder.colocation:
        ranked = {True: "with co-location (GACL)", False: "without co-location (GA)"}
        there, needed = ranked[population.colocation], ranked[breeder.colocation]
        raise _refusal("colocation", f"chromosomes ranked {there}", f"ranked {needed}")
    shape = (len(population.fractions), *breeder.shape)
    if population.fractions.shape != shape or population.states.shape != shape:
        there = f"arrays of {population.fractions.shape} and {population.states.shape}"
        raise _refusal("fractions", there, f"{shape}")


def _refusal(where: str, found: str, needed: str) -> InstanceError:
    return InstanceError("population", (Fault((where,), found, needed, "begin without it"),))


def _changed(state: dict[str, Any], kind: type, change: Any) -> dict[str, Any]:  # noqa: ANN401 - a function
    """Return a nested mapping with all values of one kind changed."""
    return {
        key: _changed(value, kind, change)
        if isinstance(value, dict)
        else change(value)
        if isinstance(value, kind)
        else value
        for key, value in state.items()
    }
