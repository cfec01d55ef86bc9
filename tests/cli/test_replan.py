"""`lpsched simulate` of a bag: planned again in every slot by a forecast."""

from __future__ import annotations

from pathlib import Path

import pytest

INSTANCES = Path(__file__).parents[2] / "instances"
TINY, DAY = str(INSTANCES / "tiny.yaml"), str(INSTANCES / "utility-250.yaml")
TERMS = (
    *("--tariff", str(INSTANCES / "prices-de-2024-01-08.csv"), "--start", "2024-01-09T00:00Z"),
    *("--horizon", "5h", "--switch-off"),
)


def test_a_bag_is_planned_by_yesterdays_prices_and_the_plan_and_the_proof_are_accepted(lpsched, tmp_path):
    plan, proof, figure = (tmp_path / name for name in ("plan.json", "proof.json", "day.svg"))
    files = ("-o", str(plan), "--certificate", str(proof), "--figure", str(figure))
    code, found, _ = lpsched("simulate", TINY, *TERMS, "--forecast", "previous-day", *files, "--json")
    assert (code, found["format"], found["forecast"], found["forecast_of"]) == (
        *(0, "lpsched-replan/1", "previous-day"),
        "tariff",
    )
    assert found["bound"] <= found["value"] <= found["bound"] + found["loss_at_most"]
    assert [each["name"] for each in found["plans"]] == [
        "planned again",
        "planned once",
        "perfect foresight",
        "all at once",
    ]
    assert (found["slot_count"], len(found["slots"])) == (5, 5)
    assert "<svg" in figure.read_text()
    code, checked, _ = lpsched("verify", TINY, str(plan), str(proof), *TERMS, "--json")
    assert (code, [each["accepted"] for each in checked["files"]]) == (0, [True, True])
    assert checked["files"][0]["cost"] == pytest.approx(found["value"])


def test_a_file_and_a_number_are_forecasts_and_the_answer_says_what_is_proved(lpsched):
    prices = str(INSTANCES / "prices-de-2024-01-08.csv")
    code, out, _ = lpsched("simulate", TINY, *TERMS, "--forecast", prices)
    assert code == 0
    assert "tariff: prices-de-2024-01-08.csv; mean absolute error at the start" in " ".join(out.split())
    assert "0 new plans searched for" in out  # a perfect forecast: there is no news
    code, out, _ = lpsched("simulate", TINY, *TERMS, "--forecast", "0.1")
    assert code == 0
    assert "bound: no plan costs less (proved)" in out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((TINY, "--trials", "2"), "--trials: got the option for a bag, expected a day or clusters"),
        ((TINY, "--scheduler", "fcfs"), "--scheduler: got the option for a bag"),
        ((TINY, "--report", "page.html"), "--report: got the option for a bag"),
        ((DAY, "--forecast", "0.1"), "--forecast: got the option for arriving tasks, expected a bag"),
        ((DAY, "--objective", "cost"), "--objective: got the option for arriving tasks"),
        ((TINY, "-o", "p.swf"), "--output: got 'p.swf', expected a file name that ends in .json"),
        ((TINY, *TERMS), "forecast: got nothing, expected a forecast of the tariff"),
        ((TINY, *TERMS, "--forecast", "gone.csv"), "gone.csv: 1 error"),
        ((TINY, *TERMS, "--forecast", "tomorrow"), "tomorrow: 1 error"),
        ((TINY, *TERMS, "--forecast", str(INSTANCES / "carbon-de-2024-01-08.csv")), "no unit in the columns"),
    ],
)
def test_what_does_not_go_together_is_an_error(lpsched, given, words):
    code, out, err = lpsched("simulate", *given)
    assert (code, out) == (2, "")
    assert words in err
