"""A pass of `soft_prices.py` over dense tables on a GPU: one kernel that reads every number once.

All blocks have the same columns. Column c of block i costs `costs[i, c]`, uses `loads[i, c]` of the one row that
`firsts` gives it, and perhaps `common[i, c]` of the last row, which all columns share. A warp takes one block at a time
and finds its cheapest column; only columns within some twenty tau_i of that have a weight y that counts. They are few
at the temperatures of large programs, so they are read again, and what they use is added up with atomics.

With v_c what column c uses of all rows, the curvature of block i is the sum over pairs of columns b < c of

    y_b y_c (v_b - v_c) (v_b - v_c)' / tau_i,

a sum without cancellation. All sums are of integers, in units of a small part of the sum of all tau and scaled with the
prices: so the order does not matter, and the same device gives the same result to the last bit. Blocks with more than
`MOST` columns of some weight are left to the caller, who has matrix products for their curvature. A column of less
weight than `SLIGHT` counts in the diagonal alone. None of this is exact, and nothing has to be: see `soft_prices.py`.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from lpsched.errors import SolverError
from lpsched.lp.soft_prices import Soft

if TYPE_CHECKING:
    from lpsched.lp.program import Floats, Integers

GIB: Final = 2**30
WARPS: Final = 8  # of a thread block
THREADS: Final = 32 * WARPS
WAVES: Final = 24  # thread blocks for each multiprocessor
MOST_GROUPS: Final = 32  # of columns of a lane: one bit each
MOST_SHARED: Final = 8_192  # columns whose prices are in shared memory
MOST: Final = 32  # columns of a block whose pairs are added
SLIGHT: Final = 1e-7  # of the cheapest column's weight
TINY: Final = 1e-9  # the same: columns that weigh less need not be counted
LIMIT: Final = 2.0**18  # what a column may cost by its prices, in units of tau, in the matrix; more is counted as that
UNITS: Final = 2.0**62 / LIMIT**2  # in the sum of all tau, so that no sum overflows
SLOPE_LIMIT: Final = 2.0**30  # the same for slopes
SLOPE_UNITS: Final = 2.0**62 / SLOPE_LIMIT
LEAST_SCALE: Final = 1e-12  # of the mean price: a price of 0 would scale its curvature away
LEAST_SLOPE_SCALE: Final = 1e-3
PER_BLOCK: Final = 32  # bytes: temperatures, sizes and marks
MATRICES: Final = 8  # of curvature, and of solving for a step
SUMS: Final = 2**28  # bytes of partial sums, and of what libraries keep
TEMPORARY: Final = 8  # tables of a part, where a block is wide

SOURCE: Final = r"""
#define ALL 0xffffffffu
#if VECTOR == 4
typedef float4 Vector;
#else
typedef float Vector;
#endif

struct Source {  // the tables, the prices of the columns, and that of the common row
    const float *loads, *costs, *common, *prices;
    float common_price;

    __device__ __forceinline__ float total(size_t at, int column) const {
        float total = 0.0f;  // rounded as in least_total
#if HAS_COSTS
        total = costs[at];
#endif
#if HAS_COMMON
        total = fmaf(common[at], common_price, total);
#endif
        return fmaf(loads[at], prices[column], total);
    }
};

__device__ __forceinline__ float least_of(float number) { return number; }
__device__ __forceinline__ float least_of(float4 four) { return fminf(fminf(four.x, four.y), fminf(four.z, four.w)); }
__device__ __forceinline__ float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ float4 fused(float4 a, float4 b, float4 c) {
    return make_float4(fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y), fmaf(a.z, b.z, c.z), fmaf(a.w, b.w, c.w));
}
__device__ __forceinline__ float all_of(float number, float) { return number; }
__device__ __forceinline__ float4 all_of(float number, float4) { return make_float4(number, number, number, number); }

// The least total of the columns that this lane sees as its vector number `each` of a block.
__device__ __forceinline__ float least_total(const Source& source, size_t row, int each, int lane) {
    const int column = (each * 32 + lane) * VECTOR;
    if (column >= COLUMNS) return __int_as_float(0x7f800000);
    const size_t at = row * COLUMNS + column;
    Vector total = all_of(0.0f, Vector());
#if HAS_COSTS
    total = __ldcs((const Vector*)(source.costs + at));
#endif
#if HAS_COMMON
    total = fused(__ldcs((const Vector*)(source.common + at)), all_of(source.common_price, Vector()), total);
#endif
    return least_of(fused(__ldcs((const Vector*)(source.loads + at)), *(const Vector*)(source.prices + column), total));
}

// Integers in the order of the numbers: the minimum of a warp takes one instruction.
__device__ __forceinline__ float least_in_warp(float number) {
#if __CUDA_ARCH__ >= 800
    int bits = __float_as_int(number), key = __reduce_min_sync(ALL, bits ^ ((bits >> 31) & 0x7fffffff));
    return __int_as_float(key ^ ((key >> 31) & 0x7fffffff));
#else
    for (int away = 16; away; away >>= 1) number = fminf(number, __shfl_xor_sync(ALL, number, away));
    return number;
#endif
}

__device__ __forceinline__ float sum_in_warp(float number) {
#pragma unroll
    for (int away = 16; away; away >>= 1) number += __shfl_xor_sync(ALL, number, away);
    return number;
}

__device__ __forceinline__ void add(long long* cell, float amount) {
    atomicAdd((unsigned long long*)cell, (unsigned long long)__float2ll_rn(amount));
}

struct Kept { int row; float weight, uses, common; };  // a column of some weight; what it uses is in units of tau

// All pairs of the kept columns of one block of the program, by one warp.
__device__ __forceinline__ void add_pairs(const Kept* kept, int number, float unit, long long* matrix, int lane) {
    for (int each = lane; each < number * number; each += 32) {
        const int b = each / number, c = each % number;
        if (b >= c) continue;
        const Kept one = kept[b], two = kept[c];
        const float both = one.weight * two.weight * unit;
        if (one.row == two.row) {
            const float apart = one.uses - two.uses;
            add(matrix + (size_t)one.row * WIDTH + one.row, both * (apart * apart));
        } else {  // products are grouped so that they are the same in either order
            const int low = min(one.row, two.row), high = max(one.row, two.row);
            add(matrix + (size_t)one.row * WIDTH + one.row, both * (one.uses * one.uses));
            add(matrix + (size_t)two.row * WIDTH + two.row, both * (two.uses * two.uses));
            add(matrix + (size_t)low * WIDTH + high, -both * (one.uses * two.uses));
        }
#if HAS_COMMON
        const float apart = one.common - two.common;
        add(matrix + (size_t)one.row * WIDTH + WIDTH - 1, both * (one.uses * apart));
        add(matrix + (size_t)two.row * WIDTH + WIDTH - 1, -both * (two.uses * apart));
        add(matrix + (size_t)(WIDTH - 1) * WIDTH + WIDTH - 1, both * (apart * apart));
#endif
    }
}

// One warp takes one block of the program after the other. `units`: of slopes and of the matrix, in the sum of all tau.
extern "C" __global__ void __launch_bounds__(THREADS) soften(
    const float* __restrict__ loads, const float* __restrict__ costs, const float* __restrict__ common,
    const float* __restrict__ prices, float common_price, float floor, float slope_floor,
    const int* __restrict__ owner, const float* __restrict__ taus, const double* __restrict__ units, long long rows,
    long long* slopes, double* totals, long long* matrix, unsigned char* wide)
{
    extern __shared__ float own_prices[];
    __shared__ Kept all_kept[THREADS / 32][MOST];
    __shared__ int numbers[THREADS / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const long long warps = (long long)gridDim.x * (THREADS / 32);
    const float slope_unit = (float)(SLOPE_UNITS * *units), unit = (float)(UNITS * *units);
    Kept* kept = all_kept[warp];
    Source source = {loads, costs, common, prices, common_price};
#if SHARED_PRICES
    for (int c = threadIdx.x; c < COLUMNS; c += THREADS) own_prices[c] = prices[c];
    __syncthreads();
    source.prices = own_prices;
#endif
    double value = 0.0, drawn = 0.0;
    for (long long row = (long long)blockIdx.x * (THREADS / 32) + warp; row < rows; row += warps) {
        const float tau = taus[row];
        float least[GROUPS], all = __int_as_float(0x7f800000);
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            least[g] = least_total(source, row, g * GROUP, lane);
#pragma unroll
            for (int v = 1; v < GROUP; ++v) least[g] = fminf(least[g], least_total(source, row, g * GROUP + v, lane));
            all = fminf(all, least[g]);
        }
        all = least_in_warp(all);
        const float limit = all + SPAN * tau, scale = 1.44269504f / tau;
        unsigned near = 0;  // groups of this lane with a column of some weight, as bits
#pragma unroll
        for (int g = 0; g < GROUPS; ++g)
            if (least[g] <= limit) near |= 1u << g;
        // The few columns that count are read again: once for the sum of weights, once for what they use.
        float sum = 0.0f, draws = 0.0f;
        int many = 0;
        for (unsigned left = near; left; left &= left - 1)
            for (int each = 0; each < GROUP * VECTOR; ++each) {
                const int group = __ffs(left) - 1, part = group * GROUP + each / VECTOR;
                const int column = (part * 32 + lane) * VECTOR + each % VECTOR;
                if (column >= COLUMNS) continue;
                const size_t at = (size_t)row * COLUMNS + column;
                const float weight = exp2f((all - source.total(at, column)) * scale);
                sum += weight;
                many += weight > SLIGHT;
#if HAS_COMMON
                draws += weight * common[at];
#endif
            }
        sum = sum_in_warp(sum);
#if __CUDA_ARCH__ >= 800
        many = __reduce_add_sync(ALL, many);
#else
        for (int away = 16; away; away >>= 1) many += __shfl_xor_sync(ALL, many, away);
#endif
        const float share = 1.0f / sum, own_unit = unit * tau;
        if (lane == 0) numbers[warp] = 0;
        __syncwarp();
        for (unsigned left = near; left; left &= left - 1)
            for (int each = 0; each < GROUP * VECTOR; ++each) {
                const int group = __ffs(left) - 1, part = group * GROUP + each / VECTOR;
                const int column = (part * 32 + lane) * VECTOR + each % VECTOR;
                if (column >= COLUMNS) continue;
                const size_t at = (size_t)row * COLUMNS + column;
                const float weight = exp2f((all - source.total(at, column)) * scale);
                if (weight < TINY) continue;
                const float load = loads[at], price = source.prices[column];
                Kept one = {owner[column], weight * share, fminf(load * fmaxf(price, floor) / tau, LIMIT), 0.0f};
                const float scaled = fminf(load * fmaxf(price, slope_floor), SLOPE_LIMIT * tau);
                add(slopes + one.row, one.weight * scaled * slope_unit);
#if HAS_COMMON
                one.common = fmaxf(-LIMIT, fminf(common[at] * fmaxf(common_price, floor) / tau, LIMIT));
#endif
                if (weight > SLIGHT && many <= MOST) {
                    const int place = atomicAdd(&numbers[warp], 1);
                    if (place < MOST) kept[place] = one;
                } else if (many <= MOST) {
                    add(matrix + (size_t)one.row * WIDTH + one.row, one.weight * (one.uses * one.uses) * own_unit);
#if HAS_COMMON
                    add(matrix + (size_t)(WIDTH - 1) * WIDTH + WIDTH - 1,
                        one.weight * (one.common * one.common) * own_unit);
#endif
                }
            }
        __syncwarp();
        if (many <= MOST) add_pairs(kept, min(numbers[warp], MOST), own_unit, matrix, lane);
        if (many > MOST && lane == 0) wide[row] = 1;
        value += (double)all - (double)(__logf(sum) * tau);
#if HAS_COMMON
        drawn += (double)(sum_in_warp(draws) * share);
#endif
        __syncwarp();
    }
    if (lane == 0) {
        totals += (size_t)blockIdx.x * (THREADS / 32) + warp;
        totals[0] += value;
        totals[warps] += drawn;
    }
}

// The curvature from the sums over pairs, which are above the diagonal, and from columns of slight weight.
extern "C" __global__ void __launch_bounds__(THREADS) finish(
    const long long* __restrict__ matrix, const float* __restrict__ prices, float floor,
    const double* __restrict__ units, double* curvature)
{
    const long long end = (long long)WIDTH * WIDTH;
    for (long long at = (long long)blockIdx.x * THREADS + threadIdx.x; at < end; at += gridDim.x * THREADS) {
        const int i = (int)(at / WIDTH), j = (int)(at % WIDTH);
        const double scale = (double)fmaxf(prices[i], floor) * (double)fmaxf(prices[j], floor);
        curvature[at] = (double)matrix[(size_t)min(i, j) * WIDTH + max(i, j)] / (UNITS * *units * scale);
    }
}

// How large the terms of each block's cheapest column are.
extern "C" __global__ void __launch_bounds__(THREADS) sizes(
    const float* __restrict__ loads, const float* __restrict__ costs, const float* __restrict__ common,
    const float* __restrict__ prices, float common_price, long long rows, float* found)
{
    extern __shared__ float own_prices[];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    Source source = {loads, costs, common, prices, common_price};
#if SHARED_PRICES
    for (int c = threadIdx.x; c < COLUMNS; c += THREADS) own_prices[c] = prices[c];
    __syncthreads();
    source.prices = own_prices;
#endif
    const long long warps = (long long)gridDim.x * (THREADS / 32);
    for (long long row = (long long)blockIdx.x * (THREADS / 32) + warp; row < rows; row += warps) {
        float least = __int_as_float(0x7f800000);
        int part = 0;
#pragma unroll 8
        for (int each = 0; each < GROUPS * GROUP; ++each) {
            const float own = least_total(source, row, each, lane);
            if (own < least) { least = own; part = each; }
        }
        const float all = least_in_warp(least);
        unsigned best = COLUMNS - 1;  // the first of the cheapest
        if (least == all)
            for (int each = VECTOR - 1; each >= 0; --each) {
                const int column = (part * 32 + lane) * VECTOR + each;
                if (column < COLUMNS && source.total((size_t)row * COLUMNS + column, column) <= all) best = column;
            }
        for (int away = 16; away; away >>= 1) best = min(best, __shfl_xor_sync(ALL, best, away));
        if (lane == 0) {
            const size_t at = (size_t)row * COLUMNS + best;
            float size = loads[at] * source.prices[best];
#if HAS_COSTS
            size += fabsf(costs[at]);
#endif
#if HAS_COMMON
            size += fabsf(common[at]) * common_price;
#endif
            found[row] = size;
        }
    }
}
"""


class Tables(Protocol):
    """The tables of all blocks in single precision: on the device, or on the host and copied in parts."""

    @property
    def xp(self) -> Any:  # noqa: ANN401 - cupy
        """The module of the device's arrays."""

    @property
    def loads(self) -> Any:  # noqa: ANN401 - an array of the host or the device
        """What each column uses of its own row."""

    @property
    def costs(self) -> Any | None:  # noqa: ANN401 - as above
        """What each column costs, if any does."""

    @property
    def cap(self) -> Any | None:  # noqa: ANN401 - as above
        """What each column uses of the common row, if there is one."""

    @property
    def firsts(self) -> Integers:
        """The first column of each row."""

    @property
    def cells(self) -> int:
        """How many cells of a table are copied to the device at a time."""


def soften(tables: Tables, prices: Floats, temperatures: Any) -> tuple[Soft, Any]:  # noqa: ANN401 - arrays
    """Return the smooth function, and the blocks whose curvature is not in it because they are wide."""
    xp, (height, columns), width = tables.xp, tables.loads.shape, len(prices)
    kernel = _kernel(columns, width, tables.costs is not None, tables.cap is not None)
    owner = np.repeat(np.arange(len(tables.firsts), dtype=np.int32), np.diff(np.append(tables.firsts, columns)))
    each = xp.asarray(np.concatenate((prices[owner], prices)).astype(np.float32))
    floor, slope_floor = (np.float32(part * float(prices.mean())) for part in (LEAST_SCALE, LEAST_SLOPE_SCALE))
    units = 1.0 / temperatures.sum(dtype=float)
    slopes, totals, matrix, wide = _zeros(
        xp,
        ((len(tables.firsts),), np.int64),
        ((2, kernel.blocks * WARPS), np.float64),
        ((width, width), np.int64),
        ((height,), np.uint8),
    )
    first = (each, np.float32(prices[-1]), floor, slope_floor, xp.asarray(owner))
    for part, loads, costs, cap in parts(tables):
        given = (loads, costs, cap, *first, temperatures[part], units, np.int64(len(loads)))
        kernel.run("soften", (*given, slopes, totals, matrix, wide[part]))
    curvature = xp.empty((width, width))
    kernel.run("finish", (matrix, each[columns:], floor, units, curvature))
    total = totals.sum(axis=1)
    found = xp.asnumpy(xp.concatenate((total, wide.sum(keepdims=True, dtype=float), units.reshape(1), slopes)))
    scales = np.maximum(prices[: len(tables.firsts)].astype(np.float32), slope_floor).astype(float)
    slope = found[4:] / (SLOPE_UNITS * found[3] * scales)
    if tables.cap is not None:
        slope = np.append(slope, found[1])
    return Soft(float(found[0]), slope, curvature), xp.flatnonzero(wide) if found[2] else xp.arange(0)


def _zeros(xp: Any, *wanted: tuple[tuple[int, ...], Any]) -> list[Any]:  # noqa: ANN401 - arrays
    """Return arrays of zeros of these shapes and types, cleared at once; the types of most bytes come first."""
    sizes = [int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in wanted]
    ends = np.cumsum(sizes).tolist()
    memory = xp.zeros(ends[-1], dtype=np.uint8)
    return [
        memory[end - size : end].view(kind).reshape(shape)
        for (shape, kind), end, size in zip(wanted, ends, sizes, strict=True)
    ]


def sizes(tables: Tables, prices: Floats) -> Any:  # noqa: ANN401 - an array of the device
    """Return how large the terms of each block's cheapest column are."""
    xp, (height, columns) = tables.xp, tables.loads.shape
    kernel = _kernel(columns, len(prices), tables.costs is not None, tables.cap is not None)
    lengths = np.diff(np.append(tables.firsts, columns))
    each = xp.asarray(np.repeat(prices[: len(tables.firsts)], lengths), dtype=np.float32)
    found = xp.empty(height, dtype=np.float32)
    for part, loads, costs, cap in parts(tables):
        given = (loads, costs, cap, each, np.float32(prices[-1]), np.int64(len(loads)), found[part])
        kernel.run("sizes", given)
    return found


def parts(tables: Tables) -> Iterator[tuple[slice, Any, Any, Any]]:
    """Yield blocks with their part of each table on the device: all at once where the tables are there already."""
    xp, height = tables.xp, tables.loads.shape[0]
    if isinstance(tables.loads, xp.ndarray):
        yield slice(0, height), tables.loads, tables.costs, tables.cap
        return
    own = (tables.loads, tables.costs, tables.cap)
    step = max(1, tables.cells // tables.loads.shape[1])
    buffers = [None if table is None else xp.empty((min(step, height), table.shape[1]), np.float32) for table in own]
    for start in range(0, height, step):
        rows = slice(start, min(height, start + step))
        for buffer, table in zip(buffers, own, strict=True):
            if buffer is not None:
                buffer[: rows.stop - start].set(table[rows])
        loads, costs, cap = (None if buffer is None else buffer[: rows.stop - start] for buffer in buffers)
        yield rows, loads, costs, cap


@dataclass(frozen=True, slots=True)
class _Kernel:
    functions: dict[str, Any]  # of the device
    blocks: int
    shared: int  # bytes

    def run(self, name: str, given: tuple[Any, ...]) -> None:
        self.functions[name]((self.blocks,), (THREADS,), given, shared_mem=self.shared)


@cache
def _kernel(columns: int, width: int, has_costs: bool, has_common: bool) -> _Kernel:  # noqa: FBT001 - a key
    """Return the kernels for tables of this width, compiled."""
    import cupy  # noqa: PLC0415

    vector = 4 if columns % 4 == 0 else 1  # then all rows begin at a multiple of 16 bytes
    vectors = -(-columns // (32 * vector))  # that a lane sees of each row
    group = -(-vectors // MOST_GROUPS)
    shared = 4 * columns if columns <= MOST_SHARED else 0
    constants = {
        "COLUMNS": columns,
        "WIDTH": width,
        "VECTOR": vector,
        "GROUP": group,
        "GROUPS": -(-vectors // group),
        "THREADS": THREADS,
        "SHARED_PRICES": int(shared > 0),
        "MOST": MOST,
        "SLIGHT": f"{SLIGHT}f",
        "TINY": f"{TINY}f",
        "SPAN": f"{-math.log(TINY)}f",
        "LIMIT": f"{LIMIT}f",
        "UNITS": UNITS,
        "SLOPE_LIMIT": f"{SLOPE_LIMIT}f",
        "SLOPE_UNITS": SLOPE_UNITS,
        "HAS_COSTS": int(has_costs),
        "HAS_COMMON": int(has_common),
    }
    options = ("--std=c++14", "--use_fast_math", *(f"-D{name}={value}" for name, value in constants.items()))
    module = cupy.RawModule(code=SOURCE, options=options)
    blocks = WAVES * int(cupy.cuda.Device().attributes["MultiProcessorCount"])
    return _Kernel({name: module.get_function(name) for name in ("soften", "sizes", "finish")}, blocks, shared)


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of device memory: of the tables, and of everything else."""

    tables: int
    working: int

    @property
    def total(self) -> int:
        """Of all, if the tables are on the device as a whole."""
        return self.tables + self.working

    def fits(self, room: int) -> bool:
        """Return whether the tables can be on the device as a whole; an error if they cannot even be in parts."""
        if self.working > room:
            free, least = (f"{number / GIB:.2f} GiB" for number in (room, self.working))
            raise SolverError(f"the device cuda has {free} free, expected at least {least}; leave --device out")
        return self.total <= room


def memory(shape: tuple[int, int], tables: int, width: int, cells: int) -> Memory:
    """Return what passes over this many tables of a shape need, with `width` prices and parts of `cells` cells."""
    height, columns = shape
    blocks = height * PER_BLOCK
    matrices = MATRICES * 8 * width**2
    return Memory(4 * tables * height * columns, blocks + matrices + SUMS + 4 * (tables + TEMPORARY) * cells)


def room(xp: Any) -> int:  # noqa: ANN401 - cupy
    """Return how many bytes of the device are free for arrays."""
    free, _ = xp.cuda.runtime.memGetInfo()
    return int(free) + int(xp.get_default_memory_pool().free_bytes())


def to_device(xp: Any, table: Any, cells: int) -> Any:  # noqa: ANN401 - arrays
    """Return a table in single precision on the device, copied in parts, so that the host needs no second one."""
    if isinstance(table, xp.ndarray):
        return table.astype(np.float32, copy=False)
    copied, step = xp.empty(table.shape, dtype=np.float32), max(1, cells // table.shape[1])
    for start in range(0, len(table), step):
        copied[start : start + step].set(np.ascontiguousarray(table[start : start + step], dtype=np.float32))
    return copied


def on_host(xp: Any, table: Any) -> Any:  # noqa: ANN401 - arrays
    """Return a table in single precision on the host, with its pages locked if possible: copies are then faster."""
    kept = np.ascontiguousarray(table, dtype=np.float32)
    try:
        xp.cuda.runtime.hostRegister(kept.ctypes.data, kept.nbytes, 0)
    except xp.cuda.runtime.CUDARuntimeError:
        return kept  # as before, only slower
    weakref.finalize(kept, xp.cuda.runtime.hostUnregister, kept.ctypes.data)
    return kept
