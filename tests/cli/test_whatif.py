"""`lpsched whatif`, from outside."""

from __future__ import annotations

from fractions import Fraction

import pytest


def test_both_answers_stand_side_by_side(lpsched, bag):
    code, answer, _ = lpsched("whatif", bag, "--set", "gpu=3,cpu=1", "--json")
    assert code == 0
    assert answer["format"] == "lpsched-whatif/1"
    assert answer["machines"] == {"cpu": {"before": 2, "after": 1}, "gpu": {"before": 1, "after": 3}}
    before, after = answer["before"], answer["after"]
    # The best after lies in [value, bound], as does the best before.
    least = Fraction(after["value"]) - Fraction(before["bound"])
    most = Fraction(after["bound"]) - Fraction(before["value"])
    low, high = (Fraction(answer[f"best_changes_by_at_{end}"]) for end in ("least", "most"))
    assert float(low) == pytest.approx(float(least))
    assert float(high) == pytest.approx(float(most))
    assert low <= least  # a difference of doubles is rounded outwards
    assert most <= high
    _, alone, _ = lpsched("solve", bag, "--json")
    assert (before["value"], before["worth"]) == (alone["value"], alone["worth"])


def test_the_table_has_before_after_and_change(lpsched, bag):
    code, out, _ = lpsched("whatif", bag, "--set", "gpu=2", "--objective", "makespan")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["before", "after", "change"] in lines
    assert ["gpu", "1", "2"] in lines
    assert out.startswith("sound: proved: the best possible changes by -")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("gpu",), "found 'gpu', needs NAME=COUNT, e.g. gpu=8"),
        (("gpu=-1",), "found 'gpu=-1', needs NAME=COUNT"),
        (("gpu=1", "--set", "gpu=2"), "'gpu' is set twice; leave one out"),
        (("tpu=1",), "machine_types.tpu: found no machine type of this name, needs one of cpu, gpu; name it"),
    ],
)
def test_a_change_that_cannot_be_read_is_told(lpsched, bag, given, message):
    code, out, err = lpsched("whatif", bag, "--set", *given)
    assert code == 2
    assert message in err
    assert out == ""
