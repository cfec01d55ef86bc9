"""perf stat: what its file says, what it hides, and programs that behave like it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from lpsched.measure.meters.machine import EVENTS, Counts, PerfCounters, crash_of, find_counters
from lpsched.measure.meters.power import ask

if TYPE_CHECKING:
    from pathlib import Path

STARTED = "# started on Mon Nov 16 05:38:47 2026\n\n"
GOOD = STARTED + (
    "2500000000;ns;duration_time;2500000000;100.00;;\n"
    "123456;;cache-misses:u;2400000000;100.00;;\n"
    "9876543210;;instructions:u;2400000000;100.00;1.52;insn per cycle\n"
)
COUNTERS = PerfCounters("perf", EVENTS[0], ("cache-misses", "instructions"))


def read(tmp_path: Path, text: str, errors: str = "") -> Counts:
    (tmp_path / "counts").write_text(text)
    return COUNTERS.read(tmp_path / "counts", ("./solver", "-n"), errors)


def test_counts_and_the_time_of_the_program_are_read(tmp_path):
    assert read(tmp_path, GOOD) == Counts(misses=123456.0, instructions=9876543210.0, seconds=2.5)


def test_nothing_is_counted_where_nothing_was_written(tmp_path):
    assert COUNTERS.read(tmp_path / "no-such-file", ("a",)) == Counts()
    assert read(tmp_path, STARTED) == Counts()


@pytest.mark.parametrize("value", ["<not supported>", "<not counted>", "", "1.06"])
def test_what_is_no_count_is_absent(tmp_path, value):
    text = GOOD.replace("123456;", f"{value};")
    assert read(tmp_path, text) == Counts(misses=None, instructions=9876543210.0, seconds=2.5)


@pytest.mark.parametrize("percent", ["57.31", "57,31", "98.99"])
def test_what_perf_extrapolated_is_absent(tmp_path, percent):
    text = GOOD.replace("cache-misses:u;2400000000;100.00", f"cache-misses:u;2400000000;{percent}")
    assert read(tmp_path, text).misses is None


def test_a_language_with_decimal_commas_changes_nothing(tmp_path):
    assert read(tmp_path, GOOD.replace("100.00", "100,00")).misses == 123456.0


def test_both_kinds_of_cores_are_added_up(tmp_path):
    text = (
        "1000;;cpu_core/cache-misses/;9;100.00;;\n<not counted>;;cpu_atom/cache-misses/;0;0.00;;\n"
        "5000;;cpu_core/instructions/u;9;100.00;;\n300;;cpu_atom/instructions/u;9;100.00;;\n"
    )
    assert read(tmp_path, text) == Counts(misses=1000.0, instructions=5300.0)


def test_events_with_longer_names_are_others(tmp_path):
    text = GOOD + "77;;L1-dcache-cache-misses;9;100.00;;\n88;;cache-misses-all:u;9;100.00;;\n"
    assert read(tmp_path, text).misses == 123456.0


def test_a_crash_that_perf_hides_is_found_in_its_last_words(tmp_path):
    assert read(tmp_path, GOOD, "step 1\n./solver: Segmentation fault\n").crash == "was ended by SIGSEGV"
    assert crash_of("/bin/a", "/bin/a: Killed\n") == "was ended by SIGKILL"


def test_how_a_program_ended_at_once_is_not_known(tmp_path):
    # perf that was not yet waiting for it ends with 0, whatever the program did.
    counts = read(tmp_path, GOOD.replace("2500000000;ns", "2804676;ns"))
    assert counts.crash == (
        "ended after 0.0028 s, too early for perf to see how: measure what takes longer, or count nothing"
        " (counters: none)"
    )
    assert read(tmp_path, GOOD.replace("2500000000;ns", "20000000;ns")).crash is None


@pytest.mark.parametrize(
    "errors",
    [
        pytest.param("", id="silent"),
        pytest.param("./solver: file not found\n", id="its-own-words"),
        pytest.param("./other: Segmentation fault\n", id="of-another"),
        pytest.param("./solver: Killed\n" + "step\n" * 9, id="long-before-its-end"),
    ],
)
def test_a_program_that_complains_did_not_crash(errors):
    assert crash_of("./solver", errors) is None


def test_the_command_counts_and_runs_the_program(tmp_path):
    assert COUNTERS.wrap(("./solver", "-n"), tmp_path / "c") == (
        *("perf", "stat", "-x", ";", "-o", str(tmp_path / "c")),
        *("-e", "duration_time,cache-misses,instructions", "--", "./solver", "-n"),
    )


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
@pytest.mark.parametrize(
    ("script", "crash"), [("sleep 0.2; kill -KILL $$", "was ended by SIGKILL"), ("sleep 0.1", None)]
)
def test_the_perf_of_this_machine_times_a_program_and_its_crash_is_seen(tmp_path, script, crash):
    counters = PerfCounters("perf", EVENTS[0], ())
    command = ("/bin/sh", "-c", script)
    answer = ask(counters.wrap(command, tmp_path / "counts"), limit_seconds=10.0, plain=False)
    counts = counters.read(tmp_path / "counts", command, answer.errors)
    if answer.failure is not None:
        pytest.skip(f"perf stat does not work here: {answer.failure}")
    assert counts.crash == crash
    assert 0 < counts.seconds < answer.end - answer.begin  # without the start of perf


class TestHowItIsTried:
    """With programs that behave like some perf or other: $5 is the file, $7 the events, $8 is `--`."""

    def perf(self, tmp_path: Path, script: str, text: str = GOOD) -> str:
        (tmp_path / "text").write_text(text)
        path = tmp_path / "perf"
        path.write_text(f"#!/bin/sh\nfile=$5 events=$7 text={tmp_path}/text\nshift 8\n{script}\n")
        path.chmod(0o755)
        return str(path)

    OLD_WORDS = '"$@"; [ $? = 137 ] && echo "$1: Killed" >&2; cp $text $file'

    def test_one_that_counts_is_taken_with_the_names_that_it_gives(self, tmp_path):
        perf = self.perf(tmp_path, self.OLD_WORDS)
        found = find_counters(perf)
        assert found == PerfCounters(perf, EVENTS[0], ("cache-misses:u", "instructions:u"))
        assert found.name == "perf stat cache-misses:u / instructions:u"

    def test_what_it_is_asked_runs_through_it(self, tmp_path):
        found = find_counters(self.perf(tmp_path, self.OLD_WORDS))
        answer = ask(found.wrap(("echo", "done"), tmp_path / "counts"), limit_seconds=10.0)
        assert answer.output == "done\n"
        assert found.read(tmp_path / "counts", ("echo",), answer.errors).misses == 123456.0

    def test_one_too_old_to_time_a_program_is_refused(self, tmp_path):
        old = 'case $events in *duration*) echo "event syntax error" >&2; exit 129;; esac\n' + self.OLD_WORDS
        why = find_counters(self.perf(tmp_path, old))
        assert why.startswith("perf stat does not work, it ended with exit code 129")
        assert why.endswith(": event syntax error")

    def test_one_that_does_not_time_a_program_is_refused(self, tmp_path):
        text = GOOD.replace("2500000000;ns", "<not supported>;ns")
        assert find_counters(self.perf(tmp_path, self.OLD_WORDS, text)).startswith(
            "perf stat says duration_time <not supported>;"
        )

    def test_one_that_may_count_programs_alone_is_asked_for_that(self, tmp_path):
        some = "case $events in *:u*) ;; *) exit 255;; esac\n" + self.OLD_WORDS
        assert find_counters(self.perf(tmp_path, some)).asked == "duration_time,cache-misses:u,instructions:u"

    def test_a_new_one_that_tells_crashes_by_its_exit_code_is_taken(self, tmp_path):
        assert isinstance(find_counters(self.perf(tmp_path, 'cp $text $file; "$@"')), PerfCounters)

    def test_one_that_hides_crashes_in_another_language_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")  # as the applications will have it
        german = "word=Killed; [ $LC_ALL = C ] || word=Getötet\n" + self.OLD_WORDS.replace("Killed", "$word")
        assert find_counters(self.perf(tmp_path, german)) == (
            "perf hides it when a program crashes, and does not say so in English; set LC_ALL=C"
        )

    def test_one_that_is_not_supported_says_what_it_found(self, tmp_path):
        text = "<not supported>;;cache-misses;0;100.00;;\n<not supported>;;instructions;0;100.00;;\n"
        assert find_counters(self.perf(tmp_path, self.OLD_WORDS, text)) == (
            "perf stat says cache-misses <not supported>, instructions <not supported>; the processor does not"
            " show its counters here (virtual machines mostly do not), or they are in use"
        )

    def test_one_that_is_not_permitted_names_the_setting(self, tmp_path):
        refused = 'echo "Error: Access is limited. Consider adjusting perf_event_paranoid" >&2; exit 255'
        why = find_counters(self.perf(tmp_path, refused))
        assert why.startswith("the kernel does not permit perf to count (/proc/sys/kernel/perf_event_paranoid is ")
        assert why.endswith(
            "; let root say: sysctl kernel.perf_event_paranoid=2, and in a container allow the capability PERFMON"
        )

    def test_one_that_is_broken_says_so(self, tmp_path):
        broken = 'echo "perf not found for kernel 6.1" >&2; exit 2'
        assert find_counters(self.perf(tmp_path, broken)) == (
            "perf stat does not work, it ended with exit code 2: perf not found for kernel 6.1"
        )

    def test_none_at_all_says_where_it_comes_from(self, monkeypatch):
        monkeypatch.setenv("PATH", "/no/such/folder")
        assert find_counters() == ("the program perf is not installed (it comes in linux-tools, linux-perf or perf)")
