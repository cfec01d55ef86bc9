"""The scripts of the Profit paper's figures and of the bench of studies: they run small studies, draw, and print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lpsched.studies.running import declare
from lpsched.studies.study import read_study
from scripts.benches import studies as bench_studies
from scripts.figures import profit_1 as figure_profit_1
from scripts.figures import profit_2 as figure_profit_2
from scripts.figures import profit_3 as figure_profit_3
from scripts.figures import profit_4 as figure_profit_4
from scripts.figures import profit_5 as figure_profit_5
from scripts.figures import profit_times as figure_profit_times
from scripts.figures.shared import profit_figures

pytestmark = [pytest.mark.unwatched, pytest.mark.slow]  # scripts are not covered code

ROOT = Path(__file__).parents[2]
TINY = ROOT / "instances" / "tiny.yaml"
HEAD = "format: lpsched-study/1\nname: small\n"
OF_TINY = f"{HEAD}instances:\n  - file: {TINY}\n"
DRAWN = f"{HEAD}instances:\n  - {{generate: resampled, from: {TINY}, SIZE, seeds: {{from: 0, count: 4}}}}\n"


@pytest.fixture
def run(tmp_path, capsys):
    """Run a script on a small study, and return the rows that it printed."""

    def call(script, study):
        (tmp_path / "study.yaml").write_text(study, encoding="utf-8")
        figure = tmp_path / "figure.svg"
        given = ["--study", str(tmp_path / "study.yaml"), "--jobs", "1", "--figure", str(figure)]
        script.main(given)
        printed = capsys.readouterr().out
        if script is not figure_profit_times:
            assert figure.read_text(encoding="utf-8").startswith("<?xml")
        return [line[2:-2].split(" | ") for line in printed.splitlines() if line.startswith("| ")]

    return call


@pytest.mark.parametrize("name", ["1", "2", "3", "4", "5", "times"])
def test_every_figure_has_a_sound_study(name):
    declare(profit_figures.STUDIES / f"profit-{name}.yaml")


def test_figure_2_is_900_bags_by_two_methods():
    study = read_study(profit_figures.STUDIES / "profit-2.yaml")
    assert sum(len(source.seeds) for source in study.instances) * len(study.parameters["profit_ratio"]) == 900
    assert [method.name for method in study.methods] == ["lp", "balanced"]


def test_figure_1_tells_bounds_and_schedules_and_what_a_cap_leaves(run):
    # Ratio 1.2: 0.00792 USD. (6,600 J, 30 s) earns 0.1584 an hour, (8,400 J, 12 s) loses; whole tasks reach both.
    # Ratio 2: 0.0132 USD, 0.792 and 1.44. At 700 W for (8,400 J, 12 s), a cap of 500 W asks for more time.
    methods = "methods:\n  - front\n  - lp\n  - balanced\n  - {name: balanced, power_cap: 500}\n"
    table = run(figure_profit_1, f"{OF_TINY}{methods}parameters: {{profit_ratio: [1.2, 2]}}\n")
    assert [row[0] for row in table[2:]] == ["1.2", "2"]
    assert [float(row[4]) for row in table[2:]] == pytest.approx([0.1584, 1.44])
    assert [row[3] for row in table[2:]] == ["0.22", "0.7"]
    assert float(table[2][-1]) == pytest.approx(0.1584)
    assert float(table[3][-1]) < 1.44
    assert table[0][-1] == "under 0.5 kW"


def test_figure_2_compares_both_methods_bag_by_bag(run):
    study = DRAWN.replace("SIZE", "tasks_per_machine: 5")
    table = run(figure_profit_2, f"{study}methods: [lp, balanced]\nparameters: {{profit_ratio: [1.2, 2]}}\n")
    assert [row[:3] for row in table[2:]] == [["1.2", "5", "4"], ["2", "5", "4"]]
    assert [row[-1] for row in table[2:]] == ["yes", "yes"]


def test_figure_3_says_what_is_off_the_front_and_what_is_not_run(run):
    # Below 9 / 11 waiting is best; then the thrifty end of the front loses least, up to 1.
    study = f"{OF_TINY}methods: [front, region, lp, balanced]\nparameters: {{profit_ratio: [0.5, 0.9, 2]}}\n"
    table = run(figure_profit_3, study)
    assert [row[3] for row in table[2:]] == ["-", "on", "on"]
    assert [row[-1] for row in table[2:]] == ["do-not-run", "loss", "profit"]
    # 0.00594 USD at 0.9: 0.00066 less than 6,600 J cost, in 30 s: 0.0792 an hour.
    assert [float(row[4]) for row in table[2:]] == pytest.approx([-0.144, -0.0792, 1.44])


def test_figure_4_finds_where_the_answer_leaves_the_front(run):
    # On paper the thrifty end is best from 9 / 11 on: there the front, which cannot wait, begins to be as good.
    study = f"{OF_TINY}methods:\n  - front\n  - {{name: price, from_ratio: 0.5, to_ratio: 2}}\n"
    table = run(figure_profit_4, study)
    assert [row[0] for row in table[2:]] == ["0.5", "0.818182", "1"]
    assert [row[3] for row in table[2:]] == ["do-not-run", "loss", "profit"]
    assert float(table[2][1]) > float(table[2][2])
    assert table[3][1] == table[3][2]


def test_figure_5_tells_the_best_of_the_region_and_the_same_bound(run):
    table = run(figure_profit_5, f"{OF_TINY}methods: [region, lp]\nparameters: {{profit_ratio: [0.5, 1.2, 2]}}\n")
    assert [row[1] for row in table[2:]] == ["to wait", "0.0066", "0.0084"]
    assert [float(row[3]) for row in table[2:]] == pytest.approx([float(row[4]) for row in table[2:]])


def test_run_times_stand_beside_the_printed_ones(run):
    study = DRAWN.replace("SIZE", "tasks: 10000")
    table = run(figure_profit_times, f"{study}methods: [lp, balanced]\nparameters: {{profit_ratio: 1.2}}\n")
    assert table[2][:2] == ["10,000", "3.6"]
    assert float(table[2][2]) > 0


def test_a_second_call_reads_the_lines_of_the_first(tmp_path, capsys):
    study = tmp_path / "study.yaml"
    study.write_text(f"{OF_TINY}methods: [lp]\nparameters: {{profit_ratio: [1.2, 2]}}\n", encoding="utf-8")
    asked = profit_figures.arguments("", "profit-1", ["--study", str(study), "--jobs", "1"])
    first = profit_figures.Runs(asked)
    assert "2 runs in" in capsys.readouterr().out
    second = profit_figures.Runs(asked)
    assert not capsys.readouterr().out
    assert first.all == second.all
    assert first.ratios() == [1.2, 2]


def test_a_failed_run_ends_the_script_with_its_reason(tmp_path):
    study = tmp_path / "study.yaml"
    study.write_text(f"{OF_TINY}methods: [front]\nparameters: {{deadline: 1.0}}\n", encoding="utf-8")
    asked = profit_figures.arguments("", "profit-1", ["--study", str(study), "--jobs", "1"])
    with pytest.raises(SystemExit, match="1 runs failed: "):
        profit_figures.Runs(asked)


def test_the_bench_of_studies_prints_a_row_for_each_bag_and_what_a_study_took(monkeypatch, capsys):
    def lpsched(*words):
        assert words[:2] == ("study", "run")
        Path(words[words.index("-o") + 1]).write_text("lines", encoding="utf-8")
        return json.dumps({"made": 2, "failed": 0})

    monkeypatch.setattr(bench_studies, "_lpsched", lpsched)
    bench_studies.sweep(("tiny",), rounds=1)
    bench_studies.bags()
    printed = capsys.readouterr().out
    assert printed.splitlines()[1].split()[:2] == ["tiny", "4"]
    assert "2 runs, 0 failed" in printed
