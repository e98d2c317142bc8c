"""Reads and writes the columns of integers in a report's timeline: varints of seven bits a byte (Protocol Buffers,
"Encoding"), in base64. Independent of the page's own code."""

import base64
from itertools import accumulate, pairwise


def values(column):
    """The integers of a column."""
    return [number // 2 if number % 2 == 0 else -(number + 1) // 2 for number in _varints(column)]


def growing(column):
    """The integers of a column that holds the difference of each from the one before."""
    return list(accumulate(values(column)))


def optional(column):
    """The integers of a column, None for those that are absent."""
    return [
        None if number == 0 else (number - 1) // 2 if number % 2 == 1 else -number // 2 for number in _varints(column)
    ]


def write(numbers):
    """A column of integers."""
    return _write(2 * number if number >= 0 else -2 * number - 1 for number in numbers)


def write_growing(numbers):
    """A column of differences."""
    return write(after - before for before, after in pairwise([0, *numbers]))


def write_optional(numbers):
    """A column of integers of 0 and more, or None."""
    return _write(0 if number is None else 2 * number + 1 for number in numbers)


def _varints(column):
    number, shift = 0, 0
    for byte in base64.b64decode(column):
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number, shift = 0, 0


def _write(numbers):
    raw = bytearray()
    for number in numbers:
        while number >= 0x80:
            raw.append(number & 0x7F | 0x80)
            number >>= 7
        raw.append(number)
    return base64.b64encode(raw).decode()
