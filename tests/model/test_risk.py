from __future__ import annotations

import json

import pytest
from scipy.stats import binomtest

from lpsched.model.fields import FrozenDict
from lpsched.model.risk import Chance, Distribution, Risk


@pytest.mark.parametrize(("hits", "samples"), [(0, 1000), (1, 1000), (37, 100), (999, 1000), (1000, 1000), (1, 2)])
def test_a_chance_has_the_interval_of_wilson(hits, samples):
    exact = binomtest(hits, samples).proportion_ci(method="wilson")
    chance = Chance.of(hits, samples)
    assert chance.share == hits / samples
    assert (chance.low, chance.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def example(**changes):
    profit = Distribution(5.0, 4.5, 0.25, 0.025, FrozenDict({5.0: 4.1, 50.0: 4.5}))
    endless = Distribution(10.0, None, None, None, FrozenDict({5.0: 9.0, 50.0: None}))
    values = {
        "samples": 100,
        "seed": 7,
        "cov": "0.3",
        "power_cov": "0.1",
        "quantities": FrozenDict({"profit_per_hour": profit, "makespan_seconds": endless}),
        "covariance": ((0.0625, None), (None, None)),
        "chances": FrozenDict({"loss": Chance.of(1, 100)}),
        "currency": "EUR",
    }
    return Risk(**(values | changes))


def test_rows_name_units_and_show_what_does_not_exist_as_a_dash():
    risk = example()
    assert risk.headers() == ("", "planned", "mean", "deviation", "5 %", "50 %")
    assert risk.rows() == [
        ("profit, EUR/h", "5", "4.5", "0.25", "4.1", "4.5"),
        ("makespan", "10 s", "-", "-", "9 s", "-"),
    ]
    assert risk.chance_rows() == [("chance of a loss", "1 %", "95 % confidence: 0.1767 % to 5.449 %")]
    assert risk.heading() == ("If times and powers scatter (coefficient of variation 0.3, of powers 0.1; 100 samples)")
    assert "of powers" not in example(power_cov="0.3").heading()


def test_json_has_a_key_for_each_quantity_and_can_be_written():
    told = example().to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["profit_per_hour"] == {
        "planned": 5.0,
        "mean": 4.5,
        "standard_deviation": 0.25,
        "standard_error": 0.025,
        "percentiles": {"5": 4.1, "50": 4.5},
    }
    assert told["covariance"] == {
        "of": ["profit_per_hour", "makespan_seconds"],
        "matrix": [[0.0625, None], [None, None]],
    }
    assert set(told["chances"]["loss"]) == {"share", "low", "high"}


def test_a_notebook_shows_a_table():
    assert "<td>profit, EUR/h</td>" in example()._repr_html_()
