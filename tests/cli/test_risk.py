from __future__ import annotations

from pathlib import Path

import pytest

from lpsched.online.files import write_day
from tests.days import decaying, simple_day

pytestmark = pytest.mark.rotate_tests(4)

INSTANCES = Path(__file__).parent.parent.parent / "instances"


def test_solve_with_risk_prints_the_spread_and_the_chance_of_a_loss(lpsched):
    code, out, _ = lpsched("solve", str(INSTANCES / "tiny.yaml"), "--risk", "samples=100,cov=0.3,percentiles=10/90")
    assert code == 0
    assert "If times and powers scatter (coefficient of variation 0.3; 100 samples)" in out
    assert "planned" in out
    assert "10 %" in out
    assert "profit, USD/h" in out
    assert "chance of a loss" in out


def test_risk_in_json_is_there_only_when_asked_for(lpsched):
    _, answer, _ = lpsched("solve", str(INSTANCES / "tiny.yaml"), "--json", "--risk", "samples=100", "--seed", "5")
    assert answer["risk"]["seed"] == 5
    assert answer["risk"]["samples"] == 100
    assert answer["risk"]["profit_per_hour"]["planned"] == answer["value"]
    assert set(answer["risk"]) == {
        "samples", "seed", "cov", "power_cov", "profit_per_hour", "makespan_seconds", "energy_joules", "covariance", "chances",
    }  # fmt: skip
    _, answer, _ = lpsched("solve", str(INSTANCES / "tiny.yaml"), "--json")
    assert "risk" not in answer


def test_the_same_seed_gives_the_same_risk(lpsched):
    runs = [
        lpsched("solve", str(INSTANCES / "tiny.yaml"), "--json", "--risk", "samples=50,cov=0.1-0.9")[1]
        for _ in range(2)
    ]
    assert runs[0]["risk"] == runs[1]["risk"]


def test_a_risk_that_cannot_be_read_is_told_before_the_bag_is(lpsched):
    code, out, err = lpsched("solve", "no-such-file.yaml", "--json", "--risk", "sample=100")
    assert code == 2
    assert out["error"]["faults"] == [
        {
            "where": "--risk sample",
            "found": "an unknown key",
            "needed": "one of samples, cov, power-cov, percentiles",
            "do": "correct it",
        }
    ]
    assert "--risk " in err


@pytest.fixture
def day(tmp_path):
    functions = [decaying(8.0, 0.01, until=90.0), decaying(4.0, until=60.0), decaying(2.0, 0.05)]
    arriving = [(2.0 * n, n % 2, functions[n % 3]) for n in range(20)]
    path = tmp_path / "day.yaml"
    write_day(simple_day([[10.0, 15.0], [20.0, None]], [[100.0, 30.0], [70.0, None]], [2, 1], arriving), path)
    return str(path)


NSGA2 = ("--compare", "nsga2", "--generations", "3")


def test_front_with_risk_prints_and_draws_a_fuzzy_front(lpsched, day, tmp_path):
    figure, ellipses = tmp_path / "fuzzy.svg", tmp_path / "ellipses.svg"
    options = ("--risk", "samples=20,cov=0.1-1.5", "--drop-below", "0.5")
    code, out, _ = lpsched("front", day, *NSGA2, *options, "--figure", str(figure), "--ellipses", str(ellipses))
    assert code == 0
    assert "nsga2, ranked by expected values: some of its schedules, each in 20 samples" in out
    assert "mean utility" in out
    assert figure.read_text().startswith("<?xml")
    assert ellipses.read_text().startswith("<?xml")


def test_a_front_may_be_ranked_by_a_percentile(lpsched, day):
    _, answer, _ = lpsched("front", day, *NSGA2, "--json", "--risk", "samples=20,cov=0.5,percentile=50")
    assert answer["fuzzy"]["ranked_by"] == "percentile 50"
    assert answer["fuzzy"]["points"][0]["risk"]["samples"] == 20
    _, plain, _ = lpsched("front", day, *NSGA2, "--json")
    assert "fuzzy" not in plain


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--compare", "min-energy", "--risk", "samples=20"),
            "got the option without --scheduler nsga2, expected both; add --scheduler nsga2, or leave it out",
        ),
        (
            ("--compare", "min-energy", "--ellipses", "x.svg"),
            "got the option without --risk, expected both; add --risk, or leave it out",
        ),
        ((*NSGA2, "--risk", "percentile=0"), "percentile: got 0, expected a number above 0, up to 100"),
    ],
)
def test_what_does_not_go_together_is_refused(lpsched, day, arguments, words):
    code, _, err = lpsched("front", day, *arguments)
    assert code == 2
    assert words in err


def test_a_fuzzy_front_is_that_of_a_day(lpsched, bag):
    code, _, err = lpsched("front", bag, *NSGA2, "--risk", "samples=20")
    assert code == 2
    assert "got the option for a bag, expected a day; leave it out" in err
