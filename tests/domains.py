"""DDS domains for tests that run at once."""

import os


def free_domain() -> int:
    """A DDS domain that no other test running now has: worker number and process id spread them over 1..100."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return 1 + (os.getpid() * 7 + worker * 31) % 100
