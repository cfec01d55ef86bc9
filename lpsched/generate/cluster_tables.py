"""Seconds and watts of the Jobs paper's task types, by cluster, P-state and number of nodes.

With G(mean, V) of `cov.py`, task type i, cluster c, P-state k of power scaling f_k = 1, 0.75, 0.5:

    t_ic   seconds on a single core: the type's at home, ~ G(t_i, 0.3) in other clusters
    d_i    ~ G(133, 0.2)        watts of one node, on the whole
    D_ic   ~ G(d_i, 0.2)        in cluster c
    r_ic   ~ G(1, V)            the randomness of the pair; V is 0.3 for general-purpose task types, 0.2 for
                                special-purpose ones
    p_ick  ~ G(f_k r_ic, V/10)              factor of power
    s_ick  ~ G(sqrt(f_k r_ic), V/10)        factor of speed

    watts of m nodes     m D_ic p_ick
    seconds on m nodes   t_ic / s_ick / S(cores), with the speed-up S of `downey.py`. On as many nodes as the
                         type takes for its cores it uses just these; on more or fewer, all that they have

so in one pair power and speed go up together, as they do from one P-state to another. Curves of seconds have
points at 1, 2, 4, ... and all nodes of the cluster and at the number that the type takes; watts are a line.
General-purpose types run in general-purpose clusters only, special-purpose ones in their own only. Numbers
are rounded to six digits.

Source: Machovec et al. (2016), section IV.B. It does not say whether a root goes over f_k alone, whether
power and speed have one randomness, and for what it is drawn anew: over both, one, for each pair are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.generate.cluster_options import HOME, POWER_SCALING
from lpsched.generate.cov import gamma_draws, rounded, six_digits
from lpsched.generate.downey import speed_up
from lpsched.instance.node_curves import NodeCurves, Points

if TYPE_CHECKING:
    from lpsched.generate.cluster_options import MachovecOptions
    from lpsched.generate.cluster_types import TypeDraws
    from lpsched.instance.array_types import Floats, Mask
    from lpsched.instance.clusters import Cluster

GENERAL_COV: Final = 0.3
SPECIAL_COV: Final = 0.2
STATE_SHARE: Final = 0.1  # of these, between P-states


def draw_curves(
    rng: np.random.Generator, options: MachovecOptions, types: TypeDraws
) -> tuple[NodeCurves, NodeCurves]:
    """Draw the curves of seconds and of watts."""
    seconds, watts = draw_single(rng, options, types)
    runs = _can_run(options, types)
    pairs = [
        [
            (
                seconds_curves(cluster, types, i, seconds[i, c]),
                watts_curves(cluster, watts[i, c]),
            )
            if runs[i, c]
            else ((None,) * options.p_states,) * 2
            for c, cluster in enumerate(options.clusters)
        ]
        for i in range(options.task_types)
    ]
    of_seconds, of_watts = (
        NodeCurves(tuple(tuple(cell for pair in row for cell in pair[which]) for row in pairs))
        for which in (0, 1)
    )
    return of_seconds, of_watts


def _can_run(options: MachovecOptions, types: TypeDraws) -> Mask:
    general = np.arange(len(options.clusters)) < len(options.nodes)
    own = np.arange(len(options.clusters)) == types.home[:, np.newaxis]
    runs: Mask = own | (general & (types.home < len(options.nodes))[:, np.newaxis])
    return runs


def draw_single(
    rng: np.random.Generator, options: MachovecOptions, types: TypeDraws
) -> tuple[Floats, Floats]:
    """Draw t_ic / s_ick, seconds on a single core, and D_ic p_ick, watts of a single node."""
    size = (options.task_types, len(options.clusters))
    on_one_core = np.broadcast_to(types.single_core_seconds[:, np.newaxis], size)
    varied = gamma_draws(rng, on_one_core, options.cluster_cov)
    if options.single_core == HOME:
        at_home = np.arange(size[1]) == types.home[:, np.newaxis]
        varied = np.where(at_home, on_one_core, varied)
    row_watts = gamma_draws(rng, np.full((size[0], 1), options.node_watts), options.watts_cov)
    node_watts = gamma_draws(rng, np.broadcast_to(row_watts, size), options.watts_cov)
    speed, power = draw_states(rng, options, types)
    return varied[:, :, np.newaxis] / speed, node_watts[:, :, np.newaxis] * power


def draw_states(
    rng: np.random.Generator, options: MachovecOptions, types: TypeDraws
) -> tuple[Floats, Floats]:
    """Draw s_ick and p_ick, the factors of speed and of power."""
    shape = (len(types.home), len(options.clusters), options.p_states)
    speed, power = np.empty(shape), np.empty(shape)
    special = types.home >= len(options.nodes)
    for rows, cov in ((~special, GENERAL_COV), (special, SPECIAL_COV)):
        randomness = gamma_draws(rng, np.ones((int(rows.sum()), shape[1], 1)), cov)
        scaled = randomness * np.array(POWER_SCALING[: options.p_states])
        power[rows] = gamma_draws(rng, scaled, STATE_SHARE * cov)
        speed[rows] = gamma_draws(rng, np.sqrt(scaled), STATE_SHARE * cov)
    return speed, power


def seconds_curves(cluster: Cluster, types: TypeDraws, i: int, single: Floats) -> tuple[Points, ...]:
    """Return the curve of each P-state, from its seconds on a single core."""
    cores = int(types.cores[i])
    own = cluster.nodes_for(cores)
    nodes = sorted({*(2**k for k in range(cluster.nodes.bit_length())), cluster.nodes, own})
    nodes = [each for each in nodes if each <= cluster.nodes]
    used = np.array([cores if each == own else each * cluster.cores_per_node for each in nodes])
    faster = speed_up(used, float(types.parallelism[i]), float(types.sigmas[i]))
    values = rounded(single[:, np.newaxis] / faster)
    return tuple(tuple(zip(nodes, row, strict=True)) for row in values.tolist())


def watts_curves(cluster: Cluster, single: Floats) -> tuple[Points, ...]:
    """Return the line of each P-state, from the watts of a single node."""
    found = []
    for watts in map(six_digits, single.tolist()):
        last = (cluster.nodes, float(f"{cluster.nodes * watts:.15g}"))
        found.append(((1, watts), last) if cluster.nodes > 1 else (last,))
    return tuple(found)
