"""Scores of an objective: what patterns are searched by, in exact numbers, in doubles, and back again.

    profit     score = profit rate + K, in money per second      made of kappa and N
    energy     score = -E, in joules                             made of d, and I a second
    makespan   score = -t, in seconds                            made of nothing, and 1 a second

To wait for ever earns -K, a score of 0. Where no deadline forbids that, the last interval of makespans has no
end, and no bound of it is less.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.certificate.bounds import SECONDS_PER_HOUR
from lpsched.certificate.fixed_point import rounded_down, rounded_up
from lpsched.instance.items import Items, items_of
from lpsched.pipeline.packing_proofs import PackingProver
from lpsched.pipeline.proving import prover_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.instance import Bag
    from lpsched.pipeline.questions import Question


@dataclass(frozen=True, slots=True)
class Scoring:
    """One question's scores."""

    maximise: bool
    standing: Fraction  # K: what the score of a profit has more than the profit
    prover: PackingProver
    items: Items
    rounded: Callable[[Fraction], Fraction]  # to what whole tasks can take, where something is minimised

    def of_value(self, value: float) -> float:
        """Return the score of what a schedule achieves."""
        return value / SECONDS_PER_HOUR + float(self.standing) if self.maximise else -value

    def to_value(self, score: float) -> float:
        """Return what the objective calls a score."""
        return (score - float(self.standing)) * SECONDS_PER_HOUR if self.maximise else -score

    def to_bound(self, score: Fraction) -> float:
        """Return the bound that a proved bound of the score is, rounded to the side that stays true."""
        if not self.maximise:
            return rounded_down(self.rounded(-score))
        return rounded_up(SECONDS_PER_HOUR * (score - self.standing))


def scoring_of(question: Question) -> Scoring:
    """Return the scores of a question."""
    bag, name = question.bag, question.objective.name
    known, nothing = prover_of(bag), Fraction(0)
    per_joule = {"profit": known.per_joule, "energy": Fraction(1)}.get(name, nothing)
    per_second = {"energy": known.idle_watts, "makespan": Fraction(1)}.get(name, nothing)
    income = known.income() if name == "profit" else None
    wear = name == "profit"
    prover = PackingProver(bag, per_joule=per_joule, wear=wear, income=income, per_second=per_second)
    return Scoring(
        maximise=question.objective.maximise,
        standing=known.standing() if name == "profit" else nothing,
        prover=prover,
        items=_items(bag, prover),
        rounded=known.whole_joules if name == "energy" else known.whole_seconds,
    )


def _items(bag: Bag, prover: PackingProver) -> Items:
    """Return the items in doubles, as the prover counts them."""
    return items_of(
        bag,
        per_joule=float(prover.per_joule),
        wear=prover.wear,
        income=None if prover.income is None else float(prover.income),
        per_second=float(prover.per_second),
        headroom=None if prover.headroom is None else float(prover.headroom),
    )
