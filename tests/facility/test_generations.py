"""Ask and tell: the first population, then two children at a time; the ranking."""

from __future__ import annotations

import numpy as np

from lpsched.facility.genetic import SIZE, Chromosome, Generations
from tests.facility.drawn import drawn_breeder

NONE = np.zeros((0, 0))


def scored(score):
    return Chromosome(NONE, NONE.astype(np.int16), NONE, score)


def test_the_worst_are_trimmed_and_equals_stand_behind_the_older():
    ranking, old, new = Generations(drawn_breeder(3), size=3), scored(2.0), scored(2.0)
    ranking.join([scored(1.0), old, scored(3.0)])
    assert ranking.is_full
    ranking.join([new])
    assert [each.score for each in ranking.members] == [3.0, 2.0, 2.0]
    assert ranking.members[1:] == [old, new]
    ranking.join([scored(0.5)])
    assert ranking.members[1:] == [old, new]


def test_newcomers_are_ranked_before_the_worst_go():
    # Were the worst of three trimmed before the insertion, 1.0 would go for 0.5.
    ranking = Generations(drawn_breeder(3), size=2)
    ranking.join([scored(1.0), scored(2.0)])
    ranking.join([scored(0.5), scored(1.5)])
    assert [each.score for each in ranking.members] == [2.0, 1.5]


def test_the_first_population_is_made_one_by_one_and_is_no_generation():
    run = Generations(drawn_breeder(3))
    for made in range(SIZE):
        assert len(run.members) == made
        asked = run.ask()
        assert len(asked) == 1
        run.tell(asked)
    assert (run.count, run.is_full) == (0, True)
    asked = run.ask()
    assert len(asked) == 2
    run.tell(asked)
    assert (run.count, len(run.members)) == (1, SIZE)


def test_the_best_never_gets_worse_and_every_improvement_is_noted():
    run = Generations(drawn_breeder(3))
    best = []
    for _ in range(SIZE + 200):
        run.tell(run.ask())
        best.append(run.members[0].score)
        scores = [each.score for each in run.members]
        assert scores == sorted(scores, reverse=True)
    assert best == sorted(best)
    assert [entry[2] for entry in run.history] == sorted(set(best))
    assert [entry[1] for entry in run.history] == sorted(entry[1] for entry in run.history)
    assert len(run.history) > 2
