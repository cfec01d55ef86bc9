from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError, OutputError
from lpsched.measure.bench import Application, Bench, EnergyChoice
from lpsched.measure.evidence import Sample, Setting
from lpsched.measure.files import (
    SampleLines,
    SamplesOnFile,
    _from_line,
    _to_line,
    head_from,
    head_of,
    read_samples,
    samples_beside,
)
from lpsched.measure.measurements import MeasuredMachine, Meters
from lpsched.model.fields import FrozenDict
from tests.measured import sample_of_seed

BENCH = Bench(
    name="night",
    machine_type="node",
    applications=(
        Application("zip", ("xz", "-k", "a b"), folder="work", environment=FrozenDict({"T": "1"})),
        Application("sort", ("sort", "ü")),
    ),
    cores=2,
)
MACHINE = MeasuredMachine("Some CPU", "Linux 6.1", ((0,), (2, 3)))
METERS = Meters("clock", energy="command watts.sh", energy_covers="the node")


def head(bench=BENCH, machine=MACHINE, meters=METERS, **more):
    return head_of(bench, machine=machine, meters=meters, **({"lpsched": "1"} | more))


def changed(**changes):
    first, *rest = BENCH.applications
    return BENCH.model_copy(update={"applications": (first.model_copy(update=changes), *rest)})


SAMPLES = (
    Sample(Setting("zip"), 0.1 + 0.2, 1e-7, 3.0, 1e12, 4),
    Sample(Setting("sort", ("sort", "zip"), 1700.5, batch=True), 2.0),
    Sample(Setting("zip", ("sort",)), None, failure="ended with 1: ü\n\x1b[31m"),
)


@pytest.mark.parametrize("began", [10000.0, None, ["x"], "x" * 100_001])
def test_a_head_must_say_in_words_when_it_began(tmp_path, began):
    path = tmp_path / "node.samples.jsonl"
    path.write_text(json.dumps(head() | {"began": began}) + "\n")
    with pytest.raises(InstanceError, match="without a text as began"):
        read_samples(path)


def test_samples_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "node.samples.jsonl"
    with SampleLines(path, head(), resume=False) as lines:
        assert (lines.samples, lines.idle_watts_before) == ((), None)
        lines.add_idle_before(41.25)
        assert lines.idle_watts_before == 41.25
        for sample in SAMPLES:
            lines.add(sample)
    assert read_samples(path) == SamplesOnFile(head(), SAMPLES, 41.25)
    assert "null" not in path.read_text()


@settings(deadline=None)
@given(st.integers(0, 2**64))
def test_any_sample_survives_its_line(seed):
    sample = sample_of_seed(seed)
    assert _from_line(json.loads(json.dumps(_to_line(sample)))) == sample


def test_words_that_are_no_text_survive_too(tmp_path):
    path = tmp_path / "a.jsonl"
    sample = Sample(Setting("zip"), None, failure=b"no file \xff".decode(errors="surrogateescape"))
    with SampleLines(path, head(), resume=False) as lines:
        lines.add(sample)
    assert read_samples(path).samples == (sample,)


def test_the_head_survives_its_line():
    assert head_from(json.loads(json.dumps(head()))) == head()


def test_who_goes_on_gets_what_is_there_and_adds_to_it(tmp_path):
    path = tmp_path / "a.jsonl"
    with SampleLines(path, head(began="monday"), resume=True) as lines:  # nothing is there yet
        lines.add_idle_before(40.0)
        lines.add(SAMPLES[0])
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"format": "lpsched-sa')  # killed while writing
    with SampleLines(path, head(began="tuesday"), resume=True) as lines:
        assert (lines.samples, lines.idle_watts_before) == (SAMPLES[:1], 40.0)
        assert lines.head["began"] == "monday"
        assert path.read_bytes() == whole  # nothing is written because somebody looks
        lines.add(SAMPLES[1])
    assert read_samples(path).samples == SAMPLES[:2]


def test_samples_that_are_there_are_not_written_over(tmp_path):
    path = tmp_path / "a.jsonl"
    SampleLines(path, head(), resume=False).__exit__(None, None, None)
    with pytest.raises(OutputError, match="exists; choose another name or add --resume or --force"):
        SampleLines(path, head(), resume=False)


def test_a_second_bench_is_refused_while_the_first_measures(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "a.jsonl"
    with (
        SampleLines(path, head(), resume=False),
        pytest.raises(OutputError, match="another measure adds to it; wait for it, or choose"),
    ):
        SampleLines(path, head(), resume=True)


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        (head(changed(command=("xz", "-9"))), r'command of zip of applications was \["xz", "-k", "a b"\], is'),
        (head(changed(folder=None)), "folder of zip of applications was 'work', is nothing;"),
        (head(changed(environment=FrozenDict({"T": "2"}))), "T of environment of zip of applications was '1', is '2'"),
        (
            head(BENCH.model_copy(update={"energy": EnergyChoice(command=("watts.sh",))})),
            r"kind of energy was 'auto', is 'command'; command of energy was \[\], is \[\"watts.sh\"\]",
        ),
        (head(BENCH.model_copy(update={"counters": "none"})), "counters was 'auto', is 'none'"),
        (head(machine=MACHINE.model_copy(update={"processor": "B"})), "processor of machine was 'Some CPU', is 'B'"),
        (
            head(machine=MACHINE.model_copy(update={"cores": ((0,), (1,))})),
            r"cores of machine was \[\[0\], \[2, 3\]\], is",
        ),
        (
            head(meters=METERS.model_copy(update={"energy": None})),
            "energy of meters was 'command watts.sh', is nothing",
        ),
        (head(meters=METERS.model_copy(update={"counters": "perf"})), "counters of meters was nothing, is 'perf'"),
        (head(lpsched="2"), "lpsched was '1', is '2'"),
    ],
)
def test_samples_that_rest_on_something_else_are_refused(tmp_path, now, sentence):
    path = tmp_path / "a.jsonl"
    SampleLines(path, head(), resume=False).__exit__(None, None, None)
    whole = path.read_bytes()
    with pytest.raises(OutputError, match=f"its samples rest on something else: {sentence}") as refused:
        SampleLines(path, now, resume=True)
    assert str(refused.value).endswith("; choose another output, or remove the samples and measure again")
    assert path.read_bytes() == whole
    SampleLines(path, head(), resume=True).__exit__(None, None, None)  # and the lock was let go


def test_what_a_setting_does_not_rest_on_may_change(tmp_path):
    path = tmp_path / "a.jsonl"
    with SampleLines(path, head(), resume=False) as lines:
        lines.add(SAMPLES[0])
    changes = {"name": "other", "frequencies_mhz": (3400.0,), "pairs": (), "seed": 3, "limit_seconds": 9.0}
    more = BENCH.model_copy(update=changes)
    with SampleLines(
        path, head(more, meters=METERS.model_copy(update={"frequencies": "cpufreq"})), resume=True
    ) as lines:
        assert lines.samples == SAMPLES[:1]


def test_an_application_may_come_and_go_but_not_come_back_as_another(tmp_path):
    path = tmp_path / "a.jsonl"
    new = Application("new", ("true",))
    SampleLines(path, head(), resume=False).__exit__(None, None, None)
    added = head(BENCH.model_copy(update={"applications": (*BENCH.applications, new)}))
    with SampleLines(path, added, resume=True) as lines:
        lines.add(Sample(Setting("new"), 1.0))
    with SampleLines(
        path, head(BENCH.model_copy(update={"applications": BENCH.applications[:1]})), resume=True
    ) as lines:
        assert set(lines.head["applications"]) == {"zip", "sort", "new"}
        assert len(lines.samples) == 1
    other = head(BENCH.model_copy(update={"applications": (Application("new", ("false",)),)}))
    with pytest.raises(OutputError, match=r"command of new of applications was \[\"true\"\], is"):
        SampleLines(path, other, resume=True)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "line 2: got a line that is no JSON, expected one sample as JSON"),
        ('{"format": "lpsched-run/1"}', r"line 2, format: got the text 'lpsched-run/1', expected"),
        ('{"format": "lpsched-sample/1"}', "line 2: got a sample without 'application', expected all keys"),
        ('{"format": "lpsched-sample/1", "application": "a"}', "line 2: got a sample without 'seconds'"),
        (
            '{"format": "lpsched-sample/1", "application": "a", "seconds": NaN}',
            "without a number that makes sense as seconds",
        ),
        ('{"format": "lpsched-sample/1", "application": "a", "seconds": -1}', "makes sense as seconds"),
        ('{"format": "lpsched-sample/1", "application": "a", "seconds": true}', "makes sense as seconds"),
        ('{"format": "lpsched-sample/1", "application": "a", "seconds": 1' + "0" * 400 + "}", "makes sense as seconds"),
        ('{"format": "lpsched-sample/1", "application": "a", "seconds": 1, "beside": 3}', "line 2: got"),
        ('{"format": "lpsched-idle/1", "watts": "much"}', "makes sense as watts"),
        ('{"format": "lpsched-bench-run/1", "machine": 3}', "line 2: got a sample without"),
        (
            '{"format": "lpsched-bench-run/1", "machine": ' + '{"a":' * 900 + "1" + "}" * 901,
            "line 2: got a line that is no JSON",  # of 60 levels at most
        ),
    ],
)
def test_a_line_that_is_no_sample_is_told_with_its_number(tmp_path, line, sentence):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(head()) + f"\n{line}\n")
    with pytest.raises(InstanceError, match=sentence):
        read_samples(path)
    with pytest.raises(InstanceError, match=sentence):
        SampleLines(path, head(), resume=True)


def test_samples_without_a_head_are_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"format": "lpsched-sample/1", "application": "a", "seconds": 1.0}\n')
    with pytest.raises(InstanceError, match="line 1: got samples of no bench, expected a first line with"):
        read_samples(path)
    path.write_text("")
    with pytest.raises(InstanceError, match="got no line, expected samples of a bench"):
        read_samples(path)


def test_samples_go_beside_the_measurements():
    assert samples_beside("/x/node.a.yaml").as_posix() == "/x/node.a.samples.jsonl"
