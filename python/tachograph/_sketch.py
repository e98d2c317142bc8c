"""Distributions that add up: counts of values in buckets whose bounds grow by a constant factor.

This is DDSketch (Masson, Rim, Lee, VLDB 2019) with its buckets as rows. The sketches of several runs are merged by
adding the counts of equal buckets, which every query engine can do. A quantile of merged sketches is that of all values
together, with a relative error of at most `ACCURACY`. Quantiles of the runs themselves cannot be merged.
"""

from __future__ import annotations

import math

import pyarrow as pa
import pyarrow.compute as pc

#: The greatest relative error of a quantile.
ACCURACY = 0.01
#: The factor between the bounds of a bucket.
GROWTH = (1 + ACCURACY) / (1 - ACCURACY)
#: The bucket of 0, below all others.
ZERO = -(2**15)


def buckets(values: pa.Array | pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """The buckets of these values, none of them below 0, and the count of each. What is absent counts nowhere."""
    values = pc.cast(pc.drop_null(values), pa.float64())
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    above_zero = pc.max_element_wise(values, pa.scalar(5e-324))
    numbers = pc.cast(pc.ceil(pc.divide(pc.ln(above_zero), math.log(GROWTH))), pa.int32())
    numbers = pc.if_else(pc.greater(values, 0), numbers, pa.scalar(ZERO, pa.int32()))
    counted = pc.value_counts(numbers)
    return counted.field("values"), pc.cast(counted.field("counts"), pa.uint64())


def value_of(bucket: int) -> float:
    """The value that stands for all of a bucket: none of them differs from it by more than `ACCURACY`."""
    return 0.0 if bucket == ZERO else 2 * GROWTH**bucket / (GROWTH + 1)


#: The same in SQL, of a column `bucket`.
VALUE_SQL = f"CASE WHEN bucket = {ZERO} THEN 0 ELSE 2 * pow({GROWTH!r}, bucket) / ({GROWTH!r} + 1) END"
