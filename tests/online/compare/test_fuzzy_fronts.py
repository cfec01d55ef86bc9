"""Fuzzy fronts of evolved schedules, and their pictures."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lpsched.evolve.nsga2 import evolve_front
from lpsched.io.figure_files import figure_bytes
from lpsched.model.risk import RiskOptions
from lpsched.online.compare.day_fronts import fuzzy_front
from lpsched.online.evolve import SampledDayScorer
from lpsched.report.figures.day_fronts import fuzzy_front_figure, variance_figure
from tests.days import decaying, simple_day
from tests.problems import problem_of
from tests.support import simple_bag


@pytest.fixture(scope="module")
def day():
    functions = [decaying(8.0, 0.01, until=90.0), decaying(4.0, until=60.0), decaying(2.0, 0.05)]
    arriving = [(2.0 * n, n % 2, functions[n % 3]) for n in range(30)]
    return simple_day([[10.0, 15.0], [20.0, None]], [[100.0, 30.0], [70.0, None]], [2, 1], arriving)


def evolved(instance, scorer=None, drop_below=None):
    rng = np.random.default_rng(0)
    return evolve_front(problem_of(instance, drop_below), rng=rng, scorer=scorer, size=12, generations=5)


@pytest.fixture(scope="module")
def fuzzy(day):
    return fuzzy_front(evolved(day, drop_below=0.5), RiskOptions(samples=40, cov=0.5), seed=1, name="expected values")


@pytest.fixture(scope="module")
def by_percentile(day):
    options = RiskOptions(samples=40, cov=0.5, percentile=50.0)
    front = evolved(day, SampledDayScorer(day, options, seed=1, drop_below=0.5), 0.5)
    return fuzzy_front(front, options, seed=1, name="nsga2", by_percentile=True)


def test_every_point_keeps_what_it_was_ranked_by_and_has_all_samples(fuzzy, by_percentile):
    assert fuzzy.ranked_by == "expected values"
    assert by_percentile.ranked_by == "percentile 50"
    for front in (fuzzy, by_percentile):
        assert front.value_key == "utility"
        energies = [point.energy_joules for point in front.points]
        assert energies == sorted(energies)
        for point in front.points:
            assert len(point.sampled_energy_joules) == len(point.sampled_values) == 40
            assert 0.0 <= point.mean_dropped <= 30.0
            mean = sum(point.sampled_values) / 40
            assert point.risk.quantities["utility"].mean == pytest.approx(mean)


def test_a_point_ranked_by_a_percentile_is_one_of_its_own_samples(by_percentile):
    for point in by_percentile.points:
        assert sorted(point.sampled_energy_joules)[19] == point.energy_joules
        assert sorted(point.sampled_values, reverse=True)[19] == point.value


def test_a_fuzzy_front_can_be_written_as_json(fuzzy):
    told = json.loads(json.dumps(fuzzy.to_dict(), allow_nan=False))
    assert told["name"] == told["ranked_by"] == "expected values"
    assert set(told["points"][0]) == {"energy_joules", "utility", "risk"}
    assert "dropped_tasks" in told["points"][0]["risk"]


def test_pictures_name_axes_units_and_fronts(fuzzy, by_percentile):
    figure = fuzzy_front_figure([replace(by_percentile, name="$<script>"), fuzzy])
    (axes,) = figure.axes
    assert axes.get_xlabel() == "energy, kWh"
    assert axes.get_ylabel() == "utility"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[0] == r"\$<script>: 40 samples of each"
    assert labels[1] == rf"\$<script>: {len(by_percentile.points)} schedules, ranked by percentile 50"
    assert labels[3] == f"expected values: {len(fuzzy.points)} schedules"
    marks = {line.get_marker() for line in axes.lines}
    assert len(marks) == 4  # colour never alone
    assert figure_bytes(figure, ".svg").startswith(b"<?xml")


def test_ellipses_are_as_wide_as_the_standard_deviations(fuzzy):
    figure = variance_figure(fuzzy)
    axes = figure.axes[0]
    patches: list[Any] = list(axes.patches)
    assert len(patches) == len(fuzzy.points)
    least = min(point.risk.quantities["energy_joules"].mean for point in fuzzy.points)
    most = max(point.risk.quantities["utility"].mean for point in fuzzy.points)
    for ellipse, point in zip(patches, fuzzy.points, strict=True):
        # The sum of the squares of both half axes is the sum of both variances, whatever the tilt.
        sigma = [point.risk.quantities[name].standard_deviation for name in ("energy_joules", "utility")]
        total = (sigma[0] / least) ** 2 + (sigma[1] / most) ** 2
        assert (ellipse.width / 2) ** 2 + (ellipse.height / 2) ** 2 == pytest.approx(total)
        # Along x it reaches one standard deviation of energy: (w cos)^2 + (h sin)^2.
        turned = np.radians(ellipse.angle)
        along = (ellipse.width / 2 * np.cos(turned)) ** 2 + (ellipse.height / 2 * np.sin(turned)) ** 2
        assert along == pytest.approx((sigma[0] / least) ** 2)
    assert axes.get_aspect() == 1.0
    assert axes.get_xlabel() == "energy / least energy"
    percents = [text.get_text() for text in axes.texts]
    assert percents
    assert all(text.endswith(" %") for text in percents)
    assert figure_bytes(figure, ".png").startswith(b"\x89PNG")


def test_a_bag_has_makespans_in_place_of_utility():
    bag = simple_bag([[2.0, 3.0], [5.0, 4.0]], [8, 6], [2, 2], [[10.0, 20.0], [9.0, 8.0]], [1.0, 2.0])
    fuzzy = fuzzy_front(evolved(bag), RiskOptions(samples=10, cov=0.5), seed=1, name="nsga2")
    assert fuzzy.value_key == "makespan_seconds"
    assert fuzzy.points[0].mean_dropped is None
    assert fuzzy_front_figure([fuzzy]).axes[0].get_ylabel() == "makespan, seconds"
    assert variance_figure(fuzzy).axes[0].get_ylabel() == "makespan / longest makespan"


def test_the_frame_of_a_fuzzy_front_has_a_row_for_each_point(fuzzy):
    pytest.importorskip("pandas")
    frame = fuzzy.to_frame()
    assert list(frame["utility"]) == [point.value for point in fuzzy.points]
    assert list(frame["mean_energy_joules"]) == [point.risk.quantities["energy_joules"].mean for point in fuzzy.points]
