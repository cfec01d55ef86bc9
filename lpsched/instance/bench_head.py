"""What samples of a bench rest on: they may be gone on with where nothing of this has changed.

A sample is one run of a setting (application, what is beside it, clock), so what else a bench asks for may
change between two sessions: more applications, pairs, clocks or repeats, other bounds, another seed. What
must not change is what would make the same setting another thing to measure:

    applications   the command, folder and environment of each that both sessions know
    energy         where it is read, and what that covers
    counters       whether misses are counted
    lpsched        the version: the companions are programs of its own
    machine        processor, system, and the places where applications run
    meters         those that were found; not the clocks, which are part of a setting
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import quote
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.measurements import MeasuredMachine, Meters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lpsched.instance.bench import Application, Bench

FORMAT: Final = "lpsched-bench-run/1"
SHOWN: Final = 100  # characters of what differs


@dataclass(frozen=True, slots=True)
class BenchHead:
    """What the samples of a file rest on; its first line.

    Attributes
    ----------
    name
        The bench's; for people.
    applications
        By name: command, folder, environment, as JSON has them.
    energy
        Kind, command, seconds between readings, what it covers.
    began
        Date and time, ISO 8601; for people.
    """

    name: str
    applications: FrozenDict[str, Any]
    energy: FrozenDict[str, Any]
    counters: str
    machine: MeasuredMachine
    meters: Meters
    lpsched: str = ""
    began: str = ""

    def _deciding(self) -> dict[str, Any]:
        told = self.to_dict()
        told["meters"].pop("frequencies", None)
        return {key: told[key] for key in told if key not in ("format", "name", "began")}

    def to_dict(self) -> dict[str, Any]:
        """Return the head as its line says it; keys are stable."""
        return {
            "format": FORMAT,
            "name": self.name,
            "applications": _plain(self.applications),
            "energy": _plain(self.energy),
            "counters": self.counters,
            "machine": {**asdict(self.machine), "cores": [list(place) for place in self.machine.cores]},
            "meters": {key: value for key, value in asdict(self.meters).items() if value is not None},
            "lpsched": self.lpsched,
            "began": self.began,
        }

    def differences(self, now: BenchHead) -> tuple[str, ...]:
        """Tell in words what decides a setting's outcome and has changed since.

        An application that only one of the two knows is no difference.
        """
        return tuple(_differences(self._deciding(), now._deciding()))

    def joined(self, now: BenchHead) -> BenchHead:
        """Return the head of both sessions: as it began, with the applications of both."""
        both = {**self.applications, **now.applications}
        return self if both == self.applications else replace(self, applications=FrozenDict(both))


def head_of(
    bench: Bench, *, machine: MeasuredMachine, meters: Meters, lpsched: str = "", began: str = ""
) -> BenchHead:
    """Return the head of a bench that is about to begin on a machine."""
    energy = bench.energy
    return BenchHead(
        name=bench.name,
        applications=FrozenDict({each.name: _application(each) for each in bench.applications}),
        energy=FrozenDict(
            {
                "kind": energy.kind,
                "command": tuple(energy.command),
                "every_seconds": energy.every_seconds,
                "covers": energy.covers,
            }
        ),
        counters=bench.counters,
        machine=machine,
        meters=meters,
        lpsched=lpsched,
        began=began,
    )


def _application(application: Application) -> FrozenDict[str, Any]:
    told: dict[str, Any] = {"command": tuple(application.command)}
    if application.folder is not None:
        told["folder"] = application.folder
    if application.environment:
        told["environment"] = application.environment
    return FrozenDict(told)


def head_from(told: Mapping[str, Any]) -> BenchHead:
    """Return the head that a line tells.

    Raises
    ------
    AttributeError, KeyError, TypeError, ValueError
        If something is missing, or of another kind.
    """
    machine = dict(told["machine"])
    cores = tuple(tuple(int(number) for number in place) for place in machine.pop("cores"))
    return BenchHead(
        name=str(told["name"]),
        applications=FrozenDict({str(name): _frozen(each) for name, each in told["applications"].items()}),
        energy=_frozen(told["energy"]),
        counters=str(told["counters"]),
        machine=MeasuredMachine(cores=cores, **machine),
        meters=Meters(**told["meters"]),
        lpsched=str(told["lpsched"]),
        began=str(told["began"]),
    )


def _frozen(value: Any) -> Any:  # noqa: ANN401 - anything that JSON has
    if isinstance(value, dict):
        return FrozenDict({key: _frozen(each) for key, each in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _plain(value: Any) -> Any:  # noqa: ANN401 - likewise
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _differences(
    before: Mapping[str, Any], now: Mapping[str, Any], place: tuple[str, ...] = ()
) -> Iterator[str]:
    for key in dict.fromkeys((*before, *now)):
        here = (*place, key)
        if place == ("applications",) and (key not in before or key not in now):
            continue
        one, other = before.get(key), now.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differences(one, other, here)
        elif one != other:
            yield f"{' of '.join(reversed(here))} was {_said(one)}, is {_said(other)}"


def _said(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return quote(value)
    told = json.dumps(value, ensure_ascii=False)
    return told if len(told) <= SHOWN else told[:SHOWN] + "..."
