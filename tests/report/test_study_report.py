from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from lpsched.errors import InstanceError
from lpsched.model.fields import FrozenDict
from lpsched.report.figures.comparisons import described, study_figure, study_tooltips, swept
from lpsched.report.html.comparisons import study_page
from lpsched.report.studies import detail, failure_rows, headline, overview, report_csv
from lpsched.studies import methods as bag_methods
from lpsched.studies.report import PROBLEM, study_report
from tests.studies.test_study_lines import run_of

FILE = FrozenDict({"file": "bag.yaml", "hash": "0"})


def a_run(
    number, method="lp", gap=None, seconds=1.0, source=FILE, *, unit="seconds", objective="makespan", **parameters
):
    """Return a run; without a gap it failed."""
    told = {"value": 7200.0, "bound": 4.0, "gap": gap, "unit": unit, "objective": objective, "n": 3}
    outcome = None if gap is None else FrozenDict(told)
    return run_of(
        str(number),
        method=method,
        kind="day",
        parameters=FrozenDict(parameters),
        source=source,
        outcome=outcome,
        reason="no <b>room</b>" if gap is None else None,
        timings=FrozenDict({"total": seconds, "relax": seconds / 2}),
        seed=number,
    )


@pytest.fixture
def lines(tmp_path):
    def write(*runs):
        path = tmp_path / "a.jsonl"
        path.write_text("".join(json.dumps(run.to_dict()) + "\n" for run in runs))
        return path

    return write


def test_a_bound_that_is_reached_is_not_rounded_beyond_itself(lines):
    # 3,155,677.90995 J are 876.5771972 Wh: with five digits the nearest would be above; with six it is on the bound's side
    reached = a_run(0, "lp", 0.0, unit="joules", objective="energy")
    outcome = FrozenDict(dict(reached.outcome) | {"value": 3_155_677.90995, "bound": 3_155_677.90995})
    report = study_report(lines(replace(reached, outcome=outcome)))
    assert overview(report)[1][0][-3:-1] == ("876.577 Wh", "876.577 Wh")


def test_a_bound_without_a_unit_is_one_from_above_and_rounded_up(lines):
    day = a_run(0, "fcfs", 0.1, unit=None, objective=None)
    outcome = FrozenDict(dict(day.outcome) | {"value": 1_809.36, "bound": 2_010.4})
    assert overview(study_report(lines(replace(day, outcome=outcome))))[1][0][-3:-1] == ("1,809", "2,011")


@pytest.mark.parametrize(
    ("files", "shown"), [(("a/x.yaml", "b/y.yaml"), ["x.yaml", "y.yaml"]), (("a/x.yaml", "b/x.yaml"),) * 2]
)
def test_files_are_without_their_folders_unless_two_have_one_name(lines, files, shown):
    runs = [a_run(n, gap=0.1, source=FrozenDict({"file": file, "hash": "0"})) for n, file in enumerate(files)]
    assert [row[0] for row in overview(study_report(lines(*runs)))[1]] == list(shown)


def test_runs_are_grouped_by_what_differs_and_seeds_are_chance(lines):
    path = lines(a_run(0, "lp", 0.1), a_run(1, "lp", 0.3), a_run(2, "met", 0.5), a_run(3, "met"))
    report = study_report(path)
    assert report.by == ("method",)
    assert (report.runs, report.failed) == (4, 1)
    # of lp: mean 0.2, deviation 0.1 sqrt(2), half width 12.706 x 0.1 sqrt(2) / sqrt(2) = 1.2706
    first, second = (group.to_dict() for group in report.groups)
    told = first["quantities"]["gap"]
    assert told["mean"] == pytest.approx(0.2)
    assert told["half_width"] == pytest.approx(1.2706)
    assert (told["median"], told["least"], told["most"], told["runs"]) == (0.2, 0.1, 0.3, 2)
    assert (second["by"], second["runs"], second["failed"]) == ({"method": "met"}, 2, 1)
    assert second["quantities"]["gap"]["half_width"] is None
    assert overview(report)[1][0] == ("lp", "2", "0", "20 %", "2 h", "4 s", "1")
    assert overview(report)[0] == ("method", "runs", "failed", "gap", "value", "bound", "seconds")
    assert detail(report, "gap")[1][0] == ("lp", "20 %", "± 127 %", "20 %", "10 %", "30 %")
    assert detail(report, "gap")[1][1] == ("met", "50 %", "", "50 %", "50 %", "50 %")
    assert failure_rows(report) == (("1", "no <b>room</b>", "instances bag.yaml, method met"),)
    assert headline(report).endswith(": 4 runs, 1 failed. Smallest mean gap: lp, 20 % over 2 runs.")


def test_a_parameter_that_one_method_does_not_have_differs_only_within_methods(lines):
    report = study_report(lines(a_run(0, "lp", 0.1, price=1.0), a_run(1, "met", 0.3)))
    assert report.by == ("method",)
    report = study_report(
        lines(a_run(0, "lp", 0.1, price=1.0), a_run(1, "lp", 0.1, price=20.0), a_run(2, "lp", 0.2, price=3.0))
    )
    assert report.by == ("price",)
    assert [group.by["price"] for group in report.groups] == [1.0, 3.0, 20.0]


def test_columns_and_quantities_can_be_chosen(lines):
    path = lines(a_run(0, "lp", 0.1, price=1.0), a_run(1, "lp", 0.3, price=2.0))
    report = study_report(path, by=["method"], quantities=["n", "timings.relax"])
    assert (report.by, report.quantities) == (("method",), ("n", "timings.relax", "seconds"))
    assert report.groups[0].numbers["timings.relax"] == (0.5, 0.5)
    with pytest.raises(InstanceError, match="by: got 'metod', expected one of instances, method, price; did you"):
        study_report(path, by=["metod"])
    with pytest.raises(InstanceError, match="value: got 'gpa', expected one of value, bound, gap, n, seconds"):
        study_report(path, quantities=["gpa"])


def test_seconds_and_joules_have_no_mean_together(lines):
    energy = {"unit": "joules", "objective": "energy"}
    both = a_run(0, "lp", 0.1), a_run(1, "lp", 0.3, **energy), a_run(2, "met", 0.5), a_run(3, "met", 0.01, **energy)
    report = study_report(lines(*both, a_run(4, "olb", 0.6)), by=["method"])
    mixed, _, plain = (group.to_dict()["quantities"] for group in report.groups)
    assert (mixed["value"], mixed["bound"], mixed["gap"]["runs"]) == (None, None, 2)
    assert plain["value"]["mean"] == 7200.0
    # of both objectives together lp would be best: 20 % on average, met 25.5 %
    best = "for makespan lp (10 % over 1 run), for energy met (1 % over 1 run)"
    assert headline(report).endswith(f": 5 runs, none failed. Smallest mean gap: {best}.")
    apart = [a_run(0, gap=0.0, p=1), a_run(1, gap=0.5, p=2, **energy), a_run(2, gap=0.5, p=3, unit="USD/hour")]
    headers, rows = overview(study_report(lines(*apart)))
    assert headers == ("p", "runs", "gap", "value", "bound", "seconds")  # none failed
    assert [row[3:5] for row in rows] == [("2 h", "4 s"), ("2 Wh", "0.001111 Wh"), ("7,200 USD/h", "4 USD/h")]


def test_of_two_lines_for_one_run_the_later_counts(lines):
    report = study_report(lines(a_run(0, "lp"), a_run(0, "lp", 0.5)))
    assert (report.runs, report.failed) == (1, 0)


def test_sources_are_told_apart_by_what_differs(lines):
    bags = [FrozenDict({"generate": "bag", "tasks": n, "machines": (1, n)}) for n in (5, 6)]
    drawn = [FrozenDict({"generate": "resampled", "from": "a.yaml", "hash": h * 9}) for h in "ab"]
    runs = [a_run(place, gap=0.1, source=source) for place, source in enumerate((*bags, *drawn, FILE))]
    report = study_report(lines(*runs))
    assert [group.by["instances"] for group in report.groups] == [
        "bag, tasks 5, machines 1+5",
        "bag, tasks 6, machines 1+6",
        "resampled, aaaaaaaa",
        "resampled, bbbbbbbb",
        "bag.yaml",
    ]


def test_no_runs_at_all_is_told(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("")
    with pytest.raises(InstanceError, match="got no runs, expected at least one run"):
        study_report(path)


def test_a_strange_line_makes_a_strange_report_and_no_crash(lines):
    strange = run_of("a", source=FrozenDict({"x": {"y": 1}}), parameters=FrozenDict({"p": [[1], {"q": 2}]}))
    report = study_report(lines(strange, a_run(1)))
    assert report.runs == 2
    assert study_page(report)


def test_the_csv_has_numbers_in_full_and_names_as_they_stand(lines):
    report = study_report(lines(a_run(0, 'a,"b"', 1 / 3, price=0.1), a_run(1, "met")))
    rows = list(csv.DictReader(io.StringIO(report_csv(report).decode())))
    assert rows[0] == {
        "method": 'a,"b"',
        "group_runs": "1",
        "group_failed": "0",
        "quantity": "gap",
        "runs": "1",
        "mean": "0.3333333333333333",
        "half_width": "",
        "median": "0.3333333333333333",
        "least": "0.3333333333333333",
        "most": "0.3333333333333333",
    }
    assert rows[4]["mean"] == ""


def test_a_sweep_is_drawn_along_its_parameter_and_anything_else_in_rows(lines):
    sweep = [
        a_run(f"{method}{price}{k}", method, 0.1 * k + price, price=price)
        for method in ("lp", "met")
        for price in (1.0, 2.0, 3.0)
        for k in (1, 2)
    ]
    report = study_report(lines(*sweep))
    assert swept(report) == "price"
    axes = study_figure(report).axes[0]
    assert [list(line.get_xdata()) for line in axes.get_lines()] == [[1.0, 2.0, 3.0]] * 2
    # at price 1 the gaps are 1.1 and 1.2: on average 115 %
    assert list(axes.get_lines()[0].get_ydata()) == pytest.approx([115.0, 215.0, 315.0])
    assert described(report) == "Mean gap along price, with 95 % confidence intervals."
    spot = study_tooltips(report)[0]
    assert spot.x == 1.0
    assert spot.y == pytest.approx(115.0)
    assert "method: lp" in spot.label
    grouped = study_report(lines(*sweep), by=["method"])
    assert swept(grouped) is None
    assert [label.get_text() for label in study_figure(grouped).axes[0].get_yticklabels()] == ["lp", "met"]
    assert [spot.y for spot in study_tooltips(grouped)] == [0.0, 1.0]


def test_the_page_says_the_best_first_and_shows_names_as_they_stand(lines):
    evil = "<script>alert(1)</script>$x"
    report = study_report(lines(a_run(0, evil, 0.25), a_run(1, "met", 0.5), a_run(2, "met")))
    assert headline(report).endswith(f"3 runs, 1 failed. Smallest mean gap: {evil}, 25 % over 1 run.")
    text = study_page(report)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "no &lt;b&gt;room" in text


def test_a_study_of_nothing_but_failures_still_has_a_page(lines):
    report = study_report(lines(a_run(0), a_run(1, "met")))
    assert report.failed == 2
    assert "What failed, and why" in study_page(report)
    assert study_figure(report).axes[0].texts[0].get_text() == "no run has a number to draw"


def test_reasons_come_with_the_most_frequent_first(lines):
    several = [run_of(str(k), outcome=None, reason="rare" if k == 0 else "often") for k in range(3)]
    assert [(each.reason, each.runs) for each in study_report(lines(*several)).failures] == [("often", 2), ("rare", 1)]


def asked_of_a_bag(number, method, value, bound, *, objective="makespan", hashed="a", **parameters):
    """Return a run of a bag, with its own bound."""
    told = {"value": value, "bound": bound, "gap": abs(bound - value) / bound, "unit": "s"}
    run = a_run(number, method, 0.0, **parameters)
    return replace(run, kind="bag", instance_hash=hashed, outcome=FrozenDict(told | {"objective": objective}))


def test_runs_of_one_question_have_the_best_bound_that_any_of_them_proved(lines):
    path = lines(
        asked_of_a_bag(0, "lp", 12.0, 8.0, deadline=30.0),
        asked_of_a_bag(1, "tight", 11.0, 10.0, deadline=30.0),
        asked_of_a_bag(2, "lp", 12.0, 9.0, deadline=20.0),  # another question
        asked_of_a_bag(3, "lp", 12.0, 8.0, deadline=30.0, hashed="b"),  # another bag
        asked_of_a_bag(4, "lp", 3.0, 5.0, objective="profit", deadline=30.0),
        asked_of_a_bag(5, "tight", 3.0, 4.0, objective="profit", deadline=30.0),  # no more than 4 is earned
    )
    report = study_report(path, by=["method", "deadline"])
    told = {tuple(group.by.values()): group.numbers for group in report.groups}
    assert told["lp", 30.0]["bound"] == (10.0, 8.0, 4.0)
    assert told["lp", 30.0]["gap"] == pytest.approx((0.2, 0.5, 0.25))  # 2 / 10, 4 / 8, 1 / 4
    assert told["tight", 30.0]["bound"] == (10.0, 4.0)
    assert told["lp", 20.0]["bound"] == (9.0,)


def test_a_question_is_told_apart_by_all_that_bag_methods_are_asked():
    assert {*PROBLEM, "objective"} == set(bag_methods.QUESTION)
