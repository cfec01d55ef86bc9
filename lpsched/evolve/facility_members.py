"""Going on from a population of allocations.

What a population says is not believed: every chromosome is scored again, and one that breaks a limit is
refused, because it could lead the ranking for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.evolve.resuming import population_refusal

if TYPE_CHECKING:
    from lpsched.evolve.breeding import Breeder
    from lpsched.evolve.ranking import Chromosome
    from lpsched.schedule.population import Population


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
            raise population_refusal(
                f"chromosome {place}", "one that breaks a limit", "allocations that keep them all"
            )
        members.append(breeder.scored(fractions.copy(), states.copy(), outlets.copy()))
    return members


def _require_same(population: Population, breeder: Breeder) -> None:
    """Refuse a population of another facility or with another aim."""
    if population.instance_hash != breeder.facility.content_hash:
        there = f"the hash {population.instance_hash[:12]}..."
        raise population_refusal("instance_hash", there, f"that of {breeder.facility.name}")
    if population.colocation != breeder.colocation:
        ranked = {True: "with co-location (GACL)", False: "without co-location (GA)"}
        there, needed = ranked[population.colocation], ranked[breeder.colocation]
        raise population_refusal("colocation", f"chromosomes ranked {there}", f"ranked {needed}")
    shape = (len(population.fractions), *breeder.shape)
    if population.fractions.shape != shape or population.states.shape != shape:
        there = f"arrays of {population.fractions.shape} and {population.states.shape}"
        raise population_refusal("fractions", there, f"{shape}")
