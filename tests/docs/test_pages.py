"""What pages say beside their commands: files, keys, names, links, pictures."""

from __future__ import annotations

import contextlib
import io
import re

import pytest
import yaml

from lpsched.bag.files import read_bag
from lpsched.model.problems import names_of
from lpsched.online.clusters import Clusters, Run
from lpsched.online.files import read_clusters
from lpsched.online.parts import TYPE, UTILITY_COLUMNS, ParallelTasks
from lpsched.online.utility import WaitingCost
from lpsched.studies.methods import method_names
from tests.docs.pages import CLUSTERS, PAGES, README, ROOT
from tests.docs.pages import STUDIES as STUDY
from tests.selection import ALL

SCRIPTS = sorted(path.stem for path in (ROOT / "scripts" / "figures").glob("*.py"))


@pytest.mark.parametrize("page", PAGES.values(), ids=list(PAGES))
def test_every_link_leads_to_a_file(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", page.text)
    assert [target for target in targets if not (ROOT / page.name).parent.joinpath(target).exists()] == []


def test_every_picture_is_on_a_page_and_small():
    linked = {name for page in PAGES.values() for name in re.findall(r"figures/([\w-]+\.(?:svg|png))", page.text)}
    drawn = [path for path in (ROOT / "docs" / "figures").iterdir() if path.suffix in {".svg", ".png"}]
    assert {path.name for path in drawn} <= linked
    of_fronts = re.findall(r"\(\.\./(figures/[^)]*)\)", PAGES["docs/guides/fronts.md"].text)
    assert len(of_fronts) >= 8
    assert all((ROOT / "docs" / name).stat().st_size < 300_000 for name in of_fronts)


def test_the_readme_is_short_and_has_blocks_of_both_kinds():
    assert len(README.text.encode()) <= 8_192
    assert README.runnable()
    assert README.blocks("python")


def test_the_gates_are_those_that_contributors_see_and_the_number_of_tests_is_not_less(request):
    shown = dict(PAGES["CONTRIBUTING.md"].commands)["scripts/test"]
    script = (ROOT / "scripts" / "test").read_text()
    gates = re.findall(r"^== (\w+)$", shown, flags=re.MULTILINE)
    assert gates == ["format", "lint", "tests", "types"]
    assert set(gates) <= set(re.findall(r"^(?:gate|finish) (\w+)", script, flags=re.MULTILINE))
    config = request.config
    if config.args == config.getini("testpaths") and not config.option.keyword and not ALL:  # the quick suite runs
        (number,) = re.findall(r"= (\d+) passed", shown)
        assert 0.9 < int(number) / len(request.session.items) < 1.1  # other ones each day


def test_the_yaml_of_the_file_reference_is_one_and_the_same_table(tmp_path):
    head = "format: lpsched-bag/1\nname: x\nmachine_types:\n  - {name: cpu, count: 2}\n"
    head += "  - {name: gpu, count: 1, p_states: [P0, P1]}\ntask_types:\n  - {name: render, count: 40}\n  - {name: zip, count: 5}\n"
    blocks = [block for block in PAGES["docs/reference/files.md"].blocks("yaml") if block.startswith("seconds")]
    hashes = set()
    for number, block in enumerate(blocks):
        path = tmp_path / f"{number}.yaml"
        path.write_text(head + block)
        hashes.add(read_bag(path).content_hash)
    assert len(blocks) == 2
    assert len(hashes) == 1


def test_the_sites_of_the_file_reference_can_be_read(tmp_path):
    head = "format: lpsched-bag/1\nname: x\ntask_types: [{name: render, count: 4}]\nseconds: {render: {cpu: 1.0}}\n"
    machines = "machine_types: [{name: cpu, count: 2}]\n"
    one, several = [each for each in PAGES["docs/reference/files.md"].blocks("yaml") if not each.startswith("seconds")]
    (tmp_path / "cap.csv").write_text("time,kw\n2024-07-01T00:00Z,5\n2024-07-01T01:00Z,4\n")
    (tmp_path / "one.yaml").write_text(head + machines + one)
    (tmp_path / "several.yaml").write_text(head + several)
    assert read_bag(tmp_path / "one.yaml").site.carbon.usual_step == 3600
    assert [site.pue for site in read_bag(tmp_path / "several.yaml").sites] == [1.1, 1.4]


def test_every_data_set_is_named():
    page = PAGES["docs/guides/data-sets.md"].text
    for path in (ROOT / "instances").glob("*.yaml"):
        named = f"| `{path.name}`" in page or f", `{path.name}`" in page
        assert named == path.name.startswith(("desktop", "front", "utility", "essc", "energy", "clusters"))


def test_every_script_of_a_figure_has_a_row_and_every_row_a_script():
    rows = re.findall(r"^\| [^|]+ \| `([a-z0-9_]+)` \|", PAGES["docs/explanation/figures.md"].text, flags=re.MULTILINE)
    assert sorted(rows) == SCRIPTS


def test_the_clusters_of_the_page_are_what_it_says_of_them(tmp_path):
    path = tmp_path / "lab.yaml"
    path.write_text(CLUSTERS.blocks("yaml")[0], encoding="utf-8")
    clusters = read_clusters(path)
    assert clusters.runs(0, 16) == (Run(4, 200.0, 400.0), Run(1, 300.0, 400.0), Run(1, 500.0, 250.0))
    assert [run is not None and run.nodes for run in clusters.runs(1, 17)] == [False, 2, 2]
    assert clusters.seconds.at(0, 0, 5) == 180.0
    third = clusters.kinds[2]
    assert (clusters.seconds_of(third, 0), clusters.requested_seconds_of(third, 0)) == (400.0, 1600.0)


def test_the_page_on_clusters_tells_keys_columns_rules_and_the_defaults_of_waiting():
    waiting = yaml.safe_load(CLUSTERS.blocks("yaml")[1])["waiting"]
    assert WaitingCost(**waiting) == WaitingCost()
    code = "".join(
        (ROOT / "lpsched" / "online" / "verify" / f"{name}.py").read_text(encoding="utf-8")
        for name in ("clusters", "accounts")
    )
    rules = set(re.findall(r"(?:return|Violation\(|broken =) ?\(?\"([a-z-]+)\"", code))
    assert len(rules) == 15
    columns = (TYPE, *(each.key for each in ParallelTasks.NUMBERS), *UTILITY_COLUMNS)
    assert [
        word for word in ("format", *names_of(Clusters), *columns, *rules) if f"`{word}`" not in CLUSTERS.text
    ] == []


def test_the_python_of_the_page_on_studies_tells_of_the_study_that_ran(folder):
    for number in range(len(STUDY.commands)):
        STUDY.run(number, folder)
    printed = io.StringIO()
    with contextlib.chdir(STUDY.folder_in(folder)), contextlib.redirect_stdout(printed):
        exec(STUDY.blocks("python")[0], {})  # noqa: S102 - our own page's code
    assert printed.getvalue().splitlines() == ["27 0 sweep.runs.jsonl", "balanced 1.5", "['lp', 'balanced', 'min-min']"]


def test_the_page_on_studies_names_every_method_of_ours():
    others = {"max-min", "sufferage", "met", "mct", "olb", "k-percent-best", "min-energy"}  # heuristics
    for kind in ("bag", "facility"):
        missing = [name for name in method_names(kind) if f"`{name}`" not in STUDY.text and name not in others]
        assert missing == []
