"""Days survive writing and reading, in every form; what is beside the file is read with care."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lpsched
from lpsched.errors import InstanceError, LpschedWarning, MissingExtraError, OutputError
from lpsched.io import parquet as arrow
from lpsched.io.instance_files import TableForm, yaml_text
from lpsched.io.templates import template
from lpsched.model.problems import names_of
from lpsched.online.day import ArrivingTasks, Day, day_from_dict
from lpsched.online.files import day_as_dict, read_day, write_day
from lpsched.online.parts import DayMachineType, Period
from tests.days import SOUND, sound_day
from tests.property.days import days, periods

# What generators may note: whole numbers, doubles, texts that YAML could take for others, lists
NOTES = st.none() | st.fixed_dictionaries(
    {"generator": st.sampled_from(["essc", "no", "1e3"]), "seed": st.integers(0, 2**128 - 1)},
    optional={
        "hours": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70),
        "affinity": st.text("ab: #{'\"\n", max_size=5) | st.booleans(),
        "counts": st.lists(st.integers(0, 9) | st.floats(0.0, 1.0), max_size=3),
    },
)
DAYS = st.builds(
    lambda day, period, note: day.model_copy(update={"period": period, "made_by": note}), days(), periods(), NOTES
)
PAGE = Path(__file__).parents[2] / "docs" / "guides" / "days.md"
HEADER = "arrival_seconds,task_type,priority,urgency,utility_class,utility\n"
ROWS = """\
0,render,high,soon,A,
2.5,zip,,,,deadline
2.5,zip,low,soon,A,
1e2,render,,,,slow
"""


def with_tasks(folder, text, name="t.csv"):
    """Write the sound day with its tasks in a file of this text."""
    (folder / name).write_text(text, encoding="utf-8")
    path = folder / "d.json"
    path.write_text(json.dumps(sound_day(tasks={"file": name})))
    return path


def issues_of(path) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        read_day(path)
    return [str(issue) for issue in caught.value.issues]


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DAYS, st.sampled_from([None, *TableForm]), st.sampled_from(["d.yaml", "d.json"]))
def test_a_day_that_is_written_is_read_again(tmp_path, day, form, name):
    files = write_day(day, tmp_path / name, form=form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LpschedWarning)  # tasks that arrive when the period is over
        again = read_day(files[-1])
    assert again == day
    assert again.content_hash == day.content_hash


@pytest.mark.parametrize(
    ("form", "names"),
    [
        (None, ["d.yaml"]),
        (TableForm.NAMES, ["d.yaml"]),
        (TableForm.MATRIX, ["d.yaml"]),
        (TableForm.CSV, ["d.yaml.seconds.csv", "d.yaml.watts.csv", "d.yaml.tasks.csv", "d.yaml"]),
        (TableForm.NPZ, ["d.yaml.npz", "d.yaml.tasks.csv", "d.yaml"]),
        (TableForm.PARQUET, ["d.yaml.seconds.parquet", "d.yaml.watts.parquet", "d.yaml.tasks.parquet", "d.yaml"]),
    ],
)  # fmt: skip
def test_each_form_has_its_files_and_the_one_that_names_them_comes_last(tmp_path, form, names):
    files = write_day(day_from_dict(SOUND), tmp_path / "d.yaml", form=form)
    assert [file.name for file in files] == names


def test_many_tasks_go_into_a_file_of_their_own(tmp_path):
    few = ArrivingTasks.of(range(1000), [0] * 1000, ["slow"] * 1000)
    many = ArrivingTasks.of(range(1001), [0] * 1001, ["slow"] * 1001)
    day = day_from_dict(SOUND)
    assert len(write_day(day.model_copy(update={"arriving": few}), tmp_path / "few.yaml")) == 1
    assert [file.name for file in write_day(day.model_copy(update={"arriving": many}), tmp_path / "many.yaml")] == [
        "many.yaml.tasks.csv", "many.yaml"
    ]  # fmt: skip
    assert read_day(tmp_path / "many.yaml").tasks == 1001


def test_a_written_day_reads_well(tmp_path):
    told = {"period": {"warm_up_seconds": 5, "length_seconds": 100}, "made_by": {"generator": "no", "seed": 3}}
    write_day(day_from_dict(sound_day(**told)), tmp_path / "d.yaml")
    text = (tmp_path / "d.yaml").read_text()
    assert "  gpu: " not in text  # a machine type is one line
    for line in (
        "format: lpsched-day/1",
        "  - {name: gpu, count: 1, p_states: [P0, P1]}",
        "period: {warm_up_seconds: 5.0, length_seconds: 100.0, edge: prorated}",
        'made_by: {generator: "no", seed: 3}',
        "  soon: {decay_per_minute: 0.6, steady_share: 0.8}",
        "  deadline: [{after_seconds: 0.0, starts_at: 8.0}, {after_seconds: 60.0, starts_at: 0.0}]",
        "  - {arrival_seconds: 2.5, task_type: zip, utility: deadline}",
    ):
        assert line in text.splitlines()


def test_the_period_on_the_page_is_one(tmp_path):
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "d.yaml").write_text(yaml_text(sound_day()) + block)
    assert read_day(tmp_path / "d.yaml").period == Period(7200.0, 86400.0, "prorated", 1.11e9)


def test_the_csv_of_tasks_has_only_the_columns_that_are_used(tmp_path):
    own = sound_day(tasks=[SOUND["tasks"][1]])
    write_day(day_from_dict(own), tmp_path / "d.yaml", form=TableForm.CSV)
    assert (tmp_path / "d.yaml.tasks.csv").read_text() == "arrival_seconds,task_type,utility\n2.5,zip,deadline\n"
    levels = sound_day(tasks=[SOUND["tasks"][0]])
    write_day(day_from_dict(levels), tmp_path / "d.yaml", form=TableForm.CSV)
    assert (tmp_path / "d.yaml.tasks.csv").read_text() == (
        "arrival_seconds,task_type,priority,urgency,utility_class\n0.0,render,high,soon,A\n"
    )


@settings(max_examples=20)
@given(DAYS)
def test_a_day_is_what_its_dump_describes(day):
    again = Day.model_validate(json.loads(json.dumps(day.model_dump())))
    assert (again, again.content_hash) == (day, day.content_hash)
    assert day.model_copy() == day


def test_the_template_is_a_day_and_says_every_key(tmp_path):
    (tmp_path / "d.yaml").write_text(template("day"))
    day = read_day(tmp_path / "d.yaml")
    assert set(day_as_dict(day)) == set(yaml.safe_load(template("day")))
    assert day.tasks == 4
    # what is optional as a whole stands there as a comment, and is sound without its marks
    optional = re.sub(r"^# (period:|  \w+:|made_by:)", r"\1", template("day"), flags=re.MULTILINE)
    (tmp_path / "d.yaml").write_text(optional)
    full = read_day(tmp_path / "d.yaml")
    assert set(day_as_dict(full)) == {"format", *names_of(Day)}
    assert full.period == Period(7200.0, 86400.0, "prorated", 1e9)


def test_read_and_write_know_days(tmp_path):
    lpsched.write(day_from_dict(SOUND), tmp_path / "d.yaml")
    assert isinstance(lpsched.read(tmp_path / "d.yaml"), Day)


@pytest.mark.parametrize("text", [HEADER + ROWS, "\ufeff" + HEADER + ROWS.replace("\n", "\r\n") + "\r\n\r\n"])
def test_tasks_in_a_csv_are_those_inside_the_file(tmp_path, text):
    assert read_day(with_tasks(tmp_path, text)) == day_from_dict(SOUND)


def test_columns_come_in_any_order_and_unused_ones_are_left_out(tmp_path):
    path = with_tasks(tmp_path, "utility,task_type,arrival_seconds\nslow,zip,1\n")
    assert list(read_day(path).arriving.arrival_seconds) == [1.0]


def test_tasks_in_a_parquet_are_those_inside_the_file(tmp_path):
    columns = {
        "arrival_seconds": [0.0, 2.5, 2.5, 100.0],
        "task_type": pa.array(["render", "zip", "zip", "render"]).dictionary_encode(),
        "priority": ["high", None, "low", None],
        "urgency": ["soon", None, "soon", None],
        "utility_class": ["A", None, "A", None],
        "utility": [None, "deadline", None, "slow"],
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    path = tmp_path / "d.json"
    path.write_text(json.dumps(sound_day(tasks={"file": "t.parquet"})))
    assert read_day(path) == day_from_dict(SOUND)


def test_lines_are_those_of_the_file_in_every_piece(tmp_path, monkeypatch):
    monkeypatch.setattr("lpsched.io.limits.PIECE", 2)
    text = HEADER + ROWS + '100,"ren\nder",,,,slow\n\n99,render,,,,slow\n101,zap,,,,slow\n100,render,,,,slow\n'
    assert [each.partition(":")[0] for each in issues_of(with_tasks(tmp_path, text))] == [
        "t.csv, line 7, tasks[4].task_type",  # where the row ends
        "t.csv, line 10, tasks[6].task_type",
    ]
    text = HEADER + ROWS + "100,render,,,,slow\n\n99,render,,,,slow\n98,render,,,,slow\n"
    (issue,) = issues_of(with_tasks(tmp_path, text))
    assert issue.startswith(
        "t.csv, line 8, tasks[5].arrival_seconds: got 99.0 s after 100.0 s, and 1 more such places, expected"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no.csv", "no.csv, tasks: got no file of this name (not found), expected a file; check the name"),
        ("t.txt", "t.txt, tasks: got the ending '.txt', expected .csv or .parquet; rename or convert the file"),
        (".", "the ending ''"),
        ("../t.csv", "tasks.file: got the path '../t.csv', expected a file in the folder of the day, or below it; copy the file of tasks there"),
        ("bad.parquet", "bad.parquet, tasks: got a broken file"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_there_or_not_ours_is_refused(tmp_path, name, message):
    (tmp_path / "t.txt").write_text(HEADER)
    (tmp_path / "bad.parquet").write_bytes(b"junk")
    path = tmp_path / "d.json"
    path.write_text(json.dumps(sound_day(tasks={"file": name})))
    assert any(message in each for each in issues_of(path)), issues_of(path)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    files = write_day(day_from_dict(SOUND), tmp_path / "d.json", form=TableForm.PARQUET)

    def missing(purpose):
        raise MissingExtraError(purpose, "parquet")

    monkeypatch.setattr("lpsched.io.parquet.load_arrow", missing)
    monkeypatch.setattr("lpsched.online.files.load_arrow", missing)
    assert arrow.load_arrow is missing
    with pytest.raises(MissingExtraError, match="needs the extra 'parquet'"):
        read_day(files[-1])
    with pytest.raises(MissingExtraError, match="writing Parquet"):
        write_day(day_from_dict(SOUND), tmp_path / "e.json", form=TableForm.PARQUET)
    assert not (tmp_path / "e.json").exists()


def test_a_line_of_a_yaml_file_is_told(tmp_path):
    path = tmp_path / "d.yaml"
    path.write_text(yaml_text(sound_day(tasks=[*SOUND["tasks"], SOUND["tasks"][0]])))
    line = len(path.read_text().splitlines())
    place = f"line {line}, tasks[4].arrival_seconds"
    needed = "expected tasks by never-falling arrival; sort them by arrival_seconds"
    assert issues_of(path) == [f"{place}: got 0.0 s after 100.0 s, {needed}"]


def test_what_is_worth_a_second_look_is_a_warning(tmp_path):
    raw = sound_day(task_types=[*SOUND["task_types"], {"name": "idle"}])
    (tmp_path / "d.json").write_text(json.dumps(raw))
    with pytest.warns(LpschedWarning, match="no machine type can run 'idle', and no task is of that type"):
        read_day(tmp_path / "d.json")


def test_only_yaml_and_json_are_written(tmp_path):
    with pytest.raises(InstanceError, match=re.escape("got the ending '.txt'")):
        write_day(day_from_dict(SOUND), tmp_path / "d.txt")
    with pytest.raises(OutputError, match="there is no folder"):
        write_day(day_from_dict(SOUND), tmp_path / "no" / "d.yaml")


def test_awkward_names_survive(tmp_path):
    awkward = ["no", "1e9", "a,b", 'say "hi"', "a: b", "#x", "<script>", "$x$"]
    raw = sound_day(
        machine_types=[{"name": name, "count": 1} for name in awkward],
        task_types=[{"name": name} for name in awkward],
        seconds=[[1.0] * 8] * 8,
        watts=[[1.0] * 8] * 8,
        utility_functions={name: [{"after_seconds": 0, "starts_at": 1}] for name in awkward},
        tasks=[{"arrival_seconds": 0, "task_type": name, "utility": name} for name in awkward],
    )
    day = day_from_dict(raw)
    for form in TableForm:
        assert read_day(write_day(day, tmp_path / "d.yaml", form=form)[-1]) == day
    assert day.model_copy(update={"machine_types": (*day.machine_types[:-1], DayMachineType("x", 1))}) != day
