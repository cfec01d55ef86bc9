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
    assert set(lpsched.__all__) <= set(dir(lpsched))


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
    assert done.stdout == "register Draft\n"


@pytest.mark.parametrize(
    "error",
    [
        errors.InstanceError("x.yaml", (errors.Fault(("a", 0), "1", "2", "3", line=4, file="t.csv"),)),
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
    fault = errors.Fault(("task_types", 3, "count"), "2.5", "a whole number", "round it", line=12)
    assert str(fault) == "task_types[3].count (line 12): found 2.5, needs a whole number; round it"
    assert fault.to_dict() == {
        "where": "task_types[3].count (line 12)",
        "found": "2.5",
        "needed": "a whole number",
        "do": "round it",
    }


def test_a_fault_of_a_strange_key_shows_it_escaped():
    assert errors.Fault(("a\x1b[31m",), "1", "2", "3").where == "'a\\x1b[31m'"


def test_a_thousand_faults_do_not_fill_the_screen():
    faults = tuple(errors.Fault(("a", k), "1", "2", "3") for k in range(1000))
    text = str(errors.InstanceError("x.yaml", faults))
    assert text.startswith("x.yaml: 1000 faults\n")
    assert text.endswith("... and 900 more; mend these first")
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
