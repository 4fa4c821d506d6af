"""The selection, compiled: one read of the scores, then work on what is left.

A score is read as the integer whose order is the order of the scores (its *key*), so one kernel serves floats, signed
and unsigned integers of one width. For a row of n scores the kernel

1. takes the maximum and the minimum of each block of B neighbours, 64 bytes at a time;
2. finds a value that at least k block maxima reach: the k-th score can't be smaller (the `limit`);
3. collects the keys at or above the limit, in the order of positions, into a reservoir; when it is full it is cut to
   its best k, which raises the limit, so that blocks whose maximum lies below are passed over;
4. cuts the reservoir to k and sorts it.

Every cut bisects the range of the keys and counts, 64 bytes at a time, so the cost is linear whatever the scores are:
no arrangement makes it quadratic. A row that arrives in order, falling or rising, is noticed on the way and read
once.

numba compiles on first use, in about ten seconds for each width of scores, and keeps the result beside this file.
topk.py imports this module when it first needs it; without numba it uses lemma.py, with the same results.
"""

# mypy: ignore-errors
# numba finds the types of the kernels, and refuses what does not fit; annotations would only repeat them.

import math
from typing import Any

import numpy as np

try:
    from llvmlite import ir
    from numba import carray, config, njit, types
    from numba.core import cgutils
    from numba.extending import intrinsic
except ImportError:  # pragma: no cover - the lemma serves then
    AVAILABLE = False

    def njit(*_: Any, **__: Any) -> Any:
        """Leave a function as it is."""
        return lambda function: function

    def intrinsic(function: Any) -> Any:
        """Leave a function as it is."""
        return function

else:
    AVAILABLE = not config.DISABLE_JIT

WIDTH = 64  # bytes read at a time; a machine with narrower registers splits them
STRIDE = 64  # steps between two looks at the number found
FETCH = 16384  # bytes ahead of the first read: a processor's own prefetching stops at each page of 4096
AHEAD = 8  # blocks are asked for so many before they are read
SMALL = 40  # up to this many items are sorted by insertion


def compiled(function: Any) -> Any:
    """Compile on first use, and keep the result where a place for it can be written."""
    try:
        return njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # numba found no such place
        return njit(nogil=True, error_model="numpy")(function)


# --------------------------------------------------------------- 64 bytes at a time


def _vector(array: Any) -> Any:
    """The vector type that holds WIDTH bytes of an array's items."""
    return ir.VectorType(ir.IntType(array.dtype.bitwidth), WIDTH * 8 // array.dtype.bitwidth)


def _filled(builder: Any, scalar: Any, vector: Any) -> Any:
    """A vector with the low bits of one integer in every lane."""
    item = builder.trunc(scalar, vector.element) if vector.element.width < 64 else scalar
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), item, ir.Constant(ir.IntType(32), 0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), lanes)


def _address(context: Any, builder: Any, array: Any, value: Any, start: Any) -> Any:
    """Where the vector that begins at item `start` lies."""
    data = context.make_array(array)(context, builder, value).data
    return builder.bitcast(builder.gep(data, [start]), _vector(array).as_pointer())


def _load(context: Any, builder: Any, array: Any, value: Any, start: Any) -> Any:
    loaded = builder.load(_address(context, builder, array, value, start))
    loaded.align = array.dtype.bitwidth // 8
    return loaded


def _keys(builder: Any, bits: Any, fold: Any, flip: Any) -> Any:
    """The keys of a vector of scores: negative floats are folded over, unsigned integers flipped."""
    sign = builder.ashr(bits, ir.Constant(bits.type, [bits.type.element.width - 1] * bits.type.count))
    folded = builder.xor(bits, builder.and_(sign, _filled(builder, fold, bits.type)))
    return builder.xor(folded, _filled(builder, flip, bits.type))


def _mask(builder: Any, lanes: Any) -> Any:
    """A vector of truths as one 64-bit integer, the first lane lowest."""
    bits = builder.bitcast(lanes, ir.IntType(lanes.type.count))
    return builder.zext(bits, ir.IntType(64)) if lanes.type.count < 64 else bits


def _reduced(builder: Any, vector: Any, name: str) -> Any:
    """The maximum (`smax`) or minimum (`smin`) over the lanes, as a 64-bit integer."""
    kind = f"v{vector.type.count}i{vector.type.element.width}"
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(vector.type.element, [vector.type]), f"llvm.vector.reduce.{name}.{kind}"
    )
    item = builder.call(function, [vector])
    return builder.sext(item, ir.IntType(64)) if item.type.width < 64 else item


@intrinsic
def mask_from(typing: Any, row: Any, start: Any, limit: Any, fold: Any, flip: Any) -> Any:
    """Which of the scores from `start` on have a key at or above `limit`: one bit each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_, start_, limit_, fold_, flip_ = arguments
        keys = _keys(builder, _load(context, builder, row, row_, start_), fold_, flip_)
        return _mask(builder, builder.icmp_signed(">=", keys, _filled(builder, limit_, keys.type)))

    return types.uint64(row, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def mask_less(typing: Any, row: Any, start: Any, other: Any, fold: Any, flip: Any) -> Any:
    """Which of the keys from `start` on are less than those from `other` on: one bit each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_, start_, other_, fold_, flip_ = arguments
        left = _keys(builder, _load(context, builder, row, row_, start_), fold_, flip_)
        right = _keys(builder, _load(context, builder, row, row_, other_), fold_, flip_)
        return _mask(builder, builder.icmp_signed("<", left, right))

    return types.uint64(row, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def extremes(typing: Any, row: Any, start: Any, vectors: Any, fold: Any, flip: Any) -> Any:
    """The greatest and the least key of a block: `vectors` times WIDTH bytes from `start` on."""
    vector = _vector(row)
    pair = types.UniTuple(types.int64, 2)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_, start_, vectors_, fold_, flip_ = arguments
        first = _keys(builder, _load(context, builder, row, row_, start_), fold_, flip_)
        greatest = cgutils.alloca_once_value(builder, first)
        least = cgutils.alloca_once_value(builder, first)
        with cgutils.for_range(builder, vectors_, start=ir.Constant(vectors_.type, 1)) as loop:
            offset = builder.mul(loop.index, ir.Constant(loop.index.type, vector.count))
            keys = _keys(builder, _load(context, builder, row, row_, builder.add(start_, offset)), fold_, flip_)
            for place, sign in ((greatest, ">"), (least, "<")):
                held = builder.load(place)
                builder.store(builder.select(builder.icmp_signed(sign, keys, held), keys, held), place)
        both = [_reduced(builder, builder.load(greatest), "smax"), _reduced(builder, builder.load(least), "smin")]
        return context.make_tuple(builder, pair, both)

    return pair(row, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def count_from(typing: Any, keys: Any, vectors: Any, limit: Any) -> Any:
    """How many of the first `vectors` times WIDTH bytes of keys lie at or above `limit`."""
    vector = _vector(keys)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        keys_, vectors_, limit_ = arguments
        total = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(64), 0))
        least = _filled(builder, limit_, vector)
        with cgutils.for_range(builder, vectors_) as loop:
            start = builder.mul(loop.index, ir.Constant(loop.index.type, vector.count))
            reached = builder.icmp_signed(">=", _load(context, builder, keys, keys_, start), least)
            builder.store(builder.add(builder.load(total), builder.ctpop(_mask(builder, reached))), total)
        return builder.load(total)

    return types.int64(keys, types.int64, types.int64), generate


@intrinsic
def copy_keys(typing: Any, row: Any, keys: Any, vectors: Any, fold: Any, flip: Any) -> Any:
    """Write the keys of the first `vectors` times WIDTH bytes of scores, -0.0 as 0.0."""
    vector = _vector(row)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_, keys_, vectors_, fold_, flip_ = arguments
        zero = ir.Constant(vector, [0] * vector.count)
        floats = builder.icmp_signed("!=", _filled(builder, fold_, vector), zero)
        with cgutils.for_range(builder, vectors_) as loop:
            start = builder.mul(loop.index, ir.Constant(loop.index.type, vector.count))
            found = _keys(builder, _load(context, builder, row, row_, start), fold_, flip_)
            negative = builder.and_(builder.icmp_signed("==", found, ir.Constant(vector, [-1] * vector.count)), floats)
            store = builder.store(builder.select(negative, zero, found), _address(context, builder, keys, keys_, start))
            store.align = row.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(row, keys, types.int64, types.int64, types.int64), generate


@intrinsic
def lowest_bit(typing: Any, mask: Any) -> Any:
    """The place of the lowest bit that is set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def prefetch(typing: Any, row: Any, start: Any, count: Any) -> Any:
    """Ask for the cache lines of `count` items from `start` on, before they are needed."""
    line = 64 * 8 // row.dtype.bitwidth

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_, start_, count_ = arguments
        data = context.make_array(row)(context, builder, row_).data
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        lines = builder.udiv(count_, ir.Constant(count_.type, line))
        with cgutils.for_range(builder, lines) as loop:
            item = builder.add(start_, builder.mul(loop.index, ir.Constant(loop.index.type, line)))
            place = builder.bitcast(builder.gep(data, [item]), byte)
            builder.call(function, [place, ir.Constant(flag, 0), ir.Constant(flag, 3), ir.Constant(flag, 1)])
        return context.get_dummy_value()

    return types.void(row, types.int64, types.int64), generate


@intrinsic
def pointer_to(typing: Any, address: Any, like: Any) -> Any:
    """An address as a pointer to items of the dtype of `like`."""
    pointer = types.CPointer(like.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(pointer))

    return pointer(types.int64, like), generate


# ------------------------------------------------------------------------ one key


@compiled
def lanes_of(array):
    """How many items WIDTH bytes hold."""
    return WIDTH // array.itemsize


@compiled
def key_at(row, position, fold, flip):
    """The key of one score; both zeros have the key 0."""
    bits = np.int64(row[position])
    key = bits ^ ((bits >> 63) & fold) ^ flip
    return np.int64(0) if fold != 0 and key == -1 else key


@compiled
def reading(limit, fold):
    """The limit as it is compared with keys that still tell -0.0 (key -1) from 0.0 (key 0)."""
    return np.int64(-1) if fold != 0 and limit == 0 else limit


@compiled
def extremes_of(row, fold, flip):
    """The greatest and the least key of a row, -0.0 told from 0.0."""
    n, lanes = row.size, lanes_of(row)
    if n >= lanes:
        high, low = extremes(row, 0, n // lanes, fold, flip)
        last_high, last_low = extremes(row, n - lanes, 1, fold, flip)
        return max(high, last_high), min(low, last_low)
    high = low = key_at(row, 0, fold, flip)
    for position in range(1, n):
        key = key_at(row, position, fold, flip)
        high, low = max(high, key), min(low, key)
    return high, low


# ---------------------------------------------------------------------- the k-th key


@compiled
def least_key(keys):
    """The least value of a key's type, which fills what lies behind the last key of a vector."""
    return np.int64(-1) << (8 * keys.itemsize - 1)


@compiled
def padded(keys, count):
    """Fill the last vector of keys with what no limit reaches; the number of vectors."""
    lanes = lanes_of(keys)
    vectors = (count + lanes - 1) // lanes
    keys[count : vectors * lanes] = least_key(keys)
    return vectors


@compiled
def kth_largest(keys, count, k, low, high, slack):
    """The k-th largest key and how many reach it; `low` to `high` holds it.

    It may stop earlier, at a smaller value that at least k and at most k + slack keys reach: exactly these are to be
    kept.
    """
    vectors, reached = padded(keys, count), count
    while low < high and reached > k + slack:
        middle = high - np.int64((np.uint64(high) - np.uint64(low)) >> np.uint64(1))
        number = count_from(keys, vectors, middle)
        if number >= k:
            low, reached = middle, number
        else:
            high = middle - 1
    return low, reached


@compiled
def keep(keys, places, count, k, limit, reached):
    """Keep the first k keys that belong to the k largest, in their order: those above the limit, then those at it."""
    equal = k if reached <= k else k - number_above(keys, count, limit)
    kept = 0
    for i in range(count):
        key = np.int64(keys[i])
        same = key == limit
        taken = key > limit or (same and equal > 0)
        keys[kept], places[kept] = keys[i], places[i]
        kept += taken
        equal -= same
        if kept == k:
            break
    return kept


@compiled
def number_above(keys, count, limit):
    """How many keys lie above a limit."""
    if limit == ~least_key(keys):
        return 0
    return count_from(keys, padded(keys, count), limit + 1)


# ------------------------------------------------------------------------- collecting


@compiled
def collect(row, start, stop, limit, fold, flip, keys, places, count):
    """Append the keys at or above the limit among whole vectors, in the order of positions."""
    for first in range(start, stop, lanes_of(row)):
        mask = mask_from(row, first, reading(limit, fold), fold, flip)
        while mask != 0:
            position = first + lowest_bit(mask)
            mask &= mask - np.uint64(1)
            keys[count], places[count] = key_at(row, position, fold, flip), position
            count += 1
    return count


@compiled
def collect_tail(row, start, limit, fold, flip, keys, places, count):
    """Append the keys at or above the limit from `start` to the end of the row."""
    for position in range(start, row.size):
        key = key_at(row, position, fold, flip)
        if key >= limit:
            keys[count], places[count] = key, position
            count += 1
    return count


@compiled
def block_extremes(row, block, fold, flip, maxima):
    """Write the maximum of each whole block; return the greatest and the least key of the row."""
    vectors = block // lanes_of(row)
    high, low = extremes(row, row.size - block, vectors, fold, flip)
    distance = FETCH // row.itemsize
    for index in range(row.size // block):
        prefetch(row, index * block + distance, block)  # past the end it does nothing, or fetches the next row
        greatest, least = extremes(row, index * block, vectors, fold, flip)
        maxima[index] = greatest
        high, low = max(high, greatest), min(low, least)
    return high, low


@compiled
def shrink(keys, places, count, k, limit, high):
    """Cut a reservoir to its best k: the limit from now on, and whether keys equal to it were left out."""
    limit, reached = kth_largest(keys, count, k, limit, high, 0)
    keep(keys, places, count, k, limit, reached)
    return limit, reached > k


@compiled
def blocks_from(maxima, blocks, limit, most, chosen):
    """Write the indices of the first blocks, at least `most` if there are, whose maximum is at or above the limit."""
    number = 0
    for first in range(0, blocks, lanes_of(maxima)):
        mask = mask_from(maxima, first, limit, 0, 0)
        while mask != 0:
            chosen[number] = first + lowest_bit(mask)
            number += chosen[number] < blocks
            mask &= mask - np.uint64(1)
        if number >= most:
            break
    return number


@compiled
def walk_is_shorter(number, blocks, block, k):
    """Whether k tied keys are found sooner in the order of IDs than by collecting all; `number` blocks hold some."""
    share = -math.log(max(1 - number / blocks, 1e-4)) / block
    # a step of a walk costs a twelfth of collecting and choosing; `tied_by_rank` gives up where one in 256 is too few
    return share * 256 >= 1 and k < 12 * share * share * blocks * block


@compiled
def gather(row, k, block, low, high, fold, flip, maxima, chosen, keys, places, by_rank):
    """Collect, in the order of positions, keys among which are the k largest.

    Returns their number and a limit: where the last value is true, some keys equal to it may have been left out, all of
    them behind the ones that were collected.
    """
    blocks, room = row.size // block, keys.size - lanes_of(keys) - block
    if count_from(maxima, padded(maxima, blocks), reading(high, fold)) >= k:
        limit = high
    else:
        limit, _ = kth_largest(maxima, blocks, k, low, high, k // 4)
    limit = np.int64(0) if fold != 0 and limit == -1 else limit
    most = blocks
    if limit == high and not by_rank:
        room, most = k - 1, k  # nothing beats the first k that reach the maximum
    number = blocks_from(maxima, blocks, reading(limit, fold), most, chosen)
    if limit == high and by_rank and walk_is_shorter(number, blocks, block, k):
        return 0, limit, True
    count, cut = 0, False
    for i in range(number):
        prefetch(row, chosen[min(i + AHEAD, number - 1)] * block, block)
        start = chosen[i] * block
        if maxima[chosen[i]] < reading(limit + cut, fold):
            continue
        count = collect(row, start, start + block, limit + cut, fold, flip, keys, places, count)
        if count > room:
            limit, cut = shrink(keys, places, count, k, limit, high)
            count = k
            if limit == high:
                return count, limit, True
    return collect_tail(row, blocks * block, limit + cut, fold, flip, keys, places, count), limit, cut


@compiled
def compress(keys, places, count, limit):
    """Keep the keys at or above the limit, in their order, and note where they stood."""
    kept = 0
    for first in range(0, count, lanes_of(keys)):
        mask = mask_from(keys, first, limit, 0, 0)
        while mask != 0:
            position = first + lowest_bit(mask)
            mask &= mask - np.uint64(1)
            if position < count:
                keys[kept], places[kept] = keys[position], position
                kept += 1
    return kept


@compiled
def gather_all(row, k, low, high, fold, flip, keys, places):
    """Collect from all keys of a short row; returns what `gather` returns."""
    lanes = lanes_of(row)
    whole = row.size // lanes
    copy_keys(row, keys, whole, fold, flip)
    for position in range(whole * lanes, row.size):
        keys[position] = key_at(row, position, fold, flip)
    limit, _ = kth_largest(keys, row.size, k, low, high, 0)
    return compress(keys, places, row.size, limit), limit, False


# ---------------------------------------------------------------------- rows in order


@compiled
def in_order(row, rising, fold, flip):
    """Whether no key is greater than its left neighbour (rising: less)."""
    n, lanes, distance = row.size, lanes_of(row), FETCH // row.itemsize
    first = 0
    while first + lanes < n:
        prefetch(row, first + distance, lanes)
        left, right = (first + 1, first) if rising else (first, first + 1)
        if mask_less(row, left, right, fold, flip) != 0:
            return False
        first += lanes
    for position in range(first, n - 1):
        left, right = (position + 1, position) if rising else (position, position + 1)
        if key_at(row, left, fold, flip) < key_at(row, right, fold, flip):
            return False
    return True


@compiled
def first_equal(row, last, fold, flip):
    """The first position of the key at `last` in a rising row, by bisection."""
    key, low, high = key_at(row, last, fold, flip), 0, last
    while low < high:
        middle = (low + high) // 2
        if key_at(row, middle, fold, flip) < key:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def from_the_end(row, k, fold, flip, places):
    """The selection of a rising row: its groups of equal keys from the last, each in the order of positions."""
    count, end = 0, row.size
    while count < k:
        key, start, least = key_at(row, end - 1, fold, flip), end - 1, max(0, end - (k - count))
        while start > least and key_at(row, start - 1, fold, flip) == key:
            start -= 1
        if start == least:
            start = first_equal(row, start, fold, flip)
        for position in range(start, min(end, start + k - count)):
            places[count] = position
            count += 1
        end = start


# ----------------------------------------------------------------------------- sorting


@compiled
def is_sorted(values, first, last):
    """Whether values[first:last] do not fall."""
    for i in range(first + 1, last):  # noqa: SIM110 - numba compiles no generators
        if values[i] < values[i - 1]:
            return False
    return True


@compiled
def insertion_sort(values, places, first, last):
    """Sort few values, and the places with them, keeping the order of equal ones."""
    for i in range(first + 1, last):
        value, place, j = values[i], places[i], i
        while j > first and values[j - 1] > value:
            values[j], places[j] = values[j - 1], places[j - 1]
            j -= 1
        values[j], places[j] = value, place


@compiled
def radix_sort(values, places, first, last, spare_values, spare_places):
    """Sort many values, and the places with them, digit by digit from the lowest, keeping the order of equal ones."""
    count = last - first
    digit = np.uint64(8 if count < 1024 else 11)
    buckets = np.int64(1) << np.int64(digit)
    starts = np.empty(buckets, np.int64)
    top = np.uint64(0)
    for i in range(first, last):
        top |= values[i]
    shift, swapped = np.uint64(0), False
    a, b, offset_a, offset_b = values, places, first, 0
    c, d = spare_values, spare_places
    while shift < np.uint64(64) and (top >> shift) != np.uint64(0):
        starts[:] = 0
        for i in range(count):
            starts[np.int64((a[offset_a + i] >> shift) & np.uint64(buckets - 1))] += 1
        total = 0
        for bucket in range(buckets):
            number = starts[bucket]
            starts[bucket] = total
            total += number
        for i in range(count):
            bucket = np.int64((a[offset_a + i] >> shift) & np.uint64(buckets - 1))
            target = offset_b + starts[bucket]
            starts[bucket] += 1
            c[target], d[target] = a[offset_a + i], b[offset_a + i]
        a, b, c, d = c, d, a, b
        offset_a, offset_b = offset_b, offset_a
        shift += digit
        swapped = not swapped
    if swapped:
        values[first:last] = spare_values[:count]
        places[first:last] = spare_places[:count]


@compiled
def sort(values, places, first, last, spare_values, spare_places):
    """Sort values[first:last] and the places with them, keeping the order of equal ones."""
    if is_sorted(values, first, last):
        return
    if last - first <= SMALL:
        insertion_sort(values, places, first, last)
    else:
        radix_sort(values, places, first, last, spare_values, spare_places)


@compiled
def sort_groups(values, places, count, rank, spare_values, spare_places):
    """Inside each run of equal values, put the places in the order of their IDs' ranks."""
    first = 0
    while first < count:
        last = first + 1
        while last < count and values[last] == values[first]:
            last += 1
        if last - first > 1:
            for i in range(first, last):
                values[i] = np.uint64(rank[places[i]])
            sort(values, places, first, last, spare_values, spare_places)
        first = last


# ---------------------------------------------------------------- ties decided by IDs


@compiled
def walk(row, limit, slots, budget, fold, flip, order, places, count):
    """Take positions in the order of their IDs where the key equals the limit: how many of the slots the budget fills.

    The count is looked at once in STRIDE steps: a branch at each step would wait for each score to arrive.
    """
    found, line = 0, np.int64(64 // row.itemsize)
    for first in range(0, min(budget, row.size), STRIDE):
        last = min(first + STRIDE, row.size)
        for r in range(last, min(last + STRIDE, row.size)):
            prefetch(row, np.int64(order[r]), line)
        for r in range(first, last):
            places[count + found] = order[r]
            found += key_at(row, np.int64(order[r]), fold, flip) == limit
        if found >= slots:
            return slots
    return found


@compiled
def lowest_ranks(row, block, maxima, limit, slots, fold, flip, rank, places, count):
    """Append the positions with the lowest ranks among the keys equal to the limit: one more read of their blocks."""
    lanes = lanes_of(row)
    step = max(block, lanes)
    room = 2 * slots + 256
    keys, held = np.empty(room + step + lanes, np.int64), np.empty(room + step + lanes, np.int64)
    number, least = 0, np.int64(-row.size)
    for first in range(0, row.size, step):
        if block and first + block <= row.size and maxima[first // block] < reading(limit, fold):
            continue
        for position in range(first, min(first + step, row.size)):
            if key_at(row, position, fold, flip) == limit:
                key = -np.int64(rank[position])
                keys[number], held[number] = key, position
                number += key >= least
        if number > room:
            least, _ = shrink(keys, held, number, slots, least, np.int64(0))
            number = slots
    shrink(keys, held, number, slots, least, np.int64(0))
    places[count : count + slots] = held[:slots]


@compiled
def tied_by_rank(row, block, maxima, limit, slots, fold, flip, order, rank, places, count):
    """Append the positions of the lowest IDs among the keys equal to the limit: by a walk if they are dense."""
    sample = 16 * slots + 256
    found = walk(row, limit, slots, sample, fold, flip, order, places, count)
    if found < slots and found * 256 >= sample:
        found = walk(row, limit, slots, 512 * slots, fold, flip, order, places, count)
    if found < slots:
        lowest_ranks(row, block, maxima, limit, slots, fold, flip, rank, places, count)


@compiled
def choose_by_rank(keys, places, count, k, limit, rank):
    """Keep the keys above the limit and, of those equal to it, the ones with the lowest ranks."""
    equal = 0
    for i in range(count):
        equal += keys[i] == limit
    lanes = lanes_of(keys)
    ranks, held = np.empty(equal + 2 * lanes, np.int64), np.empty(equal, np.int64)
    above, number = 0, 0
    for i in range(count):
        if keys[i] > limit:
            keys[above], places[above] = keys[i], places[i]
            above += 1
        elif keys[i] == limit:
            ranks[number], held[number] = -np.int64(rank[places[i]]), places[i]
            number += 1
    shrink(ranks, held, equal, k - above, -np.int64(rank.size), np.int64(0))
    places[above:k] = held[: k - above]
    keys[above:k] = limit


@compiled
def finish_by_rank(row, block, maxima, keys, places, count, k, limit, high, cut, fold, flip, order, rank):
    """Cut the collected keys to the k of the contract, boundary ties by rank."""
    last, reached = kth_largest(keys, count, k, limit, high, 0)
    if reached <= k and not (cut and last == limit):
        keep(keys, places, count, k, last, reached)
        return
    above = number_above(keys, count, last)
    if (cut and last == limit) or (reached - above) * 16 > row.size:
        keep(keys, places, count, above, last + 1, 0)
        keys[above:k] = last
        tied_by_rank(row, block, maxima, last, k - above, fold, flip, order, rank, places, above)
    else:
        choose_by_rank(keys, places, count, k, last, rank)


# --------------------------------------------------------------------------- one call


@compiled
def block_for(n, k, lanes):
    """The block size for rows of n: at least four blocks for each of the k, from one vector up to 128 (256) items."""
    block = 128 if n < 2**21 else 256
    while block > lanes and 4 * k * block > n:
        block //= 2
    return max(block, lanes)


@compiled
def cut_is_tied(row, first, second, fold, flip):
    """Whether two neighbours, one selected and one not, have equal keys."""
    inside = first >= 0 and second < row.size
    return inside and key_at(row, first, fold, flip) == key_at(row, second, fold, flip)


@compiled
def select_ordered(row, k, fold, flip, by_rank, places):
    """Leave the selection of a row in order in `places`; whether it was, with no tie for the IDs to decide."""
    n = row.size
    if not (by_rank and cut_is_tied(row, k - 1, k, fold, flip)) and in_order(row, False, fold, flip):
        for i in range(k):
            places[i] = i
        return True
    if not (by_rank and cut_is_tied(row, n - k - 1, n - k, fold, flip)) and in_order(row, True, fold, flip):
        from_the_end(row, k, fold, flip, places)
        return True
    return False


@compiled
def select_unordered(row, k, block, fold, flip, low, high, maxima, chosen, keys, places, order, rank):
    """Leave the positions of the selection in `places`, not sorted yet."""
    by_rank = order.size > 0
    if by_rank and low == high:
        for i in range(k):
            keys[i], places[i] = high, order[i]
        return
    if block == 0:
        count, limit, cut = gather_all(row, k, low, high, fold, flip, keys, places)
    else:
        count, limit, cut = gather(row, k, block, low, high, fold, flip, maxima, chosen, keys, places, by_rank)
    if by_rank:
        finish_by_rank(row, block, maxima, keys, places, count, k, limit, high, cut, fold, flip, order, rank)
    else:
        shrink(keys, places, count, k, limit, high)


@compiled
def ends(row, fold, flip):
    """The greatest and the least key of a row in order."""
    first, last = key_at(row, 0, fold, flip), key_at(row, row.size - 1, fold, flip)
    return max(first, last), min(first, last)


@compiled
def select(like, address, stride, rows, n, k, fold, flip, least, greatest, values_at, indices_at, order, rank):
    """Select from each of `rows` rows of n scores, `stride` items apart; -1, or a row that holds a score not finite.

    Scores are read as the integers of `like`; `fold` and `flip` make their keys; a key outside [least, greatest] is
    not finite. The selection is written to the addresses of the values (as integers) and of the indices (int64), k for
    each row. `order` and `rank` say how IDs lie against positions; empty where they agree.
    """
    lanes, by_rank = lanes_of(like), order.size > 0
    block = block_for(n, k, lanes)
    if n < 4 * lanes or n // block < 2 * k:
        block = 0
    room = min(n, 2 * k + 256 + by_rank * (n // 256)) + block if block else n
    blocks = n // block if block else 0
    maxima, chosen = np.empty(blocks + lanes, like.dtype), np.empty(blocks + 1, np.int64)
    keys, places = np.empty(room + 2 * lanes, like.dtype), np.empty(room + 2 * lanes + STRIDE, np.int64)
    offsets, spare_offsets, spare_places = np.empty(k, np.uint64), np.empty(k, np.uint64), np.empty(k, np.int64)
    scores = carray(pointer_to(address, like), ((rows - 1) * stride + n,))
    values = carray(pointer_to(values_at, like), (rows * k,))
    indices = carray(pointer_to(indices_at, places), (rows * k,))
    for r in range(rows):
        row = scores[r * stride : r * stride + n]
        ordered = select_ordered(row, k, fold, flip, by_rank, places)
        if ordered:
            high, low = ends(row, fold, flip)
        elif block:
            high, low = block_extremes(row, block, fold, flip, maxima)
        else:
            high, low = extremes_of(row, fold, flip)
        if low < least or high > greatest:
            return r
        if fold != 0 and high == -1:
            high = np.int64(0)
        if not ordered:
            select_unordered(row, k, block, fold, flip, low, high, maxima, chosen, keys, places, order, rank)
        if by_rank or not ordered:
            for i in range(k):
                offsets[i] = np.uint64(high) - np.uint64(key_at(row, places[i], fold, flip))
            sort(offsets, places, 0, k, spare_offsets, spare_places)
            if by_rank:
                sort_groups(offsets, places, k, rank, spare_offsets, spare_places)
        for i in range(k):
            indices[r * k + i] = places[i]
            values[r * k + i] = row[places[i]]
    return -1
