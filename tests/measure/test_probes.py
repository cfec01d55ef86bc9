"""The two companions: what they do, and that the memory-bound one is in its own way."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from lpsched.measure import probes
from lpsched.measure.meters.machine import physical_cores
from lpsched.measure.probes import BLOCK_BYTES, SHARES, command, compute, last_level_cache_bytes, main, memory
from tests.measure.hostile import wait_until

CLEAR = 7  # more pairs for one side than for the other
LIMIT_SECONDS = 15.0
COPIES, UNCOUNTED = 9, 2  # in a turn; of these, while the cache changes hands
COUNTING = """
import runpy, sys
import numpy as np
path, kind, file = sys.argv[1:]
steps, name = np.memmap(file, np.int64, "r+"), {"memory": "copyto", "compute": "sqrt"}[kind]
whole = getattr(np, name)
def step(*given, **more):
    steps[0] += 1
    return whole(*given, **more)
setattr(np, name, step)
sys.argv = [path, kind, "--work", "1e6"]
runpy.run_path(path, run_name="__main__")
"""


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        pytest.param({"index0": "32K", "index2": "1024K", "index3": "8192K\n"}, 8 * 2**20, id="the-largest"),
        pytest.param({"index0": "none", "index1": "2M"}, 2 * 2**20, id="junk-is-passed-over"),
        pytest.param({}, 32 * 2**20, id="nobody-tells"),
        pytest.param({"index3": "4G"}, 2**29, id="no-more-than-half-a-gigabyte"),
    ],
)
def test_the_last_level_cache_is_the_largest_one(tmp_path, levels, expected):
    for level, size in levels.items():
        (tmp_path / level).mkdir()
        (tmp_path / level / "size").write_text(size)
    assert last_level_cache_bytes(tmp_path) == expected


def test_memory_copies_through_a_quarter_three_eighths_and_a_half_of_the_cache(monkeypatch):
    # 8 MiB of cache: pairs of arrays of 2, 3 and 4 MiB, so 1, 1.5 and 2 MiB are copied at a time,
    # 0.01 x 1.5 GiB = 15.36 MiB of each: 15, 10 and 8 times, in pieces of a quarter of a MiB.
    places = []

    def copy(target, source):
        assert target.nbytes == source.nbytes == 2**18
        places.append((source.ctypes.data, target.ctypes.data))

    monkeypatch.setattr(np, "copyto", copy)
    memory(8 * 2**20, work=0.01)
    counts = (15 * 4, 10 * 6, 8 * 8)
    assert len(places) == sum(counts)
    ends = np.cumsum((0, *counts))
    touched = [len({p for pair in places[a:b] for p in pair}) for a, b in pairwise(ends)]
    assert touched == [8, 12, 16]  # quarters of a MiB
    assert set(places[:4]) == {(source, target) for target, source in places[4:8]}  # and back again


def test_twice_the_work_is_twice_the_roots(monkeypatch):
    calls: list[int] = []
    monkeypatch.setattr(np, "sqrt", lambda _, out: calls.append(out.nbytes))
    compute(0.001)
    compute(0.002)
    assert len(calls) == 200 + 400
    assert max(calls) <= 16_000  # bytes: less than the smallest cache of a core


def test_a_companion_is_a_program_that_tells_its_processor_time():
    ran = subprocess.run([*command("compute"), "--work", "0.01", "--seconds"], capture_output=True, check=True)
    assert ran.stdout == b""
    assert 0 < float(ran.stderr) < 60


def test_an_unknown_companion_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["disk"])
    assert "invalid choice: 'disk'" in capsys.readouterr().err


def test_a_companion_loads_nothing_of_lpsched():
    code = f"import sys, runpy; sys.argv = ['x', 'compute', '--work', '0']; runpy.run_path({probes.__file__!r}, "
    code += "run_name='__main__'); sys.exit(any(name.startswith('lpsched') for name in sys.modules))"
    assert subprocess.run([*command("compute")[:1], "-P", "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_memory_slows_itself_more_than_compute_slows_it(tmp_path):
    """The fact on which classes by slowdown rest, on two real cores, whatever else runs there.

    A copy of the middle size takes a millisecond or two. Those in which both programs had their processors for
    themselves are compared, beside one neighbour and beside the other in turn.
    """
    cores = physical_cores(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("one core only: nothing can run beside anything")
    rows = round(SHARES[1] * last_level_cache_bytes() / 2 / BLOCK_BYTES)
    arrays = [np.ones((rows, BLOCK_BYTES // 8)) for _ in range(2)]
    ratios, ahead, turn = [], 0, 0
    with (
        pinned(cores[0][0]),
        beside("memory", cores[1][0], tmp_path / "memory") as wild,
        beside("compute", cores[1][0], tmp_path / "compute") as calm,
    ):
        until = time.monotonic() + LIMIT_SECONDS
        while abs(ahead) < CLEAR and time.monotonic() < until:
            turn += 1
            order = (wild, calm) if turn % 2 else (calm, wild)
            pair = {each: each.seconds_of_a_copy(arrays, until) for each in order}
            if all(pair.values()):
                ratios.append(pair[wild] / pair[calm])
                ahead += 1 if ratios[-1] > 1 else -1
    told = f"{len(ratios)} pairs, {ahead:+} ahead, ratios {[round(ratio, 3) for ratio in ratios]}"
    if abs(ahead) < CLEAR:
        pytest.skip(f"the machine is too busy to tell: {told}")
    assert ahead > 0, told


@dataclass(eq=False)
class Neighbour:
    """A companion that goes on for ever, stopped but for its turns, and counts its steps, some 0.1 ms each."""

    process: subprocess.Popen[bytes]
    steps: np.ndarray

    def seconds_of_a_copy(self, arrays, until):
        """Return the median time of a copy beside it; `None` if there were too few to trust."""
        found: list[float] = []
        self.process.send_signal(signal.SIGCONT)
        try:
            while len(found) < COPIES and time.monotonic() < until:
                seconds = self._clean_copy(*arrays)
                if seconds is not None:
                    found.append(seconds)
        finally:
            self.process.send_signal(signal.SIGSTOP)
        return statistics.median(found[UNCOUNTED:]) if len(found) == COPIES else None

    def _clean_copy(self, here, there):
        """Copy once; return the time, or `None` if one of the two had to wait for its processor."""
        wall, own, steps = time.perf_counter(), time.thread_time(), [int(self.steps[0])]
        for part in np.array_split(np.arange(len(here)), 4):
            copied = slice(part[0], part[-1] + 1)
            probes.copy(here[copied], there[copied], 1)
            steps.append(int(self.steps[0]))
        own, wall = time.thread_time() - own, time.perf_counter() - wall
        return own if own > 0.9 * wall and all(a < b for a, b in pairwise(steps)) else None


@contextmanager
def beside(kind, processor, file):
    file.write_bytes(bytes(8))
    steps = np.memmap(file, np.int64)
    command = [sys.executable, "-c", COUNTING, probes.__file__, kind, str(file)]
    with subprocess.Popen(command, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}) as process:
        try:
            os.sched_setaffinity(process.pid, {processor})
            wait_until(lambda: int(steps[0]) > 100)
            process.send_signal(signal.SIGSTOP)
            yield Neighbour(process, steps)
        finally:
            process.kill()


@contextmanager
def pinned(processor):
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
