from __future__ import annotations

import pytest

from lpsched.measure.evidence import AdditiveCheck, Setting
from lpsched.measure.summary import additive_error
from tests.measure.known_runs import bench_of, runs, summed_up


def test_the_prediction_is_one_plus_the_degradation_by_each_of_the_others():
    # PD[a][a] = 0.2, PD[a][b] = 0.5; a beside a, b, b: 1 + 0.2 + 0.5 + 0.5 = 2.2, and 20 s of 10 are 2
    found = summed_up(bench_of("a", "b"), runs("a", 10.0), runs("a|a", 12.0), runs("a|b", 15.0), runs("a|a b b", 20.0))
    (check,) = found.additive
    assert check.setting == Setting("a", ("a", "b", "b"))
    assert (check.measured, check.predicted) == (2.0, pytest.approx(2.2))
    assert check.error == pytest.approx(0.1)


def test_the_table_as_it_stands_predicts_at_every_clock():
    # -0.2 and +0.1 at two clocks are a mean below 0, so 0 in the table: nothing is predicted to slow down
    found = summed_up(
        bench_of("a"),
        *(runs("a", 10.0, mhz=mhz) for mhz in (2000.0, 1000.0)),
        runs("a|a", 8.0, mhz=2000.0),
        runs("a|a", 11.0, mhz=1000.0),
        *(runs("a|a a", 12.5, mhz=mhz) for mhz in (2000.0, 1000.0)),
        clocks=(2000.0, 1000.0),
    )
    assert [(each.setting.mhz, each.measured, each.predicted) for each in found.additive] == [
        (2000.0, 1.25, 1.0),
        (1000.0, 1.25, 1.0),
    ]


def test_a_group_with_a_pair_that_was_not_measured_is_not_checked():
    found = summed_up(bench_of("a", "b"), runs("a", 10.0), runs("a|a", 12.0), runs("a|a b", 20.0))
    assert found.additive == ()


def test_a_group_whose_application_was_not_measured_alone_is_not_checked():
    assert summed_up(bench_of("a"), runs("a|a", 12.0), runs("a|a a", 20.0)).additive == ()


def test_errors_count_without_their_sign():
    checks = [AdditiveCheck.of(Setting("a"), 2.0, 2.5), AdditiveCheck.of(Setting("b"), 2.0, 1.0)]
    assert additive_error(checks) == (2, 0.375, 0.5)  # a quarter too slow, a half too fast
    assert additive_error([]) is None
