"""Published measurements: the files in `tests/data` have their layouts, and a few rows of invented numbers."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from pathlib import Path

import pytest

import lpsched
from lpsched.errors import InstanceError, LpschedError
from lpsched.facility.files import read_facility
from lpsched.facility.model import Facility
from lpsched.instances import write
from lpsched.traces.published import SharedGpus, read_gavel, read_runs
from lpsched.traces.runs import RunChoice, bag_of_runs
from tests.traces.test_runs import changed

DATA = Path(__file__).parent.parent / "data"
ZEUS, VEED, MLPERF, GAVEL = (
    DATA / name for name in ("summary_power_toy.csv", "avc-c5_large.csv", "mlperf.csv", "gavel.json")
)
A, B = "invented A (batch size 16)", "invented B"
OFFLINE = {"version": "v3.1", "SystemType": "datacenter"}


def bag_of(*files, source, where=None, **choice):
    return bag_of_runs("b", read_runs(files, source, where=where), RunChoice(**choice))


def rejected(call, *arguments, **options):
    """Return the only issue for which something is rejected."""
    with pytest.raises(InstanceError) as error:
        call(*arguments, **options)
    (issue,) = error.value.issues
    assert issue.got
    assert issue.expected
    assert issue.hint
    return str(issue)


def test_power_limits_are_p_states_from_the_highest_down():
    bag = bag_of(ZEUS, source="zeus")[0].bag
    (gpu,) = bag.machine_types
    assert (gpu.name, gpu.p_states) == ("toy", ("150W", "100W"))
    assert [each.name for each in bag.task_types] == ["lenet-digits-sgd-64", "lenet-digits-sgd-128"]
    assert [bag.seconds.row(i) for i in range(2)] == [[20, 30], [18, 25]]
    assert [bag.watts.row(i) for i in range(2)] == [[120, 90], [125, 95]]
    assert bag.seconds_cov is None  # one measurement a cell


def test_configurations_that_were_not_measured_everywhere_can_be_left_out(tmp_path):
    other = tmp_path / "summary_power_other.csv.gz"
    header, first, *_ = ZEUS.read_bytes().splitlines(keepends=True)
    other.write_bytes(gzip.compress(header + first))
    logged, remarks = bag_of(ZEUS, other, source="zeus", complete=True)
    assert [machine.name for machine in logged.bag.machine_types] == ["toy", "other"]
    assert logged.bag.seconds.row(0) == [20, 30, 30]
    assert remarks == ("1 task type without a run in every column left out",)


def test_segments_are_runs_and_the_file_says_codec_and_instance(tmp_path):
    bag = bag_of(VEED, source="veed", tasks_each=2)[0].bag
    assert [each.name for each in bag.task_types] == ["avc-360p", "avc-720p"]
    assert [each.name for each in bag.machine_types] == ["c5.large"]
    assert [bag.seconds[i, 0] for i in range(2)] == [15, 50]
    # 0.00002 + 0.00005 kWh = 252 J in 30 s; 0.0001 + 0.0002 kWh = 1,080 J in 100 s
    assert [bag.watts[i, 0] for i in range(2)] == [pytest.approx(8.4), pytest.approx(10.8)]
    assert bag.seconds_cov[0, 0] == pytest.approx(50**0.5 / 15)  # 5^2 + 5^2, over 2 - 1
    path = tmp_path / "hevc" / "m5_2xlarge" / "data.csv"  # as in the repository
    path.parent.mkdir(parents=True)
    shutil.copy(VEED, path)
    both = bag_of(VEED, path, source="veed")[0].bag
    assert [each.name for each in both.machine_types] == ["c5.large", "m5.2xlarge"]
    assert [each.name for each in both.task_types] == ["avc-360p", "avc-720p", "hevc-360p", "hevc-720p"]


def test_a_task_of_mlperf_is_a_power_of_ten_of_samples():
    logged, remarks = bag_of(MLPERF, source="mlperf", where=OFFLINE)
    bag = logged.bag
    # alpha: 10 s of 5,000/s are 50,000 samples, so 100,000: 20 s, and 250 s at 400/s. beta: 10 s of 0.002/s are less
    # than a sample: 1, in 500 s. gamma: 10 s of 1,000/s are 10,000 samples.
    assert [each.name for each in bag.task_types] == ["alpha x 100k", "beta x 1", "gamma x 10k"]
    assert [each.name for each in bag.machine_types] == ["big", "small"]
    assert [bag.seconds.row(i) for i in range(3)] == [[20, 250], [500, None], [None, 10]]
    assert [bag.watts.row(i) for i in range(3)] == [[1000, 500], [900, None], [None, 450]]
    assert logged.cells.tasks.tolist() == [[1, 1], [1, 0], [0, 1]]  # the row that is there twice is one result
    assert remarks == ("2 cells of 6 without a run: the task cannot run there",)


def test_rounds_scenarios_and_units_are_not_mixed(tmp_path):
    for where in ({}, {"version": "v3.1"}, {"version": "v4.1"}):
        issue = rejected(read_runs, [MLPERF], "mlperf", where=where)
        assert "expected one round, scenario and unit, in samples per second with watts in the same row" in issue
        assert "choose, such as --where version=v3.1,SystemType=datacenter,Scenario=Offline" in issue
    assert "got results of 2 kinds: v3.1, datacenter, Offline, Samples/s, Watts; v3.1, edge, SingleS" in rejected(
        read_runs, [MLPERF], "mlperf", where={"version": "v3.1"}
    )
    assert "got no runs" in rejected(read_runs, [MLPERF], "mlperf", where={"version": "v9"})
    twice = tmp_path / "mlperf.csv"
    twice.write_text(MLPERF.read_text().replace("small,alpha", "big,alpha"))
    # One file's fastest system does not size the tasks of another's, and rounds in two files would mix.
    several = rejected(read_runs, [MLPERF, twice], "mlperf", where=OFFLINE)
    assert several == "files: got 2 files, expected one file of results, which are compared; join them"
    issue = rejected(read_runs, [twice], "mlperf", where=OFFLINE)
    assert issue == "line 4: got two results of 'alpha' on 'big', expected one; choose with --where"


@pytest.mark.parametrize(
    ("source", "file", "name", "said"),
    [
        (
            "zeus",
            ZEUS,
            "toy.csv",
            "the file: got the name 'toy.csv', expected summary_power_GPU.csv: the GPU is not in",
        ),
        ("veed", VEED, "c5.csv", "the file: got the name 'c5.csv', expected CODEC-INSTANCE.csv or CODEC/INSTANCE/data"),
        ("zeus", VEED, "summary_power_x.csv", "line 1: got no column 'network', expected the columns network, dataset"),
        ("veed", ZEUS, "avc-c5_large.csv", "line 1: got no column 'height', expected the columns height, duration [s]"),
        ("mlperf", ZEUS, "a.csv", "line 1: got no column 'version', expected the columns version, SystemType"),
    ],
)
def test_other_files_are_rejected(tmp_path, source, file, name, said):
    shutil.copy(file, tmp_path / name)
    assert said in rejected(read_runs, [tmp_path / name], source)


@pytest.mark.parametrize(
    ("source", "file", "change", "said"),
    [
        ("zeus", ZEUS, ("100,30,90", "100,0,90"), "line 2, time_per_epoch: got '0', expected a number above 0"),
        ("zeus", ZEUS, ("100,30,90", "100,30,-9"), "line 2, average_power: got '-9', expected a number from 0 up"),
        ("zeus", ZEUS, ("100,30,90", "0.5,30,90"), "line 2, power_limit: got '0.5', expected a number from 1 to"),
        (
            "zeus",
            ZEUS,
            ("digits,lenet,64,sgd,100", f"d,{'l' * 199},64,sgd,100"),
            "line 2, network: got a name of 208 ch",
        ),
        ("veed", VEED, ("20,98.0", ",98.0"), "line 3, duration [s]: got an empty cell"),
        ("mlperf", MLPERF, ("small,alpha,400", "small,alpha,x"), "line 4, Result: got 'x'"),
        ("mlperf", MLPERF, ("small,gamma", ",gamma"), "line 6, Platform: got an empty name"),
        (
            "mlperf",
            MLPERF,
            ("1000,Samples", "1e308,Samples"),
            "line 6, Result: got '1e308', expected a number from 1e-30",
        ),
    ],
)
def test_bad_cells_are_rejected_with_their_line(tmp_path, source, file, change, said):
    path = tmp_path / file.name
    old, new = change
    assert old in file.read_text()
    path.write_text(file.read_text().replace(old, new))
    assert said in rejected(read_runs, [path], source, where=OFFLINE if source == "mlperf" else None)


@pytest.fixture
def gavel(tmp_path):
    """Return a function that reads throughputs, given as an object, text or bytes."""

    def read(content, **choice):
        path = tmp_path / "throughputs.json"
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_gavel(path, "shared", SharedGpus(**choice))

    return read


def test_jobs_that_share_gpus_are_a_facility(gavel):
    made = gavel(gzip.compress(GAVEL.read_bytes()), count=4)
    assert isinstance(made, Facility)
    # C does not fit at all, and the second key of A takes two GPUs.
    assert [each.name for each in made.task_types] == [A, B]
    assert [made.speeds.row(i) for i in range(2)] == [[4], [2]]
    # Twice what 4 GPUs could do, half of it for each: 2 x 4 x 4 / 2 and 2 x 4 x 2 / 2.
    assert [each.arrivals_per_second for each in made.task_types] == [16, 8]
    assert [each.reward for each in made.task_types] == [0.25, 0.5]  # the seconds of a step
    # A: 4/3 - 1 beside A, 4/2 - 1 beside B. B: 2/1 - 1 beside A, and two of B do not fit.
    assert [list(map(float, made.degradation.row(i))) for i in range(2)] == [[pytest.approx(1 / 3), 1], [1, 1000]]
    assert made.node_types[0].overhead_watts == 40
    assert [made.watts.row(i) for i in range(2)] == [[105], [105]]  # (250 - 40) / 2 for each place


def test_the_shared_gpus_do_what_paper_says(gavel):
    # Two of A do 6 steps a second, so 16 arriving ones keep 16/6 GPUs busy and earn 16 x 0.25 = 4; the other 4/3 GPUs
    # do B alone, 2 steps a second of 0.5. A beside B would do 2/4 + 1/2 = 1, as much as B alone.
    result = lpsched.facility(gavel(GAVEL.read_bytes(), count=4))
    assert result.reward_rate == pytest.approx(4 + 4 / 3, rel=1e-3)
    assert result.bound == pytest.approx(4 + 4 / 3, rel=1e-3)


def test_a_speed_above_that_alone_is_noise_and_no_gain(gavel):
    made = gavel(GAVEL.read_bytes(), gpu="k80", count=1)
    assert float(made.degradation.row(0)[0]) == 0  # 1 / 1.25 - 1 = -0.2


def test_a_pair_that_was_not_measured_counts_as_one_that_does_not_fit(gavel):
    made = gavel({"v100": {"('a', 1)": {"null": 2.0}}})
    assert float(made.degradation.row(0)[0]) == 1000


def test_assumptions_are_options_and_are_said(gavel, tmp_path):
    made = gavel(GAVEL.read_bytes(), count=2, load=0.5, idle_watts=30.0, full_watts=100.0)
    assert [each.arrivals_per_second for each in made.task_types] == [2, 1]  # 0.5 x 2 x 4 / 2 and 0.5 x 2 x 2 / 2
    assert (made.node_types[0].overhead_watts, made.watts.row(0)) == (30, [35])
    assert made.power_cap_watts == 2 * 100 * 1.5
    assert (
        "Assumed, not measured: 30 W of an idle GPU, 100 W of one with two jobs, the room, and arrivals of 0.5 times"
        in (made.description)
    )
    write(made, tmp_path / "made.yaml")
    assert read_facility(tmp_path / "made.yaml") == made


def one(speed, shared=None):
    return {"v100": {"('a', 1)": {"null": speed} | ({} if shared is None else {"('a', 1)": shared})}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the file: got an empty file"),
        (b"\x1f\x8bjunk", "the file: got broken gzip"),
        (bytes(range(256)), "got bytes that are not UTF-8 text"),
        ("{}\0", "got a NUL character"),
        ('{"v100": ', "the file: got no JSON ('Expecting value: line 1"),
        ("[" * 100_000 + "]" * 100_000, "the file: got no JSON ('maximum recursion depth"),
        ('{"v100":' * 50_000 + "1" + "}" * 50_000, "the file: got no JSON"),
        ('{"v100": {"(\'a\', 1)": {"null": ' + "9" * 5000 + "}}}", "got another layout ('the throughput inf')"),
        ([1, 2], "the file: got another layout, expected GPU: {job: "),
        (None, "got another layout"),
        ("{}", "got another layout"),
        ({"v100": [1]}, "got another layout"),
        ({"v100": {"a": {"null": 1}}}, "got no job on one v100, expected jobs such as ('ResNet-18', 1)"),
        ({"v100": {"('a', 2)": {"null": 1}}}, "got no job on one v100"),
        ({"v100": {"('a', 1)": {}}}, "got another layout (\"'null'\")"),
        ({"v100": {"('a', 1)": 3}}, "got another layout"),
        ({"v100": {"('a', 1)": [3]}}, "got another layout"),
        ({"V100": {}, "k80": {}}, "got no GPU 'v100', expected one of V100, k80; did you mean 'V100'?"),
        ({"a": {}}, "got no GPU 'v100', expected one of a; choose with --gpu"),
        (json.dumps(one(float("nan"))), "got another layout ('the throughput nan')"),
        (json.dumps(one(float("inf"))), "got another layout ('the throughput inf')"),
        (one(-1), "got another layout ('the throughput -1')"),
        (one(speed=True), "got another layout ('the throughput True')"),
        (one("x"), "got another layout ('the throughput x')"),
        (one(10**400), "got another layout ('the throughput inf')"),
        (one(1, []), "got another layout ('list index out of range')"),
        (one(1, 3), "got another layout"),
        (one(1, [None, 1]), "got another layout ('the throughput None')"),
        (
            {"v100": {f"('a{number}', 1)": {"null": 1} for number in range(1001)}},
            "got 1,001 jobs on one v100, expected at most 1,000",
        ),
    ],
)
def test_what_is_no_file_of_gavel_is_rejected(gavel, content, said):
    if not isinstance(content, str | bytes):
        content = json.dumps(content)
    assert said in rejected(gavel, content)


def test_names_and_speeds_that_no_facility_has_are_rejected(gavel):
    for job, speed in (("a" * 201, 1.0), ("a\x07", 1.0), ("a", 1e300), ("a", 1e-300)):
        with pytest.raises(InstanceError, match=r"name: got|speeds"):
            gavel({"v100": {f"('{job}', 1)": {"null": speed}}})


@pytest.mark.parametrize("file", [ZEUS, VEED, MLPERF, GAVEL], ids=lambda path: path.stem)
def test_changed_files_are_read_or_rejected_and_never_break_anything(tmp_path, file):
    rng = random.Random(file.name)  # noqa: S311 - for tests
    source = {ZEUS: "zeus", VEED: "veed", MLPERF: "mlperf"}.get(file)
    path, read = tmp_path / file.name, 0
    for _ in range(100):
        path.write_bytes(changed(file.read_bytes(), rng))
        try:
            if source is None:
                read_gavel(path, "shared", SharedGpus(count=2))
            else:
                bag_of(path, source=source, where=OFFLINE if source == "mlperf" else None)
        except LpschedError:
            continue
        read += 1
    assert 0 < read < 100  # some of both
