"""No command writes what it reads, nor one file twice, under whatever names; and all end with the same exit codes."""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from lpsched.cli import main as cli
from lpsched.cli.console import StoppedEarly, Terminated
from lpsched.cli.main import run
from lpsched.cli.options import OUTPUT, Command, endings_of
from lpsched.errors import (
    InfeasibleError,
    InputIssue,
    InstanceError,
    InvalidScheduleError,
    MeasureError,
    MissingExtraError,
    NotFoundError,
    OutputError,
    PolicyError,
    SolverError,
    StalledError,
    WorkersError,
)

INSTANCES = Path(__file__).parents[2] / "instances"
REST = {  # arguments after the file that is read
    "expand": ("plan.json",),
    "offer": ("--hours", "0-1"),
    "verify": ("proof.json",),
    "whatif": ("--set", "fast=2"),
}
NEEDED = ("-o", "--output")  # without it some commands do not begin


@cache
def leaves() -> dict[str, Any]:
    """Return all commands by their words; not those that tests call: to ask them for parameters fixes their help."""
    tree: Any = typer.main.get_command(cli.app)
    found: dict[str, Any] = {}
    for name, command in tree.commands.items():
        inner = getattr(command, "commands", None)
        found |= {f"{name} {word}": each for word, each in inner.items()} if inner else {name: command}
    return found


def params_of(command) -> list[Any]:
    """Return the parameters of a command, with those that some add when they are called; it keeps the names of help."""
    names: Any = {"help_option_names": ["-h", "--help"]}
    params: list[Any] = command.get_params(command.make_context("x", [], resilient_parsing=True, **names))
    return params


def outputs_of(command) -> list[Any]:
    return [each for each in params_of(command) if getattr(each, "rich_help_panel", None) == OUTPUT]


def reads_a_file(command) -> bool:
    return any(each.name in ("bag", "file", "files", "instance", "study") for each in command.params)


WRITING = [(words, param.name) for words, each in leaves().items() for param in outputs_of(each)]
READING = [(words, name) for words, name in WRITING if reads_a_file(leaves()[words])]


def option_of(words, name):
    param = next(each for each in outputs_of(leaves()[words]) if each.name == name)
    return max(param.opts, key=len), endings_of(param)


def called(words, file, option, path):
    """Return a call of a command that reads one file and writes another; files for its other needed options exist."""
    given = [*words.split(), str(file), *REST.get(words, ()), option, str(path), "--force"]
    if option not in NEEDED and any(p.required for p in outputs_of(leaves()[words])):
        given += ["-o", str(path.parent / "other.yaml")]
    return given


def test_every_option_that_takes_a_path_is_an_input_or_is_checked_as_an_output():
    known_inputs = {"import etc --power", "import slurm --system", "import measurements --room", "serve --jobs"}
    known_inputs |= {"generate bag --from", "generate day --from"}
    found = {
        f"{words} {max(param.opts, key=len)}"
        for words, each in leaves().items()
        for param in params_of(each)
        if param.param_type_name == "option"
        and "path" in str(param.type_descriptor).lower()
        and getattr(param, "rich_help_panel", None) != OUTPUT
    }
    assert found == known_inputs
    assert len(WRITING) > 50


@pytest.mark.rotate(30)
@pytest.mark.parametrize(("words", "name"), READING)
@pytest.mark.parametrize("link", ["symlink", "hardlink"])
def test_an_output_that_is_the_input_by_another_name_is_rejected(lpsched, tmp_path, words, name, link):
    option, endings = option_of(words, name)
    file, path = tmp_path / "read.json", tmp_path / f"other{endings[0]}"
    file.write_text("mine")
    path.symlink_to(file) if link == "symlink" else path.hardlink_to(file)
    code, out, err = lpsched(*called(words, file, option, path))
    assert (code, out, err) == (2, "", f"lpsched: cannot write {path}: it is what is read; choose another name\n")
    assert file.read_text() == "mine"


@pytest.mark.rotate(20)
@pytest.mark.parametrize(("words", "name"), READING)
def test_an_output_whose_name_is_too_long_is_rejected(lpsched, tmp_path, words, name):
    option, endings = option_of(words, name)
    (file := tmp_path / "read.json").write_text("mine")
    path = tmp_path / ("x" * 300 + endings[0])
    code, out, err = lpsched(*called(words, file, option, path))
    assert (code, out, err.startswith(f"lpsched: cannot write {path}: File name too long")) == (2, "", True), err


def pairs():
    """Yield two output options of a command that may have the same ending."""
    for words, each in leaves().items():
        outputs = outputs_of(each)
        for first in outputs:
            for second in outputs:
                shared = [ending for ending in endings_of(first) if ending in endings_of(second)]
                if first.name < second.name and shared:
                    yield words, first.name, second.name, shared[0]


@pytest.mark.rotate(60)
@pytest.mark.parametrize("pair", list(pairs()))
@pytest.mark.parametrize("spelling", ["same", "through a folder", "symlink", "dangling symlink"])
def test_two_outputs_of_one_name_are_rejected(lpsched, tmp_path, pair, spelling):
    words, one, other, ending = pair
    path = tmp_path / f"out{ending}"
    (tmp_path / "sub").mkdir()
    second = {"same": path, "through a folder": tmp_path / "sub" / ".." / path.name}.get(spelling)
    if second is None:
        second = tmp_path / f"link{ending}"
        second.symlink_to(path)
        if spelling == "symlink":
            path.write_text("mine")
    (file := tmp_path / "read.json").write_text("{}")
    given = called(words, file, option_of(words, one)[0], path)
    code, out, err = lpsched(*given, option_of(words, other)[0], str(second))
    assert (code, out) == (2, "")
    assert "two options name it; choose another name for one of them" in err


def copied(tmp_path, name):
    for file in INSTANCES.glob(f"{name}*"):
        shutil.copy(file, tmp_path)
    return tmp_path / name


@pytest.mark.parametrize(("name", "call"), [("clusters-small.yaml", ()), ("utility-250.yaml", ("--scheduler", "fcfs"))])
@pytest.mark.parametrize("link", [False, True])
def test_a_file_that_the_input_names_is_not_overwritten(lpsched, tmp_path, name, call, link):
    sidecar = f"{name}.tasks.csv"
    read = copied(tmp_path, name)
    before = (tmp_path / sidecar).read_bytes()
    output = tmp_path / sidecar
    if link:
        (output := tmp_path / "link.csv").symlink_to(tmp_path / sidecar)
    code, out, err = lpsched("simulate", str(read), *call, "-o", str(output), "--force")
    assert (code, out) == (2, "")
    assert "a file that the same command writes, expected one that it only reads; choose another name" in err
    assert (tmp_path / sidecar).read_bytes() == before


def test_a_tariff_or_a_scheduler_of_a_file_is_not_overwritten(lpsched, tmp_path):
    tariff = copied(tmp_path, "prices-de-2024-01-08.csv")
    before = tariff.read_bytes()
    given = ("--hours", "0-1", "--horizon", "2h", "--start", "20240109", "--tariff", str(tariff))
    code, _, err = lpsched("offer", str(INSTANCES / "tiny.yaml"), *given, "-o", str(tariff), "--force")
    assert (code, "a file that the same command writes" in err) == (2, True)
    assert tariff.read_bytes() == before


def test_a_sidecar_that_is_written_and_was_read_is_not_overwritten(lpsched, tmp_path):
    # a.yaml names the file in which the tables of b.yaml would be
    source = copied(tmp_path, "tiny.yaml")
    assert lpsched("convert", str(source), "-o", str(tmp_path / "b.yaml"), "--tables", "npz")[0] == 0
    table = tmp_path / "b.yaml.npz"
    (tmp_path / "b.yaml").rename(tmp_path / "a.yaml")
    before = table.read_bytes(), table.stat().st_ino
    code, _, err = lpsched(
        "convert", str(tmp_path / "a.yaml"), "-o", str(tmp_path / "b.yaml"), "--tables", "npz", "--force"
    )
    assert (code, err) == (2, f"lpsched: cannot write {table}: it is what is read; choose another name\n")
    assert (table.read_bytes(), table.stat().st_ino) == before
    assert not (tmp_path / "b.yaml").exists()


@pytest.mark.parametrize("name", ["b.yaml.npz", "b.yaml.tasks.csv", "b.yaml.seconds.csv", "b.yaml.seconds.parquet"])
def test_an_instance_is_not_written_over_a_sidecar_of_another(lpsched, tmp_path, name):
    (tmp_path / name).write_text("mine")
    code, out, err = lpsched("convert", str(INSTANCES / "tiny.yaml"), "-o", str(tmp_path / "b.yaml"))
    assert (code, out, f"{tmp_path / name} exists; choose another name or add --force" in err) == (2, "", True), err
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_python_may_write_what_it_read(tmp_path):
    from lpsched.bag.files import read_bag, write_bag  # noqa: PLC0415

    path = copied(tmp_path, "tiny.yaml")
    write_bag(read_bag(path), path)
    assert read_bag(path).name == read_bag(INSTANCES / "tiny.yaml").name


# Exit codes: one table for all commands, docs/reference/commands.md.
ISSUE = (InputIssue(("count",), "0", "1", "correct it"),)
CODES = [
    (None, 0),
    (InfeasibleError("no"), 1),
    (NotFoundError("no"), 1),
    (SolverError("no"), 1),
    (InvalidScheduleError("no"), 1),
    (PolicyError("no"), 1),
    (StalledError("no"), 1),
    (WorkersError("no"), 1),
    (MeasureError("no"), 1),
    (MissingExtraError("a figure", "report"), 1),
    (InstanceError("bag.yaml", ISSUE), 2),
    (InstanceError("", ISSUE), 2),
    (OutputError("no"), 2),
    (StoppedEarly(), 130),
    (KeyboardInterrupt(), 130),
    (Terminated(15), 143),
    (Terminated(1), 129),
]


@pytest.mark.parametrize("words", sorted(leaves()))
def test_every_command_ends_with_the_codes_of_the_table(lpsched, monkeypatch, words):
    assert isinstance(leaves()[words], Command)
    for error, expected in CODES:

        def end(*_, error=error):
            if error is not None:
                raise error

        monkeypatch.setattr(Command, "invoke", end)
        file = ["x.yaml"] if reads_a_file(leaves()[words]) else []
        given = [*words.split(), *file, *REST.get(words, ())]
        for param in params_of(leaves()[words]):
            if param.required and param.param_type_name == "option":
                given += [max(param.opts, key=len), "1" if "int" in str(param.type_descriptor) else "x.csv"]
        given += ["bag"] if words in ("new", "schema") else []
        code, _, err = lpsched(*given)
        assert code == expected, f"{error!r}: {err}"
        assert "Traceback" not in err
        code, answer, _ = lpsched(*given, "--json") if error and expected != 130 else (expected, None, "")
        assert code == expected
        assert answer is None or answer["format"] == "lpsched-error/1"


@pytest.mark.parametrize("words", sorted(leaves()))
def test_every_command_ends_with_2_after_an_unknown_option(lpsched, words):
    code, out, err = lpsched(*words.split(), "--no-such-option")
    assert (code, out) == (2, "")
    assert "Traceback" not in err


@pytest.mark.parametrize("words", sorted({words for words, each in leaves().items() if reads_a_file(each)} - {"serve"}))
@pytest.mark.parametrize("given", ["gone.yaml", "folder.yaml", "empty.yaml"])
def test_every_command_ends_with_2_without_a_file_to_read(lpsched, tmp_path, words, given):
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "empty.yaml").write_text("")
    rest = list(REST.get(words, ()))
    for param in outputs_of(leaves()[words]):
        if param.required or (words, param.name) == ("measure", "output"):
            rest += ["-o", str(tmp_path / f"out{endings_of(param)[0]}")]
    code, out, err = lpsched(*words.split(), str(tmp_path / given), *rest)
    assert (code, out) == (2, ""), err
    assert "Traceback" not in err


def test_a_closed_pipe_ends_with_141(monkeypatch, capsys):
    def closed(*_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(Command, "invoke", closed)
    monkeypatch.setattr(cli, "_discard_stdout", lambda: None)
    monkeypatch.setattr("sys.stdout", sys.stdout)  # Typer replaces both
    monkeypatch.setattr("sys.stderr", sys.stderr)
    with pytest.raises(BrokenPipeError):
        run(["schema", "bag"])
    with pytest.raises(SystemExit) as stop:
        cli.main(["schema", "bag"])
    assert stop.value.code == 141
    capsys.readouterr()
