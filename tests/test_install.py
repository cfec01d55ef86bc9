"""How lpsched gets onto a machine: extras, and the command that adds a missing one."""

from __future__ import annotations

import shlex
import shutil
import sys
import tomllib
from importlib import util
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from lpsched.errors import MissingExtraError, install_command, packages_of

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
NOT_FOR_EVERYBODY = {"all", "gpu", "docs", "test", "dev"}
PACKAGES = ("jinja2>=3.1", "matplotlib>=3.10")


def test_all_has_every_extra_that_runs_on_any_machine():
    (named,) = (line for line in EXTRAS["all"] if line.startswith("lpsched["))
    assert set(named.removeprefix("lpsched[").removesuffix("]").split(",")) == EXTRAS.keys() - NOT_FOR_EVERYBODY


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - NOT_FOR_EVERYBODY))
def test_the_packages_of_an_extra_are_those_of_the_project_file(extra):
    def normal(requirement):  # builders of metadata may sort "<5,>=3.3"
        return sorted(requirement.lower())

    assert sorted(map(normal, packages_of(extra))) == sorted(map(normal, EXTRAS[extra]))


def test_a_package_under_conditions_is_named_without_them():
    assert packages_of("gpu") == ["cupy-cuda12x>=13"]


@pytest.mark.parametrize("metadata", [None, [], ["x>=1; extra == 'exotic-2'", "y; python_version < '4'"]])
def test_an_extra_that_the_metadata_do_not_have_is_named_itself(metadata, monkeypatch):
    def requires(name):
        if metadata is None:
            raise PackageNotFoundError(name)
        return metadata

    monkeypatch.setattr("importlib.metadata.requires", requires)
    assert packages_of("exotic") == ["lpsched[exotic]"]


def test_the_metadata_of_other_builders_are_read_too(monkeypatch):
    monkeypatch.setattr("importlib.metadata.requires", lambda _: ['x>=1 ; sys_platform == "linux" and extra == "a"'])
    assert packages_of("a") == ["x>=1"]


@pytest.fixture
def python(monkeypatch, tmp_path):
    """A Python of a folder with a blank in its name, which is not the `python` of PATH."""
    path = tmp_path / "a clone" / ".venv" / "bin" / "python"
    monkeypatch.setattr(sys, "executable", str(path))
    monkeypatch.setattr(sys, "prefix", str(path.parents[1]))
    path.parent.mkdir(parents=True)
    return path


def test_pip_is_called_by_the_python_that_runs(python):
    words = shlex.split(install_command(*PACKAGES))
    assert words == [str(python), "-m", "pip", "install", *PACKAGES]


def test_in_an_activated_environment_python_is_called_by_its_name(python, monkeypatch):
    monkeypatch.setattr(shutil, "which", {"python": str(python)}.get)
    monkeypatch.setattr(sys, "executable", f"{python}3")  # the same one: python3 made the environment
    assert install_command(*PACKAGES) == "python -m pip install 'jinja2>=3.1' 'matplotlib>=3.10'"


def test_outside_an_environment_python_may_be_another_one(monkeypatch):
    monkeypatch.setattr(shutil, "which", {"python": "/usr/bin/python"}.get)
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3.12")
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    assert install_command("pandas") == "/usr/bin/python3.12 -m pip install pandas"


def test_without_pip_uv_installs(python, monkeypatch):
    monkeypatch.setattr(util, "find_spec", lambda _: None)
    words = shlex.split(install_command(*PACKAGES))
    assert words == ["uv", "pip", "install", "--python", str(python), *PACKAGES]


def test_an_environment_of_pipx_is_changed_by_pipx(python):
    (python.parents[1] / "pipx_metadata.json").touch()
    assert shlex.split(install_command("numba>=0.61")) == ["pipx", "inject", ".venv", "numba>=0.61"]


def test_on_windows_double_quotes_are_used_and_only_where_needed(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "executable", r"C:\Users\me\lpsched\Scripts\python.exe")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    expected = r'C:\Users\me\lpsched\Scripts\python.exe -m pip install "jinja2>=3.1" "matplotlib>=3.10"'
    assert install_command(*PACKAGES) == expected
    monkeypatch.setattr(sys, "executable", r"C:\Program Files\Python\python.exe")
    assert install_command("pandas") == r'"C:\Program Files\Python\python.exe" -m pip install pandas'


def test_the_command_is_on_a_line_of_its_own():
    message = str(MissingExtraError("a page", "report"))
    assert message == f"a page needs the extra 'report'; install it:\n    {install_command(*packages_of('report'))}"
