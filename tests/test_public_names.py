from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import lpsched
from lpsched import errors


def test_all_lists_exactly_the_names_that_load():
    assert set(lpsched.__all__) == set(lpsched._PLACES)  # noqa: SLF001
    assert list(lpsched.__all__) == sorted(lpsched.__all__)
    for name in lpsched.__all__:
        assert getattr(lpsched, name).__module__.startswith("lpsched.")
    assert set(dir(lpsched)) == {*lpsched.__all__, "__doc__", "__version__", "heuristics", "horizon", "simulation"}
    assert len(lpsched.__all__) <= 60


def test_names_that_were_public_load_with_a_warning_that_names_another():
    for name in lpsched._OLD_PLACES:  # noqa: SLF001
        with pytest.warns(DeprecationWarning, match=f"lpsched.{name} is deprecated; use ") as caught:
            assert getattr(lpsched, name) is not None
        instead = str(caught[0].message).partition("; use ")[2]
        if instead.startswith("lpsched."):
            found = lpsched
            for step in instead.partition("(")[0].split(".")[1:]:  # without the arguments that it names
                found = getattr(found, step)
        else:
            exec(instead.strip("'"), {})  # noqa: S102 - the import that the message advises


def test_one_function_reads_and_writes_every_kind(tmp_path):
    bag = lpsched.read("instances/tiny.yaml")
    schedule = lpsched.solve(bag).schedule
    for name in ("s.json", "s.csv"):
        assert lpsched.write(schedule, tmp_path / name, instance=bag) == (tmp_path / name,)
        again = lpsched.read(tmp_path / name, bag)
        assert lpsched.validate(bag, {"again": again}).entries[0].violations == ()
        for one in (again, tmp_path / name, str(tmp_path / name)):
            assert [each.violations for each in lpsched.validate(bag, one).entries] == [()]
    header, first, *_ = (tmp_path / "s.csv").read_text().splitlines()
    assert header == "task,task_type,machine_type,machine,p_state,start_seconds,end_seconds"
    assert first == "0,scan,fast,1,,0.0,2.0"  # as 'lpsched solve -o' writes it: a scan takes 2 s on 'fast'
    with pytest.raises(lpsched.InstanceError, match="instance: got none, expected what the schedule belongs to"):
        lpsched.read(tmp_path / "s.csv")
    with pytest.raises(lpsched.InstanceError, match="instance: got none, expected what the Schedule belongs to"):
        lpsched.write(schedule, tmp_path / "t.json")
    room = lpsched.read("instances/facility-tiny.yaml")
    day = lpsched.read("instances/utility-250.yaml")
    for instance, name in ((bag, "c.json"), (room, "p.json"), (day, "d.json")):
        proof = lpsched.certify(instance)
        lpsched.write(proof, tmp_path / name)
        assert lpsched.read(tmp_path / name) == proof
        assert lpsched.verify(instance, [tmp_path / name]).accepted
    best = lpsched.facility(room).allocation
    lpsched.write(best, tmp_path / "a.json", instance=room)
    assert lpsched.read(tmp_path / "a.json") == best


def test_one_function_validates_every_kind():
    assert lpsched.validate("instances/tiny.yaml", schedulers=["met"]).entries[0].name == "met"
    assert lpsched.validate("instances/facility-tiny.yaml", schedulers=["greedy"]).entries[0].name == "greedy"
    assert lpsched.validate("instances/utility-250.yaml", schedulers=["min-energy"]).entries[0].name == "min-energy"
    with pytest.raises(lpsched.InstanceError, match="schedulers: got some, expected none for clusters"):
        lpsched.validate("instances/clusters-small.yaml", schedulers=["easy"])


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'sovle'"):
        lpsched.sovle  # noqa: B018


def test_the_registry_of_heuristics_is_there_after_importing_lpsched_alone():
    code = "import lpsched; print(lpsched.heuristics.register.__name__, 'lpsched.bag.compare' in __import__('sys').modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "register False\n"


def test_the_registry_of_policies_is_there_likewise():
    code = "import lpsched; print(lpsched.simulation.register.__name__, lpsched.simulation.Draft.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "register PartialSchedule\n"


@pytest.mark.parametrize(
    "error",
    [
        errors.InstanceError("x.yaml", (errors.InputIssue(("a", 0), "1", "2", "3", line=4, file="t.csv"),)),
        errors.MissingExtraError("reading", "parquet"),
        errors.OutputError("cannot write x: full"),
        errors.InfeasibleError("no"),
    ],
)
def test_errors_survive_pickling(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(again) is type(error)
    assert str(again) == str(error)


def test_a_fault_tells_where_found_needed_do():
    issue = errors.InputIssue(("task_types", 3, "count"), "2.5", "a whole number", "round it", line=12)
    assert str(issue) == "line 12, task_types[3].count: got 2.5, expected a whole number; round it"
    assert issue.to_dict() == {
        "where": "line 12, task_types[3].count",
        "found": "2.5",
        "needed": "a whole number",
        "do": "round it",
    }


def test_a_fault_of_a_strange_key_shows_it_escaped():
    assert errors.InputIssue(("a\x1b[31m",), "1", "2", "3").location == "'a\\x1b[31m'"


def test_a_thousand_faults_do_not_fill_the_screen():
    issues = tuple(errors.InputIssue(("a", k), "1", "2", "3") for k in range(1000))
    text = str(errors.InstanceError("x.yaml", issues))
    assert text.startswith("x.yaml: 1000 errors\n")
    assert text.endswith("... and 900 more; fix these first")
    assert len(text.splitlines()) == 102


def test_no_module_hides_a_public_name_once_everything_is_loaded():
    code = (
        "import importlib, pkgutil, lpsched\n"
        "for each in pkgutil.walk_packages(lpsched.__path__, 'lpsched.'):\n"
        "    if not each.name.endswith('__main__'): importlib.import_module(each.name)\n"
        "import types\n"
        "print([name for name in lpsched.__all__ if isinstance(getattr(lpsched, name), types.ModuleType)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_objects_are_short_in_a_shell_and_in_a_notebook():
    bag, day = lpsched.read("instances/video-transcoding.yaml"), lpsched.read("instances/utility-250.yaml")
    room, result = lpsched.read("instances/facility-tiny.yaml"), lpsched.solve(bag, effort="fast")
    simulated = lpsched.simulate(day, ["fcfs"])
    others = (lpsched.front(bag, effort="fast"), lpsched.price_curve(bag, effort="fast"), lpsched.facility(room))
    for each in (bag, day, room, result, result.schedule, simulated, lpsched.certify(day), day.arriving, *others):
        assert len(repr(each)) <= 400, type(each)
        assert len(str(each)) <= 400, type(each)
    assert repr(bag) == "<Bag 'video-transcoding': 56,500 tasks on 66 machines (24 task types, 4 machine types)>"
    assert repr(result.schedule) == "<Schedule: 56,500 tasks on 66 machines>"
    assert "<td>gpu-media</td>" in result.schedule._repr_html_()
    assert "gpu-av1 (4)" in bag._repr_html_()
