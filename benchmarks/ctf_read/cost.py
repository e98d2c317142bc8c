"""What a command costs."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path


def took(command: list) -> tuple[float, float]:
    """Returns wall time and CPU time of a command, in s."""
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def peak_memory(command: list) -> int:
    """Returns the peak memory of a command, in bytes. rusage would include this program's own, from before the exec."""
    process, peak = subprocess.Popen(command, stdout=subprocess.DEVNULL), 0
    while process.poll() is None:
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:") and os.readlink(f"/proc/{process.pid}/exe") != sys.executable:
                peak = max(peak, int(line.split()[1]) * 1024)
        time.sleep(0.005)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return peak
