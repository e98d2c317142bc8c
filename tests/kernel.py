"""What the kernel of this machine counts."""

from pathlib import Path


def counts_run_delay() -> bool:
    """Whether it counts for how long a thread is ready to run and has no CPU. If not, the file is absent or zeros."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[2]) > 0
    except FileNotFoundError:
        return False
