from __future__ import annotations

import pytest

from lpsched.cancellation import CancelToken
from lpsched.errors import InstanceError, OutputError
from lpsched.studies.report import study_report
from lpsched.studies.running import run_study
from lpsched.studies.study import Study, read_runs
from tests.studies.declared import declared, study_file

pytestmark = pytest.mark.rotate_tests(5)


class Halting:
    """A executor that makes so many runs, backwards, and then stops as if it were killed."""

    def __init__(self, most):
        self.most = most
        self.asked = []

    def work_off(self, make, tasks, *, cancel):
        assert not cancel.expired()
        self.asked = [task.key for task in tasks]
        for task in list(reversed(tasks))[: self.most]:
            yield make(task)


def outcomes(path):
    return {run.key: run.outcome for run in read_runs(path)}


def test_a_study_that_goes_on_makes_each_run_once(tmp_path):
    path = study_file(tmp_path)
    first = run_study(path, executor=Halting(3))
    assert (first.runs, first.found, first.made, first.left) == (8, 0, 3, 5)
    executor = Halting(8)
    second = run_study(path, resume=True, executor=executor)
    assert (second.runs, second.found, second.made, second.left) == (8, 3, 5, 0)
    lines = tmp_path / "tiny.runs.jsonl"
    keys = [run.key for run in read_runs(lines)]
    assert len(keys) == len(set(keys)) == 8
    assert not set(keys[:3]) & set(executor.asked)
    run_study(path, tmp_path / "whole.jsonl")
    assert outcomes(tmp_path / "whole.jsonl") == outcomes(lines)
    third = run_study(path, resume=True)
    assert (third.found, third.made) == (8, 0)


def test_the_run_whose_line_was_cut_is_made_again(tmp_path):
    path, lines = study_file(tmp_path), tmp_path / "tiny.runs.jsonl"
    run_study(path)
    whole, content = outcomes(lines), lines.read_bytes()
    lines.write_bytes(content[:-30])
    again = run_study(path, resume=True)
    assert (again.found, again.made) == (7, 1)
    assert outcomes(lines) == whole


def test_a_study_that_has_grown_makes_only_what_is_new(tmp_path):
    run_study(study_file(tmp_path))
    grown = run_study(study_file(tmp_path, methods=["lp", "min-min", "max-min"]), resume=True)
    assert (grown.runs, grown.found, grown.made, grown.others) == (12, 8, 4, 0)
    shrunk = run_study(study_file(tmp_path, methods=["lp"]), resume=True)
    assert (shrunk.runs, shrunk.found, shrunk.made, shrunk.others) == (4, 4, 0, 8)


def test_lines_of_another_study_are_left_alone(tmp_path):
    run_study(study_file(tmp_path, methods=["lp"]))
    before = (tmp_path / "tiny.runs.jsonl").read_bytes()
    with pytest.raises(OutputError, match="its 4 runs are of another study; choose another name"):
        run_study(study_file(tmp_path, methods=["max-min"]), resume=True)
    assert (tmp_path / "tiny.runs.jsonl").read_bytes() == before


def test_failed_runs_are_counted_with_their_reasons_and_not_made_again(tmp_path):
    path = study_file(tmp_path, parameters={"objective": ["makespan", "profit"]})
    summary = run_study(path)
    assert (summary.made, summary.failed) == (8, 4)  # the generated bags have no prices
    ((reason, runs),) = summary.reasons
    assert "price" in reason
    assert runs == 4
    again = run_study(path, resume=True)
    assert (again.made, again.failed) == (0, 4)


def test_failed_runs_are_made_again_only_if_one_says_so(tmp_path, monkeypatch):
    path = study_file(tmp_path, methods=["lp"])

    def broken(*_, **__):
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr("lpsched.studies.methods.solve", broken)
        assert run_study(path, executor=Halting(3)).failed == 3
    second = run_study(path, retry_failed=True)
    assert (second.found, second.made, second.failed) == (0, 4, 0)
    third = run_study(path, retry_failed=True)
    assert (third.found, third.made) == (4, 0)
    assert len(list(read_runs(tmp_path / "tiny.runs.jsonl"))) == 7
    assert study_report(tmp_path / "tiny.runs.jsonl").failed == 0


def test_when_the_watch_is_over_nothing_more_is_begun(tmp_path):
    cancel = CancelToken()
    told = []

    def listen(progress):
        told.append((progress.done, progress.total))
        if progress.done == 2:
            cancel.stop()

    cancel = CancelToken(listener=listen)
    summary = run_study(study_file(tmp_path), cancel=cancel)
    assert (summary.made, summary.left) == (2, 6)
    assert told == [(0, 8), (1, 8), (2, 8)]


def test_lines_by_another_version_stay_and_are_told(tmp_path):
    path, lines = study_file(tmp_path), tmp_path / "tiny.runs.jsonl"
    first = run_study(path, executor=Halting(2))
    lines.write_text(lines.read_text().replace(f'"lpsched":"{first.lpsched}"', '"lpsched":"0.0.1"'))
    second = run_study(path, resume=True)
    assert (second.found, second.made, second.versions) == (2, 6, ("0.0.1",))


def test_a_study_without_a_file_needs_a_place_for_its_lines(tmp_path):
    study = Study.read(declared(methods=["lp"]))
    with pytest.raises(OutputError, match="name a file"):
        run_study(study)
    assert run_study(study, tmp_path / "a.jsonl").made == 4


def test_a_bad_study_writes_nothing(tmp_path):
    with pytest.raises(InstanceError):
        run_study(study_file(tmp_path, methods=["lpp"]))
    with pytest.raises(InstanceError):
        run_study(Study.read(declared(methods=["lpp"])), tmp_path / "tiny.runs.jsonl")
    assert not (tmp_path / "tiny.runs.jsonl").exists()
