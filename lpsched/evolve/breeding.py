"""Making chromosomes of a facility: at random, of two parents, or of an allocation.

Whatever is made keeps redlines and cap. The paper's first population is not repaired; ours is, because a
chromosome that breaks a limit could lead the ranking for ever.

Source: Oxley and others, section IV-B.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.evolve.cooling_repair import node_watts, repair
from lpsched.evolve.core_genes import from_allocation, genes_of, set_at_random
from lpsched.evolve.core_scores import reward_rate
from lpsched.evolve.genitor import crossover, cut_points
from lpsched.evolve.ranking import Chromosome
from lpsched.evolve.room_air import cooling_of
from lpsched.heat import crac_inlets, heat_map, inlets, outlet_steps, require_room, total_watts
from lpsched.instance.facility_arrays import facility_arrays

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.instance.facility import Facility
    from lpsched.schedule.facility import CoreAllocation
    from lpsched.schedule.population import States

MUTATED_CHILDREN: Final = 0.1
MUTATED_GENES: Final = 0.05
ALL: Final = 1.0
KELVIN: Final = 5e-8  # half of what the verifier lets pass, here and below
ROUNDING: Final = 5e-10


class Breeder:
    """Makes chromosomes; all its chances come from one generator.

    Raises
    ------
    InfeasibleError
        If idle nodes alone break a limit at all outlet temperatures.
    NotFoundError
        If they do at all temperatures that this algorithm tries.
    """

    def __init__(self, facility: Facility, rng: np.random.Generator, *, colocation: bool) -> None:
        self.facility, self.rng, self.colocation = facility, rng, colocation
        self.arrays, self.heat = facility_arrays(facility, colocation=colocation), heat_map(facility)
        self.steps = outlet_steps(self.arrays, self.heat)
        require_room(self.arrays, self.heat, self.steps)
        self.genes = genes_of(self.arrays)
        self.cooling = cooling_of(self.arrays, self.heat, self.steps)
        self.shape = int(self.genes.first_core[-1]), len(facility.task_types)

    def at_random(self) -> Chromosome:
        """Return a random chromosome."""
        fractions, states = np.zeros(self.shape), np.zeros(self.shape, dtype=np.int16)
        set_at_random(self.genes, fractions, states, ALL, self.rng)
        return self._repaired(fractions, states)

    def children(self, first: Chromosome, second: Chromosome) -> tuple[Chromosome, Chromosome]:
        """Return the two children of two parents."""
        x, y = cut_points(self.shape[0], self.rng)
        fractions = crossover(first.fractions, second.fractions, x, y)
        states = crossover(first.states, second.states, x, y)
        return self._child(fractions[0], states[0]), self._child(fractions[1], states[1])

    def start(self, allocation: CoreAllocation) -> Chromosome:
        """Return an allocation as it is, if it keeps all limits; else repaired.

        Raises
        ------
        InstanceError
            If it is not for this facility.
        """
        fractions, states = from_allocation(self.facility, self.genes, allocation)
        outlets = np.array(allocation.outlets_celsius)
        if self.keeps_limits(fractions, states, outlets):
            return self.scored(fractions, states, outlets)
        set_at_random(self.genes, fractions, states, 0.0, self.rng)  # no gene, but every core is normalised
        return self._repaired(fractions, states)

    def can_run(self, fractions: Floats, states: States) -> bool:
        """Tell whether genes, whoever made them, only name pairs that run in time."""
        genes = self.genes
        kind = np.repeat(genes.node_type, np.diff(genes.first_core))
        modes = np.append(genes.first_column[1:], genes.speeds.shape[1]) - genes.first_column
        if not ((states >= 0) & (states < modes[kind][:, None])).all() or not (fractions >= 0.0).all():
            return False
        speeds = genes.speeds[np.arange(self.shape[1]), genes.first_column[kind][:, None] + states]
        return bool((speeds[fractions > 0.0] > 0.0).all())

    def keeps_limits(self, fractions: Floats, states: States, outlets: Floats) -> bool:
        """Tell whether genes and outlets, whoever made them, keep what the verifier asks for."""
        arrays, heat = self.arrays, self.heat
        if outlets.shape != arrays.outlet_low.shape or (fractions.sum(axis=1) > 1.0 + ROUNDING).any():
            return False
        powers = node_watts(self.genes, fractions, states)
        returned = crac_inlets(heat, powers, outlets)
        return bool(
            (outlets >= arrays.outlet_low).all()
            and (outlets <= arrays.outlet_high).all()
            and (inlets(heat, powers, outlets) <= arrays.redline + KELVIN).all()
            and (returned <= arrays.crac_redline + KELVIN).all()
            and (returned >= outlets - KELVIN).all()
            and total_watts(arrays, heat, powers, outlets) <= arrays.cap_watts * (1.0 + ROUNDING)
        )

    def scored(self, fractions: Floats, states: States, outlets: Floats) -> Chromosome:
        """Return a chromosome with what it earns."""
        return Chromosome(fractions, states, outlets, reward_rate(self.genes, fractions, states))

    def _child(self, fractions: Floats, states: States) -> Chromosome:
        if self.rng.random() < MUTATED_CHILDREN:
            set_at_random(self.genes, fractions, states, MUTATED_GENES, self.rng)
        return self._repaired(fractions, states)

    def _repaired(self, fractions: Floats, states: States) -> Chromosome:
        step = repair(self.genes, self.cooling, fractions, states, self.rng)
        assert step >= 0, "idle nodes are allowed at some step, so every chromosome can be repaired"
        return self.scored(fractions, states, self.steps.outlets[step])
