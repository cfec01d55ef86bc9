from __future__ import annotations

from pathlib import Path

import pytest

from lpsched.bag.files import read_bag
from lpsched.online.files import read_day
from scripts.figures.shared.data_sets import GROWTH_SEED, grown_desktop

DESKTOP = str(Path(__file__).parent.parent.parent / "instances" / "desktop-5x9.yaml")
GROW = ["generate", "bag", "--method", "grow", "--from", DESKTOP]


def test_a_grown_bag_is_that_of_the_library_and_its_moments_are_told(lpsched, tmp_path):
    path = str(tmp_path / "grown.yaml")
    options = ["--task-types", "30", "--tasks", "1000", "--special-machines", "1,1,1,1"]
    options += ["--machines", "2,3,3,3,2,4,2,5,2", "--name", "grown-30x13", "--seed", str(GROWTH_SEED)]
    code, out, err = lpsched(*GROW, *options, "-o", path)
    assert code == 0
    assert out == f"{path}: 1,000 tasks on 30 machines (30 task types, 13 machine types)\n"
    assert read_bag(path) == grown_desktop().bag
    lines = err.splitlines()
    assert lines[0].split() == ["moments", "of", "mean", "variation", "skewness", "kurtosis"]
    # Row means of the five programs: 44.77, 56.13, 68.99, 158.00 and 109.69 s; their mean is 87.51.
    assert lines[1].split()[:5] == ["seconds:", "row", "means", "real", "87.514"]
    assert [line.split()[0] for line in lines[2:4]] == ["density", "new"]
    assert len(lines) == 13  # row means and the worst ratios of seconds and of watts, three lines each


def test_quiet_says_nothing_and_json_tells_all_moments(lpsched, tmp_path):
    path = str(tmp_path / "grown.yaml")
    code, answer, err = lpsched(*GROW, "--seed", "2", "-o", path, "--json", "--quiet")
    assert (code, err) == (0, "")
    assert len(answer["growth"]) == 2 * (1 + 9)
    first = answer["growth"][0]
    assert (first["table"], first["ratios_of"]) == ("seconds", None)
    assert first["density"]["standard_deviation"] == pytest.approx(first["real"]["standard_deviation"])
    assert first["density"]["kurtosis"] == pytest.approx(first["real"]["kurtosis"], abs=2e-3)
    assert len(read_bag(path).task_types) == 30  # the default


def test_a_bag_of_one_task_type_has_no_shape_to_tell(lpsched, tmp_path):
    small = tmp_path / "one.yaml"
    small.write_text(
        "format: lpsched-bag/1\nname: one\nmachine_types: [{name: a, count: 1}]\n"
        "task_types: [{name: t, count: 1}]\nseconds: {t: {a: 3}}\n"
    )
    code, _, err = lpsched(
        "generate", "bag", "--method", "grow", "--from", str(small), "--task-types", "2", "--tasks", "2",
        "--seed", "1", "-o", str(tmp_path / "two.yaml"),
    )  # fmt: skip
    assert code == 0
    assert err.splitlines()[1].split() == ["seconds:", "row", "means", "real", "3", "0", "-", "-"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--p-states", "2", "--mean-seconds", "3"],
            "--mean-seconds, --p-states: got the option without --method cov, expected both",
        ),
        (["--machines", "1,2"], "--machines: got 2 counts, expected 9, one for each machine type of the small bag"),
        (["--task-types", "3"], "--task-types: got 3, expected at least the 5 task types of the small bag"),
    ],
)
def test_options_that_do_not_fit_growth_are_refused(lpsched, tmp_path, options, message):
    code, _, err = lpsched(*GROW, "--seed", "1", "-o", str(tmp_path / "a.yaml"), *options)
    assert code == 2
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_growth_needs_a_small_bag_and_the_other_method_takes_none(lpsched, tmp_path):
    made = ["--seed", "1", "-o", str(tmp_path / "a.yaml")]
    code, _, err = lpsched("generate", "bag", "--method", "grow", *made)
    assert (code, "--from: got nothing, expected the small bag that --method grow grows; add it" in err) == (2, True)
    code, _, err = lpsched("generate", "bag", "--from", DESKTOP, *made)
    assert (code, "--from: got the option without --method grow, expected both" in err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_is_not_overwritten(lpsched, tmp_path):
    small = tmp_path / "small.yaml"
    small.write_bytes(Path(DESKTOP).read_bytes())
    code, _, err = lpsched("generate", "bag", "--method", "grow", "--from", str(small), "--seed", "1", "-o", str(small))
    assert (code, "it is what is read" in err) == (2, True)
    assert small.read_bytes() == Path(DESKTOP).read_bytes()


def test_a_day_is_generated_from_a_bag(lpsched, tmp_path):
    path = str(tmp_path / "day.yaml")
    arguments = ["--from", DESKTOP, "--tasks", "40", "--minutes", "5", "--seed", "3"]
    code, out, err = lpsched("generate", "day", *arguments, "-o", path)
    assert (code, err) == (0, "")
    assert out == f"{path}: 40 tasks on 9 machines (5 task types, 9 machine types)\n"
    day = read_day(path)
    assert (day.name, day.tasks) == ("day-3", 40)
    assert max(day.arriving.arrival_seconds) <= 300
    again = str(tmp_path / "again.yaml")
    assert lpsched("generate", "day", *arguments, "-o", again)[0] == 0
    assert read_day(again) == day


def test_a_day_of_nothing_is_refused(lpsched, tmp_path):
    made = ["--seed", "3", "-o", str(tmp_path / "day.yaml")]
    code, _, err = lpsched("generate", "day", "--from", DESKTOP, "--tasks", "0", "--minutes", "-1", *made)
    assert code == 2
    assert "tasks: got 0" in err
    assert "minutes: got -1.0" in err
