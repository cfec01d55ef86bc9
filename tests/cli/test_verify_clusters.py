"""`lpsched verify` and `lpsched validate` with clusters, from outside."""

from __future__ import annotations

import json

import pytest

from tests.parallel import sound_clusters, waiting_clusters

HEADER = "task,cluster,p_state,start_seconds,nodes\n"
# Task 1 needs 17 cores: both nodes of fat, in P0 70 s at 600 W from 2.5 s on; its 8 are due within 600 s.
# Task 2 needs 1 core and half of flow's work: 1 node of thin, 400 s at 100 W from 2.5 s on.
MINE = HEADER + "1,fat,P0,2.5,1-2\n2,thin,,2.5,8\n"
# Three jobs on two nodes: the first takes both for 50 s, then the others wait 49 s each.
ALL = HEADER + "0,all,,0,1-2\n1,all,,50,1\n2,all,,50,2\n"


@pytest.fixture
def files(tmp_path):
    """Return clusters judged by utility and by waiting, and a schedule of each."""
    texts = {
        "clusters.json": json.dumps(sound_clusters()),
        "waiting.json": json.dumps(waiting_clusters()),
        "mine.csv": MINE,
        "all.csv": ALL,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in texts}


def test_a_schedule_is_verified_and_measured(lpsched, files):
    code, answer, _ = lpsched("verify", files["clusters.json"], files["mine.csv"], "--json")
    assert code == 0
    own = answer["files"][0]
    assert (own["kind"], own["accepted"], own["reasons"]) == ("schedule", True, [])
    assert (own["makespan_seconds"], own["energy_joules"]) == (402.5, 70 * 600.0 + 400 * 100.0)
    assert (own["completed"], own["dropped"]) == (2, 2)
    assert own["utility"] > 8.0
    # 2 x 70 node-seconds of 16 cores and 400 of 4, of 64 cores from 0 to 402.5 s
    assert own["utilisation"] == pytest.approx((140 * 16 + 400 * 4) / (64 * 402.5))
    assert own["wait_seconds"] == {"mean": 0.0, "median": 0.0, "p95": 0.0, "longest": 0.0}
    assert (own["mean_slowdown"], own["mean_bounded_slowdown"]) == (1.0, 1.0)


def test_a_broken_rule_refuses_the_schedule(lpsched, files, tmp_path):
    (tmp_path / "bad.csv").write_text(MINE + "0,fat,P0,60,2\n")  # 16 cores: one node, taken until 72.5 s
    code, out, _ = lpsched("verify", files["clusters.json"], files["mine.csv"], str(tmp_path / "bad.csv"))
    assert code == 1
    words = " ".join(out.split())
    assert "task 0 on nodes 2 of 'fat' starts at 60.0 s, but task 1 ends there at 72.5 s" in words
    assert "accepted" in words
    assert "1 of 2 files accepted, 1 rejected." in words


def test_a_file_that_is_none_is_refused_with_its_lines(lpsched, files, tmp_path):
    (tmp_path / "bad.csv").write_text(HEADER + "1,fat,P0,2.5,both\n")
    code, answer, _ = lpsched("verify", files["clusters.json"], str(tmp_path / "bad.csv"), "--json")
    assert code == 1
    assert answer["files"][0]["kind"] == "unreadable"
    assert answer["files"][0]["reasons"] == [
        "line 2, rows[0].nodes: got the text 'both', expected nodes as in 1-4;9; correct it"
    ]


def test_schedules_are_held_against_the_bound(lpsched, files, tmp_path):
    (tmp_path / "bad.csv").write_text(HEADER + "3,fat,P0,2.5,1\n")
    (tmp_path / "none.csv").write_text("task\n")
    brought = [files["mine.csv"], str(tmp_path / "bad.csv"), str(tmp_path / "none.csv")]
    code, answer, _ = lpsched("validate", files["clusters.json"], *brought, "--time-limit", "0.1", "--json")
    assert (code, answer["format"]) == (1, "lpsched-validate-clusters/1")
    assert (answer["judged_by"], answer["waiting"], answer["cost_bound"]) == ("utility", None, None)
    own, bad, none = answer["entries"]
    assert own["valid"]
    assert own["utility"] <= answer["bound"]
    assert own["share_of_bound"] == own["utility"] / answer["bound"]
    assert own["busy"] == {"thin": 400 / (8 * 402.5), "fat": 140 / (2 * 402.5)}
    assert [each["code"] for each in bad["violations"]] == ["before-arrival"]
    assert {each["code"] for each in none["violations"]} == {"unreadable"}
    assert (bad["utility"], none["utilisation"]) == (None, None)


def test_the_table_of_costs_says_that_less_is_better(lpsched, files):
    code, out, _ = lpsched("validate", files["waiting.json"], files["all.csv"], "--time-limit", "0.1")
    assert code == 0
    words = " ".join(out.split())
    assert "cost of waiting (bounded-slowdown, by task)" in words
    assert "cost of waiting 9.850; at least " in words
    assert "lower bound" in words
    assert "If no task ever waited: cost 3 (no-wait reference)." in words
    _, answer, _ = lpsched("validate", files["waiting.json"], files["all.csv"], "--time-limit", "0.1", "--json")
    own = answer["entries"][0]
    # waits of 49 s before 5 and 20 s: 54 of at least 10 s, and 69 of 20 s
    assert own["cost"] == pytest.approx(1.0 + 5.4 + 3.45)
    assert own["utility"] == -own["cost"]
    assert own["share_of_bound"] == answer["cost_bound"] / own["cost"] <= 1.0
    assert (answer["naive_cost"], own["energy_joules"]) == (3.0, None)


def test_costs_are_called_costs(lpsched, files):
    code, out, _ = lpsched("verify", files["waiting.json"], files["all.csv"])
    assert code == 0
    assert "cost 9.85, 1 min 10 s" in " ".join(out.split())  # the last task ends at 50 + 20 s


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            (),
            "schedules: got none, expected files of schedules of clusters; add some, or run policies with 'lpsched simulate'",
        ),
        (
            ("mine.csv", "--heuristic", "easy"),
            "got the option for clusters, expected a bag, a day or a facility; run policies with 'lpsched simulate'",
        ),
        (("mine.csv", "--price", "3"), "got the option for clusters, expected a"),
        (("mine.csv", "--drop-below", "3"), "got the option for clusters, expected a"),
        (("mine.csv", "--risk", "10"), "got the option for clusters, expected a"),
    ],
)
def test_what_has_no_meaning_for_clusters_is_refused(lpsched, files, arguments, words):
    code, out, err = lpsched("validate", files["clusters.json"], *(files.get(each, each) for each in arguments))
    assert (code, out) == (2, "")
    assert words in " ".join(err.replace("\u2502", " ").split())
