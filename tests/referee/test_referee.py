"""Nothing that lpsched says has changed, but what is changed in the record by name; and the record would notice."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.referee.recording import ROOT, differences, other_versions, sections

pytestmark = [pytest.mark.slow, pytest.mark.unwatched]

# A small change of behaviour each: what is replaced by what, anywhere in the package, and who notices.
MUTATIONS = {
    "electricity is paid for the machines, not for their cooling": (
        "per_joule = Fraction(prices.electricity_per_kwh) / 3_600_000 * Fraction(bag.site.pue)",
        "per_joule = Fraction(prices.electricity_per_kwh) / 3_600_000",
        "checks",
    ),
    "a hash that does not see prices": (
        '"prices": self.prices.model_dump(exclude_defaults=True),',
        '"prices": {},',
        "hashes",
    ),
    "another default of a generator": ("warm_up_hours: WarmUp = 4.0", "warm_up_hours: WarmUp = 4.5", "help"),
    "another default of solve": (
        'seed: int = 0,\n    marginals: str = "lp",\n    risk: RiskOptions | None = None,\n    solver: Solver | None = None,\n) -> Result:',
        'seed: int = 1,\n    marginals: str = "lp",\n    risk: RiskOptions | None = None,\n    solver: Solver | None = None,\n) -> Result:',
        "names",
    ),
    "a line of a picture in another blue": ('BLUE: Final = "#0072b2"', 'BLUE: Final = "#0072b3"', "prices"),
    "another word of a message": ('needed, "round it"', 'needed, "round it up"', "bad inputs"),
}


@pytest.mark.parametrize("section", sections())
def test_nothing_has_changed(section, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    if other := other_versions(section):
        pytest.skip(f"recorded with other versions than {', '.join(other)}: record again before the change")
    found = differences(section, sections()[section]())
    assert not found, "\n".join([*found, "if it is meant: python -m tests.referee.recording --write"])


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_change_of_behaviour_is_noticed(mutation, tmp_path):
    old, new, section = MUTATIONS[mutation]
    copy_of_this(tmp_path)
    changed = [path for path in (tmp_path / "lpsched").rglob("*.py") if old in path.read_text(encoding="utf-8")]
    assert len(changed) == 1
    changed[0].write_text(changed[0].read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    done = compared(section, tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "\n+" in done.stdout or "failed" in done.stdout


def test_a_copy_without_a_change_is_the_same(tmp_path):
    copy_of_this(tmp_path)
    for section in {section for _, _, section in MUTATIONS.values()}:
        done = compared(section, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


def copy_of_this(folder):
    """Copy the package and what is compared into a folder."""
    for part in ("lpsched", "tests", "instances"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))


def compared(section, folder):
    """Compare what the package in a folder says with what is recorded there."""
    if other := other_versions(section):
        pytest.skip(f"recorded with other versions than {', '.join(other)}: record again before the change")
    command = ["-m", "tests.referee.recording", section]
    if section == "bad inputs":
        command = ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "tests/bad_inputs"]
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False)
