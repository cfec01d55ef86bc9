"""`lpsched generate day` without a bag: the thesis's day."""

from __future__ import annotations

from typing import get_args

import pytest

from lpsched.generate.day import essc_day
from lpsched.generate.options import EsscOptions
from lpsched.online.files import read_day

DESKTOP = "instances/desktop-5x9.yaml"


def test_the_command_makes_the_day_that_the_library_makes(lpsched, tmp_path):
    path = tmp_path / "day.yaml"
    code, out, err = lpsched("generate", "day", "--tasks", "1500", "--seed", "3", "-o", str(path))
    day = essc_day("day-3", 3, EsscOptions(tasks=1_500))
    assert (code, err) == (0, "")
    size = f"{day.tasks:,} tasks on 100 machines (100 task types, 13 machine types)"
    assert out == f"{path}: {size}\n{path}.tasks.csv: its tasks\n"
    assert read_day(path) == day


def test_every_option_arrives(lpsched, tmp_path):
    path = tmp_path / "day.yaml"
    options = {
        "--name": "mine", "--hours": "5", "--warm-up-hours": "1", "--p-states": "2", "--affinity": "high",
        "--edge": "completed", "--energy-gigajoules": "0.5", "--task-types": "40", "--machines": "3,4",
        "--special-machines": "1,2", "--special-task-types": "7",
    }  # fmt: skip
    words = [word for pair in options.items() for word in pair]
    assert lpsched("generate", "day", "--tasks", "300", "--seed", "4", "-o", str(path), *words)[0] == 0
    expected = EsscOptions(
        tasks=300, hours=5.0, warm_up_hours=1.0, p_states=2, affinity="high", edge="completed",
        energy_gigajoules=0.5, task_types=40, machines=(3, 4), special_machines=(1, 2), special_task_types=7,
    )  # fmt: skip
    assert read_day(path) == essc_day("mine", 4, expected)


def test_tasks_go_into_parquet_beside_the_file(lpsched, tmp_path):
    path = tmp_path / "day.json"
    made = ["--tasks", "60", "--seed", "3", "-o", str(path), "--tables", "parquet"]
    assert lpsched("generate", "day", *made)[0] == 0
    assert read_day(path) == essc_day("day-3", 3, EsscOptions(tasks=60))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--minutes", "5"], "--minutes: got the option without --from, expected both; use --hours, or add --from"),
        (
            ["--from", DESKTOP],
            "--minutes: got nothing, expected the span of time in which the tasks of --from arrive; add it",
        ),
        (
            ["--from", DESKTOP, "--minutes", "5", "--hours", "4", "--p-states", "3"],
            "--hours, --p-states: got the option with --from, expected those of the bag; leave it out",
        ),
        (["--machines", "3,x"], "--machines: got '3,x', expected counts such as 40,40,20"),
        (["--hours", "-4", "--p-states", "9"], "--hours: got -4.0, expected 0.01 to 8784"),
        (["--hours", "-4", "--p-states", "9"], "--p-states: got 9, expected 1 to 3"),
    ],
)
def test_what_does_not_go_together_is_refused(lpsched, tmp_path, options, message):
    path = tmp_path / "day.yaml"
    code, _, err = lpsched("generate", "day", "--tasks", "9", "--seed", "3", "-o", str(path), *options)
    assert code == 2
    assert message in " ".join(err.split())
    assert not path.exists()


def test_an_output_of_another_ending_is_refused_before_any_work(lpsched, tmp_path):
    made = ["--tasks", "9", "--seed", "3", "-o", str(tmp_path / "day.csv")]
    code, _, err = lpsched("generate", "day", *made)
    assert (code, "expected the ending .yaml or .yml or .json" in err) == (2, True)


def test_the_command_offers_every_edge_and_every_affinity(lpsched):
    told = lpsched("generate", "day", "--help")[1]
    for name in ("edge", "affinity"):
        assert f"--{name} <{'|'.join(get_args(EsscOptions.types()[name]))}>" in told
