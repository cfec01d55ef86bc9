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
    least, most = answer["best_changes_by_at_least"], answer["best_changes_by_at_most"]
    assert least <= Fraction(after["value"]) - Fraction(before["bound"])  # rounded outwards
    assert most >= Fraction(after["bound"]) - Fraction(before["value"])
    assert least == pytest.approx(after["value"] - before["bound"], rel=1e-12)
    assert most == pytest.approx(after["bound"] - before["value"], rel=1e-12)
    _, alone, _ = lpsched("solve", bag, "--json")
    assert (before["value"], before["worth"]) == (alone["value"], alone["worth"])


def test_the_table_has_before_after_and_change(lpsched, bag):
    code, out, _ = lpsched("whatif", bag, "--set", "gpu=2", "--objective", "makespan")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["before", "after", "change"] in lines
    assert ["gpu", "1", "2"] in lines
    assert out.startswith("sound: with gpu from 1 to 2 machines, the best possible changes by -")
    assert "(proved)" in out


def test_prices_limits_and_tasks_can_be_changed(lpsched, bag):
    given = ("--set", "price=+10%,gpu=+1", "--set", "power-cap=2kW", "--set", "tasks.zip=-1")
    code, answer, _ = lpsched("whatif", bag, *given, "--json")
    assert code == 0
    assert answer["changes"] == [
        {"name": "price", "unit": "USD", "before": 4.5, "after": pytest.approx(2.2 + 4 * 0.55)},  # 2 + 5 x 0.5 before
        {"name": "machines.gpu", "unit": "machines", "before": 1, "after": 2},
        {"name": "power-cap", "unit": "W", "before": None, "after": 2000.0},
        {"name": "tasks.zip", "unit": "tasks", "before": 5, "after": 4},
    ]
    assert answer["after"]["tasks"] == 44
    code, out, _ = lpsched("whatif", bag, *given)
    assert code == 0
    assert "power cap from none to 2 kW" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("gpu",), "got 'gpu', expected NAME=VALUE, e.g. gpu=8, gpu=+4 or price=-10%"),
        (("gpu=-2",), "--set gpu: got -1, expected a whole number from 0"),
        (("gpu=1", "--set", "gpu=2"), "--set: got 'gpu' twice, expected each name once; leave one out"),
        (("tpu=1",), "--set tpu: got an unknown name, expected one of cpu, gpu, price"),
    ],
)
def test_a_change_that_cannot_be_read_is_an_error(lpsched, bag, given, message):
    code, out, err = lpsched("whatif", bag, "--set", *given)
    assert code == 2
    assert message in err
    assert out == ""


TINY = "instances/tiny.yaml"
LOG = """format: lpsched-clusters/1
name: log
unit: gpu
epoch: 2024-01-31T08:00:00Z
clusters: [{name: batch, nodes: 2}]
task_types: [{name: job}]
seconds: {job: {batch: 1}}
waiting: {measure: seconds}
tasks:
  - {arrival_seconds: 0, task_type: job, cores: 2, work: 60, logged_start_seconds: 10}
  - {arrival_seconds: 0, task_type: job, cores: 2, work: 60, logged_start_seconds: 70}
  - {arrival_seconds: 0, task_type: job, cores: 2, work: 60, logged_start_seconds: 200}
"""


def test_clusters_are_simulated_with_other_nodes(lpsched, tmp_path):
    (tmp_path / "log.yaml").write_text(LOG)
    log = str(tmp_path / "log.yaml")
    code, out, err = lpsched("whatif", log, "--set", "batch=+2")
    assert (code, err) == (0, "")
    assert out.startswith(
        "With batch from 2 to 4 GPUs, the mean wait under easy changes by -40 s, from 1 min to 20 s.\n"
    )
    assert ["mean", "wait", "1", "min", "20", "s", "-40", "s"] in [line.split() for line in out.splitlines()]
    code, answer, _ = lpsched("whatif", log, "--set", "speed=2", "--set", "scheduler=easy", "--no-bound", "--json")
    assert (code, answer["format"], answer["bound"]) == (0, "lpsched-whatif-clusters/1", None)
    assert answer["changes"] == [{"name": "speed of batch", "unit": "times", "before": 1.0, "after": 2.0}]
    assert answer["policies"][0]["quantities"][0] == {
        "name": "mean wait", "before": 60.0, "after": 30.0, "change": -30.0, "half_width": None
    }  # fmt: skip


def test_options_of_bags_and_clusters_are_kept_apart(lpsched, tmp_path):
    (tmp_path / "log.yaml").write_text(LOG)
    log = str(tmp_path / "log.yaml")
    for option, value, file in (("--deadline", "5", log), ("--solver", "highs", log), ("--trials", "2", TINY)):
        code, out, err = lpsched("whatif", file, "--set", "batch=+2", option, value)
        assert (code, out) == (2, "")
        assert err.startswith(f"lpsched: {option}: got the option for {'clusters' if file == log else 'a bag'}")


def test_what_really_happened_is_a_row_of_simulate(lpsched, tmp_path):
    (tmp_path / "log.yaml").write_text(LOG)
    page, figure = tmp_path / "page.html", tmp_path / "figure.svg"
    files = ("--report", str(page), "--timeline", str(figure))
    code, out, err = lpsched("simulate", str(tmp_path / "log.yaml"), "--scheduler", "easy", "--bound", *files)
    assert (code, err) == (0, "")
    assert out.startswith("As logged: mean wait 1 min 33 s, cost 280, gap ")  # 10 + 70 + 200 s
    assert "as logged" in page.read_text()
    assert "What the GPUs run under easy" in page.read_text()
    assert "2024-Jan-31" in figure.read_text()  # the axis has dates
