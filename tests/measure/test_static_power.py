from __future__ import annotations

import pytest

from tests.measure.known_runs import bench_of, runs, summed_up

# Table 8.5, joules at 3.40 GHz; the thesis prints no times with them, so any will do.
ALONE = {"canneal": 7873.0, "streamcluster": 22636.0, "blackscholes": 9347.0, "bodytrack": 9583.0}
TOGETHER = {
    "blackscholes|canneal": 11055.0,
    "canneal|streamcluster": 24281.0,
    "blackscholes|bodytrack bodytrack canneal": 28729.0,
    "canneal|canneal streamcluster streamcluster": 32504.0,
}


@pytest.fixture(scope="module")
def table_8_5():
    alone = [runs(name, 100.0, mhz=3400.0, joules=joules) for name, joules in ALONE.items()]
    together = [runs(crowd, 100.0, mhz=3400.0, batch=True, joules=joules) for crowd, joules in TOGETHER.items()]
    found = summed_up(bench_of(*ALONE), *alone, *together, clocks=(3400.0,))
    return {saving.together: saving for saving in found.savings}


@pytest.mark.parametrize(
    ("together", "apart", "saved", "share"),
    [
        # 7,873 + 22,636 = 30,509; less 24,281; 6,228 / 30,509
        (("canneal", "streamcluster"), 30509.0, 6228.0, 0.204),
        # 7,873 + 9,347 = 17,220; less 11,055; 6,165 / 17,220
        (("blackscholes", "canneal"), 17220.0, 6165.0, 0.358),
        # 7,873 + 9,347 + 2 x 9,583 = 36,386; less 28,729; 7,657 / 36,386
        (("blackscholes", "bodytrack", "bodytrack", "canneal"), 36386.0, 7657.0, 0.210),
        # 2 x 7,873 + 2 x 22,636 = 61,018; less 32,504; 28,514 / 61,018
        (("canneal", "canneal", "streamcluster", "streamcluster"), 61018.0, 28514.0, 0.467),
    ],
)
def test_table_8_5_saves_what_its_numbers_say(table_8_5, together, apart, saved, share):
    saving = table_8_5[together]
    assert (saving.joules_apart, saving.joules_saved) == (apart, saved)
    assert saving.share_saved == pytest.approx(share, abs=5e-4)
    assert saving.joules_predicted is None  # no idle power


def test_the_prediction_pays_static_power_once():
    # Idle 10 W. a: 5 s, 80 J, of these 30 its own; b: 8 s, 100 J, of these 20; together 9 s: 90 + 30 + 20.
    found = summed_up(
        bench_of("a", "b"),
        runs("a", 4.0, 6.0, joules=80.0),
        runs("b", 8.0, joules=100.0),
        runs("a|b", 9.0, batch=True, joules=130.0),
        idle_before=8.0,
        idle_after=12.0,
    )
    (saving,) = found.savings
    assert (saving.joules_apart, saving.joules_together, saving.joules_predicted) == (180.0, 130.0, 140.0)


def test_each_clock_has_its_own_saving():
    found = summed_up(
        bench_of("a"),
        *(runs("a", 1.0, mhz=mhz, joules=joules) for mhz, joules in ((2000.0, 10.0), (1000.0, 7.0))),
        *(runs("a|a", 1.0, mhz=mhz, batch=True, joules=12.0) for mhz in (2000.0, 1000.0)),
        clocks=(2000.0, 1000.0),
    )
    assert [(each.mhz, each.joules_saved) for each in found.savings] == [(2000.0, 8.0), (1000.0, 2.0)]


@pytest.mark.parametrize("without", ["a", "b", "a|b"])
def test_a_saving_needs_the_energy_of_each_alone_and_of_all_together(without):
    samples = [
        *runs("a", 1.0, joules=None if without == "a" else 5.0),
        *runs("b", 1.0, joules=None if without == "b" else 5.0),
        *runs("a|b", 1.0, batch=True, joules=None if without == "a|b" else 8.0),
        *runs("b|a", 1.0, joules=8.0),  # no batch: it ends with b
    ]
    assert summed_up(bench_of("a", "b"), samples).savings == ()
