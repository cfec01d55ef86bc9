"""Random facilities: the servers and benchmarks of the Heat paper, arrivals, air and power caps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.errors import InputIssue, InstanceError
from lpsched.facility.model import PLAIN_AIR, ArrivingType, CracUnit, Facility, Mixing, NodeType
from lpsched.facility.rules import require_cap
from lpsched.generate.bags import six_digits
from lpsched.generate.options import PLATFORMS, SOURCE, FacilityOptions
from lpsched.model.fields import SMALLEST, numbered
from lpsched.model.table import SparseMatrix, Table

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers


# Air between racks and CRAC units: a room of hot and cold aisles, with conserved flow.
#
# Layout. Racks of `rack` nodes, 0.6 m wide and 2 m high, stand in rows 2.4 m apart that face each other in pairs: they
# draw in air from the cold aisle between them and blow it into the hot aisle behind, each 0.6 m from the middle of the
# row. CRAC units stand around the room, evenly spaced, 1 m from the racks; they blow and draw at floor height.
#
# Flows (m3/s). F_v is the airflow of node v, h_v in (0, 1) its height in the rack, and rho the recirculation share.
# Node v draws rho (1/2 + h_v) F_v of air that has just left nodes, the higher the more, and the rest from CRAC units;
# what leaves a node divides likewise. So on the whole a share rho of the air comes back uncooled, and as much air of
# the CRAC units passes by the nodes, straight into CRAC units again (bypass): with conserved flow there is no
# recirculation without it. The exchange falls with the distance d between the one's outlet and the other's inlet:
# weights exp(-d / 0.8 m) between a node and its 30 nearest (and itself, and those that have it among theirs), exp(-d /
# 4 m) from and to CRAC units. Rows and columns of the weights are then scaled in turn until they sum to the flows
# (Sinkhorn's method). The flows among nodes may stop short of their sums: what they leave open goes through the CRAC
# units, whose blocks are balanced to the last digit. So air is conserved at every place to about 1e-14.
RACK_WIDTH: Final = 0.6  # metres, all
RACK_HEIGHT: Final = 2.0
ROW_PITCH: Final = 2.4
AISLE: Final = 0.6
MARGIN: Final = 1.0
NODE_REACH: Final = 0.8
UNIT_REACH: Final = 4.0
NEAREST: Final = 30
RACKS_PER_ROW: Final = 3  # times as long as there are rows
CHUNK: Final = 500  # nodes whose distances are looked at together
ROUGH_SWEEPS: Final = 300
MOST_SWEEPS: Final = 20_000
BALANCED: Final = 2e-15


@dataclass(frozen=True, slots=True)
class Layout:
    """Where nodes draw in and blow out, where CRAC units stand (metres), and the nodes' heights in (0, 1)."""

    inlets: Floats
    outlets: Floats
    units: Floats
    heights: Floats


def layout(nodes: int, units: int, rack: int) -> Layout:
    """Place racks in facing rows, and CRAC units around them."""
    racks = -(-nodes // rack)
    rows = max(2, 2 * round(float(np.sqrt(racks / RACKS_PER_ROW)) / 2)) if racks > 1 else 1
    length = -(-racks // rows)
    node = np.arange(nodes)
    row, along, height = node // rack // length, node // rack % length, (node % rack + 0.5) / rack
    x, y, z = along * RACK_WIDTH, row * ROW_PITCH, height * RACK_HEIGHT
    cold = np.where(row % 2 == 0, AISLE, -AISLE)  # rows 0 and 1 face each other
    return Layout(
        np.column_stack((x, y + cold, z)),
        np.column_stack((x, y - cold, z)),
        _around(units, float(x.max()), float(y.max())),
        height,
    )


def _around(units: int, width: float, depth: float) -> Floats:
    """Return evenly spaced points of the rectangle around the racks, counted from its corner."""
    wide, deep = width + 2 * MARGIN, depth + 2 * MARGIN
    way = (np.arange(units) + 0.5) / units * 2 * (wide + deep)
    sides = [way < wide, way < wide + deep, way < 2 * wide + deep]
    x = np.select(sides, [way, np.full(units, wide), 2 * wide + deep - way], 0.0)
    y = np.select(sides, [np.zeros(units), way - wide, np.full(units, deep)], 2 * (wide + deep) - way)
    return np.column_stack((x - MARGIN, y - MARGIN, np.zeros(units)))


def air_mixing(flow: Floats, unit_flow: Floats, recirculation: float, rack: int) -> SparseMatrix:
    """Return the share of each place's inlet air that left each place, nodes first.

    The airflows of the nodes and of the CRAC units have equal sums; the recirculation is 0, or from 0.001 to 0.6.
    """
    room = layout(len(flow), len(unit_flow), rack)
    rows, columns, among = _among_nodes(room, flow, recirculation)
    supplied = flow - np.bincount(rows, among, len(flow))
    returned = flow - np.bincount(columns, among, len(flow))
    through = unit_flow * supplied.sum() / unit_flow.sum()
    down = balanced(np.exp(-_distances(room.inlets, room.units) / UNIT_REACH), supplied, through)
    back = balanced(np.exp(-_distances(room.units, room.outlets) / UNIT_REACH), through, returned)
    past = unit_flow - through
    bypass = np.zeros((len(unit_flow), len(unit_flow)))
    if recirculation > 0:
        bypass = balanced(np.exp(-_distances(room.units, room.units) / UNIT_REACH), past, past)
    return _joined((rows, columns, among), down, np.hstack((back, bypass)), np.concatenate((flow, unit_flow)))


def _among_nodes(room: Layout, flow: Floats, recirculation: float) -> tuple[Integers, Integers, Floats]:
    """Return rows, columns and values of the flows from node to node."""
    if recirculation == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    rows, columns = _neighbours(room)
    apart = np.sqrt(((room.inlets[rows] - room.outlets[columns]) ** 2).sum(axis=1))
    kernel = np.exp(-apart / NODE_REACH)
    wanted = recirculation * (0.5 + room.heights) * flow
    scale = np.ones(len(flow))
    for _ in range(ROUGH_SWEEPS):
        other = wanted / np.bincount(columns, kernel * scale[rows], len(flow))
        scale = wanted / np.bincount(rows, kernel * other[columns], len(flow))
    return rows, columns, scale[rows] * kernel * other[columns]


def _neighbours(room: Layout) -> tuple[Integers, Integers]:
    """Return the pairs of nodes that exchange air, in order; equal distances go to the lowest numbers."""
    nodes = len(room.heights)
    few, candidates = min(nodes, NEAREST), min(nodes, 4 * NEAREST)
    pairs = [np.arange(nodes) * (nodes + 1)]  # itself
    for start in range(0, nodes, CHUNK):
        apart = _distances(room.inlets[start : start + CHUNK], room.outlets).round(9)
        near = np.sort(np.argpartition(apart, candidates - 1, axis=1)[:, :candidates], axis=1)
        order = np.argsort(np.take_along_axis(apart, near, axis=1), axis=1, kind="stable")[:, :few]
        chosen = np.take_along_axis(near, order, axis=1)
        own = np.arange(start, start + len(chosen))[:, None]
        pairs += [(own * nodes + chosen).ravel(), (chosen * nodes + own).ravel()]
    rows, columns = np.divmod(np.unique(np.concatenate(pairs)), nodes)
    return rows, columns


def _distances(to: Floats, source: Floats) -> Floats:
    squares = np.zeros((len(to), len(source)))
    for axis in range(to.shape[1]):
        squares += (to[:, None, axis] - source[None, :, axis]) ** 2
    return np.sqrt(squares, out=squares)


def balanced(kernel: Floats, rows: Floats, columns: Floats) -> Floats:
    """Scale rows and columns of a positive matrix until they sum to what is asked; both have one total."""
    left = np.ones(len(rows))
    for _ in range(MOST_SWEEPS):
        right = columns / (left @ kernel)
        sums = kernel @ right
        if np.abs(left * sums / rows - 1).max() < BALANCED:
            break
        left = rows / sums
    return left[:, None] * kernel * right


def _joined(among: tuple[Integers, Integers, Floats], down: Floats, of_units: Floats, flows: Floats) -> SparseMatrix:
    """Put the blocks together, as shares of the inlet air of each row."""
    nodes, units = down.shape
    node, unit = np.arange(nodes), np.arange(units)
    rows = np.concatenate((among[0], np.repeat(node, units), np.repeat(nodes + unit, nodes + units)))
    columns = np.concatenate((among[1], np.tile(nodes + unit, nodes), np.tile(np.arange(nodes + units), units)))
    values = np.concatenate((among[2], down.ravel(), of_units.ravel())) / flows[rows]
    values = np.minimum(values, 1.0)  # all of a place's air, and not the rounding of doubles more
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    kept = values >= SMALLEST
    starts = np.zeros(nodes + units + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows[kept], minlength=nodes + units), out=starts[1:])
    return SparseMatrix(nodes + units, nodes + units, starts.tobytes(), columns[kept].tobytes(), values[kept].tobytes())


# The servers and benchmarks of the Heat paper. Names, overheads, cores, P-states and watts are those of its table II,
# the degradation is its table I; lbm and povray scale with the clock as it says. The other shares, and which benchmark
# is in which memory class, are ours, after the order of memory intensity that is known of SPEC CPU2006. Source: Oxley,
# Jonardi, Pasricha, Maciejewski, Koenig and Siegel, Thermal, power, and co-location aware resource allocation in
# heterogeneous high performance computing systems, 2014.
class Server(NamedTuple):
    """A column of table II."""

    name: str
    overhead_watts: float
    cores: int
    p_states: int
    core_watts: float  # in P-state 0


class Benchmark(NamedTuple):
    """A task type: its memory class, and how much of its time scales with the clock."""

    name: str
    memory_class: str
    clock_share: float


SERVERS: Final = (
    Server("tx140", 18.9, 4, 14, 9.1),
    Server("x3200", 75.2, 2, 4, 20.9),
    Server("rx100", 35.0, 4, 11, 22.4),
    Server("at110", 21.3, 4, 16, 18.55),
)
BENCHMARKS: Final = (
    Benchmark("lbm", "heavy", 0.30),
    Benchmark("bwaves", "heavy", 0.45),
    Benchmark("sphinx3", "medium", 0.60),
    Benchmark("milc", "heavy", 0.40),
    Benchmark("cactusADM", "medium", 0.65),
    Benchmark("calculix", "light", 0.95),
    Benchmark("wrf", "medium", 0.70),
    Benchmark("tonto", "light", 0.90),
    Benchmark("povray", "light", 1.00),
    Benchmark("dealII", "light", 0.80),
    Benchmark("zeusmp", "medium", 0.65),
    Benchmark("gromacs", "light", 0.95),
    Benchmark("leslie3d", "heavy", 0.40),
    Benchmark("namd", "light", 0.98),
    Benchmark("soplex", "heavy", 0.45),
    Benchmark("GemsFDTD", "heavy", 0.40),
)
CLASSES: Final = ("heavy", "medium", "light")
# how much longer a task of the row's class takes for each other core that runs one of the column's
DEGRADATION: Final = ((1.00, 0.30, 0.05), (0.50, 0.20, 0.03), (0.06, 0.04, 0.01))


# Facilities after the three platforms of the Heat paper: small, medium and large. From the paper (sections III and V):
# how many nodes, CRAC units, task types and node types; of each node type the overhead, cores, P-states and watts of a
# core in P-state 0 (table II); how much memory classes slow each other down (table I); the names of the task types; how
# much of their time scales with the clock, for lbm (30 %) and povray (100 %); rewards, uniform in [0.5, 1]; the CoP;
# equal CRAC airflows that sum to those of the nodes; the cap, a share (60 %) of the power of all cores at the most
# CPU-intensive task type in P-state 0, with the warmest outlets that keep the redlines.
#
# What the paper takes from its references and does not print is made as follows. G(V) is a gamma variable of mean 1 and
# coefficient of variation V, U(a, b) a uniform one.
#     node v          of a type drawn evenly; every type occurs
#     airflow         7.55e-5 m3/s for each watt of the node's full load: 160 cubic feet a minute for a kilowatt
#     redline         25 C at the nodes; none at the CRAC units; outlets 10 to 25 C
#     clock           of P-state k of K: 1 - 0.6 k / (K - 1)
#     seconds         in P-state 0: U(200, 600) of the task type x G(0.15) of the pair x U(0.8, 1.25) of the node type;
#                     at clock c: x (1 + s (1 / c - 1)), s the share of the time that scales with it
#     watts           of a core: those of table II x (0.1 + 0.9 c^3) x (0.75 + 0.25 s)
#     arrivals        U(0.5, 1.5) x what all cores could do of the task type in P-state 0 / number of task types
#     deadline        U(1.5, 3) x mean seconds in P-state 0 over the node types
#     memory class    heavy, medium or light, of each task type as in `BENCHMARKS`
#     air             `air_mixing`, with a stated share of recirculation
# Numbers are rounded to six significant digits, except airflows of CRAC units and the mixing shares: they are exact, so
# that air is conserved.
REDLINE: Final = 25.0
OUTLETS: Final = (10.0, 25.0)
LOWEST_CLOCK: Final = 0.4
STATIC: Final = 0.1  # of a core's power, whatever the clock
FLOW_PER_WATT: Final = 7.55e-5
SETTLED: Final = 1e-12  # kelvin
DESCRIPTION: Final = (
    "After the platforms of Oxley and others, 2014. From the paper: tables I and II, the task types, "
    "rewards, CoP, equal CRAC airflows, and the cap, {cap_share:g} of full power. Not printed there, and "
    "made by lpsched's generator as its documentation says: the mixing of air (recirculation "
    "{recirculation:g}), airflows, redlines, arrivals, deadlines, speeds, P-state clocks and powers, the "
    "task types' memory classes."
)


def generate_facility(
    platform: str, rng: np.random.Generator, *, recirculation: float = 0.2, cap_share: float = 0.6
) -> Facility:
    """Generate one of the paper's platforms; the same generator state gives the same facility."""
    if platform not in PLATFORMS:
        issue = InputIssue(("platform",), repr(platform), "one of " + ", ".join(PLATFORMS), "choose one")
        raise InstanceError(SOURCE, (issue,))
    options = PLATFORMS[platform].model_copy(update={"recirculation": recirculation, "cap_share": cap_share})
    return facility_of(platform, rng, options)


def facility_of(name: str, rng: np.random.Generator, options: FacilityOptions) -> Facility:
    """Generate a facility of any size; the same generator state gives the same facility."""
    servers, tasks = SERVERS[: options.node_types], BENCHMARKS[: options.task_types]
    types = tuple(map(_node_type, servers))
    of_node = rng.integers(len(types), size=options.nodes)
    of_node[: len(types)] = np.arange(len(types))
    flow = np.array([kind.airflow_m3_per_second for kind in types])[of_node]
    unit_flow = np.full(options.crac_units, flow.sum() / options.crac_units)
    seconds = (
        rng.uniform(200.0, 600.0, len(tasks))[:, np.newaxis]
        * rng.gamma(1 / 0.15**2, 0.15**2, (len(tasks), len(types)))
        * rng.uniform(0.8, 1.25, len(types))
    )
    cores = np.bincount(of_node, minlength=len(types)) * np.array([server.cores for server in servers])
    arriving = _arriving(rng, tasks, seconds, (cores / seconds).sum(axis=1) / len(tasks))
    matrix = air_mixing(flow, unit_flow, options.recirculation, options.rack)
    busiest = max(tasks, key=lambda task: task.clock_share)
    most = np.array([each.overhead_watts + each.cores * _core_watts(busiest, each, 1.0) for each in servers])
    full = full_power(most[of_node], flow, unit_flow, matrix)
    used = [a for a, kind in enumerate(CLASSES) if any(task.memory_class == kind for task in tasks)]
    units = zip(numbered("crac", options.crac_units), unit_flow.tolist(), strict=True)
    modes = [  # the columns of the tables: each server with each of its clocks
        (j, clock) for j, each in enumerate(servers) for clock in np.linspace(1.0, LOWEST_CLOCK, each.p_states).tolist()
    ]
    facility = Facility(
        name=name,
        node_types=types,
        nodes=tuple(of_node.tolist()),
        crac_units=tuple(CracUnit(label, each, OUTLETS) for label, each in units),
        task_types=arriving,
        speeds=Table.of(
            [
                [six_digits(1.0 / (own[j] * (1.0 + task.clock_share * (1.0 / clock - 1.0)))) for j, clock in modes]
                for task, own in zip(tasks, seconds.tolist(), strict=True)
            ]
        ),
        watts=Table.of([[_core_watts(task, servers[j], clock) for j, clock in modes] for task in tasks]),
        mixing=Mixing("inlet_mix", matrix),
        power_cap_watts=six_digits(options.cap_share * full),
        memory_classes=tuple(CLASSES[a] for a in used),
        degradation=Table.of([[DEGRADATION[a][b] for b in used] for a in used]),
        description=DESCRIPTION.format(cap_share=options.cap_share, recirculation=options.recirculation),
    )
    require_cap(facility)
    return facility


def _node_type(server: Server) -> NodeType:
    full = server.overhead_watts + server.cores * server.core_watts
    states = tuple(f"P{k}" for k in range(server.p_states))
    flow = six_digits(FLOW_PER_WATT * full)
    return NodeType(server.name, server.cores, server.overhead_watts, flow, REDLINE, states)


def _arriving(
    rng: np.random.Generator, tasks: tuple[Benchmark, ...], seconds: Floats, capacity: Floats
) -> tuple[ArrivingType, ...]:
    """Draw arrivals, rewards and deadlines; `capacity` is an even share of the cores' tasks per second."""
    arrivals = rng.uniform(0.5, 1.5, len(tasks)) * capacity
    rewards = rng.uniform(0.5, 1.0, len(tasks))
    deadlines = rng.uniform(1.5, 3.0, len(tasks)) * seconds.mean(axis=1)
    numbers = zip(arrivals.tolist(), rewards.tolist(), deadlines.tolist(), strict=True)
    return tuple(
        ArrivingType(task.name, six_digits(rate), six_digits(reward), six_digits(deadline), task.memory_class)
        for task, (rate, reward, deadline) in zip(tasks, numbers, strict=True)
    )


def _core_watts(task: Benchmark, server: Server, clock: float) -> float:
    load = 0.75 + 0.25 * task.clock_share
    return six_digits(server.core_watts * (STATIC + (1.0 - STATIC) * clock**3) * load)


def full_power(powers: Floats, flow: Floats, unit_flow: Floats, matrix: SparseMatrix) -> float:
    """Return what these node powers and their cooling draw, at the warmest common outlet in range.

    With a common outlet T all inlets are T + x, where x = M_NN (x + P / k) is found by repetition: what is
    missing shrinks by about the share of recirculation each time.
    """
    nodes, air = len(powers), PLAIN_AIR.density_kg_per_m3 * PLAIN_AIR.joules_per_kg_kelvin
    starts = np.frombuffer(matrix.starts, dtype=np.int64)
    rows = np.repeat(np.arange(matrix.rows), np.diff(starts))
    columns, shares = np.frombuffer(matrix.places, dtype=np.int64), np.frombuffer(matrix.packed)
    of_nodes = columns < nodes
    rows, columns, shares = rows[of_nodes], columns[of_nodes], shares[of_nodes]
    warming = powers / (air * flow)
    above: Floats = np.zeros(nodes + len(unit_flow))
    missing = np.inf
    while missing > SETTLED:
        leaving = shares * (above[:nodes] + warming)[columns]
        newer = np.bincount(rows, leaving, len(above)).astype(np.float64)
        missing, above = float(np.abs(newer - above).max()), newer
    outlet = float(np.clip(REDLINE - above[:nodes].max(), *OUTLETS))
    removed = float(air * unit_flow @ above[nodes:])
    return float(powers.sum()) + removed / CracUnit("any", 1.0, OUTLETS).performance(outlet)
