"""The benchmark of unrelated machines: what its models, its tables and its files say."""

from __future__ import annotations

import gzip
import itertools
from dataclasses import replace

import numpy as np
import pytest

import lpsched
from scripts import other_solvers
from scripts.benches import rcmax
from scripts.benches.rcmax import Case, Line, line_of, model_of, schedule_of, verified
from scripts.other_solvers import Limits, Model, highs, in_units, timed

LIMITS = Limits(5.0, 1, 0)
# Two types of tasks, 2 and 1 of them, on one fast and hungry machine and two slow ones.
BAG = lpsched.Bag.from_arrays(
    [[2.0, 3.0], [3.0, 5.0]],
    [[90.0, 20.0], [100.0, 15.0]],
    tasks=[2, 1],
    machines=[lpsched.MachineType("fast", 1, idle_watts=8.0), lpsched.MachineType("slow", 2, idle_watts=2.0)],
    prices={"per_bag": 1e-3, "electricity_per_kwh": 3.0},
)


def all_values(case):
    """Return the values of all assignments of three tasks to three machines that keep the deadline."""
    for places in itertools.product(range(3), repeat=3):
        tasks = np.zeros((2, 3), np.int64)
        for i, m in zip((0, 0, 1), places, strict=True):
            tasks[i, m] += 1
        value, _ = verified(case, schedule_of(case.bag, tasks))
        if value is not None:
            yield value


@pytest.mark.parametrize(("objective", "best"), [("makespan", min), ("energy", min), ("profit", max)])
def test_the_models_of_highs_have_the_best_assignment(objective, best):
    site = BAG.site.model_copy(update={"deadline_seconds": 6.0 if objective == "energy" else None})
    case = Case("x", "x", BAG.model_copy(update={"site": site}), objective)
    claim = timed(model_of(case), LIMITS, highs)
    value, note = verified(case, schedule_of(case.bag, claim.tasks))
    assert note == ""
    assert value == pytest.approx(best(all_values(case)), rel=1e-9)
    bound = claim.bound * (3600 if objective == "profit" else 1)
    assert bound >= value * (1 - 1e-6) if objective == "profit" else bound <= value * (1 + 1e-6)
    if objective != "profit":  # of a ratio, rounds of half the time prove less
        assert bound == pytest.approx(value, rel=1e-6)


def test_times_become_whole_on_the_side_that_keeps_the_claim():
    model = Model(np.array([[1.25, np.nan], [2.0, 3.0]]), np.array([1, 1]), None)
    units, unit = in_units(replace(model, seconds=np.array([[1.0, np.nan], [2.0, 3.0]])))
    assert (units.tolist(), unit) == ([[1, -1], [2, 3]], 1.0)
    for deadline, rounded in ((None, np.floor), (9.0, np.ceil)):
        third = replace(model, seconds=model.seconds / 3, deadline=deadline)
        units, unit = in_units(third)
        assert units[0, 0] == rounded(1.25 / 3 / unit)
        assert units[0, 1] == -1


def test_instances_and_known_values_are_read_in_both_forms(tmp_path):
    (tmp_path / "A-2x2.txt.gz").write_bytes(gzip.compress(b"2 2\n1 2\n0 4\n"))  # the second task takes no time
    (tmp_path / "u_x.0").write_text("1 2 0\n1.5\n2\n")
    (tmp_path / "SOURCE.md").write_text("where they come from")
    (tmp_path / "known.csv").write_text(
        "file,best_known,lr_300s,lr_proved,cplex11_2h,cplex_proved\nA-2x2.txt,1,1,1,2,0\nB,,,,,\n"
    )
    first, second = rcmax.folder_cases(tmp_path)
    assert (first.name, first.group, first.best, first.whole) == ("A-2x2", "A", 1.0, True)
    assert list(first.bag.seconds) == [[1.0, 2.0]]
    assert first.published == {"lr_300s": (1.0, True), "cplex11_2h": (2.0, False)}
    assert (second.name, second.group, second.best, second.whole) == ("u_x", "u_x", None, False)
    (tmp_path / "known.csv").write_text("instance,lp_bound,best_known_makespan\nu_x,1.0,1.5\n")
    assert [case.best for case in rcmax.folder_cases(tmp_path)] == [None, 1.5]


def named(name):
    return BAG.model_copy(update={"name": name})


def line(instance, method, value, bound, **changes):
    made = Line(
        instance,
        named(instance).content_hash[:16],
        "A",
        "makespan",
        method,
        10.0,
        1,
        0,
        value,
        bound,
        value == bound,
        10.0,
        10.0,
    )
    return replace(made, **changes)


def test_the_table_compares_with_the_best_known_and_says_what_is_odd():
    cases = [
        Case(name, "A", named(name), best=best, published={"lr_300s": (100.0, True)})
        for name, best in (("a", 100.0), ("b", 200.0))
    ]
    lines = [
        line("a", "lpsched", 101.0, 100.0),
        line("b", "lpsched", 198.0, 198.0),  # better than known
        line("a", "cpsat", None, 50.0, note="no schedule"),
        line("a", "highs", 104.0, 101.0, cpu_seconds=4.0),  # but one has 100
        line("c", "highs", 1.0, 1.0),  # not asked for
    ]
    header, *rows = rcmax.table(cases, lines)
    assert header.split() == ["class", "method", "runs", "above", "worst", "gap", "proved", "none", "s"]
    cells = {tuple(row[:39].split()): row[39:].split() for row in rows if "%" in row or " - " in row}
    # Above: 1 % and -1 % of the best known; gaps: 1 % of 100 and 0.
    assert cells["A", "lpsched"] == ["2", "0.000%", "1.000%", "0.500%", "1", "0", "10.0"]
    assert cells["A", "cpsat"] == ["1", "-", "-", "-", "0", "1", "10.0"]
    assert cells["A", "highs"] == ["1", "4.000%", "4.000%", "2.970%", "0", "0", "10.0"]
    assert cells["all", "lr_300s"][0] == "2"
    assert cells["the", "1", "of", "all", "methods", "lpsched"][:2] == ["1", "1.000%"]
    assert rows[-4:] == [
        "new best: b, lpsched: 198, bound 198, known 200",
        "no schedule: a, cpsat: no schedule",
        "wrong bound: a, highs: 101, but a schedule has 100",
        "starved of the processor: 1 of 4 runs; --repeat-starved makes them again",
    ]


def test_a_whole_makespan_is_proved_by_a_bound_above_the_next_smaller():
    whole, real = Case("a", "A", BAG), Case("a", "A", BAG.model_copy(update={"seconds": [[2.5, 3.0], [3.0, 5.0]]}))
    assert rcmax.is_proved(whole, "lpsched", 5.0, 4.0 + 1e-9)
    assert not rcmax.is_proved(whole, "highs", 5.0, 4.0 + 1e-9)  # within its tolerance
    assert rcmax.is_proved(whole, "highs", 5.0, 4.1)
    assert not rcmax.is_proved(real, "lpsched", 5.0, 4.1)
    assert rcmax.is_proved(real, "lpsched", 5.0, 5.0)


def test_a_missing_package_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "ortools" else name)
    with pytest.raises(SystemExit):
        rcmax.main([str(tmp_path), "--methods", "highs,cpsat"])
    assert "cpsat needs another package: pip install ortools, or leave it out of --methods" in capsys.readouterr().err


@pytest.mark.slow
def test_runs_are_kept_and_not_repeated_and_new_best_schedules_verify(tmp_path, capsys, monkeypatch):
    # Tasks of 2, 3 and 4 s on two equal machines: the least makespan is 5 s.
    folder, out, keep = tmp_path / "tables", tmp_path / "lines.jsonl", tmp_path / "best"
    folder.mkdir()
    (folder / "A-3x2.txt").write_text("3 2\n2 2\n3 3\n4 4\n")
    (folder / "known.csv").write_text("file,best_known\nA-3x2.txt,6\n")
    arguments = [str(folder), "--methods", "lpsched,highs", "--limit", "2", "--out", str(out), "--keep", str(keep)]
    rcmax.main([*arguments, "--certify"])
    printed = capsys.readouterr().out
    assert "certificates of proved values, accepted by lpsched verify: 1 of 1" in printed
    assert [(each.method, each.value, each.proved) for each in rcmax.read_lines(out)] == [
        ("lpsched", 5.0, True),
        ("highs", 5.0, True),
    ]
    kept = [keep / f"A-3x2.{made}.json" for made in ("schedule", "certificate")]
    assert lpsched.verify(lpsched.read(keep / "A-3x2.json"), kept).accepted
    monkeypatch.setattr(rcmax, "run", None)  # nothing is run again
    rcmax.main(arguments)
    assert capsys.readouterr().out == printed


@pytest.mark.slow
def test_a_run_that_fails_is_a_line(monkeypatch):
    monkeypatch.setattr(other_solvers, "CHILD", "raise SystemExit('broken')")
    failed = line_of(Case("a", "A", BAG), "highs", LIMITS)
    assert (failed.value, failed.bound, failed.proved, failed.note) == (None, None, False, "broken")


@pytest.mark.slow
def test_a_certificate_of_less_than_the_value_does_not_count():
    case = Case("a", "A", BAG)
    value = lpsched.solve(BAG, objective="makespan", effort="tight", gap=0.0).value
    assert rcmax.is_certified(case, value, LIMITS)
    assert not rcmax.is_certified(case, value + 1.0, LIMITS)
