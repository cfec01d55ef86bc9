"""What a chromosome earns: reward per second, compiled.

    slower(a, k)  =  1 + sum_b PD(a, b) (load of class b on the node - load of class b on core k itself)
    rate of i     =  sum_k DF(i, k) s(i, k) / slower(class of i, k)
    score         =  sum_i r_i min(rate of i, arrivals of i)

The load of a class is the sum of the fractions of its task types. With a degradation of 0 this is the paper's
reward rate (RR), else its co-located reward rate (CRR). It takes two passes over the genes, and L x L for
each core, of L classes.

Source: Oxley and others, equations 1, 2, 9, 10 and 11, additive over the other cores as the text has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.compiled import compiled

if TYPE_CHECKING:
    from lpsched.evolve.core_genes import Genes
    from lpsched.instance.array_types import Floats
    from lpsched.schedule.population import States


@compiled
def reward_rate(  # noqa: C901 - cut in two it takes 2.5 times as long
    genes: Genes, fractions: Floats, states: States
) -> float:
    """Return the reward per second of all cores together."""
    tasks, classes = len(genes.arrivals), len(genes.degradation)
    rates, load, pace = np.zeros(tasks), np.zeros(classes), np.zeros(classes)
    own = np.zeros((genes.most_cores, classes))
    for v in range(len(genes.node_type)):
        first, last = genes.first_core[v], genes.first_core[v + 1]
        column = genes.first_column[genes.node_type[v]]
        for b in range(classes):
            load[b] = 0.0
        for k in range(first, last):
            for b in range(classes):
                own[k - first, b] = 0.0
            for i in range(tasks):
                own[k - first, genes.class_of[i]] += fractions[k, i]
            for b in range(classes):
                load[b] += own[k - first, b]
        for k in range(first, last):
            for a in range(classes):
                slower = 1.0
                for b in range(classes):
                    slower += genes.degradation[a, b] * (load[b] - own[k - first, b])
                pace[a] = 1.0 / slower
            for i in range(tasks):
                speed = genes.speeds[i, column + states[k, i]] * pace[genes.class_of[i]]
                rates[i] += fractions[k, i] * speed
    score = 0.0
    for i in range(tasks):
        score += genes.rewards[i] * min(rates[i], genes.arrivals[i])
    return score
