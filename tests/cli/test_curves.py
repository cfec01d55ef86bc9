"""`lpsched front` and `price` over a horizon, and `lpsched offer`."""

from __future__ import annotations

import contextlib
import csv
import json
import shlex
from pathlib import Path

import pytest

from tests.report.html_reader import Reader

INSTANCES = Path(__file__).parents[2] / "instances"
TINY, DAY = str(INSTANCES / "tiny.yaml"), str(INSTANCES / "render-day.yaml")
SERIES = (
    *("--tariff", str(INSTANCES / "prices-de-2024-01-08.csv"), "--carbon", str(INSTANCES / "carbon-de-2024-01-08.csv")),
    *("--start", "2024-01-08T00:00Z", "--switch-off", "--effort", "fast"),
)


def commands_of(page: Path) -> list[str]:
    """Return the commands that a page shows."""
    return [cell for cell in Reader(page.read_text()).of("td") if cell.startswith("lpsched ")]


def assert_commands_run(lpsched, page: Path, folder: Path, *, first: str) -> None:
    """Run the commands of a page in a folder: the last one checks what the one before has written."""
    again, solve, verify = commands_of(page)
    assert again.startswith(first)
    with contextlib.chdir(folder):
        assert lpsched(*shlex.split(solve)[1:], "--effort", "fast")[0] == 0
        code, out, _ = lpsched(*shlex.split(verify)[1:])
    assert (code, "2 of 2 files accepted" in " ".join(out.split())) == (0, True)


def test_the_page_of_a_plan_shows_commands_that_run_with_the_options_used(lpsched, tmp_path):
    page, plan = tmp_path / "plan.html", tmp_path / "my plan.json"
    given = ("solve", TINY, "--objective", "cost", "--deadline", "6h", *SERIES, "--report", str(page), "-o", str(plan))
    assert lpsched(*given)[0] == 0
    solve, verify = commands_of(page)
    assert "--horizon 21600" in solve
    assert "--effort fast" in solve
    assert f"'{plan}' proof.json" in verify
    assert "--switch-off" in verify
    assert "--horizon 21600" in verify  # the file has none, so it does not follow from the file what is claimed
    plan.unlink()
    with contextlib.chdir(tmp_path):
        assert lpsched(*shlex.split(solve)[1:])[0] == 0
        assert lpsched(*shlex.split(verify)[1:])[0] == 0
    headings = Reader(page.read_text()).of("h2")
    assert {"At other carbon prices", "With other deadlines", "How to check"} <= set(headings)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_front_of_cost_and_carbon_is_printed_written_and_drawn(lpsched, tmp_path):
    rows, figure, page = tmp_path / "front.csv", tmp_path / "front.svg", tmp_path / "front.html"
    given = ("front", TINY, "--axes", "cost,carbon", "--horizon", "1d", *SERIES)
    code, out, _ = lpsched(*given, "-o", str(rows), "--figure", str(figure), "--report", str(page), "--json")
    content = json.loads(out) if isinstance(out, str) else out
    assert (code, content["format"], content["axes"]) == (0, "lpsched-horizon-front/1", ["cost", "carbon"])
    vertices = content["vertices"]
    assert len(vertices) > 1
    assert [float(row["lp_cost"]) for row in rows_of(rows)] == [each["cost"] for each in vertices]
    assert vertices[0]["cost"] >= content["least_cost"] * (1 - 1e-9)
    assert vertices[0]["plan"]["cost"] >= content["least_cost"]
    assert [each["best_to_per_kg"] for each in vertices[:-1]] == [each["best_from_per_kg"] for each in vertices[1:]]
    assert vertices[-1]["best_to_per_kg"] is None
    assert "<svg" in figure.read_text()
    assert_commands_run(lpsched, page, tmp_path, first="lpsched front")
    code, out, _ = lpsched(*given)
    assert code == 0
    assert "no plan costs less than" in out


def test_the_cost_over_the_deadline(lpsched, tmp_path):
    figure, page = tmp_path / "deadline.svg", tmp_path / "deadline.html"
    given = ("front", TINY, "--axes", "cost,deadline", "--horizon", "6h", *SERIES)
    code, out, _ = lpsched(*given, "--figure", str(figure), "--report", str(page))
    assert code == 0
    assert "Cost against the deadline" in Reader(page.read_text()).of("h2")
    assert "No plan ends before 12 s (proved)." in out
    assert "Another hour changes the least cost by" in out
    assert "<svg" in figure.read_text()


def test_offers_are_printed_written_and_drawn(lpsched, tmp_path):
    # All at once draws at midnight UTC; half the energy can be drawn later.
    rows, figure, page = tmp_path / "offers.csv", tmp_path / "offers.svg", tmp_path / "offers.html"
    given = ("offer", TINY, "--hours", "0-1", "--baseline", "at-once", "--horizon", "1d", *SERIES)
    code, out, _ = lpsched(*given, "-o", str(rows), "--figure", str(figure), "--report", str(page))
    assert code == 0
    assert_commands_run(lpsched, page, tmp_path, first="lpsched offer")
    assert "less than the baseline (all at once, from the start)" in out
    read = rows_of(rows)
    assert float(read[0]["kw"]) == 0
    assert all(float(row["proved_at_least"]) <= float(row["achieved_at_most"] or "inf") for row in read)
    assert "<svg" in figure.read_text()
    code, out, _ = lpsched(*given[:-2], "--json", "--baseline", "0.001")
    content = json.loads(out) if isinstance(out, str) else out
    assert (code, content["format"], content["slots"][0]["baseline_kw"]) == (0, "lpsched-offers/1", 0.001)


def test_profit_by_level_is_printed_written_and_drawn(lpsched, tmp_path):
    rows, figure = tmp_path / "levels.csv", tmp_path / "levels.svg"
    given = ("price", DAY, "--horizon", "1d", "--effort", "fast", "--to-level", "1.2")
    code, out, _ = lpsched(*given, "-o", str(rows), "--figure", str(figure), "--json")
    content = json.loads(out) if isinstance(out, str) else out
    assert (code, content["format"], content["never_rises"]) == (0, "lpsched-horizon-levels/1", True)
    assert (content["points"][0]["level"], content["points"][-1]["level"]) == (0.0, 1.2)
    assert all(each["value"] <= each["bound"] for each in content["points"])
    assert [float(row["proved_at_most"]) for row in rows_of(rows)] == [each["bound"] for each in content["points"]]
    assert "<svg" in figure.read_text()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("price", DAY, "--horizon", "1d", "--price", "3"), "with a horizon"),
        (("price", DAY, "--horizon", "1d", "--to-level", "-1"), "a positive number"),
        (("price", DAY, "--to-level", "3"), "without --horizon"),
        (("price", TINY, "--horizon", "1d", "--tariff", "0.1"), "prices.per_task"),
        (("front", TINY, "--horizon", "1d"), "without --axes"),
        (("front", TINY, "--axes", "cost,carbon", "--horizon", "1d", "--carbon-price", "3"), "with --axes cost,carbon"),
        (("front", TINY, "--axes", "cost,deadline", "--scheduler", "mct"), "with --axes cost,deadline"),
        (("front", TINY, "--axes", "cost,deadline"), "--horizon"),
        (("offer", TINY, "--hours", "0-1", "--baseline", "much"), "a number of kW"),
        (("offer", TINY, "--hours", "nine", "--horizon", "1d", "--start", "2024-01-08"), "hours of the day"),
        (("offer", TINY, "--hours", "0-1", "--horizon", "1d"), "--start"),
    ],
)
def test_options_that_do_not_go_together_are_rejected(lpsched, given, words):
    code, out, err = lpsched(*given)
    assert (code, out) == (2, "")
    assert words in err
