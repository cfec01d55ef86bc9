"""The commands of the heart: what they print, and with which code they end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lpsched.bag import overview as overviews
from lpsched.bag.pricing import price_curve, sensitivity

pytestmark = pytest.mark.rotate_tests(12)

INSTANCES = Path(__file__).parent.parent.parent / "instances"
TINY, VIDEO = str(INSTANCES / "tiny.yaml"), str(INSTANCES / "video-transcoding.yaml")


def test_solve_prints_marginal_values_beside_what_the_machines_did(lpsched):
    code, out, err = lpsched("solve", TINY)
    assert (code, err) == (0, "")
    assert out.startswith(
        "Earns 3.48 USD/h, the most possible (gap 0 %, proved).\ntiny: 12 tasks on 3 machines. Optimal.\n"
    )
    assert re.search(r"^ +fixed cost, +marginal value +gain of one more$", out, re.MULTILINE)
    # 20 W idle at 3.6 a kWh: 0.072 an hour; the marginal values of one more and of one fewer
    assert re.search(r"^fast +1 +1 +100 % +6 +0\.072 +0\.6 / 1\.8 +0\.272 to 0\.2721$", out, re.MULTILINE)
    assert re.search(r"^task type +tasks +fast +slow +\(LP\), USD$", out, re.MULTILINE)
    assert re.search(r"^print +6 +- +6 +0\.002 / 0\.001333$", out, re.MULTILINE)
    # (0.02 - 0.0084) / 12 s; see the file
    assert re.search(r"^electricity +-2\.520 +-0\.00840$", out, re.MULTILINE)
    assert "adds at most" not in out


def test_solve_says_what_one_more_changes_unless_only_the_lp_is_asked_for(lpsched):
    _, out, _ = lpsched("solve", TINY)
    assert "One more fast adds at least 0.272 USD/h (proved).\n" in out
    assert "break-even price of one more task (proved), USD: scan 0.002693 to 0.002974" in out
    _, short, _ = lpsched("solve", TINY, "--marginals", "lp")
    assert "gain of one more" not in short
    assert "One more" not in short
    assert short.splitlines()[:12] == out.splitlines()[:12]
    _, every, _ = lpsched("solve", TINY, "--objective", "makespan", "--marginals", "proved")
    assert "one more task  changes the best possible by at least (proved), seconds" in every
    _, answer, _ = lpsched("solve", TINY, "--objective", "makespan", "--marginals", "proved", "--json")
    # A second 'fast' machine: the bound is 48 / 6 = 8 s at the prices in the file, 12 s before.
    assert answer["one_more"]["machine_types"]["fast"]["best_changes_by_at_least"] >= -4.0
    _, answer, _ = lpsched("solve", TINY, "--objective", "makespan", "--json")
    assert answer["one_more"] is None


def test_after_an_unfinished_linear_program_there_are_no_marginal_values(lpsched):
    _, out, _ = lpsched("solve", VIDEO, "--time-limit", "0")
    assert "No marginal values: the linear program was not solved to the end.\n" in out
    assert "(LP)" not in out
    _, answer, _ = lpsched("solve", VIDEO, "--time-limit", "0", "--json")
    assert (answer["worth"], answer["one_more"]) == (None, None)


def test_solve_as_json_tells_regime_and_worths(lpsched):
    _, answer, _ = lpsched("solve", TINY, "--json", "--power-cap", "500")
    assert (answer["regime"], answer["bound_regime"], answer["unit"]) == ("profit", "profit", "USD/hour")
    keys = {"machine_types", "kilowatt_per_hour", "task_types"}
    assert set(answer["worth"]) == keys | {"one_fewer"}
    assert set(answer["worth"]["one_fewer"]) == keys
    assert answer["worth"]["kilowatt_per_hour"] > 0


def test_do_not_run_is_an_answer(lpsched):
    code, out, _ = lpsched("solve", TINY, "--price", "0.001")
    assert code == 0
    assert out.startswith("Best not to run: that loses 0.144 USD/h, the least possible (gap 0 %, proved).\n")
    assert "The price does not cover what the tasks cost.\n" in out
    _, answer, _ = lpsched("solve", TINY, "--price", "0.001", "--json")
    assert (answer["makespan_seconds"], answer["energy_joules"]) == (None, None)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--deadline", "3"], 1, "the deadline is 3 s, but no schedule takes less than 12 s"),
        (["--power-cap", "40"], 1, "the power cap is 40 W, but idle machines alone draw 40 W: that leaves nothing"),
        (["--power-cap", "-1"], 2, "--power-cap: got -1.0, expected watts"),
        (["--solver", "pulp:magic"], 1, "PuLP has no solver 'magic'"),
        (["--solver", "cplex"], 2, "solver: got 'cplex', expected 'highs' or 'pulp:NAME'"),
        (["--objective", "speed"], 2, "--objective: got 'speed', expected one of profit, makespan, energy"),
        (["--price", "1", "--profit-ratio", "2"], 2, "got a price and a profit ratio, expected one of them"),
    ],
)
def test_what_cannot_be_answered_is_told(lpsched, arguments, code, message):
    ended, out, err = lpsched("solve", TINY, *arguments)
    assert (ended, out) == (code, "")
    assert message in err


def test_another_solver_answers_the_same(lpsched):
    _, answer, _ = lpsched("solve", TINY, "--solver", "pulp:HiGHS", "--json")
    assert answer["value"] == pytest.approx(3.48)
    assert answer["solver"].startswith("HiGHS by PuLP")


def test_front_prints_every_vertex(lpsched):
    code, out, _ = lpsched("front", TINY)
    assert code == 0
    told = " ".join(out.split())
    assert told.startswith(
        "tiny: verified schedules from 1.833 Wh in 30 s to 2.333 Wh in 12 s, along 2 vertices of the linear program (LP). "
        "Proved: no schedule lies below the front; "
    )
    assert "The LP may split tasks: whole tasks may not reach its vertices." in told
    # 6,600 J and 8,400 J: 1.833 Wh and 2.333 Wh
    rows = [re.split(" {2,}", line.strip()) for line in out.splitlines() if re.match(r"\d ", line)]
    assert rows == [
        ["1", "1.833 Wh", "30 s", "1.833 Wh", "30 s", "0 %"],
        ["2", "2.333 Wh", "12 s", "2.333 Wh", "12 s", "0 %"],
    ]
    _, answer, _ = lpsched("front", TINY, "--json", "--deadline", "21")
    assert answer["vertices"][0] == pytest.approx({"energy_joules": 7500.0, "makespan_seconds": 21.0})
    assert set(answer) == {
        "format",
        "lpsched",
        "solver",
        "instance",
        "vertices",
        "schedules",
        "proofs",
        "sample",
        "effort",
        "timings",
    }


def test_price_prints_every_piece(lpsched):
    code, out, _ = lpsched("price", TINY, "--points", "2")
    assert code == 0
    assert "Best not to run up to 0.0054 USD per bag (proved).\n" in out
    assert out.startswith("tiny: Break-even at 0.0066 USD per bag (proved: below it no schedule earns; verified:")
    assert "and up" in out
    _, answer, _ = lpsched("price", TINY, "--from-ratio", "0.9", "--to-ratio", "1.2", "--json")
    assert set(answer["pieces"][0]) == {
        "from_ratio", "to_ratio", "from_price", "to_price", "regime", "bound_at_from", "bound_at_to",
        "value_at_from", "value_at_to",
    }  # fmt: skip
    assert answer["pieces"][0]["from_ratio"] == pytest.approx(0.9)
    assert answer["pieces"][-1]["to_ratio"] == pytest.approx(1.2)
    assert [piece["regime"] for piece in answer["pieces"]] == ["loss", "profit"]


def test_price_gives_its_seed_to_both_answers(lpsched, monkeypatch):
    seeds = []
    for module, name in ((price_curve, "price_curve"), (sensitivity, "sensitivity")):
        found = getattr(module, name)

        def noted(*bags, seed=0, found=found, **options):
            seeds.append(seed)
            return found(*bags, seed=seed, **options)

        monkeypatch.setattr(module, name, noted)
    assert lpsched("price", TINY, "--seed", "7", "--marginals", "lp")[0] == 0
    assert seeds == [7, 7]


def test_a_page_of_prices_takes_the_seed_too(lpsched, monkeypatch, tmp_path):
    seeds = []
    found = overviews.overview

    def noted(*bags, seed=0, **options):
        seeds.append(seed)
        return found(*bags, seed=seed, **options)

    monkeypatch.setattr(overviews, "overview", noted)
    page = str(tmp_path / "page.html")
    assert lpsched("solve", TINY, "--seed", "7", "--marginals", "lp", "--report", page)[0] == 0
    assert seeds == [7]


def test_under_a_deadline_waiting_is_not_said_to_be_best(lpsched):
    _, out, _ = lpsched("price", TINY, "--deadline", "25", "--marginals", "lp")
    (row,) = [line for line in out.splitlines() if line.startswith("best not to run from")]
    assert re.split(" {2,}", row) == ["best not to run from", "never", "a deadline forces the work"]


def test_a_schedule_travels_from_solve_over_expand_to_validate_and_verify(lpsched, tmp_path):
    compact, rows, proof = (str(tmp_path / name) for name in ("s.json", "rows.csv", "proof.json"))
    assert lpsched("solve", VIDEO, "-o", compact)[0] == 0
    code, out, _ = lpsched("expand", VIDEO, compact, "-o", rows)
    assert (code, out) == (0, f"{rows}: 56,500 tasks\n")
    code, answer, _ = lpsched("validate", VIDEO, compact, rows, "--json")
    assert code == 0
    assert answer["entries"][0]["value"] == pytest.approx(answer["entries"][1]["value"], rel=1e-9)
    code, out, _ = lpsched("certify", VIDEO, "-o", proof)
    assert out.startswith(f"{proof}: profit at most 20.9 USD/h is proved for video-transcoding")
    code, out, _ = lpsched("verify", VIDEO, compact, rows, proof)
    assert (code, len(re.findall("  accepted  ", out))) == (0, 3)


@pytest.mark.slow
def test_certify_proves_the_bound_that_solve_prints(lpsched, tmp_path):
    # 3.1 + 2 + 2 + 1.9 s on two machines: 4.5 s if split, 5 s if not; no number of tasks proves that by counting.
    bag = tmp_path / "whole.json"
    whole = {
        "format": "lpsched-bag/1",
        "name": "whole",
        "machine_types": [{"name": "cpu", "count": 2}],
        "task_types": [{"name": "a", "count": 1}, {"name": "b", "count": 2}, {"name": "c", "count": 1}],
        "seconds": {"a": {"cpu": 3.1}, "b": {"cpu": 2.0}, "c": {"cpu": 1.9}},
    }
    bag.write_text(json.dumps(whole))
    proof, options = str(tmp_path / "proof.json"), ("--effort", "tight", "--seed", "3", "--time-limit", "60")
    _, solved, _ = lpsched("solve", str(bag), *options, "--json")
    code, made, _ = lpsched("certify", str(bag), "-o", proof, *options, "--json")
    assert (code, float(made["claim"]["bound"])) == (0, solved["bound"])
    assert solved["bound"] == pytest.approx(5.0, rel=1e-3)
    assert any(each["cells"] for each in made["intervals"])
    assert len(made["intervals"]) <= 3  # of dozens of leaves
    code, checked, _ = lpsched("verify", str(bag), proof, "--json")
    assert (code, checked["files"][0]["claimed"]) == (0, solved["bound"])
    assert checked["files"][0]["proved"] >= solved["bound"]
    # Without patterns it says what a fast solve says.
    _, fast, _ = lpsched("solve", str(bag), "--effort", "fast", "--json")
    _, made, _ = lpsched("certify", str(bag), "-o", proof, "--effort", "fast", "--json", "--force")
    assert float(made["claim"]["bound"]) == fast["bound"]
    assert made["intervals"] is None


def test_refused_files_end_with_1_and_a_reason(lpsched, tmp_path):
    proof = tmp_path / "proof.json"
    lpsched("certify", VIDEO, "-o", str(proof))
    code, out, _ = lpsched("verify", TINY, str(proof))
    assert code == 1
    assert "it is about another bag" in out
    (tmp_path / "r.csv").write_text("task_type,machine_type,machine\nscan,fast,2\n")
    code, out, _ = lpsched("validate", TINY, str(tmp_path / "r.csv"))
    assert code == 1
    assert "there is no machine 2 of type 'fast', only 1 to 1" in out


def test_a_schedule_of_another_bag_is_not_expanded(lpsched, tmp_path):
    lpsched("solve", TINY, "-o", str(tmp_path / "s.json"))
    code, _, err = lpsched("expand", VIDEO, str(tmp_path / "s.json"), "-o", str(tmp_path / "r.csv"))
    assert code == 1
    assert "is not a schedule of video-transcoding" in err
    assert not (tmp_path / "r.csv").exists()


def test_an_empty_schedule_expands_to_a_header_which_says_that_nothing_runs(lpsched, tmp_path):
    lpsched("solve", TINY, "--price", "0", "-o", str(tmp_path / "s.json"))
    code, answer, _ = lpsched("expand", TINY, str(tmp_path / "s.json"), "-o", str(tmp_path / "r.csv"), "--json")
    assert (code, answer["tasks"]) == (0, 0)
    header = b"task,task_type,machine_type,machine,p_state,start_seconds,end_seconds\r\n"
    assert (tmp_path / "r.csv").read_bytes() == header
    for more, expected in (((), 0), (("--deadline", "20"), 1)):  # with a deadline, tasks must run
        code, answer, _ = lpsched("verify", TINY, str(tmp_path / "r.csv"), *more, "--json")
        assert (code, answer["files"][0]["makespan_seconds"]) == (expected, None)
    assert lpsched("validate", TINY, str(tmp_path / "r.csv"), "--objective", "makespan", "--json")[0] == 1


def test_export_writes_models(lpsched, tmp_path):
    code, out, _ = lpsched("export", TINY, "-o", str(tmp_path / "m.lp"))
    assert (code, "the linear program" in out) == (0, True)
    code, _, err = lpsched("export", TINY, "-o", str(tmp_path / "m.xyz"))
    assert (code, "expected the ending .lp or .mps" in err) == (2, True)


def test_many_task_types_are_cut_in_the_table_and_whole_in_json(lpsched, tmp_path):
    content = {
        "format": "lpsched-bag/1",
        "name": "wide",
        "machine_types": [{"name": "cpu", "count": 1}],
        "task_types": [{"name": f"t{i}", "count": 1} for i in range(50)],
        "seconds": [[1.0]] * 50,
        "prices": {"per_bag": 1.0, "electricity_per_kwh": 0},
    }
    (tmp_path / "w.json").write_text(json.dumps(content))
    _, out, _ = lpsched("solve", str(tmp_path / "w.json"))
    assert "38 smaller types, 38 tasks: cpu 38 (--json has all)\n" in out
    _, answer, _ = lpsched("solve", str(tmp_path / "w.json"), "--json")
    assert len(answer["worth"]["task_types"]) == 50


@pytest.mark.parametrize(
    ("command", "ending"),
    [(["solve"], ".json or .csv or .parquet"), (["certify"], ".json"), (["export"], ".lp or .mps")],
)
def test_the_bag_is_never_overwritten_and_endings_are_kept(lpsched, bag, tmp_path, command, ending):
    before = Path(bag).read_text()
    code, _, err = lpsched(*command, bag, "-o", bag)
    assert code == 2
    assert Path(bag).read_text() == before
    if command != ["export"]:
        assert "it is what is read; choose another name" in err
    code, _, err = lpsched(*command, bag, "-o", str(tmp_path / "x.txt"))
    assert (code, f"expected the ending {ending}; choose one" in err) == (2, True)


def test_expanding_a_schedule_that_waits_says_what_the_rows_cannot(lpsched, tmp_path):
    compact, rows = str(tmp_path / "s.json"), str(tmp_path / "r.csv")
    lpsched("solve", TINY, "--objective", "makespan", "--power-cap", "110", "-o", compact)
    code, _, err = lpsched("expand", TINY, compact, "-o", rows)
    assert code == 0
    assert "warning: the schedule ends at 77.1429 s, which rows of tasks cannot say" in err
