"""DDS domains for tests that run at once, and beside runs of `tacho`."""

import fcntl
import functools
import itertools
import os
import tempfile
from pathlib import Path
from typing import TextIO

_numbers = itertools.count(os.getpid())


def hold_domain() -> tuple[int, TextIO]:
    """A DDS domain of 1..100 that is nobody else's until this is closed: by the locks with which `tacho` chooses one, too
    (crates/runner/src/domain.rs)."""
    for number in itertools.islice(_numbers, 100):
        domain = 1 + number % 100
        lock = open(Path(tempfile.gettempdir()) / f"tacho-domain-{domain}.lock", "a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        return domain, lock
    raise RuntimeError("all DDS domains of 1..100 are taken")


@functools.cache
def _of_this_process() -> tuple[int, TextIO]:
    return hold_domain()


def free_domain() -> int:
    """A DDS domain that is this process's for as long as it runs."""
    return _of_this_process()[0]
