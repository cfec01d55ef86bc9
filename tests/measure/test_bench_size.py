from __future__ import annotations

import pytest

from lpsched.measure.bench import Bench, size_of
from lpsched.measure.session import programs_of, settings_of
from tests.benches import asked

CLOCKS = [3000, 2000]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"cores": 1},
        {"cores": [[0, 1], [2, 3]], "companions": "never"},
        {"pairs": "none", "companions": "always"},
        {"pairs": [["zip", "sort"], ["sort", "sort"]]},
        {"cores": 4, "groups": [["zip", "zip", "sort"], ["zip"] * 4], "frequencies_mhz": CLOCKS},
        {"batches": False, "frequencies_mhz": CLOCKS},
        {"energy": {"command": "watts"}},
        {"energy": "none", "repeats": {"warm_ups": 3}},
    ],
)
def test_the_size_that_is_shown_is_that_of_the_plan_with_the_least_and_the_most_there_is(changes):
    bench = Bench.read(asked(**changes))
    size, kind = size_of(bench), bench.energy.kind
    clocks = bench.frequencies_mhz
    least = settings_of(bench, frequencies_mhz=clocks, energy=kind in {"command", "stream"}, counters=True)
    most = settings_of(bench, frequencies_mhz=clocks, energy=kind != "none", counters=False)
    assert (size.least_settings, size.most_settings) == (len(least), len(most))
    for runs, settings, repeats in (
        (size.least_runs, least, bench.repeats.least),
        (size.most_runs, most, bench.repeats.most),
    ):
        assert runs == repeats * len(settings) + bench.repeats.warm_ups * len(programs_of(settings))
    alone = [each for each in most if not each.beside]
    assert (size.alone, size.batches) == (len(alone), sum(each.batch for each in most))
    in_all = size.alone + size.pairs + size.groups + size.batches + size.companions
    assert in_all == size.most_settings
