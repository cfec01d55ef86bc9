"""How commands fail: exit codes, messages, and what reaches the terminal."""

from __future__ import annotations

import json
import os
import re
import signal
import sys

import pytest
import rich.console

from lpsched.__main__ import main as entry
from lpsched.cli import main as cli
from lpsched.cli.console import Console, Terminated, console_of
from lpsched.cli.main import run
from lpsched.cli.options import EVERYWHERE
from lpsched.errors import SolverError
from tests.support import sound


def test_bad_input_is_exit_2_with_all_faults_and_nothing_written(lpsched, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(sound(name="", site={"pue": 0})))
    code, answer, err = lpsched("convert", str(path), "-o", str(tmp_path / "out.yaml"), "--json")
    assert code == 2
    assert answer["error"]["code"] == "bad-input"
    assert [issue["where"] for issue in answer["error"]["faults"]] == ["name", "site.pue"]
    assert set(answer["error"]["faults"][0]) == {"where", "found", "needed", "do"}
    assert err.startswith(f"lpsched: {path}: 2 errors\n")
    assert not (tmp_path / "out.yaml").exists()


def test_usage_errors_are_exit_2_and_json_too(lpsched):
    code, answer, err = lpsched("solve", "--json", "--gapp", "3")
    assert code == 2
    assert answer["error"]["code"] == "usage"
    assert "--gap" in err


def test_no_answer_is_exit_1(lpsched, bag, monkeypatch):
    def fail(*_, **__):
        raise SolverError("the solver gave up")

    monkeypatch.setattr("lpsched.bag.solve.solve", fail)
    code, answer, err = lpsched("solve", bag, "--json")
    assert (code, err) == (1, "lpsched: the solver gave up\n")
    assert answer["error"] == {"code": "solver", "message": "the solver gave up", "faults": []}


def test_an_interrupt_is_exit_130(lpsched, bag, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("lpsched.bag.solve.solve", interrupt)
    code, _, err = lpsched("solve", bag)
    assert code == 130
    assert err == "lpsched: interrupted\n"
    _, answer, _ = lpsched("solve", bag, "--json")
    assert answer["error"]["code"] == "interrupted"


@pytest.mark.parametrize(("cause", "code"), [(KeyboardInterrupt(), 130), (Terminated(15), 143)])
def test_a_signal_while_compiled_code_is_loaded_is_no_failed_import(lpsched, bag, monkeypatch, cause, code):
    def load(*_, **__):
        raise ImportError("initialization failed") from cause  # as pybind11 does

    monkeypatch.setattr("lpsched.bag.solve.solve", load)
    said = {130: "interrupted", 143: "ended by SIGTERM"}[code]
    assert lpsched("solve", bag) == (code, "", f"lpsched: {said}\n")


def test_an_import_that_fails_is_not_an_interrupt(bag, monkeypatch):
    def load(*_, **__):
        raise ImportError("no such module") from ValueError()

    monkeypatch.setattr("lpsched.bag.solve.solve", load)
    with pytest.raises(ImportError, match="no such module"):
        run(["solve", bag])


def test_a_reader_that_goes_away_is_told_to_main(bag, monkeypatch):
    def closed(*_, **__):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("lpsched.cli.console.print_tables", closed)
    monkeypatch.setattr("sys.stdout", sys.stdout)  # Typer replaces both
    monkeypatch.setattr("sys.stderr", sys.stderr)
    with pytest.raises(BrokenPipeError):
        run(["solve", bag])


def test_an_exit_from_within_stays_an_exit(bag, monkeypatch):
    def leave(*_, **__):
        sys.exit(7)

    monkeypatch.setattr("lpsched.bag.solve.solve", leave)
    with pytest.raises(SystemExit, match="7"):
        run(["solve", bag])


def test_an_interrupt_before_the_command_begins_is_exit_130(bag, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_command", lambda: interrupt)
    assert run(["solve", bag]) == 130
    assert capsys.readouterr().err == "lpsched: interrupted\n"
    monkeypatch.setattr(cli, "main", interrupt)
    monkeypatch.setattr(os, "_exit", sys.exit)  # an interrupted command does not wait for what still runs
    usual = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit, match="130"):
            entry()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert capsys.readouterr().err == "lpsched: interrupted\n"
    finally:
        signal.signal(signal.SIGINT, usual)


def test_main_exits_with_the_code(bag, capsys):
    for arguments, code in ((["show", bag], 0), (["show", "no.yaml"], 2)):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == code
    capsys.readouterr()


def test_a_bug_of_ours_is_not_dressed_up_as_bad_input(bag, monkeypatch):
    def bug(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("lpsched.bag.solve.solve", bug)
    with pytest.raises(ZeroDivisionError):
        run(["solve", bag])


def test_warnings_go_to_stderr_and_quiet_silences_them(lpsched, tmp_path):
    path = tmp_path / "b.json"
    path.write_text(json.dumps(sound(watts={"render": {"cpu": 3.0, "gpu": [1, 1]}, "zip": {"cpu": 40}})))
    _, answer, err = lpsched("solve", str(path), "--json")
    assert answer["status"]
    assert "'cpu' draws less running 'render' than idle (5 W)" in err
    _, _, err = lpsched("solve", str(path), "--quiet")
    assert err == ""


def test_names_are_printed_as_they_stand(lpsched, tmp_path):
    path = tmp_path / "b.json"
    names = ["[red]x", "<b>:smile:"]
    machines = [{"name": name, "count": 1} for name in names]
    path.write_text(json.dumps(sound(machine_types=machines, seconds=[[1.0, 9.0], [9.0, 1.0]], watts=..., prices=...)))
    for command in ("solve", "show"):
        code, out, _ = lpsched(command, str(path))
        assert code == 0
        assert all(name in out for name in names)


def test_a_terminal_gets_lines_of_its_own_width(lpsched, tmp_path, monkeypatch):
    path = tmp_path / "b.json"
    path.write_text(json.dumps(sound(name="n" * 200)))
    monkeypatch.setattr(rich.console.Console, "is_terminal", True)
    monkeypatch.setenv("COLUMNS", "50")
    code, out, _ = lpsched("show", str(path))
    assert code == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert plain != out  # a terminal gets bold headers
    assert max(map(len, plain.splitlines())) == 50


@pytest.mark.parametrize("where", ["file", "key", "name"])
def test_what_would_steer_the_terminal_is_shown_as_its_code(lpsched, tmp_path, where):
    escape = "\x1b[31mx.csv"
    raw = {"file": sound(seconds={"file": escape}), "key": sound(**{escape: 1}), "name": sound(name=escape)}[where]
    (tmp_path / "b.json").write_text(json.dumps(raw))
    code, _, err = lpsched("show", str(tmp_path / "b.json"))
    assert code == 2
    assert "\x1b" not in err
    assert "x1b[31m" in err


def test_version_and_help(lpsched):
    code, out, _ = lpsched("--version")
    assert code == 0
    assert out.startswith("lpsched 0.")
    for arguments in (["--help"], ["generate"], ["import", "etc", "--help"]):
        code, out, err = lpsched(*arguments)
        assert "Usage:" in out + err


def test_without_a_context_nothing_special_is_asked_for():
    class Bare:
        obj = None

    assert console_of(Bare()) == Console()


def test_every_command_says_where_the_global_options_are():
    assert all(command.epilog.endswith(EVERYWHERE) for command in cli.app.registered_commands)
