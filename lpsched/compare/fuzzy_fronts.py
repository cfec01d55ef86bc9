"""From an evolved front to a fuzzy one: every schedule of it, run in all samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.result.fuzzy_front import FuzzyFront, FuzzyPoint
from lpsched.result.risk import told

if TYPE_CHECKING:
    from lpsched.evolve.evolved_front import EvolvedFront
    from lpsched.evolve.sampled_scores import GeneSamples
    from lpsched.result.risk import Risk
    from lpsched.risk.options import RiskOptions


def fuzzy_front(
    front: EvolvedFront, options: RiskOptions, *, seed: int, name: str, by_percentile: bool = False
) -> FuzzyFront:
    """Run the schedules of an evolved front in all samples.

    With the seed and the options that the front was ranked by, the draws are those that it was ranked by.

    Parameters
    ----------
    name
        What to call the front.
    by_percentile
        Whether it was ranked by the options' percentile, in place of expected values.

    Raises
    ------
    MissingExtraError
        If Numba is not installed.
    InstanceError
        If there were too much to draw.
    """
    scorer = front.problem.sampled(options, seed)
    drawn = scorer.samples(front.genes)
    values = drawn.makespan_seconds if drawn.utility is None else drawn.utility
    points = tuple(
        FuzzyPoint(
            energy_joules=joules,
            value=value,
            sampled_energy_joules=tuple(drawn.energy_joules[k].tolist()),
            sampled_values=tuple(values[k].tolist()),
            risk=_risk(drawn, k, options, seed),
        )
        for k, (joules, value) in enumerate(front.points)
    )
    ranked_by = f"percentile {options.percentile:g}" if by_percentile else "expected values"
    return FuzzyFront(name, ranked_by, front.problem.criterion, front.problem.tasks, points)


def _risk(drawn: GeneSamples, k: int, options: RiskOptions, seed: int) -> Risk:
    """Return how one schedule fares; what was planned is the front's to tell."""
    quantities = {"energy_joules": drawn.energy_joules[k], "makespan_seconds": drawn.makespan_seconds[k]}
    if drawn.utility is not None and drawn.dropped_tasks is not None:
        quantities = {"utility": drawn.utility[k], **quantities}
        quantities["dropped_tasks"] = drawn.dropped_tasks[k].astype(float)
    return told({name: (None, each) for name, each in quantities.items()}, {}, options, seed)
