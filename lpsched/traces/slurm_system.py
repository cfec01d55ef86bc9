"""The nodes of a Slurm system, as `scontrol show node` or `sinfo` lists them."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Final

from lpsched.errors import InputIssue, InstanceError, quote
from lpsched.io import limits
from lpsched.io.content import one_issue
from lpsched.io.text_files import chunks_of
from lpsched.traces.slurm_cells import NOTHING, gpus_of_gres, gpus_of_tres, node_names, nodes_of

# Two forms, recognised by content, plain or gzip:
#     scontrol show node, with or without -o     NodeName=n1 ... CPUEfctv=16 CPUTot=16 ... Gres=gpu:a100:4 ...
#                                                Partitions=batch,gpu State=IDLE ...
#     sinfo -N -o "%N|%c|%G|%P|%t"               NODELIST|CPUS|GRES|PARTITION|STATE, a line for each node and partition;
#                                                without a header (-h) the columns stand in this order
# CPUs are those that jobs can have (CPUEfctv, where it is said). A node is counted whatever its state is now, but for
# FUTURE ones: the log is of another time. A node in no partition runs no jobs, and does not count.
SINFO: Final[tuple[str, ...]] = ("nodelist", "cpus", "gres", "partition", "state")
SCONTROL: Final = frozenset(("nodename", "cpuefctv", "cputot", "gres", "cfgtres", "partitions", "state"))
SINFO_COMMAND: Final = "sinfo -N -o '%N|%c|%G|%P|%t'"
NEEDED: Final = f"the output of 'scontrol show node' or of {SINFO_COMMAND}"
MOST_LISTED: Final = 20  # errors
FUTURE: Final = ("future", "futr")  # as scontrol and as sinfo write it
UNUSABLE: Final = ("down", "drain", "fail", "maint", "power", "inval")
_BLOCK: Final = re.compile(r"^[^\S\n]*NodeName=", re.MULTILINE)
_PAIR: Final = re.compile(r"(?:^|\s)(\w+)=(\S*)")


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """One node."""

    name: str
    cpus: int
    gpus: int
    partitions: frozenset[str]
    state: str

    def units(self, unit: str) -> int:
        """Return what it has of a unit: itself, its CPUs or its GPUs."""
        return {"node": 1, "core": self.cpus, "gpu": self.gpus}[unit]


@dataclass(frozen=True, slots=True)
class SlurmSystem:
    """All nodes that are in a partition."""

    nodes: tuple[SlurmNode, ...] = field(repr=False)

    @property
    def unusable(self) -> int:
        """How many are down, drained or the like now."""
        return sum(node.state.lower().startswith(UNUSABLE) for node in self.nodes)

    @property
    def cpus(self) -> Mapping[str, int]:
        """The CPUs of each node."""
        return {node.name: node.cpus for node in self.nodes}

    def capacity(self, unit: str, partitions: Collection[str] | None = None) -> int:
        """Return what the nodes of some partitions have, each node once; of all of them if none are named."""
        chosen = (node for node in self.nodes if partitions is None or not node.partitions.isdisjoint(partitions))
        return sum(node.units(unit) for node in chosen)


def read_system(path: Path | str) -> SlurmSystem:
    """Read the list of nodes."""
    path = Path(path)
    content = b"".join(chunks_of(path, most_bytes=limits.MOST_NODES_BYTES, do="bring the list of nodes alone"))
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    issues: list[InputIssue] = []
    nodes: dict[str, SlurmNode] = {}
    for node in _scontrol(text) if _BLOCK.search(text) else _sinfo(path, text):
        if isinstance(node, InputIssue):
            issues.append(node)
            if len(issues) == MOST_LISTED:
                break
            continue
        before = nodes.get(node.name)
        partitions = node.partitions | (before.partitions if before else frozenset())
        nodes[node.name] = SlurmNode(node.name, node.cpus, node.gpus, partitions, node.state)
        if len(nodes) > limits.MOST_NODES:
            raise one_issue(path, f"more than {limits.MOST_NODES:,} nodes", "fewer", "bring the list of nodes alone")
    if issues:
        raise InstanceError(str(path), tuple(issues))
    usable = tuple(node for node in nodes.values() if node.partitions and not node.state.lower().startswith(FUTURE))
    if not usable:
        raise one_issue(path, "no node in a partition", NEEDED, "check what kind of file it is")
    return SlurmSystem(usable)


def _scontrol(text: str) -> Iterator[SlurmNode | InputIssue]:
    starts = (found.start() for found in _BLOCK.finditer(text))
    line, counted = 1, 0
    for start, end in pairwise(chain(starts, [len(text)])):
        said: dict[str, str] = {}
        for pair in _PAIR.finditer(text[start:end]):
            if (key := pair[1].lower()) in SCONTROL:
                said.setdefault(key, pair[2])  # a reason, which comes last, may hold anything
        line, counted = line + text.count("\n", counted, start), start
        said |= {"nodelist": said["nodename"], "cpus": said.get("cpuefctv", said.get("cputot", ""))}
        yield from _nodes(said | {"partition": said.get("partitions", "")}, line)


def _sinfo(path: Path, text: str) -> Iterator[SlurmNode | InputIssue]:
    lines = ((number, line.strip()) for number, line in enumerate(io.StringIO(text), start=1))
    rows = ((number, line) for number, line in lines if line)
    first = next(rows, None)
    columns = SINFO
    if first is not None and "|" in first[1] and "nodelist" in (names := first[1].lower().replace(" ", "").split("|")):
        columns, first = tuple(names), next(rows, None)
    if first is None or "|" not in first[1] or not {"nodelist", "cpus"} <= set(columns):
        found = quote(first[1][:60]) if first else "an empty file"
        raise one_issue(path, found, NEEDED, "run one of them", first[0] if first else None)
    for number, line in chain([first], rows):
        words = [word.strip() for word in line.split("|")]
        if len(words) < len(columns):
            yield InputIssue(
                (), f"{len(words)} cells", f"{len(columns)}: {'|'.join(columns)}", f"run {SINFO_COMMAND}", line=number
            )
            continue
        said = dict(zip(columns, words, strict=False))
        yield from _nodes(said | {"partition": said.get("partition", "").rstrip("*")}, number)


def _nodes(said: Mapping[str, str], line: int) -> Iterator[SlurmNode | InputIssue]:
    """Yield the nodes of one line, or what cannot be read of it."""
    names, partitions = said["nodelist"], said["partition"]
    try:
        cpus = nodes_of(said["cpus"].rstrip("+")) or 0
        gpus = gpus_of_gres(said.get("gres", "")) or gpus_of_tres(said.get("cfgtres", "")) or 0
        known = frozenset[str]() if partitions.lower() in NOTHING else frozenset(partitions.split(","))
        yield from (SlurmNode(name, cpus, gpus, known, said.get("state", "")) for name in node_names(names))
    except ValueError as error:
        yield InputIssue((), f"{quote(str(error)[:60])} of {quote(names[:60])}", NEEDED, "correct it", line=line)
