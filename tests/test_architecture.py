"""Who may import whom: slices on shared parts, never on each other; checkers on nothing that they check."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "lpsched"
NAMED_FILE = re.compile(r"`([a-z_0-9/]+\.py)`")
SLICES = {"bag", "facility", "online"}
BASE = {"text", "errors", "units", "cancellation", "plugins", "jit", "pool"}
SHARED = BASE | {"model", "lp", "evolve"}
MAY_IMPORT = {
    "text": set(),
    "errors": {"text"},
    "units": {"text"},
    "cancellation": set(),
    "plugins": {"errors"},
    "jit": {"errors"},
    "pool": {"cancellation"},
    "model": BASE,
    "lp": BASE,
    "evolve": BASE | {"model"},
    "io": SHARED,
    **{part: SHARED | {"io"} for part in SLICES},
    "generate": SHARED | {"io"},  # and models of slices, see MODELS
    "traces": SHARED | {"io"},
    "measure": SHARED | {"io"},
    "studies": SHARED | SLICES | {"io", "generate", "traces", "measure", "instances", "auditing"},
    "report": SHARED | {"io", "measure", "studies", "auditing"},  # and models, schedules and results of slices
}
# lpsched.heuristics, lpsched.horizon and lpsched.simulation are public names of what is registered; the other two dispatch on the kind
ANYTHING = {"cli", "serve", "__init__", "__main__", "instances", "auditing", "heuristics", "horizon", "simulation"}
MODELS = {
    "bag": {"model", "schedule", "arrays", "parts"},
    "facility": {"model", "parts", "rules"},
    "online": {"day", "clusters", "parts", "utility", "curves", "schedule"},
}
RESULTS = {
    "bag": {
        "result",
        "breakdown",
        "certificate.claim",
        "compare.result",
        "pricing.result",
        "horizon.result",
        "horizon.curves",
        "horizon.level_curve",
        "horizon.forecasts.replan_result",
    },
    "facility": {"result"},
    "online": {f"result.{name}" for name in ("policy", "groups", "simulation", "comparisons", "what_if")},
}
MODEL_USERS = {"generate": MODELS, "traces": MODELS, "measure": MODELS} | {
    "report": {part: MODELS[part] | RESULTS[part] for part in SLICES}
}
EXCEPTIONS = {  # a log of a schedule is written only if it is valid, with the times that the verifier found
    ("traces.export", "online.verify.clusters"),
    ("traces.export", "online.verify.day"),
}
CHECKERS = ("verify", "certificate")
INNER = ("horizon",)  # folders of a slice that have checkers of their own
CHECKED_BY = {  # all that a verifier or a certificate checker may use of its slice
    "bag": {"model", "parts", "schedule", "horizon.slots", "horizon.schedule"},
    "facility": {"model", "parts"},
    "online": {"day", "clusters", "parts", "utility", "schedule"},
}
MODELS_OF_CHECKS = {"model.violation", "model.fixed_point", "model.fields", "model.table", "model.answers"}
FILES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def imports_of(path: Path) -> list[tuple[str, bool]]:
    """Return every imported module (of lpsched, without its name), and whether a name is imported from it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [name if module_at(name) else str(node.module) for name in names]
    return [(name.removeprefix("lpsched."), name.startswith("lpsched.")) for name in found]


def module_at(name: str) -> bool:
    """Whether a dotted name is a module of lpsched."""
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return name.startswith("lpsched.") and (path.with_suffix(".py").exists() or (path / "__init__.py").exists())


def is_allowed(source: str, target: str) -> bool:
    """Tell by the table whether one module of lpsched may import another."""
    part, to = source.split(".", maxsplit=1)[0], target.split(".", maxsplit=1)[0]
    if to == "serve" and part not in {"serve", "cli"}:
        return False
    if part in ANYTHING or part == to or (source, target) in EXCEPTIONS:
        return True
    if to in SLICES and part in MODEL_USERS:
        return target.removeprefix(f"{to}.") in MODEL_USERS[part][to]
    return to in MAY_IMPORT[part]


def checker_of(source: str) -> list[str]:
    """Return the place of the verifier or certificate checker that a module is of; nothing if it is of none."""
    words = source.split(".")
    depth = 3 if len(words) > 2 and words[1] in INNER else 2
    is_one = words[0] in SLICES and words[depth - 1 : depth] and words[depth - 1] in CHECKERS and words[-1] != "files"
    return words[:depth] if is_one else []


def is_checker(source: str) -> bool:
    return bool(checker_of(source))


def may_check_with(source: str, target: str) -> bool:
    """Tell whether a verifier or a certificate checker may use a module: its like, models, and broken rules."""
    own, words = checker_of(source), target.split(".")
    return (
        target in MODELS_OF_CHECKS | {"errors"}
        or words[: len(own)] == own
        or (words[0] == own[0] and ".".join(words[1:]) in CHECKED_BY[own[0]])
    )


def broken_rules(path: Path) -> list[str]:
    """Return what a file imports although it may not."""
    source, broken = name_of(path), []
    for target, is_ours in imports_of(path):
        if target.split(".")[0] == "models" and not is_ours:
            broken.append(f"{source} imports an independent model")
        if is_ours and not is_allowed(source, target):
            broken.append(f"{source} may not import {target}")
        if is_checker(source) and is_ours and not may_check_with(source, target):
            broken.append(f"{source} checks, and may not import {target}")
        if "certificate" in checker_of(source) and target.split(".")[0] in {"numpy", "highspy", "scipy"}:
            broken.append(f"{source} may not import {target}")
    return broken


def test_every_import_is_in_the_table():
    assert [rule for path in FILES for rule in broken_rules(path)] == []


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("bag.solve", "facility.air"),
        ("online.day", "bag.model"),
        ("lp.solvers", "model.table"),
        ("model.base", "io.documents"),
        ("generate.bags", "bag.solve"),
        ("report.html.bag", "bag.solve"),
        ("report.figures.fronts", "bag.exact_front"),
        ("bag.solve", "studies.plan"),
        ("report.html.bag", "serve.app"),
        ("studies.plan", "serve.workers"),
        ("instances", "serve.requests"),
    ],
)
def test_the_table_forbids_what_it_should(source, target):
    assert not is_allowed(source, target)


@pytest.mark.parametrize("target", ["bag.relaxation", "bag.arrays", "lp.program", "bag.problem", "units", "bag.cost"])
def test_checkers_use_nothing_of_what_they_check(target):
    assert not may_check_with("bag.verify", target)
    assert not may_check_with("bag.certificate.bounds", target)
    assert not may_check_with("bag.horizon.verify", target)
    assert not may_check_with("bag.horizon.certificate", target)


def test_the_checkers_of_horizons_are_checkers_and_share_nothing():
    assert is_checker("bag.horizon.verify")
    assert is_checker("bag.horizon.certificate")
    assert not is_checker("bag.horizon.slots")
    assert not may_check_with("bag.horizon.verify", "bag.horizon.certificate")
    assert not may_check_with("bag.horizon.certificate", "bag.verify")
    assert may_check_with("bag.horizon.certificate", "bag.horizon.slots")


def test_the_table_covers_every_part():
    assert {name_of(path).split(".")[0] for path in FILES} == set(MAY_IMPORT) | ANYTHING


def test_no_module_imports_itself_by_way_of_others():
    # Imports for types and inside functions count too: two files that need each other are one topic, or lack a third.
    edges = {name_of(path): {target for target, is_ours in imports_of(path) if is_ours} for path in FILES}
    while leaves := {name for name, targets in edges.items() if not targets & set(edges)}:
        edges = {name: targets for name, targets in edges.items() if name not in leaves}
    inside = {name: targets & set(edges) for name, targets in edges.items()}
    assert inside == {}


def test_a_file_that_a_comment_names_is_there_and_is_another_one():
    # `name.py` is beside the file that names it or at the top of the package, `folder/name.py` anywhere.
    root = PACKAGE.parent
    there = {path.relative_to(root) for part in ("lpsched", "models", "tests") for path in root.glob(f"{part}/**/*.py")}
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        for named in NAMED_FILE.findall(path.read_text(encoding="utf-8")):
            places = {(folder / named).relative_to(root) for folder in (path.parent, PACKAGE)} & there
            if "/" in named:
                places = {each for each in there if f"/{each}".endswith(f"/{named}")}
            if not places - {path.relative_to(root)}:
                wrong.append((str(path.relative_to(PACKAGE)), named))
    assert wrong == []


def test_no_folder_has_more_than_25_files():
    folders = Counter(path.parent for path in FILES)
    assert {str(folder): count for folder, count in folders.items() if count > 25} == {}


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def all_of(part: str) -> str:
    """Return the statement that imports every module of a slice."""
    names = [name_of(path).removesuffix(".__init__") for path in FILES if path.relative_to(PACKAGE).parts[0] == part]
    return f"import importlib; [importlib.import_module(each) for each in {[f'lpsched.{name}' for name in names]}]"


@pytest.mark.parametrize("part", sorted(SLICES))
def test_importing_one_slice_loads_no_other(part):
    loaded = {name.split(".")[1] for name in loaded_by(all_of(part)) if name.startswith("lpsched.")}
    assert part in loaded
    assert loaded <= {part} | SHARED | {"io"}


def test_a_solve_loads_at_most_90_modules_and_none_of_another_slice():
    tiny = str(PACKAGE.parent / "instances" / "tiny.yaml")
    loaded = loaded_by(f"import lpsched; lpsched.solve(lpsched.read({tiny!r}))")
    ours = {name for name in loaded if name.split(".")[0] == "lpsched"}
    assert len(ours) <= 90
    assert {name.split(".")[1] for name in ours if "." in name} <= {"bag", "io", "lp", "model", "instances"} | BASE


def test_certificates_and_verifiers_load_no_numpy_no_solver_and_no_yaml():
    checkers = [f"lpsched.{name_of(path)}" for path in FILES if is_checker(name_of(path)) and path.stem != "__init__"]
    loaded = loaded_by("import " + ", ".join(checkers))
    assert len(checkers) >= 12
    assert not loaded & {"numpy", "highspy", "scipy", "yaml"}


def test_importing_lpsched_loads_nothing_else():
    assert not loaded_by("import lpsched") & {"numpy", "highspy", "pydantic", "yaml", "typer", "lpsched.errors"}


HEAVY = {"numpy", "highspy", "scipy", "yaml", "pyarrow", "rich.console", "rich.markdown"}


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [(["--help"], HEAVY | {"pydantic"}), (["solve", "--help"], HEAVY)],  # Typer itself loads Pydantic for options
    ids=["of-lpsched", "of-a-command"],
)
def test_help_loads_only_the_command_line(arguments, heavy):
    # Start-up is a promise of 0.4 s; what costs time is what is imported, so that is what is checked.
    quietly = "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()): run"
    loaded = loaded_by(f"from lpsched.cli.main import run; exec({f'{quietly}({arguments})'!r})")
    assert not loaded & heavy
    loaded -= {"lpsched.serve", "lpsched.serve.settings"}  # defaults of options, without any other import
    parts = {name.split(".")[1] for name in loaded if name.startswith("lpsched.")}
    assert parts <= BASE | {"cli"}


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["show", "instances/tiny.yaml"], {"highspy", "numba", "scipy", "pymoo"}),
        (["front", "instances/tiny.yaml"], {"numba", "scipy", "pymoo", "matplotlib"}),
        (["facility", "instances/facility-tiny.yaml", "--method", "greedy"], {"pymoo", "matplotlib"}),
        (["generate", "bag", "--help"], HEAVY),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_a_command_loads_only_the_packages_that_it_needs(arguments, heavy):
    given = [str(PACKAGE.parent / each) if "/" in each else each for each in arguments]
    quietly = "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()): run"
    assert not loaded_by(f"from lpsched.cli.main import run; exec({f'{quietly}({given})'!r})") & heavy


EXAMPLES = {
    "bag": "instances/tiny.yaml",
    "facility": "instances/facility-tiny.yaml",
    "day": "instances/utility-250.yaml",
    "clusters": "instances/clusters-small.yaml",
}
OF_KINDS = [
    *((kind, ["show", example]) for kind, example in EXAMPLES.items()),
    *((kind, ["convert", example, "-o", "x.json"]) for kind, example in EXAMPLES.items()),
    *((kind, ["schema", kind]) for kind in EXAMPLES),
    *((kind, ["verify", example, "nothing.json"]) for kind, example in EXAMPLES.items()),
    ("bag", ["validate", EXAMPLES["bag"], "--heuristic", "min-min"]),
    ("facility", ["validate", EXAMPLES["facility"], "--method", "greedy"]),
    ("facility", ["facility", EXAMPLES["facility"], "--method", "greedy", "--no-bound"]),
    ("day", ["validate", EXAMPLES["day"], "--heuristic", "max-utility"]),
    ("bag", ["certify", EXAMPLES["bag"], "-o", "x.json"]),
    ("clusters", ["simulate", EXAMPLES["clusters"], "--policy", "conservative"]),
]


@pytest.mark.parametrize(("kind", "arguments"), OF_KINDS, ids=[" ".join(each[1][:2]) for each in OF_KINDS])
def test_a_command_on_one_kind_of_instance_loads_no_other_slice(kind, arguments, tmp_path):
    places = {"x.json": tmp_path, "nothing.json": tmp_path}
    given = [
        str((places.get(each) or PACKAGE.parent) / each) if each.endswith(("json", "yaml")) else each
        for each in arguments
    ]
    quietly = "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()): code = run"
    loaded = loaded_by(f"from lpsched.cli.main import run; exec({f'{quietly}({given})'!r}); assert code in (0, 1)")
    own = kind if kind in SLICES else "online"
    assert {name.split(".")[1] for name in loaded if name.startswith("lpsched.")} & SLICES == {own}


# Calls that run what they are given, or unpickle it; each use is of what this process or its own processes made.
RUNS_CODE = {"eval", "exec", "compile", "__import__", "breakpoint", "input"}
LOADERS = {
    **dict.fromkeys(("pickle", "_pickle", "cloudpickle", "dill", "marshal", "shelve", "joblib"), "any"),
    "yaml": {"load", "load_all", "full_load", "unsafe_load", "full_load_all", "unsafe_load_all"},
    "os": {"system", "popen"},
    "subprocess": {"getoutput", "getstatusoutput"},
    "runpy": "any",
    "code": "any",
}
ALLOWED_LOADERS = {
    "pool.py": {"pickle"},  # between this process and those that it started, by a pipe of their own
    "online/compare/simulations.py": {"pickle"},  # packs only, to see whether a function can be sent to those
    "studies/dask_executor.py": {"pickle"},  # instances for workers of the user; SECURITY.md
}


def dangers(path: Path, tree: ast.AST) -> list[str]:
    """Return the calls in a module that could run code from a file."""
    place = path.relative_to(PACKAGE).as_posix()
    found = []
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
            names = [name for name in names if LOADERS.get(name) == "any"]
        elif isinstance(node, ast.Call):
            names = dangerous_calls(node)
        found += [
            f"{place}:{getattr(node, 'lineno', 0)} {name}"
            for name in names
            if name not in ALLOWED_LOADERS.get(place, ())
        ]
    return found


def dangerous_calls(call: ast.Call) -> list[str]:
    """Return what is dangerous about a call: the function, or an argument."""
    match call.func:
        case ast.Name(id=name) if name in RUNS_CODE:
            return [name]
        case ast.Attribute(value=ast.Name(id=module), attr=name) if name in LOADERS.get(module, ()):
            return [f"{module}.{name}"]
    return [
        each.arg
        for each in call.keywords
        if each.arg in {"allow_pickle", "shell"} and getattr(each.value, "value", True) is not False
    ]


def test_no_file_is_run_or_unpickled():
    found = [each for path in FILES for each in dangers(path, ast.parse(path.read_text(encoding="utf-8")))]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "eval(text)",
        "exec(text)",
        "import pickle",
        "from marshal import loads",
        "yaml.load(text, yaml.Loader)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=given)",
        "os.system(text)",
        "subprocess.run(text, shell=True)",
    ],
)
def test_what_could_run_a_file_is_noticed(code):
    assert len(dangers(PACKAGE / "io" / "x.py", ast.parse(code))) == 1
