"""Breaks files of all kinds and runs the commands that read them; any traceback, hang or false claim is a finding.

The files follow from the seed; how many are tried depends on the clock, unless --trials says it. A file with a finding
is made smaller and kept in the folder of --keep with the command that shows it. The exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Final

from scripts.fuzzing.kinds import KINDS
from scripts.fuzzing.minimise import smaller
from scripts.fuzzing.mutations import broken
from scripts.fuzzing.options import NAME as OPTIONS
from scripts.fuzzing.options import Options
from scripts.fuzzing.special import NAME, Special
from scripts.fuzzing.trials import Finding, Trials, Worker

KEPT: Final = Path("fuzz-findings")
RARELY: Final = 10  # special files take long: one in this number of rounds
NAMES: Final = (*KINDS, OPTIONS, NAME)


def main(arguments: list[str] | None = None) -> int:
    """Run trials until the time is over; print findings as they come, and a summary."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    kinds = ", ".join(NAMES)
    parser.add_argument("kind", nargs="*", metavar="KIND", help=f"kinds of files, by default all: {kinds}")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument("--trials", type=int, help="stop after this number of trials of each kind")
    parser.add_argument("--keep", type=Path, default=KEPT, help=f"folder of findings (default: {KEPT})")
    given = parser.parse_args(arguments)
    if unknown := set(given.kind) - set(NAMES):
        parser.error(f"KIND: got {', '.join(sorted(unknown))}, expected some of {kinds}")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as home, Worker() as worker:
        search = Search(Trials(worker, Path(home)), given.seed, given.keep)
        search.run(given.kind or NAMES, time.monotonic() + given.minutes * 60, given.trials)
    for name, number in search.tried.items():
        print(f"{name:18} {number:7,} files {search.seconds[name]:8,.1f} s")
    print(f"seed {given.seed}: {search.tried.total():,} files, {len(search.found)} findings")
    return 1 if search.found else 0


class Search:
    """Trials of one seed, and what they found."""

    def __init__(self, trials: Trials, seed: int, keep: Path) -> None:
        self.trials, self.seed, self.keep = trials, seed, keep
        self.others: dict[str, Special | Options] = {NAME: Special(trials), OPTIONS: Options(trials)}
        self.found: dict[tuple[str, ...], Finding] = {}
        self.tried: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def run(self, kinds: Sequence[str], until: float, most: int | None) -> None:
        """Try kinds in turn until the clock or the number of trials says so; each at least once."""
        for number in count() if most is None else range(most):
            for name in kinds:
                if name == NAME and number % RARELY and len(kinds) > 1:
                    continue
                began = time.monotonic()
                if began > until and number:
                    return
                self.attempt(name, number)
                self.tried[name] += 1
                self.seconds[name] += time.monotonic() - began

    def attempt(self, name: str, number: int) -> None:
        """Break one file and run one command on it; make it smaller if there is a finding of a new kind."""
        rng = random.Random(f"{self.seed}/{name}/{number}")
        if name in self.others:
            for finding in self.others[name].findings(rng):
                self.note(name, number, finding, {})
            return
        kind = KINDS[name]
        file, command = rng.choice(kind.files), rng.choice(kind.commands)
        content = broken(rng, file, self.trials.samples.path(file).read_bytes())
        for finding in self.trials.findings(kind, file, content, command):
            if (name, *finding.signature) in self.found:
                continue

            def fails(candidate: bytes, wanted: Finding = finding) -> bool:
                again = self.trials.findings(kind, file, candidate, command)
                return wanted.signature in {each.signature for each in again}

            if fails(content):
                self.note(name, number, finding, {file: content if "too" in finding.what else smaller(content, fails)})
            else:
                print(
                    f"{name} {number}: not seen again: {finding.what}\n  lpsched {_plain(finding.command)}", flush=True
                )

    def note(self, kind: str, number: int, finding: Finding, files: dict[str, bytes]) -> None:
        """Print a finding of a new kind, and keep its file."""
        if (kind, *finding.signature) in self.found:
            return
        self.found[kind, *finding.signature] = finding
        print(f"FOUND {kind} (seed {self.seed}, file {number}): {finding.what}\n  lpsched {_plain(finding.command)}")
        print("  " + _plain(finding.detail.strip()[-1500:]).replace("\n", "\n  "), flush=True)
        folder = self.keep / f"{kind}-{self.seed}-{number}-{len(self.found)}"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"{finding.what}\nlpsched {finding.command}\n\n{finding.detail}\n"
        (folder / "finding.txt").write_text(text, encoding="utf-8", errors="backslashreplace")
        for name, content in files.items():
            (folder / name).write_bytes(content)


def _plain(text: str) -> str:
    """Return a text as a terminal may show it."""
    return "".join(letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in text)


if __name__ == "__main__":
    raise SystemExit(main())
