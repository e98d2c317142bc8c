"""DDS domains for tests that run at once, and beside runs of `tacho`."""

import functools
import itertools
import os
import socket

_numbers = itertools.count(os.getpid())


def hold_domain() -> tuple[int, socket.socket]:
    """A DDS domain of 1..100 that nobody else uses until this is closed. The sockets that reserve it are those with
    which `tacho` chooses one (crates/runner/src/domain.rs)."""
    for number in itertools.islice(_numbers, 100):
        domain = 1 + number % 100
        if taken := take(domain):
            return domain, taken
    raise RuntimeError("all DDS domains of 1..100 are taken")


def take(domain: int) -> socket.socket | None:
    """The socket that marks this domain as taken until it is closed; None if somebody else has it."""
    taken = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        taken.bind(f"\0tacho-domain-{domain}")
        return taken
    except OSError:
        taken.close()
        return None


@functools.cache
def _of_this_process() -> tuple[int, socket.socket]:
    return hold_domain()


def free_domain() -> int:
    """A DDS domain that belongs to this process for as long as it runs."""
    return _of_this_process()[0]
