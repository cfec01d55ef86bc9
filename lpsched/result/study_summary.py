"""What became of a study that was run: how many runs there are, were there already, were made, failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

SUMMARY_FORMAT: Final = "lpsched-study-run/1"


@dataclass(frozen=True, slots=True)
class StudySummary:
    """A study after it was run, as far as it got.

    Attributes
    ----------
    lines
        The file with one line for each run.
    runs
        How many the study declares.
    found, made
        Runs whose lines were there before, and that were made now.
    failed
        Of all these, how many have a reason instead of an outcome; `reasons` has the first few.
    others
        Lines in the file that are not of this study as it is now.
    versions
        Of lpsched that made lines found there, other than this one.
    seconds
        From the first run made now to the last.
    """

    study: str
    lines: str
    runs: int
    found: int
    made: int
    failed: int
    reasons: tuple[tuple[str, int], ...]
    others: int
    versions: tuple[str, ...]
    seconds: float
    lpsched: str

    @property
    def left(self) -> int:
        """How many runs have not been made."""
        return self.runs - self.found - self.made

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched study run --json` prints; its keys are stable."""
        return {
            "format": SUMMARY_FORMAT,
            "lpsched": self.lpsched,
            "study": self.study,
            "lines": self.lines,
            "runs": self.runs,
            "found": self.found,
            "made": self.made,
            "left": self.left,
            "failed": self.failed,
            "reasons": [{"reason": reason, "runs": runs} for reason, runs in self.reasons],
            "others": self.others,
            "versions": list(self.versions),
            "seconds": self.seconds,
        }
