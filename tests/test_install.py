"""How lpsched gets onto a machine: extras, the command that adds a missing one, and the container image."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
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
PACKAGES = ("jinja2>=3.1.6", "matplotlib>=3.10")


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
    assert install_command(*PACKAGES) == "python -m pip install 'jinja2>=3.1.6' 'matplotlib>=3.10'"


def test_outside_an_environment_python_may_be_another_one(monkeypatch):
    monkeypatch.setattr(shutil, "which", {"python": "/usr/bin/python"}.get)
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3.12")
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    assert install_command("pandas") == "/usr/bin/python3.12 -m pip install pandas"


def test_without_pip_uv_installs(python, monkeypatch):
    monkeypatch.setattr(shutil, "which", {"python": str(python)}.get)
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
    expected = r'C:\Users\me\lpsched\Scripts\python.exe -m pip install "jinja2>=3.1.6" "matplotlib>=3.10"'
    assert install_command(*PACKAGES) == expected
    monkeypatch.setattr(sys, "executable", r"C:\Program Files\Python\python.exe")
    assert install_command("pandas") == r'"C:\Program Files\Python\python.exe" -m pip install pandas'


def test_the_command_is_on_a_line_of_its_own():
    message = str(MissingExtraError("a page", "report"))
    assert message == f"a page needs the extra 'report'; install it:\n    {install_command(*packages_of('report'))}"


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with their arguments."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def arguments_of(name: str) -> list[str]:
    return [rest for word, rest in instructions() if word == name]


def leave_out(folder: str, names: list[str]) -> list[str]:
    """Return those of the names in a folder that .dockerignore keeps from the builder; its last line that fits counts."""
    left_out = []
    for name in names:
        path, is_ignored = (Path(folder) / name).relative_to(ROOT), False
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split():
            pattern = line.removeprefix("!").removeprefix("**/")
            tried = [path, *path.parents] if "/" not in line else [Path(part) for part in path.parts]
            if any(len(each.parts) == 1 and each.match(pattern) for each in tried):
                is_ignored = not line.startswith("!")
        left_out += [name] if is_ignored else []
    return left_out


def test_the_image_is_pinned_small_and_not_run_by_root():
    images = [rest.split()[0] for rest in arguments_of("FROM")]
    assert len(images) == 2
    assert len(set(images)) == 1  # an environment runs on the Python that made it
    version = re.fullmatch(r"python:(3\.[0-9]+)\.[0-9]+-slim-[a-z]+", images[0]).group(1)
    assert tuple(map(int, version.split("."))) >= (3, 11)
    assert PROJECT["requires-python"] == ">=3.11"
    last = max(index for index, (word, _) in enumerate(instructions()) if word == "FROM")
    final = instructions()[last:]
    assert [rest.split()[0] for word, rest in final if word == "COPY"] == ["--from=build"]
    assert "RUN" not in dict(final)
    user, group = dict(final)["USER"].split(":")
    assert int(user) > 0 < int(group)
    assert all("--no-cache-dir" in rest for rest in arguments_of("RUN") if "pip" in rest)


def test_the_image_has_extras_of_the_project():
    (argument,) = arguments_of("ARG")
    name, _, extras = argument.partition("=")
    assert f'".[${name}]"' in arguments_of("RUN")[-1]
    assert set(extras.split(",")) < EXTRAS.keys()


def test_the_builder_is_sent_no_more_than_the_package():
    sent = [path.name for path in ROOT.iterdir() if not leave_out(str(ROOT), [path.name])]
    assert sorted(sent) == ["LICENSE", "README.md", "lpsched", "pyproject.toml"]
    assert leave_out(str(ROOT / "lpsched"), ["__pycache__", "bag", "errors.py"]) == ["__pycache__"]


@pytest.mark.slow
@pytest.mark.unwatched
@pytest.mark.skipif(sys.platform == "win32", reason="the commands of the Dockerfile are for a POSIX shell")
def test_the_commands_of_the_dockerfile_install_a_command_that_solves(tmp_path):
    # As the builder does it, but for the system's packages: the files it copies, and the commands it runs on them.
    source, installed, work = tmp_path / "src", tmp_path / "opt" / "lpsched", tmp_path / "work"
    source.mkdir()
    work.mkdir()
    environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    environment["PIP_NO_COMPILE"] = "1"  # compiling takes longest, and changes nothing that is looked at here
    for word, rest in instructions():
        if word == "ARG":
            name, _, value = rest.partition("=")
            environment[name] = value
        elif word == "COPY" and not rest.startswith("--from"):
            *names, target = rest.split()
            assert not leave_out(str(ROOT), names)
            for name in names:
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, source / target, ignore=leave_out)
                else:
                    shutil.copy(ROOT / name, source / target)
        elif word == "RUN":
            command = re.sub(r"^python\b", shlex.quote(sys.executable), rest).replace("/opt/lpsched", str(installed))
            subprocess.run(["/bin/sh", "-c", command], cwd=source, env=environment, check=True)
    assert "/opt/lpsched/bin:$PATH" in dict(instructions())["ENV"]
    shutil.copy(ROOT / "instances" / "tiny.yaml", work)
    entry = json.loads(dict(instructions())["ENTRYPOINT"])
    there = {"PATH": f"{installed}/bin", "HOME": str(tmp_path)}

    def run(*arguments):
        return subprocess.run(
            [str(installed / "bin" / entry[0]), *entry[1:], *arguments],
            cwd=work, env=there, capture_output=True, text=True, check=True,
        )  # fmt: skip

    answer = json.loads(run("solve", "tiny.yaml", "--json", "--report", "page.html").stdout)
    assert 0 < answer["value"] <= answer["bound"]
    assert (work / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "site-packages" in subprocess.run(
        [str(installed / "bin" / "python"), "-c", "import lpsched, numba; print(lpsched.__file__)"],
        cwd=work, env=there, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
